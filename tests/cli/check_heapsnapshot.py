#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check a .heapsnapshot file against V8's rules.

    check_heapsnapshot.py FILE...

The rules are those of V8's HeapSnapshotJSONSerializer (heap-snapshot-generator.cc) and of DevTools'
loader (HeapSnapshotLoader.ts, HeapSnapshot.ts): what the loader reads without asking must be so.
"""
from __future__ import annotations

import json
import sys
from array import array
from pathlib import Path
from typing import Any, NamedTuple

NODE_FIELDS = "type name id self_size edge_count trace_node_id detachedness".split()
NODE_TYPES = [
    *("hidden", "array", "string", "object", "code", "closure", "regexp", "number", "native"),
    *("synthetic", "concatenated string", "sliced string", "symbol", "bigint", "object shape"),
]
EDGE_FIELDS = "type name_or_index to_node".split()
EDGE_TYPES = "context element property internal hidden shortcut weak".split()
INDEXED = {EDGE_TYPES.index("element"), EDGE_TYPES.index("hidden")}
WEAK = EDGE_TYPES.index("weak")
SYNTHETIC = NODE_TYPES.index("synthetic")
TOP = "snapshot nodes edges trace_function_infos trace_tree samples locations strings".split()
META = {
    "node_fields": NODE_FIELDS,
    "node_types": [NODE_TYPES, "string", "number", "number", "number", "number", "number"],
    "edge_fields": EDGE_FIELDS,
    "edge_types": [EDGE_TYPES, "string_or_number", "node"],
    "trace_function_info_fields": "function_id name script_name script_id line column".split(),
    "trace_node_fields": "id function_info_index count size children".split(),
    "sample_fields": "timestamp_us last_assigned_id".split(),
    "location_fields": "object_index script_id line column".split(),
}
EXACT = 1 << 53


class BadSnapshot(Exception):
    """A rule that the file breaks."""


class Edge(NamedTuple):
    """One edge: its type's name, its name or number, and the ordinal of the node it leads to."""

    type: str
    name: str | int
    target: int


def require(good: bool, what: str) -> None:
    """Raise unless a rule is kept."""
    if not good:
        raise BadSnapshot(what)


