#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dumps that go to standard output, and through symbolic links."""
from __future__ import annotations

import contextlib
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Iterator

import fake_runtime
from shell_program import DATA, PROGRAM, TIMEOUT

DUMP = DATA / "small300.gcdump"
TRACE = fake_runtime.TRACE
OUTPUTS = ("-", "/dev/stdout")


def heapdump(*words: str, stdout: Any = subprocess.PIPE) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [PROGRAM, *words],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=TIMEOUT,
        check=False,
    )


@contextlib.contextmanager
def runtime() -> Iterator[str]:
    """The id of a process that can be collected from."""
    with subprocess.Popen(
        [sys.executable, fake_runtime.__file__, "good"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout and process.stdout.readline() == "READY\n"
        path = fake_runtime.socket_path(process.pid)
        try:
            yield str(process.pid)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            os.unlink(path)


class Case(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="heapdump-outputs-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def refused(self, done: subprocess.CompletedProcess[bytes], message: bytes) -> None:
        """One line, and nothing is written."""
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertIn(message, done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def on_terminal(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        main, terminal = pty.openpty()
        try:
            return heapdump(*words, stdout=terminal)
        finally:
            os.close(terminal)
            os.close(main)


class Export(Case):
    def test_to_a_pipe(self) -> None:
        for output in OUTPUTS:
            done = heapdump(str(DUMP), "export", output, "-format", "gcdump")
            self.assertEqual((done.returncode, done.stderr), (0, b""), output)
            self.assertEqual(done.stdout, DUMP.read_bytes(), output)
            done = heapdump(str(DUMP), "export", output)
            self.assertTrue(done.stdout.startswith(b"a 2 "), output)
            self.assertNotIn(b"Wrote", done.stdout)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_to_a_file_that_is_appended_to(self) -> None:
        path = self.folder / "all"
        path.write_bytes(b"before")
        for output in OUTPUTS:
            with open(path, "ab") as file:
                done = heapdump(str(DUMP), "export", output, "-format", "gcdump", stdout=file)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(path.read_bytes(), b"before" + 2 * DUMP.read_bytes())

    def test_no_bytes_to_a_terminal(self) -> None:
        for output in OUTPUTS:
            done = self.on_terminal(str(DUMP), "export", output, "-format", "gcdump")
            self.refused(done, b"a .gcdump is no text: give the name of a file")

    def test_no_document_beside_it(self) -> None:
        for output in OUTPUTS:
            done = heapdump(str(DUMP), "export", output, "--json")
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"exclude each other", done.stdout)

    def test_a_dangling_link(self) -> None:
        link, target = self.folder / "link.gcdump", self.folder / "target"
        link.symlink_to("target")
        for _ in range(2):
            self.assertEqual(heapdump(str(DUMP), "export", str(link)).returncode, 0)
            self.assertTrue(link.is_symlink())
            self.assertEqual(target.read_bytes(), DUMP.read_bytes())


class Collect(Case):
    def test_to_a_pipe(self) -> None:
        for output in OUTPUTS:
            with runtime() as pid:
                done = heapdump("collect", pid, "-o", output, "-format", "nettrace")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, TRACE.read_bytes(), output)
            self.assertRegex(done.stderr.decode(), r"\nheapdump: wrote 1,112 objects, .* in .* s\n")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_it_is_a_gcdump(self) -> None:
        for output in OUTPUTS:
            with runtime() as pid:
                done = heapdump("collect", pid, "-o", output)
            self.assertEqual(done.returncode, 0, done.stderr)
            path = self.folder / "piped.gcdump"
            path.write_bytes(done.stdout)
            self.assertEqual(heapdump(str(path), "diff", str(TRACE)).returncode, 0, output)

    def test_no_bytes_to_a_terminal(self) -> None:
        for output in OUTPUTS:
            for name in ("gcdump", "nettrace"):
                done = self.on_terminal("collect", str(os.getpid()), "-o", output, "-format", name)
                self.refused(done, f"a .{name} is no text".encode())

    def test_no_document_beside_it(self) -> None:
        done = heapdump("collect", str(os.getpid()), "-o", "-", "--json")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"exclude each other", done.stdout)


if __name__ == "__main__":
    unittest.main()
