// SPDX-License-Identifier: MIT
// A program that knows what is true of itself. It prints facts, then READY, and waits; with the argument "crash" it calls
// FailFast, with "throw" it dies of an exception.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

class Node
{
    public Node Next;
    public int Id;
    public string Name;
    public byte[] Data;
}

struct Pair
{
    public int A;
    public object B;
}

class Fin
{
    public int N;

    ~Fin()
    {
    }
}

class Keeper
{
    public static List<Node> All = new();
    public static Dictionary<string, Node> Map = new();
    public static Pair[] Pairs = new Pair[50];
    [ThreadStatic]
    public static Node Mine;
    public static object Lock = new();
    public static volatile int Ready;
    public static Fin[] Fins = new Fin[7];
    public static WeakReference Weak;
    public static volatile bool Stop = false;
    public static TaskCompletionSource Never = new();
}

interface IWork
{
    int Do(object a, int b, string c);
}

class Work : IWork
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public int Do(object a, int b, string c)
    {
        Keeper.Ready++;
        Thread.Sleep(Timeout.Infinite);
        GC.KeepAlive(a);
        return b + c.Length;
    }
}

static class Program
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Sleeper(object o)
    {
        Keeper.Mine = new Node { Id = 1001, Name = "mine-sleeper" };
        IWork w = new Work();
        w.Do(new Node { Id = 2001 }, 3, "abc");
        GC.KeepAlive(o);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Blocked()
    {
        Keeper.Mine = new Node { Id = 1002, Name = "mine-blocked" };
        var n = new Node { Id = 2002 };
        Keeper.Ready++;
        lock (Keeper.Lock)
        {
            GC.KeepAlive(n);
        }
        GC.KeepAlive(n);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Spinner(Node n, int depth)
    {
        if (depth > 0)
            return Spinner(n, depth - 1) + 1;
        Keeper.Ready++;
        long x = 0;
        while (!Keeper.Stop)
            x += n.Id;
        return x;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Catcher()
    {
        var n = new Node { Id = 2003 };
        try
        {
            Thrower(n);
        }
        catch (InvalidOperationException e)
        {
            Keeper.Ready++;
            Thread.Sleep(Timeout.Infinite);
            GC.KeepAlive(e);
        }
        finally
        {
            GC.KeepAlive(n);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Thrower(Node n)
    {
        throw new InvalidOperationException("caught-" + n.Id);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Waiter()
    {
        var q = new Node { Id = 2004 };
        var e = new ManualResetEventSlim();
        Keeper.Ready++;
        e.Wait();
        GC.KeepAlive(q);
    }

    static int Compare(int a, int b)
    {
        if (Keeper.Ready == 6)
        {
            Keeper.Ready++;
            Thread.Sleep(Timeout.Infinite);
        }
        return a - b;
    }

    // The framework's frames between two of ours are ReadyToRun code.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Sorter()
    {
        var l = new List<int>();
        for (int i = 0; i < 100; i++)
            l.Add(100 - i);
        while (Keeper.Ready < 6)
            Thread.Sleep(10);
        l.Sort(Compare);
    }

    static async Task<int> Async(Node n)
    {
        await Keeper.Never.Task;
        return n.Id;
    }

    static void Start(string name, ThreadStart f)
    {
        new Thread(f, 512 * 1024) { Name = name, IsBackground = true }.Start();
    }

    static void Main(string[] args)
    {
        Node n = null;
        for (int i = 0; i < 2000; i++)
        {
            n = new Node { Next = n, Id = i, Name = "node" + i, Data = new byte[i % 100] };
            Keeper.All.Add(n);
            if (i % 10 == 0)
                Keeper.Map[n.Name] = n;
        }
        for (int i = 0; i < 50; i++)
            Keeper.Pairs[i] = new Pair { A = i, B = i % 2 == 0 ? "p" + i : null };
        for (int i = 0; i < 7; i++)
            Keeper.Fins[i] = new Fin { N = i };
        var pin = GCHandle.Alloc(new byte[123456], GCHandleType.Pinned);
        Keeper.Weak = new WeakReference(n);
        var task = Async(n);
        GC.Collect();
        GC.Collect();
        Monitor.Enter(Keeper.Lock);
        Start("t-sleeper", () => Sleeper("arg"));
        Start("t-blocked", Blocked);
        Start("t-spinner", () => Spinner(new Node { Id = 2005 }, 3));
        Start("t-catcher", Catcher);
        Start("t-waiter", Waiter);
        while (Keeper.Ready < 5)
            Thread.Sleep(10);
        Start("t-sorter", Sorter);
        Keeper.Ready++;
        while (Keeper.Ready < 7)
            Thread.Sleep(10);
        Thread.Sleep(300);
        Console.WriteLine($"pid {Environment.ProcessId}");
        Console.WriteLine($"pinned {pin.AddrOfPinnedObject():x}");
        Console.WriteLine("READY");
        Console.Out.Flush();
        if (args.Length > 0 && args[0] == "crash")
            Environment.FailFast("truth");
        if (args.Length > 0 && args[0] == "throw")
            throw new InvalidOperationException("unhandled-truth");
        Thread.Sleep(Timeout.Infinite);
        Monitor.Exit(Keeper.Lock);
        GC.KeepAlive(pin);
        GC.KeepAlive(task);
    }
}
