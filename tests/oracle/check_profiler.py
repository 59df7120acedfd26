#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_profiler.py [quick|debuggers|bench [OBJECTS...]]: one program at one point, seen in five ways.

A program that waits is asked by collect (socket), by collect -inside (events that the runtime hands to the profiler), by
a second copy of the profiler that walks a collection (walk: ObjectReferences, which owes nothing to EventPipe), and by
a profiler that uses the socket itself (own); then its memory is read (memory). An induced collection of a program that
waits moves nothing twice, so that objects have the same address in all of them: sets are compared, not counts.

Each difference that is allowed has a name:

allocated-since      only memory has it, and nothing that the others have refers to it: made after their collections
fleeting             ways look one after the other: an object that the program's own lines or a session make or lose; at
                     most one in 500 objects, none of the program's own types
static-array         the arrays in which the runtime keeps static variables: memory tells their elements as roots
stack-and-runtime    threads go on between two looks, and memory tells roots of the runtime that events do not name
statics-not-told     walk does not tell static variables; memory also has those of the runtime's own types
continuation         the runtime tells the name of the parent for a type that its JIT has made; memory has its shape, too
unproven-module      socket names the outer class of a nested one only if a file of the module is proven to be the one
"""
from __future__ import annotations

import collections
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Counter, Iterator, NamedTuple, Optional

SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
PROGRAM = str(BUILD / "heapdump")
LIBRARY = BUILD / "libheapdump_profiler.so"
APPS = Path(os.environ.get("HD_APPS_BUILD", SOURCE / "corefiles" / "build" / "apps"))
CLASS = "8F1D9A52-6C3E-4B7A-9D04-5E2B7C61A8F3"
NEW = ("net11.0", "single11")  # left out where the packages of .NET 11 are missing
OLD = ("net10.0", "net9.0", "net8.0")
COLLECTORS = {
    "workstation": {"DOTNET_gcServer": "0"},
    "server": {
        "DOTNET_gcServer": "1",
        "DOTNET_GCHeapCount": "2",
        "DOTNET_GCDynamicAdaptationMode": "0",
    },
    "datas": {"DOTNET_gcServer": "1", "DOTNET_GCDynamicAdaptationMode": "1"},
}
SEGMENTS = {"segments": {"DOTNET_GCName": "libclrgc.so"}}
SIGNAL = signal.SIGRTMIN + 6
SKIPPED = 77
TIMEOUT = 300
FLEETING = 500
STACK, STATIC, FROZEN = "1", "4", "5"
CONTINUATION = "System.Runtime.CompilerServices.Continuation"
INTERNAL = ("0", "5")


class Log(NamedTuple):
    """A text log: what is in a snapshot."""

    objects: dict[str, tuple[str, str, tuple[str, ...]]]  # type, size, references
    types: dict[str, str]
    roots: Counter[tuple[str, str, str]]  # address, kind, flags

    def name(self, address: str) -> str:
        """The name of an object's type."""
        return self.types.get(self.objects[address][0], "?")


def read_log(path: Path) -> Log:
    """Read it."""
    log = Log({}, {}, collections.Counter())
    for line in path.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        kind, *words = line.split(" ")
        if kind == "t":
            log.types[words[0]] = " ".join(words[1:])
        elif kind == "o":
            log.objects[words[0]] = (words[1], words[2], tuple(sorted(words[3:])))
        elif kind == "r":
            log.roots[(words[0], words[1], words[2])] += 1
    return log


class Difference(Exception):
    """A difference that no rule explains."""


class Rules:
    """The rules that applied, and how often."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.counts: Counter[str] = collections.Counter()

    def check(self, is_right: bool, what: str) -> None:
        """Fail unless it is right."""
        if not is_right:
            raise Difference(f"{self.label}: {what}")


def is_nameless(name: str) -> bool:
    """Is it what the library writes for a type that it knows nothing of?"""
    return name in ("?", "") or name.startswith("UNKNOWN ")


def is_own(name: str) -> bool:
    """Is it the program's, which does nothing meanwhile?"""
    return "Profiled." in name


