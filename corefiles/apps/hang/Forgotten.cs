// SPDX-License-Identifier: MIT
// Waits for what nobody else has any more: workers of a queue that nobody closes, a limit whose places were not given
// back, an answer whose question was thrown away, a task that nobody started, a signal of one who has ended. And the same where
// somebody still has it.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

namespace Hang
{
    /// <summary>Answers by number, of questions that are on their way.</summary>
    public sealed class Questions
    {
        private readonly ConcurrentDictionary<int, TaskCompletionSource<int>> open = new();

        public Task<int> Ask(int number)
        {
            var source = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
            open[number] = source;
            return source.Task;
        }

        /// <summary>After an error: all that are open are dropped.</summary>
        public void Reset() => open.Clear();
    }

    public static class Forgotten
    {
        private static readonly List<object> kept = new();

        /// <summary>Fill a queue for some workers, and wait until they have ended; nobody tells them that it is all.</summary>
        private static void Convert(int files, BlockingCollection<int> queue)
        {
            var workers = new List<Thread>();
            for (int i = 0; i < 2; i++)
            {
                workers.Add(new Thread(() =>
                {
                    foreach (int file in queue.GetConsumingEnumerable())
                        GC.KeepAlive(file);
                })
                { IsBackground = true, Name = "convert-" + i });
                workers[i].Start();
            }
            for (int i = 0; i < files; i++)
                queue.Add(i);
            foreach (Thread worker in workers)
                worker.Join();
        }

        /// <summary>The same with a channel and async workers.</summary>
        private static async Task Import(Channel<int> channel)
        {
            async Task Read()
            {
                await foreach (int row in channel.Reader.ReadAllAsync())
                    GC.KeepAlive(row);
            }
            Task[] workers = { Read(), Read(), Read() };
            for (int i = 0; i < 50; i++)
                await channel.Writer.WriteAsync(i);
            await Task.WhenAll(workers);
        }

        /// <summary>At most so many at once; a place of one that fails is lost.</summary>
        private static async Task<int> Fetch(int pages, Action<SemaphoreSlim> tell)
        {
            var places = new SemaphoreSlim(3);
            tell(places);
            async Task<int> One(int page)
            {
                await places.WaitAsync();
                try
                {
                    await Task.Yield();
                    if (page % 5 == 4)
                        throw new InvalidOperationException("page " + page);
                    places.Release();
                    return page;
                }
                catch (InvalidOperationException)
                {
                    return 0;
                }
            }
            var tasks = new List<Task<int>>();
            for (int i = 0; i < pages; i++)
                tasks.Add(One(i));
            return (await Task.WhenAll(tasks)).Length;
        }

        private static async Task<int> Next(Task<int> one) => 1 + await one;

        private static async Task Later(Task cold)
        {
            await cold;
            GC.KeepAlive(cold);
        }

        /// <summary>Waits until a helper is ready, which ends before.</summary>
        private static void Prepare(ManualResetEventSlim ready)
        {
            var helper = new Thread(() =>
            {
                if (kept.Count > 1000)
                    ready.Set();
            });
            helper.Start();
            ready.Wait();
        }

        /// <summary>Says where an object is without keeping it.</summary>
        private static Func<string> Where(object target)
        {
            var reference = new WeakReference(target);
            return () => Truth.AddressOf(reference.Target);
        }

