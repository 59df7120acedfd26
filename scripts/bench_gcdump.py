#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the benchmark of .gcdump files and of collecting several times and print a table of medians.

    bench_gcdump.py BUILD APPS CORES_FOLDER RUNS CORE...

BUILD has the programs, APPS those of corefiles/apps; CORE: gen10-1m-full is of heapgen with one million.
"""
from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from bench_roots import Figures, Table, run

SAVE = pathlib.Path(__file__).resolve().parent.parent / "tests" / "bench" / "save_stream.py"


def timed(command: list[str]) -> float:
    """Seconds of a whole program."""
    begin = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - begin


class Program:
    """A running heapgen."""

    def __init__(self, apps: str, millions: str) -> None:
        self.process = subprocess.Popen(
            ["dotnet", f"{apps}/heapgen-net10.0/heapgen.dll", millions],
            stdout=subprocess.PIPE,
            stdin=subprocess.PIPE,
        )
        assert self.process.stdout
        self.process.stdout.readline()  # it is ready
        self.pid = str(self.process.pid)

    def end(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.wait()


def measure(
    build: str, core: pathlib.Path, pid: str, number: int, folder: pathlib.Path
) -> dict[str, float]:
    """Measure everything once; every other run the other way round."""
    bench, program = f"{build}/tests/bench/bench_gcdump", f"{build}/heapdump"
    truth = json.loads(core.with_suffix(".truth.json").read_text(encoding="utf-8"))
    out = str(folder / f"{core.stem}.gcdump")
    target = truth["targets"]["list_deep"]
    found = run([bench, str(core), "export", "2", out], "export_")
    saved = folder / "c.nettrace"
    found["nettrace"] = timed([program, "collect", pid, "-o", str(saved)])
    enough = str(saved.stat().st_size * 99 // 100)
    jobs: list[tuple[str, list[str]]] = [
        ("gcroot_seconds", [f"{build}/tests/bench/bench_roots", str(core), "gcroot", "2", target]),
        ("plain_seconds", [bench, out, "plain"]),
        ("one_seconds", [bench, out, "read", "1"]),
        ("two_seconds", [bench, out, "read", "2"]),
        ("save_seconds", [sys.executable, str(SAVE), pid, str(folder / "saved.nettrace"), enough]),
        ("gcdump", [program, "collect", pid, "-o", str(folder / "c.gcdump")]),
    ]
    for name, command in reversed(jobs) if number % 2 else jobs:
        if name.endswith("_seconds"):
            found |= run(command, name.removesuffix("seconds"))
        else:
            found[name] = timed(command)
    return found


def rows(figures: Figures) -> list[tuple[str, str, str]]:
    """What is measured, its median, and the goal."""
    table = Table(figures)
    table.count("references", "two_references")
    table.seconds("plain loop over nodes and references of the .gcdump", "plain_seconds")
    table.seconds("read into the graph, 1 worker", "one_seconds")
    table.ratio("... / plain loop", "one_seconds", "plain_seconds", "<= 3")
    table.seconds("read into the graph, 2 workers", "two_seconds")
    table.ratio("... / plain loop", "two_seconds", "plain_seconds", "<= 3")
    table.memory("peak of private memory, 2 workers", "two_private")
    table.seconds("open core + `gcroot`, 2 workers", "gcroot_seconds")
    table.seconds("open core + `export` to .gcdump, 2 workers", "export_seconds")
    table.ratio("... / open + `gcroot`", "export_seconds", "gcroot_seconds", "< 2")
    table.memory("peak of private memory of the export", "export_private")
    table.seconds("a client that saves the stream of a live process", "save_seconds")
    table.seconds("`collect` to .nettrace", "nettrace")
    table.ratio("... / saving", "nettrace", "save_seconds", "<= 1.3")
    table.seconds("`collect` to .gcdump", "gcdump")
    table.ratio("... / saving", "gcdump", "save_seconds", "<= 1.3")
    return table.rows


def main(arguments: list[str]) -> int:
    """Measure all cores in turn; print one column for each."""
    build, apps, cores, runs = *arguments[:3], int(arguments[3])
    columns, heads = [], []
    for name in arguments[4:]:
        core = pathlib.Path(cores) / f"{name}.core"
        millions = re.sub(r"^gen\d+-(\d+)m-.*$", r"\1", name)
        figures: Figures = {}
        program = Program(apps, millions)
        try:
            with tempfile.TemporaryDirectory(dir=build) as folder:
                # Run 0 is not counted: it brings files into memory.
                for number in range(runs + 1):
                    print(f"run {number} of {runs}: {name}", file=sys.stderr)
                    found = measure(build, core, program.pid, number, pathlib.Path(folder))
                    for key, value in found.items():
                        if number:
                            figures.setdefault(key, []).append(value)
        finally:
            program.end()
        columns.append(rows(figures))
        heads.append(f"{figures['two_objects'][0]:,.0f} objects")
    print(f"Median of {runs} runs:\n")
    print("| | " + " | ".join(heads) + " | goal |")
    print("| --- |" + " ---: |" * len(heads) + " ---: |")
    for cells in zip(*columns):
        print(f"| {cells[0][0]} | {' | '.join(c[1] for c in cells)} | {cells[-1][2]} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
