// SPDX-License-Identifier: MIT
// Memory that no object has: of a library behind small objects, of stacks, and what the collector keeps.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;

namespace Leaks
{
    /// <summary>A few bytes here, and a megabyte that a library would have.</summary>
    public sealed class Picture : IDisposable
    {
        private IntPtr pixels;

        public unsafe Picture(int size)
        {
            pixels = Marshal.AllocHGlobal(size);
            new Span<byte>((void*)pixels, size).Fill(3);
        }

        ~Picture() => Dispose();

        public void Dispose()
        {
            Marshal.FreeHGlobal(pixels);
            pixels = IntPtr.Zero;
            GC.SuppressFinalize(this);
        }
    }

    public static class Outside
    {
        private static readonly Queue<Picture> pictures = new();
        private static readonly List<byte[]> pages = new();

        public static void Pictures()
        {
            const int count = 200;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                pictures.Enqueue(new Picture(1 << 20));
            // Those that are no longer shown have given their memory back.
            for (int i = 0; i < 50; i++)
                pictures.Dequeue().Dispose();
            Truth.Expect("native-memory", "150 Picture", 150);
        }

        /// <summary>One import needed much, long ago; a page of it in a thousand is still there.</summary>
        public static void Peak()
        {
            Import();
            GC.Collect();
            Truth.Expect("gc-memory", "of the GC's memory are free", 1);
        }

        private static void Import()
        {
            var all = new List<byte[]>();
            for (int i = 0; i < 3000000; i++)
                all.Add(new byte[64]);
            for (int i = 0; i < all.Count; i += 1000)
                pages.Add(all[i]);
        }

        /// <summary>A thread for each device, which sleeps most of the time.</summary>
        public static void Watchers()
        {
            const int count = 300;
            for (int i = 0; i < count; i++)
                new Thread(Watch) { IsBackground = true, Name = "device " + i }.Start();
            Thread.Sleep(1000);
            Truth.Expect("started-threads", "Outside.Watch", count);
        }

        private static void Watch()
        {
            while (true)
                Thread.Sleep(TimeSpan.FromHours(1));
        }
    }
}
