// SPDX-License-Identifier: MIT
// Readers of a connection that wait for an answer which they would read themselves; and others, whose answer somebody
// else may still bring.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

namespace Hang
{
    /// <summary>A connection with many questions at once; an answer has the number of its question.</summary>
    public sealed class Cable
    {
        private readonly ConcurrentDictionary<int, TaskCompletionSource<string>> open = new();
        private readonly StreamReader reader;
        private readonly StreamWriter writer;
        private readonly TaskCreationOptions options;
        private int questions;

        /// <summary>The other end tells something that nobody has asked for.</summary>
        public event Action<string> Told;

        public Cable(Stream stream, TaskCreationOptions options = TaskCreationOptions.None)
        {
            reader = new StreamReader(stream);
            writer = new StreamWriter(stream) { AutoFlush = true };
            this.options = options;
        }

        /// <summary>How many questions were asked.</summary>
        public int Questions => Volatile.Read(ref questions);

        public void Begin() => _ = Read();

        public void BeginThread(string name) => new Thread(ReadOnThread) { Name = name, IsBackground = true }.Start();

        public Task<string> Ask(string question)
        {
            int number = Interlocked.Increment(ref questions);
            var source = open[number] = new TaskCompletionSource<string>(options);
            lock (writer)
                writer.WriteLine($"{number} {question}");
            return source.Task;
        }

        /// <summary>Each message has a worker of its own.</summary>
        public void BeginWorkers() => _ = ReadForWorkers();

        private async Task ReadForWorkers()
        {
            while (await reader.ReadLineAsync() is string line)
                _ = Task.Run(() => TakeAll(line.Split(';')));
        }

        private void TakeAll(string[] lines)
        {
            foreach (string line in lines)
                Take(line);
        }

        private async Task Read()
        {
            while (await reader.ReadLineAsync() is string line)
                Take(line);
            Close();
        }

        private void ReadOnThread()
        {
            while (reader.ReadLine() is string line)
                Take(line);
            Close();
        }

        private void Take(string line)
        {
            int end = line.IndexOf(' ');
            int number = int.Parse(line[..end]);
            if (number == 0)
                Told?.Invoke(line[(end + 1)..]);
            else if (open.TryRemove(number, out TaskCompletionSource<string> source))
                source.TrySetResult(line[(end + 1)..]);
        }

        private void Close()
        {
            foreach (TaskCompletionSource<string> source in open.Values)
                source.TrySetException(new IOException("closed"));
        }
    }

    /// <summary>Hears on one stream and asks on another, each with a reader of its own.</summary>
    public sealed class TwoWay
    {
        private readonly ConcurrentDictionary<int, TaskCompletionSource<string>> open = new();
        private readonly TaskCompletionSource<string> heard = new();
        private readonly StreamReader calls, answers;
        private readonly StreamWriter asks;

        public TwoWay(Stream hears, Stream tells)
        {
            calls = new StreamReader(hears);
            answers = new StreamReader(tells);
            asks = new StreamWriter(tells) { AutoFlush = true };
        }

        public void Begin()
        {
            _ = ReadCalls();
            _ = ReadAnswers();
        }

        public Task<string> Heard => heard.Task;

        public Task<string> Ask(int number)
        {
            var source = open[number] = new TaskCompletionSource<string>();
            asks.WriteLine($"{number} late");
            return source.Task;
        }

        private async Task ReadCalls()
        {
            while (await calls.ReadLineAsync() is string line)
                heard.TrySetResult(line);
        }

        private async Task ReadAnswers()
        {
            while (await answers.ReadLineAsync() is string line)
                Take(line);
        }

        private void Take(string line)
        {
            if (open.TryRemove(int.Parse(line.Split(' ')[0]), out TaskCompletionSource<string> source))
                source.TrySetResult(line);
        }
    }

    /// <summary>Answers at once, or late: after an hour.</summary>
    public sealed class Answerer
    {
        private readonly TcpListener listener = new(IPAddress.Loopback, 0);
        private readonly List<TcpClient> clients = new();

