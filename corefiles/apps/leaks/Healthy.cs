// SPDX-License-Identifier: MIT
// Large heaps with nothing wrong.
using System;
using System.Collections.Generic;
using System.Threading.Channels;

namespace Leaks
{
    public sealed class Article
    {
        public int Number;
        public string Name, Code;
    }

    public sealed class Row
    {
        public int Index, Events;
        public byte[] Cells = new byte[60];
        public void OnSorted(object sender, EventArgs change) => Events++;
    }

    public sealed class Table
    {
        public readonly List<Row> Rows = new();
        public event EventHandler Sorted;

        public void Add(Row row)
        {
            Rows.Add(row);
            Sorted += row.OnSorted;
        }

        public void Sort() => Sorted?.Invoke(this, EventArgs.Empty);
    }

    public sealed class DocumentNode
    {
        public string Name;
        public List<DocumentNode> Children = new();
    }

    public sealed class Particle
    {
        public float X, Y, Speed;
        public Particle Target;
    }

    public sealed class Quote
    {
        public string Share;
        public double Bid, Ask;
        public byte[] Message = new byte[150];
    }

    /// <summary>The last quote of each share: a new one takes the place of the one before.</summary>
    public sealed class QuoteBoard
    {
        private readonly Dictionary<string, Quote> latest = new();
        public void Set(string share, double bid) => latest[share] = new Quote { Share = share, Bid = bid, Ask = bid + 0.01 };
    }

    public static class Healthy
    {
        private static Dictionary<int, Article> byNumber;
        private static Dictionary<string, Article> byCode;
        private static readonly Dictionary<int, LinkedListNode<Article>> recent = new();
        private static readonly LinkedList<Article> order = new();
        private static Channel<Article> queue;
        private static Table table;
        private static readonly Stack<Particle> pool = new();
        private static readonly List<Particle> active = new();
        private static Particle[] field;

        public static void Reference()
        {
            byNumber = new(100000);
            byCode = new(100000);
            for (int i = 0; i < 100000; i++)
            {
                var article = new Article { Number = i, Name = "article " + i, Code = "A-" + i };
                byNumber[i] = article;
                byCode[article.Code] = article;
            }
            GC.Collect();
            System.Threading.Thread.Sleep(300);
        }

        public static void Lru()
        {
            for (int i = 0; i < 300000; i = Noise.Next(i, 300000))
            {
                recent[i] = order.AddFirst(new Article { Number = i, Name = "article " + i });
                if (order.Count <= 20000)
                    continue;
                recent.Remove(order.Last.Value.Number);
                order.RemoveLast();
            }
        }

        public static void BoundedChannel()
        {
            queue = Channel.CreateBounded<Article>(30000);
            for (int i = 0; i < 200000; i = Noise.Next(i, 200000))
            {
                while (!queue.Writer.TryWrite(new Article { Number = i, Name = "queued " + i }))
                    queue.Reader.TryRead(out _);
            }
        }

        private static DocumentNode Parse(int depth)
        {
            var node = new DocumentNode { Name = "node at " + depth };
            for (int i = 0; depth > 0 && i < 8; i++)
                node.Children.Add(Parse(depth - 1));
            return node;
        }

        public static void Parser()
        {
            var started = new System.Threading.ManualResetEventSlim();
            new System.Threading.Thread(() =>
            {
                DocumentNode document = Parse(6);
                started.Set();
                System.Threading.Thread.Sleep(System.Threading.Timeout.Infinite);
                GC.KeepAlive(document);
            }, 1 << 22)
            { IsBackground = true, Name = "parser" }.Start();
            started.Wait();
        }

        public static void Grid()
        {
            table = new Table();
            for (int i = 0; i < 5000; i++)
                table.Add(new Row { Index = i });
            table.Sort();
        }

        private static readonly QuoteBoard board = new();

        public static void Quotes()
        {
            const int count = 300000;
            var random = new Random(3);
            string[] shares = new string[60000];
            for (int i = 0; i < shares.Length; i++)
                board.Set(shares[i] = "SHARE" + i, i);
            for (int i = 0; i < count; i = Noise.Next(i, count))
                board.Set(shares[random.Next(shares.Length)], i);
        }

        public static void Game()
        {
            field = new Particle[200000];
            var random = new Random(2);
            for (int i = 0; i < 30000; i++)
                pool.Push(new Particle());
            for (int frame = 0; frame < 40; frame++)
            {
                while (pool.Count > 5000)
                    active.Add(pool.Pop());
                foreach (Particle particle in active)
                    particle.X += random.Next(10);
                foreach (Particle particle in active)
                    pool.Push(particle);
                active.Clear();
            }
            for (int i = 0; i < 4000; i++)
                field[random.Next(field.Length)] = new Particle();
        }
    }
}
