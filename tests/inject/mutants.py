# SPDX-License-Identifier: MIT
"""Copies of cores, with the files of their modules and PDBs, and what can be changed in them."""
from __future__ import annotations

import json
import mmap
import os
import random
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

from core_image import PROGRAM, SOURCE

PAGE = 4096
ODD = (
    0,
    1,
    7,
    8,
    0x7F,
    0xFF,
    0xFFFF,
    0x10000,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**47,
    2**63 - 1,
    2**63,
    2**64 - 8,
    2**64 - 1,
)
SYMBOLS = SOURCE / "corefiles" / "symbols" / "hang.pdb"
# Files of modules that are copied and changed: what the runtime is found in, and what has metadata.
MODULES = (
    "libcoreclr.so",
    "System.Private.CoreLib.dll",
    "libSystem.Native.so",
    "libc.so.6",
    "ld-linux-x86-64.so.2",
)
MODULES_MAX = 8
# An address of each kind, from the first object whose type's name has these words.
KINDS = {
    "string": "System.String",
    "array": "System.Object[]",
    "task": "Task",
    "continuation": "Continuation",
    "exception": "Exception",
    "collection": "Dictionary<",
    "delegate": "Action",
    "object": "",
}


class Bytes:
    """A file that can be changed and restored."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.file = open(path, "r+b")  # pylint: disable=consider-using-with
        self.map = mmap.mmap(self.file.fileno(), 0)
        self.size = len(self.map)
        self.undo: list[tuple[int, bytes]] = []

    def put(self, at: int, data: bytes) -> None:
        """Overwrite bytes, as far as they are in the file, until restore()."""
        data = data[: max(0, self.size - at)]
        self.undo.append((at, self.map[at : at + len(data)]))
        self.map[at : at + len(data)] = data

    def word(self, at: int) -> int:
        """The eight bytes there, as a number."""
        value: int = struct.unpack_from("<Q", self.map, min(at, self.size - 8))[0]
        return value

    def cut(self, size: int) -> None:
        """Make the file end there, until restore()."""
        self.undo.append((size, self.map[size:]))
        self.map.resize(size)

    def restore(self) -> None:
        """Take all changes back."""
        for at, data in reversed(self.undo):
            if at + len(data) > len(self.map):
                self.map.resize(self.size)
            self.map[at : at + len(data)] = data
        self.undo = []


class Victim:
    """A core with what is next to it."""

    def __init__(self, core: Path, folder: Path) -> None:
        self.name = core.name.split(".")[0]
        self.folder = folder / self.name
        self.folder.mkdir()
        path = self.folder / core.name.removesuffix(".zst")
        if core.suffix == ".zst":
            subprocess.run(["zstd", "-q", "-d", "--sparse", core, "-o", path], check=True)
        else:
            subprocess.run(["cp", "--sparse=always", core, path], check=True)
        self.path = str(path)
        self.core = Bytes(path)
        self.loads = self.find_loads()
        self.options: list[str] = []
        self.files = self.copy_modules() + self.copy_symbols()
        self.addresses = self.find_addresses()

    def find_loads(self) -> list[tuple[int, int]]:
        """(offset, size) of what the file has of each PT_LOAD, and of the notes."""
        (at,) = struct.unpack_from("<Q", self.core.map, 32)
        (count,) = struct.unpack_from("<H", self.core.map, 56)
        found = []
        for i in range(count):
            _, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", self.core.map, at + 56 * i)
            if size:
                found.append((offset, min(size, self.core.size - offset)))
        return found

    def ask(self, *words: str) -> dict[str, object]:
        """The answer of a command about the sound core."""
        argv = [PROGRAM, "--json", *self.options, self.path, *words]
        done = subprocess.run(argv, capture_output=True, check=False)
        try:
            answer: dict[str, object] = json.loads(done.stdout.decode("utf-8", "replace"))
        except ValueError:
            answer = {}
        return answer

    def rows(self, query: str) -> list[list[object]]:
        """Rows of a query, or none where the core has no heap."""
        rows = self.ask("sql", query).get("rows", [])
        assert isinstance(rows, list)
        return [list(row.values()) if isinstance(row, dict) else row for row in rows]

    def copy_modules(self) -> list[Bytes]:
        """Files of modules below a folder of their own, by the paths that the core has."""
        images = self.ask("modules").get("modules", [])
        assert isinstance(images, list)
        paths = [Path(image["path"]) for image in images if Path(image.get("path") or "").is_file()]
        root = self.folder / "root"
        files = []
        for path in sorted(paths, key=lambda path: (path.name not in MODULES, path))[:MODULES_MAX]:
            copy = root / path.relative_to("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            files.append(Bytes(copy))
        if files:
            self.options += ["--sysroot", str(root)]
        return files

    def copy_symbols(self) -> list[Bytes]:
        """The PDB of the committed core."""
        if not self.name.startswith("hang"):
            return []
        folder = self.folder / "symbols"
        shutil.copytree(SYMBOLS.parent, folder)
        self.options += ["--symbols", str(folder)]
        return [Bytes(path) for path in folder.rglob("*.pdb") if path.is_file()]

    def find_addresses(self) -> dict[str, str]:
        """Words for the commands, in hexadecimal."""
        found = {name: "1000" for name in (*KINDS, "mt", "module", "assembly", "method", "code")}
        types = self.rows(
            "SELECT type, max(address), mt FROM objects GROUP BY type ORDER BY count(*) DESC"
        )
        for name, part in KINDS.items():
            rows = [row for row in types if part in str(row[0]) and row[0] != "Free"]
            if rows:
                found[name] = number(rows[0][1])
                found["mt"] = number(rows[-1][2])
        for row in self.rows("SELECT address, assembly FROM modules LIMIT 1"):
            found["module"], found["assembly"] = number(row[0]), number(row[1])
        for row in self.rows("SELECT method_desc, code FROM methods WHERE code > 0 LIMIT 1"):
            found["method"], found["code"] = number(row[0]), number(row[1])
        return found


def number(value: object) -> str:
    """An address as the commands read it."""
    return f"{value:x}" if isinstance(value, int) else str(value).removeprefix("0x")


class Mutant:
    """One changed file, and its number."""

    def __init__(self, victim: Victim, seed: int, index: int) -> None:
        self.victim, self.seed, self.number = victim, seed, index
        self.random = random.Random(f"mutant {seed} {index}")
        self.path = victim.path
        self.addresses = victim.addresses
        self.options = list(victim.options)
        self.changed = victim.path

    def page(self, victim: Bytes) -> int:
        """The offset of a page that is not empty, as far as one is found."""
        at = 0
        for _ in range(200):
            if victim is self.victim.core:
                offset, size = self.random.choice(self.victim.loads)
            else:
                offset, size = 0, victim.size
            at = offset + self.random.randrange(max(1, size)) // PAGE * PAGE
            if any(victim.map[at : at + PAGE]):
                break
        return at

    def place(self, victim: Bytes) -> int:
        """The offset of a word that is not zero, as far as one is found."""
        page = self.page(victim)
        at = page
        for _ in range(64):
            at = page + 8 * self.random.randrange(PAGE // 8)
            if at + 8 <= victim.size and victim.word(at):
                break
        return min(at, victim.size - 8)

    def change_word(self, victim: Bytes) -> None:
        """Something odd, something near, another word, or a circle."""
        at, how = self.place(victim), self.random.randrange(6)
        if how == 0:
            value = self.random.choice(ODD)
        elif how == 1:
            value = victim.word(at) + self.random.choice((-16, -8, -1, 1, 8, 16, PAGE))
        elif how in (2, 3):
            value = victim.word(self.place(victim))
        elif how == 4:
            value = victim.word(at) ^ 1 << self.random.randrange(64)
        else:
            value = victim.word(max(0, at - 8))
        size = self.random.choice((8, 8, 8, 4, 4, 2, 1))
        victim.put(
            at + self.random.choice((0, 0, 8 - size)), struct.pack("<Q", value & 2**64 - 1)[:size]
        )

    def change_stretch(self, victim: Bytes) -> None:
        """Many bytes: zeros, ones, any, or those of another place."""
        at, size = self.place(victim), 8 * self.random.choice((2, 8, 64, 512))
        how = self.random.randrange(4)
        other = self.place(victim)
        data = (
            bytes(size),
            b"\xff" * size,
            self.random.randbytes(size),
            victim.map[other : other + size],
        )[how]
        victim.put(at, data)

    def change_head(self, victim: Bytes) -> None:
        """The first bytes, where the headers are; of a core also its notes."""
        at, size = 0, PAGE
        if victim is self.victim.core and self.random.random() < 0.5:
            at, size = self.victim.loads[0]
        at += 4 * self.random.randrange(max(1, size // 4))
        data = struct.pack("<Q", self.random.choice(ODD))[: self.random.choice((8, 4, 2, 1))]
        victim.put(at, data)

    def change(self, victim: Bytes) -> None:
        """Change one file."""
        self.changed = victim.path
        if self.random.random() < 0.03:
            victim.cut(self.random.randrange(1, victim.size))
            return
        ways = (self.change_word, self.change_word, self.change_stretch, self.change_head)
        for _ in range(2 ** self.random.randrange(8)):
            self.random.choice(ways)(victim)


def mutants(victims: list[Victim], seed: int, first: int, with_files: bool) -> Iterator[Mutant]:
    """One after the other without an end; each is as before when the next one comes."""
    index = first
    while True:
        victim = victims[index % len(victims)]
        mutant = Mutant(victim, seed, index)
        changed = victim.core
        if with_files and victim.files and mutant.random.random() < 0.3:
            changed = mutant.random.choice(victim.files)
            mutant.options += ["--trust-files"] if mutant.random.random() < 0.5 else []
        mutant.change(changed)
        changed.map.flush()
        yield mutant
        changed.restore()
        index += 1
