#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Characters that nobody sees leave no output as they are; the core and the GDB plug-in have the same list of them."""
from __future__ import annotations

import csv
import io
import sys
import unittest
from pathlib import Path

from shell_program import BUBBLECS, SOURCE, Base, folder, run, temporary

sys.path.insert(0, str(SOURCE / "python"))
# pylint: disable=wrong-import-position
import invisible  # noqa: E402
from heapdump.text import printable  # noqa: E402

# The name of a type that has them all, but a tab and what would end its line in the dump.
ALL = "".join(
    chr(code) for code in sorted(invisible.INVISIBLE) if code and chr(code) not in "\t\n\r"
)
NAME = f"A.Begin{ALL}End"
DUMP = f"""a 2 x{ALL}.exe
t 1 {NAME}
t 2 B.Plain
o 10 2 18 20
o 20 1 18 30
o 30 2 18
r 10 4 0 1
c x{ALL}.exe
"""
COMMANDS = (
    ("types",),
    ("types", "-type", "Begin"),
    ("types", "-type", "no" + ALL),
    ("info",),
    ("dumpheap",),
    ("dumpheap", "-stat"),
    ("dumpobj", "20"),
    ("gcroot", "20"),
    ("gcroot", "30"),
    ("gcroot", "-type", "Begin"),
    ("pathto", "10", "30"),
    ("referrers", "30"),
    ("retained", "10"),
    ("dominators",),
    ("objsize", "10", "-stat"),
    ("roots",),
    ("report",),
    ("diff", BUBBLECS),
    ("sql", "SELECT type FROM objects"),
    ("sql", f'SELECT 1 AS "a{ALL[:5]}{ALL[40:60]}"'),
)
EXPORTS = ("heap", "folded", "speedscope.json", "heapsnapshot")
REPORTS = ("html", "txt", "json", "csv")


def pile() -> str:
    """A heap that a report has findings of: 3,000 objects of a type with some of the characters."""
    some = ALL[:3] + ALL[70:][::100]
    lines = ["a 2 pile.exe", f"t 1 A.Begin{some}End", f"t 2 B.Holder{some}"]
    members = range(0x20, 0x20 + 3000)
    lines.append("o 10 2 18 " + " ".join(f"{member:x}" for member in members))
    lines.extend(f"o {member:x} 1 1000" for member in members)
    return "\n".join(lines + ["r 10 4 0 2", "c pile.exe"]) + "\n"


def escape(code: int) -> str:
    return f"\\u{code:04x}" if code < 0x10000 else f"\\u{{{code:x}}}"


class Invisible(Base):
    """One list, and all outputs."""

    dump = ""

    @classmethod
    def setUpClass(cls) -> None:
        cls.dump = temporary("invisible.heap", DUMP.encode())

    def check(self, text: str, *allowed: str) -> None:
        self.assertEqual(invisible.left_in(text, "\n", *allowed), [])

    def test_the_list_is_that_of_unicode(self) -> None:
        """Each character, as the core writes it and as the GDB plug-in writes it."""
        query = (
            "WITH RECURSIVE n(c) AS (SELECT 1 UNION ALL SELECT c + 1 FROM n WHERE c < 1114111) "
            "SELECT c, 'x' || char(c) AS t FROM n WHERE c NOT BETWEEN 55296 AND 57343"
        )
        answer = run(BUBBLECS, "sql", "-limit", "0", query, "--format", "csv")
        self.assertEqual((answer.err, answer.status), ("", 0))
        count = 0
        for row in csv.DictReader(io.StringIO(answer.out, newline="")):
            code = int(row["c"])
            # The end of a line is in a field of CSV as it is.
            hidden = code in invisible.INVISIBLE and code != 10
            shown = escape(code) if hidden else chr(code)
            self.assertEqual(row["t"], "x" + shown, hex(code))
            self.assertEqual(printable(chr(code)), "\\u000a" if code == 10 else shown, hex(code))
            count += 1
        self.assertEqual(count, 0x10FFFF - 0x800)

    def test_no_answer_has_them(self) -> None:
        for command in COMMANDS:
            for form in ("text", "json", "ndjson", "csv"):
                with self.subTest(command=command, form=form):
                    answer = run(self.dump, *command, "--format", form)
                    self.check(answer.out, *("\r" if form == "csv" else ""))
                    self.check(answer.err)

    def test_no_message_has_them(self) -> None:
        for words in (
            (self.dump, "gcroot", "-type", "no" + ALL),
            (self.dump, "dumpheap", f"-no{ALL[:40]}"),
            (self.dump, "dumpheap", "-mt", ALL),
            (self.dump, f"no{ALL}"),
            (self.dump, "sql", f"SELECT {ALL}"),
            (self.dump, "sql", f'SELECT "{ALL[40:]}" FROM nothing'),
            (self.dump, "set", "width", ALL),
            (self.dump, "export", f"/nowhere/{ALL}"),
            (f"/nowhere/{ALL}", "info"),
            (self.dump, "diff", f"/nowhere/{ALL}"),
            (f"--no{ALL}", self.dump),
        ):
            with self.subTest(words=words[1][:20]):
                answer = run(*words)
                self.assertNotEqual(answer.status, 0)
                self.check(answer.out + answer.err)

    def test_no_file_has_them(self) -> None:
        for ending in EXPORTS + REPORTS:
            with self.subTest(ending=ending):
                path = Path(folder.name) / f"written.{ending}"
                words = ("export", str(path)) if ending in EXPORTS else ("report", "-o", str(path))
                dump = self.dump if ending in EXPORTS else temporary("pile.heap", pile().encode())
                answer = run(dump, *words)
                self.assertEqual(answer.err, "")
                with path.open(encoding="utf-8", newline="") as file:
                    text = file.read()
                self.assertIn("Begin\\u0001\\u0002", text)
                # The page's own script and style are indented.
                self.check(text, *("\r" if ending == "csv" else "\t" if ending == "html" else ""))

    def test_the_text_log_gives_the_name_back(self) -> None:
        path = str(Path(folder.name) / "copy.heap")
        run(self.dump, "export", path)
        document = run(path, "types", "--json").json()
        self.assertIn(NAME, [row["name"] for row in document["types"]])


if __name__ == "__main__":
    unittest.main()
