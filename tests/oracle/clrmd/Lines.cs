// SPDX-License-Identifier: MIT
// Lines of fields separated by tabs, written fast.
using System;
using System.Buffers.Text;
using System.IO;
using System.Text;

internal sealed class Lines : IDisposable
{
    private readonly Stream stream;
    private readonly byte[] buffer = new byte[1 << 16];
    private int used;

    public Lines(string path) => stream = new FileStream(path, FileMode.Create, FileAccess.Write, FileShare.Read, 1);

    private Span<byte> Room(int count)
    {
        if (used + count > buffer.Length)
            Flush();
        return buffer.AsSpan(used);
    }

    private void Flush()
    {
        stream.Write(buffer, 0, used);
        used = 0;
    }

    public Lines Begin(char kind)
    {
        Room(1)[0] = (byte)kind;
        used++;
        return this;
    }

    public Lines Hex(ulong value)
    {
        Span<byte> room = Room(24);
        room[0] = (byte)'\t';
        Utf8Formatter.TryFormat(value, room.Slice(1), out int written, new System.Buffers.StandardFormat('x'));
        used += 1 + written;
        return this;
    }

    public Lines Number(long value)
    {
        Span<byte> room = Room(24);
        room[0] = (byte)'\t';
        Utf8Formatter.TryFormat(value, room.Slice(1), out int written);
        used += 1 + written;
        return this;
    }

    public Lines Text(string text)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(text ?? "-");
        Room(1)[0] = (byte)'\t';
        used++;
        Raw(bytes);
        return this;
    }

    public Lines Units(ReadOnlySpan<char> text)
    {
        Room(2)[0] = (byte)'\t';
        used++;
        if (text.Length == 0)
            Raw("-"u8);
        foreach (char c in text)
        {
            Utf8Formatter.TryFormat((ushort)c, Room(4), out int written, new System.Buffers.StandardFormat('x', 4));
            used += written;
        }
        return this;
    }

    private void Raw(ReadOnlySpan<byte> bytes)
    {
        while (bytes.Length > 0)
        {
            Span<byte> room = Room(1);
            int count = Math.Min(room.Length, bytes.Length);
            bytes.Slice(0, count).CopyTo(room);
            used += count;
            bytes = bytes.Slice(count);
        }
    }

    public void End()
    {
        Room(1)[0] = (byte)'\n';
        used++;
    }

    public void Dispose()
    {
        Flush();
        stream.Dispose();
    }
}
