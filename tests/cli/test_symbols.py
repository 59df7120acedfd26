#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lines of source code: which PDBs are found, and which are refused."""
from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from shell_program import SOURCE, Result, run

HANG = str(SOURCE / "corefiles" / "hang.core.zst")
GUID = "a7d5e0b0f2004abbb41148906370d667"
PDB = SOURCE / "corefiles" / "symbols" / "hang.pdb" / (GUID + "FFFFFFFF") / "hang.pdb"
# Shop.Bank.Transfer waits for its second lock there: corefiles/apps/hang/Orders.cs.
LINE = "Orders.cs @ 30]"


class Stores(unittest.TestCase):
    """The same PDB in folders of all kinds."""

    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="heapdump-symbols-")
        self.addCleanup(self.folder.cleanup)
        self.store = Path(self.folder.name)

    def put(self, name: str, data: bytes) -> None:
        path = self.store / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def stack(self) -> Result:
        return run("--no-files", HANG, "clrstack", "-thread", "4", "--symbols", str(self.store))

    def test_the_source_says_that_the_line_is_right(self) -> None:
        source = SOURCE / "corefiles" / "apps" / "hang" / "Orders.cs"
        lines = source.read_text(encoding="utf-8").splitlines()
        self.assertIn("lock (to)", lines[30 - 1])

    def test_stores_with_letters_of_both_cases(self) -> None:
        for key in (GUID + "ffffffff", GUID + "FFFFFFFF", (GUID + "ffffffff").upper()):
            with self.subTest(key), tempfile.TemporaryDirectory() as folder:
                self.store = Path(folder)
                self.put(f"hang.pdb/{key}/hang.pdb", PDB.read_bytes())
                self.assertIn(LINE, self.stack().out)

    def test_a_folder_with_the_files_themselves(self) -> None:
        self.put("hang.pdb", PDB.read_bytes())
        self.assertIn(LINE, self.stack().out)

    def test_an_empty_folder_has_no_lines_and_no_warning(self) -> None:
        done = self.stack()
        self.assertNotIn(" @ ", done.out)
        self.assertEqual(done.err, "")

    def test_another_build_is_refused_with_both_ids(self) -> None:
        data = bytearray(PDB.read_bytes())
        at = data.index(bytes.fromhex("b0e0d5a700f2bb4ab41148906370d667"))
        data[at] ^= 1
        self.put("hang.pdb", bytes(data))
        done = self.stack()
        self.assertNotIn(" @ ", done.out)
        self.assertIn("of another build", done.err)
        self.assertIn(GUID, done.err)
        self.assertIn("a7d5e0b1" + GUID[8:], done.err)

    def test_other_files_are_refused(self) -> None:
        self.put("hang.pdb", b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0" + bytes(512))
        self.assertIn("is not a portable PDB", self.stack().err)
        self.put("hang.pdb", PDB.read_bytes()[:300])
        self.assertIn("no lines of source code", self.stack().err)

    def test_set_symbols_at_the_prompt(self) -> None:
        self.put("hang.pdb", PDB.read_bytes())
        lines = ["clrstack -thread 4", f"set symbols {self.store}", "clrstack -thread 4"]
        words = [word for line in lines for word in ("-c", line)]
        done = run("--no-files", *words, HANG)
        self.assertEqual(done.out.count(LINE), 1)
        refused = run("--symbols", str(self.store / "nowhere"), HANG, "info")
        self.assertIn("symbols must be a folder", refused.err)

    def test_rows_have_file_and_line(self) -> None:
        self.put("hang.pdb", PDB.read_bytes())
        words = ("clrstack", "-thread", "4", "--json", "--symbols", str(self.store))
        frames = run("--no-files", HANG, *words).json()["threads"][0]["frames"]
        found = [(f["file"], f["line"]) for f in frames if "file" in f]
        self.assertIn(("/_/hang/Orders.cs", 30), found)


if __name__ == "__main__":
    unittest.main()
