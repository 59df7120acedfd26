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


class Stream(AddressValues):
    """Takes the rows of one table, with the tables in them, and hands them over in batches."""

    def __init__(
        self,
        lib: ctypes.CDLL,
        table: str | None,
        hand_over: Callable[[list[Any]], bool],
        size: int,
    ) -> None:
        self._lib = lib
        self._name = table
        self._hand_over = hand_over
        self._size = size
        self._tables: dict[int, Table] = {}
        self._rows: dict[int, Any] = {}  # the last row of each table
        self._batch: list[Any] = []
        self._wanted: Table | None = None
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
        self._flush()
        if self._wanted is None and self._name is not None and status <= native.EXIT_FINDINGS:
            names = ", ".join(table.name for table in self._tables.values() if table.name)
            raise KeyError(f'{argv[0]} answers with no table "{self._name}"; it has {names}')
        return status

    def _is_wanted(self, table: Table) -> bool:
        return table.is_main if self._name is None else table.name == self._name

    def _is_inside(self, table: Table) -> bool:
        """Is it in the rows of the wanted one?"""
        found: Table | None = table
        while found is not None and found is not self._wanted:
            found = self._tables.get(found.parent)
        return found is not None

    def _take_table(self, _arg: int, address: int) -> None:
        try:
            table = self._tables.get(address)
            if table is None:
                table = self._tables[address] = read_table(address, self._tables)
                if self._wanted is None and self._is_wanted(table):
                    self._wanted = table
            if self._wanted is None or table is self._wanted or not self._is_inside(table):
                return
            around = self._rows.get(table.parent)
            if isinstance(around, dict) and table.shape in (TABLE, LIST):
                around[table.own_name] = []
        except BaseException as error:  # pylint: disable=broad-except
            self._raised = error

    def _take_row(self, _arg: int, address: int, values: int) -> int:
        try:
            return self._take(self._tables[address], values)
        except BaseException as error:  # pylint: disable=broad-except
            self._raised = error
            return 1

    def _take(self, table: Table, values: int) -> int:
        if self._raised is not None:
            return 1
        if self._wanted is None or not self._is_inside(table):
            return 0
        found = self.values_at(values, len(table.columns)) if table.columns else []
        row: Any = {}
        if table.shape == LIST and found and found[0] is not None:
            row = found[0]
        else:
            begin = int(table.shape == LIST)
            for path, value in zip(table.columns[begin:], found[begin:]):
                put(row, path, value)
        if table is self._wanted:
            if len(self._batch) >= self._size:
                if not self._flush():
                    return 1
            self._batch.append(row)
        else:
            self._put_inside(table, row)
        self._rows[table.address] = row
        return 0

    def _flush(self) -> bool:
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
