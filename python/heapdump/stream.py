# SPDX-License-Identifier: MIT
"""Rows of an answer while its command runs: nothing of what was handed over is kept."""
from __future__ import annotations

import ctypes
from typing import Any, Callable, Sequence

from heapdump import native
from heapdump.rows import (
    LIST,
    MEMBERS,
    RECORD,
    TABLE,
    AddressValues,
    Table,
    is_null,
    put,
    read_table,
)


class RowMaker:
    """Takes the rows of an answer, keeps those of one table with the tables in them, and hands them over in batches."""

    def __init__(self, name: str | None, hand_over: Callable[[list[Any]], bool], size: int) -> None:
        self._name = name
        self._hand_over = hand_over
        self._size = size
        self._rows: dict[int, Any] = {}  # the last row of each table
        self._batch: list[Any] = []
        self._wanted: Table | None = None
        self.tables: dict[int, Table] = {}

    def check(self, command: str) -> None:
        """KeyError: the answer has had no such table."""
        if self._wanted is None and self._name is not None:
            names = ", ".join(table.name for table in self.tables.values() if table.name) or "none"
            raise KeyError(f'{command} answers with no table "{self._name}"; it has {names}')

    def _is_wanted(self, table: Table) -> bool:
        return table.is_main if self._name is None else table.name == self._name

    def _is_inside(self, table: Table) -> bool:
        """Is it in the rows of the wanted one, or that itself?"""
        found: Table | None = table
        while found is not None and found is not self._wanted:
            found = self.tables.get(found.parent)
        return found is not None

    def begin(self, table: Table) -> None:
        """A table begins, in the last row of the one that it is in."""
        self.tables[table.address] = table
        if self._wanted is None and self._is_wanted(table):
            self._wanted = table
        if self._wanted is None or table is self._wanted or not self._is_inside(table):
            return
        around = self._rows.get(table.parent)
        if isinstance(around, dict) and table.shape in (TABLE, LIST):
            around[table.own_name] = []

    def wants(self, table: Table) -> bool:
        """Is a row of that table needed?"""
        return self._wanted is not None and self._is_inside(table)

    def take(self, table: Table, values: list[Any]) -> bool:
        """Take a row of a table that is wanted; false: nobody takes any more."""
        row: Any = {}
        if table.shape == LIST and values and values[0] is not None:
            row = values[0]
        else:
            begin = int(table.shape == LIST)
            for path, value in zip(table.columns[begin:], values[begin:]):
                put(row, path, value)
        if table is not self._wanted:
            self._put_inside(table, row)
        else:
            if len(self._batch) >= self._size and not self.flush():
                return False
            self._batch.append(row)
        self._rows[table.address] = row
        return True

    def flush(self) -> bool:
        """Hand over what there is: the tables inside all of these rows are complete."""
        batch, self._batch = self._batch, []
        if self._wanted is not None and self._wanted.shape == LIST:
            batch = [None if is_null(row) else row for row in batch]
        return not batch or self._hand_over(batch)

    def _put_inside(self, table: Table, row: Any) -> None:
        around = self._rows.get(table.parent)
        if not isinstance(around, dict):
            return
        if table.shape in (TABLE, LIST):
            around.setdefault(table.own_name, []).append(row)
        elif table.shape == RECORD:
            around[table.own_name] = row
        elif table.shape == MEMBERS:
            around.update(row)


class Stream(AddressValues):
    """The rows of a command of the library while it runs."""

    def __init__(self, lib: ctypes.CDLL, maker: RowMaker) -> None:
        self._lib = lib
        self._maker = maker
        self._raised: BaseException | None = None
        self.error = native.Error()
        self._row = native.ROW(self._take_row)
        self._begin = native.TABLE(self._take_table)
        self._visitor = native.Visitor(
            struct_size=ctypes.sizeof(native.Visitor),
            row=native.address(self._row),
            begin=native.address(self._begin),
        )

    def run(self, session: Any, argv: Sequence[str], sink: native.Sink) -> int:
        """Run the command; the exit status."""
        status = int(
            self._lib.hd_query(
                session,
                len(argv),
                native.words(argv),
                ctypes.byref(self._visitor),
                ctypes.byref(sink),
                ctypes.byref(self.error),
            )
        )
        if self._raised is not None:
            raise self._raised
        self._maker.flush()
        return status

    def _take_table(self, _arg: int, address: int) -> None:
        try:
            tables = self._maker.tables
            self._maker.begin(tables.get(address) or read_table(address, tables))
        except BaseException as error:  # pylint: disable=broad-except
            self._raised = error

    def _take_row(self, _arg: int, address: int, values: int) -> int:
        try:
            table = self._maker.tables[address]
            if self._raised is not None:
                return 1
            if not self._maker.wants(table):
                return 0
            found = self.values_at(values, len(table.columns)) if table.columns else []
            return int(not self._maker.take(table, found))
        except BaseException as error:  # pylint: disable=broad-except
            self._raised = error
            return 1
