// SPDX-License-Identifier: MIT
using System;
using System.Buffers.Binary;
using System.Collections.Generic;
using System.Linq;
using Microsoft.Diagnostics.Runtime;
using static Program;

// Words of stacks and registers that are addresses of objects, and how many objects have which size.
internal static class WordFacts
{
    // Where CONTEXT of AMD64 has its registers, in the order of their numbers (winnt.h).
    private const int ContextSize = 1232, FirstRegister = 0x78, Rsp = 4, Registers = 16;

    private static readonly HashSet<ulong> starts = new();

    private static void Sizes()
    {
        var counts = new SortedDictionary<(string, ulong, bool), long>();
        foreach (ClrSegment segment in heap.Segments)
        {
            foreach (ClrObject o in segment.EnumerateObjects())
            {
                var key = (HeapFacts.GenerationOf(segment, o.Address), (o.Size + 7) & ~7ul, o.IsFree);
                counts[key] = counts.GetValueOrDefault(key) + 1;
                if (!o.IsFree)
                    starts.Add(o.Address);
            }
        }
        foreach (var ((generation, size, free), count) in counts)
            lines.Begin('k').Text(generation).Number((long)size).Number(free ? 1 : 0).Number(count).End();
    }

    private static void Thread(ClrThread thread)
    {
        IDataReader reader = runtime.DataTarget.DataReader;
        Span<byte> context = new byte[ContextSize];
        if (!reader.GetThreadContext(thread.OSThreadId, 0x10001f, context))
            return;
        for (int i = 0; i < Registers; i++)
        {
            ulong value = BinaryPrimitives.ReadUInt64LittleEndian(context[(FirstRegister + i * 8)..]);
            if (i != Rsp && starts.Contains(value))
                lines.Begin('b').Number(thread.OSThreadId).Number(i).Hex(value).End();
        }
        ulong sp = BinaryPrimitives.ReadUInt64LittleEndian(context[(FirstRegister + Rsp * 8)..]);
        ulong[] frames = thread.EnumerateStackTrace(false, int.MaxValue).Select(f => f.StackPointer).Order().ToArray();
        ulong last = frames.LastOrDefault();
        lines.Begin('l').Number(thread.OSThreadId).Hex(sp).Hex(last).End();
        for (ulong at = sp; at < last; at += 8)
        {
            if (!reader.ReadPointer(at, out ulong value))
            {
                // A signal was handled on a stack of its own: its frames are those below.
                at = frames.First(f => f > at) - 8;
                continue;
            }
            if (starts.Contains(value))
                lines.Begin('W').Number(thread.OSThreadId).Hex(at).Hex(value).End();
        }
    }

    public static void Write()
    {
        Sizes();
        foreach (ClrThread thread in runtime.Threads.Where(t => t.OSThreadId != 0))
            Try(thread.Address, () => Thread(thread));
    }
}
