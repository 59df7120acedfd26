// SPDX-License-Identifier: MIT
// Chains of async methods, twenty for each way to wait; each knows its methods, its task and what it waits for.
using System;
using System.Collections.Generic;
using System.Net;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;
using System.Threading.Tasks.Sources;

namespace Hang
{
    /// <summary>A way to wait: what its chains have in common, and what each has for itself.</summary>
    public sealed class ChainKind
    {
        public string Name, WaitsFor;
        public string[] Methods;
        public int Count, Line;
        public readonly List<object> Roots = new(), Objects = new();
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

    public sealed class Holder<T>
    {
        public async Task<T> Keep(T value, Task until)
        {
            Chains.Here(); await until;
            return value;
        }
    }

    public static class Chains
    {
        private const int Each = 20;
        private static readonly List<ChainKind> kinds = new();
        private static readonly List<object> kept = new();
        private static readonly SemaphoreSlim semaphore = new(0, 5);
        private static readonly Channel<int> channel = Channel.CreateUnbounded<int>();
        private static readonly Channel<string> texts = Channel.CreateUnbounded<string>();
        private static readonly Channel<int> full = Channel.CreateBounded<int>(1);
        private static readonly CancellationTokenSource stop = new();
        private static ChainKind current;

        /// <summary>The innermost await is in the line of the caller.</summary>
        public static void Here([CallerLineNumber] int line = 0) => current.Line = line;

        // Three methods, the first of which only waits for the next.
        private static async Task Root(Func<Task> middle) => await middle();
        private static async Task<int> Middle(Func<Task> inner)
        {
            await Task.CompletedTask;
            await inner();
            return 1;
        }
        private static Task Three(Func<Task> inner) => Root(() => Middle(inner));

