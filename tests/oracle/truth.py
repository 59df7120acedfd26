# SPDX-License-Identifier: MIT
"""Compare what heapdump reads with what the program said about its own heap."""
from __future__ import annotations

import collections
import pathlib
import struct
from typing import Any, Callable, Iterator, Optional

Result = tuple[str, int, list[str], dict[str, int]]  # fact, how many, problems, rules
FORMATS = {2: "?", 4: "b", 5: "B", 6: "h", 7: "H", 8: "i", 9: "I", 10: "q", 11: "Q"}
FORMATS |= {3: "H", 12: "f", 13: "d"}
HANDLES = {"weak-short": "0", "weak-long": "1", "strong": "2", "pinned": "3", "dependent": "6"}


class Facts:
    """heapdump's lines about the objects that the program named."""

    def __init__(self, path: pathlib.Path, wanted: set[str]) -> None:
        self.objects: dict[str, list[str]] = {}
        self.by_address: dict[tuple[str, str], list[str]] = {}
        self.names: dict[str, str] = {}
        self.instances: collections.Counter[str] = collections.Counter()
        self.values: dict[str, dict[str, tuple[int, int]]] = collections.defaultdict(dict)
        self.fields: dict[str, set[tuple[str, str]]] = collections.defaultdict(set)
        self.threads: dict[int, list[str]] = {}
        self.statics: dict[tuple[str, str], str] = {}
        self.handles: set[tuple[str, ...]] = set()
        self.thread_statics: set[tuple[str, str, str]] = set()
        self.slots: dict[tuple[str, str], str] = {}
        with path.open(encoding="utf-8", errors="surrogateescape") as lines:
            for line in lines:
                self._line(line.rstrip("\n").split("\t"), wanted)

    def _line(self, line: list[str], wanted: set[str]) -> None:
        kind = line[0]
        if kind == "O":
            self.instances[line[2]] += 1
        if kind in "OTPXDMLB" and line[1] in wanted:
            self.by_address[(kind, line[1])] = line
        elif kind == "F":
            self.fields[line[1]].add((line[2], line[6]))
        elif kind in "Nn":
            self.names[line[1]] = line[2]
        elif kind == "h":
            self.handles.add(tuple(line[1:4]))
            self.handles.add((line[2], line[4], line[3]))
        elif kind == "q":
            self.slots[(line[1], line[3])] = line[4]
        elif kind == "t":
            self.thread_statics.add((line[3], line[4], line[5]))
        elif kind == "V":
            self.values[line[1]][line[2]] = (int(line[3]), int(line[4], 16))
        elif kind == "H":
            self.threads[int(line[1])] = line
        elif kind == "Q":
            # The slot of a struct refers to its box, the program knows where the box is.
            self.statics[(line[1], line[2])] = "boxed" if line[4] == "17" else line[6]

    def get(self, kind: str, address: str) -> Optional[list[str]]:
        """The line of that kind about an object."""
        return self.by_address.get((kind, address))

    def type_of(self, address: str) -> str:
        """Name of an object's type."""
        line = self.get("O", address)
        return self.names.get(line[2], "") if line else ""


def plain(address: str) -> str:
    """As the facts spell it."""
    return address.removeprefix("0x")


def check_object(said: dict[str, Any], facts: Facts) -> Iterator[str]:
    """Address, MethodTable, size, generation."""
    line = facts.get("O", plain(said["address"]))
    if line is None:
        yield "is not on the heap"
        return
    if "mt" not in said:
        return
    if (line[2], int(line[3])) != (plain(said["mt"]), said["size"]):
        yield f"is {said['mt']}, {said['size']} bytes, but read as {line[2]}, {line[3]}"
    allowed = {0: "0", 1: "1", 2: "2lp"}.get(said["generation"], "n")
    tag = said["name"].split(".")
    if tag[0] == "array" and tag[1] in ("loh", "poh"):
        allowed = tag[1][0]
    if line[4] not in allowed:
        yield f"is in generation {said['generation']}, but read as {line[4]}"


def check_header(said: dict[str, Any], facts: Facts) -> Iterator[str]:
    """The lock or sync block that the header word tells of."""
    if "header" not in said:
        return
    address, word = plain(said["address"]), int(said["header"], 16)
    thin, block = facts.get("L", address), facts.get("B", address)
    expected = None
    if word & 0x0C000000 == 0x08000000:
        expected = str(word & 0x03FFFFFF)
        if block is None or block[2] != expected:
            yield f"has sync block {expected}, but read as {block}"
    elif block:
        yield f"has no sync block, but read as {block}"
    if not word & 0x0C000000 and word & 0xFFFF:
        expected_lock = [str(word & 0xFFFF), str(word >> 16 & 0x3F)]
        if thin is None or thin[2:4] != expected_lock:
            yield f"is locked by {expected_lock}, but read as {thin}"
    elif thin:
        yield f"is not locked, but read as {thin}"


