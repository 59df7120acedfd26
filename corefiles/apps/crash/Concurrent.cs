// SPDX-License-Identifier: MIT
// What other threads do when one dies.
using System;
using System.Net;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Threading;
using static Crash.Truth;

namespace Crash
{
    public static class Concurrent
    {
        private const MethodImplOptions Apart = MethodImplOptions.NoInlining;
        private static readonly object contended = new();
        private static int ready;

        [MethodImpl(Apart)]
        private static void Sleeping()
        {
            Tag local = Make("Sleeping.local");
            Interlocked.Increment(ref ready);
            Thread.Sleep(Timeout.Infinite);
            Keep(local);
        }

        [MethodImpl(Apart)]
        private static void Waiting()
        {
            Tag local = Make("Waiting.local");
            var monitor = new object();
            lock (monitor)
            {
                Interlocked.Increment(ref ready);
                Monitor.Wait(monitor);
            }
            Keep(local);
        }

        [MethodImpl(Apart)]
        private static void Contending()
        {
            Tag local = Make("Contending.local");
            Interlocked.Increment(ref ready);
            lock (contended)
                Keep(local);
            Keep(local);
        }

        [MethodImpl(Apart)]
        private static void Receiving()
        {
            Tag local = Make("Receiving.local");
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
            socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
            Interlocked.Increment(ref ready);
            socket.Receive(new byte[10]);
            Keep(local);
        }

        [MethodImpl(Apart)]
        private static void InNative()
        {
            Tag local = Make("InNative.local");
            Interlocked.Increment(ref ready);
            Native.sleep(1000);
            Keep(local);
        }

        [MethodImpl(Apart)]
        private static void Catching()
        {
            Tag local = Make("Catching.local");
            try
            {
                Exceptions.Throw("catching");
            }
            catch (TagException e)
            {
                Tag caught = Make("Catching.caught");
                Interlocked.Increment(ref ready);
                Thread.Sleep(Timeout.Infinite);
                Keep(local, caught, e.tag);
            }
            Keep(local);
        }

        [MethodImpl(Apart)]
        private static void Spinning()
        {
            Tag local = Make("Spinning.local");
            Interlocked.Increment(ref ready);
            long sum = 0;
            while (Exceptions.yes)
                sum += local.number;
            Keep(local, sum);
        }

        [MethodImpl(Apart)]
        private static void Allocating()
        {
            Tag local = Make("Allocating.local");
            Interlocked.Increment(ref ready);
            object last = null;
            while (Exceptions.yes)
            {
                last = new object[4];
                // A dump in the middle of a collection should be rare.
                Thread.SpinWait(500);
            }
            Keep(local, last);
        }

        [MethodImpl(Apart)]
        public static void Threads(Tag argument)
        {
            Tag local = Make("Threads.local");
            ThreadStart[] bodies = { Sleeping, Waiting, Contending, Receiving, InNative, Catching, Spinning, Allocating };
            lock (contended)
            {
                foreach (ThreadStart body in bodies)
                    new Thread(body) { IsBackground = true, Name = body.Method.Name }.Start();
                while (Volatile.Read(ref ready) < bodies.Length)
                    Thread.Sleep(5);
                Thread.Sleep(100);
                Exceptions.Throw("threads");
            }
            Keep(argument, local);
        }

        [MethodImpl(Apart)]
        private static void Work(object state)
        {
            Tag local = Make("Work.local");
            Exceptions.Throw("pool");
            Keep(local);
        }

        [MethodImpl(Apart)]
        public static void Pool(Tag argument)
        {
            Tag local = Make("Pool.local");
            ThreadPool.QueueUserWorkItem(Work);
            Thread.Sleep(Timeout.Infinite);
            Keep(argument, local);
        }
    }
}
