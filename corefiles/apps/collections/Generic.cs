// SPDX-License-Identifier: MIT
// The collections of System.Collections.Generic: empty, filled, after removals, wrapped around, large.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Collections.ObjectModel;
using System.Linq;

namespace Collections
{
    public static class Generic
    {
        public static void Make()
        {
            Lists();
            Tables();
            Sets();
            Ordered();
            Rings();
            Old();
        }

        private static void Lists()
        {
            var numbers = new List<int>(10) { 3, 1, 2 };
            Truth.Add("list", numbers, numbers, numbers.Capacity);
            Truth.Add("list-empty", new List<string>(), Array.Empty<string>(), 0);
            var names = new List<string> { "ant", null, "", "a name that is longer than the sixty-four characters which a listing shows" };
            names.RemoveAt(0);
            Truth.Add("list-strings", names, names, names.Capacity);
            var points = new List<Point>(Enumerable.Range(0, 5).Select(i => new Point(i)));
            Truth.Add("list-structs", points, points, points.Capacity);
            var many = Enumerable.Range(0, Program.Many).ToList();
            Truth.Add("list-many", many, many, many.Capacity);
            var people = new List<Person> { new(), null, new() };
            Truth.Add("list-objects", people, people, people.Capacity);
            var basket = new Basket { 5, 6 };
            Truth.Add("list-own", basket, basket, basket.Capacity);
            var observed = new ObservableCollection<int> { 8, 9 };
            Truth.Add("observable", observed, observed, 4);
            Truth.Add("read-only", numbers.AsReadOnly(), numbers, numbers.Capacity);
            var linked = new LinkedList<string>(new[] { "one", "two", "three", "four" });
            linked.Remove("two");
            linked.AddFirst("zero");
            Truth.Add("linked", linked, linked);
            Truth.Add("linked-empty", new LinkedList<int>(), Array.Empty<int>());
            var chain = new LinkedList<int>(Enumerable.Range(0, Program.Many));
            Truth.Add("linked-many", chain, chain);
        }

        private static void Tables()
        {
            var table = new Dictionary<int, string> { [7] = "seven", [-1] = null, [100] = "hundred" };
            Truth.AddPairs("dictionary", table, table, table.EnsureCapacity(0));
            Truth.AddPairs("dictionary-empty", new Dictionary<int, int>(), new Dictionary<int, int>(), 0);
            var removed = new Dictionary<string, Point>();
            for (int i = 0; i < 50; i++)
                removed["key " + i] = new Point(i);
            for (int i = 0; i < 50; i += 3)
                removed.Remove("key " + i);
            removed["late"] = new Point(99);
            Truth.AddPairs("dictionary-removed", removed, removed, removed.EnsureCapacity(0));
            var structs = new Dictionary<Point, DayOfWeek> { [new Point(4)] = DayOfWeek.Friday, [new Point(5)] = DayOfWeek.Monday };
            Truth.AddPairs("dictionary-structs", structs, structs, structs.EnsureCapacity(0));
            var many = new Dictionary<long, double>();
            for (int i = 0; i < Program.Many; i++)
                many[i * 1_000_003L] = i / 4.0;
            Truth.AddPairs("dictionary-many", many, many, many.EnsureCapacity(0));
            Truth.AddPairs("dictionary-read-only", new ReadOnlyDictionary<int, string>(table), table, table.EnsureCapacity(0));
#if NET9_0_OR_GREATER
            var ordered = new OrderedDictionary<string, int> { ["b"] = 2, ["a"] = 1, ["c"] = 3 };
            ordered.Remove("a");
            ordered.Insert(0, "z", 26);
            Truth.AddPairs("ordered-dictionary", ordered, ordered, ordered.Capacity);
#endif
        }

        private static void Sets()
        {
            var set = new HashSet<string> { "red", "green", "blue" };
            set.Remove("green");
            Truth.Add("hash-set", set, set, set.EnsureCapacity(0));
            Truth.Add("hash-set-empty", new HashSet<int>(), Array.Empty<int>(), 0);
            var many = new HashSet<int>(Enumerable.Range(0, Program.Many));
            many.RemoveWhere(i => i % 2 == 0);
            Truth.Add("hash-set-many", many, many, many.EnsureCapacity(0));
        }

        private static void Ordered()
        {
            var tree = new SortedDictionary<int, string>();
            for (int i = 20; i > 0; i--)
                tree[i] = "value " + i;
            tree.Remove(13);
            Truth.AddPairs("sorted-dictionary", tree, tree);
            Truth.AddPairs("sorted-dictionary-empty", new SortedDictionary<int, int>(), new SortedDictionary<int, int>());
            var set = new SortedSet<string>(StringComparer.Ordinal) { "pear", "apple", "fig" };
            Truth.Add("sorted-set", set, set);
            var many = new SortedSet<int>(Enumerable.Range(0, Program.Many).Select(i => i * 7919 % Program.Many));
            Truth.Add("sorted-set-many", many, many);
            var list = new SortedList<int, Point>(8) { [3] = new Point(3), [1] = new Point(1), [2] = new Point(2) };
            list.Remove(2);
            Truth.AddPairs("sorted-list", list, list, list.Capacity);
            var queue = new PriorityQueue<string, int>(12);
            foreach (int i in new[] { 5, 1, 4, 2, 3 })
                queue.Enqueue("task " + i, i);
            queue.Dequeue();
            var pairs = queue.UnorderedItems.Select(item => KeyValuePair.Create(item.Priority, item.Element));
            Truth.AddPairs("priority-queue", queue, pairs, 12);
        }

        private static void Rings()
        {
            var queue = new Queue<int>(4);
            for (int i = 0; i < 6; i++)
            {
                queue.Enqueue(i);
                if (i < 3)
                    queue.Dequeue();
            }
            Truth.Add("queue-wrapped", queue, queue, 4);
            Truth.Add("queue-empty", new Queue<string>(), Array.Empty<string>(), 0);
            var stack = new Stack<string>(new[] { "bottom", "middle", "top" });
            stack.Pop();
            Truth.Add("stack", stack, stack);
        }

        private static void Old()
        {
            var list = new ArrayList { "text", null, new Person() };
            Truth.Add("array-list", list, list.Cast<object>(), 4);
            var table = new Hashtable { ["one"] = "1", ["two"] = "2", ["three"] = "3" };
            table.Remove("two");
            var pairs = table.Cast<DictionaryEntry>().Select(e => KeyValuePair.Create(e.Key, e.Value));
            Truth.AddPairs("hashtable", table, pairs, ordered: false);
        }
    }
}
