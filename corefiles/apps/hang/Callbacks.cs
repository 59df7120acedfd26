// SPDX-License-Identifier: MIT
// Threads that wait for the end of a callback which waits for them.
using System;
using System.Threading;

namespace Hang
{
    public static class Callbacks
    {
        /// <summary>Timer.Dispose(WaitHandle), while the timer's callback wants the lock.</summary>
        private static void Timers()
        {
            var gate = new object();
            var begun = new ManualResetEventSlim();
            var done = new ManualResetEvent(false);
            Timer timer = new(_ =>
            {
                Truth.Here("ticks", "Monitor.Enter", gate, "stops");
                begun.Set();
                lock (gate) { }
            });
            Truth.Start("stops", "WaitHandle", done, "ticks", () =>
            {
                lock (gate)
                {
                    timer.Change(0, Timeout.Infinite);
                    begun.Wait();
                    timer.Dispose(done);
                    done.WaitOne();
                }
            });
            Truth.Deadlock("stops", "ticks");
        }

        /// <summary>RegisteredWaitHandle.Unregister(handle), the same.</summary>
        private static void Registered()
        {
            var gate = new object();
            var begun = new ManualResetEventSlim();
            var signal = new AutoResetEvent(false);
            var done = new ManualResetEvent(false);
            RegisteredWaitHandle registered = ThreadPool.RegisterWaitForSingleObject(signal, (_, _) =>
            {
                Truth.Here("hears", "Monitor.Enter", gate, "unhooks");
                begun.Set();
                lock (gate) { }
            }, null, Timeout.Infinite, true);
            Truth.Start("unhooks", "WaitHandle", done, "hears", () =>
            {
                lock (gate)
                {
                    signal.Set();
                    begun.Wait();
                    registered.Unregister(done);
                    done.WaitOne();
                }
            });
            Truth.Deadlock("unhooks", "hears");
        }

        /// <summary>The same again and again, where callbacks take a moment and no lock.</summary>
        public static void Busy()
        {
            for (; ; )
            {
                using var done = new ManualResetEvent(false);
                Timer timer = new(_ => Thread.SpinWait(20_000), null, 0, 1);
                Thread.Sleep(3);
                if (timer.Dispose(done))
                    done.WaitOne();
            }
        }

        public static void Begin()
        {
            Timers();
            Registered();
        }
    }
}
