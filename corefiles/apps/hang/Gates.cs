// SPDX-License-Identifier: MIT
// Many that wait for one thing which nobody gives any more: a semaphore that was not released, a channel without a
// reader, one without a writer, a task that nobody completes. And a healthy program that waits in the same ways.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

namespace Hang
{
    /// <summary>A lock for async methods, and one that is not released after an error.</summary>
    public sealed class AsyncGate
    {
        private readonly SemaphoreSlim gate = new(1, 1);

        public SemaphoreSlim Semaphore => gate;

        public async Task<Releaser> Enter()
        {
            await gate.WaitAsync();
            return new Releaser(gate);
        }

        public readonly struct Releaser : IDisposable
        {
            private readonly SemaphoreSlim gate;
            public Releaser(SemaphoreSlim taken) => gate = taken;
            public void Dispose() => gate.Release();
        }
    }

    public sealed class Prices
    {
        public readonly AsyncGate Gate = new();

        public async Task<int> Of(int article)
        {
            AsyncGate.Releaser taken = await Gate.Enter();
            await Task.Delay(1);
            if (article < 0)
                throw new ArgumentOutOfRangeException(nameof(article));
            taken.Dispose(); // not in a finally block
            return article * 3;
        }
    }

    /// <summary>Mails are sent by one method, which ends at the first bad address.</summary>
    public sealed class Outbox
    {
        public readonly Channel<string> Mails = Channel.CreateBounded<string>(8);

        public async Task Send()
        {
            await foreach (string mail in Mails.Reader.ReadAllAsync())
            {
                if (!mail.Contains('@'))
                    throw new FormatException(mail);
                await Task.Yield();
            }
        }

        public async Task Confirm(int order)
        {
            await Task.Yield();
            await Mails.Writer.WriteAsync("order " + order);
        }
    }

    /// <summary>A service that answers when it is ready, which nobody says.</summary>
    public sealed class Startup
    {
        private readonly TaskCompletionSource ready = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task Ready => ready.Task;

        public async Task<string> Answer(int request)
        {
            await Ready;
            return "answer " + request;
        }

        public void AnswerNow() => Ready.Wait();
    }

    /// <summary>Results are waited for, but the method that should make them has ended.</summary>
    public sealed class Results
    {
        public readonly Channel<int> Queue = Channel.CreateUnbounded<int>();

        private async Task<int> Take()
        {
            int result = await Queue.Reader.ReadAsync();
            return result + 1;
        }

        public int Next() => Take().Result;
    }

    public static class Gates
    {
        private static readonly List<object> kept = new();

        public static void Begin()
        {
            const int callers = 30, mails = 20, requests = 12, takers = 6;
            var prices = new Prices();
            try
            {
                prices.Of(-1).Wait();
            }
            catch (AggregateException)
            {
                // The price is unknown; the gate stays shut.
            }
            for (int i = 1; i <= callers; i++)
                kept.Add(prices.Of(i));
            var outbox = new Outbox();
            kept.Add(outbox.Send());
            for (int i = 0; i < mails; i++)
                kept.Add(outbox.Confirm(i));
            var startup = new Startup();
            for (int i = 0; i < requests; i++)
                kept.Add(startup.Answer(i));
            for (int i = 0; i < 2; i++)
                Truth.Start("answer-" + i, "Task", startup.Ready, null, startup.AnswerNow);
            var results = new Results();
            for (int i = 0; i < takers; i++)
                Truth.Start("taker-" + i, "Task", null, null, () => GC.KeepAlive(results.Next()));
            Thread.Sleep(500);
            // The first of the mails was taken, and eight fit into the channel.
            Truth.Say("objects", () => $"[[{Truth.AddressOf(prices.Gate.Semaphore)},{callers}]" +
                $",[{Truth.AddressOf(outbox.Mails)},{mails - 9}],[{Truth.AddressOf(startup.Ready)},{requests + 2}]" +
                $",[{Truth.AddressOf(results.Queue)},{takers}]]");
            kept.Add(prices);
            kept.Add(outbox);
            kept.Add(startup);
            kept.Add(results);
        }
    }

