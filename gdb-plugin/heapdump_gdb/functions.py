# SPDX-License-Identifier: MIT
"""$hd_type(ID), $hd_field(ID, "NAME") and others, for expressions and conditions."""
from __future__ import annotations

import ctypes
from typing import Any

import gdb

from heapdump import native
from heapdump.fields import field_row
from heapdump.rows import Address, AddressRows
from heapdump_gdb.session import Answer, Session, failure, host_text
from heapdump.text import printable


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


def _gdb_value(value: Any) -> Any:
    """A value of .NET as GDB has it: a number, a text, or the address of an object or a struct."""
    if isinstance(value, Address):
        return gdb.Value(int(value)).cast(gdb.lookup_type("void").pointer())
    if value == "":
        # GDB makes an array without elements of an empty text, which it shows as 0x0.
        return gdb.Value(b"\0", gdb.lookup_type("char").array(0))
    return host_text(printable(value)) if isinstance(value, str) else value


def _number(value: gdb.Value, what: str) -> int:
    try:
        return int(value)
    except (gdb.error, ValueError, TypeError, OverflowError) as error:
        raise failure(f"not {what}: {error}") from None


def _word(value: gdb.Value, what: str) -> str:
    try:
        return value.string("utf-8", "surrogateescape")
    except (gdb.error, UnicodeError, AttributeError) as error:
        raise failure(f"not {what}: {error}") from None


class _Function(gdb.Function):
    """The base of the functions below: they are about values, which a dump file does not have."""

    usage = ""

    def __init__(self, session: Session) -> None:
        self._session = session
        super().__init__(self.usage[1:].partition("(")[0])

    def _arguments(self, args: tuple[gdb.Value, ...]) -> tuple[gdb.Value, ...]:
        if len(args) != self.usage.count(",") + 1:
            raise gdb.GdbError("usage: " + self.usage)
        if _graph(self._session):
            raise gdb.GdbError("a dump file has no values: debug a process or a core")
        return args

    def _ask(self, *words: str) -> Answer:
        return self._session.query(list(words), AddressRows)

    def _fields(self, answer: Answer) -> list[dict[str, Any]]:
        return list(answer.rows("fields")) if "fields" in answer.tables else []

    def _object(self, value: gdb.Value) -> str:
        address = _number(value, "the address of an object") & native.MASK64
        if not address:
            raise gdb.GdbError("null is no object")
        return hex(address)

    def _follow(self, rows: list[dict[str, Any]], path: str, owner: str) -> Any:
        """The value of the field at the end of ``path``, which leads through structs and objects."""
        while True:
            row, rest = field_row(rows, path)
            if row is None:
                raise failure(f"{owner} has no field {path}")
            if row["value"] is None:
                raise failure(f"the value of {row['name']} of {owner} is not known")
            if not rest:
                return _gdb_value(row["value"])
            rows, owner, path = row.get("fields") or [], row["type"], rest
            if not rows:
                if not row["value"]:
                    raise failure(f"{row['name']} is null, so it has no {rest}")
                if not isinstance(row["value"], Address):
                    raise failure(f"{owner} has no field {rest}")
                found = self._ask("dumpobj", hex(row["value"]))
                rows, owner = self._fields(found), found.members["type"]


class FieldFunction(_Function):
    """$hd_field(ID, "NAME"): the value of a field of the object at that address.

    NAME may lead through structs and other objects, as in "customer.address.City", and be the name
    of a property that the compiler made the field for.  The value is a number, or the
    address of an object or of a struct.
    """

    usage = '$hd_field(ID, "NAME")'

    def invoke(self, *args: gdb.Value) -> Any:
        thing, name = self._arguments(args)
        path = _word(name, "the name of a field")
        found = self._ask("dumpobj", self._object(thing))
        return self._follow(self._fields(found), path, found.members["type"])


class StringFunction(_Function):
    """$hd_string(ID): the text of the string at that address."""

    usage = "$hd_string(ID)"

    def invoke(self, *args: gdb.Value) -> Any:
        (thing,) = self._arguments(args)
        address = self._object(thing)
        found = self._ask("dumpobj", address, "-nofields").members
        if found["type"] != "System.String":
            raise failure(f"{address} is not a string but a {found['type']}")
        if found["string"] is None:
            raise failure(f"the characters of the string {address} are missing")
        return _gdb_value(found["string"])


class ElementFunction(_Function):
    """$hd_elem(ID, INDEX): the value of an element of the array at that address.

    INDEX counts from 0, over all dimensions.  The value is as that of $hd_field.
    """

    usage = "$hd_elem(ID, INDEX)"

    def invoke(self, *args: gdb.Value) -> Any:
        thing, index = self._arguments(args)
        number = _number(index, "an index")
        if number < 0:
            raise gdb.GdbError("the index is negative")
        found = self._ask("dumparray", self._object(thing), "-start", str(number), "-length", "1")
        rows = list(found)
        if not rows:
            raise gdb.GdbError(f"no element {number}: the array has {found.members['length']}")
        value = rows[0]["address"] if isinstance(rows[0], dict) else rows[0]
        if value is None:
            raise gdb.GdbError(f"the value of element {number} is not known")
        return _gdb_value(value)


class StaticFunction(_Function):
    """$hd_static("TYPE", "NAME"): the value of a static field of the type of exactly that name.

    NAME may lead further, and the value is as that of $hd_field.
    """

    usage = '$hd_static("TYPE", "NAME")'

    def invoke(self, *args: gdb.Value) -> Any:
        type_value, name = self._arguments(args)
        owner = printable(_word(type_value, "the name of a type"))
        table = self._method_table(owner)
        rows = [row for row in self._fields(self._ask("dumpclass", table)) if row["static"]]
        return self._follow(rows, _word(name, "the name of a field"), owner)

    def _method_table(self, owner: str) -> str:
        if "<" in owner:
            # A generic type has statics for each of its type arguments.
            found = [row for row in self._ask("types", "-type", owner) if row["name"] == owner]
        else:
            found = list(self._ask("name2ee", "*!" + owner))
        tables = sorted({row["mt"] for row in found if row["mt"]})
        if not tables:
            raise failure(f"the runtime has no type {owner} that is in use")
        if len(tables) > 1:
            listed = ", ".join(hex(table) for table in tables)
            raise failure(f"{len(tables)} types are called {owner}: dumpclass shows {listed}")
        return hex(tables[0])


def register(session: Session) -> None:
    TypeFunction(session)
    SizeFunction(session)
    CountFunction(session)
    FieldFunction(session)
    StringFunction(session)
    ElementFunction(session)
    StaticFunction(session)
