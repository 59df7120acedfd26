#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare what heapdump reads in the snapshots of .nettrace files with TraceEvent's own reader.

    check_nettrace.py [TRACE...]

Without TRACE: those of tests/data, and fresh ones of programs that run. Of each snapshot: every object
with its size, type and references, every type's name, every root with kind and flags, every static with
its field. Exit status 1 when anything differs, 77 without a .NET SDK.
"""
from __future__ import annotations

import collections
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Counter

import live

# GCRootKind of the events (ClrEtwAll.man) and what it is called here.
KINDS = {0: "stack", 1: "finalizer", 2: "handle", 3: "internal", 4: "handle", 5: "internal"}
PINNED, WEAK, INTERIOR = 1, 2, 4
THREAD_STATIC = 1
# The programs that are collected from for this.
FRESH = [("facts", "net10.0", True), ("leak", "net10.0", False), ("facts", "net9.0", False)]
COLLECTIONS: list[tuple[str, list[str]]] = [("first", []), ("second", ["-generations"])]
Root = tuple[str, bool, bool, bool, int]


@dataclass
class Snapshot:
    """A snapshot as either reader has it."""

    nodes: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Address: type and size."""
    edges: dict[int, Counter[int]] = field(default_factory=dict)
    """Those without references are left out."""
    roots: Counter[Root] = field(default_factory=collections.Counter)
    statics: Counter[tuple[bool, int, str]] = field(default_factory=collections.Counter)
    problems: list[str] = field(default_factory=list)


@dataclass
class Trace:
    """All of a trace."""

    snapshots: list[Snapshot] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    lost: int = 0


def add_root(snapshot: Snapshot, words: list[str]) -> None:
    """A row of GCBulkRootEdge."""
    kind, flags, address = int(words[0]), int(words[1]), int(words[2], 16)
    if address:
        named = bool(flags & PINNED), bool(flags & WEAK), bool(flags & INTERIOR)
        snapshot.roots[(KINDS[kind], *named, address)] += 1


def theirs(path: Path) -> Trace:
    """By TraceEvent."""
    trace = Trace()
    for line in live.oracle("traceevent", str(path)).decode("utf-8").splitlines():
        kind, *words = line.split(" ")
        if kind == "snapshot":
            trace.snapshots.append(Snapshot())
        elif kind == "type":
            trace.names[int(words[0], 16)] = line.split(" ", 2)[2]
        elif kind == "lost":
            trace.lost = int(words[0])
        elif kind == "root":
            add_root(trace.snapshots[-1], words)
        else:
            add_row(trace.snapshots[-1], kind, words)
    for snapshot in trace.snapshots:
        # References to what is not an object of the snapshot are none.
        for address, targets in list(snapshot.edges.items()):
            known = collections.Counter({t: n for t, n in targets.items() if t in snapshot.nodes})
            snapshot.edges[address] = known
    return trace


def add_row(snapshot: Snapshot, kind: str, words: list[str]) -> None:
    """A row that is not a root."""
    if kind == "broken":
        snapshot.problems.append(" ".join(words))
        return
    numbers = [int(word, 16) for word in (words[:3] if kind == "static" else words)]
    if kind == "node":
        snapshot.nodes[numbers[0]] = (numbers[2], numbers[1])
        snapshot.edges.setdefault(numbers[0], collections.Counter()).update(numbers[3:])
    elif kind == "pair":
        snapshot.edges.setdefault(numbers[0], collections.Counter())[numbers[1]] += 1
    elif kind == "static" and numbers[1]:
        # An auto-property's field is named as the property.
        name = re.sub(r"^<(.+)>k__BackingField$", r"\1", words[3])
        snapshot.statics[(bool(numbers[0] & THREAD_STATIC), numbers[1], name)] += 1


def drop_frozen(snapshot: Snapshot, path: Path, number: int) -> None:
    """Take away the root that heapdump gives to each frozen object: the runtime sends none."""
    words = ["--snapshot", str(number), str(path), "dumpheap", "-gen", "nongc"]
    # A trace without generations has an error in its place.
    for row in live.heapdump(*words, allowed=(0, 1, 2, 3)).get("objects", []):
        key = ("gc", False, False, False, int(row["address"], 16))
        assert snapshot.roots[key] == 1, key
        del snapshot.roots[key]


