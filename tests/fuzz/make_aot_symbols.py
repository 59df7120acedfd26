#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpus of fuzz_aot_symbols: ELF files with the DWARF and the symbols of a NativeAOT program."""
from __future__ import annotations

import pathlib
import struct
import sys
import zlib

PROGBITS, SYMTAB, STRTAB = 1, 2, 3
COMPRESSED = 1 << 11
Section = tuple[str, int, bytes, int, int]  # name, type, content, sh_link, flags

ARRAY, CLASS, ENUM, MEMBER, POINTER, REFERENCE, UNIT = 0x01, 0x02, 0x04, 0x0D, 0x0F, 0x10, 0x11
PARAMETER = 0x05
INHERITANCE, SUBRANGE, BASE, SUBPROGRAM, VARIABLE = 0x1C, 0x21, 0x24, 0x2E, 0x34
AT_LOCATION, AT_NAME, AT_SIZE, AT_LINES, AT_LOW, AT_HIGH, AT_PRODUCER = (
    2,
    3,
    0xB,
    0x10,
    0x11,
    0x12,
    0x25,
)
AT_FRAME_BASE = 0x40
AT_UPPER, AT_PLACE, AT_DECLARATION, AT_ENCODING, AT_SPECIFICATION, AT_TYPE = (
    0x2F,
    0x38,
    0x3C,
    0x3E,
    0x47,
    0x49,
)
FORM_ADDR, FORM_DATA4, FORM_STRING, FORM_DATA1, FORM_STRP, FORM_REF4 = (
    0x01,
    0x06,
    0x08,
    0x0B,
    0x0E,
    0x13,
)
FORM_SEC, FORM_EXPRESSION, FORM_PRESENT, FORM_ALT = 0x17, 0x18, 0x19, 0x1F21


def uleb(value: int) -> bytes:
    """An unsigned LEB128."""
    out = bytearray()
    while True:
        out.append(value & 0x7F | (0x80 if value >> 7 else 0))
        value >>= 7
        if not value:
            return bytes(out)


class Dwarf:
    """One unit that grows."""

    def __init__(self) -> None:
        self.kinds: dict[tuple[int, bool, tuple[tuple[int, int], ...]], int] = {}
        self.strings = b"\0"
        self.body = b""
        self.names: dict[str, int] = {}
        self.later: list[tuple[int, str]] = []

    def string(self, text: str) -> int:
        """Its offset in .debug_str."""
        at = len(self.strings)
        self.strings += text.encode() + b"\0"
        return at

    def entry(
        self,
        tag: int,
        values: list[tuple[int, int, object]],
        children: bool = False,
        name: str = "",
    ) -> None:
        """Add an entry; a reference is the name of another one."""
        key = (tag, children, tuple((at, form) for at, form, _ in values))
        code = self.kinds.setdefault(key, len(self.kinds) + 1)
        if name:
            self.names[name] = 11 + len(self.body)
        self.body += uleb(code)
        for _, form, value in values:
            if form == FORM_REF4:
                self.later.append((len(self.body), str(value)))
                self.body += bytes(4)
            elif form == FORM_STRP:
                self.body += struct.pack("<I", self.string(str(value)))
            elif form == FORM_STRING:
                self.body += str(value).encode() + b"\0"
            elif form == FORM_EXPRESSION:
                assert isinstance(value, bytes)
                self.body += uleb(len(value)) + value
            elif form != FORM_PRESENT:
                assert isinstance(value, int)
                size = {FORM_ADDR: 8, FORM_DATA1: 1}.get(form, 4)
                self.body += value.to_bytes(size, "little")

    def end(self) -> None:
        """The end of the children."""
        self.body += b"\0"

    def info(self, version: int = 4) -> bytes:
        """.debug_info."""
        body = bytearray(self.body)
        for at, name in self.later:
            body[at : at + 4] = struct.pack("<I", self.names.get(name, 0))
        return struct.pack("<IHIB", len(body) + 7, version, 0, 8) + bytes(body)

    def abbrev(self) -> bytes:
        """.debug_abbrev."""
        out = b""
        for (tag, children, values), code in self.kinds.items():
            out += uleb(code) + uleb(tag) + bytes([children])
            for at, form in values:
                out += uleb(at) + uleb(form)
            out += b"\0\0"
        return out + b"\0"


