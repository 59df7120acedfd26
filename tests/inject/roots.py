#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damage what roots are found by; the roots that can be had must stay, and nothing be made up.

Every word on the way to a root (root_places.py) is replaced by others, and more is damaged at once
(root_damage.py). After each, one session answers the commands about roots. It must end in time, with
exit status 0 or 1, and with valid JSON; only where no thread can be read, those about threads say so. Which words are replaced, and by what, depends on --seed. Roots that do not
depend on the damage must be the same as before. New ones must be conservative, on a stack that is partial, but where
the damage looks sound. A precise root is always an object. With --strict, too: where roots are missing, a finding or
a partial stack says so. Whether damage can be told from what is right depends on what lies nearby: on some cores a few
of a thousand cannot.

    roots.py [--core NAME...] [--strict] [--long] [--name TEXT] [--rounds N] [--every N] [-v]
"""
from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from core_image import CORES, PROGRAM, Image, turns
from root_damage import Damage, made_damages, word_damages
from root_places import Json, RootPlaces, thread_source

# The reading depends on all of the heap: it takes longer where there is little to do it with.
LIMIT = 300
COMMANDS = (
    "roots",
    "clrstack -roots -full -limit 0",
    "gchandles",
    "finalizequeue",
    "dumpheap -live -stat",
    "clrthreads",
    "roots -conservative -stat",
)
SANITIZER = re.compile(r"ERROR: \w+Sanitizer|runtime error:|LeakSanitizer")
# Roots whose slots are in no structure of the runtime: what they depend on by kind.
KIND_SOURCES = {
    "stack": ("stacks", "threads"),
    "handle": ("handles",),
    "static": ("statics",),
    # In 8 they hang on handles.
    "thread-static": ("statics", "threads", "handles"),
    "finalizer": ("finalizers",),
    "gc": (),
}
Key = tuple[str, int, int, str]


class Answer(NamedTuple):
    """The answer of one session."""

    status: int
    seconds: float
    documents: dict[str, Json]  # by command
    problems: list[str]
    err: str


def ask(path: str, objects: list[int], export: str) -> Answer:
    """All commands, gcroot of some objects, an export, and then what is wrong with the target."""
    lines = [*COMMANDS, *(f"gcroot {o:x} -limit 4" for o in objects), f"export {export}", "info"]
    begin = time.monotonic()
    try:
        run = subprocess.run(
            [PROGRAM, path],
            input="".join(f"{line} --json\n" for line in lines).encode(),
            capture_output=True,
            timeout=LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Answer(-1, LIMIT, {}, ["hangs"], "")
    seconds = time.monotonic() - begin
    err = run.stderr.decode("utf-8", "replace")
    problems = []
    documents: dict[str, Json] = {}
    if SANITIZER.search(err) or run.returncode < 0:
        problems.append(f"crashes ({run.returncode}): {err[:3000]}")
    answers = run.stdout.splitlines()
    if run.returncode != 3 and len(answers) != len(lines) and not problems:
        problems.append(f"{len(answers)} answers to {len(lines)} commands: {err[:300]}")
    for line, answer in zip(lines, answers):
        try:
            documents[line] = json.loads(answer)
        except ValueError as error:
            problems.append(f"{line}: no JSON ({error}): {answer[:200]!r}")
    return Answer(run.returncode, seconds, documents, problems, err)


def root_sources(root: Json) -> set[str]:
    """The places that a root depends on."""
    result = {"all"}
    thread = root["thread"]["os_id"] if root["thread"] else 0
    if root["kind"] == "internal":
        if root["handle"]:
            return result | {"handles"}
        if root["name"] == "exception in flight":
            return result | {"stacks", "threads", "handles", thread_source(thread)}
        return result | {"threads", f"thread-statics {thread}"}
    result |= set(KIND_SOURCES[root["kind"]])
    if root["kind"] == "stack":
        result.add(thread_source(thread))
    if root["kind"] == "thread-static":
        result.add(f"thread-statics {thread}")
    return result


def key_of(root: Json) -> Key:
    """The identity of a root: its place, and its object."""
    kind = "handle" if root["handle"] else root["kind"]
    thread = root["thread"]["os_id"] if root["thread"] else 0
    address = int(root["address"] or "0", 16)
    if root["kind"] == "internal" and not root["handle"]:
        # An exception may be found by its record, or by the handle of that.
        kind, thread, address = f"internal {root['name']}", 0, 0
    # Registers have no address.
    where = "" if address else f"{thread} {root['slot']}"
    return kind, address, int(root["object"], 16), where


def is_precise(root: Json) -> bool:
    """Not interior, not conservative."""
    return not {"interior", "conservative"} & set(root["flags"])


class Clean:
    """The answers of the sound core."""

    def __init__(self, image: Image, folder: Path) -> None:
        self.image = image
        self.export = str(folder / "export.heap")
        first = ask(image.path, [], self.export)
        if first.problems or first.status or "roots" not in first.documents:
            sys.exit(f"{image.path}: {first.status} {first.problems} {first.err}")
        roots = first.documents["roots"]["roots"]
        self.objects = self._choose(roots)
        self.answer = ask(image.path, self.objects, self.export)
        if self.answer.problems:
            sys.exit(f"{image.path}: {self.answer.problems}")
        self.roots = {key_of(root): root for root in roots}
        self.findings = findings_of(self.answer)
        self.incomplete = incomplete_threads(self.answer)

    def _choose(self, roots: list[Json]) -> list[int]:
        """An object of each kind of root that has no other, and some dead ones."""
        chooser = random.Random(1)
        by_kind: dict[str, list[int]] = {}
        for root in roots:
            if not root["weak"] and root["kind"] != "gc":
                by_kind.setdefault(root["kind"], []).append(int(root["object"], 16))
        chosen = [chooser.choice(rows) for _, rows in sorted(by_kind.items())]
        solid = [o.address for o in self.image.objects if not o.free]
        return chosen + chooser.sample(solid, 6)


def findings_of(answer: Answer) -> set[str]:
    """The session's findings about the target."""
    return {
        f"{f['kind']}: {f['detail']}" for f in answer.documents.get("info", {}).get("findings", [])
    }


