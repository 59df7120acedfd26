// SPDX-License-Identifier: MIT
// Places of semaphores that an exception has lost, held by objects that live as long as the program; and the same where
// somebody still has a place, or will give one back who took none.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Threading;
using System.Threading.Tasks;

namespace Hang
{
    /// <summary>Takes and gives back in one method.</summary>
    public sealed class Fetcher
    {
        public static readonly SemaphoreSlim Places = new(3);
        private int failed;

        public int Free => Places.CurrentCount;

        public async Task<int> Fetch(int page)
        {
            await Places.WaitAsync();
            if (page % 3 == 2)
                await Task.Delay(20);
            if (page < 6)
                throw new InvalidOperationException("page " + page);
            Places.Release();
            return page;
        }

        /// <summary>Reads pages, and forgets those that fail.</summary>
        public async Task Read(int page)
        {
            try
            {
                await Fetch(page);
            }
            catch (InvalidOperationException)
            {
                Interlocked.Increment(ref failed);
            }
        }

        /// <summary>In an await of its own, with the object that has the semaphore.</summary>
        public async Task Watch()
        {
            await Task.Yield();
            while (Free >= 0)
                await Task.Delay(1000 * 3600);
        }
    }

    public interface IThrottle
    {
        Task Enter();
        void Leave();
    }

    /// <summary>Others take and give back.</summary>
    public sealed class Throttle : IThrottle
    {
        private readonly SemaphoreSlim places = new(2, 2);

        public async Task Enter() => await places.WaitAsync();
        public void Leave() => places.Release();
    }

    public sealed class Printer
    {
        private readonly IThrottle throttle;

        public Printer(IThrottle throttle) => this.throttle = throttle;

        public async Task Print(int page)
        {
            await Task.Delay(10);
            await throttle.Enter();
            await Ink(page);
            throttle.Leave();
        }

        private static async Task Ink(int page)
        {
            await Task.Delay(20);
            if (page < 5)
                throw new InvalidOperationException("page " + page);
        }
    }

    /// <summary>An object has the place, and gives it back when it is disposed of.</summary>
    public sealed class Turnstile
    {
        private readonly SemaphoreSlim places;

        public Turnstile(int count) => places = new SemaphoreSlim(count);


        public sealed class Place : IDisposable
        {
            private readonly Turnstile gates;

            public Place(Turnstile gates) => this.gates = gates;
            public void Dispose() => gates.places.Release();
        }

        public async Task<Place> Take()
        {
            await places.WaitAsync();
            return new Place(this);
        }

        public async Task Use(int number)
        {
            Place place = await Take();
            await Task.Delay(10);
            if (number < 4)
                return;
            place.Dispose();
        }
    }

    /// <summary>Of threads.</summary>
    public sealed class Counter
    {
        public SemaphoreSlim Seats { get; } = new(1, 1);

        public void Work(bool fails)
        {
            Seats.Wait();
            if (fails)
                throw new InvalidOperationException("counter");
            Seats.Release();
        }
    }

    /// <summary>Tries until it succeeds, with its only place.</summary>
    public sealed class Renewals
    {
        private readonly SemaphoreSlim places = new(1, 1);
        private readonly int tries;

        public Renewals(int tries) => this.tries = tries;

        public async Task Renew()
        {
            await places.WaitAsync();
            try
            {
                await Try();
            }
            finally
            {
                places.Release();
            }
        }

        private async Task Try()
        {
            for (int attempt = 0; ; attempt++)
            {
                await Task.Delay(attempt < tries ? 20 : 1000 * 3600);
                GC.KeepAlive(attempt);
            }
        }
    }

    /// <summary>Has its place between two elements, when no call is in flight.</summary>
    public sealed class Pages
    {
        private readonly SemaphoreSlim places = new(1, 1);

        public IEnumerable<int> Read()
        {
            places.Wait();
            for (int i = 0; i < 10; i++)
                yield return i;
            places.Release();
        }

