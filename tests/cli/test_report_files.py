#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The files that `report -o FILE` writes: the same as the command shows, and a page that nothing of a target can change."""
from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
PROGRAM = str(BUILD / "heapdump")
sys.path.insert(0, str(SOURCE / "tests" / "support"))
import attack_heap  # noqa: E402  pylint: disable=wrong-import-position

LEAK = SOURCE / "corefiles" / "leak.core.zst"
HANG = SOURCE / "corefiles" / "hang.core.zst"
BUBBLECS = SOURCE / "corefiles" / "bubblecs.heap"
TRUTH = json.loads((SOURCE / "corefiles" / "leak.truth.json").read_text(encoding="utf-8"))
GOLDEN = SOURCE / "tests" / "data" / "report_names.html"
TIMEOUT = 300
VOID = {"meta", "br", "input", "rect"}
# A page may consist of these elements, with these attributes.
ELEMENTS = set(
    """html head meta title style body a header h1 h2 h3 p bdi svg rect text path title dl div dt dd nav ul ol li main
    section article span b strong code details summary table caption thead tbody tr th td script br""".split()
)
ATTRIBUTES = set(
    """lang charset name content http-equiv href class id role aria-label aria-labelledby aria-hidden scope title
    tabindex open data-v width height x y data-d d viewbox preserveaspectratio""".split()
)
CUT_SCRIPT = re.compile(r"(<(style|script)>).*?(</\2>)", re.S)


def run(*words: str | Path, status: tuple[int, ...] = (0, 1)) -> str:
    """The program's output."""
    done = subprocess.run(
        [PROGRAM, *map(str, words)], capture_output=True, timeout=TIMEOUT, check=False
    )
    if done.returncode not in status:
        raise AssertionError(f"{words}: status {done.returncode}: {done.stderr!r}")
    return done.stdout.decode()


