# SPDX-License-Identifier: MIT
"""The names that a .NET program gave its threads, in "info threads"."""
from __future__ import annotations

import gdb

from heapdump_gdb.asking import define_hook
from heapdump_gdb.session import Session, host_text
from heapdump_gdb.target import connection, kernel_id
from heapdump.text import printable

NAME = "heapdump thread-names"


class ThreadNames(gdb.Parameter):
    """When it is on, "info threads" shows the names that the .NET program gave its threads.

    The system has at most 15 bytes of them, and a core none.  A name that you gave a thread by "thread name"
    stays.  Off gives the threads back the names that they had.
    """

    set_doc = "Set whether info threads shows the names of .NET's threads."
    show_doc = "Show whether info threads shows the names of .NET's threads."

    def __init__(self, session: Session) -> None:
        self._session = session
        self._given: dict[tuple[int, int], str] = {}  # by the numbers of inferior and thread in GDB
        super().__init__(NAME, gdb.COMMAND_DATA, gdb.PARAM_BOOLEAN)
        self.value = True

    def get_set_string(self) -> str:
        if not self.value:
            for inferior in gdb.inferiors():
                self._give(inferior, {})
        return ""

    def get_show_string(self, value: str) -> str:
        return f"heapdump's thread-names is {value}."

    def refresh(self) -> None:
        """Give the threads of the selected inferior the names that they have now."""
        inferior = gdb.selected_inferior()
        if self.value and connection(inferior) and self._session.is_of_gdb():
            self._give(inferior, self._managed())

    def _managed(self) -> dict[int, str]:
        """The names by the kernel's numbers of the threads; none of what is not a .NET program."""
        try:
            rows = list(self._session.query(["clrthreads"]))
        except gdb.GdbError:
            return {}
        return {
            row["os_id"]: host_text(printable(row["name"]))
            for row in rows
            if row["os_id"] and row["name"]
        }

    def _give(self, inferior: gdb.Inferior, names: dict[int, str]) -> None:
        for thread in inferior.threads():
            key = (inferior.num, thread.global_num)
            name, given, before = (
                names.get(kernel_id(thread)),
                self._given.pop(key, None),
                thread.name,
            )
            # Without a name by hand, or one of ours, it has the system's.
            thread.name = None
            if before not in (thread.name, given):
                thread.name = before
            elif name is not None:
                thread.name = self._given[key] = name


def register(session: Session) -> None:
    """Register the setting, and let "info threads" refresh the names."""
    define_hook("info threads", ThreadNames(session).refresh)
