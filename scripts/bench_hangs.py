#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Time the commands for a process that hangs or grows on a core with many waits: a table.

    bench_hangs.py PROGRAM RUNS CORE...

Every command runs in a process of its own. Before that, the answers are compared with what the program said of itself
(CORE.truth.json: corefiles/apps/heapgen/Waits.cs). Exit status 1 when one differs.
"""
from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

from bench_sql import run

# The commands, and what they may take.
COMMANDS = {
    "dumpheap -stat": "",
    "dumpasync": "1 s",
    "hang": "1 s",
    "waits": "1 s",
    "parallelstacks": "1 s",
    "memory": "1 s",
    "report": "5 s, 600 MB",
}


def ask(program: str, path: str, command: str) -> Any:
    """The JSON answer."""
    # hang and waits exit with 1 when something hangs.
    argv = [program, path, *command.split(), "--json"]
    return json.loads(subprocess.run(argv, stdout=subprocess.PIPE, check=False).stdout)


def differences(program: str, path: str) -> Iterator[str]:
    """The differences from what the program said."""
    truth = json.loads(Path(path).with_suffix(".truth.json").read_text(encoding="utf-8"))["waits"]
    methods = sum(row["count"] for row in ask(program, path, "dumpasync -stats")["methods"])
    if methods != truth["methods"]:
        yield f"dumpasync has {methods} methods, the program {truth['methods']}"
    threads = ask(program, path, "waits -all")["threads"]
    for kind in ("Monitor.Enter", "Task", "ManualResetEventSlim", "Thread.Sleep"):
        # The first thread only keeps the program alive.
        count = sum(row["waits_for"] == kind and bool(row["name"]) for row in threads)
        if count != truth[kind]:
            yield f"{count} threads wait for {kind}, in the program {truth[kind]}"
    verdicts = [row["verdict"] for row in ask(program, path, "hang")["verdicts"]]
    if verdicts.count("deadlock") != 1:
        yield f"hang finds {verdicts}, and there is one deadlock"


def row(program: str, path: str, command: str, runs: int) -> str:
    """One line of the table."""
    argv = [program, "--no-sandbox", path, *command.split()]
    results = [run(argv) for _ in range(runs + 1)][1:]  # the first one warms up
    cells = [
        f"`{command}` of {Path(path).stem}",
        f"{statistics.median(one.wall for one in results):.3f} s",
        f"{statistics.median(one.cpu for one in results):.3f} s",
        f"{max(one.memory for one in results) / 2**20:.0f} MiB",
        COMMANDS[command],
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    """Check the answers, measure, and print the table."""
    if len(sys.argv) < 4 or not sys.argv[2].isdecimal():
        sys.exit(__doc__)
    program = sys.argv[1]
    wrong = [text for path in sys.argv[3:] for text in differences(program, path)]
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    print("| command | time | CPU | private memory | at most |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for path in sys.argv[3:]:
        for command in COMMANDS:
            print(row(program, path, command, int(sys.argv[2])), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