class Page(HTMLParser):
    """Counts elements and attributes, and checks that they close as they open."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, ...]] = []
        self.attributes: list[tuple[str, str]] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, *sorted(name for name, _ in attrs)))
        for name, value in attrs:
            assert value is not None or name == "open", (tag, name)
            self.attributes.append((name, value or ""))
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, (self.open, tag)
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "script"):
            self.texts.append(data)

    @property
    def text(self) -> str:
        """All that a reader sees."""
        return "".join(self.texts)


class ReportFileTest(unittest.TestCase):
    """Each format, the page's parts, and hostile names."""

    folder: tempfile.TemporaryDirectory[str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def write(self, dump: Path, name: str, *words: str) -> str:
        """The file that is written for a dump."""
        path = Path(self.folder.name) / name
        run("--no-files", dump, "report", "-o", path, *words)
        return path.read_bytes().decode()

    def page(self, dump: Path) -> tuple[str, Page]:
        """The page of a dump, checked for what every page has."""
        text = self.write(dump, "report.html")
        page = Page(text)
        self.assertLessEqual({element[0] for element in page.elements}, ELEMENTS)
        self.assertLessEqual({name for name, _ in page.attributes}, ATTRIBUTES)
        self.assertEqual(len(page.ids), len(set(page.ids)), "an id is there twice")
        for link in page.links:
            self.assertEqual(link[:1], "#")
            self.assertIn(link[1:], page.ids)
        return text, page

    def test_other_formats_are_the_answer(self) -> None:
        """Byte for byte what the command prints in that format."""
        formats: dict[str, list[str]] = {"txt": [], "json": ["--json"], "csv": ["--format", "csv"]}
        tops: list[list[str]] = [[], ["-top", "1"]]
        for ending, words in formats.items():
            for top in tops:
                expected = run("--no-files", LEAK, "report", *words, *top)
                self.assertEqual(self.write(LEAK, f"report.{ending}", *top), expected)

    def test_what_is_said_of_the_file(self) -> None:
        """Name, size, findings by severity; status 1 as without a file."""
        path = Path(self.folder.name) / "said.html"
        words = [PROGRAM, "--no-files", str(LEAK), "report", "-o", str(path), "--json"]
        done = subprocess.run(words, capture_output=True, timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, 1)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["file"], str(path))
        self.assertEqual(answer["format"], "html")
        self.assertEqual(answer["size"], path.stat().st_size)
        self.assertTrue(answer["complete"])
        self.assertEqual(
            answer["severities"], {"high": 1, "medium": 1, "low": 0, "info": 0}, "of the leak core"
        )
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)

    def test_status_of_what_is_found_beside_leaks(self) -> None:
        """A verdict of hang, without any finding: 1 in every form, and said in it."""
        page = Path(self.folder.name) / "status.html"
        files = [page, page.with_suffix(".json"), page.with_suffix(".csv")]
        lines = [
            [form, name]
            for name in ("triage", "report")
            for form in ("text", "json", "ndjson", "csv")
        ]
        lines += [[form, f"report -o {path}"] for path in files for form in ("text", "json")]
        for form, line in lines:
            words = [PROGRAM, "--no-files", "--format", form, str(HANG), *line.split()]
            done = subprocess.run(words, capture_output=True, timeout=TIMEOUT, check=False)
            self.assertEqual(done.returncode, 1, f"{line}, {form}")
        self.assertIn("Deadlock", page.read_text())
        self.assertIn("Deadlock", page.with_suffix(".json").read_text())

    def test_a_page_has_what_the_command_finds(self) -> None:
        """The facts of JSON are on the page, and nothing is loaded from elsewhere."""
        text, page = self.page(LEAK)
        answer = json.loads(run("--no-files", LEAK, "report", "--json"))
        self.assertEqual(len(answer["findings"]), 2)
        for finding in answer["findings"]:
            for part in ("title", "sentence", "look_at", "next"):
                self.assertIn(finding[part], page.text)
            for step in finding["path"]:
                self.assertIn(step["type"], page.text)
                self.assertIn(step["address"][2:], page.text)
        for rule in answer["rules"]:
            self.assertIn(rule["threshold"], page.text)
        # The program's own description.
        for name, count in TRUTH["counts"].items():
            self.assertRegex(text, rf'<td class="n" data-v="{count}">[^<]*</td>.*<bdi>{name}</bdi>')
        self.assertNotRegex(text, r"https?://|url\(|@import|\bon[a-z]+=|javascript:|\bstyle=")
        self.assertEqual(sum(element[0] == "h1" for element in page.elements), 1)

    def test_only_its_own_script_may_run(self) -> None:
        """The policy comes first, and has the hashes of the style sheet and the script."""
        text, page = self.page(LEAK)
        first = [element for element in page.elements if element[0] == "meta"][0]
        self.assertIn("http-equiv", first)
        policy = [value for name, value in page.attributes if name == "content"][0]
        for element, directive in (("script", "script-src"), ("style", "style-src")):
            parts = re.findall(rf"<{element}>(.*?)</{element}>", text, re.S)
            self.assertEqual(len(parts), 1)
            digest = base64.b64encode(hashlib.sha256(parts[0].encode()).digest()).decode()
            self.assertIn(f"{directive} 'sha256-{digest}'", policy)
        self.assertTrue(policy.startswith("default-src 'none'"))
        self.assertNotIn("unsafe", policy)

    def test_why_it_hangs(self) -> None:
        """Only where hang finds something."""
        _, page = self.page(HANG)
        answer = json.loads(run("--no-files", HANG, "hang", "--json"))
        self.assertTrue(answer["verdicts"])
        for verdict in answer["verdicts"]:
            self.assertIn(verdict["summary"], page.text)
            for evidence in verdict["evidence"]:
                self.assertIn(evidence["text"], page.text)
        self.assertIn("#waits", page.links)
        leak = self.page(LEAK)[1]
        self.assertNotIn("waits", leak.ids)
        self.assertNotIn("#waits", leak.links)

    def test_generations_are_those_of_dumpheap(self) -> None:
        """Live and dead bytes together are all objects of a generation."""
        text, _ = self.page(LEAK)
        table = text.split('id="generations"')[1].split("</table>")[0]
        shown = {
            part: int(alive) + int(dead)
            for part, alive, dead in re.findall(
                r'<tr><td>([^<]*)</td><td class="n" data-v="(\d+)">.*?<td class="n" data-v="(\d+)">[^<]*</td></tr>',
                table,
            )
        }
        rows = json.loads(run("--no-files", LEAK, "dumpheap", "-stat", "-gen", "0", "--json"))
        self.assertEqual(shown["gen 0"], rows["total"]["size"] - self.free_bytes(rows))
        rows = json.loads(run("--no-files", LEAK, "dumpheap", "-stat", "-gen", "2", "--json"))
        self.assertEqual(shown["gen 2"], rows["total"]["size"] - self.free_bytes(rows))

    @staticmethod
    def free_bytes(answer: dict[str, Any]) -> int:
        """Bytes of Free blocks in an answer of dumpheap -stat."""
        return sum(row["size"] for row in answer["types"] if row["name"] == "Free")

    def test_a_dump_file_has_less(self) -> None:
        """Parts that need a heap are left out, with their links."""
        _, page = self.page(BUBBLECS)
        self.assertIn("types", page.ids)
        self.assertNotIn("handles", page.ids)
        self.assertNotIn("map", page.ids)
        self.assertIn("BubbleCS.GameBoard", page.text)

    def test_names_change_nothing(self) -> None:
        """A heap of attacks has the same elements as one with plain names, and each attack can be read."""
        heaps = {}
        for kind in ("plain", "attack"):
            dump = Path(self.folder.name) / f"{kind}.heap"
            dump.write_bytes(attack_heap.make(kind == "attack"))
            heaps[kind] = self.page(dump)
        plain, attack = heaps["plain"][1], heaps["attack"][1]
        self.assertEqual(attack.elements, plain.elements)
        self.assertEqual(
            CUT_SCRIPT.findall(heaps["attack"][0]), CUT_SCRIPT.findall(heaps["plain"][0])
        )
        shown = attack.text
        for name in attack_heap.SHOWN:
            self.assertIn(name, shown)
        for character in attack_heap.INVISIBLE:
            self.assertNotIn(character, heaps["attack"][0])
        self.assertLess(len(heaps["attack"][0]), 1 << 20)

    def test_names_cannot_make_a_page_large(self) -> None:
        """Under 3 MB, whatever types are called and how many there are."""
        dump = Path(self.folder.name) / "large.heap"
        dump.write_bytes(attack_heap.make_large())
        text, page = self.page(dump)
        self.assertGreater(page.text.count("\u2026"), 1000)
        self.assertLess(len(text.encode()), 3 << 20)

    def test_whole_or_not_at_all(self) -> None:
        """A file that is there stays as it is until the new one is complete."""
        path = Path(self.folder.name) / "kept.html"
        path.write_text("before", encoding="utf-8")
        run(SOURCE / "tests" / "data" / "bad.heap", "report", "-o", path, status=(3,))
        self.assertEqual(path.read_text(encoding="utf-8"), "before")
        run("--no-files", LEAK, "report", "-o", path)
        self.assertTrue(path.read_text(encoding="utf-8").endswith("</html>\n"))
        names = os.listdir(self.folder.name)
        run(LEAK, "report", "-o", Path(self.folder.name) / "none" / "x.html", status=(3,))
        self.assertEqual(os.listdir(self.folder.name), names)
        run(LEAK, "report", "-o", "report.pdf", status=(2,))

    def test_a_small_page_is_as_it_was(self) -> None:
        """From the header to the rules, of names that need escapes; HEAPDUMP_UPDATE=1 writes what is expected."""
        text = self.write(SOURCE / "tests" / "data" / "names.heap", "golden.html")
        body = text[text.index("<header>") : text.index('<section id="rules"')]
        if os.environ.get("HEAPDUMP_UPDATE"):
            GOLDEN.write_text(body, encoding="utf-8")
        self.assertEqual(body.splitlines(), GOLDEN.read_text(encoding="utf-8").splitlines())

    def test_equal_runs_write_equal_pages(self) -> None:
        """No time, no random number."""
        self.assertEqual(self.write(LEAK, "one.html"), self.write(LEAK, "two.html"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
