// SPDX-License-Identifier: MIT
// Collections that never change: immutable and frozen ones.
using System;
using System.Collections.Frozen;
using System.Collections.Generic;
using System.Collections.Immutable;
using System.Linq;

namespace Collections
{
    /// <summary>Its values have few hash codes.</summary>
    public readonly struct Clashing : IEquatable<Clashing>
    {
        public readonly int X;
        public Clashing(int x) => X = x;
        public bool Equals(Clashing other) => X == other.X;
        public override bool Equals(object other) => other is Clashing clashing && Equals(clashing);
        public override int GetHashCode() => X % 3;
    }

    public static class Immutables
    {
        public static void Make()
        {
            Sequences();
            Trees();
            Tables();
            FrozenTables();
            FrozenSets();
        }

        private static void Sequences()
        {
            object boxed = ImmutableArray.Create(9, 8, 7);
            Truth.Add("immutable-array", boxed, new[] { 9, 8, 7 });
            Truth.Add("immutable-array-empty", ImmutableArray<string>.Empty, Array.Empty<string>());
            Truth.Add("immutable-array-default", default(ImmutableArray<string>), Array.Empty<string>());
            var list = ImmutableList.CreateRange(Enumerable.Range(0, 30).Select(i => "line " + i)).RemoveAt(7).Insert(3, "new");
            Truth.Add("immutable-list", list, list);
            Truth.Add("immutable-list-empty", ImmutableList<int>.Empty, Array.Empty<int>());
            var many = ImmutableList.CreateRange(Enumerable.Range(0, Program.Many));
            Truth.Add("immutable-list-many", many, many);
            var queue = ImmutableQueue<int>.Empty;
            for (int i = 0; i < 9; i++)
                queue = queue.Enqueue(i);
            queue = queue.Dequeue().Dequeue().Enqueue(50).Enqueue(51);
            Truth.Add("immutable-queue", queue, queue);
            Truth.Add("immutable-queue-empty", ImmutableQueue<int>.Empty, Array.Empty<int>());
            var stack = ImmutableStack.Create("first", "second", "third");
            Truth.Add("immutable-stack", stack, stack);
            Truth.Add("immutable-stack-empty", ImmutableStack<int>.Empty, Array.Empty<int>());
        }

        private static void Trees()
        {
            var set = ImmutableSortedSet.CreateRange(Enumerable.Range(0, 100).Select(i => i * 37 % 101)).Remove(5);
            Truth.Add("immutable-sorted-set", set, set);
            Truth.Add("immutable-sorted-set-empty", ImmutableSortedSet<int>.Empty, Array.Empty<int>());
            var table = ImmutableSortedDictionary.CreateRange(Enumerable.Range(0, 20).Select(i => KeyValuePair.Create(i * 7 % 20, "v" + i))).Remove(4);
            Truth.AddPairs("immutable-sorted-dictionary", table, table);
        }

        private static void Tables()
        {
            var table = ImmutableDictionary.CreateRange(Enumerable.Range(0, 40).Select(i => KeyValuePair.Create("key " + i, i))).Remove("key 3");
            Truth.AddPairs("immutable-dictionary", table, table, ordered: false);
            var clashing = ImmutableDictionary.CreateRange(Enumerable.Range(0, 14).Select(i => KeyValuePair.Create(new Clashing(i), new Point(i))));
            Truth.AddPairs("immutable-dictionary-clashing", clashing, clashing, ordered: false);
            Truth.AddPairs("immutable-dictionary-empty", ImmutableDictionary<int, int>.Empty, new Dictionary<int, int>());
            var set = ImmutableHashSet.CreateRange(Enumerable.Range(0, 50)).Remove(11);
            Truth.Add("immutable-hash-set", set, set, ordered: false);
        }

        private static Dictionary<int, string> Numbers(int count, int step) =>
            Enumerable.Range(0, count).ToDictionary(i => i * step, i => "n" + i);

        private static void FrozenTables()
        {
            void Add<K, V>(string name, Dictionary<K, V> from, IEqualityComparer<K> comparer = null)
            {
                FrozenDictionary<K, V> frozen = from.ToFrozenDictionary(comparer);
                Truth.AddPairs("frozen-dictionary-" + name, frozen, from, ordered: false);
            }
            Add("empty", new Dictionary<string, int>());
            Add("small", new Dictionary<Point, int> { [new Point(1)] = 1, [new Point(2)] = 2 });
            Add("small-ints", Numbers(4, 5));
            Add("ints", Numbers(200, 1_000_003));
            Add("dense", Numbers(200, 1));
            Add("sparse", Numbers(200, 2));
            Add("longs", Enumerable.Range(0, 100).ToDictionary(i => i * 5_000_000_000L, i => new Point(i)));
            Add("shorts", Enumerable.Range(-50, 100).ToDictionary(i => (short)i, i => i));
            Add("points", Enumerable.Range(0, 60).ToDictionary(i => new Point(i), i => i));
            Add("strings", Enumerable.Range(0, 60).ToDictionary(i => "name number " + i, i => i));
            Add("lengths", Enumerable.Range(1, 12).ToDictionary(i => new string((char)('a' + i), i), i => i));
            Add("ignore-case", Enumerable.Range(0, 60).ToDictionary(i => "Name " + i, i => i), StringComparer.OrdinalIgnoreCase);
            Add("comparer", Enumerable.Range(0, 60).ToDictionary(i => "Name " + i, i => i), StringComparer.InvariantCulture);
        }

        private static void FrozenSets()
        {
            void Add<T>(string name, IEnumerable<T> from, IEqualityComparer<T> comparer = null) =>
                Truth.Add("frozen-set-" + name, from.ToFrozenSet(comparer), from.ToList(), ordered: false);
            Add("empty", Array.Empty<string>());
            Add("small", new[] { new Point(1), new Point(2) });
            Add("small-ints", new[] { 5, 3 });
            Add("ints", Enumerable.Range(0, 200).Select(i => i * 1_000_003));
            Add("dense", Enumerable.Range(100, 200));
            Add("longs", Enumerable.Range(0, 100).Select(i => i * 5_000_000_000L));
            Add("bytes", Enumerable.Range(0, 100).Select(i => (byte)i));
            Add("strings", Enumerable.Range(0, 60).Select(i => "name number " + i));
            Add("lengths", Enumerable.Range(1, 12).Select(i => new string((char)('a' + i), i)));
            Add("points", Enumerable.Range(0, 60).Select(i => new Point(i)));
        }
    }
}
