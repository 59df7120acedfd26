// SPDX-License-Identifier: MIT
using System.Collections.Generic;
using System.Linq;
using Microsoft.Diagnostics.Runtime;
using static Program;

// The reachable objects: breadth-first from the roots, over references, dependent handles, and the LoaderAllocators of
// collectible types.
internal static class Live
{
    // HNDTYPE_WEAK_INTERIOR_POINTER of gcinterface.h, which ClrMD has no name for.
    private const ClrHandleKind WeakInteriorPointer = (ClrHandleKind)10;
    private static readonly HashSet<ulong> seen = new();
    private static readonly Queue<ulong> queue = new();

    private static void Add(ulong address)
    {
        if (address != 0 && seen.Add(address))
            queue.Enqueue(address);
    }

    private static void Roots(string types)
    {
        // Strong handles, stacks, the finalizer's queue, statics and thread statics. ClrMD takes a weak interior
        // handle for a strong one, so that collectible types would keep themselves alive by their statics.
        foreach (ClrRoot root in heap.EnumerateRoots())
        {
            if (root is not ClrHandle { HandleKind: WeakInteriorPointer })
                Add(root.Object.Address);
        }
        // Before 4.2 ClrMD leaves out some of the latter. What holds them is alive, too.
        foreach (ulong slot in StaticFacts.ThreadStaticSlots(types))
        {
            ClrObject holder = heap.FindPreviousObjectOnSegment(slot);
            if (holder.IsValid && slot < holder.Address + holder.Size)
                Add(holder.Address);
        }
        foreach (ClrSegment segment in heap.Segments.Where(s => s.Kind == GCSegmentKind.Frozen))
        {
            foreach (ClrObject o in segment.EnumerateObjects().Where(o => !o.IsFree))
                Add(o.Address);
        }
    }

    public static void Write(string types)
    {
        var dependent = new Dictionary<ulong, List<ulong>>();
        foreach (ClrHandle h in runtime.EnumerateHandles().Where(h => h.HandleKind == ClrHandleKind.Dependent))
        {
            if (!dependent.TryGetValue(h.Object.Address, out List<ulong> list))
                dependent.Add(h.Object.Address, list = new List<ulong>());
            list.Add(h.Dependent.Address);
        }
        Roots(types);
        while (queue.TryDequeue(out ulong address))
        {
            ClrObject o = heap.GetObject(address);
            if (o.Type == null)
                continue;
            lines.Begin('w').Hex(address).End();
            if (o.Type.ContainsPointers)
            {
                foreach (ulong reference in o.EnumerateReferenceAddresses(carefully: false, considerDependantHandles: false))
                    Add(reference);
            }
            if (o.Type.IsCollectible && runtime.DataTarget.DataReader.ReadPointer(o.Type.LoaderAllocatorHandle, out ulong allocator))
                Add(allocator);
            if (dependent.TryGetValue(address, out List<ulong> secondaries))
                secondaries.ForEach(Add);
        }
    }
}
