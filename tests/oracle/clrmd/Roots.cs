// SPDX-License-Identifier: MIT
using System.Collections.Generic;
using System.IO;
using System.Globalization;
using System.Linq;
using System.Reflection;
using Microsoft.Diagnostics.Runtime;
using static Program;

// Handles, finalizer queues, stacks.
internal static class RootFacts
{
    public static void Handles()
    {
        foreach (ClrHandle h in runtime.EnumerateHandles())
        {
            if (h.Object.Address == 0)
                continue;
            ulong secondary = h.HandleKind == ClrHandleKind.Dependent ? h.Dependent.Address : 0;
            lines.Begin('h').Hex(h.Address).Hex(h.Object.Address).Number((int)h.HandleKind).Hex(secondary).End();
        }
    }

    public static void Finalizers()
    {
        foreach (ClrObject o in heap.EnumerateFinalizableObjects())
            lines.Begin('y').Hex(o.Address).End();
        foreach (ClrRoot r in heap.EnumerateFinalizerRoots())
            lines.Begin('z').Hex(r.Object.Address).End();
    }

    public static void Stacks()
    {
        foreach (ClrThread t in runtime.Threads)
        {
            foreach (ClrStackFrame f in t.EnumerateStackTrace(false, int.MaxValue))
            {
                // It takes native code for managed where it cannot go on.
                if (f.Kind != ClrStackFrameKind.ManagedMethod || f.Method == null)
                    continue;
                lines.Begin('c').Number(t.OSThreadId).Hex(f.StackPointer).Hex(f.InstructionPointer).End();
                lines.Begin('m').Number(t.OSThreadId).Hex(f.StackPointer).Text(f.Method.Signature).End();
            }
            foreach (ClrStackRoot r in t.EnumerateStackRoots())
            {
                if (r.Object.Address == 0)
                    continue;
                int flags = (r.IsInterior ? 1 : 0) | (r.IsPinned ? 2 : 0);
                lines.Begin('s').Number(t.OSThreadId).Hex(r.Address).Hex(r.Object.Address).Number(flags).End();
            }
        }
    }
}

// Slots of static fields.
internal static class StaticFacts
{
    // Types by their definition in every module, and the instantiations that are asked for.
    private static IEnumerable<ClrType> Types(string path)
    {
        var seen = new HashSet<ulong>();
        foreach (ClrModule module in runtime.EnumerateModules())
        {
            foreach ((ulong table, int _) in module.EnumerateTypeDefToMethodTableMap())
                seen.Add(table);
        }
        foreach (string line in File.ReadLines(path))
        {
            if (line[0] is 'N' or 'q' or 't')
                seen.Add(ulong.Parse(line.Split('\t')[1], NumberStyles.HexNumber));
        }
        foreach (ulong table in seen)
        {
            ClrType type = runtime.GetTypeByMethodTable(table);
            if (type != null && !type.IsFree) // the DAC of .NET 8 crashes
                yield return type;
        }
    }

    private static bool HoldsReference(ClrField field) =>
        (field.IsObjectReference || field.ElementType == ClrElementType.Struct) && (field.Attributes & FieldAttributes.HasFieldRVA) == 0;

    // The name of the property whose value it is.
    private static string NameOf(ClrField field)
    {
        const string Suffix = ">k__BackingField";
        string name = field.Name;
        return name != null && name.StartsWith('<') && name.EndsWith(Suffix, System.StringComparison.Ordinal) ? name.Substring(1, name.Length - 1 - Suffix.Length) : name;
    }

    public static void Statics(string path)
    {
        ClrAppDomain domain = runtime.AppDomains[0];
        foreach (ClrType type in Types(path))
        {
            foreach (ClrStaticField f in type.StaticFields.Where(HoldsReference))
            {
                ulong address = f.GetAddress(domain);
                if (address != 0)
                    lines.Begin('n').Hex(type.MethodTable).Text(type.Name).End();
                lines.Begin('q').Hex(type.MethodTable).Hex((uint)f.Token).Text(NameOf(f)).Hex(address).End();
            }
        }
    }

    private static IEnumerable<(ClrType Type, ClrThreadStaticField Field, ClrThread Thread, ulong Address)> Slots(string path, bool isCollectible) =>
        from type in Types(path)
        where type.IsCollectible == isCollectible
        from field in type.ThreadStaticFields
        from thread in runtime.Threads
        let address = field.GetAddress(thread)
        where address != 0
        select (type, field, thread, address);

    public static IEnumerable<ulong> ThreadStaticSlots(string path) => Slots(path, isCollectible: false).Select(slot => slot.Address);

    public static void ThreadStatics(string path, bool isCollectible)
    {
        foreach ((ClrType type, ClrThreadStaticField field, ClrThread thread, ulong address) in Slots(path, isCollectible).Where(slot => HoldsReference(slot.Field)))
        {
            lines.Begin('n').Hex(type.MethodTable).Text(type.Name).End();
            lines.Begin('t').Hex(type.MethodTable).Hex((uint)field.Token).Text(NameOf(field)).Number(thread.OSThreadId).Hex(address).End();
        }
    }
}
