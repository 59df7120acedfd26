#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""doc/python.md: each line with >>> is run, and prints what the page shows.  Its shell commands are run by cli.docs."""
from __future__ import annotations

import doctest
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
        failed, tried = doctest.testfile(
            str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS
        )
        self.assertEqual(failed, 0)
        self.assertGreater(tried, 20)


if __name__ == "__main__":
    unittest.main()