        public Answerer()
        {
            listener.Start();
            new Thread(Accept) { IsBackground = true, Name = "accept" }.Start();
        }

        public Stream Connect()
        {
            var client = new TcpClient();
            client.Connect((IPEndPoint)listener.LocalEndpoint);
            lock (clients)
                clients.Add(client);
            return client.GetStream();
        }

        private void Accept()
        {
            while (true)
            {
                TcpClient client = listener.AcceptTcpClient();
                new Thread(() => Answer(client.GetStream())) { IsBackground = true, Name = "answer" }.Start();
            }
        }

        private static void Answer(Stream stream)
        {
            using var reader = new StreamReader(stream);
            using var writer = new StreamWriter(stream) { AutoFlush = true };
            while (reader.ReadLine() is string line)
            {
                if (line.EndsWith(" late"))
                    Thread.Sleep(TimeSpan.FromHours(1));
                // An answer that comes before its await begins would let it go on in who asks.
                if (line.EndsWith(" 1"))
                    Replies.AllAwait.Wait();
                writer.WriteLine(line.EndsWith(" tell") ? "0 told" : line);
            }
        }
    }

    public static class Replies
    {
        /// <summary>Who has asked the first question awaits its answer.</summary>
        public static readonly ManualResetEventSlim AllAwait = new();

        private static Cable first, second, third;
        private static readonly Answerer answerer = new();

        private static async Task<int> Total(Cable wire)
        {
            string one = await wire.Ask("1");
            return one.Length + wire.Ask("2").Result.Length;
        }

        /// <summary>What waits for an answer goes on in the reader; a handler, too; and on a thread that reads.</summary>
        public static void Begin()
        {
            first = new Cable(answerer.Connect());
            first.Begin();
            _ = Total(first);
            second = new Cable(answerer.Connect(), TaskCreationOptions.RunContinuationsAsynchronously);
            second.Told += text => second.Ask(text).Wait();
            second.Begin();
            _ = second.Ask("tell");
            third = new Cable(answerer.Connect());
            third.BeginThread("reads");
            _ = Total(third);
            AllAwait.Set();
            // The second question of each is the one that nobody answers.
            while (first.Questions < 2 || second.Questions < 2 || third.Questions < 2)
                Thread.Sleep(10);
            Truth.Say("replies", "3");
        }

        private static Cable near, far, slow, patient, stoppable, shared;
        private static TwoWay both;

        private static async Task Later(Cable from, Cable other)
        {
            await from.Ask("1");
            other.Ask("late").Wait();
        }

        private static async Task Hear()
        {
            await both.Heard;
            both.Ask(7).Wait();
        }

        private static async Task Patient()
        {
            await patient.Ask("1");
            patient.Ask("2").Wait(TimeSpan.FromHours(1));
        }

        /// <summary>Somebody may still cancel it.</summary>
        public static readonly CancellationTokenSource Stop = new();

        private static async Task Stoppable()
        {
            await stoppable.Ask("1");
            stoppable.Ask("2").Wait(Stop.Token);
        }

        /// <summary>The answer comes late, but who reads it is free; or the wait has a limit.</summary>
        public static void Slow()
        {
            near = new Cable(answerer.Connect());
            far = new Cable(answerer.Connect());
            near.Begin();
            far.Begin();
            _ = Later(near, far);
            slow = new Cable(answerer.Connect(), TaskCreationOptions.RunContinuationsAsynchronously);
            slow.Begin();
            _ = Later(slow, slow);
            patient = new Cable(answerer.Connect());
            patient.Begin();
            _ = Patient();
            stoppable = new Cable(answerer.Connect());
            stoppable.Begin();
            _ = Stoppable();
            shared = new Cable(answerer.Connect());
            shared.BeginWorkers();
            _ = Later(shared, shared);
            Stream hears = answerer.Connect();
            both = new TwoWay(hears, answerer.Connect());
            both.Begin();
            _ = Hear();
            AllAwait.Set();
            new StreamWriter(hears) { AutoFlush = true }.WriteLine("1 hear");
        }
    }
}
