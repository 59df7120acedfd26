#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write doc/schema/COMMAND.json: a JSON Schema of the document that each command writes with --json.

    make_schemas.py [--check] [--build DIR]

The library itself describes tables, columns, their kinds and what they mean (heapdump/answer.h). Which tables a
command has, and which table is inside which, is known when it runs: every command line of tests/golden is run, and
the command lines in MORE. --check writes nothing, and fails when a file differs from what would be written.
"""
from __future__ import annotations

import argparse
import ctypes
import itertools
import json
import os
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any, Iterator

SOURCE = Path(__file__).resolve().parent.parent
FOLDER = SOURCE / "doc" / "schema"
sys.path[:0] = [str(SOURCE / "scripts"), str(SOURCE / "python")]

# pylint: disable=wrong-import-position
import golden  # noqa: E402
from heapdump import native, rows  # noqa: E402

# File, and a command line: what no golden case runs because its answer differs each time.
LEAK = "--no-files corefiles/leak.core.zst"
MORE = (
    ("", "ps"),
    ("", "doctor"),
    (LEAK, "setthread 1"),
    (LEAK, "dumparray 7f039d8013e0"),
    (LEAK, "printexception 7f039fc00088"),
    ("corefiles/bubblecs.heap", "export {folder}/exported.gcdump"),
    (LEAK, "export {folder}/managed.elf"),
    ("corefiles/bubblecs.heap", "report -o {folder}/report.html"),
    ("corefiles/bubblecs.heap", "sql -o {folder}/rows.parquet SELECT 1"),
    ("corefiles/bubblecs.heap", "export {folder}/refs.arrows -table refs"),
)
# These have no document, or only when there is a .NET process: collect.
WITHOUT = ("collect", "close")
DIALECT = "https://json-schema.org/draft/2020-12/schema"
TYPES: dict[int, dict[str, Any]] = {
    rows.FLAG: {"type": ["boolean", "null"]},
    rows.SIGNED: {"type": ["integer", "null"]},
    rows.ADDRESS: {"type": ["string", "null"], "pattern": "^0x[0-9a-f]+$"},
    rows.REAL: {"type": ["number", "string", "null"]},
    rows.PERCENT: {"type": ["number", "null"]},
    rows.TEXT: {"type": ["string", "null"]},
    rows.TYPE: {"type": ["string", "null"]},
    rows.SET: {"type": ["array", "null"], "items": {"type": "string"}},
}
COUNT: dict[str, Any] = {"type": ["integer", "null"], "minimum": 0}
NUMBERS = (2, 4)  # HD_KIND_NUMBER, HD_KIND_BYTES
ANY = 11

# Every document has these.
OUTSIDE: dict[str, Any] = {
    "schema": {"description": "version of the documents of this command", "const": 1},
    "command": {"description": "name of the command", "type": "string"},
    "target": {
        "description": "what was open, as it was named; null: nothing",
        "type": ["string", "null"],
    },
    "error": {
        "description": "only when the command failed; then other members may be missing",
        "type": "object",
        "properties": {
            "status": {"description": "the kind of error", "type": "string"},
            "message": {"description": "one line for a person", "type": "string"},
        },
        "required": ["status", "message"],
        "additionalProperties": False,
    },
}
# The document of each command that reads what is open may also have this: call_end_facts() adds it.
ABSENT: dict[str, Any] = {
    "absent_fields": {
        "description": "types and fields that the command looked for and that this framework lacks: "
        "if there are any, the answer may miss something, and the status is 1",
        "type": "array",
        "items": {"type": "string"},
    }
}


def new_object() -> dict[str, Any]:
    """The schema of an object without members."""
    return {"type": ["object", "null"], "properties": {}, "additionalProperties": False}


def inner_object(holder: dict[str, Any], name: str) -> dict[str, Any]:
    """The object that the member ``name`` is; where it was a value until now, it may be either."""
    known = holder["properties"].setdefault(name, new_object())
    if "properties" not in known:
        made = new_object() | {key: known[key] for key in known if key == "description"}
        made["type"] = sorted({"object", "null"} | set(known.get("type", [])))
        known = holder["properties"][name] = made
    return known


def member(holder: dict[str, Any], path: list[str]) -> tuple[dict[str, Any], str]:
    """The object in ``holder`` that has the last name of ``path`` as a member, and that name."""
    for name in path[:-1]:
        holder = inner_object(holder, name)
    return holder, path[-1]


def merge(one: dict[str, Any] | None, other: dict[str, Any]) -> dict[str, Any]:
    """A schema that allows what either allows."""
    if one is None or one == other:
        return other
    types = [kind["type"] for kind in (one, other) if "type" in kind]
    kept = ("description", "properties", "additionalProperties")
    result = {key: value for key, value in one.items() if key in kept}
    if len(types) == 2:
        result["type"] = sorted(set(types[0]) | set(types[1]))
    return result


class Commands:
    """The observations about each command."""

    def __init__(self, lib: ctypes.CDLL) -> None:
        self._lib = lib
        self.documents: dict[str, dict[str, Any]] = {}

    def ask(self, session: Any, argv: list[str]) -> int:
        """Run a command, and remember its tables."""
        answer = rows.Rows(self._lib)
        try:
            sink = native.Sink(struct_size=ctypes.sizeof(native.Sink))
            status = answer.run(session, argv, sink)
            name = native.decode(native.command(self._lib, argv[0]).name)
            for table in answer.tables() if name else []:
                if not table.parent:
                    self._add(self.documents.setdefault(name, new_object()), table)
            return status
        except native.HeapdumpError:
            return 2
        finally:
            answer.close()

    def _add(self, holder: dict[str, Any], table: rows.Table) -> None:
        """Add a table to the object whose row it is in, and all tables inside it; a list of what is left to do
        takes the place of recursion."""
        todo = [(holder, table)]
        while todo:
            holder, table = todo.pop()
            row = self._row_of(holder, table)
            raw = ctypes.cast(table.address, ctypes.POINTER(rows._Table))[0]
            is_list = table.shape == rows.LIST
            for i in range(int(is_list), raw.column_count):
                self._add_column(row, raw.columns[i], table.columns[i])
            todo += [(row, child) for child in table.children]

    def _row_of(self, holder: dict[str, Any], table: rows.Table) -> dict[str, Any]:
        """The object that is a row of the table."""
        if table.shape == rows.MEMBERS:
            names = table.own_name.split(".") if table.own_name else []
            for name in names:
                holder = inner_object(holder, name)
            return holder
        found, name = member(holder, table.own_name.split("."))
        if table.shape == rows.RECORD:
            return inner_object(found, name)
        known = found["properties"].setdefault(name, {"type": ["array", "null"]})
        if table.shape == rows.LIST:
            raw = ctypes.cast(table.address, ctypes.POINTER(rows._Table))[0]
            items = known.setdefault(
                "items", {"anyOf": [self._column(raw.columns[0]), new_object()]}
            )
            return items["anyOf"][1]
        return known.setdefault("items", new_object())

    def _column(self, column: Any) -> dict[str, Any]:
        described = {"description": native.decode(column.help)} if column.help else {}
        kind = COUNT if column.kind in NUMBERS else {} if column.kind == ANY else TYPES[column.kind]
        return described | kind

    def _add_column(self, row: dict[str, Any], column: Any, path: list[str]) -> None:
        found, name = member(row, path)
        found["properties"][name] = merge(found["properties"].get(name), self._column(column))


def lines(folder: str) -> Iterator[tuple[str, list[str]]]:
    """File and words of every command line; what is written goes to ``folder``."""
    cases = [(case.file, case.command) for case in golden.find_cases([])]
    cases += [(file, command.format(folder=folder)) for file, command in MORE]
    for file, group in itertools.groupby(sorted(cases), key=lambda found: found[0]):
        for command in dict.fromkeys(line for _, line in group):
            try:
                words = [word for word in shlex.split(command) if word != "--json"]
            except ValueError:
                continue
            is_written = words and words[0] == "export" and "-" in words
            if words and words[0] not in WITHOUT and not is_written:
                yield file, words


def read_all(lib: ctypes.CDLL) -> dict[str, dict[str, Any]]:
    """The objects that the documents of all commands are, without what every one has."""
    found = Commands(lib)
    with tempfile.TemporaryDirectory() as folder:
        for file, words in lines(folder):
            session = ctypes.c_void_p()
            native.check(lib.hd_session_create, ctypes.byref(session))
            try:
                if not file or found.ask(session, ["open", *shlex.split(file)]) <= 1:
                    found.ask(session, words)
            finally:
                lib.hd_session_destroy(session)
    return found.documents


def document(name: str, found: dict[str, Any], reads: bool) -> str:
    """The text of a file; ``reads``: the command reads what is open."""
    schema = {
        "$schema": DIALECT,
        "title": f"heapdump {name} --json",
        "type": "object",
        "properties": OUTSIDE | found["properties"] | (ABSENT if reads else {}),
        "required": ["schema", "command", "target"],
        "additionalProperties": False,
    }
    return golden.unfolded(json.dumps(schema) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="compare with the files that are there"
    )
    parser.add_argument(
        "--build", type=Path, default=SOURCE / "build", help="the folder of the build"
    )
    options = parser.parse_args()
    build = options.build.resolve()
    os.chdir(SOURCE)
    lib = native.load(str(build / "libheapdump.so"))
    reading = {native.decode(info.name) for info in native.commands(lib) if info.needs_open}
    texts = {name: document(name, found, name in reading) for name, found in read_all(lib).items()}
    names = {native.decode(info.name) for info in native.commands(lib)} - set(WITHOUT)
    wrong = [f"{name}: no golden case shows its document" for name in sorted(names - set(texts))]
    FOLDER.mkdir(exist_ok=True)
    for name, text in sorted(texts.items()):
        path = FOLDER / f"{name}.json"
        if not options.check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            wrong.append(f"doc/schema/{name}.json differs: run scripts/make_schemas.py")
    for path in sorted(FOLDER.glob("*.json")):
        if path.stem not in texts:
            wrong.append(f"doc/schema/{path.name}: there is no such command")
    for line in wrong:
        print(f"make_schemas: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
