// SPDX-License-Identifier: MIT
// A web service and a worker with nothing wrong. Written after the rules of `report`, without a look at them.
using System;
using System.Buffers;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Net.Http;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Leaks
{
    public sealed class Product
    {
        public int Number { get; set; }
        public string Name { get; set; }
        public string[] Tags { get; set; }
        public byte[] Image { get; set; }
    }

    public sealed class ProductCatalog
    {
        private readonly Dictionary<int, Product> products = new();
        private readonly Dictionary<string, List<Product>> byTag = new();

        public ProductCatalog()
        {
            string[] tags = Enumerable.Range(0, 60).Select(i => "tag-" + i).ToArray();
            for (int i = 0; i < 8000; i++)
            {
                var product = new Product { Number = i, Name = "product " + i, Image = new byte[700] };
                product.Tags = new[] { tags[i % 60], tags[i * 7 % 60] };
                products[i] = product;
                foreach (string tag in product.Tags)
                {
                    if (!byTag.TryGetValue(tag, out List<Product> list))
                        byTag[tag] = list = new List<Product>();
                    list.Add(product);
                }
            }
        }

        public Product Find(int number) => products.TryGetValue(number, out Product product) ? product : null;
    }

    public static class Webshop
    {
        private static WebApplication app;
        private static readonly HttpClient browser = new();

        private static void Build()
        {
            WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
            builder.Logging.ClearProviders();
            builder.WebHost.UseUrls("http://127.0.0.1:0");
            builder.Services.AddSingleton<ProductCatalog>();
            builder.Services.AddMemoryCache(options => options.SizeLimit = 2000);
            app = builder.Build();
            app.MapGet("/product/{number:int}", (int number, ProductCatalog catalog, IMemoryCache cache) =>
                cache.GetOrCreate("page-" + number, entry =>
                {
                    entry.SetSize(1).SetSlidingExpiration(TimeSpan.FromMinutes(1));
                    return "<h1>" + catalog.Find(number)?.Name + "</h1>" + new string('-', 400);
                }));
        }

        public static void Run()
        {
            Build();
            app.StartAsync().Wait();
            string url = app.Urls.First();
            for (int i = 0; i < 3000; i = Noise.Next(i, 3000))
            {
                string page = browser.GetStringAsync(url + "/product/" + i * 37 % 8000).Result;
                if (page.Length < 400)
                    throw new InvalidOperationException("the page is too short");
            }
        }
    }

    public sealed class Parcel
    {
        public int Number;
        public string Address;
        public int Tries;
        public event EventHandler Delivered;
        public void Deliver() => Delivered?.Invoke(this, EventArgs.Empty);
    }

    /// <summary>Takes parcels from a bounded queue, on four threads, and forgets them when they are delivered.</summary>
    public sealed class ParcelWorker
    {
        private static readonly Regex street = new("^[0-9]+ (?<name>.+)$", RegexOptions.Compiled);
        private readonly Channel<Parcel> queue = Channel.CreateBounded<Parcel>(500);
        private readonly ConcurrentDictionary<int, Parcel> inFlight = new();
        private readonly CancellationTokenSource stopping = new();
        private readonly Queue<Exception> lastFailures = new();
        private readonly Dictionary<string, int> deliveries = new();
        private readonly List<Timer> meters = new();
        private int done;

        public int Done => Volatile.Read(ref done);

        public void Start()
        {
            for (int i = 0; i < 4; i++)
                new Thread(Work, 1 << 18) { IsBackground = true, Name = "parcels " + i }.Start();
            for (int i = 0; i < 12; i++)
                meters.Add(new Timer(Measure, "meter " + i, TimeSpan.FromMinutes(1), TimeSpan.FromMinutes(1)));
            _ = Heartbeat();
        }

        public void Post(Parcel parcel) => queue.Writer.WriteAsync(parcel).AsTask().Wait();

        private void Measure(object name)
        {
            lock (deliveries)
                deliveries[(string)name] = done;
        }

        private async Task Heartbeat()
        {
            using var timer = new PeriodicTimer(TimeSpan.FromSeconds(20));
            while (await timer.WaitForNextTickAsync(stopping.Token))
                Measure("heartbeat");
        }

        private void Work()
        {
            while (queue.Reader.WaitToReadAsync(stopping.Token).AsTask().Result)
            {
                while (queue.Reader.TryRead(out Parcel parcel))
                    Send(parcel);
            }
        }

        private void Send(Parcel parcel)
        {
            inFlight[parcel.Number] = parcel;
            using var limit = CancellationTokenSource.CreateLinkedTokenSource(stopping.Token);
            byte[] label = ArrayPool<byte>.Shared.Rent(600);
            parcel.Delivered += OnDelivered;
            try
            {
                if (parcel.Number % 50 == 0)
                    throw new InvalidOperationException("nobody opens at " + parcel.Address);
                label[0] = (byte)street.Match(parcel.Address).Length;
                parcel.Deliver();
            }
            catch (InvalidOperationException failure)
            {
                Remember(failure);
            }
            finally
            {
                parcel.Delivered -= OnDelivered;
                ArrayPool<byte>.Shared.Return(label);
                inFlight.TryRemove(parcel.Number, out _);
                Interlocked.Increment(ref done);
            }
        }

        private void Remember(Exception failure)
        {
            lock (lastFailures)
            {
                lastFailures.Enqueue(failure);
                if (lastFailures.Count > 50)
                    lastFailures.Dequeue();
            }
        }

        private void OnDelivered(object parcel, EventArgs change)
        {
            lock (deliveries)
            {
                string day = "day " + ((Parcel)parcel).Number % 30;
                deliveries[day] = deliveries.GetValueOrDefault(day) + 1;
            }
        }
    }

    public static class Worker
    {
        private static readonly ParcelWorker parcels = new();
        private static readonly SortedDictionary<int, string> towns = new();

        public static void Run()
        {
            const int count = 20000;
            for (int i = 0; i < 30000; i++)
                towns[10000 + i] = "town " + i;
            parcels.Start();
            for (int i = 0; i < count; i = Noise.Next(i, count))
                parcels.Post(new Parcel { Number = i, Address = i + " Station Road, " + towns[10000 + i % 30000] });
            while (parcels.Done < count)
                Thread.Sleep(10);
        }
    }
}