def incomplete_threads(answer: Answer) -> dict[int, str]:
    """Why stacks are partial or missing, by OS id."""
    threads = answer.documents.get(COMMANDS[1], {}).get("threads", [])
    return {t["os_id"]: t["why"] for t in threads if t["partial"] or t["missing"]}


def check_words(clean: Clean, damage: Damage, answer: Answer) -> Iterator[str]:
    """The session as such."""
    cut = "all" in damage.sources
    # There is no answer about something that is not an object (any more): status 2.
    errors = any("error" in document for document in answer.documents.values())
    # No answer is made of a list of threads that cannot be read: status 3.
    lost = any(finding.startswith("thread-list: ") for finding in findings_of(answer))
    if answer.status not in ((0, 1, 2, 3) if cut or lost else (0, 1, 2) if errors else (0, 1)):
        yield f"exit status {answer.status}: {answer.err[:300]}"
    for line, document in answer.documents.items():
        if "error" not in document:
            continue
        gone = line.startswith("gcroot") and document["error"]["status"] == "notfound"
        if "all" in damage.sources:
            continue  # too little is left, perhaps
        if lost and line.startswith(("clrstack", "clrthreads")):
            continue
        if not gone or not ("heap" in damage.sources or damage.objects):
            yield f"{line}: {document['error']}"
    collecting = any("gc-in-progress" in finding for finding in findings_of(answer))
    for row in answer.documents.get(COMMANDS[1], {}).get("threads", []):
        if collecting:
            break  # where objects are is not known then
        for frame in [*row["frames"], row]:
            for root in frame.get("roots", []):
                if is_precise(root) and root["object"] != root["value"]:
                    yield f"clrstack shows {root['value']} at {root['address']}, which is not an object"
    known = clean.image.by_address
    for root in answer.documents.get("roots", {}).get("roots", []):
        if collecting:
            break
        if root["kind"] == "gc" and misleads_walk(clean, damage):
            continue
        address = int(root["object"], 16)
        if is_precise(root) and (address not in known or known[address].free):
            yield f"root {key_of(root)} is no object"