def compare_objects(rules: Rules, theirs: Log, ours: Log, is_memory: bool) -> None:
    """Objects, sizes and references."""
    fleeting = set()
    targets = {target for _, _, refs in theirs.objects.values() for target in refs}
    for address in ours.objects.keys() - theirs.objects.keys():
        if is_memory and address not in targets:
            rules.counts["allocated-since"] += 1
        else:
            fleeting.add((address, ours.name(address)))
    fleeting |= {(a, theirs.name(a)) for a in theirs.objects.keys() - ours.objects.keys()}
    roots = {address for address, _, _ in ours.roots}
    for address in theirs.objects.keys() & ours.objects.keys():
        (_, size, refs), (_, own_size, own_refs) = theirs.objects[address], ours.objects[address]
        if (size, refs) == (own_size, own_refs):
            continue
        missing = set(refs) - set(own_refs)
        if is_memory and ours.name(address) == "System.Object[]" and size == own_size:
            if missing <= roots and set(own_refs) <= set(refs):
                rules.counts["static-array"] += 1
                continue
        fleeting.add((address, ours.name(address)))
    own = sorted(name for _, name in fleeting if is_own(name))
    rules.check(not own, f"the program's own objects differ: {own[:5]}")
    rules.check(
        len(fleeting) * FLEETING <= len(theirs.objects) + FLEETING,
        f"{len(fleeting)} of {len(theirs.objects)} objects differ: {sorted(fleeting)[:5]}",
    )
    rules.counts["fleeting"] += len(fleeting)


def compare_names(rules: Rules, theirs: Log, ours: Log, may_lack: bool) -> None:
    """The same type has the same name."""
    for address in theirs.types.keys() & ours.types.keys():
        name, own = theirs.types[address], ours.types[address]
        if name == own:
            continue
        if own == CONTINUATION and name.startswith("Continuation_"):
            rules.counts["continuation"] += 1
            continue
        inner = own.split("+")[-1].split("<")[0].removesuffix("[]")
        lacks = may_lack and "+" in own and inner in name
        rules.check(lacks, f"a type is called {name} and {own}")
        rules.counts["unproven-module"] += 1


def some_roots(log: Log, *kinds: str) -> Counter[tuple[str, str, str]]:
    """The roots of some kinds."""
    return collections.Counter({root: n for root, n in log.roots.items() if root[1] in kinds})


def compare_roots(rules: Rules, theirs: Log, ours: Log, kind: str) -> None:
    """Roots by kind; @kind is what ours is."""
    for root_kind in "0123456":
        some, own = some_roots(theirs, root_kind), some_roots(ours, root_kind)
        if root_kind == STATIC and kind == "walk":
            rules.counts["statics-not-told"] += len(some)
            rules.check(not own, "walk has told static variables")
            continue
        if kind == "memory" and root_kind in (STACK, *INTERNAL):
            rules.counts["stack-and-runtime"] += (own - some).total() + (some - own).total()
            continue
        if kind in ("socket", "own") and root_kind == FROZEN:
            # Only the profiler is told which objects are frozen; those of a trace have no root, and its answers say so.
            rules.counts["frozen-not-told"] += (some - own).total()
            some &= own
        lost, more = some - own, own - some
        if kind == "memory" and root_kind == STATIC:
            rules.counts["statics-not-told"] += more.total()
            more = collections.Counter()
        apart = {root[0] for root in (*lost, *more)}
        named = {theirs.name(a) for a in apart if a in theirs.objects}
        rules.check(not any(map(is_own, named)), f"roots of kind {root_kind} differ: {named}")
        rules.check(len(apart) <= 4, f"{len(apart)} roots of kind {root_kind} differ: {apart}")
        rules.counts["fleeting"] += len(apart)


