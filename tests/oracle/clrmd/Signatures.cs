// SPDX-License-Identifier: MIT
using System.Collections.Generic;
using System.Collections.Immutable;
using System.IO;
using System.Linq;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;
using Microsoft.Diagnostics.Runtime;
using static Program;

// SOS's words for types, as System.Reflection.Metadata decodes signatures.
internal sealed class SosWords : ISignatureTypeProvider<string, object>
{
    public string GetPrimitiveType(PrimitiveTypeCode code) => code switch
    {
        PrimitiveTypeCode.SByte => "I1",
        PrimitiveTypeCode.Byte => "UI1",
        PrimitiveTypeCode.Int16 => "I2",
        PrimitiveTypeCode.UInt16 => "UI2",
        PrimitiveTypeCode.Int32 => "I4",
        PrimitiveTypeCode.UInt32 => "UI4",
        PrimitiveTypeCode.Int64 => "I8",
        PrimitiveTypeCode.UInt64 => "UI8",
        PrimitiveTypeCode.Single => "R4",
        PrimitiveTypeCode.Double => "R8",
        PrimitiveTypeCode.IntPtr => "I",
        PrimitiveTypeCode.UIntPtr => "U",
        PrimitiveTypeCode.TypedReference => "TypedByRef",
        _ => code.ToString(), // Void, Boolean, Char, String, Object
    };

    private static string Kind(byte element) => element switch { 0x11 => "ValueClass ", 0x12 => "Class ", _ => "" };

    private static string Name(MetadataReader metadata, StringHandle space, StringHandle name) =>
        (space.IsNil ? "" : metadata.GetString(space) + ".") + metadata.GetString(name);

    private static string Definition(MetadataReader metadata, TypeDefinitionHandle handle)
    {
        TypeDefinition type = metadata.GetTypeDefinition(handle);
        TypeDefinitionHandle outer = type.GetDeclaringType();
        return (outer.IsNil ? "" : Definition(metadata, outer) + "+") + Name(metadata, type.Namespace, type.Name);
    }

    private static string Reference(MetadataReader metadata, TypeReferenceHandle handle)
    {
        TypeReference type = metadata.GetTypeReference(handle);
        bool isNested = type.ResolutionScope.Kind == HandleKind.TypeReference;
        return (isNested ? Reference(metadata, (TypeReferenceHandle)type.ResolutionScope) + "+" : "") + Name(metadata, type.Namespace, type.Name);
    }

    public string GetTypeFromDefinition(MetadataReader metadata, TypeDefinitionHandle handle, byte kind) => Kind(kind) + Definition(metadata, handle);
    public string GetTypeFromReference(MetadataReader metadata, TypeReferenceHandle handle, byte kind) => Kind(kind) + Reference(metadata, handle);
    public string GetTypeFromSpecification(MetadataReader metadata, object context, TypeSpecificationHandle handle, byte kind) => Kind(kind) + "?";

    public string GetSZArrayType(string type) => "SZArray " + type;
    public string GetPointerType(string type) => "Ptr " + type;
    public string GetByReferenceType(string type) => "ByRef " + type;
    public string GetPinnedType(string type) => "PINNED " + type;
    public string GetGenericMethodParameter(object context, int index) => "!!" + index;
    public string GetGenericTypeParameter(object context, int index) => "!" + index;
    public string GetGenericInstantiation(string type, ImmutableArray<string> arguments) => $"{type}<{string.Join(",", arguments)}>";
    public string GetModifiedType(string modifier, string type, bool isRequired) => $"{(isRequired ? "CMOD_REQD" : "CMOD_OPT")} {modifier} {type}";
    public string GetFunctionPointerType(MethodSignature<string> signature) => "FNPTR " + Method(signature);

    public string GetArrayType(string type, ArrayShape shape)
    {
        string list(ImmutableArray<int> numbers) => string.Concat(numbers.Prepend(numbers.Length).Select(number => " " + number));
        return $"MDArray {type} {shape.Rank}{list(shape.Sizes)}{list(shape.LowerBounds)}";
    }

    public static string Head(SignatureHeader header, int generics)
    {
        string kind = header.Kind switch
        {
            SignatureKind.Field => "FIELD",
            SignatureKind.LocalVariables => "LOCALSIG",
            SignatureKind.Property => "PROPERTY",
            SignatureKind.MethodSpecification => "GENERICINST",
            _ => header.CallingConvention switch
            {
                SignatureCallingConvention.CDecl => "C",
                SignatureCallingConvention.StdCall => "STDCALL",
                SignatureCallingConvention.ThisCall => "THISCALL",
                SignatureCallingConvention.FastCall => "FASTCALL",
                SignatureCallingConvention.VarArgs => "VARARG",
                SignatureCallingConvention.Unmanaged => "UNMANAGED",
                _ => "DEFAULT",
            },
        };
        return $"[{kind}] {(header.IsInstance ? "[hasThis] " : "")}{(header.HasExplicitThis ? "[explicit] " : "")}{(header.IsGeneric ? $"[generic {generics}] " : "")}";
    }

