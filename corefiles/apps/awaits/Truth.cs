// SPDX-License-Identifier: MIT
// What the methods know about their chain, their await and their locals: one line of JSON before the program is dumped.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text;

namespace Awaits
{
    /// <summary>A method that waits: the line of its await, and those of its arguments and locals that it needs afterwards.</summary>
    public sealed record Wait(string Method, int Line, (string Name, object Value)[] Locals);

    /// <summary>Methods that wait for each other, the innermost first.</summary>
    public sealed class Chain
    {
        public string Name, WaitsFor;
        /// <summary>The task of the outermost method, if it has one, and what the innermost waits for, if that is one object.</summary>
        public object Root, Object;
        /// <summary>Was the innermost method compiled optimised, after many calls?</summary>
        public bool IsOptimised;
        public readonly List<Wait> Waits = new();
    }

    public static class Truth
    {
        public static readonly List<Chain> Chains = new();

        public static unsafe string AddressOf(object target) => target == null ? "null" : $"\"0x{*(IntPtr*)Unsafe.AsPointer(ref target):x}\"";

        private static string Quote(string text) => "\"" + text.Replace("\\", "\\\\").Replace("\"", "\\\"") + "\"";

        private static string Json(object value) => value switch
        {
            null => "{\"kind\":\"null\"}",
            Pair pair => $"{{\"kind\":\"struct\",\"fields\":{{\"First\":{Json(pair.First)},\"Second\":{Json(pair.Second)},\"Third\":{Json(pair.Third)}}}}}",
            bool flag => $"{{\"kind\":\"plain\",\"value\":{(flag ? "true" : "false")}}}",
            Enum number => $"{{\"kind\":\"plain\",\"value\":{(int)(object)number}}}",
            char letter => $"{{\"kind\":\"plain\",\"value\":{(int)letter}}}",
            ValueType => $"{{\"kind\":\"plain\",\"value\":{Convert.ToString(value, CultureInfo.InvariantCulture)}}}",
            _ => $"{{\"kind\":\"object\",\"address\":{AddressOf(value)},\"type\":{Quote(value.GetType().FullName)}}}",
        };

        private static string Json(Chain chain)
        {
            var text = new StringBuilder($"{{\"name\":\"{chain.Name}\",\"waits_for\":{(chain.WaitsFor == null ? "null" : Quote(chain.WaitsFor))}");
            text.Append($",\"root\":{AddressOf(chain.Root)},\"object\":{AddressOf(chain.Object)}");
            text.Append($",\"optimised\":{(chain.IsOptimised ? "true" : "false")},\"methods\":[");
            for (int i = 0; i < chain.Waits.Count; i++)
            {
                Wait wait = chain.Waits[i];
                text.Append(i == 0 ? "" : ",").Append($"{{\"method\":{Quote(wait.Method)},\"line\":{wait.Line},\"locals\":{{");
                for (int k = 0; k < wait.Locals.Length; k++)
                    text.Append(k == 0 ? "" : ",").Append($"{Quote(wait.Locals[k].Name)}:{Json(wait.Locals[k].Value)}");
                text.Append("}}");
            }
            return text.Append("]}").ToString();
        }

        public static string Line(string faulted, string running)
        {
            var text = new StringBuilder("{\"program\":\"awaits\",\"schema\":1");
            text.Append($",\"version\":\"{Environment.Version}\",\"pid\":{Environment.ProcessId}");
            text.Append($",\"faulted\":{faulted},\"running\":{running},\"chains\":[");
            for (int i = 0; i < Chains.Count; i++)
                text.Append(i == 0 ? "" : ",").Append(Json(Chains[i]));
            return text.Append("]}").ToString();
        }
    }
}
