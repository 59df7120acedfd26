#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare what heapdump says that threads wait for with what the programs of corefiles/apps/hang said.

    check_hangs.py [--program HEAPDUMP] [CORE...]

Without CORE: the committed one, and all hang*.core of corefiles/build, or of $COREFILES.  Every thread that a program
names must wait for what it says, for that object, and for that owner; the deadlocks must be the same sets of threads
and async methods; and hang must find what was planted, and nothing else.  Prints what was planted in each program, and
what was found.  Exit status 1 when anything differs, 77
without cores.
"""
from __future__ import annotations

import pathlib
import sys
from typing import Iterator

from session import Json, ask, check_cores, truth_of

STARVED = ("starved", "queued", "orders")
HARMLESS = (
    *(f"healthy{number}" for number in range(1, 16)),
    *("async", "tasks", "timers"),
)


def threads(truth: Json, answer: Json) -> Iterator[str]:
    """Differences between the threads; they are known by their ids in the system."""
    known = {thread["os_id"]: thread for thread in answer["threads"]}
    ids = {said["name"]: said["os_id"] for said in truth["threads"]}
    # Since 11 the framework knows who has a mutex; the programs do not say it, for before nobody did.
    if int(truth["version"].split(".")[0]) >= 11:
        for said in truth["threads"]:
            if said["type"] == "System.Threading.Mutex":
                said["owner"] = "mutex-holder"
    for said in truth["threads"]:
        found = known.get(said["os_id"])
        if not found:
            yield f"{said['name']}: not listed"
            continue
        have = (found["id"], found["waits_for"], (found["owner"] or {}).get("os_id"))
        want = (said["id"], said["waits_for"], ids.get(said["owner"]))
        if have != want:
            yield f"{said['name']}: {have}, the program says {want}"
        if said["object"] and found["object"] != said["object"]:
            yield f"{said['name']}: waits for {found['object']}, the program says {said['object']}"


def lost_readers(truth: Json, answer: Json) -> Iterator[str]:
    """Differences about threads that ended while they read a lock."""
    ids = {said["name"]: said["os_id"] for said in truth["threads"]}
    want = {ids[name]: count for name, count in truth.get("unknown_readers", {}).items()}
    have = {t["os_id"]: t["unknown_readers"] for t in answer["threads"] if "unknown_readers" in t}
    if have != want:
        yield f"{have} readers are not found, the program says {want}"


def states(truth: Json, answer: Json) -> Iterator[str]:
    """Differences about the handles of WaitAny and WaitAll, and about the rest of a countdown."""
    ids = {said["name"]: said["os_id"] for said in truth["threads"]}
    known = {thread["os_id"]: thread for thread in answer["threads"]}
    for member, want in truth.items():
        if member.startswith("handles-"):
            text = known[ids[member.split("-")[1]]].get("handles", "")
            have = ["0x" + handle.split()[-1] for handle in text.split(", ")]
            if have != want:
                yield f"{member}: {have}, the program says {want}"
        elif member == "countdown":
            found = [t.get("state") for t in answer["threads"] if t["object"] == want["object"]]
            if [int(str(state).split()[0]) for state in found] != [want["left"]]:
                yield f"countdown: {found}, the program says {want}"


def children(truth: Json, answer: Json) -> Iterator[str]:
    """Differences about the process that a thread waits for: its number, and its file."""
    said = truth.get("child")
    states = [
        str(t.get("state")) for t in answer["threads"] if t["waits_for"].startswith("Process.")
    ]
    if said and not all(f"process {said[0]} of {said[1]}" in state for state in states):
        yield f"waits for {states}, the program says {said}"


def name_of(member: Json) -> str:
    """A thread by its id in the system, an async method by its name."""
    return str(member.get("async_method") or member["os_id"])


def is_own(member: Json) -> bool:
    """Not a method of the framework that lies between two of the program: there is one in runtime async."""
    return not member.get("async_method", "").startswith("System.")


def deadlocks(truth: Json, answer: Json) -> Iterator[str]:
    """Differences about those who wait for each other."""
    ids = {said["name"]: str(said["os_id"]) for said in truth["threads"]}
    for probable, said in ((False, "deadlocks"), (True, "possible")):
        have = sorted(
            sorted(map(name_of, filter(is_own, found["members"])))
            for found in answer["deadlocks"]
            if found["probable"] == probable
        )
        # A name that is no thread is an async method.
        want = sorted(
            sorted(ids.get(name, name) for name in names) for names in truth.get(said, [])
        )
        if have != want:
            yield f"{said} {have}, the program says {want}"


def planted(truth: Json) -> list[str]:
    """The verdicts that hang must have."""
    wanted = ["deadlock"] * (len(truth["deadlocks"]) + len(truth.get("possible", [])))
    if truth["mode"] in STARVED:
        wanted.append("pool-starved")
    kind = "lost-places" if truth["mode"] == "bulkheads" else "one-object"
    retries = truth.get("retries", 0)
    wanted += [kind] * (len(truth.get("objects", [])) - retries) + ["retry"] * retries
    if "finalizers" in truth:
        wanted.append("finalizer")
    if "stuck" in truth:
        wanted.append("collection")
    wanted += ["host-start"] * ("start" in truth) + ["lost-pulse"] * ("pulse" in truth)
    wanted += ["busy-readers"] * ("consumers" in truth)
    # A reader that has ended, for whom a writer waits.
    wanted += ["orphaned-lock"] * len(truth.get("unknown_readers", []))
    wanted += ["retry"] * len(truth.get("tries", []))
    wanted += ["own-answer"] * truth.get("replies", 0)
    if truth["mode"] == "lost":
        wanted += ["orphaned-lock"] * 2 + ["unread-output"]
    # Each of two holders has several threads that wait for it; so has one of a database.
    return wanted + ["one-owner"] * {"waits": 2, "databases": 1}.get(truth["mode"], 0)


def without_moment(truth: Json, answer: Json) -> Json:
    """The answer without a collection that probably waits, where none was planted.

    A core has one moment: a collection that was about to begin then looks the same, and hang says "probably".
    """
    if "stuck" in truth:
        return answer
    kept = [v for v in answer["verdicts"] if v["verdict"] != "collection" or v["certain"]]
    return answer | {"verdicts": kept}


def verdicts(truth: Json, answer: Json) -> Iterator[str]:
    """The verdicts of hang, and whom they are about."""
    answer = without_moment(truth, answer)
    found = {verdict["verdict"]: verdict for verdict in answer["verdicts"]}
    have = sorted(verdict["verdict"] for verdict in answer["verdicts"])
    if have != sorted(planted(truth)):
        yield f"hang finds {have}, planted are {planted(truth)}"
    if truth["mode"] in HARMLESS and have:
        yield f"hang finds {have} where nothing hangs"
    objects = sorted([v["object"], v["count"]] for v in answer["verdicts"] if "object" in v)
    if objects != sorted(truth.get("objects", [])):
        yield f"many wait for {objects}, the program says {truth.get('objects')}"
    # It is certain that nobody releases an object only where the object itself says it.
    proven = sorted(v["object"] for v in answer["verdicts"] if "object" in v and v["certain"])
    if proven != sorted(truth.get("proven", [])):
        yield f"{proven} are certain, the program says {truth.get('proven')}"
    certain = [v["certain"] for v in answer["verdicts"] if v["verdict"] == "deadlock"]
    if certain.count(False) != len(truth.get("possible", [])):
        yield f"{certain.count(False)} deadlocks are only probable, not {truth.get('possible')}"
    if "finalizers" in truth and found["finalizer"]["count"] < truth["finalizers"]["due"]:
        yield f"{found['finalizer']['count']} finalizers are due, the program says {truth['finalizers']}"
    if "start" in truth and "host-start" in found:
        yield from said_of_start(truth["start"], found["host-start"])
    for name, verdict in (("pulse", "lost-pulse"), ("consumers", "busy-readers")):
        counts = [v["count"] for v in answer["verdicts"] if v["verdict"] == verdict]
        if counts != [truth[member][1] for member in (name,) if member in truth]:
            yield f"{counts} wait ({verdict}), the program says {truth.get(name)}"
    if truth.get("headline", "") not in answer["headline"]:
        yield f"hang says {answer['headline']!r}, the program {truth['headline']!r}"
    for said in truth.get("tries", []):
        yield from said_of_tries(said, answer)
    if "stuck" in truth and not evidence_has(found["collection"], truth["stuck"]):
        yield f"the collection waits for {found['collection']['evidence']}, not {truth['stuck']}"


def said_of_tries(said: Json, answer: Json) -> Iterator[str]:
    """Differences about a method that tries again and again: who waits for it, and what has failed."""
    words = (said["method"] + ",", f"at least {said['failed']} tries", said["message"])
    for verdict in answer["verdicts"]:
        if verdict["count"] == said["waiters"] and all(w in verdict["summary"] for w in words):
            return
    yield f"no verdict is about {said}: {[v['summary'] for v in answer['verdicts']]}"


def said_of_start(said: Json, verdict: Json) -> Iterator[str]:
    """Differences about the service that a host waits for, and about who would end that."""
    texts = [verdict["summary"], *(row["text"] for row in verdict["evidence"])]
    left = f"{said['later']} of {said['services']} services"
    for part in (f"{said['waits']} waits", f"only {said['for']} completes", left):
        if not any(part in text for text in texts):
            yield f"{part!r} is not in {texts}"


def groups(truth: Json, answer: Json) -> Iterator[str]:
    """Differences about the groups of async calls that wait: each kind of chain is one."""
    said = truth["chains"] if truth["mode"] == "async" else []
    chains = {chain["methods"][0]: chain for chain in said}
    for group in answer["groups"]:
        chain = chains.get(group.get("method"))
        if chain and (group["count"], group["waits_for"]) != (chain["count"], chain["waits_for"]):
            yield f"hang groups {group}, the program says {chain['count']} {chain['waits_for']}"
    if chains and not any(group.get("method") in chains for group in answer["groups"]):
        yield f"no group is one of {', '.join(chains)}"


def evidence_has(verdict: Json, stuck: Json) -> bool:
    """Does the first sentence name the thread, and its method?"""
    first = verdict["evidence"][0]
    return stuck["thread"] in first["text"] and bool(
        first["method"].startswith(stuck["method"] + "(")
    )


def compare(program: str, core: pathlib.Path) -> tuple[str, list[str]]:
    """Things that were planted and found, how many facts were compared, and what differs."""
    truth = truth_of(core)
    answer, hang = ask(program, core, ["waits -all", "hang"])
    wrong = [*threads(truth, answer), *deadlocks(truth, answer), *verdicts(truth, hang)]
    wrong += [*lost_readers(truth, answer), *states(truth, answer), *groups(truth, hang)]
    wrong += children(truth, answer)
    row = f"{counted(planted(truth))} -> {counted([v['verdict'] for v in hang['verdicts']])}"
    return f"{row}: {len(truth['threads']) + 2} facts", wrong


def counted(names: list[str]) -> str:
    """ "3 deadlock, 1 finalizer" """
    return ", ".join(f"{names.count(name)} {name}" for name in dict.fromkeys(names)) or "nothing"


if __name__ == "__main__":
    sys.exit(check_cores(__doc__ or "", ["hang*.core"], compare, "hang.core.zst"))
