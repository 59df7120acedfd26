# SPDX-License-Identifier: MIT
"""GDB in batch mode with the plug-in, and what it says."""
from __future__ import annotations

import re
import shutil
import subprocess
import unittest

import support

PLUGIN = str(support.SOURCE / "gdb-plugin" / "heapdump.py")
GDB = ["gdb", "-nx", "-q", "-iex", "set debuginfod enabled off", "-iex", "source " + PLUGIN]
NO_CLR = "no CoreCLR here"
NOTHING = "nothing is open"
THREAD_ROW = re.compile(r"(?m)^[* ] +(\d+) +.*\bLWP (\d+)")


def thread_numbers(text: str) -> dict[int, int]:
    """GDB's numbers of the threads, by the kernel's, of an "info threads"."""
    return {int(tid): int(number) for number, tid in THREAD_ROW.findall(text)}


def run_gdb(*commands: str, options: tuple[str, ...] = ()) -> str:
    """GDB's answer to commands in batch mode, errors too."""
    argv = GDB + ["-batch"]
    for command in commands:
        argv += ["-ex", command]
    done = subprocess.run(
        argv + list(options),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=support.ENVIRONMENT,
        timeout=300,
        check=False,
    )
    text = done.stdout.decode("utf-8", "replace")
    assert "Traceback" not in text and "Python Exception" not in text, text
    return text


def mark(number: int) -> str:
    """A line to split the answers at."""
    return f"echo <<{number}>>\\n"


def between(text: str, first: int) -> str:
    """The answers between two marks."""
    return text.split(f"<<{first}>>\n")[1].split(f"<<{first + 1}>>\n")[0]


def serve(test: unittest.TestCase, argv: list[str], options: tuple[str, ...] = ()) -> str:
    """A gdbserver on the loopback that ends with the test; what to tell GDB."""
    if shutil.which("gdbserver") is None:
        test.skipTest("no gdbserver")
    server = subprocess.Popen(
        ["gdbserver", "--once", *options, "127.0.0.1:0", *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    test.addCleanup(server.communicate)
    test.addCleanup(server.kill)
    assert server.stderr is not None
    for line in iter(server.stderr.readline, b""):
        if b"Listening on port" in line:
            return f"target remote 127.0.0.1:{int(line.split()[-1])}"
    raise AssertionError("gdbserver does not listen")