        public async IAsyncEnumerable<int> ReadAsync()
        {
            await places.WaitAsync();
            for (int i = 0; i < 10; i++)
                yield return i;
            places.Release();
        }
    }

    public static class Bulkheads
    {
        private static readonly List<object> kept = new();

        private static async Task Quietly(Task task)
        {
            try
            {
                await task;
            }
            catch (InvalidOperationException)
            {
            }
        }

        /// <summary>Of a semaphore, without code that names its field.</summary>
        private static string AddressOf(Type type, object owner)
        {
            const BindingFlags all = BindingFlags.Instance | BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic;
            FieldInfo field = Array.Find(type.GetFields(all), one => one.FieldType == typeof(SemaphoreSlim));
            return Truth.AddressOf(field.GetValue(owner));
        }

        private static void Fetch()
        {
            var fetcher = new Fetcher();
            kept.Add(fetcher);
            kept.Add(fetcher.Watch());
            for (int i = 0; i < 9; i++)
                kept.Add(fetcher.Read(i));
        }

        public static void Begin()
        {
            Fetch();
            var throttle = new Throttle();
            var printer = new Printer(throttle);
            for (int i = 0; i < 5; i++)
                kept.Add(Quietly(printer.Print(i)));
            var gates = new Turnstile(3);
            for (int i = 0; i < 7; i++)
                kept.Add(gates.Use(i));
            var counter = new Counter();
            for (int i = 0; i < 3; i++)
            {
                bool fails = i == 0;
                var thread = new Thread(() =>
                {
                    try
                    {
                        counter.Work(fails);
                    }
                    catch (InvalidOperationException)
                    {
                    }
                })
                { IsBackground = true, Name = "counter-" + i };
                thread.Start();
                Thread.Sleep(50);
            }
            var renewals = new Renewals(5);
            for (int i = 0; i < 6; i++)
                kept.Add(renewals.Renew());
            kept.AddRange(new object[] { throttle, printer, gates, counter, renewals });
            Thread.Sleep(600);
            GC.Collect();
            var said = new (Type Type, object Owner, int Count)[]
            {
                (typeof(Fetcher), null, 6), (typeof(Throttle), throttle, 3), (typeof(Turnstile), gates, 4), (typeof(Counter), counter, 2),
                (typeof(Renewals), renewals, 5)
            };
            Truth.Say("retries", () => "1");
            Truth.Say("objects", () => $"[{string.Join(",", Array.ConvertAll(said, one => $"[{AddressOf(one.Type, one.Owner)},{one.Count}]"))}]");
        }

        /// <summary>Keeps its place for long.</summary>
        private sealed class Slow
        {
            private readonly SemaphoreSlim places = new(2, 2);

            public async Task Run(int number)
            {
                await places.WaitAsync();
                await Task.Delay(1000 * 3600 + number);
                places.Release();
            }
        }

        /// <summary>One request opens, another one closes.</summary>
        private sealed class Sessions
        {
            private readonly SemaphoreSlim places = new(2, 2);
            public int Closed;

            public async Task Open() => await places.WaitAsync();

            public void Close()
            {
                Closed++;
                places.Release();
            }
        }

        /// <summary>Gives back when a token is cancelled.</summary>
        private sealed class Cancelled
        {
            private readonly SemaphoreSlim places = new(1, 1);

            public async Task Run(CancellationToken token)
            {
                await places.WaitAsync();
                token.Register(() => places.Release());
            }
        }

        /// <summary>Gives the semaphore itself to whoever has a place.</summary>
        private sealed class Handing
        {
            private readonly SemaphoreSlim places = new(1, 1);

            private sealed class Owner
            {
                public SemaphoreSlim Places;
                public void End() => Places.Release();
            }

            public async Task<object> Take()
            {
                await places.WaitAsync();
                return new Owner { Places = places };
            }

            public static void End(object owner) => ((Owner)owner).End();
        }

        /// <summary>Items that somebody may still add.</summary>
        private sealed class Signalled
        {
            private readonly SemaphoreSlim items = new(0);

