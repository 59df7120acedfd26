# SPDX-License-Identifier: MIT
"""A symbol file without a name, which GDB has loaded (doc/managed-elf.md 5)."""
from __future__ import annotations

import ctypes
import os

import gdb

from heapdump import native
from heapdump_gdb.asking import answer_of
from heapdump.rows import Rows


class CodeFile:
    """A file in memory."""

    def __init__(self) -> None:
        self._fd = os.memfd_create("managed code", os.MFD_CLOEXEC)
        self._failed = 0
        self._is_loaded = False
        self.path = f"/proc/self/fd/{self._fd}"

    def take(self, _arg: int, data: int, size: int) -> int:
        """A piece of the file; called from C, so nothing may be raised."""
        try:
            left = memoryview(ctypes.string_at(data, size))
            while left:
                left = left[os.write(self._fd, left) :]
        except OSError as error:
            self._failed = error.errno or 1
        return self._failed

    def load(self) -> None:
        """GDB reads it."""
        answer_of(f"add-symbol-file {self.path}")
        self._is_loaded = True

    def close(self) -> None:
        """GDB forgets it."""
        # A command that fails while the process runs, as in the condition of a breakpoint, gives back the prompt.
        if self._is_loaded:
            try:
                answer_of(f"remove-symbol-file {self.path}")
            except gdb.error:
                pass
        os.close(self._fd)


def version_of(lib: ctypes.CDLL, handle: ctypes.c_void_p) -> str:
    """The release of .NET that a session is about."""
    rows = Rows(lib)
    try:
        native.guarded(
            lib,
            rows.run,
            handle,
            ["eeversion"],
            native.Sink(struct_size=ctypes.sizeof(native.Sink)),
        )
        return str(rows.document().get("runtime") or "")
    finally:
        rows.close()
