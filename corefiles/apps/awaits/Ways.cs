// SPDX-License-Identifier: MIT
// The ways to wait. Each method says its line and its locals with At(), which it calls when the one that it awaits waits already.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;
using System.Threading.Tasks.Sources;

namespace Awaits
{
    public sealed class Payload
    {
        public int Number;
        public byte[] Bytes = new byte[100];
    }

    public struct Pair
    {
        public Payload First;
        public int Second;
        public string Third;
    }

    /// <summary>An awaiter of the program's own, without a task.</summary>
    public sealed class Bell : INotifyCompletion
    {
        public Action Rings;
        public bool IsCompleted => false;
        public void OnCompleted(Action continuation) => Rings = continuation;
        public int GetResult() => 3;
        public Bell GetAwaiter() => this;
    }

    /// <summary>A source of ValueTasks that never completes.</summary>
    public sealed class NeverSource : IValueTaskSource
    {
        private ManualResetValueTaskSourceCore<bool> core;
        public ValueTask Wait() => new(this, core.Version);
        public void GetResult(short token) => core.GetResult(token);
        public ValueTaskSourceStatus GetStatus(short token) => core.GetStatus(token);
        public void OnCompleted(Action<object> continuation, object state, short token, ValueTaskSourceOnCompletedFlags flags) =>
            core.OnCompleted(continuation, state, token, flags);
    }

    public sealed class Instance
    {
        private int number = 77;

        public async Task Wait(Task until)
        {
            int local = 5;
            await Ways.At(until, new[] { ("this", (object)this), ("local", local) }, type: "Instance");
            number += local;
        }
    }

    public sealed class Holder<T>
    {
        public async Task<T> Keep(T value, Task until)
        {
            await Ways.At(until, new[] { ("value", (object)value) }, type: "Holder");
            return value;
        }
    }

    public static class Ways
    {
        private static readonly List<object> kept = new();
        private static readonly SemaphoreSlim gate = new(0);
        private static Chain current;
        private static int enumerates;

        public static Task Failed { get; private set; }

        /// <summary>The caller is about to await <paramref name="awaited"/>.</summary>
        public static T At<T>(T awaited, (string, object)[] locals = null, [CallerMemberName] string method = "", [CallerLineNumber] int line = 0,
            string type = "Ways")
        {
            current.Waits.Add(new Wait($"Awaits.{type}.{method}", line, locals ?? Array.Empty<(string, object)>()));
            return awaited;
        }

        private static int Here([CallerLineNumber] int line = 0) => line;

        private static async Task<int> Outer(string name, Task<int> until)
        {
            var payload = new Payload { Number = 1001 };
            int before = 41;
            bool flag = name.Length > 0;
            int got = await At(Middle(name, payload, before, until),
                new[] { ("payload", (object)payload), ("before", before), ("flag", flag) });
            return got + payload.Number + before + (flag ? 1 : 0);
        }

        private static async Task<int> Middle(string name, Payload payload, int number, Task<int> until)
        {
            var pair = new Pair { First = new Payload { Number = 1002 }, Second = 7, Third = "third " + number };
            long big = 0x1122334455667788;
            double half = 0.5;
            char letter = 'x';
            DayOfWeek day = DayOfWeek.Friday;
            int got = await At(Inner(name, payload, until),
                new[] { ("number", (object)number), ("pair", pair), ("big", big), ("half", half), ("letter", letter), ("day", day) });
            return got + pair.First.Number + pair.Second + pair.Third.Length + (int)big + number + (int)half + letter + (int)day;
        }

        private static async Task<int> Inner(string name, Payload payload, Task<int> until)
        {
            string text = "inner " + name;
            int[] numbers = { 1, 2, 3 };
            return await At(until, new[] { ("payload", (object)payload), ("text", text), ("numbers", numbers) })
                + text.Length + payload.Number + numbers.Length;
        }

        private static async ValueTask<T> Generic<T>(T value, Task until)
        {
            var list = new List<T> { value };
            await At(until, new[] { ("list", (object)list) }).ConfigureAwait(false);
            return list[0];
        }

        private static async Task AwaitGeneric(Task until)
        {
            int number = await At(Generic(5, until));
            GC.KeepAlive(number);
        }

        private static async Task Delay()
        {
            string text = "delay " + current.Name;
            await At(Task.Delay(TimeSpan.FromHours(2)), new[] { ("text", (object)text) });
            GC.KeepAlive(text);
        }

        private static async Task Gate() => await At(gate.WaitAsync());

        private static async Task<int> Read(Channel<int> channel) => await At(channel.Reader.ReadAsync());

        private static async Task Any(Task one, Task other) => await At(Task.WhenAny(one, other));

        private static async Task All(Task one, Task other) => await At(Task.WhenAll(one, other));

        private static async Task InCatch(Task until)
        {
            try
            {
                throw new InvalidOperationException("before the await");
            }
            catch (InvalidOperationException exception)
            {
                await At(until, new[] { ("exception", (object)exception) });
                GC.KeepAlive(exception);
            }
        }

        private static async Task InTry(Task until)
        {
            try
            {
                await At(until);
            }
            finally
            {
                await Task.Yield();
            }
        }

        private static async Task InFinally(Task until)
        {
            string text = "finally " + current.Name;
            try
            {
                GC.KeepAlive(until);
            }
            finally
            {
                await At(until, new[] { ("text", (object)text) });
            }
            GC.KeepAlive(text);
        }

