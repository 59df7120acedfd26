#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the stacks of crash dumps with what the programs said before they died.

    check_crash.py [--program HEAPDUMP] [--update-table] CORE...

corefiles/apps/crash makes objects (tags) to which only stacks, exceptions and state machines refer. Before
its end it lets the runtime's own GC decide which of them live, and writes that down, with the methods on its
stack. clrstack -roots must list those methods in that order, and no root that is not an object; no walk may be
partial; each living tag must have a root, and a dead one none. The handles of the runtime are called after what
they hold, and printexception shows the exception that the program died of; its frames that still stand on the
stack are at the same addresses there. ClrMD is no help here: its DAC dies.

What is right but differs has a name: "after-report": between report and dump the program went on, in the
second pass of its exception or in another thread; "call-begun": ReadyToRun code notes where it begins a call
into native code, and the exception has where that returns to. The rows go into roots.tsv. Exit status 1 when anything
differs.
"""
from __future__ import annotations

import argparse
import pathlib
import sys
from typing import Iterator

from check_roots import gcroot, strong_roots
from session import Json, ask, truth_of
from table import ROOTS, Report, Row, finish

# Tags that live in the report and are dead in the dump, by mode: the second exception comes when a finally
# runs, which unwinds the frames of the first; the lock that a thread waits for is released.
AFTER_REPORT = {
    "nested": {"Thrower.local", "Throw.local thrower"},
    "threads": {"Contending.local"},
}
Fact = tuple[str, int, list[str], dict[str, int]]  # name, how many, problems, explanations


def methods(thread: Json) -> list[str]:
    """The methods of all frames of a thread, innermost first, without their parameters."""
    frames = [frame for frame in thread["frames"] if frame["kind"] == "managed"]
    return [frame["method"].split("(")[0] for frame in frames]


def missing_frame(said: list[str], found: list[str]) -> str:
    """The first that is not where it belongs, or ""."""
    rest = iter(found)
    for method in said:
        if not any(method == other for other in rest):
            return method
    return ""


def roots_of(threads: list[Json]) -> Iterator[tuple[Json, Json]]:
    """All roots on stacks, with their frames."""
    for thread in threads:
        for frame in thread["frames"]:
            for root in frame.get("roots", []):
                yield frame, root
        for root in thread["roots"]:
            yield thread, root


def false_roots(threads: list[Json]) -> Iterator[str]:
    """Precise ones that are not objects."""
    for frame, root in roots_of(threads):
        flags = root["flags"]
        if "conservative" in flags or "interior" in flags or root["object"] == root["value"]:
            continue
        yield f"{root['value']} at {root['address']} in {frame.get('method')} is no object"


def read_tags(program: str, core: pathlib.Path) -> dict[str, list[str]]:
    """Addresses of all tags on the heap by name, dead ones too."""
    (rows,) = ask(program, core, ["dumpheap -type Crash.Tag"])
    tags = [row["address"] for row in rows["objects"] if row["type"] == "Crash.Tag"]
    objects = ask(program, core, [f"dumpobj {address}" for address in tags])
    names = [
        field["value"] for thing in objects for field in thing["fields"] if field["name"] == "name"
    ]
    texts = ask(program, core, [f"dumpobj {address}" for address in names])
    result: dict[str, list[str]] = {}
    for address, text in zip(tags, texts):
        result.setdefault(text["string"], []).append(address)
    return result


def check_tags(
    program: str, core: pathlib.Path, said: Json
) -> Iterator[tuple[str, int, list[tuple[str, str]]]]:
    """Tags that should live, tags that should not: name of the fact, how many, wrong ones."""
    tags = read_tags(program, core)
    names = sorted(tags)
    asked = [address for name in names for address in tags[name]]
    lines = ["dumpheap -live -short -type Crash.Tag"] + [gcroot(address) for address in asked]
    (live, *answers) = ask(program, core, lines)
    living = {row["address"] for row in live["objects"]}
    roots = dict(zip(asked, answers))

    def lives(name: str) -> bool:
        return any(roots[a]["reachable"] and strong_roots(roots[a]) for a in tags.get(name, []))

    wrong = []
    for name in said["alive"]:
        if name not in tags:
            wrong.append((name, "is not on the heap"))
        elif not lives(name):
            wrong.append((name, "is alive, but has no root"))
    yield "crash: living tags", len(said["alive"]), wrong
    wrong = [(name, "is dead, but has a root") for name in said["gone"] if lives(name)]
    yield "crash: dead tags", len(said["gone"]), wrong
    wrong = [
        (address, "differs between gcroot and dumpheap -live")
        for address in asked
        if roots[address]["reachable"] != (address in living)
    ]
    yield "crash: dumpheap -live", len(asked), wrong


def wrong_labels(program: str, core: pathlib.Path) -> tuple[int, list[str]]:
    """The names of the runtime's own handles: how many, wrong ones."""
    (roots, heap) = ask(
        program, core, ["roots -kind internal -limit 0", "dumpheap -short -type Exception"]
    )
    exceptions = {row["address"] for row in heap["objects"]}
    rows = [root for root in roots["roots"] if root["handle"]]
    wrong = []
    for root in rows:
        is_thrown = root["name"] in ("last thrown exception", "exception in flight")
        if is_thrown != (root["object"] in exceptions):
            wrong.append(f"{root['address']} -> {root['object']} is called {root['name']}")
    return len(rows), wrong


