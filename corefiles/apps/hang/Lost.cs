// SPDX-License-Identifier: MIT
// Threads that wait for somebody who never comes: a thread that has ended, a consumer that has failed, a process whose
// output nobody reads, a callback that wants what its waiter has.
using System;
using System.Collections.Concurrent;
using System.Diagnostics;
using System.Threading;

namespace Hang
{
    public static class Lost
    {
        /// <summary>A thread that ends in a lock.</summary>
        private static void Leave(Action enter)
        {
            var thread = new Thread(() => enter());
            thread.Start();
            thread.Join();
        }

        private static void Wanted()
        {
            var gate = new object();
            Leave(() => Monitor.Enter(gate));
            for (int i = 0; i < 3; i++)
                Truth.Start("wants-" + i, "Monitor.Enter", gate, null, () => { lock (gate) { } });
            var slim = new ReaderWriterLockSlim();
            Leave(slim.EnterWriteLock);
            Truth.Start("reads", "EnterReadLock", slim, null, slim.EnterReadLock);
        }

        /// <summary>A third participant never comes; and one of two signals.</summary>
        private static Func<string> Missing()
        {
            var barrier = new Barrier(3);
            for (int i = 0; i < 2; i++)
                Truth.Start("cell-" + i, "Barrier", barrier, null, () => barrier.SignalAndWait());
            var countdown = new CountdownEvent(2);
            countdown.Signal();
            Truth.Start("collects", "CountdownEvent", countdown, null, () => countdown.Wait());
            var full = new BlockingCollection<int>(10);
            for (int i = 0; i < 10; i++)
                full.Add(i);
            Truth.Start("produces", "BlockingCollection", full, null, () => full.Add(10));
            return () => $"[[{Truth.AddressOf(barrier)},2],[{Truth.AddressOf(countdown)},1],[{Truth.AddressOf(full)},1]]";
        }

        /// <summary>It stops when the pipe is full.</summary>
        private static void Unread()
        {
            var process = Process.Start(new ProcessStartInfo("/usr/bin/yes") { RedirectStandardOutput = true });
            Truth.Say("child", $"[{process.Id},\"{process.StartInfo.FileName}\"]");
            Truth.Start("exports", "Process.WaitForExit", process, null, () => process.WaitForExit());
        }

        /// <summary>Who disposes of a registration waits for its callback, which wants the lock.</summary>
        private static void Callback()
        {
            var gate = new object();
            var source = new CancellationTokenSource();
            var begun = new ManualResetEventSlim();
            CancellationTokenRegistration registration = source.Token.Register(() =>
            {
                begun.Set();
                lock (gate) { }
            });
            Truth.Start("disposes", "callback of a token", null, "cancels", () =>
            {
                lock (gate)
                {
                    begun.Wait();
                    registration.Dispose();
                }
            });
            Truth.Start("cancels", "Monitor.Enter", gate, "disposes", source.Cancel);
            Truth.Deadlock("disposes", "cancels");
        }

        public static void Begin()
        {
            Wanted();
            Truth.Say("objects", Missing());
            Unread();
            Callback();
        }
    }
}
