#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`report -against OTHER`: what the program of the two cores says of itself, other kinds of files, and damaged ones."""
from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from shell_program import BAD, BUBBLECS, SOURCE, Base, run

sys.path.insert(0, str(SOURCE / "tests" / "support"))
import attack_heap  # noqa: E402  pylint: disable=wrong-import-position

CORES = SOURCE / "corefiles"
EARLIER = str(CORES / "growth.core.zst")
LATER = str(CORES / "growth_later.core.zst")
LEAK = str(CORES / "leak.core.zst")
MINUTES = 30


def truth(name: str) -> dict[str, int]:
    """The program's own words when the core was made."""
    found = json.loads((CORES / f"{name}.truth.json").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


BEFORE, AFTER = truth("growth"), truth("growth_later")


def compared(now: str, other: str, *words: str) -> dict[str, Any]:
    """The document of a comparison."""
    document = run("--no-files", now, "report", "-against", other, *words, "--json").json()
    assert isinstance(document, dict)
    return document


def states(document: dict[str, Any]) -> dict[str, str]:
    """The change of each holding, by its name."""
    return {row["name"]: row["state"] for row in document["growth_by_holder"]}


class Against(Base):
    """Two heaps."""

    folder: tempfile.TemporaryDirectory[str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def path(self, name: str) -> str:
        """A file of this test."""
        return os.path.join(self.folder.name, name)

    def test_what_the_program_says_of_itself(self) -> None:
        """Counts in both halves; what was put in and taken out; and which old objects are still there."""
        document = compared(LATER, EARLIER, "-minutes", str(MINUTES))
        self.assertEqual(document["against"]["process"], "same")
        self.assertEqual(document["against"]["hours"], MINUTES / 60)
        self.assertTrue(document["against"]["used"])
        rows = {row["name"]: row for row in document["growth_by_holder"]}
        for name, key, state in (
            ("Depot.Store.Parcels", "parcels", "grew"),
            ("Depot.Store.Articles", "articles", "same"),
            ("Depot.Store.routes", "routes", "same"),
            ("Depot.Clock.Ticked", "shelves", "grew"),
        ):
            row = rows[name]
            self.assertEqual(row["count_before"], BEFORE[key], name)
            self.assertEqual(row["count"], AFTER[key], name)
            self.assertEqual(row["state"], state, name)
            hourly = (row["bytes"] - row["bytes_before"]) * 60 / MINUTES
            self.assertAlmostEqual(row["bytes_per_hour"], hourly)
        parcels, routes = rows["Depot.Store.Parcels"], rows["Depot.Store.routes"]
        self.assertEqual(parcels["inserted"], AFTER["parcels"] - BEFORE["parcels"])
        self.assertEqual(parcels["removed"], 0)
        self.assertGreater(parcels["old_found"], 0.9 * parcels["old_sampled"])
        # The program plans 8,000 routes in each half, and the table keeps the last ones.
        self.assertEqual((routes["inserted"], routes["removed"]), (8000, 8000))
        self.assertEqual(routes["old_found"], 0)
        self.assertGreater(routes["old_sampled"], 0)
        self.assertEqual(rows["Depot.Store.Scans"]["state"], "new")
        self.assertEqual(rows["Depot.Store.Scans"]["count"], AFTER["scans"])
        self.assertIsNone(rows["Depot.Store.Scans"]["count_before"])

    def test_by_type_and_by_root(self) -> None:
        """Each live object is counted once by its type, and once by its root."""
        document = compared(LATER, EARLIER)
        types = {row["name"]: row for row in document["growth_by_type"]}
        for name, key in (("Parcel", "parcels"), ("Shelf", "shelves"), ("Scan", "scans")):
            row = types["Depot." + name]
            self.assertEqual((row["count_before"], row["count"]), (BEFORE[key], AFTER[key]))
        self.assertEqual(types["Depot.ImportPage"]["count_before"], BEFORE["import"])
        self.assertEqual(types["Depot.ImportPage"]["count"], AFTER["import"])
        self.assertNotIn("Depot.Article", types)
        roots = {row["name"]: row for row in document["growth_by_root"]}
        self.assertGreaterEqual(
            roots["static Depot.Store.Scans"]["count"], 2 * AFTER["scans"], "with their arrays"
        )
        self.assertEqual(roots["static Depot.Store.Import"]["bytes"], 0)
        live = document["against"]["live"] - document["against"]["live_before"]
        for table in ("growth_by_type", "growth_by_root"):
            grown = sum(row["bytes"] - row["bytes_before"] for row in document[table])
            self.assertEqual(grown, live, table)

    def test_findings_rest_on_it(self) -> None:
        """A holding that grows on is high, one that stopped is low; with one core, nobody knows."""
        findings = {row["subject"]["name"]: row for row in compared(LATER, EARLIER)["findings"]}
        self.assertEqual(findings["Depot.Store.Parcels"]["severity"], "high")
        self.assertEqual(findings["Depot.Store.Parcels"]["growth"]["state"], "grows")
        self.assertEqual(findings["Depot.Store.Articles"]["severity"], "low")
        self.assertNotIn("Depot.Store.routes", findings, "a table that has a limit")
        alone = run("--no-files", LATER, "report", "--json").json()
        self.assertNotIn("against", alone)
        severities = {row["subject"]["name"]: row["severity"] for row in alone["findings"]}
        self.assertEqual(severities["Depot.Store.Parcels"], "medium")

    def test_times_of_files(self) -> None:
        """They are approximate; a copy that has the wrong time is told by what collections count."""
        earlier, later = self.path("a.core.zst"), self.path("b.core.zst")
        shutil.copy(EARLIER, earlier)
        shutil.copy(LATER, later)
        os.utime(earlier, (1_700_000_000, 1_700_000_000))
        os.utime(later, (1_700_000_000 + 5400, 1_700_000_000 + 5400))
        against = compared(later, earlier)["against"]
        self.assertEqual((against["hours"], against["hours_are_approximate"]), (1.5, True))
        against = compared(earlier, later)["against"]
        self.assertTrue(against["other_is_later"])
        self.assertFalse(against["used"])
        os.utime(later, (1_600_000_000, 1_600_000_000))
        document = compared(later, earlier)
        self.assertIsNone(document["against"]["hours"])
        self.assertTrue(document["against"]["used"])
        self.assertTrue(all(row["bytes_per_hour"] is None for row in document["growth_by_holder"]))

    def test_nothing_rests_on_what_cannot_be_compared(self) -> None:
        """The same file by two names, another program, the later one: said, and findings are as without it."""
        link = self.path("link.core.zst")
        os.symlink(LATER, link)
        for now, other, pattern in (
            (LATER, LATER, "same file"),
            (LATER, link, "same file"),
            (LATER, LEAK, "another program"),
            (EARLIER, LATER, "later one"),
        ):
            document = compared(now, other, "-minutes", "5")
            self.assertFalse(document["against"]["used"])
            self.assertIn(pattern, document["against"]["why_not_used"])
            alone = run("--no-files", now, "report", "--json").json()
            for row, expected in zip(document["findings"], alone["findings"], strict=True):
                self.assertEqual(row["id"], expected["id"])
                self.assertEqual(row["severity"], expected["severity"])
                self.assertNotIn("since", row)
            text = run("--no-files", now, "report", "-against", other, "-minutes", "5").out
            self.assertRegex(text, f"No finding rests on this comparison: .*{pattern}")

    def test_dump_files(self) -> None:
        """A .gcdump has counts, but no versions and no generations; a core may be compared with it."""
        paths = {}
        for name, core in (("before", EARLIER), ("after", LATER)):
            paths[name] = self.path(name + ".gcdump")
            self.assertEqual(run("--no-files", core, "export", paths[name]).status, 0)
        for now in (paths["after"], LATER):
            document = compared(now, paths["before"])
            self.assertTrue(document["against"]["used"], now)
            self.assertEqual(document["against"]["process"], "unknown")
            rows = {row["name"]: row for row in document["growth_by_holder"]}
            parcels = rows["Depot.Store.Parcels"]
            self.assertEqual(parcels["count_before"], BEFORE["parcels"])
            self.assertEqual(parcels["count"], AFTER["parcels"])
            self.assertIsNone(parcels["inserted"])
            self.assertIsNone(parcels["old_sampled"])
        self.assertEqual(states(compared(paths["after"], EARLIER))["Depot.Store.Parcels"], "grew")
        document = run(
            BUBBLECS, "report", "-against", str(CORES / "bubblecs.heap"), "--json"
        ).json()
        self.assertIn("same file", document["against"]["why_not_used"])

    def test_files_with_the_answer(self) -> None:
        """-o FILE has it in each format, and a page has its tables."""
        words = ("-minutes", "30", "-against", EARLIER)
        for ending, more in (("txt", ()), ("json", ("--json",)), ("csv", ("--format", "csv"))):
            path = self.path("report." + ending)
            run("--no-files", LATER, "report", *words, "-o", path)
            expected = run("--no-files", LATER, "report", *words, *more).out
            self.assertEqual(Path(path).read_bytes().decode(), expected)
        path = self.path("report.html")
        run("--no-files", LATER, "report", *words, "-o", path)
        page = Path(path).read_text(encoding="utf-8")
        self.assertIn('<a href="#growth">', page)
        section = page.split('<section id="growth"')[1].split("</section>")[0]
        self.assertIn("<bdi>growth.core.zst</bdi> (the same process, 30 minutes earlier)", section)
        self.assertNotIn(self.folder.name, page)
        self.assertNotIn(str(CORES), page)
        holders, roots, types = section.split("<table ")[1:]
        self.assertRegex(
            holders, r'data-v="4000">4,000<.*data-v="7000">7,000<.*Depot.Store.Parcels'
        )
        self.assertIn("<bdi>static Depot.Store.Scans</bdi>", roots)
        self.assertRegex(types, r'data-v="-120">-120 bytes<.*<bdi>Depot.ImportPage</bdi>')
        self.assertIn("<dt>objects in the other heap</dt><dd>4,000</dd>", page)
        run("--no-files", LATER, "report", "-o", path)
        self.assertNotIn("growth-holders", Path(path).read_text(encoding="utf-8"))

    def test_errors(self) -> None:
        """OTHER that cannot be read ends the command, and a file to write stays as it is."""
        kept = self.path("kept.json")
        Path(kept).write_text("before", encoding="utf-8")
        cut = self.path("cut.core.zst")
        Path(cut).write_bytes(Path(EARLIER).read_bytes()[:200_000])
        for pattern, other in (
            ("No such file", self.path("none")),
            ("is a directory", self.folder.name),
            ("line 4, column 8: expected", BAD),
            ("(?i)cut|truncated|zstd|damaged|ends", cut),
        ):
            result = run("--no-files", LEAK, "report", "-against", other, "-o", kept)
            self.check_error(result, 3, pattern)
            self.assertEqual(Path(kept).read_text(encoding="utf-8"), "before")
        self.check_error(run(BUBBLECS, "report", "-minutes", "5"), 2, "-minutes needs -against")
        self.check_error(run(BUBBLECS, "report", "-against"), 2, "needs|missing")

    def test_names_of_the_other_change_nothing(self) -> None:
        """Names of a hostile heap are escaped in text and on the page."""
        attack = self.path("attack.heap")
        Path(attack).write_bytes(attack_heap.make(True))
        large = self.path("large.heap")
        Path(large).write_bytes(attack_heap.make_large())
        for other in (attack, large):
            text = run(BUBBLECS, "report", "-against", other).out
            for character in attack_heap.INVISIBLE:
                self.assertNotIn(character, text)
            self.assertNotRegex(text, r"[\x00-\x09\x0b-\x1f\x7f]")
            path = self.path("attacked.html")
            run(BUBBLECS, "report", "-against", other, "-o", path)
            page = Path(path).read_text(encoding="utf-8")
            self.assertLess(len(page.encode()), 3 << 20)
            section = page.split('<section id="growth"')[1].split("</section>")[0]
            names = set(re.findall(r"<(\w+)", section))
            self.assertLessEqual(
                names, set("h2 p bdi div table caption thead tbody tr th td span".split())
            )
            for character in attack_heap.INVISIBLE:
                self.assertNotIn(character, page)


if __name__ == "__main__":
    unittest.main(verbosity=2)
