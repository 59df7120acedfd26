#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""static_test.py BUILD_FOLDER: the static program (scripts/static.sh) in a root folder that has only /proc.

It must answer there as the shared program does here, about a core and about a running .NET process, and its sandbox
must be as tight: tests/cli/test_sandbox.py is run with it.
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build").resolve()
SOURCE = Path(__file__).resolve().parents[1]
os.environ["HEAPDUMP_BUILD"] = str(BUILD)
sys.path.insert(0, str(SOURCE / "tests" / "cli"))

# pylint: disable=wrong-import-position
from terminal import Terminal

STATIC = BUILD / "static" / "heapdump"
CORE = SOURCE / "corefiles" / "leak.core.zst"
LEAK = SOURCE / "corefiles" / "build" / "apps" / "leak-net10.0" / "leak.dll"
COMMANDS = [
    ["dumpheap", "-stat"],
    ["gcroot", "-type", "WebShop.Session"],
    ["gcroot", "7f039fe5a158", "--json"],
    ["verifyheap"],
    ["clrthreads"],
    ["info", "-layout"],
    ["sql", "SELECT type, count(*), sum(size), sqrt(2) FROM objects GROUP BY type ORDER BY 3"],
]
# With --rbind it works as an ordinary user, too.
ENTER = 'mount --rbind /proc "$0/proc" && exec env -i TERM=xterm NO_COLOR=1 "$(command -v chroot)" "$0" "$@"'


def inside(root: Path, *words: str) -> list[str]:
    """The command that runs WORDS in ROOT, whose /proc is this machine's."""
    user = [] if os.getuid() == 0 else ["--map-root-user"]
    return ["unshare", "--mount", *user, "sh", "-c", ENTER, str(root), *words]


class Static(unittest.TestCase):
    """One file, and nothing else."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="heapdump-static-")
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)
        (self.root / "proc").mkdir()
        shutil.copy(STATIC, self.root)
        os.environ["PATH"] += ":/usr/sbin:/sbin"

    def run_inside(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            inside(self.root, "/heapdump", *words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def run_here(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(BUILD / "heapdump"), *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def test_answers_of_a_core(self) -> None:
        shutil.copy(CORE, self.root)
        for words in COMMANDS:
            with self.subTest(words):
                # The files of this machine are not in that root.
                here = self.run_here("--no-files", str(CORE), *words)
                there = self.run_inside("--no-files", "/leak.core.zst", *words)
                self.assertEqual(
                    there.stdout, here.stdout.replace(str(CORE), "/leak.core.zst"), there.stderr
                )
                self.assertEqual(there.returncode, here.returncode)
                self.assertGreater(len(there.stdout), 40)

    def test_the_sandbox_is_on(self) -> None:
        shutil.copy(CORE, self.root)
        state = self.run_here(str(CORE), "info", "--json").stdout
        there = self.run_inside("/leak.core.zst", "info", "--json").stdout
        self.assertIn('"sandbox": "on (seccomp', there)
        self.assertEqual("Landlock)" in there, "Landlock)" in state)

    def test_it_writes_a_dump(self) -> None:
        shutil.copy(CORE, self.root)
        done = self.run_inside("/leak.core.zst", "export", "/leak.gcdump")
        self.assertIn("Wrote /leak.gcdump: 72,859 objects", done.stdout, done.stderr)
        done = self.run_here(str(self.root / "leak.gcdump"), "dumpheap", "-stat")
        self.assertIn("Total 72,859 objects", done.stdout)

    def test_a_running_process(self) -> None:
        dotnet = shutil.which("dotnet")
        if not dotnet or not LEAK.exists():
            self.skipTest(f"no dotnet to run {LEAK}")
        with subprocess.Popen([dotnet, str(LEAK)], stdout=subprocess.PIPE) as process:
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            assert process.stdout
            while process.stdout.readline() not in (b"READY\n", b""):
                pass
            here = self.run_here(str(process.pid), "dumpheap", "-stat", "-type", "WebShop")
            if "refused" in here.stderr:
                self.skipTest("this machine refuses ptrace")
            words = (str(process.pid), "dumpheap", "-stat", "-type", "WebShop")
            there = self.run_inside(*words)
            self.assertIn("WebShop.Session", there.stdout, there.stderr)
            self.assertEqual(there.stdout, here.stdout)
            self.assertIn(f" {process.pid} ", self.run_inside("ps").stdout)
            process.kill()

    def test_the_prompt(self) -> None:
        """Without a description of terminals, and on a terminal that has no name there."""
        shutil.copy(CORE, self.root)
        program, *words = inside(self.root, "/heapdump", "--no-files", "/leak.core.zst")
        terminal = Terminal(*words, program=shutil.which(program) or program)
        self.addCleanup(terminal.close)
        terminal.prompt()
        terminal.send("dumpheap -sta\t -type WebShop.Sess\t\n")
        terminal.expect(r"4,000 +256,000 WebShop\.Session")
        terminal.prompt()

    def test_it_asks_for_no_file_of_the_c_library(self) -> None:
        """Also where such files are: they may be of another C library."""
        trace = self.root / "trace"
        words = ("-f", "-o", str(trace), "-e", "trace=%file", str(STATIC), "--no-files", str(CORE))
        strace = shutil.which("strace")
        assert strace
        # On such a terminal there is no pager, which is another program.
        terminal = Terminal(*words, program=strace, LC_ALL="C.UTF-8", TERM="dumb")
        self.addCleanup(terminal.close)
        terminal.prompt()
        terminal.send("ps\n")
        terminal.prompt()
        terminal.send("quit\n")
        terminal.finish()
        text = trace.read_text(encoding="utf-8")
        self.assertIn(CORE.name, text)
        other = re.compile(r"/locale/|gconv|nsswitch|/passwd|nscd|ld\.so|\.so\b")
        self.assertEqual([line for line in text.splitlines() if other.search(line)], [])

    def test_the_sandbox_is_as_tight(self) -> None:
        env = dict(os.environ, HEAPDUMP_BUILD=str(STATIC.parent), HEAPDUMP_SOURCE=str(SOURCE))
        done = subprocess.run(
            [sys.executable, str(SOURCE / "tests" / "cli" / "test_sandbox.py"), "Closed", "Ends"],
            env=env,
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"\nOK(?: \(skipped=[12]\))?\n$")


if __name__ == "__main__":
    unittest.main(verbosity=2)
