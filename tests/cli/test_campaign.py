#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/campaign.sh: it finds a failure that only some seeds have, and its words repeat that failure."""
from __future__ import annotations

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from shell_program import BUILD, SOURCE, TIMEOUT

SCRIPT = str(SOURCE / "scripts" / "campaign.sh")
# One that always passes, one that fails with each seed that 3 divides, and one that no machine can run.
PARTS = """good true
third test $((HEAPDUMP_TEST_SEED % 3)) -ne 0 || { echo "seed $HEAPDUMP_TEST_SEED is bad"; exit 5; }
nowhere exit 77
"""


class Campaign(unittest.TestCase):
    """Campaigns of planted parts."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="heapdump-campaign-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.parts = self.folder / "parts"
        self.parts.write_text(PARTS, encoding="utf-8")

    def run_script(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The script's output."""
        return subprocess.run(
            [SCRIPT, *words], capture_output=True, text=True, check=False, timeout=TIMEOUT
        )

    def campaign(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A campaign of the planted parts."""
        return self.run_script("--build", str(self.folder), "--parts", str(self.parts), *words)

    def test_a_failure_ends_it_and_can_be_repeated(self) -> None:
        done = self.campaign("--seed", "100", "--rounds", "9")
        self.assertEqual((done.returncode, done.stderr), (1, ""), done.stdout)
        # 102 is the first seed that is bad.
        self.assertIn("round 3, seed 102 ", done.stdout)
        self.assertNotIn("round 4", done.stdout)
        self.assertIn("  third: FAILED with status 5", done.stdout)
        self.assertIn("    seed 102 is bad\n", done.stdout)
        self.assertIn("campaign: 5 tests passed, 2 skipped, 1 failed", done.stdout)
        (line,) = re.findall(r"to repeat it: (.*)", done.stdout)
        again = subprocess.run(
            ["sh", "-c", line], capture_output=True, text=True, check=False, timeout=TIMEOUT
        )
        self.assertEqual((again.returncode, again.stdout), (5, "seed 102 is bad\n"))
        (log,) = re.findall(r"all that it said: (.*)", done.stdout)
        self.assertEqual(Path(log).read_text(encoding="utf-8"), "seed 102 is bad\n")
        # A part that passed leaves nothing.
        self.assertEqual(len(list(Path(log).parent.iterdir())), 1)

    def test_it_goes_on_when_told_and_lists_all_failures(self) -> None:
        done = self.campaign("--seed", "0", "--rounds", "7", "--keep-going")
        self.assertEqual(done.returncode, 1)
        self.assertIn("campaign: 11 tests passed, 7 skipped, 3 failed", done.stdout)
        for seed in (0, 3, 6):
            self.assertIn(f"  third with seed {seed}, ", done.stdout)

    def test_nothing_found_is_status_0(self) -> None:
        done = self.campaign("--seed", "1", "--rounds", "2")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("campaign: 4 tests passed, 2 skipped, 0 failed", done.stdout)

    def test_only_the_parts_that_are_named_run(self) -> None:
        done = self.campaign("--seed", "0", "--rounds", "4", "good")
        self.assertEqual(done.returncode, 0)
        self.assertIn("campaign: 4 tests passed, 0 skipped, 0 failed", done.stdout)
        done = self.campaign("--rounds", "1", "bad")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no part bad", done.stderr)

    def test_it_ends_after_its_time(self) -> None:
        done = self.campaign("--minutes", "0", "--seed", "0")
        self.assertEqual(done.returncode, 0)
        self.assertIn("campaign: 0 tests passed, 0 skipped, 0 failed", done.stdout)

    def test_seeds_differ_when_none_is_given(self) -> None:
        seeds = {
            seed
            for _ in range(3)
            for seed in re.findall(r"seed (\d+)", self.campaign("--rounds", "1", "good").stdout)
        }
        self.assertGreater(len(seeds), 1)

    def test_wrong_words_are_refused(self) -> None:
        for words in (["--rounds"], ["--rounds", "x"], ["--seed", "-1"], ["--sometimes"]):
            done = self.run_script(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn("usage: campaign.sh", done.stderr)

    def test_the_list_has_the_tests_that_depend_on_the_seed(self) -> None:
        done = self.run_script("--build", BUILD.as_posix(), "--list")
        self.assertEqual(done.returncode, 0, done.stderr)
        names = {line.split(" ")[0] for line in done.stdout.splitlines()}
        users = {
            "unit." + path.stem.removeprefix("test_")
            for path in (SOURCE / "tests" / "unit").glob("*.c")
            if '#include "support/turns.h"' in path.read_text(encoding="utf-8")
        }
        self.assertTrue(users)
        self.assertLessEqual(users | {"golden.oracle", "churn", "fuzz"}, names)


if __name__ == "__main__":
    unittest.main(verbosity=2)
