# SPDX-License-Identifier: MIT
"""next and step over an await that has to wait: where the method goes on."""
from __future__ import annotations

from typing import Any, NamedTuple

import gdb

from heapdump_gdb.live_code import LiveCode

METHOD = ".MoveNext"  # the body of an async method with a state machine
STATE = "<>1__state"  # from 0 on: it waits in the await of that number
BUILDER = "<>t__builder"  # an iterator has a state, too, and none of these
INNER_FRAMES = 16


def _is_inside(method: str) -> bool:
    """Has one of the inner frames the state machine's body?"""
    frame: gdb.Frame | None = gdb.newest_frame()
    for _ in range(INNER_FRAMES):
        if frame is None:
            break
        if frame.name() == method + METHOD:
            return True
        frame = frame.older()
    return False


class _Place(gdb.Breakpoint):
    """A statement at which the method may go on."""

    def __init__(self, address: int) -> None:
        super().__init__(f"*{address:#x}", internal=True)


class _Return(gdb.Breakpoint):
    """The place to which a method that the runtime suspends comes back, and whether it waits then."""

    def __init__(self, code: LiveCode, frame: gdb.Frame) -> None:
        self._code = code
        self._frame = frame.older()
        self.address = 0  # where the method goes on; 0: it does not wait
        super().__init__(f"*{self._frame.pc():#x}", internal=True)
        self.silent = True
        self.thread = gdb.selected_thread().global_num

    def stop(self) -> bool:
        """A call has come back; is it that of the step?"""
        try:
            frame = gdb.newest_frame()
            if frame == self._frame:
                words = [int(frame.read_register(name)) for name in self._code.registers()]
                self.address = self._code.awaits([word & (1 << 64) - 1 for word in words])
        except (gdb.error, OSError):
            pass
        return False


class _Step(NamedTuple):
    """A step that began in an async method."""

    method: str
    machine: gdb.Value | None  # None: the runtime suspends it
    came_back: _Return | None
    places: list[int]  # where statements of other lines begin

    def waits(self) -> bool:
        """Has it left its frame for an await?"""
        if self.machine is None:
            return self.came_back is not None and self.came_back.address != 0
        return not _is_inside(self.method) and int(self.machine.dereference()[STATE]) >= 0

    def close(self) -> None:
        """It is over."""
        if self.came_back is not None and self.came_back.is_valid():
            self.came_back.delete()


def _step_of(frame: gdb.Frame, code: LiveCode) -> _Step | None:
    """The step that begins here, if it is in an async method."""
    name, where = frame.name() or "", frame.find_sal()
    if where.symtab is None:
        return None
    machine = came_back = None
    if name.endswith(METHOD):
        machine = frame.read_var("this")
        if not {STATE, BUILDER} <= {field.name for field in machine.type.target().fields()}:
            return None
    elif frame != gdb.newest_frame() or not code.suspends(frame.pc()):
        return None
    block = frame.block()
    while block.function is None and block.superblock is not None:
        block = block.superblock
    rows = [row for row in where.symtab.linetable() if block.start <= row.pc < block.end]
    first = min(row.line for row in rows)
    places = [row.pc for row in rows if row.line not in (first, where.line)]
    if machine is None:
        came_back = _Return(code, frame)
    return _Step(name.removesuffix(METHOD), machine, came_back, places)


class Awaits:
    """The step that is made, and where the method goes on that it has left."""

    def __init__(self) -> None:
        self._step: _Step | None = None
        self._places: list[_Place] = []

    def will_step(self, code: LiveCode) -> None:
        """GDB is about to step."""
        self._end_step()
        try:
            self._step = _step_of(gdb.selected_frame(), code)
        except (gdb.error, ValueError, RuntimeError):
            self._step = None

    def stopped(self, event: Any) -> str | None:
        """The process has stopped; the method that waits, if the step has left it there."""
        if any(place in getattr(event, "breakpoints", []) for place in self._places):
            self.close()
        step = self._end_step()
        # A step that ends where the call comes back has the breakpoint there among its reasons.
        own = [] if step is None else [step.came_back]
        others = [row for row in getattr(event, "breakpoints", []) if row not in own]
        if step is None or others or isinstance(event, gdb.SignalEvent):
            return None
        try:
            if not step.waits():
                return None
        except (gdb.error, RuntimeError):
            return None
        self.close()
        self._places = [_Place(address) for address in step.places]
        return step.method if self._places else None

    def _end_step(self) -> _Step | None:
        step, self._step = self._step, None
        if step is not None:
            step.close()
        return step

    def close(self) -> None:
        """Nobody waits for the method any more."""
        self._end_step()
        places, self._places = self._places, []
        for place in places:
            if place.is_valid():
                place.delete()
