#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare threadpool and timerinfo with what the programs of corefiles/apps/hang said of their pool and timers.

    check_pool.py [--program HEAPDUMP] [CORE...]

Without CORE: the cores of the modes "starved" and "timers" in corefiles/build, or in $COREFILES.  Exit status 1 when
anything differs, 77 without cores.
"""
from __future__ import annotations

import pathlib
import struct
import sys
from typing import Iterator

from session import Json, ask, check_cores, truth_of


def single(value: float) -> bytes:
    """A number as the runtime keeps it."""
    return struct.pack("<f", value)


def changes(measured: Json, answer: Json) -> Iterator[str]:
    """Differences between the goal's changes; the program read them by reflection."""
    if answer["samples"] != measured["samples"]:
        yield f"measured {answer['samples']} times, the program says {measured['samples']}"
    last = measured["changes"][-1]["ticks"]
    want = [
        (last - c["ticks"], c["transition"], c["threads"], c["samples"], single(c["throughput"]))
        for c in measured["changes"]
    ]
    have = [
        (c["ms_before_last"], c["transition"], c["threads"], c["samples"], single(c["throughput"]))
        for c in answer["goal_changes"]
    ]
    if have != want:
        yield f"the goal changed {have}, the program says {want}"


def pool(truth: Json, answer: Json) -> Iterator[str]:
    """Differences about the pool's numbers and queues."""
    said = truth["pool"]
    pairs = {
        "workers": "threads",
        "running": "threads",
        "min": "min",
        "max": "max",
        "blocked": "blocked",
        "queued": "queued",
    }
    for own, name in pairs.items():
        if answer[own] != said[name]:
            yield f"{own} is {answer[own]}, the program says {name} {said[name]}"
    have = sorted(item["count"] for item in answer["work_items"])
    if have != sorted((said["callbacks"], said["tasks"])) or not answer["complete"]:
        yield f"work items {have}, the program says {said['callbacks']} and {said['tasks']}"
    yield from changes(said["measured"], answer)


def timers(truth: Json, answer: Json) -> Iterator[str]:
    """Differences between the timers that are set: due, period, and the type or method that they call."""
    have = [(t["due"], t["period"], t["method"]) for t in answer["timers"]]
    merged = [
        (t["due"], t["period"], t["method"]) for t in answer["merged"] for _ in range(t["count"])
    ]
    for said in truth["timers"]:
        found = [t for t in have if t[:2] == (said["due"], said["period"])]
        if [t[2].startswith(said["method"]) for t in found] != [True] * said.get("count", 1):
            yield f"{said} is {found}"
    wanted = sum(said.get("count", 1) for said in truth["timers"])
    if len(have) != wanted or sorted(merged, key=str) != sorted(have, key=str):
        yield f"{len(have)} timers, counted {merged}, the program says {wanted}"


def compare(program: str, core: pathlib.Path) -> tuple[str, list[str]]:
    """Which of them a core has, and what differs."""
    truth = truth_of(core)
    answers = ask(program, core, ["threadpool -wi -ti", "timerinfo"])
    if "pool" in truth:
        return "pool", list(pool(truth, answers[0]))
    return "timers", list(timers(truth, answers[1]))


if __name__ == "__main__":
    sys.exit(check_cores(__doc__ or "", ["hang*-starved-*.core", "hang*-timers-*.core"], compare))
