// SPDX-License-Identifier: MIT
using System.Collections.Generic;
using Microsoft.Diagnostics.Runtime;
using static Program;

// Modules, assemblies, domains, contexts of types, and the last failures of allocations.
internal static class ModuleFacts
{
    private static void Module(ClrModule m)
    {
        lines.Begin('U').Hex(m.Address).Hex(m.AssemblyAddress).Hex(m.ImageBase).Hex(m.Size);
        lines.Text(m.Layout.ToString()).Number(m.IsDynamic ? 1 : 0).Hex(m.MetadataAddress).Hex(m.MetadataLength);
        lines.Text(m.Name).Text(m.AssemblyName).Text(m.Pdb?.Guid.ToString("D")).End();
    }

    private static void Domain(ClrAppDomain domain, string kind)
    {
        if (domain == null)
            return;
        lines.Begin('d').Hex(domain.Address).Text(kind).Text(domain.Name).End();
        foreach (ClrModule m in domain.Modules)
            lines.Begin('v').Hex(domain.Address).Hex(m.Address).End();
    }

    private static void Contexts()
    {
        var seen = new HashSet<ulong>();
        foreach (ClrObject obj in heap.EnumerateObjects())
        {
            ClrType type = obj.Type;
            if (type == null || type.IsFree || type.IsArray || !seen.Add(type.MethodTable))
                continue;
            Try(type.MethodTable, () => lines.Begin('a').Hex(type.MethodTable).Hex(type.AssemblyLoadContextAddress).End());
        }
    }

    private static void Failures()
    {
        foreach (ClrSubHeap sub in heap.SubHeaps)
        {
            ClrOutOfMemoryInfo oom = sub.OomInfo;
            if (oom == null)
                continue;
            lines.Begin('o').Number(sub.Index).Number((long)oom.Reason).Hex(oom.AllocSize).Number((long)oom.GCIndex);
            lines.Number((long)oom.GetMemoryFailure).Hex(oom.Size).Hex(oom.AvailablePageFileMB).Number(oom.IsLargeObjectHeap ? 1 : 0).End();
        }
    }

    public static void Write()
    {
        foreach (ClrModule m in runtime.EnumerateModules())
            Module(m);
        Domain(runtime.SystemDomain, "system");
        foreach (ClrAppDomain domain in runtime.AppDomains)
            Domain(domain, "domain");
        Contexts();
        Failures();
    }
}
