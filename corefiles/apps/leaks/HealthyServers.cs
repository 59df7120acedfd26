// SPDX-License-Identifier: MIT
// Servers with nothing wrong, whose heap is small and mostly what their open connections need.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Net.Sockets;
using System.Net.WebSockets;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.Logging;

namespace Leaks
{
    /// <summary>Streams of HTTP/2 and WebSockets that are open, and wait for the next event.</summary>
    public static class OpenConnections
    {
        private static WebApplication app;
        private static readonly List<object> clients = new();

        private static void Build(HttpProtocols protocols)
        {
            WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
            builder.Logging.ClearProviders();
            builder.WebHost.ConfigureKestrel(options =>
                options.Listen(IPAddress.Loopback, 0, listen => listen.Protocols = protocols));
            app = builder.Build();
            app.UseWebSockets();
            app.MapGet("/events", Events);
            app.MapGet("/chat", Chat);
            app.StartAsync().Wait();
        }

        private static async Task Events(HttpContext context)
        {
            while (true)
            {
                await context.Response.WriteAsync("data: tick\n\n");
                await context.Response.Body.FlushAsync();
                await Task.Delay(TimeSpan.FromMinutes(1), context.RequestAborted);
            }
        }

        private static async Task Chat(HttpContext context)
        {
            using WebSocket socket = await context.WebSockets.AcceptWebSocketAsync();
            byte[] message = new byte[256];
            while (socket.State == WebSocketState.Open)
                await socket.ReceiveAsync(message, context.RequestAborted);
        }

        /// <summary>The program is its own client, as a gateway or a test is.</summary>
        public static void Streams()
        {
            Build(HttpProtocols.Http2);
            var client = new HttpClient(new SocketsHttpHandler { EnableMultipleHttp2Connections = true }) { DefaultRequestVersion = new Version(2, 0), DefaultVersionPolicy = HttpVersionPolicy.RequestVersionExact };
            for (int i = 0; i < 500; i = Noise.Next(i, 500))
            {
                Stream stream = client.GetStreamAsync(app.Urls.First() + "/events").Result;
                clients.Add(stream);
                stream.ReadAsync(new byte[100]).AsTask().Wait();
            }
        }

        public static void Chats()
        {
            Build(HttpProtocols.Http1);
            var server = new Uri(app.Urls.First().Replace("http", "ws") + "/chat");
            for (int i = 0; i < 400; i = Noise.Next(i, 400))
            {
                var socket = new ClientWebSocket();
                socket.ConnectAsync(server, CancellationToken.None).Wait();
                _ = socket.ReceiveAsync(new byte[100], CancellationToken.None);
                clients.Add(socket);
            }
        }

        /// <summary>A server of the program's own, without the framework's.</summary>
        public static void Sockets()
        {
            var listener = new TcpListener(IPAddress.Loopback, 0);
            listener.Start();
            for (int i = 0; i < 700; i = Noise.Next(i, 700))
            {
                var client = new TcpClient();
                client.Connect((IPEndPoint)listener.LocalEndpoint);
                clients.Add(client);
                _ = Serve(listener.AcceptTcpClient());
            }
        }

        private static async Task Serve(TcpClient client)
        {
            using NetworkStream stream = client.GetStream();
            byte[] message = new byte[1024];
            while (await stream.ReadAsync(message) > 0)
                await stream.WriteAsync(message);
        }
    }

    /// <summary>A handle of a database, which closes what it refers to by a call of its own, and is then dropped.</summary>
    public sealed class StatementHandle : SafeHandle
    {
        public StatementHandle(IntPtr statement) : base(IntPtr.Zero, true) => SetHandle(statement);
        public override bool IsInvalid => handle == IntPtr.Zero;
        protected override bool ReleaseHandle() => Close() == 0;

        public int Close()
        {
            Marshal.FreeHGlobal(handle);
            SetHandle(IntPtr.Zero);
            return 0;
        }
    }

    public static class Database
    {
        private static readonly MemoryCache answers = new(new MemoryCacheOptions { SizeLimit = 4000, CompactionPercentage = 0.2 });
        private static readonly List<object> rows = new();

        /// <summary>Asks a database for much, and closes each statement.</summary>
        public static void Statements()
        {
            for (int i = 0; i < 40000; i = Noise.Next(i, 40000))
            {
                var statement = new StatementHandle(Marshal.AllocHGlobal(16));
                if (i % 4 == 0)
                    rows.Add("row " + statement.Close());
                else
                    statement.Close();
            }
        }

        /// <summary>A cache at its limit, which removes a fifth of its entries each time.</summary>
        public static void Compacting()
        {
            for (int i = 0; i < 60000; i = Noise.Next(i, 60000))
            {
                answers.Set("question " + i, new byte[700], new MemoryCacheEntryOptions { Size = 1 });
                if (i % 100 == 0)
                    Thread.Sleep(1);
            }
        }
    }

    public sealed class Token
    {
        public readonly CancellationTokenSource Source = new(TimeSpan.FromHours(2));
        public readonly string Name;
        public Token(string name) => Name = name;
    }

    /// <summary>Delays and deadlines that are all in the queue of timers; one service has one of them in a field.</summary>
    public static class Deadlines
    {
        private static Token health;
        private static readonly List<Task> jobs = new();

        private static async Task Job(int number)
        {
            await Task.Delay(TimeSpan.FromHours(1 + number % 3));
            Console.Error.WriteLine(number);
        }

        public static void Wait()
        {
            for (int i = 0; i < 3000; i = Noise.Next(i, 3000))
            {
                _ = Job(i);
                if (i == 1500)
                    health = new Token("health");
            }
        }
    }

    /// <summary>Buffers that are full of zeros, for they wait for their first use.</summary>
    public sealed class Recorder
    {
        private readonly MemoryStream track = new(64 * 1024);
        private readonly byte[] frame = new byte[64 * 1024];
        public Recorder() => track.SetLength(64 * 1024);
        public long Length => track.Length + frame.Length;
    }

    public static class Studio
    {
        private static readonly List<Recorder> recorders = new();

        public static void Record()
        {
            for (int i = 0; i < 100; i++)
                recorders.Add(new Recorder());
            GC.Collect();
            Thread.Sleep(300);
        }
    }
}
