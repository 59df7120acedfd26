// SPDX-License-Identifier: MIT
// Hangs in which the runtime itself waits: for a finalizer, and for a thread that a collection cannot stop.
using System;
using System.Runtime.InteropServices;
using System.Threading;

namespace Hang
{
    /// <summary>Its finalizer waits for an answer that never comes.</summary>
    public sealed class Connection
    {
        public static readonly ManualResetEventSlim Closed = new();
        ~Connection()
        {
            if (Interlocked.Exchange(ref begun, 1) == 0)
                Truth.Here("finalizer", "ManualResetEventSlim", Closed, null);
            Closed.Wait();
        }
        private static int begun;
    }

    public static class RuntimeWaits
    {
        /// <summary>The thread that calls stays in the state in which no collection may begin.</summary>
        [DllImport("libc", EntryPoint = "pthread_mutex_lock")]
        [SuppressGCTransition]
        private static extern int LockWithoutTransition(IntPtr mutex);

        private static void Drop(int count)
        {
            for (int i = 0; i < count; i++)
                GC.KeepAlive(new Connection());
        }

        /// <summary>The first finalizer blocks, the others are due.</summary>
        public static void Finalizer()
        {
            const int count = 10;
            var thread = new Thread(() => Drop(count));
            thread.Start();
            thread.Join();
            GC.Collect();
            Thread.Sleep(300);
            Truth.Say("finalizers", $"{{\"due\":{count - 1}}}");
        }

        /// <summary>Takes a lock of the system twice: no signal ends that.</summary>
        private static void Poll(IntPtr mutex)
        {
            _ = LockWithoutTransition(mutex);
            _ = LockWithoutTransition(mutex);
        }

        /// <summary>A collection waits for a thread that is in native code, where it cannot be stopped.</summary>
        public static unsafe void Collection()
        {
            IntPtr mutex = (IntPtr)NativeMemory.AllocZeroed(256);
            Truth.Start("collector", "GC", null, "poller", () =>
            {
                Truth.Written.Wait();
                Thread.Sleep(50);
                GC.Collect();
            });
            Truth.Start("poller", "none", null, null, () =>
            {
                Truth.Written.Wait();
                Poll(mutex);
            });
            Truth.Say("stuck", "{\"thread\":\"poller\",\"method\":\"Hang.RuntimeWaits.Poll\"}");
        }
    }
}
