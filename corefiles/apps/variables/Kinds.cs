// SPDX-License-Identifier: MIT
// Methods with arguments and locals of all kinds. This file is compiled twice: optimised, and as for debugging. After
// the deepest call each method uses its variables once more, so that optimised code may have to keep them.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

#if PLAIN
namespace Plain
#else
namespace Optimised
#endif
{
    using Variables;

    public enum Colour : short { Red = -3, Green = 5, Blue = 300 }

    public struct Pair
    {
        public int A;
        public long B;
        public string C;

        public string Fields => $"{{\"A\":{A},\"B\":{B}}}";

        [MethodImpl(Kinds.Way)]
        public long Sum(int more, string label)
        {
            int doubled = more * 2;
            Truth.Frame(typeof(Pair), nameof(Sum)).Argument("this", "struct-ref", Fields).Argument("more", "plain", more)
                .Argument("label", "object", label).Local("doubled", "plain", doubled);
            var shelf = new Shelf<int>(41);
            long result = shelf.Put(7, 2.5);
            Kinds.Use(this, more, label, doubled);
            return result + A;
        }
    }

    /// <summary>Code of its own for int; the code of all references for string.</summary>
    public sealed class Shelf<T>
    {
        private readonly T first;
        public Shelf(T value) => first = value;

        [MethodImpl(Kinds.Way)]
        public long Put<U>(T item, U other)
        {
            T copy = first;
            U second = other;
            string kind = typeof(T) == typeof(int) ? "plain" : "object";
            Truth.Frame(typeof(Shelf<T>), nameof(Put)).Argument("this", "object", this).Argument("item", kind, item)
                .Argument("other", "plain", other).Local("copy", kind, copy).Local("second", "plain", second);
            long result = item is int ? new Shelf<string>("first").Put("second", 'x') : Kinds.Last(null);
            Kinds.Use(this, item, other, copy, second);
            return result;
        }
    }

    public static class Kinds
    {
#if PLAIN
        public const MethodImplOptions Way = MethodImplOptions.NoInlining;
#else
        public const MethodImplOptions Way = MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization;
#endif
        public static Action Wait;
        private static int used;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Use(params object[] values) => used += values.Length;

        private static void Call() => used++;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static Action Calls(int count)
        {
            Action all = null;
            while (count-- > 0)
                all += Call;
            return all;
        }

        [MethodImpl(Way)]
        public static long Begin(string[] words)
        {
            int slot = 1234567;
            Truth.Frame(typeof(Kinds), nameof(Begin)).Argument("words", "object", words);
            long result = Numbers(3, -5, -6_000_000_000, 250, true, 'ß', 2.75, -0.5f, Colour.Blue, ref slot, out long made);
            Use(words, slot, made);
            return result;
        }

        /// <summary>Calls itself: four levels.</summary>
        [MethodImpl(Way)]
        public static long Numbers(int depth, int number, long wide, byte small, bool flag, char letter, double real,
                                   float single, Colour colour, ref int target, out long made)
        {
            made = wide + depth;
            sbyte tiny = (sbyte)(number - depth);
            ushort half = (ushort)(small * 200 + depth);
            uint positive = 4_000_000_000 + (uint)depth;
            ulong huge = 18_000_000_000_000_000_000 + (ulong)depth;
            bool isDeep = depth < 2;
            double product = real * (depth + 1);
            float quarter = single / 2 + depth;
            Colour other = depth % 2 == 0 ? Colour.Red : Colour.Green;
            IntPtr native = (IntPtr)(0x1000 + depth);
            target++;
            long result;
            if (depth > 0)
            {
                int inner = depth * 100 + 7;
                Truth.Frame(typeof(Kinds), nameof(Numbers)).Argument("depth", "plain", depth)
                    .Argument("number", "plain", number).Argument("wide", "plain", wide).Argument("small", "plain", small)
                    .Argument("flag", "plain", flag).Argument("letter", "plain", letter).Argument("real", "plain", real)
                    .Argument("single", "plain", single).Argument("colour", "plain", (int)colour)
                    .Argument("target", "ref", target + depth).Argument("made", "ref", made)
                    .Local("tiny", "plain", tiny).Local("half", "plain", half).Local("positive", "plain", positive)
                    .Local("huge", "plain", huge).Local("isDeep", "plain", isDeep).Local("product", "plain", product)
                    .Local("quarter", "plain", quarter).Local("other", "plain", (int)other)
                    .Local("native", "address", (long)native).Local("inner", "plain", inner);
                result = Numbers(depth - 1, number - 1, wide - 1, (byte)(small - 1), !flag, (char)(letter + 1), real + 1,
                                 single - 1, other, ref target, out long below);
                Use(inner, below);
            }
            else
            {
                string absent = null;
                Truth.Frame(typeof(Kinds), nameof(Numbers)).Argument("depth", "plain", depth)
                    .Argument("number", "plain", number).Argument("wide", "plain", wide).Argument("small", "plain", small)
                    .Argument("flag", "plain", flag).Argument("letter", "plain", letter).Argument("real", "plain", real)
                    .Argument("single", "plain", single).Argument("colour", "plain", (int)colour)
                    .Argument("target", "ref", target).Argument("made", "ref", made)
                    .Local("tiny", "plain", tiny).Local("half", "plain", half).Local("positive", "plain", positive)
                    .Local("huge", "plain", huge).Local("isDeep", "plain", isDeep).Local("product", "plain", product)
                    .Local("quarter", "plain", quarter).Local("other", "plain", (int)other)
                    .Local("native", "address", (long)native).Local("absent", "object", absent);
                result = new Holder("held").Objects("text", new object(), new[] { 1, 2, 3 },
                                                    new Pair { A = 11, B = 22, C = "in" }, 77, null,
                                                    new List<string> { "one" }, Guid.Empty);
                Use(absent);
            }
            Use(depth, number, wide, small, flag, letter, real, single, colour, tiny, half, positive, huge, isDeep, product);
            Use(quarter, other, native, target, made);
            return result;
        }

        [MethodImpl(Way)]
        public static long Last(object nothing)
        {
            try
            {
                Truth.Frame(typeof(Kinds), nameof(Last)).Argument("nothing", "object", nothing);
                Wait();
            }
            finally
            {
                Use(nothing);
            }
            return 0;
        }
    }

    public sealed class Holder
    {
        private readonly string name;
        public Holder(string text) => name = text;

        [MethodImpl(Kinds.Way)]
        public long Objects(string text, object item, int[] array, Pair pair, int? maybe, int? absent, List<string> list,
                            Guid id)
        {
            string longer = text + name;
            Pair local = pair;
            local.A++;
            var table = new Dictionary<string, int> { ["a"] = 1 };
            int[][] jagged = { array };
            object boxed = 5L;
            (int Left, string Right) tuple = (array.Length, longer);
            DateTime? moment = DateTime.UnixEpoch;
            Action calls = Kinds.Calls(100);
            Truth.Frame(typeof(Holder), nameof(Objects)).Argument("this", "object", this).Argument("text", "object", text)
                .Argument("item", "object", item).Argument("array", "object", array).Argument("pair", "struct", pair.Fields)
                .Argument("maybe", "nullable", maybe).Argument("absent", "nullable", "null")
                .Argument("list", "object", list).Argument("id", "any-struct", "null")
                .Local("longer", "object", longer).Local("local", "struct", local.Fields)
                .Local("table", "object", table).Local("jagged", "object", jagged).Local("boxed", "object", boxed)
                .Local("tuple", "any-struct", "null").Local("moment", "any-struct", "null").Local("calls", "object", calls);
            long result = local.Sum(9, longer);
            Kinds.Use(this, text, item, array, pair, maybe, absent, list, id);
            Kinds.Use(longer, local, table, jagged, boxed, tuple, moment, calls);
            return result;
        }
    }
}
