# SPDX-License-Identifier: MIT
"""Answers as data for Python inside GDB: heapdump_gdb.query()."""
from __future__ import annotations

import os
import re
import shutil
import sys
import unittest

import support
from gdb_batch import run_gdb


class QueryTest(unittest.TestCase):
    folder = ""
    dump = ""

    @classmethod
    def setUpClass(cls) -> None:
        folder = support.temporary_folder()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.dump = support.write_dump(folder.name)

    def queried(self, *lines: str) -> list[str]:
        """The output of lines of Python that know the answers of commands as q()."""
        script = "\n".join(("import gdb", "from heapdump_gdb import query as q") + lines)
        path = os.path.join(self.folder, "query.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script + "\n")
        text = run_gdb("heapdump open " + self.dump, "source " + path)
        return text.partition("see info.\n")[2].splitlines()

    def test_python_has_rows(self) -> None:
        lines = self.queried(
            "rows = q('dumpheap', '-type', 'Dict')",
            "print(next(iter(rows)), rows.members, rows.tables, rows.warnings)",
            "print([row['count'] for row in q('dumpheap', '-stat', table='types')])",
            "print(list(q('dumpheap', '-stat', table='total')))",
            "root = list(q('gcroot', 0x10))[0]",
            "print(root['kind'], root['weak'], root['flags'], [x['address'] for x in root['path']])",
            "print([row['address'] for row in q('gcroot', '10', table='roots.path')])",
            "print(q('dumpobj', '20').members['references'], list(q('dumpobj', '20')))",
            "print(ascii([row['name'] for row in q('types', '-type', 'Bad')]))",
            "print(ascii(q('types', '-type', 'Bad')[0]['name']), q('dumpheap')[-1] == q('dumpheap')[7])",
            "try:\n  q('dumpheap')[8]\nexcept IndexError as e:\n  print(e)",
        )
        row = {"address": 0x20, "mt": 2, "type": "A.Dict<System.String, System.Object>", "size": 36}
        self.assertTrue(lines[0].startswith(repr(row)[:-1]), lines[0])
        self.assertIn("['objects'", lines[0])
        self.assertEqual(sorted(map(int, re.findall(r"\d+", lines[1]))), [1, 1, 1, 1, 1, 1, 2])
        self.assertRegex(lines[2], r"^\[\{'count': 8, 'size': \d+\}\]$")
        self.assertRegex(lines[3], r"^static False \[\] \[32, 16\]$")
        self.assertRegex(lines[4], r"^\[.*32, 16.*\]$")
        self.assertEqual(lines[5], "[16] []")
        self.assertEqual(lines[6], "['Bad.\\udcff']")
        self.assertEqual(lines[7:], ["'Bad.\\udcff' True", "dumpheap has fewer than 9 rows"])

    def test_python_is_told_what_is_wrong(self) -> None:
        asked = ("'dumpobj', '999'", "'nonsense'", "'types', table='typs'", "'dumpobj', 'no such'")
        lines = self.queried(
            *(f"try:\n  q({words})\nexcept gdb.GdbError as e:\n  print(e)" for words in asked)
        )
        self.assertIn("no object 999", lines[0])
        self.assertIn('no command "nonsense"', lines[1])
        self.assertEqual(lines[2], 'types answers with no table "typs"; it has types, total')
        self.assertIn("cannot evaluate 'no such'", lines[3])
        lines = self.queried(
            "gdb.execute('heapdump close', to_string=True)",
            "try:\n  q('types')\nexcept gdb.GdbError as e:\n  print(e)",
        )
        self.assertIn("nothing is open", lines[-1])

    def test_an_answer_stays_when_its_target_goes(self) -> None:
        lines = self.queried(
            "kept = q('dumpheap')",
            "gdb.execute('heapdump close', to_string=True)",
            "print(len(list(kept)), len(list(kept)))",
        )
        self.assertEqual(lines[-1], "8 8")

    def test_python_in_the_read_me(self) -> None:
        text = (support.SOURCE / "gdb-plugin" / "README.md").read_text(encoding="utf-8")
        lines = text[text.index("      (gdb) heapdump open") :].split("\n* ")[0].splitlines()
        commands = [line.split(") ", 1)[1] for line in lines if "(gdb) " in line]
        expected = [line.strip() for line in lines if "(gdb) " not in line]
        self.assertGreater(len(expected), 1)
        said = run_gdb(f"cd {support.SOURCE}", *commands).splitlines()
        self.assertEqual(said[-len(expected) :], expected)


if __name__ == "__main__":
    if shutil.which("gdb") is None:
        print("skipped: no gdb")
        sys.exit(77)
    unittest.main()
