// SPDX-License-Identifier: MIT
// Answers that nobody gives: a value that is loaded once and that all share, actors of which one asks another that
// does not answer, a start that waits for ever. And healthy ones.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

namespace Hang
{
    /// <summary>All calls share the task of the one that loads.</summary>
    public sealed class Rates
    {
        private readonly Lazy<Task<int>> loaded;
        private readonly Func<Task> connect;

        public Rates(Func<Task> begin)
        {
            connect = begin;
            loaded = new(Load);
        }

        private async Task<int> Load()
        {
            await connect();
            return 7;
        }

        public async Task<int> Of(int article)
        {
            int rate = await loaded.Value;
            return rate * article;
        }
    }

    /// <summary>A connection that says when it is open, to nobody who still listens.</summary>
    public static class Line
    {
        private static readonly WeakReference<Task> opening = new(null);

        /// <summary>Whoever waits for it has it; this does not.</summary>
        public static Task Opening() => opening.TryGetTarget(out Task task) ? task : null;

        private static Task Begin()
        {
            var source = new TaskCompletionSource();
            opening.SetTarget(source.Task);
            return source.Task;
        }

        public static async Task Open() => await Begin();
    }

    /// <summary>One message after the other; an answer is a message with the number of the question.</summary>
    public class Actor
    {
        protected readonly Channel<(int Question, Actor From)> box = Channel.CreateUnbounded<(int, Actor)>();
        protected readonly ConcurrentDictionary<int, TaskCompletionSource<int>> asked = new();
        private int questions;

        /// <summary>The only answer that it waits for.</summary>
        public Task Question => asked.Values.Single().Task;

        public Actor() => Start();

        private void Start() => _ = Run();

        private async Task Run()
        {
            await foreach ((int question, Actor from) in box.Reader.ReadAllAsync())
                await Receive(question, from);
        }

        protected virtual async Task Receive(int question, Actor from)
        {
            await Task.Yield();
            from?.Answer(question, 1);
        }

        public void Answer(int question, int value)
        {
            if (asked.TryRemove(question, out TaskCompletionSource<int> source))
                source.SetResult(value);
        }

        public async Task<int> Ask(Actor other)
        {
            int question = Interlocked.Increment(ref questions);
            var source = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
            asked[question] = source;
            other.box.Writer.TryWrite((question, this));
            return await source.Task;
        }
    }

    /// <summary>Gives no answer.</summary>
    public sealed class Forgetful : Actor
    {
        protected override Task Receive(int question, Actor from) => Task.CompletedTask;
    }

    /// <summary>Asks another one for each message, and takes no other before it has the answer.</summary>
    public sealed class Asking : Actor
    {
        private readonly Actor other;

        public Asking(Actor next) => other = next;

        protected override async Task Receive(int question, Actor from)
        {
            int value = await Ask(other);
            from?.Answer(question, value);
        }
    }

    public static class Answers
    {
        private static readonly List<object> kept = new();

        public static void Begin()
        {
            const int calls = 25, clients = 9;
            var rates = new Rates(Line.Open);
            for (int i = 0; i < calls; i++)
                kept.Add(rates.Of(i));
            var asking = new Asking(new Forgetful());
            var client = new Actor();
            for (int i = 0; i < clients; i++)
                kept.Add(client.Ask(asking));
            kept.Add(client);
            Thread.Sleep(300);
            // Calls share one; and of the messages of clients, one is being handled, and the others are in the box.
            Truth.Say("objects", () => $"[[{Truth.AddressOf(Line.Opening())},{calls}],[{Truth.AddressOf(asking.Question)},{clients}]]");
        }

        private static async Task Listen()
        {
            for (; ; )
                await Task.Delay(Timeout.Infinite);
        }

        /// <summary>Rates that are loaded slowly, again and again; actors that answer; services that idle on purpose.</summary>
        public static void Busy()
        {
            Task.Run(async () =>
            {
                for (; ; )
                {
                    var rates = new Rates(() => Task.Delay(15));
                    var calls = new List<Task>();
                    for (int i = 0; i < 20; i++)
                        calls.Add(rates.Of(i));
                    await Task.WhenAll(calls);
                }
            });
            var first = new Actor();
            var second = new Asking(first);
            for (int i = 0; i < 8; i++)
            {
                var client = new Actor();
                Task.Run(async () =>
                {
                    for (; ; )
                        await client.Ask(second);
                });
            }
            kept.Add(Listen());
        }
    }
}
