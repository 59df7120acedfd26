#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare dumpstackobjects and sizestats with what ClrMD finds.

    check_objects.py [--program HEAPDUMP] [CORE...]

Without CORE: cores of each release, of programs that hang, and one of a stack overflow.  Every word between a thread's
stack pointer and its outermost frame, and every register, that is the address of an object must be listed, and no others;
sizestats must have the same number of objects of each size in each generation.  Exit status 1 when anything differs, 77
without cores or a .NET SDK.
"""
from __future__ import annotations

import pathlib
import sys

import compare
from session import ask, check_cores

PATTERNS = ["wks*-full.core", "svr1*-full.core", "hang*-waits-heap.core", "crash1*-deep-heap.core"]
PATTERNS += ["crash10-overflow-heap.core", "crash1*-threads-heap.core"]
REGISTERS = "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15".split()
# An object on a stack: (id of the thread, slot or register, object).
Words = set[tuple[int, str, int]]
# How many objects: by generation, size, and whether they are Free blocks.
Sizes = dict[tuple[str, int, bool], int]


def facts(core: pathlib.Path) -> tuple[Words, Sizes, dict[int, tuple[int, int]], list[str]]:
    """The facts of ClrMD; for each thread the stack pointer and that of its outermost frame; its errors."""
    words: Words = set()
    sizes: Sizes = {}
    stacks: dict[int, tuple[int, int]] = {}
    errors = []
    for letter, rows in compare.clrmd_lines(core, "words").items():
        for fields in rows:
            if letter == "W":
                words.add((int(fields[0]), fields[1], int(fields[2], 16)))
            elif letter == "b":
                words.add((int(fields[0]), REGISTERS[int(fields[1])], int(fields[2], 16)))
            elif letter == "l":
                stacks[int(fields[0])] = (int(fields[1], 16), int(fields[2], 16))
            elif letter == "k":
                sizes[fields[0], int(fields[1]), fields[2] == "1"] = int(fields[3])
            else:
                errors.append("ClrMD: " + " ".join(fields))
    return words, sizes, stacks, errors


def compare_core(program: str, core: pathlib.Path) -> tuple[str, list[str]]:
    """One core."""
    words, sizes, stacks, wrong = facts(core)
    listed, counted = ask(program, core, ["dumpstackobjects -all", "sizestats"])
    ours: Words = set()
    for row in listed["objects"]:
        thread = row["thread"]["os_id"]
        begin, end = stacks.get(thread, (0, 0))
        slot = int(row["slot"], 16) if row["slot"] else 0
        if not slot or begin <= slot < end:
            place = row["register"] or f"{slot:x}"
            ours.add((thread, place, int(row["object"], 16)))
    for what, left in (("not listed", words - ours), ("too many", ours - words)):
        wrong += [f"{what}: {thread} {place} {object:x}" for thread, place, object in sorted(left)]
    names = {"nongc": "n", "loh": "l", "poh": "p"}
    rows = {
        (names.get(row["generation"], row["generation"]), row["size"], row["free"]): row["count"]
        for row in counted["sizes"]
    }
    for key in sorted(rows.keys() | sizes.keys()):
        if rows.get(key) != sizes.get(key):
            wrong.append(f"sizes {key}: {rows.get(key)}, ClrMD says {sizes.get(key)}")
    return f"{len(words)} words of {len(stacks)} stacks, {len(sizes)} sizes", wrong


if __name__ == "__main__":
    sys.exit(check_cores(__doc__, PATTERNS, compare_core, needs_sdk=True))
