#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""export FILE.hprof: each file keeps the rules of the format, and says what other commands say."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
# pylint: disable=wrong-import-position
from hprof_made import Made, sample  # noqa: E402
from hprof_records import ARRAYS, Hprof  # noqa: E402

SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
PROGRAM = str(BUILD / "heapdump")
BUBBLECS = SOURCE / "corefiles" / "bubblecs.heap"
LEAK = SOURCE / "corefiles" / "leak.core.zst"
NUMBERS = {
    "System.Boolean[]": 4,
    "System.Char[]": 5,
    "System.Single[]": 6,
    "System.Double[]": 7,
    "System.Byte[]": 8,
    "System.SByte[]": 8,
    "System.Int16[]": 9,
    "System.UInt16[]": 9,
    "System.Int32[]": 10,
    "System.UInt32[]": 10,
    "System.Int64[]": 11,
    "System.UInt64[]": 11,
    "System.IntPtr[]": 11,
    "System.UIntPtr[]": 11,
}
TIMEOUT = 300


def answer(path: Path, *words: str) -> dict[str, Any]:
    """One command's JSON document."""
    done = subprocess.run(
        [PROGRAM, str(path), *words, "--json"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise AssertionError(f"{words}: {done.stderr}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def plain(name: str, cell: Any) -> Any:
    """A cell; addresses as numbers."""
    is_address = name != "value" and isinstance(cell, str) and cell.startswith("0x")
    return int(cell, 16) if is_address else cell


def rows(path: Path, query: str) -> list[list[Any]]:
    """The rows of a query."""
    document = answer(path, "sql", query)
    return [[plain(*cell) for cell in row.items()] for row in document["rows"]]


class HprofTest(unittest.TestCase):
    """One file of a core and one of a dump file."""

    folder: tempfile.TemporaryDirectory[str]
    made: dict[str, tuple[Hprof, dict[str, Any]]]

    @classmethod
    def setUpClass(cls) -> None:
        cls.made = {}
        cls.folder = tempfile.TemporaryDirectory(prefix="heapdump-hprof-")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def export(self, dump: Path, *options: str) -> tuple[Hprof, dict[str, Any]]:
        """The file of a dump, and what the command said."""
        name = dump.stem + "".join(options) + ".hprof"
        if name not in self.made:
            path = Path(self.folder.name) / name
            told = answer(dump, "export", str(path), *options)
            self.made[name] = Hprof(path), told
        return self.made[name]

    def test_dump_file(self) -> None:
        """A dump file has classes, references, sizes and roots."""
        dump, told = self.export(BUBBLECS)
        self.assertEqual(told["format"], "hprof")
        counts = dump.counts()
        types: dict[str, int] = {}
        for row in answer(BUBBLECS, "types")["types"]:
            types[row["name"]] = types.get(row["name"], 0) + row["count"]
        for name, count in types.items():
            self.assertEqual(counts[name], count, name)
        objects = {int(row["address"]): row for row in self.objects(BUBBLECS)}
        self.assertEqual(len(objects), told["objects"])
        for address, row in objects.items():
            if address in dump.arrays:
                size = 24 + 8 * len(dump.arrays[address][1])
                self.assertLessEqual(row["size"], size)
            else:
                kind = dump.instances[address][0]
                self.assertEqual(dump.classes[kind].size, row["size"], f"{address:x}")
        references: dict[int, set[int]] = {}
        for source, target in rows(BUBBLECS, 'SELECT "from", "to" FROM refs'):
            references.setdefault(source, set()).add(target)
        for address in objects:
            self.assertEqual(dump.references(address), references.get(address, set()))

    @staticmethod
    def objects(dump: Path) -> list[dict[str, Any]]:
        """Objects with their sizes and types."""
        query = "SELECT address, type, size, live FROM objects WHERE NOT free"
        names = ("address", "type", "size", "live")
        return [dict(zip(names, row)) for row in rows(dump, query)]

    def test_live(self) -> None:
        """-live leaves out what is dead."""
        dump, told = self.export(BUBBLECS, "-live")
        live = {row["address"] for row in self.objects(BUBBLECS) if row["live"]}
        self.assertEqual(told["objects"], len(live))
        self.assertEqual(sorted(live - {*dump.instances, *dump.arrays})[:3], [])

    def test_core(self) -> None:
        """A core has the contents of its objects: texts, counts, references, statics."""
        dump, told = self.export(LEAK)
        objects = self.objects(LEAK)
        self.assertEqual(told["objects"], len(objects))
        every = {*dump.instances, *dump.arrays, *dump.numbers}
        self.assertEqual(sorted({row["address"] for row in objects} - every)[:3], [])
        expected: Counter[str] = Counter()
        for row in objects:
            name = row["type"]
            if name in NUMBERS:
                name = ARRAYS[NUMBERS[name]]
            expected["java.lang.String" if name == "System.String" else name] += 1
        counts = dump.counts()
        for name, count in expected.items():
            if name in ARRAYS.values() or name == "java.lang.String":
                self.assertGreaterEqual(counts[name], count, name)
            else:
                self.assertEqual(counts[name], count, name)
        texts = rows(LEAK, "SELECT address, value FROM strings")
        self.assertGreater(len(texts), 1000)
        for address, text in texts:
            got = (
                dump.text(address)
                .encode("utf-16-le", "surrogatepass")
                .decode("utf-16-le", "replace")
            )
            self.assertEqual(got[: len(text)], text[: len(got)])

    def test_core_references(self) -> None:
        """References of objects are those that `refs` has, through the elements of arrays."""
        dump, _ = self.export(LEAK)
        ours: dict[int, set[int]] = {}
        query = 'SELECT "from", "to" FROM refs WHERE "from" % 7 = 1 OR "from" % 11 = 0'
        for source, target in rows(LEAK, query):
            ours.setdefault(source, set()).add(target)
        self.assertGreater(len(ours), 1000)
        wrong = []
        for source, targets in ours.items():
            got = set()
            for to in dump.references(source):
                inside = (
                    source < to
                    and to in dump.instances
                    and "(element)" in dump.name(dump.instances[to][0])
                )
                got |= dump.references(to) if inside else {to}
            if not targets <= got:
                wrong.append((f"{source:x}", targets - got))
        # Edges of dependent handles are not in objects, and the format has none.
        handles = rows(LEAK, "SELECT count(*) FROM handles WHERE kind = 'dependent'")[0][0]
        self.assertLessEqual(len(wrong), handles, wrong[:5])

    def test_core_statics_and_threads(self) -> None:
        """The static of the leak is one of its class; threads have the frames of clrstack."""
        dump, _ = self.export(LEAK)
        feed = [row for row in dump.classes.values() if row.name == "WebShop/PriceFeed"]
        self.assertEqual(len(feed), 1)
        address = rows(LEAK, "SELECT object FROM roots WHERE name = 'WebShop.PriceFeed.Instance'")
        self.assertEqual(feed[0].statics["Instance"], address[0][0])
        methods = [dump.frames[frame] for trace in dump.traces.values() for frame in trace]
        self.assertIn("Main", [name for of, name in methods if of == "WebShop/Program"])

    def write(self, name: str, data: bytes) -> Path:
        """A file of these bytes."""
        path = Path(self.folder.name) / name
        path.write_bytes(data)
        return path

    def test_read(self) -> None:
        """Files with ids of 4 and 8 bytes, of Java and Android, in segments or not, have one graph."""
        expected = {
            "java.lang.Class": (9, None),
            "java.lang.String": (1, 16),
            "char[]": (1, 24),
            "byte[]": (1, 56),
            "shop.Line[]": (1, 24),
            "shop.Line": (2, 48),
            "shop.Empty": (1, 24),
        }
        larger = {
            "java.lang.String": (1, 32),
            "char[]": (1, 32),
            "byte[]": (1, 64),
            "shop.Line[]": (1, 48),
            "shop.Line": (2, 80),
            "shop.Empty": (1, 40),
        }
        for size, version, tag in ((4, "1.0.3", 0x1C), (8, "1.0.2", 0x1C), (4, "1.0.1", 0x0C)):
            path = self.write(f"made{size}{tag}.hprof", sample(size, version).file(tag))
            types = {row["name"]: row for row in answer(path, "types")["types"] if row["count"]}
            for name, (count, bytes_) in (expected | (larger if size == 8 else {})).items():
                self.assertEqual(types[name]["count"], count, name)
                if bytes_:
                    self.assertEqual(types[name]["size"], bytes_, name)
            found = rows(path, 'SELECT "from", "to" FROM refs WHERE "from" >= 256')
            self.assertEqual(
                sorted(map(tuple, found)),
                [
                    (0x100, 0x101),
                    (0x100, 0x103),
                    (0x101, 0x102),
                    (0x103, 0x105),
                    (0x104, 0x100),
                    (0x104, 0x103),
                    (0x106, 0x777),
                ],
            )
            roots = rows(path, "SELECT object, kind, name FROM roots")
            self.assertIn([0x100, "static", "shop.Line.kept"], roots)
            self.assertIn([0x103, "stack", "shop.Line.run"], roots)
            self.assertIn([0x104, "handle", None], [[*row[:2], None] for row in roots])
            self.assertIn([0x101, "finalizer", None], roots)
            self.assertEqual(len(roots), 16)
            live = {row[0]: row[1] for row in rows(path, "SELECT address, live FROM objects")}
            self.assertFalse(live[0x106])
            self.assertTrue(live[0x105])

    def test_read_what_was_written(self) -> None:
        """A file of ours has the objects, references and texts' arrays of the heap."""
        self.export(LEAK)
        path = Path(self.folder.name) / (LEAK.stem + ".hprof")
        ours = {row["address"]: row for row in self.objects(LEAK)}
        again = {row["address"]: row for row in self.objects(path)}
        self.assertEqual(sorted(set(ours) - set(again))[:3], [])
        same = [
            address
            for address, row in ours.items()
            if "[" not in row["type"] and row["type"] != "System.String"
        ]
        self.assertGreater(len(same), 1000)
        wrong = [row for row in same if ours[row]["size"] != again[row]["size"]]
        self.assertEqual(wrong[:3], [])
        dead = [row for row in same if ours[row]["live"] != again[row]["live"]]
        handles = rows(LEAK, "SELECT count(*) FROM handles WHERE kind = 'dependent'")[0][0]
        self.assertLess(len(dead), 40 * (1 + handles))

    def test_bad_files(self) -> None:
        """A cut file is read as far as it goes; a damaged one ends with an error, or with --lenient."""
        whole = sample(8).file()
        path = self.write("cut.hprof", whole[: len(whole) - 60])
        self.assertIn("cut-file", [row["kind"] for row in answer(path, "info")["findings"]])
        bad = Made(8)
        bad.klass(0x10, "java/lang/Object")
        bad.heap += b"\x77"
        path = self.write("bad.hprof", bad.file())
        done = subprocess.run(
            [PROGRAM, str(path), "info"], capture_output=True, text=True, timeout=60, check=False
        )
        self.assertEqual(done.returncode, 3)
        self.assertIn("a record of a heap dump is damaged", done.stderr)
        done = subprocess.run(
            [PROGRAM, "--lenient", str(path), "info"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertIn("bad-record", done.stdout)
        for size in range(20, 200, 7):
            self.write("short.hprof", whole[:size])
            done = subprocess.run(
                [PROGRAM, str(Path(self.folder.name) / "short.hprof"), "info"],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            self.assertIn(done.returncode, (1, 3), done.stderr)


if __name__ == "__main__":
    unittest.main()
