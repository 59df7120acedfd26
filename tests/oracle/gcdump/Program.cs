// SPDX-License-Identifier: MIT
// A .gcdump by way of TraceEvent's own FastSerialization, whose Deserializer knows strings, types,
// references, tags and the table of forward references. The classes of the graph are in no public
// package: their fields are read here. Prints what gcdump_file.py prints.
using System;
using System.IO;
using FastSerialization;

abstract class Readable : IFastSerializable, IFastSerializableVersion
{
    protected readonly TextWriter Out;
    protected Readable(TextWriter output) => Out = output;
    public virtual int Version => 0;
    public int MinimumVersionCanRead => 0;
    public int MinimumReaderVersion => 0;
    public void ToStream(Serializer serializer) => throw new NotSupportedException();
    public abstract void FromStream(Deserializer from);
    protected static string Text(string value) => value is null ? "null" : "\"" + value + "\"";
}

sealed class Segment : Readable
{
    public Segment(TextWriter output) : base(output) { }
    public override int Version => 1;

    public override void FromStream(Deserializer from)
    {
        Out.Write("segment");
        for (int i = 0; i < 7; i++)
            Out.Write(" {0:x}", from.ReadInt64());
        Out.WriteLine();
    }
}

sealed class HeapInfo : Readable
{
    public HeapInfo(TextWriter output) : base(output) { }

    public override void FromStream(Deserializer from)
    {
        Out.WriteLine("segments {0}", from.ReadInt64());
        for (int i = from.ReadInt(); i > 0; i--)
            from.ReadObject();
    }
}

sealed class Graph : Readable
{
    public Graph(TextWriter output) : base(output) { }
    public override int Version => 1;

    // Node.ReadCompressedInt(): groups of 7 bits, the highest first.
    static int Number(byte[] blob, ref int at)
    {
        byte b = blob[at++];
        int value = b << 25 >> 25;
        while ((b & 0x80) != 0)
        {
            b = blob[at++];
            value = value << 7 | b & 0x7f;
        }
        return value;
    }

    public override void FromStream(Deserializer from)
    {
        long total = from.ReadInt64();
        Out.WriteLine("total {0} root {1}", total, from.ReadInt());
        var names = new string[from.ReadInt()];
        var sizes = new int[names.Length];
        for (int i = 0; i < names.Length; i++)
        {
            names[i] = from.ReadString();
            sizes[i] = from.ReadInt();
            Out.WriteLine("type {0} {1} {2}", sizes[i], Text(names[i]), Text(from.ReadString()));
        }
        var offsets = new int[from.ReadInt()];
        for (int i = 0; i < offsets.Length; i++)
            offsets[i] = (int)from.ReadLabel();
        var blob = new byte[from.ReadInt()];
        for (int i = 0; i < blob.Length; i++)
            blob[i] = from.ReadByte();
        if (from.ReadInt() != offsets.Length)
            throw new InvalidDataException("addresses");
        for (int i = 0; i < offsets.Length; i++)
            WriteNode(i, blob, offsets[i], sizes, from.ReadInt64());
        bool is64 = false;
        from.TryReadTagged(ref is64);
        Out.WriteLine("bits {0}", is64 ? 64 : 32);
    }

    void WriteNode(int index, byte[] blob, int at, int[] sizes, long address)
    {
        int type = Number(blob, ref at);
        int size = (type & 1) != 0 ? Number(blob, ref at) : sizes[type >> 1];
        Out.Write("node {0} {1} {2:x}", type >> 1, size, address);
        for (int count = Number(blob, ref at); count > 0; count--)
            Out.Write(" {0}", index + Number(blob, ref at));
        Out.WriteLine();
    }
}

sealed class Dump : Readable
{
    public Dump(TextWriter output) : base(output) { }
    public override int Version => 10;

    public override void FromStream(Deserializer from)
    {
        from.ReadObject();
        from.ReadBool();
        Out.WriteLine("average {0} {1}", from.ReadFloat(), from.ReadFloat());
        if (from.ReadObject() is not null)
            throw new InvalidDataException("JSHeapInfo");
        from.ReadObject();
        Out.WriteLine("log {0}", Text(from.ReadString()));
        Out.WriteLine("time {0}", from.ReadInt64());
        Out.WriteLine("machine {0}", Text(from.ReadString()));
        Out.WriteLine("process {0}", Text(from.ReadString()));
        Out.WriteLine("pid {0}", from.ReadInt());
        from.ReadInt64();
        from.ReadInt64();
        for (int i = from.ReadInt(); i > 0; i--)
            from.ReadFloat();
        // SkipRegion: an object behind the reference to its end.
        if (from.ReadByte() != 12)
            throw new InvalidDataException("no region of InteropInfo");
        ForwardReference end = from.ReadForwardReference();
        if (from.ReadObject() is not null)
            throw new InvalidDataException("InteropInfo");
        if (from.ResolveForwardReference(end) != from.Current)
            throw new InvalidDataException("the forward reference leads elsewhere");
        string tool = null;
        from.TryReadTagged(ref tool);
        Out.WriteLine("tool {0}", Text(tool));
    }
}

static class Program
{
    static void Main(string[] arguments)
    {
        using var output = new StreamWriter(Console.OpenStandardOutput());
        output.NewLine = "\n";
        var settings = SerializationSettings.Default.WithStreamLabelWidth(StreamLabelWidth.FourBytes);
        using var from = new Deserializer(arguments[0], settings);
        from.RegisterFactory("GCHeapDump", () => new Dump(output));
        from.RegisterFactory("Graphs.MemoryGraph", () => new Graph(output));
        from.RegisterFactory("DotNetHeapInfo", () => new HeapInfo(output));
        from.RegisterFactory("GCHeapDumpSegment", () => new Segment(output));
        from.GetEntryObject();
    }
}
