#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""export DIR.parquet, FILE.arrows, sql -o: files keep the rules of the format, and have the rows of sql."""
from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
# pylint: disable=wrong-import-position
from arrow_file import Arrow  # noqa: E402
from cores import LEAK  # noqa: E402
from parquet_file import Parquet  # noqa: E402
from shell_program import BUBBLECS, PROGRAM, environment, large_dump, run  # noqa: E402
from shell_program import turns, waiting  # noqa: E402

TABLES = {"types", "objects", "refs", "roots", "strings", "findings"}
TIMEOUT = 300


@contextlib.contextmanager
def exported(target: str, *words: str) -> Iterator[dict[str, Parquet]]:
    """The files of an export, by table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "heap.parquet"
        done = run(target, "export", f"{path}/", *words)
        if done.status != 0:
            raise AssertionError(done.err)
        yield {file.stem: Parquet(file) for file in path.iterdir()}


@contextlib.contextmanager
def stream(target: str, table: str) -> Iterator[Arrow]:
    """A table as a stream of Arrow."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "heap.arrows"
        done = run(target, "export", str(path), "-table", table)
        if done.status != 0:
            raise AssertionError(done.err)
        yield Arrow(path)


def cell(name: str, value: Any) -> Any:
    """A value of sql as Parquet has it."""
    is_address = name != "value" and isinstance(value, str) and value.startswith("0x")
    return int(value, 16) if is_address else value


def query(target: str, text: str) -> list[dict[str, Any]]:
    """The rows of sql."""
    done = run(target, "sql", text, "-limit", "0", "--json")
    if done.status not in (0, 1):
        raise AssertionError(done.err)
    return [{name: cell(name, value) for name, value in row.items()} for row in done.json()["rows"]]


def rows_of(file: Parquet, names: list[str]) -> list[tuple[Any, ...]]:
    """Rows of some columns, sorted."""
    return sorted(zip(*(file.columns[name] for name in names)), key=repr)


