#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the benchmark of dump files several times and print a table of medians.

    bench_table.py BUILD_FOLDER DATA_FOLDER RUNS OBJECTS...
"""
from __future__ import annotations

import pathlib
import statistics
import subprocess
import sys

Figures = dict[str, list[float]]
MIB = 1 << 20


def run(command: list[str]) -> str:
    """Standard output of a command that must succeed."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def targets(path: pathlib.Path) -> dict[str, str]:
    """The dump maker's facts about a dump: one name and one value a line."""
    return dict(line.split() for line in path.read_text(encoding="utf-8").splitlines())


def measure(build: pathlib.Path, dump: pathlib.Path, order: list[str], figures: Figures) -> None:
    """Run the plain loops and the benchmark once, one after the other."""
    bench = build / "tests" / "bench"
    names = targets(dump.with_suffix(".targets"))
    text = run([str(bench / "plain_loop"), str(dump)])
    text += run([str(bench / "bench_dumps"), str(dump), names["sink"], names["few"], *order])
    for line in text.splitlines():
        name, value = line.split()[:2]
        figures.setdefault(name, []).append(float(value))


def rows(dump: pathlib.Path, figures: Figures) -> list[tuple[str, str, str]]:
    """The thing that is measured, its median, and the goal."""

    def median(name: str) -> float:
        return statistics.median(figures[name])

    def ratio(above: str, below: str) -> float:
        # Both come from the same run, so that a slow machine slows down both.
        pairs = zip(figures[above], figures[below])
        return statistics.median(a / b for a, b in pairs)

    def second(name: str) -> str:
        return f"{median(name):.3f} s"

    open_gcroot = statistics.median(
        (a + b) / a for a, b in zip(figures["open1"], figures["first1"])
    )
    open_gcroot2 = statistics.median(
        (a + b) / a for a, b in zip(figures["open2"], figures["first2"])
    )
    return [
        ("file", f"{dump.stat().st_size / MIB:,.0f} MiB", ""),
        ("references", f"{median('references'):,.0f}", ""),
        ("plain loop, comparisons", second("plain"), ""),
        ("plain loop, table", second("table"), ""),
        ("open, 1 worker", second("open1"), ""),
        ("... / plain loop, comparisons", f"{ratio('open1', 'plain'):.2f}", ""),
        ("... / plain loop, table", f"{ratio('open1', 'table'):.2f}", "<= 4"),
        ("open, 2 workers", second("open2"), ""),
        ("... / plain loop, comparisons", f"{ratio('open2', 'plain'):.2f}", ""),
        ("... / plain loop, table", f"{ratio('open2', 'table'):.2f}", "<= 3"),
        ("objects that lead to the sink", f"{median('sink_nodes'):,.0f}", ""),
        ("first gcroot of the sink, 1 worker", second("first1"), ""),
        ("(open + gcroot) / open, 1 worker", f"{open_gcroot:.2f}", "< 2.6"),
        ("(open + gcroot) / open, 2 workers", f"{open_gcroot2:.2f}", "< 2.6"),
        ("second gcroot of the sink", second("second"), ""),
        ("plain breadth-first pass", second("plain_bfs"), ""),
        ("second gcroot / plain pass", f"{ratio('second', 'plain_bfs'):.2f}", "<= 1.5"),
        ("objects that lead to the few", f"{median('few_nodes'):,.0f}", "< 1,000,000"),
        ("gcroot of the few", second("few"), "< 0.3 s"),
        ("peak private memory, 1 worker", f"{median('peak1') / MIB:,.0f} MiB", ""),
        ("peak private memory, 2 workers", f"{median('peak2') / MIB:,.0f} MiB", ""),
        ("budget", f"{median('budget') / MIB:,.0f} MiB", ""),
        ("peak, 1 worker / budget", f"{ratio('peak1', 'budget'):.2f}", "<= 1"),
        ("peak, 2 workers / budget", f"{ratio('peak2', 'budget'):.2f}", "<= 1"),
    ]


def main(arguments: list[str]) -> int:
    """Measure all dumps in turn, run by run; print one column for each."""
    build, data = pathlib.Path(arguments[0]), pathlib.Path(arguments[1])
    runs, sizes = int(arguments[2]), arguments[3:]
    dumps = [data / f"{size}.heap" for size in sizes]
    figures: list[Figures] = [{} for _ in sizes]
    # Run 0 is not counted; every other run opens with two workers first.
    for number in range(runs + 1):
        for dump, results in zip(dumps, figures):
            print(f"run {number} of {runs}: {dump.name}", file=sys.stderr)
            order = ["two-first"] if number % 2 else []
            measure(build, dump, order, results if number else {})
    columns = [rows(dump, results) for dump, results in zip(dumps, figures)]
    heads = [
        f"{int(size.split('-')[0]):,} objects" + (", shuffled" if "-" in size else "")
        for size in sizes
    ]
    print(f"Median of {runs} runs:\n")
    print("| | " + " | ".join(heads) + " | goal |")
    print("| --- |" + " ---: |" * len(heads) + " ---: |")
    for cells in zip(*columns):
        values = " | ".join(cell[1] for cell in cells)
        print(f"| {cells[0][0]} | {values} | {cells[0][2]} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
