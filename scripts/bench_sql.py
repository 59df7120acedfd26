#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure the cost of sql next to dumpheap -stat, on the same cores in turn, as a table.

    bench_sql.py PROGRAM RUNS CORE...

Each query runs after a dumpheap -stat; of each pair the ratio is taken, and the table has the medians. Private
memory is read from /proc while the program runs, without the pages of the core.
"""
from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

# Counted by rows that stand for many; row by row, for + hides the column from the plan; found by a key.
QUERIES = (
    "SELECT type, count(*), sum(size) FROM objects GROUP BY type",
    "SELECT count(*), sum(size) FROM objects",
    "SELECT generation, count(*), sum(size) FROM objects GROUP BY generation",
    'SELECT count(*) FROM refs WHERE "to" = (SELECT address FROM objects LIMIT 1)',
)
INTERVAL = 0.002


class Run(NamedTuple):
    """Seconds and bytes of one run."""

    wall: float
    memory: int
    cpu: float


def private_memory(pid: int) -> int:
    """Resident pages that no file backs; 0: it has ended."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def run(argv: list[str]) -> Run:
    most = 0
    began = time.monotonic()
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        ended, _, usage = os.wait4(program.pid, os.WNOHANG)
        while not ended:
            most = max(most, private_memory(program.pid))
            time.sleep(INTERVAL)
            ended, _, usage = os.wait4(program.pid, os.WNOHANG)
        program.returncode = 0
    return Run(time.monotonic() - began, most, usage.ru_utime + usage.ru_stime)


def row(program: str, path: str, query: str, runs: int) -> str:
    pairs = []
    for count in range(runs + 1):
        base = [program, "--no-sandbox", path]
        pair = run([*base, "dumpheap", "-stat"]), run([*base, "sql", query])
        if count:  # the first one warms up
            pairs.append(pair)
    median = statistics.median
    cells = [
        f"`{query}` of {Path(path).stem}",
        f"{median(a.wall for a, _ in pairs):.3f} s",
        f"{median(b.wall for _, b in pairs):.3f} s",
        f"{median(b.wall / a.wall for a, b in pairs):.2f}",
        f"{max(a.memory for a, _ in pairs) / 2**20:.0f} MiB",
        f"{max(b.memory for _, b in pairs) / 2**20:.0f} MiB",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    if len(sys.argv) < 4 or not sys.argv[2].isdecimal():
        sys.exit(__doc__)
    print("| query | `dumpheap -stat` | sql | ratio | memory of the first | of sql |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for path in sys.argv[3:]:
        for query in QUERIES:
            print(row(sys.argv[1], path, query, int(sys.argv[2])), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
