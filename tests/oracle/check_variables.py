#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare clrstack -a and dumpasync with what the program corefiles/apps/variables said of its own variables.

    check_variables.py [--program HEAPDUMP] [CORE...]

Without CORE: all vars*.core of corefiles/build, or of $COREFILES.  Each frame must have the arguments that reflection
names, and each variable the value that the program gave it.  In code that is not optimised all values must be known;
in optimised code a value may be missing, but never wrong.  Each async method must be at the line that it said.  Exit
status 1 when anything differs, 77 without cores.
"""
from __future__ import annotations

import pathlib
import re
import sys
from typing import Iterator

from session import Json, ask, check_cores, truth_of

# At least so many values of optimised code are known in each core: a reader that finds none must fail.
KNOWN_OPTIMISED = 90


def plain_method(frame: Json) -> str:
    """The name of a frame's method as the program says it: Namespace.Type`1.Method."""
    name = re.sub(r"\(.*", "", frame["method"])
    return re.sub(r"<[^<>]*>\.", "`1.", re.sub(r"<[^<>]*>$", "", name))


def equal_object(said: Json, found: Json) -> bool:
    """The same object, of the same type, and if it is a string with the same text."""
    if said["address"] != found["value"]:
        return False
    if said["string"] is not None:
        return bool(found["type"] == "System.String" and found["meaning"] == f'"{said["string"]}"')
    # Type arguments are written in another way.
    plain = re.sub(r"`.*", "", said["type"] or "")
    return said["type"] is None or found["type"].startswith(plain)


def is_equal(said: Json, found: Json) -> bool:
    """Is the value that was found the one that the program said?  Structs are compared later."""
    kind, want, have = said["kind"], said["value"], found["value"]
    if kind == "object":
        return equal_object(want, found)
    if kind == "ref":
        return bool(found["target"] == want)
    if kind == "nullable":
        return bool(found["meaning"] == ("null" if want is None else str(want)))
    if kind == "address":
        return int(have, 16) == int(want)
    if kind in ("struct", "struct-ref", "any-struct"):
        return int(have, 16) != 0
    return bool(have == want)


class Comparison:
    """Counts what was compared of a core, and keeps what differs."""

    def __init__(self, program: str, core: pathlib.Path) -> None:
        self.program, self.core = program, core
        self.truth = truth_of(core)
        self.wrong: list[str] = []
        self.compared = self.optimised = self.missing = 0
        self.structs: list[tuple[str, Json, str]] = []

    def variables(self, said: Json, frame: Json) -> None:
        """Compare one frame."""
        method, is_plain = said["method"], said["method"].startswith("Plain.")
        names = [row["name"] for row in frame["parameters"]]
        want = ([] if said["static"] else ["this"]) + said["names"]
        self.compared += 1
        if names != want:
            self.wrong.append(f"{method}: arguments {names}, reflection says {want}")
        found = {
            (is_local, row["name"]): row
            for is_local, table in ((False, "parameters"), (True, "locals"))
            for row in frame[table]
        }
        for row in said["variables"]:
            self.variable(
                f"{method}.{row['name']}", row, found.get((row["local"], row["name"])), is_plain
            )

    def variable(self, name: str, said: Json, found: Json | None, is_plain: bool) -> None:
        """Compare one variable, of which optimised code may have lost the value, or even the local."""
        if found is None or found["state"] != "known":
            self.missing += 1
            if is_plain or (found is None and not said["local"]):
                self.wrong.append(
                    f"{name}: {found and found['state']}, the program says {said['value']}"
                )
            return
        self.compared += 1
        self.optimised += not is_plain
        if not is_equal(said, found):
            self.wrong.append(f"{name}: {found}, the program says {said['value']}")
        elif said["kind"] in ("struct", "struct-ref"):
            self.structs.append(
                (name, said["value"], f"dumpvc {found['method_table']} {found['value']}")
            )

    def fields(self) -> None:
        """Structs lie where they are said to lie, with these fields."""
        answers = ask(self.program, self.core, [line for _, _, line in self.structs])
        for (name, want, _), answer in zip(self.structs, answers):
            have = {field["name"]: field["value"] for field in answer["fields"]}
            self.compared += 1
            if any(have.get(key) != value for key, value in want.items()):
                self.wrong.append(f"{name}: {have}, the program says {want}")

    def lines(self, answer: Json) -> None:
        """Awaits are at their lines."""
        have = {}
        for chain in answer["chains"]:
            for row in chain["methods"]:
                have[re.sub("<.*>", "", row["method"]).rsplit(".", 1)[-1]] = row.get("line")
        for said in self.truth["awaits"]:
            self.compared += 1
            if have.get(said["method"]) != said["line"]:
                self.wrong.append(
                    f"{said['method']}: line {have.get(said['method'])}, the program says {said['line']}"
                )

    def run(self) -> None:
        """Compare everything."""
        stacks, chains = ask(self.program, self.core, ["clrstack -a -all -full", "dumpasync"])
        names = {said["method"] for said in self.truth["frames"]}
        frames = [
            frame
            for thread in stacks["threads"]
            for frame in thread["frames"]
            if frame["kind"] == "managed" and frame["method"] and plain_method(frame) in names
        ]
        if len(frames) != len(self.truth["frames"]):
            self.wrong.append(f"{len(frames)} frames, the program says {len(self.truth['frames'])}")
        for said, frame in zip(self.truth["frames"], reversed(frames)):
            if plain_method(frame) != said["method"]:
                self.wrong.append(f"{frame['method']}, the program says {said['method']}")
            else:
                self.variables(said, frame)
        self.fields()
        self.lines(chains)
        if self.optimised < KNOWN_OPTIMISED:
            self.wrong.append(f"only {self.optimised} values of optimised code are known")


def compare(program: str, core: pathlib.Path) -> tuple[str, list[str]]:
    """How many facts of a core were compared, and what differs."""
    comparison = Comparison(program, core)
    comparison.run()
    compared = (
        f"{comparison.compared} facts, {comparison.optimised} values of optimised code known, "
        f"{comparison.missing} not"
    )
    return compared, comparison.wrong


if __name__ == "__main__":
    sys.exit(check_cores(__doc__ or "", ["vars*.core"], compare))
