#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare what heapdump finds in collections with what the program corefiles/apps/collections said of them.

    check_collections.py [--program HEAPDUMP] [CORE...]

Without CORE: all coll*.core of corefiles/build, or of $COREFILES.  Every item of every collection must be equal: its
key and its value, in their order where the collection has one; and count and capacity.  Exit status 1 when anything
differs, 77 without cores.
"""
from __future__ import annotations

import pathlib
import re
import sys
from typing import Any, Iterator

from session import Json, ask, check_cores, truth_of

# Collections that one session is asked about: their answers are long.
AT_ONCE = 20
# A field of a struct that is a key: "{X 1, Y 2}".
FIELD = re.compile(r"(\w+) (-?\d+)[,}]")


def shape(value: Any, text: Any, name: str | None, fields: list[Json] | None) -> Any:
    """A key or value in the form in which the program says it."""
    if fields is not None:
        return {
            "fields": {field["name"]: field["value"] for field in fields if not field["static"]}
        }
    if value == "0x0":
        return None
    if name == "System.String":
        return {"text": text}
    return {"type": name} if isinstance(value, str) else value


def read(row: Json) -> list[Any]:
    """An item as the program says it: its value, or its key and its value."""
    value = shape(row["value"], row.get("text"), row.get("type"), row.get("fields"))
    if "key" not in row:
        return [value]
    text = row.get("key_text") or ""
    if text.startswith("{"):
        return [{"fields": {name: int(number) for name, number in FIELD.findall(text)}}, value]
    return [shape(row["key"], text, row.get("key_type"), None), value]


def differences(said: Json, answer: Json) -> Iterator[str]:
    """Differences of one collection."""
    if "error" in answer:
        yield f"{answer['error']}"
        return
    have, want = answer["items"], said["items"]
    if not answer["complete"] or answer["found"] != said["count"]:
        yield f"{answer['found']} items found, the program says {said['count']}"
    if answer["count"] not in (None, said["count"]):
        yield f"count {answer['count']}, the program says {said['count']}"
    if said["capacity"] is not None and answer["capacity"] != said["capacity"]:
        yield f"capacity {answer['capacity']}, the program says {said['capacity']}"
    if len(have) != len(want):
        yield f"{len(have)} items listed, the program says {len(want)}"
        return
    rows = [read(row) for row in have]
    if not said["ordered"]:
        rows.sort(key=repr)
        want = sorted(want, key=repr)
    for index, (row, item) in enumerate(zip(rows, want)):
        if row != item:
            yield f"item {index} is {row}, the program says {item}"
            return


def compare(program: str, core: pathlib.Path) -> tuple[str, list[str]]:
    """How many collections and items of a core were compared, and what differs."""
    said = truth_of(core)["collections"]
    wrong: list[str] = []
    for begin in range(0, len(said), AT_ONCE):
        part = said[begin : begin + AT_ONCE]
        answers = ask(program, core, [f"dumpcollection {one['address']}" for one in part])
        for one, answer in zip(part, answers):
            wrong += [f"{one['name']}: {line}" for line in differences(one, answer)]
    items = sum(one["count"] for one in said)
    return f"{len(said)} collections, {items} items", wrong


if __name__ == "__main__":
    sys.exit(check_cores(__doc__ or "", ["coll*.core"], compare))
