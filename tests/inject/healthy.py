#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cores of healthy programs at random moments: hang must not say that they hang.

    healthy.py [--cores N] [--program NAME]... [--seed N]

The programs are healthy1 to healthy10 of corefiles/apps/hang. A core of the moment at which all threads stop for a
collection may have the verdict "collection", if it is not certain. A core with a wrong verdict is kept, and its path
printed.
"""
from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from collecting import keep
from core_image import heapdump, turns
from gc_programs import Collector, Program, build

CORES_OF_ONE = 12
PROGRAMS = [f"healthy{number}" for number in range(1, 11)]
RUNTIMES = [Collector("10", "net10.0", {}), Collector("11", "net11.0", {})]


def wrong(core: Path) -> list[str]:
    """The verdicts that the core must not have."""
    run = heapdump(str(core), "hang")
    if run.status not in (0, 1):
        return [f"hang ended with {run.status}: {run.err.strip()}"]
    return [
        f"{verdict['verdict']}: {verdict['summary']}"
        for verdict in run.json()["verdicts"]
        if verdict["certain"] or verdict["verdict"] != "collection"
    ]


def look(folder: Path, runtime: Collector, name: str, cores: int, chance: random.Random) -> int:
    """How many cores of one process are wrong."""
    bad = 0
    program = Program(runtime, "hang", [name])
    try:
        for number in range(cores):
            time.sleep(chance.random())
            core = folder / f"{number}.core"
            if not program.take(core):
                continue
            text = wrong(core)
            if text:
                kept = keep(core, f"{runtime.name}-{name}")
                print(f"healthy: {program.name}: {text}; kept: {kept}", flush=True)
                bad += 1
            else:
                core.unlink()
    finally:
        program.stop()
    return bad


def main() -> int:
    """Take all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, default=CORES_OF_ONE)
    parser.add_argument("--program", action="append", choices=PROGRAMS, help="only these")
    parser.add_argument("--seed", type=int, default=turns.seed())
    options = parser.parse_args()
    chance = random.Random(options.seed)
    print(f"healthy: --seed {options.seed}", flush=True)
    left, failures = options.cores, 0
    with tempfile.TemporaryDirectory() as folder:
        while left > 0:
            runtime = chance.choice(RUNTIMES)
            if not build("hang", runtime.flavour):
                print("healthy: skipped, there is no .NET SDK")
                return 0
            name = chance.choice(options.program or PROGRAMS)
            count = min(left, CORES_OF_ONE)
            failures += look(Path(folder), runtime, name, count, chance)
            left -= count
    print(f"healthy: {options.cores} cores, {failures} with a wrong verdict")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