        private static async Task InLoop(Task until)
        {
            for (int i = 0; i < 3; i++)
            {
                await Task.CompletedTask;
                if (i == 2)
                    await At(until, new[] { ("i", (object)i) });
            }
        }

        private static async void Forget(Task until) => await At(until);

        private static async IAsyncEnumerable<int> Numbers(Task until)
        {
            yield return 1;
            await At(until);
            yield return 2;
        }

        private static async Task Enumerate(Task until)
        {
            enumerates = Here() + 1; // it cannot call At() while it waits
            await foreach (int number in Numbers(until))
                GC.KeepAlive(number);
        }

        private static async Task Recurse(int depth, Task until)
        {
            if (depth == 0)
                await At(until);
            else
                await At(Recurse(depth - 1, until), new[] { ("depth", (object)depth) });
            GC.KeepAlive(depth);
        }

        private static async Task OnBell(Bell bell) => await At(bell);

        private static async Task OnSource(NeverSource source) => await At(source.Wait());

        [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
        private static async ValueTask<int> Pooled(Task until)
        {
            await At(until);
            return 1;
        }

        private static async Task AwaitPooled(Task until) => await At(Pooled(until));

        private static async Task Local(Task until)
        {
            async Task Nested()
            {
                await At(until, type: "Ways.Local", method: "Nested");
            }
            await At(Nested());
        }

        private static Task Lambda(Task until)
        {
            Func<Task> lambda = async () => await At(until, type: "Ways.Lambda", method: "lambda");
            return lambda();
        }

        private static async Task AfterWorker(Task until)
        {
            await Task.Yield();
            await At(until);
        }

        private static async Task Throw()
        {
            await Task.Yield();
            throw new ArgumentException("a fault");
        }

        /// <summary>Makes a chain: its task, or null, and what its innermost method waits for, or null.</summary>
        private static Chain Add(string name, string waitsFor, Func<(object Root, object Object)> make, int methods = 1)
        {
            current = new Chain { Name = name, WaitsFor = waitsFor };
            (current.Root, current.Object) = make();
            // What runs on a worker says its line a little later.
            for (int i = 0; i < 2000 && current.Waits.Count < methods; i++)
                Thread.Sleep(1);
            Truth.Chains.Add(current);
            return current;
        }

        private static (object Root, object Object) On(Func<Task, Task> make)
        {
            var source = new TaskCompletionSource();
            kept.Add(source);
            return (make(source.Task), source.Task);
        }

        private static (object Root, object Object) OnNumber(string name)
        {
            var source = new TaskCompletionSource<int>();
            kept.Add(source);
            return (Outer(name, source.Task), source.Task);
        }

        public static void Begin()
        {
            const string source = "TaskCompletionSource";
            Add("chain", source, () => OnNumber("chain"), 3);
            Add("generic text", source, () => On(until => Generic("text", until).AsTask()));
            Add("generic number", source, () => On(AwaitGeneric), 2);
            Add("instance", source, () => On(until => new Instance().Wait(until)));
            Add("holder text", source, () => On(until => new Holder<string>().Keep("held", until)));
            Add("holder number", source, () => On(until => new Holder<long>().Keep(0x123456789a, until)));
            Add("delay", "Task.Delay", () => (Delay(), null));
            Add("gate", "SemaphoreSlim", () => (Gate(), gate));
            Add("channel", "channel read", () =>
            {
                var channel = Channel.CreateUnbounded<int>();
                kept.Add(channel);
                return (Read(channel), channel);
            });
            Add("any", "WhenAny", () => (On(until => Any(until, Task.Delay(TimeSpan.FromHours(3)))).Root, null));
            Add("all", "WhenAll", () => (On(until => All(until, Task.CompletedTask)).Root, null));
            Add("catch", source, () => On(InCatch));
            Add("try", source, () => On(InTry));
            Add("finally", source, () => On(InFinally));
            Add("loop", source, () => On(InLoop));
            Add("void", source, () => On(until =>
            {
                Forget(until);
                return null;
            }));
            Add("iterator", source, () => On(Enumerate));
            current.Waits.Add(new Wait("Awaits.Ways.Enumerate", enumerates, Array.Empty<(string, object)>()));
            Add("recursion", source, () => On(until => Recurse(20, until)), 21);
            Add("bell", null, () =>
            {
                var bell = new Bell();
                kept.Add(bell);
                return (OnBell(bell), null);
            });
            Add("value task source", "ValueTask source", () =>
            {
                var never = new NeverSource();
                kept.Add(never);
                return (OnSource(never), never);
            });
            Add("pooled", source, () => On(AwaitPooled), 2);
            Add("local function", source, () => On(Local), 2);
            Add("lambda", source, () => On(Lambda));
            Add("after a worker", source, () => On(AfterWorker));
            // The methods of these are compiled again, optimised, after the first thirty calls.
            for (int i = 0; i < 60; i++)
                Add("many", source, () => OnNumber("many"), 3);
            Thread.Sleep(500);
            for (int i = 0; i < 5; i++)
                Add("optimised", source, () => OnNumber("optimised"), 3).IsOptimised = true;
            Failed = Throw();
            while (!Failed.IsCompleted)
                Thread.Sleep(1);
        }
    }
}