def wrong_exception(program: str, core: pathlib.Path, said: Json) -> Iterator[str]:
    """The parts that printexception lacks of the exception that the program died of."""
    (thrown,) = ask(program, core, ["printexception -nested"])
    rows = [row for row in thrown["exceptions"] if row["os_id"] == said["os_id"]]
    if not rows:
        yield f"thread {said['os_id']:x} has thrown none"
        return
    (row,) = rows
    (counts,) = ask(program, core, ["dumpexceptions"])
    if not row["stack"]:
        yield f"{row['address']} has no stack"
    texts = {found.get("remote_stack_trace") for found in counts["exceptions"]}
    for inner in row["nested"]:
        if (inner["remote_stack_trace"] or "")[:2048] not in texts | {""}:
            yield f"dumpexceptions does not have the stack of {inner['address']}"
        # Others may be made and never thrown.
        must = row["type"] == "System.TypeInitializationException"
        if must and not inner["stack"] and "   at " not in (inner["remote_stack_trace"] or ""):
            yield f"{inner['address']}, which it has inside, has no stack"
    equal = [
        found
        for found in counts["exceptions"]
        if found["mt"] == row["mt"]
        and (found["message"] or "")[:1000] == (row["message"] or "")[:1000]
        and [frame["method"] for frame in found["stack"]]
        == [frame["method"] for frame in row["stack"][:32]]
    ]
    if not equal:
        yield f"dumpexceptions does not have {row['address']}"
    for frame in row["stack"]:
        if not frame["module"] or not frame["method"].endswith(")") or not frame["offset"]:
            yield f"{frame['ip']} is in {frame}"


def check_addresses(program: str, core: pathlib.Path, threads: list[Json]) -> Fact:
    """Frames of thrown exceptions that still stand on their thread's stack are at the same place there."""
    (thrown,) = ask(program, core, ["printexception"])
    count, explained, wrong = 0, 0, []
    for row in thrown["exceptions"]:
        (thread,) = (thread for thread in threads if thread["os_id"] == row["os_id"])
        there = {(frame["sp"], frame["method"]): frame for frame in thread["frames"]}
        begun = {frame["ip"] for frame in thread["frames"] if frame["kind"] == "explicit"}
        for frame in row["stack"]:
            same = there.get((frame["sp"], frame["method"]), frame)
            count += same is not frame
            if (frame["ip"], frame["offset"]) == (same["ip"], same["offset"]):
                continue
            if same["ip"] in begun:
                explained += 1
            else:
                wrong.append(f"{frame['method']}: {frame['ip']}, on the stack {same['ip']}")
    reasons = {"call-begun": explained} if explained else {}
    return "crash: addresses of exceptions", count, wrong, reasons


def wrong_crashinfo(program: str, core: pathlib.Path, said: Json) -> Iterator[str]:
    """Parts that crashinfo lacks: the text of FailFast, the message and method of the exception."""
    (found,) = ask(program, core, ["crashinfo"])
    fail_fast = found.get("fail_fast") or {}
    want = "the end" if "failfast" in said["mode"] else None
    if fail_fast.get("message") != want:
        yield f"FailFast {fail_fast}, the program said {want}"
    if want and not fail_fast["method"].startswith("Crash."):
        yield f"FailFast was called in {fail_fast['method']}"
    frames = [frame for frame in said["frames"] if frame.startswith("Crash.")]
    method = found.get("method", "")
    if found["crash"] and found["crash"]["thread"] == said["os_id"] and frames:
        # A P/Invoke is a method of the program, too; a lambda has a name for people.
        others = method.startswith("Crash.Native.") or method.endswith(".lambda")
        if method not in frames and not others:
            yield f"the thread was in {method or 'nothing'}, the program said {frames}"
    if said["mode"] == "oom" and not (found.get("out_of_memory") or {}).get("at_limit"):
        yield f"the heap was at its limit: {found.get('out_of_memory')}"
    rows = [row for row in found["exceptions"] if row["os_id"] == said["os_id"]]
    if said["where"] == "unhandled" and not (rows and rows[0].get("method")):
        yield f"the exception of thread {said['os_id']:x} has no method: {rows}"


def check_core(program: str, core: pathlib.Path) -> Iterator[Fact]:
    """All facts of one core."""
    said = truth_of(core)
    (stacks,) = ask(program, core, ["clrstack -roots -full -limit 0"])
    threads = stacks["threads"]
    found = [methods(t) for t in threads if t["os_id"] == said["os_id"]]
    lost = missing_frame(said["frames"], found[0] if found else [])
    yield "crash: frames", len(said["frames"]), [f"{lost} is not on the stack"] if lost else [], {}
    count = sum(1 for _ in roots_of(threads))
    yield "crash: stack roots are objects", count, list(false_roots(threads)), {}
    broken = [f"thread {t['id']}: {t['why']}" for t in threads if t["partial"] or t["missing"]]
    yield "crash: whole stacks", len(threads), broken, {}
    count, mislabelled = wrong_labels(program, core)
    yield "crash: names of handles", count, mislabelled, {}
    if said["where"] == "unhandled":
        yield "crash: last exception", 1, list(wrong_exception(program, core, said)), {}
    yield "crash: crashinfo", 1, list(wrong_crashinfo(program, core, said)), {}
    yield check_addresses(program, core, threads)
    later = AFTER_REPORT.get(said["mode"], set())
    for name, number, wrong in check_tags(program, core, said):
        problems = [f"{tag} {what}" for tag, what in wrong if tag not in later]
        explained = len(wrong) - len(problems)
        yield name, number, problems, {"after-report": explained} if explained else {}


def main() -> int:
    """Check all cores."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--program", default="build/heapdump")
    parser.add_argument("--update-table", action="store_true")
    parser.add_argument("cores", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    rows: list[Row] = []
    for core in arguments.cores:
        report = Report(core)
        for name, count, problems, reasons in check_core(arguments.program, core):
            report.add(name, count, problems, reasons)
        rows += report.end()
    return 0 if finish(rows, ROOTS, arguments.update_table) else 1


if __name__ == "__main__":
    sys.exit(main())
