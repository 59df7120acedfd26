# SPDX-License-Identifier: MIT
"""GDB's own commands, and what they answer."""
from __future__ import annotations

import gdb


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
