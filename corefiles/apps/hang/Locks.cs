// SPDX-License-Identifier: MIT
// Threads that wait for each other, and one thread for each way to wait.
using System;
using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

namespace Hang
{
    public sealed class Account
    {
        public readonly string Name;
        public int Balance;
        public Account(string name) => Name = name;
    }

    public static class SlowClass
    {
        public static readonly int Value;
        static SlowClass()
        {
            Locks.SlowBegan.Set();
            lock (Locks.Guard)
                Value = 1;
        }
        public static int Read() => Value;
    }

    public static class Locks
    {
        public static readonly object Guard = new();
        public static readonly ManualResetEventSlim SlowBegan = new();
        public static readonly ManualResetEvent Never = new(false);

        private static void Transfer(Account from, Account to, Barrier barrier)
        {
            lock (from)
            {
                barrier.SignalAndWait();
                lock (to)
                    to.Balance++;
            }
        }

        /// <summary>Each holds one account, and wants the next one.</summary>
        public static void Ring(int count, string prefix)
        {
            var accounts = new Account[count];
            var names = new string[count];
            var barrier = new Barrier(count);
            for (int i = 0; i < count; i++)
            {
                accounts[i] = new Account("account " + i);
                names[i] = prefix + (i + 1);
            }
            for (int i = 0; i < count; i++)
            {
                Account from = accounts[i], to = accounts[(i + 1) % count];
                Truth.Start(names[i], "Monitor.Enter", to, names[(i + 1) % count], () => Transfer(from, to, barrier));
            }
            Truth.Deadlock(names);
        }

#if NET9_0_OR_GREATER
        public static void LockRing()
        {
            Lock first = new(), second = new();
            var barrier = new Barrier(2);
            Truth.Start("lock-1", "Lock", second, "lock-2", () => Both(first, second, barrier));
            Truth.Start("lock-2", "Lock", first, "lock-1", () => Both(second, first, barrier));
            Truth.Deadlock("lock-1", "lock-2");
        }

        private static void Both(Lock one, Lock other, Barrier barrier)
        {
            lock (one)
            {
                barrier.SignalAndWait();
                lock (other)
                    GC.KeepAlive(barrier);
            }
        }
#endif

        public static void WriterRing()
        {
            ReaderWriterLockSlim first = new(), second = new();
            var barrier = new Barrier(2);
            void Both(ReaderWriterLockSlim one, ReaderWriterLockSlim other, bool reads)
            {
                one.EnterWriteLock();
                barrier.SignalAndWait();
                if (reads)
                    other.EnterReadLock();
                else
                    other.EnterWriteLock();
            }
            Truth.Start("writer-1", "EnterWriteLock", second, "writer-2", () => Both(first, second, false));
            Truth.Start("writer-2", "EnterReadLock", first, "writer-1", () => Both(second, first, true));
            Truth.Deadlock("writer-1", "writer-2");
        }

        /// <summary>One holds the lock that the initializer needs, and needs the class.</summary>
        public static void Initializer()
        {
            var entered = new ManualResetEventSlim();
            Truth.Start("guard", "type initializer", null, "init", () =>
            {
                lock (Guard)
                {
                    entered.Set();
                    SlowBegan.Wait();
                    Thread.Sleep(100);
                    GC.KeepAlive(SlowClass.Read());
                }
            });
            entered.Wait();
            Truth.Start("init", "Monitor.Enter", Guard, "guard", () => GC.KeepAlive(SlowClass.Read()));
            Truth.Deadlock("guard", "init");
        }

        /// <summary>One joins a thread that wants its lock.</summary>
        public static void Join()
        {
            var gate = new object();
            var entered = new ManualResetEventSlim();
            Thread worker = null;
            Truth.Start("parent", "Thread.Join", null, "child", () =>
            {
                lock (gate)
                {
                    entered.Set();
                    while (Volatile.Read(ref worker) == null)
                        Thread.Sleep(1);
                    worker.Join();
                }
            });
            entered.Wait();
            worker = Truth.Start("child", "Monitor.Enter", gate, "parent", () =>
            {
                lock (gate)
                    GC.KeepAlive(gate);
            });
            Truth.Deadlock("parent", "child");
        }