def misleads_walk(clean: Clean, damage: Damage) -> bool:
    """
    Frozen objects are found by the walk of their segments: after one that is damaged, a field of it that holds a
    MethodTable (as RuntimeType.m_handle does) may be taken for the next one.
    """
    frozen = {key[2] for key in clean.roots if key[0] == "gc"}
    return "heap" in damage.sources or not frozen.isdisjoint(damage.objects)


def told(clean: Clean, answer: Answer) -> bool:
    """Does the session say that something is incomplete?"""
    more = set(incomplete_threads(answer)) - set(clean.incomplete)
    return bool(findings_of(answer) - clean.findings or more)


def check_roots(clean: Clean, damage: Damage, answer: Answer) -> Iterator[str]:
    """Roots that are lost, and new ones."""
    if "roots" not in answer.documents.get("roots", {}):
        return
    found = {key_of(root): root for root in answer.documents["roots"]["roots"]}
    partial = incomplete_threads(answer)
    # A thread that was made up may have an allocation context, which the walk of the heap steps over.
    makes_contexts = damage.lies and "threads" in damage.sources
    lost, wrong = [], []
    for key, root in clean.roots.items():
        if key in found:
            continue
        lost.append(key)
        mine = root_sources(root) & damage.sources
        if mine or makes_contexts or "heap" in damage.sources or key[2] in damage.objects:
            continue
        if root["kind"] == "gc" and misleads_walk(clean, damage):
            continue
        wrong.append(key)
    if wrong:
        yield f"{len(wrong)} roots lost that have nothing to do with it: {wrong[:3]}"
    elif lost and not damage.lies and not told(clean, answer):
        yield f"{len(lost)} roots lost, and {SILENT}: {lost[:3]}"
    for key, root in found.items():
        if key in clean.roots:
            continue
        thread = root["thread"]["os_id"] if root["thread"] else 0
        if "conservative" in root["flags"] and (thread in partial or damage.lies):
            continue
        if root["kind"] == "gc":
            continue  # all that lives in what is not collected, while a collection runs
        if damage.lies and (root_sources(root) & damage.sources or "heap" in damage.sources):
            continue
        # Frames of which it is not known that handlers have done with them.
        if root["kind"] == "stack" and thread in partial and root_sources(root) & damage.sources:
            continue
        yield f"root {key} {root['name']} {root['flags']} is made up"


def check_living(clean: Clean, damage: Damage, answer: Answer) -> Iterator[str]:
    """Check which objects are alive, by gcroot and by all roots together."""
    before = clean.answer.documents["dumpheap -live -stat"]["live"]["count"]
    after = answer.documents.get("dumpheap -live -stat", {}).get("live", {}).get("count")
    if after is not None and after < before and not damage.lies and not told(clean, answer):
        yield f"{before - after} objects are dead now, and {SILENT}"
    grown = damage.lies or set(incomplete_threads(answer)) - set(clean.incomplete)
    if after is not None and after > before and not grown:
        yield f"{after - before} more objects are alive"
    for line, document in answer.documents.items():
        if not line.startswith("gcroot") or "error" in document:
            continue
        was = clean.answer.documents[line]
        if document["reachable"] and not was["reachable"] and not grown:
            yield f"{line}: alive now"
        if was["reachable"] and not document["reachable"] and not damage.lies:
            if not told(clean, answer):
                yield f"{line}: dead now, and {SILENT}"


SILENT = "nothing says so"


