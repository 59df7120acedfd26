// SPDX-License-Identifier: MIT
// Pipelines of bounded queues: one whose last stage has failed, one whose only reader writes into what it reads, and
// the same with threads. And healthy ones, which are full because their last stage is slow.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

namespace Hang
{
    /// <summary>Stages that read from one channel and write to the next one.</summary>
    public sealed class Pipeline
    {
        public readonly Channel<int>[] Links;
        private readonly List<Task> stages = new();

        public Pipeline(int links, Func<int, bool> accept)
        {
            Links = new Channel<int>[links];
            for (int i = 0; i < links; i++)
                Links[i] = Channel.CreateBounded<int>(4);
            for (int i = 0; i + 1 < links; i++)
                stages.Add(Pass(Links[i].Reader, Links[i + 1].Writer));
            stages.Add(Store(Links[^1].Reader, accept));
        }

        private static async Task Pass(ChannelReader<int> from, ChannelWriter<int> to)
        {
            await foreach (int item in from.ReadAllAsync())
                await to.WriteAsync(item + 1);
        }

        private static async Task Store(ChannelReader<int> from, Func<int, bool> accept)
        {
            await foreach (int item in from.ReadAllAsync())
            {
                await Task.Delay(1);
                if (!accept(item))
                    throw new InvalidOperationException("the disk is full");
            }
        }

        public async Task Feed()
        {
            for (int item = 0; ; item++)
                await Links[0].Writer.WriteAsync(item);
        }

        /// <summary>Waits until all stages are done; the failed one is not looked at before.</summary>
        public async Task Run()
        {
            stages.Add(Feed());
            await Task.WhenAll(stages);
        }
    }

    /// <summary>The only reader of a queue of pages writes the links that it finds into the same queue.</summary>
    public sealed class Crawler
    {
        public readonly Channel<int> Pages = Channel.CreateBounded<int>(8);

        public async Task Crawl()
        {
            await foreach (int page in Pages.Reader.ReadAllAsync())
            {
                await Task.Yield();
                for (int link = 0; link < 3; link++)
                    await Pages.Writer.WriteAsync(page * 3 + link);
            }
        }
    }

    /// <summary>Threads, each between two collections.</summary>
    public sealed class Belt
    {
        public readonly BlockingCollection<int>[] Boxes;

        public Belt(int boxes)
        {
            Boxes = new BlockingCollection<int>[boxes];
            for (int i = 0; i < boxes; i++)
                Boxes[i] = new BlockingCollection<int>(3);
        }

        public void Feed()
        {
            for (int item = 0; ; item++)
                Boxes[0].Add(item);
        }

        public void Move(int from)
        {
            foreach (int item in Boxes[from].GetConsumingEnumerable())
                Boxes[from + 1].Add(item);
        }

        public void Pack(int last)
        {
            try
            {
                foreach (int item in Boxes[last].GetConsumingEnumerable())
                    if (item == 5)
                        throw new InvalidOperationException("no paper");
            }
            catch (InvalidOperationException)
            {
                // Logged, and forgotten.
            }
        }
    }

    public static class Stages
    {
        private static readonly List<object> kept = new();

        public static void Begin()
        {
            const int links = 4, boxes = 3;
            var pipeline = new Pipeline(links, item => item < 40);
            var crawler = new Crawler();
            crawler.Pages.Writer.TryWrite(1);
            kept.Add(pipeline.Run());
            kept.Add(crawler.Crawl());
            var belt = new Belt(boxes);
            Truth.Start("feeds", "BlockingCollection", belt.Boxes[0], null, belt.Feed);
            for (int i = 0; i + 1 < boxes; i++)
            {
                int from = i;
                Truth.Start("moves-" + i, "BlockingCollection", belt.Boxes[i + 1], null, () => belt.Move(from));
            }
            new Thread(() => belt.Pack(boxes - 1)) { IsBackground = true }.Start();
            Thread.Sleep(1500);
            // One verdict for each: the last queue, from which nobody takes.
            Truth.Say("objects", () => $"[[{Truth.AddressOf(pipeline.Links[^1])},1],[{Truth.AddressOf(crawler.Pages)},1]" +
                $",[{Truth.AddressOf(belt.Boxes[^1])},1]]");
            GC.KeepAlive(belt);
        }

        /// <summary>All queues are full, and the last stage is slow.</summary>
        public static void Slow()
        {
            var pipeline = new Pipeline(4, _ => true);
            kept.Add(pipeline.Run());
            var belt = new Belt(3);
            void Run(Action body) => new Thread(() => body()) { IsBackground = true }.Start();
            Run(belt.Feed);
            for (int i = 0; i < 2; i++)
            {
                int from = i;
                Run(() => belt.Move(from));
            }
            Run(() =>
            {
                foreach (int item in belt.Boxes[2].GetConsumingEnumerable())
                    Thread.Sleep(1 + item % 3);
            });
            Answers.Busy();
            Run(Callbacks.Busy);
        }
    }
}
