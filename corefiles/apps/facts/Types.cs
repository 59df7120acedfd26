// SPDX-License-Identifier: MIT
// One type of every kind that a heap can hold.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

public class NoNamespace
{
    public int value = 7;
}

namespace Facts
{
    public enum EnumSByte : sbyte { Minimum = -128, One = 1 }
    public enum EnumByte : byte { One = 1, Maximum = 255 }
    public enum EnumInt16 : short { Minimum = -32768 }
    public enum EnumUInt16 : ushort { Maximum = 65535 }
    public enum EnumInt32 { A, B, C = -5 }
    public enum EnumUInt32 : uint { Maximum = 0xffffffff }
    public enum EnumInt64 : long { Minimum = long.MinValue }
    [Flags] public enum EnumUInt64 : ulong { Top = 1UL << 63, Low = 1 }

    public class Primitives
    {
        public bool yes = true;
        public bool no = false;
        public sbyte i8 = -8;
        public byte u8 = 208;
        public short i16 = -1616;
        public ushort u16 = 61616;
        public int i32 = -323232;
        public uint u32 = 4003232323;
        public long i64 = long.MinValue + 64;
        public ulong u64 = ulong.MaxValue - 64;
        public float f32 = 1.5f;
        public float f32NaN = float.NaN;
        public double f64 = -2.25e100;
        public double f64Infinity = double.PositiveInfinity;
        public double f64NegativeZero = -0.0;
        public char ascii = 'A';
        public char surrogate = '\ud83d';
        public IntPtr native = 0x1234;
        public UIntPtr unsignedNative = 0xfedc;
        public const int NotInTheObject = 99;
    }

    public class Enums
    {
        public EnumSByte i8 = EnumSByte.Minimum;
        public EnumByte u8 = EnumByte.Maximum;
        public EnumInt16 i16 = EnumInt16.Minimum;
        public EnumUInt16 u16 = EnumUInt16.Maximum;
        public EnumInt32 i32 = EnumInt32.C;
        public EnumUInt32 u32 = EnumUInt32.Maximum;
        public EnumInt64 i64 = EnumInt64.Minimum;
        public EnumUInt64 u64 = EnumUInt64.Top | EnumUInt64.Low;
    }

    public class WellKnown
    {
        public decimal money = -79228162514264.337593543950335m;
        public Guid guid = new Guid("00112233-4455-6677-8899-aabbccddeeff");
        public DateTime utc = new DateTime(2020, 1, 2, 3, 4, 5, DateTimeKind.Utc);
        public DateTime plain = new DateTime(1999, 12, 31);
        public TimeSpan span = TimeSpan.FromMilliseconds(-1500);
        public DateTimeOffset offset = new DateTimeOffset(2021, 6, 1, 0, 0, 0, TimeSpan.FromHours(2));
        public int? some = 77;
        public int? none = null;
        public DateTime? someDate = new DateTime(2000, 2, 29);
        public (int, string) pair = (5, "five");
        public (byte, (long, object)) nested = (1, (2, null));
        public KeyValuePair<string, int> entry = new KeyValuePair<string, int>("key", 3);
        public Half half = (Half)0.5;
        public Int128 wide = Int128.MaxValue;
    }

    public class Empty { }

    public class Node
    {
        public Node next;
        public object payload;
        public int id;
        public Node(int id, Node next = null, object payload = null) { this.id = id; this.next = next; this.payload = payload; }
    }

    // All instances live, none is garbage: a whole walk finds exactly as many as the truth counts.
    public class Counted
    {
        public int number;
        public Counted(int number) { this.number = number; }
    }

    public struct Point { public int x, y; }
    public struct EmptyStruct { }
    public struct WithReferences { public string text; public int number; public object thing; }
    public struct Deep { public long before; public WithReferences a; public byte between; public WithReferences b; }
    public struct ReferenceLast { public int a, b, c, d; public object last; }
    [StructLayout(LayoutKind.Sequential, Pack = 1)]
    public struct Packed { public byte a; public int b; public short c; }
    public struct OneByte { public byte only; }

