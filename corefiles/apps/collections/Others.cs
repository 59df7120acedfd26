// SPDX-License-Identifier: MIT
// Caches: what holds its keys weakly, and the MemoryCache.
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using Microsoft.Extensions.Caching.Memory;

namespace Collections
{
    public static class Others
    {
        private static readonly List<Person> alive = new();

        public static void Make()
        {
            Weak();
            Cache();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Weak()
        {
            var table = new ConditionalWeakTable<Person, string>();
            for (int i = 0; i < 20; i++)
            {
                var person = new Person { Id = i };
                table.Add(person, "notes about " + i);
                if (i % 4 == 0)
                    alive.Add(person);
            }
            table.Remove(alive[1]);
            var left = alive.Where(person => person.Id != 4);
            var pairs = left.Select(person => KeyValuePair.Create(person, "notes about " + person.Id));
            Truth.AddPairs("weak-table", table, pairs, ordered: false);
        }

        private static void Cache()
        {
            var cache = new MemoryCache(new MemoryCacheOptions());
            for (int i = 0; i < 12; i++)
                cache.Set("key " + i, "page " + i);
            cache.Set(new Person(), "page of a person");
            cache.Remove("key 5");
            var texts = Enumerable.Range(0, 12).Where(i => i != 5).Select(i => KeyValuePair.Create<object, object>("key " + i, "page " + i));
            Truth.AddPairs("memory-cache", cache, texts.Append(new(alive[0], "page of a person")), ordered: false);
        }
    }
}
