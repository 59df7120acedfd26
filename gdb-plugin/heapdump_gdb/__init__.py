# SPDX-License-Identifier: MIT
"""heapdump's commands, settings and functions for GDB, and their answers for Python.

    import heapdump_gdb
    for row in heapdump_gdb.query("dumpheap", "-stat"):
        print(row["count"], heapdump_gdb.printable(row["name"]))
"""
from __future__ import annotations

import typing

from heapdump.text import printable

if typing.TYPE_CHECKING:
    from heapdump_gdb.session import Answer

__all__ = ["printable", "query"]


@typing.overload
def query(*words: str | int) -> "Answer":
    ...


@typing.overload
def query(*words: str | int, table: str) -> typing.Iterator[typing.Any]:
    ...


def query(*words: str | int, table: str | None = None) -> typing.Any:
    """The answer of a command as data: query("gcroot", "1ce056"), a str or an int for each word.

    To iterate over it gives the rows of its main table, as dicts, and query(...)[0] the first of them: an address
    or a number is an int, a set a list of names; the member "limit" of "context" is row["context"]["limit"], a table in a row a list of dicts, and
    what is not known is None.  Rows of the main table of dumparray are values.  query(..., table=NAME) gives the
    rows of another table.  answer.tables has the names of all, answer.rows(NAME) their rows, answer.members what
    is said once ("complete", "truncated", records), answer.warnings the lines of warning.  Names and members are
    those of --json.

    Texts are as the target has them: bytes that are not UTF-8 as "surrogateescape" makes them, and what a terminal
    would act on; printable(TEXT) is for print().  Expressions in place of addresses are evaluated.  The answer is
    whole when query() returns, and kept until it is not used any more; it may take "max-mem" bytes.

    gdb.GdbError: the command fails, with its message.
    """
    # pylint: disable=import-outside-toplevel
    from heapdump_gdb import plugin

    argv = [hex(word) if isinstance(word, int) else word for word in words]
    answer = plugin.session().query(argv or ["help"])
    return answer if table is None else answer.rows(table)
