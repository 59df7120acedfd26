# SPDX-License-Identifier: MIT
"""The committed core, what the program said that it is of, and copies of it to damage."""
from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

from shell_program import SOURCE, folder

LEAK = str(SOURCE / "corefiles" / "leak.core.zst")
PT_LOAD = 1
# See corefiles/leak.truth.json.
TRUTH = json.loads((SOURCE / "corefiles" / "leak.truth.json").read_text(encoding="utf-8"))
ADDRESSES = {entry["name"]: entry["address"] for entry in TRUTH["objects"]}
LEAKED = ADDRESSES["leaked"]
OPEN = TRUTH["open_sessions"]
SESSION_MT = "7f0f79550c38"


def unpacked() -> Path:
    """The committed core as a plain file, made once."""
    path = Path(folder.name) / "leak.core"
    if not path.exists():
        subprocess.run(["zstd", "-q", "-d", LEAK, "-o", str(path)], check=True)
    return path


class Load(NamedTuple):
    """A PT_LOAD and where its header stands."""

    header: int
    offset: int
    address: int
    filesz: int


def loads(path: Path) -> list[Load]:
    """The segments of a core."""
    with path.open("rb") as file:
        head = file.read(64)
        (phoff,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        file.seek(phoff)
        data = file.read(size * count)
    found = []
    for i in range(count):
        kind, _, offset, address, _, filesz = struct.unpack_from("<IIQQQQ", data, i * size)
        if kind == PT_LOAD:
            found.append(Load(phoff + i * size, offset, address, filesz))
    return found


def poke(path: Path, address: int, data: bytes) -> None:
    """Write DATA over what a core has at ADDRESS."""
    for load in loads(path):
        if load.address <= address < load.address + load.filesz:
            with path.open("r+b") as file:
                file.seek(load.offset + address - load.address)
                file.write(data)
            return
    raise AssertionError(f"{address:x} is not in the core")


def leave_out(path: Path, address: int) -> None:
    """Make a core lack the bytes of the segment at ADDRESS."""
    for load in loads(path):
        if load.address <= address < load.address + load.filesz:
            with path.open("r+b") as file:
                file.seek(load.header + 32)
                file.write(struct.pack("<Q", 0))
