# SPDX-License-Identifier: MIT
"""Differences between the roots that heapdump and ClrMD find, that are known and right, each with a name.

clrmd-crash              the DAC dies of SIGSEGV before it has told this, or is not at an end after minutes
clrmd-static-zero        ClrMD has no address for a static field of a class whose constructor has not run (of
                         .NET 8: of one that ReadyToRun code has initialised, too)
clrmd-saved-register     ClrMD has no slot for a register that a frame further in has saved on the stack
clrmd-no-walk            ClrMD begins with the innermost explicit Frame of a thread that stands in managed code, or in
                         a helper of the runtime, and finds no frame further in, or none at all
clrmd-handle-tables      with server GC ClrMD reads the handle tables of as many processors as there are heaps now,
                         of which a GC that adapts itself gives up some
clrmd-hijacked           ClrMD ends a walk at a return address that the runtime has put there to stop the thread
                         in a method, which has called others since
clrmd-unmade-frame       ClrMD reads the variables of a thread's first frame in its prologue and epilogue, too
clrmd-arity              ClrMD prints Span`1<Byte>, or Pool`1+Bucket[[System.Char, System.Private.CoreLib]], where
                         heapdump prints Span<Byte> and Pool<System.Char>+Bucket
clrmd-parameter          ClrMD prints a parameter of a nested class without the outer one
clrmd-byref-outside      ClrMD takes what a pointer to a stack points to for the object that it points into
clrmd-frame-root         ClrMD counts what an explicit Frame of .NET 8 or 9 protects as a root of a method
clrmd-dispatcher-frame   on .NET 9 ClrMD lists the roots of System.Runtime.EH's methods between a handler and its
                         method; they are unwound already
clrmd-no-gc-frame        alive through a variable of the runtime itself (GCFrame), an exception in flight, or the
                         arguments of a call: ClrMD does not list those roots
clrmd-no-thread-array    alive through the array that a thread's statics lie in: ClrMD does not list those roots
clrmd-generic-slot       ClrMD gives one slot for a thread-static field of all instantiations of a generic type of
                         .NET 8, and one of another type's for those of its definition, which has none
gc-in-progress           a GC moves objects: what lies where depends on how far it is
"""
from __future__ import annotations

import bisect
import collections
import pathlib
import re
from typing import Iterable, Iterator, Optional

import rules
from rules import Line


class Known:
    """Facts of heapdump next to those that are compared."""

    def __init__(self, ours: pathlib.Path) -> None:
        self.major = 0
        self.fields: dict[str, set[tuple[str, str]]] = {
            "uninitialised": set(),
            "collectible": set(),
        }
        self.thread_arrays: set[str] = set()
        self.outside: set[tuple[str, str]] = set()
        self.other_roots: set[tuple[str, str, str]] = set()
        self.hijacked: dict[str, int] = {}
        self.unmade: set[str] = set()
        self.frames: dict[str, list[tuple[int, str]]] = collections.defaultdict(list)
        self._path = ours
        for line in rules.lines_of(ours, "ugijkomv"):
            self._remember(line.rstrip("\n").split("\t"))
        for frames in self.frames.values():
            frames.sort()

    def _remember(self, line: Line) -> None:
        if line[0] == "u":
            self.fields[line[3]].add((line[1], line[2]))
        elif line[0] == "i":
            self.thread_arrays.add(line[1])
        elif line[0] == "j":
            self.hijacked[line[1]] = int(line[2], 16)
        elif line[0] == "k":
            self.unmade.add(line[1])
        elif line[0] == "o":
            # ClrMD may have it in a register.
            self.outside |= {(line[1], line[2]), (line[1], "0")}
        elif line[0] == "v":
            self.major = int(line[1])
        elif line[0] == "m":
            self.frames[line[1]].append((int(line[2], 16), line[3]))
        else:
            self.other_roots.add((line[1], line[3], line[4]))

    def method_at(self, thread: str, slot: int) -> str:
        """The method whose frame holds an address of a stack."""
        frames = self.frames[thread]
        index = bisect.bisect_right(frames, slot, key=lambda frame: frame[0])
        return frames[index - 1][1] if index else ""

    def lines(self, kinds: str) -> Iterator[str]:
        """All lines of some kinds."""
        return rules.lines_of(self._path, kinds)

    def edges(self, within: set[str]) -> dict[str, list[str]]:
        """References inside a set of objects."""
        result: dict[str, list[str]] = collections.defaultdict(list)
        for line in self.lines("R"):
            if line[2 : line.index("\t", 2)] in within:
                _, source, _, target = line.rstrip("\n").split("\t")
                if target in within:
                    result[source].append(target)
        return result


