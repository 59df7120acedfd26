// SPDX-License-Identifier: MIT
// What is registered and never taken away.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.Loader;
using System.Threading;

namespace Leaks
{
    public static class PriceTicker
    {
        public static event EventHandler Changed;
        public static void Raise() => Changed?.Invoke(null, EventArgs.Empty);
    }

    public sealed class PriceView
    {
        public byte[] Bitmap = new byte[400];
        public int Redraws;
        public PriceView() => PriceTicker.Changed += OnPriceChanged;
        private void OnPriceChanged(object sender, EventArgs change) => Redraws++;
    }

    public sealed class Order
    {
        public int Number;
        public byte[] Lines = new byte[300];
    }

    public static class Reminders
    {
        public static readonly List<Timer> All = new();

        public static void Remind(Order order) =>
            All.Add(new Timer(_ => order.Number++, null, TimeSpan.FromHours(1), TimeSpan.FromHours(1)));
    }

    public static class Host
    {
        public static readonly CancellationTokenSource Stopping = new();
    }

    public static class PluginEvents
    {
        public static event Action Unloaded;
        public static void Raise() => Unloaded?.Invoke();
    }

    public static class Subscribing
    {
        public static void Events()
        {
            const int count = 8000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                _ = new PriceView();
            PriceTicker.Raise();
            Truth.Expect("events", "PriceTicker.Changed", count);
        }

        public static void Linked()
        {
            const int count = 60000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                _ = CancellationTokenSource.CreateLinkedTokenSource(Host.Stopping.Token);
            Truth.Expect("cancellation", "Host.Stopping", count);
        }

        public static void Timers()
        {
            const int count = 5000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                Reminders.Remind(new Order { Number = i });
            Truth.Expect("timers", "Reminders", count);
        }

        private static void Load(int number)
        {
            var context = new AssemblyLoadContext("plugin-" + number, isCollectible: true);
            Assembly assembly = context.LoadFromAssemblyPath(typeof(Subscribing).Assembly.Location);
            Type type = assembly.GetType("Leaks.PluginEntry");
            var entry = (Action)Delegate.CreateDelegate(typeof(Action), Activator.CreateInstance(type), "Stop");
            PluginEvents.Unloaded += entry;
            context.Unload();
        }

        public static void Plugins()
        {
            const int count = 12;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                Load(i);
            for (int i = 0; i < 3; i++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            Truth.Expect("load-contexts", "PluginEvents.Unloaded", count);
        }
    }

    public sealed class PluginEntry
    {
        public int Stops;
        public void Stop() => Stops++;
    }
}
