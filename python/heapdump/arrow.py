# SPDX-License-Identifier: MIT
"""Columns of an answer, by the Arrow C stream interface: pyarrow, pandas, polars and DuckDB take them as they are."""
from __future__ import annotations

import ctypes
from typing import Any, Callable

from heapdump.native import HeapdumpError, Status

CAPSULE = b"arrow_array_stream"
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
# Called with the GIL, by whoever drops a capsule.
_DESTROY = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, _DESTROY]


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
        release = self.release
        if release:
            RELEASE(release)(ctypes.addressof(self))


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

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; ImportError without pandas or pyarrow."""
        return self.to_arrow().to_pandas()


def unsupported(_: str | None) -> ArrowStream:
    """The source of an answer that another process, or GDB, has made."""
    raise HeapdumpError(
        "columns are made in this process only: open the heap without isolated", Status.UNSUPPORTED
    )
