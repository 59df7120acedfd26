#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check gcroot, retained and export on cores.

    check_roots.py [--program HEAPDUMP] [--update-table] CORE...

Of each core: every object that is alive has a root in gcroot, and one that is dead has none, and retained
says that it is dead (200 are asked about, half of each where there are so many); gcroot on an export of the core says what it says on
the core. Of those of corefiles/apps/facts: each object that is kept alive in one way has the root that the
program made for it, by its name. The rows go into roots.tsv. Exit status 1 when anything differs.
"""
from __future__ import annotations

import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile
from typing import Iterator

from session import Json, ask, truth_of
from table import ROOTS, Report, Row, finish, title

SAMPLE = 200
# The kind that a root of the core becomes in the text format.
KINDS = {"thread-static": "static"}
FLAGS = {"conservative": "pinned"}
Fact = tuple[str, int, list[str]]  # name, how many were asked about, problems


def gcroot(address: str) -> str:
    """The command that lists all roots."""
    return f"gcroot {address} -limit 0"


def sample(program: str, core: pathlib.Path, option: str, count: int) -> list[str]:
    """Some of the objects that dumpheap lists with that option."""
    command = [program, str(core), "dumpheap", option, "-short"]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{' '.join(command)}: status {run.returncode}\n{run.stderr[:2000]}")
    addresses = run.stdout.split()
    choice = random.Random(title(core))
    return ["0x" + a.lstrip("0") for a in choice.sample(addresses, min(count, len(addresses)))]


def strong_roots(answer: Json) -> list[Json]:
    """The roots that keep the object alive."""
    return [root for root in answer["roots"] if not root["weak"]]


def alive_problem(answer: Json) -> str:
    """The mistake in the answer about an object that is alive."""
    if "error" in answer:
        return str(answer["error"]["message"])
    if not answer["reachable"] or not strong_roots(answer):
        return "is alive, but has no root"
    for root in strong_roots(answer):
        if not root["path"] or root["path"][0].get("address") != root["object"]:
            return f"a path does not start at {root['object']}"
        if root["path"][-1].get("address") != answer["object"]:
            return "a path does not end there"
    return ""


def dead_problem(answer: Json, retained: Json) -> str:
    """The same of one that is dead."""
    for one in (answer, retained):
        if "error" in one:
            return str(one["error"]["message"])
    if answer["reachable"] or strong_roots(answer):
        return "is dead, but has a root"
    if retained["alive"] is not False:
        return f"retained does not say that it is dead: {retained}"
    return ""


def comparable(answer: Json) -> tuple[object, ...]:
    """The part that must be the same on a core and on its export."""
    if "error" in answer:
        return (answer["error"]["status"],)
    roots = set()
    for root in answer["roots"]:
        flags = {FLAGS.get(flag, flag) for flag in root["flags"]}
        path = tuple(step.get("address", "%s folded" % step.get("folded")) for step in root["path"])
        kind = KINDS.get(root["kind"], root["kind"])
        roots.add((kind, root["weak"], root["object"], *sorted(flags), path))
    return answer["object"], answer["reachable"], frozenset(roots)


def is_right(said: Json, root: Json) -> bool:
    """Is it the root that the program means?"""
    if root["kind"] != said["kind"]:
        return False
    if said["kind"] in ("static", "thread-static") and root["name"] != said["label"]:
        return False
    if said["kind"] == "handle" and root["handle"] != said["label"]:
        return False
    if said["kind"] == "stack" and str(said["label"]) not in str(root["frame"]):
        return False
    if "flag" in said and said["flag"] not in root["flags"]:
        return False
    return "through" not in said or any(is_through(said["through"], step) for step in root["path"])


def is_through(said: str, step: Json) -> bool:
    """Is the step of that type?  What is saved of a method is not of the state machine's type in runtime async."""
    method = re.sub(r"(.*)\+<(.*)>d__.*", r"(of \1.\2)", said)
    return said in str(step.get("type")) or (method != said and method in str(step.get("via")))


def root_name(root: Json) -> str:
    """For messages."""
    label = root["name"] or root["frame"] or root["handle"] or root["object"]
    return f"{root['kind']} {label} {' '.join(root['flags'])}".rstrip()


def truth_problem(said: Json, answer: Json) -> str:
    """The mistake in the answer about an object that the program keeps alive in one way."""
    if "error" in answer:
        return str(answer["error"]["message"])
    found = strong_roots(answer)
    names = ", ".join(sorted({root_name(root) for root in found})) or "none"
    weak = any(root["weak"] for root in answer["roots"])
    if said["weak"] and not weak:
        return "its weak handle is missing"
    if said["kind"] == "none":
        return f"is dead, but has the roots {names}" if found or answer["reachable"] else ""
    right = [root for root in found if is_right(said, root)]
    if not right or not answer["reachable"]:
        return f"should have the root {said['kind']} {said.get('label')}, but has {names}"
    if said["alone"] and said["kind"] != "stack" and len(right) != len(found):
        return f"should have {said['kind']} {said.get('label')} alone, but has {names}"
    if said["alone"] and any(root["kind"] != said["kind"] for root in found):
        return f"should have roots on a stack alone, but has {names}"
    return ""


def check_core(program: str, core: pathlib.Path) -> Iterator[Fact]:
    """All facts of one core."""
    said = truth_of(core).get("roots", [])
    dead = sample(program, core, "-dead", SAMPLE // 2)
    alive = sample(program, core, "-live", SAMPLE - len(dead))
    asked = alive + dead
    with tempfile.TemporaryDirectory(prefix="heapdump-export-") as folder:
        path = pathlib.Path(folder) / "heap"
        lines = [f"export {path}"] + [gcroot(address) for address in asked]
        lines += [f"retained {address}" for address in dead]
        lines += [gcroot(thing["address"]) for thing in said]
        answers = ask(program, core, lines)[1:]
        of_export = ask(program, path, [gcroot(address) for address in asked])
    of_core, answers = answers[: len(asked)], answers[len(asked) :]
    retained, truth = answers[: len(dead)], answers[len(dead) :]
    problems = [(a, alive_problem(answer)) for a, answer in zip(alive, of_core)]
    yield "live objects have roots", len(alive), [f"{a} {p}" for a, p in problems if p]
    problems = [
        (a, dead_problem(*both)) for a, both in zip(dead, zip(of_core[len(alive) :], retained))
    ]
    yield "dead objects have none", len(dead), [f"{a} {p}" for a, p in problems if p]
    yield "gcroot of export", len(asked), [
        f"{a}: {comparable(ours)} on the core, {comparable(other)} on its export"
        for a, ours, other in zip(asked, of_core, of_export)
        if comparable(ours) != comparable(other)
    ]
    problems = [
        (f"{thing['name']} ({thing['address']})", truth_problem(thing, answer))
        for thing, answer in zip(said, truth)
    ]
    if said:
        yield "truth: roots", len(said), [f"{name} {p}" for name, p in problems if p]


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
        for name, count, problems in check_core(arguments.program, core):
            report.add(name, count, problems, {})
        rows += report.end()
    return 0 if finish(rows, ROOTS, arguments.update_table) else 1


if __name__ == "__main__":
    sys.exit(main())
