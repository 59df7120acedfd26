// SPDX-License-Identifier: MIT
// clrmd_bench CORE WHAT: one of the things that bench_heap measures, done by ClrMD with the runtime's data
// access library (DAC), in a process of its own as there. Prints one "name value" a line: seconds from before
// the core is opened, objects, and private memory at the end. WHAT is
//
//   stat     walk all objects: counts and bytes by MethodTable, and their names; then "again", the seconds of
//            a second walk, when nothing is left to open, to compile or to load
//   verify   VerifyHeap() over all objects
//   eeheap   all heaps and segments with their bounds
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Runtime.InteropServices;
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

    private static int Main(string[] arguments)
    {
        Func<ClrHeap, long> work = arguments.Length != 2 ? null : arguments[1] switch
        {
            "stat" => Statistics,
            "verify" => Errors,
            "eeheap" => Segments,
            _ => null,
        };
        if (work == null)
        {
            Console.Error.WriteLine("usage: clrmd_bench CORE stat|verify|eeheap");
            return 2;
        }
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
        string[] pages = File.ReadAllText("/proc/self/statm").Split(' ');
        Console.WriteLine($"private {(long.Parse(pages[1]) - long.Parse(pages[2])) * Environment.SystemPageSize}");
        return 0;
    }
}
