#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpus of fuzz_debugger: what a debugger shows of a program, and how it answers."""
from __future__ import annotations

import pathlib
import struct
import sys

from make_cores import BASE, LIBRARY, LINKS, image, links, program

HONEST, SHORT, TOO_MUCH, CHANGING, ANYWHERE = range(5)
WITH_CORE, WITH_BACKEND, OF_FILE, NO_MEMORY = 1, 2, 4, 8


def debuggee(
    *pieces: tuple[int, bytes],
    answer: int = HONEST,
    flags: int = 0,
    bases: tuple[int, int, int] = (BASE, LIBRARY, 0),
    stack: int = LINKS,
) -> bytes:
    """An input: memory as pairs of address and bytes."""
    rows = list(pieces) + [(0, b"")] * (4 - len(pieces))
    head = struct.pack("<BBBB4H", answer, flags, 3, 2, *(len(row[1]) for row in rows))
    head = head.ljust(16, b"\0") + struct.pack("<Q", stack)
    head += struct.pack("<4Q", *(row[0] for row in rows))
    head += struct.pack("<3Q2Q", *bases, 0x7F0000001000, 0)
    return head + b"".join(row[1] for row in rows)


def corpus() -> dict[str, bytes]:
    """Every input by name."""
    main, library = image(BASE, debug=LINKS), image(LIBRARY)
    memory = [(BASE, main), (LIBRARY, library), (LINKS, links(0))]
    core = program()
    return {
        "plain": debuggee(*memory),
        "backend": debuggee(*memory, flags=WITH_BACKEND),
        "short": debuggee(*memory, answer=SHORT),
        "too-much": debuggee(*memory, answer=TOO_MUCH),
        "changing": debuggee(*memory, answer=CHANGING),
        "anywhere": debuggee(*memory, answer=ANYWHERE),
        "old-hash": debuggee((LIBRARY, image(LIBRARY, old_hash=True))),
        "at-the-end": debuggee((2**64 - 512, main), bases=(2**64 - 512, 0, 0)),
        "core": debuggee((0, core), flags=WITH_CORE),
        "core-only": debuggee((0, core), flags=WITH_CORE | NO_MEMORY),
        "core-file": debuggee((0, core), flags=WITH_CORE | WITH_BACKEND | OF_FILE),
        "core-other": debuggee((LINKS, core), flags=WITH_CORE),
        "no-core": debuggee(flags=WITH_BACKEND | OF_FILE),
        "nothing": debuggee(flags=NO_MEMORY),
    }


def main(folder: pathlib.Path) -> None:
    """Write all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in corpus().items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "corpus" / "debugger")
