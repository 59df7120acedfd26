#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the IL that dumpil shows with what System.Reflection.Metadata reads of the modules' files.

    check_il.py [--program HEAPDUMP] [--clrmd CLRMD.dll] [--all] [CORE...]

Without CORE: wks10-full, wks9-full and wks8-full of corefiles/build, or of $COREFILES.  Of the methods that loaded types
declare, every one (--all) or 2,000 must have the same instructions, operands and exception clauses, decoded there by the
table of System.Reflection.Emit.  Exit status 1 when anything differs, 77 without cores or a .NET SDK.
"""
from __future__ import annotations

import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import compare
from session import Json, ask

SOURCE = pathlib.Path(__file__).resolve().parents[2]
METHODS_MAX, CHUNK = 2000, 500


def facts(clrmd: pathlib.Path, core: pathlib.Path) -> tuple[list[str], dict[str, list[str]]]:
    """MethodDescs of loaded types; and of each module and token the size, maximal stack and hash of the IL."""
    bodies = {}
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "facts")
        command = ["dotnet", str(clrmd), str(core), str(out), "names,il", "/dev/null"]
        subprocess.run(command, check=True, env={**os.environ, **compare.QUICK})
        names = out.with_suffix(".names").read_text(encoding="utf-8").splitlines()
        for line in out.with_suffix(".il").read_text(encoding="utf-8").splitlines():
            letter, *fields = line.split("\t")
            if letter == "i":
                bodies[f"{fields[0]} {fields[1]}"] = fields[2:]
    methods = [line.split("\t")[1] for line in names if line.startswith("e\t")]
    return methods, bodies


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


def compare_core(
    program: str, clrmd: pathlib.Path, core: pathlib.Path, is_all: bool
) -> tuple[int, list[str]]:
    """How many methods were compared, and what differs."""
    methods, bodies = facts(clrmd, core)
    step = 1 if is_all else max(1, len(methods) // METHODS_MAX)
    chosen = methods[::step]
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
    print(
        f"{core.name}: {count} of {len(methods)} methods, {named} of {tokens} tokens have names:"
        f" {len(wrong)} differ",
        flush=True,
    )
    return count, wrong


def main() -> int:
    """Check the cores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=str(SOURCE / "build" / "heapdump"))
    parser.add_argument("--clrmd", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("cores", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    folder = pathlib.Path(os.environ.get("COREFILES", SOURCE / "corefiles" / "build"))
    cores = options.cores or [folder / f"wks{major}-full.core" for major in (10, 9, 8)]
    cores = [core for core in cores if core.exists()]
    if not cores or not shutil.which("dotnet"):
        print("no cores, or no .NET SDK")
        return 77
    clrmd = options.clrmd or compare.clrmd_program(compare.apps_folder(cores[0]))
    status = 0
    for core in cores:
        count, wrong = compare_core(options.program, clrmd, core, options.all)
        for line in wrong[:40]:
            print("  " + line)
        status |= bool(wrong) or not count
    return status


if __name__ == "__main__":
    sys.exit(main())
