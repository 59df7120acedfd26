#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the frames of GDB and LLDB with the plug-ins with those of clrstack.

    check_managed_elf.py [--program HEAPDUMP] [CORE...]

Without CORE: of each kind in corefiles/build, or in $COREFILES, the core of one release (HEAPDUMP_TEST_ALL: of all).  Each managed frame of clrstack must be a frame of
GDB and of LLDB, at the same place of the stack, with the same instruction pointer, method and line, and the registers that calls
preserve must have the values of `clrstack -r` in it, unless a signal came between; and each of their stacks must end where threads begin.  Three differences have rules: a frame of precompiled code that has called a
native function (an "inlined call") has for clrstack, as for SOS, the address that it has stored; the debuggers' is the true one.
And the frame that a signal interrupted in its prologue has another stack pointer in debuggers: the runtime's handler does not
look like one, so they take the address for one after a call; its callers are right.
And GDB 13 does not read rows of line 0: code of no IL has in it the line of the code before.
Exit status 1 when anything differs, 77 without cores, or without GDB or LLDB.
"""
from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Iterator, Sequence

from session import SOURCE, Json, ask, check_cores, one_release_of_each

GDB_PLUGIN = SOURCE / "gdb-plugin" / "heapdump.py"
BUILD = pathlib.Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
LLDB_PLUGIN = BUILD / "libheapdump_lldb.so"

# The cores that are compared, of each release.
KINDS = (
    "crash{}-overflow-heap.core",
    "crash{}-catch-throw-heap.core",
    "crash{}-finally-throw-heap.core",
    "crash{}-filter-abort-heap.core",
    "crash{}-nullref-heap.core",
    "hang{}-mixed-*.core",
    "hang{}-waits-*.core",
    "web{}-*.core",
    "vars{}-*.core",
    # A single-file program has the native code of the runtime in its own image. A core with the heap alone lacks
    # pages of that, so that GDB does not get past native frames: it is not compared.
    "single{}-full.core",
)
# Where threads begin.
BEGINS = ("clone3", "clone", "_start", "__clone3")
# Registers that a call preserves.  Debuggers look for them frame by frame, so those of a deep stack take them for ever.
DEEP = 2000
KEPT = ("rbx", "rbp", "r12", "r13", "r14", "r15")
# In GDB: a line for each thread, of stack and instruction pointers with name, file and line.
LIST = (
    f"KEPT, DEEP = {KEPT}, {DEEP}"
    + """
import gdb, json
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frames = []
    try:
        frame = gdb.newest_frame()
        while frame and len(frames) < 400000:
            sal = frame.find_sal()
            line = (sal.symtab.filename, sal.line) if sal.symtab and sal.line else None
            kept = [] if len(frames) > DEEP else [int(frame.read_register(name)) & (1 << 64) - 1 for name in KEPT]
            frames.append((int(frame.read_register("rsp")) & (1 << 64) - 1, frame.pc(), frame.name(), line, kept))
            frame = frame.older()
    except gdb.error as error:
        frames.append((0, 0, "error: " + str(error), None, []))
    print("FRAMES " + json.dumps({"tid": thread.ptid[1], "frames": frames}))