def check_string(said: dict[str, Any], facts: Facts) -> Iterator[str]:
    """Text and length."""
    if said["type"] != "System.String" or "length" not in said:
        return
    line = facts.get("T", plain(said["address"]))
    if line is None or int(line[2]) != said["length"]:
        yield f"has {said['length']} units, but read as {line}"
    elif "string" in said:
        units = said["string"].encode("utf-16-be", "surrogatepass").hex()[:4000] or "-"
        if units != line[3]:
            yield f"is {units}, but read as {line[3]}"


def check_array(said: dict[str, Any], facts: Facts) -> Iterator[str]:
    """Lengths and lower bounds."""
    if "lengths" not in said:
        return
    line = facts.get("P", plain(said["address"]))
    expected = [",".join(str(n) for n in said[key]) for key in ("lengths", "lower_bounds")]
    if line is None or line[3:5] != expected:
        yield f"has the shape {expected}, but read as {line}"


def check_exception(said: dict[str, Any], facts: Facts) -> Iterator[str]:
    """HRESULT, inner exception, message."""
    if "hresult" not in said:
        return
    line = facts.get("X", plain(said["address"]))
    if line is None:
        yield "is not read as an exception"
        return
    if int(line[2], 16) != said["hresult"] & 0xFFFFFFFF or line[3] != plain(said["inner"]):
        yield f"has {said['hresult']:x} and {said['inner']}, but read as {line}"
    message = "" if line[4] == "-" else bytes.fromhex(line[4]).decode("utf-8")
    # A message that is null is made up by the getter, an AggregateException's is put together.
    composed = not message or said["type"] == "System.AggregateException"
    if not composed and not said["message"].startswith(message):
        yield f"says {said['message']!r}, but read as {message!r}"


def check_delegate(said: dict[str, Any], facts: Facts) -> Iterator[str]:
    """Target and method."""
    if "delegate" not in said:
        return
    address, delegate = plain(said["address"]), said["delegate"]
    if delegate["invocations"] > 1:
        line = facts.get("M", address)
        if line is None or len(line[2].split(",")) != delegate["invocations"]:
            yield f"calls {delegate['invocations']} methods, but read as {line}"
        return
    line = facts.get("D", address)
    if line is None:
        yield "is not read as a delegate with one target"
        return
    # Delegate.Target of an open one is null; the object's is the delegate itself.
    target = address if delegate["target"] == "0x0" else plain(delegate["target"])
    if line[2] != target:
        yield f"has the target {delegate['target']}, but read as {line[2]}"
    if line[4] != "-" and "." + delegate["method"] not in "." + line[4]:
        yield f"calls {delegate['method']}, but read as {line[4]}"


def bits_of(text: str, element: int) -> int:
    """A value as the program wrote it, as its bits."""
    if text.startswith("0x"):
        return int(text, 16)
    if element == 2:
        return int(text == "true")
    if element in (12, 13):
        number = float(text.replace("Infinity", "inf"))
        layout = "<f" if element == 12 else "<d"
        return int.from_bytes(struct.pack(layout, number), "little")
    return int(text)


def same_bits(expected: str, element: int, bits: int) -> bool:
    """Compare as many bits as the element has."""
    size = struct.calcsize(FORMATS[element]) if element in FORMATS else 8
    mask = (1 << 8 * size) - 1
    if expected == "NaN":
        size = 52 if element == 13 else 23
        exponent = 0x7FF if element == 13 else 0xFF
        return bits >> size & exponent == exponent and bits & ((1 << size) - 1) != 0
    return bits_of(expected, element) & mask == bits & mask


def leaves(fields: list[dict[str, Any]], path: str = "") -> Iterator[tuple[str, str]]:
    """Path and value of all primitive and reference fields."""
    for field in fields:
        name = f"{path}{field['declaring']}.{field['name']}"
        if "fields" in field:
            yield from leaves(field["fields"], name + "/")
        elif "reference" in field:
            yield name, field["reference"]
        elif "value" in field:
            yield name, field["value"]


def check_values(said: dict[str, Any], facts: Facts) -> Iterator[str]:
    """Values of fields, of elements, and of boxes."""
    found = facts.values.get(plain(said["address"]), {})
    expected = list(leaves(said.get("fields", [])))
    expected += [(f"[{i}]", value) for i, value in enumerate(said.get("elements", []))]
    if "value" in said:
        expected.append((next(iter(found), "value"), said["value"]))
    for path, value in expected:
        if path not in found:
            yield f"{path} is {value}, but not read"
        elif not same_bits(value, *found[path]):
            yield f"{path} is {value}, but read as {found[path][1]:x}"


