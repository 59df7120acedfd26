// SPDX-License-Identifier: MIT
// A depot for parcels, of which two cores are taken: after the first half of its work and, when SIGHUP told it to go on,
// after the second. In between
//
//   1. the table of parcels grows on: nobody takes delivered parcels out;
//   2. the list of articles does not grow any more, though nothing was ever removed from it;
//   3. the last routes are as many as before, but other ones: that table has a limit;
//   4. listeners of the clock come and do not go;
//   5. the pages of an import are gone;
//   6. scans pile up in a queue that was not there before.
//
// Says after each half what it knows as one line of JSON, then READY, and waits.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Depot
{
    public sealed class Parcel
    {
        public string Number;
        public int Weight;
        public byte[] Label = new byte[96];
    }

    public sealed class Article
    {
        public string Name;
        public byte[] Picture = new byte[160];
    }

    public sealed class Route
    {
        public int Number;
        public int[] Stops = new int[24];
    }

    public sealed class ImportPage
    {
        public byte[] Rows = new byte[100_000];
    }

    public sealed class Scan
    {
        public long When;
        public byte[] Code = new byte[200];
    }

    public static class Clock
    {
        public static event EventHandler Ticked;
        public static void Tick() => Ticked?.Invoke(null, EventArgs.Empty);
    }

    public sealed class Shelf
    {
        private readonly byte[] places = new byte[256];
        private int ticks;
        public Shelf() => Clock.Ticked += OnTicked;
        private void OnTicked(object sender, EventArgs e) => ticks += places.Length;
    }

    public static class Store
    {
        public static readonly Dictionary<string, Parcel> Parcels = new();
        public static readonly List<Article> Articles = new();
        private static readonly Dictionary<int, Route> routes = new();
        private static readonly Queue<int> order = new();
        public static List<ImportPage> Import;
        public static ConcurrentQueue<Scan> Scans;

        public static int Routes => routes.Count;

        public static void Plan(int number)
        {
            routes[number] = new Route { Number = number };
            order.Enqueue(number);
            if (order.Count > 800)
                routes.Remove(order.Dequeue());
        }
    }

    public static class Program
    {
        private static int shelves;

        private static void Take(int parcels, int listeners)
        {
            for (int i = 0; i < parcels; i++)
            {
                string number = "P-" + (Store.Parcels.Count + 100000);
                Store.Parcels[number] = new Parcel { Number = number, Weight = i % 30 };
            }
            for (int i = 0; i < listeners; i++)
                _ = new Shelf();
            shelves += listeners;
            Clock.Tick();
        }

        private static void FirstHalf()
        {
            for (int i = 0; i < 3000; i++)
                Store.Articles.Add(new Article { Name = "article " + i });
            Store.Import = new List<ImportPage>();
            for (int i = 0; i < 5; i++)
                Store.Import.Add(new ImportPage());
            for (int i = 0; i < 8000; i++)
                Store.Plan(i);
            Take(4000, 1200);
        }

        private static void SecondHalf()
        {
            Store.Import = null;
            Store.Scans = new ConcurrentQueue<Scan>();
            for (int i = 0; i < 4000; i++)
                Store.Scans.Enqueue(new Scan { When = i });
            for (int i = 0; i < 8000; i++)
                Store.Plan(8000 + i);
            Take(3000, 800);
        }

        private static void Tell(int half)
        {
            // All of the first half lies in generation 2; the second one is too little for a collection, which could move it.
            for (int i = 0; half == 1 && i < 2; i++)
                GC.Collect();
            string line = $"{{\"program\":\"growth\",\"schema\":1,\"half\":{half},\"version\":\"{Environment.Version}\""
                + $",\"pid\":{Environment.ProcessId},\"parcels\":{Store.Parcels.Count},\"articles\":{Store.Articles.Count}"
                + $",\"routes\":{Store.Routes},\"shelves\":{shelves},\"import\":{Store.Import?.Count ?? 0}"
                + $",\"scans\":{Store.Scans?.Count ?? 0}}}\nREADY\n";
            using var output = Console.OpenStandardOutput();
            output.Write(Encoding.UTF8.GetBytes(line));
        }

        public static void Main()
        {
            using var more = new ManualResetEventSlim();
            using PosixSignalRegistration signal = PosixSignalRegistration.Create(PosixSignal.SIGHUP, context =>
            {
                context.Cancel = true;
                more.Set();
            });
            FirstHalf();
            Tell(1);
            more.Wait();
            SecondHalf();
            Tell(2);
            Thread.Sleep(Timeout.Infinite);
        }
    }
}
