#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare what heapdump says that threads wait for with what the programs of corefiles/apps/hang said.

    check_hangs.py [--program HEAPDUMP] [CORE...]

Without CORE: the committed one, and all hang*.core of corefiles/build, or of $COREFILES.  Every thread that a program
names must wait for what it says, for that object, and for that owner; the deadlocks must be the same sets of threads.
A difference that is known and right has a name in RULES.  Exit status 1 when anything differs, 77 without cores.
"""
from __future__ import annotations

import argparse
import os
import pathlib
import sys
from typing import Iterator

from session import Json, ask, truth_of

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Optimised code does not keep the object until the end of the wait: it is not known, and said so.
STARVED = ("starved", "orders")
HARMLESS = ("healthy1", "healthy2", "healthy3", "async", "tasks", "timers")
RULES = {"not-kept": ("CountdownEvent",)}


def threads(truth: Json, answer: Json) -> Iterator[str]:
    """What is different about the threads; they are known by their ids in the system."""
    known = {thread["os_id"]: thread for thread in answer["threads"]}
    ids = {said["name"]: said["os_id"] for said in truth["threads"]}
    for said in truth["threads"]:
        found = known.get(said["os_id"])
        if not found:
            yield f"{said['name']}: not listed"
            continue
        have = (found["id"], found["waits_for"], (found["owner"] or {}).get("os_id"))
        want = (said["id"], said["waits_for"], ids.get(said["owner"]))
        if have != want:
            yield f"{said['name']}: {have}, the program says {want}"
        is_kept = said["waits_for"] not in RULES["not-kept"] or found["object"]
        if said["object"] and is_kept and found["object"] != said["object"]:
            yield f"{said['name']}: waits for {found['object']}, the program says {said['object']}"


def deadlocks(truth: Json, answer: Json) -> Iterator[str]:
    """What is different about threads that wait for each other."""
    ids = {said["name"]: said["os_id"] for said in truth["threads"]}
    for probable, said in ((False, "deadlocks"), (True, "possible")):
        have = sorted(
            sorted(thread["os_id"] for thread in found["threads"])
            for found in answer["deadlocks"]
            if found["probable"] == probable
        )
        want = sorted(sorted(ids[name] for name in names) for names in truth.get(said, []))
        if have != want:
            yield f"{said} {have}, the program says {want}"


def verdicts(truth: Json, answer: Json) -> Iterator[str]:
    """What hang says: as many deadlocks as there are, a starved pool where it is, nothing of the healthy ones."""
    have = [found["verdict"] for found in answer["verdicts"]]
    count = len(truth["deadlocks"]) + len(truth.get("possible", []))
    if have.count("deadlock") != count:
        yield f"hang finds {have}, there are {count} deadlocks"
    if ("pool-starved" in have) != (truth["mode"] in STARVED):
        yield f"hang finds {have} in mode {truth['mode']}"
    if truth["mode"] in HARMLESS and have:
        yield f"hang finds {have} where nothing hangs"


def compare(program: str, core: pathlib.Path) -> tuple[int, list[str]]:
    """How many facts of a core were compared, and what differs."""
    truth = truth_of(core)
    answer, hang = ask(program, core, ["waits -all", "hang"])
    wrong = [*threads(truth, answer), *deadlocks(truth, answer), *verdicts(truth, hang)]
    return len(truth["threads"]) + 2, wrong


def main() -> int:
    build = os.environ.get("HEAPDUMP_BUILD", str(SOURCE / "build"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--program", default=build + "/heapdump")
    parser.add_argument("cores", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    folder = pathlib.Path(os.environ.get("COREFILES", str(SOURCE / "corefiles/build")))
    made = sorted(folder.glob("hang*.core"))
    if not made and not options.cores:
        print("check_hangs: there are no cores", file=sys.stderr)
        return 77
    status = 0
    for core in options.cores or [SOURCE / "corefiles/hang.core.zst", *made]:
        count, wrong = compare(options.program, core)
        print(f"{core.name}: {count - len(wrong)} facts equal, {len(wrong)} DIFFERENT")
        for line in wrong:
            print(f"{core.name}: {line}")
        status |= bool(wrong)
    return status


if __name__ == "__main__":
    sys.exit(main())
