// SPDX-License-Identifier: MIT
// A core written by gcore or the kernel lacks the pages that are only mapped from files; ClrMD does not
// read those. This takes them from the files that the NT_FILE note names.
using System;
using System.Buffers.Binary;
using System.Collections.Generic;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;
using Microsoft.Diagnostics.Runtime;
using Microsoft.Diagnostics.Runtime.DataReaders.Implementation;

internal sealed class MappedFiles : IDataReader, IDisposable
{
    // Where createdump puts its mark. Its cores have all that the DAC reads, and in those without code
    // pages the DAC crashes on bytes from files, which are not relocated.
    private const ulong SpecialDiagInfo = 0x7ffffff10000;

    private readonly record struct Mapping(ulong Start, ulong End, long Offset, string Path);

    private readonly IDataReader inner;
    private readonly List<Mapping> mappings = new();
    private readonly Dictionary<string, FileStream> files = new();
    private readonly List<(ulong Start, ulong End)> captured = new();

    public MappedFiles(IDataReader inner, string core)
    {
        this.inner = inner;
        using FileStream file = File.OpenRead(core);
        byte[] header = Read(file, 0, 64);
        long table = BinaryPrimitives.ReadInt64LittleEndian(header.AsSpan(32));
        int count = BinaryPrimitives.ReadUInt16LittleEndian(header.AsSpan(56));
        if (count == 0xffff)
        {
            byte[] section = Read(file, BinaryPrimitives.ReadInt64LittleEndian(header.AsSpan(40)), 64);
            count = BinaryPrimitives.ReadInt32LittleEndian(section.AsSpan(44));
        }
        byte[] segments = Read(file, table, 56 * count);
        for (int i = 0; i < count; i++)
        {
            ReadOnlySpan<byte> s = segments.AsSpan(56 * i, 56);
            int type = BinaryPrimitives.ReadInt32LittleEndian(s);
            long offset = BinaryPrimitives.ReadInt64LittleEndian(s.Slice(8));
            ulong address = BinaryPrimitives.ReadUInt64LittleEndian(s.Slice(16));
            long size = BinaryPrimitives.ReadInt64LittleEndian(s.Slice(32));
            if (type == 1 && size > 0)
                captured.Add((address, address + (ulong)size));
            else if (type == 4)
                Notes(Read(file, offset, (int)size));
        }
        captured.Sort();
        if (captured.Exists(c => c.Start == SpecialDiagInfo))
            mappings.Clear();
        mappings.Sort((a, b) => a.Start.CompareTo(b.Start));
    }

    private static byte[] Read(FileStream file, long offset, int size)
    {
        var bytes = new byte[size];
        file.Position = offset;
        file.ReadExactly(bytes);
        return bytes;
    }

    private void Notes(byte[] notes)
    {
        for (int at = 0; at + 12 <= notes.Length;)
        {
            int name = BinaryPrimitives.ReadInt32LittleEndian(notes.AsSpan(at));
            int size = BinaryPrimitives.ReadInt32LittleEndian(notes.AsSpan(at + 4));
            int type = BinaryPrimitives.ReadInt32LittleEndian(notes.AsSpan(at + 8));
            at += 12 + ((name + 3) & ~3);
            if (type == 0x46494c45)
                Files(notes.AsSpan(at, size));
            at += (size + 3) & ~3;
        }
    }

    private void Files(ReadOnlySpan<byte> note)
    {
        ReadOnlySpan<ulong> words = MemoryMarshal.Cast<byte, ulong>(note.Slice(0, note.Length & ~7));
        int count = (int)words[0];
        int at = 16 + 24 * count;
        for (int i = 0; i < count; i++)
        {
            int length = note.Slice(at).IndexOf((byte)0);
            string path = Encoding.UTF8.GetString(note.Slice(at, length));
            at += length + 1;
            mappings.Add(new Mapping(words[2 + 3 * i], words[3 + 3 * i], (long)(words[4 + 3 * i] * words[1]), path));
        }
    }

    private int FromFile(ulong address, Span<byte> buffer)
    {
        int low = 0, high = mappings.Count;
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (mappings[middle].End <= address)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == mappings.Count || mappings[low].Start > address)
            return 0;
        Mapping m = mappings[low];
        if (!files.TryGetValue(m.Path, out FileStream file))
        {
            file = File.Exists(m.Path) ? File.OpenRead(m.Path) : null;
            files.Add(m.Path, file);
        }
        if (file == null)
            return 0;
        int size = (int)Math.Min((ulong)buffer.Length, m.End - address);
        file.Position = m.Offset + (long)(address - m.Start);
        return file.ReadAtLeast(buffer.Slice(0, size), size, throwOnEndOfStream: false);
    }

    // End of the captured run at address, or the start of the next one.
    private bool IsCaptured(ulong address, out ulong edge)
    {
        int low = 0, high = captured.Count;
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (captured[middle].End <= address)
                low = middle + 1;
            else
                high = middle;
        }
        edge = ulong.MaxValue;
        if (low == captured.Count)
            return false;
        bool inside = captured[low].Start <= address;
        edge = inside ? captured[low].End : captured[low].Start;
        return inside;
    }

    public int Read(ulong address, Span<byte> buffer)
    {
        int done = 0;
        while (done < buffer.Length)
        {
            bool inside = IsCaptured(address + (ulong)done, out ulong edge);
            int size = (int)Math.Min((ulong)(buffer.Length - done), edge - (address + (ulong)done));
            Span<byte> part = buffer.Slice(done, size);
            int read = inside ? inner.Read(address + (ulong)done, part) : FromFile(address + (ulong)done, part);
            done += Math.Max(read, 0);
            if (read < size)
                break;
        }
        return done;
    }

    public bool Read<T>(ulong address, out T value) where T : unmanaged
    {
        Span<T> one = stackalloc T[1];
        Span<byte> bytes = MemoryMarshal.AsBytes(one);
        bool all = Read(address, bytes) == bytes.Length;
        value = all ? one[0] : default;
        return all;
    }

    public T Read<T>(ulong address) where T : unmanaged
    {
        Read(address, out T value);
        return value;
    }

    public bool ReadPointer(ulong address, out ulong value) => Read(address, out value);

    public ulong ReadPointer(ulong address) => Read<ulong>(address);

    public string DisplayName => inner.DisplayName;
    public bool IsThreadSafe => false;
    public OSPlatform TargetPlatform => inner.TargetPlatform;
    public Architecture Architecture => inner.Architecture;
    public int ProcessId => inner.ProcessId;
    public int PointerSize => inner.PointerSize;
    public IEnumerable<ModuleInfo> EnumerateModules() => inner.EnumerateModules();
    public bool GetThreadContext(uint thread, uint flags, Span<byte> context) => inner.GetThreadContext(thread, flags, context);
    public void FlushCachedData() => inner.FlushCachedData();

    public void Dispose()
    {
        foreach (FileStream file in files.Values)
            file?.Dispose();
    }
}
