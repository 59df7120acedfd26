# SPDX-License-Identifier: MIT
"""Objects of a target: what their fields hold is read when it is asked for.

None is null.  AttributeError, KeyError and IndexError: there is no such field or item.  HeapdumpError: it cannot be read.
"""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Iterator, Sequence

from heapdump.fields import field_row, short_name
from heapdump.native import HeapdumpError, Status
from heapdump.rows import Address
from heapdump.text import printable

if TYPE_CHECKING:
    from heapdump.heap import Heap

STRING = "System.String"
ARRAY = re.compile(r"\[[,*]*\]$")
# Numbers that only look like addresses of objects.
POINTERS = ("System.IntPtr", "System.UIntPtr", "System.Void*")
# The field of a boxed number, and of a boxed enum.
BOXED = ("m_value", "value__")
PAGE = 1024


class Enum(int):
    """The value of an enum; ``name_`` is the name of it, or "" if it has none."""

    name_: str
    type_: str

    def __new__(cls, value: int, name: str, type_name: str) -> "Enum":
        made = super().__new__(cls, value)
        made.name_, made.type_ = name, type_name
        return made

    def __repr__(self) -> str:
        return f"<{printable(self.type_)} {printable(self.name_)} {int(self)}>".replace("  ", " ")

    def __str__(self) -> str:
        return self.name_ or str(int(self))


class _Fields:
    """Something with fields."""

    __slots__ = ("_heap", "_address", "_type")

    def __init__(self, heap: "Heap", address: int, type_name: str) -> None:
        self._heap = heap
        self._address = Address(address)
        self._type = type_name

    @property
    def address_(self) -> Address:
        """Where it is."""
        return self._address

    @property
    def type_(self) -> str:
        """The name of its type."""
        return self._type

    def _rows(self) -> Sequence[dict[str, Any]]:
        raise NotImplementedError

    def _own(self) -> list[dict[str, Any]]:
        return [row for row in self._rows() if not row["static"]]

    def _field(self, name: str) -> Any:
        row, rest = field_row(self._own(), name)
        if row is None:
            raise KeyError(name)
        found = wrap(self._heap, row, self._type)
        if not rest:
            return found
        if not isinstance(found, _Fields):
            raise KeyError(name)
        return found._field(rest)  # pylint: disable=protected-access

    def __getattr__(self, name: str) -> Any:
        # Python itself asks for names such as __deepcopy__; no field has them.
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        try:
            return self._field(name)
        except KeyError:
            raise AttributeError(f"{printable(self._type)} has no field {name}") from None

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._field(key)
        raise TypeError(f"{printable(self._type)} has no items; a field is [NAME]")

    def __dir__(self) -> list[str]:
        names = {short_name(row["name"]) for row in self._own()}
        return sorted([name for name in names if name.isidentifier()] + _OWN)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Fields):
            return NotImplemented
        mine, others = (self._heap, self._address, self._type), (
            other._heap,
            other._address,
            other._type,
        )
        return mine == others

    def __hash__(self) -> int:
        return hash((self._address, self._type))

    def __bool__(self) -> bool:
        return True

    def fields_(self) -> dict[str, Any]:
        """All of its own fields, without those of its statics; one that cannot be read is the HeapdumpError."""
        found: dict[str, Any] = {}
        for row in self._own():
            try:
                found[row["name"]] = wrap(self._heap, row, self._type)
            except HeapdumpError as error:
                found[row["name"]] = error
        return found


class Struct(_Fields):
    """A struct: in an object, in an array, or in another struct."""

    __slots__ = ("_found", "text_")

    def __init__(
        self,
        heap: "Heap",
        address: int,
        type_name: str,
        rows: Sequence[dict[str, Any]],
        text: str | None,
    ) -> None:
        super().__init__(heap, address, type_name)
        self._found = rows
        #: Its value as a person writes it (a DateTime, a Guid, a decimal); None: it has no such text.
        self.text_ = text

    def _rows(self) -> Sequence[dict[str, Any]]:
        return self._found

    def __repr__(self) -> str:
        text = f" {printable(self.text_)}" if self.text_ else ""
        return f"<{printable(self._type)}{text} at {self._address:#x}>"


