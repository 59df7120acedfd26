// SPDX-License-Identifier: MIT
// Thread pools without a free worker, and timers.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Reflection;
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

        /// <summary>Short work for a second and a half: the pool measures, and changes what it wants.</summary>
        private static void MakeItMeasure()
        {
            for (long end = Environment.TickCount64 + 1500; Environment.TickCount64 < end; Thread.Sleep(1))
                if (ThreadPool.PendingWorkItemCount < 50)
                    for (int i = 0; i < 20; i++)
                        ThreadPool.QueueUserWorkItem(Work);
            while (ThreadPool.PendingWorkItemCount > 0)
                Thread.Sleep(10);
        }

        private static object Field(object holder, string name) =>
            holder.GetType().GetField(name, BindingFlags.NonPublic | BindingFlags.Public | BindingFlags.Instance)?.GetValue(holder);

        /// <summary>What the pool has logged of its goal, read by reflection.</summary>
        private static string Changes()
        {
            Type type = typeof(object).Assembly.GetType("System.Threading.PortableThreadPool+HillClimbing");
            object climber = type?.GetField("ThreadPoolHillClimber", BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic)?.GetValue(null);
            if (climber == null)
                return "null";
            var log = (Array)Field(climber, "_log");
            int start = (int)Field(climber, "_logStart"), size = (int)Field(climber, "_logSize");
            var rows = new List<string>();
            for (int i = 0; i < size; i++)
            {
                object entry = log.GetValue((start + i) % log.Length);
                rows.Add($"{{\"ticks\":{Field(entry, "tickCount")},\"transition\":\"{Field(entry, "stateOrTransition")}\"" +
                    $",\"threads\":{Field(entry, "newControlSetting")},\"samples\":{Field(entry, "lastHistoryCount")}" +
                    $",\"throughput\":{((float)Field(entry, "lastHistoryMean")).ToString("R", CultureInfo.InvariantCulture)}}}");
            }
            return $"{{\"samples\":{Field(climber, "_totalSamples")},\"changes\":[{string.Join(",", rows)}]}}";
        }

        private static readonly SemaphoreSlim opened = new(0);

        /// <summary>All workers wait for a semaphore, and the item that would release it waits for a worker.</summary>
        public static void Queue()
        {
            const int workers = 20;
            ThreadPool.SetMinThreads(workers, 1);
            ThreadPool.SetMaxThreads(workers, 1);
            for (int i = 0; i < workers; i++)
                ThreadPool.QueueUserWorkItem(_ =>
                {
                    Interlocked.Increment(ref begun);
                    opened.Wait();
                });
            while (Volatile.Read(ref begun) < workers)
                Thread.Sleep(10);
            ThreadPool.QueueUserWorkItem(state => ((SemaphoreSlim)state).Release(workers), opened);
        }

        public static void Starve()
        {
            MakeItMeasure();
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
            Truth.Say("objects", () => $"[[{Truth.AddressOf(store.Answer.Task)},{workers}]]");
            Truth.Say("pool", $"{{\"threads\":{ThreadPool.ThreadCount},\"queued\":{ThreadPool.PendingWorkItemCount}" +
                $",\"measured\":{Changes()},\"min\":{min},\"max\":{max},\"blocked\":{workers},\"callbacks\":{callbacks},\"tasks\":{tasks}}}");
        }

        private static void Tick(object state) => GC.KeepAlive(state);

        public static void Timers()
        {
            kept.Add(new Timer(Tick, "soon", 600_000, 10_000));
            kept.Add(new Timer(Tick, "late", 3600_000, Timeout.Infinite));
            kept.Add(new Timer(Tick, "never", Timeout.Infinite, Timeout.Infinite));
            for (int i = 0; i < 3; i++)
                kept.Add(new Timer(Tick, "same", 700_000, 700_000));
            var events = new System.Timers.Timer(500_000);
            events.Elapsed += (_, _) => Work(null);
            events.Start();
            kept.Add(events);
            kept.Add(new CancellationTokenSource(TimeSpan.FromHours(9)));
            kept.Add(Task.Delay(TimeSpan.FromHours(2)));
            kept.Add(new PeriodicTimer(TimeSpan.FromHours(3)));
            Truth.Say("timers", "[{\"due\":600000,\"period\":10000,\"method\":\"Hang.Pool.Tick\"}," +
                "{\"due\":3600000,\"period\":null,\"method\":\"Hang.Pool.Tick\"}," +
                "{\"due\":700000,\"period\":700000,\"method\":\"Hang.Pool.Tick\",\"count\":3}," +
                "{\"due\":500000,\"period\":500000,\"method\":\"Hang.Pool+<>c.<Timers>\"}," +
                "{\"due\":32400000,\"period\":null,\"method\":\"System.Threading.CancellationTokenSource\"}," +
                "{\"due\":7200000,\"period\":null,\"method\":\"System.Threading.Tasks.Task+DelayPromise\"}," +
                "{\"due\":10800000,\"period\":10800000,\"method\":\"System.Threading.PeriodicTimer\"}]");
        }
    }
}
