#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cores of a program that allocates and collects at full speed: verifyheap must not call it damage.

The cores are taken at random moments: at least MIN of them, and on until GC_CAUGHT were taken while
a GC was moving objects, or MAX were. A core with a wrong answer is kept, and its path printed.
"""
from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from core_image import CORES, SOURCE, heapdump, turns
from gc_programs import createdump

MIN, GC_CAUGHT, MAX = 20 if turns.ALL else 6, 2, 40
NO_SDK = 77


def check(core: Path) -> tuple[str, bool]:
    """(what is wrong, or nothing; was a GC moving objects)."""
    run = heapdump(str(core), "verifyheap")
    if run.status not in (0, 1):
        return f"verifyheap ended with {run.status}: {run.err.strip()}", False
    answer = run.json()
    bad = [f for f in answer["findings"] if f["verdict"] == "damage"]
    moving = bool(answer["gc_in_progress"])
    if run.status or bad:
        places = [(f["address"], f["kind"], f["detail"]) for f in bad[:4]]
        return f"status {run.status}, {len(bad)} findings of damage: {places}", moving
    for words in (["dumpheap", "-stat"], ["eeheap", "-gc"]):
        other = heapdump(str(core), *words)
        if other.status not in (0, 1, 2, 3):
            return f"{' '.join(words)} ended with {other.status}", moving
    return "", moving


class Churn:
    """The program, built by make_corefiles.sh, and cores of it while it runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        program = CORES / "apps" / "churn-net10.0" / "churn.dll"
        self.createdump = createdump(program.parent)
        # Not through a shell: the core must be of this process.
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            ["dotnet", str(program)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "DOTNET_DbgEnableMiniDump": "0"},
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.strip() == b"READY":
                return
        raise OSError("the program did not get ready")

    def take(self, number: int) -> Path:
        """A core of this moment."""
        core = self.folder / f"churn-{number}.core"
        subprocess.run(
            [self.createdump, "--withheap", "-f", str(core), str(self.process.pid)],
            check=True,
            capture_output=True,
        )
        return core

    def stop(self) -> None:
        """End the program."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def run_all(options: argparse.Namespace, churn: Churn) -> int:
    """Take and check cores; return how many had a wrong answer."""
    failures = caught = taken = 0
    end = time.monotonic() + options.seconds
    while taken < options.min or (
        caught < options.caught and taken < options.max and time.monotonic() < end
    ):
        taken += 1
        time.sleep(0.013 * (taken % 7))
        core = churn.take(taken)
        text, moving = check(core)
        caught += moving
        if text:
            failures += 1
            kept = Path(tempfile.gettempdir()) / f"heapdump-churn-{os.getpid()}-{taken}.core"
            shutil.move(core, kept)
            print(f"churn: {text}; the core is kept: {kept}")
        else:
            core.unlink()
    print(
        f"churn: {taken} cores taken, a GC was moving objects in {caught}, {failures} wrong answers"
    )
    return failures


def main() -> int:
    """Take cores of one process, so that each is of another state of the same heap."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--min", type=int, default=MIN)
    parser.add_argument("--max", type=int, default=MAX)
    parser.add_argument("--caught", type=int, default=GC_CAUGHT)
    parser.add_argument("--seconds", type=int, default=90, help="take no more behind --min")
    options = parser.parse_args()
    failures = 0
    # Those that make_corefiles.sh has taken, if any; this one also builds the program.
    made = subprocess.run(
        [SOURCE / "scripts" / "make_corefiles.sh", "churn10-1"], capture_output=True, check=False
    )
    if made.returncode == NO_SDK:
        print("churn: skipped, there is no .NET SDK")
        return 0
    if made.returncode:
        print(made.stderr.decode())
        return 1
    for core in sorted(CORES.glob("churn10-*.core")):
        text, _ = check(core)
        if text:
            failures += 1
            print(f"churn: {core}: {text}")
    with tempfile.TemporaryDirectory() as folder:
        churn = Churn(Path(folder))
        try:
            failures += run_all(options, churn)
        finally:
            churn.stop()
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
