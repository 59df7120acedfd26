#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A core and a .gcdump of the same program at rest hold the same heap.

A program of corefiles/apps is asked for a .gcdump, then a core is taken of it; no collection comes
between, so that the objects lie where they lay. Compared are all objects by address (type, size), their
references, counts and bytes by type, the named statics, and what is alive. Differences are allowed only
by these rules, each of which is counted and has its limits:

free-blocks      a core's heap has Free blocks between its objects; a .gcdump has none
unaligned-sizes  the runtime sends the size of an object of the frozen heap as it is, a core has it as it
                 is laid out, in steps of eight bytes
made-behind      the session that sends the heap makes a few objects when the collection is over: all lie
                 in generation 0 (in 1 before .NET 10, which collects once more when a session ends), and
                 RuntimeTypes after all others of the frozen heap
static-slots     arrays that statics lie in: in a core the slots are named roots of their own, in a
                 .gcdump references, too
loader-allocator a core has an edge from each object of a collectible type to its LoaderAllocator, which
                 the runtime does not send
frozen-objects   of a core, objects of the frozen heap are alive by themselves; in a .gcdump only those
                 that something refers to
finalized        what waited for its finalizer when the heap was sent is alive in the .gcdump; it had its
                 turn before the core was taken
cast-cache       the runtime's table of casts is dropped at the end of a collection (CastCache.s_table), so
                 that it is alive only while the heap is sent
not-sent         statics of a core that the runtime does not send: those of generic types and of threads, and
                 those with an object that is made after
collectible      statics of collectible assemblies: in a core they are references of their LoaderAllocator, and
                 no roots.  All are copies of facts.dll, so that statics of the program have the name, and
                 objects of the type
left-alone       statics whose class the trace cannot tell, which are named by the type of their object: those of
                 assemblies made at run time, and the last one before these, of a class that has no other

All other statics have the name that the core has, and the type that holds them: static-names of them.
Every static of either is one in a text log, too.

That other collection may go on when the core is taken, or have moved the objects: then it is done again.
"""
from __future__ import annotations

import collections
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Counter

import live

# A heap of each kind: by regions and server GC of .NET 10, and those of older runtimes.
PROGRAMS = [
    ("leak", "net10.0", False),
    ("facts", "net10.0", True),
    ("facts", "net9.0", False),
    ("facts", "net8.0", True),
]
MADE_BEHIND_MAX = 16
FINALIZED_MAX = 8
TRIES_MAX = 6
NO_OBJECT = "no object"
FINALIZED_TYPES = {"System.Gen2GcCallback"}
LEFT_ALONE = {"Emitted.Run.staticReference", "System.Text.EncodingHelper.s_localeEnvVars"}
# The others are built without support for EventSource.
HAS_EVENT_SOURCE = {"facts"}
EMITTED = "staticReference"
# The number of statics in the text format.
STATIC = "4"


@dataclass
class Heap:
    """The heap as one side reads it."""

    objects: dict[int, dict[str, Any]]
    free: dict[int, dict[str, Any]]
    references: dict[int, Counter[int]]
    types: dict[str, tuple[int, int]]
    live: set[int]
    statics: dict[int, set[str]]
    containers: dict[tuple[int, str], str]
    logged: set[int]
    of_threads: set[str]

    def kind(self, address: int) -> str:
        """Name of an object's type."""
        name: str = self.objects[address]["type"] if address in self.objects else NO_OBJECT
        return name


def read_log(path: Path) -> tuple[dict[int, Counter[int]], set[int]]:
    """References, and objects of statics, from the text format, which has them all."""
    text = path.with_name(path.name + ".heap")
    words = [live.PROGRAM, str(path), "export", str(text)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, timeout=live.TIMEOUT)
    found: dict[int, Counter[int]] = {}
    statics: set[int] = set()
    for line in text.read_text(encoding="utf-8").splitlines():
        if line.startswith("o "):
            address, _, _, *targets = (int(word, 16) for word in line.split(" ")[1:])
            found[address] = collections.Counter(targets)
        words = line.split(" ")
        if words[0] == "r" and words[2] == STATIC:
            statics.add(int(words[1], 16))
    return found, statics


def rows_of(path: Path, *words: str) -> dict[int, dict[str, Any]]:
    """Objects by address."""
    rows = live.heapdump(str(path), "dumpheap", *words)["objects"]
    return {int(row["address"], 16): row for row in rows}


def read(path: Path) -> Heap:
    """All of it."""
    rows = rows_of(path)
    statics: dict[int, set[str]] = collections.defaultdict(set)
    containers: dict[tuple[int, str], str] = {}
    of_threads: set[str] = set()
    references, logged = read_log(path)
    for row in live.heapdump(str(path), "roots")["roots"]:
        if row["kind"] in ("static", "thread-static"):
            address = int(row["object"], 16)
            statics[address].add(row["name"])
            if row["container"]:
                containers[address, row["name"]] = row["container"]["name"]
        if row["kind"] == "thread-static":
            of_threads.add(row["name"])
    return Heap(
        {address: row for address, row in rows.items() if not row["free"]},
        {address: row for address, row in rows.items() if row["free"]},
        references,
        live.by_type(live.heapdump(str(path), "dumpheap", "-stat")["types"]),
        {address for address, row in rows_of(path, "-live").items() if not row["free"]},
        dict(statics),
        containers,
        logged,
        of_threads,
    )


