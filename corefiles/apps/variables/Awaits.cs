// SPDX-License-Identifier: MIT
// Async methods that wait, each at a line that it says itself.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

namespace Optimised
{
    public static class Awaits
    {
        private static readonly TaskCompletionSource never = new();
        private static readonly List<string> rows = new();
        private static readonly List<Task> kept = new();

        /// <summary>The task to wait for at the caller's line; what was said of a method before does not count any more.</summary>
        private static Task At(Task task, [CallerMemberName] string method = "", [CallerLineNumber] int line = 0)
        {
            lock (rows)
            {
                rows.RemoveAll(row => row.Contains("\"" + method + "\""));
                rows.Add($"{{\"method\":\"{method}\",\"line\":{line}}}");
            }
            return task;
        }

        public static void Begin()
        {
            kept.Add(First());
            kept.Add(Third(5));
            kept.Add(InLoop().AsTask());
            kept.Add(InCatch());
            kept.Add(Generic("text"));
            Variables.Truth.Say("awaits", () => "[" + string.Join(",", rows) + "]");
        }

        private static async Task First()
        {
            await At(never.Task);
            await At(Task.CompletedTask);
        }

        private static async Task<int> Third(int number)
        {
            await At(Task.CompletedTask);
            await At(Task.Delay(1));
            number++;

            await At(
                Inner(number));
            return number;
        }

        private static async Task Inner(int number)
        {
            if (number > 3)
            {
                await Task.Yield();
                await At(never.Task).ConfigureAwait(false);
            }
        }

        private static async ValueTask InLoop()
        {
            for (int i = 0; i < 3; i++)
            {
                await At(Task.CompletedTask);
                if (i == 2)
                    await At(never.Task);
            }
        }

        private static async Task InCatch()
        {
            try
            {
                await At(Task.FromException(new InvalidOperationException()));
            }
            catch (InvalidOperationException)
            {
                await At(never.Task);
            }
        }

        private static async Task<T> Generic<T>(T value)
        {
            await At(Task.CompletedTask);
            await At(never.Task);
            return value;
        }
    }
}
