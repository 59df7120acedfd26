// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Linq;
using Microsoft.Diagnostics.Runtime;
using static Program;

// Modules and methods.
internal static class NameFacts
{
    private static void Modules()
    {
        foreach (ClrModule m in runtime.EnumerateModules())
            lines.Begin('u').Hex(m.Address).Hex(m.ImageBase).Hex(m.AssemblyAddress).Text(m.Name).Text(m.Pdb?.Guid.ToString("D")).End();
    }

    private static string NameOf(ClrMethod method) =>
        method.Type == null ? method.Name : method.Type.Name + "." + method.Name;

    // The type that a type inherits from; names have no such character.
    private static string Bases(ClrType type)
    {
        var names = new List<string>();
        for (ClrType at = type?.BaseType; at != null; at = at.BaseType)
            names.Add(at.Name);
        return string.Join("|", names);
    }

    private static void Method(ClrMethod m)
    {
        lines.Begin('e').Hex(m.MethodDesc).Hex((uint)m.MetadataToken).Hex(m.NativeCode).Text(m.CompilationType.ToString());
        lines.Hex(m.HotColdInfo.HotSize).Text(NameOf(m)).Text(Bases(m.Type)).End();
    }

    private static void Methods()
    {
        var seen = new HashSet<ulong>();
        foreach (ClrModule module in runtime.EnumerateModules())
        {
            foreach ((ulong table, int token) in module.EnumerateTypeDefToMethodTableMap())
            {
                Try(table, () =>
                {
                    ClrType type = runtime.GetTypeByMethodTable(table);
                    if (type == null)
                        return;
                    foreach (ClrMethod m in type.Methods)
                    {
                        if (seen.Add(m.MethodDesc))
                            Method(m);
                    }
                });
            }
        }
    }

    private static void Frames()
    {
        foreach (ClrThread thread in runtime.Threads)
        {
            Try(thread.Address, () =>
            {
                foreach (ClrStackFrame frame in thread.EnumerateStackTrace(includeContext: false, maxFrames: 10000))
                {
                    if (frame.Kind == ClrStackFrameKind.ManagedMethod && frame.Method != null)
                        lines.Begin('g').Hex(frame.InstructionPointer).Hex(frame.Method.MethodDesc).Text(NameOf(frame.Method)).End();
                }
            });
        }
    }

    public static void Write()
    {
        Modules();
        Methods();
        Frames();
    }
}
