#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare loader heaps and heaps for code with ClrMD.

    check_native_heaps.py [--program HEAPDUMP] [CORE...]

Without CORE: those of CORES in corefiles/build, or in $COREFILES.  The blocks of each kind of heap must be the same, and the
heaps of each JIT manager.  Differences that are allowed have a line in RULES.  Exit status 1 when anything differs, 77
without cores or a .NET SDK.
"""
from __future__ import annotations

import pathlib
import sys

import compare
from session import Json, ask, check_cores

CORES = [
    "wks11-full",
    "svr11-full",
    "coll11-heap",
    "web11-heap",
    "wks10-full",
    "wks9-full",
    "wks8-full",
    "svr10-full",
    "svr9-full",
    "svr8-full",
    "coll10-heap",
    "coll9-heap",
    "coll8-heap",
    "web10-heap",
    "web9-heap",
    "web8-heap",
]
# The runtime's heaps that are not for the GC.
GC_KINDS = {"GCBookkeeping", "GCFreeRegion", "GCHeap", "GCHeapToBeFreed", "HandleTable"}
CODE_KINDS = {"LoaderCodeHeap", "HostCodeHeap"}
RULES = {
    "statics": "ClrMD has no name for the heap of statics of .NET 9 and 10",
    "shared": "in what can be unloaded, several names lead to one heap: ClrMD lists it under each, we under the first",
    "thunks": "ClrMD does not list the heap of thunks from native to managed code",
    "host": "ClrMD lists the committed part of a heap for dynamic methods, we its addresses",
}
Block = tuple[int, int]


def check_blocks(ours: list[Json], said: list[list[str]]) -> list[str]:
    """Loader heaps: each block once, with a kind that ClrMD has for it."""
    want: dict[Block, set[str]] = {}
    current: dict[Block, bool] = {}
    for start, size, kind, active in said:
        if kind not in GC_KINDS | CODE_KINDS:
            block = (int(start, 16), int(size, 16))
            want.setdefault(block, set()).add(kind)
            current[block] = active == "1"
    wrong = []
    have: dict[Block, Json] = {}
    for row in ours:
        block = (int(row["start"], 16), row["reserved"])
        if block in have:
            wrong.append(f"block {block[0]:x} is listed twice: {have[block]}, {row}")
        have[block] = row
        if row["committed"] > row["reserved"]:
            wrong.append(f"block {block[0]:x}: more is committed than reserved")
        if block not in want:
            if row["kind"] != "Unknown":  # RULES["thunks"]
                wrong.append(f"block {block[0]:x} of {row['kind']}: ClrMD does not have it")
            continue
        kinds = want[block] | ({"StaticsHeap"} if "Unknown" in want[block] else set())
        if row["kind"] not in kinds:
            wrong.append(f"block {block[0]:x}: {row['kind']}, ClrMD says {want[block]}")
        if row["is_current"] != current[block]:
            wrong.append(f"block {block[0]:x}: is it current? ClrMD says {current[block]}")
    for block in set(want) - set(have):
        wrong.append(f"block {block[0]:x} {block[1]:x} of {want[block]} is missing")
    return wrong


def check_codes(ours: list[Json], said: list[list[str]]) -> list[str]:
    """Heaps for code."""
    want = {
        (int(manager, 16), int(start, 16), kind, int(size, 16))
        for start, size, kind, manager in said
    }
    have = {
        (
            int(row["manager"], 16),
            int(row["start"], 16),
            row["kind"],
            # RULES["host"]
            row["committed" if row["kind"] == "HostCodeHeap" else "reserved"],
        )
        for row in ours
    }
    return [f"heaps for code: we have {have - want}, ClrMD {want - have}"] if have != want else []


def compare_core(program: str, core: pathlib.Path) -> tuple[str, list[str]]:
    """Counts what was compared, and lists what differs."""
    said = compare.clrmd_lines(core, "native")
    answer = ask(program, core, ["eeheap -loader"])[0]
    blocks, codes = answer["loader_blocks"], answer["code_heaps"]
    wrong = check_blocks(blocks, said["j"])
    wrong += check_codes(codes, said["x"])
    if not answer["complete"]:
        wrong.append("the answer is incomplete")
    if not blocks or not codes:
        wrong.append("there is nothing to compare")
    return f"{len(blocks)} blocks, {len(codes)} heaps for code", wrong


def main() -> int:
    """Check the cores."""
    return check_cores(
        __doc__ or "", [f"{name}.core" for name in CORES], compare_core, needs_sdk=True
    )


if __name__ == "__main__":
    sys.exit(main())
