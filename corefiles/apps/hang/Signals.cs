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
        private static readonly List<Timer> timers = new();

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
            timers.Add(new Timer(_ => System.GC.KeepAlive(jobs.Open), null, 1000 * 3600, 1000));
            Truth.Say("pulse", () => $"[{Truth.AddressOf(jobs.Gate)},{workers + 1}]");
        }

        /// <summary>One worker has a job, and will say so; and to others a timer gives one.</summary>
        public static void Slow()
        {
            Begin(true);
            Jobs jobs = Begin(false);
            timers.Add(new Timer(_ => jobs.Add(2), null, 1000 * 3600, -1));
        }
    }

    /// <summary>Waits and wakes for others.</summary>
    public static class Wake
    {
        public static void Until(object gate, System.Func<bool> isDone)
        {
            while (!isDone())
                Monitor.Wait(gate);
        }

        public static void One(object gate) => Monitor.Pulse(gate);
    }

    /// <summary>The same as Jobs, of any type, with that help.</summary>
    public class Hall<T>
    {
        private readonly object gate = new();
        private readonly Queue<T> queue = new();
        private readonly int takes;
        private int open;

        public object Gate => gate;

        public Hall(int takes) => this.takes = takes;

        public void Add(T item)
        {
            lock (gate)
            {
                queue.Enqueue(item);
                open++;
                Wake.One(gate);
            }
        }

        private T Take()
        {
            lock (gate)
            {
                Wake.Until(gate, () => queue.Count > 0);
                return queue.Dequeue();
            }
        }

        private void Done()
        {
            lock (gate)
            {
                open--;
                Wake.One(gate);
            }
        }

        public void Work()
        {
            while (Take() != null)
            {
                Thread.Sleep(takes);
                Done();
            }
        }

        public void Leave()
        {
            lock (gate)
                Wake.Until(gate, () => open == 0);
        }
    }

    public static class Halls
    {
        private const int workers = 3;

        private static Hall<string> Begin(int takes)
        {
            var hall = new Hall<string>(takes);
            for (int i = 0; i < workers; i++)
                new Thread(hall.Work) { IsBackground = true, Name = "hall" }.Start();
            Thread.Sleep(200);
            // Whoever gives the work waits for the one that waits until all is done.
            new Thread(() =>
            {
                hall.Add("one");
                var last = new Thread(hall.Leave) { IsBackground = true, Name = "leave" };
                last.Start();
                last.Join();
                hall.Add("two");
            })
            { IsBackground = true, Name = "host" }.Start();
            Thread.Sleep(600);
            return hall;
        }

        public static void Lost()
        {
            Hall<string> hall = Begin(300);
            Truth.Say("pulse", () => $"[{Truth.AddressOf(hall.Gate)},{workers + 1}]");
        }

        public static void Slow() => Begin(1000 * 3600);

        /// <summary>A queue with one condition, at which two methods of a class wait, until there is work.</summary>
        private sealed class Letters
        {
            private readonly object gate = new();
            private readonly Queue<string> queue = new();

            public void Add(string letter)
            {
                lock (gate)
                {
                    queue.Enqueue(letter);
                    Monitor.Pulse(gate);
                }
            }

            public string Take()
            {
                lock (gate)
                {
                    while (queue.Count == 0)
                        Monitor.Wait(gate);
                    return queue.Dequeue();
                }
            }
        }

        private sealed class Office
        {
            private readonly Letters letters = new();

            public void Sort() => letters.Add(letters.Take());
            public void Send() => letters.Take();
        }

        public static void Idle()
        {
            var office = new Office();
            for (int i = 0; i < 2; i++)
            {
                new Thread(office.Sort) { IsBackground = true, Name = "sort" }.Start();
                new Thread(office.Send) { IsBackground = true, Name = "send" }.Start();
            }
        }
    }
}