class Object(_Fields):
    """An object."""

    __slots__ = ("_members",)

    def __init__(self, heap: "Heap", members: dict[str, Any]) -> None:
        super().__init__(heap, members["address"], members["type"] or "")
        self._members = members

    def _rows(self) -> Sequence[dict[str, Any]]:
        members = self._members
        if self._heap.is_live:
            members = self._heap.run("dumpobj", self._address, limit=1).document()
        rows = members.get("fields")
        # An object of a dump file has no place in the heap of a process.
        if not rows and "generation" not in members:
            raise HeapdumpError(
                f"the fields of {printable(self._type)} are not known here", Status.UNSUPPORTED
            )
        return list(rows or [])

    @property
    def size_(self) -> int:
        """Its bytes."""
        return int(self._members["size"])

    def references_(self) -> Iterator[Any]:
        """The objects that it refers to."""
        answer = self._heap.run("dumpobj", self._address, nofields=True)
        for address in answer.document().get("references") or []:
            yield self._heap.object(address)

    def referrers_(self) -> Iterator[Any]:
        """The objects that refer to it."""
        statement = f'SELECT DISTINCT "from" AS object FROM refs WHERE "to" = {int(self._address)}'
        for row in self._heap.run("sql", statement, limit=0):
            yield self._heap.object(row["object"])

    def __repr__(self) -> str:
        return f"<{printable(self._type)} at {self._address:#x}>"


class Array(Object):
    """An array: its elements are items, counted over all of its dimensions."""

    __slots__ = ()

    def __len__(self) -> int:
        return int(self._members["length"])

    @property
    def lengths_(self) -> list[int]:
        """How long each of its dimensions is."""
        return list(self._members.get("lengths") or [len(self)])

    def _read(self, start: int, count: int) -> Iterator[Any]:
        answer = self._heap.run("dumparray", self._address, start=start, length=count)
        element = answer.members.get("element_type") or ""
        for index, row in enumerate(answer.rows("elements"), start):
            inner = row if isinstance(row, dict) else {"value": row}
            value = inner.get("value", inner.get("address"))
            yield wrap(
                self._heap,
                {
                    "name": f"[{index}]",
                    "type": element,
                    "value": value,
                    "fields": inner.get("fields"),
                    "text": inner.get("text"),
                },
                self._type,
            )

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            indices = range(*key.indices(len(self)))
            if indices.step == 1 and indices:
                return list(self._read(indices.start, len(indices)))
            return [self[index] for index in indices]
        if isinstance(key, str):
            return super().__getitem__(key)
        index = int(key) + (len(self) if key < 0 else 0)
        if not 0 <= index < len(self):
            raise IndexError(f"{printable(self._type)} has {len(self)} elements, and no [{key}]")
        for value in self._read(index, 1):
            return value
        raise HeapdumpError(f"element {index} is not there", Status.FAULT)

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), PAGE):
            yield from self._read(start, min(PAGE, len(self) - start))


class Collection(Object):
    """A list, a dictionary, a set, a queue: its items as the program has them."""

    __slots__ = ()

    def _answer(self, limit: int) -> Any:
        return self._heap.run("dumpcollection", self._address, limit=limit)

    def __len__(self) -> int:
        count = self._answer(1).members["count"]
        # Some do not count their items.
        return sum(1 for _ in self._answer(0).rows("items")) if count is None else int(count)

    def _items(self, limit: int = 0) -> Iterator[dict[str, Any]]:
        rows: Iterator[dict[str, Any]] = self._answer(limit).rows("items")
        return rows

    def _part(self, row: dict[str, Any], name: str, type_name: str | None, fields: Any) -> Any:
        text = row.get("key_text" if name == "key" else "text")
        part = {"name": name, "type": type_name or "", "value": row[name], "fields": fields}
        if row[name] is None and text is None and type_name is None:
            return None
        # The text of a string is whole here: it is not looked up again.
        if type_name == STRING and isinstance(text, str):
            return text
        return wrap(self._heap, {**part, "text": text}, self._type)

    def _key(self, row: dict[str, Any]) -> Any:
        return self._part(row, "key", row["key_type"], row.get("key_fields"))

    def _value(self, row: dict[str, Any]) -> Any:
        return self._part(row, "value", row["type"], row.get("fields"))

    def items_(self) -> Iterator[tuple[Any, Any]]:
        """Key and value of each item; of a list, its index and value."""
        for row in self._items():
            key = self._key(row) if _has_key(row) else row.get("index")
            yield key, self._value(row)

    def __iter__(self) -> Iterator[Any]:
        """The values of a list or a set, the keys of a dictionary."""
        for row in self._items():
            yield self._key(row) if _has_key(row) else self._value(row)

    def __getitem__(self, key: Any) -> Any:
        """The item of a key, or at an index; with a name that is no key, the field."""
        if isinstance(key, slice):
            return [self._value(row) for row in self._items()][key]
        has_keys = any(_has_key(row) for row in self._items(1))
        if has_keys:
            for row in self._items():
                if self._key(row) == key:
                    return self._value(row)
        if isinstance(key, str):
            return super().__getitem__(key)
        if has_keys:
            raise KeyError(key)
        index = int(key) + (len(self) if key < 0 else 0)
        for position, row in enumerate(self._items(index + 1) if index >= 0 else ()):
            if position == index:
                return self._value(row)
        raise IndexError(f"{printable(self._type)} has {len(self)} items, and no [{key}]")


