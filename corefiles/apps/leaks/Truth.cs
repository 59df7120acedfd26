// SPDX-License-Identifier: MIT
// What the program knows about its own leak, and what every one of the programs has besides.
using System;
using System.Collections.Generic;
using System.Text;
using System.Threading;

namespace Leaks
{
    /// <summary>A setting, a country, a template: what a service keeps all its life.</summary>
    public sealed class Setting
    {
        public string Key, Value;
        public int Version;
    }

    /// <summary>Work that comes and goes.</summary>
    public sealed class Envelope
    {
        public byte[] Body;
        public Envelope Previous;
    }

    public static class Noise
    {
        private static readonly Dictionary<string, Setting> settings = new();
        private static readonly byte[][] buffers = new byte[16][];
        private static volatile bool settled;
        private static Thread worker;

        public static void Begin()
        {
            for (int i = 0; i < 4000; i++)
                settings["setting." + i] = new Setting { Key = "setting." + i, Value = "value " + i * 7, Version = i % 3 };
            for (int i = 0; i < buffers.Length; i++)
                buffers[i] = new byte[4096];
            worker = new Thread(Churn) { IsBackground = true, Name = "requests" };
            worker.Start();
        }

        private static void Churn()
        {
            var random = new Random(1);
            while (!settled)
            {
                Envelope last = null;
                for (int i = 0; i < 20; i++)
                    last = new Envelope { Body = new byte[random.Next(20, 800)], Previous = last };
                if (random.Next(50) == 0)
                    Thread.Sleep(1);
            }
            Thread.Sleep(Timeout.Infinite);
        }

        /// <summary>The number after i; now and then the thread waits, as one that serves requests does.</summary>
        public static int Next(int i, int count)
        {
            if (count >= 200 && i % (count / 100) == 0)
                Thread.Sleep(10);
            return i + 1;
        }

        public static void Settle()
        {
            settled = true;
            Thread.Sleep(50);
        }
    }

    public static class Truth
    {
        private static string rule = "", text = "";

        /// <summary>What report should find: its rule, and a word that names the object, field or method.</summary>
        public static void Expect(string ofRule, string mentions, long count)
        {
            rule = ofRule;
            text = $",\"rule\":\"{ofRule}\",\"mentions\":\"{mentions}\",\"count\":{count}";
        }

        /// <summary>The same of a program that knows no rule: any rule is right that names one of the words.</summary>
        public static void ExpectName(string mentions, long count) => Expect("", mentions, count);

        public static void Write(string mode)
        {
            string line = $"{{\"program\":\"leaks\",\"schema\":1,\"mode\":\"{mode}\",\"version\":\"{Environment.Version}\""
                + $",\"pid\":{Environment.ProcessId},\"healthy\":{(text.Length == 0 ? "true" : "false")}{text}}}\nREADY\n";
            using var output = Console.OpenStandardOutput();
            output.Write(Encoding.UTF8.GetBytes(line));
        }
    }
}
