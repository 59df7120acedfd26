// SPDX-License-Identifier: MIT
// Frames of every kind, in which threads wait: "frames [THREADS [DEPTH]]", or "frames overflow", which dies of its recursion.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

namespace Frames
{
    public interface IShape
    {
        long Area(int by);
    }

    public struct Square : IShape
    {
        public long Side, Other, Third;

        public long Area(int by)
        {
            Program.Park();
            return Side * by;
        }
    }

    public sealed class Round : IShape
    {
        public long Area(int by)
        {
            Program.Park();
            return by;
        }
    }

    public class Box<T>
    {
        public T Value;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public T Keep<U>(T value, U other)
        {
            Program.Park();
            Value = value;
            return other is null ? default : value;
        }
    }

    public static class Initialised
    {
        public static readonly int Value = Wait();

        private static int Wait()
        {
            Program.Park();
            return 1;
        }
    }

    public sealed class Finalised
    {
        ~Finalised()
        {
            Program.Park();
        }
    }

    public static class Program
    {
        private const MethodImplOptions Apart = MethodImplOptions.NoInlining;
        private static readonly ManualResetEvent never = new(false);
        private static int parked, spinning = 0;

        [DllImport("libc")]
        private static extern int poll(IntPtr rows, ulong count, int milliseconds);

        [DllImport("libc", SetLastError = true)]
        private static extern unsafe void qsort(
            int* items, nuint count, nuint size, delegate* unmanaged<int*, int*, int> compare);

        /// <summary>Every thread ends here, or spins.</summary>
        [MethodImpl(Apart)]
        public static void Park()
        {
            Interlocked.Increment(ref parked);
            never.WaitOne();
        }

        [MethodImpl(Apart)]
        private static long Deep(int left, long a, long b)
        {
            if (left == 0)
            {
                Park();
                return a;
            }
            return Deep(left - 1, b, a + left) + 1;
        }

        [MethodImpl(Apart)]
        private static int WithoutEnd(int depth)
        {
            Span<long> room = stackalloc long[16];
            room[depth & 15] = depth;
            return WithoutEnd(depth + 1) + (int)room[depth & 15];
        }

        [MethodImpl(Apart)]
        private static void InCatch()
        {
            try
            {
                throw new InvalidOperationException("caught");
            }
            catch (InvalidOperationException)
            {
                Park();
            }
        }

        [MethodImpl(Apart)]
        private static void InFinally()
        {
            try
            {
                try
                {
                    throw new InvalidOperationException("passes");
                }
                finally
                {
                    Park();
                }
            }
            catch (InvalidOperationException)
            {
            }
        }

        private static bool WaitInFilter()
        {
            Park();
            return true;
        }

        [MethodImpl(Apart)]
        private static void Throwing(int depth)
        {
            if (depth > 0)
                Throwing(depth - 1);
            throw new InvalidOperationException("filtered");
        }

        [MethodImpl(Apart)]
        private static void InFilter()
        {
            try
            {
                Throwing(3);
            }
            catch (InvalidOperationException) when (WaitInFilter())
            {
            }
        }

        [MethodImpl(Apart)]
        private static int Fault(string text)
        {
            return text.Length;
        }

        [MethodImpl(Apart)]
        private static void AfterSignal()
        {
            try
            {
                _ = Fault(null);
            }
            catch (NullReferenceException)
            {
                try
                {
                    throw new ArgumentException("nested");
                }
                catch (ArgumentException) when (WaitInFilter())
                {
                }
            }
        }

        private static IEnumerable<int> Iterate(int count)
        {
            for (int i = 0; i < count; i++)
            {
                if (i == 2)
                    Park();
                yield return i;
            }
        }

        private static async Task<int> InAsync(int value)
        {
            await Task.Yield();
            int sum = value + await Task.Run(() => value * 2);
            Park();
            return sum;
        }

        [MethodImpl(Apart)]
        private static void InLambda()
        {
            int local = 3;
            Func<int, int> add = x =>
            {
                Park();
                return x + local;
            };
            _ = add(4);
        }

