#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Have DuckDB read the Arrow streams of the Python package: check_arrow.py LIBDUCKDB [CORE].

LIBDUCKDB is libduckdb.so, as npm's package @duckdb/node-bindings-linux-x64 has it. What DuckDB counts and adds up must be
what the rows of the same command say.
"""
from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Any

SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
os.environ["HEAPDUMP_LIBRARY"] = str(BUILD / "libheapdump.so")
sys.path.insert(0, str(SOURCE / "python"))
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import heapdump  # noqa: E402
from heapdump import arrow  # noqa: E402

_capsule_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class Result(ctypes.Structure):
    """duckdb_result; all members are its own."""

    _fields_ = [("members", ctypes.c_uint64 * 6)]


class DuckDb:
    """A database in memory."""

    def __init__(self, path: str) -> None:
        self.lib = ctypes.CDLL(path)
        self.lib.duckdb_result_error.restype = ctypes.c_char_p
        self.lib.duckdb_value_varchar.restype = ctypes.c_void_p
        self.lib.duckdb_value_varchar.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
        self.lib.duckdb_row_count.restype = ctypes.c_uint64
        self.lib.duckdb_column_count.restype = ctypes.c_uint64
        self.lib.duckdb_arrow_scan.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.lib.duckdb_free.argtypes = [ctypes.c_void_p]
        database = ctypes.c_void_p()
        self.connection = ctypes.c_void_p()
        assert self.lib.duckdb_open(None, ctypes.byref(database)) == 0
        assert self.lib.duckdb_connect(database, ctypes.byref(self.connection)) == 0

    def scan(self, name: str, columns: Any) -> None:
        """Make a view of the stream of a capsule."""
        capsule = columns.__arrow_c_stream__()
        stream = _capsule_of(capsule, arrow.CAPSULE)
        if self.lib.duckdb_arrow_scan(self.connection, name.encode(), stream) != 0:
            raise RuntimeError(f"DuckDB does not take the stream of {name}")
        # A stream is read once.
        self.rows(f"CREATE TABLE kept_{name} AS SELECT * FROM {name}")

    def rows(self, query: str) -> list[list[str | None]]:
        """The rows of a query as texts."""
        result = Result()
        at = ctypes.byref(result)
        if self.lib.duckdb_query(self.connection, query.encode(), at) != 0:
            raise RuntimeError(self.lib.duckdb_result_error(at).decode())
        found = []
        for row in range(self.lib.duckdb_row_count(at)):
            cells: list[str | None] = []
            for column in range(self.lib.duckdb_column_count(at)):
                text = self.lib.duckdb_value_varchar(at, column, row)
                cells.append(None if not text else ctypes.string_at(text).decode())
                self.lib.duckdb_free(text)
            found.append(cells)
        return found


def main() -> int:
    """Compare; the number of differences decides the status."""
    core = sys.argv[2] if len(sys.argv) > 2 else str(SOURCE / "corefiles" / "leak.core.zst")
    duck = DuckDb(sys.argv[1])
    wrong = 0

    def same(what: str, ours: Any, theirs: Any) -> None:
        nonlocal wrong
        print(
            "ok   " if ours == theirs else "WRONG", what, ours if ours == theirs else (ours, theirs)
        )
        wrong += ours != theirs

    with heapdump.open(core, files=False) as heap:
        duck.scan("objects", heap.sql.columns("SELECT address, type, size FROM objects", limit=0))
        rows = list(heap.sql("SELECT address, type, size FROM objects", limit=0))
        count, size, addresses, types = duck.rows(
            "SELECT count(*), sum(size), sum(address), count(DISTINCT type) FROM kept_objects"
        )[0]
        same("objects", len(rows), int(count or 0))
        same("bytes", sum(row["size"] for row in rows), int(size or 0))
        same("sum of the addresses", sum(row["address"] for row in rows), int(addresses or 0))
        same("types", len({row["type"] for row in rows}), int(types or 0))
        duck.scan("roots", heap.sql.columns("SELECT * FROM roots", limit=0))
        have = duck.rows(
            "SELECT kind, count(*), count(name) FROM kept_roots GROUP BY kind ORDER BY kind"
        )
        want = heap.sql(
            "SELECT kind, count(*) AS n, count(name) AS named FROM roots GROUP BY kind ORDER BY kind"
        )
        same("roots", [[row["kind"], str(row["n"]), str(row["named"])] for row in want], have)
        session = next(heap.objects("WebShop.Session"), None)
        if session is not None:
            duck.scan("path", heap.gcroot.columns(session, table="roots.path"))
            way = [row["type"] for row in heap.gcroot(session).rows("roots.path")]
            same("path", [[name] for name in way], duck.rows("SELECT type FROM kept_path"))
        duck.scan("threads", heap.clrthreads.columns())
        same("threads", len(list(heap.clrthreads())), len(duck.rows("SELECT * FROM kept_threads")))
    return int(wrong != 0)


if __name__ == "__main__":
    sys.exit(main() if len(sys.argv) in (2, 3) else str(__doc__))
