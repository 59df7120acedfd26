# SPDX-License-Identifier: MIT
"""A .gcdump in plain Python, read and written by the format alone: FastSerialization.1, GCHeapDump."""
from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any, Callable

NULL, REFERENCE, BEGIN, END, BYTE, SKIP_REGION, STRING = 1, 2, 4, 6, 8, 12, 13
SEGMENT = ("start", "end", "gen0", "gen1", "gen2", "gen3", "gen4")


@dataclass
class Node:
    """A node of the graph."""

    type: int
    size: int
    children: list[int]
    address: int = 0
    undefined: bool = False


@dataclass
class Dump:
    """All that a file says."""

    types: list[tuple[str | None, int, str | None]] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    root: int = 0
    total: int = 0
    is_64: int | None = 1
    average: tuple[float, float] = (1.0, 1.0)
    segments: list[dict[str, int]] | None = None
    segment_bytes: int = 0
    log: str | None = None
    time: int = 0
    machine: str | None = None
    process: str | None = None
    pid: int = 0
    commit: int = 0
    working_set: int = 0
    multipliers: list[float] = field(default_factory=list)
    tool: str | None = "python"
    deferred: list[tuple[int, tuple[str, int] | None, str | None]] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    """Nodes in the order of their records; those left out are undefined."""

    def name(self, node: int) -> str | None:
        """Name of a node's type."""
        return self.types[self.nodes[node].type][0]


def units(text: str) -> list[int]:
    """UTF-16 units."""
    data = text.encode("utf-16-le", "surrogatepass")
    return list(struct.unpack(f"<{len(data) // 2}H", data))


def encode(text: str) -> bytes:
    """Each unit in one to three bytes of its own."""
    out = bytearray()
    for unit in units(text):
        if unit < 0x80:
            out.append(unit)
        elif unit < 0x800:
            out += bytes((0xC0 | unit >> 6, 0x80 | unit & 0x3F))
        else:
            out += bytes((0xE0 | unit >> 12, 0x80 | unit >> 6 & 0x3F, 0x80 | unit & 0x3F))
    return bytes(out)


