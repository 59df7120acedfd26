# SPDX-License-Identifier: MIT
"""Pretty-printers for values of .NET, whose types GDB knows from the file about managed code (doc/managed-elf.md 11)."""
from __future__ import annotations

import re
from typing import Any, Callable, Iterator

import gdb
import gdb.printing

from heapdump import native
from heapdump_gdb.code import SETTINGS
from heapdump.rows import Address, AddressRows
from heapdump_gdb.session import Session, host_text
from heapdump_gdb.target import connection
from heapdump.text import printable

# The first member of a class, or of its base class: in that file, and in the DWARF of a NativeAOT program, whose variables are
# references of C++ to objects.
TABLE = "MethodTable"
OWN_TABLE = "m_pEEType"
# Signs that names in DWARF of NativeAOT do not have.
UNNAMED = re.compile(r"\W")
# Bases that are looked through for it.
DEPTH_MAX = 64
# GDB asks for so many items when "print elements" has no limit.
ITEMS_MAX = 1 << 20
# So many characters are shown of the methods of a delegate.
TEXT_MOST = 1000


def _shown(text: str) -> str:
    return host_text(printable(text))


def _limit() -> int:
    found = gdb.parameter("print elements")
    return found if isinstance(found, int) and found > 0 else ITEMS_MAX


def _is_class(found: gdb.Type) -> bool:
    """Does the struct, or the first of its bases, begin with the MethodTable?"""
    for _ in range(DEPTH_MAX):
        fields = found.fields()
        if not fields:
            return False
        if not fields[0].is_base_class:
            return fields[0].name in (TABLE, OWN_TABLE) and fields[0].bitpos == 0
        found = fields[0].type.strip_typedefs()
    return False


def _is_called(static: gdb.Type, name: str) -> bool:
    """Is that the type's name?  The DWARF of NativeAOT has the assembly in front, and _ for each sign."""
    known = static.name or ""
    if known == name:
        return True
    own = UNNAMED.sub("_", name)
    return known == own.removeprefix("System_") or known.endswith("_" + own)


class _Text:
    """A text in quotes, with what is cut off of it told."""

    def __init__(self, text: str) -> None:
        self._text = text

    def to_string(self) -> str:
        return host_text(self._text)

    def display_hint(self) -> str:
        return "string"


class _Words:
    """A value that is told in words, or by another value."""

    def __init__(self, words: str | gdb.Value) -> None:
        self._words = words

    def to_string(self) -> str | gdb.Value:
        return self._words


class _Items:
    """A collection or an array: its type, how many it has, and its items."""

    def __init__(self, words: str, items: list[tuple[Any, Any]], is_map: bool) -> None:
        self._words = words
        self._items = items
        self._is_map = is_map

    def to_string(self) -> str:
        return self._words

    def children(self) -> Iterator[tuple[str, Any]]:
        for index, (key, value) in enumerate(self._items):
            if self._is_map:
                yield f"key{index}", key
            yield f"[{index}]", value

    def display_hint(self) -> str:
        return "map" if self._is_map else "array"


