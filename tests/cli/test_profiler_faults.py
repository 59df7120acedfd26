#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A profiler that fails does not harm the program: its output and exit status are those without it.

    test_profiler_faults.py [RUNS]

Each run lets one allocation of the profiler fail, or all from one on, in one of the ways to take a snapshot, while the
program works, has a thread that stays in a call for ever, or dies.
"""
from __future__ import annotations

import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
# pylint: disable=wrong-import-position
import turns  # noqa: E402
from profiling import CLASS, NEWEST, SIGNAL, TROUBLED  # noqa: E402
from profiling import build_program, start_program  # noqa: E402
from shell_program import BUILD, TIMEOUT  # noqa: E402

FAULTY = str(Path(BUILD) / "tests" / "libheapdump_profiler_faulty.so")
# The program does this after the signal; the second must not be part of its standard error.
SCRIPTS = {
    "works": ["grow 2", "signal", "collect", "end"],
    "stuck": ["stuck", "signal", "collect", "end"],
    "aborts": ["signal", "abort"],
    "fails": ["signal", "failfast"],
    "throws": ["signal", "throw"],
}
WAYS = ("socket", "events", "walk")


def run(folder: Path, lines: list[str], variables: dict[str, str]) -> tuple[int, str, str]:
    """Run the program; its status, output, and what it wrote to standard error without our lines."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "DOTNET_DbgEnableMiniDump": "0",
        **variables,
    }
    with start_program(
        TROUBLED,
        environment,
        cwd=folder,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
    ) as process:
        try:
            assert process.stdin and process.stdout
            head = process.stdout.readline()
            if variables:
                # The profiler takes no snapshot in the first tenth of a second.
                time.sleep(0.25)
            for line in lines[:-1]:
                if line == "wait":
                    time.sleep(2)
                    continue
                if line == "signal":
                    if variables:
                        os.kill(process.pid, SIGNAL)
                        time.sleep(random.choice((0.0, 0.05, 0.4)))
                    continue
                process.stdin.write(line + "\n")
                process.stdin.flush()
                head += process.stdout.readline()
            out, err = process.communicate(lines[-1] + "\n", timeout=TIMEOUT)
        finally:
            process.kill()
    # The runtime writes its lines in parts: ours may come in the middle of one.
    return process.returncode, head + out, re.sub(r"heapdump: .*\n", "", err)


def count_calls(folder: Path, way: str, when: str) -> int:
    """How many allocations a snapshot needs."""
    path = folder / "count"
    run(
        folder,
        ["grow 2", "signal", "wait", "end"],
        faulty(folder, way, when) | {"HEAPDUMP_FAIL_COUNT": str(path)},
    )
    return int(path.read_text(encoding="ascii"))


def faulty(folder: Path, way: str, when: str) -> dict[str, str]:
    """The variables of a run with the profiler."""
    return {
        "CORECLR_ENABLE_PROFILING": "1",
        "CORECLR_PROFILER": CLASS,
        "CORECLR_PROFILER_PATH": FAULTY,
        "HEAPDUMP_WHEN": when,
        "HEAPDUMP_OUT": f"{folder}/%r.gcdump",
        "HEAPDUMP_WAY": way,
    }


def main() -> int:
    """Compare RUNS runs with those without the profiler."""
    if not build_program("troubled", NEWEST):
        print("there is no .NET SDK, or the program does not build")
        return 77
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    random.seed(turns.seed())
    folder = Path(tempfile.mkdtemp(prefix="heapdump-profiler-"))
    bad = snapshots = 0
    try:
        expected = {name: run(folder, lines, {}) for name, lines in SCRIPTS.items()}
        assert expected["works"][0] == 7 and expected["aborts"][0] == -signal.SIGABRT
        whens = {"socket": "signal,oom", "events": "signal,rss>90%", "walk": "signal,exit"}
        calls = {way: count_calls(folder, way, whens[way]) for way in WAYS}
        print(f"seed {turns.seed()}; allocations: {calls}", flush=True)
        for number in range(runs):
            way = WAYS[number % len(WAYS)]
            name = random.choices(list(SCRIPTS), (4, 2, 1, 1, 1))[0]
            # The first ones and the last ones as often as those in between.
            at = min(calls[way], int(calls[way] ** random.random()) + random.randrange(20))
            variables = faulty(folder, way, whens[way]) | {"HEAPDUMP_FAIL_AT": str(at)}
            if random.random() < 0.5:
                variables["HEAPDUMP_FAIL_ALL"] = "1"
            got = run(folder, SCRIPTS[name], variables)
            for path in folder.glob("*.gcdump"):
                snapshots += 1
                path.unlink()
            if got != expected[name]:
                bad += 1
                print(
                    f"{number}: {name}, {way}, {variables}: {got} is not {expected[name]}",
                    flush=True,
                )
    finally:
        shutil.rmtree(folder, True)
    print(f"{runs} runs, {bad} of them harmed, {snapshots} files all the same")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
