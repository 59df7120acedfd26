#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""NativeAOT programs for linux-arm64: witness.cs, compiled here, and run in a virtual machine (machine.py).

    check_nativeaot_arm64.py [-o FILE] [VERSION...]

Its cores, by createdump (--full and --withheap) and by the kernel after an exception that nobody catches, are asked for all that it says of itself, as
check_nativeaot_truth.py asks those of x64: stripped, with the program's file and without libc, and with its .dbg. FILE gets the table. What is needed is as for
check_arm64.py, and the compiler of check_nativeaot.py.
"""
from __future__ import annotations

import argparse
import collections
import shutil
import sys
from pathlib import Path

import check_arm64
import check_musl as programs
import check_nativeaot as aot
import check_nativeaot_truth as truth
from check_musl import FOLDER, SKIPPED, Missing
from machine import Machine

# The SDK wants a pack for this processor that there is not of 8.
VERSIONS = aot.VERSIONS[1:]
PLACE = FOLDER / "nativeaot-arm64"
SHARE = PLACE / "share"

# Folders that are shared are slow: cores are made on the machine's own disk.
SCRIPT = """
cd {folder}
cp witness createdump /tmp
cd /tmp
rm -f out core* *.core *.tsv
./witness {folder}/live.tsv >out &
pid=$!
for i in $(seq 600); do
    grep -q READY out && break
    busybox usleep 200000
done
./createdump --full -f full.core $pid
./createdump --withheap -f withheap.core $pid
kill -9 $pid
cp full.core withheap.core {folder}
ulimit -c unlimited
echo core >/proc/sys/kernel/core_pattern
./witness {folder}/kernel.tsv throw >out 2>&1
cp core* {folder}/kernel.core
"""


def check_cores(version: str, folder: Path, symbols: Path, row: truth.Row) -> list[str]:
    """Both cores of a program, without symbols or with them."""
    bad = []
    for kind in ("full", "withheap", "kernel"):
        facts = truth.facts_of(folder / ("kernel.tsv" if kind == "kernel" else "live.tsv"))
        if kind == "kernel":
            facts.append(truth.CRASH)
        if kind == "withheap":
            # Such a core lacks the words that lead to static fields, and so to the table of monitors.
            facts = [words for words in facts if words[0] not in ("static", "value", "lock")]
            facts = [words for words in facts if "Monitor" not in " ".join(words)]
        words = ["--sysroot", str(folder / "root"), "--trust-files"]
        words += ["--symbols", str(symbols), str(folder / f"{kind}.core")]
        is_known = any(symbols.iterdir())
        name = f"{version} arm64 {'with .dbg' if is_known else 'stripped'} {kind}"
        bad += truth.compare(truth.Target(name, words, is_known, kind == "kernel"), facts, row)
    return bad


def prepare(version: str) -> tuple[Path, aot.Program]:
    """The program, in the folder that the machine sees."""
    program = truth.build(version, "workstation", "arm64")
    folder = SHARE / version
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "root" / "tmp").mkdir(parents=True)
    for name in ("witness", "createdump"):
        shutil.copy(program.folder / "stripped" / name, folder)
    shutil.copy(folder / "witness", folder / "root" / "tmp")
    return folder, program


def check_all(versions: list[str]) -> tuple[dict[str, truth.Row], list[str]]:
    """The table, and what differs."""
    rows: dict[str, truth.Row] = {}
    bad: list[str] = []
    prepared = {version: prepare(version) for version in versions}
    with Machine(check_arm64.ROOT, PLACE, [SHARE], []) as machine:
        for folder, _ in prepared.values():
            machine.script(SCRIPT.format(folder=folder), seconds=900)
    for version, (folder, program) in prepared.items():
        nothing = folder / "nothing"
        nothing.mkdir()
        for symbols in (nothing, program.folder / "with-.dbg"):
            row = truth.Row(collections.Counter(), collections.Counter())
            name = f"{version}, arm64, {'stripped' if symbols == nothing else 'with .dbg'}"
            rows[name] = row
            bad += check_cores(version, folder, symbols, row)
            wrong = sum(row.wrong.values())
            print(f"{name:34} {sum(row.asked.values())} facts, {wrong} different", flush=True)
    return rows, bad


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", dest="table", type=Path)
    parser.add_argument("versions", nargs="*")
    options = parser.parse_args()
    versions = options.versions or VERSIONS
    try:
        check_arm64.need_tools()
        aot.get_ready("arm64")
        check_arm64.fetch_packages()
        SHARE.mkdir(parents=True, exist_ok=True)
        rows, bad = check_all(versions)
    except Missing as missing:
        print(f"skipped: {missing}")
        return SKIPPED
    return truth.tell(rows, bad, options.table)


if __name__ == "__main__":
    sys.exit(main())
