// SPDX-License-Identifier: MIT
// Prints what TraceEvent's own reader finds in the heap snapshots of a .nettrace, one row a line:
//
//   snapshot NUMBER GC          a snapshot: from a GCStart to the GCEnd of the same number, if nodes
//                               came between them
//   node ADDRESS SIZE TYPE TARGET...
//   root KIND FLAGS OBJECT      as the event has it
//   static FLAGS OBJECT TYPE FIELD
//   pair KEY VALUE              of a ConditionalWeakTable, or a dependent handle
//   type ID NAME
//   broken WHAT                 events out of order, or edges that nobody declared
//   lost COUNT                  by the sequence numbers of all events
//
// Addresses, sizes and ids are hexadecimal.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Microsoft.Diagnostics.Tracing;
using Microsoft.Diagnostics.Tracing.Parsers.Clr;

sealed class Snapshot
{
	public int Gc, NextNodes, NextEdges;
	public List<(ulong Address, ulong Size, ulong Type, long Edges)> Nodes = new();
	public List<ulong> Targets = new();
	public List<string> Rows = new();

	public void Check(string what, int index, ref int next)
	{
		if (index != next)
			Rows.Add($"broken {what} {index} where {next} was to come");
		next = index + 1;
	}

	public void Print(TextWriter writer, int number)
	{
		writer.WriteLine($"snapshot {number} {Gc}");
		long at = 0;
		foreach (var node in Nodes) {
			writer.Write($"node {node.Address:x} {node.Size:x} {node.Type:x}");
			for (long i = 0; i < node.Edges && at < Targets.Count; i++)
				writer.Write($" {Targets[(int)at++]:x}");
			writer.WriteLine();
		}
		if (at != Targets.Count || at != Nodes.Sum(node => node.Edges))
			writer.WriteLine($"broken edges {at} of {Targets.Count}");
		foreach (string row in Rows)
			writer.WriteLine(row);
	}
}

sealed class Reader
{
	private readonly SortedDictionary<ulong, string> names = new();
	private readonly List<Snapshot> snapshots = new();
	private Snapshot current;

	private void OnNodes(GCBulkNodeTraceData data)
	{
		current?.Check("nodes", data.Index, ref current.NextNodes);
		for (int i = 0; current != null && i < data.Count; i++) {
			var node = data.Values(i);
			current.Nodes.Add((node.Address, (ulong)node.Size, node.TypeID, (long)node.EdgeCount));
		}
	}

	private void OnEdges(GCBulkEdgeTraceData data)
	{
		current?.Check("edges", data.Index, ref current.NextEdges);
		for (int i = 0; current != null && i < data.Count; i++)
			current.Targets.Add(data.Values(i).Target);
	}

	private void OnRoots(GCBulkRootEdgeTraceData data)
	{
		for (int i = 0; current != null && i < data.Count; i++) {
			var root = data.Values(i);
			current.Rows.Add($"root {(int)root.GCRootKind} {(int)root.GCRootFlag} {root.RootedNodeAddress:x}");
		}
	}

	private void OnStatics(GCBulkRootStaticVarTraceData data)
	{
		for (int i = 0; current != null && i < data.Count; i++) {
			var row = data.Values(i);
			current.Rows.Add($"static {(int)row.Flags} {row.ObjectID:x} {row.TypeID:x} {row.FieldName}");
		}
	}

	private void OnPairs(GCBulkRootConditionalWeakTableElementEdgeTraceData data)
	{
		for (int i = 0; current != null && i < data.Count; i++)
			current.Rows.Add($"pair {data.Values(i).GCKeyNodeID:x} {data.Values(i).GCValueNodeID:x}");
	}

	public void Read(string path, TextWriter writer)
	{
		using var source = new EventPipeEventSource(path);
		source.Clr.GCStart += data => current = new Snapshot { Gc = data.Count };
		source.Clr.GCStop += data =>
		{
			if (current == null || current.Gc != data.Count)
				return;
			if (current.Nodes.Count > 0)
				snapshots.Add(current);
			current = null;
		};
		source.Clr.TypeBulkType += data =>
		{
			for (int i = 0; i < data.Count; i++)
				names[data.Values(i).TypeID] = data.Values(i).TypeName;
		};
		source.Clr.GCBulkNode += OnNodes;
		source.Clr.GCBulkEdge += OnEdges;
		source.Clr.GCBulkRootEdge += OnRoots;
		source.Clr.GCBulkRootStaticVar += OnStatics;
		source.Clr.GCBulkRootConditionalWeakTableElementEdge += OnPairs;
		source.Process();
		for (int i = 0; i < snapshots.Count; i++)
			snapshots[i].Print(writer, i + 1);
		foreach (var name in names)
			writer.WriteLine($"type {name.Key:x} {name.Value}");
		writer.WriteLine($"lost {source.EventsLost}");
	}
}

static class Program
{
	static int Main(string[] arguments)
	{
		using var writer = new StreamWriter(Console.OpenStandardOutput());
		new Reader().Read(arguments[0], writer);
		return 0;
	}
}
