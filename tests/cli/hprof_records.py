# SPDX-License-Identifier: MIT
"""Reads an HPROF file record by record, and refuses what breaks the rules of doc/formats.md 10."""
from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path

SIZES = {2: 8, 4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
ARRAYS = {
    4: "boolean[]",
    5: "char[]",
    6: "float[]",
    7: "double[]",
    8: "byte[]",
    9: "short[]",
    10: "int[]",
    11: "long[]",
}
NEEDED = ("java/lang/Object", "java/lang/Class", "java/lang/String", "java/lang/System")


class Broken(Exception):
    """The file breaks a rule."""


def rule(holds: bool, text: str) -> None:
    """Fail unless a rule holds."""
    if not holds:
        raise Broken(text)


class Bytes:
    """Takes big-endian numbers from bytes, and never more than there are."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        """The next bytes."""
        rule(self.at + size <= len(self.data), f"{size} bytes at {self.at} are not there")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size: int) -> int:
        """The next number."""
        return int.from_bytes(self.take(size), "big")


class Class:  # pylint: disable=too-few-public-methods
    """A class: its fields and statics."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parent = 0
        self.size = 0
        self.is_dumped = False
        self.fields: list[tuple[str, int]] = []
        self.statics: dict[str, int] = {}


class Hprof:  # pylint: disable=too-many-instance-attributes
    """A whole file."""

    def __init__(self, path: Path) -> None:
        data = Bytes(path.read_bytes())
        rule(data.take(19) == b"JAVA PROFILE 1.0.2\0", "the head")
        rule(data.number(4) == 8, "ids of 8 bytes")
        self.time = data.number(8)
        self.names: dict[int, str] = {}
        self.classes: dict[int, Class] = {}
        self.serials: dict[int, int] = {}
        self.frames: dict[int, tuple[str, str]] = {}
        self.traces: dict[int, list[int]] = {}
        self.instances: dict[int, tuple[int, bytes]] = {}
        self.arrays: dict[int, tuple[int, list[int]]] = {}
        self.numbers: dict[int, tuple[int, bytes]] = {}
        self.roots: list[tuple[int, int, tuple[int, ...]]] = []
        self.segments = 0
        ended = False
        while data.at < len(data.data):
            rule(not ended, "records after the end")
            tag, _, size = data.number(1), data.number(4), data.number(4)
            ended = self.record(tag, Bytes(data.take(size)))
        rule(ended, "no end")
        self.check()

    def record(self, tag: int, body: Bytes) -> bool:
        """One record; True for the last."""
        if tag == 0x01:
            name = body.number(8)
            rule(name not in self.names, f"string {name} twice")
            self.names[name] = body.take(len(body.data) - 8).decode()
        elif tag == 0x02:
            serial, of = body.number(4), body.number(8)
            rule(serial not in self.serials and of not in self.classes, f"class {of:x} twice")
            body.number(4)
            self.serials[serial] = of
            self.classes[of] = Class(self.names[body.number(8)])
        elif tag == 0x04:
            frame, name, signature, file = (body.number(8) for _ in range(4))
            rule(signature in self.names and file in self.names, "names of a frame")
            self.frames[frame] = (self.classes[self.serials[body.number(4)]].name, self.names[name])
            body.number(4)
        elif tag == 0x05:
            serial, _, count = body.number(4), body.number(4), body.number(4)
            self.traces[serial] = [body.number(8) for _ in range(count)]
            rule(all(frame in self.frames for frame in self.traces[serial]), "frames of a trace")
        elif tag == 0x1C:
            self.segments += 1
            while body.at < len(body.data):
                self.sub(body.number(1), body)
        else:
            rule(tag == 0x2C, f"tag {tag:x}")
        rule(body.at == len(body.data), f"record {tag:x} has another size")
        return tag == 0x2C

    def sub(self, tag: int, body: Bytes) -> None:
        """One record of a segment."""
        of = body.number(8)
        roots = {0xFF: (), 1: (8,), 2: (4, 4), 3: (4, 4), 4: (4,), 5: (), 7: (), 8: (4, 4)}
        if tag in roots:
            self.roots.append((tag, of, tuple(body.number(size) for size in roots[tag])))
            return
        body.number(4)
        if tag == 0x20:
            self.class_dump(of, body)
        elif tag == 0x21:
            kind, size = body.number(8), body.number(4)
            rule(of not in self.instances, f"object {of:x} twice")
            self.instances[of] = (kind, body.take(size))
        elif tag == 0x22:
            count, kind = body.number(4), body.number(8)
            rule(of not in self.arrays, f"object {of:x} twice")
            self.arrays[of] = (kind, list(struct.unpack(f">{count}Q", body.take(8 * count))))
        else:
            rule(tag == 0x23, f"tag {tag:x} in a segment")
            count, kind = body.number(4), body.number(1)
            rule(of not in self.numbers, f"object {of:x} twice")
            self.numbers[of] = (kind, body.take(SIZES[kind] * count))

    def class_dump(self, of: int, body: Bytes) -> None:
        """A class with its fields."""
        row = self.classes[of]
        rule(not row.is_dumped, f"class {of:x} twice")
        row.is_dumped = True
        row.parent = body.number(8)
        rule(body.take(40) == bytes(40), "loader and others")
        row.size = body.number(4)
        rule(body.number(2) == 0, "constants")
        for _ in range(body.number(2)):
            name = self.names[body.number(8)]
            rule(body.number(1) == 2, "a static that is not a reference")
            row.statics[name] = body.number(8)
        for _ in range(body.number(2)):
            name = self.names[body.number(8)]
            row.fields.append((name, body.number(1)))

    def chain(self, of: int) -> list[Class]:
        """A class and those it derives from."""
        rows: list[Class] = []
        while of:
            rows.append(self.classes[of])
            of = rows[-1].parent
            rule(len(rows) < 1000, "a circle of classes")
        return rows

    def fields(self, of: int) -> dict[str, int]:
        """The values of an instance."""
        kind, data = self.instances[of]
        body = Bytes(data)
        found: dict[str, int] = {}
        for row in self.chain(kind):
            for name, type_ in row.fields:
                found[name] = body.number(SIZES[type_])
        rule(body.at == len(data), f"fields of {of:x}")
        return found

    def check(self) -> None:
        """Rules about the whole file."""
        rule(0 in self.traces and not self.traces[0], "trace 0")
        rule(all(row.is_dumped for row in self.classes.values()), "a class without its record")
        by_name = {row.name: row for row in self.classes.values()}
        for name in NEEDED:
            rule(name in by_name, name)
        props = by_name["java/lang/System"].statics["props"]
        rule(props in self.instances and "table" in self.fields(props), "props")
        threads = {of[0] for tag, _, of in self.roots if tag == 8}
        for tag, of, more in self.roots:
            known = of in self.instances or of in self.arrays or of in self.numbers
            rule(known or (tag == 5 and of in self.classes), f"root of {of:x}")
            if tag in (2, 3):
                rule(more[0] in threads, "a root of no thread")
                rule(more[1] == 0xFFFFFFFF or more[1] < len(self.traces[more[0]]), "no such frame")
        for of in self.instances:
            self.fields(of)

    def text(self, of: int) -> str:
        """The text of a string."""
        kind, data = self.numbers[int(self.fields(of)["value"])]
        rule(kind == 5, "a text that is no char[]")
        return data.decode("utf-16-be", "surrogatepass")

    def counts(self) -> Counter[str]:
        """How many objects each class has, by its name."""
        found: Counter[str] = Counter()
        for kind, _ in (*self.instances.values(), *self.arrays.values()):
            found[self.name(kind)] += 1
        for kind, _ in self.numbers.values():
            found[ARRAYS[kind]] += 1
        return found

    def name(self, of: int) -> str:
        """Name of a class as a reader shows it."""
        name = self.classes[of].name
        if name.startswith("[L"):
            name = name[2:-1] + "[]"
        return name.replace("/", ".")

    def references(self, of: int) -> set[int]:
        """Objects that an object refers to."""
        if of in self.arrays:
            return {to for to in self.arrays[of][1] if to}
        if of not in self.instances:
            return set()
        kind, data = self.instances[of]
        body, found = Bytes(data), set()
        for row in self.chain(kind):
            for _, type_ in row.fields:
                value = body.number(SIZES[type_])
                if type_ == 2 and value:
                    found.add(value)
        return found
