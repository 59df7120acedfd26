// SPDX-License-Identifier: MIT
// Deadlocks over tasks that are made of others: who waits for all of several tasks hangs when one of them does, who
// waits for any of them only when all do.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Hang
{
    /// <summary>A depot whose shelves are counted by tasks, which need the lock of the depot.</summary>
    public sealed class Depot
    {
        private readonly object gate = new();
        private int counted;

        public object Gate => gate;

        /// <summary>A task on a thread of its own that wants the lock; it has begun when this returns.</summary>
        public Task Count(string name, string owner)
        {
            var began = new ManualResetEventSlim();
            Task task = Task.Factory.StartNew(() =>
            {
                Thread.CurrentThread.Name = name;
                Truth.Here(name, "Monitor.Enter", gate, owner);
                began.Set();
                lock (gate)
                    counted++;
            }, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
            began.Wait();
            return task;
        }

        /// <summary>Waits in the lock for all shelves; a delivery, which is not there yet, is one of the tasks.</summary>
        public void CloseDay(Task delivery)
        {
            lock (gate)
                Task.WaitAll(delivery, Count("shelf", "close-day"));
        }

        /// <summary>The first count is enough, but none can be made.</summary>
        public void FirstCount()
        {
            lock (gate)
                Task.WaitAny(Count("first-shelf", "first-count"), Count("last-shelf", "first-count"));
        }

        /// <summary>Only one of the two cannot be done: no deadlock.</summary>
        public void CountOrCancel(Task cancelled)
        {
            lock (gate)
                Task.WaitAny(Count("slow-shelf", "count-or-cancel"), cancelled);
        }

        /// <summary>As CloseDay and FirstCount, with async methods between the thread and the tasks.</summary>
        public void Report(Func<Task> make)
        {
            lock (gate)
                make().Wait();
        }

        public async Task Inventory()
        {
            await Task.WhenAll(Section("fruit", "inventory"), Task.Delay(Timeout.Infinite));
        }

        /// <summary>The second one is an async method that Task.Run begins.</summary>
        public async Task Sample()
        {
            await Task.WhenAny(Section("bread", "sample"), Task.Run(() => Section("milk", "sample")), Section("fish", "sample"));
        }

        private async Task Section(string name, string owner)
        {
            await Count(name, owner);
            counted++;
        }
    }

    public static class Several
    {
        private static readonly List<object> kept = new();

        public static void Begin()
        {
            ThreadPool.SetMinThreads(8, 1);
            var delivery = new TaskCompletionSource();
            Depot day = new(), first = new(), other = new(), inventory = new(), sample = new();
            Truth.Start("close-day", "Task.WaitAll", null, "shelf", () => day.CloseDay(delivery.Task));
            Truth.Deadlock("close-day", "shelf");
            Truth.Start("first-count", "Task.WaitAny", null, "first-shelf", first.FirstCount);
            Truth.Deadlock("first-count", "first-shelf");
            Truth.Start("count-or-cancel", "Task.WaitAny", null, null, () => other.CountOrCancel(delivery.Task));
            Truth.Start("inventory", "Task", null, "fruit", () => inventory.Report(inventory.Inventory));
            Truth.Deadlock("inventory", "Hang.Depot.Inventory", "Hang.Depot.Section", "fruit");
            Truth.Start("sample", "Task", null, "bread", () => sample.Report(sample.Sample));
            Truth.Deadlock("sample", "Hang.Depot.Sample", "Hang.Depot.Section", "bread");
            kept.Add(delivery);
            Thread.Sleep(300);
        }
    }
}
