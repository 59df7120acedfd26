#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the benchmark of cores several times and print a table of medians.

    bench_heap.py BENCH_HEAP CLRMD_BENCH CORES_FOLDER RUNS CORE...
"""
from __future__ import annotations

import pathlib
import statistics
import subprocess
import sys

Figures = dict[str, list[float]]
MIB = 1 << 20
# The measurements of bench_heap, each in a process of its own: name, what, workers.
OURS = [
    ("read", "read", 1),
    ("stat1", "stat", 1),
    ("stat2", "stat", 2),
    ("verify1", "verify", 1),
    ("verify2", "verify", 2),
    ("eeheap", "eeheap", 1),
    ("graph1", "graph", 1),
    ("graph2", "graph", 2),
]
CLRMD = ["eeheap", "stat", "verify"]


def run(command: list[str], prefix: str) -> dict[str, float]:
    """The figures that a command prints, one name and value a line; names get a prefix."""
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    pairs = (line.split()[:2] for line in text.splitlines())
    return {prefix + name: float(value) for name, value in pairs if name != "sum"}


def measure(bench: str, clrmd: str, core: pathlib.Path, number: int, figures: Figures) -> None:
    """Measure everything once; every other run goes through the list backwards."""
    jobs = [([bench, str(core), what, str(workers)], name + "_") for name, what, workers in OURS]
    jobs += [(["dotnet", clrmd, str(core), what], f"clrmd_{what}_") for what in CLRMD]
    if number % 2:
        jobs.reverse()
    for command, prefix in jobs:
        for name, value in run(command, prefix).items():
            figures.setdefault(name, []).append(value)


def check(core: pathlib.Path, figures: Figures) -> None:
    """Both must have seen the same heap, or the figures compare nothing."""
    for ours in ("stat1_objects", "stat2_objects", "verify1_objects", "verify2_objects"):
        if figures[ours] != figures["clrmd_stat_answer"]:
            sys.exit(f"bench_heap: {core}: {ours} is not what ClrMD counted")
    if any(figures["clrmd_verify_answer"]):
        sys.exit(f"bench_heap: {core}: ClrMD finds errors in this heap")


def rows(core: pathlib.Path, figures: Figures) -> list[tuple[str, str, str]]:
    """The thing that is measured, its median, and the goal."""

    def median(name: str) -> float:
        return statistics.median(figures[name])

    def ratio(above: str, below: str) -> float:
        # Both come from the same run, so that a slow machine slows down both.
        return statistics.median(a / b for a, b in zip(figures[above], figures[below]))

    def second(name: str) -> str:
        return f"{median(name):.3f} s"

    def memory(name: str) -> str:
        return f"{median(name) / MIB:,.0f} MiB"

    budget = 16 * median("graph1_objects") + 8 * median("graph1_references") + 16 * MIB
    return [
        ("core file", f"{core.stat().st_size / MIB:,.0f} MiB", ""),
        ("bytes of the heap", f"{median('read_bytes') / MIB:,.0f} MiB", ""),
        ("plain loop over them", second("read_seconds"), ""),
        ("open + `dumpheap -stat`, 1 worker", second("stat1_seconds"), ""),
        ("... / plain loop", f"{ratio('stat1_seconds', 'read_seconds'):.2f}", "<= 3"),
        ("open + `dumpheap -stat`, 2 workers", second("stat2_seconds"), ""),
        ("... / plain loop", f"{ratio('stat2_seconds', 'read_seconds'):.2f}", ""),
        ("ClrMD, open + the same walk", second("clrmd_stat_seconds"), ""),
        (
            "... / `dumpheap -stat`, 1 worker",
            f"{ratio('clrmd_stat_seconds', 'stat1_seconds'):.1f}",
            "",
        ),
        (
            "... / `dumpheap -stat`, 2 workers",
            f"{ratio('clrmd_stat_seconds', 'stat2_seconds'):.1f}",
            ">= 15",
        ),
        ("ClrMD, the walk again", second("clrmd_stat_again"), ""),
        (
            "... / open + `dumpheap -stat`, 2 workers",
            f"{ratio('clrmd_stat_again', 'stat2_seconds'):.1f}",
            "",
        ),
        ("open + `verifyheap`, 1 worker", second("verify1_seconds"), ""),
        ("open + `verifyheap`, 2 workers", second("verify2_seconds"), ""),
        ("ClrMD, open + VerifyHeap", second("clrmd_verify_seconds"), ""),
        (
            "... / `verifyheap`, 1 worker",
            f"{ratio('clrmd_verify_seconds', 'verify1_seconds'):.1f}",
            ">= 10",
        ),
        (
            "... / `verifyheap`, 2 workers",
            f"{ratio('clrmd_verify_seconds', 'verify2_seconds'):.1f}",
            "",
        ),
        ("open + `eeheap -gc`", f"{1000 * median('eeheap_seconds'):.1f} ms", "< 50 ms"),
        ("ClrMD, open + segments", f"{1000 * median('clrmd_eeheap_seconds'):.1f} ms", ""),
        ("private memory, `dumpheap -stat`", memory("stat2_private"), "< 64 MiB"),
        ("private memory, `verifyheap`", memory("verify2_private"), "< 64 MiB"),
        ("private memory, ClrMD", memory("clrmd_verify_private"), ""),
        ("open + graph, 1 worker", second("graph1_seconds"), ""),
        ("open + graph, 2 workers", second("graph2_seconds"), ""),
        ("references", f"{median('graph1_references'):,.0f}", ""),
        ("private memory, graph", memory("graph2_private"), f"< {budget / MIB:,.0f} MiB"),
    ]


def main(arguments: list[str]) -> int:
    """Measure all cores in turn, run by run; print one column for each."""
    bench, clrmd = arguments[0], arguments[1]
    cores = [pathlib.Path(arguments[2]) / f"{name}.core" for name in arguments[4:]]
    runs = int(arguments[3])
    figures: list[Figures] = [{} for _ in cores]
    # Run 0 is not counted: it brings the files into memory.
    for number in range(runs + 1):
        for core, results in zip(cores, figures):
            print(f"run {number} of {runs}: {core.name}", file=sys.stderr)
            measure(bench, clrmd, core, number, results if number else {})
    for core, results in zip(cores, figures):
        check(core, results)
    columns = [rows(core, results) for core, results in zip(cores, figures)]
    heads = [f"{results['clrmd_stat_answer'][0]:,.0f} objects" for results in figures]
    print(f"Median of {runs} runs:\n")
    print("| | " + " | ".join(heads) + " | goal |")
    print("| --- |" + " ---: |" * len(heads) + " ---: |")
    for cells in zip(*columns):
        values = " | ".join(cell[1] for cell in cells)
        print(f"| {cells[0][0]} | {values} | {cells[-1][2]} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
