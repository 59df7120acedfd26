# SPDX-License-Identifier: MIT
"""Managed code for GDB's own commands: a symbol file about the core that it has open (doc/managed-elf.md 5)."""
from __future__ import annotations

import ctypes
import os
from typing import Any

import gdb

from heapdump import native
from heapdump_gdb.asking import answer_of
from heapdump_gdb.code_file import CodeFile, version_of
from heapdump_gdb.session import Session, write_error
from heapdump_gdb.target import connection, core_path

# Settings that decide what is read of a core.
SETTINGS = ("max-mem", "workers", "sysroot", "symbols", "runtime", "files", "trust-files")
RUNTIME = "libcoreclr.so"
# A program with a runtime of its own in it exports one of these: a single-file one, and one compiled ahead of time (NativeAOT).
OWN_RUNTIME = ("DotNetRuntimeInfo", "DotNetRuntimeDebugHeader", "DotNetRuntimeContractDescriptor")
# A part of NativeAOT's runtime that has a name only where the program is not stripped, or GDB has its symbol file.
NOT_STRIPPED = "RhpReversePInvoke"
OWN_NAMES = (
    "heapdump: .NET compiled ahead of time: bt, frame and break know its methods by the program's own symbols; "
    "also clrstack, hang, report, help heapdump\n"
)


class Code:
    """Gives GDB the managed code of each core that it opens."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lib = session.lib
        self._known: tuple[int, int] | None = None  # the core that was looked at
        self._file: CodeFile | None = None
        self._is_busy = False  # GDB loads the file, which is one that comes
        gdb.events.new_objfile.connect(self._file_came)
        if hasattr(gdb.events, "before_prompt"):
            gdb.events.before_prompt.connect(self._prompt_comes)
        if hasattr(gdb.events, "connection_removed"):
            gdb.events.connection_removed.connect(self._target_ends)
        if has_runtime():
            self._look()

    def _target_ends(self, _event: Any) -> None:
        """Addresses of code mean nothing in the next core."""
        self._known = None
        self._forget()

    def _file_came(self, _event: Any) -> None:
        """GDB opens a core, and has found one of its files; commands of a script follow at once."""
        if not self._is_busy:
            self._prompt_comes()

    def _prompt_comes(self) -> None:
        if self._is_new() is None:
            return
        if has_runtime() or has_own_runtime():
            self._look()
        elif has_no_program():
            self._look(is_sure=False)

    def _is_new(self) -> tuple[int, int] | None:
        """The core that GDB has open, if it was not looked at yet; what belongs to another one is taken away."""
        inferior = gdb.selected_inferior()
        which = None
        if inferior.is_valid() and connection(inferior) == "core":
            which = (inferior.num, inferior.connection_num)
        if which != self._known:
            self._known = None
            self._forget()
        return which if which != self._known else None

    def _forget(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _look(self, is_sure: bool = True) -> None:
        """Give GDB the code of the core, which is one of .NET as far as it IS_SURE."""
        which = self._is_new()
        if which is None or self._session.get("code") != "on":
            return
        self._known = which
        core = core_path(gdb.selected_inferior())
        if core is None:
            return
        if has_own_names():
            gdb.write(OWN_NAMES)
            return
        self._is_busy = True
        try:
            version = self._load(core)
        except (native.HeapdumpError, gdb.error, OSError) as error:
            if is_sure:
                write_error(f"heapdump: GDB does not know the managed code: {error}")
            return
        finally:
            self._is_busy = False
        gdb.write(
            f"heapdump: .NET {version}: bt, frame and break know its methods; "
            "also clrstack, hang, report, help heapdump\n"
        )

    def _load(self, core: str) -> str:
        """Make the file in a session of its own, so that commands still say what they find; the version of .NET."""
        handle = ctypes.c_void_p()
        native.check(self._lib.hd_session_create, ctypes.byref(handle))
        file = CodeFile()
        try:
            for name in SETTINGS:
                value = native.encode(self._session.get(name))
                native.check(self._lib.hd_session_set, handle, native.encode(name), value)
            native.check(self._lib.hd_session_open, handle, os.fsencode(core), 0, None)
            self._write(handle, file)
            version = version_of(self._lib, handle)
            file.load()
        except BaseException:
            file.close()
            raise
        finally:
            self._lib.hd_session_destroy(handle)
        self._file = file
        return version

    def _write(self, handle: ctypes.c_void_p, file: CodeFile) -> None:
        take = native.WRITE(file.take)
        sink = native.Sink(
            struct_size=ctypes.sizeof(native.Sink),
            write=native.address(take),
            cancelled=native.address(self._lib.hd_interrupted),
            binary=1,
        )
        argv = ["export", "-", "-format", "elf"]
        error = native.Error()
        status = native.guarded(
            self._lib,
            self._lib.hd_command_run,
            handle,
            len(argv),
            native.words(argv),
            ctypes.byref(sink),
            ctypes.byref(error),
        )
        if status not in (native.EXIT_OK, native.EXIT_FINDINGS):
            raise native.HeapdumpError(native.decode(error.message) or "interrupted")


def has_runtime() -> bool:
    """Does GDB have the runtime's file, or is it named in a core whose files are on another machine?"""
    if any(_name_of(file) == RUNTIME for file in gdb.objfiles()):
        return True
    try:
        return connection(gdb.selected_inferior()) == "core" and f"/{RUNTIME}\n" in answer_of(
            "info proc mappings"
        )
    except gdb.error:
        return False


def _name_of(file: gdb.Objfile) -> str:
    """The name without folders; "" when it is not UTF-8, which GDB cannot make a text."""
    try:
        return os.path.basename(file.filename or "")
    except UnicodeDecodeError:
        return ""


def has_symbol(name: str) -> bool:
    """Does GDB know the address of that?"""
    try:
        gdb.parse_and_eval(f"&'{name}'")
    except gdb.error:
        return False
    return True


def has_own_runtime() -> bool:
    """Is the runtime in the program itself?"""
    return any(has_symbol(name) for name in OWN_RUNTIME)


def has_own_names() -> bool:
    """Has GDB the symbols of a NativeAOT program, and so names and lines?"""
    return has_symbol(NOT_STRIPPED)


def has_no_program() -> bool:
    """Is it a core whose program GDB does not have, so that only reading it tells?"""
    return not gdb.current_progspace().filename


_code: list[Code] = []


def register(session: Session) -> None:
    """Look at the core that is open, and at each that comes."""
    _code.append(Code(session))
