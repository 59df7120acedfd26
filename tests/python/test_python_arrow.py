#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Columns for Arrow: what every machine can test, and, where they are installed, pyarrow and pandas.

These two come from PyPI, and no other test needs them: python3 -m venv V && V/bin/pip install pyarrow pandas, then
V/bin/python tests/python/test_python_arrow.py.
"""
from __future__ import annotations

import ctypes
import gc
import os
import sys
import time
import unittest
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
os.environ["HEAPDUMP_LIBRARY"] = str(BUILD / "libheapdump.so")
sys.path.insert(0, str(SOURCE / "python"))
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import heapdump  # noqa: E402
from heapdump import arrow  # noqa: E402

try:
    import pandas
    import pyarrow
except ImportError as error:
    print(f"skipped, {error}: what pyarrow and pandas make of the columns")
    pandas = pyarrow = None

LEAK = SOURCE / "corefiles" / "leak.core.zst"


class ColumnsTest(unittest.TestCase):
    heap: heapdump.Heap

    @classmethod
    def setUpClass(cls) -> None:
        cls.heap = heapdump.open(LEAK, files=False)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.heap.close()

    def test_a_capsule_gives_its_stream_back(self) -> None:
        answer = self.heap.sql("SELECT 1 AS one")
        before = len(arrow._streams)
        capsules = [answer.__arrow_c_stream__() for _ in range(20)]
        self.assertEqual(len(arrow._streams), before + 20)
        self.assertIn("arrow_array_stream", repr(capsules[0]))
        del capsules
        gc.collect()
        self.assertEqual(len(arrow._streams), before)

    def test_a_table_that_is_not_there_is_an_error(self) -> None:
        with self.assertRaisesRegex(heapdump.HeapdumpError, "nosuch"):
            self.heap.columns("sql", "SELECT 1", table="nosuch").__arrow_c_stream__()
        with self.assertRaises(heapdump.HeapdumpError):
            self.heap.gcroot.columns("no such type").__arrow_c_stream__()

    def test_another_process_makes_no_columns(self) -> None:
        with heapdump.open(LEAK, files=False, isolated=True) as heap:
            for columns in (heap.sql("SELECT 1").columns(), heap.columns("sql", "SELECT 1")):
                with self.assertRaisesRegex(heapdump.HeapdumpError, "isolated"):
                    columns.__arrow_c_stream__()

    def test_what_the_stream_says_of_itself(self) -> None:
        stream = self.heap.sql("SELECT address, type FROM objects LIMIT 10")._source(None)
        try:
            self.assertTrue(stream.get_schema and stream.get_next and stream.release)
            get_next = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(
                stream.get_next
            )
            batch = (ctypes.c_int64 * 10)()  # struct ArrowArray: length is its first member
            self.assertEqual(get_next(ctypes.addressof(stream), ctypes.addressof(batch)), 0)
            self.assertEqual(batch[0], 10)
            arrow.RELEASE(batch[8])(ctypes.addressof(batch))
        finally:
            stream.end()
            stream.end()


@unittest.skipIf(pyarrow is None, "there is no pyarrow")
class PyarrowTest(ColumnsTest):
    def test_columns_are_the_rows(self) -> None:
        for words, table in (
            (("sql", "SELECT * FROM objects"), None),
            (("sql", "SELECT * FROM roots"), None),
            (("clrthreads",), None),
            (("dumpheap", "-stat"), None),
        ):
            options: dict[str, Any] = {"limit": 0} if words[0] == "sql" else {}
            answer = self.heap.run(*words, **options)
            have = answer.to_arrow(table).to_pylist()
            want: list[Any] = []
            for row in answer:
                flat = {}
                for name, value in row.items():
                    for inner, part in value.items() if isinstance(value, dict) else ():
                        flat[f"{name}.{inner}"] = part
                    if not isinstance(value, dict):
                        flat[name] = " ".join(value) if isinstance(value, list) else value
                want.append(flat)
            names = set(have[0])
            want = [{name: row[name] for name in row if name in names} for row in want]
            self.assertEqual(have, want, words)

    def test_the_interface_of_capsules(self) -> None:
        answer = self.heap.sql("SELECT type, count(*) AS n FROM objects GROUP BY type")
        reader = pyarrow.RecordBatchReader.from_stream(answer)
        self.assertEqual(sum(reader.read_all().column("n").to_pylist()), 72861)
        frame = answer.to_pandas()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(int(frame["n"].sum()), 72861)

    def test_how_fast(self) -> None:
        """Prints figures; compares no times."""
        query = "SELECT * FROM refs"
        begin = time.process_time()
        rows = sum(1 for _ in self.heap.sql.stream(query, limit=0))
        middle = time.process_time()
        table = self.heap.sql.columns(query, limit=0).to_arrow()
        end = time.process_time()
        self.assertEqual(table.num_rows, rows)
        print(
            f"{rows} rows: one by one {middle - begin:.2f} s CPU, as columns {end - middle:.2f} s"
        )


if __name__ == "__main__":
    unittest.main()
