#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of fuzz_aot_names.c and fuzz_aot_stack.c: small NativeAOT programs, and stacks of them.

    make_aot_images.py [DIRECTORY]
"""
from __future__ import annotations

import pathlib
import struct
import sys

BASE = 0x10000000
TABLES, SIZE = 0x400, 0x4000
CODE = BASE + 0x3000
ARRAY, BYREF, NAMESPACE, SZ_ARRAY, TYPE = 0x01, 0x02, 0x2F, 0x37, 0x3A
INSTANCE, REFERENCE, SPECIFICATION, VARIABLE = 0x3C, 0x3D, 0x3E, 0x3F


def number(value: int, size: int = 0) -> bytes:
    """A number of NativeFormat, of at least so many bytes."""
    count = next(n for n in (1, 2, 3, 4, 5) if n >= size and (value >> 7 * n == 0 or n == 5))
    if count == 5:
        return bytes([0x0F]) + struct.pack("<I", value)
    return (value << count | (1 << (count - 1)) - 1).to_bytes(count, "little")


class Program:
    """A program of one release."""

    def __init__(self, release: int) -> None:
        self.release = release
        self.bits = 8 if release < 10 else 7
        self.memory = bytearray(SIZE)
        self.metadata = bytearray(struct.pack("<I", 0xDEADDFFD))
        self.tables = 0
        self.fixups: list[int] = []
        self.types: list[bytes] = []
        self.traces = bytearray()
        self.trace_count = 0
        self.invokes: list[bytes] = []

    def record(self, *fields: int) -> int:
        offset = len(self.metadata)
        for field in fields:
            self.metadata += number(field)
        return offset

    def string(self, text: str) -> int:
        offset = self.record(len(text))
        self.metadata += text.encode()
        return offset

    def handle(self, kind: int, offset: int) -> int:
        return offset << self.bits | kind

    def token(self, kind: int, offset: int) -> int:
        return kind << (32 - self.bits) | offset

    def fixup(self, address: int) -> int:
        self.fixups.append(address)
        return len(self.fixups) - 1

    def put(self, address: int, data: bytes) -> None:
        self.memory[address - BASE : address - BASE + len(data)] = data

    def table(self, flags: int, size: int = 24, related: int = 0) -> int:
        """A MethodTable, with room for its tail."""
        address = BASE + TABLES + 0x60 * self.tables
        self.tables += 1
        self.put(address, struct.pack("<IIQ", flags, size, related))
        return address

    def relative(self, address: int, to: int) -> None:
        self.put(address, struct.pack("<i", to - address))

    def instance(self, definition: int, arguments: list[int]) -> int:
        """A generic type with arguments."""
        address = self.table(0x52000000)
        self.relative(address + 32, definition)
        array = address + 0x40
        self.relative(address + 36, arguments[0] if len(arguments) == 1 else array)
        if len(arguments) > 1:
            for i, argument in enumerate(arguments):
                self.relative(array + 4 * i, argument)
        return address

    def define(self, table: int, space: int, name: str, enclosing: int = 0) -> int:
        """A type with a record."""
        text = self.string(name)
        offset = self.record(1, 0, 0 if enclosing else space, text, 0, 0, enclosing)
        entry = number(self.fixup(table)) + number(self.token(TYPE, offset))
        self.types.append(entry)
        return offset

    def hashed(self, entries: list[bytes], width: int = 1) -> bytes:
        """A hash table with one bucket."""
        begin = 2 << width
        end = begin + 4 * len(entries)
        head = bytes([width]) + begin.to_bytes(1 << width, "little")
        head += end.to_bytes(1 << width, "little")
        rows, at = b"", 1 + end
        for i, entry in enumerate(entries):
            place = 1 + begin + 4 * i + 1
            rows += bytes([i]) + number((at - place) & 0x1FFFFF, 3)
            at += len(entry)
        return head + rows + b"".join(entries)

    def trace(self, command: int, fields: bytes, code: int) -> None:
        self.traces += bytes([command]) + fields
        self.traces += struct.pack("<I", code)
        self.trace_count += 1

    def finish(self) -> bytes:
        """The sections, one after the other, and the header."""
        at = BASE + 0x1000
        rows = []
        fixups, traces = at, at + 4 * len(self.fixups)
        self.put(
            fixups,
            b"".join(struct.pack("<i", a - fixups - 4 * i) for i, a in enumerate(self.fixups)),
        )
        rows.append((308, fixups, 4 * len(self.fixups)))
        blob = struct.pack("<I", self.trace_count) + self.traces
        at = traces
        for number_, data in (
            (327, bytes(blob)),
            (301, self.hashed(self.types)),
            (306, self.hashed(self.invokes)),
            (313, bytes(self.metadata)),
        ):
            self.put(at, data)
            rows.append((number_, at, len(data)))
            at += len(data)
        major = {8: 9, 9: 10, 10: 16, 11: 26}[self.release]
        size = 16 if self.release == 11 else 24
        head = struct.pack("<IHHIHBB", 0x525452, major, 1, 0, len(rows), size, 1)
        for ident, begin, length in rows:
            if size == 16:
                head += struct.pack("<IIQ", ident, length, begin)
            else:
                head += struct.pack("<iiQQ", ident, 1, begin, begin + length)
        self.put(BASE, bytes([self.release - 8, 0]))
        self.put(BASE + 16, head)
        return bytes(self.memory)


def shop(release: int) -> bytes:
    """Types of all kinds, and methods in both tables."""
    program = Program(release)
    root = program.record(program.handle(0x38, 4), program.string(""))
    system = program.record(program.handle(NAMESPACE, root), program.string("System"))
    space = program.record(program.handle(NAMESPACE, root), program.string("Shop"))
    number_, list_, pair = program.table(0x20000000), program.table(0), program.table(0)
    for table, arity in ((list_, 1), (pair, 2)):
        flags = 0x02030000 | (arity if release == 8 else 0)
        program.put(table, struct.pack("<II", flags, arity if release > 8 else 0))
    int_ = program.define(number_, system, "Int32")
    generic = program.define(list_, space, "List`1")
    program.define(pair, 0, "Pair`1", generic)
    of_int = program.instance(list_, [number_])
    program.instance(pair, [of_int, number_])
    array = program.table(0xE0020008, 24, of_int)
    program.table(0xDC020004, 40, array)
    int_handle = program.handle(TYPE, int_)
    instance = program.record(program.handle(TYPE, generic), 1, int_handle)
    spec = program.record(program.handle(INSTANCE, instance))
    byref = program.record(int_handle)
    sz_array = program.record(program.handle(SPECIFICATION, spec))
    variable = program.record(0)
    signature = program.record(
        0,
        0,
        int_handle,
        3,
        program.handle(BYREF, byref),
        program.handle(SZ_ARRAY, sz_array),
        program.handle(VARIABLE, variable),
    )
    open_, main = program.string("Open"), program.string("Main")
    arguments = program.record(1, open_)
    owner = struct.pack("<I", program.token(SPECIFICATION, spec))
    program.trace(7, owner + number(open_) + number(signature), 0x1000)
    program.trace(16, b"", 0x1100)
    program.trace(8, number(signature) + number(arguments), 0x1200)
    method = program.record(6, 0, main, signature)
    entry = number(0x24) + number(method)
    entry += number(program.fixup(number_)) + number(program.fixup(CODE))
    program.invokes.append(entry)
    return program.finish()


def around_itself(release: int) -> bytes:
    """A type that is around itself, an array of itself, and one that is its own argument."""
    program = Program(release)
    name = program.string("T`2")
    at = len(program.metadata)
    program.record(1, 0, 0, name, 0, 0, at)
    table = program.table(0x02030002, 2)
    program.types.append(number(program.fixup(table)) + number(program.token(TYPE, at)))
    program.define(table, 0, "Pair`2")
    own = BASE + TABLES + 0x60 * program.tables
    program.instance(table, [own, own])
    array = BASE + TABLES + 0x60 * program.tables
    program.table(0xE0020008, 24, array)
    return program.finish()


FUNCTION, LSDA, THREAD, REGISTERS, STACK, STACK_END = 0x800, 0x400, 0x1000, 0x1180, 0x1200, 0x2000
NATIVE = BASE + 0xF10
# The flag of fuzz_aot_stack.c.
ARM64 = 8


class Stack:
    """An ELF image with two functions, each with a method or handler, a Thread and its stack."""

    def __init__(self, release: int, flags: int, is_arm64: bool = False) -> None:
        self.release, self.is_arm64 = release, is_arm64
        flags |= ARM64 if is_arm64 else 0
        self.memory = bytearray(STACK_END)
        ident = b"\x7fELF\2\1\1\0" + bytes([release - 8, flags]) + bytes(6)
        elf = struct.pack(
            "<16sHHIQQQIHHHHHH",
            ident,
            3,
            183 if is_arm64 else 62,
            1,
            0,
            64,
            0,
            0,
            64,
            56,
            2,
            0,
            0,
            0,
        )
        elf += struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 0x1000, 0x1000, 4096)
        elf += struct.pack("<IIQQQQQQ", 0x6474E550, 4, 0, 0x100, 0, 0x40, 0x40, 4)
        self.put(0, elf)
        self.frames()
        for after in (0x820, 0x840, 0xA20, 0xF10):
            self.put(after - 5, b"\0\0\0\0\x94" if is_arm64 else b"\xe8\0\0\0\0")

    def put(self, offset: int, data: bytes) -> None:
        self.memory[offset : offset + len(data)] = data

    def u64(self, offset: int, *values: int) -> None:
        self.put(offset, struct.pack(f"<{len(values)}Q", *(value % 2**64 for value in values)))

    def frames(self) -> None:
        """.eh_frame_hdr and .eh_frame: CFA = rbp + 16, rbp at CFA - 16, rip at CFA - 8; the same with x29 and x30."""
        start = b"\x1e\2\x1b\x1b\x0c\x1f\0" if self.is_arm64 else b"\x10\2\x1b\x1b\x0c\7\x08\x90\1"
        rows = b"\x0c\x1d\x10\x9d\2\x9e\1" if self.is_arm64 else b"\x0c\6\x10\x86\2"
        cie = bytes(4) + b"\1zRL\0\1\x78" + start
        cie = struct.pack("<I", len(cie)) + cie
        at = 0x200
        self.put(at, cie)
        places = []
        at += len(cie)
        for function, lsda in ((FUNCTION, LSDA), (0xA00, LSDA + 0x80)):
            body = struct.pack("<I", at + 4 - 0x200)
            body += struct.pack("<iI", function - (at + 8), 0x100) + b"\4"
            body += struct.pack("<i", lsda - (at + 17)) + rows
            places.append((function, at))
            self.put(at, struct.pack("<I", len(body)) + body)
            at += 4 + len(body)
        table = b"".join(struct.pack("<ii", f - 0x100, p - 0x100) for f, p in places)
        self.put(0x100, struct.pack("<4BiI", 1, 0x1B, 3, 0x3B, 0x100 - 4, 2) + table)

    def gc_info(self, offset: int, flags: int) -> None:
        """GCInfo with a slot at the stack pointer; with bit 9 of flags, native code calls the method."""
        fields = [(1, 1), (flags | 0x40, 10)] + [(0, 4)] * (self.release < 10)
        fields += [(0, 8), (1, 1), (4, 9), (0, 4)]  # 1,024 bytes, rbp
        if flags & 0x200:
            fields += [(-2 & 63, 6), (0, 1)]
        fields += [(0, 4), (0, 3), (1, 2)]  # no safe points, one range
        fields += [(0, 7), (63, 6), (1, 1), (15, 6), (0, 1)]
        fields += [(0, 1), (1, 1), (0, 3), (1, 2), (1, 2), (0, 7), (0, 2)]
        value = count = 0
        for field, size in fields:
            value |= field << count
            count += size
        self.put(offset, value.to_bytes(24, "little"))

    def method(self, flags: int) -> None:
        self.put(LSDA, bytes([flags]))
        self.gc_info(LSDA + 1, 0x200 if flags & 8 else 0)

    def handler(self, part: int) -> None:
        place = LSDA + 0x80
        self.put(place, bytes([part]) + struct.pack("<ii", LSDA - place - 1, 0x200))

    def transition(self, offset: int, ip: int, sp: int, rbp: int) -> None:
        if self.is_arm64:
            self.u64(offset, BASE + rbp, BASE + ip, 0, 0x401, 0x1111, BASE + sp)
            return
        self.u64(offset, BASE + ip, BASE + rbp, 0, 0x8001, 0x1111, BASE + sp)
        self.u64(sp - 8, BASE + ip)

    def frame(self, rbp: int, returns_to: int, caller_rbp: int, older: int = 0) -> None:
        self.u64(rbp, BASE + caller_rbp, returns_to)
        self.u64(rbp - 16, older)

    def thread(self, offset: int, value: int) -> None:
        self.u64(THREAD + offset, value)


def stacks() -> dict[str, bytes]:
    """Name and bytes of each."""
    result = {}
    for release in (8, 9, 10, 11):
        stack = Stack(release, 1)
        place = 64 if release < 10 else 72
        stack.method(8)
        stack.thread(place, BASE + 0x1300)
        stack.transition(0x1300, 0x820, 0x1400, 0x1480)
        stack.frame(0x1480, NATIVE, 0x1500, BASE + 0x1600)
        stack.transition(0x1600, 0x840, 0x1700, 0x1780)
        stack.frame(0x1780, NATIVE, 0x1800, 2**64 - 1)
        result[f"segments_{release}"] = bytes(stack.memory)
    for name, part in (("handler", 1), ("filter", 2), ("handler_arm64", 1)):
        stack = Stack(10, 4, name.endswith("arm64"))
        stack.method(0)
        stack.handler(part)
        stack.u64(REGISTERS, BASE + 0xA20, BASE + 0x1300, BASE + 0x1380)
        stack.frame(0x1380, BASE + 0x840, 0x1480)
        stack.frame(0x1480, NATIVE, 0x1500)
        stack.thread(120, BASE + 0x1440)
        stack.u64(0x1440, 0, 0, 0)
        result[name] = bytes(stack.memory)
    stack = Stack(11, 1, True)
    stack.method(8)
    stack.thread(72, BASE + 0x1300)
    stack.transition(0x1300, 0x820, 0x1400, 0x1480)
    stack.frame(0x1480, NATIVE, 0x1500, BASE + 0x1600)
    # An inlined call, whose label is in front of it.
    stack.u64(0x1600, BASE + 0x1780, BASE + 0x838, 0, 0x400, BASE + 0x1700)
    stack.frame(0x1780, NATIVE, 0x1800, 2**64 - 1)
    result["segments_arm64"] = bytes(stack.memory)
    stack = Stack(10, 5)
    stack.method(0)
    stack.thread(80, BASE + 0x1300)
    stack.transition(0x1300, 0x820, 0x1400, 0x1480)
    stack.frame(0x1480, NATIVE + 0x20, 0x1580)
    stack.frame(0x1580, NATIVE, 0x1600)
    stack.thread(104, BASE + 0x1488)
    stack.thread(112, BASE + 0x840)
    result["hijacked"] = bytes(stack.memory)
    return result


def main() -> None:
    """Write each input to a file of its own."""
    corpus = pathlib.Path(__file__).parent / "corpus"
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else corpus
    names = {f"shop_{release}": shop(release) for release in (8, 9, 10, 11)}
    names["around_itself"] = around_itself(10)
    for target, inputs in (("aot_names", names), ("aot_stack", stacks())):
        (folder / target).mkdir(parents=True, exist_ok=True)
        for name, data in inputs.items():
            (folder / target / name).write_bytes(data.rstrip(b"\0").ljust(STACK_END, b"\0"))


if __name__ == "__main__":
    main()
