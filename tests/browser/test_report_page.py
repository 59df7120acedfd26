#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of `report -o FILE.html` in Chromium: every link, sort, search, unfolding and key; and a heap of attacks.

Skipped without Chromium and ChromeDriver. HEAPDUMP_AXE=axe.min.js (npm's axe-core) checks its accessibility, too.
"""
from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
sys.path[:0] = [str(SOURCE / "tests" / "support"), str(SOURCE / "tests" / "browser")]
# pylint: disable=wrong-import-position
import attack_heap  # noqa: E402
import webdriver  # noqa: E402

COREFILES = SOURCE / "corefiles"
AXE = os.environ.get("HEAPDUMP_AXE")
ENTER, ESCAPE, UP, DOWN, RIGHT, LEFT, TAB = (
    "\ue007",
    "\ue00c",
    "\ue013",
    "\ue015",
    "\ue014",
    "\ue012",
    "\ue004",
)
SKIPPED = 77

# The values of a column of a table, as they are shown from top to bottom.
COLUMN = """
    const [id, column] = arguments;
    const table = document.getElementById(id);
    const head = table.tHead.rows[0].cells[column];
    return {sort: head.getAttribute('aria-sort'), isNumber: head.classList.contains('n'),
        values: [...table.tBodies[0].rows].map(row => {
            const cell = row.cells[column];
            return head.classList.contains('n') ? parseFloat(cell.dataset.v ?? cell.textContent) : cell.textContent;
        })};
"""
SHOWN_ROWS = """
    return [...document.getElementById(arguments[0]).tBodies[0].rows]
        .filter(row => row.offsetParent !== null).map(row => row.textContent);
"""
COUNT_ELEMENTS = """
    const counts = {};
    for (const element of document.querySelectorAll('*'))
        counts[element.localName] = (counts[element.localName] ?? 0) + 1;
    return counts;
"""
ATTRIBUTES = """
    return [...document.querySelectorAll('*')].flatMap(element => [...element.attributes].map(one => one.name))
        .filter(name => name.startsWith('on') || name === 'style' || name === 'src');
"""


def numbers_or_texts(values: list[Any]) -> list[Any]:
    """An empty cell of numbers is less than all others."""
    return [float("-inf") if value is None else value for value in values]


class ReportPageTest(unittest.TestCase):
    """One browser for all tests."""

    browser: webdriver.Browser
    folder: tempfile.TemporaryDirectory[str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        cls.addClassCleanup(cls.folder.cleanup)
        dumps = {name: COREFILES / f"{name}.core.zst" for name in ("leak", "hang")}
        for name in ("plain", "attack"):
            dumps[name] = Path(cls.folder.name) / f"{name}.heap"
            dumps[name].write_bytes(attack_heap.make(name == "attack"))
        dumps["grown"] = COREFILES / "growth_later.core.zst"
        dumps["attack_grown"] = dumps["attack"]
        others = {"grown": COREFILES / "growth.core.zst", "attack_grown": dumps["plain"]}
        for name, dump in dumps.items():
            words: list[str | Path] = [BUILD / "heapdump", "--no-files", dump, "report"]
            if name in others:
                words += ["-against", others[name]]
            words += ["-o", cls.path(name)]
            status = subprocess.run(words, stdout=subprocess.DEVNULL, check=False).returncode
            assert status in (0, 1), status
        cls.browser = webdriver.Browser()
        cls.addClassCleanup(cls.browser.close)

    @classmethod
    def path(cls, name: str) -> Path:
        """Where the page of a dump is."""
        return Path(cls.folder.name) / f"{name}.html"

    def setUp(self) -> None:
        self.show("leak")

    def tearDown(self) -> None:
        severe = [entry for entry in self.browser.log() if entry["level"] == "SEVERE"]
        self.assertEqual(severe, [])

    def show(self, name: str, part: str = "", width: int = 1280) -> None:
        """Open a page anew."""
        self.browser.resize(width, 900)
        self.browser.open("about:blank")
        self.browser.open(self.path(name).as_uri() + part)

    def tables(self) -> list[str]:
        """The ids of all tables."""
        ids: list[str] = self.browser.run(
            "return [...document.querySelectorAll('table.data')].map(table => table.id)"
        )
        return ids

    def unfold(self) -> None:
        """Open all that is folded, so that it can be clicked."""
        self.browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")

    def test_every_link_leads_to_its_part(self) -> None:
        """And the part is at the top of the window then, below the list of links."""
        for name in ("leak", "grown"):
            self.show(name)
            links = self.browser.find("nav a")
            self.assertGreaterEqual(len(links), 8)
            for link in links:
                self.browser.click(link)
                top, height, below, bar = self.browser.run(
                    """
                    const part = document.querySelector(location.hash).getBoundingClientRect();
                    return [part.top, innerHeight, document.body.scrollHeight - scrollY - innerHeight,
                        document.querySelector('nav').getBoundingClientRect().bottom];
                    """
                )
                self.assertTrue(bar <= top < 120 or (below < 2 and top < height), (top, below, bar))
        self.assertTrue(self.browser.find("nav a[href='#growth']"))

    def test_every_column_sorts_both_ways(self) -> None:
        """Numbers as numbers, largest first; a second click turns the order."""
        self.unfold()
        self.assertGreaterEqual(len(self.tables()), 7)
        self.sort_all(self.tables())
        marked = self.browser.run(
            "return document.querySelectorAll('#types-table [aria-sort]').length"
        )
        self.assertEqual(marked, 1)
        self.show("grown")
        self.sort_all(["growth-holders", "growth-roots", "growth-types"])

    def sort_all(self, tables: list[str]) -> None:
        """Click each heading of the tables twice."""
        for table in tables:
            buttons = self.browser.find(f"#{table} th button")
            self.assertGreater(len(buttons), 1)
            for column, button in enumerate(buttons):
                if table == "map-table" and column == 3:
                    continue  # the pictures
                self.browser.click(button)
                first = self.browser.run(COLUMN, table, column)
                self.assertEqual(
                    first["sort"], "descending" if first["isNumber"] else "ascending", table
                )
                values = numbers_or_texts(first["values"])
                self.assertEqual(values, sorted(values, reverse=first["isNumber"]))
                self.browser.click(button)
                values = numbers_or_texts(self.browser.run(COLUMN, table, column)["values"])
                self.assertEqual(values, sorted(values, reverse=not first["isNumber"]))

    def test_every_search_finds_rows(self) -> None:
        """Only rows with all the words are left; without words all are back."""
        self.unfold()
        inputs = [table for table in self.tables() if self.browser.find(f"#{table}-search")]
        self.assertGreaterEqual(len(inputs), 4)
        self.search_all(inputs)
        self.show("grown")
        self.search_all(["growth-roots", "growth-types"])

    def search_all(self, tables: list[str]) -> None:
        """Search each table for a word of one of its rows, and for one that is not there."""
        for table in tables:
            field = self.browser.find(f"#{table}-search")[0]
            before = self.browser.run(SHOWN_ROWS, table)
            word = before[len(before) // 2].strip()[-6:].split()[-1]
            self.browser.type(field, word.upper())
            shown = self.browser.run(SHOWN_ROWS, table)
            self.assertEqual(shown, [row for row in before if word.lower() in row.lower()])
            self.assertTrue(shown)
            self.browser.type(field, " nosuchword")
            self.assertEqual(self.browser.run(SHOWN_ROWS, table), [])
            self.browser.run(
                "arguments[0].value = ''; arguments[0].dispatchEvent(new Event('input'))", field
            )
            self.assertEqual(self.browser.run(SHOWN_ROWS, table), before)

    def test_every_fold_opens_and_closes(self) -> None:
        """By a click, all of the findings at once, and for paper."""
        for name in ("leak", "hang", "grown"):
            self.show(name)
            for summary in self.browser.find("summary"):
                was = self.browser.run("return arguments[0].parentNode.open", summary)
                self.browser.click(summary)
                self.assertNotEqual(
                    self.browser.run("return arguments[0].parentNode.open", summary), was
                )
        self.show("leak")
        state = "return [...document.querySelectorAll('#findings details')].map(one => one.open)"
        button = self.browser.find("#findings > .tools button")[0]
        self.browser.click(button)
        self.assertEqual(set(self.browser.run(state)), {True})
        self.browser.click(button)
        self.assertEqual(set(self.browser.run(state)), {False})
        self.browser.run("window.dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(set(self.browser.run(state)), {True})

    def test_printed_heads(self) -> None:
        """On paper nothing can be sorted, and heads of columns are not wider than what is in them."""
        mark = """
            return [...document.querySelectorAll('th button')].map(button =>
                getComputedStyle(button, '::after').content !== 'none');
        """
        widest = """
            return Math.max(...[...document.querySelectorAll('table.data')].map(table => table.scrollWidth)) - innerWidth;
        """
        self.show("grown", "#dark", 794)
        self.assertEqual(set(self.browser.run(mark)), {True})
        try:
            self.browser.devtools("Emulation.setEmulatedMedia", media="print")
            self.assertEqual(set(self.browser.run(mark)), {False})
            self.assertLessEqual(self.browser.run(widest), 0)
        finally:
            self.browser.devtools("Emulation.setEmulatedMedia", media="")

    def boxes(self, chart: str) -> list[list[Any]]:
        """Name, left and width of the rectangles that are shown."""
        boxes: list[list[Any]] = self.browser.run(
            """
            return [...document.querySelectorAll(`#${arguments[0]} .box`)].filter(box => !box.hasAttribute('hidden'))
                .map(box => [box.querySelector('title').textContent, parseFloat(box.getAttribute('x')),
                    parseFloat(box.getAttribute('width'))]);
            """,
            chart,
        )
        return boxes

    def focused(self) -> str:
        """The label of what has the focus."""
        label: str = self.browser.run("return document.activeElement.getAttribute('aria-label')")
        return label

    def test_flame_graphs_zoom(self) -> None:
        """A click widens a part and what is above it; the button and Escape show everything again."""
        for chart in ("flame-types", "flame-roots"):
            before = self.boxes(chart)
            self.assertEqual(before[0][1:], [0, 100])
            found = self.browser.find(f"#{chart} .box")
            wanted = next(i for i, box in enumerate(before) if "WebShop.PriceFeed" in box[0])
            self.browser.click(found[wanted])
            after = {name: (x, width) for name, x, width in self.boxes(chart)}
            x, width = after[before[wanted][0]]
            self.assertAlmostEqual(x, 0, delta=0.01)
            self.assertAlmostEqual(width, 100, delta=0.01)
            self.assertIn(before[0][0], after)
            self.assertLess(len(after), len(before))
            self.browser.press(ESCAPE)
            self.assertEqual(len(self.boxes(chart)), len(before))
            self.browser.click(found[wanted])
            whole = self.browser.find(f"div:has(+ .chart #{chart}) button")[0]
            self.browser.click(whole)
            for one, other in zip(self.boxes(chart), before):
                self.assertAlmostEqual(one[2], other[2], delta=0.01)

    def test_flame_graphs_have_keys(self) -> None:
        """Arrows go to what lies below, above and beside; Enter zooms."""
        self.browser.run("document.querySelector('#flame-roots .box').focus()")
        seen = [self.focused()]
        for key in (DOWN, DOWN, RIGHT, LEFT, DOWN, UP):
            self.browser.press(key)
            seen.append(self.focused())
        self.assertTrue(seen[0].startswith("everything alive"))
        self.assertTrue(seen[1].startswith("(Static variables)"))
        self.assertTrue(seen[2].startswith("WebShop.PageCache.pages"))
        self.assertTrue(seen[3].startswith("WebShop.PriceFeed.Instance"))
        self.assertEqual(seen[4], seen[2])
        self.assertTrue(seen[5].startswith("System.Collections.Generic.Dictionary"))
        self.assertEqual(seen[6], seen[2])
        self.browser.press(ENTER)
        self.assertNotIn(seen[3], [box[0] for box in self.boxes("flame-roots")])
        self.browser.press(ESCAPE)
        self.assertIn(seen[3], [box[0] for box in self.boxes("flame-roots")])
        tabs = self.browser.run(
            "return document.querySelectorAll('#flame-roots [tabindex=\"0\"]').length"
        )
        self.assertEqual(tabs, 1)

    def test_charts_can_be_searched(self) -> None:
        """Parts with the name are marked, and counted."""
        for chart in ("flame-types", "flame-roots", "squares"):
            field = self.browser.find(f"#{chart}-search")[0]
            self.browser.type(field, "webshop.page")
            marked = self.browser.run(
                """return [...document.querySelectorAll(`#${arguments[0]} .match title`)]
                .map(one => one.textContent)""",
                chart,
            )
            names = [name for name, _, _ in self.boxes(chart)]
            self.assertTrue(marked)
            self.assertEqual(marked, [name for name in names if "webshop.page" in name.lower()])

    def test_colours_change_and_stay(self) -> None:
        """Auto, light, dark; the address keeps it."""
        back = "return getComputedStyle(document.body).backgroundColor"
        button = self.browser.find("nav button")[0]
        light = self.browser.run(back)
        self.browser.click(button)
        self.assertEqual(self.browser.run("return location.hash"), "#light")
        self.browser.click(button)
        self.assertEqual(self.browser.run("return location.hash"), "#dark")
        dark = self.browser.run(back)
        self.assertNotEqual(light, dark)
        self.show("leak", "#dark")
        self.assertEqual(self.browser.run(back), dark)
        self.show("leak")
        features = [{"name": "prefers-color-scheme", "value": "dark"}]
        self.browser.devtools("Emulation.setEmulatedMedia", features=features)
        self.assertEqual(self.browser.run(back), dark)
        self.browser.devtools("Emulation.setEmulatedMedia", features=[])

    def test_narrow_windows_do_not_scroll_sideways(self) -> None:
        """Down to 320 pixels; tables scroll by themselves."""
        for name in ("leak", "hang", "attack"):
            for width in (320, 390, 768):
                self.show(name, width=width)
                self.unfold()
                wide = self.browser.run("return document.documentElement.scrollWidth")
                self.assertLessEqual(wide, width, name)

    def test_nothing_is_loaded_and_no_other_script_runs(self) -> None:
        """The policy is in force: a script that somebody puts in does not run."""
        self.assertEqual(
            self.browser.run("return performance.getEntriesByType('resource').length"), 0
        )
        self.browser.run(
            """
            const script = document.createElement('script');
            script.textContent = 'window.hacked = 1';
            document.body.appendChild(script);
            const button = document.createElement('p');
            button.setAttribute('onclick', 'window.hacked = 1');
            document.body.appendChild(button);
            button.click();
            """
        )
        self.assertIsNone(self.browser.run("return window.hacked"))
        refused = [entry for entry in self.browser.log() if "Content Security" in entry["message"]]
        self.assertGreaterEqual(len(refused), 2)

    def test_attacks_leave_no_mark(self) -> None:
        """The same elements as with plain names, no attribute that runs, no sign that something ran."""
        counts = {}
        for name in ("plain", "attack"):
            self.show(name)
            self.unfold()
            counts[name] = self.browser.run(COUNT_ELEMENTS)
            self.assertEqual(self.browser.run(ATTRIBUTES), [])
        self.assertEqual(counts["attack"], counts["plain"])
        self.show("attack_grown")
        self.unfold()
        self.assertEqual(self.browser.run(ATTRIBUTES), [])
        growth = self.browser.run("return document.getElementById('growth').textContent")
        self.assertIn(attack_heap.SHOWN[0], growth)
        self.assertIsNone(self.browser.run("return window.hacked"))
        self.show("attack")
        self.unfold()
        text = self.browser.run("return document.body.textContent")
        for shown in attack_heap.SHOWN:
            self.assertIn(shown, text)
        for field in self.browser.find("input"):
            self.browser.type(field, "<script>")
        self.assertIsNone(self.browser.run("return window.hacked"))
        self.assertEqual(self.browser.run("return document.title"), "Heap report: attack.heap")

    def test_it_can_be_read_without_scripts(self) -> None:
        """Tables and charts are there, and no control that does nothing."""
        self.browser.open("about:blank")
        self.browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
        try:
            self.browser.open(self.path("leak").as_uri())
            root = self.browser.devtools("DOM.getDocument")["root"]["nodeId"]
            text = self.browser.devtools("DOM.getOuterHTML", nodeId=root)["outerHTML"]
        finally:
            self.browser.devtools("Emulation.setScriptExecutionDisabled", value=False)
        self.assertIn("4,000 handlers of WebShop.PriceFeed.Changed", text)
        self.assertGreaterEqual(text.count("<table"), 7)
        self.assertGreaterEqual(text.count('class="box'), 30)
        self.assertNotIn("<button", text.split("<script>")[0])
        self.assertNotIn("<input", text.split("<script>")[0])

    @unittest.skipUnless(AXE, "HEAPDUMP_AXE names no axe.min.js")
    def test_accessibility(self) -> None:
        """No finding of axe, in both colours and narrow."""
        source = Path(str(AXE)).read_text(encoding="utf-8")
        for name in ("leak", "hang", "attack", "grown"):
            for part, width in (("#light", 1280), ("#dark", 1280), ("#light", 390)):
                self.show(name, part, width)
                self.unfold()
                self.browser.run(source)
                found = self.browser.run_async(
                    """
                    const done = arguments[0];
                    axe.run().then(result => done(result.violations.map(one =>
                        `${one.impact} ${one.id}: ${one.nodes.length} ${one.nodes[0].html.slice(0, 200)} ${one.nodes[0].failureSummary}`)));
                    """
                )
                self.assertEqual(found, [], (name, part, width))


if __name__ == "__main__":
    if not webdriver.CHROMIUM or not webdriver.DRIVER:
        print("skipped: chromium or chromedriver is not installed")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
