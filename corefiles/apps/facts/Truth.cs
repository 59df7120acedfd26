// SPDX-License-Identifier: MIT
// What the program knows about its own heap, as one line of JSON.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;

namespace Facts
{
    public sealed class ThreadTruth
    {
        public string name;
        public int managedId;
        public int osId;
        public string state;
        public object lastObject;
        public nint threadReferenceSlot;
        public nint threadNumberSlot;
        public nint threadGenericSlot;
    }

    // What keeps an object alive: null where it has gone.
    public sealed class RootTruth
    {
        public string name;
        public WeakReference thing;
        public nint address;
        public string kind;
        public string label;
        public string through;
        public string flag;
        public bool alone;
    }

    public static unsafe class Truth
    {
        private static readonly List<KeyValuePair<string, object>> tags = new();
        private static readonly List<(string Kind, nint Handle, object Target, object Secondary)> handles = new();
        private static readonly Dictionary<string, string> notes = new();
        private static readonly List<(string Name, nint Slot, object Value)> statics = new();
        private static readonly List<RootTruth> roots = new();
        public static readonly List<ThreadTruth> threads = new();
        private static readonly StringBuilder text = new(1 << 20);
        private static bool comma;

        public static T Tag<T>(string name, T thing) where T : class
        {
            tags.Add(new(name, thing));
            return thing;
        }

        // kind: of its roots, "none" without one; label: of a static its name, of a frame its method, of a handle its
        // kind; through: the type of an object on the path; flag: of the root; alone: it has no other roots than such.
        public static object Root(string name, object thing, string kind, string label, string through = null, string flag = null, bool alone = true)
        {
            var root = new RootTruth { name = name, thing = new WeakReference(thing, true), kind = kind, label = label, through = through, flag = flag, alone = alone };
            lock (roots)
                roots.Add(root);
            return thing;
        }

        // An object that not even a weak handle refers to.
        public static void Dead(string name, object thing)
        {
            lock (roots)
                roots.Add(new RootTruth { name = name, address = Address(thing), kind = "none", alone = true });
        }

        public static void Note(string name, string note) => notes.Add(name, note);

        public static void Handle(string kind, nint handle, object target, object secondary = null) =>
            handles.Add((kind, handle & ~1, target, secondary));

        public static void Static(string name, void* slot, object value) => statics.Add((name, (nint)slot, value));

        public static nint Address(object thing) => *(nint*)Unsafe.AsPointer(ref thing);

        // BaseSize and ComponentSize x length, at least 24: not rounded up to 8.
        private static long Size(object thing)
        {
            byte* table = *(byte**)Address(thing);
            long size = *(uint*)(table + 4);
            if ((*(uint*)table & 0x80000000) != 0)
                size += (long)*(ushort*)table * *(uint*)(Address(thing) + 8);
            return Math.Max(size, 24);
        }

        public static string NameOf(Type type)
        {
            if (type.IsArray)
                return NameOf(type.GetElementType()) + (type.IsSZArray ? "[]" : type.GetArrayRank() == 1 ? "[*]" : "[" + new string(',', type.GetArrayRank() - 1) + "]");
            if (type.IsPointer)
                return NameOf(type.GetElementType()) + "*";
            if (type.IsFunctionPointer)
                return "fnptr";
            var chain = new List<Type>();
            for (Type t = type; t != null; t = t.DeclaringType)
                chain.Insert(0, t);
            Type[] arguments = type.GetGenericArguments();
            int used = 0;
            string name = string.IsNullOrEmpty(chain[0].Namespace) ? "" : chain[0].Namespace + ".";
            for (int i = 0; i < chain.Count; i++)
            {
                string part = chain[i].Name;
                int count = chain[i].GetGenericArguments().Length - used;
                int tick = part.LastIndexOf('`');
                name += (i > 0 ? "+" : "") + (tick >= 0 ? part.Substring(0, tick) : part);
                if (count > 0)
                    name += "<" + string.Join(", ", arguments.Skip(used).Take(count).Select(NameOf)) + ">";
                used += count;
            }
            return name;
        }

        private static void Quote(string s)
        {
            text.Append('"');
            foreach (char c in s)
            {
                if (c >= ' ' && c < 0x7f && c != '"' && c != '\\')
                    text.Append(c);
                else
                    text.Append("\\u").Append(((int)c).ToString("x4"));
            }
            text.Append('"');
        }

        private static void Key(string key)
        {
            if (comma)
                text.Append(',');
            Quote(key);
            text.Append(':');
            comma = true;
        }