def ours(path: Path, number: int) -> tuple[Snapshot, dict[int, str]]:
    """By heapdump: the text format has all references."""
    snapshot, names = Snapshot(), {}
    with tempfile.TemporaryDirectory(prefix="heapdump-trace-") as folder:
        text = Path(folder) / "it.heap"
        words = [live.PROGRAM, "--snapshot", str(number), str(path), "export", str(text)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, timeout=live.TIMEOUT)
        for line in text.read_text(encoding="utf-8").splitlines():
            kind, *rest = line.split(" ")
            if kind == "t":
                names[int(rest[0], 16)] = line.split(" ", 2)[2]
            elif kind == "o":
                address, mt, size, *targets = (int(word, 16) for word in rest)
                snapshot.nodes[address] = (mt, size)
                snapshot.edges[address] = collections.Counter(targets)
    for row in live.heapdump("--snapshot", str(number), str(path), "roots")["roots"]:
        address = int(row["object"], 16)
        if row["kind"] in ("static", "thread-static"):
            name = row["name"].rpartition(".")[2]
            snapshot.statics[(row["kind"] == "thread-static", address, name)] += 1
        else:
            flags = ("pinned" in row["flags"], row["weak"], "interior" in row["flags"])
            snapshot.roots[(row["kind"], *flags, address)] += 1
    drop_frozen(snapshot, path, number)
    return snapshot, names


def simple(name: str) -> str:
    """A type's name as dotnet-gcdump makes it of the runtime's."""
    name = re.sub(r"`\d+", "", name).replace("[", "<").replace("]", ">")
    return name.replace("<>", "[]")


def exact_types(path: Path, number: int) -> Counter[str]:
    """Objects by the name that dotnet-gcdump has for their types, without its marks of large ones."""
    counts: Counter[str] = collections.Counter()
    words = ["--exact", "--snapshot", str(number), str(path), "dumpheap", "-stat"]
    for row in live.heapdump(*words)["types"]:
        name = re.sub(r" \(Bytes > \d+[KM]\)$", "", row["name"])
        counts[name] += row["count"]
    return +counts


def differences(got: Snapshot, expected: Snapshot) -> list[str]:
    """Differences, a few of each kind."""
    bad = [f"TraceEvent: {problem}" for problem in expected.problems]
    for what in ("nodes", "edges", "roots", "statics"):
        mine, other = getattr(got, what), getattr(expected, what)
        keys = [key for key in {**mine, **other} if mine.get(key) != other.get(key)]
        for key in keys[:3]:
            bad.append(f"{what}: {key}: {mine.get(key)}, TraceEvent {other.get(key)}")
        if keys:
            bad.append(f"{what}: {len(keys)} of {len(other)} differ")
    return bad


def compare(path: Path) -> list[str]:
    """All differences of a trace."""
    bad: list[str] = []
    trace = theirs(path)
    for number, snapshot in enumerate(trace.snapshots, 1):
        got, names = ours(path, number)
        found = differences(got, snapshot)
        used = {node[0] for node in snapshot.nodes.values()}
        missing = used & set(trace.names) - set(names)
        if missing:
            found.append(f"types: {len(missing)} of {len(used)} are missing")
        simple_names = {key: simple(name) for key, name in trace.names.items()}
        expected = collections.Counter(simple_names[n[0]] for n in snapshot.nodes.values())
        exact = exact_types(path, number)
        if exact != expected:
            found.append(f"names: {(exact - expected) + (expected - exact)}")
        bad += [f"{path.name} snapshot {number}: {line}" for line in found]
        counts = len(snapshot.nodes), snapshot.roots.total(), snapshot.statics.total()
        print(f"{path.name} {number}: {counts[0]} objects, {counts[1]} roots, {counts[2]} statics")
    if not trace.snapshots:
        bad.append(f"{path.name}: TraceEvent finds no snapshot")
    # Losses have to be told, and nothing else.
    if trace.lost:
        bad.append(f"{path.name}: {trace.lost} events are lost")
    return bad


def main() -> int:
    """Exit status."""
    bad: list[str] = []
    live.publish("traceevent")
    live.make("leak10-heap", "svr10-full", "wks9-full")
    traces = [Path(word) for word in sys.argv[1:]]
    for path in traces or sorted((live.SOURCE / "tests" / "data").glob("*.nettrace")):
        bad += compare(path)
    fresh = [] if traces else live.some([("awaits", live.newest("awaits"), False), *FRESH])
    for app, flavour, server in fresh:
        with live.running(app, flavour, server) as program:
            for name, words in COLLECTIONS:
                path = program.collect(f"{app}-{flavour}-{name}.nettrace", *words)
                bad += compare(path)
    print("\n".join(bad) or "all the same")
    return 1 if bad else 0


if __name__ == "__main__":
    live.run_tests(main)
