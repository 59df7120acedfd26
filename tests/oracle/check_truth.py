#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare what the commands say about each object with what the program that made it said.

    check_truth.py [--program HEAPDUMP] CORE...

Beside NAME.core lies NAME.truth.json, made by corefiles/apps/facts.  Every object that it names is
asked for with dumpobj, dumparray, dumpdelegate or printexception --json, and its strings are looked
up in the answer of strings --json.  Exit status 1 when anything differs.
"""
from __future__ import annotations

import argparse
import math
import pathlib
import sys
from typing import Any, Iterator, Optional

from session import Json, ask, truth_of

# From here on a text is cut, or not told by the program.
LONG = 4096


def visible(text: str) -> str:
    """A text whose lone surrogates are replaced, as in UTF-8."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def same_text(said: str, got: Any) -> bool:
    """Equal, but for how many U+FFFD stand for a lone surrogate."""
    units = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in said)
    return got in (units, visible(said))


def number(text: str) -> float | int:
    """A value as the program wrote it."""
    if text in ("true", "false"):
        return int(text == "true")
    if text.startswith("0x"):
        return int(text, 16)
    try:
        return int(text)
    except ValueError:
        return float(text.replace("Infinity", "inf"))


def same_value(said: str, got: Any, is_single: bool) -> bool:
    """A primitive in the program's words and in ours."""
    if got is None or isinstance(got, (dict, list)):
        return False
    expected = number(said)
    value = number(got) if isinstance(got, str) else int(got) if isinstance(got, bool) else got
    if isinstance(expected, float) and math.isnan(expected):
        return isinstance(value, float) and math.isnan(value)
    if is_single:
        return math.isclose(expected, value, rel_tol=1e-7)
    return expected == value


def instance_fields(fields: list[Json]) -> list[Json]:
    """The fields that each object has."""
    return [field for field in fields if not field["static"]]


def find_field(said: Json, fields: list[Json]) -> Optional[Json]:
    """The field that the program means, by its name and the class that declares it."""
    for field in fields:
        declaring = field.get("declaring", said["declaring"])
        if field["name"] == said["name"] and declaring == said["declaring"]:
            return field
    return None


def check_struct(path: str, said: Json, got: Json) -> Iterator[str]:
    """A field that is a struct: what it means, and its fields."""
    if said.get("null") and got.get("text") != "null":
        yield f"{path} is null, but read as {got.get('text')}"
    elif "text" in said and not said.get("null") and got.get("text") != said["text"]:
        yield f"{path} is {said['text']}, but read as {got.get('text')}"
    if "fields" in said:
        yield from check_fields(path + ".", said["fields"], got.get("fields", []))


def check_fields(path: str, said: list[Json], fields: list[Json]) -> Iterator[str]:
    """Every field with its type and value; no more and no fewer of them."""
    fields = instance_fields(fields)
    if len(fields) != len(said):
        yield f"{path} has {len(said)} fields, but {len(fields)} were read"
    for field in said:
        name = path + field["name"]
        got = find_field(field, fields)
        if got is None:
            yield f"{name} of {field['declaring']} was not read"
            continue
        if got["type"] != field["type"]:
            yield f"{name} is a {field['type']}, but read as {got['type']!r}"
        if "reference" in field:
            if got["value"] != field["reference"]:
                yield f"{name} is {field['reference']}, but read as {got['value']}"
        elif "value" in field:
            if not same_value(field["value"], got["value"], field["type"] == "System.Single"):
                yield f"{name} is {field['value']}, but read as {got['value']}"
        else:
            yield from check_struct(name, field, got)


def check_head(said: Json, got: Json) -> Iterator[str]:
    """Type, size, MethodTable, generation."""
    for key in ("address", "mt", "type", "size"):
        if got.get(key) != said[key]:
            yield f"{key} is {said[key]}, but read as {got.get(key)}"
    allowed = {0: ["0"], 1: ["1"], 2: ["2", "loh", "poh"]}.get(said["generation"], ["nongc"])
    if got.get("generation") not in allowed:
        yield f"generation is {said['generation']}, but read as {got.get('generation')}"


def check_header(said: Json, got: Json) -> Iterator[str]:
    """Thin lock, hash code, sync block."""
    word, sync = int(said["header"], 16), got.get("sync", {})
    expected: Json = {}
    if word & 0x0C000000 == 0x08000000:
        expected = {"index": word & 0x03FFFFFF}
    elif word & 0x08000000:
        expected = {"hash": word & 0x03FFFFFF}
    elif word & 0xFFFF:
        expected = {"lock_thread": word & 0xFFFF, "lock_recursion": word >> 16 & 0x3F}
    read = {k: v for k, v in sync.items() if k not in ("word", "block")}
    if read != expected:
        yield f"the header says {expected}, but was read as {read}"
    if "index" in expected and sync.get("block") in (None, "0x0"):
        yield "its sync block has no address"


def check_object(said: Json, got: Json) -> Iterator[str]:
    """The answer of dumpobj."""
    yield from check_head(said, got)
    yield from check_header(said, got)
    for key in ("length", "lengths", "lower_bounds"):
        if key in said and got.get(key) != said[key]:
            yield f"{key} is {said[key]}, but read as {got.get(key)}"
    if "string" in said and not same_text(said["string"], got.get("string")):
        yield f"is {said['string']!r}, but read as {got.get('string')!r}"
    if "fields" in said:
        yield from check_fields("", said["fields"], got["fields"])
    elif "value" in said:
        fields = instance_fields(got["fields"])
        value = fields[0]["value"] if len(fields) == 1 else None
        if not same_value(said["value"], value, said["type"] == "System.Single"):
            yield f"the boxed value is {said['value']}, but read as {value}"


