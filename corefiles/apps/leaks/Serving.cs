// SPDX-License-Identifier: MIT
// Services that wait for ever, or are held for ever. Written after the rules of `report`, without a look at them.
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Loader;
using System.Threading;
using System.Threading.Tasks;

namespace Leaks
{
    public sealed class DecodeRequest
    {
        public int Frame;
        public byte[] Pixels = new byte[480];
        public bool Done;
    }

    /// <summary>Gives frames to a native decoder, which gives the cookie back, but not that of a dropped frame.</summary>
    public static class VideoBridge
    {
        public static IntPtr Submit(DecodeRequest request) => GCHandle.ToIntPtr(GCHandle.Alloc(request));

        public static void OnDecoded(IntPtr cookie)
        {
            GCHandle handle = GCHandle.FromIntPtr(cookie);
            ((DecodeRequest)handle.Target).Done = true;
            handle.Free();
        }
    }

    public sealed class Measurement
    {
        public long When;
        public double Value;
    }

    /// <summary>Each connection of a device has a thread, which outlives the connection.</summary>
    public sealed class DeviceMonitor
    {
        private readonly object signal = new();
        private int started;
        public int Started => Volatile.Read(ref started);

        public void Connect(string device) =>
            new Thread(() => Watch(device), 1 << 18) { IsBackground = true, Name = device }.Start();

        [MethodImpl(MethodImplOptions.NoInlining)]
        private void Watch(string device)
        {
            var log = new List<Measurement>();
            for (int i = 0; i < 4000; i++)
                log.Add(new Measurement { When = i, Value = device.Length + i * 0.5 });
            Interlocked.Increment(ref started);
            lock (signal)
                Monitor.Wait(signal);
            Console.Error.WriteLine(device + ": " + log.Count);
        }
    }

    /// <summary>Runs scripts of users, each in a load context that can be unloaded, were it not for the cache.</summary>
    public static class ScriptHost
    {
        private static readonly Dictionary<string, MethodInfo> entryPoints = new();

        public static void Run(string script)
        {
            var context = new AssemblyLoadContext(script, isCollectible: true);
            Assembly assembly = context.LoadFromAssemblyPath(typeof(ScriptHost).Assembly.Location);
            Type type = assembly.GetType("Leaks.PluginEntry");
            MethodInfo entry = type.GetMethod("Stop");
            entryPoints[script] = entry;
            entry.Invoke(Activator.CreateInstance(type), null);
            context.Unload();
        }
    }

    public sealed class ProductQuery
    {
        public int Number;
        public string Text;
        public byte[] Cookies = new byte[200];
    }

    /// <summary>Asks another service, four questions at a time; four that are never answered stop all others.</summary>
    public sealed class Gateway
    {
        private readonly SemaphoreSlim slots = new(4);
        private readonly TaskCompletionSource<int> backend = new();

        public async Task<int> FetchAsync(ProductQuery query)
        {
            await slots.WaitAsync();
            try
            {
                return await backend.Task + query.Number;
            }
            finally
            {
                slots.Release();
            }
        }
    }

    public sealed class CurrentUser : INotifyPropertyChanged
    {
        public static CurrentUser Instance { get; } = new();
        private string language = "en";
        public event PropertyChangedEventHandler PropertyChanged;

        public string Language
        {
            get => language;
            set
            {
                language = value;
                PropertyChanged?.Invoke(this, new PropertyChangedEventArgs(nameof(Language)));
            }
        }
    }

    public sealed class OrderRowModel
    {
        private readonly byte[] picture = new byte[512];
        private string caption;

        public OrderRowModel(int number)
        {
            string key = "order." + number;
            CurrentUser.Instance.PropertyChanged += (user, change) => Translate(key, change.PropertyName);
        }

        private void Translate(string key, string property) => caption = key + property + picture.Length;
        public string Caption => caption;
    }

    public static class Serving
    {
        private static Gateway gateway;
        private static DeviceMonitor monitor;

        public static void Callbacks()
        {
            const int count = 30000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
            {
                IntPtr cookie = VideoBridge.Submit(new DecodeRequest { Frame = i });
                if (i % 3 == 0)
                    VideoBridge.OnDecoded(cookie);
            }
            Truth.ExpectName("DecodeRequest", count * 2 / 3);
        }

        public static void Pollers()
        {
            const int count = 90;
            monitor = new DeviceMonitor();
            for (int i = 0; i < count; i = Noise.Next(i, count))
                monitor.Connect("device-" + i % 6);
            while (monitor.Started < count)
                Thread.Sleep(10);
            Truth.ExpectName("device-|DeviceMonitor", count);
        }

        public static void Scripts()
        {
            const int count = 15;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                ScriptHost.Run("discount-rules-" + i);
            for (int i = 0; i < 3; i++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            Truth.ExpectName("ScriptHost", count);
        }

        public static void Throttle()
        {
            const int count = 25000;
            gateway = new Gateway();
            for (int i = 0; i < count; i = Noise.Next(i, count))
                _ = gateway.FetchAsync(new ProductQuery { Number = i, Text = "shoes " + i });
            Truth.ExpectName("FetchAsync|Gateway|Serving.gateway", count);
        }

        public static void ViewModels()
        {
            const int count = 6000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                _ = new OrderRowModel(i);
            CurrentUser.Instance.Language = "de";
            Truth.ExpectName("CurrentUser|OrderRowModel", count);
        }
    }
}
