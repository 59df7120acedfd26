#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare methods and the methods of frames with ClrMD.

    check_names.py [--program HEAPDUMP] [CORE...]

Without CORE: all wks*-full.core of corefiles/build, or of $COREFILES.  All frames, and of the methods
that types declare all with code of the JIT (at most 2,000), and some of the others, must be the same: MethodDesc, token,
name, code and its size.  RULES has the differences that are known and right.  Exit status 1 when anything differs, 77
without cores or a .NET SDK.
"""
from __future__ import annotations

import pathlib
import re
import sys
from typing import Iterator

import compare
from session import Json, ask, check_cores

CORES = ["wks*-full.core"]
JIT_MAX, OTHERS_MAX, CHUNK = 2000, 400, 100
# ClrMD says these otherwise, and this is why both are right.
RULES = {
    "inherited": "ClrMD names a method by the type that was asked, which may have inherited it",
    "pinvoke": "ClrMD does not say that a P/Invoke has ReadyToRun code",
    "size": "the hot size of ReadyToRun code is that of its first function; ours has the handlers, too",
}


def plain(name: str) -> str:
    """A method's name without arguments and generic ones, which the tools write differently."""
    name = name.split("(")[0] if not name.startswith("(") else name
    before = ""
    while before != name:
        before, name = name, re.sub(r"(?<=[\w`|])<[^<>]*>(?=[.+(\[]|$)", "", name)
    return re.sub(r"`\d+", "", name)


def check_method(said: list[str], answer: Json) -> Iterator[str]:
    """One method of a type."""
    method, token, code, how, size, name, bases = said
    if "name" not in answer:
        yield f"{method} {name}: {answer}"
        return
    have = (int(answer["token"], 16), int(answer["current_code"] or "0", 16))
    want = (int(token, 16), int(code, 16) if how != "None" else 0)
    # A QCall of CoreLib is one, too, and its name does not tell.
    bodies = answer["code"]
    is_compiled = how == "None" and bodies and all(b["kind"] == "ReadyToRun" for b in bodies)
    if have != want and not (is_compiled and have[0] == want[0]):
        yield f"{method} {name} ({how}): {have[0]:x} {have[1]:x}, ClrMD says {want[0]:x} {want[1]:x}"
    ours, theirs = plain(answer["name"]), plain(name)
    is_inherited = ours.endswith("." + theirs.split(".")[-1]) and (
        how != "Jit" or ours.startswith(tuple(plain(base) + "." for base in bases.split("|")))
    )
    if ours != theirs and not is_inherited:
        yield f"{method}: {answer['name']}, ClrMD says {name}"
    sizes = [body["size"] for body in answer["code"] if body["start"] == answer["current_code"]]
    if sizes and how == "Jit" and sizes[0] != int(size, 16):
        yield f"{method} {name}: {sizes[0]} bytes, ClrMD says {int(size, 16)}"


def batches(program: str, core: pathlib.Path, lines: list[str]) -> Iterator[Json]:
    """The answers, asked for in parts."""
    for first in range(0, len(lines), CHUNK):
        yield from ask(program, core, lines[first : first + CHUNK])


def compare_core(program: str, core: pathlib.Path) -> tuple[str, list[str]]:
    """Counts what was compared of a core, and lists what differs."""
    said = compare.clrmd_lines(core, "names")
    wrong: list[str] = []
    jitted = [row for row in said["e"] if row[3] == "Jit"][:JIT_MAX]
    others = [row for row in said["e"] if row[3] != "Jit"]
    sample = jitted + others[:: max(1, len(others) // OTHERS_MAX)]
    answers = batches(program, core, [f"dumpmd {row[0]}" for row in sample])
    for row, answer in zip(sample, answers):
        wrong += check_method(row, answer)
    frames = list({row[0]: row for row in said["g"]}.values())
    for row, answer in zip(frames, batches(program, core, [f"ip2md {row[0]}" for row in frames])):
        if int(answer["method_desc"], 16) != int(row[1], 16) or plain(answer["name"]) != plain(
            row[2]
        ):
            yield_text = f"{answer['method_desc']} {answer['name']}"
            wrong.append(f"ip {row[0]}: {yield_text}, ClrMD says {row[1]} {row[2]}")
    compared = (
        f"{len(jitted)} JIT and {len(sample) - len(jitted)} other methods, {len(frames)} frames"
    )
    return compared, wrong


def main() -> int:
    """Check the cores."""
    return check_cores(__doc__ or "", CORES, compare_core, needs_sdk=True)


if __name__ == "__main__":
    sys.exit(main())
