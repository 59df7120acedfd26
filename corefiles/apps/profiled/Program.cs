// SPDX-License-Identifier: MIT
// A program that a profiler may be loaded into: it holds objects whose number it says, does what each line asks for
// ("oom": an OutOfMemoryException that is caught; "grow": 300 MB more of memory; "context": ten objects of a type in a
// collectible context; "load": eight threads that allocate), and ends with status 7.
//     profiled [COUNT]
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Loader;
using System.Threading;
using System.Threading.Tasks;

namespace Profiled
{
    public sealed class Held
    {
        public Held next;
        public int number;
    }

    public sealed class Outer<T>
    {
        public sealed class Inner<TOther>
        {
            public T own;
            public TOther other;
        }

        public struct Pair
        {
            public T first, second;
        }
    }

    public sealed class Attached
    {
        public Held held;
    }

    public static class Program
    {
        private static Held[] all;
        private static object[] shapes;
        private static byte[] grown;
        private static object[] apart;
        private static ConditionalWeakTable<Held, Attached> attached;
        private static TaskCompletionSource<int> never;
        private static Task[] waiting;

        // Kinds of types and of roots, some of each.
        private static void Hold()
        {
            var pairs = new Outer<Held>.Pair[7];
            pairs[6] = new Outer<Held>.Pair { first = all[0], second = all[1] };
            shapes = new object[]
            {
                new Outer<string>.Inner<Held> { other = all[2] }, new Outer<int>.Inner<long>(), pairs, new Held[2, 3],
                new Held[4][], new Dictionary<string, List<Held>> { ["a"] = new List<Held> { all[3] } }, new int?[5],
            };
            attached = new ConditionalWeakTable<Held, Attached>();
            for (int i = 0; i < 10; i++)
                attached.Add(all[i], new Attached { held = all[i + 1] });
            for (int i = 0; i < 5; i++)
                GCHandle.Alloc(new byte[100 + i], GCHandleType.Pinned);
            never = new TaskCompletionSource<int>();
            waiting = new Task[] { Wait(all[0]), WaitOuter(all[1], 2), WaitOuter("text", 3) };
        }

        // What the runtime of .NET 11 keeps of a method that waits has a type without a class of its own.
        private static async Task<int> Wait(Held held)
        {
            int result = await never.Task;
            return result + held.number;
        }

        private static async Task<T> WaitOuter<T>(T own, long number)
        {
            Held some = all[number];
            await Wait(some);
            return number > some.number ? own : default;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void RunOut()
        {
            try
            {
                throw new OutOfMemoryException();
            }
            catch (OutOfMemoryException)
            {
                Console.WriteLine("out of memory");
            }
        }

        private static void Grow()
        {
            grown = new byte[300 << 20];
            Array.Fill(grown, (byte)1);
            Console.WriteLine("grown");
        }

        // The same assembly once more, in a context that could be unloaded.
        private static void LoadContext()
        {
            var context = new AssemblyLoadContext("collectible", true);
            Type type = context.LoadFromAssemblyPath(typeof(Program).Assembly.Location).GetType("Profiled.Held");
            apart = new object[10];
            for (int i = 0; i < apart.Length; i++)
                apart[i] = Activator.CreateInstance(type);
            Console.WriteLine("heard context");
        }

        private static void Load()
        {
            for (int i = 0; i < 8; i++)
            {
                new Thread(() =>
                {
                    var some = new object[1000];
                    for (int j = 0;; j = (j + 1) % some.Length)
                        some[j] = new List<object[]> { new object[j % 100] };
                }) { IsBackground = true }.Start();
            }
            Console.WriteLine("heard load");
        }

        public static int Main(string[] args)
        {
            int count = args.Length > 0 ? int.Parse(args[0], CultureInfo.InvariantCulture) : 1000;
            all = new Held[count];
            for (int i = 0; i < count; i++)
                all[i] = new Held { number = i, next = i > 0 ? all[i - 1] : null };
            Hold();
            Console.WriteLine($"{{\"program\":\"profiled\",\"held\":{count}}}\nREADY");
            while (Console.ReadLine() is string line && line != "end")
            {
                if (line == "oom")
                    RunOut();
                else if (line == "grow")
                    Grow();
                else if (line == "context")
                    LoadContext();
                else if (line == "load")
                    Load();
                else
                    Console.WriteLine("heard " + line);
            }
            Console.WriteLine("held " + all.Length);
            return 7;
        }
    }
}
