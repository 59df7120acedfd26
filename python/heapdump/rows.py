# SPDX-License-Identifier: MIT
"""The answer of a command as Python has data: heapdump/answer.h's rows as dicts and lists."""
from __future__ import annotations

import ctypes
import struct
from typing import Any, Iterator, Mapping, NamedTuple, Sequence

from heapdump import native

# enum hd_kind
NULL, FLAG, SIGNED, ADDRESS, REAL, PERCENT, TEXT, TYPE, SET = 0, 1, 3, 5, 6, 7, 8, 9, 10
# enum hd_shape
TABLE, RECORD, MEMBERS, LIST = 0, 1, 2, 3

# struct hd_value: kind, reserved, the number, the text and its bytes
_VALUE = struct.Struct("=IIQQQ")


class _Column(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("help", ctypes.c_char_p),
        ("kind", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


class _Table(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("parent", ctypes.c_void_p),
        ("columns", ctypes.POINTER(_Column)),
        ("column_count", ctypes.c_uint32),
        ("shape", ctypes.c_uint32),
        ("is_main", ctypes.c_uint32),
        ("index", ctypes.c_uint32),
    ]


class Table(NamedTuple):
    """A table of an answer."""

    address: int
    name: str  # from the outside to the inside, "roots.path"
    own_name: str  # "path"
    shape: int
    is_main: bool
    parent: int  # address of the one in whose rows it is; 0: none
    columns: list[list[str]]  # the names, cut at their points
    children: list["Table"]  # the tables in its rows


def split_column(name: str) -> list[str]:
    """The names of the objects that a column is in, and its own."""
    return name.split(".")


def read_table(address: int, tables: Mapping[int, Table]) -> Table:
    """The table at an address; ``tables``: those that began before, one of which may have it in its rows."""
    raw = ctypes.cast(address, ctypes.POINTER(_Table))[0]
    name = native.decode(raw.name)
    parent = tables.get(raw.parent or 0)
    columns = [native.decode(raw.columns[i].name) for i in range(raw.column_count)]
    table = Table(
        address=address,
        name=name,
        own_name=name[len(parent.name) :].lstrip(".") if parent else name,
        shape=raw.shape,
        is_main=bool(raw.is_main),
        parent=parent.address if parent else 0,
        columns=[split_column(column) for column in columns],
        children=[],
    )
    if parent:
        parent.children.append(table)
    return table


def put(row: dict[str, Any], path: Sequence[str], value: Any) -> None:
    """Make ``value`` a member of ``row``, or of the dicts in it that ``path`` goes through."""
    for name in path[:-1]:
        inner = row.get(name)
        if not isinstance(inner, dict):
            inner = row[name] = {}
        row = inner
    row[path[-1]] = value


def is_null(row: Any) -> bool:
    """Is it the row of a list that stands for null?"""
    return isinstance(row, dict) and all(value is None for value in row.values())


class Values:
    """Makes values of Python out of those of a row."""

    def text(self, data: bytes) -> str:
        """Text of a value; bytes that are not UTF-8 can be had back."""
        return data.decode("utf-8", "surrogateescape")

    def address(self, number: int) -> Any:
        return number

    def _value(self, kind: int, number: int, text: int, size: int) -> Any:
        if kind == NULL:
            return None
        if kind in (TEXT, TYPE, SET):
            found = self.text(ctypes.string_at(text, size)) if size else ""
            return found.split() if kind == SET else found
        if kind == FLAG:
            return bool(number)
        if kind == SIGNED:
            return number - (number >> 63 << 64)
        if kind in (REAL, PERCENT):
            return struct.unpack("=d", struct.pack("=Q", number))[0]
        return self.address(number) if kind == ADDRESS else number

    def values_at(self, address: int, count: int) -> list[Any]:
        """The values that lie at an address."""
        data = ctypes.string_at(address, _VALUE.size * count)
        return [
            self._value(kind, number, text, size)
            for kind, _, number, text, size in _VALUE.iter_unpack(data)
        ]


class Address(int):
    """A number that is an address; it is shown in hexadecimal."""

    def __repr__(self) -> str:
        return hex(self)


class AddressValues(Values):
    """Values in which addresses differ from other numbers."""

    def address(self, number: int) -> Any:
        return Address(number)


class Rows(Values):
    """The kept answer of one command; what it gave is copied, so that it may be closed any time."""

    def __init__(self, lib: ctypes.CDLL) -> None:
        self._lib = lib
        self._rows = ctypes.c_void_p()
        self._tables: list[Table] = []
        self.error = native.Error()

    def run(self, session: Any, argv: Sequence[str], sink: native.Sink) -> int:
        """Run the command; the exit status."""
        status = int(
            self._lib.hd_rows_run(
                session,
                len(argv),
                native.words(argv),
                ctypes.byref(sink),
                ctypes.byref(self._rows),
                ctypes.byref(self.error),
            )
        )
        self._tables = self._read_tables()
        return status

    def close(self) -> None:
        held, self._rows, self._tables = self._rows, ctypes.c_void_p(), []
        self._lib.hd_rows_free(held)

    def warnings(self) -> list[str]:
        return native.decode(self._lib.hd_rows_warnings(self._rows)).splitlines()

    def _read_tables(self) -> list[Table]:
        tables: dict[int, Table] = {}
        found = self._lib.hd_rows_table(self._rows, 0)
        while found:
            tables[found] = read_table(found, tables)
            found = self._lib.hd_rows_table(self._rows, len(tables))
        return list(tables.values())

    def tables(self) -> list[Table]:
        """All of them, in the order in which they began."""
        return self._tables

    def find(self, name: str | None) -> Table | None:
        """The first table of that name; None: the main one."""
        for table in self._tables:
            if table.is_main if name is None else table.name == name:
                return table
        return None

    def _values(self, table: Table, index: int) -> list[Any]:
        found = self._lib.hd_rows_at(self._rows, table.address, index)
        if not found or not table.columns:
            return []
        return self.values_at(found, len(table.columns))

    def inside(self, table: Table, parent: int) -> range | None:
        """The rows of a table that belong to a row of the one around it; None: it is not there."""
        first, count = ctypes.c_uint64(), ctypes.c_uint64()
        there = self._lib.hd_rows_in(
            self._rows, table.address, parent, ctypes.byref(first), ctypes.byref(count)
        )
        return range(first.value, first.value + count.value) if there else None

    def _add(self, row: dict[str, Any], table: Table, parent: int) -> None:
        """Add to ``row`` what a table in it says."""
        inside = self.inside(table, parent)
        if inside is None:
            return
        if table.shape in (TABLE, LIST):
            row[table.own_name] = [self.row(table, index) for index in inside]
        for index in inside if table.shape in (RECORD, MEMBERS) else ():
            found = self.row(table, index)
            if table.shape == RECORD:
                row[table.own_name] = found
            else:
                row.update(found)

    def row(self, table: Table, index: int) -> Any:
        """A row as a dict; of a list, a value."""
        values = self._values(table, index)
        is_list = table.shape == LIST
        if is_list and values and values[0] is not None:
            return values[0]
        row: dict[str, Any] = {}
        for path, value in zip(table.columns[is_list:], values[is_list:]):
            put(row, path, value)
        for child in table.children:
            self._add(row, child, index)
        return None if is_list and is_null(row) else row

    def count(self, table: Table) -> int:
        return int(self._lib.hd_rows_count(self._rows, table.address))

    def each(self, table: Table) -> Iterator[Any]:
        """All rows of a table, one after the other."""
        for index in range(self.count(table)):
            yield self.row(table, index)

    def lines(self, table: Table) -> Iterator[list[Any]]:
        """All rows of a table as lists, one after the other."""
        for index in range(self.count(table)):
            yield self._values(table, index)

    def document(self, *shapes: int) -> dict[str, Any]:
        """All that the answer has, or only its tables of these shapes."""
        document: dict[str, Any] = {}
        for table in self._tables:
            if not table.parent and (not shapes or table.shape in shapes):
                self._add(document, table, 0)
        return document


class AddressRows(AddressValues, Rows):
    """An answer in which addresses differ from other numbers."""