        private static void InDynamic()
        {
            var method = new DynamicMethod("Made", typeof(long), new[] { typeof(int), typeof(string) });
            ILGenerator il = method.GetILGenerator();
            il.Emit(OpCodes.Call, typeof(Program).GetMethod(nameof(Park)));
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Conv_I8);
            il.Emit(OpCodes.Ret);
            _ = method.CreateDelegate<Func<int, string, long>>()(1, "two");
        }

        [UnmanagedCallersOnly]
        private static unsafe int Compare(int* a, int* b)
        {
            Park();
            return *a - *b;
        }

        [MethodImpl(Apart)]
        private static unsafe void InCallback()
        {
            int* items = stackalloc int[] { 3, 1, 2 };
            qsort(items, 3, sizeof(int), &Compare);
        }

        [MethodImpl(Apart)]
        private static int InNative()
        {
            Interlocked.Increment(ref parked);
            return poll(IntPtr.Zero, 0, -1) + 1;
        }

        [MethodImpl(Apart)]
        private static long Many(
            int a, long b, string c, double d, Square e, int f, int g, int h, string i, ref long j)
        {
            Span<byte> room = stackalloc byte[a * 16];
            room[0] = 1;
            Park();
            return b + c.Length + (long)d + e.Side + f + g + h + i.Length + j + room[0];
        }

        [MethodImpl(Apart)]
        private static long InLoop(long count)
        {
            long sum = 0;
            for (long i = 0; i < count; i++)
            {
                sum += i ^ sum;
                if (i == count - 1)
                    Park();
            }
            return sum;
        }

        [MethodImpl(Apart)]
        private static void Spin()
        {
            Interlocked.Increment(ref parked);
            while (Volatile.Read(ref spinning) == 0)
            {
                for (int i = 0; i < 1000; i++)
                    Work(i, i + 1);
            }
        }

        [MethodImpl(Apart)]
        private static int Work(int a, int b)
        {
            return a < b ? b * 3 : a;
        }

        private static void Start(ThreadStart what, int stack = 0)
        {
            new Thread(what, stack) { IsBackground = true, Name = what.Method.Name }.Start();
        }

        public static void Main(string[] arguments)
        {
            if (arguments.Length > 0 && arguments[0] == "overflow")
                Environment.Exit(WithoutEnd(0));
            int threads = arguments.Length > 0 ? int.Parse(arguments[0]) : 0;
            int depth = arguments.Length > 1 ? int.Parse(arguments[1]) : 100;
            long number = 5;
            ThreadStart[] all =
            {
                InCatch, InFinally, InFilter, AfterSignal, InLambda, InDynamic, InCallback,
                () => InNative(), Spin, Spin,
                () => Deep(depth, 1, 2),
                () => Iterate(5).Where(x => x >= 0).Sum(),
                () => new Box<string>().Keep("a", 1),
                () => new Box<Square>().Keep(new Square { Side = 2 }, "b"),
                () => ((IShape)new Square { Side = 3 }).Area(2),
                () => ((IShape)new Round()).Area(2),
                () => Many(2, 3, "four", 5, new Square { Side = 6 }, 7, 8, 9, "ten", ref number),
                () => InLoop(200000),
                () => _ = Initialised.Value,
                () => typeof(Program).GetMethod(nameof(Park)).Invoke(null, null),
                () => Parallel.For(0, 1, _ => Park()),
            };
            Action several = InLambda;
            several += InCatch;
            foreach (ThreadStart start in all)
                Start(start, 64 << 20);
            Start(() => several());
            for (int i = 0; i < threads; i++)
                Start(Park, 256 << 10);
            int wanted = all.Length + 1 + threads + 2;
            _ = InAsync(1);
            Drop();
            GC.Collect();
            while (Volatile.Read(ref parked) < wanted)
                Thread.Sleep(10);
            Console.WriteLine($"{{\"threads\":{wanted}}}");
            Console.WriteLine("READY");
            Thread.Sleep(Timeout.Infinite);
        }

        [MethodImpl(Apart)]
        private static void Drop()
        {
            for (int i = 0; i < 10; i++)
                _ = new Finalised();
        }
    }
}
