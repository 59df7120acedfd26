// SPDX-License-Identifier: MIT
// Thread pools without a free worker, and timers.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Hang
{
    public sealed class Store
    {
        public readonly TaskCompletionSource<int> Answer = new();

        public async Task<int> ReadAsync(int key)
        {
            int value = await Answer.Task;
            return value + key;
        }

        /// <summary>Sync over async: a worker waits for a task that needs a worker.</summary>
        public int Read(int key) => ReadAsync(key).Result;
    }

    public static class Pool
    {
        private static readonly List<object> kept = new();
        private static int begun;

        public static void Work(object state) => Thread.Sleep(1);

        public static void Starve()
        {
            const int workers = 20, callbacks = 40, tasks = 5;
            var store = new Store();
            ThreadPool.SetMinThreads(workers, 1);
            ThreadPool.SetMaxThreads(workers, 1);
            for (int i = 0; i < workers; i++)
                ThreadPool.QueueUserWorkItem(_ =>
                {
                    Interlocked.Increment(ref begun);
                    GC.KeepAlive(store.Read(1));
                });
            while (Volatile.Read(ref begun) < workers)
                Thread.Sleep(10);
            Thread.Sleep(300);
            for (int i = 0; i < callbacks; i++)
                ThreadPool.QueueUserWorkItem(Work, "callback " + i);
            for (int i = 0; i < tasks; i++)
                kept.Add(Task.Run(() => Work("task")));
            Thread.Sleep(300);
            ThreadPool.GetMinThreads(out int min, out _);
            ThreadPool.GetMaxThreads(out int max, out _);
            Truth.Say("pool", $"{{\"threads\":{ThreadPool.ThreadCount},\"queued\":{ThreadPool.PendingWorkItemCount}" +
                $",\"min\":{min},\"max\":{max},\"blocked\":{workers},\"callbacks\":{callbacks},\"tasks\":{tasks}}}");
        }

        private static void Tick(object state) => GC.KeepAlive(state);

        public static void Timers()
        {
            kept.Add(new Timer(Tick, "soon", 600_000, 10_000));
            kept.Add(new Timer(Tick, "late", 3600_000, Timeout.Infinite));
            kept.Add(new Timer(Tick, "never", Timeout.Infinite, Timeout.Infinite));
            var events = new System.Timers.Timer(500_000);
            events.Elapsed += (_, _) => Work(null);
            events.Start();
            kept.Add(events);
            kept.Add(new CancellationTokenSource(TimeSpan.FromHours(9)));
            kept.Add(Task.Delay(TimeSpan.FromHours(2)));
            kept.Add(new PeriodicTimer(TimeSpan.FromHours(3)));
            Truth.Say("timers", "[{\"due\":600000,\"period\":10000,\"method\":\"Hang.Pool.Tick\"}," +
                "{\"due\":3600000,\"period\":null,\"method\":\"Hang.Pool.Tick\"}," +
                "{\"due\":500000,\"period\":500000,\"method\":\"System.Timers.Timer\"}," +
                "{\"due\":32400000,\"period\":null,\"method\":\"System.Threading.CancellationTokenSource\"}," +
                "{\"due\":7200000,\"period\":null,\"method\":\"System.Threading.Tasks.Task+DelayPromise\"}," +
                "{\"due\":10800000,\"period\":10800000,\"method\":\"System.Threading.PeriodicTimer\"}]");
        }
    }
}