# Types of handles that keep nothing alive; of a dependent one its object does.
WEAK = ("0", "1", "9", "10")
# Type arguments that have none of their own, [A, ASSEMBLY],[B[], ASSEMBLY], in brackets, and the name before them.
ARGUMENT = r"\[(?:[^\[\]]|\[,*\])+, [^\[\],]+\]"
INSTANTIATION = re.compile(rf"([^ (,\[\]]*)\[({ARGUMENT}(?:,{ARGUMENT})*)\]")


def spelling(signature: str) -> str:
    """A signature of ClrMD's nearly as heapdump spells it: Outer`1+Inner`1[[A, X],[B, X]] is Outer<A>+Inner<B>."""

    def angular(match: re.Match[str]) -> str:
        arguments = [argument.rsplit(", ", 1)[0] for argument in match[2][1:-1].split("],[")]

        def take(count: int) -> str:
            taken, arguments[:count] = arguments[:count], []
            return f"<{','.join(taken)}>" if taken else ""

        name = re.sub(r"`(\d+)", lambda arity: take(int(arity[1])), match[1])
        return name + take(len(arguments))

    count = 1
    while count:
        signature, count = INSTANTIATION.subn(angular, signature)
    return re.sub(r"`\d+", "", signature).replace(", ", ",")


def skeleton(signature: str) -> list[str]:
    """The parameters without generic arguments and outer classes."""
    parameters = signature.partition("(")[2]
    while "<" in parameters:
        shorter = re.sub(r"<[^<>]*>", "", parameters)
        if shorter == parameters:
            break
        parameters = shorter
    return [re.sub(r".*[.+]", "", name) for name in parameters.split(",")]


def reached(edges: dict[str, list[str]], seeds: set[str]) -> set[str]:
    """The objects that they lead to."""
    found, todo = set(seeds), list(seeds)
    while todo:
        for address in edges[todo.pop()]:
            if address not in found:
                found.add(address)
                todo.append(address)
    return found


