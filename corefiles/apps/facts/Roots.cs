// SPDX-License-Identifier: MIT
// For each way in which an object can be kept alive, one that is kept alive by that alone: the program itself only
// has weak references to them.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Loader;
using System.Threading;
using System.Threading.Tasks;

namespace Facts
{
    public static class Holder<T>
    {
        public static object value;
    }

    public sealed class Subscriber
    {
        public int notified;
        public void Notified() => notified++;
        public void Elapsed(object state) => notified++;
    }

    // No object is of this type.
    public static class Roots
    {
        private const MethodImplOptions Apart = MethodImplOptions.NoInlining;
        private const MethodImplOptions Optimised = MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization;

        public static object reference;
        public static WithReferences structure;
        [ThreadStatic] public static object threadReference;
        public static object key;
        public static readonly ConditionalWeakTable<object, object> table = new();
        public static TaskCompletionSource gate;
        public static event Action Changed;
        public static void Notify() => Changed?.Invoke();
        public static Func<int> closure;
        public static object plugin;
        private static readonly ManualResetEventSlim late = new(false);
        private static readonly ManualResetEventSlim never = new(false);
        private static CountdownEvent parked;

        private static object Make(string name, string kind, string label, string through = null) =>
            Truth.Root(name, new Node(3000), kind, label, through);

        [MethodImpl(Apart)]
        private static void Handles()
        {
            GCHandle.Alloc(Make("handle.strong", "handle", "strong"));
            GCHandle.Alloc(Truth.Root("handle.pinned", new int[30], "handle", "pinned", flag: "pinned"), GCHandleType.Pinned);
        }

        [MethodImpl(Apart)]
        private static void Statics()
        {
            reference = Make("static.reference", "static", "Facts.Roots.reference");
            structure.thing = Make("static.structure", "static", "Facts.Roots.structure", "Facts.WithReferences");
            Holder<int>.value = Make("static.generic.int", "static", "Facts.Holder<System.Int32>.value");
            Holder<string>.value = Make("static.generic.string", "static", "Facts.Holder<System.String>.value");
            key = new Node(1);
            object first = Make("dependent.first", "static", "Facts.Roots.key");
            table.Add(key, first);
            table.Add(first, Make("dependent.second", "static", "Facts.Roots.key"));
        }

        private static async Task Wait(object captured)
        {
            await gate.Task;
            GC.KeepAlive(captured);
        }

        [MethodImpl(Apart)]
        private static void Framework()
        {
            gate = new TaskCompletionSource();
            _ = Wait(Make("async", "static", "Facts.Roots.gate", "Facts.Roots+<Wait>d__"));
            var subscriber = (Subscriber)Truth.Root("event", new Subscriber(), "static", "Facts.Roots.Changed", "System.Action");
            Changed += subscriber.Notified;
            var captured = (Node)Make("closure", "static", "Facts.Roots.closure", "Facts.Roots+<>c__DisplayClass");
            closure = () => captured.id;
            // The queue of timers holds one that refers to itself.
            var timed = (Subscriber)Truth.Root("timer", new Subscriber(), "static", "System.Threading.TimerQueue.Instances", "System.Threading.TimerQueueTimer", alone: false);
            new Timer(timed.Elapsed).Change(TimeSpan.FromDays(20), Timeout.InfiniteTimeSpan);
            Truth.Root("frozen", "a literal that only code refers to", "gc", null);
        }

        // Unloaded, but for what the LoaderAllocator of a type that an object is of holds.
        [MethodImpl(Apart)]
        private static void Collectible()
        {
            string location = typeof(Roots).Assembly.Location;
            if (location == "")
                return; // a single-file program
            var context = new AssemblyLoadContext("unloading", isCollectible: true);
            Assembly copy = context.LoadFromAssemblyPath(location);
            Type roots = copy.GetType("Facts.Roots");
            roots.GetField("reference").SetValue(null, Make("collectible.static", "static", "Facts.Roots.plugin", "System.Reflection.LoaderAllocator"));
            typeof(Holder<>).MakeGenericType(copy.GetType("Facts.Node")).GetField("value")
                .SetValue(null, Make("collectible.generic", "static", "Facts.Roots.plugin", "System.Reflection.LoaderAllocator"));
            plugin = Activator.CreateInstance(copy.GetType("Facts.Empty"));
            context.Unload();
        }

        [MethodImpl(Apart)]
        public static void Finalizers() =>
            Truth.Root("finalizer", new Finalizable(2000), "finalizer", null);

        [MethodImpl(Optimised)]
        private static void Dropped()
        {
            GC.KeepAlive(Make("stack.dropped", "none", null));
            parked.Signal();
            never.Wait();
        }

        // The last that is needed of an object is a pointer into it.
        [MethodImpl(Optimised)]
        private static void HoldInterior(ref int element)
        {
            parked.Signal();
            late.Wait();
            Dropped();
            element++;
        }

        [MethodImpl(Optimised)]
        private static unsafe void HoldPinned(int[] array)
        {
            fixed (int* p = array)
            {
                array = null;
                HoldInterior(ref ((int[])Truth.Root("stack.interior", new int[20], "stack", "Facts.Roots.HoldInterior", flag: "interior"))[7]);
                p[3]++;
            }
        }

        [MethodImpl(Optimised)]
        private static void HoldArgument(object argument)
        {
            HoldPinned((int[])Truth.Root("stack.pinned", new int[10], "stack", "Facts.Roots.HoldPinned", flag: "pinned"));
            GC.KeepAlive(argument);
        }

        [MethodImpl(Optimised)]
        private static void HoldOptimised()
        {
            object local = Make("stack.optimised", "stack", "Facts.Roots.HoldOptimised");
            HoldArgument(Make("stack.argument", "stack", "Facts.Roots.HoldArgument"));
            GC.KeepAlive(local);
        }

        // Not optimised: all locals are live from beginning to end.
        [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.NoOptimization)]
        private static void HoldLocal()
        {
            object local = Make("stack.local", "stack", "Facts.Roots.HoldLocal");
            HoldOptimised();
            GC.KeepAlive(local);
        }

        [MethodImpl(Apart)]
        private static void SetThreadStatics()
        {
            threadReference = Make("threadstatic.reference", "thread-static", "Facts.Roots.threadReference");
            Facts.Statics.threadStructure.thing = Make("threadstatic.structure", "thread-static", "Facts.Statics.threadStructure", "Facts.WithReferences");
        }

        private static void Body()
        {
            SetThreadStatics();
            HoldLocal();
        }

        public static void Start()
        {
            Handles();
            Statics();
            Framework();
            Collectible();
            parked = new CountdownEvent(1);
            new Thread(Body) { IsBackground = true, Name = "roots" }.Start();
            parked.Wait();
            Finalizers();
        }

        [MethodImpl(Apart)]
        private static void Dead()
        {
            Make("weak", "none", null);
            Truth.Dead("dead", new Node(3001));
        }

        // After the last collection.
        public static void Finish()
        {
            parked = new CountdownEvent(1);
            late.Set();
            parked.Wait();
            Dead();
        }
    }
}
