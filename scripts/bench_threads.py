#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long heapdump holds a process with many threads, and how soon it lets it go: three tables.

    bench_threads.py BUILD RUNS

The program tests/bench/many_threads only waits. The first table has what "info" says, of RUNS looks each. For the second
a look at 8,000 threads is ended at RUNS moments, by SIGINT, SIGTERM and SIGKILL each; the process is free when no thread of
it is traced any more. The moments are spread evenly over the time of a whole look. The third one is the same for "heapdump
open" in GDB and LLDB; there the moments are spread over the time for which the process is held. After that a process
whose threads begin and end all the time is looked at RUNS times.
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
# Seconds for which a process of so many threads is held at least.
HELD = 0.2
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


def debuggers(build: Path, pid: int) -> dict[str, list[str]]:
    """Command lines that open the process in a debugger which is not attached to it."""
    plugin = Path(__file__).parent.parent / "gdb-plugin" / "heapdump.py"
    gdb = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]
    lldb = ["lldb-14", "--no-lldbinit", "--batch"]
    return {
        "GDB": [*gdb, "-iex", f"source {plugin}", "-ex", f"heapdump open {pid}"],
        "LLDB": [
            *lldb,
            *("-o", f"plugin load {build.resolve()}/libheapdump_lldb.so"),
            *("-o", f"heapdump open {pid}"),
        ],
    }


def is_traced(pid: int) -> bool:
    """Is its first thread?"""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return "\nTracerPid:\t0\n" not in status


def end_held(command: list[str], pid: int, after: float, number: int) -> tuple[float, int]:
    """Send a signal so long after the process was first traced; how soon it was free, and the status."""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HEAPDUMP_BUILD": str(Path(sys.argv[1]).resolve())},
    ) as look:
        while not is_traced(pid):
            if look.poll() is not None:
                sys.exit(f"bench_threads: {command[0]} did not hold the process")
            time.sleep(0.001)
        time.sleep(after)
        sent = time.monotonic()
        look.send_signal(number)
        while not is_free(pid):
            time.sleep(0.001)
        free = time.monotonic() - sent
        if look.poll() is None:
            look.kill()
        return free, look.wait()


def states(pid: int) -> set[str]:
    """The states of all threads."""
    found = set()
    for task in os.listdir(f"/proc/{pid}/task"):
        status = Path(f"/proc/{pid}/task/{task}/status").read_text(encoding="utf-8")
        found.add(status.split("\nState:\t")[1][0])
        if "\nTracerPid:\t0\n" not in status:
            found.add("traced")
    return found


def let_go_by_debuggers(build: Path, program: Path, runs: int) -> bool:
    """The third table; whether each was free in time."""
    process = start(program, ENDED)
    good = True
    print("\n| debugger | signal | looks | exit statuses | free after, median | longest |")
    print("| --- | --- | ---: | --- | ---: | ---: |")
    for name, command in debuggers(build, process.pid).items():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            seen = [
                end_held(command, process.pid, HELD * (i + 0.5) / runs, number) for i in range(runs)
            ]
            free, statuses = [one[0] for one in seen], {one[1] for one in seen}
            good = good and max(free) <= FREE_MAX
            print(
                f"| {name} | {number.name} | {runs} | {', '.join(map(str, sorted(statuses)))} "
                f"| {statistics.median(free) * 1e3:.0f} ms | {max(free) * 1e3:.0f} ms |",
                flush=True,
            )
    found = states(process.pid)
    print(f"\nStates of all threads after that: {', '.join(sorted(found))}")
    end(process)
    return good and found <= {"S", "R"}


def come_and_go(heapdump: Path, program: Path, runs: int) -> None:
    """A process whose threads begin and end."""
    process = subprocess.Popen([program, "1000", "churn"], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    process.stdout.readline()
    command = [str(heapdump), str(process.pid), "info", "--json"]
    held, whole, statuses = [], [], set()
    for _ in range(runs):
        began = time.monotonic()
        answer = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        whole.append(time.monotonic() - began)
        statuses.add(answer.returncode)
        if answer.stdout:
            held.append(json.loads(answer.stdout)["stopped_ms"])
    end(process)
    print(
        f"\nThreads that begin and end all the time, 1,000 others: {runs} looks, exit statuses "
        f"{', '.join(map(str, sorted(statuses)))}, held for {statistics.median(held):.0f} ms, "
        f"longest {max(held):.0f} ms; all of info {max(whole) * 1e3:.0f} ms at most"
    )


def main() -> None:
    """All tables."""
    build, runs = Path(sys.argv[1]), int(sys.argv[2])
    heapdump, program = build / "heapdump", build / "tests" / "bench" / "many_threads"
    hold(heapdump, program, max(3, runs // 5))
    good = let_go(heapdump, program, runs)
    good = let_go_by_debuggers(build, program, runs) and good
    come_and_go(heapdump, program, runs)
    if not good:
        sys.exit(f"bench_threads: a process was not free within {FREE_MAX} s")


if __name__ == "__main__":
    main()
