// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text;
using Microsoft.Diagnostics.Runtime;
using Microsoft.Diagnostics.Runtime.Interfaces;
using static Program;

// Objects, types, fields, and what is known of them.
internal static class HeapFacts
{
    private const int MaxUnits = 1000;
    private static readonly Dictionary<ulong, ClrType> types = new();

    private static string KindOf(ClrSegment segment) => segment.Kind switch
    {
        GCSegmentKind.Generation0 => "0",
        GCSegmentKind.Generation1 => "1",
        GCSegmentKind.Generation2 => "2",
        GCSegmentKind.Large => "loh",
        GCSegmentKind.Pinned => "poh",
        GCSegmentKind.Frozen => "nongc",
        GCSegmentKind.Ephemeral => "ephemeral",
        _ => segment.Kind.ToString(),
    };

    public static string GenerationOf(ClrSegment segment, ulong address) => segment.GetGeneration(address) switch
    {
        Generation.Generation0 => "0",
        Generation.Generation1 => "1",
        Generation.Generation2 => "2",
        Generation.Large => "l",
        Generation.Pinned => "p",
        Generation.Frozen => "n",
        _ => "?",
    };

    private static void Segments()
    {
        lines.Begin('I').Text("server").Number(heap.IsServer ? 1 : 0).End();
        lines.Begin('I').Text("heaps").Number(heap.SubHeaps.Length).End();
        lines.Begin('I').Text("regions").Number(heap.SubHeaps[0].HasRegions ? 1 : 0).End();
        lines.Begin('I').Text("walkable").Number(heap.CanWalkHeap ? 1 : 0).End();
        foreach (ClrSegment s in heap.Segments)
        {
            lines.Begin('S').Number(s.SubHeap.Index).Text(KindOf(s)).Hex(s.Start).Hex(s.End);
            lines.Hex(s.CommittedMemory.End).Hex(s.ReservedMemory.End).End();
            if (s.Kind == GCSegmentKind.Ephemeral)
            {
                lines.Begin('G').Hex(s.Start).Hex(s.Generation2.End).Hex(s.Generation1.Start);
                lines.Hex(s.Generation1.End).Hex(s.Generation0.Start).Hex(s.Generation0.End).End();
            }
        }
        foreach (MemoryRange m in heap.EnumerateAllocationContexts())
            lines.Begin('A').Hex(m.Start).Hex(m.End).End();
    }

    private static void Threads()
    {
        foreach (ClrThread t in runtime.Threads)
            lines.Begin('H').Number(t.ManagedThreadId).Number(t.OSThreadId).Hex(t.Address).Hex((uint)t.State).End();
    }

    private static void References(ClrObject o)
    {
        foreach (ClrReference r in o.EnumerateReferencesWithFields(carefully: false, considerDependantHandles: false))
            lines.Begin('R').Hex(o.Address).Number(r.Offset + 8).Hex(r.Object.Address).End();
    }

    private static void String(ClrObject o)
    {
        // AsString() stops at the first NUL.
        int length = runtime.DataTarget.DataReader.Read<int>(o.Address + 8);
        char[] units = new char[Math.Min(length, MaxUnits)];
        runtime.DataTarget.DataReader.Read(o.Address + 12, MemoryMarshal.AsBytes(units.AsSpan()));
        lines.Begin('T').Hex(o.Address).Number(length).Units(units.AsSpan()).End();
    }

    private static void Array(ClrObject o)
    {
        ClrArray array = o.AsArray();
        int rank = array.Rank;
        string lengths = string.Join(",", Enumerable.Range(0, rank).Select(array.GetLength));
        string bounds = string.Join(",", Enumerable.Range(0, rank).Select(array.GetLowerBound));
        lines.Begin('P').Hex(o.Address).Number(rank).Text(lengths).Text(bounds).End();
    }

    private static void Exception(ClrObject o)
    {
        ClrException e = o.AsException();
        string message = e.Message;
        ulong inner = e.Inner?.Address ?? 0;
        lines.Begin('X').Hex(o.Address).Hex((uint)e.HResult).Hex(inner);
        lines.Text(string.IsNullOrEmpty(message) ? "-" : Convert.ToHexStringLower(Encoding.UTF8.GetBytes(message))).End();
    }

    private static string MethodName(ClrMethod method) =>
        method == null ? null : method.Type == null ? method.Name : method.Type.Name + "." + method.Name;

