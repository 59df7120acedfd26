// SPDX-License-Identifier: MIT
// Pools whose objects nobody gives back: whoever had them has lost them. And pools that are only in use.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

namespace Hang
{
    /// <summary>What is expensive to make; it knows who has it now.</summary>
    public sealed class Wire
    {
        public readonly WirePool Pool;
        public Session User;
        public Wire(WirePool pool) => Pool = pool;
    }

    /// <summary>What users of the pool get.</summary>
    public sealed class Session : IDisposable
    {
        private Wire wire;

        public Session(Wire wire)
        {
            this.wire = wire;
            wire.User = this;
        }

        public int Ask(int question) => wire.Pool.GetHashCode() ^ question;

        public void Dispose()
        {
            Wire own = wire;
            wire = null;
            own?.Pool.Give(own);
        }
    }

    public sealed class WirePool
    {
        private readonly Wire[] all;
        private readonly ChannelReader<Wire> free;
        private readonly ChannelWriter<Wire> freed;
        private int made, waited;

        public WirePool(int most)
        {
            Channel<Wire> idle = Channel.CreateUnbounded<Wire>();
            free = idle.Reader;
            freed = idle.Writer;
            all = new Wire[most];
        }

        public async ValueTask<Session> Open()
        {
            if (free.TryRead(out Wire wire))
                return new Session(wire);
            int number = Interlocked.Increment(ref made) - 1;
            if (number < all.Length)
            {
                await Task.Yield();
                return new Session(all[number] = new Wire(this));
            }
            wire = await free.ReadAsync();
            Interlocked.Increment(ref waited);
            return new Session(wire);
        }

        public void Give(Wire wire)
        {
            wire.User = null;
            freed.TryWrite(wire);
        }
    }

    public sealed class Reports
    {
        public readonly WirePool Pool;

        public Reports(int most) => Pool = new WirePool(most);

        /// <summary>Forgets the session where there is nothing to do.</summary>
        public async Task<int> Forget(int number)
        {
            Session session = await Pool.Open();
            if (number < 0)
                return 0;
            int answer = session.Ask(number);
            session.Dispose();
            return answer;
        }

        /// <summary>Wants a second one while it has one.</summary>
        public async Task<int> Nest(int number, Task start)
        {
            using Session session = await Pool.Open();
            await start;
            return session.Ask(number) + await Detail(number);
        }

        private async Task<int> Detail(int number)
        {
            using Session session = await Pool.Open();
            return session.Ask(number);
        }

        public async Task Work(int number)
        {
            while (true)
            {
                using Session session = await Pool.Open();
                await Task.Delay(5);
                GC.KeepAlive(session.Ask(number));
            }
        }

        /// <summary>Has one for as long as nobody says that it is enough.</summary>
        public async Task Keep(Task enough)
        {
            using Session session = await Pool.Open();
            await enough;
            GC.KeepAlive(session.Ask(1));
        }
    }

    public static class Rentals
    {
        private static readonly List<object> kept = new();

        private static void Ask(string name, Task<int> call) =>
            Truth.Start(name, "Task", call, null, () => GC.KeepAlive(call.Result));

        public static void Begin()
        {
            const int most = 4, calls = 3;
            var forgetful = new Reports(most);
            kept.Add(forgetful);
            for (int i = 0; i < most; i++)
                forgetful.Forget(-1).Wait();
            for (int i = 0; i < calls; i++)
                Ask("forget-" + i, forgetful.Forget(i));
            var nested = new Reports(most);
            kept.Add(nested);
            var start = new TaskCompletionSource();
            for (int i = 0; i < most; i++)
                Ask("nest-" + i, nested.Nest(i, start.Task));
            Thread.Sleep(200);
            start.SetResult();
            Thread.Sleep(300);
            Truth.Say("objects", () => $"[[{Truth.AddressOf(forgetful.Pool)},{calls}]" +
                $",[{Truth.AddressOf(nested.Pool)},{most}]]");
            Truth.Say("proven", () => $"[{Truth.AddressOf(forgetful.Pool)},{Truth.AddressOf(nested.Pool)}]");
        }

        /// <summary>All are in use, some of them for long.</summary>
        public static void Busy()
        {
            var busy = new Reports(3);
            kept.Add(busy);
            for (int i = 0; i < 20; i++)
                kept.Add(busy.Work(i));
            var enough = new TaskCompletionSource();
            kept.Add(enough);
            var held = new Reports(2);
            kept.Add(held);
            for (int i = 0; i < 2; i++)
                kept.Add(held.Keep(enough.Task));
            for (int i = 0; i < 8; i++)
                kept.Add(held.Work(i));
            Ask("held", held.Forget(1));
        }
    }
}
