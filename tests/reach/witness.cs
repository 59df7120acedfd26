// SPDX-License-Identifier: MIT
// A program that says what is true of itself: `witness FILE [throw]` writes lines of words between tabs, prints READY, and waits or
// dies of an exception. check_nativeaot_truth.py has the kinds of lines. Objects are told after the last collection.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

namespace Trade.Goods
{
    public enum Shade : short { Red = 1, Green = 2, Blue = 300 }
    public struct Spot { public int X; public object Tag; public long Far; }
    public struct Plain { public int A; public double B; public byte C; }
    public interface IKeyed { long Key { get; } }
    public abstract class Root { public int InRoot = 77; protected string _label = "label"; }
    public sealed class Item : Root, IKeyed
    {
        public long Id; public Item Next; public string Name; public byte Tiny; public short Less; public double Real; public object Any; public Shade Shade;
        public Spot Spot; public decimal? Price; public bool Flag; public char Letter; public DateTime When = new(2024, 2, 29, 1, 2, 3, DateTimeKind.Utc); public int[] Counts = { 3, 1, 4 };
        public long Key => Id;
    }
    public class Outer { public class Inner { public int V = 55; } public class Gen<T> { public T Value; public class In<U> { public T A; public U B; } } }
    public class Pair<K, V> { public K Key; public V Value; public static object Shared; public static int Made; public Pair(K key, V value) { Key = key; Value = value; Made++; } }
    public class OnStack { public int Depth; public OnStack(int depth) { Depth = depth; } }
    public class Waste { public int N; public Waste(int n) { N = n; } }
    public class Ending
    {
        public static readonly ManualResetEvent Gate = new(false); public static volatile int Entered; public int N; public Ending(int n) { N = n; }
        ~Ending() { if (N >= 1000) { Entered++; Gate.WaitOne(); GC.KeepAlive(this); } }
    }
    public class Mark { public static int Count; public static string Word; public int N; public Mark(int n) { N = n; Count++; Word ??= "marked " + n; } }
    public class TradeException : Exception { public int Code; public TradeException(int code, string message, Exception inner) : base(message, inner) { Code = code; } }
    public record Note(int A, string B);
    public static class Made { public static readonly Item It = new() { Id = 424242, Name = "made late" }; public static int Count = 3; static Made() { Count += Environment.ProcessId == 0 ? 1 : 2; } }
}

namespace Trade
{
    using Trade.Goods;

    public static unsafe partial class Program
    {
        public static Item s_list; public static int s_number = 12345678; public static double s_real = 2.5; public static string s_text; public static Spot s_spot; public static Plain s_plain;
        public static readonly object s_fixed = new Mark(900); public static List<Item> s_items = new(); public static Dictionary<string, Item> s_map = new(); public static object[] s_kept = new object[64];
        public static HashSet<int> s_set = new(); public static ConcurrentDictionary<int, string> s_shared = new(); public static Queue<Item> s_queue = new(); public static int[] s_numbers = { 1, 2, 3 };
        [ThreadStatic] public static Item t_item; [ThreadStatic] public static int t_number;
        static readonly object s_lockA = new Mark(1), s_lockB = new Mark(2), s_waited = new Mark(3), s_thin = new Mark(4);
        static readonly SemaphoreSlim s_gate = new(0, 10); static readonly ManualResetEventSlim s_never = new();
        static readonly List<(string kind, GCHandle handle)> s_handles = new(); static readonly List<DependentHandle> s_dependent = new();
        static readonly List<(string thread, GCHandle handle)> s_onStack = new();
        static readonly List<string> s_truth = new(); static CountdownEvent s_ready; static volatile bool s_stop;
        static readonly TaskCompletionSource<int> s_source = new(); static readonly CancellationTokenSource s_cancel = new(); static Task s_tasks; static Timer s_timer; static Exception s_caught;

