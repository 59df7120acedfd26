#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""verifyheap on NativeAOT programs: none of a sound program's heaps is called damaged, and damage is found.

    check_nativeaot_heap.py [--cores N] [--damaged N] [--seed N] [-o FILE] [VERSION...]

The program is "collecting" of corefiles/apps, compiled for each release with a workstation and a server GC. N cores (20) are
taken at random moments, while it allocates and collects in one of its ways; then N copies (20) of one in which no collection
was moving objects are damaged, each in another way (tests/inject/heap_damage.py). FILE gets a table.
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

import check_nativeaot as aot
from check_musl import BUILD, SKIPPED, SOURCE, Missing

sys.path.insert(0, str(SOURCE / "tests" / "inject"))
os.environ.setdefault("HEAPDUMP_SOURCE", str(SOURCE))
os.environ.setdefault("HEAPDUMP_BUILD", str(BUILD))

import collecting  # noqa: E402  pylint: disable=wrong-import-position
import core_image  # noqa: E402  pylint: disable=wrong-import-position
import heap_damage  # noqa: E402  pylint: disable=wrong-import-position
import inject  # noqa: E402  pylint: disable=wrong-import-position

COLLECTING = SOURCE / "corefiles" / "apps" / "collecting" / "Program.cs"
MIXES = [mix for mix in collecting.MIXES if mix != collecting.CHURN]
# The cores of one process are of different states of the same heap.
CORES_OF_ONE = 3


class Row(NamedTuple):
    """Observations of one program."""

    cores: int = 0
    moving: int = 0
    objects: int = 0
    false: int = 0
    damaged: int = 0
    wrong: int = 0

    def plus(self, other: Row) -> Row:
        """The sums of both."""
        return Row(*(a + b for a, b in zip(self, other)))


def churn(
    program: aot.Program, count: int, folder: Path, chance: random.Random
) -> tuple[Row, Path | None]:
    """Look at cores of one process; one in which no collection was at work is kept."""
    row, sound = Row(), None
    words = [chance.choice(MIXES), chance.choice(collecting.COLLECTS)]
    with aot.started(program, *words) as process:
        for _ in range(count):
            time.sleep(chance.random() * 0.3)
            core = folder / "churn.core"
            core.unlink(missing_ok=True)
            for kind in ("full", "full", "full"):
                try:
                    aot.dump(program, process.pid, kind, core)
                    break
                except Missing:  # a thread ended just now
                    continue
            if not core.exists():
                continue
            text, seen = collecting.check(core)
            if text:
                kept = collecting.keep(core, f"{program.folder.name}-{'-'.join(words)}")
                print(f"{program.folder.name} {' '.join(words)}: {text}; kept: {kept}", flush=True)
            row = row.plus(Row(1, seen.moving, seen.objects, int(bool(text))))
            if not text and not seen.moving and not seen.other:
                sound = folder / f"{program.folder.name}.core"
                shutil.move(core, sound)
    return row, sound


def damage(
    program: aot.Program, core: Path, kinds: list[str], folder: Path, seed: int
) -> tuple[Row, list[str]]:
    """Damage copies of a core; those kinds for which it has a place."""
    image = core_image.Image(core, folder)
    row, done = Row(), []
    try:
        maker = heap_damage.Maker(image)
        for kind in kinds:
            try:
                found, bad = inject.run_kind(maker, kind, seed, False)
            except (LookupError, IndexError):
                continue
            done.append(kind)
            row = row.plus(Row(damaged=1, wrong=int(bool(bad))))
            for text in bad:
                places = " ".join(f"{a:x}={d[:16].hex()}" for a, d in found.patches)
                print(f"{program.folder.name} {kind} {seed}: {text} [{places}]", flush=True)
    finally:
        image.close()
        core.unlink()
        Path(image.path).unlink(missing_ok=True)
    return row, done


def write_table(path: Path, rows: dict[str, Row]) -> None:
    """As Markdown."""
    lines = [
        "| program | cores | while objects were moved | objects | false alarms | damaged | not found |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, row in rows.items():
        lines.append(f"| {name} | " + " | ".join(f"{x:,}" for x in row) + " |")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def run_all(options: argparse.Namespace) -> dict[str, Row]:
    """Rows by program."""
    chance = random.Random(options.seed)
    all_programs = [
        aot.Program(version, gc, COLLECTING)
        for version in options.versions or aot.VERSIONS
        for gc in aot.GCS
    ]
    kinds = list(heap_damage.KINDS)
    chance.shuffle(kinds)
    rows: dict[str, Row] = {}
    cores, damaged = 0, 0
    with tempfile.TemporaryDirectory(dir=aot.FOLDER) as name:
        folder = Path(name)
        (folder / "image").mkdir()
        for turn, program in enumerate(itertools.cycle(all_programs)):
            if (cores >= options.cores and damaged >= options.damaged) or turn > 60:
                break
            aot.build(program)
            row, sound = churn(program, CORES_OF_ONE, folder, chance)
            cores += row.cores
            if sound and damaged < options.damaged:
                part = kinds[: -(-options.damaged // len(all_programs))]
                more, done = damage(program, sound, part, folder / "image", options.seed)
                # Each of them is tried once, and one without a place again in another core.
                kinds = [kind for kind in kinds if kind not in done]
                damaged += more.damaged
                row = row.plus(more)
            label = f"{program.version}, {program.gc}"
            rows[label] = rows.get(label, Row()).plus(row)
            print(f"{label}: {rows[label]}", flush=True)
    return rows


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, default=20)
    parser.add_argument("--damaged", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("-o", dest="table", type=Path)
    parser.add_argument("versions", nargs="*")
    options = parser.parse_args()
    print(f"nativeaot heaps: --seed {options.seed}", flush=True)
    try:
        aot.get_ready()
        rows = run_all(options)
    except Missing as missing:
        print(f"skipped: {missing}")
        return SKIPPED
    if options.table:
        write_table(options.table, rows)
    total = Row(*(sum(column) for column in zip(*rows.values())))
    print(
        f"nativeaot heaps: {total.cores} cores, {total.moving} of them while objects were moved, "
        f"{total.false} false alarms; {total.damaged} damaged, {total.wrong} wrong answers"
    )
    return int(total.false > 0 or total.wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