class Comparison:
    """The comparison of one program."""

    def __init__(self, core: Heap, dump: Heap, is_old: bool) -> None:
        self.core, self.dump = core, dump
        self.young = ("0", "1") if is_old else ("0",)
        self.rules: Counter[str] = collections.Counter()
        self.bad: list[str] = []

    def wrong(self, line: str) -> None:
        """Note what no rule explains; the first few are enough."""
        self.bad.append(line)

    def is_cast_cache(self, address: int) -> bool:
        """The table of casts that the collection has dropped."""
        names = self.dump.statics.get(address, set())
        is_table = any(name.endswith(".s_table") for name in names)
        return self.core.kind(address) == "System.Int32[]" and is_table

    def has_moved(self) -> bool:
        """Has a collection after that of the .gcdump moved objects?"""
        return any(self.core.kind(address) == NO_OBJECT for address in self.dump.objects)

    def objects(self) -> set[int]:
        """Compare them by address; returns those that only the core has."""
        core, dump = self.core.objects, self.dump.objects
        self.rules["free-blocks"] += len(self.core.free)
        for address in dump.keys() - core.keys():
            self.wrong(f"{address:x} {dump[address]['type']}: not in the core")
        behind = core.keys() - dump.keys()
        frozen = [address for address in dump if core.get(address, {}).get("generation") == "nongc"]
        for address in behind:
            generation, kind = core[address]["generation"], core[address]["type"]
            is_last = kind == "System.RuntimeType" and address > max(frozen, default=0)
            if generation not in self.young and not (generation == "nongc" and is_last):
                self.wrong(f"{address:x} {kind}: generation {generation}, not in the .gcdump")
        self.rules["made-behind"] += len(behind)
        if len(behind) > MADE_BEHIND_MAX:
            self.wrong(f"{len(behind)} objects are not in the .gcdump")
        for address in core.keys() & dump.keys():
            self.one(address)
        return behind

    def one(self, address: int) -> None:
        """One object that both have."""
        core, dump = self.core.objects[address], self.dump.objects[address]
        if core["type"] != dump["type"]:
            self.wrong(f"{address:x}: {core['type']}, in the .gcdump {dump['type']}")
        if core["size"] == dump["size"]:
            return
        self.rules["unaligned-sizes"] += 1
        if core["generation"] != "nongc" or core["size"] != (dump["size"] + 7) // 8 * 8:
            self.wrong(f"{address:x} {core['type']}: {core['size']}, {dump['size']} bytes")

    def totals(self, behind: set[int]) -> None:
        """Counts and bytes by type, with the rules applied to the core's."""
        expected = dict(self.core.types)
        expected.pop("Free", None)
        change: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
        for address in behind:
            change[self.core.kind(address)][0] += 1
            change[self.core.kind(address)][1] += self.core.objects[address]["size"]
        for address in self.core.objects.keys() & self.dump.objects.keys():
            sizes = self.core.objects[address]["size"], self.dump.objects[address]["size"]
            change[self.core.kind(address)][1] += sizes[0] - sizes[1]
        for name, (count, size) in change.items():
            before = expected[name]
            expected[name] = (before[0] - count, before[1] - size)
        expected = {name: value for name, value in expected.items() if value[0]}
        for name in expected.keys() | self.dump.types.keys():
            if expected.get(name) != self.dump.types.get(name):
                self.wrong(f"{name}: {expected.get(name)}, .gcdump {self.dump.types.get(name)}")

    def references(self) -> None:
        """Compare the references of the objects that both have."""
        for address in self.core.objects.keys() & self.dump.objects.keys():
            core, dump = self.core.references[address], self.dump.references[address]
            for target, count in (dump - core).items():
                # In the core, the slot is a root; the runtime's array is of objects.
                if self.core.kind(address) == "System.Object[]" and target in self.core.objects:
                    self.rules["static-slots"] += count
                else:
                    self.wrong(f"{address:x} -> {target:x}: not in the core")
            for target, count in (core - dump).items():
                if self.core.kind(target) == "System.Reflection.LoaderAllocator":
                    self.rules["loader-allocator"] += count
                else:
                    self.wrong(f"{address:x} -> {target:x}: not in the .gcdump")

    def slots(self) -> None:
        """A slot that is not a reference in the core has to be a root there."""
        for address in self.core.objects.keys() & self.dump.objects.keys():
            for target in self.dump.references[address] - self.core.references[address]:
                if target not in self.core.statics and not self.is_cast_cache(target):
                    self.wrong(f"{address:x} -> {target:x}: neither reference nor static")

    def statics(self) -> None:
        """Names of static variables, as sets by object."""
        known = {
            (name, self.core.kind(address))
            for address, names in self.core.statics.items()
            for name in names
        }
        for address, names in self.dump.statics.items():
            expected = self.core.statics.get(address, set())
            for name in names:
                rule = self.static_rule(address, name, expected, known)
                self.rules[rule] += 1
                holder = self.dump.containers.get((address, name))
                if rule == "static-names" and holder != self.core.containers.get((address, name)):
                    self.wrong(f"{address:x}: static {name} is held by {holder}")
                if rule == "wrong-static":
                    self.wrong(f"{address:x}: static {name}, in the core {sorted(expected)}")
        for heap in (self.core, self.dump):
            for address in heap.statics.keys() ^ heap.logged:
                self.wrong(f"{address:x}: a static of either the text log or the heap alone")
        for address, names in self.core.statics.items():
            for name in names - self.dump.statics.get(address, set()) - LEFT_ALONE:
                self.rules["not-sent"] += 1
                is_generic = ">" in name.rpartition(".")[0].replace("<>", "")
                is_new = address not in self.dump.objects
                if not is_generic and not is_new and name not in self.core.of_threads:
                    self.wrong(f"{address:x}: static {name} is not in the .gcdump")

    def static_rule(
        self, address: int, name: str, expected: set[str], known: set[tuple[str, str]]
    ) -> str:
        """Why one is named so."""
        kind, _, what = name.rpartition(".")
        if name in expected:
            return "static-names"
        if not expected and (name, self.dump.kind(address)) in known:
            return "collectible"
        fields = {other.rpartition(".")[2] for other in expected & LEFT_ALONE}
        is_emitted = not expected and what == EMITTED
        if kind == self.dump.kind(address) and (is_emitted or what in fields):
            return "left-alone"
        if self.is_cast_cache(address):
            return "cast-cache"
        return "wrong-static"

    def alive(self, behind: set[int]) -> None:
        """Compare which objects are alive."""
        for address in self.core.live - self.dump.live - behind:
            self.rules["frozen-objects"] += 1
            if self.core.objects[address]["generation"] != "nongc":
                self.wrong(f"{address:x} {self.core.kind(address)}: dead in the .gcdump")
        finalized = self.dump.live - self.core.live
        dropped = {address for address in finalized if self.is_cast_cache(address)}
        self.rules["cast-cache"] += len(dropped)
        finalized -= dropped
        self.rules["finalized"] += len(finalized)
        for address in finalized:
            if len(finalized) > FINALIZED_MAX or self.core.kind(address) not in FINALIZED_TYPES:
                self.wrong(f"{address:x} {self.core.kind(address)}: dead in the core")


