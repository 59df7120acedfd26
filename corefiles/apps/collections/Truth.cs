// SPDX-License-Identifier: MIT
// What is in each collection, as its own enumerator says it: one line of JSON.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Text;

namespace Collections
{
    /// <summary>A collection that is known: its members in JSON but for the address.</summary>
    public sealed class Known
    {
        public string Json;
        public object Collection;
    }

    public static class Truth
    {
        private static readonly List<Known> all = new();

        /// <summary>Items without keys. Capacity -1: it has none, or does not tell.</summary>
        public static void Add<T>(string name, object collection, IEnumerable<T> items, int capacity = -1,
                                  bool ordered = true) =>
            Say(name, collection, items.Select(item => "[" + Value(item) + "]").ToList(), capacity, ordered);

        /// <summary>Items with keys; a priority is a key, too.</summary>
        public static void AddPairs<K, V>(string name, object collection, IEnumerable<KeyValuePair<K, V>> items,
                                          int capacity = -1, bool ordered = true) =>
            Say(name, collection, items.Select(item => $"[{Value(item.Key)},{Value(item.Value)}]").ToList(), capacity,
                ordered);

        private static void Say(string name, object collection, List<string> items, int capacity, bool ordered)
        {
            string json = $"\"name\":\"{name}\",\"count\":{items.Count},\"ordered\":{(ordered ? "true" : "false")}";
            json += $",\"capacity\":{(capacity < 0 ? "null" : capacity)},\"items\":[{string.Join(",", items)}]";
            all.Add(new Known { Json = json, Collection = collection });
        }

        /// <summary>A number, a string as text, a struct with its fields, an object by its type.</summary>
        private static string Value(object value) => value switch
        {
            null => "null",
            string text => "{\"text\":\"" + text + "\"}",
            bool flag => flag ? "true" : "false",
            double real => real.ToString("R", CultureInfo.InvariantCulture),
            Enum constant => Convert.ToInt64(constant).ToString(CultureInfo.InvariantCulture),
            Point point => $"{{\"fields\":{{\"X\":{point.X},\"Y\":{point.Y}}}}}",
            Clashing clashing => $"{{\"fields\":{{\"X\":{clashing.X}}}}}",
            Person person => $"{{\"type\":\"{person.GetType().FullName}\"}}",
            IFormattable number => number.ToString(null, CultureInfo.InvariantCulture),
            _ => throw new ArgumentException(value.GetType().FullName)
        };

        /// <summary>Write it; from now on nothing may move.</summary>
        public static unsafe void Write()
        {
            var text = new StringBuilder();
            int collections;
            do
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
                GC.Collect();
                collections = GC.CollectionCount(0);
                text.Clear();
                text.Append($"{{\"program\":\"collections\",\"schema\":1,\"version\":\"{Environment.Version}\"");
                text.Append($",\"pid\":{Environment.ProcessId},\"collections\":[");
                for (int i = 0; i < all.Count; i++)
                {
                    object collection = all[i].Collection;
                    text.Append(i == 0 ? "" : ",").Append("{\"address\":\"0x");
                    text.Append(((ulong)*(IntPtr*)Unsafe.AsPointer(ref collection)).ToString("x"));
                    text.Append("\",").Append(all[i].Json).Append('}');
                }
                text.Append("]}");
            } while (GC.CollectionCount(0) != collections);
            using var output = Console.OpenStandardOutput();
            using var writer = new System.IO.StreamWriter(output, new UTF8Encoding(false), 4096, true);
            writer.Write(text);
            writer.Write("\nREADY\n");
        }
    }
}
