#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpus of fuzz_waits: locks and waits that are sound, and such with a few damaged words."""
from __future__ import annotations

import pathlib
import random
import struct
import sys

NUMBER, PLACE, NUMBER_4, LARGE, LARGE_4 = range(5)
# Words of the objects, as fake_locks.c lays them out for four threads: enough to reach all of them.
WORDS = 196
IN_BLOCK = 0x8000
INPUTS = 40


def change(place: int, what: int, value: int) -> bytes:
    """One change of a word."""
    return struct.pack("<HBBH", place, what, 0, value)


def some_changes(dice: random.Random) -> bytes:
    """A few changes anywhere, in some inputs of the sync block as well."""
    data = b""
    for _ in range(dice.randrange(1, 12)):
        what = dice.randrange(5)
        value = dice.randrange(WORDS) if what == PLACE else dice.choice((0, 1, 2, 3, 7, 64, 65535))
        data += change(dice.randrange(WORDS), what, value)
    if dice.randrange(4) == 0:
        data += change(IN_BLOCK | dice.randrange(8), dice.randrange(5), dice.randrange(WORDS))
    return data


def main(folder: pathlib.Path) -> None:
    """Write it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sound").write_bytes(b"")
    # The handle of the Lock leads nowhere, to no memory, and is null.
    for index, what in enumerate((LARGE, NUMBER, NUMBER_4)):
        (folder / f"handle-{index}").write_bytes(
            change(IN_BLOCK, what, 0x1230 if index == 1 else 0)
        )
    # Each word in turn: a large number, and the first object, which makes cycles.
    for word in range(0, WORDS, 4):
        data = b"".join(change(word + step, LARGE, 0) for step in range(4))
        (folder / f"large-{word:03}").write_bytes(data)
    for word in range(0, WORDS, 8):
        (folder / f"leads-back-{word:03}").write_bytes(change(word, PLACE, word - 1 if word else 0))
    dice = random.Random(11)
    for index in range(INPUTS):
        (folder / f"changed-{index:02}").write_bytes(some_changes(dice))


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "corpus" / "waits")
