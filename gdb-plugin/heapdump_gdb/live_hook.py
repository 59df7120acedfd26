# SPDX-License-Identifier: MIT
"""The moment at which calls of a method go to new code (doc/managed-elf.md 10)."""
from __future__ import annotations

import re
from typing import Callable

import gdb

from heapdump_gdb.live_code import LiveCode

RUNTIME = "/libcoreclr.so"
# lock cmpxchg REGISTER, 0x4000(REGISTER) and 0x4008: Precode::SetTargetInterlocked of FixupPrecode and StubPrecode,
# whose data are 16 KB behind the code.
STORE = re.compile(rb"\xf0([\x48-\x4f])\x0f\xb1([\x80-\xbf])[\x00\x08]\x40\x00\x00", re.S)


def hook_places(code: LiveCode) -> list[tuple[int, str, str]]:
    """Address of each store, and the registers of what is stored and of the stub; none unless they are unique."""
    if code.processor() != "i386:x86-64":
        return []
    names = code.registers()
    found: dict[bytes, list[tuple[int, str, str]]] = {}
    mappings = [row for row in code.mappings() if "x" in row[2]]
    # A single-file program has the runtime in itself.
    program = code.program()
    runtime = [row for row in mappings if row[4].endswith(RUNTIME)]
    for begin, end, _, _, _ in runtime or [row for row in mappings if row[4] == program]:
        try:
            text = code.read(begin, end - begin)
        except gdb.error:
            return []
        for match in STORE.finditer(text):
            rex, modrm = match[1][0], match[2][0]
            if modrm & 7 == 4:
                continue
            stored = names[(modrm >> 3 & 7) + (8 if rex & 4 else 0)]
            stub = names[(modrm & 7) + (8 if rex & 1 else 0)]
            found.setdefault(match[0][-4:], []).append((begin + match.start(), stored, stub))
    if any(len(rows) != 1 for rows in found.values()):
        return []
    return [rows[0] for rows in found.values()]


class Hook(gdb.Breakpoint):
    """An internal breakpoint of GDB at a store; nobody sees it."""

    def __init__(self, place: tuple[int, str, str], published: Callable[[int], bool]) -> None:
        address, self._register, _ = place
        self._published = published
        super().__init__(f"*{address:#x}", internal=True)
        self.silent = True

    def stop(self) -> bool:
        """The runtime is there."""
        try:
            value = int(gdb.newest_frame().read_register(self._register)) & (1 << 64) - 1
            return self._published(value)
        except (gdb.error, OSError):
            return False
