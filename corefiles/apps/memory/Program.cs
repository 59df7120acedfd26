// SPDX-License-Identifier: MIT
// Takes known amounts of memory in every way, and says how much it took of which. The argument: "all" takes everything,
// "none" runs the same code for nothing, "waste" takes what advice is given about. One line of JSON, then READY; then it waits.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;

namespace Planted
{
    public static class Program
    {
        private const int Megabyte = 1 << 20;
        private static readonly Dictionary<string, long> planted = new();

        private static void PlantNative(bool isAll)
        {
            long times = isAll ? 1 : 0;
            planted["malloc_small"] = Native.Small(times * 12 * Megabyte, 200);
            planted["malloc_freed"] = Native.Freed(times * 10 * Megabyte, 3000);
            // Above the size from which on malloc maps pieces on their own.
            planted["malloc_large"] = Native.Small(times * 20 * Megabyte, 2 * Megabyte);
            Native.Half(planted["mapped"] = times * 24 * Megabyte);
            Native.Common(planted["shared"] = times * 6 * Megabyte);
            Native.Nameless("planted-memory", planted["memfd"] = times * 7 * Megabyte);
            Managed.MappedFile(Path.Combine(Directory.GetCurrentDirectory(), "planted.bin"),
                               planted["file"] = times * 9 * Megabyte);
            Threads((int)times);
        }

        private static void Threads(int times)
        {
            // What other threads take, they take of other arenas.
            long inThreads = 0;
            var threads = Enumerable.Range(0, 4 * times).Select(_ => new Thread(() =>
                Interlocked.Add(ref inThreads, Native.Small(3 * Megabyte, 500)))).ToList();
            threads.ForEach(thread => thread.Start());
            threads.ForEach(thread => thread.Join());
            planted["malloc_threads"] = inThreads;
            Managed.Users(6 * times, 2 * Megabyte, "planted-user-");
            planted["stack_used"] = 12L * times * Megabyte;
            Managed.Idle(5 * times, 3 * Megabyte, "planted-idle-");
            planted["stack_below"] = 15L * times * Megabyte;
        }

        private static void PlantRuntime(bool isAll)
        {
            int times = isAll ? 1 : 0;
            long used = Native.Information().UsedBytes, objects = GC.GetTotalMemory(true);
            long before = Native.RuntimeMemory();
            Managed.Methods(600 * times);
            long between = Native.RuntimeMemory();
            Managed.Contexts(contextCount * times, "planted-context-");
            long after = Native.RuntimeMemory();
            planted["methods"] = between - before;
            planted["contexts"] = after - between;
            // What the runtime has for it of malloc and on the heap.
            planted["malloc_runtime"] = Native.Information().UsedBytes - used;
            planted["objects_runtime"] = GC.GetTotalMemory(true) - objects;
            planted["contexts_count"] = contextCount * times;
        }

        private const int contextCount = 12;

        private static void PlantObjects(bool isAll)
        {
            long times = isAll ? 1 : 0;
            planted["objects"] = Managed.Arrays(times * 11 * Megabyte, 1000, size => new byte[size], false);
            planted["pinned"] = Managed.Arrays(times * 4 * Megabyte, 4000, size => new byte[size], true);
            GC.Collect();
            GC.WaitForPendingFinalizers();
            GC.Collect();
            planted["poh"] = Managed.Arrays(times * 5 * Megabyte, 2000,
                                            size => GC.AllocateUninitializedArray<byte>(size, true), false);
            planted["loh"] = Managed.Arrays(times * 14 * Megabyte, Megabyte, size => new byte[size], false);
            planted["loh_dead"] = Managed.Doomed(times * 8 * Megabyte, Megabyte);
        }

        /// <summary>Much of what `memory` gives advice about, and little else.</summary>
        private static void PlantWaste()
        {
            planted["unloading"] = 3 * contextCount;
            Managed.Contexts(3 * contextCount, "planted-context-");
            Managed.Unload();
            long inThreads = 0;
            var threads = Enumerable.Range(0, 3).Select(_ => new Thread(() =>
                Interlocked.Add(ref inThreads, Native.FreedBelow(30 * Megabyte, 3000)))).ToList();
            threads.ForEach(thread => thread.Start());
            threads.ForEach(thread => thread.Join());
            planted["arenas"] = inThreads;
            Managed.Idle(12, 6 * Megabyte, "planted-idle-");
            planted["stacks"] = 72 * Megabyte;
            planted["loh_gaps"] = Managed.Gaps(80 * Megabyte, Megabyte);
            planted["dead"] = Managed.Doomed(70 * Megabyte, 1000);
            GC.Collect();
            GC.WaitForPendingFinalizers();
            GC.Collect();
        }

        private static string Words()
        {
            MallocInformation known = Native.Information();
            string result = string.Join(",", planted.Select(row => $"\"{row.Key}\":{row.Value}"));
            return $"{{\"planted\":{{{result}}},\"malloc\":{{\"arena\":{known.Arena},\"used\":{known.UsedBytes}," +
                   $"\"free\":{known.FreeBytes},\"fast\":{known.FastBytes},\"mapped\":{known.MappedBytes}," +
                   $"\"mapped_pieces\":{known.MappedBlocks}}}}}";
        }

        public static int Main(string[] arguments)
        {
            bool isAll = arguments.Length == 0 || arguments[0] == "all";
            if (arguments.Length > 0 && arguments[0] == "waste")
            {
                PlantWaste();
            }
            else
            {
                PlantRuntime(isAll);
                PlantNative(isAll);
                PlantObjects(isAll);
            }
            // The first writes what it needs, the second what it knows.
            Words();
            Managed.Condemn();
            Console.WriteLine("{}");
            Console.Out.Flush();
            Console.WriteLine(Words());
            Console.WriteLine("READY");
            Console.Out.Flush();
            Thread.Sleep(Timeout.Infinite);
            return 0;
        }
    }
}
