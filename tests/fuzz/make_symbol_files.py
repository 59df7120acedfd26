#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpus of fuzz_symbol_file: ELF files with symbol tables, a build-id and a .gnu_debuglink."""
from __future__ import annotations

import pathlib
import struct
import sys

SYMTAB, STRTAB, NOTE, PROGBITS, NOBITS, DYNSYM = 2, 3, 7, 1, 8, 11
FUNCTION, OBJECT = 2, 1
Section = tuple[str, int, bytes, int]  # name, type, content, sh_link
SYMBOLS = [
    ("outer", 0x1000, 0x100, FUNCTION),
    ("inner", 0x1010, 8, FUNCTION),
    ("data", 0x2000, 8, OBJECT),
]


class Kind:
    """A class and a byte order."""

    def __init__(self, is_32: bool, is_big: bool) -> None:
        self.is_32, self.order = is_32, ">" if is_big else "<"
        self.ident = b"\x7fELF" + bytes((1 if is_32 else 2, 2 if is_big else 1, 1)) + bytes(9)
        self.header_size, self.row_size = (52, 40) if is_32 else (64, 64)

    def pack(self, form: str, *values: int) -> bytes:
        """N is a word of the class."""
        return struct.pack(self.order + form.replace("N", "I" if self.is_32 else "Q"), *values)

    def symbol(self, name: int, value: int, size: int, info: int) -> bytes:
        """One row of a symbol table."""
        if self.is_32:
            return self.pack("IIIBBH", name, value, size, info, 0, 1)
        return self.pack("IBBHQQ", name, info, 0, 1, value, size)

    def note(self, build_id: bytes) -> bytes:
        """NT_GNU_BUILD_ID."""
        return self.pack("III", 4, len(build_id), 3) + b"GNU\0" + build_id

    def file(self, sections: list[Section]) -> bytes:
        """An ELF file with these sections after the empty one; the names of sections come last."""
        names, body = b"\0", b""
        rows = bytes(self.row_size)
        for name, kind, content, link in sections + [(".shstrtab", STRTAB, b"", 0)]:
            at, names = len(names), names + name.encode() + b"\0"
            content = names if name == ".shstrtab" else content
            offset = self.header_size + len(body)
            entry = (16 if self.is_32 else 24) if kind in (SYMTAB, DYNSYM) else 0
            rows += self.pack("IINNNNIINN", at, kind, 0, 0, offset, len(content), link, 0, 4, entry)
            body += content + bytes(-len(content) % 8)
        count = len(sections) + 2
        head = self.pack("HHINNNI", 3, 62, 1, 0, 0, self.header_size + len(body), 0)
        head += self.pack("HHHHHH", self.header_size, 0, 0, self.row_size, count, count - 1)
        return self.ident + head + body + rows


def table(kind: Kind, symbols: list[tuple[str, int, int, int]]) -> tuple[bytes, bytes]:
    """A symbol table and its names."""
    names, rows = b"\0", kind.symbol(0, 0, 0, 0)
    for name, value, size, info in symbols:
        rows += kind.symbol(len(names), value, size, info)
        names += name.encode() + b"\0"
    return rows, names


def whole(kind: Kind, symbols: list[tuple[str, int, int, int]], of: int = SYMTAB) -> bytes:
    """A file with everything."""
    rows, names = table(kind, symbols)
    return kind.file(
        [
            (".note.gnu.build-id", NOTE, kind.note(b"an id of twenty byte"), 0),
            (".symtab", of, rows, 3),
            (".strtab", STRTAB, names, 0),
            (".gnu_debuglink", PROGBITS, b"fake.sym".ljust(12, b"\0") + b"\1\2\3\4", 0),
        ]
    )


def corpus() -> dict[str, bytes]:
    """Every input by name."""
    kind = Kind(False, False)
    rows, names = table(kind, SYMBOLS)
    many = [(f"f{i}", 0x1000 + i, 0x10000 - 2 * i, FUNCTION) for i in range(500)]
    return {
        "usual": whole(kind, SYMBOLS),
        "32": whole(Kind(True, False), SYMBOLS),
        "big": whole(Kind(False, True), SYMBOLS),
        "32-big": whole(Kind(True, True), SYMBOLS),
        "dynamic": whole(kind, SYMBOLS, DYNSYM),
        "nested": whole(kind, many),
        "no-names": kind.file([(".symtab", SYMTAB, rows, 0)]),
        "names-without-end": kind.file(
            [(".symtab", SYMTAB, rows, 2), (".strtab", STRTAB, names[:-3], 0)]
        ),
        "names-not-there": kind.file([(".symtab", SYMTAB, rows, 2), (".strtab", NOBITS, names, 0)]),
        "huge": whole(
            kind, [("all", 1, (1 << 64) - 1, FUNCTION), ("more", 5, (1 << 64) - 5, FUNCTION)]
        ),
        "cut": whole(kind, SYMBOLS)[:300],
    }


def main(folder: pathlib.Path) -> None:
    """Write all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in corpus().items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "corpus" / "symbol_file")
