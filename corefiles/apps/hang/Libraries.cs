// SPDX-License-Identifier: MIT
// Waits inside of libraries, where each call waits for a task of its own: limiters whose permits are lost, or are with
// those that want more; blocks of a dataflow whose item no link takes. And the same at work.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.RateLimiting;
using System.Threading.Tasks;
using System.Threading.Tasks.Dataflow;

namespace Hang
{
    /// <summary>Calls that need a permit of a limiter.</summary>
    public sealed class Gateway
    {
        public readonly ConcurrencyLimiter Limiter;

        public Gateway(int permits)
        {
            Limiter = new ConcurrencyLimiter(new ConcurrencyLimiterOptions { PermitLimit = permits, QueueLimit = 1000 });
        }

        /// <summary>Forgets the lease where there is nothing to do.</summary>
        public async Task<int> Forget(int work)
        {
            RateLimitLease lease = await Limiter.AcquireAsync();
            await Task.Yield();
            if (work < 0)
                return 0;
            lease.Dispose();
            return work;
        }

        /// <summary>Needs a second permit while it has one.</summary>
        public async Task<int> Nest(int depth, Task start)
        {
            using RateLimitLease lease = await Limiter.AcquireAsync();
            await start;
            return depth == 0 ? 1 : await Nest(depth - 1, start);
        }

        public async Task Work()
        {
            while (true)
            {
                using RateLimitLease lease = await Limiter.AcquireAsync();
                await Task.Delay(5);
            }
        }

        /// <summary>The same, with a thread.</summary>
        public void WorkOnThread()
        {
            while (true)
            {
                using RateLimitLease lease = Limiter.AcquireAsync().AsTask().Result;
                Thread.Sleep(5);
            }
        }
    }

    /// <summary>Blocks: one that sorts, and links for what somebody thought of.</summary>
    public sealed class Sorter
    {
        private static readonly ExecutionDataflowBlockOptions few = new() { BoundedCapacity = 4 };
        public readonly BufferBlock<int> Input = new(few);
        public readonly TransformBlock<int, int> Kinds = new(item => item % 3, few);
        public readonly List<int> Done = new();

        public Sorter(Func<int, bool> accept, int slow)
        {
            Input.LinkTo(Kinds);
            for (int kind = 0; kind < 3; kind++)
            {
                int own = kind;
                var store = new ActionBlock<int>(item => Task.Delay(slow), few);
                if (accept(kind))
                    Kinds.LinkTo(store, item => item == own);
            }
        }

        public async Task Feed()
        {
            for (int item = 0; ; item++)
                await Input.SendAsync(item);
        }
    }

    /// <summary>A block that somebody asks for its results.</summary>
    public sealed class Inbox
    {
        public readonly TransformBlock<int, int> Letters =
            new(item => item + 1, new ExecutionDataflowBlockOptions { BoundedCapacity = 4 });

        public async Task Feed()
        {
            for (int item = 0; ; item++)
                await Letters.SendAsync(item);
        }

        public async Task Read()
        {
            while (true)
            {
                await Letters.ReceiveAsync();
                await Task.Delay(5);
            }
        }
    }

    public static class Libraries
    {
        private static readonly List<object> kept = new();

        public static void Begin()
        {
            const int calls = 6, permits = 3;
            var forgetful = new Gateway(permits);
            for (int i = 0; i < permits; i++)
                forgetful.Forget(-1).Wait();
            for (int i = 0; i < calls; i++)
                kept.Add(forgetful.Forget(i));
            var nested = new Gateway(permits);
            var start = new TaskCompletionSource();
            for (int i = 0; i < permits + 1; i++)
                kept.Add(nested.Nest(1, start.Task));
            start.SetResult();
            var sorter = new Sorter(kind => kind != 2, 0);
            for (int i = 0; i < calls; i++)
                kept.Add(sorter.Feed());
            var inbox = new Inbox();
            kept.Add(inbox.Feed());
            Thread.Sleep(1500);
            Truth.Say("objects", () => $"[[{Truth.AddressOf(forgetful.Limiter)},{calls}],[{Truth.AddressOf(nested.Limiter)}," +
                $"{permits + 1}],[{Truth.AddressOf(sorter.Kinds)},{calls}],[{Truth.AddressOf(inbox.Letters)},1]]");
            Truth.Say("proven", () => $"[{Truth.AddressOf(forgetful.Limiter)},{Truth.AddressOf(sorter.Kinds)}]");
        }

        /// <summary>All permits are taken and all blocks are full, but somebody is at work.</summary>
        public static void Busy()
        {
            var gateway = new Gateway(3);
            for (int i = 0; i < 20; i++)
                kept.Add(gateway.Work());
            var threads = new Gateway(1);
            for (int i = 0; i < 4; i++)
                new Thread(threads.WorkOnThread) { IsBackground = true }.Start();
            var sorter = new Sorter(_ => true, 5);
            var inbox = new Inbox();
            for (int i = 0; i < 10; i++)
            {
                kept.Add(sorter.Feed());
                kept.Add(inbox.Feed());
            }
            kept.Add(inbox.Read());
        }
    }
}
