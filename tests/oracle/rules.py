# SPDX-License-Identifier: MIT
"""Differences between heapdump and ClrMD that are known and right, each with a name.

rank1-array-spelling         T[*] is printed as T<*> by ClrMD
loader-allocator-edge        object of a collectible type -> its LoaderAllocator: not listed by ClrMD
clrmd-no-name                ClrMD has no name for arrays of emitted types and of function pointers, or a wrong one
clrmd-open-generic           ClrMD prints parameters (T1, T[], Dictionary`2) where arguments are known
clrmd-canonical-field-type   ClrMD prints the shared System.__Canon for the type of a field
clrmd-wrong-argument         ClrMD takes the wrong one of the arguments of the generic type that has the field
clrmd-type-not-loaded        ClrMD prints Object, Object[], System.ValueType[] or System.Void for the type of a
                             field when the runtime has not loaded that type
clrmd-pointer-type           ClrMD prints System.UIntPtr or System.ValueType* for pointers, System.IntPtr for
                             function pointers
clrmd-static-zero            ClrMD has no address for a static field
clrmd-method-name            ClrMD cuts at the last dot of a method's name, adds arguments, has no DynamicClass
clrmd-open-delegate          ClrMD does not read an open delegate of a virtual method
clrmd-empty-context          ClrMD neither lists nor leaves out an allocation context that is used up, and misses what
                             lies between it and the next context after which it has objects again
clrmd-unfinished-object      what a thread has just taken room for has no type yet: ClrMD's walk ends there.  In
                             the large and pinned object heaps it is a run of zeros up to the next object
clrmd-waits-1000             the DAC counts 1000 threads in Monitor.Wait() where there is any: it does not follow
                             their list.  heapdump counts those that wait for the lock
clrmd-managed-lock           of the monitors of .NET 11, which are objects, ClrMD counts nobody who waits, and one entry
                             when nobody holds them
clrmd-no-sync-blocks         ClrMD lists no sync block of a heap core of .NET 11; the core has them
clrmd-one-delegate           ClrMD takes a multicast delegate of .NET 11 for one that calls the runtime's stub
gc-in-progress               after the first unreadable word of a segment, while a GC moves objects
"""
from __future__ import annotations

import bisect
import collections
import os
import pathlib
import re
import subprocess
from typing import Callable, Iterator, Optional

Line = list[str]
POINTER, STRUCT, CLASS, FUNCTION = "15", "17", "18", "27"
ANY_POINTER = ("System.UIntPtr", "System.ValueType*")
NOT_LOADED = ("Object", "Object[]", "System.ValueType[]")
UOH = ("loh", "poh")
ZERO_RUN = "damage 3,"  # DAMAGE_ZERO_RUN (heap/walk.h)
PARAMETER = re.compile(r"T\d*|T[A-Z]\w*|[KV]")


