# SPDX-License-Identifier: MIT
"""step into a method that has no code before it is called (doc/managed-elf.md 10)."""
from __future__ import annotations

import gdb

from heapdump_gdb.live_code import LiveCode

INNER_FRAMES = 64  # of the runtime, between a call and the publication of what is called


class Step:
    """The step that a thread makes, and where it ends in a method that is called for the first time."""

    def __init__(self, code: LiveCode) -> None:
        self._code = code
        self._frame: gdb.Frame | None = None  # in which it began
        self._thread: int | None = None
        self._entries: list[gdb.Breakpoint] = []

    def begin(self) -> None:
        """The selected thread is about to step, also into what its line calls."""
        self._frame = None
        try:
            frame = gdb.newest_frame()
        except gdb.error:
            return
        if self._code.method(frame.pc()):
            self._frame = frame
            self._thread = gdb.selected_thread().global_num

    def end(self) -> None:
        """The process has stopped."""
        self._frame = None
        entries, self._entries = self._entries, []
        for entry in entries:
            if entry.is_valid():
                entry.delete()

    def is_made(self) -> bool:
        """Is one being made?"""
        return self._frame is not None

    def is_call(self) -> bool:
        """Has the step made the call in which the selected thread is, with nothing managed in between?"""
        if self._frame is None or gdb.selected_thread().global_num != self._thread:
            return False
        frame = gdb.newest_frame().older()
        for _ in range(INNER_FRAMES):
            if frame is None:
                break
            if self._code.method(frame.pc()):
                return bool(frame == self._frame)
            frame = frame.older()
        return False

    def enter(self, name: str, address: int, is_guarded: bool) -> None:
        """Let the step end in the method with that name, whose code is at the address and about to be called."""
        kind = gdb.BP_HARDWARE_BREAKPOINT if is_guarded else gdb.BP_BREAKPOINT
        try:
            entry = gdb.Breakpoint(function=name, type=kind, internal=True)
        except (gdb.error, ValueError):
            entry = gdb.Breakpoint(f"*{address:#x}", type=kind, internal=True)
        if entry.pending:
            entry.delete()
            entry = gdb.Breakpoint(f"*{address:#x}", type=kind, internal=True)
        entry.thread = self._thread
        self._entries.append(entry)
