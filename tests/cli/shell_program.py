# SPDX-License-Identifier: MIT
"""The shell program as the tests here run it, in an environment of its own; their files."""
from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import termios
import unittest
from pathlib import Path
from typing import Any

SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
sys.path.insert(0, str(SOURCE / "tests" / "support"))

import turns  # noqa: E402,F401  pylint: disable=wrong-import-position,unused-import
import waiting  # noqa: E402  pylint: disable=wrong-import-position

PROGRAM = str(BUILD / "heapdump")
BUBBLECS = str(SOURCE / "corefiles" / "bubblecs.heap")
DATA = SOURCE / "tests" / "data"
BAD = str(DATA / "bad.heap")
# Seconds. Only a test that hangs takes so long.
TIMEOUT = 300
LARGE_OBJECTS = 1_500_000
# It goes when the program ends.
folder = tempfile.TemporaryDirectory(prefix="heapdump-cli-")
atexit.register(folder.cleanup)


@functools.cache
def large_dump() -> str:
    """Many objects in one long list, each with a second reference: long work for every command."""
    path = str(Path(folder.name) / "large.heap")
    with open(path, "w", encoding="ascii", newline="\n") as file:
        file.write("a 2 large.exe\nt 1 Node\nt 2 Other\n")
        for start in range(0, LARGE_OBJECTS, 10000):
            file.write(
                "".join(
                    f"o {i * 16 + 16:x} {i % 2 + 1} 18 {i * 16 + 32:x} {i * 7919 % LARGE_OBJECTS * 16 + 16:x}\n"
                    for i in range(start, start + 10000)
                )
            )
        file.write(f"o {LARGE_OBJECTS * 16 + 16:x} 1 18\nr 10 1 0\nc large.exe\n")
    return path


def environment(**more: str) -> dict[str, str]:
    keep = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
    base = {
        "PATH": os.environ["PATH"],
        "LC_ALL": "C.UTF-8",
        "HOME": folder.name,
        "TERM": "xterm",
    }
    return base | keep | more


class Result:
    """The output of one run."""

    def __init__(self, done: subprocess.CompletedProcess[bytes]) -> None:
        self.status = done.returncode
        self.out = (done.stdout or b"").decode("utf-8", "surrogateescape")
        self.err = (done.stderr or b"").decode("utf-8", "surrogateescape")

    def json(self) -> Any:
        return json.loads(self.out)


def run(*argv: str, text: str | bytes = "", **options: Any) -> Result:
    data = text.encode() if isinstance(text, str) else text
    return Result(
        subprocess.run(
            [PROGRAM, *argv],
            input=data,
            capture_output=True,
            cwd=SOURCE,
            env=options.pop("env", environment()),
            timeout=TIMEOUT,
            check=False,
            **options,
        )
    )


def await_handler(pid: int) -> None:
    """Wait until Ctrl-C does not end a program by itself any more, or until it has ended."""

    def has_handler() -> bool:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
        caught = int(status.split("SigCgt:")[1].split()[0], 16)
        return bool(caught >> (signal.SIGINT - 1) & 1) or "\nState:\tZ" in status

    waiting.wait_until(has_handler, "the program handles SIGINT")


def quick_clock() -> dict[str, str]:
    """The part of a program's environment that makes it show its progress at once, and not only after 0.2 s.

    A program with sanitizers is so slow that it needs nothing, and cannot load it.
    """
    library = BUILD / "tests" / "libquick_clock.so"
    return {"LD_PRELOAD": str(library)} if library.exists() else {}


def interrupted(*argv: str) -> Result:
    """Run the program, and interrupt it in the middle of its work: at its first line of progress.

    Its terminal takes no output until the signal is sent. Each line of progress is due at once (quick_clock()).
    """
    master, terminal = pty.openpty()
    try:
        termios.tcflow(terminal, termios.TCOOFF)
        with subprocess.Popen(
            [PROGRAM, "--workers", "1", *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=terminal,
            env=environment(**quick_clock()),
        ) as process:
            try:
                waiting.wait_until_terminal_is_full(process.pid)
                process.send_signal(signal.SIGINT)
                termios.tcflow(terminal, termios.TCOON)
                out = process.communicate(timeout=TIMEOUT)[0]
            finally:
                process.kill()
    finally:
        os.close(terminal)
        err = b""
        with open(master, "rb", buffering=0) as other, contextlib.suppress(OSError):
            while piece := other.read(65536):
                err += piece
    # Without what was shown of the progress.
    err = err.replace(b"\r\n", b"\n").split(b"\r\033[K")[-1]
    return Result(subprocess.CompletedProcess(process.args, process.returncode, out, err))


def temporary(name: str, data: bytes = b"") -> str:
    path = Path(folder.name) / name
    path.write_bytes(data)
    return str(path)


class Base(unittest.TestCase):
    """Checks that many tests share."""

    def check_error(self, result: Result, status: int, pattern: str) -> None:
        """One line on standard error, nothing on standard output."""
        self.assertEqual(result.status, status, result.err)
        self.assertEqual(result.out, "")
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertTrue(result.err.startswith("heapdump: "), result.err)
        self.assertRegex(result.err, pattern)

    def check_json_error(self, result: Result, status: int, pattern: str) -> None:
        """One document on standard output, nothing on standard error."""
        self.assertEqual(result.status, status, result.err)
        self.assertEqual(result.err, "")
        document = result.json()
        self.assertEqual(document["schema"], 1)
        self.assertIn("command", document)
        self.assertIsInstance(document["error"]["status"], str)
        self.assertRegex(document["error"]["message"], pattern)
