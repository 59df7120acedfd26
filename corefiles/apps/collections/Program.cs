// SPDX-License-Identifier: MIT
// Collections of every kind with known contents. Says what is in each as one line of JSON, then READY, and waits.
using System.Threading;

namespace Collections
{
    public struct Point
    {
        public int X;
        public long Y;

        public Point(int x) => (X, Y) = (x, 10_000_000_000L * x);
    }

    public sealed class Person
    {
        public int Id;
    }

    /// <summary>A class of the program's own, with a field that has the name of one of its base.</summary>
    public sealed class Basket : System.Collections.Generic.List<int>
    {
#pragma warning disable CS0414
        private readonly int _size = 77;
#pragma warning restore CS0414
    }

    public static class Program
    {
        public const int Many = 100_000;

        public static void Main()
        {
            Generic.Make();
            Concurrent.Make();
            Immutables.Make();
            Others.Make();
            Truth.Write();
            Thread.Sleep(Timeout.Infinite);
        }
    }
}