        private static async Task Source(TaskCompletionSource source) { Here(); await source.Task; }
        private static async Task<int> Second(TaskCompletionSource<int> source)
        {
            await Task.CompletedTask;
            Here(); return await source.Task.ConfigureAwait(false);
        }
        private static async Task Semaphore() { Here(); await semaphore.WaitAsync(); }
        private static async Task SemaphoreTimeout() { Here(); await semaphore.WaitAsync(TimeSpan.FromHours(2), stop.Token); }
        private static async Task<int> Read() { Here(); return await channel.Reader.ReadAsync(); }
        private static async Task<bool> CanRead() { Here(); return await texts.Reader.WaitToReadAsync(stop.Token); }
        private static async Task Write(int value) { Here(); await full.Writer.WriteAsync(value); }
        private static async Task Delay() { Here(); await Task.Delay(TimeSpan.FromHours(1)); }
        private static async Task DelayToken() { Here(); await Task.Delay(TimeSpan.FromHours(3), stop.Token); }
        private static async Task Tick(PeriodicTimer timer) { Here(); await timer.WaitForNextTickAsync(); }
        private static async Task<int> Receive(Socket socket) { Here(); return await socket.ReceiveAsync(new byte[16].AsMemory()); }
        private static async Task Own(NeverSource source) { Here(); await source.Wait(); }
        private static async Task All(Task one, Task other) { Here(); await Task.WhenAll(one, Task.CompletedTask, other); }
        private static async Task Any(Task one, Task other) { Here(); await Task.WhenAny(one, other); }
        private static async Task Continue(Task task) { Here(); await task.ContinueWith(_ => GC.KeepAlive(task)); }
        private static async Task<T> Generic<T>(T value, Task until) { Here(); await until; return value; }
        private static async IAsyncEnumerable<int> Numbers(Task until)
        {
            yield return 1;
            Here(); await until;
            yield return 2;
        }
        private static async Task Enumerate(Task until)
        {
            await foreach (int number in Numbers(until))
                GC.KeepAlive(number);
        }
        private static async void Forget(Task until) { Here(); await until; }
        private static async ValueTask<int> Value(Task until) { Here(); await until; return 1; }
        private static async Task AwaitValue(Task until) => await Value(until);
        [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
        private static async ValueTask<int> Pooled(Task until) { Here(); await until; return 1; }
        private static async Task AwaitPooled(Task until) => await Pooled(until);
        private static async Task Timeout(Task until) { Here(); await until.WaitAsync(TimeSpan.FromHours(6)); }
        private static async Task Run(Task until) => await Task.Run(() => Running(until));
        private static async Task Running(Task until) { Here(); await until; }
        private static async Task Local(Task until)
        {
            async Task Inner() { Here(); await until; }
            await Inner();
        }
        private static Task Lambda(Task until)
        {
            Func<Task> lambda = async () => { Here(); await until; };
            return lambda();
        }

        /// <param name="name">Of the kind.</param>
        /// <param name="waitsFor">What the innermost method waits for.</param>
        /// <param name="methods">From the innermost to the root.</param>
        /// <param name="make">Makes one: its task, or null, and the object that it waits for.</param>
        /// <param name="count">How many.</param>
        private static void Add(string name, string waitsFor, string methods, Func<(Task Task, object Object)> make, int count = Each)
        {
            current = new ChainKind { Name = name, WaitsFor = waitsFor, Methods = methods.Split(' '), Count = count };
            for (int i = 0; i < count; i++)
            {
                (Task task, object target) = make();
                current.Roots.Add(task);
                current.Objects.Add(target);
            }
            // What runs on a worker says its line before the next kind begins.
            for (int i = 0; i < 1000 && current.Line == 0; i++)
                Thread.Sleep(1);
            Thread.Sleep(name == "run" ? 300 : 0);
            kinds.Add(current);
        }

        private static (Task, object) OnSource(Func<Task, Task> make)
        {
            var source = new TaskCompletionSource();
            kept.Add(source);
            return (make(source.Task), source.Task);
        }

        private static void Sources()
        {
            const string three = " Hang.Chains.Middle Hang.Chains.Root";
            Add("source", "TaskCompletionSource", "Hang.Chains.Source" + three, () =>
            {
                var source = new TaskCompletionSource();
                kept.Add(source);
                return (Three(() => Source(source)), source.Task);
            });
            Add("second", "TaskCompletionSource", "Hang.Chains.Second" + three, () =>
            {
                var source = new TaskCompletionSource<int>();
                kept.Add(source);
                return (Three(() => Second(source)), source.Task);
            });
            Add("generic-int", "TaskCompletionSource", "Hang.Chains.Generic", () => OnSource(until => Generic(5, until)), Each / 2);
            Add("generic-text", "TaskCompletionSource", "Hang.Chains.Generic", () => OnSource(until => Generic("five", until)), Each / 2);
            Add("generic-class", "TaskCompletionSource", "Hang.Holder.Keep", () => OnSource(until => new Holder<string>().Keep("x", until)));
            Add("iterator", "TaskCompletionSource", "Hang.Chains.Numbers Hang.Chains.Enumerate", () => OnSource(Enumerate));
            Add("void", "TaskCompletionSource", "Hang.Chains.Forget", () => OnSource(until => { Forget(until); return null; }));
            Add("value", "TaskCompletionSource", "Hang.Chains.Value Hang.Chains.AwaitValue", () => OnSource(AwaitValue));
            Add("pooled", "TaskCompletionSource", "Hang.Chains.Pooled Hang.Chains.AwaitPooled", () => OnSource(AwaitPooled));
            Add("run", "TaskCompletionSource", "Hang.Chains.Running Hang.Chains.Run", () => OnSource(Run));
            Add("local", "TaskCompletionSource", "Hang.Chains.Local.Inner Hang.Chains.Local", () => OnSource(Local));
            Add("lambda", "TaskCompletionSource", "Hang.Chains.Lambda.lambda", () => OnSource(Lambda));
            Add("continue", "ContinueWith", "Hang.Chains.Continue", () => OnSource(Continue));
            Add("timeout", "WaitAsync", "Hang.Chains.Timeout", () => OnSource(Timeout));
            Add("all", "WhenAll", "Hang.Chains.All", () => OnSource(until => All(until, stopped())));
            Add("any", "WhenAny", "Hang.Chains.Any", () => OnSource(until => Any(until, stopped())));
            static Task stopped() => new TaskCompletionSource().Task;
        }

        private static void Synchronised()
        {
            const string three = " Hang.Chains.Middle Hang.Chains.Root";
            Add("semaphore", "SemaphoreSlim", "Hang.Chains.Semaphore" + three, () => (Three(Semaphore), semaphore));
            Add("semaphore-timeout", "SemaphoreSlim", "Hang.Chains.SemaphoreTimeout", () => (SemaphoreTimeout(), semaphore));
            Add("read", "channel read", "Hang.Chains.Read" + three, () => (Three(Read), channel));
            Add("can-read", "channel read", "Hang.Chains.CanRead", () => (CanRead(), texts));
            full.Writer.TryWrite(0);
            Add("write", "channel write", "Hang.Chains.Write" + three, () => (Three(() => Write(1)), full));
            Add("delay", "Task.Delay", "Hang.Chains.Delay" + three, () => (Three(Delay), null));
            Add("delay-token", "Task.Delay", "Hang.Chains.DelayToken", () => (DelayToken(), null));
            Add("periodic", "PeriodicTimer", "Hang.Chains.Tick" + three, () =>
            {
                var timer = new PeriodicTimer(TimeSpan.FromHours(7));
                return (Three(() => Tick(timer)), timer);
            });
            Add("own", "ValueTask source", "Hang.Chains.Own" + three, () =>
            {
                var source = new NeverSource();
                return (Three(() => Own(source)), source);
            });
            var listener = new TcpListener(IPAddress.Loopback, 0);
            listener.Start();
            Add("receive", "socket", "Hang.Chains.Receive" + three, () =>
            {
                var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
                socket.Connect(listener.LocalEndpoint);
                kept.Add(listener.AcceptSocket());
                return (Three(() => Receive(socket)), socket);
            });
        }

        public static void Begin()
        {
            Sources();
            Synchronised();
            Thread.Sleep(300);
            Truth.Say("chains", Write);
        }

        private static string Write()
        {
            var text = new StringBuilder("[");
            foreach (ChainKind kind in kinds)
            {
                text.Append(text.Length > 1 ? ",{" : "{").Append($"\"name\":\"{kind.Name}\",\"waits_for\":\"{kind.WaitsFor}\"");
                text.Append($",\"count\":{kind.Count},\"line\":{kind.Line},\"file\":\"Async.cs\"");
                text.Append($",\"methods\":[\"{string.Join("\",\"", kind.Methods)}\"],\"roots\":[");
                for (int i = 0; i < kind.Count; i++)
                    text.Append(i > 0 ? "," : "").Append(Truth.AddressOf(kind.Roots[i]));
                text.Append("],\"objects\":[");
                for (int i = 0; i < kind.Count; i++)
                    text.Append(i > 0 ? "," : "").Append(Truth.AddressOf(kind.Objects[i]));
                text.Append("]}");
            }
            return text.Append(']').ToString();
        }
    }
}
