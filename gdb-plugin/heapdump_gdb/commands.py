# SPDX-License-Identifier: MIT
"""The core's command table as GDB commands."""
from __future__ import annotations

import textwrap
from typing import Any

import gdb

from heapdump import native
from heapdump.text import printable
from heapdump_gdb.session import Session, host_text, write_error
from heapdump_gdb.words import Line, file_names, guard, is_plain, keep_calls

PREFIX = "heapdump"


def line_words(session: Session, name: str, rest: str) -> list[str]:
    """The words of a command line: as GDB cuts them, but for a text that is one word as it is written."""
    cut = native.raw_text(session.lib, name, rest)
    options, text = cut or (rest, "")
    return [name] + gdb.string_to_argv(keep_calls(options)) + ([text] if cut else [])


class HeapCommand(gdb.Command):
    """One command of the table, under the prefix or at top level."""

    def __init__(self, session: Session, where: str, name: str, doc: str) -> None:
        self.__doc__ = host_text(doc)
        self._session = session
        self._name = name
        super().__init__(where + name, gdb.COMMAND_DATA)

    def invoke(self, argument: str, _from_tty: bool) -> None:
        self.dont_repeat()
        self._session.run(line_words(self._session, self._name, argument))

    def complete(self, text: str, word: str | None) -> Any:
        line = Line(text)
        try:
            found = self._session.complete([self._name] + line.words + [line.wanted])
        except UnicodeError:
            return []
        if found is None:
            found = file_names(line.last)
            if all(is_plain(name) for name in found):
                return gdb.COMPLETE_FILENAME
            # GDB would put them in as they are; no escape says a | in the name of a file.
            found = [name for name in found if name == printable(guard(name))]
        sayable = [value for value in found if host_text(value) == value]
        return line.candidates(sayable, word or "")


class HeapPrefix(gdb.Command):
    """Look at the managed heap of what is debugged, or of a heap dump file.

    "heapdump open FILE" opens one; "heapdump" alone lists the commands,
    "help heapdump COMMAND" shows the options of one.  Python has their answers as
    data: "python import heapdump_gdb", "python help(heapdump_gdb.query)".
    """

    def __init__(self, session: Session, infos: list[native.CommandInfo], free: list[str]) -> None:
        self._session = session
        self.__doc__ = f"{self.__doc__}\n{host_text(prefix_help(infos, free))}"
        super().__init__(PREFIX, gdb.COMMAND_DATA, gdb.COMPLETE_COMMAND, True)

    def invoke(self, argument: str, _from_tty: bool) -> None:
        """Called without a command, or with a word that is none."""
        self.dont_repeat()
        argv = gdb.string_to_argv(argument)
        if argv:
            rest = argument.lstrip()[len(argv[0]) :]
            is_plain_name = argument.lstrip().startswith(argv[0])
            self._session.run(line_words(self._session, argv[0], rest) if is_plain_name else argv)
        else:
            gdb.write(host_text(native.command_help(self._session.lib, None)))


def names_of(info: native.CommandInfo) -> list[str]:
    """Name and second name of a command."""
    return [native.decode(name) for name in (info.name, info.alias) if name is not None]


def prefix_help(infos: list[native.CommandInfo], free: list[str]) -> str:
    """Which commands need the prefix?  ``free``: those that do not."""
    names = sorted(name for info in infos for name in names_of(info))
    parts = (
        ("Without the prefix, too", [name for name in names if name in free]),
        ("Only with it", [name for name in names if name not in free]),
    )
    return "\n\n".join(
        textwrap.fill(f"{title}: {', '.join(listed)}.", 76, break_on_hyphens=False)
        for title, listed in parts
    )


def top_level(infos: list[native.CommandInfo]) -> list[str]:
    """Names, and second names, that are offered without the prefix."""
    return [name for info in infos if info.is_top_level for name in names_of(info)]


def document(session: Session, info: native.CommandInfo) -> str:
    """Help of a command as GDB wants it: a sentence on the first line, then the whole text."""
    summary = native.decode(info.summary) + "."
    text = native.command_help(session.lib, native.decode(info.name)).rstrip()
    if text.lower().startswith(summary.lower()):
        return text
    return f"{summary}\n{text}"


def register(
    session: Session,
    infos: list[native.CommandInfo],
    free: list[str],
) -> None:
    """Register the table under the prefix, and the names ``free`` at top level too."""
    HeapPrefix(session, infos, free)
    for info in infos:
        doc = document(session, info)
        name = native.decode(info.name)
        HeapCommand(session, PREFIX + " ", name, doc)
        if info.alias is not None:
            alias = native.decode(info.alias)
            HeapCommand(session, PREFIX + " ", alias, doc)
            if alias in free:
                HeapCommand(session, "", alias, doc)
        if name in free:
            HeapCommand(session, "", name, doc)


def report_taken(taken: list[str]) -> None:
    if taken:
        names = ", ".join(taken)
        write_error(f"heapdump: taken already: {names}; ours: heapdump {taken[0]} and so on")