        private static void Put(string key, string value) { Key(key); Quote(value); }
        private static void Put(string key, long value) { Key(key); text.Append(value); }
        private static void Put(string key, bool value) { Key(key); text.Append(value ? "true" : "false"); }
        private static void PutAddress(string key, nint value) { Key(key); text.Append("\"0x").Append(value.ToString("x")).Append('"'); }

        private static void Begin(char bracket)
        {
            if (comma && (text[^1] == '}' || text[^1] == ']'))
                text.Append(',');
            text.Append(bracket);
            comma = false;
        }

        private static void End(char bracket) { text.Append(bracket); comma = true; }

        private static string Number(object value) => value switch
        {
            bool b => b ? "true" : "false",
            char c => ((int)c).ToString(CultureInfo.InvariantCulture),
            float f => f.ToString("R", CultureInfo.InvariantCulture),
            double d => d.ToString("R", CultureInfo.InvariantCulture),
            IntPtr p => "0x" + ((long)p).ToString("x"),
            UIntPtr p => "0x" + ((ulong)p).ToString("x"),
            _ => Convert.ToString(value, CultureInfo.InvariantCulture),
        };

        private static bool HasFields(Type type) =>
            type.Assembly == typeof(Truth).Assembly || type.IsValueType || typeof(ITuple).IsAssignableFrom(type) || type.Assembly.IsDynamic || type.IsCollectible;

        private static void Fields(object thing, Type type, int depth)
        {
            if (type == null || type == typeof(object) || type == typeof(ValueType))
                return;
            Fields(thing, type.BaseType, depth);
            var flags = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;
            foreach (FieldInfo field in type.GetFields(flags).OrderBy(f => f.MetadataToken))
            {
                object value = field.GetValue(thing);
                Type declared = field.FieldType;
                Begin('{');
                Put("name", field.Name);
                Put("declaring", NameOf(type));
                Put("type", NameOf(declared));
                if (declared.IsPointer)
                    PutAddress("value", (nint)Pointer.Unbox(value));
                else if (declared.IsFunctionPointer)
                    PutAddress("value", (nint)value);
                else if (declared.IsEnum)
                    Put("value", Number(Convert.ChangeType(value, Enum.GetUnderlyingType(declared))));
                else if (declared.IsPrimitive)
                    Put("value", Number(value));
                else if (!declared.IsValueType)
                    PutAddress("reference", Address(value));
                else
                {
                    bool nullable = Nullable.GetUnderlyingType(declared) != null;
                    if (nullable)
                        Put("null", value == null);
                    if (declared == typeof(decimal) || declared == typeof(Guid) || declared == typeof(TimeSpan))
                        Put("text", Convert.ToString(value, CultureInfo.InvariantCulture));
                    if (declared == typeof(DateTime))
                        Put("text", ((DateTime)value).ToString("O", CultureInfo.InvariantCulture));
                    if (depth < 3 && !nullable)
                    {
                        Key("fields");
                        Begin('[');
                        Fields(value, declared, depth + 1);
                        End(']');
                    }
                }
                End('}');
            }
        }

        private static void Elements(Array array)
        {
            Type element = array.GetType().GetElementType();
            if (element.IsPointer || element.IsFunctionPointer || array.Length > 64 || (element.IsValueType && !element.IsPrimitive && !element.IsEnum))
                return;
            Key("elements");
            Begin('[');
            bool first = true;
            foreach (object value in array)
            {
                if (!first)
                    text.Append(',');
                first = false;
                if (element.IsEnum)
                    Quote(Number(Convert.ChangeType(value, Enum.GetUnderlyingType(element))));
                else if (element.IsPrimitive)
                    Quote(Number(value));
                else
                    Quote("0x" + Address(value).ToString("x"));
            }
            End(']');
        }

        private static void Integers(string key, IEnumerable<int> values)
        {
            Key(key);
            text.Append('[').Append(string.Join(",", values)).Append(']');
        }

        private static void Delegate(Delegate d)
        {
            Key("delegate");
            Begin('{');
            PutAddress("target", Address(d.Target));
            Put("method", d.Method.Name);
            if (d.Method.DeclaringType != null)
                Put("declaring", NameOf(d.Method.DeclaringType));
            Put("static", d.Method.IsStatic);
            Put("invocations", d.GetInvocationList().Length);
            End('}');
        }

