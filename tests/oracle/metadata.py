# SPDX-License-Identifier: MIT
"""The types and fields of a .NET assembly, out of the tables of its metadata (ECMA-335, II.22 to II.24)."""

from __future__ import annotations

import pathlib
import struct

# The columns of each table: a number of bytes, a heap (s, g, b), a table's number (t), or a coded index (c).
CODED = {
    "TypeDefOrRef": (2, [0x02, 0x01, 0x1B]),
    "HasConstant": (2, [0x04, 0x08, 0x17]),
    "HasCustomAttribute": (
        5,
        [6, 4, 1, 2, 8, 9, 10, 0, 14, 23, 20, 17, 26, 27, 32, 35, 38, 39, 40, 42, 44, 43],
    ),
    "HasFieldMarshal": (1, [0x04, 0x08]),
    "HasDeclSecurity": (2, [0x02, 0x06, 0x20]),
    "MemberRefParent": (3, [0x02, 0x01, 0x1A, 0x06, 0x1B]),
    "HasSemantics": (1, [0x14, 0x17]),
    "MethodDefOrRef": (1, [0x06, 0x0A]),
    "MemberForwarded": (1, [0x04, 0x06]),
    "Implementation": (2, [0x26, 0x23, 0x27]),
    "CustomAttributeType": (3, [0x06, 0x0A]),
    "ResolutionScope": (2, [0x00, 0x1A, 0x23, 0x01]),
    "TypeOrMethodDef": (1, [0x02, 0x06]),
}
TABLES: dict[int, list[int | str]] = {
    0x00: [2, "s", "g", "g", "g"],
    0x01: ["ResolutionScope", "s", "s"],
    0x02: [4, "s", "s", "TypeDefOrRef", "t4", "t6"],
    0x03: ["t4"],
    0x04: [2, "s", "b"],
    0x05: ["t6"],
    0x06: [4, 2, 2, "s", "b", "t8"],
    0x07: ["t8"],
    0x08: [2, 2, "s"],
    0x09: ["t2", "TypeDefOrRef"],
    0x0A: ["MemberRefParent", "s", "b"],
    0x0B: [2, "HasConstant", "b"],
    0x0C: ["HasCustomAttribute", "CustomAttributeType", "b"],
    0x0D: ["HasFieldMarshal", "b"],
    0x0E: [2, "HasDeclSecurity", "b"],
    0x0F: [2, 4, "t2"],
    0x10: [4, "t4"],
    0x11: ["b"],
    0x12: ["t2", "t20"],
    0x13: ["t20"],
    0x14: [2, "s", "TypeDefOrRef"],
    0x15: ["t2", "t23"],
    0x16: ["t23"],
    0x17: [2, "s", "b"],
    0x18: [2, "t6", "HasSemantics"],
    0x19: ["t2", "MethodDefOrRef", "MethodDefOrRef"],
    0x1A: ["s"],
    0x1B: ["b"],
    0x1C: [2, "MemberForwarded", "s", "t26"],
    0x1D: [4, "t4"],
    0x1E: [4, 4],
    0x1F: [4],
    0x20: [4, 2, 2, 2, 2, 4, "b", "s", "s"],
    0x21: [4],
    0x22: [4, 4, 4],
    0x23: [2, 2, 2, 2, 4, "b", "s", "s", "b"],
    0x24: [4, "t35"],
    0x25: [4, 4, 4, "t35"],
    0x26: [4, "s", "b"],
    0x27: [4, 4, "s", "s", "Implementation"],
    0x28: [4, 4, "s", "Implementation"],
    0x29: ["t2", "t2"],
    0x2A: [2, 2, "TypeOrMethodDef", "s"],
    0x2B: ["MethodDefOrRef", "b"],
    0x2C: ["t42", "TypeDefOrRef"],
}
CLASS, VALUETYPE, GENERIC, ARRAY, VARIABLE = 0x12, 0x11, 0x15, 0x1D, 0x13
MODIFIERS = (0x1F, 0x20)


