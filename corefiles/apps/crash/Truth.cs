// SPDX-License-Identifier: MIT
// What the program knows shortly before its end: which tagged objects the runtime's own GC keeps, and which
// methods stand on the stack.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;

namespace Crash
{
    // Only stacks, exceptions and state machines refer to tags.
    public class Tag
    {
        public string name;
        public long number = 1;
        public Tag(string name) { this.name = name; }
    }

    public class TagException : Exception
    {
        public Tag tag;
        public TagException(string message, Exception inner = null) : base(message, inner) { tag = Truth.Make("exception " + message); }
    }

    public static class Truth
    {
        private static readonly List<KeyValuePair<string, WeakReference>> tags = new();
        private static readonly Stream output = Console.OpenStandardOutput();
        public static string mode;

        [DllImport("libc")] private static extern int gettid();

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static Tag Make(string name)
        {
            var tag = new Tag(name);
            lock (tags)
                tags.Add(new(name, new WeakReference(tag)));
            return tag;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Keep(params object[] things) => GC.KeepAlive(things);

        // An object that dies at once, and may leave its address behind on the stack.
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Drop(string name) => Keep(Make("dropped in " + name));

        private static string NameOf(Type type)
        {
            if (!type.IsGenericType)
                return type.FullName;
            return type.FullName.Substring(0, type.FullName.IndexOf('['));
        }

        // Innermost first, without those of this class and calls into native code.
        private static IEnumerable<string> Frames() =>
            from frame in new StackTrace(false).GetFrames()
            let method = frame.GetMethod()
            where method?.DeclaringType != null && method.DeclaringType != typeof(Truth)
            where method.DeclaringType.Namespace == nameof(Crash) && (method.Attributes & MethodAttributes.PinvokeImpl) == 0
            where !method.Name.Contains("Unhandled", StringComparison.Ordinal)
            select NameOf(method.DeclaringType) + "." + method.Name;

        private static void List(StringBuilder text, string key, IEnumerable<string> items)
        {
            text.Append(",\"").Append(key).Append("\":[");
            text.AppendJoin(',', items.Select(item => '"' + item + '"')).Append(']');
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Report(string where)
        {
            List<string> frames = Frames().ToList();
            GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: false);
            GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: false);
            var text = new StringBuilder("{\"program\":\"crash\",\"schema\":1");
            text.Append(",\"version\":\"").Append(Environment.Version).Append('"');
            text.Append(",\"mode\":\"").Append(mode).Append("\",\"where\":\"").Append(where).Append('"');
            text.Append(",\"pid\":").Append(Environment.ProcessId).Append(",\"os_id\":").Append(gettid());
            List(text, "frames", frames);
            lock (tags)
            {
                List(text, "alive", from tag in tags where tag.Value.IsAlive select tag.Key);
                List(text, "gone", from tag in tags where !tag.Value.IsAlive select tag.Key);
            }
            Say(text.Append('}').ToString());
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Say(string line)
        {
            output.Write(Encoding.ASCII.GetBytes(line + "\n"));
            output.Flush();
        }
    }
}