    private static void Delegate(ClrObject o)
    {
        ClrDelegate d = o.AsDelegate();
        if (d.HasMultipleTargets)
        {
            string targets = string.Join(",", d.EnumerateDelegateTargets().Select(t => t.TargetObject.Address.ToString("x")));
            lines.Begin('M').Hex(o.Address).Text(targets).End();
            return;
        }
        ClrDelegateTarget target = d.GetDelegateTarget();
        if (target == null)
        {
            Error(o.Address, "delegate without target");
            return;
        }
        int token = target.Method?.MetadataToken ?? 0;
        string method = MethodName(target.Method);
        lines.Begin('D').Hex(o.Address).Hex(target.TargetObject.Address).Hex((uint)token).Text(method).End();
    }

    private static void Locks(ClrObject o)
    {
        ClrThinLock thin = o.GetThinLock();
        if (thin != null)
            lines.Begin('L').Hex(o.Address).Number(thin.Thread?.ManagedThreadId ?? -1).Number(thin.Recursion).End();
        SyncBlock block = o.SyncBlock;
        if (block != null)
            lines.Begin('B').Hex(o.Address).Number(block.Index).End();
    }

    private static void SyncBlocks()
    {
        foreach (SyncBlock block in heap.EnumerateSyncBlocks())
        {
            lines.Begin('K').Number(block.Index).Hex(block.Object).Number(block.IsMonitorHeld ? 1 : 0);
            lines.Hex(block.HoldingThreadAddress).Number(block.RecursionCount).Number(block.WaitingThreadCount).End();
        }
    }

    private static void Object(ClrSegment segment, ClrObject o)
    {
        ClrType type = o.Type;
        if (type == null)
        {
            Error(o.Address, "object without type");
            return;
        }
        lines.Begin('O').Hex(o.Address).Hex(type.MethodTable).Number((long)o.Size).Text(GenerationOf(segment, o.Address)).End();
        types.TryAdd(type.MethodTable, type);
        if (type.IsFree)
            return;
        if (type.ContainsPointers)
            Try(o.Address, () => References(o));
        if (type.IsString)
            Try(o.Address, () => String(o));
        else if (type.IsArray)
            Try(o.Address, () => Array(o));
        else if (o.IsException)
            Try(o.Address, () => Exception(o));
        else if (o.IsDelegate)
            Try(o.Address, () => Delegate(o));
        // Reads the header word: quicker than asking for the lock of every object.
        if (runtime.DataTarget.DataReader.Read<uint>(o.Address - 4) != 0)
            Try(o.Address, () => Locks(o));
    }

    private static int ElementOf(ClrField field) =>
        field.ElementType is ClrElementType.String or ClrElementType.Object or ClrElementType.SZArray or ClrElementType.Array
            ? (int)ClrElementType.Class : (int)field.ElementType;

    private static void InstanceFields(ulong table, ClrType owner)
    {
        foreach (ClrInstanceField f in owner.Fields)
        {
            string type = f.Type?.Name;
            lines.Begin('F').Hex(table).Text(f.Name).Number(f.Offset).Number(ElementOf(f)).Hex((uint)f.Token).Text(type).End();
        }
    }

    private static void StaticFields(ulong table, ClrType owner)
    {
        ClrAppDomain domain = runtime.AppDomains[0];
        foreach (ClrStaticField f in owner.StaticFields)
        {
            ulong address = 0;
            try { address = f.GetAddress(domain); }
            catch (Exception e) { Error(table, "static " + f.Name + ": " + e.Message); }
            string type = f.Type?.Name;
            lines.Begin('Q').Hex(table).Text(f.Name).Number(f.Offset).Number(ElementOf(f));
            lines.Hex((uint)f.Token).Hex(address).Text(type).End();
        }
    }

    public static void Write()
    {
        Segments();
        Threads();
        Try(0, SyncBlocks);
        foreach (ClrSegment segment in heap.Segments)
        {
            ulong last = segment.Start;
            try
            {
                foreach (ClrObject o in segment.EnumerateObjects())
                {
                    last = o.Address;
                    Try(o.Address, () => Object(segment, o));
                }
            }
            catch (Exception e) { Error(last, "walk: " + e.Message); }
        }
        foreach ((ulong table, ClrType type) in types)
            Try(table, () => lines.Begin('N').Hex(table).Text(type.Name).End());
        foreach ((ulong table, ClrType type) in types)
        {
            if (!type.IsFree) // the DAC of .NET 8 crashes
                Try(table, () => InstanceFields(table, type));
        }
        foreach ((ulong table, ClrType type) in types)
        {
            if (!type.IsFree && !type.IsCollectible) // the DAC crashes on some of those
                Try(table, () => StaticFields(table, type));
        }
    }
}
