// SPDX-License-Identifier: MIT
// Deadlocks over a ReaderWriterLockSlim that is held for reading: only each thread knows what it reads.
using System;
using System.Threading;

namespace Hang
{
    /// <summary>Goods that many read and few change, and a lock of another kind for the till.</summary>
    public sealed class Stock
    {
        public readonly ReaderWriterLockSlim Shelf = new();
        public readonly object Till = new();
        public int Pieces;

        /// <summary>Reads, and wants the till meanwhile.</summary>
        public void Report(Action between)
        {
            Shelf.EnterReadLock();
            try
            {
                between();
                lock (Till)
                    Pieces++;
            }
            finally
            {
                Shelf.ExitReadLock();
            }
        }

        /// <summary>Has the till, and wants to write.</summary>
        public void Import(Action between)
        {
            lock (Till)
            {
                between();
                Shelf.EnterWriteLock();
                Pieces++;
                Shelf.ExitWriteLock();
            }
        }

        /// <summary>Has the till, and wants to read.</summary>
        public void Sell(Action between)
        {
            lock (Till)
            {
                between();
                Shelf.EnterReadLock();
                Pieces--;
                Shelf.ExitReadLock();
            }
        }

        /// <summary>Has the till and looks first, to write when it has to.</summary>
        public void Reprice(Action between)
        {
            lock (Till)
            {
                Shelf.EnterUpgradeableReadLock();
                between();
                Shelf.EnterWriteLock();
                Pieces++;
                Shelf.ExitWriteLock();
                Shelf.ExitUpgradeableReadLock();
            }
        }

        public void Write()
        {
            Shelf.EnterWriteLock();
            Pieces++;
            Shelf.ExitWriteLock();
        }
    }

    public static class Readers
    {
        private static void Visit(string name, ReaderWriterLockSlim shelf)
        {
            var inside = new ManualResetEventSlim();
            Truth.Start(name, "WaitHandle", Locks.Never, null, () =>
            {
                shelf.EnterReadLock();
                inside.Set();
                Locks.Never.WaitOne();
            });
            inside.Wait();
        }

        private static void Until(Func<bool> condition)
        {
            while (!condition())
                Thread.Sleep(1);
        }

        /// <summary>A monitor and a read lock, in two orders; another reader comes first, and has nothing to do with it.</summary>
        private static void MonitorAndRead()
        {
            var stock = new Stock();
            var barrier = new Barrier(2);
            Visit("visitor", stock.Shelf);
            Truth.Start("report", "Monitor.Enter", stock.Till, "import", () => stock.Report(barrier.SignalAndWait));
            Truth.Start("import", "EnterWriteLock", stock.Shelf, "report", () => stock.Import(barrier.SignalAndWait));
            Truth.Deadlock("report", "import");
        }

        /// <summary>Two that read do not keep each other out, but a writer between them does.</summary>
        private static void BehindAWriter()
        {
            var stock = new Stock();
            var has = new CountdownEvent(2);
            void Began()
            {
                has.Signal();
                Until(() => stock.Shelf.WaitingWriteCount == 1);
            }
            Truth.Start("browse", "Monitor.Enter", stock.Till, "sell", () => stock.Report(Began));
            Truth.Start("sell", "EnterReadLock", stock.Shelf, "restock", () => stock.Sell(Began));
            has.Wait();
            Truth.Start("restock", "EnterWriteLock", stock.Shelf, "browse", stock.Write);
            Truth.Deadlock("browse", "sell", "restock");
        }

        /// <summary>One that has the right to write later, and one that reads.</summary>
        private static void Upgrade()
        {
            var stock = new Stock();
            var barrier = new Barrier(2);
            Truth.Start("list", "Monitor.Enter", stock.Till, "reprice", () => stock.Report(barrier.SignalAndWait));
            Truth.Start("reprice", "EnterWriteLock", stock.Shelf, "list", () => stock.Reprice(barrier.SignalAndWait));
            Truth.Deadlock("list", "reprice");
        }

#if NET9_0_OR_GREATER
        private static void LockAndRead()
        {
            var shelf = new ReaderWriterLockSlim();
            var gate = new Lock();
            var barrier = new Barrier(2);
            Truth.Start("tally", "EnterWriteLock", shelf, "scan", () =>
            {
                lock (gate)
                {
                    barrier.SignalAndWait();
                    shelf.EnterWriteLock();
                }
            });
            Truth.Start("scan", "Lock", gate, "tally", () =>
            {
                shelf.EnterReadLock();
                barrier.SignalAndWait();
                lock (gate)
                    GC.KeepAlive(shelf);
            });
            Truth.Deadlock("tally", "scan");
        }
#endif

        public static void Begin()
        {
            MonitorAndRead();
            BehindAWriter();
            Upgrade();
#if NET9_0_OR_GREATER
            LockAndRead();
#endif
            // Who waits for a reader that waits for something else, and for one that has ended: no deadlock.
            var open = new Stock();
            Visit("guest", open.Shelf);
            Truth.Start("late", "EnterWriteLock", open.Shelf, "guest", open.Write);
            var left = new Stock();
            var gone = new Thread(left.Shelf.EnterReadLock) { IsBackground = true, Name = "gone" };
            gone.Start();
            gone.Join();
            Truth.Say("unknown_readers", "{\"cleaner\":1}");
            Truth.Start("cleaner", "EnterWriteLock", left.Shelf, null, left.Write);
            Thread.Sleep(300);
        }
    }
}