class Snapshot:
    """A file's columns by node ordinal."""

    def __init__(self, text: str) -> None:
        document = json.loads(text)
        check_document(document)
        nodes, edges = document["nodes"], document["edges"]
        self.strings: list[str] = document["strings"]
        width = len(NODE_FIELDS)
        self.types, self.names, self.ids, self.sizes, self.edge_counts = (
            nodes[i::width] for i in range(5)
        )
        self.edge_types, self.edge_names = edges[0::3], edges[1::3]
        targets = edges[2::3]
        require(all(at % width == 0 for at in targets), "to_node is no multiple of the node fields")
        self.targets = array("q", (at // width for at in targets))
        self.first_edges = array("q", [0])
        for count in self.edge_counts:
            self.first_edges.append(self.first_edges[-1] + count)
        self.check_nodes(nodes[5::width], nodes[6::width])
        self.check_edges()
        self.check_roots()

    def check_nodes(self, trace_nodes: list[int], detachedness: list[int]) -> None:
        """Each field of the nodes is what it may be."""
        require(all(0 <= kind < len(NODE_TYPES) for kind in self.types), "type of a node")
        require(all(0 < name < len(self.strings) for name in self.names), "name of a node")
        require(len(set(self.ids)) == len(self.ids), "two nodes have one id")
        # DevTools keeps 32 bits.
        require(all(0 < number < 1 << 32 for number in self.ids), "an id has more than 32 bits")
        require(all(0 <= size < EXACT for size in self.sizes), "size of a node")
        require(not any(trace_nodes) and not any(detachedness), "trace nodes, detached nodes")
        require(self.first_edges[-1] == len(self.targets), "edge_count do not sum to the edges")

    def check_edges(self) -> None:
        """Edges lead to nodes and have names that there are."""
        require(all(0 <= at < len(self.types) for at in self.targets), "to_node out of range")
        for kind, name in zip(self.edge_types, self.edge_names):
            require(0 <= kind < len(EDGE_TYPES), "type of an edge")
            if kind in INDEXED:
                require(0 <= name < 1 << 32, "index of an edge")
            else:
                require(0 < name < len(self.strings), "name of an edge")

    def check_roots(self) -> None:
        """The root comes first, and reaches every node without weak edges."""
        require(self.types[0] == SYNTHETIC, "the root is not synthetic")
        require(all(at != 0 for at in self.targets), "an edge leads to the root")
        seen, stack = bytearray(len(self.types)), [0]
        seen[0] = 1
        while stack:
            node = stack.pop()
            for edge in range(self.first_edges[node], self.first_edges[node + 1]):
                target = self.targets[edge]
                if not seen[target] and self.edge_types[edge] != WEAK:
                    seen[target] = 1
                    stack.append(target)
        require(all(seen), f"{seen.count(0)} nodes that the root does not reach")
        for child in self.edges(0):
            require(self.types[child.target] == SYNTHETIC, "the root leads to an object")

    def edges(self, node: int) -> list[Edge]:
        """The edges of a node."""
        result = []
        for edge in range(self.first_edges[node], self.first_edges[node + 1]):
            kind, name = self.edge_types[edge], self.edge_names[edge]
            text = name if kind in INDEXED else self.strings[name]
            result.append(Edge(EDGE_TYPES[kind], text, self.targets[edge]))
        return result

    def name(self, node: int) -> str:
        """Name of a node."""
        return self.strings[self.names[node]]

    def type(self, node: int) -> str:
        """Type of a node, by name."""
        return NODE_TYPES[self.types[node]]

    def objects(self) -> list[int]:
        """All nodes but the synthetic ones."""
        return [i for i, kind in enumerate(self.types) if kind != SYNTHETIC]

    def child(self, node: int, name: str) -> int:
        """The node of that name that an edge leads to."""
        found = [edge.target for edge in self.edges(node) if self.name(edge.target) == name]
        require(len(found) == 1, f"{len(found)} nodes {name}")
        return found[0]


def check_document(document: dict[str, Any]) -> None:
    """Members, their order (the loader looks for one after the other), counts and integers."""
    require(list(document) == TOP, f"members {list(document)}")
    header = document["snapshot"]
    require(list(header)[0] == "meta" and header["meta"] == META, "meta")
    require(header["trace_function_count"] == 0, "trace_function_count")
    nodes, edges, strings = document["nodes"], document["edges"], document["strings"]
    require(len(nodes) == header["node_count"] * len(NODE_FIELDS), "node_count")
    require(len(edges) == header["edge_count"] * len(EDGE_FIELDS), "edge_count")
    require(all(type(i) is int for i in nodes), "a node field that is no integer")
    require(all(type(i) is int for i in edges), "an edge field that is no integer")
    require(all(isinstance(string, str) for string in strings), "a string that is none")
    require(len(set(strings)) == len(strings), "two strings are equal")
    for name in TOP[3:7]:
        require(document[name] == [], name)


def read_snapshot(path: str | Path) -> Snapshot:
    """Read and check a file."""
    return Snapshot(Path(path).read_bytes().decode("utf-8"))


def main(paths: list[str]) -> int:
    """Check files; tell what each holds."""
    status = 0
    for path in paths:
        try:
            snapshot = read_snapshot(path)
        except (BadSnapshot, ValueError, OSError) as error:
            print(f"{path}: {error}")
            status = 1
            continue
        print(
            f"{path}: {len(snapshot.types)} nodes, {len(snapshot.targets)} edges,"
            f" {len(snapshot.strings)} strings, {sum(snapshot.sizes)} bytes"
        )
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
