# SPDX-License-Identifier: MIT
"""The whole answer of a command."""
from __future__ import annotations

import itertools
from typing import Any, Iterator

from heapdump import arrow
from heapdump.rows import LIST, MEMBERS, RECORD, Rows, Table
from heapdump.text import as_table


def _members(members: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """The values of an answer's members, by the names that lead to them."""
    for name, value in members.items():
        if isinstance(value, dict):
            yield from _members(value, f"{path}{name}.")
        elif value is not None:
            yield f"{path}{name}", value


class Answer:
    """The whole answer of a command: it stays as it is when the target changes, or the heap is closed.

    Iterating over it gives the rows of its main table as dicts, made one by one: numbers, texts, bools, lists, and
    None for what is not known; tables in a row are lists of dicts.
    """

    def __init__(
        self,
        rows: Rows,
        command: str,
        status: int = 0,
        source: arrow.Source | None = None,
    ) -> None:
        self._rows = rows
        self._source = source
        self._command = command
        #: 0: done; 1: done, with findings (no root, differences, damage).
        self.status = status
        #: Lines of warning.
        self.warnings: list[str] = rows.warnings()
        #: Names of all tables, "roots.path" for one in the rows of another.
        self.tables: list[str] = [table.name for table in rows.tables() if table.name]

    def __del__(self) -> None:
        self._rows.close()

    def __iter__(self) -> Iterator[Any]:
        return self._each(self._rows.find(None))

    def __getitem__(self, index: int) -> Any:
        """Row INDEX of the main table, as of a list; -1 is the last. Cost: the rows before it."""
        if index < 0:
            return list(self)[index]
        for row in itertools.islice(self, index, None):
            return row
        raise IndexError(f"{self._command} has fewer than {index + 1} rows")

    def __repr__(self) -> str:
        main = self._rows.find(None)
        count = f"{self._rows.count(main)} rows; " if main else ""
        names = {table.partition(".")[0] for table in self.tables} | set(self.members)
        return f"<answer of {self._command}: {count}{', '.join(sorted(names)) or 'nothing'}>"

    def __str__(self) -> str:
        """The rows of the main table as people read them, up to 50; without one, the members."""
        main = self._rows.find(None)
        count = self._rows.count(main) if main else 0
        if main and count:
            return as_table(self, count)
        return as_table(
            ({"name": name, "value": value} for name, value in _members(self.members)), 0
        )

    def failure(self, message: str) -> Exception:
        """The exception for a table that is not there."""
        return KeyError(message)

    def rows(self, table: str) -> Iterator[Any]:
        """The rows of the table of that name, in all rows of the one that it is in."""
        found = self._rows.find(table)
        if found is None:
            names = ", ".join(self.tables) or "none"
            raise self.failure(f'{self._command} answers with no table "{table}"; it has {names}')
        return self._each(found)

    def kept(self) -> tuple[str, Rows, "Answer"]:
        """The command and its rows, and what keeps them."""
        return self._command, self._rows, self

    def columns(self, table: str | None = None) -> arrow.Columns:
        """The columns of the main table, or of another one: for pandas, pyarrow and others.

        The command runs once more, without an object for each row; where that cannot be (isolated, GDB), they are
        made of the rows of this answer.
        """
        if self._source is None:
            return arrow.RowColumns(self.kept, table)
        return arrow.Columns(self._source, table)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.columns().__arrow_c_stream__(requested_schema)

    def to_dict(self, table: str | None = None) -> dict[str, list[Any]]:
        """The values of each column of the main table, or of another one, by its name."""
        return self.columns(table).to_dict()

    def to_arrow(self, table: str | None = None) -> Any:
        """A pyarrow.Table of the main table, or of another one."""
        return self.columns(table).to_arrow()

    def to_pandas(self, table: str | None = None) -> Any:
        """A pandas.DataFrame of the main table, or of another one."""
        return self.columns(table).to_pandas()

    @property
    def members(self) -> dict[str, Any]:
        """The members that the answer has once: "truncated", "complete", "findings", records such as "total"."""
        return self._rows.document(RECORD, MEMBERS, LIST)

    @property
    def complete(self) -> bool | None:
        """False: something may be missing; None: the answer does not say."""
        return self.members.get("complete")

    def document(self) -> dict[str, Any]:
        """All of it, as the command writes it with --json."""
        return self._rows.document()

    def _each(self, table: Table | None) -> Iterator[Any]:
        if table is not None:
            yield from self._rows.each(table)
