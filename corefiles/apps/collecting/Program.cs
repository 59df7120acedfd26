// SPDX-License-Identifier: MIT
// A sound program that allocates in one of several ways while another thread collects: cores of it
// are taken at any moment, and nothing in them is damage.
//     collecting MIX COLLECT
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Collecting
{
    public sealed class Tree
    {
        public Tree left, right;
        public long[] data;
    }

    public sealed class Owner
    {
        public object held;
        public int id;
        public static int ended;
        ~Owner() => Interlocked.Increment(ref ended);
    }

    public struct Wide
    {
        public object first;
        public long a, b;
        public object second;
    }

    public static class Program
    {
        private static long rounds;
        private static object[] shared = new object[4096];

        private static Tree Grow(Random random, int depth)
        {
            if (depth == 0)
                return null;
            return new Tree
            {
                left = Grow(random, depth - 1),
                right = random.Next(4) != 0 ? Grow(random, depth - 1) : null,
                data = random.Next(3) == 0 ? new long[random.Next(40)] : null,
            };
        }

        private static void Trees(Random random)
        {
            shared[random.Next(256)] = Grow(random, random.Next(3, 11));
            if (random.Next(40) == 0)
                shared[256 + random.Next(16)] = new object[11000 + random.Next(9000)];
        }

        private static void Large(Random random)
        {
            int slot = random.Next(48);
            switch (random.Next(6))
            {
                case 0: shared[slot] = new byte[85000 + random.Next(400000)]; break;
                case 1: shared[slot] = new object[10700 + random.Next(60000)]; break;
                case 2: shared[slot] = new string('x', 43000 + random.Next(90000)); break;
                case 3: shared[slot] = new Wide[2200 + random.Next(3000)]; break;
                case 4: shared[slot] = GC.AllocateUninitializedArray<byte>(90000 + random.Next(100000)); break;
                default: shared[slot] = null; break;
            }
            for (int i = 0; i < 50; i++)
                shared[64 + random.Next(512)] = new byte[random.Next(300)];
        }

        private static void Pinned(Random random)
        {
            var handles = Pins;
            for (int i = 0; i < 20; i++)
            {
                shared[random.Next(2048)] = new byte[random.Next(120)];
                if (random.Next(4) == 0)
                    handles.Enqueue(GCHandle.Alloc(new byte[random.Next(1, 400)], GCHandleType.Pinned));
                if (random.Next(10) == 0)
                    shared[2048 + random.Next(256)] = GC.AllocateArray<byte>(random.Next(2000), pinned: true);
            }
            while (handles.Count > 300 && handles.TryDequeue(out GCHandle handle))
                handle.Free();
        }

        private static readonly ConcurrentQueue<GCHandle> Pins = new();
        private static readonly ConditionalWeakTable<object, object> Attached = new();

        private static void Handles(Random random)
        {
            for (int i = 0; i < 10; i++)
            {
                object key = new object[random.Next(5)];
                shared[random.Next(1024)] = key;
                Attached.AddOrUpdate(key, new Owner { held = new string('h', random.Next(50)), id = i });
                var weak = new WeakReference(new Owner { held = key }, random.Next(2) == 0);
                shared[1024 + random.Next(1024)] = weak;
                if (random.Next(20) == 0 && shared[1024 + random.Next(1024)] is WeakReference other && other.Target is Owner owner)
                    lock (owner)
                        owner.id++;
            }
        }

        private static void Strings(Random random)
        {
            var builder = new StringBuilder();
            for (int i = random.Next(60); i > 0; i--)
                builder.Append(i).Append(", ");
            shared[random.Next(1024)] = builder.ToString();
            shared[1024 + random.Next(64)] = new Dictionary<string, object> { ["a"] = builder, [builder.ToString()] = new List<int> { 1, 2, 3 } };
            shared[2048 + random.Next(64)] = builder.ToString().Split(',');
        }

        // Threads that end leave the rest of their allocation contexts.
        private static void Threads(Random random)
        {
            var threads = new Thread[4];
            for (int i = 0; i < threads.Length; i++)
            {
                int seed = random.Next();
                threads[i] = new Thread(() =>
                {
                    var own = new Random(seed);
                    for (int j = own.Next(400); j > 0; j--)
                        Strings(own);
                    Trees(own);
                });
                threads[i].Start();
            }
            foreach (Thread thread in threads)
                thread.Join();
        }

        private static Action<Random> MixOf(string name, Random random) => name switch
        {
            "trees" => Trees,
            "large" => Large,
            "pinned" => Pinned,
            "handles" => Handles,
            "strings" => Strings,
            "threads" => Threads,
            "all" => random.Next(6) switch { 0 => Trees, 1 => Large, 2 => Pinned, 3 => Handles, 4 => Strings, _ => Threads },
            _ => throw new ArgumentException("no mix " + name),
        };

        private static void Collect(string name, Random random)
        {
            switch (name)
            {
                case "none":
                    Thread.Sleep(50);
                    break;
                case "full":
                    GC.Collect();
                    break;
                case "young":
                    GC.Collect(random.Next(2), GCCollectionMode.Forced, blocking: true);
                    break;
                case "compacting":
                    GCSettings.LargeObjectHeapCompactionMode = GCLargeObjectHeapCompactionMode.CompactOnce;
                    GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: true);
                    break;
                // One at a time: several at once, some compacting, can spin for ever.
                case "background":
                    GC.Collect(2, GCCollectionMode.Forced, blocking: false, compacting: false);
                    break;
                default:
                    Collect(random.Next(4) switch { 0 => "full", 1 => "young", 2 => "compacting", _ => "background" }, random);
                    break;
            }
        }

        public static int Main(string[] args)
        {
            string mix = args[0], collect = args[1];
            for (int i = 0; i < 3; i++)
            {
                var random = new Random(i + 1);
                new Thread(() =>
                {
                    for (;;)
                    {
                        MixOf(mix, random)(random);
                        Interlocked.Increment(ref rounds);
                    }
                }) { IsBackground = true, Name = mix + " " + i }.Start();
            }
            new Thread(() =>
            {
                var random = new Random(77);
                for (;;)
                {
                    Collect(collect, random);
                    Thread.Sleep(3);
                }
            }) { IsBackground = true, Name = "collect" }.Start();
            while (Interlocked.Read(ref rounds) < 200)
                Thread.Sleep(10);
            string text = $"{{\"program\":\"collecting\",\"schema\":1,\"version\":\"{Environment.Version}\",\"pid\":{Environment.ProcessId}}}\nREADY\n";
            Console.OpenStandardOutput().Write(Encoding.ASCII.GetBytes(text));
            Thread.Sleep(Timeout.Infinite);
            return 0;
        }
    }
}
