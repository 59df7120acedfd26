// SPDX-License-Identifier: MIT
// clrmd_bench CORE WHAT [TARGET...]: one of the things that bench_heap and bench_roots measure, done by ClrMD
// with the runtime's data access library (DAC), in a process of its own as there. Prints one "name value" a
// line: seconds from before the core is opened, objects, and the peak of private memory. WHAT is
//
//   stat     walk all objects: counts and bytes by MethodTable, and their names; then "again", the seconds of
//            a second walk, when nothing is left to open, to compile or to load
//   verify   VerifyHeap() over all objects
//   eeheap   all heaps and segments with their bounds
//   gcroot   all paths from roots to the first target (GCRoot); then "gcrootN", the seconds of the same for
//            each target once more, and "objsizeN" those of a pass over all that the target refers to
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using System.Threading;
using Microsoft.Diagnostics.Runtime;

internal static class Program
{
    private static ClrRuntime Open(DataTarget target)
    {
        ClrInfo info = target.ClrVersions[0];
        string dac = Path.Combine(Path.GetDirectoryName(info.ModuleInfo.FileName), "libmscordaccore.so");
        return info.CreateRuntime(dac, ignoreMismatch: true);
    }

    private static long Segments(ClrHeap heap)
    {
        long bytes = 0;
        foreach (ClrSegment segment in heap.Segments)
            bytes += (long)segment.ObjectRange.Length;
        return bytes;
    }

    private static long Statistics(ClrHeap heap)
    {
        var types = new Dictionary<ulong, (long Count, long Size)>();
        long objects = 0;
        foreach (ClrObject found in heap.EnumerateObjects())
        {
            ulong mt = found.Type.MethodTable;
            ref (long Count, long Size) entry = ref CollectionsMarshal.GetValueRefOrAddDefault(types, mt, out _);
            entry = (entry.Count + 1, entry.Size + (long)found.Size);
            objects++;
        }
        int length = 0;
        foreach (ulong mt in types.Keys)
            length += heap.GetTypeByMethodTable(mt)?.Name?.Length ?? 0;
        return length > 0 ? objects : 0;
    }

    private static long Errors(ClrHeap heap)
    {
        long errors = 0;
        foreach (ObjectCorruption _ in heap.VerifyHeap())
            errors++;
        return errors;
    }

    private static long Paths(ClrHeap heap, ulong target)
    {
        long links = 0;
        foreach ((ClrRoot _, GCRoot.ChainLink path) in new GCRoot(heap, new[] { target }).EnumerateRootPaths())
        {
            for (GCRoot.ChainLink link = path; link != null; link = link.Next)
                links++;
        }
        return links;
    }

    private static long Referenced(ClrHeap heap, ulong target)
    {
        var seen = new HashSet<ulong> { target };
        var todo = new Stack<ulong>(seen);
        while (todo.TryPop(out ulong next))
        {
            foreach (ClrObject found in heap.GetObject(next).EnumerateReferences(carefully: false, considerDependantHandles: true))
            {
                if (seen.Add(found))
                    todo.Push(found);
            }
        }
        return seen.Count;
    }

    private static void Further(ClrHeap heap, ulong[] targets)
    {
        for (int i = 0; i < targets.Length; i++)
        {
            long start = Stopwatch.GetTimestamp();
            Paths(heap, targets[i]);
            Console.WriteLine($"gcroot{i} {Stopwatch.GetElapsedTime(start).TotalSeconds:F6}");
            start = Stopwatch.GetTimestamp();
            Referenced(heap, targets[i]);
            Console.WriteLine($"objsize{i} {Stopwatch.GetElapsedTime(start).TotalSeconds:F6}");
        }
    }

    private static long Private()
    {
        string[] pages = File.ReadAllText("/proc/self/statm").Split(' ');
        return (long.Parse(pages[1]) - long.Parse(pages[2])) * Environment.SystemPageSize;
    }

    private static long peak;

    private static void Sample()
    {
        for (;; Thread.Sleep(5))
            Volatile.Write(ref peak, Math.Max(Volatile.Read(ref peak), Private()));
    }

    private static int Main(string[] arguments)
    {
        ulong[] targets = arguments.Skip(2).Select(word => Convert.ToUInt64(word, 16)).ToArray();
        Func<ClrHeap, long> work = arguments.Length < 2 ? null : arguments[1] switch
        {
            "stat" => Statistics,
            "verify" => Errors,
            "eeheap" => Segments,
            "gcroot" when targets.Length > 0 => heap => Paths(heap, targets[0]),
            _ => null,
        };
        if (work == null)
        {
            Console.Error.WriteLine("usage: clrmd_bench CORE stat|verify|eeheap|gcroot [TARGET...]");
            return 2;
        }
        new Thread(Sample) { IsBackground = true }.Start();
        CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
        long start = Stopwatch.GetTimestamp();
        using DataTarget target = DataTarget.LoadDump(arguments[0]);
        ClrHeap heap = Open(target).Heap;
        long answer = work(heap);
        Console.WriteLine($"seconds {Stopwatch.GetElapsedTime(start).TotalSeconds:F6}");
        Console.WriteLine($"answer {answer}");
        if (arguments[1] == "stat")
        {
            start = Stopwatch.GetTimestamp();
            work(heap);
            Console.WriteLine($"again {Stopwatch.GetElapsedTime(start).TotalSeconds:F6}");
        }
        Console.WriteLine($"private {Math.Max(Volatile.Read(ref peak), Private())}");
        if (arguments[1] == "gcroot")
            Further(heap, targets);
        return 0;
    }
}
