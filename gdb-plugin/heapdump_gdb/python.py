# SPDX-License-Identifier: MIT
"""GDB's heap for Python: heapdump.current()."""
from __future__ import annotations

import os
from typing import Any, Iterator, Sequence

import gdb

from heapdump import Heap, HeapdumpError, Status
from heapdump.rows import AddressRows
from heapdump_gdb import plugin
from heapdump_gdb.session import Session


class GdbTarget:
    """The core or process of GDB, or the file that "heapdump open" has opened there."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def is_live(self) -> bool:
        return self._session.is_of_gdb()

    @property
    def path(self) -> str | None:
        try:
            self._session.follow()
        except gdb.GdbError:
            return None
        found = self._session.lib.hd_session_path(self._session.handle)
        return None if found is None else os.fsdecode(found)

    def run(self, argv: Sequence[str]) -> Any:
        """The answer of a command, about the target as it is now."""
        return self._session.ask(list(argv), AddressRows)

    def stream(self, argv: Sequence[str], table: str | None) -> Iterator[Any]:
        """The rows of a table; GDB's memory may be read by GDB's own thread only, so the answer is whole first."""
        answer = self.run(argv)
        return iter(answer) if table is None else iter(answer.rows(table))

    def cancel(self) -> None:
        """Nothing: Ctrl-C ends a command."""

    def close(self) -> None:
        """Nothing: the target is GDB's."""


def current_heap() -> Heap:
    """The heap of this GDB."""
    try:
        return Heap(GdbTarget(plugin.session()))
    except gdb.GdbError as error:
        raise HeapdumpError(str(error), Status.ARGUMENT) from None