class Assembly:
    """The type definitions of one file."""

    def __init__(self, path: pathlib.Path) -> None:
        data = path.read_bytes()
        self.data = data[self._root(data) :]
        self._streams()
        self._tables()
        self._names()

    @staticmethod
    def _root(data: bytes) -> int:
        """Where the metadata begins in the file."""
        header = struct.unpack_from("<I", data, 0x3C)[0]
        sections, optional = struct.unpack_from("<H12xH", data, header + 6)
        directory = header + 24 + (112 if data[header + 24 : header + 26] == b"\x0b\x02" else 96)
        cli = struct.unpack_from("<I", data, directory + 14 * 8)[0]
        table = header + 24 + optional

        def offset(rva: int) -> int:
            for i in range(sections):
                size, begin, raw_size, raw = struct.unpack_from("<IIII", data, table + 40 * i + 8)
                if begin <= rva < begin + max(size, raw_size):
                    return rva - begin + raw
            raise ValueError("an RVA is in no section")

        return offset(struct.unpack_from("<I", data, offset(cli) + 8)[0])

    def _streams(self) -> None:
        data = self.data
        at = 16 + struct.unpack_from("<I", data, 12)[0]
        count = struct.unpack_from("<H", data, at + 2)[0]
        at += 4
        self.streams: dict[str, int] = {}
        for _ in range(count):
            begin = struct.unpack_from("<I", data, at)[0]
            end = data.index(b"\0", at + 8)
            self.streams[data[at + 8 : end].decode()] = begin
            at += 8 + (end - at - 8) // 4 * 4 + 4

    def _tables(self) -> None:
        data, at = self.data, self.streams["#~"]
        sizes, valid = struct.unpack_from("<xxxxxxBxQ", data, at)
        rows = {}
        place = at + 24
        for i in range(64):
            if valid >> i & 1:
                rows[i] = struct.unpack_from("<I", data, place)[0]
                place += 4
        heap = {"s": 4 if sizes & 1 else 2, "g": 4 if sizes & 2 else 2, "b": 4 if sizes & 4 else 2}

        def width(column: int | str) -> int:
            if isinstance(column, int):
                return column
            if column in heap:
                return heap[column]
            if column[0] == "t" and column[1:].isdigit():
                return 4 if rows.get(int(column[1:]), 0) > 0xFFFF else 2
            bits, tables = CODED[column]
            return 4 if max(rows.get(i, 0) for i in tables) >= 1 << 16 - bits else 2

        self.rows: dict[int, list[tuple[int, ...]]] = {}
        for i in sorted(rows):
            widths = [width(column) for column in TABLES[i]]
            form = "<" + "".join({1: "B", 2: "H", 4: "I"}[w] for w in widths)
            size = sum(widths)
            if i in (0x01, 0x02, 0x04, 0x06, 0x1B, 0x29):
                end = place + size * rows[i]
                self.rows[i] = list(struct.iter_unpack(form, data[place:end]))
            place += size * rows[i]

    def string(self, index: int) -> str:
        """A string of #Strings."""
        begin = self.streams["#Strings"] + index
        return self.data[begin : self.data.index(b"\0", begin)].decode()

    def blob(self, index: int) -> bytes:
        """A blob of #Blob."""
        at = self.streams["#Blob"] + index
        size, at = compressed(self.data, at)
        return self.data[at : at + size]

    def _names(self) -> None:
        """The full name of each type, and where it is."""
        outer = {row[0]: row[1] for row in self.rows.get(0x29, [])}
        self.full: list[str] = []
        definitions = self.rows[0x02]

        def name(rid: int) -> str:
            row = definitions[rid - 1]
            own, space = self.string(row[1]), self.string(row[2])
            if rid in outer:
                return name(outer[rid]) + "+" + own
            return space + "." + own if space else own

        self.full = [name(rid) for rid in range(1, len(definitions) + 1)]
        self.types = {full: rid for rid, full in enumerate(self.full, 1)}

    def reference_name(self, rid: int) -> str:
        """The full name of a row of TypeRef."""
        scope, own, space = self.rows[0x01][rid - 1]
        name = self.string(own)
        if scope & 3 == 3:
            return self.reference_name(scope >> 2) + "+" + name
        return self.string(space) + "." + name if space else name

    def _coded_name(self, coded: int) -> str:
        if coded & 3 == 2:
            return type_of(self, self.blob(self.rows[0x1B][(coded >> 2) - 1][0]), 0)
        if not coded >> 2:
            return ""
        return self.reference_name(coded >> 2) if coded & 3 else self.full[(coded >> 2) - 1]

    def token_name(self, coded: int) -> str:
        """The full name of a TypeDefOrRef, "" for none."""
        return self._coded_name(coded)

    def parent(self, full: str) -> str:
        """The name of a type's base class."""
        return self._coded_name(self.rows[0x02][self.types[full] - 1][3])

    def _members(self, full: str, column: int, table: int) -> list[tuple[int, ...]]:
        rid, all_rows = self.types[full], self.rows[0x02]
        begin = all_rows[rid - 1][column]
        end = all_rows[rid][column] if rid < len(all_rows) else None
        return self.rows.get(table, [])[begin - 1 : None if end is None else end - 1]

    def fields(self, full: str) -> dict[str, str]:
        """The fields of a type, and the name of the type of each: "" when it is no class."""
        found = {}
        for _, name, signature in self._members(full, 4, 0x04):
            found[self.string(name)] = type_of(self, self.blob(signature), 1)
        return found

    def methods(self, full: str) -> set[str]:
        """The names of a type's methods."""
        return {self.string(row[3]) for row in self._members(full, 5, 0x06)}


def compressed(data: bytes, at: int) -> tuple[int, int]:
    """A compressed number, and where the next byte is."""
    first = data[at]
    if first < 0x80:
        return first, at + 1
    if first < 0xC0:
        return (first & 0x3F) << 8 | data[at + 1], at + 2
    return (first & 0x1F) << 24 | data[at + 1] << 16 | data[at + 2] << 8 | data[at + 3], at + 4


def type_of(assembly: Assembly, signature: bytes, at: int) -> str:
    """The class or struct that a signature has at a place, or an array of it: "A[]"; "!": the type argument of a
    generic type; "" for everything else."""
    while signature[at] in MODIFIERS:
        _, at = compressed(signature, at + 1)
    if signature[at] == ARRAY:
        return type_of(assembly, signature, at + 1) + "[]"
    if signature[at] == VARIABLE:
        return "!"
    if signature[at] == GENERIC:
        at += 1
    if signature[at] == 0x1C:
        return "System.Object"
    if signature[at] not in (CLASS, VALUETYPE):
        return ""
    return assembly.token_name(compressed(signature, at + 1)[0])
