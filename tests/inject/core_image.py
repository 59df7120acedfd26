# SPDX-License-Identifier: MIT
"""A copy of a core file that can be patched by address, and what the program says is in it."""
from __future__ import annotations

import bisect
import json
import mmap
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(SOURCE / "tests" / "support"))

import turns  # noqa: E402  pylint: disable=wrong-import-position

BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
PROGRAM = str(BUILD / "heapdump")
CORES = SOURCE / "corefiles" / "build"
TIMEOUT = 300

PT_LOAD = 1
PT_NOTE = 4
NT_FILE = 0x46494C45


class Run(NamedTuple):
    """One run of the program."""

    status: int
    out: str
    err: str

    def json(self) -> dict[str, Any]:
        """The document it printed."""
        document: dict[str, Any] = json.loads(self.out)
        return document


def heapdump(core: str, *words: str, as_json: bool = True) -> Run:
    """Run one command on a core."""
    done = subprocess.run(
        [PROGRAM, *(["--json"] if as_json else []), core, *words],
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    return Run(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode())


class Object(NamedTuple):
    """An object as dumpheap lists it."""

    address: int
    mt: int
    type: str
    size: int
    free: bool
    generation: str

    @property
    def step(self) -> int:
        """Bytes to the next object."""
        return (self.size + 7) & ~7

    @property
    def end(self) -> int:
        """Where the next object starts."""
        return self.address + self.step


class Segment(NamedTuple):
    """A segment or region as eeheap lists it."""

    address: int
    generation: str
    begin: int
    allocated: int
    committed: int
    reserved: int


class Image:
    """The copy: ELF program headers say where an address lies in the file."""

    def __init__(self, core: Path, folder: Path) -> None:
        self.path = str(folder / core.name)
        shutil.copyfile(core, self.path)
        self.file = open(self.path, "r+b")  # pylint: disable=consider-using-with
        self.map = mmap.mmap(self.file.fileno(), 0)
        self.loads = sorted(self._headers(PT_LOAD))
        self.starts = [load[0] for load in self.loads]
        self.undo: list[tuple[int, bytes]] = []
        self.objects = [
            Object(
                int(o["address"], 16),
                int(o["mt"], 16),
                o["type"],
                o["size"],
                o["free"],
                o["generation"],
            )
            for o in heapdump(self.path, "dumpheap").json()["objects"]
        ]
        self.by_address = {o.address: o for o in self.objects}
        heap = heapdump(self.path, "eeheap").json()
        self.segments = [
            Segment(
                int(s["address"], 16),
                s["generation"],
                int(s["begin"], 16),
                int(s["allocated"], 16),
                int(s["committed"], 16),
                int(s["reserved"], 16),
            )
            for h in heap["heaps"]
            for s in h["segments"]
        ]
        self.heap_size = sum(s.allocated - s.begin for s in self.segments)
        self.threads = heapdump(self.path, "clrthreads").json()["threads"]

    def _headers(self, wanted: int) -> Iterator[tuple[int, int, int]]:
        """(address, offset, bytes in the file) of program headers; real counts beyond 0xffff."""
        (phoff, shoff) = struct.unpack_from("<QQ", self.map, 32)
        (count,) = struct.unpack_from("<H", self.map, 56)
        if count == 0xFFFF:
            (count,) = struct.unpack_from("<I", self.map, shoff + 44)
        for i in range(count):
            kind, _, offset, address, _, size, _, _ = struct.unpack_from(
                "<IIQQQQQQ", self.map, phoff + 56 * i
            )
            if kind == wanted and size:
                yield address, offset, size

    def headers(self, wanted: int) -> Iterator[tuple[int, int, int]]:
        """(offset of the header, address, bytes in the file) of program headers."""
        (phoff,) = struct.unpack_from("<Q", self.map, 32)
        rows = {(offset, size): address for address, offset, size in self._headers(wanted)}
        for at in range(phoff, phoff + 56 * 65535, 56):
            kind, _, offset, address, _, size = struct.unpack_from("<IIQQQQ", self.map, at)
            if kind == wanted and rows.pop((offset, size), None) == address:
                yield at, address, size
            if not rows:
                return

    def note_places(self) -> Iterator[tuple[int, int, bytes]]:
        """(offset of the type, type, content) of each note."""
        for _, at, size in self._headers(PT_NOTE):
            end = at + size
            while at + 12 <= end:
                name, length, kind = struct.unpack_from("<III", self.map, at)
                body = at + 12 + (name + 3 & ~3)
                yield at + 8, kind, self.map[body : body + length]
                at = body + (length + 3 & ~3)

    def notes(self) -> Iterator[tuple[int, bytes]]:
        """(type, content) of each note."""
        for _, kind, body in self.note_places():
            yield kind, body

    def mapped(self) -> list[str]:
        """Files that are mapped: NT_FILE, count and page size, ranges, names."""
        for kind, body in self.notes():
            if kind == NT_FILE:
                (count,) = struct.unpack_from("<Q", body)
                return [n.decode() for n in body[16 + 24 * count :].split(b"\0") if n]
        return []

    def offset(self, address: int) -> int:
        """Where the byte at an address lies in the file."""
        start, offset, size = self.loads[bisect.bisect_right(self.starts, address) - 1]
        if not start <= address < start + size:
            raise KeyError(hex(address))
        return offset + address - start

    def has(self, address: int) -> bool:
        """Is the byte at an address in the file?"""
        try:
            self.offset(address)
        except (KeyError, IndexError):
            return False
        return True

    def read(self, address: int, size: int) -> bytes:
        """Bytes at an address, which lie in one PT_LOAD."""
        at = self.offset(address)
        return self.map[at : at + size]

    def u64(self, address: int) -> int:
        """The number at an address."""
        value: int = struct.unpack("<Q", self.read(address, 8))[0]
        return value

    def u32(self, address: int) -> int:
        """The number at an address."""
        value: int = struct.unpack("<I", self.read(address, 4))[0]
        return value

    def patch(self, address: int, data: bytes) -> None:
        """Overwrite bytes, until restore()."""
        at = self.offset(address)
        self.undo.append((at, self.map[at : at + len(data)]))
        self.map[at : at + len(data)] = data

    def patch_file(self, offset: int, data: bytes) -> None:
        """Overwrite bytes at an offset in the file, until restore()."""
        self.undo.append((offset, self.map[offset : offset + len(data)]))
        self.map[offset : offset + len(data)] = data

    def restore(self) -> None:
        """Take all patches back."""
        while self.undo:
            at, data = self.undo.pop()
            self.map[at : at + len(data)] = data

    def find(self, data: bytes) -> list[int]:
        """Addresses where these bytes lie, 8-aligned, outside of the heap."""
        found = []
        for start, offset, size in self.loads:
            # A copy: mmap.find() of Python 3.11.2 crashes.
            part = self.map[offset : offset + size]
            at = part.find(data)
            while at >= 0:
                if (start + at) % 8 == 0 and not self.segment_of(start + at):
                    found.append(start + at)
                at = part.find(data, at + 8)
        return found

    def segment_of(self, address: int) -> Segment | None:
        """The segment that an address lies in."""
        return next((s for s in self.segments if s.begin <= address < s.allocated), None)

    def at(self, address: int) -> Object | None:
        """The object that starts at an address."""
        return self.by_address.get(address)

    def close(self) -> None:
        """Remove the copy."""
        self.map.close()
        self.file.close()
        os.unlink(self.path)


def elf_symbol(path: str, name: str) -> int | None:
    """Value of a symbol in .dynsym of an ELF file."""
    try:
        data = Path(path).read_bytes()
    except OSError:
        return None
    (shoff,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    for i in range(count):
        kind, _, _, offset, length, link = struct.unpack_from("<IQQQQI", data, shoff + i * size + 4)
        if kind != 11:  # SHT_DYNSYM
            continue
        (strings,) = struct.unpack_from("<Q", data, shoff + link * size + 24)
        for at in range(offset, offset + length, 24):
            start, _, _, _, value = struct.unpack_from("<IBBHQ", data, at)
            end = data.index(b"\0", strings + start)
            if data[strings + start : end] == name.encode():
                result: int = value
                return result
    return None


def elf_segment(path: str, wanted: int) -> tuple[int, int] | None:
    """Address and size of the first program header of that type in an ELF file."""
    try:
        data = Path(path).read_bytes()
    except OSError:
        return None
    (phoff,) = struct.unpack_from("<Q", data, 32)
    (count,) = struct.unpack_from("<H", data, 56)
    for i in range(count):
        kind, _, _, address, _, _, size = struct.unpack_from("<IIQQQQQ", data, phoff + 56 * i)
        if kind == wanted:
            return address, size
    return None
