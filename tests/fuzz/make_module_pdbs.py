#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpus of fuzz_module_pdb: modules with their PDBs inside of them or next to them, and such as lie."""
from __future__ import annotations

import pathlib
import random
import struct
import sys
import zlib

from make_module_files import runs

PAGE = 4096
MAPPED, TRUSTED, SYMBOLS = 1, 2, 4
# Where the parts of a module are, in the file; in memory each is at the same place.
PE, OPTIONAL, SECTION = 0x80, 0x98, 0x188
ENTRIES, CODE_VIEW, PACKED = 0x400, 0x500, 0x1000
IMAGE_SIZE = 0x4000
GUID, STAMP = bytes(range(16)), 0x5A5A5A5A
HUGE = (0, 1, 7, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def padded(data: bytes, size: int = 4) -> bytes:
    """With zeros to a multiple of SIZE."""
    return data + bytes(-len(data) % size)


def make_pdb(guid: bytes = GUID, stamp: int = STAMP) -> bytes:
    """A portable PDB with a document, and one method with a point in it."""
    blobs = b"\0" + b"\3src" + b"\5a.cs\0"[:5] + b"\4/\0\1\5" + b"\6\0\0\0\4\5\3"
    tables = struct.pack("<IBBBBQQ", 0, 2, 0, 0, 1, 3 << 0x30, 0) + struct.pack("<II", 1, 1)
    tables += struct.pack("<HHHH", 10, 0, 0, 0) + struct.pack("<HH", 1, 15)
    streams = [
        (b"#Pdb", guid + struct.pack("<II", stamp, 0) + struct.pack("<QI", 1 << 6, 1)),
        (b"#~", tables),
        (b"#Strings", b"\0"),
        (b"#Blob", blobs),
        (b"#GUID", bytes(16)),
    ]
    head = (
        b"BSJB"
        + struct.pack("<HHII", 1, 1, 0, 12)
        + b"PDB v1.0\0\0\0\0"
        + struct.pack("<HH", 0, len(streams))
    )
    size = len(head) + sum(8 + len(padded(name + b"\0")) for name, _ in streams)
    rows, bodies = b"", b""
    for name, body in streams:
        rows += struct.pack("<II", size + len(bodies), len(padded(body))) + padded(name + b"\0")
        bodies += padded(body)
    return head + rows + bodies


def deflate(data: bytes, level: int = 9) -> bytes:
    """Raw deflate."""
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def embedded(data: bytes, said: int | None = None) -> bytes:
    """The bytes that an entry of an embedded PDB leads to."""
    return b"MPDB" + struct.pack("<I", len(data) if said is None else said) + deflate(data)


def entry(kind: int, size: int, place: int, minor: int = 0x504D) -> bytes:
    """A row of the debug directory."""
    return struct.pack("<IIHHIIII", 0, STAMP, 0x100, minor, kind, size, place, place)


def code_view(name: bytes = b"/src/module.pdb") -> bytes:
    """The id and the path of a PDB."""
    return b"RSDS" + GUID + struct.pack("<I", 1) + name + b"\0"


class Module:
    """A PE image with one section, a debug directory and what its entries lead to."""

    def __init__(
        self, packed: bytes = b"", name: bytes = b"/src/module.pdb", size: int = IMAGE_SIZE
    ) -> None:
        self.bytes = bytearray(size)
        self.put(0, b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", PE))
        self.put(PE, b"PE\0\0" + struct.pack("<HHIIIHH", 0x8664, 1, 1, 0, 0, 240, 0x2022))
        self.put(OPTIONAL, struct.pack("<H", 0x20B))
        self.put(OPTIONAL + 56, struct.pack("<II", size, 0x400))
        self.put(OPTIONAL + 108, struct.pack("<I", 16))
        self.put(
            SECTION, b".text\0\0\0" + struct.pack("<IIII", size - 0x400, 0x400, size - 0x400, 0x400)
        )
        self.rows: list[bytes] = []
        if name:
            self.put(CODE_VIEW, code_view(name))
            self.rows.append(entry(2, len(code_view(name)), CODE_VIEW))
        if packed:
            self.put(PACKED, packed)
            self.rows.append(entry(17, len(packed), PACKED, 0x100))
        self.put_rows()

    def put(self, at: int, data: bytes) -> None:
        """Write bytes there, as far as the file goes."""
        room = max(0, len(self.bytes) - at)
        self.bytes[at : at + len(data[:room])] = data[:room]

    def put_rows(self, said: int | None = None) -> None:
        """The debug directory."""
        data = b"".join(self.rows)
        self.put(ENTRIES, data)
        self.put(
            OPTIONAL + 112 + 6 * 8, struct.pack("<II", ENTRIES, len(data) if said is None else said)
        )


def bits(text: str) -> bytes:
    """Bytes of bits that are written in the order of deflate."""
    text = text.replace(" ", "")
    text += "0" * (-len(text) % 8)
    return bytes(int(text[i : i + 8][::-1], 2) for i in range(0, len(text), 8))


def streams(pdb: bytes) -> dict[str, bytes]:
    """Bytes in place of an embedded PDB: sound, cut, lying, and larger than it may be."""
    rng = random.Random(7)
    size = len(pdb)
    found = {
        "sound": embedded(pdb),
        "stored": b"MPDB" + struct.pack("<I", size) + deflate(pdb, 0),
        "fixed": b"MPDB" + struct.pack("<I", size) + deflate(pdb, 1),
        "more": embedded(pdb, size + 1),
        "less": embedded(pdb, size - 1),
        "cut": embedded(pdb)[:-5],
        "empty": embedded(b""),
        "head-only": b"MPDB\0\0\1\0",
        "other-magic": b"GPDB" + embedded(pdb)[4:],
        "not-a-pdb": embedded(b"some text"),
        "other-id": embedded(make_pdb(bytes(16))),
        # 1,000 bytes out of each one.
        "bomb": embedded(bytes(4 << 20)),
        "bomb-of-pdb": embedded(pdb + bytes(3 << 20)),
        "bomb-that-lies": embedded(bytes(4 << 20), 1000),
        "bomb-beyond": embedded(bytes(64 << 10), 0x7FFFFFFF),
        # Blocks that go on without a byte: stored, of no length, never the last.
        "empty-blocks": b"MPDB" + struct.pack("<I", 64) + b"\0\0\0\xff\xff" * 600,
        "fixed-blocks": b"MPDB" + struct.pack("<I", 64) + bits("0 10 0000000" * 1200),
        "far-distance": b"MPDB"
        + struct.pack("<I", 64)
        + bits("1 10 0000001 11110 0000000000000 0000000"),
        "bad-block": b"MPDB" + struct.pack("<I", 64) + bits("1 11"),
        "stored-length": b"MPDB" + struct.pack("<I", 64) + b"\1\x40\0\0\0" + bytes(64),
        "codes-all-one": b"MPDB"
        + struct.pack("<I", 64)
        + bits("1 01 11111 11111 1111" + "100" * 19 + "1" * 400),
        "codes-repeat": b"MPDB"
        + struct.pack("<I", 64)
        + bits("1 01 00000 00000 0000 100 000 000 000" + "1" * 64),
        "noise": b"MPDB" + struct.pack("<I", 64) + bytes(rng.randrange(256) for _ in range(300)),
    }
    for i in range(0, len(found["sound"]), 37):
        flipped = bytearray(found["sound"])
        flipped[i] ^= 0x10
        found[f"flip-{i}"] = bytes(flipped)
    return found


def directories(pdb: bytes) -> dict[str, Module]:
    """Modules whose directory, or what it leads to, lies."""
    packed = embedded(pdb)
    found = {}
    for i, value in enumerate(HUGE):
        module = Module(packed)
        module.put_rows(value)
        found[f"directory-size-{i}"] = module
        for name, place in (("size", 16), ("address", 20), ("kind", 12)):
            module = Module(packed)
            row = bytearray(module.rows[1])
            row[place : place + 4] = struct.pack("<I", value)
            module.rows[1] = bytes(row)
            module.put_rows()
            found[f"entry-{name}-{i}"] = module
        for name, place in (
            ("image-size", OPTIONAL + 56),
            ("headers-size", OPTIONAL + 60),
            ("directories", OPTIONAL + 108),
            ("section-size", SECTION + 16),
            ("section-place", SECTION + 20),
            ("pe", 0x3C),
        ):
            module = Module(packed)
            module.put(place, struct.pack("<I", value))
            found[f"{name}-{i}"] = module
    module = Module(packed)
    module.rows = [entry(17, len(packed), ENTRIES, 0x100)]
    module.put_rows()
    found["entry-itself"] = module
    module = Module(packed)
    module.rows *= 40
    module.put_rows()
    found["entries-repeated"] = module
    module = Module(packed)
    module.rows = [entry(17, 8 * PAGE, ENTRIES, 0x100)] + [entry(2, 0xFFFF, CODE_VIEW)] * 8
    module.put_rows()
    found["entries-overlap"] = module
    module = Module(packed)
    module.put(PE + 6, struct.pack("<H", 0xFFFF))
    found["sections-many"] = module
    names = (
        b"..",
        b".",
        b"",
        b"/",
        b"../../etc/passwd",
        b"a\\..\\module.pdb",
        b"x" * 300,
        b"%s%n",
        b"\xff\xfe/\x1b[2J",
    )
    for i, path in enumerate(names):
        found[f"name-{i}"] = Module(b"", path)
    found["name-endless"] = module = Module(b"", b"x" * 200)
    module.put(CODE_VIEW, code_view(b"x" * 0xA00))
    module.rows = [entry(2, 0x900, CODE_VIEW)]
    module.put_rows()
    return found


def packed_input(flags: int, module: bytes, pdb: bytes) -> bytes:
    """An input of the target."""
    return struct.pack("<BBHH", flags, 0, len(module), len(pdb)) + runs(module + pdb)


def corpus() -> dict[str, bytes]:
    """Each input by its name."""
    pdb = make_pdb()
    inputs = {}
    for name, flags in (
        ("plain", 0),
        ("mapped", MAPPED),
        ("trusted", TRUSTED),
        ("symbols", SYMBOLS),
    ):
        inputs[f"inside-{name}"] = packed_input(flags, bytes(Module(embedded(pdb)).bytes), b"")
        inputs[f"beside-{name}"] = packed_input(flags, bytes(Module().bytes), pdb)
    inputs["beside-other"] = packed_input(SYMBOLS, bytes(Module().bytes), make_pdb(bytes(16)))
    inputs["beside-cut"] = packed_input(SYMBOLS, bytes(Module().bytes), pdb[:100])
    inputs["beside-text"] = packed_input(SYMBOLS, bytes(Module().bytes), b"some text")
    inputs["no-pdb"] = packed_input(0, bytes(Module(b"", b"").bytes), b"")
    for index, (name, data) in enumerate(streams(pdb).items()):
        inputs[f"stream-{name}"] = packed_input(
            (0, MAPPED, TRUSTED)[index % 3], bytes(Module(data).bytes), b""
        )
    for index, (name, module) in enumerate(directories(pdb).items()):
        inputs[name] = packed_input((0, MAPPED, SYMBOLS)[index % 3], bytes(module.bytes), pdb)
    return inputs


def main(folder: pathlib.Path) -> None:
    """Write each."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in corpus().items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "corpus" / "module_pdb")
