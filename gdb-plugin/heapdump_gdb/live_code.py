# SPDX-License-Identifier: MIT
"""The managed code of a process, as far as GDB knows it (doc/managed-elf.md 7)."""
from __future__ import annotations

import ctypes
import os
import re
from typing import Any

import gdb

from heapdump import native
from heapdump_gdb.code_file import CodeFile, version_of
from heapdump_gdb.session import Session

SETTINGS = ("max-mem", "workers", "sysroot", "symbols", "runtime", "files", "trust-files")
MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S{4}) ([0-9a-f]+) \S+ \d+\s*(.*)")
NO_IMAGE = re.compile(r"\.(?:dll|pdb|dat|ttf|cache)$")
# .NET maps the code that it compiles twice: to be written, and to be run.
TWICE = "doublemapper"


class LiveCode:
    """The files that GDB has of one process, and a session that is opened anew where it has to see what is new."""

    def __init__(self, session: Session, inferior: gdb.Inferior) -> None:
        self._session = session
        self._lib = session.lib
        self._inferior = inferior
        self._pid = inferior.pid
        self._files: dict[int, CodeFile] = {}
        self._lacks_one = False  # it did not take one that the library believes it has
        self._is_open = False  # the session has seen the process as it is now
        self._images: list[tuple[str, int]] | None = None  # its files; None: not known
        self._suspends: dict[int, bool] = {}  # by their numbers, methods that were asked about
        self.is_known = False  # GDB has the code of at least one moment
        self._read_callback = native.READ(self._read)
        self._handle = ctypes.c_void_p()
        self._code = ctypes.c_void_p()
        native.check(self._lib.hd_session_create, ctypes.byref(self._handle))
        native.check(self._lib.hd_code_create, ctypes.byref(self._code))
        native.check(self._lib.hd_session_set, self._handle, b"backend", b"debugger")

    def close(self) -> None:
        """GDB forgets all of it."""
        for file in self._files.values():
            file.close()
        self._files.clear()
        self._lib.hd_code_destroy(self._code)
        self._lib.hd_session_destroy(self._handle)

    def mappings(self) -> list[tuple[int, int, str, int, str]]:
        """Begin, end, rights, offset and path of each mapping."""
        with open(f"/proc/{self._pid}/maps", "rb") as file:
            text = file.read().decode("utf-8", "surrogateescape")
        found = []
        for line in text.splitlines():
            match = MAPPING.fullmatch(line)
            if match:
                begin, end, rights, offset, path = match.groups()
                found.append((int(begin, 16), int(end, 16), rights, int(offset, 16), path))
        return found

    def program(self) -> str:
        """The file that runs."""
        return os.readlink(f"/proc/{self._pid}/exe")

    def guarded_pages(self) -> list[tuple[int, int]]:
        """Where code is that a debugger cannot write into."""
        return [
            (begin, end)
            for begin, end, rights, _, path in self.mappings()
            if TWICE in path and rights[1:3] == "-x" and rights[3] == "s"
        ]

    def is_runtime_memory(self, address: int) -> bool:
        """Is it memory of the runtime that is run, compiled code or stubs, and no file's?"""
        return any(
            begin <= address < end and "x" in rights and (not path or TWICE in path)
            for begin, end, rights, _, path in self.mappings()
        )

    def update(self) -> bool:
        """Give GDB what is new, and take from it what is gone; whether anything was."""
        if self._lacks_one:
            self._begin_anew()
        elif self._lib.hd_code_is_current(self._code, self._read_callback, None):
            return False
        former = [number for number in self._files if number < 0]
        file = CodeFile()
        take = native.WRITE(file.take)
        sink = native.Sink(
            struct_size=ctypes.sizeof(native.Sink),
            write=native.address(take),
            cancelled=native.address(self._lib.hd_interrupted),
            binary=1,
        )
        change = native.CodeChange(struct_size=ctypes.sizeof(native.CodeChange))
        try:
            self._open()
            native.guarded(
                self._lib,
                native.check,
                self._lib.hd_code_update,
                self._code,
                self._handle,
                ctypes.byref(sink),
                ctypes.byref(change),
            )
            if change.file:
                file.load()
        except BaseException:
            self._lacks_one |= bool(change.file)
            file.close()
            raise
        self._lacks_one = False
        if change.file:
            self._files[change.file] = file
        else:
            file.close()
        for number in former + change.gone[: change.gone_count]:
            old = self._files.pop(number, None)
            if old is not None:
                old.close()
        self.is_known = True
        return bool(change.file or change.gone_count)

    def _begin_anew(self) -> None:
        """Let the next file have all functions, and the files of before stay until then, with numbers that no other has."""
        former = list(self._files.values())
        self._files = {-1 - index: file for index, file in enumerate(former)}
        self._lib.hd_code_destroy(self._code)
        native.check(self._lib.hd_code_create, ctypes.byref(self._code))

    def processor(self) -> str:
        """Its name, as GDB has it."""
        return self._inferior.architecture().name()

    def registers(self) -> list[str]:
        """Names of the registers, by the numbers that instructions have for them."""
        return native.register_names(self._lib, self.processor().encode())

    def version(self) -> str:
        """The release of .NET."""
        return version_of(self._lib, self._handle)

    def method(self, address: int) -> int:
        """A number for the method whose code GDB knows at that address; 0: none."""
        return int(self._lib.hd_code_method(self._code, address))

    def place(self, address: int) -> native.CodePlace | None:
        """The method that has code there now, whether GDB knows it or not."""
        place = native.CodePlace(struct_size=ctypes.sizeof(native.CodePlace))
        try:
            self._open()
            native.guarded(
                self._lib,
                native.check,
                self._lib.hd_code_at,
                self._handle,
                address,
                ctypes.byref(place),
            )
        except native.HeapdumpError:
            return None
        return place

    def suspends(self, address: int) -> bool:
        """Is the method there an async one that the runtime suspends?"""
        method = self.method(address)
        if method not in self._suspends:
            place = self.place(address)
            self._suspends[method] = place is not None and bool(place.suspends)
        return self._suspends[method]

    def awaits(self, registers: list[int]) -> int:
        """Where a method goes on that has just come back because it waits in an await; 0: it has ended."""
        values = (ctypes.c_uint64 * len(registers))(*registers)
        thread = native.Thread(registers=values)
        debugger = native.Debugger(
            struct_size=ctypes.sizeof(native.Debugger),
            read=native.address(self._read_callback),
            threads=ctypes.pointer(thread),
            thread_count=1,
            register_count=len(registers),
        )
        return int(self._lib.hd_code_awaits(self._code, ctypes.byref(debugger)))

    def line(self, file: str, line: int, address: int) -> tuple[int, bool]:
        """The line with a statement that belongs to a breakpoint (0: none), and whether the code there has it."""
        wanted = native.CodeLine(
            struct_size=ctypes.sizeof(native.CodeLine),
            file=native.encode(file),
            line=line,
            address=address,
        )
        self._open()
        native.guarded(
            self._lib, native.check, self._lib.hd_code_line, self._handle, ctypes.byref(wanted)
        )
        return int(wanted.found), bool(wanted.is_there)

    def moment(self) -> None:
        """The process has run since the last call."""
        self._is_open = False
        self._images = None

    def code_came(self) -> None:
        """Since the last call it has only run from one publication of code to the next: its files are the same."""
        self._is_open = False

    def _open(self) -> None:
        """Let the session be about the process as it is now."""
        if self._is_open:
            return
        for name in SETTINGS:
            value = native.encode(self._session.get(name))
            native.check(self._lib.hd_session_set, self._handle, native.encode(name), value)
        if self._images is None:
            self._images = [
                (path, begin)
                for begin, _, _, offset, path in self.mappings()
                if offset == 0 and path.startswith("/") and not NO_IMAGE.search(path)
            ]
        found = self._images
        rows = (native.Module * max(len(found), 1))()
        for row, (path, base) in zip(rows, found):
            row.path = native.encode(path)
            row.base = base
        debugger = native.Debugger(
            struct_size=ctypes.sizeof(native.Debugger),
            read=native.address(self._read_callback),
            pid=self._pid,
            is_local=1,
            modules=rows,
            module_count=len(found),
            processor=self.processor().encode(),
        )
        native.guarded(
            self._lib,
            native.check,
            self._lib.hd_session_debugger,
            self._handle,
            ctypes.byref(debugger),
            None,
        )
        self._is_open = True

    def read(self, address: int, size: int) -> bytes:
        """Bytes of the process, without the debugger's breakpoints."""
        return bytes(self._inferior.read_memory(address, size))

    def _read(self, _arg: Any, address: int, buf: int, size: int) -> int:
        """Copy what can be read; called from C, so nothing may be raised."""
        page = os.sysconf("SC_PAGESIZE")
        done = 0
        try:
            try:
                data = self._inferior.read_memory(address, size)
                ctypes.memmove(buf, data.tobytes(), size)
                return size
            except gdb.error:
                # All or nothing: page by page, as far as there is something.
                while done < size:
                    piece = min(page - (address + done) % page, size - done)
                    data = self._inferior.read_memory(address + done, piece)
                    ctypes.memmove(buf + done, data.tobytes(), piece)
                    done += piece
        except BaseException:  # pylint: disable=broad-except
            pass
        return done
