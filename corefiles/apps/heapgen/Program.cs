// SPDX-License-Identifier: MIT
// heapgen MILLIONS [waits]: that many million objects in the shapes that make a heap slow to look at; with "waits" also
// many async methods and threads that wait (Waits.cs).
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;

namespace HeapGen
{
    public sealed class Link
    {
        public Link next;
        public int id;
    }

    public sealed class Tree
    {
        public Tree left, right;
        public int id;
    }

    public sealed class Vertex
    {
        public Vertex a, b, c;
        public int id;
    }

    public sealed class Item
    {
        public long number;
    }

    public struct Slot
    {
        public int key;
        public Item item;
        public int hits;
    }

    public static class Program
    {
        private static readonly List<(string Name, object Object)> targets = new();
        private static Link list;
        private static Tree tree;
        private static Vertex[] graph;
        private static Slot[] slots;
        private static Dictionary<int, string> dictionary;
        private static object[][] large;
        private static readonly Random random = new(1);

        private static unsafe string Address(object thing) => "0x" + (*(nint*)Unsafe.AsPointer(ref thing)).ToString("x");

        private static void MakeList(int count)
        {
            var sink = new Link { id = -1 };
            targets.Add(("list_end", sink));
            list = sink;
            for (int i = 1; i < count; i++)
                list = new Link { next = list, id = i };
        }

        // The last link that nothing but the list leads to; not inlined, so that no slot of Main() holds it.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static string AddressOfDeepest()
        {
            Link link = list;
            while (link.next.next != null)
                link = link.next;
            return Address(link);
        }

        private static void MakeTree(int count)
        {
            var nodes = new Tree[count];
            for (int i = count - 1; i >= 0; i--)
            {
                nodes[i] = new Tree
                {
                    id = i,
                    left = 2 * i + 1 < count ? nodes[2 * i + 1] : null,
                    right = 2 * i + 2 < count ? nodes[2 * i + 2] : null,
                };
            }
            tree = nodes[0];
            targets.Add(("tree_root", tree));
            targets.Add(("tree_leaf", nodes[count - 1]));
        }

        private static void MakeGraph(int count)
        {
            graph = new Vertex[count];
            for (int i = 0; i < count; i++)
                graph[i] = new Vertex { id = i };
            foreach (Vertex v in graph)
            {
                v.a = graph[random.Next(count)];
                v.b = graph[random.Next(count)];
                v.c = graph[random.Next(count)];
            }
            targets.Add(("graph_vertex", graph[count / 2]));
        }

        private static void MakeSlots(int count)
        {
            slots = new Slot[count];
            for (int i = 0; i < count; i++)
                slots[i] = new Slot { key = i, item = new Item { number = i } };
            targets.Add(("slots", slots));
            targets.Add(("slot_item", slots[count / 2].item));
        }

        private static void MakeDictionary(int count)
        {
            dictionary = new Dictionary<int, string>(count);
            for (int i = 0; i < count; i++)
                dictionary.Add(i, i.ToString(CultureInfo.InvariantCulture));
            targets.Add(("dictionary", dictionary));
            targets.Add(("dictionary_value", dictionary[count / 2]));
        }

        private static void MakeLarge(int count)
        {
            large = new object[count][];
            for (int i = 0; i < count; i++)
            {
                large[i] = new object[12000];
                for (int k = 0; k < large[i].Length; k += 1 + i % 7)
                    large[i][k] = graph[random.Next(graph.Length)];
            }
            targets.Add(("large", large[^1]));
        }

        public static int Main(string[] arguments)
        {
            bool waits = arguments.Length == 2 && arguments[1] == "waits";
            if (arguments.Length != (waits ? 2 : 1) || !int.TryParse(arguments[0], out int millions) || millions < 1 ||
                millions > 100)
            {
                Console.Error.WriteLine("usage: heapgen MILLIONS [waits]");
                return 2;
            }
            int unit = millions * 10000; // one percent of the objects
            MakeList(25 * unit);
            MakeTree(25 * unit);
            MakeGraph(25 * unit);
            MakeSlots(15 * unit);
            MakeDictionary(10 * unit);
            MakeLarge(10 * millions);
            var more = new StringBuilder();
            if (waits)
                Waits.Make(more);
            GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: true);
            int collections = GC.CollectionCount(0);
            var text = new StringBuilder("{\"program\":\"heapgen\",\"schema\":1");
            text.Append($",\"version\":\"{Environment.Version}\",\"pid\":{Environment.ProcessId},\"targets\":{{");
            for (int i = 0; i < targets.Count; i++)
                text.Append(i > 0 ? "," : "").Append($"\"{targets[i].Name}\":\"{Address(targets[i].Object)}\"");
            text.Append($",\"list_deep\":\"{AddressOfDeepest()}\"");
            text.Append($"}},\"counts\":{{\"HeapGen.Link\":{25 * unit},\"HeapGen.Tree\":{25 * unit}");
            text.Append($",\"HeapGen.Vertex\":{25 * unit},\"HeapGen.Item\":{15 * unit}}}");
            text.Append(more).Append("}\nREADY\n");
            byte[] bytes = Encoding.ASCII.GetBytes(text.ToString());
            if (GC.CollectionCount(0) != collections)
                return 3;
            Console.OpenStandardOutput().Write(bytes);
            Thread.Sleep(Timeout.Infinite);
            return 0;
        }
    }
}
