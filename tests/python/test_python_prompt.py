#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""heapdump python TARGET: a prompt, scripts, and what is not there."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "cli"))

# pylint: disable=wrong-import-position
from shell_program import BUILD, environment  # noqa: E402

LEAK = SOURCE / "corefiles" / "leak.core.zst"
FEED = 'h.statics["WebShop.PriceFeed.Instance"]'


class PromptTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="heapdump-python-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_words(
        self, *words: str, text: str = "", path: str | None = None
    ) -> tuple[int, str, str]:
        env = environment(HEAPDUMP_LIBRARY=str(BUILD / "libheapdump.so"))
        env["PATH"] = path if path is not None else os.environ["PATH"]
        done = subprocess.run(
            [str(BUILD / "heapdump"), *words],
            input=text,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=env,
            timeout=300,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def test_a_prompt_has_the_heap(self) -> None:
        status, out, err = self.run_words(
            "--no-files",
            "python",
            str(LEAK),
            text=f"print({FEED})\nprint(h.info().members['sandbox'])\n",
        )
        self.assertEqual(status, 0, err)
        self.assertIn("<WebShop.PriceFeed at 0x7f039fc09b30>", out)
        self.assertRegex(out, "on \\(|off \\(")
        self.assertIn("read in a sandbox", err)
        status, out, err = self.run_words(
            "--no-sandbox", "python", str(LEAK), text=f"print({FEED})\n"
        )
        self.assertIn("<WebShop.PriceFeed at 0x7f039fc09b30>", out)
        self.assertIn("without a sandbox", err)

    def test_a_script_has_it_too_and_its_words(self) -> None:
        script = self.folder / "script.py"
        script.write_text(f"import sys\nprint(sys.argv[1:], {FEED}.type_)\nsys.exit(5)\n")
        status, out, _ = self.run_words("python", str(LEAK), str(script), "a", "--b", "")
        self.assertEqual((status, out), (5, "['a', '--b', ''] WebShop.PriceFeed\n"))
        status, out, err = self.run_words("python", str(LEAK), "nosuch.py")
        self.assertEqual(status, 2)
        self.assertIn("nosuch.py", err)

    def test_no_code_comes_from_where_the_user_is(self) -> None:
        mark = self.folder / "mark"
        for name in ("heapdump.py", "code.py", "json.py", "sitecustomize.py", "readline.py"):
            (self.folder / name).write_text(f"open({str(mark)!r}, 'w')\n")
        shutil.copy(LEAK, self.folder / "core.zst")
        status, out, err = self.run_words("python", "core.zst", text=f"print({FEED})\n")
        self.assertEqual(status, 0, err)
        self.assertIn("WebShop.PriceFeed", out)
        self.assertFalse(mark.exists())

    def test_what_is_missing_is_said(self) -> None:
        status, _, err = self.run_words("python", str(LEAK), path=str(self.folder))
        self.assertEqual(status, 3)
        self.assertIn("install it (Debian: apt install python3)", err)
        status, _, err = self.run_words("python")
        self.assertEqual(status, 2)
        self.assertIn("python TARGET", err)
        status, _, err = self.run_words("python", "/nonexistent/core")
        self.assertEqual(status, 3)
        self.assertRegex(err, r"\Aheapdump: /nonexistent/core: [^\n]*\n\Z")
        (self.folder / "bin").mkdir()
        program = shutil.copy(BUILD / "heapdump", self.folder / "bin" / "heapdump")
        done = subprocess.run([program, "python", "x"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("package for Python is not installed", done.stderr)

    def test_a_file_of_that_name_is_a_target(self) -> None:
        shutil.copy(SOURCE / "corefiles" / "bubblecs.heap", self.folder / "python")
        status, out, err = self.run_words("python", "gcroot", "1ce056")
        self.assertEqual(status, 0, err)
        self.assertIn("BubbleCS.GameBoard", out)

    def test_settings_go_along(self) -> None:
        status, out, err = self.run_words(
            "--workers", "1", "python", str(LEAK), text="print(h._target._child.args)\n"
        )
        self.assertIn("--workers=1", out + err)
        status, _, err = self.run_words("-c", "info", "python", str(LEAK))
        self.assertEqual(status, 2, err)


if __name__ == "__main__":
    unittest.main()
