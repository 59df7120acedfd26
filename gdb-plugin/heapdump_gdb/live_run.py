# SPDX-License-Identifier: MIT
"""heapdump run: start a .NET program as it is debugged best."""
from __future__ import annotations

import os
import shlex
import shutil

import gdb

from heapdump_gdb.asking import answer_of
from heapdump_gdb.session import failure

# Pages of code that a debugger can write, and new code of virtual methods that is published as that of others.
SETTINGS = {"DOTNET_EnableWriteXorExecute": "0", "DOTNET_BackpatchEntryPointSlots": "0"}


class Run(gdb.Command):
    """Start a .NET program: heapdump run PROGRAM [ARGUMENT...]

    PROGRAM is a .dll, which dotnet runs, or an executable file.  It is started with
    DOTNET_EnableWriteXorExecute=0 in its environment, so that nothing in it has to be changed for breakpoints, and
    with DOTNET_BackpatchEntryPointSlots=0, so that breakpoints follow virtual methods that are compiled again.
    Breakpoints may be set before ("set breakpoint pending on" keeps GDB from asking).  Without a word it starts the
    last program again, as "run" does."""

    def __init__(self) -> None:
        super().__init__("heapdump run", gdb.COMMAND_RUNNING, gdb.COMPLETE_FILENAME)

    def invoke(self, argument: str, _from_tty: bool) -> None:
        """Give GDB the program, and let it run."""
        words = gdb.string_to_argv(argument)
        if words:
            self._choose(words)
        for name, value in SETTINGS.items():
            answer_of(f"set environment {name} {value}")
        gdb.write(
            "heapdump: starts it with "
            + " ".join(f"{name}={value}" for name, value in SETTINGS.items())
            + "\n"
        )
        gdb.execute("run", True)

    def _choose(self, words: list[str]) -> None:
        program = os.path.realpath(os.path.expanduser(words[0]))
        if not os.path.exists(program):
            raise failure(f"there is no file {words[0]}")
        arguments = words[1:]
        if program.endswith(".dll"):
            host = shutil.which("dotnet")
            if host is None:
                raise failure("there is no dotnet in PATH, which runs a .dll")
            arguments = [program] + arguments
            program = os.path.realpath(host)
        gdb.execute("file " + shlex.quote(program))
        gdb.execute("set args " + " ".join(shlex.quote(word) for word in arguments))
