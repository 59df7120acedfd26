#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure what it costs to write the rows of a large dump, as a table; with a second program, the one before, beside it.

    bench_rows.py RUNS FILE PROGRAM [BEFORE]

Seconds of one processor (user and system), medians; the programs take turns. What the opening takes is measured with
`info` and taken off.
"""
from __future__ import annotations

import os
import statistics
import subprocess
import sys

COMMANDS = (
    ("dumpheap",),
    ("dumpheap", "--json"),
    ("dumpheap", "--format", "csv"),
    ("dumpheap", "-stat"),
)


def cpu_seconds(argv: list[str]) -> float:
    """The time of one run, which writes to nowhere."""
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        _, _, usage = os.wait4(program.pid, 0)
        program.returncode = 0
    return usage.ru_utime + usage.ru_stime


def measure(programs: list[str], path: str, runs: int) -> dict[tuple[str, tuple[str, ...]], float]:
    """Median of each program and command, without the opening."""
    rows: dict[tuple[str, tuple[str, ...]], list[float]] = {}
    for _ in range(runs + 1):
        for program in programs:
            opening = cpu_seconds([program, path, "info", "--workers", "1"])
            for words in COMMANDS:
                seconds = cpu_seconds([program, path, *words, "--workers", "1"])
                rows.setdefault((program, words), []).append(seconds - opening)
    # The first of each warms up.
    return {key: statistics.median(values[1:]) for key, values in rows.items()}


def main() -> int:
    if len(sys.argv) not in (4, 5) or not sys.argv[1].isdecimal():
        sys.exit(__doc__)
    programs = sys.argv[3:]
    found = measure(programs, sys.argv[2], int(sys.argv[1]))
    print("| command | now | before | now / before |")
    print("| --- | ---: | ---: | ---: |")
    for words in COMMANDS:
        now = found[programs[0], words]
        cells = [f"`{' '.join(words)}`", f"{now:.2f} s", "", ""]
        if len(programs) > 1:
            before = found[programs[1], words]
            cells[2:] = [f"{before:.2f} s", f"{now / before:.2f}"]
        print("| " + " | ".join(cells) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