    public class Embedded
    {
        public WithReferences one;
        public Deep deep;
        public Point point;
        public EmptyStruct empty;
        public Packed packed;
        public int tail = 17;
        public Node node;
        public ReferenceLast last;
    }

    public class Base
    {
        private int shadowed = 1;
        public string name = "base name";
        protected object hidden = "base hidden";
        public byte small = 1;
    }

    public class Derived : Base
    {
        private long shadowed = 2;
        public string name = "derived name";
        public short extra = 3;
        public Point where = new Point { x = 4, y = 5 };
    }

    public sealed class MostDerived : Derived
    {
        private string shadowed = "three";
        public string name = null;
        public sbyte last = -1;
    }

    public class Outer
    {
        public class Nested
        {
            public int v = 5;
            public class Deeper<T> { public T value; }
        }
        public struct NestedStruct { public object o; public int i; }
        private enum NestedEnum { X = 3 }
        public static object BoxedPrivateEnum() => NestedEnum.X;
    }

    public class Generic<T, U>
    {
        public T t;
        public U u;
        public static object staticObject = new object();
        public static int staticNumber = 5;
        [ThreadStatic] public static object threadObject;
        public class Inner { public T t; public List<U> list; }
        public class Inner<V> { public T t; public U u; public V v; }
        public struct InnerStruct { public U u; public T t; }
    }

    public interface IThing<in T> { void Take(T t); }
    public class Thing<T> : IThing<T> { public T last; public void Take(T t) { last = t; } }

    public unsafe class Pointers
    {
        public int* number = (int*)0x1000;
        public void** nothing = (void**)0x2000;
        public delegate*<int, void> function = (delegate*<int, void>)0x3000;
        public Point* point = (Point*)0x4000;
        public int*[] array = new int*[] { (int*)0x10, (int*)0x20, null };
    }

    [InlineArray(4)] public struct FourObjects { private object element; }
    [InlineArray(5)] public struct FiveInts { private int element; }
    [InlineArray(3)] public struct ThreeStructs { private WithReferences element; }

    public class InlineArrays
    {
        public FourObjects objects;
        public FiveInts numbers;
        public ThreeStructs structs;
        public int tail = 21;
    }

    [StructLayout(LayoutKind.Explicit)]
    public class Overlapping
    {
        [FieldOffset(0)] public object first;
        [FieldOffset(8)] public int low;
        [FieldOffset(12)] public int high;
        [FieldOffset(8)] public long both;
        [FieldOffset(24)] public string second;
        [FieldOffset(40)] public byte far;
    }

    [StructLayout(LayoutKind.Explicit, Size = 32)]
    public struct Union
    {
        [FieldOffset(0)] public double number;
        [FieldOffset(0)] public ulong bits;
        [FieldOffset(16)] public object reference;
    }

    public class Finalizable
    {
        public int number;
        public object kept = new object();
        public static volatile bool blocked;
        public Finalizable(int number) { this.number = number; }
        ~Finalizable()
        {
            blocked = true;
            System.Threading.Thread.Sleep(System.Threading.Timeout.Infinite);
        }
    }

    public class Größe { public int länge = 3; }
    public record class Record(int Number, string Text);
    public record struct RecordStruct(int Number, string Text);

    public class FactsException : Exception
    {
        public int code = 42;
        public FactsException(string message, Exception inner) : base(message, inner) { HResult = unchecked((int)0x80131234); }
    }

    public class Statics
    {
        public static object reference = new Node(42);
        public static string text = "static text of " + Environment.Version.Major;
        public static WithReferences structure = new WithReferences { text = "in a static", number = 8, thing = new Node(43) };
        public static int number = 12345;
        public static long wide = 0x1122334455667788;
        public static double real = 2.5;
        public static DateTime date = new DateTime(2021, 1, 1);
        public static object nothing;
        public static readonly object frozen = new object();
        [ThreadStatic] public static object threadReference;
        [ThreadStatic] public static int threadNumber;
        [ThreadStatic] public static WithReferences threadStructure;
    }
}