def check_array(said: Json, got: Json) -> Iterator[str]:
    """The answer of dumparray."""
    elements = got["elements"]
    if len(elements) != said["length"]:
        yield f"has {said['length']} elements, but {len(elements)} were read"
    for i, (expected, element) in enumerate(zip(said.get("elements", []), elements)):
        if not same_value(expected, element, said["type"] == "System.Single[]"):
            yield f"element {i} is {expected}, but read as {element}"


def check_delegate(said: Json, got: Json) -> Iterator[str]:
    """The answer of dumpdelegate."""
    expected, calls = said["delegate"], got["invocations"]
    if len(calls) != expected["invocations"]:
        yield f"calls {expected['invocations']} methods, but {len(calls)} were read"
    if len(calls) != 1:
        return
    # A static method closed over an argument: that is the target of the delegate's object.  An open one
    # says null, but is its own.
    target = got["address"] if expected["target"] == "0x0" else expected["target"]
    if calls[0]["target"] != target:
        yield f"the target is {expected['target']}, but was read as {calls[0]['target']}"
    name = calls[0]["name"]
    if name is not None and expected["method"] not in name:
        yield f"the method is {expected['method']}, but was read as {name}"


def check_exception(said: Json, got: Json) -> Iterator[str]:
    """The answer of printexception."""
    for key in ("type", "hresult", "inner"):
        if got[key] != said[key]:
            yield f"{key} is {said[key]}, but read as {got[key]}"
    # A message that is null is made up by the getter, an AggregateException's is put together.
    message = got["message"]
    if message is not None and not said["message"].startswith(message):
        yield f"the message is {said['message']!r}, but was read as {message!r}"
    if bool(got["stack"]) != said["thrown"]:
        yield f"thrown is {said['thrown']}, but there are {len(got['stack'])} frames"


def check_strings(said: list[Json], got: Json) -> Iterator[str]:
    """The answer of strings: has what the program made, and adds up."""
    values: dict[str, list[Json]] = {}
    for row in got["strings"]:
        values.setdefault(row["value"], []).append(row)
    for thing in said:
        if "string" in thing and len(thing["string"]) < LONG:
            rows = values.get(visible(thing["string"]), [])
            sizes = [row["size"] // row["count"] for row in rows]
            if thing["size"] not in sizes:
                yield f"{thing['name']} is not among the strings"
    total = got["total"]
    if sum(row["count"] for row in got["strings"]) != total["count"]:
        yield "the counts of the strings do not make their total"
    if sum(row["size"] for row in got["strings"]) != total["size"]:
        yield "the sizes of the strings do not make their total"


def check_statics(said: list[Json], classes: dict[str, Json]) -> Iterator[str]:
    """The statics of types that have an instance among the named objects."""
    for static in said:
        owner, name = static["name"].rsplit(".", 1)
        fields = classes.get(owner, {}).get("fields", [])
        for field in fields:
            if not field["static"] or field["name"] != name:
                continue
            if "object" in static and field["value"] != static["object"]:
                yield f"{static['name']} is {static['object']}, but read as {field['value']}"


def commands(said: Json) -> list[tuple[str, Any]]:
    """The commands to ask about an object, and the functions that check the answers."""
    asked: list[tuple[str, Any]] = [("dumpobj", check_object)]
    if "lengths" in said:
        asked.append(("dumparray", check_array))
    if "delegate" in said:
        asked.append(("dumpdelegate", check_delegate))
    if "hresult" in said:
        asked.append(("printexception", check_exception))
    return asked


def check_core(program: str, core: pathlib.Path) -> tuple[int, list[str]]:
    """Check one core; returns how many answers were checked, and the problems."""
    truth = truth_of(core)
    objects = truth.get("objects", [])
    asked = [(said, command, check) for said in objects for command, check in commands(said)]
    lines = [f"{command} {said['address']}" for said, command, _ in asked]
    answers = ask(program, core, lines + ["strings"])
    problems: list[str] = []
    classes: dict[str, Json] = {}
    for (said, command, check), answer in zip(asked, answers):
        where = f"{core.stem}: {said['name']}: {command} {said['address']}"
        if "error" in answer:
            problems.append(f"{where}: {answer['error']['message']}")
            continue
        if command == "dumpobj":
            classes[answer["type"]] = answer
        problems += [f"{where}: {problem}" for problem in check(said, answer)]
    problems += [f"{core.stem}: {p}" for p in check_strings(objects, answers[-1])]
    problems += [f"{core.stem}: {p}" for p in check_statics(truth.get("statics", []), classes)]
    return len(answers), problems


def main() -> int:
    """Check all cores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build/heapdump")
    parser.add_argument("cores", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    failed = 0
    for core in args.cores:
        count, problems = check_core(args.program, core)
        print(f"{core.stem}: {count} answers, {len(problems)} differ")
        for problem in problems:
            print("  " + problem)
        failed += len(problems)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
