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

        /// <summary>
        /// Threads that take the same two locks all the time, in the same order; and others that queue at a slow device,
        /// where one at a time sleeps with the lock.
        /// </summary>
        public static void Contend()
        {
            object first = new(), second = new(), device = new();
            for (int i = 0; i < 8; i++)
                new Thread(() =>
                {
                    for (; ; )
                    {
                        lock (device)
                            Thread.Sleep(20);
                    }
                })
                { IsBackground = true, Name = "writer-" + i }.Start();
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

        /// <summary>Two workers that wait for signals of their own, as idle ones do.</summary>
        private sealed class Idle
        {
            private readonly SemaphoreSlim first = new(0), second = new(0);
            public async Task First()
            {
                await Task.Yield();
                for (; ; )
                    await first.WaitAsync();
            }
            public async Task Second()
            {
                await Task.Yield();
                for (; ; )
                    await second.WaitAsync();
            }
        }

        /// <summary>A service: semaphores as locks, in the same order everywhere, a limit, timers, a cache.</summary>
        private sealed class Service
        {
            private readonly SemaphoreSlim outer = new(1, 1), inner = new(1, 1), limit = new(4, 4);

            private async Task Inner(int number)
            {
                await inner.WaitAsync();
                try
                {
                    Burn(number % 5000);
                    await Task.Delay(1);
                }
                finally
                {
                    inner.Release();
                }
            }

            private async Task Outer(int number)
            {
                await outer.WaitAsync();
                try
                {
                    await Task.Yield();
                    await Inner(number);
                }
                finally
                {
                    outer.Release();
                }
            }

            public async Task Requests(int seed)
            {
                for (int number = seed; ; number += 7)
                {
                    await limit.WaitAsync();
                    if (number % 3 == 0)
                        await Inner(number);
                    else
                        await Outer(number);
                    limit.Release();
                }
            }
        }

        private static Service service;
        private static Idle idle;

        /// <summary>Async methods that take semaphores as locks, and workers that wait for signals.</summary>
        public static void Serve()
        {
            service = new Service();
            idle = new Idle();
            for (int i = 0; i < 12; i++)
                Track(service.Requests(i));
            Track(idle.First());
            Track(idle.Second());
            Track(Tick());
        }

        private static readonly System.Collections.Generic.List<Task> tracked = new();
        private static void Track(Task task) => tracked.Add(task);

        private static async Task Tick()
        {
            using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(5));
            while (await timer.WaitForNextTickAsync())
                Burn(100);
        }

        private sealed class Scrap
        {
            ~Scrap() => Burn(50);
        }

        /// <summary>Threads that block for short times: queues, conditions, readers and writers, finalizers.</summary>
        public static void Block()
        {
            var queue = new System.Collections.Concurrent.BlockingCollection<int>(8);
            var shared = new ReaderWriterLockSlim();
            object condition = new();
            int turn = 0;
            void Run(string name, Action body) => new Thread(() =>
            {
                for (; ; )
                    body();
            })
            { IsBackground = true, Name = name }.Start();
            Run("producer", () => queue.Add(1));
            Run("consumer", () => Burn(queue.Take() * 500));
            for (int i = 0; i < 2; i++)
            {
                int mine = i;
                Run("player-" + i, () =>
                {
                    lock (condition)
                    {
                        while (turn != mine)
                            Monitor.Wait(condition);
                        turn = 1 - mine;
                        Monitor.PulseAll(condition);
                    }
                });
                Run("reader-" + i, () =>
                {
                    shared.EnterReadLock();
                    Burn(200);
                    shared.ExitReadLock();
                });
            }
            Run("writer", () =>
            {
                shared.EnterWriteLock();
                Burn(200);
                shared.ExitWriteLock();
                Thread.Sleep(1);
            });
            Run("maker", () => { GC.KeepAlive(new Scrap()); Thread.Sleep(1); });
            Run("caller", () => Task.Run(() => Burn(1000)).Wait());
        }

        /// <summary>Read locks, spin locks and handles that are held for a moment, and a window that goes on.</summary>
        public static void Share()
        {
            var stock = new Stock();
            var meter = new Meter(true);
            var mutex = new Mutex();
            var countdown = new CountdownEvent(2);
            WaitHandle[] signals = { new AutoResetEvent(false), new AutoResetEvent(false) };
            void Run(string name, Action body) => new Thread(() =>
            {
                for (; ; )
                    body();
            })
            { IsBackground = true, Name = name }.Start();
            for (int i = 0; i < 3; i++)
            {
                AutoResetEvent signal = (AutoResetEvent)signals[i % 2];
                // The shelf comes before the till everywhere.
                Run("reporter-" + i, () => stock.Report(() => Burn(200)));
                Run("counter-" + i, () => meter.Add(() => Burn(100)));
                Run("signaller-" + i, () => { signal.Set(); Thread.Sleep(1); });
                Run("owner-" + i, () => { mutex.WaitOne(); Burn(100); mutex.ReleaseMutex(); });
            }
            Run("restocker", () => { stock.Write(); Thread.Sleep(1); });
            Run("pricer", () =>
            {
                stock.Shelf.EnterUpgradeableReadLock();
                stock.Write();
                stock.Shelf.ExitUpgradeableReadLock();
                Thread.Sleep(1);
            });
            Run("waiter", () => WaitHandle.WaitAny(signals));
            Run("both", () => WaitHandle.WaitAll(signals));
            Run("starter", () => { countdown.Wait(); countdown.Reset(); });
            Run("runner", () => { if (!countdown.IsSet) countdown.Signal(); Thread.Sleep(1); });
            var window = new Window(Task.FromResult("at once"));
            var context = new WindowContext();
            Run("window", context.Run);
            for (int i = 0; i < 4; i++)
                context.Post(window.OnOpen, null);
            // They wait for the window's thread, which does not wait for them.
            Run("sender", () =>
            {
                var done = new TaskCompletionSource();
                context.Post(_ => { Burn(500); done.SetResult(); }, null);
                done.Task.Wait();
            });
        }
    }
}
