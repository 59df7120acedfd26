// SPDX-License-Identifier: MIT
// Collections that many threads share, and channels.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Channels;

namespace Collections
{
    public static class Concurrent
    {
        public static void Make()
        {
            Dictionaries();
            Queues();
            Bags();
            Channels();
        }

        private static void Dictionaries()
        {
            var table = new ConcurrentDictionary<string, int>();
            for (int i = 0; i < 200; i++)
                table["key " + i] = i;
            for (int i = 0; i < 200; i += 2)
                table.TryRemove("key " + i, out _);
            Truth.AddPairs("concurrent-dictionary", table, table, ordered: false);
            Truth.AddPairs("concurrent-dictionary-empty", new ConcurrentDictionary<int, int>(), new Dictionary<int, int>());
            var structs = new ConcurrentDictionary<Point, Point>();
            structs[new Point(1)] = new Point(2);
            structs[new Point(3)] = new Point(4);
            Truth.AddPairs("concurrent-dictionary-structs", structs, structs, ordered: false);
            var many = new ConcurrentDictionary<int, long>();
            for (int i = 0; i < Program.Many; i++)
                many[i] = 3L * i;
            Truth.AddPairs("concurrent-dictionary-many", many, many, ordered: false);
        }

        private static void Queues()
        {
            var queue = new ConcurrentQueue<string>();
            for (int i = 0; i < 45; i++)
            {
                queue.Enqueue("item " + i);
                if (i < 20)
                    queue.TryDequeue(out _);
            }
            Truth.Add("concurrent-queue", queue, queue.ToArray());
            Truth.Add("concurrent-queue-empty", new ConcurrentQueue<int>(), Array.Empty<int>());
            var points = new ConcurrentQueue<Point>(Enumerable.Range(0, 3).Select(i => new Point(i)));
            Truth.Add("concurrent-queue-structs", points, points.ToArray());
            var many = new ConcurrentQueue<int>();
            for (int i = 0; i < Program.Many + 1000; i++)
                many.Enqueue(i);
            for (int i = 0; i < 1000; i++)
                many.TryDequeue(out _);
            Truth.Add("concurrent-queue-many", many, many.ToArray());
            var blocking = new BlockingCollection<int>(50) { 4, 5, 6 };
            Truth.Add("blocking", blocking, blocking.ToArray(), 50);
            var stacked = new BlockingCollection<int>(new ConcurrentStack<int>()) { 4, 5, 6 };
            Truth.Add("blocking-stack", stacked, stacked.ToArray());
        }

        private static void Bags()
        {
            var stack = new ConcurrentStack<long>(new long[] { 1, 2, 3 });
            stack.TryPop(out _);
            Truth.Add("concurrent-stack", stack, stack.ToArray());
            Truth.Add("concurrent-stack-empty", new ConcurrentStack<int>(), Array.Empty<int>());
            var bag = new ConcurrentBag<int>();
            for (int thread = 0; thread < 3; thread++)
            {
                int first = 1000 * thread;
                var worker = new Thread(() =>
                {
                    for (int i = 0; i < 40; i++)
                        bag.Add(first + i);
                    bag.TryTake(out _);
                });
                worker.Start();
                worker.Join();
            }
            bag.TryTake(out _);
            Truth.Add("concurrent-bag", bag, bag.ToArray(), ordered: false);
            Truth.Add("concurrent-bag-empty", new ConcurrentBag<int>(), Array.Empty<int>());
        }

        private static void Channels()
        {
            var unbounded = Channel.CreateUnbounded<string>();
            for (int i = 0; i < 5; i++)
                unbounded.Writer.TryWrite("message " + i);
            unbounded.Reader.TryRead(out _);
            Truth.Add("channel", unbounded, Enumerable.Range(1, 4).Select(i => "message " + i));
            var single = Channel.CreateUnbounded<int>(new UnboundedChannelOptions { SingleReader = true });
            for (int i = 0; i < 150; i++)
                single.Writer.TryWrite(i);
            for (int i = 0; i < 40; i++)
                single.Reader.TryRead(out _);
            Truth.Add("channel-single", single, Enumerable.Range(40, 110));
            var bounded = Channel.CreateBounded<Point>(8);
            for (int i = 0; i < 7; i++)
                bounded.Writer.TryWrite(new Point(i));
            for (int i = 0; i < 5; i++)
                bounded.Reader.TryRead(out _);
            for (int i = 7; i < 10; i++)
                bounded.Writer.TryWrite(new Point(i));
            Truth.Add("channel-bounded", bounded, Enumerable.Range(5, 5).Select(i => new Point(i)), 8);
            Truth.Add("channel-empty", Channel.CreateBounded<int>(3), Array.Empty<int>(), 3);
#if NET9_0_OR_GREATER
            var first = Channel.CreateUnboundedPrioritized<int>();
            foreach (int i in new[] { 3, 1, 2 })
                first.Writer.TryWrite(i);
            Truth.Add("channel-prioritized", first, new[] { 1, 2, 3 }, ordered: false);
#endif
        }
    }
}
