# SPDX-License-Identifier: MIT
"""Columns as Python and pandas have them: out of an Arrow stream, or made of rows."""
from __future__ import annotations

import ctypes
import itertools
from typing import Any, Iterator, NamedTuple, Protocol, Sequence

from heapdump.native import EXIT_INPUT, HeapdumpError, Status, decode
from heapdump.rows import Address, Rows, Table

# Numbers: the format of Arrow, to that of memoryview and numpy.
NUMBERS = {"L": "Q", "l": "q", "g": "d"}
NUMPY = {"L": "uint64", "l": "int64", "g": "float64"}
UINT64_MAX = (1 << 64) - 1
INT64_MAX = (1 << 63) - 1
EXACT = 1 << 53  # a double has all whole numbers up to that

_GET = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_SAY = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)
_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class ArrowStream(ctypes.Structure):
    """struct ArrowArrayStream."""

    _fields_ = [
        ("get_schema", ctypes.c_void_p),
        ("get_next", ctypes.c_void_p),
        ("get_last_error", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]

    def end(self) -> None:
        """Give the stream back, unless who took it has done so."""
        _end(self)


class _Schema(ctypes.Structure):
    _fields_ = [
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_void_p),
        ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("children", ctypes.POINTER(ctypes.c_void_p)),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


class _Array(ctypes.Structure):
    _fields_ = [
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", ctypes.POINTER(ctypes.c_void_p)),
        ("children", ctypes.POINTER(ctypes.c_void_p)),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


def _end(thing: Any) -> None:
    release = thing.release
    if release:
        _RELEASE(release)(ctypes.addressof(thing))


class Column(Protocol):
    """A column of a table."""

    name: str
    #: As in Arrow: L, l, g are numbers, b is true or false, u is text, n has no value.
    format: str

    def to_list(self) -> list[Any]:
        """Its values; None: there is none."""

    def numbers(self, numpy: Any) -> tuple[Any, Any]:
        """The values of numbers and bools as an array of numpy, and where none is (True)."""


class _Part(NamedTuple):
    """The share of a batch in a column."""

    length: int
    validity: bytes | None
    values: bytes
    text: bytes


def _bits(data: bytes, count: int) -> list[int]:
    """The first bits of some bytes, the lowest of each byte first."""
    table = [[byte >> bit & 1 for bit in range(8)] for byte in range(256)]
    return list(itertools.chain.from_iterable(map(table.__getitem__, data)))[:count]


def _texts(part: _Part, known: dict[str, str]) -> list[Any]:
    ends = memoryview(part.values).cast("i").tolist()
    if part.text.isascii():
        text = part.text.decode("ascii")
        found = [text[begin:end] for begin, end in zip(ends, ends[1:])]
    else:
        found = [part.text[begin:end].decode() for begin, end in zip(ends, ends[1:])]
    # The name of a type is in many rows.
    return [known.setdefault(text, text) for text in found]


class StreamColumn:
    """A column of a stream: its bytes, copied."""

    def __init__(self, name: str, how: str) -> None:
        self.name = name
        self.format = how
        self._parts: list[_Part] = []

    def add(self, array: _Array) -> None:
        """Copy what a batch has."""
        if array.offset:
            raise HeapdumpError("a column that begins inside of a batch", Status.UNSUPPORTED)
        count, buffers = array.length, [array.buffers[i] for i in range(array.n_buffers)]
        words = (count + 7) // 8

        def copy(index: int, size: int) -> bytes:
            at = buffers[index] if index < len(buffers) else None
            return ctypes.string_at(at, size) if at and size else b""

        validity = copy(0, words) if array.null_count and self.format != "n" else None
        if self.format == "u":
            ends = copy(1, 4 * (count + 1))
            text = copy(2, int.from_bytes(ends[-4:], "little"))
            self._parts.append(_Part(count, validity, ends, text))
        else:
            size = {"n": 0, "b": words}.get(self.format, 8 * count)
            self._parts.append(_Part(count, validity, copy(1, size), b""))

    def to_list(self) -> list[Any]:
        """Its values; None: there is none."""
        found: list[Any] = []
        known: dict[str, str] = {}
        for part in self._parts:
            if self.format == "n":
                values: list[Any] = [None] * part.length
            elif self.format == "b":
                values = [bit == 1 for bit in _bits(part.values, part.length)]
            elif self.format == "u":
                values = _texts(part, known)
            else:
                values = memoryview(part.values).cast(NUMBERS[self.format]).tolist()
            if part.validity is not None:
                valid = _bits(part.validity, part.length)
                values = [value if bit else None for value, bit in zip(values, valid)]
            found += values
        return found

    def numbers(self, numpy: Any) -> tuple[Any, Any]:
        """The values of numbers and bools as an array of numpy, and where none is (True)."""

        def bits(data: bytes, count: int) -> Any:
            packed = numpy.frombuffer(data, dtype="uint8")
            return numpy.unpackbits(packed, count=count, bitorder="little").astype(bool)

        values = [numpy.zeros(0, dtype=NUMPY.get(self.format, "bool"))]
        masks = [numpy.zeros(0, dtype="bool")]
        for part in self._parts:
            if self.format == "b":
                values.append(bits(part.values, part.length))
            else:
                values.append(numpy.frombuffer(part.values, dtype=NUMPY[self.format]))
            if part.validity is None:
                masks.append(numpy.zeros(part.length, dtype="bool"))
            else:
                masks.append(~bits(part.validity, part.length))
        return numpy.concatenate(values), numpy.concatenate(masks)


class ListColumn:
    """A column made of rows."""

    def __init__(self, name: str, values: list[Any]) -> None:
        self.name = name
        self.format = format_of(values)
        self._values = values
        if self.format == "u":
            self._values = [_as_text(value) for value in values]

    def to_list(self) -> list[Any]:
        """Its values; None: there is none."""
        return list(self._values)

    def numbers(self, numpy: Any) -> tuple[Any, Any]:
        """The values of numbers and bools as an array of numpy, and where none is (True)."""
        missing = [value is None for value in self._values]
        plain = [0 if value is None else value for value in self._values]
        values = numpy.array(plain, dtype=NUMPY.get(self.format, "bool"))
        return values, numpy.array(missing, dtype="bool")


def format_of(values: Sequence[Any]) -> str:
    """The format that holds all of these values, as the library's own columns have it."""
    kinds = {type(value) for value in values} - {type(None)}
    if not kinds:
        return "n"
    if kinds == {bool}:
        return "b"
    if not kinds <= {int, Address, float}:
        return "u"
    whole = [value for value in values if isinstance(value, int)]
    lowest, highest = min(whole, default=0), max(whole, default=0)
    if float in kinds:
        return "u" if max(-lowest, highest) > EXACT else "g"
    if lowest >= 0:
        return "L" if highest <= UINT64_MAX else "u"
    return "l" if highest <= INT64_MAX else "u"


def _as_text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Address):
        return hex(value)
    text = " ".join(value) if isinstance(value, list) else str(value)
    # As the library's own columns have it: what is not UTF-8 is shown as that.
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def read_stream(stream: ArrowStream) -> list[StreamColumn]:
    """All columns of a stream, which is given back."""
    address = ctypes.addressof(stream)

    def get(function: int, thing: Any) -> None:
        status = _GET(function)(address, ctypes.addressof(thing))
        if status:
            said = _SAY(stream.get_last_error)(address)
            raise HeapdumpError(decode(said) if said else "no columns", Status.NOMEM, EXIT_INPUT)

    def children(thing: Any, kind: Any) -> Iterator[Any]:
        for index in range(thing.n_children):
            yield ctypes.cast(thing.children[index], ctypes.POINTER(kind))[0]

    try:
        schema = _Schema()
        get(stream.get_schema, schema)
        try:
            columns = [
                StreamColumn(decode(child.name), decode(child.format))
                for child in children(schema, _Schema)
            ]
        finally:
            _end(schema)
        while True:
            batch = _Array()
            get(stream.get_next, batch)
            if not batch.release:
                return columns
            try:
                for column, child in zip(columns, children(batch, _Array)):
                    column.add(child)
            finally:
                _end(batch)
    finally:
        stream.end()


def read_rows(rows: Rows, table: Table, around: Table | None) -> list[ListColumn]:
    """The columns of a table of an answer; ``around``: the one in whose rows it is."""
    names = [".".join(path) for path in table.columns]
    columns: list[list[Any]] = [[] for _ in names]
    for line in rows.lines(table):
        for column, value in zip(columns, line):
            column.append(value)
    found = [ListColumn(name, values) for name, values in zip(names, columns)]
    if around is not None:
        parents: list[Any] = []
        for index in range(rows.count(around)):
            inside = rows.inside(table, index)
            parents += [index] * (0 if inside is None else len(inside))
        found.insert(0, ListColumn("parent_row", parents))
    return found


def _series(pandas: Any, numpy: Any, column: Column) -> Any:
    if column.format in "un":
        texts = column.to_list()
        values = numpy.empty(len(texts), dtype=object)
        values[:] = texts
        return values
    values, missing = column.numbers(numpy)
    if column.format == "L" and (not values.size or int(values.max()) <= INT64_MAX):
        # The difference of two numbers without sign would never be below zero.
        values = values.astype("int64")
    if not missing.any():
        return values
    if column.format == "b":
        return pandas.arrays.BooleanArray(values, missing)
    if column.format == "g":
        values[missing] = numpy.nan
        return values
    return pandas.arrays.IntegerArray(values, missing)


def to_pandas(columns: Sequence[Column]) -> Any:
    """A pandas.DataFrame; ImportError without pandas."""
    # pylint: disable=import-outside-toplevel
    import numpy
    import pandas

    found = {index: _series(pandas, numpy, column) for index, column in enumerate(columns)}
    frame = pandas.DataFrame(found)
    # Two columns may have one name.
    frame.columns = [column.name for column in columns]
    return frame
