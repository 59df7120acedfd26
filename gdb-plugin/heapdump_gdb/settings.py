# SPDX-License-Identifier: MIT
"""set heapdump NAME VALUE and show heapdump NAME."""
from __future__ import annotations

import gdb

from heapdump import native
from heapdump_gdb.session import Session, failure, host_text

CHOICES = {
    "color": ["auto", "on", "off"],
    "format": ["text", "json", "ndjson", "csv"],
    "raw-csv": ["on", "off"],
    "files": ["on", "off"],
    "trust-files": ["on", "off"],
    "copy-all": ["on", "off"],
    "exact": ["on", "off"],
    "code": ["on", "off"],
    "backend": ["auto", "file", "process", "debugger"],
}


class Setting(gdb.Parameter):
    """One setting of the core; its value lives there."""

    def __init__(self, session: Session, name: str, text: str) -> None:
        self._session = session
        self._name = name
        self.set_doc = host_text(f"Set {name} of heapdump.")
        self.show_doc = host_text(f"Show {name} of heapdump.")
        self.__doc__ = host_text(text)
        choices = CHOICES.get(name)
        if choices is not None:
            super().__init__("heapdump " + name, gdb.COMMAND_DATA, gdb.PARAM_ENUM, choices)
        elif name in ("sysroot", "symbols"):
            super().__init__("heapdump " + name, gdb.COMMAND_DATA, gdb.PARAM_OPTIONAL_FILENAME)
        else:
            super().__init__("heapdump " + name, gdb.COMMAND_DATA, gdb.PARAM_STRING_NOESCAPE)
        self.value = session.get(name)

    def get_set_string(self) -> str:
        try:
            self._session.set(self._name, str(self.value or "").strip())
        except native.HeapdumpError as error:
            self.value = self._session.get(self._name)
            raise failure(str(error)) from None
        self.value = self._session.get(self._name)
        return ""

    def get_show_string(self, _value: str) -> str:
        # "heapdump set" changes the core's value behind GDB's back.
        self.value = self._session.get(self._name)
        return f'heapdump\'s {self._name} is "{self.value}".'


class SetPrefix(gdb.Command):
    """Set how heapdump's commands work."""

    def __init__(self) -> None:
        super().__init__("set heapdump", gdb.COMMAND_DATA, gdb.COMPLETE_NONE, True)

    def invoke(self, argument: str, _from_tty: bool) -> None:
        if argument:
            raise failure(
                f'Undefined set heapdump command: "{argument}".  Try "help set heapdump".'
            )
        gdb.execute("help set heapdump")


class ShowPrefix(gdb.Command):
    """Show how heapdump's commands work."""

    def __init__(self, names: list[str]) -> None:
        self._names = names
        super().__init__("show heapdump", gdb.COMMAND_DATA, gdb.COMPLETE_NONE, True)

    def invoke(self, argument: str, _from_tty: bool) -> None:
        if argument:
            raise failure(
                f'Undefined show heapdump command: "{argument}".  Try "help show heapdump".'
            )
        for name in self._names:
            gdb.execute("show heapdump " + name)


def register(session: Session) -> None:
    settings = native.settings(session.lib)
    SetPrefix()
    # The last two are GDB's (thread_names.py, live_breakpoints.py).
    ShowPrefix([name for name, _ in settings] + ["thread-names", "breakpoints"])
    for name, text in settings:
        Setting(session, name, text)
