// SPDX-License-Identifier: MIT
// Calls that have all places of a semaphore, and each of which awaits one that wants a place, too; and calls that give
// their places back before that.
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Hang
{
    /// <summary>A tree of rooms, of which so many may be visited at once.</summary>
    public sealed class Visitors
    {
        private readonly SemaphoreSlim places;

        public Visitors(int count) => places = new SemaphoreSlim(count, count);

        public object Places => places;

        /// <summary>Keeps its place while the rooms behind are visited.</summary>
        public async Task Keep(int depth)
        {
            await places.WaitAsync();
            try
            {
                await Task.Delay(50);
                if (depth > 0)
                    await Keep(depth - 1);
            }
            finally
            {
                places.Release();
            }
        }

        /// <summary>Gives its place back first.</summary>
        private async Task Leave(int depth)
        {
            await places.WaitAsync();
            try
            {
                await Task.Delay(20);
            }
            finally
            {
                places.Release();
            }
            if (depth > 0)
                await Task.WhenAll(Leave(depth - 1), Leave(depth - 1));
        }

        public async Task Walk()
        {
            while (true)
                await Leave(4);
        }
    }

    public static class Places
    {
        private const int Count = 3;
        private static readonly List<object> kept = new();

        public static void Begin()
        {
            var visitors = new Visitors(Count);
            for (int i = 0; i < Count; i++)
                kept.Add(visitors.Keep(1));
            kept.Add(visitors);
            Thread.Sleep(500);
            Truth.Say("objects", () => $"[[{Truth.AddressOf(visitors.Places)},{Count}]]");
        }

        /// <summary>Many more than there are places, all the time.</summary>
        public static void Busy()
        {
            var visitors = new Visitors(Count);
            for (int i = 0; i < 6; i++)
                kept.Add(visitors.Walk());
            kept.Add(visitors);
        }
    }
}