    public static string Method(MethodSignature<string> signature)
    {
        IEnumerable<string> parameters = signature.ParameterTypes.Select((type, i) =>
            i == signature.RequiredParameterCount ? "<ELEMENT_TYPE_SENTINEL> " + type : type);
        return $"{Head(signature.Header, signature.GenericParameterCount)}{signature.ReturnType} ({string.Join(",", parameters)})";
    }
}

// All signatures of the metadata of modules' files: where they are, and what they say.
internal static class SignatureFacts
{
    private static readonly SosWords words = new();

    private static string Text(MetadataReader metadata, BlobHandle blob, bool isType)
    {
        BlobReader reader = metadata.GetBlobReader(blob);
        var decoder = new SignatureDecoder<string, object>(words, metadata, null);
        if (isType)
            return decoder.DecodeType(ref reader);
        SignatureHeader header = metadata.GetBlobReader(blob).ReadSignatureHeader();
        return header.Kind switch
        {
            SignatureKind.Field => SosWords.Head(header, 0) + decoder.DecodeFieldSignature(ref reader),
            SignatureKind.LocalVariables => $"{SosWords.Head(header, 0)}({string.Join(",", decoder.DecodeLocalSignature(ref reader))})",
            SignatureKind.MethodSpecification => $"{SosWords.Head(header, 0)}({string.Join(",", decoder.DecodeMethodSpecificationSignature(ref reader))})",
            _ => SosWords.Method(decoder.DecodeMethodSignature(ref reader)),
        };
    }

    private static void Module(ClrModule module)
    {
        using var pe = new PEReader(File.OpenRead(module.Name));
        MetadataReader metadata = pe.GetMetadataReader();
        var seen = new HashSet<(BlobHandle, bool)>();
        int heap = metadata.GetHeapMetadataOffset(HeapIndex.Blob);
        ulong offset(BlobHandle blob)
        {
            int length = metadata.GetBlobReader(blob).Length;
            return (ulong)(heap + metadata.GetHeapOffset(blob) + (length < 0x80 ? 1 : length < 0x4000 ? 2 : 4));
        }
        void add(BlobHandle blob, bool isType = false)
        {
            if (blob.IsNil || !seen.Add((blob, isType)))
                return;
            lines.Begin(isType ? 'T' : 'S').Hex(module.Address).Hex(offset(blob)).Number(metadata.GetBlobReader(blob).Length);
            lines.Text(Text(metadata, blob, isType)).End();
        }
        foreach (MethodDefinitionHandle handle in metadata.MethodDefinitions)
        {
            BlobHandle blob = metadata.GetMethodDefinition(handle).Signature;
            add(blob);
            lines.Begin('M').Hex(module.Address).Hex((uint)MetadataTokens.GetToken(handle)).Hex(offset(blob)).End();
        }
        foreach (FieldDefinitionHandle handle in metadata.FieldDefinitions)
            add(metadata.GetFieldDefinition(handle).Signature);
        foreach (PropertyDefinitionHandle handle in metadata.PropertyDefinitions)
            add(metadata.GetPropertyDefinition(handle).Signature);
        foreach (MemberReferenceHandle handle in metadata.MemberReferences)
            add(metadata.GetMemberReference(handle).Signature);
        for (int row = 1; row <= metadata.GetTableRowCount(TableIndex.StandAloneSig); row++)
            add(metadata.GetStandaloneSignature(MetadataTokens.StandaloneSignatureHandle(row)).Signature);
        for (int row = 1; row <= metadata.GetTableRowCount(TableIndex.MethodSpec); row++)
            add(metadata.GetMethodSpecification(MetadataTokens.MethodSpecificationHandle(row)).Signature);
        for (int row = 1; row <= metadata.GetTableRowCount(TableIndex.TypeSpec); row++)
            add(metadata.GetTypeSpecification(MetadataTokens.TypeSpecificationHandle(row)).Signature, isType: true);
    }

    public static void Write()
    {
        foreach (ClrModule module in runtime.EnumerateModules())
        {
            if (!string.IsNullOrEmpty(module.Name) && File.Exists(module.Name))
                Try(module.Address, () => Module(module));
        }
    }
}
