// SPDX-License-Identifier: MIT
// Counts what TraceEvent's own reader finds in the heap snapshots of a .nettrace, one line each.
// A snapshot: from a GCStart to the GCEnd of the same number, if nodes came between them.
using System;
using System.Collections.Generic;
using System.Linq;
using Microsoft.Diagnostics.Tracing;
using Microsoft.Diagnostics.Tracing.Parsers.Clr;

sealed class Snapshot
{
	public int Gc, Statics, Pairs;
	public long Objects, Edges, Bytes, Declared;
	public ulong Addresses, Targets; // sums, so that any difference shows
	public SortedDictionary<string, int> Roots = new();
	public Dictionary<ulong, (long Count, long Bytes)> Types = new();
}

static class Program
{
	static int Main(string[] arguments)
	{
		var snapshots = new List<Snapshot>();
		var names = new Dictionary<ulong, string>();
		Snapshot current = null;
		using var source = new EventPipeEventSource(arguments[0]);
		source.Clr.GCStart += data => current = new Snapshot { Gc = data.Count };
		source.Clr.GCStop += data =>
		{
			if (current != null && current.Gc == data.Count) {
				if (current.Objects > 0)
					snapshots.Add(current);
				current = null;
			}
		};
		source.Clr.TypeBulkType += data =>
		{
			for (int i = 0; i < data.Count; i++)
				names[data.Values(i).TypeID] = data.Values(i).TypeName;
		};
		source.Clr.GCBulkNode += data => Nodes(current, data);
		source.Clr.GCBulkEdge += data =>
		{
			for (int i = 0; current != null && i < data.Count; i++) {
				current.Edges++;
				current.Targets += data.Values(i).Target;
			}
		};
		source.Clr.GCBulkRootEdge += data =>
		{
			for (int i = 0; current != null && i < data.Count; i++) {
				var root = data.Values(i);
				if (root.RootedNodeAddress == 0)
					continue;
				var key = $"{(int)root.GCRootKind}/{(int)root.GCRootFlag}";
				current.Roots[key] = current.Roots.GetValueOrDefault(key) + 1;
			}
		};
		source.Clr.GCBulkRootStaticVar += data =>
		{
			for (int i = 0; current != null && i < data.Count; i++)
				current.Statics += data.Values(i).ObjectID != 0 ? 1 : 0;
		};
		source.Clr.GCBulkRootConditionalWeakTableElementEdge += data =>
		{
			for (int i = 0; current != null && i < data.Count; i++)
				current.Pairs += data.Values(i).GCKeyNodeID != 0 &&
					data.Values(i).GCValueNodeID != 0 ? 1 : 0;
		};
		source.Process();
		for (int i = 0; i < snapshots.Count; i++)
			Print(i + 1, snapshots[i], names);
		Console.WriteLine($"lost {source.EventsLost}");
		return 0;
	}

	static void Nodes(Snapshot current, GCBulkNodeTraceData data)
	{
		for (int i = 0; current != null && i < data.Count; i++) {
			var node = data.Values(i);
			current.Objects++;
			current.Bytes += (long)node.Size;
			current.Declared += (long)node.EdgeCount;
			current.Addresses += node.Address;
			var type = current.Types.GetValueOrDefault(node.TypeID);
			current.Types[node.TypeID] = (type.Count + 1, type.Bytes + (long)node.Size);
		}
	}

	static void Print(int number, Snapshot snapshot, Dictionary<ulong, string> names)
	{
		Console.WriteLine($"snapshot {number} objects {snapshot.Objects} bytes {snapshot.Bytes} " +
			$"edges {snapshot.Edges} declared {snapshot.Declared} addresses {snapshot.Addresses:x} " +
			$"targets {snapshot.Targets:x} statics {snapshot.Statics} pairs {snapshot.Pairs}");
		foreach (var root in snapshot.Roots)
			Console.WriteLine($"root {number} {root.Key} {root.Value}");
		foreach (var type in snapshot.Types.OrderBy(entry => entry.Key))
			Console.WriteLine($"type {number} {type.Key:x} {type.Value.Count} {type.Value.Bytes} " +
				names.GetValueOrDefault(type.Key, "UNKNOWN"));
	}
}
