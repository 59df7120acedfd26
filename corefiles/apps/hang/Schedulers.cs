// SPDX-License-Identifier: MIT
// Schedulers that run one task at a time: a task that waits in one for a method which must come back to it hangs. And
// the same where a second one may run, or where nobody has to come back.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Hang
{
    /// <summary>Runs so many tasks at once, with workers of the pool.</summary>
    public sealed class Turns : TaskScheduler
    {
        private readonly LinkedList<Task> queue = new();
        private readonly int most;
        private int running;

        public Turns(int most) => this.most = most;

        public override int MaximumConcurrencyLevel => most;

        protected override void QueueTask(Task task)
        {
            lock (queue)
            {
                queue.AddLast(task);
                if (running == most)
                    return;
                running++;
            }
            ThreadPool.UnsafeQueueUserWorkItem(_ => Work(), null);
        }

        private void Work()
        {
            while (true)
            {
                Task task;
                lock (queue)
                {
                    if (queue.Count == 0)
                    {
                        running--;
                        return;
                    }
                    task = queue.First.Value;
                    queue.RemoveFirst();
                }
                TryExecuteTask(task);
            }
        }

        protected override bool TryExecuteTaskInline(Task task, bool wasQueued) => false;

        protected override IEnumerable<Task> GetScheduledTasks()
        {
            lock (queue)
                return new List<Task>(queue);
        }
    }

    /// <summary>Runs tasks with threads of its own.</summary>
    public sealed class Desk : TaskScheduler
    {
        private readonly BlockingCollection<Task> queue = new();

        public Desk(int clerks)
        {
            for (int i = 0; i < clerks; i++)
                new Thread(Work) { IsBackground = true, Name = "desk" }.Start();
        }

        private void Work()
        {
            foreach (Task task in queue.GetConsumingEnumerable())
                TryExecuteTask(task);
        }

        protected override void QueueTask(Task task) => queue.Add(task);
        protected override bool TryExecuteTaskInline(Task task, bool wasQueued) => false;
        protected override IEnumerable<Task> GetScheduledTasks() => queue.ToArray();
    }

    public sealed class Clerk
    {
        private readonly Task<string> answer;
        public int Loaded;

        public Clerk(Task<string> answer) => this.answer = answer;

        /// <summary>What it waits for comes soon; then it wants a turn again.</summary>
        public async Task<int> Load()
        {
            await Task.Delay(20);
            return ++Loaded;
        }

        /// <summary>What it waits for never comes, and would not help.</summary>
        public async Task<int> Ask() => (await answer).Length;

        /// <summary>Takes long, and needs no turn.</summary>
        public async Task<int> Send()
        {
            await answer.ConfigureAwait(false);
            return ++Loaded;
        }

        /// <summary>Comes back again and again.</summary>
        public async Task<int> Look()
        {
            while (Loaded >= 0)
            {
                await Task.Delay(5);
                Loaded++;
            }
            return Loaded;
        }
    }

    public static class Schedulers
    {
        private static readonly List<object> kept = new();

        /// <summary>A task in the scheduler that waits for the method.</summary>
        private static void Wait(TaskScheduler scheduler, string name, Func<Task<int>> method)
        {
            kept.Add(Task.Factory.StartNew(() =>
            {
                if (name != null)
                    Truth.Here(name, "Task", null, null);
                return method().Result;
            }, CancellationToken.None, TaskCreationOptions.None, scheduler));
        }

        private static void Add(TaskScheduler scheduler, object value) => kept.Add(Task.Factory.StartNew(
            () => kept.Contains(value), CancellationToken.None, TaskCreationOptions.None, scheduler));

        public static void Begin()
        {
            ThreadPool.SetMinThreads(16, 16);
            var source = new TaskCompletionSource<string>();
            kept.Add(source);
            Clerk Make() => new(source.Task);
            Wait(new ConcurrentExclusiveSchedulerPair().ExclusiveScheduler, "exclusive-load", Make().Load);
            Truth.Deadlock("exclusive-load", "Hang.Clerk.Load");
            Wait(new ConcurrentExclusiveSchedulerPair().ExclusiveScheduler, "exclusive-ask", Make().Ask);
            Truth.Deadlock("exclusive-ask", "Hang.Clerk.Ask");
            Wait(new Turns(1), "turns-load", Make().Load);
            Truth.Deadlock("turns-load", "Hang.Clerk.Load");
            // Others have come since: so it runs one at a time.
            var turns = new Turns(1);
            Wait(turns, "turns-ask", Make().Ask);
            Thread.Sleep(50);
            Add(turns, source);
            Truth.Deadlock("turns-ask", "Hang.Clerk.Ask");
            Wait(new Desk(1), "desk-load", Make().Load);
            Truth.Deadlock("desk-load", "Hang.Clerk.Load");
            // It may be that another one comes: nothing tells.
            Wait(new Turns(2), "two-turns", Make().Ask);
            Thread.Sleep(300);
        }

        /// <summary>Waits in schedulers that end, or would.</summary>
        public static void Busy()
        {
            ThreadPool.SetMinThreads(16, 16);
            var source = new TaskCompletionSource<string>();
            kept.Add(source);
            Clerk Make() => new(source.Task);
            Wait(new Turns(2), "second-turn", Make().Look);
            Wait(new Desk(2), "second-desk", Make().Look);
            var pair = new ConcurrentExclusiveSchedulerPair();
            Wait(pair.ConcurrentScheduler, "concurrent", Make().Look);
            Wait(pair.ConcurrentScheduler, "concurrent-too", Make().Look);
            var exclusive = new ConcurrentExclusiveSchedulerPair().ExclusiveScheduler;
            Wait(exclusive, "exclusive-send", Make().Send);
            Add(exclusive, source);
            var turns = new Turns(1);
            Wait(turns, null, () => Task.Factory.StartNew(() =>
            {
                Thread.Sleep(Timeout.Infinite);
                return 1;
            }, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default));
            Add(turns, source);
        }
    }
}