class Printers(gdb.printing.PrettyPrinter):
    """
    Chooses the printer of a value; the library says what the value is.  GDB asks for it while it goes through frames,
    so this has a session of its own, which selects no thread.
    """

    def __init__(self, session: Session) -> None:
        super().__init__("heapdump")
        self._main = session
        self._session: Session | None = None  # made when it is needed
        self._kinds: dict[int, Callable[[str, str, gdb.Type], Any] | None] = {}  # by MethodTable
        self._tables: dict[str, str | None] = {}  # MethodTables of structs, by name
        self._target: tuple[int, int] | None = None

    def _ask(self, *words: str) -> Any:
        assert self._session is not None
        return self._session.query(list(words), AddressRows)

    def _is_ready(self) -> bool:
        """Is what GDB debugs the thing that commands are about?  What was learned of another one is forgotten."""
        inferior = gdb.selected_inferior()
        if not inferior.is_valid() or connection(inferior) is None:
            return False
        if self._main.get("code") != "on":
            return False
        if self._session is None:
            self._session = Session(self._main.lib, has_threads=False)
        for name in SETTINGS:
            wanted = self._main.get(name)
            if self._session.get(name) != wanted:
                self._session.set(name, wanted)
        which = (inferior.num, getattr(inferior, "connection_num", 0) or 0)
        if which != self._target:
            self._target = which
            self._kinds.clear()
            self._tables.clear()
        return True

    def __call__(self, value: gdb.Value) -> Any:
        found = value.type.strip_typedefs()
        is_reference = found.code == gdb.TYPE_CODE_REF
        if is_reference:
            value = value.referenced_value()
            found = value.type.strip_typedefs()
        try:
            if is_reference and found.code == gdb.TYPE_CODE_STRUCT and _is_class(found):
                return self._object(int(value.address) & native.MASK64, found)
            if found.code == gdb.TYPE_CODE_PTR:
                target = found.target().strip_typedefs()
                if target.code == gdb.TYPE_CODE_STRUCT and _is_class(target):
                    return self._object(int(value) & native.MASK64, target)
            elif found.code == gdb.TYPE_CODE_STRUCT and found.name and not _is_class(found):
                return self._struct(value, found)
        except (gdb.GdbError, gdb.error, native.HeapdumpError):
            pass  # GDB shows the value as it is
        return None

    def _object(self, address: int, static: gdb.Type) -> Any:
        if not address:
            return _Words("null")
        if not self._is_ready():
            return None
        word = hex(address)
        found = self._ask("dumpobj", word, "-nofields").members
        if found.get("string") is not None:
            return _Text(found["string"])
        table, name = int(found["mt"]), found["type"] or ""
        if table not in self._kinds:
            self._kinds[table] = self._kind(word)
        kind = self._kinds[table]
        return kind(word, name, static) if kind else self._plain(word, name, static)

    def _kind(self, word: str) -> Callable[[str, str, gdb.Type], Any] | None:
        """Which of the commands about values knows the object: that decides how it is shown."""
        kinds = (
            (("dumpcollection", word, "-limit", "1"), self._collection),
            (("printexception", word), self._exception),
            (("dumpdelegate", word), self._delegate),
            (("taskstate", word), self._task),
        )
        for words, kind in kinds:
            try:
                self._ask(*words)
                return kind
            except gdb.GdbError:
                continue
        return None

    def _plain(self, word: str, name: str, static: gdb.Type) -> Any:
        """An object whose class is not that of the variable: GDB shows the others as it does."""
        found = self._ask("dumpobj", word)
        text = found.members.get("text")
        if text:
            return _Words(_shown(text))
        if _is_called(static, name):
            return None
        fields = list(found.rows("fields")) if "fields" in found.tables else []
        values = [row["value"] for row in fields if not row["static"]]
        if len(values) == 1 and not isinstance(values[0], (Address, type(None))):
            return _Words(f"({_shown(name)}) {values[0]}")
        return _Words(f"({_shown(name)} *) {word}")

    def _collection(self, word: str, name: str, _static: gdb.Type) -> Any:
        found = self._ask("dumpcollection", word, "-limit", str(_limit()))
        items = []
        is_map = False
        for row in found:
            is_map = is_map or row.get("key") is not None
            key = self._item(row.get("key"), row.get("key_text"), row.get("key_type"))
            items.append((key, self._item(row.get("value"), row.get("text"), row.get("type"))))
        return _Items(f"{_shown(name)} Count = {found.members['count']}", items, is_map)

    def _item(self, value: Any, text: str | None, name: str | None) -> Any:
        if text is not None:
            quoted = text.replace("\\", "\\\\").replace('"', '\\"')
            return f'"{_shown(quoted)}"' if name == "System.String" else _shown(text)
        if isinstance(value, Address):
            if not value:
                return "null"
            try:
                struct = gdb.lookup_type(f"struct {name}")
                pointer = gdb.Value(int(value)).cast(struct.pointer())
                return pointer if _is_class(struct) else pointer.dereference()
            except gdb.error:
                return gdb.Value(int(value)).cast(gdb.lookup_type("void").pointer())
        return "?" if value is None else value

    def _exception(self, word: str, _name: str, _static: gdb.Type) -> Any:
        found = self._ask("printexception", word)
        row = next(iter(found), None) or found.members
        if row.get("type") is None:
            return None
        message = row.get("message")
        return _Words(f"{_shown(row['type'] or '')}: {_shown(message or '<no message>')}")

    def _delegate(self, word: str, name: str, _static: gdb.Type) -> Any:
        text = f"{_shown(name)} -> "
        for i, row in enumerate(self._ask("dumpdelegate", word)):
            method = _shown(row["name"] or "?")
            if len(text) + len(method) > TEXT_MOST:
                return _Words(f"{text}{', ' if i else ''}...")
            text += f"{', ' if i else ''}{method}"
        return _Words(text)

    def _task(self, word: str, name: str, _static: gdb.Type) -> Any:
        found = self._ask("taskstate", word).members
        return _Words(f"{_shown(name)} {_shown(str(found.get('status') or found.get('state')))}")

    def _struct(self, value: gdb.Value, found: gdb.Type) -> Any:
        """A struct of the framework that has a text: a time, an id, a decimal number."""
        names = [field.name for field in found.fields()]
        if found.name.startswith("System.Nullable<") and len(names) == 2:
            has_value, inner = (value[field] for field in found.fields())
            return _Words(inner if bool(has_value) else "null")
        if value.address is None or not found.name.startswith("System.") or not self._is_ready():
            return None
        if found.name not in self._tables:
            self._tables[found.name] = self._table(found.name, int(value.address))
        table = self._tables[found.name]
        if table is None:
            return None
        text = self._ask("dumpvc", table, hex(int(value.address))).members.get("text")
        return _Words(_shown(text)) if text else None

    def _table(self, name: str, address: int) -> str | None:
        """The MethodTable of the struct of that name, if its values have texts."""
        if "<" in name:
            return None
        try:
            tables = {row["mt"] for row in self._ask("name2ee", "*!" + name) if row["mt"]}
            for table in tables:
                if self._ask("dumpvc", hex(table), hex(address)).members.get("text"):
                    return hex(table)
        except gdb.GdbError:
            pass
        return None


def register(session: Session) -> None:
    gdb.printing.register_pretty_printer(None, Printers(session), replace=True)
