#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The checks of scripts/ find what they are there for: tried on copies that were changed."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["HEAPDUMP_SOURCE"])


class Copy(unittest.TestCase):
    """A copy of some files, and a script that checks it."""

    script = ""
    files: tuple[str, ...] = ()
    links: tuple[str, ...] = ()  # only read

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in self.files:
            target = self.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if (SOURCE / name).is_dir():
                shutil.copytree(SOURCE / name, target)
            else:
                shutil.copy(SOURCE / name, target)

        for name in self.links:
            (self.root / name).symlink_to(SOURCE / name)

    def run_script(self, *words: str) -> tuple[int, str]:
        """Status and output."""
        done = subprocess.run(
            [sys.executable, str(SOURCE / "scripts" / self.script), *words, str(self.root)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return done.returncode, done.stdout

    def change(self, name: str, pattern: str, by: str) -> None:
        """Replace the first match."""
        path = self.root / name
        text, count = re.subn(pattern, by, path.read_text(encoding="utf-8"), count=1, flags=re.S)
        self.assertEqual(count, 1, f"{name} has no {pattern}")
        path.write_text(text, encoding="utf-8")

    def expect(self, status: int, text: str, *words: str) -> None:
        """Run the script."""
        got, output = self.run_script(*words)
        self.assertEqual(got, status, output)
        self.assertIn(text, output)


HEADERS = "core/include/heapdump"


@unittest.skipUnless(shutil.which("abidiff"), "abigail-tools is not installed")
class Abi(Copy):
    """check_abi.py"""

    script = "check_abi.py"
    files = (HEADERS, "core/heapdump.map", "core/CMakeLists.txt", "CMakeLists.txt", "core/abi")

    def release(self) -> None:
        """The next version begins: the description is that of a release."""
        self.change("CMakeLists.txt", r"VERSION [\d.]+ LANG", "VERSION 99.0.0 LANG")

    def add_function(self, node: str) -> None:
        """A function that no release has."""
        self.change(
            f"{HEADERS}/error.h",
            r"(HD_API const char \*hd_version)",
            r"HD_API int hd_new(void);\n\1",
        )
        path = self.root / "core/heapdump.map"
        text = path.read_text(encoding="utf-8")
        if node in text:
            text = text.replace("hd_version;", "hd_version; hd_new;")
        else:
            text += f"{node} {{\n\tglobal:\n\t\thd_new;\n}} HEAPDUMP_0;\n"
        path.write_text(text, encoding="utf-8")

    def test_the_headers_are_as_described(self) -> None:
        self.expect(0, "functions, compared with")
        self.release()
        self.expect(0, "functions, compared with")

    def test_each_change_before_a_release_is_told(self) -> None:
        self.add_function("HEAPDUMP_0")
        self.expect(1, "check_abi.py --update")
        self.expect(0, "wrote", "--update")
        self.expect(0, "functions, compared with")
        self.change(
            f"{HEADERS}/error.h", r"HD_ERR_CANCELLED = 8,", "HD_ERR_CANCELLED = 8, HD_ERR_NEW = 9,"
        )
        self.expect(1, "HD_ERR_NEW")

    def test_a_release_may_add(self) -> None:
        self.release()
        self.add_function("HEAPDUMP_99_0")
        self.change(
            f"{HEADERS}/error.h", r"HD_ERR_CANCELLED = 8,", "HD_ERR_CANCELLED = 8, HD_ERR_NEW = 9,"
        )
        self.change(
            f"{HEADERS}/session.h",
            r"(void \(\*note\)\(void \*arg, const char \*line\);)",
            r"\1\n\tuint64_t more;",
        )
        self.expect(0, "functions, compared with")
        self.expect(0, "wrote core/abi/heapdump-99.0.0.abi", "--update")
        self.assertEqual(len(list((self.root / "core/abi").iterdir())), 1)
        self.expect(0, "compared with heapdump-99.0.0.abi")

    def test_a_new_function_needs_a_new_symbol_version(self) -> None:
        self.release()
        self.add_function("HEAPDUMP_0")
        self.expect(1, "hd_new is new: it needs a symbol version of its own release")

    def test_nothing_else_may_change(self) -> None:
        changes = (
            (f"{HEADERS}/session.h", r"\tuint32_t color;", "\tuint64_t color;"),
            (
                f"{HEADERS}/graph.h",
                r"(uint64_t reference_count;)(\n\};)",
                r"\1\n\tuint64_t more;\2",
            ),
            (f"{HEADERS}/session.h", r"\tuint32_t color;", "\tuint32_t more, color;"),
            (f"{HEADERS}/session.h", r"void \(\*note\)", "int (*note)"),
            (f"{HEADERS}/error.h", r"HD_ERR_CANCELLED = 8", "HD_ERR_CANCELLED = 9"),
            (f"{HEADERS}/answer.h", r"HD_KIND_ANY = 11", "HD_KIND_ANY = 12"),
            (f"{HEADERS}/error.h", r"hd_version\(void\)", "hd_version(int much)"),
            ("core/heapdump.map", r"\t\thd_version;\n", ""),
        )
        self.release()
        for name, pattern, by in changes:
            with self.subTest(pattern):
                before = (self.root / name).read_text(encoding="utf-8")
                self.change(name, pattern, by)
                self.expect(1, "would break")
                self.expect(1, "would break", "--update")
                (self.root / name).write_text(before, encoding="utf-8")

    def test_a_structure_grows_so_that_its_size_tells(self) -> None:
        self.release()
        self.change(f"{HEADERS}/debugger.h", r"\tuint32_t reserved;", "")
        self.expect(1, "would break")
        self.change("CMakeLists.txt", r"VERSION [\d.]+ LANG", "VERSION 0.2.0 LANG")
        self.expect(0, "wrote", "--update")
        self.release()
        self.expect(0, "functions, compared with")
        self.change(f"{HEADERS}/debugger.h", r"(\tuint32_t is_core;)", r"\1\n\tuint32_t more;")
        self.expect(1, "struct hd_debugger has more members and the same size")

    def test_another_soname_may_change_all(self) -> None:
        self.release()
        self.change("core/heapdump.map", r"\t\thd_version;\n", "")
        self.change("core/CMakeLists.txt", r"SOVERSION \d+", "SOVERSION 99")
        self.expect(0, "wrote", "--update")


class Guides(Copy):
    """check_citations.py, about the names of code."""

    script = "check_citations.py"
    files = ("core", "CONTRIBUTING.md")
    links = ("doc", "tests", "scripts", "corefiles", "profiler", "CMakeLists.txt")

    def test_names_of_code_are_there(self) -> None:
        self.expect(0, "names of code; each is there")
        path = self.root / "core/README.md"
        before = path.read_text(encoding="utf-8")
        for text, line in (
            ("`gone_function()`", "there is no function gone_function"),
            ("`command/gone.c`", "there is no file or folder command/gone.c"),
            ("`analysis/gone`", "there is no file or folder analysis/gone"),
        ):
            with self.subTest(text):
                path.write_text(before + text + "\n", encoding="utf-8")
                self.expect(1, line)


class Words(Copy):
    """check_words.py"""

    script = "check_words.py"

    def plant(self, name: str, text: str) -> None:
        """A file, where one of the texts of a comment is half a sentence."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def test_each_sort_of_comment_is_read(self) -> None:
        bad = (
            ("core/a.c", "/* What is left. */\n"),
            ("core/a.h", "/**\n * Those of others.\n */\n"),
            ("core/a.h", "int a; /**< Of the target. */\n"),
            ("core/a.cpp", "/// That there is none.\n"),
            ("scripts/a.py", '"""What it does."""\n'),
            ("scripts/a.py", 'def f() -> None:\n    """Of one."""\n'),
            ("scripts/a.py", "x = 1  # What x is.\n"),
            ("scripts/a.sh", "# Those that wait.\n"),
            ("scripts/CMakeLists.txt", "# What is built.\n"),
        )
        for name, text in bad:
            with self.subTest(text):
                self.plant(name, text)
                self.expect(1, "say who does what")
                (self.root / name).unlink()
        self.expect(0, "words: 0 comments begin")

    def test_other_places_are_not_comments(self) -> None:
        self.plant(
            "core/a.c",
            'const char *a = "/* What is left. */"; /* Says what is left.\n * What follows. */\n',
        )
        self.plant("scripts/a.py", 'x = "# What"\n# It says\n# what it does.\n# Of course.\n')
        self.expect(0, "words: 0 comments begin")


if __name__ == "__main__":
    unittest.main()
