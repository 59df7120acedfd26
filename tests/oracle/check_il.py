#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the IL that dumpil shows with what System.Reflection.Metadata reads of the modules' files.

    check_il.py [--program HEAPDUMP] [CORE...]

Without CORE: all wks*-full.core of corefiles/build, or of $COREFILES.  Of the methods that loaded types
declare, every one (with HEAPDUMP_TEST_ALL) or 2,000 must have the same instructions, operands and exception clauses, decoded there by the
table of System.Reflection.Emit.  Exit status 1 when anything differs, 77 without cores or a .NET SDK.
"""
from __future__ import annotations

import hashlib
import pathlib
import sys

import compare
from session import Json, ask, check_cores, spread

CORES = ["wks*-full.core"]
METHODS_MAX, CHUNK = 2000, 500


def hash_of(answer: Json) -> str:
    """The hash that Il.cs computes."""
    text = ""
    for row in answer["instructions"]:
        operand = row["token"] or row["operand"] if "token" in row else row["operand"]
        if row["opcode"] in ("ldc.r4", "ldc.r8"):
            operand = "real"
        text += f"{row['offset']} {row['opcode']} {operand or ''};"
    for row in answer["clauses"]:
        text += f"{row['kind']} {row['try_begin']} {row['try_end']}"
        text += f" {row['handler_begin']} {row['handler_end']};"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def compare_core(program: str, core: pathlib.Path) -> tuple[str, list[str]]:
    """Counts what was compared, and lists what differs."""
    said = compare.clrmd_lines(core, "names,il")
    methods = [row[0] for row in said["e"]]
    # For each module and token: the size, maximal stack and hash of the IL.
    bodies = {f"{row[0]} {row[1]}": row[2:] for row in said["i"]}
    chosen = spread(methods, METHODS_MAX)
    wrong, count, named, tokens = [], 0, 0, 0
    for first in range(0, len(chosen), CHUNK):
        part = chosen[first : first + CHUNK]
        for method, answer in zip(part, ask(program, core, [f"dumpil {one}" for one in part])):
            if "instructions" not in answer:
                if "no IL" not in answer["error"]["message"] and "dynamic" not in str(answer):
                    wrong.append(f"{method}: {answer['error']['message']}")
                continue
            key = f"{int(answer['module'], 16):x} {int(answer['token'], 16):x}"
            want = bodies.get(key)
            have = [f"{answer['size']:x}", str(answer["max_stack"]), hash_of(answer)]
            count += 1
            rows = [row for row in answer["instructions"] if "token" in row]
            tokens += len(rows)
            named += sum(1 for row in rows if row["operand"])
            if have != want or not answer["complete"]:
                wrong.append(f"{answer['name']} ({key}): {have}, the file says {want}")
    if not count:
        wrong.append("there is nothing to compare")
    return f"{count} of {len(methods)} methods, {named} of {tokens} tokens have names", wrong


def main() -> int:
    """Check the cores."""
    return check_cores(__doc__ or "", CORES, compare_core, needs_sdk=True)


if __name__ == "__main__":
    sys.exit(main())