        static nint At(object o) => *(nint*)Unsafe.AsPointer(ref o);
        static string Hex(nint number) => "0x" + number.ToString("x");
        static void Say(params object[] words) { lock (s_truth) s_truth.Add(string.Join('\t', words)); }
        static void Obj(string name, object o) => Say("obj", name, Hex(At(o)), o.GetType());
        static string Word(object value) => value switch { null => "0x0", string s => Hex(At(s)), bool b => b ? "1" : "0", char c => ((int)c).ToString(), ValueType v => v.ToString(), _ => Hex(At(value)) };
        static void Field(object of, string name, object value) => Say("field", Hex(At(of)), name, Word(value));
        static void Known(object of, string name, object value) => Say("known", Hex(At(of)), name, Word(value));
        static void Refers(object of, object to) => Say("refers", Hex(At(of)), Hex(At(to)));
        static void Static<T>(string type, string name, ref T value) => Say("static", type, name, Hex((nint)Unsafe.AsPointer(ref value)), typeof(T).IsValueType ? "value" : Hex(Unsafe.As<T, nint>(ref value)));
        static void Frames(string thread, params string[] methods) => Say("frames", thread, string.Join(' ', methods));
        static void Line(string method, [CallerLineNumber] int line = 0) => Say("line", Thread.CurrentThread.Name, method, line);
        static T OnlyHere<T>(T o) where T : class { lock (s_onStack) s_onStack.Add((Thread.CurrentThread.Name, GCHandle.Alloc(o, GCHandleType.Weak))); return o; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static int Deep(int n, OnStack parent)
        {
            OnStack mine = OnlyHere(new OnStack(n));
            int below = 0;
            if (n > 0)
                below = Deep(n - 1, mine);
            else {
                s_ready.Signal();
                Line("Program.Deep"); Thread.Sleep(-1);
            }
            return below + mine.Depth + parent.Depth;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static int Spin(OnStack local)
        {
            s_ready.Signal();
            int x = 0;
            while (!s_stop)
                x += local.Depth;
            return x + local.Depth;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void ByRef(ref long number, Span<byte> bytes) { Line("Program.ByRef"); s_ready.Signal(); Thread.Sleep(-1); number++; bytes[0] = 1; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Interior() { var bytes = OnlyHere(new byte[777]); var item = OnlyHere(new Item { Id = 7777 }); ByRef(ref item.Id, bytes.AsSpan(5, 10)); }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Throw1(int code) { throw new TradeException(code, "first of " + code, null); }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Throw2(int code) { try { Throw1(code); } catch (TradeException e) { throw new TradeException(code + 1, "second of " + code, e); } }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static bool Filter(Exception e) { Line("Program.Filter"); s_ready.Signal(); Thread.Sleep(-1); return e != null; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void InCatch() { try { Throw2(10); } catch (TradeException e) { Line("Program.InCatch"); s_caught = e; s_ready.Signal(); Thread.Sleep(-1); GC.KeepAlive(e); } }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void InFilter() { try { Throw1(50); } catch (TradeException e) when (Filter(e)) { GC.KeepAlive(e); } }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void InFinally() { try { try { Throw1(60); } finally { Line("Program.InFinally"); s_ready.Signal(); Thread.Sleep(-1); } } catch (TradeException) { s_stop = true; } }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Holder() { lock (s_lockA) lock (s_lockB) lock (s_lockA) { Line("Program.Holder"); s_ready.Signal(); Thread.Sleep(-1); } }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Blocked(object what) { Line("Program.Blocked"); s_ready.Signal(); lock (what) s_stop = true; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Waiter() { lock (s_waited) { Line("Program.Waiter"); s_ready.Signal(); Monitor.Wait(s_waited); } }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Thin() { lock (s_thin) { Line("Program.Thin"); s_ready.Signal(); s_gate.Wait(); } }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Event() { Line("Program.Event"); var local = OnlyHere(new OnStack(6001)); s_ready.Signal(); s_never.Wait(); GC.KeepAlive(local); }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Native() { Line("Program.Native"); var local = OnlyHere(new OnStack(8001)); s_ready.Signal(); sleep(1000000); GC.KeepAlive(local); }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Callback() { Line("Program.Callback"); var local = OnlyHere(new OnStack(9000)); long* two = stackalloc long[2]; qsort((nint)two, 2, 8, &Compare); GC.KeepAlive(local); }
        [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
        static int Compare(nint a, nint b) { Compared(); return 0; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Compared() { Line("Program.Compared"); var local = OnlyHere(new OnStack(9001)); s_ready.Signal(); Thread.Sleep(-1); GC.KeepAlive(local); }

        [DllImport("libc")] static extern int gettid();
        [DllImport("libc")] static extern uint sleep(uint seconds);
        [DllImport("libc")] static extern void qsort(nint rows, nint count, nint size, delegate* unmanaged[Cdecl]<nint, nint, int> compare);

        static readonly ConcurrentDictionary<string, Thread> s_threads = new();
        static int s_started;
        static void Start(string name, Action action)
        {
            s_started++;
            var thread = new Thread(() => {
                t_item = new Item { Id = 7000 + name.Length, Name = name };
                t_number = name.Length;
                Say("thread", name, Environment.CurrentManagedThreadId, gettid());
                lock (s_items) s_items.Add(t_item);
                action();
            }, 512 * 1024) { IsBackground = true, Name = name };
            s_threads[name] = thread;
            thread.Start();
        }

        static int Square(int x) => x * x;

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void MakeEnding() { for (int i = 0; i < 6; i++) GC.KeepAlive(new Ending(1000 + i)); }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void MakeWaste() { for (int i = 0; i < 10; i++) GC.KeepAlive(new Waste(i)); }

        static void MakeObjects()
        {
            for (int i = 0; i < 20000; i++)
                s_list = new Item { Id = i, Next = s_list, Name = i % 100 == 0 ? "item-" + i : null, Tiny = (byte)i, Less = (short)(i * 3), Real = i / 4.0, Any = i % 1000 == 0 ? (object)i : null, Shade = (i % 3) switch { 0 => Shade.Red, 1 => Shade.Green, _ => Shade.Blue },
                    Spot = new Spot { X = -i, Far = 10L * i, Tag = i % 2000 == 0 ? "spot" + i : null }, Price = i % 7 == 0 ? 7.25m : null, Flag = (i & 1) == 1, Letter = (char)('a' + i % 26) };
            for (int i = 0; i < 1000; i++) {
                var item = new Item { Id = 100000 + i, Name = "n" + i };
                s_items.Add(item); s_set.Add(i * 7); s_shared[i] = "shared" + i;
                if (i < 500) s_map["key-" + i] = item;
                if (i < 50) s_queue.Enqueue(item);
            }
            int captured = Environment.ProcessId;
            var spots = new Spot[33]; for (int i = 0; i < 33; i++) spots[i] = new Spot { X = i, Tag = "s" + i, Far = i };
            object[] made = { new int[1234], new byte[100000], new Item[77], spots, new int[3, 4], new string[2, 2, 2], new int[][] { new int[1], null }, new object[] { 1, "two", s_list }, GC.AllocateArray<byte>(5000, pinned: true), new string('z', 60000),
                "h\u00e9llo \u4e16\u754c " + captured, 123456789, Shade.Blue, new Spot { X = 9, Tag = "in a box", Far = 8 }, 12.5m, new Pair<int, string>(1, "one"), new Pair<string, Item>("k", s_list), new Outer.Gen<int>.In<string> { A = 5, B = "bb" }, new Outer.Inner(), new Mark(20), new Note(3, "b"),
                new Func<int, int>(Square), new Func<int>(() => captured), new Item[2, 3], new Plain[5], (1, "tuple", 2.0), new Tuple<int, string>(4, "t"), new Pair<Spot, Shade>(default, Shade.Green), new Pair<Pair<int, string>, List<Item>>(null, s_items), new List<Spot> { new() { X = 3 } }, new object(),
                typeof(Item), new bool[3], new char[] { 'x', 'y' }, new decimal[2], new nint[1], new Shade[4], new IKeyed[2], new Pair<int, string>[2], new KeyValuePair<string, Spot>[2], new int?[3], new Action[1], new int[2, 0, 3], new Outer.Gen<Item> { Value = s_list }, new List<int>(), new Task[3], new Memory<byte>(new byte[9]) };
            made.CopyTo(s_kept, 0);
            Pair<int, string>.Shared = s_kept[19]; Pair<string, Item>.Shared = s_list;
            s_text = "static text " + captured; s_spot = new Spot { X = 100, Far = 200, Tag = s_list }; s_plain = new Plain { A = 11, B = 22.5, C = 33 };
        }

        static void MakeHandles()
        {
            for (int i = 0; i < 11; i++) s_handles.Add(("strong", GCHandle.Alloc(new Mark(100 + i))));
            for (int i = 0; i < 3; i++) s_handles.Add(("pinned", GCHandle.Alloc(new byte[300 + i], GCHandleType.Pinned)));
            for (int i = 0; i < 5; i++) s_handles.Add(("weak-long", GCHandle.Alloc(s_kept[19], GCHandleType.WeakTrackResurrection)));
            for (int i = 0; i < 7; i++) s_handles.Add(("weak-short", GCHandle.Alloc(s_kept[18], GCHandleType.Weak)));
            for (int i = 0; i < 4; i++) s_dependent.Add(new DependentHandle(s_kept[19], new Mark(200 + i)));
            var ending = new Ending[13]; for (int i = 0; i < 13; i++) ending[i] = new Ending(i);
            GC.SuppressFinalize(ending[0]); GC.SuppressFinalize(ending[1]);
            s_kept[50] = ending;
            MakeEnding();
        }

        static void StartThreads()
        {
            s_ready = new CountdownEvent(14);
            Start("deep", () => Deep(40, OnlyHere(new OnStack(4100)))); Frames("deep", [.. System.Linq.Enumerable.Repeat("Program.Deep", 41)]);
            Start("spin", () => Spin(OnlyHere(new OnStack(5100)))); Frames("spin", "Program.Spin");
            Start("holder", Holder); Frames("holder", "Program.Holder");
            while (s_ready.CurrentCount > 11) Thread.Sleep(10);
            Thread.Sleep(200);
            Start("blockA", () => Blocked(s_lockA)); Start("blockB", () => Blocked(s_lockB)); Frames("blockA", "Program.Blocked"); Frames("blockB", "Program.Blocked");
            Start("waiter", Waiter); Start("thin", Thin); Start("event", Event); Frames("waiter", "Program.Waiter"); Frames("thin", "Program.Thin"); Frames("event", "Program.Event");
            Start("incatch", InCatch); Start("infilter", InFilter); Start("infinally", InFinally);
            Frames("incatch", "Program.InCatch", "Program.Throw2", "Program.Throw1", "Program.Throw2", "Program.InCatch");
            Frames("infilter", "Program.Filter", "Program.InFilter", "Program.Throw1", "Program.InFilter"); Frames("infinally", "Program.InFinally", "Program.Throw1", "Program.InFinally");
            Start("native", Native); Start("callback", Callback); Start("interior", Interior);
            Frames("native", "Program.Native"); Frames("callback", "Program.Compared", "Program.Compare", "Program.Callback"); Frames("interior", "Program.ByRef", "Program.Interior");
            s_ready.Wait();
        }

        static void TellCounts()
        {
            Say("count", "Trade.Goods.Item", 20000 + 1000 + 1 + s_started + 1 + 1); Say("count", "Trade.Goods.OnStack", 41 + 6); Say("count", "Trade.Goods.Ending", 13 + 6); Say("count", "Trade.Goods.Note", 1);
            Say("count", "Trade.Goods.TradeException", 4); Say("count", "Trade.Goods.Mark", 1 + 4 + 11 + 1 + 4 + 3 + 3 + 1); Say("count", "Trade.Goods.Waste", 10); Say("count", "Trade.Goods.Outer+Inner", 1); Say("count", "Trade.Goods.Pair<System.Int32, System.String>", 1);
            Say("dead", "Trade.Goods.Waste", 10); Say("dead", "Trade.Goods.OnStack", 0); Say("dead", "Trade.Goods.Item", 0);
            Say("finalizable", "Trade.Goods.Ending", 13, "pending", 5); // those whose finalizer was suppressed stay in the queue
        }

        static void TellObjects()
        {
            for (int i = 0; i < s_kept.Length; i++)
                if (s_kept[i] != null) Obj("kept" + i, s_kept[i]);
            Obj("list", s_list); Obj("items", s_items); Obj("map", s_map); Obj("set", s_set); Obj("shared", s_shared); Obj("queue", s_queue); Obj("timer", s_timer); Obj("tasks", s_tasks); Obj("source", s_source);
            Item item = s_list;
            for (int i = 0; i < 20; i++, item = item.Next) {
                Field(item, "InRoot", item.InRoot); Field(item, "Id", item.Id); Field(item, "Next", item.Next); Field(item, "Name", item.Name); Field(item, "Tiny", item.Tiny); Field(item, "Less", item.Less); Field(item, "Real", item.Real); Field(item, "Any", item.Any); Field(item, "Shade", (short)item.Shade);
                Field(item, "Spot.X", item.Spot.X); Field(item, "Spot.Tag", item.Spot.Tag); Field(item, "Spot.Far", item.Spot.Far); Field(item, "Price.hasValue", item.Price.HasValue); Field(item, "Flag", item.Flag); Field(item, "Letter", item.Letter); Field(item, "Counts", item.Counts);
                Refers(item, item.Next); Refers(item, item.Counts);
            }
            var pair = (Pair<string, Item>)s_kept[16]; Field(pair, "Key", pair.Key); Field(pair, "Value", pair.Value); Refers(pair, pair.Key); Refers(pair, pair.Value);
            Known(s_items, "_size", s_items.Count); Known(s_map, "_count", s_map.Count); Known(s_set, "_count", s_set.Count); Known(s_queue, "_size", s_queue.Count);
            foreach ((string name, Thread thread) in s_threads) Known(thread, "_name", thread.Name);
            var e = (TradeException)s_caught; Known(e, "_message", e.Message); Known(e, "_innerException", e.InnerException); Known(e, "_HResult", e.HResult); Field(e, "Code", e.Code);
            Say("exception", Hex(At(e)), e.GetType(), e.Message, e.HResult, Hex(At(e.InnerException)), "Program.Throw2 Program.InCatch");
            e = (TradeException)e.InnerException; Say("exception", Hex(At(e)), e.GetType(), e.Message, e.HResult, "0x0", "Program.Throw1 Program.Throw2");
            Say("handling", "incatch", Hex(At(s_caught)));
            Say("lock", Hex(At(s_lockA)), "holder", 1, "blockA"); Say("lock", Hex(At(s_lockB)), "holder", 1, "blockB");
            Say("waits", "blockA", "Monitor.Enter", Hex(At(s_lockA)), "holder"); Say("waits", "blockB", "Monitor.Enter", Hex(At(s_lockB)), "holder"); Say("waits", "waiter", "Monitor.Wait", Hex(At(s_waited)), "-");
            Say("waits", "thin", "SemaphoreSlim", Hex(At(s_gate)), "-"); Say("waits", "event", "ManualResetEventSlim", Hex(At(s_never)), "-"); Say("waits", "deep", "Thread.Sleep", "0x0", "-");
            Say("thinlock", Hex(At(s_thin)), "thin");
            Say("chain", 3, "TaskCompletionSource", "Program.Second Program.First"); Say("chain", 1, "Task.Delay", "Program.Later"); Say("chain", 1, "TaskCompletionSource", "Program.Endless Program.Loop");
            Say("text", s_text); Say("text", "item-1900"); Say("text", "second of 10");
        }

        static void TellRoots()
        {
            foreach ((string kind, GCHandle handle) in s_handles) Say("handle", kind, Hex(GCHandle.ToIntPtr(handle) & ~1), Hex(At(handle.Target)));
            foreach (DependentHandle handle in s_dependent) Say("dependent", Hex(At(handle.Target)), Hex(At(handle.Dependent)));
            foreach ((string thread, GCHandle handle) in s_onStack) Say("stack", thread, Hex(handle.Target is { } o ? At(o) : 0), handle.Target?.GetType());
            Static("Trade.Program", "s_list", ref s_list); Static("Trade.Program", "s_number", ref s_number); Static("Trade.Program", "s_real", ref s_real); Static("Trade.Program", "s_text", ref s_text); Static("Trade.Program", "s_spot", ref s_spot); Static("Trade.Program", "s_plain", ref s_plain);
            Static("Trade.Program", "s_fixed", ref Unsafe.AsRef(in s_fixed)); Static("Trade.Program", "s_items", ref s_items); Static("Trade.Program", "s_map", ref s_map); Static("Trade.Program", "s_kept", ref s_kept); Static("Trade.Program", "s_set", ref s_set); Static("Trade.Program", "s_shared", ref s_shared); Static("Trade.Program", "s_queue", ref s_queue);
            Static("Trade.Program", "s_numbers", ref s_numbers); Static("Trade.Program", "s_tasks", ref s_tasks); Static("Trade.Program", "s_timer", ref s_timer); Static("Trade.Program", "s_caught", ref s_caught); Static("Trade.Goods.Made", "It", ref Unsafe.AsRef(in Made.It)); Static("Trade.Goods.Made", "Count", ref Made.Count);
            Static("Trade.Goods.Pair<System.Int32, System.String>", "Shared", ref Pair<int, string>.Shared); Static("Trade.Goods.Pair<System.Int32, System.String>", "Made", ref Pair<int, string>.Made); Static("Trade.Goods.Pair<System.String, Trade.Goods.Item>", "Shared", ref Pair<string, Item>.Shared);
            Say("value", Hex(At(s_lockA)), "Count", Mark.Count); Say("value", Hex(At(s_lockA)), "Word", Hex(At(Mark.Word))); Say("value", Hex(At(s_kept[15])), "Made", Pair<int, string>.Made); Say("value", Hex(At(s_kept[15])), "Shared", Hex(At(Pair<int, string>.Shared)));
            Static("Trade.Goods.Ending", "Gate", ref Unsafe.AsRef(in Ending.Gate)); Static("Trade.Program", "t_item@main", ref t_item);
        }

        public static int Main(string[] args)
        {
            MakeObjects();
            MakeHandles();
            StartThreads();
            s_tasks = Task.WhenAll(First(1), First(2), First(3), Later().AsTask(), Loop());
            s_timer = new Timer(_ => { }, new Mark(7001), 100000000, 100000000);
            GC.KeepAlive(Made.It);
            Thread.Sleep(300);
            t_item = new Item { Id = 6999, Name = "main" };
            GC.Collect(); GC.Collect();
            while (Ending.Entered == 0) Thread.Sleep(10);
            int collections = GC.CollectionCount(0);
            Frames("main", "Program.Main");
            MakeWaste();
            TellCounts();
            TellObjects();
            TellRoots();
            Say("collections", GC.CollectionCount(0) - collections);
            File.WriteAllLines(args[0], s_truth);
            Console.WriteLine("READY");
            Console.Out.Flush();
            if (args.Length > 1)
                Throw2(70);
            Thread.Sleep(-1);
            return 0;
        }
    }

    // There is no await in unsafe code.
    public static partial class Program
    {
        static async Task<int> First(int n) { var held = new Mark(5000 + n); int r = await Second(n); return r + held.N; }
        static async Task<int> Second(int n) { await Task.Yield(); var held = new Mark(6000 + n); int r = await s_source.Task; return r + held.N; }
        static async ValueTask<string> Later() { await Task.Delay(100000000, s_cancel.Token); return "never"; }
        static async IAsyncEnumerable<int> Endless() { for (int i = 0; ; i++) { await s_source.Task; yield return i; } }
        static async Task Loop() { await foreach (int x in Endless()) s_number += x; }
    }
}
