#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare arguments, locals and fields in GDB and LLDB, which have an exported .elf, with those of heapdump.

    check_managed_variables.py [--program HEAPDUMP] [CORE...]

Without CORE: of each kind in corefiles/build, or in $COREFILES, the core of one release (HEAPDUMP_TEST_ALL: of all).  Each managed frame must have in both debuggers the
arguments and named locals of `clrstack -a`, with the same values, and no value where clrstack has none.  Each object that a
variable refers to must have the fields of `dumpobj` with the same values, and the text of a string or the elements of an array.
A struct has the fields of `dumpvc`.  So what check_variables.py says of clrstack holds for the debuggers, too.  The file is
checked by readelf, by llvm-dwarfdump and by eu-elflint, as far as they are there.
One difference has a rule: the handler of a signal does not look like one to debuggers, so registers that it does not keep are
lost for the frames that it has interrupted, and for their callers.
Exit status 1 when anything differs, 77 without cores, or without GDB or LLDB.
"""
from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
from typing import Iterator

from check_managed_elf import program_of, run
from session import SOURCE, Json, ask, check_cores, one_release_of_each

VALUES = SOURCE / "tests" / "oracle" / "debugger_values.py"
# The Python module of LLDB, which that of Debian does not find; it needs the Python of the system.
LLDB_MODULE = "/usr/lib/llvm-14/lib/python3.11/dist-packages"
KINDS = (
    "vars{}-*.core",
    "hang{}-mixed-*.core",
    "web{}-*.core",
    "coll{}-*.core",
    "crash{}-nullref-heap.core",
)
# Most objects of a core that are compared, and differences of a kind that are told.
OBJECTS = 300
# The file has no segments, for it is never mapped.
# A method of a type that the compiler made has variables of the source as fields.
MADE_METHOD = re.compile(r"\+<[^+]*\.[^+]*$")
MADE_FIELD = re.compile(r"<(.+)>(k__BackingField|5__\d+)")


def gdb_frames(program: str, core: pathlib.Path, elf: pathlib.Path) -> list[str]:
    """The lines that debugger_values.py prints in GDB."""
    argv = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]
    argv += ["-iex", "set confirm off"]
    commands = [f"file {program}", f"core-file {core}", f"add-symbol-file {elf}"]
    for command in (*commands, f"source {VALUES}"):
        argv += ["-ex", command]
    return run(argv).splitlines()


def lldb_frames(program: str, core: pathlib.Path, elf: pathlib.Path) -> list[str]:
    """The same in LLDB."""
    argv = ["env", "PATH=/usr/bin:/bin", f"PYTHONPATH={LLDB_MODULE}", "lldb-14", "-x", "-b"]
    for command in (
        f"target create -c {core} {program}",
        f"target modules add {elf}",
        f"target modules load --file {elf} --slide 0",
        f"command script import {VALUES}",
    ):
        argv += ["-o", command]
    return run(argv).splitlines()


def frames_of(lines: list[str]) -> dict[int, Json]:
    """Frames by their stack pointers, which differ in all threads."""
    rows = [json.loads(line[6:]) for line in lines if line.startswith("FRAME ")]
    return {row["sp"]: row for row in rows}


def number_of(value: object) -> object:
    """A value of heapdump's JSON as a number: addresses are strings."""
    if isinstance(value, str):
        return int(value, 16) if value.startswith("0x") else value
    return int(value) if isinstance(value, bool) else value


def is_equal(said: Json, found: Json) -> bool:
    """Has a debugger the value that heapdump has?"""
    return bool(number_of(said["value"]) == found["value"])


