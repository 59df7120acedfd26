#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpus of fuzz_handles: handle tables and finalizer queues, sound and damaged.

    make_handle_images.py FOLDER
"""
from __future__ import annotations

import pathlib
import struct
import sys
from typing import Sequence

BASE = 0x10000000
PAGE = 512
PAGES = 48
HEAPS = 4
SEGMENT = 65536
UNUSED = 0xFF


class Image:
    """Memory in pages of 512 bytes, as fuzz_handles.c reads it."""

    def __init__(self, types: int = 13, server: int = 0) -> None:
        self.types = types
        self.server = server
        self.pages: dict[int, bytearray] = {}
        self.next = BASE
        self.next_segment = BASE + SEGMENT
        self.map = 0
        self.queues = [0] * HEAPS

    def write(self, address: int, data: bytes) -> None:
        """Write bytes; pages come into being."""
        for i, byte in enumerate(data):
            place, offset = divmod(address + i - BASE, PAGE)
            self.pages.setdefault(place, bytearray(PAGE))[offset] = byte

    def words(self, address: int, *words: int) -> None:
        """Write 64-bit words."""
        self.write(address, struct.pack(f"<{len(words)}Q", *words))

    def alloc(self, size: int) -> int:
        """Small things, one after the other."""
        address = self.next
        self.next += size + 15 & ~15
        self.write(address, bytes(size))
        return address

    def segment(self, table: int, after: int = 0) -> int:
        """An empty TableSegment (handletablepriv.h) after @p after."""
        n = self.types
        segment = self.next_segment
        self.next_segment += SEGMENT
        head = bytes(480 + 120) + b"\xff" * 960 + bytes([UNUSED]) * 240 + bytes(120 + 6 * n)
        self.write(segment, head + struct.pack("<QQ", 0, table) + bytes(8))
        if after:
            self.words(after + 1920 + 6 * n, segment)
        return segment

    def table(self) -> tuple[int, int]:
        """A HandleTable and its first segment."""
        at = (4 * self.types + 7) & ~7
        table = self.alloc(at + 8)
        segment = self.segment(table)
        self.words(table + at, segment)
        return table, segment

    def block(self, segment: int, block: int, kind: int, values: Sequence[int]) -> None:
        """A block of handles that are in use."""
        self.write(segment + 1560 + block, bytes([kind]))
        mask = (1 << 64) - 1 & ~((1 << len(values)) - 1)
        self.words(segment + 600 + 8 * block, mask)
        self.words(segment + 4096 + 512 * block, *values)

    def buckets(self, *tables: Sequence[int]) -> None:
        """The map with a bucket for each list of tables."""
        array = self.alloc(80)
        self.map = self.alloc(24)
        self.words(self.map, array, 0, 10)
        for i, row in enumerate(tables):
            pointers = self.alloc(8 * len(row))
            self.words(pointers, *row)
            bucket = self.alloc(16)
            self.words(bucket, pointers, i)
            self.words(array + 8 * i, bucket)

    def queue(self, heap: int, counts: Sequence[int], objects: int) -> None:
        """A CFinalize with its array; objects are numbers from @p objects on."""
        total = sum(counts)
        array = self.alloc(8 * total + 8)
        queue = self.alloc(72)
        self.words(array, *range(objects, objects + total))
        ends = [array + 8 * sum(counts[: i + 1]) for i in range(7)]
        self.words(queue, *ends, array, array + 8 * total + 8)
        self.queues[heap] = self.alloc(8)
        self.words(self.queues[heap], queue)

    def save(self, path: pathlib.Path, drop: Sequence[int] = ()) -> None:
        """Write it without the pages that hold the addresses of @p drop."""
        gone = {(address - BASE) // PAGE for address in drop}
        places = [place for place in sorted(self.pages) if place not in gone]
        assert len(places) <= PAGES, (path, len(places))
        head = struct.pack(
            "<BB6xQ4Q",
            (self.server > 0) | (self.types == 12) << 1,
            max(self.server - 1, 0),
            self.map,
            *self.queues,
        )
        head += struct.pack(f"<{PAGES}H", *(places + [0xFFFF] * (PAGES - len(places))))
        path.write_bytes(head + b"".join(self.pages[place] for place in places))


def sound(types: int, server: int = 0, segments: int = 2) -> tuple[Image, list[int]]:
    """Tables with some blocks and user data, and queues."""
    image = Image(types, server)
    tables, made = [], []
    for _ in range(max(server, 1)):
        table, first = image.table()
        tables.append(table)
        made.append(first)
        image.block(first, 0, 2, [0x20001000, 0, 0x20001018])
        image.block(first, 1, 6, [0x20001030, 0x20001048])
        image.block(first, 2, types - 1, [0x20001060, 0])
        image.write(first + 1680 + 1, bytes([2]))
        for _ in range(segments - 1):
            made.append(image.segment(table, made[-1]))
            image.block(made[-1], 119, 3, [0x20001078])
    image.buckets(tables)
    for heap in range(max(server, 1)):
        image.queue(heap, [0, 1, 2, 1, 3, 1, 2], 0x20002000)
    return image, made


def main() -> None:
    """Write them all."""
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for types in (12, 13):
        sound(types)[0].save(folder / f"sound-{types}")
    sound(13, server=2)[0].save(folder / "server")
    image, made = sound(13, segments=3)
    image.words(made[2] + 1920 + 78, made[1])
    image.save(folder / "cycle")
    image, made = sound(13)
    image.save(folder / "no-values", drop=[made[0] + 4096])
    image, made = sound(13)
    image.save(folder / "no-header", drop=[made[1]])
    image, made = sound(13)
    image.write(made[0] + 1560, bytes([13, 6]))
    image.write(made[0] + 1680 + 1, bytes([200]))
    image.save(folder / "bad-types")
    image, made = sound(13)
    image.words(image.map + 8, image.map)
    image.save(folder / "map-cycle")
    image, made = sound(12)
    queue = struct.unpack_from(
        "<Q", image.pages[(image.queues[0] - BASE) // PAGE], (image.queues[0] - BASE) % PAGE
    )[0]
    image.words(queue + 16, 1 << 60)
    image.save(folder / "queue-order")
    image, made = sound(12)
    image.words(queue, *[BASE + 8 * i for i in (0, 0, 9, 9, 9, 9, 1 << 40)], BASE, 1 << 62)
    image.save(folder / "queue-long")


if __name__ == "__main__":
    main()