"""
)
# In LLDB: a line for each thread and frame.
LLDB_THREAD = r"\nTHREAD ${thread.id%tid}\n"
LLDB_FRAME = (
    r"FRAME ${frame.sp} ${frame.pc} {${line.file.fullpath}:${line.number}}|{${function.name}}|"
    + ",".join(f"${{frame.reg.{name}}}" for name in KEPT)
    + r"\n"
)
LLDB_LINE = re.compile(r"FRAME (\w+) (\w+) (?:(.*):(\d+))?\|(.*)\|([\w,]*)$")


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


def gdb_stacks(
    program: str, core: pathlib.Path, folder: pathlib.Path, settings: Sequence[str] = ()
) -> dict[int, list[Any]]:
    """The frames of each thread, by its id; SETTINGS are those of heapdump."""
    script = folder / "list.py"
    script.write_text(LIST, encoding="utf-8")
    commands = [f"heapdump set {words}" for words in settings]
    commands += [f"file {program}"] * bool(program) + [f"core-file {core}"]
    argv = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]
    argv += [
        "-iex",
        "set confirm off",
        "-iex",
        "set backtrace limit unlimited",
        "-iex",
        f"source {GDB_PLUGIN}",
    ]
    for command in (*commands, f"source {script}"):
        argv += ["-ex", command]
    rows = [json.loads(line[7:]) for line in run(argv).splitlines() if line.startswith("FRAMES ")]
    return {row["tid"]: row["frames"] for row in rows}


def lldb_stacks(
    program: str, core: pathlib.Path, is_deep: bool, settings: Sequence[str] = ()
) -> dict[int, list[Any]]:
    """The frames of each thread, by its id, as those of GDB; without registers, if a stack IS_DEEP."""
    frame_format = LLDB_FRAME.split("|${")[0] + r"|\n" if is_deep else LLDB_FRAME
    commands = [
        "settings set target.process.thread.max-backtrace-depth 400000",
        f'settings set thread-stop-format "{LLDB_THREAD}"',
        f'settings set frame-format "{frame_format}"',
        f"plugin load {LLDB_PLUGIN}",
        *(f"heapdump set {words}" for words in settings),
        f"target create -c {core} {program}",
        "thread backtrace all",
    ]
    argv = ["lldb-14", "-x", "-b"]
    for command in commands:
        argv += ["-o", command]
    stacks: dict[int, list[Any]] = {}
    frames: list[Any] = []
    for line in run(argv).splitlines():
        if found := re.search(r"THREAD (\d+)$", line):
            frames = stacks.setdefault(int(found.group(1)), [])
        elif found := LLDB_LINE.search(line):
            sp, pc, file, number, name, registers = found.groups()
            place = [file, int(number)] if number and int(number) else None
            kept = [int(word, 16) for word in registers.split(",") if word]
            frames.append([int(sp, 16), int(pc, 16), name, place, kept])
    return stacks


def plain(name: str | None) -> str:
    """A name without its arguments, and without the part of the method that a handler is."""
    return re.sub(r" \[\w+\]$", "", re.sub(r"\([^()]*\)(?= \[\w+\]$|$)", "", name or ""))


def ends_at_a_begin(frames: list[Any]) -> bool:
    """Is the outermost frame one where threads begin?  That of a program without symbols has no name of its own."""
    names = [row[2] or "" for row in frames[-2:]]
    has_none = bool(names) and (not names[-1] or names[-1].startswith("___lldb_unnamed_symbol"))
    return bool(names) and (
        names[-1] in BEGINS or (has_none and names[0].startswith("__libc_start_main"))
    )


def is_interrupted(frame: Json, frames: list[Any]) -> bool:
    """Has a signal come while the frame was the innermost one?  .NET 8 and 9 tell clrstack nothing of its handler's frames."""
    return bool(frame["active"]) and not (frames and frames[0][1] == int(frame["ip"], 16))


