#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long heapdump holds a process with many threads, and how soon it lets it go: two tables.

    bench_threads.py BUILD RUNS

The program tests/bench/many_threads only waits. The first table has what "info" says, of RUNS looks each. For the second
a look at 8,000 threads is ended at RUNS moments, by SIGINT, SIGTERM and SIGKILL each; the process is free when no thread of
it is traced any more. The moments are spread evenly over the time of a whole look.
"""
from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

SIZES = [1000, 2000, 4000, 8000, 20000]
ENDED = 8000
FREE_MAX = 0.2
# Threads that are asked whether they are traced: asking all would take longer than what is measured.
ASKED = 40


def start(program: Path, count: int) -> subprocess.Popen[str]:
    """The program with that many threads."""
    process = subprocess.Popen([program, str(count)], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    if process.stdout.readline() != "READY\n":
        sys.exit(f"bench_threads: this system does not allow {count} threads")
    time.sleep(0.5)
    return process


def end(process: subprocess.Popen[str]) -> None:
    """Kill it."""
    process.kill()
    process.communicate()


def is_free(pid: int) -> bool:
    """Is no thread traced?  Some are asked: the first, the last, and others between them."""
    tasks = os.listdir(f"/proc/{pid}/task")
    for task in [*tasks[:: max(1, len(tasks) // ASKED)], tasks[-1]]:
        status = Path(f"/proc/{pid}/task/{task}/status").read_text(encoding="utf-8")
        if "\nTracerPid:\t0\n" not in status:
            return False
    return True


def hold(heapdump: Path, program: Path, runs: int) -> None:
    """The first table."""
    print("| threads | held, best | median | longest | a thread |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for size in SIZES:
        process = start(program, size)
        held = []
        for _ in range(runs):
            command = [str(heapdump), str(process.pid), "info", "--json"]
            answer = subprocess.run(command, stdout=subprocess.PIPE, check=False)
            held.append(json.loads(answer.stdout)["stopped_ms"])
        end(process)
        middle = statistics.median(held)
        print(
            f"| {size:,} | {min(held):.0f} ms | {middle:.0f} ms | {max(held):.0f} ms "
            f"| {middle / size * 1e3:.0f} us |",
            flush=True,
        )


def let_go(heapdump: Path, program: Path, runs: int) -> bool:
    """The second table; whether each was free in time."""
    process = start(program, ENDED)
    command = [str(heapdump), str(process.pid), "info"]
    began = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    whole = time.monotonic() - began
    good = True
    print("\n| signal | looks | exit statuses | free after, median | longest |")
    print("| --- | ---: | --- | ---: | ---: |")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        free, statuses = [], set()
        for i in range(runs):
            with subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            ) as look:
                time.sleep(whole * (i + 0.5) / runs)
                sent = time.monotonic()
                look.send_signal(number)
                while not is_free(process.pid):
                    time.sleep(0.001)
                free.append(time.monotonic() - sent)
                statuses.add(look.wait())
        good = good and max(free) <= FREE_MAX
        print(
            f"| {number.name} | {runs} | {', '.join(map(str, sorted(statuses)))} "
            f"| {statistics.median(free) * 1e3:.0f} ms | {max(free) * 1e3:.0f} ms |",
            flush=True,
        )
    end(process)
    return good


def main() -> None:
    """Both tables."""
    build, runs = Path(sys.argv[1]), int(sys.argv[2])
    heapdump, program = build / "heapdump", build / "tests" / "bench" / "many_threads"
    hold(heapdump, program, max(3, runs // 5))
    if not let_go(heapdump, program, runs):
        sys.exit(f"bench_threads: a process was not free within {FREE_MAX} s")


if __name__ == "__main__":
    main()
