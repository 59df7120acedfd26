#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare what heapdump reads in the snapshots of .nettrace files with TraceEvent's own reader.

    check_nettrace.py [--program HEAPDUMP] [TRACE...]

Without TRACE: those of tests/data.  Objects, bytes, references, types and roots of each snapshot, and
the sums of all addresses.  Exit status 1 when anything differs, 77 without a .NET SDK.
"""
from __future__ import annotations

import argparse
import collections
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KINDS = {
    "0": "stack",
    "1": "finalizer",
    "2": "handle",
    "3": "internal",
    "4": "handle",
    "5": "internal",
}


def oracle_program() -> pathlib.Path:
    """The C# program, built when its sources have changed."""
    apps = pathlib.Path(os.environ.get("HD_APPS_BUILD", ROOT / "corefiles" / "build" / "apps"))
    sources = sorted((HERE / "traceevent").glob("*.*"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    stamp, program = apps / "traceevent.stamp", apps / "traceevent" / "traceevent.dll"
    if not program.exists() or not stamp.exists() or stamp.read_text(encoding="ascii") != digest:
        subprocess.run(
            ["dotnet", "publish", str(HERE / "traceevent"), "-c", "Release", "-v", "quiet"],
            check=True,
            env={**os.environ, "HD_APPS_BUILD": str(apps)},
            stdout=sys.stderr,
        )
        stamp.write_text(digest, encoding="ascii")
    return program


def oracle(trace: pathlib.Path) -> tuple[dict[str, dict[str, Any]], int]:
    """What TraceEvent says of each snapshot, by number, and how many events were lost."""
    command = ["dotnet", str(oracle_program()), str(trace)]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    snapshots: dict[str, dict[str, Any]] = {}
    lost = 0
    for line in text.splitlines():
        word, *rest = line.split(" ")
        if word == "lost":
            lost = int(rest[0])
        elif word == "snapshot":
            facts = dict(zip(rest[1::2], rest[2::2]))
            snapshots[rest[0]] = {"facts": facts, "roots": collections.Counter(), "types": {}}
        elif word == "root":
            kind, flags = rest[1].split("/")
            key = (KINDS[kind], bool(int(flags) & 2))
            snapshots[rest[0]]["roots"][key] += int(rest[2])
        elif word == "type":
            snapshots[rest[0]]["types"][int(rest[1], 16)] = (int(rest[2]), int(rest[3]))
    return snapshots, lost


def ask(program: str, trace: pathlib.Path, number: str, *command: str) -> dict[str, Any]:
    """One command's JSON."""
    words = [program, "--json", "--snapshot", number, str(trace), *command]
    # Findings have a status of their own.
    text = subprocess.run(words, check=False, stdout=subprocess.PIPE).stdout
    answer: dict[str, Any] = json.loads(text)
    return answer


def compare(program: str, trace: pathlib.Path, number: str, said: dict[str, Any]) -> list[str]:
    """Differences in one snapshot."""
    info = ask(program, trace, number, "info")
    facts, bad = said["facts"], []

    def check(what: str, got: Any, expected: Any) -> None:
        if got != expected:
            bad.append(f"{trace.name} snapshot {number}: {what}: got {got}, TraceEvent {expected}")

    check("objects", info["objects"], int(facts["objects"]))
    check("bytes", info["bytes"], int(facts["bytes"]))
    check("references", info["references"], int(facts["edges"]) + int(facts["pairs"]))
    types = {
        int(row["mt"], 16): (row["count"], row["size"])
        for row in ask(program, trace, number, "dumpheap", "-stat")["types"]
        if row["count"]
    }
    check("types", types, said["types"])
    objects = ask(program, trace, number, "dumpheap")["objects"]
    total = sum(int(row["address"], 16) for row in objects) % 2**64
    check("sum of addresses", f"{total:x}", facts["addresses"])
    roots: collections.Counter[tuple[str, bool]] = collections.Counter()
    statics = 0
    for row in ask(program, trace, number, "roots")["roots"]:
        if row["kind"] in ("static", "thread-static"):
            statics += 1
        else:
            roots[(row["kind"], row["weak"])] += 1
    check("statics", statics, int(facts["statics"]))
    check("roots", dict(roots), dict(said["roots"]))
    return bad


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    build = os.environ.get("HEAPDUMP_BUILD", str(ROOT / "build"))
    parser.add_argument("--program", default=f"{build}/heapdump")
    parser.add_argument("traces", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    if not shutil.which("dotnet"):
        print("no .NET SDK: nothing to compare with")
        return 77
    traces = options.traces or sorted((ROOT / "tests" / "data").glob("*.nettrace"))
    bad: list[str] = []
    for trace in traces:
        snapshots, lost = oracle(trace)
        for number, said in snapshots.items():
            bad += compare(options.program, trace, number, said)
        print(f"{trace.name}: {len(snapshots)} snapshots, {lost} events lost")
    print("\n".join(bad) or "all the same")
    return 1 if bad or not traces else 0


if __name__ == "__main__":
    sys.exit(main())
