# SPDX-License-Identifier: MIT
"""Reads a stream of Arrow as heapdump writes them, and refuses what breaks the rules of doc/formats.md 12."""
from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

SCHEMA, DICTIONARY, BATCH = 1, 2, 3
INT, REAL, TEXT, BOOL = 2, 3, 5, 6


class Broken(Exception):
    """The stream breaks a rule."""


def rule(holds: bool, text: str) -> None:
    """Fail unless a rule holds."""
    if not holds:
        raise Broken(text)


class Table:
    """A table of a FlatBuffer; what it has not is 0, or None."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at
        rule(at % 4 == 0, "a table that is not aligned")
        self.layout = at - struct.unpack_from("<i", data, at)[0]
        self.slots = (struct.unpack_from("<H", data, self.layout)[0] - 4) // 2

    def place(self, slot: int) -> int:
        """Where a field is; 0: nowhere."""
        if slot >= self.slots:
            return 0
        offset = struct.unpack_from("<H", self.data, self.layout + 4 + 2 * slot)[0]
        return self.at + offset if offset else 0

    def number(self, slot: int, form: str) -> int:
        """A number, which is aligned."""
        place = self.place(slot)
        rule(place % struct.calcsize(form) == 0, "a number that is not aligned")
        value: int = struct.unpack_from("<" + form, self.data, place)[0] if place else 0
        return value

    def target(self, place: int) -> int:
        """The place that a reference leads to."""
        return place + int(struct.unpack_from("<I", self.data, place)[0])

    def table(self, slot: int) -> "Table | None":
        """A table."""
        return Table(self.data, self.target(self.place(slot))) if self.place(slot) else None

    def text(self, slot: int) -> str:
        """A string, with a NUL after it."""
        at = self.target(self.place(slot))
        size = struct.unpack_from("<I", self.data, at)[0]
        rule(self.data[at + 4 + size] == 0, "a string without its NUL")
        return self.data[at + 4 : at + 4 + size].decode("utf-8")

    def tables(self, slot: int) -> list["Table"]:
        """A list of tables."""
        at = self.target(self.place(slot))
        count = struct.unpack_from("<I", self.data, at)[0]
        return [Table(self.data, self.target(at + 4 + 4 * i)) for i in range(count)]

    def pairs(self, slot: int) -> list[tuple[int, int]]:
        """A list of pairs of numbers."""
        at = self.target(self.place(slot))
        rule((at + 4) % 8 == 0, "pairs that are not aligned")
        count = struct.unpack_from("<I", self.data, at)[0]
        numbers = struct.unpack_from(f"<{2 * count}q", self.data, at + 4)
        return list(zip(numbers[::2], numbers[1::2]))


def needed(table: Table | None) -> Table:
    """A table that must be there."""
    if table is None:
        raise Broken("a table is not there")
    return table


class Column:  # pylint: disable=too-few-public-methods
    """A column: its name, and how its values are read."""

    def __init__(self, field: Table) -> None:
        self.name = field.text(0)
        self.is_optional = bool(field.number(1, "B"))
        self.type = field.number(2, "B")
        about = needed(field.table(3))
        rule(field.tables(5) == [], "children of a column")
        self.form = "d"
        if self.type == INT:
            rule(about.number(0, "i") == 64, "numbers of 64 bits")
            self.form = "q" if about.number(1, "B") else "Q"
        encoding = field.table(4)
        self.dictionary: int | None = encoding.number(0, "q") if encoding else None
        if encoding:
            index = needed(encoding.table(1))
            rule(index.number(0, "i") == 32 and index.number(1, "B") == 1, "indices of 32 bits")
        self.values: list[Any] = []


class Arrow:
    """A stream: names and values of its columns, by rows, and the rows of its batches."""

    def __init__(self, path: Path) -> None:
        self.data, self.at = path.read_bytes(), 0
        kind, schema, _ = self.message()
        rule(kind == SCHEMA and schema.number(0, "h") == 0, "it begins with a schema")
        self.fields = [Column(field) for field in schema.tables(1)]
        self.metadata = {row.text(0): row.text(1) for row in schema.tables(2)}
        self.names = [field.name for field in self.fields]
        self.dictionaries: dict[int, list[Any]] = {}
        self.batches: list[int] = []
        while self.data[self.at : self.at + 8] != b"\xff\xff\xff\xff\0\0\0\0":
            kind, table, body = self.message()
            if kind == DICTIONARY:
                rule(not self.batches, "a dictionary after a batch")
                number = table.number(0, "q")
                texts = Batch(needed(table.table(1)), body)
                self.dictionaries[number] = texts.texts(texts.rows)
                texts.check_end()
            else:
                rule(kind == BATCH, f"a message of kind {kind}")
                self.read_batch(Batch(table, body))
        rule(self.at + 8 == len(self.data), "bytes after the end")
        self.columns = {field.name: field.values for field in self.fields}

    def message(self) -> tuple[int, Table, bytes]:
        """The next message: its kind, its table, its body."""
        mark, size = struct.unpack_from("<II", self.data, self.at)
        rule(mark == 0xFFFFFFFF and size % 8 == 0 and self.at % 8 == 0, "the front of a message")
        header = self.data[self.at + 8 : self.at + 8 + size]
        rule(len(header) == size, "the header is not there")
        table = Table(header, struct.unpack_from("<I", header, 0)[0])
        rule(table.number(0, "h") == 4, "version 5")
        begin = self.at + 8 + size
        self.at = begin + table.number(3, "q")
        rule(self.at <= len(self.data), "the body is not there")
        return table.number(1, "B"), needed(table.table(2)), self.data[begin : self.at]

    def read_batch(self, batch: "Batch") -> None:
        """The values of a batch."""
        self.batches.append(batch.rows)
        for field in self.fields:
            if field.dictionary is not None:
                words = self.dictionaries[field.dictionary]
                field.values += batch.numbers("i", words)
            elif field.type == TEXT:
                field.values += batch.texts(batch.rows)
            elif field.type == BOOL:
                field.values += batch.bits()
            else:
                field.values += batch.numbers(field.form, None)
            rule(field.is_optional or None not in field.values, "a value that must be there")
        batch.check_end()


class Batch:
    """The columns of a batch, one after the other."""

    def __init__(self, table: Table, body: bytes) -> None:
        self.body = body
        self.rows = table.number(0, "q")
        self.nodes, self.buffers = table.pairs(1), table.pairs(2)
        ends = [offset + size for offset, size in self.buffers]
        rule(all(offset % 64 == 0 for offset, _ in self.buffers), "buffers are aligned")
        rule(all(a <= b[0] for a, b in zip(ends, self.buffers[1:])), "buffers overlap")
        rule(not ends or ends[-1] <= len(body) < ends[-1] + 64, "the size of the body")

    def buffer(self) -> bytes:
        """The next buffer."""
        offset, size = self.buffers.pop(0)
        return self.body[offset : offset + size]

    def validity(self) -> list[bool]:
        """Which rows of the next column have a value."""
        rows, missing = self.nodes.pop(0)
        rule(rows == self.rows, "rows of a column")
        bits = self.buffer()
        there = [not missing or bool(bits[i // 8] >> i % 8 & 1) for i in range(rows)]
        rule(there.count(False) == missing, "the number of missing values")
        return there

    def numbers(self, form: str, words: list[Any] | None) -> list[Any]:
        """Numbers, or what they stand for."""
        there, data = self.validity(), self.buffer()
        found = struct.unpack(f"<{self.rows}{form}", data)
        return [
            None if not is_there else words[number] if words is not None else number
            for is_there, number in zip(there, found)
        ]

    def bits(self) -> list[Any]:
        """Booleans."""
        there, data = self.validity(), self.buffer()
        rule(len(data) == (self.rows + 7) // 8, "the size of bits")
        return [bool(data[i // 8] >> i % 8 & 1) if ok else None for i, ok in enumerate(there)]

    def texts(self, rows: int) -> list[Any]:
        """Texts."""
        there, places, text = self.validity(), self.buffer(), self.buffer()
        ends = struct.unpack(f"<{rows + 1}i", places)
        rule(ends[0] == 0 and ends[-1] == len(text), "the ends of texts")
        return [
            text[ends[i] : ends[i + 1]].decode("utf-8") if ok else None
            for i, ok in enumerate(there)
        ]

    def check_end(self) -> None:
        """All was read."""
        rule(not self.nodes and not self.buffers, "columns that no field has")