class Waiting:
    """A program that waits, with the profilers in it."""

    def __init__(self, folder: Path, flavour: str, count: int, way: str, **more: str) -> None:
        self.folder = folder
        app = APPS / f"profiled-{flavour}" / "profiled"
        words = ["dotnet", f"{app}.dll"] if flavour == "net10.0" else [str(app)]
        other = folder / "other.so"
        if not other.exists():
            name = uuid.UUID(CLASS).bytes_le[:8]
            other.write_bytes(LIBRARY.read_bytes().replace(name, bytes(4) + name[4:]))
        profiler = {
            "CORECLR_ENABLE_PROFILING": "1",
            "CORECLR_PROFILER": "{00000000" + CLASS[8:] + "}",
            "CORECLR_PROFILER_PATH": str(other),
            "HEAPDUMP_WHEN": "signal",
            "HEAPDUMP_WAY": way,
            "HEAPDUMP_OUT": f"{folder}/own.heap",
        }
        environment = dict(os.environ, TMPDIR=str(folder), **(profiler if way else {}), **more)
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [*words, str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )
        self.await_line("READY")

    def await_line(self, line: str) -> None:
        """Wait for the line that the program writes when it is so far."""
        assert self.process.stdout
        for said in self.process.stdout:
            if said == line + "\n":
                return
        raise Difference("the program has ended")

    def say(self, line: str) -> None:
        """A line that the program does, and says so."""
        assert self.process.stdin
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        self.await_line("heard " + line)

    def end(self) -> None:
        """It ends as it always does."""
        self.process.communicate("end\n", timeout=TIMEOUT)
        if self.process.returncode != 7:
            raise Difference(f"the program ended with {self.process.returncode}")

    def heapdump(self, *words: str) -> None:
        """One command."""
        done = subprocess.run(
            [PROGRAM, *words], capture_output=True, text=True, check=False, timeout=TIMEOUT * 5
        )
        if done.returncode:
            raise Difference(f"heapdump {' '.join(words)}: {done.returncode}: {done.stderr}")

    def look(self, way: str) -> Path:
        """A snapshot: a text log."""
        pid, path = str(self.process.pid), self.folder / f"{way}.heap"
        if way == "socket":
            self.heapdump("collect", pid, "-o", str(path), "--trust-files")
        elif way == "events":
            self.heapdump("collect", pid, "-inside", "-o", str(path))
        elif way == "memory":
            self.heapdump(pid, "export", str(path))
        else:
            path = self.folder / "own.heap"
            path.unlink(missing_ok=True)
            os.kill(self.process.pid, SIGNAL)
            end = time.monotonic() + TIMEOUT
            while not path.exists():
                if time.monotonic() > end or self.process.poll() is not None:
                    raise Difference(f"{way}: no snapshot came")
                time.sleep(0.02)
            path = path.rename(self.folder / f"{way}.heap")
        return path


def five_ways(flavour: str, collector: str, count: int = 1000) -> Iterator[Rules]:
    """All ways of one program."""
    for way in ("walk", "own"):
        with tempfile.TemporaryDirectory(prefix="heapdump-five-") as name:
            own = "socket" if way == "own" else way
            variables = (COLLECTORS | SEGMENTS)[collector]
            waiting = Waiting(Path(name), flavour, count, own, **variables)
            try:
                # A single file has no path to load once more.
                is_single = flavour.startswith("single")
                if not is_single:
                    waiting.say("context")
                ways = ("socket", "events", way)
                # The first of each kind of session leaves objects, and the first collections move some.
                for each in (*ways, *ways):
                    waiting.look(each)
                logs = {each: read_log(waiting.look(each)) for each in ways}
                logs["memory"] = read_log(waiting.look("memory"))
                waiting.end()
            finally:
                waiting.process.kill()
        for each in ("socket", way, "memory"):
            rules = Rules(f"{flavour} {collector}: events and {each}")
            compare_objects(rules, logs["events"], logs[each], each == "memory")
            compare_names(rules, logs[each], logs["events"], each in ("socket", "own"))
            compare_roots(rules, logs["events"], logs[each], each)
            names = collections.Counter(map(logs[each].name, logs[each].objects))
            # Once in the program's own context, and ten in a collectible one.
            held = names["Profiled.Held"]
            rules.check(held == count + (0 if is_single else 10), f"{held} are held")
            rules.check(not any(map(is_nameless, names)), "an object's type has no name")
            yield rules


def in_debuggers(flavour: str) -> Iterator[Rules]:
    """The profiler's file is the same heap in the shell, GDB and LLDB; a .heapsnapshot is only written."""
    gdb = ["gdb", "-nx", "-batch", "-ex", f"source {SOURCE}/gdb-plugin/heapdump.py"]
    lldb = ["lldb-14", "--no-lldbinit", "-b", "-o", f"plugin load {BUILD}/libheapdump_lldb.so"]
    with tempfile.TemporaryDirectory(prefix="heapdump-five-") as name:
        waiting = Waiting(Path(name), flavour, 1000, "")
        try:
            for ending in ("gcdump", "nettrace", "heap", "heapsnapshot"):
                path = f"{name}/a.{ending}"
                waiting.heapdump("collect", str(waiting.process.pid), "-inside", "-o", path)
                ask = [f"heapdump open {path}", "heapdump dumpheap -stat -type Profiled.Held"]
                fronts = {
                    "shell": [PROGRAM, path, *ask[1].split()[1:]],
                    "gdb": [*gdb, "-ex", ask[0], "-ex", ask[1]],
                    "lldb": [*lldb, "-o", ask[0], "-o", ask[1]],
                }
                for front, words in fronts.items():
                    rules = Rules(f"{ending} in {front}")
                    if not shutil.which(words[0]):
                        continue
                    done = subprocess.run(
                        words, capture_output=True, text=True, check=False, timeout=TIMEOUT
                    )
                    told = "1,000    32,000 Profiled.Held\n"
                    if ending == "heapsnapshot":
                        told = "a .heapsnapshot is only written, not read"
                    rules.check(told in done.stdout + done.stderr, done.stdout + done.stderr)
                    yield rules
            waiting.end()
        finally:
            waiting.process.kill()