class Reader:
    """A cursor; what does not fit raises."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0
        self.types: dict[int, tuple[str, int, int]] = {}
        self.forwards: list[tuple[int, int]] = []
        self.dump = Dump()

    def take(self, form: str) -> Any:
        """One number."""
        (value,) = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def many(self, form: str, count: int) -> tuple[Any, ...]:
        """Numbers, as many as that."""
        values = struct.unpack_from(f"<{count}{form}", self.data, self.at)
        self.at += struct.calcsize(f"<{count}{form}")
        return values

    def text(self) -> str | None:
        """A string."""
        count = self.take("i")
        if count < 0:
            assert count == -1, count
            return None
        found = []
        for _ in range(count):
            value = self.take("B")
            if value >= 0xE0:
                value = (value & 0xF) << 12 | (self.take("B") & 0x3F) << 6 | self.take("B") & 0x3F
            elif value >= 0x80:
                value = (value & 0x1F) << 6 | self.take("B") & 0x3F
            found.append(value)
        return struct.pack(f"<{count}H", *found).decode("utf-16-le", "surrogatepass")

    def expect(self, tag: int) -> None:
        """The next byte is that."""
        got = self.take("B")
        assert got == tag, f"tag {got}, not {tag}, at {self.at - 1:#x}"

    def begin(self, name: str) -> tuple[int, int] | None:
        """The begin of an object of that class; None: a null object."""
        tag = self.take("B")
        if tag == NULL:
            return None
        assert tag == BEGIN, f"tag {tag} at {self.at - 1:#x}"
        at = self.at
        if self.take("B") == REFERENCE:
            at = self.take("I")
        else:
            self.expect(NULL)
            version, reader = self.take("i"), self.take("i")
            self.types[at] = (str(self.text()), version, reader)
            self.expect(END)
        assert self.types[at][0] == name, (self.types[at], name)
        return self.types[at][1], self.types[at][2]

    def forward(self) -> None:
        """A forward reference; call reached() where it must lead to."""
        self.forwards.append((self.take("i"), -1))

    def reached(self) -> None:
        """The last forward reference leads here."""
        self.forwards[-1] = (self.forwards[-1][0], self.at)

    def number(self, blob: bytes, at: int) -> tuple[int, int]:
        """A compressed number: groups of 7 bits, the highest first."""
        byte = blob[at]
        value, size = (byte & 0x7F) - ((byte & 0x40) << 1), 1
        while byte & 0x80:
            byte = blob[at + size]
            value, size = value << 7 | byte & 0x7F, size + 1
            assert size <= 5
        value &= 0xFFFFFFFF
        return (value - (1 << 32) if value >> 31 else value), at + size

    def record(self, blob: bytes, index: int, offset: int, address: int) -> Node:
        """A node."""
        types = self.dump.types
        if not offset:
            return Node(0, 0, [], address, True)
        kind, at = self.number(blob, offset)
        size = types[kind >> 1][1]
        if kind & 1:
            size, at = self.number(blob, at)
        count, at = self.number(blob, at)
        children = []
        for _ in range(count):
            child, at = self.number(blob, at)
            children.append(index + child)
            assert 0 <= children[-1] < len(self.dump.nodes) or not self.dump.nodes
        return Node(kind >> 1, size, children, address)

    def graph(self) -> None:
        """Graphs.MemoryGraph."""
        dump = self.dump
        version = self.begin("Graphs.MemoryGraph")
        assert version in ((1, 0), (1, 1)), version
        dump.total, dump.root = self.take("q"), self.take("i")
        for _ in range(self.take("i")):
            dump.types.append((self.text(), self.take("i"), self.text()))
        offsets = self.many("I", self.take("i"))
        size = self.take("i")
        blob = self.data[self.at : self.at + size]
        assert len(blob) == size and blob[:2] == b"\0\0"
        self.at += size
        assert version == (1, 0), "deferred types are only written here"
        addresses = self.many("Q", self.take("i"))
        assert len(addresses) == len(offsets)
        dump.nodes = [
            self.record(blob, i, offset, addresses[i]) for i, offset in enumerate(offsets)
        ]
        for node in dump.nodes:
            assert all(0 <= child < len(dump.nodes) for child in node.children)
        dump.order = sorted((i for i, at in enumerate(offsets) if at), key=lambda i: offsets[i])
        tag = self.take("B")
        dump.is_64 = None
        if tag == BYTE:
            dump.is_64, tag = self.take("B"), self.take("B")
        assert tag == END

    def heap_info(self) -> None:
        """DotNetHeapInfo, or null."""
        if self.begin("DotNetHeapInfo") is None:
            return
        self.dump.segment_bytes = self.take("q")
        self.dump.segments = []
        for _ in range(self.take("i")):
            assert self.begin("GCHeapDumpSegment") == (1, 1)
            self.dump.segments.append(dict(zip(SEGMENT, self.many("Q", 7))))
            self.expect(END)
        self.expect(END)

    def about(self) -> None:
        """The part after the graph."""
        dump = self.dump
        assert self.take("B") == (dump.is_64 or 0)
        dump.average = self.many("f", 2)  # type: ignore[assignment]
        self.expect(NULL)
        self.heap_info()
        dump.log, dump.time = self.text(), self.take("q")
        dump.machine, dump.process = self.text(), self.text()
        dump.pid, dump.commit, dump.working_set = self.take("i"), self.take("q"), self.take("q")
        dump.multipliers = list(self.many("f", self.take("i")))
        self.expect(SKIP_REGION)
        self.forward()
        self.expect(NULL)
        self.reached()
        self.expect(STRING)
        dump.tool = self.text()

    def file(self) -> Dump:
        """The whole file, to its last byte."""
        assert self.take("i") == 20 and self.data[4:24] == b"!FastSerialization.1"
        self.at = 24
        assert self.begin("GCHeapDump") == (10, 8)
        self.graph()
        self.about()
        self.expect(END)
        self.expect(END)
        table = self.at
        forwards = self.many("I", self.take("i"))
        assert [(i, at) for i, at in enumerate(forwards)] == self.forwards
        trailer = self.at
        assert (self.take("I"), self.take("I")) == (table, trailer)
        assert self.at == len(self.data)
        return self.dump


def read(data: bytes) -> Dump:
    """Read a file as the writer has to write it; AssertionError or struct.error if it is not so."""
    return Reader(data).file()


class Writer:
    """Bytes, and the labels of types."""

    def __init__(self) -> None:
        self.out = bytearray()
        self.types: dict[str, int] = {}
        self.forwards: list[int] = []

    def put(self, form: str, *values: Any) -> None:
        """Numbers."""
        self.out += struct.pack("<" + form, *values)

    def text(self, text: str | None) -> None:
        """A string."""
        self.put("i", -1 if text is None else len(units(text)))
        self.out += encode(text or "")

    def begin(self, name: str, version: int, reader: int) -> None:
        """The begin of an object."""
        self.put("B", BEGIN)
        if name in self.types:
            self.put("BI", REFERENCE, self.types[name])
            return
        self.types[name] = len(self.out)
        self.put("BBii", BEGIN, NULL, version, reader)
        self.text(name)
        self.put("B", END)

    def forward(self) -> Callable[[], None]:
        """A forward reference; call the result where it leads to."""
        index = len(self.forwards)
        self.put("i", index)
        self.forwards.append(0)

        def reached() -> None:
            self.forwards[index] = len(self.out)

        return reached


def number(value: int) -> bytes:
    """A compressed number in its shortest form."""
    size = next(
        (n for n, bits in enumerate((6, 13, 20, 27), 1) if -(1 << bits) <= value < 1 << bits), 5
    )
    groups = [value >> 7 * k & 0xFF | 0x80 for k in range(size - 1, 0, -1)]
    return bytes(groups) + bytes((value & 0x7F,))


def blob_of(dump: Dump) -> tuple[bytes, list[int], list[int]]:
    """Records, their offsets, and the sizes of types: of the first node of each."""
    blob, offsets = bytearray(2), [0] * len(dump.nodes)
    sizes = [size for _, size, _ in dump.types]
    for index in dump.order:
        node = dump.nodes[index]
        offsets[index] = len(blob)
        if sizes[node.type] < 0:
            sizes[node.type] = node.size
        if sizes[node.type] == node.size:
            blob += number(node.type * 2)
        else:
            blob += number(node.type * 2 + 1) + number(node.size)
        blob += number(len(node.children))
        for child in node.children:
            blob += number(child - index)
    return bytes(blob), offsets, sizes


def put_deferred(writer: Writer, dump: Dump) -> None:
    """The region of deferred types."""
    reached = writer.forward()
    writer.put("i", len(dump.deferred))
    modules: dict[tuple[str, int], int] = {}
    for type_id, module, suffix in dump.deferred:
        writer.put("i", type_id)
        if module is None:
            writer.put("B", NULL)
        elif module in modules:
            writer.put("BI", REFERENCE, modules[module])
        else:
            modules[module] = len(writer.out)
            writer.begin("Graphs.Module", 0, 0)
            writer.text(module[0])
            writer.put("Qqq", module[1], 65536, 635000000000000000)
            writer.text("n.pdb")
            writer.put("16si", bytes(range(16)), 1)
            writer.put("B", END)
        writer.text(suffix)
    writer.put("B", END)
    reached()


def write(dump: Dump) -> bytes:
    """A file as the reference writers write it."""
    writer = Writer()
    writer.put("i", 20)
    writer.out += b"!FastSerialization.1"
    writer.begin("GCHeapDump", 10, 8)
    writer.begin("Graphs.MemoryGraph", 1, 1 if dump.deferred else 0)
    blob, offsets, sizes = blob_of(dump)
    writer.put("qii", dump.total, dump.root, len(dump.types))
    for (name, _, module), size in zip(dump.types, sizes):
        writer.text(name)
        writer.put("i", size)
        writer.text(module)
    writer.put(f"i{len(offsets)}Ii", len(offsets), *offsets, len(blob))
    writer.out += blob
    if dump.deferred:
        put_deferred(writer, dump)
    addresses = [node.address for node in dump.nodes]
    writer.put(f"i{len(addresses)}Q", len(addresses), *addresses)
    if dump.is_64 is not None:
        writer.put("BB", BYTE, dump.is_64)
    writer.put("BBff", END, dump.is_64 or 0, *dump.average)
    writer.put("B", NULL)
    if dump.segments is None:
        writer.put("B", NULL)
    else:
        writer.begin("DotNetHeapInfo", 0, 0)
        writer.put("qi", dump.segment_bytes, len(dump.segments))
        for segment in dump.segments:
            writer.begin("GCHeapDumpSegment", 1, 1)
            writer.put("7QB", *(segment[key] for key in SEGMENT), END)
        writer.put("B", END)
    writer.text(dump.log)
    writer.put("q", dump.time)
    writer.text(dump.machine)
    writer.text(dump.process)
    writer.put("iqq", dump.pid, dump.commit, dump.working_set)
    writer.put(f"i{len(dump.multipliers)}f", len(dump.multipliers), *dump.multipliers)
    writer.put("B", SKIP_REGION)
    reached = writer.forward()
    writer.put("B", NULL)
    reached()
    writer.put("B", STRING)
    writer.text(dump.tool)
    writer.put("BB", END, END)
    table = len(writer.out)
    writer.put(f"i{len(writer.forwards)}I", len(writer.forwards), *writer.forwards)
    writer.put("II", table, len(writer.out))
    return bytes(writer.out)
