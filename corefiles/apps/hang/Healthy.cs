// SPDX-License-Identifier: MIT
// Programs under load that do not hang.
using System;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

namespace Hang
{
    public static class Healthy
    {
        private static long sum;

        private static void Burn(int rounds)
        {
            long value = 1;
            for (int i = 0; i < rounds; i++)
                value = value * 6364136223846793005 + 1442695040888963407;
            Interlocked.Add(ref sum, value & 1);
        }

        /// <summary>All workers compute, and more work is queued.</summary>
        public static void Compute()
        {
            void Again(object state)
            {
                Burn(2_000_000);
                ThreadPool.QueueUserWorkItem(Again, state);
            }
            for (int i = 0; i < 16; i++)
                ThreadPool.QueueUserWorkItem(Again, "work " + i);
        }

        /// <summary>Threads that take the same two locks all the time, in the same order.</summary>
        public static void Contend()
        {
            object first = new(), second = new();
            for (int i = 0; i < 6; i++)
                new Thread(() =>
                {
                    for (; ; )
                    {
                        lock (first)
                            lock (second)
                                Burn(2_000);
                    }
                })
                { IsBackground = true, Name = "worker-" + i }.Start();
        }

        /// <summary>Producers and consumers of a bounded channel.</summary>
        public static void Produce()
        {
            Channel<int> channel = Channel.CreateBounded<int>(16);
            for (int i = 0; i < 4; i++)
            {
                Task.Run(async () =>
                {
                    for (int value = 0; ; value++)
                    {
                        await channel.Writer.WriteAsync(value);
                        await Task.Yield();
                    }
                });
                Task.Run(async () =>
                {
                    await foreach (int value in channel.Reader.ReadAllAsync())
                        Burn(value % 1000);
                });
            }
        }
    }
}
