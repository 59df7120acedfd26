#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No answer changes by what is left out of the copy of a process.

A program of corefiles/apps gets hundreds of megabytes of native memory mixed with what the runtime
allocates (ballast.c), and is stopped by SIGSTOP. It is opened with --copy-all and without, and
all commands are asked in both: about the whole, and about addresses of each kind that the answers name.
Only `info` may differ, in what it says about the copy.

    check_lean.py [NUMBER...]

All programs, or those of PROGRAMS that are named by their numbers, from 0; `random` is two of them; the seed says which.
"""
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import live

BALLAST = live.BUILD / "tests" / "oracle" / "libballast.so"
MEGABYTES = 240

SERVER = {"DOTNET_gcServer": "1", "DOTNET_GCHeapCount": "2"}
SEGMENTS = {"DOTNET_GCName": "libclrgc.so"}
# The runtime's own memory is private and anonymous then, as what malloc() has is.
NO_DOUBLE_MAPPING = {"DOTNET_EnableWriteXorExecute": "0"}
PROGRAMS: list[tuple[str, str, dict[str, str]]] = [
    ("facts", "net10.0", {}),
    ("facts", "net10.0", SERVER),
    ("facts", "net10.0", SERVER | SEGMENTS),
    ("facts", "net10.0", NO_DOUBLE_MAPPING),
    ("facts", "single", {}),
    ("facts", "net9.0", {}),
    ("facts", "net9.0", SERVER),
    ("facts", "net9.0", SEGMENTS),
    ("facts", "net8.0", {}),
    ("facts", "net8.0", SERVER),
    ("facts", "net8.0", SEGMENTS),
    ("facts", "net8.0", NO_DOUBLE_MAPPING),
    ("leak", "net10.0", {}),
    ("variables", "net10.0", {}),
    ("variables", "net8.0", {}),
]

# Commands about the whole heap.
WHOLE = [
    "dumpheap -stat",
    "dumpheap -strings",
    "dumpheap -thinlock",
    "clrthreads",
    "clrstack -all",
    "clrstack -all -roots",
    "clrstack -all -a -r -f",
    "dumpasync",
    "printexception",
    "gchandles",
    "roots",
    "roots -conservative",
    "syncblk",
    "syncblk -all",
    "crashinfo",
    "analyzeoom --json",
    "eeheap",
    "finalizequeue -detail",
    "gcheapstat -unreachable",
    "dumpgen 0",
    "dumpgen 2",
    "ephrefs",
    "ephtoloh",
    "balance",
    "strings",
    "types",
    "dominators",
    "dumpheap -dead -stat",
    "verifyheap",
    "info -layout",
    "info",
]
# For each type, about its first object.
OF_OBJECT = [
    "dumpobj",
    "gcroot",
    "objsize",
    "referrers",
    "retained",
    "gcwhere",
    "listnearobj",
    "verifyobj",
]


def ask(pid: int, commands: list[str], *options: str) -> list[str]:
    """The answers, text, one session for all."""
    marker = "help set"
    text = "\n".join(line for command in commands for line in (command, marker)) + "\n"
    done = subprocess.run(
        [live.PROGRAM, *options, str(pid)],
        input=text,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    mark = subprocess.run(
        [live.PROGRAM, "help", "set"], capture_output=True, text=True, check=True
    ).stdout
    answers = done.stdout.split(mark)
    if len(answers) != len(commands) + 1:
        raise AssertionError(
            f"{len(answers) - 1} answers to {len(commands)} commands: {done.stderr}"
        )
    return answers[:-1] + [done.stderr]


def addresses(pid: int) -> list[str]:
    """Commands about addresses of all kinds that the whole copy knows."""
    commands = []
    types = live.heapdump("--copy-all", str(pid), "types")["types"]
    seen = set()
    for row in live.heapdump("--copy-all", str(pid), "dumpheap")["objects"]:
        if row["mt"] not in seen:
            seen.add(row["mt"])
            commands += [f"{command} {row['address']}" for command in OF_OBJECT]
            commands += [f"dumpdelegate {row['address']}", f"printexception {row['address']}"]
    for row in types:
        commands += [f"dumpmt {row['mt']}", f"dumpclass {row['mt']}"]
    return commands


def comparable(answer: str) -> str:
    """Without what tells of the copy, and without Pss, which changes when other processes come or go."""
    answer = re.sub(r"(?m)^(Memory: .*; Pss )[^)]*", r"\1", answer)
    return re.sub(r"(?m)^(Stopped|Not copied): .*\n", "", answer)


def compare(pid: int, commands: list[str]) -> list[str]:
    """The commands whose answers differ."""
    whole = ask(pid, commands, "--copy-all")
    lean = ask(pid, commands)
    bad = []
    for command, left, right in zip([*commands, "(standard error)"], whole, lean):
        left, right = comparable(left), comparable(right)
        if command == "(standard error)":
            left, right = (re.sub(r"was stopped for .*", "", text) for text in (left, right))
        if left != right:
            pairs = zip(left.splitlines() + ["(end)"], right.splitlines() + ["(end)"])
            first = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
            bad.append(f"{command}: {first[0]!r}, but of the lean copy {first[1]!r}")
    return bad


def untimed(log: bytes) -> bytes:
    """A text log without the times at which it began and ended."""
    return re.sub(rb"(?m)^(a 2 .*|c .*) [0-9a-f]+$", rb"\1", log)


def exported(pid: int, folder: Path) -> list[str]:
    """The heap as files, to the byte but for the time."""
    bad = []
    for name in ("x.heap", "x.gcdump"):
        paths = [folder / f"{number}-{name}" for number in range(2)]
        for path, options in zip(paths, (("--copy-all",), ())):
            live.heapdump(*options, str(pid), "export", str(path), allowed=(0,))
        files = [path.read_bytes() for path in paths]
        if name == "x.heap":
            files = [untimed(file) for file in files]
        if name == "x.heap" and files[0] != files[1]:
            bad.append(f"export {name} differs")
        if len(files[0]) != len(files[1]):
            bad.append(f"export {name} has another size")
    return bad


def info(pid: int, *options: str) -> dict[str, Any]:
    """The line of info about the copy."""
    return live.heapdump(*options, str(pid), "info")


def check(app: str, flavour: str, settings: dict[str, str]) -> list[str]:
    """One program; what is wrong."""
    more = {"LD_PRELOAD": str(BALLAST), "BALLAST_MB": str(MEGABYTES), **settings}
    with live.running(app, flavour, more=more) as program:
        with live.waiting.stopped(program.pid):
            if info(program.pid)["not_copied"] < MEGABYTES << 19:
                return ["next to nothing was left out of the copy"]
            if info(program.pid, "--copy-all")["not_copied"]:
                return ["--copy-all left something out"]
            bad = compare(program.pid, [*WHOLE, *addresses(program.pid)])
            return bad + exported(program.pid, program.folder)


def main() -> int:
    """See the top of the file."""
    failed = False
    numbers = list(range(len(PROGRAMS)))
    chosen = [int(word) for word in sys.argv[1:] if word != "random"] or numbers
    if "random" in sys.argv[1:] and not live.turns.ALL:
        chosen = sorted(live.turns.chance("lean").sample(numbers, 2))
    for number in chosen:
        app, flavour, settings = PROGRAMS[number]
        name = f"{app} {flavour} {settings or ''}"
        if not (live.APPS / f"{app}-{flavour}").is_dir():
            print(f"{name}: skipped, it is not built")
            continue
        bad = check(app, flavour, settings)
        print(f"{name}: {'the same' if not bad else f'{len(bad)} differ'}")
        for line in bad[:20]:
            print("   ", line)
        failed |= bool(bad)
    return 1 if failed else 0


if __name__ == "__main__":
    live.run_tests(main)