def _has_key(row: dict[str, Any]) -> bool:
    """Is it an item of a dictionary?"""
    return row.get("key_type") is not None


_OWN = ["address_", "fields_", "size_", "type_"]


def _is_collection(heap: "Heap", members: dict[str, Any]) -> bool:
    """Do the objects of its type have items?"""
    table = members.get("mt") or 0
    if table not in heap.collections:
        try:
            heap.run("dumpcollection", members["address"], limit=1)
            heap.collections[table] = True
        except HeapdumpError as error:
            if error.status not in (Status.ARGUMENT, Status.NOTFOUND, Status.UNSUPPORTED):
                return False
            heap.collections[table] = False
    return heap.collections[table]


def resolve(heap: "Heap", address: int) -> Any:
    """The object at an address, as Python has it."""
    if not address:
        return None
    answer = heap.run("dumpobj", address, limit=1)
    members = answer.document()
    name = members.get("type") or ""
    if name == STRING and "length" in members:
        if members.get("string") is None:
            raise HeapdumpError(
                f"the characters of the string at {address:#x} cannot be read", Status.FAULT
            )
        return members["string"]
    if ARRAY.search(name) and members.get("length") is not None:
        return Array(heap, members)
    own = [row for row in members.get("fields") or [] if not row["static"]]
    if len(own) == 1 and own[0]["name"] in BOXED and own[0].get("fields") is None:
        row = {**own[0], "type": name} if own[0]["name"] == "m_value" else own[0]
        return wrap(heap, row, name)
    if members.get("fields") is not None and _is_collection(heap, members):
        return Collection(heap, members)
    return Object(heap, members)


def wrap(heap: "Heap", row: dict[str, Any], owner: str) -> Any:
    """The value of a field or an item."""
    value, name, text = row["value"], row["type"] or "", row.get("text")
    if row.get("thread_static"):
        return {
            part["os_id"]: wrap(heap, {**row, **part, "thread_static": False}, owner)
            for part in row.get("threads") or []
        }
    if value is None:
        raise HeapdumpError(
            f"the value of {printable(row['name'])} of {printable(owner)} is not known",
            Status.FAULT,
        )
    if row.get("fields") is not None and isinstance(value, Address):
        return Struct(heap, value, name, row["fields"], text)
    if isinstance(value, Address):
        if name in POINTERS or name.endswith("*"):
            return value
        return resolve(heap, value)
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    if name == "System.Char":
        return chr(value)
    return value if text is None else Enum(value, text, name)


class Statics:
    """The static fields of a heap, by the names of their types and their own."""

    def __init__(self, heap: "Heap") -> None:
        self._heap = heap

    def __getitem__(self, name: str) -> Any:
        """The static field of that name; it may lead further, through fields of structs.

        KeyError: there is no such type in use, or it has no such field.
        """
        owner, _, rest = name.rpartition(".")
        while owner:
            for table in self._tables(owner):
                rows = self._heap.run("dumpclass", table).document().get("fields") or []
                row, after = field_row([row for row in rows if row["static"]], rest)
                if row is not None:
                    found = wrap(self._heap, row, owner)
                    return found[after] if after else found
            owner, _, last = owner.rpartition(".")
            rest = f"{last}.{rest}"
        raise KeyError(name)

    def _tables(self, owner: str) -> list[int]:
        """The MethodTables of the type of exactly that name."""
        if "<" in owner:
            # A generic type has statics for each of its type arguments.
            found = [row for row in self._heap.run("types", type=owner) if row["name"] == owner]
        else:
            try:
                found = list(self._heap.run("name2ee", f"*!{owner}"))
            except HeapdumpError as error:
                if error.status != Status.NOTFOUND:
                    raise
                return []
        return sorted({row["mt"] for row in found if row["mt"]})

    def keys(self) -> list[str]:
        """The names of those that hold an object."""
        rows = self._heap.run(
            "sql", "SELECT DISTINCT name FROM roots WHERE kind = 'static'", limit=0
        )
        return sorted(row["name"] for row in rows if row["name"])

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        try:
            self[str(name)]
        except KeyError:
            return False
        except HeapdumpError:
            return True
        return True
