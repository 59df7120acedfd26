#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""doc/python.md: each line with >>> is run, and prints what the page shows.  Its shell commands are run by cli.docs."""
from __future__ import annotations

import doctest
import importlib.util
import os
import sys
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
os.environ["HEAPDUMP_LIBRARY"] = str(BUILD / "libheapdump.so")
sys.path.insert(0, str(SOURCE / "python"))
sys.dont_write_bytecode = True
PAGE = SOURCE / "doc" / "python.md"


class PageTest(unittest.TestCase):
    def test_the_page_shows_what_comes(self) -> None:
        os.chdir(SOURCE)
        text = PAGE.read_text(encoding="utf-8")
        page = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
        self.assertGreater(len(page.examples), 30)
        if importlib.util.find_spec("pandas") is None:
            print("skipped, there is no pandas: lines about it")
            page.examples = [part for part in page.examples if "pandas" not in part.source]
            page.examples = [part for part in page.examples if "frame" not in part.source]
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        self.assertEqual(runner.run(page).failed, 0)


if __name__ == "__main__":
    unittest.main()
