// SPDX-License-Identifier: MIT
// One object with two conditions, of which Pulse wakes the wrong waiter; and the same where somebody still comes.
using System.Collections.Generic;
using System.Threading;

namespace Hang
{
    /// <summary>Jobs for workers; whoever gave them waits until all are done.</summary>
    public class Jobs
    {
        private readonly object gate = new();
        private readonly Queue<int> queue = new();
        private int open;
        private bool isSlow;

        public object Gate => gate;

        public Jobs(bool slow) => isSlow = slow;

        public void Add(int job)
        {
            lock (gate)
            {
                queue.Enqueue(job);
                open++;
                Monitor.Pulse(gate);
            }
        }

        private int Take()
        {
            lock (gate)
            {
                while (queue.Count == 0)
                    Monitor.Wait(gate);
                return queue.Dequeue();
            }
        }

        private void Done()
        {
            lock (gate)
            {
                open--;
                Monitor.Pulse(gate);
            }
        }

        public void Work()
        {
            while (true)
            {
                int job = Take();
                Thread.Sleep(isSlow ? 1000 * 3600 : 300);
                Done();
                if (job < 0)
                    return;
            }
        }

        public void WaitForAll()
        {
            lock (gate)
            {
                while (open > 0)
                    Monitor.Wait(gate);
            }
        }

        /// <summary>Looks at it from time to time, as a page of a monitor does.</summary>
        public int Open
        {
            get
            {
                lock (gate)
                    return open;
            }
        }
    }

    public static class Signals
    {
        private const int workers = 4;

        private static Jobs Begin(bool slow)
        {
            var jobs = new Jobs(slow);
            for (int i = 0; i < workers; i++)
            {
                string name = (slow ? "slow-" : "works-") + i;
                new Thread(jobs.Work) { IsBackground = true, Name = name }.Start();
            }
            Thread.Sleep(200);
            new Thread(() =>
            {
                while (true)
                {
                    _ = jobs.Open;
                    Thread.Sleep(20);
                }
            })
            { IsBackground = true, Name = "status" }.Start();
            jobs.Add(1);
            new Thread(jobs.WaitForAll) { IsBackground = true, Name = slow ? "slow-all" : "all-done" }.Start();
            Thread.Sleep(600);
            return jobs;
        }

        /// <summary>The end of the last job wakes a worker that has nothing to do.</summary>
        public static void Lost()
        {
            Jobs jobs = Begin(false);
            Truth.Say("pulse", () => $"[{Truth.AddressOf(jobs.Gate)},{workers + 1}]");
        }

        /// <summary>One worker has a job, and will say so.</summary>
        public static void Slow() => Begin(true);
    }
}
