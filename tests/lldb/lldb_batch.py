# SPDX-License-Identifier: MIT
"""LLDB with the plug-in, and a file of commands for it."""
from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gdb"))
sys.dont_write_bytecode = True

import support  # noqa: E402

LLDB = os.environ.get("HEAPDUMP_LLDB", "lldb-14")
PLUGIN = str(support.BUILD / "libheapdump_lldb.so")
# Debian 12's LLDB 14 looks for its Python package in the wrong place.
PYTHON = "/usr/lib/llvm-14/lib/python3.11/dist-packages"
ENVIRONMENT = dict(support.ENVIRONMENT)
if LLDB == "lldb-14":
    ENVIRONMENT["PYTHONPATH"] = PYTHON
PROMPT = "(lldb) "


def run_lldb(
    *commands: str,
    options: tuple[str, ...] = (),
    environment: dict[str, str] | None = None,
    timeout: int = 300,
) -> list[str]:
    """LLDB's answer to each command of a file: errors do not end it, as with -b alone."""
    lines = ["plugin load " + PLUGIN, *commands]
    with tempfile.NamedTemporaryFile("w", prefix="heapdump-test-", suffix=".lldb") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        argv = [LLDB, "--no-lldbinit", "-b", "-o"]
        argv += ["settings set interpreter.stop-command-source-on-error false", "-s", file.name]
        done = subprocess.run(
            argv + list(options),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment or ENVIRONMENT,
            timeout=timeout,
            check=False,
        )
    text = done.stdout.decode("utf-8", "replace")
    answers = []
    # Commands are echoed.
    for line in lines:
        _, found, text = text.partition(PROMPT + line + "\n")
        assert found, (line, text)
        answers.append("" if text.startswith(PROMPT) else text.split("\n" + PROMPT)[0])
    return answers[1:]