            public async Task Read()
            {
                while (true)
                    await items.WaitAsync();
            }

            public void Add() => items.Release();
        }

        /// <summary>A struct has the place.</summary>
        private sealed class Values
        {
            private readonly SemaphoreSlim places = new(1, 1);

            public readonly struct Place : IDisposable
            {
                private readonly Values values;

                public Place(Values values) => this.values = values;
                public void Dispose() => values.places.Release();
            }

            public async Task<Place> Take()
            {
                await places.WaitAsync();
                return new Place(this);
            }

            public async Task Use(int number)
            {
                using Place place = await Take();
                await Task.Delay(1000 * 3600 + number);
            }
        }

        /// <summary>A method of a class that others inherit from gives back.</summary>
        private abstract class Shared
        {
            public abstract void End();
        }

        private sealed class Derived : Shared
        {
            private readonly SemaphoreSlim places = new(1, 1);

            public async Task Begin() => await places.WaitAsync();
            public override void End() => places.Release();

            public async Task Both()
            {
                await Begin();
                End();
            }
        }

        /// <summary>A delegate of a method that gives back.</summary>
        private sealed class Returned
        {
            private readonly SemaphoreSlim places = new(1, 1);

            private void End() => places.Release();

            public async Task<Action> Take()
            {
                await places.WaitAsync();
                return End;
            }
        }

        /// <summary>Somebody has a place of each, or will give one back.</summary>
        public static void Busy()
        {
            var slow = new Slow();
            var sessions = new Sessions();
            var cancelled = new Cancelled();
            var source = new CancellationTokenSource();
            var handing = new Handing();
            var signalled = new Signalled();
            var values = new Values();
            var derived = new Derived();
            var returned = new Returned();
            var gates = new Turnstile(1);
            var counter = new Counter();
            for (int i = 0; i < 7; i++)
            {
                kept.Add(slow.Run(i));
                kept.Add(sessions.Open());
                kept.Add(signalled.Read());
                kept.Add(values.Use(i));
                kept.Add(derived.Begin());
                kept.Add(gates.Take());
                // Without a proof nothing is said of so few.
                if (i >= 4)
                    continue;
                kept.Add(cancelled.Run(source.Token));
                kept.Add(handing.Take());
                kept.Add(returned.Take());
            }
            for (int i = 0; i < 3; i++)
            {
                bool keeps = i == 0;
                var thread = new Thread(() =>
                {
                    counter.Seats.Wait();
                    if (keeps)
                        Thread.Sleep(1000 * 3600);
                    counter.Seats.Release();
                })
                { IsBackground = true, Name = "seat-" + i };
                thread.Start();
                Thread.Sleep(50);
            }
            var renewals = new Renewals(1);
            for (int i = 0; i < 7; i++)
                kept.Add(renewals.Renew());
            var pages = new Pages();
            IEnumerator<int> reader = pages.Read().GetEnumerator();
            reader.MoveNext();
            new Thread(() => GC.KeepAlive(new List<int>(pages.Read()))) { IsBackground = true, Name = "reads-pages" }.Start();
            var others = new Pages();
            IAsyncEnumerator<int> first = others.ReadAsync().GetAsyncEnumerator();
            kept.Add(first.MoveNextAsync().AsTask());
            kept.Add(others.ReadAsync().GetAsyncEnumerator().MoveNextAsync().AsTask());
            kept.AddRange(new object[] { renewals, pages, reader, others, first });
            if (kept.Count == 0)
            {
                sessions.Close();
                Handing.End(null);
                signalled.Add();
                derived.End();
            }
            kept.Add(new Timer(_ =>
            {
                sessions.Close();
                signalled.Add();
                derived.End();
                source.Cancel();
            }, null, 1000 * 3600, -1));
            kept.AddRange(new object[] { slow, sessions, cancelled, source, handing, signalled, values, derived, returned, gates, counter });
        }
    }
}
