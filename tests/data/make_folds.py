#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the dumps with long paths: list.heap and chain.heap.

    make_folds.py FOLDER
    make_folds.py --check FOLDER

list.heap: a static variable holds a list of 2,000 Node and, after it, a Target (id 20000).  A second
list has 4 and a third 5 Part, one below and one at the length that is folded.
chain.heap: chains of alternating types.  Ids 1000 to 11f3: 500 objects of 2 types; 2000 to 212b: 300
objects of 6 types; 3000 to 30c7: 200 objects of 2 types; 4000 to 40c8: 201 of them.
"""
from __future__ import annotations

import sys
from pathlib import Path


def chain(first: int, types: list[int], count: int) -> list[str]:
    """Objects that refer each to the next, of the given types in turn."""
    lines = []
    for i in range(count):
        reference = f" {first + i + 1:x}" if i + 1 < count else ""
        lines.append(f"o {first + i:x} {types[i % len(types)]:x} 10{reference}")
    return lines


def list_dump() -> list[str]:
    """list.heap."""
    lines = ["a 2 list.exe 100", "t 1 Program", "t 2 Node", "t 3 Target", "t 4 Part"]
    lines += ["o 100 1 20 1000", "o 200 1 20 300", "o 210 1 20 400"]
    lines += [f"o {0x300 + i:x} 4 c {0x301 + i if i < 3 else 0x310:x}" for i in range(4)]
    lines += ["o 310 3 18"]
    lines += [f"o {0x400 + i:x} 4 c {0x401 + i if i < 4 else 0x410:x}" for i in range(5)]
    lines += ["o 410 3 18"]
    for i in range(2000):
        follower = 0x1000 + i + 1 if i < 1999 else 0x20000
        lines.append(f"o {0x1000 + i:x} 2 c {follower:x}")
    lines += ["o 20000 3 18", "r 100 4 0 1", "r 200 1 0", "r 210 1 0"]
    return lines + ["c list.exe 200"]


def chain_dump() -> list[str]:
    """chain.heap."""
    lines = ["a 2 chain.exe"]
    lines += [f"t {i + 1:x} Ring.{name}" for i, name in enumerate("ABCDEF")]
    lines += chain(0x1000, [1, 2], 500) + chain(0x2000, [1, 2, 3, 4, 5, 6], 300)
    lines += chain(0x3000, [1, 2], 200) + chain(0x4000, [1, 2], 201)
    lines += ["r 1000 0 0", "r 2000 2 0", "r 3000 1 0", "r 4000 3 1"]
    return lines + ["c chain.exe"]


DUMPS = {"list.heap": list_dump, "chain.heap": chain_dump}


def main() -> int:
    """Write or check both files."""
    check = sys.argv[1:2] == ["--check"]
    folder = Path(sys.argv[2 if check else 1])
    status = 0
    for name, make in DUMPS.items():
        text = "\n".join(make()) + "\n"
        if not check:
            (folder / name).write_text(text, encoding="utf-8")
        elif (folder / name).read_text(encoding="utf-8") != text:
            print(f"{name} differs from what make_folds.py writes", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
