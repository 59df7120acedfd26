# SPDX-License-Identifier: MIT
"""The shell program on a pseudo-terminal."""
from __future__ import annotations

import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from pathlib import Path

from shell_program import PROGRAM, SOURCE, TIMEOUT, environment

PROMPT = "heapdump> "


class Terminal:
    """The program on a pseudo-terminal."""

    IS_STOPPED = False

    def __init__(
        self, *argv: str, cwd: str | Path = SOURCE, program: str = PROGRAM, **env: str
    ) -> None:
        # libedit's el_set(EL_ADDFN) keeps two copies that nothing frees.
        options = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
        options["PAGER"] = "cat"  # less would move the cursor
        pid, self.fd = pty.fork()
        if pid == 0:
            try:
                os.chdir(cwd)
                if self.IS_STOPPED:
                    termios.tcflow(1, termios.TCOOFF)
                os.execve(program, [program, *argv], environment(**options | env))
            finally:
                os._exit(127)
        self.pid = pid
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self.seen = ""
        self.status: int | None = None

    def send(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def expect(self, pattern: str, seconds: float = TIMEOUT) -> str:
        """Read until PATTERN is seen; what stood up to its end is taken away."""
        deadline = time.monotonic() + seconds
        while not (match := re.search(pattern, self.seen)):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise AssertionError(f"no {pattern!r} in {self.seen!r}")
            try:
                piece = os.read(self.fd, 65536)
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                piece = b""
            if not piece:
                raise AssertionError(f"the program ended: no {pattern!r} in {self.seen!r}")
            self.seen += piece.decode("utf-8", "replace")
        text = self.seen[: match.end()]
        self.seen = self.seen[match.end() :]
        return text

    def has(self, text: str) -> bool:
        """Is TEXT in what has come so far?"""
        while select.select([self.fd], [], [], 0)[0] and (piece := os.read(self.fd, 65536)):
            self.seen += piece.decode("utf-8", "replace")
        return text in self.seen

    def prompt(self) -> str:
        """Text up to the next prompt; libedit shows it shortly before it takes single keys."""
        text = self.expect(re.escape(PROMPT))
        deadline = time.monotonic() + TIMEOUT
        while termios.tcgetattr(self.fd)[3] & termios.ICANON and time.monotonic() < deadline:
            time.sleep(0.001)
        return text

    def finish(self, seconds: float = TIMEOUT) -> str:
        """Read to the end of the program; its status is kept."""
        text = self.seen
        deadline = time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise AssertionError(f"the program does not end: {text[-2000:]!r}")
            try:
                piece = os.read(self.fd, 65536)
            except OSError:
                piece = b""
            if not piece:
                break
            text += piece.decode("utf-8", "replace")
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        return text

    def _flow(self, action: int) -> None:
        terminal = os.open(f"/proc/{self.pid}/fd/1", os.O_RDWR | os.O_NOCTTY)
        termios.tcflow(terminal, action)
        os.close(terminal)

    def stop(self) -> None:
        """Take no output until go_on()."""
        self._flow(termios.TCOOFF)

    def go_on(self) -> None:
        """Take output."""
        self._flow(termios.TCOON)

    def close(self) -> None:
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self.fd)


class StoppedTerminal(Terminal):
    """A pseudo-terminal that takes no output until go_on()."""

    IS_STOPPED = True