class RootRules:
    """The rules, and what they look at."""

    def __init__(self, explain: rules.Explanation, ours: pathlib.Path) -> None:
        self._explain = explain
        self._known = Known(ours)
        # Roots that only one side has, by the rule that explains them.
        self._seeds: dict[str, set[str]] = collections.defaultdict(set)

    def statics(self) -> None:
        """q MT TOKEN NAME ADDRESS, and n MT NAME of their types."""
        explain, known = self._explain, self._known
        zero = explain.take("q", False, lambda line: line[4] == "0")
        fields, types = {(line[1], line[2]) for line in zero}, {line[1] for line in zero}

        def static(line: Line) -> Optional[str]:
            field = (line[1], line[2])
            unset = known.major == 8 or field in known.fields["uninitialised"]
            return "clrmd-static-zero" if field in fields and unset else None

        explain.filter("q", True, static)
        explain.filter("n", True, lambda line: "clrmd-static-zero" if line[1] in types else None)
        explain.pairs("n", 2, rules.type_name)

    def thread_statics(self) -> None:
        """t MT TOKEN NAME THREAD ADDRESS."""
        explain = self._explain
        if self._known.major != 8:
            return
        owners: dict[tuple[str, str], set[str]] = collections.defaultdict(set)
        theirs = [line for is_ours, line in explain.left("t") if not is_ours]
        for line in theirs:
            owners[line[2], line[5]].add(line[1])
        wrong = {line[1] for line in theirs if len(owners[line[2], line[5]]) > 1}
        names = [line for is_ours, line in explain.left("n") if not is_ours]
        wrong |= {line[1] for line in names if re.search(r"<T1(, ?T\d+)*>$", line[2])}

        def generic(line: Line) -> Optional[str]:
            return "clrmd-generic-slot" if line[1] in wrong else None

        for kind in "tn":
            explain.filter(kind, False, generic)
        explain.filter("t", True, generic)

    def frames(self) -> None:
        """c THREAD SP IP, m THREAD SP SIGNATURE."""
        explain = self._explain

        def spelled(theirs: Line, ours: Line) -> Optional[str]:
            left, right = spelling(theirs[3]), ours[3].replace(", ", ",")
            if left == right:
                return "clrmd-arity"
            same = left.split("(")[0] == right.split("(")[0] and skeleton(left) == skeleton(right)
            return "clrmd-parameter" if same else None

        explain.pairs("m", 3, spelled)
        self._not_walked()
        self._hijacked()

    def _not_walked(self) -> None:
        """Frames further in than the first that ClrMD has."""
        explain = self._explain
        missed: dict[str, list[int]] = collections.defaultdict(list)
        for is_ours, line in explain.left("c"):
            if is_ours:
                missed[line[1]].append(int(line[2], 16))
        # For each thread, up to where.
        ends: dict[str, int] = {}
        for thread, places in missed.items():
            frames = [place for place, _ in self._known.frames[thread]]
            if sorted(places) == frames[: len(places)]:
                ends[thread] = (frames + [1 << 64])[len(places)]

        def inner(line: Line) -> Optional[str]:
            return "clrmd-no-walk" if int(line[2], 16) < ends.get(line[1], 0) else None

        self._seed("clrmd-no-walk", (l for o, l in explain.left("s") if o and inner(l)))
        for kind in "cms":
            explain.filter(kind, True, inner)

    def handles(self) -> None:
        """h HANDLE OBJECT TYPE SECONDARY: whole segments, of 64 KiB."""
        explain = self._explain
        if not explain.is_server:
            return

        def segment(handle: str) -> int:
            return int(handle, 16) >> 16

        there = collections.Counter(segment(line.split("\t")[1]) for line in self._known.lines("h"))
        left = [line for is_ours, line in explain.left("h") if is_ours]
        missed = collections.Counter(segment(line[1]) for line in left)
        gone = {key for key, count in missed.items() if count == there[key]}

        def table(line: Line) -> Optional[str]:
            return "clrmd-handle-tables" if segment(line[1]) in gone else None

        for line in filter(table, left):
            if line[3] not in WEAK:
                self._seeds["clrmd-handle-tables"] |= {line[2], line[4]}
        explain.filter("h", True, table)

    def _hijacked(self) -> None:
        """Frames further out, and their roots: saved registers lie in the frame that is hijacked."""
        hijacked = self._known.hijacked

        def outer(line: Line) -> Optional[str]:
            place = int(line[2], 16) - (line[0] != "s")
            return "clrmd-hijacked" if place >= hijacked.get(line[1], 1 << 64) else None

        self._seed("clrmd-hijacked", (l for o, l in self._explain.left("s") if o and outer(l)))
        for kind in "cms":
            self._explain.filter(kind, True, outer)

    def _seed(self, name: str, lines: Iterable[Line]) -> None:
        self._seeds[name] |= {line[3] for line in lines}

    def registers(self) -> None:
        """s THREAD 0 OBJECT FLAGS: two registers with one object are one line."""
        saved = {(l[1], l[3], l[4]) for is_ours, l in self._explain.left("s") if is_ours}
        registers = self._explain.take("s", False, lambda line: line[2] == "0")
        found = {(line[1], line[3], line[4]) for line in registers}
        # Roots that are in a register of the thread itself, too, which both sides have.
        for text in self._known.lines("s"):
            line = text.rstrip("\n").split("\t")
            if line[2] == "0":
                found.add((line[1], line[3], line[4]))

        def register(line: Line) -> Optional[str]:
            return "clrmd-saved-register" if (line[1], line[3], line[4]) in found else None

        self._explain.filter("s", True, register)
        for line in registers:
            if (line[1], line[3], line[4]) not in saved:
                self._explain.add(False, line)

    def stacks(self) -> None:
        """s THREAD SLOT OBJECT FLAGS."""
        known = self._known
        byref = "clrmd-byref-outside"
        unfinished: set[tuple[str, str]] = set()

        def frame(line: Line) -> Optional[str]:
            if int(line[3], 16) in self._explain.unfinished:
                unfinished.add((line[1], line[2]))
                return "clrmd-unfinished-object"
            if line[1] in known.unmade:
                return "clrmd-unmade-frame"
            if (line[1], line[2], line[3]) in known.other_roots:
                return "clrmd-frame-root"
            if line[4] == "1" and (line[1], line[2]) in known.outside:
                return byref
            method = known.method_at(line[1], int(line[2], 16))
            if known.major == 9 and method.startswith("System.Runtime.EH."):
                return "clrmd-dispatcher-frame"
            return None

        theirs = [line for is_ours, line in self._explain.left("s") if not is_ours]
        self._seed(byref, (line for line in theirs if frame(line) == byref))
        self._explain.filter("s", False, frame)
        # ClrMD cannot tell what the pointer points into.
        self._explain.filter(
            "s",
            True,
            lambda line: "clrmd-unfinished-object" if (line[1], line[2]) in unfinished else None,
        )

    def live(self) -> None:
        """w ADDRESS."""
        explain, known = self._explain, self._known
        left = explain.left("w")
        if not left:
            return
        self._seeds["clrmd-no-thread-array"] = known.thread_arrays
        self._seeds["clrmd-no-gc-frame"] = {address for _, _, address in known.other_roots}
        edges = known.edges({line[1] for _, line in left})
        for name, seeds in self._seeds.items():
            found = reached(edges, seeds)

            def rule(line: Line, name: str = name, found: set[str] = found) -> Optional[str]:
                return name if line[1] in found else None

            explain.filter("w", name != "clrmd-byref-outside", rule)

    def gc_in_progress(self) -> None:
        """Differences in what is reached, and where objects are, while a GC moves them; as many roots."""
        explain = self._explain
        if explain.is_walkable:
            return
        slots: dict[bool, dict[str, set[str]]] = {
            False: collections.defaultdict(set),
            True: collections.defaultdict(set),
        }
        counts = {False: collections.Counter[str](), True: collections.Counter[str]()}
        for is_ours, line in explain.left("s"):
            counts[is_ours][line[1]] += 1
            if line[2] != "0":
                slots[is_ours][line[1]].add(line[2])

        def as_many(thread: str) -> bool:
            theirs, ours = counts[False][thread], counts[True][thread]
            # ClrMD has one line for two saved registers in which it sees the same object.
            registers = theirs - len(slots[False][thread])
            return theirs == ours or (
                theirs < ours and registers > 0 and slots[False][thread] <= slots[True][thread]
            )

        def moving(line: Line) -> Optional[str]:
            return "gc-in-progress" if line[0] != "s" or as_many(line[1]) else None

        for kind in "wtqns":
            explain.filter(kind, False, moving)
            explain.filter(kind, True, moving)
        # ClrMD leaves out what is not an object where the queue says that there is one.
        for kind in "yz":
            explain.filter(kind, True, moving)

    def crash(self, kinds: str, has_statics: bool) -> None:
        """ClrMD could not tell all of these: thread statics of collectible types are a part of their own."""

        def rule(line: Line) -> Optional[str]:
            if line[0] == "t" and has_statics:
                is_collectible = (line[1], line[2]) in self._known.fields["collectible"]
                return "clrmd-crash" if is_collectible else None
            return "clrmd-crash"

        for kind in kinds:
            self._explain.filter(kind, True, rule)


def apply(explain: rules.Explanation, ours: pathlib.Path, crashed: str, has_statics: bool) -> None:
    """
    Take out what the rules explain; crashed: the kinds of facts that ClrMD could not tell all of,
    has_statics: but for thread statics of types that are not collectible.
    """
    applied = RootRules(explain, ours)
    applied.crash(crashed, has_statics)
    applied.handles()
    applied.statics()
    applied.thread_statics()
    applied.frames()
    applied.registers()
    applied.stacks()
    applied.live()
    applied.gc_in_progress()
