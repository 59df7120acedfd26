# SPDX-License-Identifier: MIT
"""GDB's own core or process: made what the session is about, again whenever it changed.

What is special about GDB: doc/debuggers.md 2.
"""
from __future__ import annotations

import ctypes
import os
import re
import threading
from typing import Any, Sequence

import gdb

from heapdump import native
from heapdump_gdb.asking import answer_of, define_hook

PAGE = 4096
# Settings that decide how a target is read.
SETTINGS = ("backend", "files", "trust-files", "sysroot", "runtime")
# Whatever these say, bytes seen before may be others now.
EVENTS = (
    "cont",
    "stop",
    "exited",
    "memory_changed",
    "register_changed",
    "inferior_call",
    "inferior_deleted",
    "connection_removed",
)
MAPPING = re.compile(
    r"\s*0x([0-9a-f]+)\s+0x[0-9a-f]+\s+0x[0-9a-f]+\s+0x([0-9a-f]+)\s+(?:[-r][-w][-x][-ps]\s+)?(/.*)"
)
NO_IMAGE = (".dll", ".pdb", ".dat", ".ttf", ".cache")


def _said(command: str) -> str:
    """GDB's answer to a command, "" when it fails."""
    try:
        return answer_of(command)
    except gdb.error:
        return ""


def _strip(path: str) -> str:
    """Without what GDB writes before paths of another file system than its own."""
    return path[len("target:") :] if path.startswith("target:") else path


def core_path(inferior: gdb.Inferior) -> str | None:
    """Path of the core file that GDB has open."""
    core = getattr(inferior, "corefile", None)  # not in GDB 13
    name = getattr(core, "filename", None)
    if name:
        return str(name)
    found = re.search(r"^Local core dump file:\s+`(.*)', file type", _said("info target"), re.M)
    return found.group(1) if found else None


def stack_pointer() -> int:
    """The stack pointer of the selected thread, or of any; 0 when there is none."""
    try:
        return int(gdb.newest_frame().read_register("sp")) & native.MASK64
    except (gdb.error, ValueError, TypeError, OverflowError, RuntimeError):
        return 0


def modules() -> list[tuple[str, int]]:
    """Path and load address of what may be an ELF image."""
    found: dict[str, int] = {}
    for line in _said("info proc mappings").splitlines():
        match = MAPPING.fullmatch(line)
        if not match or int(match.group(2), 16) != 0:
            continue
        path = _strip(match.group(3).rstrip())
        if not path.endswith(NO_IMAGE) and not path.startswith("/memfd:"):
            found.setdefault(path, int(match.group(1), 16))
    return list(found.items())


def kernel_id(thread: gdb.InferiorThread) -> int:
    """The kernel's number of a thread; of some remote targets it stands elsewhere."""
    return int(thread.ptid[1] or thread.ptid[2])


def selected_thread() -> int:
    """The kernel's number of the selected thread; 0: none is."""
    thread = gdb.selected_thread()
    return kernel_id(thread) if thread is not None and thread.is_valid() else 0


def _registers(thread: gdb.InferiorThread, names: Sequence[str]) -> list[int] | None:
    """The named registers of a thread, which is the selected one afterwards; None when they are unknown."""
    try:
        thread.switch()
        frame = gdb.newest_frame()
        return [int(frame.read_register(name)) & native.MASK64 for name in names]
    except (gdb.error, ValueError, TypeError, OverflowError, RuntimeError):
        return None


def _read_threads(*names: str) -> None:
    """Fill _threads; the selected thread and frame stay."""
    selected = gdb.selected_thread()
    try:
        frame = gdb.selected_frame()
    except gdb.error:
        frame = None
    try:
        for thread in gdb.selected_inferior().threads():
            values = None if thread.is_running() else _registers(thread, names)
            if kernel_id(thread):
                _threads.append((kernel_id(thread), thread.num, values))
    finally:
        if selected is not None:
            selected.switch()
        if frame is not None and frame.is_valid():
            frame.select()


_threads: list[tuple[int, int, list[int] | None]] = []


def threads(names: Sequence[str]) -> list[tuple[int, int, list[int] | None]]:
    """The kernel's number of each thread, GDB's, and those registers of it (None: unknown)."""
    _threads.clear()
    # Within a command whose output is kept, for GDB warns of what it finds odd in a core.
    _said(f'python __import__("{__name__}", fromlist=["*"])._read_threads(*{tuple(names)!r})')
    return list(_threads)


def connection(inferior: gdb.Inferior) -> str:
    """How GDB has it: "core", "native", "remote", ...; "" without a process or a core."""
    return getattr(getattr(inferior, "connection", None), "type", "")


def is_native(inferior: gdb.Inferior) -> bool:
    """Whether the process runs here and is read as it is now, not as it was."""
    return connection(inferior) == "native" and gdb.current_recording() is None


def stops_all() -> bool:
    """Whether all threads have stopped when a condition is tested: then they only seem to run (doc/debuggers.md 2)."""
    return re.search(r"\boff\)?\.", _said("maintenance show target-non-stop")) is not None


