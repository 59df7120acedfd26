// SPDX-License-Identifier: MIT
// A program that says which fields, static fields and lines of source it has: `symbols FILE` writes them, prints READY and waits.
// A line of FILE is: obj NAME ADDRESS TYPE; field OBJECT NAME VALUE; static TYPE NAME ADDRESS VALUE; frame METHOD LINE.
using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Shapes
{
    public enum Small : byte { None, One, Two = 2, Last = 255 }
    [Flags] public enum Wide : ulong { None, Low = 1, High = 1UL << 63 }
    public enum Plain { Zero, First, Second }
    public struct Point { public int X; public short Y; public object Tag; public long Far; }
    public struct Nested { public Point A; public byte Between; public Point B; }
    public struct Numbers { public sbyte I1; public ushort U2; public uint U4; public ulong U8; public float R4; public double R8; public nint I; public nuint U; public char C; public bool Z; }
    [StructLayout(LayoutKind.Explicit)] public struct Overlaid { [FieldOffset(0)] public long All; [FieldOffset(0)] public int Low; [FieldOffset(4)] public int High; [FieldOffset(8)] public double Other; }
    [InlineArray(4)] public struct Four { private int _first; }
    [InlineArray(3)] public struct Three { private object _first; }
    public interface INamed { string Name { get; } }
    public abstract class Root { public long Serial = 1; protected string _kind = "root"; private bool _odd = true; public bool Odd => _odd; }
    public class Middle : Root, INamed { public string Name { get; set; } = "middle"; public byte Tiny = 7; public byte Less = 8; }
    public sealed class Leaf : Middle
    {
        public Point Spot; public Nested Deep; public Numbers All; public Overlaid Both; public Four Numbered; public Three Referred;
        public Small Size = Small.Two; public Wide Bits = Wide.High | Wide.Low; public Plain Kind = Plain.Second; public int? Maybe; public long? Never; public decimal Price = 12.5m;
        public DateTime When = new(2024, 2, 29, 1, 2, 3, DateTimeKind.Utc); public TimeSpan Long = TimeSpan.FromMinutes(90); public Guid Id = new("00112233-4455-6677-8899-aabbccddeeff");
        public INamed Other; public Leaf Next; public int[] Counts = { 3, 1, 4 }; public List<Leaf> Children = new(); public Func<int, int> Twice; public (int, string) Pair = (5, "five");
        public unsafe int* Where; public Int128 Huge = 5; public object Anything;
    }
    public class Holder<K, V> { public K Key; public V Value; public static V Shared; public static int Made; public static K First; public Holder(K key, V value) { Key = key; Value = value; Made++; } }
    public static class OnlyNumbers { public static int A = 11; public static long B = 22; public static byte C = 33; public static double D = 4.5; }
    public static class OnlyReferences { public static string S = "s" + Environment.ProcessId; public static Leaf L; public static int[] I = new int[3]; public static Middle M; }
    public static class OnlyThreads { [ThreadStatic] public static int T; [ThreadStatic] public static string U; [ThreadStatic] public static Leaf V; }
    public static class Mixed
    {
        public static string S1; public static int N1 = 101; [ThreadStatic] public static string T1; public static Leaf L1; public static long N2 = 202; public static Point P1; public static Numbers P2;
        [ThreadStatic] public static int T2; public static readonly object O1 = new Middle(); public static Small E1 = Small.One; public static List<string> G1 = new(); public static short N3 = 303; public static bool Z1 = true; public const int Constant = 9;
        public static DateTime D1 = new(2000, 1, 1); public static Func<int, int> F1;
    }
    public class Base { public static string FromBase = "from base " + Environment.ProcessId; public static int BaseNumber = 55; public int InBase = 1; }
    public class Derived : Base { public static string FromDerived = "from derived " + Environment.ProcessId; public static Leaf DerivedLeaf; public int InDerived = 2; }
}

namespace Shapes.Program
{
    using Shapes;
    public static unsafe class Main1
    {
        static readonly List<string> s_truth = new();
        static readonly ManualResetEventSlim s_ready = new();
        static readonly List<object> s_kept = new();
        static nint At(object o) => *(nint*)Unsafe.AsPointer(ref o);
        static void Say(params object[] words) { lock (s_truth) s_truth.Add(string.Join('\t', words)); }
        static void Field(string of, string name, object value) => Say("field", of, name, value switch { null => "0", string s => "\"" + s + "\"", bool b => b ? "1" : "0", char c => (int)c, ValueType v => v, _ => "0x" + At(value).ToString("x") });
        static void Static<T>(string type, string name, ref T value) => Say("static", type, name, "0x" + ((nint)Unsafe.AsPointer(ref value)).ToString("x"), typeof(T).IsValueType ? "value" : "0x" + Unsafe.As<T, nint>(ref value).ToString("x"));
        static void Frame(string method, [CallerLineNumber] int line = 0) => Say("frame", method, line);