        private static void Object(string name, object thing)
        {
            Type type = thing.GetType();
            Begin('{');
            Put("name", name);
            PutAddress("address", Address(thing));
            Put("type", NameOf(type));
            PutAddress("mt", *(nint*)Address(thing));
            Put("size", Size(thing));
            Put("generation", GC.GetGeneration(thing));
            PutAddress("header", (nint)(*(uint*)(Address(thing) - 4)));
            if (notes.TryGetValue(name, out string note))
                Put("note", note);
            if (thing is string s)
            {
                Put("length", s.Length);
                if (s.Length <= 4096)
                    Put("string", s);
            }
            else if (thing is Array array)
            {
                Put("length", array.Length);
                Integers("lengths", Enumerable.Range(0, array.Rank).Select(array.GetLength));
                Integers("lower_bounds", Enumerable.Range(0, array.Rank).Select(array.GetLowerBound));
                Elements(array);
            }
            else if (thing is Delegate d)
                Delegate(d);
            else if (thing is Exception e)
            {
                Put("message", e.Message);
                Put("hresult", e.HResult);
                PutAddress("inner", Address(e.InnerException));
                Put("thrown", e.StackTrace != null);
            }
            else if (type.IsEnum)
                Put("value", Number(Convert.ChangeType(thing, Enum.GetUnderlyingType(type))));
            else if (type.IsPrimitive)
                Put("value", Number(thing));
            else if (HasFields(type))
            {
                Key("fields");
                Begin('[');
                Fields(thing, type, 0);
                End(']');
            }
            End('}');
        }

        private static void Build()
        {
            text.Clear();
            comma = false;
            Begin('{');
            Put("program", "facts");
            Put("schema", 1);
            Put("version", Environment.Version.ToString());
            Put("server", GCSettings.IsServerGC);
            Put("pid", Environment.ProcessId);
            Key("objects");
            Begin('[');
            foreach (var tag in tags)
                Object(tag.Key, tag.Value);
            End(']');
            Key("counts");
            Begin('{');
            Put("Facts.Counted", Program.CountedObjects);
            End('}');
            Key("handles");
            Begin('[');
            foreach (var h in handles)
            {
                Begin('{');
                Put("kind", h.Kind);
                if (h.Handle != 0)
                    PutAddress("address", h.Handle);
                PutAddress("object", Address(h.Target));
                if (h.Kind == "dependent")
                    PutAddress("secondary", Address(h.Secondary));
                End('}');
            }
            End(']');
            Key("statics");
            Begin('[');
            foreach (var s in statics)
            {
                Begin('{');
                Put("name", s.Name);
                PutAddress("address", s.Slot);
                if (s.Value is ValueType)
                    Put("value", s.Value is DateTime date ? date.ToString("O") : Number(s.Value));
                else
                    PutAddress("object", Address(s.Value));
                End('}');
            }
            End(']');
            Key("roots");
            Begin('[');
            lock (roots)
            {
                foreach (RootTruth r in roots)
                {
                    Begin('{');
                    Put("name", r.name);
                    PutAddress("address", r.thing == null ? r.address : Address(r.thing.Target));
                    Put("kind", r.kind);
                    if (r.label != null)
                        Put("label", r.label);
                    if (r.through != null)
                        Put("through", r.through);
                    if (r.flag != null)
                        Put("flag", r.flag);
                    Put("alone", r.alone);
                    Put("weak", r.thing != null);
                    End('}');
                }
            }
            End(']');
            Key("threads");
            Begin('[');
            lock (threads)
            {
                foreach (ThreadTruth t in threads)
                {
                    Begin('{');
                    Put("name", t.name);
                    Put("managed_id", t.managedId);
                    Put("os_id", t.osId);
                    Put("state", t.state);
                    PutAddress("last_object", Address(t.lastObject));
                    PutAddress("thread_reference_slot", t.threadReferenceSlot);
                    PutAddress("thread_number_slot", t.threadNumberSlot);
                    PutAddress("thread_generic_slot", t.threadGenericSlot);
                    End('}');
                }
            }
            End(']');
            End('}');
        }

        private static int Collections() => GC.CollectionCount(0);

        // Addresses are the truth only as long as nothing moves: no collection between here and the dump.
        public static bool Write(Stream output)
        {
            for (int attempt = 0; attempt < 5; attempt++)
            {
                int before = Collections();
                Build();
                byte[] line = Encoding.ASCII.GetBytes(text.Append("\nREADY\n").ToString());
                if (Collections() != before)
                    continue;
                output.Write(line);
                output.Flush();
                return Collections() == before;
            }
            return false;
        }
    }
}
