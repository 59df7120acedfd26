# SPDX-License-Identifier: MIT
"""Columns of an answer: as lists, for pandas, and by the Arrow C stream interface for others."""
from __future__ import annotations

import ctypes
from typing import Any, Callable, Sequence

from heapdump.columns import ArrowStream, Column, read_rows, read_stream, to_pandas
from heapdump.native import EXIT_USAGE, HeapdumpError, Status
from heapdump.rows import Rows

CAPSULE = b"arrow_array_stream"
# Called with the GIL, by whoever drops a capsule.
_DESTROY = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)

# Functions of their own: what ctypes.pythonapi has of these names is everybody's, with the types that somebody gave it.
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _DESTROY)(
    ("PyCapsule_New", ctypes.pythonapi)
)


class Request(ctypes.Structure):
    """struct hd_arrow_request."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("argv", ctypes.POINTER(ctypes.c_char_p)),
        ("argc", ctypes.c_int32),
        ("batch_rows", ctypes.c_uint32),
        ("table", ctypes.c_char_p),
    ]


# The streams of capsules that somebody has, by their addresses.
_streams: dict[int, ArrowStream] = {}


def _destroy(capsule: int) -> None:
    address = _pointer_of(capsule, CAPSULE)
    stream = _streams.pop(address, None)
    if stream is not None:
        stream.end()


_destroy_capsule = _DESTROY(_destroy)


def capsule(stream: ArrowStream) -> Any:
    """A PyCapsule of a stream."""
    address = ctypes.addressof(stream)
    _streams[address] = stream
    try:
        return _new_capsule(address, CAPSULE, _destroy_capsule)
    except BaseException:
        _streams.pop(address).end()
        raise


# Makes a stream of the columns of a table, None: the main one.  The command runs.
Source = Callable[["str | None"], ArrowStream]


class Columns:
    """The columns of one table of an answer; the command runs whenever somebody asks for them."""

    def __init__(self, source: Source, table: str | None) -> None:
        self._source = source
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """For what knows the Arrow PyCapsule interface; the schema is the command's own."""
        return capsule(self._source(self._table))

    def _read(self) -> Sequence[Column]:
        return read_stream(self._source(self._table))

    def to_dict(self) -> dict[str, list[Any]]:
        """The values of each column, by its name; addresses are numbers, and None is what is not known."""
        return {column.name: column.to_list() for column in self._read()}

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; ImportError without pandas.  It needs no pyarrow."""
        return to_pandas(self._read())

    def to_arrow(self) -> Any:
        """A pyarrow.Table; ImportError without pyarrow."""
        # pylint: disable=import-outside-toplevel,import-error
        import pyarrow

        stream = self._source(self._table)
        try:
            reader = pyarrow.RecordBatchReader._import_from_c(ctypes.addressof(stream))
            return reader.read_all()
        finally:
            stream.end()


class RowColumns(Columns):
    """Columns out of the rows of an answer that another process, or GDB, has made."""

    def __init__(self, answer: Callable[[], tuple[str, Rows, Any]], table: str | None) -> None:
        super().__init__(_unsupported, table)
        self._answer = answer

    def _read(self) -> Sequence[Column]:
        command, rows, _keeps = self._answer()
        table = rows.find(self._table)
        if table is None:
            names = ", ".join(table.name for table in rows.tables() if table.name) or "none"
            raise HeapdumpError(
                f"{command} answers with no table {self._table or 'that is the main one'}; it has {names}",
                Status.NOTFOUND,
                EXIT_USAGE,
            )
        around = [found for found in rows.tables() if found.address == table.parent]
        return read_rows(rows, table, around[0] if around else None)


def _unsupported(_: str | None) -> ArrowStream:
    raise HeapdumpError(
        "an Arrow stream is made in this process only: open the heap without isolated, or take to_pandas() or to_dict()",
        Status.UNSUPPORTED,
    )
