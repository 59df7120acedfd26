// SPDX-License-Identifier: MIT
// Services of Microsoft.Extensions: a container and a cache.
using System;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.DependencyInjection;

namespace Leaks
{
    public sealed class ReportWriter : IDisposable
    {
        private readonly byte[] page = new byte[200];
        private bool disposed;
        public int Size => disposed ? 0 : page.Length;
        public void Dispose() => disposed = true;
    }

    public sealed class QueryResult
    {
        public string Key;
        public byte[] Rows = new byte[250];
    }

    public static class Hosting
    {
        private static IServiceProvider services;
        private static MemoryCache results;

        public static void Container()
        {
            const int count = 50000;
            services = new ServiceCollection().AddTransient<ReportWriter>().BuildServiceProvider();
            for (int i = 0; i < count; i = Noise.Next(i, count))
                services.GetRequiredService<ReportWriter>();
            Truth.Expect("container", "ReportWriter", count);
        }

        private static void Fill(MemoryCache cache, int count, bool sized)
        {
            for (int i = 0; i < count; i = Noise.Next(i, count))
            {
                var options = new MemoryCacheEntryOptions();
                if (sized)
                    options.SetSize(1).SetSlidingExpiration(TimeSpan.FromMinutes(5));
                cache.Set("request-" + i, new QueryResult { Key = "request-" + i }, options);
            }
        }

        public static void Cache()
        {
            const int count = 30000;
            results = new MemoryCache(new MemoryCacheOptions());
            Fill(results, count, false);
            Truth.Expect("caches", "Hosting.results", count);
        }

        public static void CacheWithLimit()
        {
            results = new MemoryCache(new MemoryCacheOptions { SizeLimit = 15000 });
            Fill(results, 30000, true);
        }
    }
}