class Comparison:
    """Counts what was compared of a core, and keeps what differs."""

    def __init__(self, program: str, core: pathlib.Path) -> None:
        self.program, self.core = program, core
        self.wrong: list[str] = []
        self.is_interrupted = False
        self.lost = 0
        self.values = self.gone = self.fields = self.extra = self.kept_count = 0
        self.structs: list[tuple[str, Json, str]] = []

    def variable(self, where: str, said: Json, found: Json | None) -> None:
        """Compare one variable."""
        known = said["state"] == "known"
        if found is None:
            self.wrong.append(f"{where}: the debugger does not have it")
        elif known and found["kind"] == "gone":
            self.wrong.append(f"{where}: gone, for heapdump {said['value']}")
        elif known and found["value"] is None:
            self.extra += 1  # a struct in a register
        elif known:
            self.values += 1
            if self.is_interrupted and not said["address"] and not is_equal(said, found):
                self.lost += 1
            elif not is_equal(said, found):
                self.wrong.append(f"{where}: {found['value']}, for heapdump {said['value']}")
            elif found["kind"] == "struct" and said.get("method_table"):
                line = f"dumpvc {said['method_table']} {found['value']:x}"
                self.structs.append((where, found, line))
        elif said["state"] in ("nowhere", "lost-register", "unreadable"):
            self.gone += 1
            if found["kind"] != "gone":
                self.wrong.append(f"{where}: {found['value']}, for heapdump {said['state']}")
        else:
            self.extra += found["kind"] != "gone"

    def frame(self, where: str, frame: Json, row: Json) -> None:
        """Compare the variables of a frame."""
        for is_local, table in ((False, "parameters"), (True, "locals")):
            have = [v for v in row["variables"] if v["local"] == is_local]
            want = [v for v in frame.get(table, []) if v["name"]]
            for said in want:
                found = next((v for v in have if v["name"] == said["name"]), None)
                self.variable(f"{where} {said['name']}", said, found)
            more = {v["name"] for v in have} - {v["name"] for v in want}
            if is_local and MADE_METHOD.search(frame["method"]):
                more -= self.kept(where, [v for v in have if v["name"] in more], row)
            if more:
                self.wrong.append(f"{where}: only the debugger has {sorted(more)}")

    def kept(self, where: str, variables: list[Json], row: Json) -> set[str]:
        """The names of variables that are fields of what `this` points to, and have the values of these."""
        this = next((v for v in row["variables"] if v["name"] == "this"), None)
        about = next((o for o in row["objects"] if this and o["address"] == this["value"]), None)
        fields = {f["name"]: f for f in about["fields"]} if about else {}
        for found in variables:
            field = fields.get(found["name"])
            self.kept_count += 1
            if found["kind"] != "gone" and (field is None or field["value"] != found["value"]):
                self.wrong.append(f"{where} {found['name']}: {found['value']}, in this {field}")
        return {v["name"] for v in variables}

    def object(self, where: str, row: Json, said: Json) -> None:
        """Compare the fields of an object."""
        known = {}
        for field in said.get("fields", []):
            if not field["static"]:
                made = MADE_FIELD.match(field["name"])
                known[field["name"]] = known[made.group(1) if made else field["name"]] = field
        for found in row["fields"]:
            field = known.get(found["name"])
            if found["name"] == "MethodTable":
                field = {"value": said["mt"]}
            elif found["name"] == "length" and "length" in said:
                field = {"value": said["length"]}
            if field is None or field["value"] is None:
                continue
            self.fields += 1
            if not is_equal(field, found):
                self.wrong.append(
                    f"{where}.{found['name']}: {found['value']}, for heapdump {field['value']}"
                )
        if "text" in row and row["text"] != said.get("string", row["text"]):
            self.wrong.append(f"{where}: text {row['text']!r}, for heapdump {said['string']!r}")
        elements = said.get("elements")
        if elements is not None and "items" in row:
            for i, found in enumerate(row["items"]):
                self.fields += 1
                if i < len(elements) and not is_equal({"value": elements[i]}, found):
                    self.wrong.append(f"{where}[{i}]: {found['value']}, heapdump: {elements[i]}")

    def debugger(self, name: str, threads: list[Json], frames: dict[int, Json]) -> None:
        """Compare all frames of a debugger, and all objects that they mention."""
        objects: dict[int, Json] = {}
        compared = 0
        for thread in threads:
            self.is_interrupted = False
            for frame in thread["frames"]:
                row = frames.get(int(frame["sp"], 16)) if frame["kind"] == "managed" else None
                if row is None or frame.get("unwound"):
                    continue
                compared += 1
                self.is_interrupted |= frame["active"] and frame is not thread["frames"][0]
                self.frame(f"{name}: {frame['method']}", frame, row)
                for found in row["objects"]:
                    objects.setdefault(found["address"], found)
        if not compared:
            self.wrong.append(f"{name}: no frame was compared")
        rows = [
            row for row in objects.values() if "MethodTable" in (f["name"] for f in row["fields"])
        ]
        rows = rows[:OBJECTS]
        answers = ask(
            self.program,
            self.core,
            [("dumparray" if "items" in r else "dumpobj") + f" {r['address']:x}" for r in rows],
        )
        for row, answer in zip(rows, answers):
            if "error" not in answer:
                self.object(f"{name}: {row['type']} {row['address']:x}", row, answer)
        answers = ask(self.program, self.core, [line for _, _, line in self.structs])
        for (where, row, _), answer in zip(self.structs, answers):
            self.object(where, row, answer)
        self.structs.clear()


def checked(elf: pathlib.Path) -> Iterator[str]:
    """The faults that readers of ELF and DWARF find in a file."""
    text = run(
        ["readelf", "-a", "-W", "--debug-dump=info,abbrev,decodedline,frames,loc,Ranges", str(elf)]
    )
    for line in text.splitlines():
        if re.match(r"readelf: |.*(Warning|Error):", line):
            yield line
            break
    if shutil.which("llvm-dwarfdump-14"):
        text = run(["llvm-dwarfdump-14", "--verify", str(elf)])
        if "No errors." not in text or "warning" in text:
            yield "llvm-dwarfdump: " + text[:2000]
    if shutil.which("eu-elflint"):
        text = run(["eu-elflint", "--debuginfo", "--gnu-ld", "-q", str(elf)])
        if text.strip():
            yield "eu-elflint: " + text[:2000]


def compare(program: str, core: pathlib.Path) -> tuple[str, list[str]]:
    """How many values were compared, and which differ."""
    comparison = Comparison(program, core)
    with tempfile.TemporaryDirectory() as name:
        elf = pathlib.Path(name) / "managed.elf"
        answers = ask(program, core, [f"export {elf}", "clrstack -a -all -full", "modules"])
        file, threads = program_of(answers[2]), answers[1]["threads"]
        comparison.wrong += checked(elf)
        comparison.debugger("GDB", threads, frames_of(gdb_frames(file, core, elf)))
        comparison.debugger("LLDB", threads, frames_of(lldb_frames(file, core, elf)))
    told = (
        f"{comparison.values} values, {comparison.gone} that are gone, {comparison.fields} fields"
    )
    kept = f"{comparison.kept_count} in fields of this"
    kept += f", {comparison.lost} lost by a signal"
    return f"{told}, {kept}, {comparison.extra} only the debuggers have", comparison.wrong


def main() -> int:
    if not shutil.which("gdb") or not shutil.which("lldb-14") or not os.path.isdir(LLDB_MODULE):
        print("there is no GDB, or no LLDB with Python", file=sys.stderr)
        return 77
    patterns = one_release_of_each(KINDS, (8, 9, 10, 11))
    return check_cores(__doc__ or "", patterns, compare)


if __name__ == "__main__":
    sys.exit(main())