def check(clean: Clean, damage: Damage, strict: bool) -> tuple[Answer, list[str]]:
    """Do it, ask, take it back."""
    image = clean.image
    tail = b""
    try:
        for address, data in damage.patches:
            image.patch(address, data)
        for offset, data in damage.file:
            image.patch_file(offset, data)
        if damage.length:
            tail = image.map[damage.length :]
            os.truncate(image.path, damage.length)
        answer = ask(image.path, clean.objects, clean.export)
    finally:
        if damage.length:
            os.truncate(image.path, damage.length + len(tail))
            image.map[damage.length :] = tail
        image.restore()
    if answer.problems:
        return answer, answer.problems
    problems = [
        *check_words(clean, damage, answer),
        *check_roots(clean, damage, answer),
        *check_living(clean, damage, answer),
    ]
    return answer, [text for text in problems if strict or SILENT not in text]


def damages_of(at: RootPlaces, options: argparse.Namespace) -> list[Damage]:
    """All of one round that are wanted."""
    rows = [*made_damages(at), *word_damages(at)]
    if options.name:
        return [d for d in rows if any(re.search(name, d.name) for name in options.name)]
    if options.long:
        return rows
    made = [d for d in rows if "=" not in d.name]
    words = [d for d in rows if "=" in d.name]
    return made[:: 1 + options.every // 16] + at.random.sample(words, len(words) // options.every)


def run_core(core: Path, options: argparse.Namespace) -> tuple[int, int, str]:
    """Damage one core: how often, how many wrong answers, what to print."""
    lines: list[str] = []
    done = failed = 0
    slowest = (0.0, "")
    with tempfile.TemporaryDirectory() as name:
        image = Image(core, Path(name))
        clean = Clean(image, Path(name))
        for number in range(options.rounds):
            seed = f"{core.stem} {options.seed + number}"
            for damage in damages_of(RootPlaces(image, seed), options):
                answer, problems = check(clean, damage, options.strict)
                done += 1
                failed += bool(problems)
                slowest = max(slowest, (answer.seconds, damage.name))
                where = " ".join(f"{a:x}={d[:16].hex()}" for a, d in damage.patches[:4])
                for text in problems:
                    lines.append(f"{seed} {damage.name}: {text} [{where}]")
                if options.verbose:
                    lines.append(f"{seed} {damage.name}: {answer.seconds:.1f} s")
                    lines += sorted(findings_of(answer) - clean.findings)
                    lines += [f"  {i}: {why}" for i, why in incomplete_threads(answer).items()]
        image.close()
    lines.append(
        f"{core.stem}: {done} times, {failed} wrong, slowest {slowest[0]:.1f} s ({slowest[1]})"
    )
    return done, failed, "\n".join(lines)


def main() -> int:
    """Damage every core that is there."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--core", action="append", help="name in corefiles/build, or a path")
    parser.add_argument("--strict", action="store_true", help="roots must not be lost silently")
    parser.add_argument("--long", action="store_true", help="all of them")
    parser.add_argument("--name", action="append", help="only those whose names match")
    parser.add_argument("--rounds", type=int, default=1, help="other places each time")
    parser.add_argument(
        "--every", type=int, default=8 if turns.ALL else 72, help="without --long: one of so many"
    )
    parser.add_argument("--seed", type=int, default=turns.seed())
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    made = ("wks11-full", "wks10-full", "wks10-heap", "svr10-full", "wks9-full", "wks8-full")
    names = options.core or made
    cores = [Path(n) if "/" in n else CORES / f"{n}.core" for n in names]
    here = [core for core in cores if core.exists()]
    if not here:
        print(f"roots: skipped, there are no cores in {CORES}")
        return 77
    begin = time.monotonic()
    done = failed = 0
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for count, wrong, text in pool.map(run_core, here, [options] * len(here)):
            print(text, flush=True)
            done += count
            failed += wrong
    print(f"roots: {done} damaged cores, {failed} wrong answers, {time.monotonic() - begin:.0f} s")
    return int(failed > 0 or not done)


if __name__ == "__main__":
    sys.exit(main())
