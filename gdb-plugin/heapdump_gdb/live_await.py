# SPDX-License-Identifier: MIT
"""next and step over an await that has to wait: where the method goes on."""
from __future__ import annotations

from typing import Any, NamedTuple

import gdb

METHOD = ".MoveNext"  # the body of an async method
STATE = "<>1__state"  # from 0 on: it waits in the await of that number
BUILDER = "<>t__builder"  # an iterator has a state, too, and none of these
INNER_FRAMES = 16


class _Step(NamedTuple):
    """A step that began in an async method."""

    method: str
    machine: gdb.Value
    places: list[int]  # where statements of other lines begin


def _step_of(frame: gdb.Frame) -> _Step | None:
    """The step that begins here, if it is in an async method."""
    name, where = frame.name() or "", frame.find_sal()
    if not name.endswith(METHOD) or where.symtab is None:
        return None
    machine = frame.read_var("this")
    if not {STATE, BUILDER} <= {field.name for field in machine.type.target().fields()}:
        return None
    block = frame.block()
    rows = [
        row for row in where.symtab.linetable() if block.start <= row.pc < block.end
    ]
    first = min(row.line for row in rows)
    return _Step(
        name, machine, [row.pc for row in rows if row.line not in (first, where.line)]
    )


class _Place(gdb.Breakpoint):
    """A statement at which the method may go on."""

    def __init__(self, address: int) -> None:
        super().__init__(f"*{address:#x}", internal=True)


class Awaits:
    """The step that is made, and where the method goes on that it has left."""

    def __init__(self) -> None:
        self._step: _Step | None = None
        self._places: list[_Place] = []

    def will_step(self) -> None:
        """GDB is about to step."""
        try:
            self._step = _step_of(gdb.selected_frame())
        except (gdb.error, ValueError, RuntimeError):
            self._step = None

    def stopped(self, event: Any) -> str | None:
        """The process has stopped; the method that waits, if the step has left it there."""
        if any(place in getattr(event, "breakpoints", []) for place in self._places):
            self.close()
        step, self._step = self._step, None
        if step is None or isinstance(event, (gdb.BreakpointEvent, gdb.SignalEvent)):
            return None
        try:
            if self._is_inside(step) or int(step.machine.dereference()[STATE]) < 0:
                return None
        except (gdb.error, RuntimeError):
            return None
        self.close()
        self._places = [_Place(address) for address in step.places]
        return step.method[: -len(METHOD)] if self._places else None

    def _is_inside(self, step: _Step) -> bool:
        frame: gdb.Frame | None = gdb.newest_frame()
        for _ in range(INNER_FRAMES):
            if frame is None:
                break
            if frame.name() == step.method:
                return True
            frame = frame.older()
        return False

    def close(self) -> None:
        """Nobody waits for the method any more."""
        places, self._places = self._places, []
        for place in places:
            if place.is_valid():
                place.delete()
