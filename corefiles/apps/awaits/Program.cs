// SPDX-License-Identifier: MIT
// Async methods that wait in every way. Says which chains there must be, as one line of JSON, then READY, and waits.
using System;
using System.Text;
using System.Threading;

namespace Awaits
{
    public static class Program
    {
        public static void Main()
        {
            Ways.Begin();
            Running.Begin();
            string line;
            int collections;
            do
            {
                GC.Collect();
                GC.Collect();
                collections = GC.CollectionCount(0);
                line = Truth.Line(Truth.AddressOf(Ways.Failed), Running.Json());
            } while (GC.CollectionCount(0) != collections);
            byte[] bytes = Encoding.UTF8.GetBytes(line + "\nREADY\n");
            using var output = Console.OpenStandardOutput();
            output.Write(bytes);
            output.Flush();
            Thread.Sleep(Timeout.Infinite);
        }
    }
}
