# SPDX-License-Identifier: MIT
"""Breakpoints in managed code: in pages that can be written, in the right method, in all of its code."""
from __future__ import annotations

import re
import struct
from typing import Callable, Iterator

import gdb

from heapdump import native
from heapdump_gdb.asking import answer_of
from heapdump_gdb.live_code import LiveCode
from heapdump_gdb.live_hook import Hook, hook_places
from heapdump_gdb.live_step import Step
from heapdump_gdb.session import parameter, write_error

LINE = re.compile(r"(?:-source +)?(\S+?)(?::| +-line +)(\d+)$")
FUNCTION = re.compile(r"(?:-function +|-qualified +)*([^\s:*]\S*)$")
# After a place, in what GDB keeps of a breakpoint that waits.
REST = re.compile(r"\s+(?:if\b|if\(|thread\b|task\b|-force-condition\b).*", re.S)
PROTECTION = 7  # PROT_READ | PROT_WRITE | PROT_EXEC
HEADER_WORDS = 8  # of a RealCodeHeader


class BreakpointKind(gdb.Parameter):
    """Set how breakpoints are put into managed code of a process.
    software: the pages of managed code are made writable, by a call of mprotect in the process, once there is a
    breakpoint; hardware: nothing in the process is changed, and there are four at most."""

    set_doc = "Set how breakpoints are put into managed code: software or hardware."
    show_doc = "Show how breakpoints are put into managed code: software or hardware."

    def __init__(self) -> None:
        super().__init__(
            "heapdump breakpoints", gdb.COMMAND_DATA, gdb.PARAM_ENUM, ["software", "hardware"]
        )
        self.value = "software"

    def get_set_string(self) -> str:
        return ""

    def get_show_string(self, value: str) -> str:
        return f"Breakpoints in managed code are {value} breakpoints."


def say(text: str) -> None:
    """One line."""
    gdb.write(f"heapdump: {text}\n")


def bare_name(name: str) -> str:
    """A method without generic arguments, as its users write it; names that the compiler has made keep their <."""
    found = ""
    depth = made = 0
    for i, sign in enumerate(name):
        before = name[i - 1] if i else ""
        if sign == "<" and not made and (depth or before == "_" or before.isalnum()):
            depth += 1
        elif sign == ">" and depth:
            depth -= 1
        elif not depth:
            made += (sign == "<") - (sign == ">" and made > 0)
            found += sign
    return found


def user_breakpoints() -> Iterator[gdb.Breakpoint]:
    """The user's, at which code stops."""
    kinds = [gdb.BP_BREAKPOINT, getattr(gdb, "BP_HARDWARE_BREAKPOINT", gdb.BP_BREAKPOINT)]
    for breakpoint in gdb.breakpoints():
        if breakpoint.is_valid() and breakpoint.number > 0 and breakpoint.type in kinds:
            yield breakpoint


def place_of(breakpoint: gdb.Breakpoint) -> str:
    """The place as its user wrote it."""
    return REST.sub("", breakpoint.location or "").strip()


