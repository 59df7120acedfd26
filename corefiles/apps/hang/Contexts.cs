// SPDX-License-Identifier: MIT
// Threads with a queue of their own, to which async methods come back: one that waits for such a method hangs.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Hang
{
    /// <summary>As programs with windows have it: whatever is posted runs on one thread.</summary>
    public sealed class WindowContext : SynchronizationContext
    {
        private readonly BlockingCollection<KeyValuePair<SendOrPostCallback, object>> queue = new();

        public override void Post(SendOrPostCallback callback, object state) => queue.Add(new(callback, state));

        public void Run()
        {
            SetSynchronizationContext(this);
            foreach (KeyValuePair<SendOrPostCallback, object> work in queue.GetConsumingEnumerable())
                work.Key(work.Value);
        }
    }

    public sealed class Window
    {
        private readonly Task<string> answer;
        public int Loaded;

        public Window(Task<string> answer) => this.answer = answer;

        /// <summary>What it waits for comes soon; then it wants its thread back.</summary>
        private async Task<int> Load()
        {
            await Task.Delay(20);
            return ++Loaded;
        }

        /// <summary>What it waits for never comes, and would not help.</summary>
        private async Task<int> Ask() => (await answer).Length;

        /// <summary>Its inner method needs no thread of its own, but it does.</summary>
        private async Task<int> Save()
        {
            await Send();
            return ++Loaded;
        }

        private async Task Send()
        {
            await answer.ConfigureAwait(false);
            Loaded++;
        }

        public void OnLoad(object state) => GC.KeepAlive(Load().Result);
        public void OnAsk(object state) => Ask().Wait();
        public void OnSave(object state) => Save().GetAwaiter().GetResult();

        /// <summary>Waits for nothing that needs the thread: it only takes long.</summary>
        public void OnSend(object state) => Send().Wait();

        /// <summary>Goes on again and again, without a thread that is blocked.</summary>
        public async void OnOpen(object state)
        {
            for (; ; Loaded++)
                await Task.Delay(10);
        }
    }

    public static class Contexts
    {
        private static readonly List<object> kept = new();

        private static WindowContext Open(string name, string kind)
        {
            var context = new WindowContext();
            kept.Add(context);
            Truth.Start(name, kind, null, null, context.Run);
            return context;
        }

        public static void Begin()
        {
            var source = new TaskCompletionSource<string>();
            kept.Add(source);
            Window Make() => new(source.Task);
            Open("load-window", "Task").Post(Make().OnLoad, null);
            Truth.Possible("load-window", "Hang.Window.Load");
            Open("ask-window", "Task").Post(Make().OnAsk, null);
            Truth.Possible("ask-window", "Hang.Window.Ask");
            Open("save-window", "Task").Post(Make().OnSave, null);
            Truth.Possible("save-window", "Hang.Window.Save");
            Open("send-window", "Task").Post(Make().OnSend, null);
            Open("open-window", "BlockingCollection").Post(Make().OnOpen, null);
            Thread.Sleep(300);
        }
    }
}