class Follower:
    """Keeps a session about what GDB debugs, unless the user opened a file."""

    def __init__(self, lib: ctypes.CDLL, handle: ctypes.c_void_p, has_threads: bool) -> None:
        self._lib = lib
        self._has_threads = has_threads
        self._handle = handle
        self._changes = 0
        self._key: tuple[Any, ...] | None = None  # of what the session is about
        self._core: tuple[tuple[int, int], str | None] | None = None
        self._inferior: gdb.Inferior | None = None
        self._thread = threading.get_ident()
        self._callback = native.READ(self._read)
        self.is_paused = False
        for name in EVENTS:
            registry = getattr(gdb.events, name, None)
            if registry is not None:
                registry.connect(self._changed)
        # It writes without an event.
        define_hook("restore", self._changed)

    def _changed(self, _event: Any = None) -> None:
        self._changes += 1

    def pause(self) -> None:
        """A file was opened: what GDB debugs does not matter until it is closed."""
        self.is_paused = True
        self._key = None

    def resume(self) -> None:
        """Nothing is open."""
        self.is_paused = False
        self._key = None

    def _core_of(self, inferior: gdb.Inferior) -> str | None:
        if connection(inferior) != "core":
            return None
        which = (inferior.num, inferior.connection_num)
        if self._core is None or self._core[0] != which:
            self._core = (which, core_path(inferior))
        return self._core[1]

    def _key_of(self, inferior: gdb.Inferior) -> tuple[Any, ...] | None:
        """A value that differs between two states of a target, and between two targets; None without a target."""
        if not inferior.is_valid() or not connection(inferior) or inferior.pid == 0:
            return None
        settings = [native.get(self._lib, self._handle, name) for name in SETTINGS]
        which = (inferior.num, inferior.connection_num, inferior.pid)
        core = self._core_of(inferior)
        return (*which, core, gdb.current_recording() is None, self._changes, *settings)

    def follow(self, sink: native.Sink) -> None:
        """Make the session be about what GDB debugs now; raises what is wrong with that."""
        if self.is_paused:
            return
        self._follow_target(sink)
        # Selecting another thread changes nothing else.
        tid = selected_thread() if self._key is not None else 0
        self._lib.hd_session_thread(self._handle, tid)

    def _follow_target(self, sink: native.Sink) -> None:
        inferior = gdb.selected_inferior()
        seems_to_run = any(thread.is_running() for thread in inferior.threads())
        if seems_to_run:
            # GDB tells nobody that it lets threads go on between two tests of a condition.
            self._changed()
        key = self._key_of(inferior)
        if key == self._key:
            return
        if self._key is not None:
            self._key = None
            self._lib.hd_session_close(self._handle)
        if key is None:
            return
        if seems_to_run and not stops_all():
            raise native.HeapdumpError(
                'threads are running: stop them first ("interrupt", in non-stop mode "interrupt -a"), '
                'or, for conditions, "maintenance set target-non-stop off" before the process'
            )
        self._open(inferior, sink)
        self._key = key

    def _open(self, inferior: gdb.Inferior, sink: native.Sink) -> None:
        found = modules()
        rows = (native.Module * max(len(found), 1))()
        for row, (path, base) in zip(rows, found):
            row.path = native.encode(path)
            row.base = base
        processor = inferior.architecture().name().encode()
        names = native.register_names(self._lib, processor)
        standing = threads(names) if self._has_threads else []
        states = (native.Thread * max(len(standing), 1))()
        for state, (tid, number, values) in zip(states, standing):
            state.tid = tid
            state.number = number
            if values is not None:
                state.registers = (ctypes.c_uint64 * len(names))(*values)
        debugger = native.Debugger(
            struct_size=ctypes.sizeof(native.Debugger),
            read=native.address(self._callback),
            pid=inferior.pid,
            is_local=is_native(inferior),
            stack_pointer=stack_pointer(),
            modules=rows,
            module_count=len(found),
            threads=states,
            thread_count=len(standing),
            is_core=connection(inferior) == "core",
            processor=processor,
            register_count=len(names),
        )
        core = self._core_of(inferior)
        if core is not None:
            debugger.core = os.fsencode(core)
        self._inferior = inferior
        function = self._lib.hd_session_debugger
        _, interrupts = native.counted(
            self._lib,
            native.check,
            function,
            self._handle,
            ctypes.byref(debugger),
            ctypes.byref(sink),
        )
        # It came too late for the opening, but the command has not begun.
        if interrupts:
            raise native.HeapdumpError("interrupted", native.ERR_CANCELLED)

    def _read(self, _arg: int, address: int, buf: int, size: int) -> int:
        """Copy what can be read; called from C, so nothing may be raised."""
        done = 0
        try:
            # GDB may be asked on its own thread alone.
            if self._inferior is None or threading.get_ident() != self._thread:
                return 0
            try:
                done = self._copy(address, buf, size)
            except gdb.error:
                # All or nothing: page by page, what stands before the hole.
                while done < size:
                    piece = min(PAGE - (address + done) % PAGE, size - done)
                    done += self._copy(address + done, buf + done, piece)
        except BaseException:  # pylint: disable=broad-except
            pass
        return done

    def _copy(self, address: int, buf: int, size: int) -> int:
        assert self._inferior is not None
        data = self._inferior.read_memory(address, size)
        ctypes.memmove(buf, data.tobytes(), size)
        return size
