// SPDX-License-Identifier: MIT
// Threads that allocate, drop, pin and collect at full speed, for cores taken at any moment.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Churn
{
    public class Item
    {
        public Item next;
        public object payload;
        public int id;
    }

    public struct Pair
    {
        public string key;
        public Item value;
        public long stamp;
    }

    public sealed class Finalized
    {
        public Item item = new();
        public static int count;
        ~Finalized() => Interlocked.Increment(ref count);
    }

    public static class Program
    {
        private const int Threads = 4;
        private static long rounds;

        private static Item Chain(int length, int id)
        {
            Item head = null;
            for (int i = 0; i < length; i++)
                head = new Item { next = head, id = id + i, payload = i % 4 == 0 ? new byte[i % 90 + 1] : null };
            return head;
        }

        private static void Work(object argument)
        {
            var random = new Random((int)argument);
            var survivors = new Item[5000];
            var pairs = new Pair[3000];
            var pins = new Queue<GCHandle>();
            var large = new object[8];
            var names = new Dictionary<string, Item>();
            for (int round = 0; ; round++)
            {
                int slot = random.Next(survivors.Length);
                survivors[slot] = Chain(random.Next(30), round);
                ref Pair pair = ref pairs[random.Next(pairs.Length)];
                pair.key = "key " + round;
                pair.value = survivors[random.Next(survivors.Length)];
                pair.stamp = round;
                if (round % 50 == 0)
                {
                    pins.Enqueue(GCHandle.Alloc(new byte[random.Next(200) + 1], GCHandleType.Pinned));
                    if (pins.Count > 100)
                        pins.Dequeue().Free();
                }
                if (round % 100 == 0)
                {
                    names["name " + random.Next(500)] = pair.value;
                    GC.KeepAlive(new Finalized());
                }
                if (round % 997 == 0)
                    large[random.Next(large.Length)] = round % 2 == 0 ? new object[12000 + random.Next(5000)] : new byte[90000 + random.Next(50000)];
                if (round % 4001 == 4000)
                    GC.Collect(random.Next(2), GCCollectionMode.Forced, blocking: true);
                // A background collection that is to compact, or several at once, can spin for ever.
                if (round % 20011 == 20010)
                    GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: random.Next(2) == 0);
                else if (round % 15013 == 15012 && (int)argument == 1)
                    GC.Collect(2, GCCollectionMode.Optimized, blocking: false);
                Interlocked.Increment(ref rounds);
            }
        }

        public static int Main()
        {
            for (int i = 0; i < Threads; i++)
                new Thread(Work) { IsBackground = true, Name = "churn " + i }.Start(i + 1);
            while (Interlocked.Read(ref rounds) < 100000)
                Thread.Sleep(10);
            string text = $"{{\"program\":\"churn\",\"schema\":1,\"version\":\"{Environment.Version}\",\"pid\":{Environment.ProcessId}}}\nREADY\n";
            Console.OpenStandardOutput().Write(Encoding.ASCII.GetBytes(text));
            Thread.Sleep(Timeout.Infinite);
            return 0;
        }
    }
}
