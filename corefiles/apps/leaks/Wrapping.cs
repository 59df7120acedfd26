// SPDX-License-Identifier: MIT
// What is kept only by a wrapper of the framework around a callback, which nobody disposes.
using System;
using System.Collections.Generic;
using System.Diagnostics.Metrics;
using System.Threading;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Microsoft.Extensions.Primitives;

namespace Leaks
{
    public sealed class TariffOptions
    {
        public double Price { get; set; }
    }

    /// <summary>Made for each call; hears of new tariffs for ever.</summary>
    public sealed class TariffPanel
    {
        private readonly byte[] picture = new byte[500];
        private double price;

        public TariffPanel(IOptionsMonitor<TariffOptions> tariffs)
        {
            price = tariffs.CurrentValue.Price;
            tariffs.OnChange(options => price = options.Price + picture.Length);
        }
    }

    /// <summary>Made for each call; reads its routes again when the configuration changes.</summary>
    public sealed class RouteTable
    {
        private readonly Dictionary<string, string> routes = new();

        public RouteTable(IConfiguration configuration)
        {
            ChangeToken.OnChange(configuration.GetReloadToken, Read);
            Read();
        }

        private void Read()
        {
            for (int i = 0; i < 10; i++)
                routes["/route/" + i] = "target " + i;
        }
    }

    /// <summary>A device that reports its temperature; the meter keeps all devices that there ever were.</summary>
    public sealed class Thermometer
    {
        private static readonly Meter meter = new("Leaks.Thermometers");
        private readonly byte[] history = new byte[400];

        public Thermometer(int number) =>
            meter.CreateObservableGauge("temperature." + number, () => (double)history[0]);
    }

    public static class Wrapping
    {
        private static ServiceProvider services;
        private static IConfigurationRoot configuration;

        public static void Options()
        {
            const int count = 8000;
            services = new ServiceCollection().AddOptions().Configure<TariffOptions>(o => o.Price = 2)
                .AddTransient<TariffPanel>().BuildServiceProvider();
            for (int i = 0; i < count; i = Noise.Next(i, count))
                services.GetRequiredService<TariffPanel>();
            Truth.ExpectName("TariffPanel", count);
        }

        public static void Reload()
        {
            const int count = 6000;
            configuration = new ConfigurationBuilder().AddInMemoryCollection().Build();
            for (int i = 0; i < count; i = Noise.Next(i, count))
                _ = new RouteTable(configuration);
            Truth.ExpectName("RouteTable", count);
        }

        public static void Gauges()
        {
            const int count = 8000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                _ = new Thermometer(i);
            Truth.ExpectName("Thermometer", count);
        }
    }
}
