// SPDX-License-Identifier: MIT
// A program for debuggers: it reads how often it is to do something, does it, and says how often it has.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Shop
{
    public sealed class Ledger
    {
        public string Name = "";
        public long Amount;
    }

    public interface IFee
    {
        long Of(long amount);
    }

    public sealed class FlatFee : IFee
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public long Of(long amount)
        {
            return amount > 100 ? 2 : 1;
        }
    }

    public static class Bank
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static long Transfer(Ledger from, Ledger to, long amount)
        {
            long fee = Program.Fee.Of(amount);
            from.Amount -= amount + fee;
            to.Amount += amount;
            long total = Sum(from, to);
            return total + fee;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long Sum(Ledger a, Ledger b)
        {
            long sum = a.Amount;
            sum += b.Amount;
            return sum;
        }

        // Nobody calls it before it is asked for.
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static long Late(long amount)
        {
            long twice = amount * 2;

            return twice + 1;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static T Twice<T>(Func<T> function)
        {
            function();
            return function();
        }

        public static async Task<long> PayAsync(Ledger ledger, long amount)
        {
            long before = ledger.Amount;
            await Task.Delay(2000); // longer than GDB takes to step here, also on a machine that is busy
            ledger.Amount += amount;
            await Task.Yield();
            return ledger.Amount - before;
        }

        public static async Task<long> PayTwiceAsync(Ledger ledger, long amount)
        {
            long first = await PayAsync(ledger, amount);
            long second = await PayAsync(ledger, amount);
            return first + second;
        }

        public static IEnumerable<long> Numbers(long count)
        {
            for (long i = 0; i < count; i++)
                yield return i * 3;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static long Refuse(long amount)
        {
            try
            {
                if (amount > 0)
                    throw new InvalidOperationException("refused");
                return 0;
            }
            catch (InvalidOperationException)
            {
                return amount;
            }
        }
    }

    public static class Program
    {
        public static readonly IFee Fee = new FlatFee();
        private static readonly Ledger left = new() { Name = "left", Amount = 1000 };
        private static readonly Ledger right = new() { Name = "right", Amount = 10 };
        private static long done;

        // The debugger stops here when the work is done.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Finished()
        {
            Console.WriteLine("DONE " + done);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Transfers(long count)
        {
            for (long i = 0; i < count; i++)
            {
                done += Bank.Transfer(left, right, i % 7) == 0 ? 0 : 1;
                // Time for the runtime to compile it again.
                if (i % 10 == 9)
                    Thread.Sleep(1);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Work(string what, long count)
        {
            done = 0;
            switch (what)
            {
                case "transfer":
                    Transfers(count);
                    break;
                case "late":
                    for (long i = 0; i < count; i++)
                        done += Bank.Late(i) > 0 ? 1 : 0;
                    break;
                case "lambda":
                    for (long i = 0; i < count; i++)
                        done += Bank.Twice(() =>
                        {
                            long five = i + 5;
                            return five > 4;
                        }) ? 1 : 0;
                    break;
                case "instances":
                    for (long i = 0; i < count; i++)
                        done += Bank.Twice(() => i) + Bank.Twice(() => "text").Length > 0 ? 1 : 0;
                    break;
                case "pay":
                    for (long i = 0; i < count; i++)
                        done += Bank.PayAsync(left, i).Result == i ? 1 : 0;
                    break;
                case "twice":
                    for (long i = 0; i < count; i++)
                        done += Bank.PayTwiceAsync(left, i).Result == i ? 1 : 0;
                    break;
                case "numbers":
                    foreach (long number in Bank.Numbers(count))
                        done += number >= 0 ? 1 : 0;
                    break;
                case "refuse":
                    for (long i = 0; i < count; i++)
                        done += Bank.Refuse(i + 1) > 0 ? 1 : 0;
                    break;
            }
            Finished();
        }

        public static int Main(string[] args)
        {
            Work("transfer", 3);
            Console.WriteLine("READY " + Environment.ProcessId);
            var lines = new Queue<string>(args);
            while ((lines.Count > 0 ? lines.Dequeue() : Console.ReadLine()) is { } line)
            {
                string[] words = line.Split(':');
                Work(words[0], long.Parse(words[1]));
            }
            return 0;
        }
    }
}
