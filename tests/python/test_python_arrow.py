#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Columns: lists, pandas, and the Arrow C stream; with pyarrow, where that is installed.

pyarrow comes from PyPI, and no other test needs it: python3 -m venv V && V/bin/pip install pyarrow pandas, then
V/bin/python tests/python/test_python_arrow.py.
"""
from __future__ import annotations

import ctypes
import gc
import os
import sys
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
from heapdump import columns as columns_of  # noqa: E402

try:
    import pandas
except ImportError as error:
    print(f"skipped, {error}: pandas")
    pandas = None

try:
    import pyarrow
except ImportError as error:
    print(f"skipped, {error}: what pyarrow makes of the columns")
    pyarrow = None

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

    def test_others_may_use_the_same_functions_of_python(self) -> None:
        shared = ctypes.pythonapi.PyCapsule_GetPointer
        before = shared.restype, shared.argtypes
        shared.restype, shared.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        try:
            held = self.heap.sql("SELECT 1 AS one").__arrow_c_stream__()
            self.assertTrue(shared(held, arrow.CAPSULE))
            count = len(arrow._streams)
            del held
            gc.collect()
            self.assertEqual(len(arrow._streams), count - 1)
        finally:
            shared.restype, shared.argtypes = before

    def test_a_table_that_is_not_there_is_an_error(self) -> None:
        with self.assertRaisesRegex(heapdump.HeapdumpError, "nosuch"):
            self.heap.columns("sql", "SELECT 1", table="nosuch").__arrow_c_stream__()
        with self.assertRaises(heapdump.HeapdumpError):
            self.heap.gcroot.columns("no such type").__arrow_c_stream__()

    def test_another_process_makes_no_arrow_stream(self) -> None:
        with heapdump.open(LEAK, files=False, isolated=True) as heap:
            for columns in (heap.sql("SELECT 1").columns(), heap.columns("sql", "SELECT 1")):
                with self.assertRaisesRegex(heapdump.HeapdumpError, "isolated"):
                    columns.__arrow_c_stream__()

    def test_what_the_stream_says_of_itself(self) -> None:
        stream = self.heap.sql("SELECT address, type FROM objects LIMIT 10").columns()._source(None)
        try:
            self.assertTrue(stream.get_schema and stream.get_next and stream.release)
            kind: Any = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
            get_next = kind(stream.get_next)
            batch = (ctypes.c_int64 * 10)()  # struct ArrowArray: length is its first member
            self.assertEqual(get_next(ctypes.addressof(stream), ctypes.addressof(batch)), 0)
            self.assertEqual(batch[0], 10)
            release: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
            release(batch[8])(ctypes.addressof(batch))
        finally:
            stream.end()
            stream.end()

    def test_lists_are_the_rows(self) -> None:
        with heapdump.open(LEAK, files=False, isolated=True) as isolated:
            for words, options, table in CASES:
                with self.subTest(words=words, table=table):
                    want = flat(self.heap.run(*words, **options), table)
                    for heap in (self.heap, isolated):
                        columns = heap.run(*words, **options).to_dict(table)
                        columns.pop("parent_row", None)
                        have = [dict(zip(columns, row)) for row in zip(*columns.values())]
                        names = set(columns)
                        self.assertEqual(
                            have, [{n: v for n, v in row.items() if n in names} for row in want]
                        )
                    self.assertEqual(
                        self.heap.columns(*words, table=table, **options).to_dict(),
                        isolated.columns(*words, table=table, **options).to_dict(),
                    )

    def test_parents_are_named(self) -> None:
        answer = self.heap.run("gcroot", 0x7F039FE5A158)
        parents = answer.to_dict("roots.path")["parent_row"]
        want = [n for n, row in enumerate(answer) for _ in row["path"]]
        self.assertEqual(parents, want)

    def test_values_of_several_kinds(self) -> None:
        cases: list[tuple[str, str, list[Any]]] = [
            ("SELECT 1 AS x UNION ALL SELECT 2.5 UNION ALL SELECT NULL", "g", [1.0, 2.5, None]),
            ("SELECT -1 AS x UNION ALL SELECT 2", "l", [-1, 2]),
            ("SELECT 1 AS x UNION ALL SELECT 'a'", "u", ["1", "a"]),
            ("SELECT NULL AS x UNION ALL SELECT NULL", "n", [None, None]),
            ("SELECT 'aé😀' AS x UNION ALL SELECT ''", "u", ["aé😀", ""]),
            ("SELECT 1 << 62 AS x UNION ALL SELECT 0.5", "u", [str(1 << 62), "0.5"]),
            ("SELECT 1 AS x WHERE 0", "n", []),
        ]
        with heapdump.open(LEAK, files=False, isolated=True) as isolated:
            for query, how, want in cases:
                for heap in (self.heap, isolated):
                    with self.subTest(query=query, heap=heap):
                        (column,) = heap.sql(query).columns()._read()
                        self.assertIn(column.format, {how, "L"} if how == "l" else {how})
                        self.assertEqual(column.to_list(), want)

    def test_batches_go_on_where_others_end(self) -> None:
        query = "SELECT CASE WHEN address % 3 THEN type END AS t, address % 7 = 0 AS f FROM objects"
        columns = self.heap.sql.columns(query, limit=0).to_dict()
        rows = list(self.heap.sql(query, limit=0))
        self.assertGreater(len(rows), 65536)
        self.assertEqual(columns["t"], [row["t"] for row in rows])
        self.assertEqual(columns["f"], [row["f"] for row in rows])

    def test_a_table_that_another_process_has_not(self) -> None:
        with heapdump.open(LEAK, files=False, isolated=True) as heap:
            with self.assertRaisesRegex(heapdump.HeapdumpError, "no table nosuch; it has"):
                heap.sql("SELECT 1").to_dict("nosuch")


# Words, options, and the table.
CASES: list[tuple[tuple[Any, ...], dict[str, Any], "str | None"]] = [
    (("sql", "SELECT * FROM objects LIMIT 2000"), {}, None),
    (("sql", "SELECT * FROM roots"), {"limit": 0}, None),
    (("clrthreads",), {}, None),
    (("dumpheap",), {"stat": True}, None),
    (("gcroot", 0x7F039FE5A158), {}, "roots.path"),
    (("gchandles",), {}, None),
    (("strings",), {"limit": 50}, None),
]


def is_set(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def flat(answer: Any, table: str | None) -> list[dict[str, Any]]:
    """The rows of an answer as columns name them, without tables in rows."""
    found = []
    for row in answer if table is None else answer.rows(table):
        line: dict[str, Any] = {}
        for name, value in row.items():
            for inner, part in value.items() if isinstance(value, dict) else ():
                line[f"{name}.{inner}"] = part
            if not isinstance(value, dict):
                line[name] = " ".join(value) if is_set(value) else value
        found.append(line)
    return found


@unittest.skipIf(pandas is None, "there is no pandas")
class PandasTest(unittest.TestCase):
    def test_a_frame_has_the_rows(self) -> None:
        with heapdump.open(LEAK, files=False) as own, heapdump.open(
            LEAK, files=False, isolated=True
        ) as isolated:
            for words, options, table in CASES:
                with self.subTest(words=words):
                    frames = [
                        heap.run(*words, **options).to_pandas(table) for heap in (own, isolated)
                    ]
                    want = own.run(*words, **options).to_dict(table)
                    for name in frames[0].dropna(axis=1, how="all"):
                        self.assertEqual(frames[0][name].dtype, frames[1][name].dtype, name)
                    for frame in frames:
                        self.assertEqual(list(frame.columns), list(want))
                        for name, values in want.items():
                            have = [None if pandas.isna(x) else x for x in frame[name]]
                            self.assertEqual(have, values, name)

    def test_types_of_columns(self) -> None:
        with heapdump.open(LEAK, files=False) as heap:
            frame = heap.columns("sql", "SELECT * FROM roots", limit=0).to_pandas()
            kinds = {name: str(kind) for name, kind in frame.dtypes.items()}
            self.assertEqual(kinds["object"], "int64")
            self.assertEqual(kinds["address"], "Int64")
            self.assertEqual(kinds["kind"], "object")
            frame = heap.sql("SELECT 1.5 AS x UNION ALL SELECT NULL").to_pandas()
            self.assertEqual(str(frame["x"].dtype), "float64")
            frame = heap.sql("SELECT 1 AS x, 2 AS x").to_pandas()
            self.assertEqual(frame.values.tolist(), [[1, 2]])
            self.assertEqual(len(heap.sql("SELECT 1 AS x WHERE 0").to_pandas()), 0)
            huge = columns_of.to_pandas([columns_of.ListColumn("x", [(1 << 64) - 1, 1])])
            self.assertEqual(huge["x"].tolist(), [(1 << 64) - 1, 1])
            self.assertEqual(str(huge["x"].dtype), "uint64")
            frame = heap.dumpobj(0x7F039FE5A158).to_pandas("fields")
            self.assertEqual(str(frame["static"].dtype), "bool")


@unittest.skipIf(pyarrow is None, "there is no pyarrow")
class PyarrowTest(ColumnsTest):
    def test_columns_are_the_rows(self) -> None:
        for words, options, table in CASES:
            answer = self.heap.run(*words, **options)
            have = answer.to_arrow(table).to_pydict()
            self.assertEqual(have, answer.to_dict(table), words)

    def test_the_interface_of_capsules(self) -> None:
        answer = self.heap.sql("SELECT type, count(*) AS n FROM objects GROUP BY type")
        reader = pyarrow.RecordBatchReader.from_stream(answer)
        self.assertEqual(sum(reader.read_all().column("n").to_pylist()), 72861)


if __name__ == "__main__":
    unittest.main()