        static Leaf Make(string name)
        {
            var leaf = new Leaf { Name = name, Serial = 42 };
            leaf.Spot = new Point { X = -1, Y = 2, Tag = "spot", Far = 1L << 40 };
            leaf.Deep.A.X = 10; leaf.Deep.A.Tag = leaf; leaf.Deep.Between = 99; leaf.Deep.B.Far = -5; leaf.Deep.B.Tag = "deep";
            leaf.All = new Numbers { I1 = -3, U2 = 65535, U4 = 4000000000, U8 = ulong.MaxValue, R4 = 1.5f, R8 = -2.25, I = -7, U = 8, C = 'x', Z = true };
            leaf.Both.All = 0x0000000500000006; leaf.Both.Other = 7.5;
            leaf.Numbered[0] = 1; leaf.Numbered[3] = 4; leaf.Referred[0] = "zero"; leaf.Referred[2] = leaf;
            leaf.Maybe = 6; leaf.Other = leaf; leaf.Twice = x => 2 * x + leaf.Tiny; leaf.Where = (int*)16; leaf.Anything = new Holder<int, Point>(4, leaf.Spot);
            return leaf;
        }

        static void Tell(string of, Leaf leaf)
        {
            Say("obj", of, "0x" + At(leaf).ToString("x"), leaf.GetType());
            Field(of, "Serial", leaf.Serial); Field(of, "_kind", "root"); Field(of, "_odd", leaf.Odd); Field(of, "<Name>k__BackingField", leaf.Name); Field(of, "Tiny", leaf.Tiny); Field(of, "Less", leaf.Less);
            Field(of, "Spot.X", leaf.Spot.X); Field(of, "Spot.Y", leaf.Spot.Y); Field(of, "Spot.Tag", leaf.Spot.Tag); Field(of, "Spot.Far", leaf.Spot.Far);
            Field(of, "Deep.A.X", leaf.Deep.A.X); Field(of, "Deep.A.Tag", leaf.Deep.A.Tag); Field(of, "Deep.Between", leaf.Deep.Between); Field(of, "Deep.B.Far", leaf.Deep.B.Far); Field(of, "Deep.B.Tag", leaf.Deep.B.Tag);
            Field(of, "All.I1", leaf.All.I1); Field(of, "All.U2", leaf.All.U2); Field(of, "All.U4", leaf.All.U4); Field(of, "All.U8", leaf.All.U8); Field(of, "All.R4", leaf.All.R4); Field(of, "All.R8", leaf.All.R8);
            Field(of, "All.I", leaf.All.I); Field(of, "All.U", leaf.All.U); Field(of, "All.C", leaf.All.C); Field(of, "All.Z", leaf.All.Z);
            Field(of, "Both.All", leaf.Both.All); Field(of, "Both.Low", leaf.Both.Low); Field(of, "Both.High", leaf.Both.High); Field(of, "Both.Other", leaf.Both.Other);
            Field(of, "Size", (byte)leaf.Size); Field(of, "Bits", (ulong)leaf.Bits); Field(of, "Kind", (int)leaf.Kind);
            Field(of, "Maybe.hasValue", leaf.Maybe.HasValue); Field(of, "Maybe.value", leaf.Maybe.GetValueOrDefault()); Field(of, "Never.hasValue", leaf.Never.HasValue);
            Field(of, "Other", leaf.Other); Field(of, "Next", leaf.Next); Field(of, "Counts", leaf.Counts); Field(of, "Children", leaf.Children); Field(of, "Twice", leaf.Twice);
            Field(of, "Pair.Item1", leaf.Pair.Item1); Field(of, "Pair.Item2", leaf.Pair.Item2); Field(of, "Where", (nint)leaf.Where); Field(of, "Anything", leaf.Anything);
        }

