#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Leave the files of the system out of a core: a full core of a small program is mostly libc.

    cut_core.py CORE OUT PROGRAM

Segments of mapped files that lie below PROGRAM's folder, and of no file, stay; of other files those that can be written.
"""
from __future__ import annotations

import struct
import sys
from pathlib import Path

HEADER = 64
ROW = struct.Struct("<IIQQQQQQ")
PT_LOAD, PT_NOTE, PF_W, NT_FILE = 1, 4, 2, 0x46494C45


def mapped_files(core: bytes, offset: int, size: int) -> list[tuple[int, int, str]]:
    """The rows of NT_FILE: first address, the one after the last, name."""
    end = offset + size
    while offset + 12 <= end:
        name, length, kind = struct.unpack_from("<III", core, offset)
        offset += 12 + (name + 3 & ~3)
        if kind == NT_FILE:
            count = struct.unpack_from("<Q", core, offset)[0]
            names = core[offset + 16 + 24 * count : offset + length].split(b"\0")
            rows = [struct.unpack_from("<QQ", core, offset + 16 + 24 * i) for i in range(count)]
            return [(row[0], row[1], name.decode()) for row, name in zip(rows, names)]
        offset += length + 3 & ~3
    return []


def main() -> int:
    """Exit status."""
    core = Path(sys.argv[1]).read_bytes()
    folder = str(Path(sys.argv[3]).parent)
    first, count = struct.unpack_from("<Q", core, 32)[0], struct.unpack_from("<H", core, 56)[0]
    rows = [list(ROW.unpack_from(core, first + ROW.size * i)) for i in range(count)]
    files = [
        row
        for kind, _, at, _, _, size, _, _ in rows
        if kind == PT_NOTE
        for row in mapped_files(core, at, size)
    ]
    out = bytearray(core[: first + ROW.size * count])
    for row in rows:
        kind, flags, offset, address, _, size, _, align = row
        of_system = any(
            begin <= address < end and not name.startswith(folder) for begin, end, name in files
        )
        if kind == PT_LOAD and of_system and not flags & PF_W:
            row[5] = 0
            continue
        out += bytes(-len(out) % max(align, 1))
        row[2] = len(out)
        out += core[offset : offset + size]
    for i, row in enumerate(rows):
        ROW.pack_into(out, first + ROW.size * i, *row)
    Path(sys.argv[2]).write_bytes(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