        private static void Hold(string name, Action take)
        {
            var taken = new ManualResetEventSlim();
            Truth.Start(name, "WaitHandle", Never, null, () =>
            {
                take();
                taken.Set();
                Never.WaitOne();
            });
            taken.Wait();
        }

        /// <summary>One thread for each way to wait; no two wait for each other.</summary>
        public static void Waits()
        {
            var busy = new Account("busy");
            Hold("holder", () => Monitor.Enter(busy));
            for (int i = 1; i <= 3; i++)
                Truth.Start("enter-" + i, "Monitor.Enter", busy, "holder", () => { lock (busy) GC.KeepAlive(busy); });
            Truth.Start("try-enter", "Monitor.Enter", busy, "holder", () => Monitor.TryEnter(busy, 3600_000));
            var pulse = new Account("pulse");
            for (int i = 1; i <= 2; i++)
                Truth.Start("pulse-" + i, "Monitor.Wait", pulse, null, () => { lock (pulse) Monitor.Wait(pulse); });
#if NET9_0_OR_GREATER
            var gate = new Lock();
            Hold("lock-holder", () => gate.Enter());
            Truth.Start("lock", "Lock", gate, "lock-holder", () => gate.Enter());
#endif
            var shared = new ReaderWriterLockSlim();
            Hold("writer", () => shared.EnterWriteLock());
            Truth.Start("read", "EnterReadLock", shared, "writer", () => shared.EnterReadLock());
            Truth.Start("write", "EnterWriteLock", shared, "writer", () => shared.EnterWriteLock());
            Truth.Start("upgrade", "EnterUpgradeableReadLock", shared, "writer", () => shared.EnterUpgradeableReadLock());
            var read = new ReaderWriterLockSlim();
            Hold("reader", () => read.EnterReadLock());
            Truth.Start("write-after-read", "EnterWriteLock", read, "reader", () => read.EnterWriteLock());
            var semaphore = new SemaphoreSlim(0);
            Truth.Start("semaphore", "SemaphoreSlim", semaphore, null, () => semaphore.Wait());
            var slim = new ManualResetEventSlim();
            Truth.Start("event-slim", "ManualResetEventSlim", slim, null, () => slim.Wait());
            var countdown = new CountdownEvent(3);
            Truth.Start("countdown", "CountdownEvent", countdown, null, () => countdown.Wait());
            var barrier = new Barrier(3);
            Truth.Start("barrier", "Barrier", barrier, null, () => barrier.SignalAndWait());
            var never = new TaskCompletionSource<int>();
            Truth.Start("task-wait", "Task", never.Task, null, () => never.Task.Wait());
            Truth.Start("task-result", "Task", never.Task, null, () => GC.KeepAlive(never.Task.Result));
            Truth.Start("task-awaiter", "Task", never.Task, null, () => never.Task.GetAwaiter().GetResult());
            Truth.Start("wait-all", "Task.WaitAll", null, null, () => Task.WaitAll(never.Task, Task.CompletedTask));
            Truth.Start("wait-any", "Task.WaitAny", null, null, () => Task.WaitAny(never.Task));
            Thread sleeper = Truth.Start("sleep", "Thread.Sleep", null, null, () => Thread.Sleep(Timeout.Infinite));
            Truth.Start("join", "Thread.Join", null, "sleep", () => sleeper.Join());
            var lazy = new Lazy<int>(() => { Never.WaitOne(); return 1; });
            Truth.Start("lazy-maker", "WaitHandle", Never, null, () => GC.KeepAlive(lazy.Value));
            while (lazy.IsValueCreated)
                Thread.Sleep(1);
            Thread.Sleep(200);
            Truth.Start("lazy", "Lazy", lazy, "lazy-maker", () => GC.KeepAlive(lazy.Value));
            var queue = new BlockingCollection<int>();
            Truth.Start("take", "BlockingCollection", queue, null, () => queue.Take());
            var automatic = new AutoResetEvent(false);
            Truth.Start("auto-event", "WaitHandle", automatic, null, () => automatic.WaitOne());
            var listener = new TcpListener(IPAddress.Loopback, 0);
            listener.Start();
            Truth.Start("accept", "socket", null, null, () => listener.AcceptSocket());
            Thread.Sleep(300);
        }
    }
}
