// SPDX-License-Identifier: MIT
// Small parts of large arrays: kept for themselves, and (in the healthy program) as what the arrays are there for.
using System;
using System.Buffers;
using System.Collections.Generic;
using System.IO;
using System.Text;
using System.Threading;

namespace Leaks
{
    /// <summary>A mail that came in: of its text, only the subject and the sender are looked at later.</summary>
    public sealed class MailHeader
    {
        public int Number;
        public ReadOnlyMemory<byte> Subject;
        public ArraySegment<byte> Sender;
    }

    /// <summary>The headers of the last mails: a new one takes the place of the oldest.</summary>
    public sealed class Mailbox
    {
        private readonly MailHeader[] last = new MailHeader[256];

        public void Receive(int number, byte[] text)
        {
            last[number % last.Length] = new MailHeader
            {
                Number = number,
                Subject = new ReadOnlyMemory<byte>(text, 200, 40),
                Sender = new ArraySegment<byte>(text, 100, 30),
            };
        }
    }

    /// <summary>A file whose lines are parts of one array, which they use nearly completely.</summary>
    public sealed class PriceFile
    {
        public readonly List<ReadOnlyMemory<byte>> Lines = new();

        public static PriceFile Read(byte[] text)
        {
            var file = new PriceFile();
            for (int begin = 0; begin + 50 <= text.Length; begin += 50)
                file.Lines.Add(text.AsMemory(begin, 49));
            return file;
        }
    }

    /// <summary>A connection: its buffers are larger than what is in them now.</summary>
    public sealed class FeedConnection
    {
        private readonly ArrayBufferWriter<byte> output = new(200_000);
        private readonly MemoryStream input = new(200_000);
        private readonly byte[] scratch = new byte[200_000];
        private Memory<byte> unread;

        public FeedConnection(int number)
        {
            Encoding.UTF8.GetBytes("feed " + number, output);
            input.Write(output.WrittenSpan);
            unread = scratch.AsMemory(number, 10);
        }

        public int Unread => unread.Length;
    }

    public static class Slicing
    {
        public static readonly Mailbox Inbox = new();
        private static readonly List<PriceFile> files = new();
        private static readonly List<FeedConnection> connections = new();

        public static void Slices()
        {
            const int count = 1500;
            for (int i = 0; i < count; i = Noise.Next(i, count))
            {
                var text = new byte[40_000 + i % 7 * 1000];
                text.AsSpan().Fill((byte)('a' + i % 26));
                Inbox.Receive(i, text);
            }
            Truth.Expect("slices", "MailHeader.Subject|MailHeader.Sender", 256);
        }

        public static void Connections()
        {
            for (int i = 0; i < 40; i++)
            {
                var text = new byte[150_000];
                text.AsSpan().Fill((byte)('0' + i % 10));
                files.Add(PriceFile.Read(text));
                connections.Add(new FeedConnection(i));
            }
            GC.Collect();
            Thread.Sleep(300);
        }
    }
}
