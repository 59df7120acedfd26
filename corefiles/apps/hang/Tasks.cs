// SPDX-License-Identifier: MIT
// Tasks with each status, and what they say of themselves.
using System;
using System.Collections.Generic;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Hang
{
    public static class Tasks
    {
        private static readonly List<Task> tasks = new();
        private static readonly ManualResetEventSlim never = new();

        private static async Task Fail()
        {
            await Task.Yield();
            throw new InvalidOperationException("on purpose");
        }

        private static int Work(object state)
        {
            never.Wait();
            return (int)state;
        }

        /// <summary>One that runs until its child, which never ends, is done.</summary>
        private static Task Parent()
        {
            Task parent = Task.Factory.StartNew(
                () => Task.Factory.StartNew(never.Wait, CancellationToken.None, TaskCreationOptions.AttachedToParent | TaskCreationOptions.LongRunning, TaskScheduler.Default),
                CancellationToken.None, TaskCreationOptions.None, TaskScheduler.Default);
            while (parent.Status != TaskStatus.WaitingForChildrenToComplete)
                Thread.Sleep(1);
            return parent;
        }

        public static void Begin()
        {
            using var stop = new CancellationTokenSource();
            stop.Cancel();
            var source = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
            var cold = new Task(() => { }, TaskCreationOptions.PreferFairness | TaskCreationOptions.DenyChildAttach);
            tasks.Add(cold);
            tasks.Add(source.Task);
            tasks.Add(source.Task.ContinueWith(_ => { }, TaskContinuationOptions.HideScheduler));
            tasks.Add(Task.Factory.StartNew(Work, 5, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default));
            tasks.Add(Task.FromCanceled(stop.Token));
            tasks.Add(Task.FromResult("done"));
            tasks.Add(Task.FromException<string>(new ArgumentException("not this one")));
            tasks.Add(Fail());
            tasks.Add(Task.Run(() => throw new TimeoutException("too late")));
            tasks.Add(Parent());
            // Behind a scheduler that never runs anything.
            tasks.Add(Task.Factory.StartNew(() => { }, CancellationToken.None, TaskCreationOptions.None, new Never()));
            while (tasks[3].Status != TaskStatus.Running || !tasks[7].IsCompleted || !tasks[8].IsCompleted)
                Thread.Sleep(1);
            Truth.Say("tasks", Write);
        }

        private sealed class Never : TaskScheduler
        {
            protected override IEnumerable<Task> GetScheduledTasks() => Array.Empty<Task>();
            protected override void QueueTask(Task task) { }
            protected override bool TryExecuteTaskInline(Task task, bool queued) => false;
        }

        private static string Write()
        {
            var text = new StringBuilder("[");
            foreach (Task task in tasks)
            {
                text.Append(text.Length > 1 ? ",{" : "{").Append($"\"address\":{Truth.AddressOf(task)}");
                text.Append($",\"status\":\"{task.Status}\",\"options\":\"{task.CreationOptions}\"");
                Exception exception = task.IsFaulted ? task.Exception.InnerException : null;
                text.Append($",\"exception\":{Truth.AddressOf(exception)}");
                text.Append($",\"exception_type\":{Truth.Quote(exception?.GetType().FullName)}}}");
            }
            return text.Append(']').ToString();
        }
    }
}
