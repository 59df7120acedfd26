#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpus of fuzz_unpack: zstd files, whole, cut and lying; needs the zstd program."""
from __future__ import annotations

import pathlib
import struct
import subprocess
import sys

MAGIC = b"\x28\xb5\x2f\xfd"
LIMIT = 11  # the first byte of the input: 4 MiB


def pack(data: bytes, *options: str) -> bytes:
    """One frame as the program writes it."""
    return subprocess.run(
        ["zstd", "-q", "-c", *options], input=data, capture_output=True, check=True
    ).stdout


def block(kind: int, size: int, data: bytes, last: bool = False) -> bytes:
    """One block: 0 raw, 1 the same byte again and again, 2 packed, 3 reserved."""
    return struct.pack("<I", size << 3 | kind << 1 | last)[:3] + data


def frame(blocks: bytes, size: int | None = None, window: int = 0) -> bytes:
    """A frame by hand: with the size of what it holds, or else the byte of its window."""
    if size is None:
        return MAGIC + bytes([0, window]) + blocks
    return MAGIC + b"\xa0" + struct.pack("<I", size) + blocks


def corpus() -> dict[str, bytes]:
    """Every input by name, without its first byte."""
    text = b"the memory of a process, " * 40
    zeros = bytes(10000)
    plain = pack(text)
    repeat = block(1, 128 << 10, b"x") * 20
    return {
        "plain": plain,
        "checksum-wrong": pack(text, "--check")[:-1] + b"\0",
        "sparse": pack(text + zeros + text),
        "best": pack(text + zeros, "-19"),
        "long": pack(text, "--long=27"),
        "stream": frame(block(0, 5, b"bytes") + block(1, 9000, b"y", True)),
        "two": plain + plain,
        "skippable": struct.pack("<II", 0x184D2A50, 4) + b"skip" + plain,
        "skipped-between": plain + struct.pack("<II", 0x184D2A51, 3) + b"abc" + plain,
        "cut": plain[:-7],
        "cut-in-head": plain[:5],
        "trailing": plain + b"more",
        "lies": frame(block(0, 5, b"bytes", True), size=4),
        "huge": frame(block(0, 5, b"bytes", True), size=2**32 - 1),
        "window-large": frame(block(0, 5, b"bytes", True), window=0xA8),
        "window-too-large": frame(block(0, 5, b"bytes", True), window=0xFF),
        "bomb": frame(repeat),
        "bombs": (frame(repeat + block(0, 0, b"", True)) * 2),
        "reserved": frame(block(3, 5, b"bytes", True)),
        "empty": frame(block(0, 0, b"", True)),
        "dictionary": MAGIC + b"\x23\x01\0\0\0\x05" + block(0, 5, b"bytes", True),
        "other": b"\x1f\x8b\x08\0",
    }


def main(folder: pathlib.Path) -> None:
    """Write all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in corpus().items():
        (folder / name).write_bytes(bytes([LIMIT]) + data)
    (folder / "too-large").write_bytes(b"\0" + corpus()["sparse"])


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "corpus" / "unpack")
