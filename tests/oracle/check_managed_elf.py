#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the frames of GDB with the plug-in, and of LLDB with an exported .elf, with those of clrstack.

    check_managed_elf.py [--program HEAPDUMP] [CORE...]

Without CORE: some of each kind in corefiles/build, or of $COREFILES.  Each managed frame of clrstack must be a frame of
GDB, at the same place of the stack, with the same instruction pointer, method and line; a thread of LLDB has all of them; and GDB's stack of
each thread must end where threads begin.  Two differences have rules: a frame of precompiled code that has called a
native function (an "inlined call") has for clrstack, as for SOS, the address that it has stored; GDB's is the true one.
And the frame that a signal interrupted in its prologue has another stack pointer in GDB: the runtime's handler does not
look like one, so GDB takes the address for one after a call; its callers are right.
Exit status 1 when anything differs, 77 without cores, or without GDB or LLDB.
"""
from __future__ import annotations

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Iterator

from session import SOURCE, Json, ask, check_cores

PLUGIN = SOURCE / "gdb-plugin" / "heapdump.py"

# The cores that are compared, of each release.
KINDS = (
    "hang{}-mixed-*.core",
    "hang{}-waits-*.core",
    "crash{}-overflow-heap.core",
    "crash{}-[cfn]*-throw-heap.core",
    "crash{}-filter-abort-heap.core",
    "crash{}-nullref-heap.core",
    "web{}-*.core",
    "vars{}-*.core",
    # A single-file program has the native code of the runtime in its own image. A core with the heap alone lacks
    # pages of that, so that GDB does not get past native frames: it is not compared.
    "single{}-full.core",
)
# Where threads begin.
BEGINS = ("clone3", "clone", "_start", "__clone3")
# In GDB: a line for each thread, of stack and instruction pointers with name, file and line.
LIST = """
import gdb, json
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frames = []
    try:
        frame = gdb.newest_frame()
        while frame and len(frames) < 400000:
            sal = frame.find_sal()
            line = (sal.symtab.filename, sal.line) if sal.symtab and sal.line else None
            frames.append((int(frame.read_register("rsp")) & (1 << 64) - 1, frame.pc(), frame.name(), line))
            frame = frame.older()
    except gdb.error as error:
        frames.append((0, 0, "error: " + str(error), None))
    print("FRAMES " + json.dumps({"tid": thread.ptid[1], "frames": frames}))