def under_load(flavour: str, collector: str) -> Iterator[Rules]:
    """While eight threads allocate: what must be true of each snapshot by itself."""
    with tempfile.TemporaryDirectory(prefix="heapdump-five-") as name:
        waiting = Waiting(Path(name), flavour, 1000, "walk", **COLLECTORS[collector])
        try:
            waiting.say("load")
            for way in ("socket", "events", "walk"):
                rules = Rules(f"{flavour} {collector}: {way} under load")
                log = read_log(waiting.look(way))
                targets = {target for _, _, refs in log.objects.values() for target in refs}
                targets |= {address for address, _, flags in log.roots if not int(flags) & 6}
                wild = targets - log.objects.keys() - {"0"}
                rules.check(not wild, f"{len(wild)} references lead to nothing: {list(wild)[:3]}")
                nameless = [a for a in log.objects if is_nameless(log.name(a))]
                rules.check(not nameless, f"{len(nameless)} objects have no type")
                held = sum(log.name(address) == "Profiled.Held" for address in log.objects)
                rules.check(held == 1000, f"{held} are held")
                yield rules
            waiting.end()
        finally:
            waiting.process.kill()


def peak(pid: int) -> int:
    """The most memory that a process has had since the last call, in MB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


def bench(flavour: str, counts: list[int]) -> None:
    """Time and memory of each way, as a table."""
    print(
        "| objects | way | seconds | at rest, MB | at most, MB |\n| ---: | --- | ---: | ---: | ---: |"
    )
    for count in counts:
        with tempfile.TemporaryDirectory(prefix="heapdump-five-") as name:
            waiting = Waiting(Path(name), flavour, count, "walk")
            pid = waiting.process.pid
            try:
                for way in ("socket", "events", "walk"):
                    results = []
                    for _ in range(3):
                        peak(pid)
                        before, began = peak(pid), time.monotonic()
                        waiting.look(way)
                        results.append((time.monotonic() - began, before, peak(pid)))
                    seconds = sorted(results)[1][0]
                    before, most = results[0][1], max(result[2] for result in results)
                    row = f"| {count:,} | {way} | {seconds:.2f} | {before:,} | {most:,} |"
                    print(row, flush=True)
                waiting.end()
            finally:
                waiting.process.kill()


def is_there(flavour: str) -> bool:
    """Is the program there, or can it be built?"""
    if "HD_APPS_BUILD" in os.environ:
        return (APPS / f"profiled-{flavour}").exists()
    words = [str(SOURCE / "scripts" / "make_corefiles.sh"), "--build", "profiled", flavour]
    return subprocess.run(words, stderr=subprocess.DEVNULL, check=False).returncode == 0


def all_checks(which: str, flavours: list[str]) -> Iterator[Iterator[Rules]]:
    """The comparisons; the first is of the newest release."""
    if which == "debuggers":
        yield in_debuggers(flavours[0])
        return
    if which == "quick":
        yield five_ways(flavours[0], "workstation")
        yield five_ways(flavours[0], "server")
        return
    for flavour in flavours:
        for collector in COLLECTORS:
            yield five_ways(flavour, collector)
            yield under_load(flavour, collector)
    yield five_ways(flavours[0], "segments")
    yield in_debuggers(flavours[0])
    yield five_ways(flavours[0], "workstation", 1000000)


def main(words: list[str]) -> int:
    """The exit status."""
    flavours = [flavour for flavour in OLD if shutil.which("dotnet") and is_there(flavour)]
    if len(flavours) < len(OLD):
        print("there is no .NET SDK, or the program does not build")
        return SKIPPED
    new = [flavour for flavour in NEW if is_there(flavour)]
    if len(new) < len(NEW):
        print(f"of programs for .NET 11 there are only: {new}")
    flavours = new + flavours
    if words[:1] == ["bench"]:
        bench(flavours[0], [int(word) for word in words[1:]] or [1000000])
        return 0
    failed = 0
    applied: Counter[str] = collections.Counter()
    for check in all_checks(words[0] if words else "", flavours):
        last: Optional[Rules] = None
        try:
            for last in check:
                applied += last.counts
                print(f"{last.label}: the same ({dict(last.counts)})", flush=True)
        except Difference as difference:
            failed += 1
            print(f"DIFFERENCE: {difference}", flush=True)
    print(f"rules: {dict(applied)}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
