#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Without some files of modules, statics of a trace lose the names of their classes, and get no wrong ones.

A trace of a program of corefiles/apps is read with copies of all files that it names, then without one or
several of them, and with its end cut off, so that it does not say which modules there were. Each static
must have the name that it has with all of them (check_agreement.py compares that with a core), or be named
by the type of its object; one of a module that is not at hand always is.
"""
from __future__ import annotations

import collections
import random
import shutil
import tempfile
from pathlib import Path
from typing import Iterator

import live

PROGRAMS = [("leak", "net10.0"), ("facts", "net10.0"), ("facts", "net8.0")]
CORE_LIBRARY = "System.Private.CoreLib.dll"
SEED = 6
RANDOM_SETS = 12
# Bytes of the end of a trace in which only its last event is, that of the end of the rundown.
CUT = 60
Names = dict[int, set[str]]


def read(trace: Path, folder: Path) -> Names:
    """Names of statics by object."""
    names: Names = collections.defaultdict(set)
    for row in live.heapdump("--sysroot", str(folder), str(trace), "roots")["roots"]:
        if row["kind"] == "static":
            names[int(row["object"], 16)].add(row["name"])
    return names


def modules(built: Path) -> list[Path]:
    """Files that the program may have loaded: its own, and those of the shared runtime."""
    files = sorted(built.glob("*.dll"))
    if not any(path.name == CORE_LIBRARY for path in files):
        files += sorted(live.runtime_folder().glob("*.dll"))
    return files


def sets(files: list[Path], app: str) -> Iterator[list[Path]]:
    """Which files are taken away."""
    names = {path.name: path for path in files}
    for name in (CORE_LIBRARY, f"{app}.dll", "System.Console.dll", "System.Collections.dll"):
        yield [names[name]]
    chance = random.Random(SEED)
    for _ in range(RANDOM_SETS):
        yield chance.sample(files, chance.randint(2, len(files) - 1))


class Check:
    """The check of one program."""

    def __init__(self, trace: Path, folder: Path) -> None:
        self.trace, self.folder = trace, folder
        self.all = read(trace, folder)
        self.bad: list[str] = []

    def known(self, trace: Path, what: str) -> int:
        """Read it with what is there; returns how many names are as with all files."""
        rows = live.heapdump("--sysroot", str(self.folder), str(trace), "dumpheap")["objects"]
        types = {int(row["address"], 16): row["type"] for row in rows}
        known = 0
        for address, names in read(trace, self.folder).items():
            fields = {other.rpartition(".")[2] for other in self.all[address]}
            for name in names:
                kind, _, field = name.rpartition(".")
                if name in self.all[address]:
                    known += 1
                elif field not in fields or kind != types[address]:
                    self.bad.append(f"{what}: {address:x} {name}, not {self.all[address]}")
        return known


def check(app: str, flavour: str) -> list[str]:
    """The mistakes of one program."""
    built = live.APPS / f"{app}-{flavour}"
    with live.running(app, flavour) as program, tempfile.TemporaryDirectory() as name:
        trace, folder = program.collect("it.nettrace"), Path(name)
        files = modules(built)
        for path in files:
            copy = folder / path.resolve().relative_to("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        checking = Check(trace, folder)
        counts = [sum(len(names) for names in checking.all.values())]
        cut = trace.with_name("cut.nettrace")
        cut.write_bytes(trace.read_bytes()[:-CUT])
        counts.append(checking.known(cut, "without the end"))
        for missing in sets(files, app):
            copies = [folder / path.resolve().relative_to("/") for path in missing]
            for copy in copies:
                copy.rename(copy.with_suffix(".gone"))
            label = f"without {', '.join(path.name for path in missing[:3])}"
            counts.append(checking.known(trace, label))
            for copy in copies:
                copy.with_suffix(".gone").rename(copy)
    print(f"{app} {flavour}: as with all files {counts}")
    return [f"{app} {flavour}: {line}" for line in checking.bad[:10]]


def main() -> int:
    """Exit status."""
    live.make("leak10-heap", "svr10-full", "svr8-full")
    bad: list[str] = []
    for app, flavour in PROGRAMS:
        bad += check(app, flavour)
    print("\n".join(bad) or "no wrong name")
    return 1 if bad else 0


if __name__ == "__main__":
    live.run_tests(main)
