#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure the cost of the profiler while nothing happens, and of its snapshots next to those of collect.

    bench_profiler.py [RUNS [MILLIONS...]]

First a program that allocates, with and without the profiler: they take turns, and the processor time of the best of
RUNS (7) counts. Then a program with so many (1 and 10) million objects in one list, of which a .gcdump is made in each
way: seconds until the file is there, and bytes that the process has more meanwhile, those of collect included; the
medians of RUNS.
"""
from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Iterator

from bench_sql import INTERVAL, private_memory

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", ROOT / "build"))
PROGRAM = ROOT / "corefiles" / "build" / "apps" / "troubled-net10.0" / "troubled.dll"
MILLIONS = 200
PROFILER = {
    "CORECLR_ENABLE_PROFILING": "1",
    "CORECLR_PROFILER": "{8F1D9A52-6C3E-4B7A-9D04-5E2B7C61A8F3}",
    "CORECLR_PROFILER_PATH": str(BUILD / "libheapdump_profiler.so"),
    "HEAPDUMP_OUT": "/tmp/%p.gcdump",
}
KINDS: dict[str, dict[str, str]] = {
    "without": {},
    "signal,rss>99%": {**PROFILER, "HEAPDUMP_WHEN": "signal,rss>99%"},
    "heap>900G": {**PROFILER, "HEAPDUMP_WHEN": "heap>900G"},
}

WAYS = ("socket", "events", "walk")
SIGNAL = signal.SIGRTMIN + 6
LONGEST = 300


def processor_time(pid: int) -> float:
    """Seconds of all threads so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(variables: dict[str, str], folder: str) -> float:
    """Allocate, after a first time in which the code is compiled."""
    with subprocess.Popen(
        ["dotnet", str(PROGRAM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": folder, "TMPDIR": folder, **variables},
    ) as process:
        assert process.stdin and process.stdout
        process.stdout.readline()
        times = []
        for count in (MILLIONS, MILLIONS):
            times = [processor_time(process.pid)]
            process.stdin.write(f"allocate {count}\n")
            process.stdin.flush()
            process.stdout.readline()
            times.append(processor_time(process.pid))
        process.communicate("end\n")
    return times[1] - times[0]


def grown(variables: dict[str, str], folder: str, millions: int) -> subprocess.Popen[str]:
    """A program that has so many million objects of 32 bytes."""
    process = subprocess.Popen(  # pylint: disable=consider-using-with
        ["dotnet", str(PROGRAM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": folder, "TMPDIR": folder, **variables},
    )
    assert process.stdin and process.stdout
    process.stdin.write(f"grow {millions * 1_000_000 // 32768 + 1}\n")
    process.stdin.flush()
    for line in process.stdout:
        if line == "grow\n":
            return process
    sys.exit("the program has ended")


def watch(target: int, path: Path, collecting: subprocess.Popen[bytes] | None) -> tuple[float, int]:
    """Seconds until the file is there, and the most bytes that the process and collect have more than before."""
    before, most, began = private_memory(target), 0, time.monotonic()
    while not path.exists() if collecting is None else collecting.poll() is None:
        if time.monotonic() - began > LONGEST:
            sys.exit(f"there is no {path.name} after {LONGEST} seconds")
        more = private_memory(target) - before
        most = max(most, more + (private_memory(collecting.pid) if collecting else 0))
        time.sleep(INTERVAL)
    return time.monotonic() - began, most


def snapshots(
    millions: int, runs: int, folder: str
) -> Iterator[tuple[str, list[tuple[float, int]]]]:
    """Each way to make one, and what it took each time."""
    out = Path(folder, "signal.gcdump")
    for way in ("collect", *WAYS):
        variables = {**PROFILER, "HEAPDUMP_WHEN": "signal", "HEAPDUMP_WAY": way}
        variables["HEAPDUMP_OUT"] = str(Path(folder, "%r.gcdump"))
        taken = []
        with grown({} if way == "collect" else variables, folder, millions) as process:
            for _ in range(runs):
                collecting = None
                if way == "collect":
                    words = [str(BUILD / "heapdump"), "collect", str(process.pid), "-o", str(out)]
                    collecting = subprocess.Popen(  # pylint: disable=consider-using-with
                        words,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                        env={**os.environ, "TMPDIR": folder},
                    )
                else:
                    os.kill(process.pid, SIGNAL)
                taken.append(watch(process.pid, out, collecting))
                out.unlink()
            process.communicate("end\n")
        yield way, taken


def main() -> int:
    """Print the best of each, then the table of snapshots."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    sizes = [int(word) for word in sys.argv[2:]] or [1, 10]
    subprocess.run(
        [str(ROOT / "scripts" / "make_corefiles.sh"), "--build", "troubled", "net10.0"], check=True
    )
    times: dict[str, list[float]] = {kind: [] for kind in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(runs):
            for kind, variables in KINDS.items():
                times[kind].append(measure(variables, folder))
    for kind, values in times.items():
        spread = f"{min(values):.2f} to {max(values):.2f} s"
        print(f"{MILLIONS} million objects, {kind}: best {min(values):.2f} s ({spread})")
    print("\n| million objects | way | time | next to collect | memory |")
    print("| ---: | --- | ---: | ---: | ---: |")
    for millions in sizes:
        collect = 0.0
        with tempfile.TemporaryDirectory() as folder:
            for way, taken in snapshots(millions, runs, folder):
                wall = statistics.median(one for one, _ in taken)
                collect = collect or wall
                memory = statistics.median(one for _, one in taken) / 2**20
                print(
                    f"| {millions} | {way} | {wall:.2f} s | {wall / collect:.2f} | {memory:.0f} MiB |"
                )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