class Columns(unittest.TestCase):
    """Tables in files of other formats."""

    def check_same(self, target: str, file: Parquet, text: str) -> None:
        """The file has the rows of a query, whose columns have the same names."""
        rows = query(target, text)
        names = list(rows[0]) if rows else file.names
        self.assertTrue(set(names) <= set(file.names), names)
        wanted = sorted((tuple(row.get(name) for name in names) for row in rows), key=repr)
        self.assertEqual(rows_of(file, names), wanted)

    def test_rows_are_those_of_sql(self) -> None:
        for target, free in ((LEAK, " WHERE NOT free"), (BUBBLECS, "")):
            with self.subTest(target=target), exported(target) as files:
                self.assertEqual(set(files), TABLES | ({"threads"} if free else set()))
                columns = "address, mt, type, size, live" + (", generation" if free else "")
                self.check_same(target, files["objects"], f"SELECT {columns} FROM objects{free}")
                self.check_same(target, files["refs"], 'SELECT "from", "to" FROM refs')
                self.check_same(
                    target,
                    files["types"],
                    "SELECT mt, name, count, size FROM types WHERE count > 0 AND name != 'Free'",
                )
                for name in ("roots", "strings", "findings", *(["threads"] if free else [])):
                    self.check_same(target, files[name], f"SELECT * FROM {name}")
                for name, file in files.items():
                    self.assertEqual(file.metadata["heapdump.schema"], "1")
                    self.assertEqual(file.metadata["heapdump.table"], name)
                    self.assertEqual(file.metadata["heapdump.complete"], "true")
                    self.assertEqual(file.codecs, {6} if file.groups else set())

    def test_streams_have_the_same_rows(self) -> None:
        for target in (LEAK, BUBBLECS):
            with exported(target) as files:
                for name, file in files.items():
                    with self.subTest(target=target, name=name), stream(target, name) as arrow:
                        self.assertEqual(arrow.columns, file.columns)
                        self.assertEqual(arrow.metadata, file.metadata)

    def test_a_stream_on_standard_output(self) -> None:
        done = subprocess.run(
            [PROGRAM, BUBBLECS, "export", "-", "-format", "arrows"],
            capture_output=True,
            env=environment(),
            timeout=TIMEOUT,
            check=True,
        )
        with stream(BUBBLECS, "objects") as arrow:
            self.assertEqual(arrow.data, done.stdout)
            self.assertEqual(arrow.batches, [273])

    def test_only_one_table(self) -> None:
        with exported(BUBBLECS, "-table", "refs") as files:
            self.assertEqual(set(files), {"refs"})
            self.assertEqual(files["refs"].footer[3], len(query(BUBBLECS, "SELECT * FROM refs")))

    def test_what_a_dump_file_does_not_tell_is_missing(self) -> None:
        with exported(BUBBLECS) as files:
            self.assertEqual(set(files["objects"].columns["generation"]), {None})
            self.assertEqual(set(files["types"].columns["module"]), {None})

    def test_files_that_are_not_compressed(self) -> None:
        with exported(LEAK) as packed, exported(LEAK, "-codec", "none") as plain:
            for name in TABLES - {"findings"}:
                self.assertEqual(plain[name].codecs, {0})
                self.assertEqual(plain[name].columns, packed[name].columns)
                self.assertLess(len(packed[name].data), len(plain[name].data))

    def test_names_that_are_not_utf8(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "names.heap"
            path.write_bytes(
                b"a 2 x\xff.exe\nt 1 Caf\xc3\xa9\nt 2 bad\xc3(\n"
                b"o 10 1 18 20 30\no 20 2 20 10\no 28 3 20\nr 10 1 0\nc x.exe\n"
            )
            with exported(str(path)) as files:
                self.assertEqual(
                    files["objects"].columns["type"], ["Caf\u00e9", "bad\ufffd(", None]
                )
                self.assertEqual(set(files["types"].columns["domain"]), {"x\ufffd.exe"})
                # 30 is missing: only a reference tells of it.
                self.assertEqual(files["refs"].columns["to"], [0x20, 0x30, 0x10])
                self.assertEqual(files["objects"].columns["live"], [True, True, False])

    def test_a_heap_without_objects(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "none.heap"
            path.write_text("a 2 none.exe\nt 1 A\nc none.exe\n", encoding="ascii")
            with exported(str(path)) as files:
                self.assertEqual(set(files), TABLES)
                self.assertEqual({files[name].footer[3] for name in TABLES - {"findings"}}, {0})

    def test_more_rows_than_a_group_has(self) -> None:
        count = (1 << 20) + 300
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "many.heap"
            with path.open("w", encoding="ascii", newline="\n") as file:
                file.write("a 2 many.exe\nt 1 Node\nt 2 Other\n")
                file.writelines(
                    f"o {i * 24 + 24:x} {1 + (i > count - 9)} {24 + i % 3 * 8:x}\n"
                    for i in range(count)
                )
                file.write("c many.exe\n")
            with exported(str(path)) as files:
                objects = files["objects"]
                self.assertEqual([group[3] for group in objects.groups], [1 << 20, 300])
                self.assertEqual(objects.columns["address"], [i * 24 + 24 for i in range(count)])
                self.assertEqual(objects.columns["size"][:3], [24, 32, 40])
                self.assertEqual(objects.columns["type"].count("Other"), 8)
            with stream(str(path), "objects") as arrow:
                self.assertEqual(arrow.batches, [1 << 20, 300])
                self.assertEqual(arrow.columns["address"][-1], count * 24)

    def output(self, target: str, text: str, *words: str) -> dict[str, list[Any]]:
        """The columns of a query, which are the same in both formats."""
        with tempfile.TemporaryDirectory() as folder:
            found: list[dict[str, list[Any]]] = []
            for ending in ("parquet", "arrows"):
                path = Path(folder) / f"rows.{ending}"
                done = run(target, "sql", text, "-o", str(path), *words)
                self.assertEqual(done.status, 0, done.err)
                self.assertRegex(done.out, r"^Wrote .*: [\d,]+ rows?\.\n$")
                file: Parquet | Arrow
                if ending == "parquet":
                    file = Parquet(path)
                else:
                    file = Arrow(path)
                self.assertEqual(file.metadata["heapdump.command"], "sql")
                found.append(file.columns)
            self.assertEqual(found[0], found[1])
            return found[0]

    def test_rows_of_a_query(self) -> None:
        text = (
            "SELECT type, count(*) AS n, sum(size) AS s, avg(size) AS mean, min(address) = 0 AS no,"
            " NULL AS lost FROM objects GROUP BY type ORDER BY type"
        )
        columns = self.output(LEAK, text)
        rows = query(LEAK, text)
        for name in ("type", "n", "s", "no"):
            self.assertEqual(columns[name], [row[name] for row in rows])
        self.assertEqual(
            [round(x, 6) for x in columns["mean"]], [round(r["mean"], 6) for r in rows]
        )
        self.assertEqual(set(columns["lost"]), {None})
        columns = self.output(LEAK, "SELECT address, mt, size FROM objects", "-limit", "7")
        self.assertEqual([len(column) for column in columns.values()], [7, 7, 7])
        self.assertEqual(self.output(BUBBLECS, "SELECT type FROM objects WHERE 0"), {"type": []})

    def test_columns_of_several_types(self) -> None:
        columns = self.output(
            BUBBLECS,
            "SELECT 1 AS a, 1 AS b, NULL AS c, -1 AS d UNION ALL SELECT 'x', 2.5, NULL, 1 << 40"
            " UNION ALL SELECT NULL, NULL, NULL, NULL",
        )
        self.assertEqual(columns["a"], ["1", "x", None])
        self.assertEqual(columns["b"], [1.0, 2.5, None])
        self.assertEqual(columns["c"], [None, None, None])
        self.assertEqual(columns["d"], [-1, 1 << 40, None])

    def test_a_type_that_changes_after_many_rows(self) -> None:
        """The first group of rows has numbers, and a later one has a text: all become texts."""
        dump = large_dump()
        text = "SELECT CASE WHEN address = 0x16e3600 THEN 'here' ELSE size END AS a FROM objects"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            done = run(dump, "sql", text, "-o", str(path))
            self.assertEqual(done.status, 0, done.err)
            file = Parquet(path)
            self.assertEqual(len(file.groups), 2)
            self.assertEqual(set(file.columns["a"]), {"24", "here"})
            self.assertEqual(file.columns["a"].index("here"), 0x16E3600 // 16 - 1)
            self.assertEqual(os.listdir(folder), ["rows.parquet"])

    def test_rows_as_csv(self) -> None:
        text = "SELECT type, count(*) AS n FROM objects GROUP BY type"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.csv"
            done = run(LEAK, "sql", "-o", str(path), text)
            self.assertEqual(done.status, 0, done.err)
            self.assertEqual(done.out, f"Wrote {path}: 87 rows.\n")
            wanted = run(LEAK, "sql", text, "--format", "csv", "-limit", "0").out
            self.assertEqual(path.read_bytes(), wanted.encode())
            answer = run(LEAK, "sql", text, "-o", str(path), "--json").json()
            self.assertEqual([answer["format"], answer["written"]], ["csv", 87])

    def test_a_query_that_fails_leaves_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for ending in ("parquet", "arrows", "csv"):
                path = str(Path(folder) / f"rows.{ending}")
                query_text = "SELECT CASE WHEN type LIKE '%Thread' THEN abs(-9223372036854775808) END FROM objects"
                done = run(LEAK, "sql", query_text, "-o", path)
                self.assertEqual(done.status, 2, done.err)
                self.assertIn("integer overflow", done.err)
                full = subprocess.run(
                    [PROGRAM, LEAK, "sql", "SELECT * FROM strings", "-o", path],
                    capture_output=True,
                    text=True,
                    env=environment(),
                    timeout=TIMEOUT,
                    check=False,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, 9_000)),
                )
                self.assertEqual(full.returncode, 3, full.stderr)
                self.assertIn("File too large", full.stderr)
            self.assertEqual(os.listdir(folder), [])

    def test_wrong_words(self) -> None:
        for words, told in (
            (["x.parquet", "-live"], "has a column"),
            (["x.arrows", "-live"], "has a column"),
            (["x.arrows", "-codec", "none"], "-codec is only for a .parquet"),
            (["x.arrows", "-table", "threads"], "only a core or a process"),
            (["x.gcdump", "-table", "refs"], "-table is only for"),
            (["x.arrows", "-table", "fields"], "is one of objects, refs"),
            (["-", "--format", "parquet"], "is a folder"),
            (["x.gcdump", "-codec", "none"], "-codec is only for"),
            (["x.gcdump/"], "No such file or directory"),
        ):
            with self.subTest(words=words):
                done = run(BUBBLECS, "export", *words)
                self.assertIn(done.status, (2, 3))
                self.assertIn(told, done.err)
                self.assertFalse(Path(words[0]).exists())

    def test_wrong_words_of_sql(self) -> None:
        for words, told in (
            (["-o", "x.xlsx"], "ends in .parquet, .arrows or .csv"),
            (["-o", "x.csv", "--format", "csv"], "the rows go to the file"),
            (["-o", "-"], "ends in .parquet, .arrows or .csv"),
        ):
            with self.subTest(words=words):
                done = run(BUBBLECS, "sql", "SELECT 1", *words)
                self.assertEqual(done.status, 2)
                self.assertIn(told, done.err)
                self.assertFalse(Path(words[1]).exists())

    def test_a_folder_that_is_there(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "heap.parquet"
            self.assertEqual(run(BUBBLECS, "export", str(path)).status, 0)
            before = sorted(path.iterdir())
            done = run(BUBBLECS, "export", str(path))
            self.assertEqual(done.status, 3)
            self.assertIn("there already", done.err)
            self.assertEqual(sorted(path.iterdir()), before)
            other = Path(folder) / "file.parquet"
            other.write_text("mine", encoding="ascii")
            done = run(BUBBLECS, "export", str(other))
            self.assertEqual(done.status, 3)
            self.assertIn("there already", done.err)
            self.assertEqual(other.read_text(encoding="ascii"), "mine")
            self.assertEqual(len(list(Path(folder).iterdir())), 2)

    @turns.left_to_chance
    def test_nothing_is_left_of_a_killed_worker(self) -> None:
        """The process that reads the target and writes is killed; the other one takes the folder away."""
        dump, was_killed = large_dump(), False
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(20):
                with subprocess.Popen(
                    [PROGRAM, dump, "export", f"{folder}/heap.parquet"],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=environment(),
                ) as process:
                    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
                    waiting.wait_until(
                        lambda p=process: os.listdir(folder) or p.poll() is not None,  # type: ignore
                        "the folder is begun",
                    )
                    for child in children.read_text(encoding="ascii").split():
                        os.kill(int(child), signal.SIGKILL)
                    was_killed = process.wait(TIMEOUT) != 0
                if was_killed:
                    break
                shutil.rmtree(Path(folder) / "heap.parquet")
            self.assertTrue(was_killed)
            self.assertEqual(os.listdir(folder), [])

    def test_nothing_is_left_of_a_full_disk(self) -> None:
        """A limit for the size of files stands for the disk."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "heap.parquet"
            done = subprocess.run(
                [PROGRAM, LEAK, "export", str(path), "-codec", "none"],
                capture_output=True,
                text=True,
                env=environment(),
                timeout=TIMEOUT,
                check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)),
            )
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("File too large", done.stderr)
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
