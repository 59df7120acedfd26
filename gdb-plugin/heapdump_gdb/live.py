# SPDX-License-Identifier: MIT
"""Managed code of the processes that GDB has: known at each stop, with breakpoints that follow it (doc/managed-elf.md 10)."""
from __future__ import annotations

from typing import Any

import gdb

from heapdump import native
from heapdump_gdb.asking import answer_of, define_hook
from heapdump_gdb.code import OWN_NAMES, has_own_names, has_own_runtime, has_runtime
from heapdump_gdb.live_await import Awaits
from heapdump_gdb.live_breakpoints import BreakpointKind, Breakpoints, say
from heapdump_gdb.live_code import LiveCode
from heapdump_gdb.live_run import Run
from heapdump_gdb.session import Session, write_error
from heapdump_gdb.target import connection, is_native

# The runtime stops its threads by the first two, and a client of its diagnostics that went leaves the last.
SIGNALS = "SIG34 SIG35 SIGUSR1 SIGUSR2 SIGPIPE"
# Commands that let the process go on inside of a line or to the end of a function: GDB breaks there, too.
STEPS = ("next", "step", "finish", "until", "advance")


class Live:
    """Follows the process that is selected."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._kind = BreakpointKind()
        self._key: tuple[int, int] | None = None
        self._code: LiveCode | None = None
        self._breakpoints: Breakpoints | None = None
        self._awaits = Awaits()
        self._is_busy = False  # GDB loads a file, which is one that comes
        self._has_handled = False
        self._has_told_remote = False
        events = gdb.events
        events.stop.connect(self._stopped)
        events.new_objfile.connect(self._file_came)
        events.exited.connect(self._ended)
        events.breakpoint_created.connect(self._breakpoint_came)
        events.breakpoint_modified.connect(self._breakpoints_changed)
        events.breakpoint_deleted.connect(self._breakpoints_changed)
        for name in ("connection_removed", "inferior_deleted"):
            if hasattr(events, name):
                getattr(events, name).connect(self._ended)
        if hasattr(events, "before_prompt"):
            events.before_prompt.connect(self._stopped)
        for name in STEPS:
            define_hook(name, self._will_step)
        define_hook("step", self._will_enter)
        define_hook("continue", self._will_continue)
        define_hook("detach", self._forget)
        self._stopped()

    def _forget(self, _event: Any = None) -> None:
        """Nothing of the process stays in GDB."""
        breakpoints, self._breakpoints = self._breakpoints, None
        code, self._code = self._code, None
        self._key = None
        self._is_busy = True
        try:
            self._awaits.close()
            if breakpoints is not None:
                breakpoints.close()
            if code is not None:
                code.close()
        finally:
            self._is_busy = False

    def _ended(self, _event: Any = None) -> None:
        self._forget()

    def _is_followed(self, inferior: gdb.Inferior) -> bool:
        return (
            inferior.is_valid()
            and inferior.pid != 0
            and is_native(inferior)
            and self._session.get("code") == "on"
        )

    def _begin(self, inferior: gdb.Inferior) -> bool:
        """Be about the process that is selected, if it has .NET; whether it has."""
        if not self._is_followed(inferior):
            if self._code is not None:
                self._forget()
            self._tell_remote(inferior)
            return False
        key = (inferior.num, inferior.pid)
        if key != self._key:
            self._forget()
        if self._code is None:
            if not has_runtime() and not has_own_runtime():
                return False
            self._key = key
            self._code = LiveCode(self._session, inferior)
            self._breakpoints = Breakpoints(self._kind, self._code, self._update)
            self._let_signals_pass()
        return True

    def _tell_remote(self, inferior: gdb.Inferior) -> None:
        """Say once what GDB does not know of a process at the other end of a gdbserver, and how it can know it."""
        if (
            self._has_told_remote
            or not inferior.is_valid()
            or not inferior.pid
            or connection(inferior) not in ("remote", "extended-remote")
            or self._session.get("code") != "on"
            or not has_runtime()
        ):
            return
        self._has_told_remote = True
        say(
            "GDB does not follow managed code through gdbserver; clrstack and all commands about the heap work. "
            '"heapdump export FILE.elf" and "add-symbol-file FILE.elf" give bt and break the code of now'
        )

    def _let_signals_pass(self) -> None:
        """The runtime's own signals are no reason to stop."""
        if self._has_handled:
            return
        self._has_handled = True
        answer_of(f"handle {SIGNALS} nostop noprint pass")
        gdb.write(f"heapdump: signals of .NET pass without a stop: {SIGNALS}\n")

    def _stopped(self, event: Any = None) -> None:
        if self._is_busy:
            return
        inferior = gdb.selected_inferior()
        if any(thread.is_running() for thread in inferior.threads()):
            return
        if not self._begin(inferior):
            return
        assert self._breakpoints is not None and self._code is not None
        self._code.moment()
        # GDB gives up a breakpoint in new code whose page it cannot write.
        self._breakpoints.open_pages()
        self._update()
        self._breakpoints.stopped()
        method = self._awaits.stopped(event) if event is not None else None
        if method is not None:
            say(
                f"{method} waits in its await; continue stops where it, or another call of it, goes on"
            )

    def _update(self) -> bool:
        """Let GDB know what is new; whether anything was."""
        if self._code is None or self._is_busy:
            return False
        is_first = not self._code.is_known
        if is_first and has_own_names():
            self._code.is_known = True
            gdb.write(OWN_NAMES)
        if has_own_names():
            return False
        self._is_busy = True
        try:
            is_changed = self._code.update()
        except (native.HeapdumpError, gdb.error, OSError) as error:
            # Before its first managed frame a program has no code yet.
            if self._code.is_known:
                write_error(f"heapdump: GDB does not know the newest managed code: {error}")
            return False
        finally:
            self._is_busy = False
        if is_first:
            gdb.write(
                f"heapdump: .NET {self._code.version()}: bt, break, next and step know its methods; "
                "also clrstack, hang, report, help heapdump\n"
            )
        if is_changed and self._breakpoints is not None:
            self._breakpoints.code_changed()
        return is_changed

    def _file_came(self, _event: Any) -> None:
        """A program that runs has loaded the runtime: what waits for code is told of the first."""
        if self._is_busy or self._code is not None:
            return
        if self._begin(gdb.selected_inferior()) and self._breakpoints is not None:
            self._breakpoints.watch()

    def _breakpoint_came(self, breakpoint: gdb.Breakpoint) -> None:
        if self._breakpoints is not None and not self._is_busy:
            self._breakpoints.came(breakpoint)

    def _breakpoints_changed(self, _breakpoint: gdb.Breakpoint) -> None:
        if self._breakpoints is not None:
            self._breakpoints.changed()

    def _will_step(self) -> None:
        self._stopped()
        if self._breakpoints is not None and self._code is not None:
            self._breakpoints.will_step()
            self._awaits.will_step(self._code)

    def _will_enter(self) -> None:
        if self._breakpoints is not None:
            self._breakpoints.will_enter()

    def _will_continue(self) -> None:
        self._stopped()


_live: list[Live] = []


def register(session: Session) -> None:
    """Follow the process that is there, and each that comes."""
    Run()
    _live.append(Live(session))