"""
LLDB_FRAME = re.compile(r"frame #\d+: 0x([0-9a-f]+)(?: (.*))?")


def program_of(modules: Json) -> str:
    """The file of the program: of the files that are not libraries the first."""
    paths = [module["path"] for module in modules["modules"]]
    return next(
        (p for p in paths if p.startswith("/") and not re.search(r"\.(dll|so[.\d]*)$", p)), ""
    )


def run(argv: list[str]) -> str:
    """The output of a program."""
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=600,
        check=False,
    )
    return done.stdout.decode("utf-8", "replace")


def gdb_stacks(program: str, core: pathlib.Path, folder: pathlib.Path) -> dict[int, list[Any]]:
    """The frames of each thread, by its id."""
    script = folder / "list.py"
    script.write_text(LIST, encoding="utf-8")
    commands = [f"file {program}", f"core-file {core}"]
    argv = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]
    argv += [
        "-iex",
        "set confirm off",
        "-iex",
        "set backtrace limit unlimited",
        "-iex",
        f"source {PLUGIN}",
    ]
    for command in (*commands, f"source {script}"):
        argv += ["-ex", command]
    rows = [json.loads(line[7:]) for line in run(argv).splitlines() if line.startswith("FRAMES ")]
    return {row["tid"]: row["frames"] for row in rows}


def lldb_stacks(program: str, core: pathlib.Path, elf: pathlib.Path) -> list[dict[int, str]]:
    """The names of frames by their addresses, of each thread."""
    commands = [
        "settings set target.process.thread.max-backtrace-depth 400000",
        f"target create -c {core} {program}",
        f"target modules add {elf}",
        f"target modules load --file {elf} --slide 0",
        "thread backtrace all",
    ]
    argv = ["lldb-14", "-x", "-b"]
    for command in commands:
        argv += ["-o", command]
    stacks: list[dict[int, str]] = []
    for line in run(argv).splitlines():
        if re.match(r"[* ] thread #", line):
            stacks.append({})
        elif (found := LLDB_FRAME.search(line)) and stacks:
            stacks[-1][int(found.group(1), 16)] = found.group(2) or ""
    return stacks


def plain(name: str | None) -> str:
    """A name without its arguments, and without the part of the method that a handler is."""
    return re.sub(r" \[\w+\]$", "", re.sub(r"\([^()]*\)(?= \[\w+\]$|$)", "", name or ""))


def in_lldb(pairs: list[tuple[Json, Any]], lldb: list[dict[int, str]]) -> bool:
    """Has a thread of LLDB all these frames?  It does not say which thread of the system it is."""
    return any(
        all(plain(frame["method"]) in stack.get(row[1], "") for frame, row in pairs)
        for stack in lldb
    )


def ends_at_a_begin(gdb: list[Any]) -> bool:
    """Is the outermost frame one where threads begin?  That of a program without symbols has no name."""
    names = [row[2] or "" for row in gdb[-2:]]
    return names[-1] in BEGINS or (not names[-1] and names[0].startswith("__libc_start_main"))


def differences(
    thread: Json, gdb: list[Any], lldb: list[dict[int, str]], counts: dict[str, int]
) -> Iterator[str]:
    """Frames of a thread that GDB or LLDB do not have."""
    by_stack = {row[0]: row for row in gdb}
    managed = [f for f in thread["frames"] if f["kind"] == "managed" and not f["unwound"]]
    inlined = {f["ip"] for f in thread["frames"] if f["method"] == "InlinedCallFrame"}
    found = [by_stack.get(int(frame["sp"], 16)) for frame in managed]
    counts["frames"] += len(managed)
    for frame, row in zip(managed, found):
        where = f"thread {thread['os_id']}: {frame['ip']} {frame['method']}"
        if not row and frame["active"] and frame is not managed[-1]:
            counts["interrupted"] += 1
        elif not row:
            yield f"{where}: GDB has no frame at {frame['sp']}"
        elif plain(row[2]) != plain(frame["method"]):
            yield f"{where}: GDB calls it {row[2]}"
        elif row[1] != int(frame["ip"], 16):
            counts["inlined calls"] += 1
            if frame["ip"] not in inlined:
                yield f"{where}: GDB is at {row[1]:x}"
        elif (line := frame.get("line")) or row[3]:
            counts["lines"] += 1
            if row[3] != [frame.get("file"), line]:
                yield f"{where}: line {line}, for GDB {row[3]}"
    if managed and not ends_at_a_begin(gdb):
        yield f"thread {thread['os_id']}: GDB's stack ends at {gdb[-1] if gdb else 'nothing'}"
    pairs = [(frame, row) for frame, row in zip(managed, found) if row]
    if not in_lldb(pairs, lldb):
        yield f"thread {thread['os_id']}: no thread of LLDB has its {len(managed)} managed frames"


def compare(program: str, core: pathlib.Path) -> tuple[str, list[str]]:
    """How many frames were compared, and which differ."""
    counts = {"frames": 0, "inlined calls": 0, "interrupted": 0, "lines": 0}
    with tempfile.TemporaryDirectory() as name:
        elf = pathlib.Path(name) / "managed.elf"
        answers = ask(program, core, [f"export {elf}", "clrstack -all -full", "modules"])
        wrong = [f"{answers[0]['left_out']} functions are left out"] * bool(answers[0]["left_out"])
        file = program_of(answers[2])
        gdb, lldb = gdb_stacks(file, core, elf.parent), lldb_stacks(file, core, elf)
        for thread in answers[1]["threads"]:
            tid = thread["os_id"]
            wrong += differences(thread, gdb.get(tid, []), lldb, counts)
    rules = f"{counts['inlined calls']} inlined calls, {counts['interrupted']} interrupted"
    return f"{counts['frames']} frames, {counts['lines']} lines, {rules}", wrong


def main() -> int:
    if not shutil.which("gdb") or not shutil.which("lldb-14"):
        print("there is no GDB or no LLDB", file=sys.stderr)
        return 77
    patterns = [kind.format(major) for kind in KINDS for major in (8, 9, 10, 11)]
    return check_cores(__doc__ or "", patterns, compare)


if __name__ == "__main__":
    sys.exit(main())
