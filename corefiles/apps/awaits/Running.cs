// SPDX-License-Identifier: MIT
// A method that runs, on a worker that has resumed it, while two others await it.
using System;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Awaits
{
    public static class Running
    {
        private static readonly TaskCompletionSource start = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private static Task root;
        private static volatile bool runs;
        private static int thread, middleLine, rootLine;

        private static int Here([CallerLineNumber] int line = 0) => line;

        private static async Task<int> Leaf(string text)
        {
            await start.Task;
            thread = Environment.CurrentManagedThreadId;
            runs = true;
            Thread.Sleep(Timeout.Infinite);
            return text.Length;
        }

        private static async Task<int> Middle(int number)
        {
            string text = "running " + number;
            middleLine = Here() + 1;
            int got = await Leaf(text);
            return got + text.Length + number;
        }

        private static async Task<int> Root(long big)
        {
            rootLine = Here() + 1;
            int got = await Middle(7);
            return got + (int)big;
        }

        public static void Begin()
        {
            root = Root(0x1122334455667788);
            start.SetResult();
            while (!runs)
                Thread.Sleep(10);
            Thread.Sleep(100);
        }

        /// <summary>The thread that runs, its methods from the innermost, and the task of the outermost.</summary>
        public static string Json() => $"{{\"thread\":{thread},\"root\":{Truth.AddressOf(root)},\"methods\":["
            + "{\"method\":\"Awaits.Running.Leaf\",\"line\":null},"
            + $"{{\"method\":\"Awaits.Running.Middle\",\"line\":{middleLine}}},"
            + $"{{\"method\":\"Awaits.Running.Root\",\"line\":{rootLine}}}]}}";
    }
}
