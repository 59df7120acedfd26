#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The scripts of a fuzz campaign, without a campaign; and what each target has to have."""
from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

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


class Commands(unittest.TestCase):
    """Every command is tried: on a damaged core, and with damaged words."""

    # These are about no core.
    OTHER = {"collect", "ps", "doctor", "open", "close", "set", "help"}
    TABLE = HERE.parent.parent / "core" / "src" / "command" / "table.h"

    def names(self) -> set[str]:
        """All commands, as the table has them."""
        return set(re.findall(r"\bX\((\w+)\)", self.TABLE.read_text()))

    def test_the_table_is_understood(self) -> None:
        self.assertGreater(len(self.names()), 80)
        self.assertEqual(self.OTHER - self.names(), set())

    def test_each_is_tried_on_a_damaged_core(self) -> None:
        lines = re.findall(r'^\t"(\w+)', (HERE / "fuzz_whole_core.c").read_text(), re.MULTILINE)
        self.assertEqual(self.names() - self.OTHER - set(lines), set())

    def test_each_is_tried_with_words(self) -> None:
        texts = (path.read_bytes() for path in (HERE / "corpus" / "command").iterdir())
        words = {text.split(b" ")[0].strip().lower().decode("latin-1") for text in texts}
        self.assertEqual(self.names() - words, set())


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
        outcome.seed, outcome.made = 7, "2026-01-31, abc"
        text = fuzz_campaign.table([outcome], {"unpack": self.ROWS}, "2")
        row = "| unpack | 5,000 | 500 | 7 | 3 | 80 % | 75 % | fuzz_unpack-crash-12 | 2026-01-31, abc |"
        self.assertIn(row, text.split("\n"))

    def test_of_much_that_was_found_some_is_named(self) -> None:
        outcome = fuzz_campaign.Outcome("unpack", 1, 1, 0, ["a", "b", "c"])
        text = fuzz_campaign.table([outcome], {"unpack": self.ROWS}, "2")
        self.assertIn("| 3: a, b, ... |", text)

    def test_what_was_run_before_keeps_its_row(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with unittest.mock.patch.object(fuzz_campaign, "OUTCOMES", pathlib.Path(folder)):
                for target, runs in (("unpack", 1), ("words", 2), ("no_such", 3), ("unpack", 4)):
                    fuzz_campaign.remember(fuzz_campaign.Outcome(target, runs, seed=5))
                known = fuzz_campaign.remembered()
        self.assertEqual([(one.target, one.runs) for one in known], [("unpack", 4), ("words", 2)])
        self.assertRegex(known[0].made, r"^\d{4}-\d\d-\d\d, [0-9a-f]+$")

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

    WRONG = (["-campaign", "1", "-jobs", "0"], ["-campaign", "1", "-seed"], ["-seed", "1"])

    def test_wrong_words_are_refused_before_anything_is_built(self) -> None:
        for words in (
            ["-campaign"],
            ["-campaign", "soon"],
            ["many"],
            ["1", "no_such"],
            ["-x"],
            *self.WRONG,
        ):
            done = subprocess.run(
                [str(SCRIPTS / "fuzz.sh"), *words], capture_output=True, check=False
            )
            self.assertEqual((done.returncode, done.stdout), (2, b""), words)


if __name__ == "__main__":
    unittest.main()
