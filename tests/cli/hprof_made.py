# SPDX-License-Identifier: MIT
"""Makes HPROF files by hand: ids of 4 or 8 bytes, and the records that Android adds."""
from __future__ import annotations

import struct


class Made:
    """A file that grows; names are strings, ids numbers."""

    def __init__(self, size: int = 4, version: str = "1.0.3") -> None:
        self.size = size
        self.head = f"JAVA PROFILE {version}\0".encode() + struct.pack(
            ">IQ", size, 1_700_000_000_000
        )
        self.names: dict[str, int] = {}
        self.records = b""
        self.heap = b""
        self.serials = 0

    def id(self, number: int) -> bytes:
        """An id."""
        return number.to_bytes(self.size, "big")

    def record(self, tag: int, body: bytes) -> None:
        """A record of the file."""
        self.records += struct.pack(">BII", tag, 0, len(body)) + body

    def name(self, text: str) -> int:
        """The id of a string."""
        if text not in self.names:
            self.names[text] = 0x7000 + len(self.names)
            self.record(1, self.id(self.names[text]) + text.encode())
        return self.names[text]

    def klass(  # pylint: disable=too-many-arguments
        self,
        number: int,
        name: str,
        parent: int = 0,
        fields: tuple[tuple[str, int], ...] = (),
        statics: tuple[tuple[str, int, int], ...] = (),
        size: int = 0,
        loader: int = 0,
    ) -> int:
        """A class with its record in the heap; its serial."""
        self.serials += 1
        sizes = {2: self.size, 4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
        self.record(
            2,
            struct.pack(">I", self.serials) + self.id(number) + bytes(4) + self.id(self.name(name)),
        )
        body = self.id(number) + bytes(4) + self.id(parent) + self.id(loader) + self.id(0) * 4
        body += struct.pack(">IH", size, 1) + struct.pack(">HBI", 1, 10, 5)
        body += struct.pack(">H", len(statics))
        for field, type_, value in statics:
            body += self.id(self.name(field)) + bytes([type_]) + value.to_bytes(sizes[type_], "big")
        body += struct.pack(">H", len(fields))
        for field, type_ in fields:
            body += self.id(self.name(field)) + bytes([type_])
        self.heap += b"\x20" + body
        return self.serials

    def instance(self, number: int, of: int, values: bytes) -> None:
        """An object."""
        self.heap += b"\x21" + self.id(number) + bytes(4) + self.id(of)
        self.heap += struct.pack(">I", len(values)) + values

    def array(self, number: int, of: int, *values: int) -> None:
        """An array of references."""
        self.heap += b"\x22" + self.id(number) + bytes(4) + struct.pack(">I", len(values))
        self.heap += self.id(of) + b"".join(map(self.id, values))

    def numbers(self, number: int, type_: int, count: int, values: bytes) -> None:
        """An array of numbers; without values as Android has it."""
        tag = b"\x23" if values or not count else b"\xc3"
        self.heap += tag + self.id(number) + bytes(4) + struct.pack(">IB", count, type_) + values

    def root(self, tag: int, number: int, *more: int) -> None:
        """A root."""
        self.heap += bytes([tag]) + self.id(number) + b"".join(struct.pack(">I", x) for x in more)

    def jni_global(self, number: int) -> None:
        """A root that has a second id."""
        self.heap += b"\x01" + self.id(number) + self.id(0x99)

    def file(self, tag: int = 0x1C) -> bytes:
        """All bytes of the file."""
        heap = struct.pack(">BII", tag, 0, len(self.heap)) + self.heap
        end = struct.pack(">BII", 0x2C, 0, 0) if tag == 0x1C else b""
        return self.head + self.records + heap + end


def sample(size: int = 4, version: str = "1.0.3") -> Made:
    """A small heap with all that the reader knows: doc/formats.md 10.1."""
    made = Made(size, version)
    made.klass(0x10, "java/lang/Object")
    made.klass(0x11, "java/lang/Class", 0x10)
    made.klass(0x12, "java/lang/String", 0x10, (("value", 2), ("hash", 10)))
    made.klass(0x13, "[C", 0x10)
    made.klass(0x14, "[Lshop/Line;", 0x10)
    line = made.klass(
        0x15,
        "shop/Line",
        0x18,
        (("text", 2), ("count", 11)),
        (("kept", 2, 0x100), ("rate", 7, 0)),
    )
    made.klass(0x16, "shop/Loose", 0x10, (), (("other", 2, 0x105),), loader=0x104)
    made.klass(0x17, "shop/Empty", 0x15)
    made.klass(0x18, "shop/Base", 0x10, (("next", 2),))
    made.heap += b"\xfe" + struct.pack(">I", 1) + made.id(made.name("app"))
    made.instance(0x100, 0x15, made.id(0x101) + bytes(8) + made.id(0x103))
    made.instance(0x101, 0x12, made.id(0x102) + bytes(4))
    made.numbers(0x102, 5, 3, "abc".encode("utf-16-be"))
    made.instance(0x103, 0x17, made.id(0) + bytes(8) + made.id(0x105))
    made.array(0x104, 0x14, 0x103, 0, 0x100)
    made.numbers(0x105, 8, 40, b"")
    made.instance(0x106, 0x15, bytes(size) + bytes(8) + made.id(0x777))
    made.root(5, 0x15)
    made.jni_global(0x104)
    frame = made.name("run"), made.name("()V"), made.name("Line.java")
    body = made.id(0x50) + b"".join(map(made.id, frame)) + struct.pack(">II", line, 12)
    made.record(4, body)
    made.record(5, struct.pack(">III", 9, 3, 1) + made.id(0x50))
    made.root(8, 0x101, 3, 9)
    made.root(3, 0x103, 3, 0)
    made.root(2, 0x103, 4, 0xFFFFFFFF)
    made.root(4, 0x100, 3)
    made.root(6, 0x100, 3)
    for tag in (7, 0xFF, 0x89, 0x8A, 0x8B, 0x8C, 0x8D):
        made.root(tag, 0x101)
    made.root(0x8E, 0x102, 3, 0)
    made.root(0x90, 0x106)
    return made
