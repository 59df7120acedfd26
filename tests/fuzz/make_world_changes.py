#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpora of fuzz_inspect and fuzz_verify: every command, about a sound heap and about
heaps with a few damaged words (fake_world.h has the format)."""
from __future__ import annotations

import pathlib
import random
import struct
import sys

PUT, PLACE, ADD, XOR = range(4)
HOSTILE = (0, 1, 7, 0x7FFFFFFF, 0xFFFFFFFF, 2**63, 2**64 - 1, 2**64 - 8, 0x4141414141414140)


def change(what: int, place: int, value: int, width: int = 8, byte: int = 0) -> bytes:
    """One change of a word."""
    widths = {8: 0, 4: 1, 2: 2, 1: 3}
    return struct.pack("<BBHQ", what | widths[width] << 4, byte, place, value & 2**64 - 1)


def some_changes(dice: random.Random) -> bytes:
    """A few changes anywhere."""
    data = b""
    for _ in range(dice.randrange(1, 6)):
        what = dice.randrange(4)
        value = dice.choice(HOSTILE) if what != PLACE else dice.randrange(2**16)
        width = dice.choice((8, 8, 4, 2, 1))
        data += change(what, dice.randrange(2**16), value, width, dice.randrange(8))
    return data


def corpus(commands: int, seed: int) -> dict[str, bytes]:
    """Inputs by name: each command about a few objects, and each with changes."""
    dice = random.Random(seed)
    inputs = {}
    for command in range(commands):
        for thing in range(0, 24, 8):
            inputs[f"sound-{command:02}-{thing:02}"] = bytes([command, thing])
        for index in range(4):
            head = bytes([command, dice.randrange(24)])
            inputs[f"changed-{command:02}-{index:02}"] = head + some_changes(dice)
    return inputs


def main(folder: pathlib.Path) -> None:
    """Write both."""
    for name, commands in (("inspect", 14), ("verify", 4)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for key, data in corpus(commands, commands).items():
            (folder / name / key).write_bytes(data)


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "corpus")
