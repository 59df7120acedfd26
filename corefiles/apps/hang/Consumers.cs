// SPDX-License-Identifier: MIT
// Consumers of one queue that all wait for the answer to a message which they have put into that queue; and consumers
// that are only slow.
using System.Collections.Generic;
using System.Threading.Channels;
using System.Threading.Tasks;

namespace Hang
{
    /// <summary>So many messages are handled at once.</summary>
    public sealed class Endpoint
    {
        private readonly Channel<(int Message, TaskCompletionSource<int> Answer)> box =
            Channel.CreateUnbounded<(int, TaskCompletionSource<int>)>();
        private readonly bool isSlow;

        public object Box => box;

        public Endpoint(int consumers, bool slow)
        {
            isSlow = slow;
            for (int i = 0; i < consumers; i++)
                _ = Consume();
        }

        public async Task<int> Ask(int message)
        {
            var answer = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
            await box.Writer.WriteAsync((message, answer));
            return await answer.Task;
        }

        private async Task Consume()
        {
            await foreach ((int message, TaskCompletionSource<int> answer) in box.Reader.ReadAllAsync())
                answer.SetResult(await Handle(message));
        }

        /// <summary>An order asks for its price, which is a message, too.</summary>
        private async Task<int> Handle(int message)
        {
            if (isSlow)
            {
                await Task.Delay(1000 * 3600);
                return message;
            }
            return message % 2 == 1 ? await Ask(message + 1) : message;
        }
    }

    public static class Consumers
    {
        private static readonly List<object> kept = new();

        private static Endpoint Begin(int consumers, bool slow)
        {
            var endpoint = new Endpoint(consumers, slow);
            kept.Add(endpoint);
            for (int i = 0; i < 20; i++)
                kept.Add(endpoint.Ask(2 * i + 1));
            return endpoint;
        }

        public static void Wait()
        {
            const int consumers = 3;
            Endpoint endpoint = Begin(consumers, false);
            Truth.Say("consumers", () => $"[{Truth.AddressOf(endpoint.Box)},{consumers}]");
        }

        public static void Slow() => Begin(4, true);

        /// <summary>All wait until the line is there again, which each message knows, too.</summary>
        private sealed class Line
        {
            public readonly TaskCompletionSource Ready = new();
            public readonly Channel<Line> Box = Channel.CreateUnbounded<Line>();

            public async Task Send()
            {
                await foreach (Line line in Box.Reader.ReadAllAsync())
                    await line.Ready.Task;
            }
        }

        public static void Reconnect()
        {
            var line = new Line();
            kept.Add(line);
            for (int i = 0; i < 3; i++)
                kept.Add(line.Send());
            for (int i = 0; i < 20; i++)
                line.Box.Writer.TryWrite(line);
        }
    }
}
