# SPDX-License-Identifier: MIT
"""Names and abbreviations of GDB's own commands, which ours must leave as they were (doc/debuggers.md 2)."""
from __future__ import annotations

from typing import Iterable

import gdb

from heapdump_gdb.asking import answer_of


def _outcome(command: str) -> str:
    """The text of a command's answer or error."""
    try:
        return answer_of(command)
    except gdb.error as error:
        return "error: " + str(error)


def resolves(name: str) -> bool:
    """Whether GDB takes ``name`` as one command, whole or abbreviated."""
    # "show user NAME" has no side effect, and one message for every command but the user's own.
    outcome = _outcome("show user " + name)
    return not outcome.startswith("error: ") or outcome == _outcome("show user help")


def keep_abbreviations(names: Iterable[str]) -> None:
    """Keep what abbreviates a command of GDB's today, before ``names`` make it ambiguous.

    A name may have a prefix command before it ("set heapdump").  An abbreviation that means one
    command becomes an alias of its own; the shortest first, since each makes one match more.
    """
    for name in names:
        before, _, last = name.rpartition(" ")
        for size in range(1, len(last)):
            short = f"{before} {last[:size]}".strip()
            # Refused, as it should be, when SHORT is unknown, ambiguous or a name by itself.
            _outcome(f"alias -a -- {short} = {short}")
