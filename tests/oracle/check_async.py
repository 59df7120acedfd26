#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare dumpasync and dumptasks with what the program corefiles/apps/hang said of its chains and tasks.

    check_async.py [--program HEAPDUMP] [CORE...]

Without CORE: all hang*-async-*.core and hang*-tasks-*.core of corefiles/build, or of $COREFILES.  Each chain that the
program named must be there, with its methods from the innermost to the root, with what it waits for, and with that
object; and there must be no others.  Each task must have its status, its options and its exception.  Exit status 1
when anything differs, 77 without cores.
"""
from __future__ import annotations

import pathlib
import re
import sys
from typing import Iterator

from session import Json, ask, check_cores, truth_of

# The program knows the tasks that it gave to these, and not the task that they made of them.
NO_OBJECT = ("WhenAll", "WhenAny")
# The statuses of a task that has ended.
ENDED = ("RanToCompletion", "Canceled", "Faulted")


def methods_of(chain: Json) -> list[str]:
    """The program's own methods, without type arguments: neither these nor the framework's are in what it said."""
    names = [re.sub("<.*>", "", row["method"]) or row["method"] for row in chain["methods"]]
    return [name for name in names if not name.startswith("System.")]


def differences(truth: Json, answer: Json) -> Iterator[str]:
    """Differences between the chains; they are known by their roots, or else by what they wait for."""
    chains = answer["chains"]
    roots = {chain["root"]: chain for chain in chains}
    objects = {chain["object"]: chain for chain in chains if chain["awaited_by"] == "nobody"}
    said = 0
    for kind in truth["chains"]:
        said += kind["count"]
        for root, target in zip(kind["roots"], kind["objects"]):
            found = roots.get(root) if root else objects.get(target)
            if not found:
                yield f"{kind['name']}: no chain with the root {root}"
                continue
            have = (found["waits_for"], methods_of(found))
            want = (kind["waits_for"], kind["methods"])
            if have != want:
                yield f"{kind['name']}: {have}, the program says {want}"
            if target and kind["waits_for"] not in NO_OBJECT and found["object"] != target:
                yield f"{kind['name']}: waits for {found['object']}, the program says {target}"
    if len(chains) != said:
        yield f"{len(chains)} chains, the program made {said}"


def merged(answer: Json, each: Json) -> Iterator[str]:
    """Do equal chains together have the same counts as each alone?"""
    if sum(chain["count"] for chain in answer["chains"]) != len(each["chains"]):
        yield "merged chains have another sum"


def tasks(truth: Json, answer: Json) -> Iterator[str]:
    """Differences between the tasks that the program named."""
    known = {task["address"]: task for task in answer["tasks"]}
    for said in truth["tasks"]:
        found = known.get(said["address"])
        if not found:
            yield f"no task at {said['address']}"
            continue
        options = ", ".join(found["options"]) or "None"
        have = (found["status"], options, found.get("exception"), found.get("exception_type"))
        want = (said["status"], said["options"], said["exception"], said["exception_type"])
        if have != want:
            yield f"task {said['address']}: {have}, the program says {want}"


def done(truth: Json, answer: Json, waiting: Json, all_methods: Json) -> Iterator[str]:
    """Async methods whose tasks have ended are listed when they are asked for, and only then."""
    kinds = ("AsyncStateMachineBox", "RuntimeAsyncTask<")
    boxes = {
        task["address"] for task in answer["tasks"] if any(kind in task["type"] for kind in kinds)
    }
    ended = [task["address"] for task in truth["tasks"] if task["status"] in ENDED]
    roots = {chain["root"] for chain in waiting["chains"]}
    with_ended = {chain["root"] for chain in all_methods["chains"]}
    # Nothing is left of a method that is runtime async but its task, which does not say its name.
    is_runtime_async = any("RuntimeAsyncTask" in task["type"] for task in answer["tasks"])
    if not boxes & set(ended) and not is_runtime_async:
        yield "no async method of the program has ended: nothing is compared"
    for address in ended:
        if address in roots:
            yield f"task {address} has ended, and dumpasync lists it as if it waited"
        if address in boxes and address not in with_ended:
            yield f"dumpasync -completed does not list task {address}, which has ended"


def loose(truth: Json, waiting: Json, every: Json) -> Iterator[str]:
    """With -tasks the tasks of the program that are not of async methods, and that none waits for."""
    listed = {task["address"]: task["status"] for task in waiting["tasks"]}
    with_ended = {task["address"]: task["status"] for task in every["tasks"]}
    methods = {row["address"] for chain in every["chains"] for row in chain["methods"]}
    for task in truth["tasks"]:
        address = task["address"]
        want = None if address in methods or task["status"] in ENDED else task["status"]
        if listed.get(address) != want:
            yield f"-tasks: {address} is {listed.get(address)}, not {want}"
        want = None if address in methods else task["status"]
        if with_ended.get(address) != want:
            yield f"-tasks -completed: {address} is {with_ended.get(address)}, not {want}"


def awaited(answer: Json) -> Iterator[str]:
    """A task that an async method waits for is not among those that none waits for."""
    listed = {task["address"] for task in answer["tasks"]}
    waited_for = {chain["object"] for chain in answer["chains"]}
    for address in sorted(listed & waited_for):
        yield f"-tasks has {address}, which a chain waits for"


def compare(program: str, core: pathlib.Path) -> tuple[str, list[str]]:
    """How many chains or tasks were compared, and what differs."""
    truth = truth_of(core)
    if "tasks" in truth:
        lines = ["dumptasks", "dumpasync -all -tasks", "dumpasync -all -tasks -completed"]
        answer, *lists = ask(program, core, lines)
        wrong = [*tasks(truth, answer), *done(truth, answer, *lists), *loose(truth, *lists)]
        return f"{len(truth['tasks'])} tasks", wrong
    each, together = ask(program, core, ["dumpasync -all -tasks", "dumpasync"])
    wrong = [*differences(truth, each), *merged(together, each), *awaited(each)]
    return f"{len(each['chains'])} chains", wrong


if __name__ == "__main__":
    sys.exit(check_cores(__doc__ or "", ["hang*-async-*.core", "hang*-tasks-*.core"], compare))
