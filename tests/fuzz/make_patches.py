#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpus of fuzz_whole_core: patches of a core at its structures, as that file says."""
from __future__ import annotations

import pathlib
import random
import struct
import sys

PIECES = 115  # of fake_core.c; the last two are the headers and the notes
HEADERS, NOTES = PIECES - 2, PIECES - 1
U64, U32, U16, U8, ADD, POINTER, CHAIN, COPY = range(8)
ODD = [
    0,
    1,
    7,
    0x7F,
    0xFFFF,
    0x7FFFFFFF,
    0xFFFFFFFF,
    2**63 - 1,
    2**63,
    2**64 - 8,
    2**64 - 1,
]


def patch(piece: int, place: int, how: int, value: int, repeat: int = 0) -> bytes:
    """One patch."""
    return struct.pack("<HHBBQ", piece, place, how, repeat, value)


def place_of(piece: int, word: int) -> int:
    """The value of POINTER and COPY."""
    return piece | word << 16


def corpus() -> dict[str, bytes]:
    """Each by its name; all commands run."""
    rng = random.Random(12)
    files: dict[str, list[bytes]] = {"plain": []}
    # Every word of a structure leads to its begin, or to the next word: lists in circles.
    for first in range(0, PIECES, 8):
        pieces = range(first, min(first + 8, PIECES))
        files[f"circle-{first:03}"] = [
            patch(piece, rng.randrange(16), POINTER, place_of(piece, 0)) for piece in pieces
        ]
        files[f"chain-{first:03}"] = [patch(piece, 2, CHAIN, 0, 255) for piece in pieces]
        files[f"odd-{first:03}"] = [
            patch(piece, rng.randrange(32), U64, rng.choice(ODD)) for piece in pieces
        ]
        files[f"other-{first:03}"] = [
            patch(piece, rng.randrange(16), POINTER, place_of(rng.randrange(PIECES), 0))
            for piece in pieces
        ]
    for i, value in enumerate(ODD):
        files[f"headers-{i:02}"] = [
            patch(HEADERS, rng.randrange(8, 8 + 7 * (PIECES - 2)), U64, value) for _ in range(6)
        ]
        files[f"notes-{i:02}"] = [patch(NOTES, rng.randrange(64), U32, value) for _ in range(3)]
    # All loads at one place of the file; all notes of one kind.
    files["shared"] = [
        patch(HEADERS, 8 + 7 * i + 1, COPY, place_of(HEADERS, 8 + 7 * 100 + 1))
        for i in range(2, 60)
    ]
    files["headers-cut"] = [patch(HEADERS, 56, 0x80 | U16, 0xFFFF)]
    whole = {name: bytes(8) + b"".join(patches) for name, patches in files.items()}
    # The same changes in a core of .NET 11, and in one of a release that nobody knows.
    for number, release in ((1, "11"), (2, "next")):
        for name in ("plain", "circle-016", "circle-048", "chain-016", "odd-032", "other-064"):
            whole[f"{release}-{name}"] = whole[name] + bytes([number])
    return whole


def main(folder: pathlib.Path) -> None:
    """Write all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in corpus().items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "corpus" / "whole_core")
