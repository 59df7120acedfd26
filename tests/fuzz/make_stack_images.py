#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of fuzz_stack.c into corpus/stack: threads with code, frames and Frames.

    make_stack_images.py [DIRECTORY]
"""
from __future__ import annotations

import pathlib
import struct
import sys
from typing import Callable

BASE = 0x10000000
CODE, METHOD_SIZE, LOCALS = 0x400, 0x100, 0x40
TABLES, THREAD, STACK, OTHER, SIZE = 0x100, 0x1000, 0x1800, 0x3800, 0x4000
NATIVE, RESTORER = BASE + 0xF80, BASE + 0xFC0
SEGMENT = (0x3000, 0x3800)
OBJECT = BASE + SEGMENT[0]
TOP = BASE + STACK + 0x100
FRAME = LOCALS + 16


# UNWIND_INFO: push rbp; (push rbx;) sub rsp.
PLAIN = bytes([1, 8, 2, 0, 8, 0x72, 1, 0x50])
SAVING = bytes([1, 8, 3, 0, 8, 0x62, 2, 0x30, 1, 0x50])


def gc_info(major: int) -> bytes:
    """A slim header and one untracked slot at rsp; before 10 with the kind of the return value."""
    fields = [(0, 1), (1, 1)] + [(0, 2)] * (major < 10)
    fields += [(0xE0, 9), (0, 3), (0, 1), (1, 1), (0, 3), (1, 2), (1, 2), (0, 7), (0, 2)]
    value = count = 0
    for field, size in fields:
        value |= field << count
        count += size
    return value.to_bytes(8, "little")


class Image:
    """Bytes at their addresses; methods A (a slot), B (saves rbx), C (with a funclet)."""

    def __init__(self, major: int = 10) -> None:
        self.bytes = bytearray(SIZE)
        self.flags = 1 if major == 9 else 0
        self.major = major
        self.registers = {"rip": 0, "rsp": 0, "rbp": 0, "rbx": 0}
        self.frame_slot = BASE + THREAD + 8
        self.u64(self.frame_slot, 2**64 - 1)
        self.code()

    def u64(self, address: int, *values: int) -> None:
        for i, value in enumerate(values):
            struct.pack_into("<Q", self.bytes, address - BASE + 8 * i, value % 2**64)

    def u32(self, address: int, *values: int) -> None:
        for i, value in enumerate(values):
            struct.pack_into("<I", self.bytes, address - BASE + 4 * i, value)

    def put(self, address: int, data: bytes) -> None:
        self.bytes[address - BASE : address - BASE + len(data)] = data

    def code(self) -> None:
        """Range map (its upper levels share one table), heap, methods."""
        at = BASE + TABLES
        dac, table, last, fragment, section, node, units = (
            at + x for x in (0, 8, 0x60, 0x70, 0x90, 0xC0, 0xF0)
        )
        self.u64(dac, table)
        self.u64(fragment, 0, BASE, BASE + 0x1000, section)
        self.u64(section, BASE, BASE + 0x1000, 0, 0, 0, node)
        self.u64(node + 32, BASE + CODE, units)
        self.u64(table, table)
        self.u64(table + 8 * (BASE >> 25), last)
        self.u64(last, fragment)
        self.methods: list[int] = []
        for i, unwind in enumerate((PLAIN, SAVING, PLAIN)):
            start = BASE + CODE + 0x20 + i * METHOD_SIZE
            header, info, codes, clauses = (
                BASE + 0xA00 + 0x100 * i + x for x in (0, 0x60, 0x80, 0xA0)
            )
            self.u64(start - 8, header)
            self.u64(header, 0, clauses, info, start + 0x8000)
            rva = start - BASE
            self.u32(
                header + 32, 2 if i == 2 else 1, rva, rva + (0x80 if i == 2 else 0xE0), codes - BASE
            )
            self.u32(header + 48, rva + 0x80, rva + 0xE0, codes - BASE)
            self.u64(clauses - 8, 1)
            self.u32(clauses + 8, 1)
            self.u32(clauses + 32, 0x80)
            self.put(codes, unwind)
            self.put(info, gc_info(self.major))
            for call in range(0x10, 0xE0, 0x10):
                self.put(start + call - 5, b"\xe8\0\0\0\0")
            self.u32(units + 4 * i, 0x01000000)
            self.methods.append(start)
        self.put(NATIVE - 5, b"\xe8\0\0\0\0")
        self.put(RESTORER, bytes.fromhex("48c7c00f0000000f05"))

    def frame(self, sp: int, rbp: int, ip: int) -> int:
        self.u64(sp, OBJECT, OBJECT + 8)
        self.u64(sp + LOCALS, rbp, ip)
        return sp + FRAME

    def frames(self, sp: int, count: int, method: int = 0) -> int:
        for _ in range(count - 1):
            sp = self.frame(sp, sp + FRAME + LOCALS, self.methods[method] + 0x20)
        return self.frame(sp, 0, NATIVE)

    def stop(self, rip: int, rsp: int) -> None:
        self.registers.update(rip=rip, rsp=rsp, rbp=rsp + LOCALS)

    def explicit(self, address: int, kind: int) -> None:
        self.u64(self.frame_slot, address)
        self.u64(address, kind, 2**64 - 1)
        self.frame_slot = address + 8

    def inlined_call(self, address: int, ip: int, sp: int) -> None:
        self.explicit(address, 1)
        self.u64(address + 24, sp, ip, sp + LOCALS)

    def context(self, address: int, ip: int, sp: int) -> None:
        self.u32(address + 0x30, 0x10000B, 0, 0x33)
        self.u64(address + 0xF8, ip)
        self.u64(address + 0x98, sp, sp + LOCALS)

    def file(self) -> bytes:
        words = [THREAD, TABLES, STACK, SEGMENT[0], OTHER, SIZE, *SEGMENT]
        head = [x // 8 for x in words] + [(self.registers["rip"] - BASE) % 65536]
        head += [(self.registers[x] - BASE) // 8 % 65536 for x in ("rsp", "rbp", "rbx")]
        struct.pack_into("<12HB", self.bytes, 0, *head, self.flags)
        return bytes(self.bytes)


def images() -> dict[str, Image]:
    result = {}

    def new(name: str, major: int = 10) -> Image:
        result[name] = Image(major)
        return result[name]

    for major in (9, 10):
        image = new(f"managed_{major}", major)
        image.stop(image.methods[0] + 0x18, TOP)
        image.frames(TOP, 6)
        image = new(f"inlined_call_{major}", major)
        image.stop(NATIVE, TOP)
        image.frames(TOP + 0x400, 3, 1)
        image.inlined_call(TOP + 0x410, image.methods[1] + 0x10, TOP + 0x400)
    for kind, offset in ((5, 288), (4, 32)):
        image = new(f"exception_{kind}")
        image.stop(NATIVE, TOP)
        image.flags |= 2
        image.explicit(TOP + 0x80, kind)
        image.context(TOP + 0x80 + offset, image.methods[0] + 0x10, TOP + 0x800)
        image.frames(TOP + 0x800, 3)
        image.u64(BASE + THREAD + 352, TOP + 0x900)
        image.u64(TOP + 0x900, TOP + 0xA00, OBJECT)
    for kind in (9, 11, 12, 13):
        image = new(f"block_{kind}")
        image.stop(NATIVE, TOP)
        image.explicit(TOP + 0x80, kind)
        image.u64(TOP + 0x90, TOP + 0x180, 0, 3, 0, TOP + 0x100, 0, TOP + 0x100)
        image.put(TOP + 0x100, bytes([0x80 | 0x15, 0x01]))
        image.u64(TOP + 0x180, OBJECT, OBJECT, OBJECT)
        image.u64(TOP + 0x180 + 88, TOP + 0x180 + 104 + LOCALS, image.methods[0] + 0x10)
        image.frames(TOP + 0x180 + 104, 2)
    more_images(new)
    return result


def more_images(new: Callable[..., Image]) -> None:
    """Rarer ways to stop, and what is wrong."""
    image = new("hijack")
    image.stop(NATIVE, TOP)
    image.explicit(TOP + 0x80, 8)
    image.u64(TOP + 0x90, image.methods[0] + 0x10, 0, TOP + 0x100)
    image.u64(TOP + 0x100 + 64, TOP + 0x150 + LOCALS)
    image.frames(TOP + 0x150, 2)
    image = new("signal")
    image.stop(RESTORER, TOP)
    image.u64(TOP + 40 + 80, TOP + 0x400 + LOCALS)
    image.u64(TOP + 40 + 120, TOP + 0x400, image.methods[0] + 0x11)
    image.u64(TOP + 40 + 144, 0x2B000000000033)
    image.u64(TOP + 40 + 184, TOP + 0x200)
    image.frames(TOP + 0x400, 2)
    image = new("handler")
    image.stop(image.methods[2] + 0x90, TOP)
    image.registers["rbp"] = TOP + 0x400 + LOCALS
    image.frame(TOP, 0, NATIVE)
    image.inlined_call(TOP + 0x100, image.methods[2] + 0x10, TOP + 0x400)
    image.frames(TOP + 0x400, 2, 2)
    image = new("gc_frames")
    image.stop(NATIVE, TOP)
    image.u64(BASE + THREAD + 0x2B0, TOP + 0x40)
    image.u64(TOP + 0x40, TOP + 0x80, BASE + THREAD, TOP + 0x100, 1 << 32 | 3)
    image.u64(TOP + 0x80, 0, BASE + THREAD, TOP + 0x110, 2)
    image.u64(TOP + 0x100, OBJECT, OBJECT, OBJECT, OBJECT)
    image = new("wrong_return")
    image.flags |= 8
    image.stop(image.methods[0] + 0x18, TOP)
    image.frame(TOP, 0, OBJECT)
    image = new("helper_9", 9)
    image.stop(NATIVE, TOP)
    image.explicit(TOP + 0x40, 0x12345)
    image.u64(TOP + 0x60, BASE + THREAD)
    image.u64(TOP + 0x40 + 232, TOP + 0x20)
    image.u64(TOP + 0x20, OBJECT)
    image = new("no_registers")
    image.flags |= 4
    image.frames(TOP + 0x400, 3)
    image.inlined_call(TOP + 0x410, image.methods[0] + 0x10, TOP + 0x400)


def main() -> None:
    default = pathlib.Path(__file__).parent / "corpus" / "stack"
    directory = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    directory.mkdir(parents=True, exist_ok=True)
    for name, image in images().items():
        (directory / name).write_bytes(image.file())


if __name__ == "__main__":
    main()
