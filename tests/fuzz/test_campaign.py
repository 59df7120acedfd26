#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The scripts of a fuzz campaign, without a campaign; and what each target has to have."""
from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = HERE.parent.parent / "scripts"
sys.path.insert(0, str(SCRIPTS))

import fuzz_campaign  # noqa: E402  # pylint: disable=wrong-import-position

TARGETS = sorted(path.stem[len("fuzz_") :] for path in HERE.glob("fuzz_*.c"))


class Targets(unittest.TestCase):
    """Every fuzz target of the folder."""

    def test_each_says_what_it_is_for(self) -> None:
        self.assertEqual(fuzz_campaign.unnamed(TARGETS), [])

    def test_each_has_inputs_and_not_too_many(self) -> None:
        for target in TARGETS:
            sizes = [path.stat().st_size for path in (HERE / "corpus" / target).iterdir()]
            self.assertTrue(sizes, target)
            self.assertLess(sum(sizes), 400_000, target)

    def test_no_inputs_without_a_target(self) -> None:
        folders = sorted(path.name for path in (HERE / "corpus").iterdir())
        self.assertEqual(folders, TARGETS)


class Table(unittest.TestCase):
    """The table that is written of a campaign."""

    ROWS = {
        "core/src/targets/unpack.c": (8, 10, 3, 4),
        "core/src/targets/process/proc.c": (1, 10, 1, 4),
        "core/src/other/unpack.c": (0, 90, 0, 90),
    }

    def test_the_share_is_that_of_what_a_target_is_for(self) -> None:
        self.assertEqual(fuzz_campaign.share(self.ROWS, ["core/src/targets"]), "45 % | 50 %")
        self.assertEqual(
            fuzz_campaign.share(self.ROWS, ["core/src/targets/unpack.c"]), "80 % | 75 %"
        )
        self.assertEqual(fuzz_campaign.share(self.ROWS, ["core/src/targ"]), "- | -")

    def test_files_that_are_hardly_reached_are_listed(self) -> None:
        rows = fuzz_campaign.uncovered({"unpack": self.ROWS})
        self.assertIn("| core/src/targets/process/proc.c | 10 % (unpack) |", rows)
        self.assertIn("| core/src/targets/debugger.c | none |", rows)
        self.assertFalse([row for row in rows if "unpack.c" in row])

    def test_what_was_found_is_named(self) -> None:
        outcome = fuzz_campaign.Outcome("unpack", 5000, 10, 3, ["fuzz_unpack-crash-12"])
        text = fuzz_campaign.table([outcome], {"unpack": self.ROWS}, "2")
        self.assertIn(
            "| unpack | 5,000 | 500 | 3 | 80 % | 75 % | fuzz_unpack-crash-12 |", text.split("\n")
        )

    def test_the_text_around_it_stays(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "table.md"
            begin, end = fuzz_campaign.BEGIN, fuzz_campaign.END
            file.write_text(f"before\n{begin}\nold\n{end}\nafter\n")
            fuzz_campaign.write_table(file, "new")
            self.assertEqual(file.read_text(), f"before\n{begin}\nnew\n{end}\nafter\n")
            file.write_text("no place")
            with self.assertRaises(SystemExit):
                fuzz_campaign.write_table(file, "new")


class Script(unittest.TestCase):
    """scripts/fuzz.sh and its words."""

    def test_wrong_words_are_refused_before_anything_is_built(self) -> None:
        for words in (["-campaign"], ["-campaign", "soon"], ["many"], ["1", "no_such"], ["-x"]):
            done = subprocess.run(
                [str(SCRIPTS / "fuzz.sh"), *words], capture_output=True, check=False
            )
            self.assertEqual((done.returncode, done.stdout), (2, b""), words)


if __name__ == "__main__":
    unittest.main()
