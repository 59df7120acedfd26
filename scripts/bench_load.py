#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long heapdump stops ordinary processes on a busy machine: a table.

    bench_load.py BUILD APPS LOOKS LOAD

Five programs of corefiles/apps are looked at LOOKS times each with "info" while LOAD processes do nothing but count, for
three minutes at most.  Each program is looked at again after createdump has read all its memory, which leaves the
page of zeros in every page of its stacks.  Fails if one was stopped for longer than info says that it may be.
"""
from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Iterator

PROGRAMS = ["facts", "web", "hang orders", "leak", "awaits"]
BURST = 170


def runtime_folder() -> Path:
    """Where createdump is: next to the newest runtime of .NET 10."""
    listed = subprocess.run(
        ["dotnet", "--list-runtimes"], stdout=subprocess.PIPE, text=True, check=True
    )
    lines = [line.split() for line in listed.stdout.splitlines()]
    found = [line for line in lines if line[0] == "Microsoft.NETCore.App" and line[1][:3] == "10."]
    return Path(found[-1][2].strip("[]")) / found[-1][1]


@contextlib.contextmanager
def running(apps: Path, program: str) -> Iterator[int]:
    """A program of corefiles/apps that waits."""
    name, *words = program.split()
    command = ["dotnet", str(apps / f"{name}-net10.0" / f"{name}.dll"), *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout
        try:
            for line in process.stdout:
                if line == "READY\n":
                    break
            time.sleep(1)
            yield process.pid
        finally:
            process.kill()


@contextlib.contextmanager
def burden(load: int) -> Iterator[None]:
    """So many processes that only count."""
    count = "i=0; while :; do i=$((i+1)); done"
    command = ["timeout", str(BURST), "sh", "-c", count]
    ours = [subprocess.Popen(command) for _ in range(load)]
    try:
        time.sleep(1)
        yield
    finally:
        for one in ours:
            one.terminate()
            one.wait()


def read_all(pid: int) -> None:
    """By createdump."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(runtime_folder() / "createdump"), "--full", "-f", f"{folder}/core", str(pid)]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def look(heapdump: Path, pid: int) -> tuple[float, float, float]:
    """One look: how long it was stopped, how long it may be, and how long all took, in milliseconds."""
    began = time.monotonic()
    command = [str(heapdump), str(pid), "info", "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"bench_load: {' '.join(command)} ended with status {done.returncode}")
    info = json.loads(done.stdout)
    return info["stopped_ms"], info["stop_limit_ms"], (time.monotonic() - began) * 1e3


def main() -> int:
    if len(sys.argv) != 5:
        print(__doc__, file=sys.stderr)
        return 2
    heapdump, apps = Path(sys.argv[1]) / "heapdump", Path(sys.argv[2])
    looks, load = int(sys.argv[3]), int(sys.argv[4])
    print("| program | after createdump | stopped, best | median | longest | all of info, median |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    good = True
    for program in PROGRAMS:
        with running(apps, program) as pid:
            for is_read in (False, True):
                if is_read:
                    read_all(pid)
                with burden(load):
                    seen = [look(heapdump, pid) for _ in range(looks)]
                stopped, limits, whole = zip(*seen)
                good &= max(stopped) <= min(limits)
                print(
                    f"| {program} | {'yes' if is_read else 'no'} | {min(stopped):.0f} ms "
                    f"| {statistics.median(stopped):.0f} ms | {max(stopped):.0f} ms "
                    f"| {statistics.median(whole):.0f} ms |",
                    flush=True,
                )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
