# SPDX-License-Identifier: MIT
"""The heap of GDB for Python inside GDB: heapdump.current()."""
from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import unittest

import support
from gdb_batch import run_gdb

LEAK = support.SOURCE / "corefiles" / "leak.core.zst"
FEED = "h.statics['WebShop.PriceFeed.Instance']"


class PythonTest(unittest.TestCase):
    """The objects are those that a Python without GDB has (tests/python)."""

    folder = ""
    core = ""

    @classmethod
    def setUpClass(cls) -> None:
        folder = support.temporary_folder()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name

    def python(self, *lines: str, opened: str | None = f"heapdump open {LEAK}") -> list[str]:
        """The output of lines of Python, in a GDB that has the heap as h."""
        script = "\n".join(("import gdb", "import heapdump", "h = heapdump.current()") + lines)
        path = os.path.join(self.folder, "script.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write("print('<<')\n" + script + "\n")
        text = run_gdb(*([opened] if opened else []), "source " + path)
        return text.partition("<<\n")[2].splitlines()

    def test_objects_and_commands(self) -> None:
        lines = self.python(
            f"print({FEED}.Changed._invocationList[0]._target.Token)",
            f"session = {FEED}.Changed._invocationList[0]._target",
            "print(session, session.Started.text_, len(session.Cart), session.Cart[0].Quantity)",
            "print(h.object(0), h.gcroot(session)[0]['name'])",
            "print(sum(1 for row in h.sql.stream('SELECT * FROM refs', limit=0)))",
            "print([row['type'] for row in h.stream('gcroot', session, table='roots.path')][-1])",
            "print(h.sql('SELECT count(*) AS n FROM objects').to_dict())",
            "print(h.sql.columns('SELECT type, size FROM objects LIMIT 2').to_dict())",
            "print(h.gcroot(session).to_dict('roots.path')['parent_row'][:3])",
            "print(h, h.is_live)",
        )
        self.assertEqual(lines[0], "session-000000")
        self.assertRegex(lines[1], r"^<WebShop.Session at 0x[0-9a-f]+> 2024-01-01T\S+ \d+ \d+$")
        self.assertEqual(lines[2], "None WebShop.PriceFeed.Instance")
        self.assertEqual(lines[3:6], ["100813", "WebShop.Session", "{'n': [72861]}"])
        self.assertRegex(lines[6], r"^\{'type': \['.+', '.+'\], 'size': \[\d+, \d+\]\}$")
        self.assertEqual(lines[7], "[0, 0, 0]")
        self.assertEqual(lines[8], f"<heap of {LEAK}> False")

    def test_null_missing_and_unreadable(self) -> None:
        lines = self.python(
            "def name(ask):",
            "  try:",
            "    return repr(ask())",
            "  except Exception as error:",
            "    return type(error).__name__",
            f"feed = {FEED}",
            "asks = [lambda: feed.Nosuch, lambda: feed['Nosuch'], lambda: h.statics['No.Such'],",
            "        lambda: h.object(5), lambda: h.gcroot(nosuch=1), lambda: h.nosuch,",
            "        lambda: feed.Changed._invocationList[1 << 40], lambda: h.object(0)]",
            "print([name(ask) for ask in asks])",
            "try:",
            "  h.sql('SELECT 1').__arrow_c_stream__()",
            "except heapdump.HeapdumpError as error:",
            "  print(repr(error.status))",
        )
        self.assertEqual(
            lines[0],
            "['AttributeError', 'KeyError', 'KeyError', 'HeapdumpError', 'TypeError',"
            " 'AttributeError', 'IndexError', 'None']",
        )
        self.assertEqual(lines[1], "<Status.UNSUPPORTED: 5>")

    @unittest.skipIf(importlib.util.find_spec("pandas") is None, "there is no pandas")
    def test_frames(self) -> None:
        lines = self.python(
            "frame = h.sql.columns('SELECT type, size FROM objects', limit=0).to_pandas()",
            "print(list(frame.groupby('type')['size'].sum().nlargest(1).items()))",
        )
        self.assertEqual(lines, ["[('System.String', 2454356)]"])

    def test_the_core_of_gdb_itself(self) -> None:
        if shutil.which("zstd") is None:
            self.skipTest("no zstd")
        core = os.path.join(self.folder, "leak.core")
        if os.system(f"zstd -q -d -f '{LEAK}' -o '{core}'") != 0:
            self.skipTest("zstd failed")
        lines = self.python(
            f"print({FEED}.Changed._invocationList[0]._target.Token, h.is_live)",
            "print(h.target == gdb.selected_inferior().pid or h.target)",
            "print(h.dumpheap(stat=True, type='WebShop.Session')[-1]['count'])",
            opened=f"core-file {core}",
        )
        self.assertEqual(lines[-3].split()[0], "session-000000", lines)
        self.assertEqual(lines[-1], "4000")

    def test_without_a_heap_it_says_so(self) -> None:
        lines = self.python(
            "try:",
            "  h.info()",
            "except heapdump.HeapdumpError as error:",
            "  print(error.status != 0, error)",
            opened=None,
        )
        self.assertRegex(lines[-1], "^True .*nothing is open|no ")


if __name__ == "__main__":
    if shutil.which("gdb") is None:
        print("skipped: no gdb")
        sys.exit(77)
    unittest.main()