def lines_of(path: pathlib.Path, kinds: str) -> Iterator[str]:
    """The lines of some kinds: few among millions."""
    with subprocess.Popen(
        ["grep", "-a", f"^[{kinds}]", str(path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "LC_ALL": "C"},
        encoding="utf-8",
        errors="surrogateescape",
    ) as process:
        assert process.stdout
        yield from process.stdout


def rank1(name: str) -> str:
    """ClrMD prints an array of one dimension with a lower bound as T<*>."""
    return name.replace("<*>", "[*]")


def skeleton(name: str) -> str:
    """A name without the arity and the arguments of generic types."""
    name = re.sub(r"`\d+", "", name)
    result, depth = "", 0
    for i, char in enumerate(name):
        # Names that a compiler made begin with <.
        if char == "<" and (depth or (i and (name[i - 1].isalnum() or name[i - 1] == "_"))):
            depth += 1
        elif char == ">" and depth:
            depth -= 1
        elif not depth:
            result += char
    return result


def open_generic(theirs: str, ours: str) -> bool:
    """Is ClrMD's name the same but for parameters or an arity in the place of arguments?"""
    if theirs == ours:
        return False
    if PARAMETER.fullmatch(theirs.removesuffix("[]")):
        return theirs.endswith("[]") == ours.endswith("[]")
    has_parameter = re.search(r"`\d|<(T\d+)[,>]", theirs)
    return bool(has_parameter) and skeleton(theirs) == skeleton(ours)


def type_name(theirs: Line, ours: Line) -> Optional[str]:
    """N MT NAME."""
    if rank1(theirs[2]) == ours[2]:
        return "rank1-array-spelling"
    if theirs[2] in ("-", "System.Void((null))[]") and ours[2].endswith("[]"):
        return "clrmd-no-name"
    if open_generic(theirs[2], ours[2]):
        return "clrmd-open-generic"
    return None


def field_type(theirs: str, ours: str, element: str) -> Optional[str]:
    """Type of a field of which all else is the same."""
    if rank1(theirs) == ours:
        return "rank1-array-spelling"
    if element == POINTER and theirs in ANY_POINTER and ours.endswith("*"):
        return "clrmd-pointer-type"
    if element == FUNCTION and theirs == "System.IntPtr" and ours == "fnptr":
        return "clrmd-pointer-type"
    if open_generic(theirs, ours):
        return "clrmd-open-generic"
    if theirs == "-":
        return "clrmd-no-name"
    if "System.__Canon" in theirs:
        if theirs == "System.__Canon" or skeleton(theirs) == skeleton(ours):
            return "clrmd-canonical-field-type"
    if element == CLASS and theirs == ours.rsplit(".", 1)[-1] and theirs.endswith("[][]"):
        return "clrmd-type-not-loaded"
    if element == CLASS and theirs in NOT_LOADED and theirs.endswith("[]") == ours.endswith("[]"):
        return "clrmd-type-not-loaded"
    return None


def wrong_argument(theirs: str, ours: str, owner: str) -> bool:
    """Do both take arguments of the owner, but not the same ones?"""
    if theirs == ours or "<" not in owner:
        return False
    if theirs in owner and ours in owner:
        return True
    inner = ours[ours.find("<") + 1 : ours.rfind(">")]
    return skeleton(theirs) == skeleton(ours) and all(a in owner for a in inner.split(", "))


def same_method(theirs: str, ours: str) -> bool:
    """Type.Method, as far as ClrMD prints it."""
    theirs = re.sub(r"\[\[.*\]\]$", "", theirs)
    return theirs.rsplit(".", 1)[-1] == ours.rsplit(".", 1)[-1]


def waits(theirs: Line, ours: Line) -> Optional[str]:
    """K INDEX OBJECT HELD THREAD RECURSION WAITERS; the first four are the same."""
    if theirs[5:] == [ours[5], "1000"] and ours[6] == "0":
        return "clrmd-waits-1000"
    is_same = theirs[5] == ours[5] or (ours[3], theirs[5], ours[5]) == ("0", "1", "0")
    return "clrmd-managed-lock" if is_same and theirs[6] == "0" else None


class Explanation:
    """The differences of one core, and what explains them."""

    def __init__(self, ours: pathlib.Path) -> None:
        self._theirs: dict[str, list[Line]] = collections.defaultdict(list)
        self._ours: dict[str, list[Line]] = collections.defaultdict(list)
        self._counts: dict[str, collections.Counter[str]] = collections.defaultdict(
            collections.Counter
        )
        self._names: dict[str, str] = {}
        self._errors: list[int] = []
        self._zero_runs: set[int] = set()
        self._segments: list[tuple[int, int]] = []
        self._uoh: list[tuple[int, int]] = []
        self.is_walkable = True
        self.is_server = False
        self._path = ours
        self.unfinished: set[int] = set()
        for line in lines_of(ours, "ENSI"):
            self._remember(line.rstrip("\n").split("\t"))

    def _remember(self, line: Line) -> None:
        if line[0] == "N":
            self._names[line[1]] = line[2]
        elif line[0] == "S":
            self._segments.append((int(line[3], 16), int(line[4], 16)))
            if line[2] in UOH:
                self._uoh.append(self._segments[-1])
        elif line[0] == "E":
            self._errors.append(int(line[1], 16))
            if line[2].startswith(ZERO_RUN):
                self._zero_runs.add(int(line[1], 16))
        elif line[1] == "walkable":
            self.is_walkable = line[2] == "1"
        elif line[1] == "server":
            self.is_server = line[2] == "1"

    def add(self, is_ours: bool, line: Line) -> None:
        """A line that only one side has."""
        (self._ours if is_ours else self._theirs)[line[0]].append(line)

    def take(self, kind: str, is_ours: bool, which: Callable[[Line], bool]) -> list[Line]:
        """Take out lines of one side that are not difference."""
        lines = self._ours if is_ours else self._theirs
        taken = [line for line in lines[kind] if which(line)]
        lines[kind] = [line for line in lines[kind] if not which(line)]
        return taken

    def left(self, kind: str) -> list[tuple[bool, Line]]:
        """The differences that no rule explains."""
        return [(False, line) for line in self._theirs[kind]] + [
            (True, line) for line in self._ours[kind]
        ]

    def counts(self, kind: str) -> dict[str, int]:
        """How often each rule applied."""
        return dict(self._counts[kind])

    def apply(self) -> None:
        """Take out what the rules explain."""
        self.filter("R", True, self._loader_allocator)
        self.pairs("N", 2, type_name)
        self.pairs("F", 6, self._field)
        self.pairs("F", 4, self._unloaded_struct)
        self.pairs("Q", 6, self._static)
        self.pairs("D", 2, self._delegate)
        self.pairs("K", 5, waits)
        self._no_sync_blocks()
        self._multicast()
        self._open_delegates()
        self._empty_contexts()
        if not self.is_walkable:
            self._gc_in_progress()

    def filter(self, kind: str, is_ours: bool, rule: Callable[[Line], Optional[str]]) -> None:
        """Take out the lines of one side that the rule has a name for."""
        lines = self._ours if is_ours else self._theirs
        rest = []
        for line in lines[kind]:
            name = rule(line)
            if name:
                self._counts[kind][name] += 1
            else:
                rest.append(line)
        lines[kind] = rest

    def pairs(
        self, kind: str, key: int | tuple[int, ...], rule: Callable[[Line, Line], Optional[str]]
    ) -> None:
        """Match lines by some fields, or by so many of the first, and ask the rule about each pair."""
        table: dict[tuple[str, ...], list[Line]] = collections.defaultdict(list)
        indices = range(key) if isinstance(key, int) else key
        for line in self._ours[kind]:
            table[tuple(line[i] for i in indices)].append(line)
        rest = []
        for line in self._theirs[kind]:
            others = table[tuple(line[i] for i in indices)]
            name = rule(line, others[0]) if others else None
            if name:
                self._counts[kind][name] += 1
                del others[0]
            else:
                rest.append(line)
        self._theirs[kind] = rest
        self._ours[kind] = [line for others in table.values() for line in others]

    @staticmethod
    def _loader_allocator(line: Line) -> Optional[str]:
        return "loader-allocator-edge" if line[2] == "-1" else None

    def _field(self, theirs: Line, ours: Line) -> Optional[str]:
        name = field_type(theirs[6], ours[6], theirs[4])
        if not name and wrong_argument(theirs[6], ours[6], self._names.get(ours[1], "")):
            return "clrmd-wrong-argument"
        return name

    @staticmethod
    def _unloaded_struct(theirs: Line, ours: Line) -> Optional[str]:
        """A class in the signature that is only a TypeRef: ClrMD makes a struct of it."""
        if theirs[5] == ours[5] and (theirs[4], ours[4], theirs[6]) == (
            STRUCT,
            CLASS,
            "System.Void",
        ):
            return "clrmd-type-not-loaded"
        return None

    @staticmethod
    def _static(theirs: Line, ours: Line) -> Optional[str]:
        if theirs[6] == "0" and ours[6] != "0" and theirs[7] == ours[7]:
            return "clrmd-static-zero"
        if theirs[6] in ("0", ours[6]):
            return field_type(theirs[7], ours[7], theirs[4])
        return None

    @staticmethod
    def _delegate(theirs: Line, ours: Line) -> Optional[str]:
        same = theirs[2:4] == ours[2:4] and same_method(theirs[4], ours[4])
        return "clrmd-method-name" if same else None

    def _no_sync_blocks(self) -> None:
        """B OBJECT INDEX and K: all of ours, and none of theirs."""
        if self._theirs["B"] or len(self._ours["B"]) < sum(1 for _ in lines_of(self._path, "B")):
            return
        for kind in "BK":
            self.filter(kind, True, lambda line: "clrmd-no-sync-blocks")

    def _multicast(self) -> None:
        """D that is its own target, where we have M."""
        ours = {line[1] for line in self._ours["M"]}
        found = {line[1] for line in self._theirs["D"] if line[1] == line[2] and line[1] in ours}
        for kind, is_ours in (("D", False), ("M", True)):
            self.filter(
                kind, is_ours, lambda line: "clrmd-one-delegate" if line[1] in found else None
            )

    def _open_delegates(self) -> None:
        """Its own target, or closed over null, and ClrMD fails or takes it for a multicast one."""
        ours = {line[1] for line in self._ours["D"] if line[2] in (line[1], "0")}
        found = set()
        for kind in "EM":
            addresses = {line[1] for line in self._theirs[kind]} & ours
            self._theirs[kind] = [l for l in self._theirs[kind] if l[1] not in addresses]
            if addresses:
                self._counts[kind]["clrmd-open-delegate"] += len(addresses)
            found |= addresses
        self._ours["D"] = [line for line in self._ours["D"] if line[1] not in found]
        if found:
            self._counts["D"]["clrmd-open-delegate"] += len(found)

    def _empty_contexts(self) -> None:
        """A POINTER LIMIT: what lies after, where the next object may begin, is none."""

        def empty(line: Line) -> Optional[str]:
            return "clrmd-empty-context" if line[1] == line[2] else None

        found = {line[1] for line in self._ours["A"] if empty(line)}
        self.filter("A", True, empty)
        self.filter("E", False, lambda line: "clrmd-empty-context" if line[1] in found else None)
        contexts = [int(line.split("\t")[1], 16) for line in lines_of(self._path, "A")]
        self._behind("clrmd-empty-context", contexts, [int(address, 16) for address in found])
        self._unfinished(contexts)

    def _unfinished(self, contexts: list[int]) -> None:
        """An object right before a context's pointer, or in UOH, that has no type yet."""
        errors = {int(line[1], 16) for line in self._theirs["E"]}
        if not errors or not self.is_walkable:
            return
        contexts = sorted(contexts)
        objects = sorted(int(line.split("\t")[1], 16) for line in lines_of(self._path, "O"))
        name, ends = "clrmd-unfinished-object", []
        for error in errors:
            if error in self._zero_runs and any(a <= error < b for a, b in self._uoh):
                self.unfinished.add(error)
                ends.append(error)
                continue
            index = bisect.bisect_right(contexts, error)
            last = bisect.bisect_left(objects, error)
            if index < len(contexts) and objects[last : last + 1] > contexts[index : index + 1]:
                self.unfinished.add(error)
                ends.append(contexts[index])

        def unfinished(line: Line) -> Optional[str]:
            return name if int(line[1], 16) in self.unfinished else None

        self.filter("E", False, unfinished)
        self.filter("E", True, unfinished)
        self._behind(name, [], ends)

    def _behind(self, name: str, contexts: list[int], places: list[int]) -> None:
        """ClrMD misses objects from some places on: it goes on after the next of the contexts, if at all."""
        ends = sorted(contexts + [end for _, end in self._segments] + [1 << 64])
        spans = [(at, self._goes_on(at, ends, contexts)) for at in places]

        def behind(line: Line) -> Optional[str]:
            inside = any(at < int(line[1], 16) < end for at, end in spans)
            return name if inside else None

        for kind in "ORPTLBXDM":
            self.filter(kind, True, behind)

    def _goes_on(self, at: int, ends: list[int], contexts: list[int]) -> int:
        """The context or end of a segment after which ClrMD has an object again; not every context is one."""
        index = bisect.bisect_right(ends, at)
        if ends[index] not in contexts:
            return ends[index]
        missed = {int(line[1], 16) for line in self._ours["O"]}
        objects = sorted(int(line.split("\t")[1], 16) for line in lines_of(self._path, "O"))
        while ends[index] in contexts:
            first = bisect.bisect_right(objects, ends[index])
            last = bisect.bisect_left(objects, ends[index + 1])
            if first == last or not all(address in missed for address in objects[first:last]):
                break
            index += 1
        return ends[index]

    def _gc_in_progress(self) -> None:
        """Allow what lies after the first error of its segment; and types seen only there."""
        errors = self._errors + [int(line[1], 16) for line in self._theirs["E"]]
        first: dict[int, int] = {}
        self._segments.sort()
        starts = [begin for begin, _ in self._segments]

        def segment(address: int) -> int:
            return bisect.bisect_right(starts, address) - 1

        for error in errors:
            index = segment(error)
            first[index] = min(error, first.get(index, error))

        def behind(line: Line) -> Optional[str]:
            address = int(line[1], 16)
            limit = first.get(segment(address))
            return "gc-in-progress" if limit is not None and address >= limit else None

        for kind in "EORTPXDMLB":
            self.filter(kind, False, behind)
            self.filter(kind, True, behind)
        # The GC allocates in contexts of its own (doc/collections.md, "A blocking GC"), which ClrMD does not list; that
        # of generation 0 it takes for one of a thread, which heapdump does not.
        self.filter("A", True, lambda _: "gc-in-progress")
        self.filter("A", False, lambda _: "gc-in-progress")
        for kind in "NFQ":
            self.filter(kind, False, lambda _: "gc-in-progress")
            self.filter(kind, True, lambda _: "gc-in-progress")
