#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the benchmark of .gcdump files and of collecting several times and print a table of medians.

    bench_gcdump.py BUILD APPS CORES_FOLDER RUNS CORE...

BUILD has the programs, APPS those of corefiles/apps; CORE: gen10-1m-full is of heapgen with one million.
"""
from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from bench_roots import MIB, Figures, Table, run

SAVE = pathlib.Path(__file__).resolve().parent.parent / "tests" / "bench" / "save_stream.py"
SAMPLE_SECONDS = 0.005
# The files that are read: what they are in the table, and their names.
FILES = {
    "exported": "`export` of the core",
    "collected": "`collect` of the process",
    "exact": "the order of dotnet-gcdump",
}


def private_bytes(pid: int) -> int:
    """Resident pages of a process that no file backs; 0: it has ended."""
    try:
        words = pathlib.Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    except OSError:
        return 0
    return (int(words[1]) - int(words[2])) * os.sysconf("SC_PAGESIZE") if len(words) > 2 else 0


def timed(command: list[str], prefix: str) -> dict[str, float]:
    """Seconds and the peak of private memory of a whole program."""
    begin = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        peak = 0
        while process.poll() is None:
            peak = max(peak, private_bytes(process.pid))
            try:
                process.wait(SAMPLE_SECONDS)
            except subprocess.TimeoutExpired:
                continue
        seconds = time.monotonic() - begin
        assert process.stderr
        said = process.stderr.read().decode()
    # 1: with findings, as of the objects after the last that dotnet-gcdump keeps.
    if process.returncode not in (0, 1):
        print(said, file=sys.stderr)
        raise subprocess.CalledProcessError(process.returncode, command)
    return {f"{prefix}_seconds": seconds, f"{prefix}_private": peak}


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


class Bench:
    """One core, and a process like the one that it is of."""

    def __init__(self, build: str, core: pathlib.Path, pid: str, folder: pathlib.Path) -> None:
        self.bench, self.program = f"{build}/tests/bench/bench_gcdump", f"{build}/heapdump"
        self.roots = f"{build}/tests/bench/bench_roots"
        self.core, self.pid, self.folder = str(core), pid, folder
        truth = json.loads(core.with_suffix(".truth.json").read_text(encoding="utf-8"))
        self.target = truth["targets"]["list_deep"]

    def path(self, name: str) -> str:
        """A file of this run."""
        return str(self.folder / name)

    def collect(self, name: str, *options: str) -> list[str]:
        """The command that collects a file."""
        return [self.program, "collect", self.pid, *options, "-o", self.path(name)]

    def work(self, number: int) -> dict[str, float]:
        """Make all files; every other run the other way round, as far as they allow it."""
        found = timed(self.collect("saved.nettrace"), "trace")
        size = os.stat(self.path("saved.nettrace")).st_size
        found["trace_bytes"] = size
        save = [sys.executable, str(SAVE), self.pid, self.path("least"), str(size * 99 // 100)]
        jobs: list[Callable[[], dict[str, float]]] = [
            lambda: run([self.roots, self.core, "gcroot", "2", self.target], "gcroot_"),
            lambda: run(
                [self.bench, self.core, "export", "2", self.path("exported.gcdump")], "export_"
            ),
            lambda: timed(self.collect("again.nettrace"), "trace"),
            lambda: run(save, "save_"),
            lambda: timed(self.collect("collected.gcdump"), "collect"),
            lambda: timed(self.collect("exact.gcdump", "--exact"), "exactly"),
        ]
        for job in reversed(jobs) if number % 2 else jobs:
            found |= job()
        return found

    def read(self, number: int) -> dict[str, float]:
        """Read them."""
        found: dict[str, float] = {}
        jobs = [([self.bench, self.path("saved.nettrace"), "read", "2"], "nettrace_")]
        for name in FILES:
            path = self.path(f"{name}.gcdump")
            found[f"{name}_bytes"] = os.stat(path).st_size
            jobs += [
                ([self.bench, path, "plain"], f"{name}_plain_"),
                ([self.bench, path, "read", "1"], f"{name}_one_"),
                ([self.bench, path, "read", "2"], f"{name}_two_"),
            ]
        for command, prefix in reversed(jobs) if number % 2 else jobs:
            found |= run(command, prefix)
        return found


def set_budgets(found: dict[str, float]) -> None:
    """The memory that a graph, and one with the ids of a file, may take."""
    for name in ["nettrace", *(f"{name}_two" for name in FILES)]:
        objects, references = found[f"{name}_objects"], found[f"{name}_references"]
        found[f"{name}_budget"] = 32 * objects + 8 * references + 16 * MIB
    objects, references = found["exported_two_objects"], found["exported_two_references"]
    found["export_budget"] = 16 * objects + 8 * references + 16 * MIB


def memory(table: Table, title: str, name: str, budget: str) -> None:
    """A peak, and the share of its budget."""
    table.memory(f"{title}: peak of private memory", name)
    table.ratio("... / budget", name, budget, "<= 1")


def rows(figures: Figures) -> list[tuple[str, str, str]]:
    """The thing that is measured, its median, and the goal."""
    table = Table(figures)
    for name, title in FILES.items():
        plain = f"{name}_plain_seconds"
        table.memory(f"{title}: file", f"{name}_bytes")
        table.count("... references", f"{name}_two_references")
        table.seconds("... plain loop over nodes and references", plain)
        table.seconds("... read, 1 worker", f"{name}_one_seconds")
        table.ratio("... / plain loop", f"{name}_one_seconds", plain)
        table.seconds("... read, 2 workers", f"{name}_two_seconds")
        table.ratio("... / plain loop", f"{name}_two_seconds", plain, "<= 3")
        memory(table, "... read", f"{name}_two_private", f"{name}_two_budget")
    table.memory(".nettrace: file", "trace_bytes")
    table.seconds("... read, 2 workers", "nettrace_seconds")
    memory(table, "... read", "nettrace_private", "nettrace_budget")
    table.seconds("open core + `gcroot`, 2 workers", "gcroot_seconds")
    table.seconds("open core + `export` to .gcdump, 2 workers", "export_seconds")
    table.ratio("... / open + `gcroot`", "export_seconds", "gcroot_seconds", "< 2")
    memory(table, "... export", "export_private", "export_budget")
    table.seconds("a client that saves the stream of the process", "save_seconds")
    for name, title, goal in [
        ("trace", "`collect` to .nettrace", "<= 1.3"),
        ("collect", "`collect` to .gcdump", "<= 1.3"),
        ("exactly", "`collect --exact` to .gcdump", ""),
    ]:
        table.seconds(title, f"{name}_seconds")
        table.ratio("... / saving", f"{name}_seconds", "save_seconds", goal)
        memory(table, "... collect", f"{name}_private", "nettrace_budget")
    return table.rows


def measure(build: str, apps: str, core: pathlib.Path, runs: int) -> Figures:
    """All runs of one core.  Run 0 is not counted: it brings files into memory."""
    figures: Figures = {}
    program = Program(apps, re.sub(r"^gen\d+-(\d+)m-.*$", r"\1", core.stem))
    try:
        with tempfile.TemporaryDirectory(dir=build) as folder:
            bench = Bench(build, core, program.pid, pathlib.Path(folder))
            for number in range(runs + 1):
                print(f"run {number} of {runs}: {core.stem}", file=sys.stderr)
                found = bench.work(number) | bench.read(number)
                set_budgets(found)
                for key, value in found.items():
                    if number:
                        figures.setdefault(key, []).append(value)
    finally:
        program.end()
    return figures


def main(arguments: list[str]) -> int:
    """Measure all cores in turn; print one column for each."""
    build, apps, cores, runs = *arguments[:3], int(arguments[3])
    measured = [
        measure(build, apps, pathlib.Path(cores) / f"{name}.core", runs) for name in arguments[4:]
    ]
    columns = [rows(figures) for figures in measured]
    heads = [f"{figures['exported_two_objects'][0]:,.0f} objects" for figures in measured]
    print(f"Median of {runs} runs:\n")
    print("| | " + " | ".join(heads) + " | goal |")
    print("| --- |" + " ---: |" * len(heads) + " ---: |")
    for cells in zip(*columns):
        print(f"| {cells[0][0]} | {' | '.join(c[1] for c in cells)} | {cells[-1][2]} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
