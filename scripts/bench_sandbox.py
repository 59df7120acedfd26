#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure the cost of the sandbox: the same command lines with it and without it, in turn, as a table.

    bench_sandbox.py PROGRAM RUNS FILE...

Of each pair of runs the difference and the ratio are taken; the table has the medians.  Processor time is that
of all processes of a run.
"""
from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

# A start, a walk, a graph.
COMMANDS = (["info"], ["dumpheap", "-stat"], ["gcroot", "-type", "String"])


class Run(NamedTuple):
    """Milliseconds of one run."""

    wall: float
    cpu: float


def run(argv: list[str]) -> Run:
    began = time.monotonic()
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        _, _, usage = os.wait4(program.pid, 0)
        program.returncode = 0
    wall = time.monotonic() - began
    return Run(wall * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3)


def row(program: str, path: str, words: list[str], runs: int) -> str:
    pairs = []
    for count in range(runs + 1):
        pair = run([program, path, *words]), run([program, "--no-sandbox", path, *words])
        if count:  # the first one warms up
            pairs.append(pair)
    median = statistics.median
    cells = [
        f"`{' '.join(words)}` of {Path(path).name}",
        f"{median(b.wall for _, b in pairs):.1f} ms",
        f"{median(a.wall for a, _ in pairs):.1f} ms",
        f"{median(a.wall - b.wall for a, b in pairs):+.1f} ms",
        f"{median(a.wall / b.wall for a, b in pairs):.2f}",
        f"{median(a.cpu - b.cpu for a, b in pairs):+.1f} ms",
        f"{median(a.cpu / b.cpu for a, b in pairs):.2f}",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    if len(sys.argv) < 4 or not sys.argv[2].isdecimal():
        sys.exit(__doc__)
    program, runs = sys.argv[1], int(sys.argv[2])
    print("| command | without | with | difference | ratio | processor time | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for path in sys.argv[3:]:
        for words in COMMANDS:
            print(row(program, path, words, runs), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
