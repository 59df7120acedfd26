// SPDX-License-Identifier: MIT
// Frames whose arguments and locals are known: says them as one line of JSON, then READY, and waits in the innermost.
using System;
using System.Text;
using System.Threading;

namespace Variables
{
    public static class Program
    {
        public static void Main(string[] words)
        {
            Optimised.Awaits.Begin();
            // The tasks that go on have time to get to where they wait.
            Thread.Sleep(500);
            Optimised.Kinds.Wait = () => Plain.Kinds.Begin(words);
            Plain.Kinds.Wait = Write;
            Optimised.Kinds.Begin(words);
        }

        private static void Write()
        {
            string line;
            int collections;
            do
            {
                GC.Collect();
                GC.Collect();
                collections = GC.CollectionCount(0);
                line = Truth.Line();
            } while (GC.CollectionCount(0) != collections);
            byte[] bytes = Encoding.UTF8.GetBytes(line + "\nREADY\n");
            using var output = Console.OpenStandardOutput();
            output.Write(bytes);
            output.Flush();
            Thread.Sleep(Timeout.Infinite);
        }
    }
}
