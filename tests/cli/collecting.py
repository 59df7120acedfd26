# SPDX-License-Identifier: MIT
"""Tests of ps and collect share this: runs of the program, and folders for files and sockets."""
from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any, Callable

from shell_program import PROGRAM, TIMEOUT


class Answer:
    """The outcome of one run of the program."""

    def __init__(self, result: subprocess.CompletedProcess[str]) -> None:
        self.status = result.returncode
        self.out = result.stdout
        self.err = result.stderr

    @property
    def json(self) -> dict[str, Any]:
        """The document."""
        document: dict[str, Any] = json.loads(self.out)
        return document


def run(*words: str, cwd: Path | None = None, as_user: Callable[[], None] | None = None) -> Answer:
    """Run the program."""
    result = subprocess.run(
        [PROGRAM, *words],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
        cwd=cwd,
        preexec_fn=as_user,
        stdin=subprocess.DEVNULL,
    )
    return Answer(result)


class Case(unittest.TestCase):
    """A directory for output, and one for sockets."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="heapdump-collect-"))
        self.sockets = Path(tempfile.mkdtemp(prefix="heapdump-sockets-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.addCleanup(shutil.rmtree, self.sockets, True)

    def files(self) -> list[str]:
        """The files in the directory for output."""
        return sorted(path.name for path in self.folder.iterdir())

    def collect(self, pid: int | str, *words: str, name: str = "out.nettrace") -> Answer:
        """Collect into the directory."""
        return run("collect", str(pid), "-o", str(self.folder / name), *words)

    def fails(self, answer: Answer, message: str, status: int = 3) -> None:
        """One clear line, and no file."""
        self.assertEqual(answer.status, status, answer.err)
        last = answer.err.strip().splitlines()[-1]
        self.assertIn(message, last)
        self.assertTrue(last.startswith("heapdump: "), last)
        self.assertEqual(self.files(), [])
