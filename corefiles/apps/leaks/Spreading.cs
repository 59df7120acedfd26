// SPDX-License-Identifier: MIT
// Nearly all of the heap, in several collections of one service, and a small leak next to a large table.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;

namespace Leaks
{
    public sealed class Visit
    {
        public long When;
        public string Page;
        public byte[] Headers = new byte[120];
    }

    /// <summary>Keeps all visits, by visitor and by page.</summary>
    public sealed class VisitLog
    {
        private readonly ConcurrentDictionary<string, ConcurrentQueue<Visit>> byVisitor = new();
        private readonly ConcurrentDictionary<string, ConcurrentBag<long>> byPage = new();

        public void Add(int number)
        {
            var visit = new Visit { When = number, Page = "page " + number % 300 };
            byVisitor.GetOrAdd("visitor " + number * 31L % 5000, _ => new()).Enqueue(visit);
            byPage.GetOrAdd(visit.Page, _ => new()).Add(number);
        }
    }

    public sealed class Ticket
    {
        public int Number;
        public string Text;
    }

    public static class Spreading
    {
        private static readonly VisitLog log = new();
        private static readonly Dictionary<int, Article> articles = new();
        private static readonly List<Ticket> tickets = new();

        public static void Visits()
        {
            const int count = 120000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                log.Add(i);
            Truth.ExpectName("VisitLog", count);
        }

        /// <summary>6 % of the heap, and it grows.</summary>
        public static void Tickets()
        {
            for (int i = 0; i < 250000; i++)
                articles[i] = new Article { Number = i, Name = "article " + i, Code = "A-" + i };
            GC.Collect();
            const int count = 32000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                tickets.Add(new Ticket { Number = i, Text = "ticket number " + i });
            Truth.ExpectName("Spreading.tickets", count);
        }
    }
}
