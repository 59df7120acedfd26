// SPDX-License-Identifier: MIT
// What "heapgen MILLIONS waits" adds: 200,000 suspended async methods, and 1,000 threads that wait.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

namespace HeapGen
{
    public sealed class Desk
    {
        public int number;
    }

    public static class Waits
    {
        // Methods in a chain, and chains for each kind of wait.
        private const int Depth = 4, Chains = 10000;
        private const int Desks = 10, Entering = 400, Blocked = 200, Events = 198, Sleeping = 200 - Desks;
        private const int Frames = 20;
        private static readonly List<object> keep = new();
        private static readonly SemaphoreSlim gate = new(0);
        private static readonly Channel<int> queue = Channel.CreateUnbounded<int>();
        private static readonly ManualResetEventSlim never = new();
        private static readonly Desk[] desks = new Desk[Desks];
        private static readonly Desk left = new(), right = new();
        private static readonly Barrier both = new(2);
        private static readonly List<Task> calls = new();
        private static int started;

        private static async Task<int> Source(TaskCompletionSource<int> source) => await source.Task;

        private static async Task<int> Gate()
        {
            await gate.WaitAsync();
            return 1;
        }

        private static async Task<int> Delay()
        {
            await Task.Delay(1000000000);
            return 1;
        }

        private static async Task<int> Read() => await queue.Reader.ReadAsync();

        // A chain has one method more here: the two that it waits for are boxes, too.
        private static async Task<int> Both(TaskCompletionSource<int> source)
        {
            await Task.WhenAll(Source(source), source.Task);
            return 1;
        }

        private static async Task<int> Query(int kind) => kind switch
        {
            0 => await Source(new TaskCompletionSource<int>()),
            1 => await Gate(),
            2 => await Delay(),
            3 => await Read(),
            _ => await Both(new TaskCompletionSource<int>()),
        };

        private static async Task<int> Load(int kind, string key)
        {
            int read = await Query(kind);
            return read + key.Length;
        }

        private static async Task<int> Handle(int kind, int number) => await Load(kind, "key " + number);

        private static void MakeChains()
        {
            for (int i = 0; i < Chains; i++)
            {
                for (int kind = 0; kind < 5; kind++)
                {
                    Task<int> task = Handle(kind, i);
                    if (i * 5 % Blocked == 0 && kind == 0)
                        calls.Add(task);
                    else
                        keep.Add(task);
                }
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Down(int depth, Action wait)
        {
            if (depth > 0)
                return Up(depth - 1, wait) + 1;
            Interlocked.Increment(ref started);
            wait();
            return 0;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Up(int depth, Action wait) => Down(depth, wait) + 1;

        private static void Start(string name, int count, Func<int, Action> wait)
        {
            for (int i = 0; i < count; i++)
            {
                Action action = wait(i);
                var thread = new Thread(() => Down(Frames, action), 256 * 1024) { IsBackground = true, Name = name };
                thread.Start();
            }
        }

        private static Action Meet(Desk first, Desk second) => () =>
        {
            lock (first)
            {
                both.SignalAndWait();
                lock (second)
                    second.number++;
            }
        };

        private static void MakeThreads()
        {
            var taken = new CountdownEvent(Desks);
            for (int i = 0; i < Desks; i++)
                desks[i] = new Desk { number = i };
            Start("holder", Desks, i => () =>
            {
                lock (desks[i])
                {
                    taken.Signal();
                    Thread.Sleep(Timeout.Infinite);
                }
            });
            taken.Wait();
            Start("enters", Entering, i => () =>
            {
                lock (desks[i % Desks])
                    desks[i % Desks].number++;
            });
            Start("result", Blocked, i => () => calls[i % calls.Count].GetAwaiter().GetResult());
            Start("event", Events, i => () => never.Wait());
            Start("sleeps", Sleeping, i => () => Thread.Sleep(Timeout.Infinite));
            Start("left", 1, i => Meet(left, right));
            Start("right", 1, i => Meet(right, left));
            while (Volatile.Read(ref started) < Desks + Entering + Blocked + Events + Sleeping + 2)
                Thread.Sleep(10);
            // They are on their way into their waits.
            Thread.Sleep(2000);
        }

        // Makes all, and writes the members of the truth that say how many.
        public static void Make(StringBuilder truth)
        {
            MakeChains();
            MakeThreads();
            truth.Append($",\"waits\":{{\"chains\":{5 * Chains},\"methods\":{5 * Chains * Depth + 2 * Chains - Chains}");
            truth.Append($",\"Monitor.Enter\":{Entering + 2},\"Task\":{Blocked},\"ManualResetEventSlim\":{Events}");
            truth.Append($",\"Thread.Sleep\":{Sleeping + Desks},\"calls\":{calls.Count}}}");
        }
    }
}