        static void TellStatics()
        {
            Static("Shapes.OnlyNumbers", "A", ref OnlyNumbers.A); Static("Shapes.OnlyNumbers", "B", ref OnlyNumbers.B); Static("Shapes.OnlyNumbers", "C", ref OnlyNumbers.C); Static("Shapes.OnlyNumbers", "D", ref OnlyNumbers.D);
            Static("Shapes.OnlyReferences", "S", ref OnlyReferences.S); Static("Shapes.OnlyReferences", "L", ref OnlyReferences.L); Static("Shapes.OnlyReferences", "I", ref OnlyReferences.I); Static("Shapes.OnlyReferences", "M", ref OnlyReferences.M);
            Static("Shapes.Mixed", "S1", ref Mixed.S1); Static("Shapes.Mixed", "N1", ref Mixed.N1); Static("Shapes.Mixed", "L1", ref Mixed.L1); Static("Shapes.Mixed", "N2", ref Mixed.N2); Static("Shapes.Mixed", "P1", ref Mixed.P1); Static("Shapes.Mixed", "P2", ref Mixed.P2);
            Static("Shapes.Mixed", "O1", ref Unsafe.AsRef(in Mixed.O1)); Static("Shapes.Mixed", "E1", ref Mixed.E1); Static("Shapes.Mixed", "G1", ref Mixed.G1); Static("Shapes.Mixed", "N3", ref Mixed.N3); Static("Shapes.Mixed", "Z1", ref Mixed.Z1); Static("Shapes.Mixed", "D1", ref Mixed.D1); Static("Shapes.Mixed", "F1", ref Mixed.F1);
            Static("Shapes.Holder<System.Int32, System.String>", "Shared", ref Holder<int, string>.Shared); Static("Shapes.Holder<System.Int32, System.String>", "Made", ref Holder<int, string>.Made); Static("Shapes.Holder<System.Int32, System.String>", "First", ref Holder<int, string>.First);
            Static("Shapes.Holder<System.String, Shapes.Leaf>", "Shared", ref Holder<string, Leaf>.Shared); Static("Shapes.Holder<System.String, Shapes.Leaf>", "Made", ref Holder<string, Leaf>.Made); Static("Shapes.Holder<System.String, Shapes.Leaf>", "First", ref Holder<string, Leaf>.First);
            Static("Shapes.Base", "FromBase", ref Base.FromBase); Static("Shapes.Base", "BaseNumber", ref Base.BaseNumber); Static("Shapes.Derived", "FromDerived", ref Derived.FromDerived); Static("Shapes.Derived", "DerivedLeaf", ref Derived.DerivedLeaf);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static int Inner(Leaf leaf, int depth)
        {
            if (depth > 0)
                return 1 +
                    Outer(leaf, depth - 1);
            Frame("Inner"); s_ready.Set();
            Thread.Sleep(-1);
            return leaf.Tiny;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static int Outer(Leaf leaf, int depth)
        {
            Frame("Outer"); int inner = Inner(leaf, depth);
            return inner + leaf.Less;
        }

        static int Main(string[] args)
        {
            var leaf = Make("first"); leaf.Next = Make("second"); leaf.Children.Add(leaf.Next); s_kept.Add(leaf);
            s_kept.Add(new Holder<int, string>(1, "one")); s_kept.Add(new Holder<string, Leaf>("k", leaf)); s_kept.Add(leaf.Spot); s_kept.Add(leaf.Deep); s_kept.Add(leaf.All); s_kept.Add(leaf.Size); s_kept.Add(leaf.Both); s_kept.Add(new Point[2]); s_kept.Add(leaf.Numbered); s_kept.Add(leaf.Referred);
            OnlyReferences.L = leaf; OnlyReferences.M = leaf.Next; Mixed.S1 = "mixed " + args.Length; Mixed.L1 = leaf; Mixed.P1 = leaf.Spot; Mixed.P2 = leaf.All; Mixed.F1 = leaf.Twice; Mixed.T1 = "thread " + args.Length; Mixed.T2 = 5; OnlyThreads.T = 1; OnlyThreads.U = "u" + args.Length; OnlyThreads.V = leaf;
            Holder<int, string>.Shared = "shared " + args.Length; Holder<string, Leaf>.Shared = leaf; Holder<string, Leaf>.First = "first " + args.Length; Derived.DerivedLeaf = leaf; s_kept.Add(new Derived()); OnlyNumbers.A++; Mixed.G1.Add("g");
            GC.Collect(); GC.WaitForPendingFinalizers(); GC.Collect();
            new Thread(() => { OnlyThreads.U = "other"; OnlyThreads.V = leaf.Next; Outer(leaf, 2); }) { IsBackground = true, Name = "inner" }.Start();
            s_ready.Wait();
            Tell("leaf", leaf); Tell("next", leaf.Next); TellStatics();
            Static("Shapes.OnlyThreads", "U@main", ref OnlyThreads.U); Static("Shapes.OnlyThreads", "V@main", ref OnlyThreads.V); Static("Shapes.Mixed", "T1@main", ref Mixed.T1);
            if (args.Length > 0) File.WriteAllLines(args[0], s_truth);
            Console.WriteLine("READY"); Thread.Sleep(-1);
            GC.KeepAlive(leaf); return 0;
        }
    }
}
