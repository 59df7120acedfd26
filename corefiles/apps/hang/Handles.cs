// SPDX-License-Identifier: MIT
// Waits for several handles, for a mutex, for a spin lock, and for a countdown.
using System;
using System.Linq;
using System.Threading;

namespace Hang
{
    /// <summary>A number, and a lock that is a struct.</summary>
    public sealed class Meter
    {
        private long reading;
        private SpinLock gate;

        public Meter(bool knowsOwner) => gate = new SpinLock(knowsOwner);

        public void Add(Action between)
        {
            bool taken = false;
            gate.Enter(ref taken);
            reading++;
            between();
            gate.Exit();
        }
    }

    public static class Handles
    {
        private static void Several(string name, string kind, WaitHandle[] handles, Action body)
        {
            Truth.Start(name, kind, null, null, body);
            string Json() => "[" + string.Join(",", handles.Select(Truth.AddressOf)) + "]";
            Truth.Say("handles-" + name, Json);
        }

        private static void Hold(string name, Action<Action> take)
        {
            var taken = new ManualResetEventSlim();
            Truth.Start(name, "WaitHandle", Locks.Never, null, () => take(() =>
            {
                taken.Set();
                Locks.Never.WaitOne();
            }));
            taken.Wait();
        }

        public static void Begin()
        {
            var mutex = new Mutex();
            Hold("mutex-holder", then =>
            {
                mutex.WaitOne();
                then();
            });
            var one = new AutoResetEvent(false);
            var other = new ManualResetEvent(false);
            WaitHandle[] any = { one, mutex, other }, all = { other, new Semaphore(0, 4) };
            Several("any", "WaitHandle.WaitAny", any, () => WaitHandle.WaitAny(any));
            Several("all", "WaitHandle.WaitAll", all, () => WaitHandle.WaitAll(all));
            Truth.Start("mutex", "WaitHandle", mutex, null, () => mutex.WaitOne());
            Meter known = new(true), unknown = new(false);
            Hold("spin-holder", known.Add);
            Hold("other-holder", unknown.Add);
            Truth.Start("spin", "SpinLock", known, "spin-holder", () => known.Add(() => { }));
            Truth.Start("spin-unknown", "SpinLock", unknown, null, () => unknown.Add(() => { }));
            Meter left = new(true), right = new(true);
            var barrier = new Barrier(2);
            Truth.Start("left", "SpinLock", right, "right", () => left.Add(() =>
            {
                barrier.SignalAndWait();
                right.Add(() => { });
            }));
            Truth.Start("right", "SpinLock", left, "left", () => right.Add(() =>
            {
                barrier.SignalAndWait();
                left.Add(() => { });
            }));
            Truth.Deadlock("left", "right");
            var countdown = new CountdownEvent(5);
            countdown.Signal(2);
            Truth.Start("countdown", "CountdownEvent", countdown, null, () => countdown.Wait());
            Truth.Say("countdown", () => $"{{\"object\":{Truth.AddressOf(countdown)},\"left\":{countdown.CurrentCount}}}");
            Thread.Sleep(300);
        }
    }
}
