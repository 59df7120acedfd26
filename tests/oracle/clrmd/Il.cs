// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;
using System.Security.Cryptography;
using System.Text;
using Microsoft.Diagnostics.Runtime;
using static Program;

// The IL of all methods of the files of modules, decoded by the table of System.Reflection.Emit.
internal static class IlFacts
{
    private static readonly Dictionary<ushort, OpCode> opcodes = new();

    private static string Operand(OpCode opcode, ref BlobReader il)
    {
        switch (opcode.OperandType)
        {
            case OperandType.InlineNone: return "";
            case OperandType.ShortInlineI: return il.ReadSByte().ToString(CultureInfo.InvariantCulture);
            case OperandType.ShortInlineVar: return il.ReadByte().ToString(CultureInfo.InvariantCulture);
            case OperandType.InlineVar: return il.ReadUInt16().ToString(CultureInfo.InvariantCulture);
            case OperandType.InlineI: return il.ReadInt32().ToString(CultureInfo.InvariantCulture);
            case OperandType.InlineI8: return il.ReadInt64().ToString(CultureInfo.InvariantCulture);
            case OperandType.ShortInlineR: il.ReadInt32(); return "real";
            case OperandType.InlineR: il.ReadInt64(); return "real";
            case OperandType.ShortInlineBrTarget: { int by = il.ReadSByte(); return $"IL_{il.Offset + by:x4}"; }
            case OperandType.InlineBrTarget: { int by = il.ReadInt32(); return $"IL_{il.Offset + by:x4}"; }
            case OperandType.InlineSwitch:
                {
                    var distances = new int[il.ReadInt32()];
                    for (int i = 0; i < distances.Length; i++)
                        distances[i] = il.ReadInt32();
                    int next = il.Offset;
                    return "(" + string.Join(", ", Array.ConvertAll(distances, by => $"IL_{next + by:x4}")) + ")";
                }
            default: return $"0x{il.ReadUInt32():x}";
        }
    }

    private static string Hash(MethodBodyBlock body)
    {
        var text = new StringBuilder();
        BlobReader il = body.GetILReader();
        while (il.RemainingBytes > 0)
        {
            int offset = il.Offset;
            ushort number = il.ReadByte();
            if (number == 0xfe)
                number = (ushort)(0xfe00 | il.ReadByte());
            OpCode opcode = opcodes[number];
            text.Append(offset).Append(' ').Append(opcode.Name).Append(' ').Append(Operand(opcode, ref il)).Append(';');
        }
        foreach (ExceptionRegion region in body.ExceptionRegions)
        {
            text.Append(region.Kind.ToString().ToLowerInvariant()).Append(' ').Append(region.TryOffset).Append(' ').Append(region.TryOffset + region.TryLength);
            text.Append(' ').Append(region.HandlerOffset).Append(' ').Append(region.HandlerOffset + region.HandlerLength).Append(';');
        }
        return Convert.ToHexString(SHA256.HashData(Encoding.UTF8.GetBytes(text.ToString())), 0, 8).ToLowerInvariant();
    }

    private static void Module(ClrModule module)
    {
        using var pe = new PEReader(File.OpenRead(module.Name));
        MetadataReader metadata = pe.GetMetadataReader();
        foreach (MethodDefinitionHandle handle in metadata.MethodDefinitions)
        {
            int rva = metadata.GetMethodDefinition(handle).RelativeVirtualAddress;
            if (rva == 0)
                continue;
            MethodBodyBlock body = pe.GetMethodBody(rva);
            lines.Begin('i').Hex(module.Address).Hex((uint)MetadataTokens.GetToken(handle)).Hex((uint)body.GetILBytes().Length);
            lines.Number(body.MaxStack).Text(Hash(body)).End();
        }
    }

    public static void Write()
    {
        foreach (FieldInfo field in typeof(OpCodes).GetFields(BindingFlags.Public | BindingFlags.Static))
        {
            var opcode = (OpCode)field.GetValue(null);
            opcodes[(ushort)opcode.Value] = opcode;
        }
        foreach (ClrModule module in runtime.EnumerateModules())
        {
            if (!string.IsNullOrEmpty(module.Name) && File.Exists(module.Name))
                Try(module.Address, () => Module(module));
        }
    }
}
