// SPDX-License-Identifier: MIT
// sdk: Microsoft.NET.Sdk.Web
// ASP.NET Core's template for NativeAOT (webapiaot), with requests in flight, which it makes itself.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Net.Http;
using System.Runtime.CompilerServices;
using System.Text.Json.Serialization;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Todos
{
    public record Todo(int Id, string Title, DateOnly? DueBy = null, bool IsComplete = false);
    [JsonSerializable(typeof(Todo[]))] internal partial class AppJsonSerializerContext : JsonSerializerContext { }
    public class Store { public readonly ConcurrentDictionary<int, Todo> Todos = new(); public readonly List<Caller> Callers = new(); public Todo Newest; }
    public class Caller { public int Id; public Todo Wants; public DateTime Since = DateTime.UtcNow; }

    public static class Program
    {
        static readonly Store s_store = new(); static WebApplication s_app; static readonly TaskCompletionSource<Todo> s_never = new(TaskCreationOptions.RunContinuationsAsynchronously); static readonly HttpClient s_client = new(); static int s_waiting;

        static async Task<Todo> WaitFor(int id)
        {
            var caller = new Caller { Id = id, Wants = s_store.Todos[id] };
            lock (s_store.Callers) s_store.Callers.Add(caller);
            Interlocked.Increment(ref s_waiting);
            Todo todo = await s_never.Task;
            return todo ?? caller.Wants;
        }
        static async Task<int> Ask(string address, int id) { string text = await s_client.GetStringAsync($"{address}/wait/{id}"); return text.Length; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Report(ManualResetEventSlim ready) { var todo = Tell.OnlyHere(new Todo(-1, "on a stack")); ready.Set(); s_never.Task.Wait(); GC.KeepAlive(todo); }

        public static async Task Main(string[] args)
        {
            var builder = WebApplication.CreateSlimBuilder();
            builder.Logging.ClearProviders();
            builder.WebHost.UseUrls("http://127.0.0.1:0");
            builder.Services.ConfigureHttpJsonOptions(options => options.SerializerOptions.TypeInfoResolverChain.Insert(0, AppJsonSerializerContext.Default));
            s_app = builder.Build();
            for (int i = 0; i < 300; i++) s_store.Todos[i] = s_store.Newest = new Todo(i, "todo " + i, i % 3 == 0 ? new DateOnly(2026, 1, 1 + i % 28) : null);
            s_app.MapGet("/todos", () => s_store.Todos.Values.Take(5).ToArray());
            s_app.MapGet("/wait/{id}", async (HttpContext context, int id) => await context.Response.WriteAsync((await WaitFor(id)).Title));
            await s_app.StartAsync();
            string address = s_app.Urls.First();
            for (int i = 0; i < 200; i++) await s_client.GetStringAsync(address + "/todos");
            var asking = Enumerable.Range(0, 6).Select(i => Ask(address, i)).ToArray();
            while (Volatile.Read(ref s_waiting) < 6) await Task.Delay(10);
            Tell.Start("report", Report);
            await Task.Delay(500);
            Finish(args[0], asking);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Finish(string file, Task<int>[] asking)
        {
            Tell.Begin();
            Tell.Say("own", "Todos.Program.");
            Tell.Count("Todos.Todo", 301); Tell.Count("Todos.Caller", 6); Tell.Count("Todos.Store", 1); Tell.Count("Microsoft.AspNetCore.Builder.WebApplication", 1);
            Tell.Obj("store", s_store); Tell.Obj("app", s_app); Tell.Obj("client", s_client); Tell.Obj("never", s_never); Tell.Obj("todos", s_store.Todos); Tell.Obj("newest", s_store.Newest); Tell.Obj("asking", asking);
            foreach (Todo todo in s_store.Todos.Values.Take(30)) { Tell.Field(todo, "<Id>k__BackingField", todo.Id); Tell.Field(todo, "<Title>k__BackingField", todo.Title); Tell.Refers(todo, todo.Title); }
            foreach (Caller caller in s_store.Callers) { Tell.Field(caller, "Id", caller.Id); Tell.Field(caller, "Wants", caller.Wants); Tell.Refers(caller, caller.Wants); }
            Tell.Known(s_store.Callers, "_size", 6);
            Tell.Static("Todos.Program", "s_store", ref Unsafe.AsRef(in s_store)); Tell.Static("Todos.Program", "s_app", ref s_app); Tell.Static("Todos.Program", "s_never", ref Unsafe.AsRef(in s_never)); Tell.Static("Todos.Program", "s_client", ref Unsafe.AsRef(in s_client));
            Tell.Text("todo 299"); Tell.Text("on a stack");
            Tell.Frames("report", "Program.Report");
            Tell.Say("methods", "Program.WaitFor", 6); Tell.Say("methods", "Program.Ask", 6);
            Tell.End(file);
        }
    }
}
