// SPDX-License-Identifier: MIT
// A program that is not kind to a profiler, or fills its memory. It does what each line asks for, answers with the word
// of the line when it is done, and ends with status 7:
//     close         close descriptors that it has not opened, as daemons do
//     spawn N       run N other programs
//     stuck         a thread that stays in a call of the C library for ever
//     abort, failfast, throw   die
//     grow MB       hold so much more, in objects of 32 bytes; large MB: in arrays of 1 MB
//     drop          let go of all that, and collect
//     leak MB       hold so much more in each second, in objects of 32 bytes, without end; answers at once
//     exhaust       hold more and more objects of 32 bytes until there is no memory for another one, and go on
//     collect       collect all garbage
//     allocate N    allocate N million objects that nobody holds
//     listen        listen to the runtime's own events, as libraries of metrics do
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Diagnostics.Tracing;
using System.Globalization;
using System.IO;
using System.Runtime.InteropServices;
using System.Threading;

namespace Troubled
{
    public sealed class Small
    {
        public Small next;
        public long number;
    }

    internal sealed class Listener : EventListener
    {
        protected override void OnEventSourceCreated(EventSource source)
        {
            if (source.Name == "Microsoft-Windows-DotNETRuntime")
                EnableEvents(source, EventLevel.Informational, (EventKeywords)1);
        }

        protected override void OnEventWritten(EventWrittenEventArgs said)
        {
        }
    }

    public static class Program
    {
        private const int SmallSize = 32;
        private static Small all;
        private static readonly List<byte[]> arrays = new List<byte[]>();
        private static volatile object last;
        private static Listener listener;

        [DllImport("libc")]
        private static extern int close(int descriptor);

        [DllImport("libc")]
        private static extern int pause();

        [DllImport("libc")]
        private static extern void abort();

        private static void CloseOthers()
        {
            foreach (string name in Directory.GetFiles("/proc/self/fd"))
            {
                string target = new FileInfo(name).LinkTarget ?? "";
                if (target.Contains("eventfd", StringComparison.Ordinal))
                    _ = close(int.Parse(Path.GetFileName(name), CultureInfo.InvariantCulture));
            }
        }

        private static void Spawn(int count)
        {
            for (int i = 0; i < count; i++)
            {
                using Process process = Process.Start("/bin/true");
                process.WaitForExit();
            }
        }

        private static void StayForEver()
        {
            while (pause() < 0)
            {
            }
        }

        private static void Grow(long bytes)
        {
            for (; bytes > 0; bytes -= SmallSize)
                all = new Small { next = all, number = bytes };
        }

        private static void GrowLarge(int count)
        {
            for (int i = 0; i < count; i++)
            {
                byte[] array = GC.AllocateUninitializedArray<byte>(1 << 20);
                Array.Fill(array, (byte)1);
                arrays.Add(array);
            }
        }

        private static void Leak(long perSecond)
        {
            Stopwatch watch = Stopwatch.StartNew();
            for (long done = 0;;)
            {
                long due = perSecond * watch.ElapsedMilliseconds / 1000;
                if (due > done)
                    Grow(due - done);
                done = due;
                Thread.Sleep(1);
            }
        }

        private static void Exhaust()
        {
            try
            {
                for (;;)
                    Grow(1 << 20);
            }
            catch (OutOfMemoryException)
            {
                // What is held stays.
            }
        }

        private static void Drop()
        {
            all = null;
            arrays.Clear();
            GC.Collect();
            GC.WaitForPendingFinalizers();
            GC.Collect();
        }

        private static void Allocate(long count)
        {
            for (long i = 0; i < count; i++)
                last = new Small { number = i };
        }

        private static void Start(Action work) => new Thread(() => work()) { IsBackground = true }.Start();

        private static void Do(string word, int number)
        {
            switch (word)
            {
                case "close": CloseOthers(); break;
                case "spawn": Spawn(number); break;
                case "stuck": Start(StayForEver); break;
                case "abort": abort(); break;
                case "failfast": Environment.FailFast("it was asked to"); break;
                case "throw": throw new InvalidOperationException("it was asked to");
                case "grow": Grow((long)number << 20); break;
                case "large": GrowLarge(number); break;
                case "exhaust": Exhaust(); break;
                case "drop": Drop(); break;
                case "leak": Start(() => Leak((long)number << 20)); break;
                case "collect": GC.Collect(); break;
                case "listen": listener = new Listener(); break;
                case "allocate": Allocate(number * 1_000_000L); break;
            }
        }

        public static int Main()
        {
            Console.WriteLine("READY");
            while (Console.ReadLine() is string line && line != "end")
            {
                string[] words = line.Split(' ');
                Do(words[0], words.Length > 1 ? int.Parse(words[1], CultureInfo.InvariantCulture) : 0);
                Console.WriteLine(words[0]);
            }
            Console.WriteLine(all == null ? "held nothing" : "held");
            return 7;
        }
    }
}