def begin(producer: str = "NetRuntime") -> Dwarf:
    """A unit with the types that everything needs."""
    dwarf = Dwarf()
    dwarf.entry(
        UNIT,
        [
            (AT_PRODUCER, FORM_STRP, producer),
            (AT_NAME, FORM_STRING, "il.cpp"),
            (AT_LINES, FORM_SEC, 0),
        ],
        True,
    )
    for name, encoding, size in (
        ("int", 5, 4),
        ("bool", 2, 1),
        ("char16_t", 0x10, 2),
        ("long", 5, 8),
    ):
        dwarf.entry(
            BASE,
            [
                (AT_NAME, FORM_STRP, name),
                (AT_ENCODING, FORM_DATA1, encoding),
                (AT_SIZE, FORM_DATA1, size),
            ],
            name=name,
        )
    return dwarf


# A register, on the stack, in two registers, in a list with a range, and in one that is not there.
PLACES: list[tuple[int, object]] = [
    (PARAMETER, b"\x55"),
    (PARAMETER, b"\x91\x70"),
    (PARAMETER, b"\x55\x93\x08\x54\x93\x08"),
    (VARIABLE, 0),
    (VARIABLE, 0x10000),
    (VARIABLE, b"\x90\x11"),
]

Member = tuple[str, str, int]  # name, type, place; -1: static


def add_class(dwarf: Dwarf, name: str, size: int, members: list[Member], base: str = "") -> None:
    """A declaration, a definition, and the references to it."""
    dwarf.entry(CLASS, [(AT_NAME, FORM_STRP, name), (AT_DECLARATION, FORM_PRESENT, 1)], name=name)
    dwarf.entry(REFERENCE, [(AT_TYPE, FORM_REF4, name), (AT_SIZE, FORM_DATA1, 8)], name=name + "&")
    dwarf.entry(CLASS, [(AT_NAME, FORM_STRP, name), (AT_SIZE, FORM_DATA4, size)], True)
    if base:
        dwarf.entry(INHERITANCE, [(AT_TYPE, FORM_REF4, base), (AT_PLACE, FORM_DATA1, 0)])
    for member, kind, place in members:
        head = [(AT_NAME, FORM_STRP, member), (AT_TYPE, FORM_REF4, kind)]
        tail = (AT_DECLARATION, FORM_PRESENT, 1) if place < 0 else (AT_PLACE, FORM_DATA4, place)
        dwarf.entry(MEMBER, head + [tail], name=f"{name}.{member}")
    dwarf.end()


def add_static(dwarf: Dwarf, member: str, location: bytes) -> None:
    """The place of a static field."""
    dwarf.entry(
        VARIABLE, [(AT_SPECIFICATION, FORM_REF4, member), (AT_LOCATION, FORM_EXPRESSION, location)]
    )


def cell(address: int, offset: int) -> bytes:
    """In the object that a cell leads to."""
    return b"\3" + struct.pack("<Q", address) + b"\6\6\x23" + uleb(offset)


def place(address: int) -> bytes:
    """In place."""
    return b"\3" + struct.pack("<Q", address)


