#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cores of sound programs that collect all the time: verifyheap must not call anything damage.

    collecting.py                                             the committed core, in which a GC was moving objects
    collecting.py --cores N [--collector NAME]... [-o FILE]   cores of programs that run

N cores are taken at random moments, of all collectors of gc_programs.py in turn, with another mix of
allocations and kind of collections each time. A core with a wrong answer is kept, and its path printed.
FILE gets a table of what was taken. All of the table of doc/collections.md: --cores 204 -o FILE.
"""
from __future__ import annotations

import argparse
import itertools
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from core_image import SOURCE, heapdump, turns
from gc_programs import COLLECTORS, Collector, Program, build

# Cores of one process: each is of another state of the same heap.
CORES_OF_ONE = 4
# The objects that the program "collecting" allocates, and how it collects; "churn" is a program of its own.
CHURN = "churn"
MIXES = ("trees", "large", "pinned", "handles", "strings", "threads", "all", CHURN)
COLLECTS = ("full", "young", "compacting", "background", "mixed")
MOVING = SOURCE / "corefiles" / "moving.core.zst"
MOVING_OBJECTS = 20_000


class Row(NamedTuple):
    """The observations of one collector."""

    collector: str
    cores: int
    moving: int
    objects: int
    other: int
    damage: int


def check(core: Path) -> tuple[str, Row]:
    """(what is wrong, or nothing; a row of this core)."""
    run = heapdump(str(core), "verifyheap")
    if run.status not in (0, 1):
        return f"verifyheap ended with {run.status}: {run.err.strip()}", Row("", 1, 0, 0, 0, 0)
    answer = run.json()
    bad = [f for f in answer["findings"] if f["verdict"] == "damage"]
    row = Row(
        "",
        1,
        int(answer["gc_in_progress"]),
        answer["objects"],
        len(answer["findings"]) - len(bad),
        len(bad),
    )
    if run.status or bad:
        places = [(f["address"], f["kind"], f["detail"]) for f in bad[:4]]
        return f"status {run.status}, {len(bad)} findings of damage: {places}", row
    for words in (["dumpheap", "-stat"], ["eeheap", "-gc"]):
        other = heapdump(str(core), *words)
        if other.status not in (0, 1, 2, 3):
            return f"{' '.join(words)} ended with {other.status}", row
    return "", row


def check_committed() -> int:
    """The core whose answers are always the same."""
    text, row = check(MOVING)
    if not text and (not row.moving or row.objects < MOVING_OBJECTS):
        text = f"{row.objects} objects, moving: {row.moving}"
    print(f"collecting: {MOVING.name}: {text or 'right'}")
    return int(bool(text))


def keep(core: Path, name: str) -> Path:
    """Move a core to where it stays."""
    kept = Path(tempfile.gettempdir()) / f"heapdump-{name}-{os.getpid()}-{core.stem}.core"
    shutil.move(core, kept)
    return kept


def take(
    folder: Path, collector: Collector, words: list[str], cores: int, chance: random.Random
) -> list[tuple[str, Row]]:
    """Cores of one process."""
    found = []
    app, arguments = (CHURN, []) if words[0] == CHURN else ("collecting", words)
    program = Program(collector, app, arguments)
    try:
        for number in range(cores):
            time.sleep(chance.random() * 0.2)
            core = folder / f"{number}.core"
            if not program.take(core):
                print(f"collecting: {program.name}: threads ended each time, no core", flush=True)
                continue
            text, row = check(core)
            if text:
                kept = keep(core, f"{collector.name}-{'-'.join(words)}")
                print(
                    f"collecting: {collector.name} {' '.join(words)}: {text}; kept: {kept}",
                    flush=True,
                )
            else:
                core.unlink()
            found.append((text, row))
    finally:
        program.stop()
    return found


def add(rows: dict[str, Row], name: str, row: Row) -> None:
    """Count a core with those of its collector."""
    old = rows.get(name, Row(name, 0, 0, 0, 0, 0))
    rows[name] = Row(name, *(a + b for a, b in zip(old[1:], row[1:])))


def write_table(path: Path, rows: dict[str, Row]) -> None:
    """As Markdown, with a last row of all."""
    lines = [
        "| collector | cores | while objects were moved | objects | findings, not damage | damage |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    total = Row("all", *(sum(column) for column in zip(*(row[1:] for row in rows.values()))))
    for row in [*rows.values(), total]:
        lines.append(f"| {row.collector} | " + " | ".join(f"{x:,}" for x in row[1:]) + " |")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> int:
    """Take all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, help="so many of programs that run")
    parser.add_argument("--collector", action="append", help="only these")
    parser.add_argument("--seed", type=int, default=turns.seed())
    parser.add_argument("-o", dest="table", type=Path)
    options = parser.parse_args()
    if options.cores is None:
        return check_committed()
    collectors = [c for c in COLLECTORS if not options.collector or c.name in options.collector]
    if not build("collecting", collectors[0].flavour):
        print("collecting: skipped, there is no .NET SDK")
        return 0
    chance = random.Random(options.seed)
    print(f"collecting: --seed {options.seed}", flush=True)
    chance.shuffle(collectors)
    rows: dict[str, Row] = {}
    left, failures = options.cores, 0
    with tempfile.TemporaryDirectory() as folder:
        for collector in itertools.cycle(collectors):
            if left <= 0:
                break
            words = [chance.choice(MIXES), chance.choice(COLLECTS)]
            count = min(left, CORES_OF_ONE)
            for text, row in take(Path(folder), collector, words, count, chance):
                failures += bool(text)
                add(rows, collector.name, row)
            left -= count
    taken = sum(row.cores for row in rows.values())
    moving = sum(row.moving for row in rows.values())
    print(
        f"collecting: {taken} cores, objects were being moved in {moving}, {failures} wrong answers"
    )
    if options.table:
        write_table(options.table, {c.name: rows[c.name] for c in COLLECTORS if c.name in rows})
    return int(failures > 0 or not taken)


if __name__ == "__main__":
    sys.exit(main())