        private static readonly List<(Func<string> Place, int Count)> said = new();

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void PlantQueue()
        {
            var queue = new BlockingCollection<int>();
            said.Add((Where(queue), 2));
            Start("converter", () => Convert(100, queue));
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void PlantChannel()
        {
            var channel = Channel.CreateBounded<int>(4);
            said.Add((Where(channel), 3));
            Start("importer", () => Import(channel).Wait());
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void PlantPlaces()
        {
            // Three places are lost with the first 15 pages.
            const int pages = 5000;
            Start("fetcher", () => Fetch(pages, places => said.Add((Where(places), pages - 15))).Wait());
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void PlantQuestion()
        {
            var questions = new Questions();
            kept.Add(questions);
            Start("asker", () =>
            {
                Task<int> one = questions.Ask(1);
                said.Add((Where(one), 1));
                questions.Reset();
                GC.KeepAlive(Next(one).Result);
            });
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void PlantTask()
        {
            var cold = new Task(() => GC.KeepAlive(kept));
            said.Add((Where(cold), 1));
            Start("starter", () => Later(cold).Wait());
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void PlantSignal()
        {
            var ready = new ManualResetEventSlim();
            said.Add((Where(ready), 1));
            Start("preparer", () => Prepare(ready));
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void PlantPulse()
        {
            var gate = new object();
            said.Add((Where(gate), 1));
            Start("sleeper", () =>
            {
                lock (gate)
                    Monitor.Wait(gate);
            });
        }

        /// <summary>In the foreground: the program does not end before it.</summary>
        private static void Start(string name, Action body) => new Thread(() => body()) { Name = name }.Start();

        public static void Begin()
        {
            PlantQueue();
            PlantChannel();
            PlantPlaces();
            PlantQuestion();
            PlantTask();
            PlantSignal();
            PlantPulse();
            Thread.Sleep(500);
            Func<string> list = () => string.Join(",", said.ConvertAll(one => $"[{one.Place()},{one.Count}]"));
            Truth.Say("objects", () => $"[{list()}]");
            Truth.Say("proven", () => $"[{string.Join(",", said.ConvertAll(one => one.Place()))}]");
        }

        private delegate void Handler(int number);

        [DllImport("libc", EntryPoint = "signal")]
        private static extern IntPtr OnSignal(int number, Handler handler);

        /// <summary>Native code sets it, which has the delegate by a weak handle alone: the waiting thread keeps it.</summary>
        private static void Called()
        {
            const int user = 12; // SIGUSR2
            var ready = new ManualResetEventSlim();
            Handler set = number => ready.Set();
            OnSignal(user, set);
            ready.Wait();
            GC.KeepAlive(set);
        }

        /// <summary>The thread that reads what changes has the watcher by a weak reference alone.</summary>
        private static void Watched()
        {
            var changed = new ManualResetEventSlim();
            var watcher = new FileSystemWatcher(AppContext.BaseDirectory);
            watcher.Created += (sender, change) => changed.Set();
            watcher.EnableRaisingEvents = true;
            changed.Wait();
            GC.KeepAlive(watcher);
        }

        /// <summary>Sets it when it is collected.</summary>
        private sealed class Last
        {
            private readonly ManualResetEventSlim gone;
            public Last(ManualResetEventSlim gone) => this.gone = gone;
            ~Last() => gone.Set();
        }

        private static Last last;

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Make(ManualResetEventSlim gone) => last = new Last(gone);

        /// <summary>It is dead from the last collection on that the program makes itself.</summary>
        private static void Collected()
        {
            var gone = new ManualResetEventSlim();
            Make(gone);
            Truth.Written.Wait();
            last = null;
            gone.Wait();
        }

        private static async Task Until(Task end)
        {
            await end;
            GC.KeepAlive(end);
        }

        /// <summary>Services that run until the process ends, which only a handler of the framework's event knows.</summary>
        private static void PlantServices()
        {
            var end = new TaskCompletionSource();
            AppDomain.CurrentDomain.ProcessExit += (sender, arguments) => end.TrySetResult();
            for (int i = 0; i < 6; i++)
                kept.Add(Until(end.Task));
        }

        /// <summary>Somebody has what they wait for, and may give it; only not now.</summary>
        public static void Busy()
        {
            var queue = new BlockingCollection<int>();
            kept.Add(queue);
            Start("open-converter", () => Convert(100, queue));
            var channel = Channel.CreateBounded<int>(4);
            Start("open-importer", () => Import(channel).Wait());
            kept.Add(new Timer(_ => channel.Writer.TryComplete(), null, 1000 * 3600, -1));
            SemaphoreSlim places = null;
            Start("open-fetcher", () => Fetch(20, own => places = own).Wait());
            Start("giver", () =>
            {
                Thread.Sleep(1000 * 3600);
                places.Release();
            });
            var questions = new Questions();
            kept.Add(questions);
            Start("open-asker", () => GC.KeepAlive(Next(questions.Ask(1)).Result));
            var cancel = new CancellationTokenSource();
            kept.Add(cancel);
            Start("cancelled", () => new SemaphoreSlim(0).Wait(cancel.Token));
            Start("cancelled-answer", () => new TaskCompletionSource().Task.Wait(cancel.Token));
            Start("cancelled-queue", () => new BlockingCollection<int>().Take(cancel.Token));
            var cold = new Task(() => GC.KeepAlive(kept));
            kept.Add(new Timer(_ => cold.Start(), null, 1000 * 3600, -1));
            Start("open-starter", () => Later(cold).Wait());
            var ready = new ManualResetEventSlim();
            Start("open-preparer", () => Prepare(ready));
            Start("setter", () =>
            {
                Thread.Sleep(1000 * 3600);
                ready.Set();
            });
            Start("limited", () => new SemaphoreSlim(0).Wait(1000 * 3600));
            PlantServices();
            Start("called", Called);
            Start("collected", Collected);
            Start("watched", Watched);
        }
    }
}
