#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpus of fuzz_file_match: module files, with what a core holds of them."""
from __future__ import annotations

import pathlib
import struct
import sys

from make_cores import image

EXECUTE, WRITE, READ, FAR = 1, 2, 4, 8


def pair(
    file: bytes,
    core: bytes,
    parts: tuple[tuple[int, int, int, int], ...] = ((0, 1, 0, READ),),
) -> bytes:
    """An input; parts: gap, pages, offset, flags."""
    rows = list(parts) + [(0, 0, 0, 0)] * (3 - len(parts))
    return struct.pack("<HH", len(file), 0) + bytes(sum(rows, ())) + file + core


def pe(stamp: int = 1, size: int = 0x2000) -> bytes:
    """The headers of a PE image."""
    data = bytearray(512)
    data[0:2], data[0x3C] = b"MZ", 0x80
    struct.pack_into("<IHHIIIHH", data, 0x80, 0x4550, 0x8664, 1, stamp, 0, 0, 240, 0x2022)
    struct.pack_into("<H", data, 0x98, 0x20B)
    struct.pack_into("<I", data, 0x98 + 56, size)
    return bytes(data)


def corpus() -> dict[str, bytes]:
    """Every input by name."""
    elf = image(0)
    other = elf.replace(b"a-build-id", b"b-build-id")
    page = bytes(range(256)) * 16
    code = ((0, 1, 0, READ | EXECUTE),)
    data = ((0, 1, 0, READ | WRITE),)
    return {
        "elf-same": pair(elf, elf),
        "elf-other": pair(elf, other),
        "elf-no-file": pair(b"", elf),
        "elf-not-held": pair(elf, b""),
        "elf-second-part": pair(elf, elf, ((0, 1, 1, READ), (1, 1, 0, READ | EXECUTE))),
        "pe-same": pair(pe(), pe()),
        "pe-stamp": pair(pe(), pe(stamp=2)),
        "pe-size": pair(pe(), pe(size=0x3000)),
        "pe-and-elf": pair(pe(), elf),
        "pages-same": pair(page, page, code),
        "pages-other": pair(page, page[::-1], code),
        "pages-written": pair(b"MZ" + page[2:], b"MZ" + page[2:], data),
        "size": pair(page, b"", ((0, 3, 0, READ),)),
        "far": pair(page, page, ((0, 1, 0, READ | EXECUTE | FAR),)),
        "three": pair(elf, elf, ((0, 1, 0, READ), (0, 1, 1, EXECUTE), (2, 4, 2, WRITE))),
    }


def main(folder: pathlib.Path) -> None:
    """Write all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in corpus().items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "corpus" / "file_match")
