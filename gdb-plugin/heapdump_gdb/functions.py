# SPDX-License-Identifier: MIT
"""$hd_type(ID), $hd_size(ID) and $hd_count("TYPE NAME"), for expressions and conditions."""
from __future__ import annotations

import ctypes
from typing import Any

import gdb

from heapdump_gdb import native
from heapdump_gdb.session import Session, failure, host_text
from heapdump_gdb.words import printable


def _graph(session: Session) -> Any:
    """The graph of a dump file; None for a core or a process, which commands answer about."""
    session.follow()
    if not session.lib.hd_session_path(session.handle):
        raise gdb.GdbError(
            'nothing is open: debug a process or a core, or use "heapdump open FILE"'
        )
    return session.lib.hd_session_graph(session.handle)


def _only(args: tuple[gdb.Value, ...], usage: str) -> gdb.Value:
    """The one argument that each function takes."""
    if len(args) != 1:
        raise gdb.GdbError("usage: " + usage)
    return args[0]


def _object(session: Session, value: gdb.Value) -> tuple[str, int]:
    """Type and size of the object with the id or address ``value``."""
    graph = _graph(session)
    try:
        ident = int(value) & native.MASK64
    except (gdb.error, ValueError, TypeError, OverflowError) as error:
        raise failure(f"not an object id: {error}") from None
    if not graph:
        found = session.query(["dumpobj", hex(ident), "-nofields"]).members
        return found["type"] or "", found["size"]
    row = native.Object()
    node = session.lib.hd_graph_find(graph, ident)
    if node == native.NONE or session.lib.hd_graph_object(graph, node, ctypes.byref(row)):
        raise gdb.GdbError(f"no object {ident:#x}")
    if row.missing:
        raise gdb.GdbError(f"object {ident:#x} is referred to, but not in the file")
    return _type_name(session, graph, row.type)[0], int(row.size)


def _type_name(session: Session, graph: Any, index: int) -> tuple[str, int]:
    """Name and object count of a type."""
    found = native.Type()
    if session.lib.hd_graph_type(graph, index, ctypes.byref(found)) or not found.name:
        return "", int(found.object_count)
    name = ctypes.string_at(found.name, found.name_size)
    return name.decode("utf-8", "surrogateescape"), int(found.object_count)


class TypeFunction(gdb.Function):
    """$hd_type(ID): name of the type of the object with that id, as commands print it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        super().__init__("hd_type")

    def invoke(self, *args: gdb.Value) -> str:
        return host_text(printable(_object(self._session, _only(args, "$hd_type(ID)"))[0]))


class SizeFunction(gdb.Function):
    """$hd_size(ID): bytes of the object with that id."""

    def __init__(self, session: Session) -> None:
        self._session = session
        super().__init__("hd_size")

    def invoke(self, *args: gdb.Value) -> int:
        return _object(self._session, _only(args, "$hd_size(ID)"))[1]


class CountFunction(gdb.Function):
    """$hd_count("TYPE NAME"): how many objects have a type of exactly that name.

    The name may be as it is, or as commands print it.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        super().__init__("hd_count")

    def invoke(self, *args: gdb.Value) -> int:
        name = _only(args, '$hd_count("TYPE NAME")')
        graph = _graph(self._session)
        try:
            wanted = printable(name.string("utf-8", "surrogateescape"))
        except (gdb.error, UnicodeError, AttributeError) as error:
            raise failure(f"not the name of a type: {error}") from None
        if not graph:
            found = self._session.query(["dumpheap", "-stat", "-type", wanted])
            return sum(row["count"] for row in found if printable(row["name"] or "") == wanted)
        count = 0
        for index in range(self._session.lib.hd_graph_type_count(graph)):
            type_name, objects = _type_name(self._session, graph, index)
            count += objects if printable(type_name) == wanted else 0
        return count


def register(session: Session) -> None:
    TypeFunction(session)
    SizeFunction(session)
    CountFunction(session)
