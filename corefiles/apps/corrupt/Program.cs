// SPDX-License-Identifier: MIT
// A program that damages its own heap in a way that it knows, and then collects.
//     corrupt DAMAGE COLLECT [dead]
// It prints where the damage is, as JSON, before it collects.
using System;
using System.Collections.Generic;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Corrupt
{
    public sealed class Node
    {
        public Node next;
        public object payload;
        public long number;
    }

    public static unsafe class Program
    {
        private const ulong Filler = 0x4141414141414141;
        // What the array begins with, so that it is known where it has moved to.
        private const ulong Mark = 0x5eaf00d5eaf00d5e;
        private static readonly List<object> Kept = new();
        private static readonly object[] Shared = new object[1024];

        private static nint AddressOf(object o) => *(nint*)Unsafe.AsPointer(ref o);

        private static void Fill(int count, int seed)
        {
            var random = new Random(seed);
            Node last = null;
            for (int i = 0; i < count; i++)
            {
                last = new Node { next = i % 50 == 0 ? null : last, payload = i % 3 == 0 ? new byte[random.Next(100)] : "text " + i, number = i };
                if (random.Next(3) == 0)
                    Shared[random.Next(Shared.Length)] = last;
                if (random.Next(2000) == 0)
                    Kept.Add(new object[11000]);
            }
        }

        // The array whose end is overrun, and what follows it: alive or dead.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static byte[] Place(int length, bool isAlive, object[] after)
        {
            byte[] array;
            do
            {
                array = new byte[length];
                for (int i = 0; i < after.Length; i++)
                    after[i] = new Node { number = i };
            }
            // A new allocation context, or a collection, may have come between them.
            while (AddressOf(after[0]) != AddressOf(array) + ((24 + length + 7) & ~7));
            MemoryMarshal.Write(array, Mark);
            Kept.Add(array);
            if (isAlive)
                Kept.Add(after.Clone());
            return array;
        }

        private static void Say(string damage, nint array, nint first)
        {
            string text = $"{{\"program\":\"corrupt\",\"schema\":1,\"version\":\"{Environment.Version}\",\"pid\":{Environment.ProcessId}," +
                $"\"damage\":\"{damage}\",\"array\":\"{array:x}\",\"first\":\"{first:x}\"}}\nREADY\n";
            Console.OpenStandardOutput().Write(Encoding.ASCII.GetBytes(text));
        }

        // What follows was made already: neither of them allocates behind the damage.
        private static void Overrun(byte[] array, int count, ulong filler)
        {
            fixed (byte* data = array)
            {
                for (int i = 0; i < count; i += 8)
                    *(ulong*)(data + array.Length + i) = filler;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Damage(string name, bool isAlive)
        {
            object[] after = new object[name == "overrun-2048" ? 64 : 8];
            byte[] array = Place(64, isAlive, after);
            nint at = AddressOf(array), end = at + 16 + 64, next = AddressOf(after[0]);
            Array.Clear(after);
            switch (name)
            {
                case "overrun-8":
                    Say(name, at, end);
                    // The header of the next object: what the collection looks at is its reserved bit.
                    Overrun(array, 8, ulong.MaxValue);
                    break;
                case "overrun-16":
                    Say(name, at, end);
                    Overrun(array, 16, Filler);
                    break;
                case "overrun-56":
                    Say(name, at, end);
                    Overrun(array, 56, Filler);
                    break;
                case "overrun-2048":
                    Say(name, at, end);
                    Overrun(array, 2048, Filler);
                    break;
                case "length-over":
                    Say(name, at, at + 8);
                    *(uint*)(at + 8) = 0x7fffffff;
                    break;
                case "length-long":
                    Say(name, at, at + 8);
                    *(uint*)(at + 8) = 64 + 40 * 3 + 13;
                    break;
                case "length-short":
                    Say(name, at, at + 8);
                    fixed (byte* data = array)
                    {
                        for (int i = 8; i < 64; i += 8)
                            *(ulong*)(data + i) = Filler;
                    }
                    *(uint*)(at + 8) = 24;
                    break;
                case "table-filler":
                    Say(name, at, next);
                    *(ulong*)next = Filler;
                    break;
                case "table-zero":
                    Say(name, at, next);
                    *(ulong*)next = 0;
                    break;
                case "table-shifted":
                    Say(name, at, next);
                    *(ulong*)next += 16;
                    break;
                case "reference-filler":
                    Say(name, next, next + 8);
                    *(ulong*)(next + 8) = Filler & 0x7fffffffffff;
                    break;
                case "reference-inside":
                    Say(name, next, next + 16);
                    *(nint*)(next + 16) = at + 32;
                    break;
                case "reference-stale":
                    Say(name, next, next + 16);
                    // What is read there is whatever the heap has: no MethodTable.
                    fixed (byte* data = array)
                    {
                        for (int i = 8; i < 64; i += 8)
                            *(ulong*)(data + i) = 0x10000000000 + (ulong)i;
                    }
                    *(nint*)(next + 16) = at + 24;
                    break;
                default:
                    throw new ArgumentException("no damage " + name);
            }
        }

        // A buffer that was pinned, is freed, and is written to when others live where it was.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static nint FreePinned(out WeakReference weak)
        {
            byte[] buffer = new byte[512];
            GCHandle handle = GCHandle.Alloc(buffer, GCHandleType.Pinned);
            nint at = handle.AddrOfPinnedObject();
            weak = new WeakReference(buffer);
            handle.Free();
            return at;
        }

        private static void UseAfterFree()
        {
            nint at = FreePinned(out WeakReference weak);
            Fill(2000, 5);
            GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: true);
            while (weak.IsAlive)
                GC.Collect();
            for (int i = 0; i < 200; i++)
                Fill(500, 6 + i);
            Say("use-after-free", at - 16, at);
            for (int i = 0; i < 512; i += 8)
                *(ulong*)(at + i) = Filler;
        }

        private static void Collect(string name)
        {
            switch (name)
            {
                case "young": GC.Collect(0); break;
                case "one": GC.Collect(1); break;
                case "full": GC.Collect(); break;
                case "compacting":
                    GCSettings.LargeObjectHeapCompactionMode = GCLargeObjectHeapCompactionMode.CompactOnce;
                    GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: true);
                    break;
                case "background": GC.Collect(2, GCCollectionMode.Forced, blocking: false, compacting: false); break;
                default: throw new ArgumentException("no collection " + name);
            }
        }

        public static int Main(string[] args)
        {
            Fill(60000, 1);
            GC.Collect();
            Fill(30000, 2);
            bool isAlive = args.Length < 3 || args[2] != "dead";
            if (args[0] == "use-after-free")
                UseAfterFree();
            else
                Damage(args[0], isAlive);
            Collect(args[1]);
            Thread.Sleep(args[1] == "background" ? 1000 : 0);
            // What was damaged may have moved now.
            Console.OpenStandardOutput().Write(Encoding.ASCII.GetBytes("SURVIVED\n"));
            // It did not die of it at once: it goes on until it does, or gives up.
            for (int i = 0; i < 20; i++)
            {
                Fill(3000, 100 + i);
                Collect(args[1]);
            }
            Console.Error.WriteLine("no crash");
            return 3;
        }
    }
}
