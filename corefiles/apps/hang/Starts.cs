// SPDX-License-Identifier: MIT
// Hosts whose start waits for one of their services: one that can never come, and one that is only slow.
using System;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Hang
{
    public interface ITariff
    {
        Task First(CancellationToken token);
        void Set(int price);
        int Current { get; }
    }

    /// <summary>Tariff that somebody brings, and for whose first one others wait.</summary>
    public sealed class Tariff : ITariff
    {
        private readonly TaskCompletionSource first = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private int current;

        public int Current => current;

        public async Task First(CancellationToken token)
        {
            using CancellationTokenRegistration registration = token.Register(() => first.TrySetCanceled());
            await first.Task;
        }

        public void Set(int price)
        {
            current = price;
            first.TrySetResult();
        }
    }

    /// <summary>Runs from the first on, and only looks at the prices.</summary>
    public sealed class Board : BackgroundService
    {
        private readonly ITariff prices;
        public int Shown;

        public Board(ITariff prices) => this.prices = prices;

        protected override async Task ExecuteAsync(CancellationToken token)
        {
            while (true)
            {
                Shown = prices.Current;
                await Task.Delay(50, token);
            }
        }
    }

    /// <summary>Does not start before there is a price.</summary>
    public sealed class Quotes : IHostedService
    {
        private readonly ITariff prices;

        public Quotes(ITariff prices) => this.prices = prices;

        public async Task StartAsync(CancellationToken token) => await prices.First(token);

        public Task StopAsync(CancellationToken token) => Task.CompletedTask;
    }

    /// <summary>Brings the prices.</summary>
    public sealed class Feed : BackgroundService
    {
        private readonly ITariff prices;

        public Feed(ITariff prices) => this.prices = prices;

        protected override async Task ExecuteAsync(CancellationToken token)
        {
            for (int i = 1; ; i++)
            {
                prices.Set(i);
                await Task.Delay(1000, token);
            }
        }
    }

    /// <summary>The same for stocks: what brings them is there first, and takes its time.</summary>
    public sealed class Stocks
    {
        private readonly TaskCompletionSource loaded = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task Loaded => loaded.Task;

        public void Load() => loaded.TrySetResult();
    }

    public sealed class StockLoader : BackgroundService
    {
        private readonly Stocks stocks;

        public StockLoader(Stocks stocks) => this.stocks = stocks;

        protected override async Task ExecuteAsync(CancellationToken token)
        {
            await Task.Delay(TimeSpan.FromHours(1), token);
            stocks.Load();
        }
    }

    public sealed class StockStart : IHostedService
    {
        private readonly Stocks stocks;

        public StockStart(Stocks stocks) => this.stocks = stocks;

        public async Task StartAsync(CancellationToken token) => await stocks.Loaded;

        public Task StopAsync(CancellationToken token) => Task.CompletedTask;
    }

    public sealed class StockReport : BackgroundService
    {
        private readonly Stocks stocks;

        public StockReport(Stocks stocks) => this.stocks = stocks;

        protected override Task ExecuteAsync(CancellationToken token) => stocks.Loaded;
    }

    public static class Starts
    {
        private static readonly System.Collections.Generic.List<object> kept = new();

        private static IHost Make(Action<IServiceCollection> services) =>
            new HostBuilder().ConfigureServices(services).ConfigureLogging(log => log.ClearProviders()).Build();

        /// <summary>Quotes wait for Feed, which starts after them.</summary>
        public static void Begin()
        {
            IHost host = Make(services =>
            {
                services.AddSingleton<ITariff, Tariff>();
                services.AddHostedService<Board>();
                services.AddHostedService<Quotes>();
                services.AddHostedService<Feed>();
            });
            kept.Add(host);
            kept.Add(host.StartAsync());
            Truth.Say("start", "{\"waits\":\"Hang.Quotes.StartAsync\",\"for\":\"Hang.Feed\",\"later\":1,\"services\":3}");
        }

        /// <summary>StockStart waits for StockLoader, which has started.</summary>
        public static void Slow()
        {
            IHost host = Make(services =>
            {
                services.AddSingleton<Stocks>();
                services.AddHostedService<StockLoader>();
                services.AddHostedService<StockStart>();
                services.AddHostedService<StockReport>();
            });
            kept.Add(host);
            kept.Add(host.StartAsync());
            Truth.Say("headline", "\"the host is still starting: Hang.StockStart.StartAsync waits\"");
        }
    }
}
