// SPDX-License-Identifier: MIT
// Requests in flight: a Kestrel on 127.0.0.1, and two HttpClients of the same process that ask it, by HTTP/1.1 and by
// HTTP/2. Says what is in flight as one line of JSON, then READY, and waits.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Text;
using System.Text.Json;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Web
{
    /// <summary>A request that was sent and has no whole answer, or waits for a connection.</summary>
    public sealed record Asked(string Method, string Uri, string Version, bool Queued);

    /// <summary>A request that the server works on.</summary>
    public sealed record Served(string Method, string Path, string Query, string Protocol, int Status, string Connection);

    public static class Program
    {
        private const int OneByOne = 4, Queued = 3, Together = 6, Done = 5;

        private static readonly ConcurrentDictionary<string, Served> served = new();
        private static readonly List<Asked> asked = new();
        private static readonly List<Task> tasks = new();
        private static readonly TaskCompletionSource never = new(TaskCreationOptions.RunContinuationsAsynchronously);

        private static async Task Serve(HttpContext context)
        {
            HttpRequest request = context.Request;
            if (request.Path == "/done")
            {
                await context.Response.WriteAsync("done");
                return;
            }
            if (request.Query["slow"] == "body")
            {
                // The client has the head of the answer, and waits for the rest.
                context.Response.StatusCode = 202;
                await context.Response.WriteAsync("first");
                await context.Response.Body.FlushAsync();
            }
            if (request.Method == "POST" && request.Query["read"] == "1")
                await request.Body.CopyToAsync(System.IO.Stream.Null);
            served[context.TraceIdentifier] = new Served(request.Method, request.Path, request.QueryString.Value,
                request.Protocol, context.Response.StatusCode, context.Connection.Id);
            await never.Task;
        }

        private static async Task<int> Start()
        {
            WebApplicationBuilder builder = WebApplication.CreateBuilder();
            builder.Logging.ClearProviders();
            builder.WebHost.ConfigureKestrel(options =>
            {
                options.Listen(IPAddress.Loopback, 0, listen => listen.Protocols = HttpProtocols.Http1);
                options.Listen(IPAddress.Loopback, 0, listen => listen.Protocols = HttpProtocols.Http2);
            });
            WebApplication application = builder.Build();
            application.Run(Serve);
            await application.StartAsync();
            ports = application.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>().Addresses
                .Select(address => new Uri(address).Port).ToArray();
            return ports.Length;
        }

        private static int[] ports;

        private static async Task Ask(HttpClient client, HttpRequestMessage message)
        {
            using HttpResponseMessage response = await client.SendAsync(message);
            await response.Content.ReadAsStringAsync();
        }

        private static void Send(HttpClient client, HttpMethod method, string uri, int version, bool queued)
        {
            var message = new HttpRequestMessage(method, uri)
            {
                Version = version == 2 ? HttpVersion.Version20 : HttpVersion.Version11,
                VersionPolicy = HttpVersionPolicy.RequestVersionExact,
            };
            if (method == HttpMethod.Post)
                message.Content = new StringContent("an order");
            asked.Add(new Asked(method.Method, uri, version == 2 ? "2.0" : "1.1", queued));
            tasks.Add(Ask(client, message));
        }

        private static async Task Wait(int count)
        {
            for (int i = 0; i < 300 && served.Count < count; i++)
                await Task.Delay(100);
            if (served.Count != count)
                throw new InvalidOperationException($"{served.Count} requests of {count} came");
        }

        private static async Task Fill()
        {
            await Start();
            string one = $"http://127.0.0.1:{ports[0]}", two = $"http://127.0.0.1:{ports[1]}";
            var few = new HttpClient(new SocketsHttpHandler { MaxConnectionsPerServer = OneByOne }) { Timeout = TimeSpan.FromHours(1) };
            var many = new HttpClient(new SocketsHttpHandler()) { Timeout = TimeSpan.FromHours(2), DefaultRequestVersion = HttpVersion.Version20, DefaultVersionPolicy = HttpVersionPolicy.RequestVersionExact };
            // Requests that are over: their connections stay, and nothing of them is in flight.
            for (int i = 0; i < Done; i++)
            {
                await few.GetStringAsync($"{one}/done");
                await many.GetStringAsync($"{two}/done");
            }
            for (int i = 0; i < OneByOne; i++)
                Send(few, i == 1 ? HttpMethod.Post : HttpMethod.Get, $"{one}/orders/{i}?id={i}" + (i == 2 ? "&slow=body" : i == 1 ? "&read=1" : ""), 1, false);
            await Wait(OneByOne);
            for (int i = 0; i < Queued; i++)
                Send(few, HttpMethod.Delete, $"{one}/queued/{i}", 1, true);
            for (int i = 0; i < Together; i++)
                Send(many, i == 4 ? HttpMethod.Put : HttpMethod.Get, $"{two}/items/{i}" + (i == 3 ? "?slow=body" : i == 0 ? "" : $"?page={i}"), 2, false);
            await Wait(OneByOne + Together);
            await Task.Delay(500);
        }

        public static int Main()
        {
            Fill().GetAwaiter().GetResult();
            GC.Collect();
            GC.WaitForPendingFinalizers();
            GC.Collect();
            var truth = new
            {
                program = "web",
                schema = 1,
                version = Environment.Version.ToString(),
                pid = Environment.ProcessId,
                asked,
                served = served.Values.OrderBy(row => row.Path).ToArray(),
            };
            string line = JsonSerializer.Serialize(truth, new JsonSerializerOptions { PropertyNamingPolicy = JsonNamingPolicy.CamelCase, Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping });
            byte[] bytes = Encoding.UTF8.GetBytes(line + "\nREADY\n");
            using var output = Console.OpenStandardOutput();
            output.Write(bytes);
            output.Flush();
            Thread.Sleep(Timeout.Infinite);
            return 0;
        }
    }
}
