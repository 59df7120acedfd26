#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpora of fuzz_debug_info and fuzz_inflate: debug info of each release, and deflate."""
from __future__ import annotations

import pathlib
import zlib

OF_11 = 0x40
CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"
BOUNDS = (
    (0, 0xFFFFFFFE),
    (5, 0),
    (0x20, 10),
    (0x30, 0xFFFFFFFF),
    (0x40, 0x155),
    (0x90, 0xFFFFFFFD),
)
# Begin, size, number, kind, and the numbers of the location; signed ones are strings.
VARIABLES: tuple[tuple[int, int, int, int, tuple[int | str, ...]], ...] = (
    (0, 16, 0, 0, (7,)),
    (16, 0x90, 0, 3, (5, "-24")),
    (0, 0xA0, -2, 0, (0,)),
    (0, 0xA0, 1, 1, (12,)),
    (0, 0xA0, 2, 2, (3,)),
    (0, 0xA0, 3, 4, (16, "264")),
    (0, 0xA0, 4, 5, (3, 15)),
    (0, 0xA0, 5, 6, (0, 5, "-8")),
    (0, 0xA0, 6, 7, (5, "-8", 0)),
    (0, 0xA0, 7, 8, (4, "8")),
    (0, 0xA0, -1, 10, (0x30,)),
    (0, 0xA0, 9, 0, (17,)),
)


