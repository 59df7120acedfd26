// SPDX-License-Identifier: MIT
// Several deadlocks in one program, each of its own kind: over semaphores, of threads and async methods, and with a
// type initializer.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Hang
{
    /// <summary>Its initializer waits for a thread that needs the class.</summary>
    public static class JoiningClass
    {
        public static readonly int Value;
        static JoiningClass()
        {
            Thread reader = Truth.Start("reader", "type initializer", null, "joiner", () => GC.KeepAlive(Read()));
            reader.Join();
            Value = 1;
        }
        public static int Read() => Value;
    }

    public sealed class Vault
    {
        public readonly SemaphoreSlim Gate = new(1, 1);
        public int Balance;
    }

    /// <summary>Two vaults, each locked by the one that gives; the one that takes is locked second.</summary>
    public sealed class Courier
    {
        public async Task Carry(Vault from, Vault to, Task bothBegan)
        {
            await from.Gate.WaitAsync();
            try
            {
                await bothBegan;
                await to.Gate.WaitAsync();
                to.Balance++;
            }
            finally
            {
                from.Gate.Release();
            }
        }
    }

    /// <summary>A semaphore is no lock that its owner could take twice.</summary>
    public sealed class Journal
    {
        private readonly SemaphoreSlim gate = new(1, 1);
        public int Lines;

        public async Task Append(int lines)
        {
            await gate.WaitAsync();
            try
            {
                await Task.Yield();
                await Flush();
                Lines += lines;
            }
            finally
            {
                gate.Release();
            }
        }

        public async Task Flush()
        {
            await gate.WaitAsync();
            Lines = 0;
            gate.Release();
        }
    }

    /// <summary>Cached values, made by a task that needs what the caller has.</summary>
    public sealed class Cache
    {
        private readonly object gate = new();
        private readonly SemaphoreSlim slot = new(1, 1);

        /// <summary>Waits inside the lock for an async method that needs a thread, which wants the lock.</summary>
        public void Refresh(Action beforeLock)
        {
            lock (gate)
                Load(beforeLock).Wait();
        }

        private async Task Load(Action beforeLock)
        {
            await Task.Yield();
            await Task.Run(() =>
            {
                beforeLock();
                lock (gate)
                    GC.KeepAlive(gate);
            });
        }

        public object Gate => gate;

        /// <summary>The same with a semaphore.</summary>
        public int Count()
        {
            slot.Wait();
            int count = CountAsync().Result;
            slot.Release();
            return count;
        }

        private async Task<int> CountAsync()
        {
            await slot.WaitAsync();
            slot.Release();
            return 1;
        }
    }

    public static class Mixed
    {
        private static readonly List<object> kept = new();

        private static void Swap(SemaphoreSlim one, SemaphoreSlim other, Barrier barrier)
        {
            one.Wait();
            barrier.SignalAndWait();
            other.Wait();
            other.Release();
            one.Release();
        }

        /// <summary>Two threads, each with one semaphore.</summary>
        private static void Semaphores()
        {
            SemaphoreSlim first = new(1), second = new(1);
            var barrier = new Barrier(2);
            Truth.Start("swap-1", "SemaphoreSlim", second, null, () => Swap(first, second, barrier));
            Truth.Start("swap-2", "SemaphoreSlim", first, null, () => Swap(second, first, barrier));
            Truth.Possible("swap-1", "swap-2");
        }

        /// <summary>Two async methods, each with one semaphore; no thread is in it.</summary>
        private static void Couriers()
        {
            Vault east = new(), west = new();
            var began = new TaskCompletionSource();
            var courier = new Courier();
            kept.Add(courier.Carry(east, west, began.Task));
            kept.Add(courier.Carry(west, east, began.Task));
            began.SetResult();
            // It comes third, and waits for one of the two.
            kept.Add(courier.Carry(east, new Vault(), began.Task));
            Truth.Possible("Hang.Courier.Carry", "Hang.Courier.Carry");
            kept.Add(new Journal().Append(1));
            Truth.Possible("Hang.Journal.Append", "Hang.Journal.Flush");
        }

        /// <summary>A thread, an async method, and a worker of the pool.</summary>
        private static void Chain()
        {
            var cache = new Cache();
            Truth.Start("refresh", "Task", null, "load", () => cache.Refresh(
                () => Truth.Here("load", "Monitor.Enter", cache.Gate, "refresh")));
            Truth.Deadlock("refresh", "Hang.Cache.Load", "load");
        }

        /// <summary>A thread has a semaphore that the async method it waits for wants.</summary>
        private static void Counter()
        {
            var cache = new Cache();
            Truth.Start("count", "Task", null, null, () => GC.KeepAlive(cache.Count()));
            Truth.Possible("count", "Hang.Cache.CountAsync");
        }

        /// <summary>The initializer joins a thread that needs the class.</summary>
        public static void Initializer()
        {
            Truth.Start("joiner", "Thread.Join", null, "reader", () => GC.KeepAlive(JoiningClass.Read()));
            Thread.Sleep(200);
            Truth.Deadlock("joiner", "reader");
        }

        public static void Begin()
        {
            ThreadPool.SetMinThreads(8, 1);
            Semaphores();
            Couriers();
            Chain();
            Counter();
            Initializer();
#if NET9_0_OR_GREATER
            Locks.LockRing();
#endif
        }
    }
}
