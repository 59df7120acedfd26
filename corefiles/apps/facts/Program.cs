// SPDX-License-Identifier: MIT
// Makes one object of every kind, prints the truth about them as one line of JSON, then READY, and waits.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Loader;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Facts
{
    public static class Program
    {
        private static readonly List<object> keep = new();
        public static int CountedObjects;

        private static void Strings()
        {
            Truth.Tag("string.empty", "");
            Truth.Tag("string.literal", "a literal of the program");
            Truth.Tag("string.built", "built " + Environment.Version.Major);
            Truth.Tag("string.control", new string(new[] { 'a', '\0', '\x01', '\n', '\r', '\t', '\x1b', '\x7f', '\x85', '"', '\\' }));
            Truth.Tag("string.latin", new string("caf\u00e9 na\u00efve \u00df".AsSpan()));
            Truth.Tag("string.cjk", new string("\u4e2d\u6587".AsSpan()));
            Truth.Tag("string.nonbmp", new string("\U0001F600 smile".AsSpan()));
            Truth.Tag("string.lone_high", new string(new[] { 'x', '\ud83d', 'y' }));
            Truth.Tag("string.lone_low", new string(new[] { '\ude00' }));
            Truth.Tag("string.swapped", new string(new[] { '\ude00', '\ud83d' }));
            Truth.Tag("string.long", new string('x', 1000));
            Truth.Tag("string.loh", new string('L', 60000));
            Truth.Tag("string.interned", string.Intern("interned " + Environment.Version.Major));
        }

        private static unsafe void Arrays()
        {
            Truth.Tag("array.int", new[] { 1, -2, 3 });
            Truth.Tag("array.int.empty", new int[0]);
            Truth.Tag("array.string.empty", new string[0]);
            Truth.Tag("array.byte", new byte[] { 0, 127, 255 });
            Truth.Tag("array.bool", new[] { true, false, true });
            Truth.Tag("array.char", new[] { 'a', '\0', '\uffff' });
            Truth.Tag("array.double", new[] { 0.5, double.NaN });
            Truth.Tag("array.enum", new[] { EnumByte.One, EnumByte.Maximum });
            Truth.Tag("array.string", new[] { "one", null, new string("three".AsSpan()) });
            Truth.Tag("array.object", new object[] { 1, "two", null, new Node(3), new int[1] });
            Truth.Tag("array.covariant", (object[])new string[] { "seen as object[]" });
            Truth.Tag("array.jagged", new[] { new[] { 1, 2 }, null, new int[0] });
            Truth.Tag("array.jagged3", new[] { new[] { new[] { "deep" } } });
            Truth.Tag("array.nullable", new int?[] { 1, null });
            Truth.Tag("array.guid", new Guid[2]);
            Truth.Tag("array.decimal", new decimal[] { 1, 2.5m });
            Truth.Tag("array.tuple", new (int, string)[] { (1, "a"), (2, null) });
            Truth.Tag("array.point", new Point[] { new Point { x = 1, y = 2 }, default });
            Truth.Tag("array.packed", new Packed[3]);
            Truth.Tag("array.onebyte", new OneByte[5]);
            Truth.Tag("array.emptystruct", new EmptyStruct[4]);
            Truth.Tag("array.struct.refs", Enumerable.Range(0, 10).Select(i => new WithReferences { text = "element " + i, number = i, thing = new Node(i) }).ToArray());
            Truth.Tag("array.struct.deep", Enumerable.Range(0, 5).Select(i => new Deep { before = i, b = new WithReferences { text = "deep " + i } }).ToArray());
            Truth.Tag("array.struct.last", Enumerable.Range(0, 7).Select(i => new ReferenceLast { a = i, last = "last " + i }).ToArray());
            Truth.Tag("array.struct.inline", new FourObjects[2]);
            Truth.Tag("array.struct.nested", new Outer.NestedStruct[] { new Outer.NestedStruct { o = "nested", i = 1 } });
            Truth.Tag("array.struct.generic", new Generic<int, string>.InnerStruct[] { new Generic<int, string>.InnerStruct { u = "u", t = 9 } });
            Truth.Tag("array.entries", new KeyValuePair<string, List<int>>[] { new("k", new List<int> { 1 }) });
            Truth.Tag("array.pointer", new int*[] { (int*)0x10, null });
            Truth.Tag("array.pointer2", new void**[2]);
            Truth.Tag("array.function", new delegate*<int, void>[2]);
            Truth.Tag("array.interface", new IThing<string>[] { new Thing<string>() });
            Truth.Tag("array.type", new[] { typeof(int), typeof(Node) });
            Truth.Tag("array.2d.string", new string[2, 3] { { "00", "01", "02" }, { "10", "11", null } });
            Truth.Tag("array.2d.int", new int[3, 2] { { 1, 2 }, { 3, 4 }, { 5, 6 } });
            Truth.Tag("array.3d.byte", new byte[2, 3, 4]);
            Truth.Tag("array.2d.empty", new int[0, 5]);
            var structs = new WithReferences[2, 2];
            structs[1, 1].text = "in two dimensions";
            Truth.Tag("array.2d.struct", structs);
            Truth.Tag("array.2d.jagged", new int[][,] { new int[1, 1], null });
            Truth.Tag("array.jagged.2d", new int[,][] { { new int[2], null } });
            Truth.Tag("array.bounds.2d", Array.CreateInstance(typeof(int), new[] { 3, 4 }, new[] { -2, 5 }));
            Array bounds = Array.CreateInstance(typeof(string), new[] { 3 }, new[] { 5 });
            bounds.SetValue("at five", 5);
            bounds.SetValue("at seven", 7);
            Truth.Tag("array.bounds.1d", bounds);
            Truth.Tag("array.bounds.1d.int", Array.CreateInstance(typeof(int), new[] { 2 }, new[] { 1 }));
            Truth.Tag("array.bounds.zero", Array.CreateInstance(typeof(long), new[] { 2 }, new[] { 0 }));
            Truth.Tag("array.rank32", Array.CreateInstance(typeof(short), Enumerable.Repeat(1, 32).ToArray()));
            Truth.Tag("array.loh.byte", new byte[100000]);
            var names = new string[30000];
            names[29999] = "the last of many";
            Truth.Tag("array.loh.string", names);
            Truth.Tag("array.loh.struct", new WithReferences[5000]);
            Truth.Tag("array.loh.double", new double[12000]);
            Truth.Tag("array.poh.byte", GC.AllocateArray<byte>(1000, pinned: true));
            Truth.Tag("array.poh.long", GC.AllocateUninitializedArray<long>(5000, pinned: true)).AsSpan().Clear();
            var pinnedObjects = GC.AllocateArray<object>(8, pinned: true);
            pinnedObjects[3] = "seen from the pinned heap";
            Truth.Tag("array.poh.object", pinnedObjects);
        }

        private static unsafe void Structures()
        {
            Truth.Tag("primitives", new Primitives());
            Truth.Tag("enums", new Enums());
            Truth.Tag("wellknown", new WellKnown());
            Truth.Tag("empty", new Empty());
            Truth.Tag("object", new object());
            Truth.Tag("nonamespace", new NoNamespace());
            Truth.Tag("unicode", new Größe());
            Truth.Tag("embedded", new Embedded
            {
                one = new WithReferences { text = "one", number = 1, thing = new Node(9) },
                deep = new Deep { before = -1, a = new WithReferences { text = "a" }, between = 3, b = new WithReferences { text = "b", thing = new object() } },
                point = new Point { x = 10, y = 20 },
                packed = new Packed { a = 1, b = 2, c = 3 },
                node = new Node(10),
                last = new ReferenceLast { d = 4, last = "last" },
            });
            Truth.Tag("base", new Base());
            Truth.Tag("derived", new Derived());
            Truth.Tag("mostderived", new MostDerived());
            Truth.Tag("pointers", new Pointers());
            var inline = new InlineArrays();
            inline.objects[2] = "third of four";
            inline.numbers[4] = 44;
            inline.structs[1].text = "second of three";
            Truth.Tag("inlinearrays", inline);
            Truth.Tag("overlapping", new Overlapping { first = "first", low = 1, high = 2, second = "second", far = 9 });
            Truth.Tag("record", new Record(1, "record"));
            Truth.Tag("tuple", Tuple.Create(1, "two", 3.0, new Node(4)));
            Truth.Tag("tuple.big", Tuple.Create(1, 2, 3, 4, 5, 6, 7, 8));
            Truth.Tag("anonymous", new { Name = "anonymous", Value = 3 });
            Truth.Tag("nested", new Outer.Nested());
            Truth.Tag("nested.generic.ref", new Outer.Nested.Deeper<string> { value = "x" });
            Truth.Tag("nested.generic.value", new Outer.Nested.Deeper<int> { value = 3 });
            Truth.Tag("nested.generic.nested", new Outer.Nested.Deeper<Outer.Nested.Deeper<int>[]>());
            Truth.Tag("generic.int.string", new Generic<int, string> { t = 5, u = "generic" });
            Truth.Tag("generic.string.node", new Generic<string, Node> { t = "t", u = new Node(1) });
            Truth.Tag("generic.struct.list", new Generic<WithReferences, List<int>> { t = new WithReferences { text = "in a generic" }, u = new List<int> { 1, 2, 3 } });
            Truth.Tag("generic.array.2d", new Generic<int[], string[,]> { t = new[] { 1 } });
            Truth.Tag("generic.pointers", new Generic<int*[], EnumByte>());
            Truth.Tag("generic.nullable", new Generic<int?, (int, string)> { t = 4, u = (1, "item") });
            Truth.Tag("generic.inner", new Generic<int, string>.Inner { t = 6, list = new List<string> { "in a list" } });
            Truth.Tag("generic.inner.generic", new Generic<Node, string>.Inner<Guid> { u = "u", v = Guid.Empty });
            Truth.Tag("generic.inner.generic2", new Generic<Generic<int, int>, List<Dictionary<string, int[]>>>.Inner<Generic<byte, byte>.Inner<string>>());
            Truth.Tag("generic.interface", new Thing<IThing<object>>());
            Truth.Tag("generic.type", typeof(Generic<,>));
            Truth.Tag("type", typeof(Node));
            Truth.Tag("node.self", SelfReference());
            Node head = null;
            for (int i = 0; i < 500; i++)
                head = new Node(i, head);
            Truth.Tag("node.list", head);
        }

        private static Node SelfReference()
        {
            var node = new Node(1);
            node.next = node;
            node.payload = node;
            return node;
        }

        private static void Boxes()
        {
            Truth.Tag("box.bool", (object)true);
            Truth.Tag("box.sbyte", (object)(sbyte)-8);
            Truth.Tag("box.byte", (object)(byte)208);
            Truth.Tag("box.int16", (object)(short)-16);
            Truth.Tag("box.uint16", (object)(ushort)16);
            Truth.Tag("box.int32", (object)-32);
            Truth.Tag("box.uint32", (object)32u);
            Truth.Tag("box.int64", (object)-64L);
            Truth.Tag("box.uint64", (object)64UL);
            Truth.Tag("box.single", (object)1.5f);
            Truth.Tag("box.double", (object)-2.5);
            Truth.Tag("box.char", (object)'c');
            Truth.Tag("box.intptr", (object)(IntPtr)5);
            Truth.Tag("box.uintptr", (object)(UIntPtr)6);
            Truth.Tag("box.enum", (object)EnumUInt64.Top);
            Truth.Tag("box.enum.private", Outer.BoxedPrivateEnum());
            Truth.Tag("box.nullable", (object)(int?)6);
            Truth.Tag("box.decimal", (object)12.50m);
            Truth.Tag("box.guid", (object)new Guid("ffeeddcc-bbaa-9988-7766-554433221100"));
            Truth.Tag("box.datetime", (object)new DateTime(1999, 1, 1));
            Truth.Tag("box.empty", (object)default(EmptyStruct));
            Truth.Tag("box.struct", (object)new WithReferences { text = "boxed", number = 1 });
            Truth.Tag("box.deep", (object)new Deep { before = 1, b = new WithReferences { text = "boxed deep" } });
            Truth.Tag("box.packed", (object)new Packed { a = 1, b = 2, c = 3 });
            Truth.Tag("box.union", (object)new Union { number = 1.0, reference = "in a union" });
            Truth.Tag("box.tuple", (object)(1, "two"));
            Truth.Tag("box.generic", (object)new Generic<string, int>.InnerStruct { u = 5, t = "t" });
            Truth.Tag("box.inline", (object)default(FiveInts));
            Truth.Tag("box.record", (object)new RecordStruct(3, "record struct"));
        }

        private static void Exceptions()
        {
            Truth.Tag("exception.plain", new Exception("plain, never thrown"));
            Truth.Tag("exception.inner", new Exception("outer", new ArgumentException("inner")));
            try
            {
                try { throw new FormatException("thrown inner"); }
                catch (Exception e) { throw new FactsException("thrown outer", e); }
            }
            catch (Exception e)
            {
                Truth.Tag("exception.thrown", e);
                Truth.Tag("exception.thrown.inner", e.InnerException);
            }
            try { ((string)null).ToString(); }
            catch (Exception e) { Truth.Tag("exception.null", e); }
            Truth.Tag("exception.aggregate", new AggregateException(new TimeoutException(), new InvalidCastException("second")));
            Truth.Tag("exception.nomessage", new FactsException(null, null));
        }

        private static int StaticMethod(int x) => x;
        private static int ClosedOver(Node node, int x) => node.id + x;

        private static void Delegates()
        {
            var node = Truth.Tag("delegate.node", new Node(11));
            Truth.Tag("delegate.static", new Func<int, int>(StaticMethod));
            Truth.Tag("delegate.static.framework", new Action<string>(Console.WriteLine));
            Truth.Tag("delegate.instance", new Func<string, int>("abc".IndexOf));
            Truth.Tag("delegate.virtual", new Func<string>(node.ToString));
            Truth.Tag("delegate.closed", System.Delegate.CreateDelegate(typeof(Func<int, int>), node, typeof(Program).GetMethod(nameof(ClosedOver), BindingFlags.NonPublic | BindingFlags.Static)));
            Truth.Tag("delegate.open", System.Delegate.CreateDelegate(typeof(Func<object, string>), typeof(object).GetMethod("ToString")));
            Truth.Tag("delegate.lambda", new Func<int, int>(x => x + 1));
            Truth.Tag("delegate.closure", new Func<int, int>(x => x + node.id));
            Action many = () => node.id++;
            many += () => node.next = node;
            many += Exceptions;
            Truth.Tag("delegate.multicast", many);
            Truth.Tag("delegate.generic", new Func<List<string>, string>(GenericMethod<string>));
            var method = new DynamicMethod("Dynamic", typeof(int), new[] { typeof(int) });
            ILGenerator il = method.GetILGenerator();
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ret);
            var dynamic = (Func<int, int>)method.CreateDelegate(typeof(Func<int, int>));
            dynamic(1);
            Truth.Tag("delegate.dynamic", dynamic);
        }

        private static T GenericMethod<T>(List<T> list) => list[0];

        private static async Task<int> Asynchronous(string captured)
        {
            var local = new Node(31337);
            await Task.Delay(-1);
            GC.KeepAlive(local);
            return captured.Length;
        }

        private static IEnumerable<int> Iterator(Node start)
        {
            for (Node n = start; n != null; n = n.next)
                yield return n.id;
        }

        private static void Framework()
        {
            Truth.Tag("dictionary", new Dictionary<string, Node> { ["one"] = new Node(1), ["two"] = new Node(2) });
            Truth.Tag("list", new List<int> { 1, 2, 3 });
            Truth.Tag("hashset", new HashSet<string> { "in a set" });
            Truth.Tag("queue", new Queue<long>(new[] { 1L, 2L }));
            Truth.Tag("stack", new Stack<object>(new object[] { "in a stack" }));
            Truth.Tag("linkedlist", new LinkedList<string>(new[] { "first", "second" }));
            Truth.Tag("sorted", new SortedDictionary<int, string> { [3] = "three", [1] = "one" });
            Truth.Tag("concurrent", new ConcurrentDictionary<int, string>(new[] { new KeyValuePair<int, string>(1, "one") }));
            Truth.Tag("hashtable", new System.Collections.Hashtable { ["key"] = 1 });
            Truth.Tag("builder", new StringBuilder().Append('a', 100).Append("and more").Append('b', 10000));
            Truth.Tag("lazy", new Lazy<Node>(() => new Node(5)));
            Truth.Tag("task", Asynchronous("captured"));
            IEnumerator<int> iterator = Iterator(new Node(1, new Node(2))).GetEnumerator();
            iterator.MoveNext();
            Truth.Tag("iterator", iterator);
            Truth.Tag("timer", new Timer(_ => { }, null, Timeout.Infinite, Timeout.Infinite));
            Truth.Tag("cancellation", new CancellationTokenSource());
            Truth.Tag("stream", new System.IO.MemoryStream(new byte[64]));
        }

        private static Type Emit(string assembly, AssemblyBuilderAccess access, string name)
        {
            var builder = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName(assembly), access);
            ModuleBuilder module = builder.DefineDynamicModule("module");
            TypeBuilder generic = module.DefineType("Emitted.Generic`1", TypeAttributes.Public);
            generic.DefineField("item", generic.DefineGenericParameters("T")[0], FieldAttributes.Public);
            generic.CreateType();
            TypeBuilder type = module.DefineType(name, TypeAttributes.Public);
            type.DefineField("reference", typeof(object), FieldAttributes.Public);
            type.DefineField("number", typeof(int), FieldAttributes.Public);
            type.DefineField("staticReference", typeof(object), FieldAttributes.Public | FieldAttributes.Static);
            return type.CreateType();
        }

        private static void Emitted()
        {
            foreach (var access in new[] { AssemblyBuilderAccess.Run, AssemblyBuilderAccess.RunAndCollect })
            {
                Type type = Emit("Emitted" + access, access, "Emitted." + access);
                object thing = Activator.CreateInstance(type);
                type.GetField("reference").SetValue(thing, "held by an emitted type");
                type.GetField("number").SetValue(thing, 13);
                type.GetField("staticReference").SetValue(null, new Node(909));
                string tag = "emitted." + access.ToString().ToLowerInvariant();
                Truth.Tag(tag, thing);
                Truth.Tag(tag + ".array", Array.CreateInstance(type, 2)).SetValue(thing, 1);
                Type generic = type.Assembly.GetType("Emitted.Generic`1");
                Truth.Tag(tag + ".generic", Activator.CreateInstance(generic.MakeGenericType(type)));
                Truth.Tag(tag + ".generic.int", Activator.CreateInstance(generic.MakeGenericType(typeof(int))));
                Truth.Tag(tag + ".list", Activator.CreateInstance(typeof(List<>).MakeGenericType(type)));
            }
        }

        private static void Collectible()
        {
            string location = typeof(Program).Assembly.Location;
            if (location == "")
                return; // a single-file program
            var context = new AssemblyLoadContext("plug-in", isCollectible: true);
            Assembly copy = context.LoadFromAssemblyPath(location);
            Truth.Tag("collectible.context", context);
            Truth.Tag("collectible.derived", Activator.CreateInstance(copy.GetType("Facts.MostDerived")));
            Type node = copy.GetType("Facts.Node");
            object thing = Activator.CreateInstance(node, 5, null, "held by a collectible type");
            Truth.Tag("collectible.node", thing);
            Truth.Tag("collectible.list", Activator.CreateInstance(typeof(List<>).MakeGenericType(node)));
            Truth.Tag("collectible.array", Array.CreateInstance(node, 3)).SetValue(thing, 2);
            Truth.Tag("collectible.static", copy.GetType("Facts.Statics").GetField("reference").GetValue(null));
        }

        private static readonly ConditionalWeakTable<object, object> table = new();

        private static void Handles()
        {
            object target = Truth.Tag("handle.target", new Node(800));
            Truth.Handle("strong", GCHandle.ToIntPtr(GCHandle.Alloc(target)), target);
            byte[] pinned = Truth.Tag("handle.pinned", new byte[77]);
            Truth.Handle("pinned", GCHandle.ToIntPtr(GCHandle.Alloc(pinned, GCHandleType.Pinned)), pinned);
            Truth.Handle("weak-short", GCHandle.ToIntPtr(GCHandle.Alloc(target, GCHandleType.Weak)), target);
            Truth.Handle("weak-long", GCHandle.ToIntPtr(GCHandle.Alloc(target, GCHandleType.WeakTrackResurrection)), target);
            Truth.Tag("weakreference", new WeakReference(target));
            Truth.Tag("weakreference.long", new WeakReference(target, true));
            Truth.Tag("weakreference.generic", new WeakReference<object>(target));
            Truth.Tag("weakreference.dead", DeadWeakReference());
            object key = Truth.Tag("dependent.key", new Node(777));
            object value = Truth.Tag("dependent.value", new Node(778));
            table.Add(key, value);
            Truth.Handle("dependent", 0, key, value);
            object value2 = Truth.Tag("dependent.value2", new Node(779));
            Truth.Tag("dependent.box", (object)new DependentHandle(key, value2));
            Truth.Handle("dependent", 0, key, value2);
            Truth.Tag("dependent.null", (object)new DependentHandle(target, null));
            Truth.Handle("dependent", 0, target, null);
            for (int i = 0; i < 300; i++)
                GCHandle.Alloc(new Node(10000 + i));
            for (int i = 0; i < 70; i++)
                GCHandle.Alloc(target, GCHandleType.Weak);
            for (int i = 0; i < 5; i++)
                Truth.Tag("finalizable." + i, new Finalizable(i));
            object suppressed = Truth.Tag("finalizable.suppressed", new Finalizable(99));
            GC.SuppressFinalize(suppressed);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static WeakReference DeadWeakReference() => new WeakReference(new Node(-1));

        private static unsafe void StaticFields()
        {
            Truth.Static("Facts.Statics.reference", Unsafe.AsPointer(ref Statics.reference), Statics.reference);
            Truth.Static("Facts.Statics.text", Unsafe.AsPointer(ref Statics.text), Statics.text);
            Truth.Static("Facts.Statics.nothing", Unsafe.AsPointer(ref Statics.nothing), null);
            Truth.Static("Facts.Statics.frozen", Unsafe.AsPointer(ref Unsafe.AsRef(in Statics.frozen)), Statics.frozen);
            Truth.Static("Facts.Statics.number", Unsafe.AsPointer(ref Statics.number), Statics.number);
            Truth.Static("Facts.Statics.wide", Unsafe.AsPointer(ref Statics.wide), Statics.wide);
            Truth.Static("Facts.Statics.real", Unsafe.AsPointer(ref Statics.real), Statics.real);
            Truth.Static("Facts.Statics.date", Unsafe.AsPointer(ref Statics.date), Statics.date);
            Truth.Static("Facts.Generic<System.Int32, System.String>.staticObject", Unsafe.AsPointer(ref Generic<int, string>.staticObject), Generic<int, string>.staticObject);
            Truth.Static("Facts.Generic<System.String, Facts.Node>.staticObject", Unsafe.AsPointer(ref Generic<string, Node>.staticObject), Generic<string, Node>.staticObject);
            Truth.Tag("statics", new Statics());
            Truth.Tag("static.structure.text", Statics.structure.text);
            Truth.Tag("static.structure.thing", Statics.structure.thing);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Garbage(int count)
        {
            for (int i = 0; i < count; i++)
                GC.KeepAlive(new Node(i, null, new byte[i % 200 + 10]));
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void DropFinalizable()
        {
            for (int i = 0; i < 4; i++)
                new Finalizable(1000 + i);
        }

        private static Counted Count(int number)
        {
            Interlocked.Increment(ref CountedObjects);
            return new Counted(number);
        }

        // Free blocks between live objects in every generation.
        private static void Gaps()
        {
            var small = new object[2000];
            for (int i = 0; i < small.Length; i++)
                small[i] = i % 5 == 0 ? Count(i) : new byte[i % 160 + 1];
            keep.Add(small);
            var large = new object[8];
            for (int i = 0; i < large.Length; i++)
                large[i] = new byte[90000 + 1000 * i];
            keep.Add(large);
            var pinned = new object[20];
            for (int i = 0; i < pinned.Length; i++)
                pinned[i] = GC.AllocateArray<int>(100 + i, pinned: true);
            keep.Add(pinned);
            GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: true);
            GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: true);
            for (int i = 0; i < small.Length; i++)
            {
                if (i % 5 != 0 && i % 25 < 20)
                    small[i] = null;
            }
            for (int i = 1; i < large.Length; i += 2)
                large[i] = null;
            for (int i = 1; i < pinned.Length; i += 3)
                pinned[i] = null;
            GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: false);
        }

        private static void Young()
        {
            for (int i = 0; i < 100; i++)
            {
                Garbage(20);
                keep.Add(Count(5000 + i));
                if (i % 30 == 0)
                    GCHandle.Alloc(new byte[60], GCHandleType.Pinned);
            }
            Truth.Tag("young.gen1", new Node(501));
            GC.Collect(0, GCCollectionMode.Forced, blocking: true);
            Garbage(300);
            for (int i = 0; i < 100; i++)
            {
                Garbage(2);
                keep.Add(Count(6000 + i));
            }
            Truth.Tag("young.gen0", new Node(502));
            Truth.Tag("young.array", new object[] { new Node(503), "young" });
        }

        public static int Main()
        {
            System.IO.Stream output = Console.OpenStandardOutput();
            Strings();
            Arrays();
            Structures();
            Boxes();
            Exceptions();
            Delegates();
            Framework();
            Emitted();
            Collectible();
            Handles();
            StaticFields();
            Threads.Start();
            DropFinalizable();
            GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: true);
            while (!Finalizable.blocked)
                Thread.Sleep(10);
            Roots.Start();
            Gaps();
            Young();
            Threads.Finish();
            Roots.Finish();
            if (!Truth.Write(output))
            {
                Console.Error.WriteLine("facts: a collection moved the objects");
                return 3;
            }
            Thread.Sleep(Timeout.Infinite);
            GC.KeepAlive(keep);
            return 0;
        }
    }
}