def differences(
    thread: Json, debugger: str, frames: list[Any], counts: dict[str, int]
) -> Iterator[str]:
    """Frames of a thread that a debugger does not have."""
    by_stack = {row[0]: row for row in frames}
    managed = [f for f in thread["frames"] if f["kind"] == "managed" and not f["unwound"]]
    inlined = {f["ip"] for f in thread["frames"] if f["method"] == "InlinedCallFrame"}
    found = [by_stack.get(int(frame["sp"], 16)) for frame in managed]
    counts["frames"] += len(managed)
    signal = next(
        (f for f in thread["frames"] if f["kind"] == "managed" and is_interrupted(f, frames)), None
    )
    after = {id(f) for f in thread["frames"][thread["frames"].index(signal) :]} if signal else set()
    for frame, row in zip(managed, found):
        where = f"thread {thread['os_id']}: {frame['ip']} {frame['method']}"
        if not row and frame["active"] and frame is not managed[-1]:
            counts["interrupted"] += 1
            continue
        if not row:
            yield f"{where}: {debugger} has no frame at {frame['sp']}"
            continue
        if is_nameless(frame["method"]) and is_nameless(row[2]):
            counts["nameless"] += 1
        elif plain(row[2]) != plain(frame["method"]):
            yield f"{where}: {debugger} calls it {row[2]}"
            continue
        if id(frame) not in after:
            counts["registers"] += len(row[4])
            yield from registers(thread, frame, debugger, row)
        if row[1] != int(frame["ip"], 16):
            counts["inlined calls"] += 1
            if frame["ip"] not in inlined:
                yield f"{where}: {debugger} is at {row[1]:x}"
        elif (line := frame.get("line")) or row[3]:
            counts["lines"] += 1
            if not line and debugger == "GDB":
                counts["no line"] += 1
            elif row[3] != [frame.get("file"), line]:
                yield f"{where}: line {line}, for {debugger} {row[3]}"
    if managed and not ends_at_a_begin(frames):
        last = frames[-1] if frames else "nothing"
        yield f"thread {thread['os_id']}: {debugger}'s stack ends at {last}"


def is_nameless(name: str | None) -> bool:
    """Code of a NativeAOT program that the compiler has made has no name."""
    return not name or name.startswith(("<unknown method", "___lldb_unnamed_symbol"))


def registers(thread: Json, frame: Json, debugger: str, row: list[Any]) -> Iterator[str]:
    """Registers that a debugger has otherwise for a frame, of those that clrstack knows."""
    for name, value in zip(KEPT, row[4]):
        said = frame["registers"].get(name)
        if said is not None and int(said, 16) != value:
            where = f"thread {thread['os_id']}: {frame['ip']} {frame['method']}"
            yield f"{where}: {name} {said}, {debugger} has {value:x}"


def compare(
    program: str, core: pathlib.Path, file: str | None = None, settings: Sequence[str] = ()
) -> tuple[str, list[str]]:
    """
    How many frames were compared, and which differ.  FILE is the debuggers' program, else the one that the core names; SETTINGS
    are those of heapdump.
    """
    counts = {
        "nameless": 0,
        "frames": 0,
        "inlined calls": 0,
        "interrupted": 0,
        "lines": 0,
        "registers": 0,
        "no line": 0,
    }
    with tempfile.TemporaryDirectory() as name:
        elf = pathlib.Path(name) / "managed.elf"
        lines = [f"export {elf}", "clrstack -all -full -r", "modules"]
        options = [word for words in settings for word in f"--{words}".split(" ", 1)]
        answers = ask(program, core, lines, options)
        wrong = [f"{answers[0]['left_out']} functions are left out"] * bool(answers[0]["left_out"])
        file = program_of(answers[2]) if file is None else file
        threads = answers[1]["threads"]
        is_deep = any(len(thread["frames"]) > DEEP for thread in threads)
        gdb, lldb = gdb_stacks(file, core, elf.parent, settings), lldb_stacks(
            file, core, is_deep, settings
        )
        for thread in threads:
            for debugger, stacks in (("GDB", gdb), ("LLDB", lldb)):
                frames = stacks.get(thread["os_id"], [])
                wrong += differences(thread, debugger, frames, counts)
    rules = f"{counts['inlined calls']} inlined calls, {counts['interrupted']} interrupted"
    rules += f", {counts['no line']} without a line, {counts['nameless']} without a name"
    counted = f"{counts['frames']} frames, {counts['lines']} lines, {counts['registers']} registers"
    return f"{counted}, {rules}", wrong


def main() -> int:
    if not shutil.which("gdb") or not shutil.which("lldb-14"):
        print("there is no GDB or no LLDB", file=sys.stderr)
        return 77
    patterns = one_release_of_each(KINDS, (8, 9, 10, 11))
    return check_cores(__doc__ or "", patterns, compare)


if __name__ == "__main__":
    sys.exit(main())
