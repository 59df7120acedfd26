// SPDX-License-Identifier: MIT
// What the methods know about their own variables: one line of JSON before the program is dumped.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text;

namespace Variables
{
    /// <summary>The variables of one frame, outermost first; objects are asked for their addresses at the end.</summary>
    public sealed class Said
    {
        public string Method;
        public MethodBase Body;
        public readonly List<(string Name, bool IsLocal, string Kind, object Value)> Rows = new();

        public Said Argument(string name, string kind, object value) => Add(name, false, kind, value);
        public Said Local(string name, string kind, object value) => Add(name, true, kind, value);

        private Said Add(string name, bool isLocal, string kind, object value)
        {
            Rows.Add((name, isLocal, kind, value));
            return this;
        }
    }

    public static class Truth
    {
        private static readonly List<Said> frames = new();
        private static readonly List<(string Name, Func<string> Json)> members = new();

        /// <summary>A frame begins: the method of <paramref name="type"/> with this name.</summary>
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static Said Frame(Type type, string name)
        {
            const BindingFlags all = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Static | BindingFlags.Instance;
            var said = new Said { Method = type.Namespace + "." + type.Name + "." + name, Body = type.GetMethod(name, all) };
            frames.Add(said);
            return said;
        }

        /// <summary>Another member of the line; its value is made at the end.</summary>
        public static void Say(string name, Func<string> json) => members.Add((name, json));

        public static string Quote(string text) =>
            text == null ? "null" : "\"" + text.Replace("\\", "\\\\").Replace("\"", "\\\"") + "\"";

        private static unsafe string AddressOf(object target) =>
            target == null ? "\"0x0\"" : $"\"0x{*(IntPtr*)Unsafe.AsPointer(ref target):x}\"";

        private static string Json(string kind, object value) => kind switch
        {
            "object" => $"{{\"address\":{AddressOf(value)},\"type\":{Quote(value?.GetType().FullName)}"
                        + $",\"string\":{Quote(value as string)}}}",
            _ when value is string text => text, // JSON already
            _ when value is bool flag => flag ? "true" : "false",
            _ when value is char letter => ((int)letter).ToString(CultureInfo.InvariantCulture),
            _ => Convert.ToString(value, CultureInfo.InvariantCulture),
        };

        public static string Line()
        {
            var text = new StringBuilder("{\"program\":\"variables\",\"schema\":1");
            text.Append($",\"version\":\"{Environment.Version}\",\"pid\":{Environment.ProcessId},\"frames\":[");
            for (int i = 0; i < frames.Count; i++)
            {
                Said said = frames[i];
                text.Append(i == 0 ? "" : ",").Append($"{{\"method\":{Quote(said.Method)},\"names\":[");
                ParameterInfo[] parameters = said.Body.GetParameters();
                for (int k = 0; k < parameters.Length; k++)
                    text.Append(k == 0 ? "" : ",").Append(Quote(parameters[k].Name));
                text.Append("],\"static\":").Append(said.Body.IsStatic ? "true" : "false").Append(",\"variables\":[");
                for (int k = 0; k < said.Rows.Count; k++)
                {
                    var (name, isLocal, kind, value) = said.Rows[k];
                    text.Append(k == 0 ? "" : ",").Append($"{{\"name\":{Quote(name)},\"local\":{(isLocal ? "true" : "false")}");
                    text.Append($",\"kind\":{Quote(kind)},\"value\":{Json(kind, value)}}}");
                }
                text.Append("]}");
            }
            text.Append(']');
            foreach ((string name, Func<string> json) in members)
                text.Append($",\"{name}\":").Append(json());
            return text.Append('}').ToString();
        }
    }
}