def check_fields(said: dict[str, Any], facts: Facts) -> Iterator[str]:
    """Names and types of all instance fields."""
    if "fields" not in said:
        return
    expected = {(field["name"], field["type"]) for field in said["fields"]}
    found = facts.fields[plain(said["mt"])]
    for name, kind in sorted(expected - found):
        yield f"has the field {name}: {kind}, but read as {[k for n, k in found if n == name]}"
    for name, kind in sorted(found - expected):
        yield f"has no field {name}: {kind}"


def check_type(said: dict[str, Any], facts: Facts) -> Iterator[str]:
    """Name of the type."""
    name = facts.type_of(plain(said["address"]))
    if name != said["type"]:
        yield f"is a {said['type']}, but read as {name}"


CHECKS: dict[str, Callable[[dict[str, Any], Facts], Iterator[str]]] = {
    "objects": check_object,
    "type names": check_type,
    "headers": check_header,
    "strings": check_string,
    "array shapes": check_array,
    "exceptions": check_exception,
    "delegates": check_delegate,
    "fields": check_fields,
    "values": check_values,
}


def check_counts(said: dict[str, Any], facts: Facts) -> Iterator[str]:
    """Instances of types of which there is no garbage."""
    totals: collections.Counter[str] = collections.Counter()
    for table, count in facts.instances.items():
        totals[facts.names.get(table, "")] += count
    for name, count in said.get("counts", {}).items():
        if totals[name] != count:
            yield f"there are {count} {name}, but {totals[name]} were read"


def check_threads(said: dict[str, Any], facts: Facts) -> Iterator[str]:
    """Managed and system ids; what each allocated last."""
    for thread in said.get("threads", []):
        line = facts.threads.get(thread["managed_id"])
        if line is None or int(line[2]) != thread["os_id"]:
            yield f"thread {thread['managed_id']} is {thread['os_id']}, but read as {line}"
        for key, field in (("reference", "threadReference"), ("generic", "threadObject")):
            slot = plain(thread[f"thread_{key}_slot"])
            if (field, str(thread["os_id"]), slot) not in facts.thread_statics:
                yield f"thread {thread['managed_id']}: {field} is at {slot}, but was not read there"
        if facts.get("O", plain(thread["last_object"])) is None:
            yield f"thread {thread['managed_id']}: {thread['last_object']} is not on the heap"


def check_statics(said: dict[str, Any], facts: Facts) -> Iterator[str]:
    """Slots of static fields."""
    # Types of the same name: copies in collectible contexts.
    tables: dict[str, list[str]] = collections.defaultdict(list)
    for table, name in facts.names.items():
        tables[name].append(table)
    for static in said.get("statics", []):
        owner, name = static["name"].rsplit(".", 1)
        found = {facts.statics.get((t, name), facts.slots.get((t, name))) for t in tables[owner]}
        if not found & {"boxed", plain(static["address"])}:
            yield f"{static['name']} is at {static['address']}, but read as {found}"


def check_handles(said: dict[str, Any], facts: Facts) -> Iterator[str]:
    """Address, object and type; objects of dependent handles, of which only those are known."""
    for handle in said.get("handles", []):
        kind, thing = HANDLES[handle["kind"]], plain(handle["object"])
        expected = (plain(handle.get("address", "0")), thing, kind)
        if handle["kind"] == "dependent":
            expected = (thing, plain(handle["secondary"]), kind)
        if expected not in facts.handles:
            yield f"the handle {handle} was not read"


def check(said: dict[str, Any], path: pathlib.Path) -> Iterator[Result]:
    """All facts of one core."""
    objects = said.get("objects", [])
    wanted = {plain(o["address"]) for o in objects}
    wanted |= {plain(t["last_object"]) for t in said.get("threads", [])}
    facts = Facts(path, wanted)
    for fact, function in CHECKS.items():
        problems: list[str] = []
        for thing in objects:
            for problem in function(thing, facts):
                problems.append(f"{thing['name']} ({thing['address']}) {problem}")
        if objects:
            yield fact, len(objects), problems, {}
    if "counts" in said:
        yield "counts", len(said["counts"]), list(check_counts(said, facts)), {}
    if "statics" in said:
        yield "statics", len(said["statics"]), list(check_statics(said, facts)), {}
    if "handles" in said:
        yield "handles", len(said["handles"]), list(check_handles(said, facts)), {}
    if "threads" in said:
        yield "threads", len(said["threads"]), list(check_threads(said, facts)), {}
