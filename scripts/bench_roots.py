#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the benchmark of roots several times and print a table of medians.

    bench_roots.py BENCH_ROOTS CLRMD_BENCH CORES_FOLDER RUNS CORE...
"""
from __future__ import annotations

import json
import pathlib
import statistics
import subprocess
import sys

Figures = dict[str, list[float]]
MIB = 1 << 20
# Objects of heapgen: the deepest link of the longest list, a vertex of the random graph, two that little leads to.
TARGETS = ["list_deep", "graph_vertex", "slot_item", "tree_leaf"]
# A quarter of all objects leads to these, and these lead to so many.
MANY = ["list_deep", "graph_vertex"]
WIDE = ["graph_vertex"]


def run(command: list[str], prefix: str) -> dict[str, float]:
    """The figures that a command prints, one name and value a line; names get a prefix."""
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    pairs = (line.split()[:2] for line in text.splitlines())
    return {prefix + name: float(value) for name, value in pairs}


def targets_of(core: pathlib.Path) -> list[str]:
    """Addresses that the program told."""
    truth = json.loads(core.with_suffix(".truth.json").read_text(encoding="utf-8"))
    return [truth["targets"][name] for name in TARGETS]


def measure(bench: str, clrmd: str, core: pathlib.Path, number: int, figures: Figures) -> None:
    """Measure everything once; every other run goes through the list backwards."""
    path, targets = str(core), targets_of(core)
    jobs = [
        ([bench, path, "mark"], "mark_"),
        ([bench, path, "gcroot", "1", targets[0]], "one_"),
        ([bench, path, "session", "2", *targets], "two_"),
        (["dotnet", clrmd, path, "gcroot", *targets], "clrmd_"),
    ]
    if number % 2:
        jobs.reverse()
    for command, prefix in jobs:
        for name, value in run(command, prefix).items():
            figures.setdefault(name, []).append(value)


class Table:
    """Rows of one core."""

    def __init__(self, figures: Figures) -> None:
        self.figures = figures
        self.rows: list[tuple[str, str, str]] = []

    def median(self, name: str) -> float:
        return statistics.median(self.figures[name])

    def seconds(self, title: str, name: str, goal: str = "") -> None:
        value = self.median(name)
        text = f"{value:.3f} s" if value >= 0.001 else f"{1e6 * value:.0f} µs"
        self.rows.append((title, text, goal))

    def count(self, title: str, name: str) -> None:
        self.rows.append((title, f"{self.median(name):,.0f}", ""))

    def memory(self, title: str, name: str) -> None:
        self.rows.append((title, f"{self.median(name) / MIB:,.0f} MiB", ""))

    def ratio(self, title: str, above: str, below: str, goal: str = "") -> None:
        # Both come from the same run, so that a slow machine slows down both.
        pairs = zip(self.figures[above], self.figures[below])
        self.rows.append((title, f"{statistics.median(a / b for a, b in pairs):.2f}", goal))


def further(table: Table, index: int, name: str) -> None:
    """The time that further questions about one target take."""
    table.count(f"{name}: objects that lead to it", f"two_gcroot_nodes{index}")
    table.seconds("... further `gcroot`", f"two_gcroot{index}", "< 0.3 s below a million")
    if name in MANY:
        plain = f"two_gcroot_plain{index}"
        table.ratio("... / plain breadth-first pass", f"two_gcroot{index}", plain, "<= 1.5")
    table.seconds("... ClrMD", f"clrmd_gcroot{index}")
    table.seconds("... further `retained`", f"two_retained{index}", "< 0.3 s")
    if name in WIDE:
        plain = f"two_objsize_plain{index}"
        table.count("... objects that it leads to", f"two_objsize_nodes{index}")
        table.seconds("... `objsize -stat`", f"two_objsize{index}", "< 0.3 s below a million")
        table.ratio("... / plain breadth-first pass", f"two_objsize{index}", plain, "<= 1.5")
        table.seconds("... ClrMD, with a set of addresses", f"clrmd_objsize{index}")


def rows(figures: Figures) -> list[tuple[str, str, str]]:
    """The thing that is measured, its median, and the goal."""
    table = Table(figures)
    table.count("references", "two_references")
    table.seconds("plain marking from all roots", "mark_seconds")
    table.seconds("open + `gcroot`, 1 worker", "one_seconds")
    table.ratio("... / plain marking", "one_seconds", "mark_seconds", "<= 1.5")
    table.seconds("open + `gcroot`, 2 workers", "two_seconds")
    table.ratio("... / plain marking", "two_seconds", "mark_seconds", "< 1")
    table.seconds("ClrMD, open + GCRoot", "clrmd_seconds")
    table.ratio("... / open + `gcroot`, 1 worker", "clrmd_seconds", "one_seconds", ">= 6")
    table.ratio("... / open + `gcroot`, 2 workers", "clrmd_seconds", "two_seconds", ">= 6")
    table.memory("peak of private memory, open + `gcroot`", "one_private")
    table.memory("... ClrMD", "clrmd_private")
    table.ratio("... ours / ClrMD's", "one_private", "clrmd_private", "<= 0.4")
    for index, name in enumerate(TARGETS):
        further(table, index, name)
    table.seconds("first `retained`, 2 workers", "two_retained_first")
    table.memory("peak of private memory with `retained`", "two_private_retained")
    return table.rows


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
    columns = [rows(results) for results in figures]
    heads = [f"{results['one_objects'][0]:,.0f} objects" for results in figures]
    print(f"Median of {runs} runs:\n")
    print("| | " + " | ".join(heads) + " | goal |")
    print("| --- |" + " ---: |" * len(heads) + " ---: |")
    for cells in zip(*columns):
        values = " | ".join(cell[1] for cell in cells)
        print(f"| {cells[0][0]} | {values} | {cells[-1][2]} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
