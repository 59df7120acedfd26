#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpus of fuzz_heap: images of small heaps, sound and damaged.

    make_heap_images.py FOLDER
"""
from __future__ import annotations

import pathlib
import struct
import sys

BASE = 0x10000000
HEAD = 40


class Image:
    """A heap as fuzz_heap.c reads it: types, one or two segments, contexts."""

    def __init__(self) -> None:
        self.bytes = bytearray(HEAD)
        self.flags = 0
        self.hole = (0, 0)
        self.segments: list[tuple[int, int]] = []
        self.contexts: list[tuple[int, int]] = []
        self.free = self.type(24, component=1, sound=False)
        self.object = self.type(24)

    def put(self, *words: int) -> int:
        """Append 64-bit words; returns the offset of the first."""
        at = len(self.bytes)
        self.bytes += struct.pack(f"<{len(words)}Q", *(w & (1 << 64) - 1 for w in words))
        return at

    def poke(self, at: int, word: int) -> None:
        """Write one word."""
        struct.pack_into("<Q", self.bytes, at, word & (1 << 64) - 1)

    def type(
        self,
        base: int,
        component: int = 0,
        flags: int = 0,
        desc: tuple[int, ...] = (),
        sound: bool = True,
    ) -> int:
        """A MethodTable with the words of its GCDesc below, and its EEClass."""
        self.put(*desc)
        flags |= (0x80000000 | component if component else 0) | (0x01000000 if desc else 0)
        at = self.put(flags | base << 32, 0x200, 0, 0, 0, 0, 0, 0)
        if sound:
            self.poke(at + 40, BASE + len(self.bytes))
            self.put(0, 0, BASE + at, 0)
        return at

    def thing(self, kind: int, size: int, *words: int) -> int:
        """An object of @p size bytes."""
        at = self.put(BASE + kind, *words)
        self.bytes += bytes(size - 8 * (1 + len(words)))
        return at

    def save(self, path: pathlib.Path) -> None:
        """Fill in the head and write it all, once for each use."""
        for use, name in enumerate(("walks", "snapshot", "reverse")):
            self.save_for(use, path.with_name(f"{path.name}-{name}"))

    def save_for(self, use: int, path: pathlib.Path) -> None:
        """Write it for one use."""
        ranges = [(a // 8, b // 8) for a, b in (self.segments + [(0, 0)] * 3)[:3]]
        ranges += [(a // 8, b // 8) for a, b in (self.contexts + [(0, 0)] * 3)[:3]]
        head = struct.pack(
            "<4H2B6x",
            self.free // 8,
            self.object // 8,
            self.hole[0] // 8,
            self.hole[1] // 8,
            self.flags,
            use,
        )
        head += b"".join(struct.pack("<2H", *r) for r in ranges)
        assert len(head) == HEAD
        path.write_bytes(head + self.bytes[HEAD:])


def heap() -> tuple[Image, dict[str, int]]:
    """Objects of every form of GCDesc, strings, Free blocks, a context."""
    image = Image()
    pair = image.type(32, desc=(-16, 8, 1))
    three = image.type(64, desc=(8 - 64, 48, 8 - 64, 32, 16 - 64, 8, 3))
    array = image.type(24, 8, 0x000A0000, (-24, 16, 1))
    structs = image.type(24, 32, 0x000A0000, (1 | 16 << 32, 1, 16, -2))
    image.poke(structs - 32, 1)
    image.poke(structs - 24, 1 | 8 << 32)
    string = image.type(22, 2)
    begin = len(image.bytes)
    a = image.thing(pair, 32, BASE + begin, BASE + begin + 32)
    b = image.thing(array, 48, 3, BASE + a, 0, BASE + a)
    c = image.thing(structs, 88, 2, BASE + b, BASE + a)
    image.thing(image.free, 48, 24)
    image.thing(string, 32, 3 | 0x0061 << 32)
    context = len(image.bytes)
    image.bytes += bytes(96)
    image.contexts.append((context, context + 72))
    d = image.thing(three, 64, BASE + a, BASE + b, 0, BASE + c, 0, BASE + c)
    for _ in range(4):
        image.thing(pair, 32, BASE + d)
    image.segments.append((begin, len(image.bytes)))
    second = len(image.bytes)
    image.thing(array, 24 + 80, 10, *[BASE + a] * 10)
    image.segments.append((second, len(image.bytes)))
    places = {"pair": pair, "array": array, "structs": structs, "a": a, "b": b, "c": c, "d": d}
    return image, places


def main(arguments: list[str]) -> int:
    """Write all images."""
    folder = pathlib.Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    damages: dict[str, list[tuple[str, int, int | None]]] = {
        "00-sound": [],
        "01-bad-method-table": [("a", 0, 0x4141414141414141)],
        "02-array-too-long": [("b", 8, 0x7FFFFFFF)],
        "03-array-over-context": [("c", 8, 5)],
        "04-zero": [("d", 0, 0)],
        "05-no-series": [("pair", -8, 0)],
        "06-many-series": [("pair", -8, 1 << 62)],
        "07-wide-series": [("pair", -24, 1 << 40)],
        "08-many-runs": [("structs", -8, -(1 << 40))],
        "09-runs-of-nothing": [("structs", -24, 0), ("structs", -32, 0)],
        "10-class-of-another": [("pair", 40, BASE + 8)],
        "11-canonical-self": [("pair", 40, None)],
        "12-collectible": [("pair", 0, 0x01200000 | 32 << 32)],
        "13-object-as-type": [("a", 0, None)],
    }
    for name, changes in damages.items():
        image, places = heap()
        for place, offset, word in changes:
            at = places[place]
            image.poke(at + offset, BASE + at + 1 if word is None else word)
        image.save(folder / name)
    for name, flags in {"14-copied": 1, "15-net8": 2, "16-far-end": 4, "17-far-copied": 5}.items():
        image, places = heap()
        image.flags = flags
        if flags & 4:
            begin = len(image.bytes)
            image.segments.append((begin, begin))
        image.save(folder / name)
    for name, change in {"18-hole": 8, "19-hole-over-all": 4096}.items():
        image, places = heap()
        image.hole = (places["b"] - change % 64, places["b"] + change)
        image.save(folder / name)
    for name, context in {"20-context-inside": (40, 72), "21-context-backwards": (64, 8)}.items():
        image, places = heap()
        image.contexts = [(places["b"] + context[0], places["b"] + context[1])] * 2
        image.save(folder / name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
