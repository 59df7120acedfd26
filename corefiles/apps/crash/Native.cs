// SPDX-License-Identifier: MIT
// The end comes in native code, or by a signal; and managed code that native code calls.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using static Crash.Truth;

namespace Crash
{
    public static unsafe class Native
    {
        private const MethodImplOptions Apart = MethodImplOptions.NoInlining;
        private delegate int Comparison(void* a, void* b);

        [DllImport("libc")] public static extern void abort();
        [DllImport("libc")] private static extern nint strlen(nint text);
        [DllImport("libc")] public static extern uint sleep(uint seconds);
        [DllImport("libc")] private static extern void qsort(void* data, nint count, nint size, delegate* unmanaged<void*, void*, int> compare);
        [DllImport("libc", EntryPoint = "qsort")] private static extern void qsort_delegate(void* data, nint count, nint size, Comparison compare);

        [MethodImpl(Apart)]
        public static void Segv(Tag argument)
        {
            Tag local = Make("Segv.local");
            Report("segv");
            strlen(1);
            Keep(argument, local);
        }

        [MethodImpl(Apart)]
        public static void Abort(Tag argument)
        {
            Tag local = Make("Abort.local");
            Report("abort");
            abort();
            Keep(argument, local);
        }

        [MethodImpl(Apart)]
        public static void Sleeping(Tag argument)
        {
            Tag local = Make("Sleeping.local");
            Report("sleep");
            Say("READY");
            Thread.Sleep(Timeout.Infinite);
            Keep(argument, local);
        }

        [MethodImpl(Apart)]
        public static void Spinning(Tag argument)
        {
            Tag local = Make("Spinning.local");
            Report("spin");
            Say("READY");
            long sum = 0;
            while (Exceptions.yes)
                sum += local.number ^ argument.number;
            Keep(argument, local, sum);
        }

        [UnmanagedCallersOnly]
        private static int CompareUnmanaged(void* a, void* b)
        {
            Tag local = Make("CompareUnmanaged.local");
            Exceptions.Direct(local);
            Keep(local);
            return 0;
        }

        [MethodImpl(Apart)]
        private static int Compare(void* a, void* b)
        {
            Tag local = Make("Compare.local");
            Exceptions.Direct(local);
            Keep(local);
            return 0;
        }

        [MethodImpl(Apart)]
        public static void Callback(Tag argument, bool byDelegate)
        {
            Tag local = Make("Callback.local");
            long* numbers = stackalloc long[4];
            if (byDelegate)
            {
                Comparison compare = Compare;
                qsort_delegate(numbers, 4, sizeof(long), compare);
                GC.KeepAlive(compare);
            }
            else
            {
                qsort(numbers, 4, sizeof(long), &CompareUnmanaged);
            }
            Keep(argument, local);
        }
    }
}
