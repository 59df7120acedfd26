// SPDX-License-Identifier: MIT
// Memory that the program has from the C library and the kernel.
using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.InteropServices;

namespace Planted
{
    /// <summary>What glibc says of all its arenas.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct MallocInformation
    {
        public nint Arena, OrderlyBlocks, SmallBlocks, MappedBlocks, MappedBytes, MostUsed, FastBytes, UsedBytes, FreeBytes,
            TopBytes;
    }

    public static unsafe class Native
    {
        private const int Read = 1, Write = 2, Shared = 1, Private = 2, Anonymous = 0x20;
        private const int Page = 4096;
        // malloc adds its own word, and rounds up to 16.
        private const int PieceHeader = 8;

        [DllImport("libc")] private static extern byte* malloc(nint size);
        [DllImport("libc")] private static extern void free(byte* piece);
        [DllImport("libc")] private static extern nint malloc_usable_size(byte* piece);
        [DllImport("libc")] private static extern MallocInformation mallinfo2();
        [DllImport("libc")] private static extern byte* mmap(byte* where, nint size, int access, int flags, int file, nint at);
        [DllImport("libc")] private static extern int memfd_create(string name, uint flags);
        [DllImport("libc")] private static extern int ftruncate(int file, nint size);

        public static MallocInformation Information() => mallinfo2();

        private static byte* Piece(int size)
        {
            byte* piece = malloc(size);
            if (piece == null)
                throw new OutOfMemoryException();
            new Span<byte>(piece, size).Fill(0x5a);
            return piece;
        }

        /// <summary>Pieces of SIZE bytes that are BYTES together, never given back; what malloc has given for them.</summary>
        public static long Small(long bytes, int size)
        {
            long given = 0;
            for (long done = 0; done < bytes; done += size)
            {
                byte* piece = Piece(size);
                given += malloc_usable_size(piece) + PieceHeader;
            }
            return given;
        }

        /// <summary>Twice as many pieces, of which every second one is given back; how much that is.</summary>
        public static long Freed(long bytes, int size)
        {
            var pieces = new List<nint>();
            for (long done = 0; done < 2 * bytes; done += size)
                pieces.Add((nint)Piece(size));
            long given = 0;
            for (int i = 0; i < pieces.Count; i++)
            {
                if (i % 2 != 0)
                {
                    given += malloc_usable_size((byte*)pieces[i]) + PieceHeader;
                    free((byte*)pieces[i]);
                }
            }
            return given;
        }

        /// <summary>Pieces of SIZE bytes that are BYTES together, of which only the last is not given back.</summary>
        public static long FreedBelow(long bytes, int size)
        {
            var pieces = new List<nint>();
            for (long done = 0; done < bytes; done += size)
                pieces.Add((nint)Piece(size));
            Piece(size);
            pieces.ForEach(piece => free((byte*)piece));
            return bytes;
        }

        /// <summary>Anonymous memory, of which the first half is written.</summary>
        public static void Half(long bytes)
        {
            if (bytes == 0)
                return;
            byte* memory = Map(bytes, Private | Anonymous, -1);
            Touch(memory, bytes / 2);
        }

        /// <summary>Memory that a child would share.</summary>
        public static void Common(long bytes)
        {
            if (bytes != 0)
                Touch(Map(bytes, Shared | Anonymous, -1), bytes);
        }

        /// <summary>A file of no folder.</summary>
        public static void Nameless(string name, long bytes)
        {
            if (bytes == 0)
                return;
            int file = memfd_create(name, 0);
            if (file < 0 || ftruncate(file, (nint)bytes) != 0)
                throw new IOException("memfd_create");
            Touch(Map(bytes, Shared, file), bytes);
        }

        private static byte* Map(long bytes, int flags, int file)
        {
            byte* memory = mmap(null, (nint)bytes, Read | Write, flags, file, 0);
            if ((nint)memory == -1)
                throw new OutOfMemoryException("mmap");
            return memory;
        }

        /// <summary>Write into each page.</summary>
        public static void Touch(byte* memory, long bytes)
        {
            for (long at = 0; at < bytes; at += Page)
                memory[at] = 0x5a;
        }

        /// <summary>How much of the runtime's own double-mapped memory is there, as the kernel counts it.</summary>
        public static long RuntimeMemory()
        {
            long sum = 0;
            bool counts = false;
            foreach (string line in File.ReadLines("/proc/self/smaps"))
            {
                if (line.Length > 0 && !char.IsUpper(line[0]))
                    counts = line.Contains("/memfd:doublemapper");
                else if (counts && line.StartsWith("Rss:"))
                    sum += 1024 * long.Parse(line.Substring(4).Replace("kB", ""));
            }
            return sum;
        }
    }
}
