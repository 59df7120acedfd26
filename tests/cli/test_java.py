#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dumps of a program in Java: what HotSpot itself counts, and what the program holds."""
from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from typing import Any

from shell_program import PROGRAM, SOURCE, TIMEOUT

TOOLS = ("java", "javac", "jmap", "jcmd")
# References of 8 bytes and headers of 16, as the format's sizes have them (doc/formats.md 10.3).
WIDE = ("-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers")
ROW = re.compile(r"^ *\d+: +(\d+) +(\d+)  (\S+)")
ARRAYS = {"B": "byte", "C": "char", "D": "double", "F": "float", "I": "int", "J": "long"} | {
    "S": "short",
    "Z": "boolean",
}


def written(name: str) -> str:
    """The name of a class as in the source: [[J is long[][]."""
    rank = len(name) - len(name.lstrip("["))
    inner = name[rank:]
    if rank:
        inner = inner[1:-1] if inner.startswith("L") else ARRAYS[inner]
    return inner + "[]" * rank


def answer(path: Path, *words: str) -> dict[str, Any]:
    """One command's JSON document."""
    done = subprocess.run(
        [str(PROGRAM), str(path), *words, "--json"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise AssertionError(f"{words}: {done.stderr}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


class JavaTest(unittest.TestCase):
    """Three dumps of one program, and its histogram."""

    first: Path
    second: Path
    by_jcmd: Path
    histogram: dict[str, tuple[int, int]]

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="heapdump-java-")
        cls.addClassCleanup(folder.cleanup)
        place = Path(folder.name)
        cls.first, cls.second, cls.by_jcmd = (
            place / f"{name}.hprof" for name in ("first", "second", "by-jcmd")
        )
        source = SOURCE / "tests" / "cli" / "Held.java"
        subprocess.run(["javac", "-d", place, source], check=True, timeout=TIMEOUT)
        words = ["java", "-Xmx64m", *WIDE, "-cp", *map(str, (place, "Held", cls.first, cls.second))]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout and process.stdin
            try:
                assert process.stdout.readline() == b"ready\n"
                pid = str(process.pid)
                text = subprocess.check_output(["jmap", "-histo:live", pid], text=True)
                subprocess.check_output(["jcmd", pid, "GC.heap_dump", str(cls.by_jcmd)])
            finally:
                process.kill()
        rows = filter(None, map(ROW.match, text.splitlines()))
        cls.histogram = {written(row[3]): (int(row[1]), int(row[2])) for row in rows}

    def types(self, path: Path) -> dict[str, tuple[int, int]]:
        counts: Counter[str] = Counter()
        sizes: Counter[str] = Counter()
        for row in answer(path, "types")["types"]:
            counts[row["name"]] += row["count"]
            sizes[row["name"]] += row["size"]
        return {name: (counts[name], sizes[name]) for name in counts if counts[name]}

    def test_counts_and_sizes_are_those_of_jmap(self) -> None:
        for path in (self.second, self.by_jcmd):
            types = self.types(path)
            for name in ("Held$Session", "Held$Node", "Held$Kind", "Held$Kind[]", "long[][]"):
                self.assertEqual(types[name], self.histogram[name], name)
            # The tools themselves leave a few objects, and HotSpot writes no class that has not been used yet.
            near = [
                name
                for name, (count, _) in self.histogram.items()
                if abs(types.get(name, (0, 0))[0] - count) <= 20 + count // 20
            ]
            self.assertGreater(len(near), len(self.histogram) * 9 // 10)
            self.assertIn("java.lang.String", near)

    def test_who_holds_the_sessions(self) -> None:
        document = answer(self.second, "retained", "Held$Session")
        self.assertEqual(document["of"], 5000)
        # Each session has itself, its name with the text's bytes, and its body.
        self.assertEqual(document["count"], 4 * 5000)
        found = answer(self.second, "gcroot", "-type", "Held$Session")
        self.assertEqual(found["count"], 5000)
        address = answer(
            self.second, "sql", "SELECT min(address) AS x FROM objects WHERE type = 'Held$Session'"
        )["rows"][0]["x"]
        path = answer(self.second, "gcroot", hex(address))["roots"][0]["path"]
        self.assertEqual(
            [row["type"] for row in path][-3:],
            ["java.util.ArrayList", "java.lang.Object[]", "Held$Session"],
        )

    def test_what_retains_most(self) -> None:
        nodes = answer(self.second, "dominators", "-top", "12")["nodes"]
        self.assertIn("java.util.ArrayList", [row["type"] for row in nodes])
        # A chain is read without recursion: its first node holds all others.
        found = answer(self.second, "retained", "Held$Node")
        self.assertEqual((found["of"], found["count"]), (2000, 2000))

    def test_growth_between_two_dumps(self) -> None:
        rows = answer(self.first, "diff", str(self.second), "-limit", "0")["types"]
        by_name = {row["name"]: row for row in rows}
        self.assertEqual(by_name["Held$Session"]["count_before"], 3000)
        self.assertEqual(by_name["Held$Session"]["count_after"], 5000)
        self.assertNotIn("Held$Node", by_name)

    def test_report_and_sql(self) -> None:
        found = [row["title"] for row in answer(self.second, "report")["findings"]]
        self.assertTrue(
            [title for title in found if "Held$Session in java.util.ArrayList" in title]
        )
        query = "SELECT type, count(*) AS n FROM objects GROUP BY type HAVING type LIKE 'Held$S%'"
        self.assertEqual(
            answer(self.second, "sql", query)["rows"], [{"type": "Held$Session", "n": 5000}]
        )


if __name__ == "__main__":
    missing = [name for name in TOOLS if shutil.which(name) is None]
    if missing:
        print("skipped, there is no", ", ".join(missing))
        sys.exit(77)
    unittest.main()
