// SPDX-License-Identifier: MIT
// Programs that hang, each in a way of its own, and healthy ones: the argument says which. Says what it knows as one
// line of JSON, then READY, and waits.
using System;
using System.Threading;

namespace Hang
{
    public static class Program
    {
        public static int Main(string[] arguments)
        {
            string mode = arguments.Length > 0 ? arguments[0] : "orders";
            switch (mode)
            {
                case "orders": Orders.Begin(); break;
                case "deadlock2": Locks.Ring(2, "transfer-"); break;
                case "deadlock5": Locks.Ring(5, "transfer-"); break;
#if NET9_0_OR_GREATER
                case "lock": Locks.LockRing(); break;
#endif
                case "writers": Locks.WriterRing(); break;
                case "initializer": Locks.Initializer(); break;
                case "join": Locks.Join(); break;
                case "async": Chains.Begin(); break;
                case "tasks": Tasks.Begin(); break;
                case "waits": Locks.Waits(); break;
                case "starved": Pool.Starve(); break;
                case "queued": Pool.Queue(); break;
                case "timers": Pool.Timers(); break;
                case "healthy1": Healthy.Compute(); break;
                case "healthy2": Healthy.Contend(); break;
                case "healthy3": Healthy.Produce(); break;
                case "healthy4": Healthy.Serve(); break;
                case "healthy5": Healthy.Block(); break;
                case "healthy6": Busy.Begin(); break;
                case "healthy7": Healthy.Share(); break;
                case "gates": Gates.Begin(); break;
                case "mixed": Mixed.Begin(); break;
                case "several": Several.Begin(); break;
                case "readers": Readers.Begin(); break;
                case "handles": Handles.Begin(); break;
                case "contexts": Contexts.Begin(); break;
                case "lost": Lost.Begin(); break;
                case "stages": Stages.Begin(); break;
                case "answers": Answers.Begin(); break;
                case "callbacks": Callbacks.Begin(); break;
                case "healthy8": Stages.Slow(); break;
                case "libraries": Libraries.Begin(); break;
                case "healthy9": Libraries.Busy(); break;
                case "starts": Starts.Begin(); break;
                case "pulses": Signals.Lost(); break;
                case "consumers": Consumers.Wait(); break;
                case "schedulers": Schedulers.Begin(); break;
                case "halls": Halls.Lost(); break;
                case "rentals": Rentals.Begin(); break;
                case "forgotten": Forgotten.Begin(); break;
                case "places": Places.Begin(); break;
                case "healthy12": Places.Busy(); break;
                case "bulkheads": Bulkheads.Begin(); break;
                case "healthy13": Bulkheads.Busy(); break;
                case "retries": Retries.Begin(); break;
                case "healthy15": Retries.Alone(); break;
                case "databases": Databases.Begin(); break;
                case "replies": Replies.Begin(); break;
                case "healthy14": Replies.Slow(); break;
                case "healthy10":
                    Starts.Slow();
                    Signals.Slow();
                    Consumers.Slow();
                    break;
                case "healthy11":
                    Schedulers.Busy();
                    Rentals.Busy();
                    Forgotten.Busy();
                    Consumers.Reconnect();
                    Halls.Slow();
                    Halls.Idle();
                    break;
                case "finalizer": RuntimeWaits.Finalizer(); break;
                case "collection": RuntimeWaits.Collection(); break;
                default:
                    Console.Error.WriteLine("hang: there is no mode " + mode);
                    return 2;
            }
            Thread.Sleep(500);
            Truth.Write(mode);
            Truth.Written.Set();
            // Its other threads are at work: it is to live as long as these.
            if (mode == "healthy11")
                new ManualResetEventSlim().Wait();
            Thread.Sleep(Timeout.Infinite);
            return 0;
        }
    }
}
