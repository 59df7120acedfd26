// SPDX-License-Identifier: MIT
// What the program knows about its own threads: one line of JSON before it is dumped.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Hang
{
    /// <summary>A thread, and what it is made to wait for.</summary>
    public sealed class Waiter
    {
        public string Name, WaitsFor, OwnerName, Method;
        public int Id, OsId;
        public object Object;
    }

    public static class Truth
    {
        private static readonly List<Waiter> waiters = new();
        private static readonly List<string[]> deadlocks = new(), possible = new();
        private static readonly List<string> members = new();
        private static readonly List<(string Name, Func<string> Json)> late = new();
        private static int started;

        /// <summary>Set when all is said.</summary>
        public static readonly ManualResetEventSlim Written = new();

        [DllImport("libc", EntryPoint = "gettid")]
        public static extern int CurrentOsId();

        /// <summary>Start a thread that will wait as it says; returns when it has begun.</summary>
        public static Thread Start(string name, string waitsFor, object target, string owner, Action body)
        {
            var waiter = new Waiter { Name = name, WaitsFor = waitsFor, Object = target, OwnerName = owner };
            var thread = new Thread(() =>
            {
                waiter.Id = Environment.CurrentManagedThreadId;
                waiter.OsId = CurrentOsId();
                Interlocked.Increment(ref started);
                body();
            })
            { IsBackground = true, Name = name };
            lock (waiters)
                waiters.Add(waiter);
            int before = Volatile.Read(ref started);
            thread.Start();
            while (Volatile.Read(ref started) == before)
                Thread.Sleep(1);
            return thread;
        }

        /// <summary>These threads wait for each other; a name with a dot is an async method.</summary>
        public static void Deadlock(params string[] names) => deadlocks.Add(names);

        /// <summary>So do these, but over something of which nothing stores who has it.</summary>
        public static void Possible(params string[] names) => possible.Add(names);

        /// <summary>Another member of the line: its name, and its value as JSON.</summary>
        public static void Say(string name, string json) => members.Add($"\"{name}\":{json}");

        /// <summary>The same, where the value has addresses: it is made when nothing moves any more.</summary>
        public static void Say(string name, Func<string> json) => late.Add((name, json));

        /// <summary>The thread that calls is going to wait as it says.</summary>
        public static void Here(string name, string waitsFor, object target, string owner)
        {
            var waiter = new Waiter { Name = name, WaitsFor = waitsFor, Object = target, OwnerName = owner };
            waiter.Id = Environment.CurrentManagedThreadId;
            waiter.OsId = CurrentOsId();
            lock (waiters)
                waiters.Add(waiter);
        }

        public static string Quote(string text) =>
            text == null ? "null" : "\"" + text.Replace("\\", "\\\\").Replace("\"", "\\\"") + "\"";

        /// <summary>As JSON; true until the next collection.</summary>
        public static unsafe string AddressOf(object target)
        {
            if (target == null)
                return "null";
            return $"\"0x{*(IntPtr*)Unsafe.AsPointer(ref target):x}\"";
        }

        /// <summary>Write it; from now on nothing may move.</summary>
        public static void Write(string mode)
        {
            string line;
            int collections;
            do
            {
                GC.Collect();
                GC.Collect();
                collections = GC.CollectionCount(0);
                line = Line(mode);
            } while (GC.CollectionCount(0) != collections && !mode.StartsWith("healthy"));
            byte[] bytes = Encoding.UTF8.GetBytes(line + "\nREADY\n");
            using var output = Console.OpenStandardOutput();
            output.Write(bytes);
        }

        private static void Append(StringBuilder text, List<string[]> sets)
        {
            text.Append('[');
            for (int i = 0; i < sets.Count; i++)
                text.Append(i == 0 ? "" : ",").Append("[\"" + string.Join("\",\"", sets[i]) + "\"]");
            text.Append(']');
        }

        private static string Line(string mode)
        {
            var text = new StringBuilder();
            text.Append($"{{\"program\":\"hang\",\"schema\":1,\"mode\":\"{mode}\",\"version\":\"{Environment.Version}\"");
            text.Append($",\"pid\":{Environment.ProcessId},\"threads\":[");
            for (int i = 0; i < waiters.Count; i++)
            {
                Waiter waiter = waiters[i];
                text.Append(i == 0 ? "" : ",");
                text.Append($"{{\"name\":{Quote(waiter.Name)},\"id\":{waiter.Id},\"os_id\":{waiter.OsId}");
                text.Append($",\"waits_for\":{Quote(waiter.WaitsFor)},\"object\":{AddressOf(waiter.Object)}");
                text.Append($",\"type\":{Quote(waiter.Object?.GetType().FullName)},\"owner\":{Quote(waiter.OwnerName)}}}");
            }
            text.Append("],\"deadlocks\":");
            Append(text, deadlocks);
            text.Append(",\"possible\":");
            Append(text, possible);
            foreach (string member in members)
                text.Append(',').Append(member);
            foreach ((string name, Func<string> json) in late)
                text.Append($",\"{name}\":").Append(json());
            return text.Append('}').ToString();
        }
    }
}