def usual(producer: str = "NetRuntime") -> Dwarf:
    """A unit with one of each."""
    dwarf = begin(producer)
    add_class(dwarf, "Object", 8, [("m_pEEType", "long", 0)])
    add_class(dwarf, "Point", 16, [("X", "int", 8), ("O", "Object&", 0)])
    add_class(dwarf, "Three", 24, [("first", "Object&", 0)])
    dwarf.entry(
        ENUM,
        [(AT_NAME, FORM_STRP, "Color"), (AT_TYPE, FORM_REF4, "int"), (AT_SIZE, FORM_DATA1, 4)],
        name="Color",
    )
    dwarf.entry(POINTER, [(AT_TYPE, FORM_REF4, "int"), (AT_SIZE, FORM_DATA1, 8)], name="int*")
    dwarf.entry(ARRAY, [(AT_TYPE, FORM_REF4, "int")], True, "int[]")
    dwarf.entry(SUBRANGE, [(AT_UPPER, FORM_DATA4, 0xFFFFFFFF)])
    dwarf.end()
    members = [("Next", "Node&", 8), ("Id", "long", 16), ("P", "Point", 24), ("T", "Three", 40)]
    members += [("C", "Color", 64), ("W", "int*", 72), ("Z", "bool", 68), ("Ch", "char16_t", 70)]
    members += [("s_number", "int", -1), ("s_list", "Node&", -1), ("t_name", "Object&", -1)]
    add_class(dwarf, "Node", 80, members, "Object")
    add_static(dwarf, "Node.s_number", cell(0x9000, 8))
    add_static(dwarf, "Node.s_list", place(0x9100))
    add_static(dwarf, "Node.t_name", b"\x91\x08")
    base = (AT_FRAME_BASE, FORM_EXPRESSION, b"\x56")
    dwarf.entry(SUBPROGRAM, [(AT_LOW, FORM_ADDR, 0x1000), (AT_HIGH, FORM_DATA4, 0x40), base], True)
    for i, (tag, where) in enumerate(PLACES):
        form = FORM_SEC if isinstance(where, int) else FORM_EXPRESSION
        head = [(AT_NAME, FORM_STRP, f"v{i}"), (AT_TYPE, FORM_REF4, "Node&")]
        dwarf.entry(tag, head + [(AT_LOCATION, form, where)])
    dwarf.end()
    dwarf.end()
    return dwarf


def lines(folders: list[str], program: bytes) -> bytes:
    """.debug_line, version 4."""
    tables = b"".join(name.encode() + b"\0" for name in folders) + b"\0"
    tables += b"A.cs\0" + uleb(min(1, len(folders))) + b"\0\0" + b"\0"
    lengths = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])
    header = bytes([1, 1, 1, 0xFB, 14, 13]) + lengths + tables
    body = struct.pack("<HI", 4, len(header)) + header + program
    return struct.pack("<I", len(body)) + body


def rows(address: int, steps: list[tuple[int, int]], end: int) -> bytes:
    """Rows of a line table: bytes and lines to the next."""
    out = b"\0\x09\2" + struct.pack("<Q", address) + b"\1"
    for code, line in steps:
        out += b"\2" + uleb(code) + b"\3" + uleb(line & 0x3F) + b"\1"
    return out + b"\2" + uleb(end) + b"\0\1\1"


def elf(sections: list[Section]) -> bytes:
    """An ELF file of 64 bits with these sections after the empty one; the names of sections come last."""
    names, body, table = b"\0", b"", bytes(64)
    for name, kind, content, link, flags in sections + [(".shstrtab", STRTAB, b"", 0, 0)]:
        at, names = len(names), names + name.encode() + b"\0"
        content = names if name == ".shstrtab" else content
        entry = 24 if kind == SYMTAB else 0
        table += struct.pack(
            "<IIQQQQIIQQ", at, kind, flags, 0, 64 + len(body), len(content), link, 0, 8, entry
        )
        body += content + bytes(-len(content) % 8)
    count = len(sections) + 2
    head = b"\x7fELF\2\1\1" + bytes(9)
    head += struct.pack("<HHIQQQI", 3, 62, 1, 0, 0, 64 + len(body), 0)
    head += struct.pack("<HHHHHH", 64, 0, 0, 64, count, count - 1)
    return head + body + table


def packed(content: bytes, size: int | None = None) -> bytes:
    """A section as SHF_COMPRESSED has it."""
    return struct.pack("<IIQQ", 1, 0, len(content) if size is None else size, 8) + zlib.compress(
        content
    )