class Bits:
    """Bits, the lowest of a byte first."""

    def __init__(self) -> None:
        self.bits: list[int] = []

    def put(self, value: int, count: int) -> None:
        """The lowest bits of a value."""
        self.bits += [value >> i & 1 for i in range(count)]

    def number(self, value: int) -> None:
        """Nibbles of three bits, the most significant first."""
        groups = max(1, (value.bit_length() + 2) // 3)
        for i in range(groups - 1, -1, -1):
            self.put(value >> 3 * i & 7 | (8 if i else 0), 4)

    def bytes(self) -> bytes:
        """All of them, padded."""
        bits = self.bits + [0] * (-len(self.bits) % 8)
        return bytes(
            sum(bit << i for i, bit in enumerate(bits[k : k + 8])) for k in range(0, len(bits), 8)
        )


def loose() -> bytes:
    """Bounds of 8 and 9."""
    bits, before = Bits(), 0
    bits.number(len(BOUNDS))
    for i, (native, il) in enumerate(BOUNDS):
        bits.number(native - before)
        bits.number(il + 3 & 0xFFFFFFFF)
        bits.number(i % 3)
        before = native
    return bits.bytes()


def packed(source: int = 2) -> bytes:
    """Bounds of 10, or with 3 bits of source those of 11."""
    bits, before = Bits(), 0
    for number in (len(BOUNDS), 6, 8):
        bits.number(number)
    head, bits = bits.bytes(), Bits()
    for i, (native, il) in enumerate(BOUNDS):
        bits.put(i % 3, source)
        bits.put(native - before, 7)
        bits.put(il + 3 & 0x1FF, 9)
        before = native
    return head + bits.bytes()


def variables(is_11: bool = False) -> bytes:
    """A variable of each kind."""
    bits = Bits()
    bits.number(len(VARIABLES))
    for begin, size, number, kind, location in VARIABLES:
        order = (number + 6, begin, size) if is_11 else (begin, size, number + 4)
        for value in (*order, kind):
            bits.number(value)
        for part in location:
            signed = int(part)
            if isinstance(part, str):
                signed = -signed << 1 | 1 if signed < 0 else signed << 1
            bits.number(signed)
    return bits.bytes()


def info(bounds: bytes, between: bytes = b"") -> bytes:
    """Sizes, bounds and variables."""
    rest, bits = variables(), Bits()
    sizes = (0xFFFFFFFF, len(bounds), len(between)) if between else (len(bounds),)
    for size in (*sizes, len(rest)):
        bits.number(size)
    return bits.bytes() + bounds + between + rest


def info_11(*more: bytes) -> bytes:
    """Bounds and variables (SLIM), or with four more parts (FAT)."""
    parts = (packed(3), variables(True), *more)
    return sizes(*([0] if more else []), *(len(part) for part in parts)) + b"".join(parts)


def sizes(*numbers: int) -> bytes:
    """Numbers, padded."""
    bits = Bits()
    for number in numbers:
        bits.number(number)
    return bits.bytes()


def head(version: int, function: int = 0, budget: int = 0) -> bytes:
    """The question."""
    return bytes([version, function, 0x20, 0, budget])


def patchpoint(has_entry: bool) -> bytes:
    """PatchpointInfo of three locals."""
    words = b"\xff" * 8 + (b"\1" * 8 if has_entry else b"") + b"\3\0\0\0\x40\0\0\0"
    return words + b"\xff" * 16 + b"\1\0\0\0\2\0\0\0\3\0\0\0"


def native(value: int, size: int) -> bytes:
    """A number of the native format with so many bytes."""
    bits = Bits()
    if size == 5:
        bits.put(15, 8)
        bits.put(value, 32)
    else:
        bits.put((1 << (size - 1)) - 1, size)
        bits.put(value, 7 * size)
    return bits.bytes()


def image(blob: bytes) -> bytes:
    """A NativeArray of 20 elements, of which number 18 is there."""
    tree = native(1, 1) + native(1, 1) + native(2 | 3 << 2, 1) + b"\xee\xee" + native(1 | 9 << 2, 5)
    return native(20 << 2 | 1, 2) + b"\xff\xff\4\0" + tree + native(0, 1) + blob


def deflate(data: bytes) -> bytes:
    """Raw deflate."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def main() -> None:
    """Write all."""
    text = b"".join(b"metadata %d " % i for i in range(200))
    rich = b"\5\0\0\0abcde"
    files = {
        "debug_info/jit8": head(0) + b"\0" + info(loose()),
        "debug_info/jit9": head(1) + b"\0" + info(loose()),
        "debug_info/jit10": head(2) + b"\0" + info(packed()),
        "debug_info/jit10-instrumented": head(2) + b"\0" + info(packed(), b"abcd"),
        "debug_info/jit10-rich": head(2) + b"\3" + patchpoint(True) + rich + info(packed()),
        "debug_info/jit8-patchpoint": head(0) + b"\1" + patchpoint(False) + info(loose()),
        "debug_info/r2r-packed": head(5, 18) + image(info(packed())),
        "debug_info/r2r-loose": head(0x80 | 3, 18) + image(info(loose())),
        "debug_info/r2r-absent": head(4, 19) + image(info(packed())),
        "debug_info/many": head(2) + b"\0" + sizes(0, 6) + sizes(0xFFFFFFFF),
        "debug_info/spent": head(2, 0, 20) + b"\0" + info(packed()),
        "debug_info/cut": (head(2) + b"\0" + info(packed()))[:-5],
        "debug_info/jit11-slim": head(OF_11) + info_11(),
        "debug_info/jit11-fat": head(OF_11) + info_11(b"", b"abc", b"rich", b"\2\1async"),
        "debug_info/r2r11": head(OF_11 | 1, 18) + image(info_11()),
        "debug_info/jit11-cut": (head(OF_11) + info_11(b"", b"", b"", b"async"))[:-40],
        "debug_info/r2r11-too-long": head(OF_11 | 1, 18)
        + image(sizes(0, 4, 4, 0, 0, 0, 0xFFFFFFFF) + bytes(8)),
        "debug_info/r2r11-async-too-long": head(OF_11 | 1, 18)
        + image(sizes(0, 4, 4, 0, 0, 0, 9) + bytes(8)),
        "inflate/dynamic": len(text).to_bytes(3, "little") + deflate(text),
        "inflate/stored": b"\5\0\0\1\5\0\xfa\xffhello",
        "inflate/fixed": b"\3\1\0\x4b\x1c\5\0",
        "inflate/too-many": b"\x0a\0\0" + deflate(text),
        "inflate/too-few": b"\0\xff\0" + deflate(text),
        "inflate/cut": len(text).to_bytes(3, "little") + deflate(text)[:-9],
        "inflate/bad-block": b"\5\0\0\7\5\0\xfa\xffhello",
        "inflate/empty": b"\0\0\0\3\0",
    }
    for name, data in files.items():
        path = CORPUS / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    main()
