# SPDX-License-Identifier: MIT
"""Sourced by GDB in tests: it holds a command in the middle of its work until Ctrl-C has come."""
from __future__ import annotations

import ctypes
import sys
import time
from typing import Any

from heapdump import native
from heapdump_gdb import plugin
from heapdump_gdb.session import Session
from heapdump_gdb.target import Follower

# Seconds. Only a Ctrl-C that gets lost takes so long.
LIMIT = 120
# Milliseconds of work after which a progress line is due, and more than that.
PROGRESS_DUE = 300
_CANCELLED = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


def _say(word: str) -> None:
    sys.__stdout__.write(f"\n<{word}>\n")
    sys.__stdout__.flush()


def _hold() -> None:
    """Say so, and come back when the library has taken a Ctrl-C."""
    lib = plugin.session().lib
    _say("HELD")
    end = time.monotonic() + LIMIT
    while not lib.hd_interrupted():
        if time.monotonic() > end:
            _say("LOST")
            return
        time.sleep(0.005)


def hold_at_read(number: int) -> None:
    """The command that comes is held when it reads GDB's memory so often."""
    copy = Follower._copy
    reads = 0

    def counted(self: Follower, address: int, buf: int, size: int) -> int:
        nonlocal reads
        reads += 1
        if reads == number:
            _hold()
        return copy(self, address, buf, size)

    setattr(Follower, "_copy", counted)


def hold_at_poll() -> None:
    """The command that comes is held when it asks for the second time whether it was interrupted.

    Between the first and the second time a progress line is due.
    """
    sink_of = Session._sink
    lib = plugin.session().lib
    polls = 0

    def cancelled(_arg: Any) -> int:
        nonlocal polls
        polls += 1
        if polls == 1:
            time.sleep(PROGRESS_DUE / 1000)
        elif polls == 2:
            _hold()
        return int(lib.hd_interrupted())

    callback = _CANCELLED(cancelled)

    def sink(self: Session, made: native.Sink) -> native.Sink:
        sink_of(self, made).cancelled = native.address(callback)
        return made

    setattr(Session, "_sink", sink)
