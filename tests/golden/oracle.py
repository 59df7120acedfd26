# SPDX-License-Identifier: MIT
"""A second reader of text dumps, and every query by its definition: slow, short, and not ours.

It shares nothing with the core.  It reads dumps that are correct (strict reading accepts them).
"""
from __future__ import annotations

from collections import Counter, deque
from typing import Iterable, NamedTuple

KINDS = ("internal", "stack", "finalizer", "handle", "static", "gc")
FLAGS = ((1, "pinned"), (2, "weak"), (4, "interior"))
HEX = frozenset(b"0123456789abcdefABCDEF")

TypeKey = tuple[int, int]  # section, id


class Object(NamedTuple):
    """One object record."""

    type: TypeKey
    size: int
    references: tuple[int, ...]


class Root(NamedTuple):
    """One root record; equal ones are roots each."""

    id: int
    kind: int
    flags: int
    container: TypeKey | None

    @property
    def weak(self) -> bool:
        return bool(self.flags & 2)


class Domain(NamedTuple):
    """One section."""

    name: bytes
    start: int | None
    end: int | None


class Dump:
    """The content of a text dump."""

    def __init__(self, data: bytes) -> None:
        self.objects: dict[int, Object] = {}
        self.types: dict[TypeKey, bytes | None] = {}
        self.roots: list[Root] = []
        self.domains: list[Domain] = []
        self.records: list[Object] = []  # repeated ones too
        for line in data.split(b"\n"):
            words = line.rstrip(b"\r").split()
            if words:
                self._record(words, line.rstrip(b"\r").strip(b" \t"))
        self.referrers: dict[int, list[int]] = {}
        for address in sorted(self.objects):
            for reference in self.objects[address].references:
                self.referrers.setdefault(reference, []).append(address)

    def _record(self, words: list[bytes], line: bytes) -> None:
        section = len(self.domains) - 1
        letter, numbers = words[0], words[1:]
        if letter == b"a":
            name, time = _name(line, 2)
            self.domains.append(Domain(name, time, None))
        elif letter == b"c":
            self.domains[-1] = self.domains[-1]._replace(end=_name(line, 1)[1])
        elif letter == b"t":
            self.types[section, int(words[1], 16)] = line.split(None, 2)[2]
        elif letter == b"o":
            address, type_id, size, *references = (int(word, 16) for word in numbers)
            self.types.setdefault((section, type_id), None)
            record = Object((section, type_id), size, tuple(references))
            self.records.append(record)
            self.objects.setdefault(address, record)
        elif letter == b"r":
            address, kind, flags = (int(word, 16) for word in numbers[:3])
            container = (section, int(numbers[3], 16)) if kind == 4 else None
            if container:
                self.types.setdefault(container, None)
            self.roots.append(Root(address, kind, flags, container))
        else:
            raise ValueError(f"unknown record {line!r}")

    def next(self, address: int) -> tuple[int, ...]:
        """References of an object; an id that is not defined has none."""
        found = self.objects.get(address)
        return found.references if found else ()

    def reach(self, starts: Iterable[int], without: int | None = None) -> set[int]:
        """Ids, also undefined ones, that references lead to from STARTS, not through WITHOUT."""
        seen = {start for start in starts if start != without}
        todo = list(seen)
        while todo:
            for reference in self.next(todo.pop()):
                if reference not in seen and reference != without:
                    seen.add(reference)
                    todo.append(reference)
        return seen

    def strong(self) -> list[int]:
        return [root.id for root in self.roots if not root.weak]

    def alive(self, without: int | None = None) -> set[int]:
        """Defined objects that strong roots reach when WITHOUT is not there."""
        return self.reach(self.strong(), without) & self.objects.keys()

    def distances_to(self, target: int) -> dict[int, int]:
        """Length of the shortest path to TARGET from every object that has one."""
        distances = {target: 0}
        todo = deque([target])
        while todo:
            address = todo.popleft()
            for source in self.referrers.get(address, ()):
                if source not in distances:
                    distances[source] = distances[address] + 1
                    todo.append(source)
        return distances

    def size_of(self, addresses: Iterable[int]) -> int:
        return sum(self.objects[address].size for address in addresses)

    def count_types(self, addresses: Iterable[int]) -> dict[TypeKey, tuple[int, int]]:
        """Objects and bytes by type, without types that have none."""
        counts: Counter[TypeKey] = Counter()
        sizes: Counter[TypeKey] = Counter()
        for address in addresses:
            counts[self.objects[address].type] += 1
            sizes[self.objects[address].type] += self.objects[address].size
        return {key: (counts[key], sizes[key]) for key in counts}

    def dominated(self) -> dict[int, set[int]]:
        """The objects that each live object dominates, itself included: they die when it is taken away."""
        alive = self.alive()
        return {address: alive - self.alive(without=address) for address in alive}

    def unresolved(self) -> tuple[int, int, int]:
        """References (as often as records name them), roots and types that are not defined."""
        references = sum(
            reference not in self.objects
            for found in self.records
            for reference in found.references
        )
        roots = sum(root.id not in self.objects for root in self.roots)
        return references, roots, sum(name is None for name in self.types.values())

    def content(self) -> tuple[object, ...]:
        """All that an export must keep, to be compared; section numbers and order included."""
        types = {key: name for key, name in self.types.items() if name is not None}
        return types, self.objects, Counter(self.roots), self.domains


def _name(line: bytes, skip: int) -> tuple[bytes, int | None]:
    """Name and timestamp after SKIP words: the last of two or more words, if all hex digits."""
    rest = line.split(None, skip)[skip]
    words = rest.split()
    if len(words) < 2 or not set(words[-1]) <= HEX:
        return rest, None
    return rest[: -len(words[-1])].rstrip(b" \t"), int(words[-1], 16)
