#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""heapdump python TARGET: a prompt, scripts, and what is not there."""
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "tests" / name) for name in ("cli", "gdb", "support")]

# pylint: disable=wrong-import-position
from shell_program import BUILD, environment  # noqa: E402
from support import Terminal  # noqa: E402
from waiting import wait_until  # noqa: E402

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

    def test_code_may_come_from_the_command_line_or_standard_input(self) -> None:
        show = f"import sys; print(sys.argv, {FEED}.type_)"
        status, out, err = self.run_words("python", str(LEAK), "-c", show, "a", "-b")
        self.assertEqual((status, out), (0, "['-c', 'a', '-b'] WebShop.PriceFeed\n"), err)
        status, out, err = self.run_words("python", str(LEAK), "-", "a", text=show)
        self.assertEqual((status, out), (0, "['-', 'a'] WebShop.PriceFeed\n"), err)
        status, _, err = self.run_words("python", str(LEAK), "-c")
        self.assertEqual((status, err), (2, "heapdump: -c needs the code\n"))
        status, out, _ = self.run_words("python", "--help")
        self.assertEqual(status, 0)
        self.assertIn("usage: heapdump [OPTION...] python TARGET [SCRIPT | -c CODE", out)

    def test_a_script_is_a_whole_program(self) -> None:
        script = self.folder / "script.py"
        script.write_text(
            "import dataclasses, pickle\n@dataclasses.dataclass\nclass Row:\n    name: str\n"
            f"print(pickle.loads(pickle.dumps(Row({FEED}.type_))).name, __name__, __file__)\n"
        )
        status, out, err = self.run_words("python", str(LEAK), str(script))
        self.assertEqual((status, out), (0, f"WebShop.PriceFeed __main__ {script}\n"), err)

    def test_errors_name_the_lines_of_the_user(self) -> None:
        script = self.folder / "script.py"
        script.write_text("def look():\n    return h.object(5)\n\n\nlook()\n")
        status, out, err = self.run_words("python", str(LEAK), str(script))
        want = (
            "Traceback (most recent call last):\n"
            f'  File "{script}", line 5, in <module>\n    look()\n'
            f'  File "{script}", line 2, in look\n    return h.object(5)\n'
        )
        # Later Pythons underline the place.
        err = "".join(line for line in err.splitlines(True) if line.strip(" ^~\n"))
        self.assertEqual((status, out), (1, ""))
        self.assertTrue(err.startswith(want), err)
        self.assertEqual(err.count("File"), 2, err)
        self.assertIn("HeapdumpError: no object 5", err)
        _, _, err = self.run_words("python", str(LEAK), "-c", "h.object(5)")
        self.assertRegex(
            err,
            r'\ATrace.*\n  File "<command line>", line 1, in <module>\n.*Error: no object 5.*\n\Z',
        )
        script.write_text("1 +\n")
        status, _, err = self.run_words("python", str(LEAK), str(script))
        self.assertEqual(status, 1)
        self.assertIn("SyntaxError", err)
        self.assertNotIn("prompt.py", err)
        _, _, err = self.run_words("python", str(LEAK), text="h.object(5)\n1 / 0\n")
        self.assertNotIn("isolated.py", err)
        self.assertIn("HeapdumpError: no object 5", err)
        self.assertIn("ZeroDivisionError", err)

    def test_a_reader_that_leaves_ends_it(self) -> None:
        env = environment(HEAPDUMP_LIBRARY=str(BUILD / "libheapdump.so"), PATH=os.environ["PATH"])
        code = "for row in h.stream('sql', 'SELECT * FROM refs', limit=0): print(row)"
        with subprocess.Popen(
            [BUILD / "heapdump", "python", LEAK, "-c", code],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
        ) as child:
            assert child.stdout is not None and child.stderr is not None
            self.assertIn(b"from", child.stdout.readline())
            child.stdout.close()
            self.assertEqual(child.stderr.read(), b"")
            self.assertEqual(child.wait(), -signal.SIGPIPE)

    def test_control_c_at_a_terminal(self) -> None:
        """It ends the command that runs, and not the prompt."""
        env = environment(HEAPDUMP_LIBRARY=str(BUILD / "libheapdump.so"), PATH=os.environ["PATH"])
        env["TERM"] = "dumb"
        argv = [str(BUILD / "heapdump"), "--no-files", "python", str(LEAK)]
        with Terminal(argv, ">>> ", env) as terminal:
            terminal.prompt()
            terminal.command("print(h.sql('SELECT count(*) AS n FROM refs')[0])")
            terminal.send("h.sql('SELECT count(*) FROM refs a, refs b')\n")
            self.wait_for_work(terminal.pid)
            terminal.send("\x03")
            self.assertIn("KeyboardInterrupt", terminal.prompt())
            self.assertIn("{'one': 1}", terminal.command("h.sql('SELECT 1 AS one')[0]"))
            # Tab knows the commands.
            terminal.send("h.gcro\t")
            terminal.wait(r"h\.gcroot")
            terminal.send("\x15\x04")

    def wait_for_work(self, pid: int) -> None:
        """Until the process that reads has worked for half a second."""

        def children(of: int) -> list[int]:
            text = Path(f"/proc/{of}/task/{of}/children").read_text(encoding="ascii")
            return [int(word) for word in text.split()]

        (program,) = children(pid)
        (reader,) = children(program)

        def ticks() -> int:
            stat = Path(f"/proc/{reader}/stat").read_text(encoding="ascii", errors="replace")
            return int(stat.rpartition(")")[2].split()[11])

        begin = ticks()
        wait_until(lambda: ticks() >= begin + os.sysconf("SC_CLK_TCK") // 2, "the reader works")

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