def symbols(table: list[tuple[str, int]]) -> tuple[bytes, bytes]:
    """.symtab and .strtab."""
    names, out = b"\0", bytes(24)
    for name, value in table:
        out += struct.pack("<IBBHQQ", len(names), 0, 0, 1, value, 0)
        names += name.encode() + b"\0"
    return out, names


TABLES = [
    ("_ZTV6Object", 0x8000),
    ("_ZTV4Node", 0x8100),
    ("_ZTV11Boxed_Point", 0x8200),
    ("_ZTV9No", 0x8300),
]
CODE = rows(0x1000, [(4, 1), (8, 2), (4, 0x3F)], 0x30)


def file(
    dwarf: Dwarf,
    line: bytes = lines(["/src"], CODE),
    *,
    is_packed: bool = False,
    version: int = 4,
    abbrev: bytes | None = None,
) -> bytes:
    """A file with everything."""
    table, names = symbols(TABLES)
    debug = [
        (".debug_info", dwarf.info(version)),
        (".debug_abbrev", dwarf.abbrev() if abbrev is None else abbrev),
        (".debug_str", dwarf.strings),
        (".debug_line", line),
        (".debug_loc", struct.pack("<QQH", 0x1000, 0x1010, 1) + b"\x53" + bytes(16)),
    ]
    sections: list[Section] = [
        (name, PROGBITS, packed(data) if is_packed else data, 0, COMPRESSED if is_packed else 0)
        for name, data in debug
    ]
    return elf(sections + [(".symtab", SYMTAB, table, 7, 0), (".strtab", STRTAB, names, 0, 0)])


def deep(count: int) -> Dwarf:
    """Structs in structs."""
    dwarf = begin()
    add_class(dwarf, "S0", 8, [("V", "long", 0)])
    for i in range(count):
        add_class(dwarf, f"S{i + 1}", 8, [("A", f"S{i}", 0), ("B", f"S{i}", 0)])
    dwarf.end()
    return dwarf


def itself() -> Dwarf:
    """A struct inside of itself, and classes that are their own bases."""
    dwarf = begin()
    add_class(dwarf, "Loop", 8, [("Again", "Loop", 0)])
    add_class(dwarf, "Object", 8, [("Next", "Object", 8)], "Object")
    add_class(dwarf, "Node", 0xFFFFFFFF, [("Far", "int", 0xFFFFFFF0)], "Node")
    dwarf.end()
    return dwarf


def foreign() -> Dwarf:
    """Names in another file, which libdw would open."""
    dwarf = begin()
    dwarf.entry(CLASS, [(AT_NAME, FORM_ALT, 4), (AT_SIZE, FORM_DATA4, 8)], True)
    dwarf.end()
    dwarf.end()
    return dwarf


def many_kinds(count: int) -> bytes:
    """A kind of entry with many attributes of no bytes."""
    return b"\1\x11\1" + (uleb(0x3C) + uleb(FORM_PRESENT)) * count + b"\0\0\0"


def corpus() -> dict[str, bytes]:
    """Every input by name."""
    usual_file = file(usual())
    long_folder = lines(["/" + "d" * 900], CODE)
    huge = elf([(".debug_info", PROGBITS, packed(b"x", 1 << 50), 0, COMPRESSED)])
    return {
        "usual": usual_file,
        "packed": file(usual(), is_packed=True),
        "other-producer": file(usual("clang")),
        "version-5": file(usual(), version=5),
        "no-lines": file(usual(), b""),
        "long-folder": file(usual(), long_folder),
        "many-rows": file(usual(), lines([], rows(0x1000, [(1, 1)] * 500, 1))),
        "deep": file(deep(14)),
        "itself": file(itself()),
        "foreign": file(foreign()),
        "many-attributes": file(begin(), abbrev=many_kinds(5000)),
        "packed-huge": huge,
        "cut": usual_file[:700],
    }


def main(folder: pathlib.Path) -> None:
    """Write all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in corpus().items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "corpus" / "aot_symbols")
