# SPDX-License-Identifier: MIT
"""GDB's own commands, and what they answer."""
from __future__ import annotations

from typing import Callable

import gdb

_hooks: dict[str, list[Callable[[], None]]] = {}


def answer_of(command: str) -> str:
    """
    The answer of GDB to a command; gdb.error when it fails.  Bytes that are not UTF-8, such as those of
    a file's name, are as os.fsdecode() has them.
    """
    try:
        return str(gdb.execute(command, to_string=True))
    except UnicodeDecodeError as error:
        # The command has run: only its answer could not be made a text.
        return error.object.decode("utf-8", "surrogateescape")


def define_hook(command: str, function: Callable[[], None]) -> None:
    """Let ``function`` run before each ``command`` of GDB's, unless the user has a hook there."""
    if command in _hooks:
        _hooks[command].append(function)
        return
    prefix, _, last = command.rpartition(" ")
    hook = f"{prefix} hook-{last}".strip()
    try:
        answer_of("show user " + hook)
    except gdb.error:
        _hooks[command] = [function]
        call = f'__import__("{__name__}", fromlist=["*"]).run_hook("{command}")'
        gdb.execute(f"define {hook}\npython {call}\nend")


def run_hook(command: str) -> None:
    """A hook was reached."""
    for function in _hooks[command]:
        function()
