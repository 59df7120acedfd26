#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpus of fuzz_channel: messages between the two processes of the shell program."""
from __future__ import annotations

import pathlib
import struct
import sys


def message(kind: int, *strings: bytes, number: int = 0, count: int | None = None) -> bytes:
    """One message; with another number of strings than it has."""
    data = b"".join(string + b"\0" for string in strings)
    many = len(strings) if count is None else count
    return struct.pack("<IiQII", kind, number, 7, many, len(data)) + data


def corpus() -> dict[str, bytes]:
    """Every input by name; the first byte: descriptors, and 128: in two pieces."""
    opening = message(8, b"/a/core", b"", number=2)
    large = struct.pack("<IiQII", 1, 0, 0, 1, 2**32 - 1) + b"x\0"
    return {
        "open": b"\0" + opening,
        "two": b"\0" + message(5) + message(7, b"a", number=-1),
        "with-descriptor": b"\1" + message(4, b"", number=13),
        "many-descriptors": b"\x10" + message(4),
        "in-pieces": b"\x80" + opening,
        "pieces-and-descriptors": b"\x83" + opening + opening,
        "too-few-strings": b"\0" + message(1, b"a", b"b", count=3),
        "too-many-strings": b"\0" + message(1, b"a", b"b", count=1),
        "no-end": b"\0" + message(1, b"abc")[:-1] + b"d",
        "cut": b"\2" + opening[:-3],
        "cut-in-head": b"\1" + opening[:9],
        "large": b"\0" + large,
        "unknown": b"\0" + message(2**32 - 1, b"", b""),
    }


def main(folder: pathlib.Path) -> None:
    """Write all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in corpus().items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "corpus" / "channel")