    /// <summary>Mails in a static channel, which another class sends, slowly.</summary>
    public static class Post
    {
        public static readonly Channel<int> Mails = Channel.CreateBounded<int>(4);
        public static readonly SemaphoreSlim Printer = new(1, 1);
        public static ChannelWriter<int> Box => Mails.Writer;

        public static async Task Write(int mail)
        {
            for (; ; mail++)
                await Box.WriteAsync(mail);
        }
    }

    /// <summary>Uses what belongs to another class.</summary>
    public static class Printers
    {
        public static async Task Print(int page)
        {
            for (; ; page++)
            {
                await Post.Printer.WaitAsync();
                try
                {
                    await Task.Delay(20);
                }
                finally
                {
                    Post.Printer.Release();
                }
            }
        }
    }

    public static class Carrier
    {
        public static async Task Carry()
        {
            for (; ; )
            {
                int mail = await Post.Mails.Reader.ReadAsync();
                await Task.Delay(20 + mail % 5);
            }
        }
    }

    /// <summary>So many requests in a time: a timer gives them out.</summary>
    public sealed class RateLimit
    {
        private readonly SemaphoreSlim tokens = new(0, 10);
        private readonly Timer timer;

        public RateLimit() => timer = new Timer(Refill, null, 50, 50);

        private void Refill(object state)
        {
            while (tokens.CurrentCount < 2)
                tokens.Release();
        }

        public async Task Request(int number)
        {
            for (; ; number++)
            {
                await tokens.WaitAsync();
                if (number % 1000 == 999)
                    GC.KeepAlive(timer);
            }
        }
    }

    /// <summary>Workers that wait for work, and a source that is completed again and again.</summary>
    public sealed class Waiters
    {
        private readonly Channel<int> work = Channel.CreateUnbounded<int>();
        private readonly SemaphoreSlim signal = new(0);
        private TaskCompletionSource round = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public async Task Work()
        {
            await foreach (int item in work.Reader.ReadAllAsync())
                GC.KeepAlive(item);
        }

        public async Task Listen()
        {
            for (; ; )
                await signal.WaitAsync();
        }

        public async Task Turn()
        {
            for (; ; )
                await Volatile.Read(ref round).Task;
        }

        public async Task Lead()
        {
            using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(20));
            while (await timer.WaitForNextTickAsync())
                Interlocked.Exchange(ref round, new(TaskCreationOptions.RunContinuationsAsynchronously)).SetResult();
        }
    }

    /// <summary>A pool of connections: who has one has no reference to the pool.</summary>
    public sealed class Connections
    {
        private readonly SemaphoreSlim free = new(3, 3);
        private readonly ConcurrentBag<Connection> idle = new();

        public sealed class Connection
        {
            public int Queries;
        }

        private async Task<Connection> Open()
        {
            await free.WaitAsync();
            return idle.TryTake(out Connection connection) ? connection : new Connection();
        }

        private void Close(Connection connection)
        {
            idle.Add(connection);
            free.Release();
        }

        public async Task Use(int seed)
        {
            for (; ; seed++)
            {
                Connection connection = await Open();
                await Query(connection);
                Close(connection);
            }
        }

        private static async Task Query(Connection connection)
        {
            connection.Queries++;
            await Task.Delay(15);
        }
    }

    public static class Busy
    {
        private static readonly List<object> kept = new();

        public static void Begin()
        {
            const int each = 12;
            var limit = new RateLimit();
            var waiters = new Waiters();
            var connections = new Connections();
            for (int i = 0; i < each; i++)
            {
                int number = i * 100;
                kept.Add(Task.Run(() => Post.Write(number)));
                kept.Add(Task.Run(() => Printers.Print(number)));
                kept.Add(Task.Run(() => limit.Request(number)));
                kept.Add(Task.Run(() => waiters.Work()));
                kept.Add(Task.Run(() => waiters.Listen()));
                kept.Add(Task.Run(() => waiters.Turn()));
                kept.Add(Task.Run(() => connections.Use(number)));
            }
            kept.Add(Task.Run(Carrier.Carry));
            kept.Add(waiters.Lead());
        }
    }
}