class Breakpoints:
    """The breakpoints of one process."""

    def __init__(self, kind: BreakpointKind, code: LiveCode, update: Callable[[], bool]) -> None:
        self._kind = kind
        self._code = code
        self._update = update
        self._hooks: list[Hook] = []
        self._step = Step(code)
        self._has_hook_places: list[tuple[int, str, str]] | None = None
        self._told: set[int] = set()  # numbers of breakpoints that wait, of which the user knows
        self._methods: set[int] | None = None  # those that have a breakpoint; None: not known
        self._rights: dict[tuple[str, int, int], bool] = {}  # is the line in that method?
        self._lines: dict[tuple[str, int], int] = {}  # where breakpoints belong by the PDBs
        self._is_pending = False
        self._generic: set[
            str
        ] = set()  # bare names of methods with a breakpoint that have instances
        self._others: set[int] = set()  # methods without a breakpoint
        self._header_offset: int | None = None
        self._has_said_pages = False
        self._must_open = (
            False  # a method with a breakpoint has code in a page that cannot be written
        )
        self._regions: list[int] = []  # GDB's regions of memory that are ours
        self._guarded: set[tuple[int, int]] = set()

    def close(self) -> None:
        """The process is gone, or left."""
        self._step.end()
        for hook in self._hooks:
            if hook.is_valid():
                hook.delete()
        self._hooks.clear()
        for number in self._regions:
            try:
                answer_of(f"delete mem {number}")
            except gdb.error:
                pass
        self._regions.clear()

    # The places of breakpoints.

    def came(self, breakpoint: gdb.Breakpoint) -> None:
        """The user has made one."""
        if breakpoint.number <= 0:
            return
        self.changed()
        self._check(breakpoint)
        self.open_pages()
        self.watch()

    def changed(self) -> None:
        """One has others places than before, or is gone."""
        self._methods = None

    def code_changed(self) -> None:
        """GDB has set all breakpoints again."""
        self.changed()
        for breakpoint in list(user_breakpoints()):
            self._check(breakpoint)

    def open_pages(self) -> None:
        """Breakpoints are about to be written."""
        self._look_up()
        # Also for one that waits: new code mostly comes into pages that are there.
        if self._methods or self._is_pending or self._must_open:
            self._open_pages()
        if self._must_open:
            self._must_open = False
            say(
                "stopped because a method with a breakpoint has new code in a page that could not be written "
                "while the process ran; continue"
            )

    def will_step(self) -> None:
        """GDB is about to set breakpoints of its own."""
        if any(self._is_guarded(address) for address in self._frame_addresses()):
            self._open_pages()

    def will_enter(self) -> None:
        """GDB is about to step into what a line calls."""
        self._step.begin()
        self.watch()

    def stopped(self) -> None:
        """The step has ended, whether it was made or not."""
        self._step.end()
        self.watch()

    def _check(self, breakpoint: gdb.Breakpoint) -> None:
        """Is it where it belongs?  If not, it waits."""
        if not hasattr(breakpoint, "locations"):
            return
        if breakpoint.pending:
            self._tell(breakpoint)
            return
        for location in breakpoint.locations:
            if not location.enabled:
                continue
            if self._is_stub(location.address):
                location.enabled = False
                say(
                    f"breakpoint {breakpoint.number} is disabled: {location.address:#x} is a stub of the runtime, "
                    "and a breakpoint there would end the process; hbreak does not"
                )
            elif not self._is_right(breakpoint, location):
                location.enabled = False
                self._tell(breakpoint)

    def _is_right(self, breakpoint: gdb.Breakpoint, location: gdb.BreakpointLocation) -> bool:
        """Is its line in the method where GDB has set it?"""
        wanted = LINE.match(place_of(breakpoint))
        if wanted is None or not self._code.method(location.address):
            return True
        line = int(wanted[2])
        key = wanted[1], line, self._code.method(location.address)
        if key in self._rights:
            return self._rights[key]
        if location.source is not None and location.source[1] == line:
            return True
        try:
            found, is_there = self._code.line(wanted[1], line, location.address)
        except native.HeapdumpError:
            return True
        self._rights[key] = is_there or not found
        return self._rights[key]

    def _is_stub(self, address: int) -> bool:
        """Is it in memory that .NET runs, but in no method?"""
        return not self._code.method(address) and self._code.is_runtime_memory(address)

    def _tell(self, breakpoint: gdb.Breakpoint) -> None:
        if breakpoint.number in self._told:
            return
        self._told.add(breakpoint.number)
        how = (
            "until the method is compiled"
            if self._hook_places()
            else "for the next stop after its method was compiled"
        )
        say(f"breakpoint {breakpoint.number} waits {how}: {place_of(breakpoint)} has no code yet")

    def _look_up(self) -> None:
        """Which methods have a breakpoint, and does one wait?"""
        if self._methods is not None:
            return
        self._methods = set()
        self._generic = set()
        self._is_pending = False
        for breakpoint in user_breakpoints():
            locations = [row for row in getattr(breakpoint, "locations", []) if row.enabled]
            self._is_pending |= not locations
            for location in locations:
                method = self._code.method(location.address)
                if method:
                    self._methods.add(method)
                    self._learn_instances(location.function or "")

    def _learn_instances(self, name: str) -> None:
        """A method has a breakpoint: other instances of it may come, for other types."""
        own = name.split(" [")[0]
        bare = bare_name(own)
        if bare != own:
            self._generic.add(bare)

    # Pages.

    def _frame_addresses(self) -> Iterator[int]:
        try:
            frame = gdb.selected_frame()
            yield int(frame.pc())
            older = frame.older()
            if older is not None:
                yield int(older.pc())
        except gdb.error:
            return

    def _is_guarded(self, address: int) -> bool:
        return any(begin <= address < end for begin, end in self._code.guarded_pages())

    def _open_pages(self) -> None:
        """Let breakpoints be written into managed code, or be registers of the processor."""
        pages = [row for row in self._code.guarded_pages() if row not in self._guarded]
        if not pages:
            return
        if self._kind.value == "hardware":
            self._keep_pages(pages)
        else:
            self._write_pages(pages)

    def _keep_pages(self, pages: list[tuple[int, int]]) -> None:
        answer_of("set mem inaccessible-by-default off")
        for begin, end in pages:
            self._guarded.add((begin, end))
            try:
                answer_of(f"mem {begin:#x} {end:#x} ro")
            except gdb.error:
                continue
            numbers = re.findall(r"(?m)^(\d+) ", answer_of("info mem"))
            self._regions.append(int(numbers[-1]))
        if not self._has_said_pages:
            self._has_said_pages = True
            say("breakpoints in managed code are hardware breakpoints, of which there are four")

    def _write_pages(self, pages: list[tuple[int, int]]) -> None:
        before = parameter("scheduler-locking")
        # GDB would try to write them for the call, and give up those that it cannot.
        waiting = [row for row in user_breakpoints() if row.enabled]
        for breakpoint in waiting:
            breakpoint.enabled = False
        answer_of("set scheduler-locking on")
        try:
            for begin, end in pages:
                call = f"(int)mprotect({begin:#x}UL, {end - begin:#x}UL, {PROTECTION})"
                if int(gdb.parse_and_eval(call)) != 0:
                    raise gdb.error("mprotect failed in the process")
        except gdb.error as error:
            self._guarded.update(pages)
            write_error(
                f"heapdump: breakpoints cannot be written into managed code (W^X): {error}; "
                '"set heapdump breakpoints hardware"'
            )
            return
        finally:
            answer_of(f"set scheduler-locking {before or 'replay'}")
            for breakpoint in waiting:
                breakpoint.enabled = True
        if not self._has_said_pages:
            self._has_said_pages = True
            say(
                "the pages of managed code were made writable by mprotect in the process, so that breakpoints work "
                "(W^X); they stay so until it ends"
            )

    # Code that comes.

    def _hook_places(self) -> list[tuple[int, str, str]]:
        if self._has_hook_places is None:
            self._has_hook_places = hook_places(self._code)
        return self._has_hook_places

    def watch(self) -> None:
        """Be told when the runtime lets calls go to new code, as long as a breakpoint could be in it."""
        self._look_up()
        is_wanted = bool(self._methods) or self._is_pending or self._step.is_made()
        if is_wanted and not self._hooks:
            self._hooks = [Hook(place, self._published) for place in self._hook_places()]
        for hook in self._hooks:
            if hook.is_valid() and hook.enabled != is_wanted:
                hook.enabled = is_wanted

    def _published(self, address: int) -> bool:
        """Calls are about to go to the code there; whether the process has to stop."""
        is_called = self._step.is_call()
        if self._code.method(address) and not is_called:
            return False
        self._code.code_came()
        # Who steps sees lines.
        entered = self._code.place(address) if is_called else None
        if entered is not None and not entered.first_line:
            entered = None
        belongs = self._belongs(address)
        if belongs and self._is_guarded(address) and self._kind.value == "software":
            # GDB cannot call mprotect here: other threads run, and may reach breakpoints.
            self._must_open = True
            return True
        if belongs or entered is not None:
            self._update()
        if entered is not None:
            name = native.decode(entered.name).split(" [")[0]
            self._step.enter(name, address, self._is_guarded(address))
        return False

    def _belongs(self, address: int) -> bool:
        """Does a breakpoint belong into the new code there?"""
        self._look_up()
        assert self._methods is not None
        method = self._method_of(address)
        if method in self._methods:
            return True
        if method in self._others or (method and not self._is_pending and not self._generic):
            return False
        place = self._code.place(address)
        if place is None:
            return False
        self._learn_header(address, int(place.method))
        if int(place.method) in self._methods or self._is_wanted(place):
            return True
        self._others.add(int(place.method))
        return False

    def _is_wanted(self, place: native.CodePlace) -> bool:
        """Is it the method of a breakpoint that waits, or one more instance of one that has a breakpoint?"""
        name = native.decode(place.name).split(" [")[0]
        if bare_name(name) in self._generic:
            return True
        file = native.decode(place.file).replace("\\", "/")
        for breakpoint in user_breakpoints():
            if any(row.enabled for row in breakpoint.locations):
                continue
            text = place_of(breakpoint)
            line = LINE.match(text)
            if line is not None:
                is_file = file == line[1] or file.endswith("/" + line[1].lstrip("/"))
                if is_file and place.first_line <= self._line(line) <= place.last_line:
                    return True
                continue
            function = FUNCTION.match(text)
            if function is not None and function[1] in (name, bare_name(name)):
                return True
        return False

    def _line(self, wanted: re.Match[str]) -> int:
        """The line at which the breakpoint belongs: the next one with a statement."""
        key = wanted[1], int(wanted[2])
        if key not in self._lines:
            try:
                found = self._code.line(*key, 0)[0]
            except native.HeapdumpError:
                found = 0
            if not found:
                return key[1]
            self._lines[key] = found
        return self._lines[key]

    def _learn_header(self, address: int, method: int) -> None:
        """Where a code header has its method: then no more has to be asked."""
        if self._header_offset is not None:
            return
        words = self._header(address)
        if words is not None and method in words:
            self._header_offset = words.index(method)

    def _header(self, address: int) -> tuple[int, ...] | None:
        try:
            header = struct.unpack("<Q", self._code.read(address - 8, 8))[0]
            return struct.unpack(f"<{HEADER_WORDS}Q", self._code.read(header, 8 * HEADER_WORDS))
        except gdb.error:
            return None

    def _method_of(self, address: int) -> int:
        """The method of new code; 0: not known."""
        if self._header_offset is None:
            return 0
        words = self._header(address)
        return words[self._header_offset] if words is not None else 0