def check_tracing(first: Path, later: Path, expected: bool) -> list[str]:
    """The first session leaves the descriptions of events: info and diff say so."""
    bad = []
    for path, has in ((first, False), (later, expected)):
        if live.heapdump(str(path), "info")["event_metadata"] != has:
            bad.append(f"{path.name}: descriptions of events expected: {has}")
    answer = live.heapdump(str(first), "diff", str(later))
    if answer["tracing_began"] != expected:
        bad.append(f"diff: tracing began: {not expected}")
    if live.heapdump(str(later), "diff", str(later))["tracing_began"]:
        bad.append("diff: tracing began between a snapshot and itself")
    if expected and not any(row["tracing"] for row in answer["types"]):
        bad.append("diff: no type of tracing")
    return bad


def check(app: str, flavour: str, server: bool) -> list[str]:
    """The mistakes of one program."""
    with live.running(app, flavour, server) as program:
        # The first session of all makes the runtime's EventSource, some 3000 objects.
        first = program.collect("first.gcdump", "--trust-files")
        for _ in range(TRIES_MAX):
            dump, core = program.collect("it.gcdump", "--trust-files"), program.core("it.core")
            findings = live.heapdump(str(core), "info")["findings"]
            if all(finding["kind"] != "gc-in-progress" for finding in findings):
                comparison = Comparison(read(core), read(dump), flavour != "net10.0")
                if not comparison.has_moved():
                    break
            print(f"{app} {flavour}: there was a collection between; once more")
        else:
            return [f"{app} {flavour}: there was always a collection between"]
        began = check_tracing(first, dump, app in HAS_EVENT_SOURCE)
    behind = comparison.objects()
    comparison.totals(behind)
    comparison.references()
    comparison.slots()
    comparison.statics()
    comparison.alive(behind)
    rules = ", ".join(f"{name} {count}" for name, count in sorted(comparison.rules.items()))
    print(
        f"{app} {flavour}{' server' if server else ''}: {len(comparison.dump.objects)} objects;",
        rules,
    )
    bad = began + comparison.bad
    return [f"{app} {flavour}: {line}" for line in bad[:20]] + (
        [f"{len(bad)} in all"] if bad else []
    )


def main() -> int:
    """Exit status."""
    live.make("leak10-heap", "svr10-full", "wks9-full", "svr8-full")
    bad: list[str] = []
    for app, flavour, server in PROGRAMS:
        bad += check(app, flavour, server)
    print("\n".join(bad) or "all the same")
    return 1 if bad else 0


if __name__ == "__main__":
    live.run_tests(main)
