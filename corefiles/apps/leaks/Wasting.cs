// SPDX-License-Identifier: MIT
// Memory that is held without a use.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;

namespace Leaks
{
    public sealed class NativeTicket
    {
        public IntPtr Handle;
        public byte[] Note = new byte[40];
        ~NativeTicket()
        {
            lock (Wasting.Gate)
                Handle = IntPtr.Zero;
        }
    }

    public sealed class Basket
    {
        public readonly List<string> Lines = new(128);
        public readonly Dictionary<string, int> Counts = new(64);
    }

    public sealed class Payment
    {
        public string Currency, Country;
        public decimal Amount;
    }

    public static class Wasting
    {
        public static readonly object Gate = new();
        private static readonly List<Basket> baskets = new();
        private static Payment[] payments;
        private static readonly List<byte[]> kept = new();
        private static readonly List<GCHandle> pins = new();

        private static void Drop(int count)
        {
            for (int i = 0; i < count; i++)
                _ = new NativeTicket();
        }

        public static void Finalizer()
        {
            const int count = 80000;
            var held = new ManualResetEventSlim();
            new Thread(() =>
            {
                lock (Gate)
                {
                    held.Set();
                    Thread.Sleep(Timeout.Infinite);
                }
            })
            { IsBackground = true, Name = "ticket printer" }.Start();
            held.Wait();
            Drop(count);
            GC.Collect();
            Thread.Sleep(100);
            Truth.Expect("finalizers", "NativeTicket", count);
        }

        public static void Baskets()
        {
            const int count = 6000;
            for (int i = 0; i < count; i++)
            {
                var basket = new Basket();
                basket.Lines.Add("product");
                basket.Counts["product"] = 1;
                baskets.Add(basket);
            }
            Truth.Expect("collections", "Basket.Lines|Basket.Counts", count);
        }

        public static void Currencies()
        {
            const int count = 100000;
            string line = "EUR;Germany;12.50";
            payments = new Payment[count];
            for (int i = 0; i < count; i++)
            {
                string[] parts = line.Split(';');
                payments[i] = new Payment { Currency = parts[0], Country = parts[1], Amount = i };
            }
            Truth.Expect("duplicates", "Payment.C", 2 * count);
        }

        public static void Buffers()
        {
            for (int i = 0; i < 400; i++)
            {
                byte[] large = new byte[200_000];
                if (i % 4 == 0)
                    kept.Add(large);
            }
            GC.Collect();
            for (int i = 0; i < 600; i++)
            {
                pins.Add(GCHandle.Alloc(new byte[256], GCHandleType.Pinned));
                for (int j = 0; j < 40; j++)
                    _ = new byte[2000];
            }
            GC.Collect(0);
            Truth.Expect("fragmentation", "pinned|Large", 600);
        }

        public static void Burst()
        {
            Grow();
            GC.Collect(1);
            Release();
        }

        private static List<byte[]> burst;

        private static void Grow()
        {
            burst = new List<byte[]>();
            for (int i = 0; i < 4000; i++)
                burst.Add(new byte[90_000]);
            GC.Collect();
        }

        private static void Release() => burst = null;
    }
}
