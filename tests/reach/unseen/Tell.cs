// SPDX-License-Identifier: MIT
// How a program says what is true of itself: lines of words between tabs, as check_nativeaot_truth.py has them.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

public static unsafe class Tell
{
    static readonly List<string> s_lines = new();
    static readonly ConcurrentQueue<(string thread, GCHandle handle)> s_onStack = new();
    static int s_collections;

    static nint At(object o) => *(nint*)Unsafe.AsPointer(ref o);
    static string Hex(nint number) => "0x" + number.ToString("x");
    static string Word(object value) => value switch { null => "0x0", string s => Hex(At(s)), bool b => b ? "1" : "0", char c => ((int)c).ToString(), ValueType v => v.ToString(), _ => Hex(At(value)) };

    public static void Say(params object[] words) { lock (s_lines) s_lines.Add(string.Join('\t', words)); }
    // From here on no object moves.
    public static void Begin() { GC.Collect(); GC.WaitForPendingFinalizers(); GC.Collect(); s_collections = GC.CollectionCount(0); }
    public static void Obj(string name, object o) => Say("obj", name, Hex(At(o)), o.GetType());
    public static void Count(string type, int count) => Say("count", type, count);
    public static void Counts<T>(IEnumerable<T> objects)
    {
        var counts = new Dictionary<string, int>();
        foreach (T o in objects)
            counts[o.GetType().ToString()] = counts.GetValueOrDefault(o.GetType().ToString()) + 1;
        foreach ((string type, int count) in counts)
            if (!type.Contains('`')) Count(type, count);
    }
    public static void Field(object of, string name, object value) => Say("field", Hex(At(of)), name, Word(value));
    public static void Known(object of, string name, object value) => Say("known", Hex(At(of)), name, Word(value));
    public static void Refers(object of, object to) => Say("refers", Hex(At(of)), Hex(At(to)));
    public static void Text(string text) => Say("text", text);
    public static void Static<T>(string type, string name, ref T value) where T : class => Say("static", type, name, Hex((nint)Unsafe.AsPointer(ref value)), Hex(At(value)));
    public static void Frames(string thread, params string[] methods) => Say("frames", thread, string.Join(' ', methods));
    public static void Handling(string thread, Exception e) => Say("handling", thread, Hex(At(e)));
    public static void Waits(string thread, string what, object on, string owner) => Say("waits", thread, what, Hex(on == null ? 0 : At(on)), owner);
    public static T OnlyHere<T>(T o) where T : class { s_onStack.Enqueue((Thread.CurrentThread.Name, GCHandle.Alloc(o, GCHandleType.Weak))); return o; }

    // Start a thread that says when it has come to its place.
    public static void Start(string name, Action<ManualResetEventSlim> action)
    {
        var ready = new ManualResetEventSlim();
        new Thread(() => { Say("thread", name, Environment.CurrentManagedThreadId, gettid()); action(ready); }, 512 * 1024) { IsBackground = true, Name = name }.Start();
        ready.Wait();
    }
    [DllImport("libc")] static extern int gettid();

    public static void End(string file)
    {
        foreach ((string thread, GCHandle handle) in s_onStack)
            Say("stack", thread, Hex(handle.Target is { } o ? At(o) : 0), handle.Target?.GetType());
        Say("collections", GC.CollectionCount(0) - s_collections);
        File.WriteAllLines(file, s_lines);
        Console.Out.WriteLine("READY");
        Console.Out.Flush();
        Thread.Sleep(-1);
    }
}
