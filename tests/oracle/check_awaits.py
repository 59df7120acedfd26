#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare dumpasync -fields with what the program corefiles/apps/awaits said of its chains, awaits and locals.

    check_awaits.py [--program HEAPDUMP] [CORE...]

Without CORE: all awaits*.core of corefiles/build, or of $COREFILES.  Each chain must be there with its methods from the
innermost to the root, the line of each await, what it waits for, and every argument and local that the method needs
afterwards; and there must be no others.  The program is the same, whether its methods are state machines or runtime
async.  Exit status 1 when anything differs, 77 without cores.
"""
from __future__ import annotations

import pathlib
import re
import sys
from typing import Iterator, Optional

from session import Json, ask, check_cores, truth_of


def own_methods(chain: Json) -> list[Json]:
    """The program's own; those of the framework in between are not in what it said."""
    return [row for row in chain["methods"] if not row["method"].startswith("System.")]


def plain(name: str) -> str:
    """Without type arguments."""
    return re.sub("<.*?>", "", name)


def variable(fields: list[Json], name: str) -> Optional[Json]:
    """An argument or local; in a state machine it has the compiler's words around its name."""
    pattern = re.compile("<>4__this" if name == "this" else rf"<{name}>5__\d+")
    for field in fields:
        if field["name"] == name or pattern.fullmatch(field["name"]):
            return field
    return None


def is_equal(said: Json, found: Json) -> bool:
    """Is it the value that the program said?"""
    value = found["value"]
    if said["kind"] == "null":
        return value in (None, 0, "0x0")
    if said["kind"] == "plain":
        return float(value) == float(said["value"])
    if said["kind"] == "struct":
        members = {member["name"]: member for member in found.get("fields", [])}
        return all(
            name in members and is_equal(member, members[name])
            for name, member in said["fields"].items()
        )
    return bool(value == said["address"])


class Comparison:
    """Counts what was compared of a core, and keeps what differs."""

    def __init__(self) -> None:
        self.facts = 0
        self.wrong: list[str] = []

    def equal(self, where: str, have: object, want: object) -> None:
        """One fact."""
        self.facts += 1
        if have != want:
            self.wrong.append(f"{where}: {have}, the program says {want}")

    def locals(self, where: str, said: Json, row: Json) -> None:
        """The locals of one method."""
        for name, want in said["locals"].items():
            self.facts += 1
            found = variable(row.get("fields", []), name)
            if not found:
                self.wrong.append(f"{where}: {name} is not known")
            elif not is_equal(want, found):
                self.wrong.append(f"{where}: {name} is {found['value']}, the program says {want}")

    def chain(self, said: Json, found: Optional[Json]) -> None:
        """A chain that waits, or one whose innermost method runs."""
        name = said.get("name", "running")
        if not found:
            self.wrong.append(f"{name}: no chain with the root {said['root']}")
            return
        for key in ("waits_for", "object"):
            if said.get(key):
                self.equal(f"{name}: {key}", found[key], said[key])
        rows = own_methods(found)
        self.equal(
            name,
            [plain(row["method"]) for row in rows],
            [method["method"] for method in said["methods"]],
        )
        for method, row in zip(said["methods"], rows):
            where = f"{name}: {method['method']}"
            if method["line"]:
                self.equal(f"{where}: line", row.get("line"), method["line"])
            if "locals" in method:
                self.locals(where, method, row)


def chains_of(truth: Json, answer: Json) -> Iterator[tuple[Json, Optional[Json]]]:
    """The program's word about each, with what was found; they are known by their roots, or else by what they wait for."""
    roots = {chain["root"]: chain for chain in answer["chains"]}
    objects = {chain["object"]: chain for chain in answer["chains"]}
    for said in [*truth["chains"], truth["running"]]:
        yield said, roots.get(said["root"]) if said["root"] else objects.get(said["object"])


def compare(program: str, core: pathlib.Path) -> tuple[str, list[str]]:
    """How many facts were compared, and what differs."""
    truth = truth_of(core)
    answer, tasks = ask(program, core, ["dumpasync -all -fields", "dumptasks"])
    comparison = Comparison()
    for said, found in chains_of(truth, answer):
        comparison.chain(said, found)
    own = sum(bool(own_methods(chain)) for chain in answer["chains"])
    comparison.equal("chains", own, len(truth["chains"]) + 1)
    statuses = {task["address"]: task["status"] for task in tasks["tasks"]}
    comparison.equal("the task that failed", statuses.get(truth["faulted"]), "Faulted")
    return f"{len(truth['chains'])} chains, {comparison.facts} facts", comparison.wrong


if __name__ == "__main__":
    sys.exit(check_cores(__doc__ or "", ["awaits*.core"], compare))
