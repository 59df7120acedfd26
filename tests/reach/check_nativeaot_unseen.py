#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""NativeAOT programs around packages of NuGet, and ASP.NET Core's template, which say what is true of themselves.

    check_nativeaot_unseen.py [-o FILE] [PROGRAM...]

The programs are in unseen/, with the packages that they need. They were written before heapdump was tried on them; what it
answered first is in doc/nativeaot.md. Each is asked stripped and with its .dbg, as a process and as a core of createdump. What is needed is
as for check_nativeaot.py.
"""
from __future__ import annotations

import argparse
import collections
import shutil
import sys
from pathlib import Path

import check_nativeaot as aot
import check_nativeaot_truth as truth
from check_musl import HERE, SKIPPED, Missing

VERSION = "10.0.12"
UNSEEN = HERE / "unseen"
PROGRAMS = ["markup", "console", "rules", "shapes", "web"]


def word_of(source: Path, word: str) -> str:
    """The rest of a line at the beginning of a program."""
    for line in source.read_text(encoding="utf-8").splitlines()[:4]:
        if line.startswith(f"// {word}: "):
            return line.partition(": ")[2]
    return ""


def build(name: str) -> aot.Program:
    """The program, stripped, with its symbols in a folder of their own."""
    source = UNSEEN / f"{name}.cs"
    packages = [part.split() for part in word_of(source, "packages").split(", ") if part]
    items = "".join(f'<PackageReference Include="{a}" Version="{b}" />' for a, b in packages)
    more = f"</PropertyGroup><ItemGroup>{items}</ItemGroup><PropertyGroup>"
    sdk = word_of(source, "sdk") or "Microsoft.NET.Sdk"
    others = (UNSEEN / "Tell.cs",)
    program = aot.Program(VERSION, "workstation", source, "unseen", more, "x64", others, sdk)
    aot.build(program)
    return program


def check(name: str, rows: dict[str, truth.Row]) -> list[str]:
    """Both kinds of a program, as a process and as a core."""
    program = build(name)
    work = Path(f"{program.folder}.work")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    core, nothing = work / "full.core", work / "nothing"
    nothing.mkdir()
    bad = []
    with truth.started([str(program.file)], {}, work, False) as (process, file):
        facts = truth.facts_of(file)
        aot.dump(program, process.pid, "full", core)
        for symbols in (nothing, program.folder / "symbols"):
            is_known = symbols != nothing
            kind = "with .dbg" if is_known else "stripped"
            row = rows[f"{name}, {kind}"] = truth.Row(collections.Counter(), collections.Counter())
            for target in (str(process.pid), str(core)):
                words = ["--trust-files", "--symbols", str(symbols), target]
                label = f"{name} {kind} {'live' if target != str(core) else 'core'}"
                bad += truth.compare(
                    truth.Target(label, words, is_known, assembly=name), facts, row
                )
            wrong = sum(row.wrong.values())
            print(
                f"{name:10} {kind:10} {sum(row.asked.values())} facts, {wrong} different",
                flush=True,
            )
    shutil.rmtree(work)
    return bad


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", dest="table", type=Path)
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    rows: dict[str, truth.Row] = {}
    bad: list[str] = []
    try:
        aot.get_ready()
        for name in options.programs or PROGRAMS:
            bad += check(name, rows)
    except Missing as missing:
        print(f"skipped: {missing}")
        return SKIPPED
    return truth.tell(rows, bad, options.table)


if __name__ == "__main__":
    sys.exit(main())
