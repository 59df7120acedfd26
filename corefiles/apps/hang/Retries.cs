// SPDX-License-Identifier: MIT
// Methods that try again what fails each time, while others wait for them; and such ones for which nobody waits.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Threading;
using System.Threading.Tasks;

namespace Hang
{
    /// <summary>Keeps what has failed, as programs do that log it later: no collection may take it away.</summary>
    public sealed class Failures
    {
        public const int Count = 6;
        private readonly List<Exception> kept = new();

        public bool All => kept.Count == Count;

        /// <summary>How long to wait before the next try: after the last one longer than the program is looked at.</summary>
        public int Add(Exception failure)
        {
            kept.Add(failure);
            return kept.Count < Count ? 5 : 1000 * 3600;
        }
    }

    /// <summary>A connection that all calls share, and that cannot be made.</summary>
    public sealed class Warehouse
    {
        private readonly Failures failures = new();
        private Task<int> connection;

        private static int Dial(int attempt) => throw new InvalidOperationException("no route to the warehouse, attempt " + attempt);

        private async Task<int> Connect()
        {
            for (int attempt = 0; ; attempt++)
            {
                int wait;
                try
                {
                    await Task.Yield();
                    return Dial(attempt);
                }
                catch (InvalidOperationException failure)
                {
                    wait = failures.Add(failure);
                }
                await Task.Delay(wait);
            }
        }

        public async Task<int> Order(int number)
        {
            connection ??= Connect();
            return await connection + number;
        }
    }

    /// <summary>A file that somebody else has open, and a lock that is held meanwhile.</summary>
    public sealed class Logbook
    {
        private readonly object gate = new();
        private readonly Failures failures = new();

        public void Append()
        {
            lock (gate)
            {
                while (!TryAppend())
                    continue;
            }
        }

        private bool TryAppend()
        {
            int wait;
            try
            {
                throw new IOException("the logbook is in use");
            }
            catch (IOException failure)
            {
                wait = failures.Add(failure);
            }
            Thread.Sleep(wait);
            return false;
        }
    }

    /// <summary>A service that reports to nobody, and on which nothing depends.</summary>
    public sealed class Telemetry
    {
        private readonly Failures failures = new();

        public bool HasFailed => failures.All;

        public async Task Run()
        {
            while (true)
            {
                int wait = 0;
                try
                {
                    await Task.Yield();
                    throw new TimeoutException("no collector");
                }
                catch (TimeoutException failure)
                {
                    wait = failures.Add(failure);
                }
                await Task.Delay(wait);
            }
        }
    }

    /// <summary>A queue that a slow thread empties, and all workers of the pool fill.</summary>
    public sealed class Intake
    {
        private readonly BlockingCollection<int> lines = new(4);

        private void Empty()
        {
            foreach (int line in lines.GetConsumingEnumerable())
                Thread.Sleep(1000 * 3600 + line);
        }

        public void Begin(int count)
        {
            new Thread(Empty) { IsBackground = true, Name = "empties" }.Start();
            for (int i = 0; i < count; i++)
                ThreadPool.QueueUserWorkItem(state => lines.Add((int)state), i);
        }
    }

    public static class Retries
    {
        private const int Calls = 5, Writers = 3;
        private static readonly List<object> kept = new();

        public static void Begin()
        {
            var warehouse = new Warehouse();
            var logbook = new Logbook();
            for (int i = 0; i < Calls; i++)
                kept.Add(warehouse.Order(i));
            for (int i = 0; i < Writers; i++)
            {
                new Thread(logbook.Append) { IsBackground = true, Name = "writer-" + i }.Start();
                Thread.Sleep(100);
            }
            kept.Add(logbook);
            Truth.Say("tries", "[" + Tries("Hang.Warehouse.Connect", Calls - 1, "no route to the warehouse") + "," +
                Tries("Hang.Logbook.TryAppend", Writers - 1, "the logbook is in use") + "]");
        }

        private static string Tries(string method, int waiters, string message) =>
            $"{{\"method\":\"{method}\",\"waiters\":{waiters},\"failed\":{Failures.Count},\"message\":\"{message}\"}}";

        /// <summary>Tries that fail while nobody waits; and workers that wait for room, which comes.</summary>
        public static void Alone()
        {
            var telemetry = new Telemetry();
            kept.Add(telemetry.Run());
            kept.Add(telemetry);
            while (!telemetry.HasFailed)
                Thread.Sleep(10);
            var intake = new Intake();
            intake.Begin(100);
            kept.Add(intake);
        }
    }
}
