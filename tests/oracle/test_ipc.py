#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ps and collect, compared with Microsoft.Diagnostics.NETCore.Client (ipc/Program.cs)."""
from __future__ import annotations

import os
import sys
from pathlib import Path

import check_nettrace
import live

# The request of collect (doc/formats.md 9: Microsoft-Windows-DotNETRuntime, and modules in the rundown).
KEYWORDS, RUNDOWN, BUFFER = "1980001", "8", 256
SMALL_BUFFER = 1
PROGRAMS = [("facts", "net10.0", True), ("leak", "net10.0", False), ("facts", "net9.0", False)]
# The traces of a session itself depend on when the one before has ended; a method that is compiled
# for it brings the literals and types that it names into the frozen heap.
SESSION_MAX = 8
SESSION_TYPES = {
    "System.Diagnostics.Tracing.EventCommandEventArgs",
    "System.Collections.Generic.Dictionary<System.String, System.String>",
    "System.Gen2GcCallback",
    "System.Int32[]",
    "System.RuntimeType",
    "System.String",
}


def client_trace(program: live.Program, name: str, megabytes: int) -> Path:
    """A snapshot by the client."""
    path = program.folder / name
    words = ["collect", str(program.pid), str(path), KEYWORDS, RUNDOWN, str(megabytes)]
    live.oracle("ipc", *words)
    return path


def types_of(path: Path) -> dict[str, tuple[int, int]]:
    """By name: several MethodTables may have one."""
    return live.by_type(live.heapdump(str(path), "dumpheap", "-stat")["types"])


def check_processes(program: live.Program) -> list[str]:
    """Both find the same processes, and this one is what it says it is."""
    bad: list[str] = []
    which, *words = live.oracle("ipc", "ps", TMPDIR=str(program.folder)).split()
    before = set(map(int, words))
    rows = {row["pid"]: row for row in live.heapdump("ps")["processes"]}
    which, *words = live.oracle("ipc", "ps", TMPDIR=str(program.folder)).split()
    # Others of this machine come and go meanwhile.
    always, ever = before & set(map(int, words)), before | set(map(int, words))
    print(f"ps: the client lists {len(always)} processes ({which.decode()}), heapdump {len(rows)}")
    if program.pid not in always:
        bad.append(f"the client does not find {program.pid}")
    if always - rows.keys():
        bad.append(f"ps does not list {always - rows.keys()}")
    folder = str(program.folder)
    mine = {pid for pid, row in rows.items() if which == b"all" or folder in row["socket"]}
    extra = {pid for pid in mine - ever if Path(f"/proc/{pid}").exists()}
    if extra:
        bad.append(f"the client does not find {extra}")
    row = rows.get(program.pid)
    if not row:
        return bad
    text = live.oracle("ipc", "environment", str(program.pid)).decode()
    environment = dict(item.split("=", 1) for item in text.split("\0") if item)
    if os.path.dirname(row["socket"]) != environment.get("TMPDIR"):
        bad.append(f"the socket is {row['socket']}, TMPDIR {environment.get('TMPDIR')}")
    if not row["runtime"].startswith(program.truth["version"]):
        bad.append(f"runtime {row['runtime']}, it says {program.truth['version']}")
    if row["uid"] != os.getuid() or row["stopped"]:
        bad.append(f"ps: {row}")
    return bad


def check_streams(program: live.Program) -> list[str]:
    """The client's streams, before and after ours, and ours of the same program."""
    # The first session of all makes the runtime's EventSource.
    program.collect("first.nettrace")
    before = client_trace(program, "before.nettrace", BUFFER)
    own = program.collect("own.nettrace")
    after = client_trace(program, "after.nettrace", BUFFER)
    bad = check_nettrace.compare(before) + check_nettrace.compare(own)
    theirs, ours = [types_of(before), types_of(after)], types_of(own)
    for name in sorted(theirs[0].keys() | ours.keys()):
        both = [types.get(name, (0, 0)) for types in theirs]
        count = min(abs(one[0] - ours.get(name, (0, 0))[0]) for one in both)
        allowed = name in SESSION_TYPES and count <= SESSION_MAX
        # The second has the objects, too, that the program makes by itself meanwhile.
        if ours.get(name, (0, 0)) not in both and not allowed:
            bad.append(f"{name}: the client's {both}, ours {ours.get(name)}")
    return bad


def check_loss(program: live.Program) -> list[str]:
    """A stream with too small a buffer: the loss is told, and the rest is right."""
    path = client_trace(program, "small.nettrace", SMALL_BUFFER)
    trace = check_nettrace.theirs(path)
    info = live.heapdump(str(path), "info")
    kinds = [finding["kind"] for finding in info["findings"]]
    print(f"{path.name}: {trace.lost} events lost, {info['objects']} objects are there: {kinds}")
    bad: list[str] = []
    if not trace.lost:
        bad.append(f"{path.name}: TraceEvent misses no events")
    if not info["process"]["partial"]:
        bad.append(f"{path.name}: not told that it is partial")
    got, _ = check_nettrace.ours(path, 1)
    expected = trace.snapshots[0].nodes
    wrong = [address for address, node in got.nodes.items() if expected.get(address) != node]
    if wrong or not got.nodes:
        bad.append(f"{path.name}: {len(wrong)} of {len(got.nodes)} objects are not TraceEvent's")
    # They come after the walk, and what they refer to may be missing.
    if got.roots != trace.snapshots[0].roots:
        roots = got.roots.total(), trace.snapshots[0].roots.total()
        bad.append(f"{path.name}: {roots[0]} roots, of TraceEvent's {roots[1]}")
    return bad


def main() -> int:
    """Exit status."""
    live.publish("ipc")
    live.make("leak10-heap", "svr10-full", "wks9-full")
    bad: list[str] = []
    newest = ("leak", live.newest("leak"), False)
    for app, flavour, server in live.some([newest, *PROGRAMS]):
        with live.running(app, flavour, server) as program:
            found = check_streams(program)
            if app == "leak":
                found += check_processes(program) + check_loss(program)
        bad += [f"{app} {flavour}: {line}" for line in found]
    print("\n".join(bad) or "all the same")
    return 1 if bad else 0


if __name__ == "__main__":
    live.run_tests(main)
