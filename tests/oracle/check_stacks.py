#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check that parallelstacks, ip2md and dumpstackobjects agree with clrstack and dumpasync, and with what programs said.

    check_stacks.py [--program HEAPDUMP] [CORE...]

Without CORE: the committed one, and all hang*.core and crash*.core of corefiles/build, or of $COREFILES.  Every thread
with managed frames must be once in the tree, and its way there must be the managed frames that clrstack -full shows;
each count must be the sum of those below; every chain of dumpasync must be there as often.  The frames of the thread
that crashed, and the threads that a program named, are as the program said.  ip2md of a
frame's address must name the frame's method and line.  The objects of dumpstackobjects must hold
every object that clrstack -roots finds in slots and registers.  Exit status 1 when anything differs, 77 without cores.
"""
from __future__ import annotations

import collections
import pathlib
import sys
from typing import Iterator

from session import Json, ask, check_cores, truth_of

Frame = tuple[str | None, bool, bool]


def way_of(nodes: dict[int, Json], node: Json) -> list[Json]:
    """A node and all that are further out, the innermost first."""
    way = [node]
    while way[-1]["parent"] is not None:
        way.append(nodes[way[-1]["parent"]])
    return way


def expand(way: list[Json], most: bool) -> list[Frame]:
    """The frames of a way, with those that are folded."""
    frames: list[Frame] = []
    for node in way:
        if node["kind"] == "folded":
            rounds = node["folded_most" if most else "folded"] // len(node["methods"])
            frames += [(method, False, False) for method in node["methods"]] * rounds
        else:
            frames.append((node["method"], node["funclet"], node["unwound"]))
    return frames


def frames_of(thread: Json) -> list[Frame]:
    """The managed frames that clrstack shows."""
    return [
        (frame["method"], frame["funclet"], frame["unwound"])
        for frame in thread["frames"]
        if frame["kind"] == "managed"
    ]


def counts(nodes: dict[int, Json], ends: collections.Counter[int]) -> Iterator[str]:
    """Is each count the sum of those of the nodes below, and of the stacks that end there?"""
    sums = collections.Counter(ends)
    for node in nodes.values():
        if node["parent"] is not None:
            sums[node["parent"]] += node["count"]
    for number, node in nodes.items():
        if sums[number] != node["count"]:
            yield f"node {number} has the count {node['count']}, below are {sums[number]}"


def threads(answer: Json, stacks: Json, truth: Json) -> Iterator[str]:
    """Differences between threads."""
    nodes = {node["id"]: node for node in answer["frames"] if node["kind"] != "async"}
    want = {thread["id"]: frames_of(thread) for thread in stacks["threads"]}
    have: dict[int, list[Json]] = {}
    ends: collections.Counter[int] = collections.Counter()
    for node in nodes.values():
        ends[node["id"]] += len(node["threads"])
        for thread in node["threads"]:
            if thread["id"] in have:
                yield f"thread {thread['id']} is there twice"
            have[thread["id"]] = way_of(nodes, node)
    yield from counts(nodes, ends)
    for number, frames in want.items():
        if not frames and number in have:
            yield f"thread {number} has no managed frames"
        elif frames and number not in have:
            yield f"thread {number} is missing"
        elif frames and frames not in (expand(have[number], True), expand(have[number], False)):
            yield f"thread {number}: the frames are not those of clrstack"
    total = answer["total"]
    if total["threads"] != len(have) or total["threads"] != sum(map(bool, want.values())):
        yield f"total: {total['threads']} threads, {len(have)} are there"
    if total["roots"] != sum(node["parent"] is None for node in nodes.values()):
        yield f"total: {total['roots']} roots"
    for said in truth.get("threads") or []:
        if said["id"] not in have:
            yield f"{said['name']}: its thread {said['id']} is missing"
    if "frames" in truth:
        crashed = [
            [str(frame[0]).split("(")[0] for frame in frames_of(thread)]
            for thread in stacks["threads"]
            if thread["os_id"] == truth["os_id"] and thread["id"] in have
        ]
        lost = [name for name in truth["frames"] if crashed and name not in crashed[0]]
        if crashed and lost and crashed[0]:
            yield f"the thread that crashed lacks {lost}"


def chains(answer: Json, each: Json) -> Iterator[str]:
    """Differences between async methods."""
    nodes = {node["id"]: node for node in answer["frames"] if node["kind"] == "async"}
    ends = collections.Counter(
        (tuple((way["method"], way["state"]) for way in way_of(nodes, node)), node["waits_for"])
        for node in nodes.values()
        if "waits_for" in node
        for _ in range(node["count"])
    )
    want = collections.Counter(
        (
            tuple((row["method"], row["state"]) for row in chain["methods"]),
            chain["waits_for"],
        )
        for chain in each["chains"]
    )
    for chain, count in (want - ends).items():
        yield f"{count} chains are missing: {chain}"
    for chain, count in (ends - want).items():
        yield f"{count} chains too many: {chain}"
    if answer["total"]["async_chains"] != len(each["chains"]):
        yield f"total: {answer['total']['async_chains']} chains"


def addresses(program: str, core: pathlib.Path, stacks: Json) -> Iterator[str]:
    """Frames about whose addresses ip2md says something else."""
    frames = {
        (frame["ip"], frame["active"]): frame
        for thread in stacks["threads"]
        for frame in thread["frames"]
        if frame["kind"] == "managed" and frame.get("line")
    }
    answers = ask(program, core, [f"ip2md {ip}" for ip, _ in frames])
    for ((ip, is_active), frame), answer in zip(frames.items(), answers):
        prefix = "" if is_active or answer.get("call_line") is None else "call_"
        said = (answer.get("name"), answer.get(f"{prefix}source_file"), answer.get(f"{prefix}line"))
        if said != (frame["method"], frame["file"], frame["line"]):
            yield f"ip2md {ip}: {said}, clrstack says {frame['method']} {frame['line']}"


def compare(program: str, core: pathlib.Path) -> tuple[str, list[str]]:
    """How many facts of a core were compared, and what differs."""
    has_heap = "-mini" not in core.name and "-triage" not in core.name
    lines = ["parallelstacks", "clrstack -all -full", "dumpasync -all"]
    answers = ask(program, core, lines if has_heap else lines[:2])
    wrong = list(threads(answers[0], answers[1], truth_of(core)))
    wrong += addresses(program, core, answers[1])
    count = len(answers[1]["threads"]) + len(answers[0]["frames"])
    if has_heap:
        wrong += chains(answers[0], answers[2])
        count += len(answers[2]["chains"])
    return f"{count} facts", wrong


if __name__ == "__main__":
    sys.exit(check_cores(__doc__ or "", ["hang*.core", "crash*.core"], compare, "hang.core.zst"))
