# SPDX-License-Identifier: MIT
"""Tests of the debugger plug-ins share this: dumps, and a terminal to type at."""
from __future__ import annotations

import os
import pty
import random
import re
import select
import signal
import tempfile
import time
from pathlib import Path

SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
LIBRARY = BUILD / "libheapdump.so"

ENVIRONMENT = dict(os.environ, HEAPDUMP_LIBRARY=str(LIBRARY), LC_ALL="C.UTF-8", TERM="xterm")
# Under sudo no library is taken from the environment.
for _name in ("DEBUGINFOD_URLS", "SUDO_UID", "PKEXEC_UID", "DOAS_USER"):
    ENVIRONMENT.pop(_name, None)

# Names with what a command line must quote, and with what is not UTF-8.
DUMP = b"""a 2 test.exe 1
t 1 System.String
t 2 A.Dict<System.String, System.Object>
t 3 My.It's
t 4 Caf\xc3\xa9
t 5 Bad.\xff
t 6 System.String[]
t 7 System.String
o 10 1 14
o 20 2 24 10
o 30 3 8
o 40 4 8 50
o 60 5 9
o 70 1 18
o 80 7 18
o 1ce056 6 118 10
r 20 4 0 2
r 1ce056 5 0
c test.exe 2
"""


def write_dump(folder: str) -> str:
    path = os.path.join(folder, "test.heap")
    with open(path, "wb") as file:
        file.write(DUMP)
    return path


def write_big_dump(folder: str, count: int = 1000000) -> str:
    """Objects with references at random, enough of them that commands take their time."""
    path = os.path.join(folder, "big.heap")
    choice = random.Random(1)
    with open(path, "w", encoding="ascii") as file:
        file.write("a 2 big.exe 1\nt 1 System.Object\nr 1000 4 0 1\n")
        for i in range(count):
            to = 0x1000 + 8 * int(choice.random() * count)
            file.write(f"o {0x1000 + 8 * i:x} 1 18 {to:x} {0x1000 + 8 * ((i + 1) % count):x}\n")
        file.write("c big.exe 2\n")
    return path


class Terminal:
    """A program on a terminal of its own, 80 columns wide."""

    def __init__(
        self, argv: list[str], prompt: str, environment: dict[str, str] | None = None
    ) -> None:
        self._prompt = prompt
        self._text = ""
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            try:
                os.execvpe(argv[0], argv, environment or ENVIRONMENT)
            finally:
                os._exit(127)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_exception: object) -> None:
        os.close(self._fd)
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)

    def send(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    def wait(self, pattern: str, seconds: float = 300) -> str:
        """Text up to the first match of ``pattern``, which is taken off."""
        end = time.monotonic() + seconds
        while True:
            found = re.search(pattern, self._text)
            if found:
                before, self._text = self._text[: found.end()], self._text[found.end() :]
                return before
            if time.monotonic() > end:
                raise AssertionError(f"no {pattern!r} in {self._text!r}")
            if select.select([self._fd], [], [], 0.1)[0]:
                try:
                    data = os.read(self._fd, 65536)
                except OSError:
                    raise AssertionError(f"ended without {pattern!r}: {self._text!r}") from None
                self._text += data.decode("utf-8", "replace")

    def prompt(self, seconds: float = 300) -> str:
        return self.wait(self._prompt, seconds)

    def command(self, line: str) -> str:
        """Type a line; its answer."""
        self.send(line + "\n")
        return self.prompt()


def temporary_folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="heapdump-test-")
