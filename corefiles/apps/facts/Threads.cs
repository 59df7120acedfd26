// SPDX-License-Identifier: MIT
// Threads that wait in different ways, locks that they hold, and contexts that they leave half used.
using System;
using System.IO.Pipes;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Facts
{
    public static unsafe class Threads
    {
        private static readonly string[] states = { "wait", "sleep", "contend", "monitor-wait", "in-catch", "read", "spin" };
        private static readonly ManualResetEventSlim go = new(false);
        private static readonly ManualResetEventSlim never = new(false);
        private static readonly object contended = new Node(1);
        private static readonly object waited = new Node(2);
        private static readonly Thread[] threads = new Thread[states.Length];
        private static readonly AnonymousPipeServerStream pipe = new(PipeDirection.In);
        private static CountdownEvent finished;
        private static long spins;

        [DllImport("libc")] private static extern int gettid();

        private static ThreadTruth Describe(string name, string state, object last) => new()
        {
            name = name,
            state = state,
            managedId = Environment.CurrentManagedThreadId,
            osId = gettid(),
            lastObject = last,
            threadReferenceSlot = (nint)Unsafe.AsPointer(ref Statics.threadReference),
            threadNumberSlot = (nint)Unsafe.AsPointer(ref Statics.threadNumber),
            threadGenericSlot = (nint)Unsafe.AsPointer(ref Generic<string, int>.threadObject),
        };

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static object Allocate(int number)
        {
            object last = null;
            for (int i = 0; i < 10; i++)
                last = new Node(20000 + 100 * number + i, null, new byte[i]);
            return last;
        }

        private static void Body(object argument)
        {
            int number = (int)argument;
            Statics.threadReference = new Node(1000 + number);
            Statics.threadNumber = number;
            Statics.threadStructure = new WithReferences { text = "thread " + number, thing = new object() };
            Generic<string, int>.threadObject = "generic of thread " + number;
            var local = new Node(2000 + number);
            var held = new object();
            Monitor.Enter(held);
            finished.Signal();
            go.Wait();
            object last = Allocate(number);
            ThreadTruth truth = Describe("worker " + number, states[number], last);
            lock (Truth.threads)
                Truth.threads.Add(truth);
            finished.Signal();
            switch (states[number])
            {
                case "wait": never.Wait(); break;
                case "sleep": Thread.Sleep(Timeout.Infinite); break;
                case "contend": lock (contended) { } break;
                case "monitor-wait": lock (waited) { Monitor.Wait(waited); } break;
                case "in-catch":
                    try { throw new InvalidOperationException("caught, never left"); }
                    catch (Exception e) { never.Wait(); GC.KeepAlive(e); }
                    break;
                case "read": pipe.ReadByte(); break; // in a call of ReadyToRun code to native code
                default: while (Volatile.Read(ref spins) >= 0) spins++; break;
            }
            GC.KeepAlive(local);
            GC.KeepAlive(held);
        }

        private static void Locks()
        {
            object thin = Truth.Tag("lock.thin", new object());
            Monitor.Enter(thin);
            Truth.Note("lock.thin", "thin lock, recursion 0");
            object recursive = Truth.Tag("lock.recursive", new object());
            for (int i = 0; i < 3; i++)
                Monitor.Enter(recursive);
            Truth.Note("lock.recursive", "thin lock, recursion 2");
            object deep = Truth.Tag("lock.overflow", new object());
            for (int i = 0; i < 100; i++)
                Monitor.Enter(deep);
            Truth.Note("lock.overflow", "sync block, recursion too deep for a thin lock");
            object hashed = Truth.Tag("lock.hash", new object());
            RuntimeHelpers.GetHashCode(hashed);
            Truth.Note("lock.hash", "hash code " + RuntimeHelpers.GetHashCode(hashed));
            object both = Truth.Tag("lock.hash.locked", new object());
            RuntimeHelpers.GetHashCode(both);
            Monitor.Enter(both);
            Truth.Note("lock.hash.locked", "sync block, locked, hash code " + RuntimeHelpers.GetHashCode(both));
            object reversed = Truth.Tag("lock.locked.hash", new object());
            Monitor.Enter(reversed);
            RuntimeHelpers.GetHashCode(reversed);
            Truth.Note("lock.locked.hash", "sync block, locked, hash code " + RuntimeHelpers.GetHashCode(reversed));
            object released = Truth.Tag("lock.released", new object());
            Monitor.Enter(released);
            Monitor.Exit(released);
            Truth.Tag("lock.contended", contended);
            Truth.Note("lock.contended", "sync block, locked, one waiter");
            Truth.Tag("lock.waited", waited);
            Truth.Note("lock.waited", "sync block, not locked, one waiter");
            Monitor.Enter(contended);
        }

        public static void Start()
        {
            Locks();
            Statics.threadReference = new Node(999);
            Statics.threadNumber = 999;
            var dead = new Thread(() => GC.KeepAlive(Allocate(50))) { Name = "dead" };
            dead.Start();
            dead.Join();
            Truth.Tag("thread.dead", dead);
            Truth.Tag("thread.unstarted", new Thread(() => { }) { Name = "unstarted" });
            finished = new CountdownEvent(states.Length);
            for (int i = 0; i < threads.Length; i++)
            {
                threads[i] = new Thread(Body) { IsBackground = true, Name = "worker " + i };
                Truth.Tag("thread." + states[i], threads[i]);
                threads[i].Start(i);
            }
            finished.Wait();
        }

        // After the last collection: what the threads allocate now stays where it is.
        public static void Finish()
        {
            finished = new CountdownEvent(states.Length);
            go.Set();
            finished.Wait();
            for (int i = 0; i < threads.Length; i++)
            {
                while (states[i] is not ("read" or "spin") && (threads[i].ThreadState & ThreadState.WaitSleepJoin) == 0)
                    Thread.Sleep(1);
            }
            var late = new Thread(() => GC.KeepAlive(Allocate(51))) { Name = "late" };
            late.Start();
            late.Join();
            Truth.Tag("thread.late", late);
            lock (Truth.threads)
                Truth.threads.Add(Describe("main", "main", Allocate(60)));
        }
    }
}
