# SPDX-License-Identifier: MIT
"""The core library as Python sees it: ctypes declarations, one exception, no policy."""
from __future__ import annotations

import ctypes
import enum
import glob
import os
from typing import Any, Callable, Sequence

from heapdump import library

MESSAGE_SIZE = 488
NONE = 0xFFFFFFFF
MASK64 = 0xFFFFFFFFFFFFFFFF
CHUNK = 64 << 10
SETTING_SIZE = 4096

EXIT_OK = 0
EXIT_FINDINGS = 1
EXIT_USAGE = 2
EXIT_INPUT = 3
EXIT_INTERRUPTED = 130


class Status(enum.IntEnum):
    """Why a call failed (enum hd_status); a later library may have numbers that are not here."""

    OK = 0
    NOMEM = 1  #: memory, or the setting max-mem, is exhausted
    OS = 2  #: a system call failed
    FAULT = 3  #: memory of the target is not readable
    FORMAT = 4  #: a file breaks its own format
    UNSUPPORTED = 5  #: a kind or version that is not read
    NOTFOUND = 6  #: no such object, type or command
    ARGUMENT = 7  #: wrong usage
    CANCELLED = 8  #: somebody has stopped it


ERR_CANCELLED = Status.CANCELLED

WRITE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
PROGRESS = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64
)
ADD = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
CANCELLED = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
ROW = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
TABLE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
READ = ctypes.CFUNCTYPE(
    ctypes.c_size_t, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t
)


class Error(ctypes.Structure):
    _fields_ = [
        ("status", ctypes.c_uint32),
        ("os_errno", ctypes.c_int32),
        ("address", ctypes.c_uint64),
        ("is_told", ctypes.c_uint64),
        ("message", ctypes.c_char * MESSAGE_SIZE),
    ]


class Sink(ctypes.Structure):
    """Callbacks are plain addresses, so that a C function can stand for one."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("arg", ctypes.c_void_p),
        ("write", ctypes.c_void_p),
        ("warn", ctypes.c_void_p),
        ("cancelled", ctypes.c_void_p),
        ("progress", ctypes.c_void_p),
        ("color", ctypes.c_uint32),
        ("width", ctypes.c_uint32),
        ("binary", ctypes.c_uint32),
        ("note", ctypes.c_void_p),
    ]


class Visitor(ctypes.Structure):
    """Takes an answer row by row."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("arg", ctypes.c_void_p),
        ("row", ctypes.c_void_p),
        ("begin", ctypes.c_void_p),
        ("end", ctypes.c_void_p),
    ]


# enum hd_command_role
ROLE_OPEN, ROLE_CLOSE, ROLE_OWN = 1, 2, 3


class CommandInfo(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("alias", ctypes.c_char_p),
        ("summary", ctypes.c_char_p),
        ("is_top_level", ctypes.c_uint32),
        ("needs_open", ctypes.c_uint32),
        ("role", ctypes.c_uint32),
        ("writes", ctypes.c_uint32),
        ("is_raw", ctypes.c_uint32),
        ("follows", ctypes.c_uint32),
    ]


class Module(ctypes.Structure):
    _fields_ = [("path", ctypes.c_char_p), ("base", ctypes.c_uint64)]


class Thread(ctypes.Structure):
    _fields_ = [
        ("tid", ctypes.c_int32),
        ("number", ctypes.c_uint32),
        ("registers", ctypes.POINTER(ctypes.c_uint64)),
    ]


class Debugger(ctypes.Structure):
    """The facts that a debugger knows about its core or process."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("arg", ctypes.c_void_p),
        ("read", ctypes.c_void_p),
        ("core", ctypes.c_char_p),
        ("pid", ctypes.c_int32),
        ("is_local", ctypes.c_uint32),
        ("stack_pointer", ctypes.c_uint64),
        ("modules", ctypes.POINTER(Module)),
        ("module_count", ctypes.c_size_t),
        ("threads", ctypes.POINTER(Thread)),
        ("thread_count", ctypes.c_size_t),
        ("is_core", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("processor", ctypes.c_char_p),
        ("register_count", ctypes.c_size_t),
    ]


class Object(ctypes.Structure):
    _fields_ = [
        ("id", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        ("type", ctypes.c_uint32),
        ("missing", ctypes.c_uint32),
        ("reference_count", ctypes.c_uint64),
    ]


class Type(ctypes.Structure):
    _fields_ = [
        ("id", ctypes.c_uint64),
        ("name", ctypes.c_void_p),
        ("name_size", ctypes.c_size_t),
        ("object_count", ctypes.c_uint64),
        ("object_size", ctypes.c_uint64),
    ]


class CodeChange(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("file", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("gone", ctypes.POINTER(ctypes.c_uint32)),
        ("gone_count", ctypes.c_size_t),
        ("functions", ctypes.c_uint64),
    ]


class CodePlace(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("method", ctypes.c_uint64),
        ("first_line", ctypes.c_uint32),
        ("last_line", ctypes.c_uint32),
        ("name", ctypes.c_char * 1024),
        ("file", ctypes.c_char * 4096),
        ("suspends", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


class CodeLine(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("file", ctypes.c_char_p),
        ("line", ctypes.c_uint32),
        ("found", ctypes.c_uint32),
        ("address", ctypes.c_uint64),
        ("is_there", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


class HeapdumpError(Exception):
    """
    A call failed, or what was asked for cannot be read.

    ``status`` is a Status, or 0 when none says why, and ``exit`` what the shell program would have returned.
    """

    def __init__(self, message: str, status: int = 0, exit_status: int = EXIT_INPUT) -> None:
        super().__init__(message)
        known = status in Status._value2member_map_  # a later library may know more
        self.status: int = Status(status) if known else status
        self.exit = exit_status


_STRING = ctypes.c_char_p
_WORDS = ctypes.POINTER(ctypes.c_char_p)
_POINTER = ctypes.c_void_p
_ERROR = ctypes.POINTER(Error)
_SINK = ctypes.POINTER(Sink)

# name: (result, arguments)
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "hd_version": (_STRING, []),
    "hd_session_create": (ctypes.c_int, [ctypes.POINTER(_POINTER), _ERROR]),
    "hd_session_destroy": (None, [_POINTER]),
    "hd_session_set": (ctypes.c_int, [_POINTER, _STRING, _STRING, _ERROR]),
    "hd_session_get": (ctypes.c_int, [_POINTER, _STRING, _POINTER, ctypes.c_size_t, _ERROR]),
    "hd_session_open": (ctypes.c_int, [_POINTER, _STRING, ctypes.c_int, _SINK, _ERROR]),
    "hd_session_graph": (_POINTER, [_POINTER]),
    "hd_session_path": (_STRING, [_POINTER]),
    "hd_session_close": (None, [_POINTER]),
    "hd_session_debugger": (
        ctypes.c_int,
        [_POINTER, ctypes.POINTER(Debugger), _SINK, _ERROR],
    ),
    "hd_code_create": (ctypes.c_int, [ctypes.POINTER(_POINTER), _ERROR]),
    "hd_code_destroy": (None, [_POINTER]),
    "hd_code_update": (
        ctypes.c_int,
        [_POINTER, _POINTER, _SINK, ctypes.POINTER(CodeChange), _ERROR],
    ),
    "hd_code_is_current": (ctypes.c_int, [_POINTER, READ, _POINTER]),
    "hd_code_method": (ctypes.c_uint64, [_POINTER, ctypes.c_uint64]),
    "hd_code_awaits": (ctypes.c_uint64, [_POINTER, ctypes.POINTER(Debugger)]),
    "hd_code_at": (
        ctypes.c_int,
        [_POINTER, ctypes.c_uint64, ctypes.POINTER(CodePlace), _ERROR],
    ),
    "hd_code_line": (ctypes.c_int, [_POINTER, ctypes.POINTER(CodeLine), _ERROR]),
    "hd_debugger_registers": (_WORDS, [_STRING, ctypes.POINTER(ctypes.c_size_t)]),
    "hd_session_thread": (None, [_POINTER, ctypes.c_int32]),
    "hd_setting_name": (_STRING, [ctypes.c_size_t, ctypes.POINTER(_STRING)]),
    "hd_graph_find": (ctypes.c_uint32, [_POINTER, ctypes.c_uint64]),
    "hd_graph_object": (ctypes.c_int, [_POINTER, ctypes.c_uint32, ctypes.POINTER(Object)]),
    "hd_graph_type": (ctypes.c_int, [_POINTER, ctypes.c_uint32, ctypes.POINTER(Type)]),
    "hd_graph_type_count": (ctypes.c_uint32, [_POINTER]),
    "hd_command_find": (ctypes.c_int, [ctypes.c_char_p, ctypes.POINTER(CommandInfo)]),
    "hd_command_at": (ctypes.c_int, [ctypes.c_size_t, ctypes.POINTER(CommandInfo)]),
    "hd_command_raw": (ctypes.c_int, [_STRING, _STRING, _POINTER]),
    "hd_command_run": (ctypes.c_int, [_POINTER, ctypes.c_int, _WORDS, _SINK, _ERROR]),
    "hd_command_help": (ctypes.c_int, [_STRING, _SINK, _ERROR]),
    "hd_command_expressions": (None, [ctypes.c_int, _WORDS, _POINTER]),
    "hd_command_complete": (ctypes.c_int, [_POINTER, ctypes.c_int, _WORDS, ADD, _POINTER]),
    "hd_text_run": (
        ctypes.c_int,
        [_POINTER, ctypes.c_int, _WORDS, _SINK, ctypes.POINTER(_POINTER), _ERROR],
    ),
    "hd_text_read": (ctypes.c_size_t, [_POINTER, _POINTER, ctypes.c_size_t]),
    "hd_text_check": (ctypes.c_int, [_POINTER, _ERROR]),
    "hd_text_warnings": (_STRING, [_POINTER]),
    "hd_text_free": (None, [_POINTER]),
    "hd_rows_run": (
        ctypes.c_int,
        [_POINTER, ctypes.c_int, _WORDS, _SINK, ctypes.POINTER(_POINTER), _ERROR],
    ),
    "hd_query": (
        ctypes.c_int,
        [_POINTER, ctypes.c_int, _WORDS, ctypes.POINTER(Visitor), _SINK, _ERROR],
    ),
    "hd_arrow_run": (ctypes.c_int, [_POINTER, _POINTER, _SINK, _POINTER, _ERROR]),
    "hd_rows_table": (_POINTER, [_POINTER, ctypes.c_size_t]),
    "hd_rows_count": (ctypes.c_uint64, [_POINTER, _POINTER]),
    "hd_rows_at": (_POINTER, [_POINTER, _POINTER, ctypes.c_uint64]),
    "hd_rows_in": (ctypes.c_int, [_POINTER, _POINTER, ctypes.c_uint64, _POINTER, _POINTER]),
    "hd_rows_warnings": (_STRING, [_POINTER]),
    "hd_rows_free": (None, [_POINTER]),
    "hd_interrupt_begin": (None, []),
    "hd_interrupt_end": (ctypes.c_int, []),
    "hd_interrupted": (ctypes.c_int, []),
}


def _named(path: str) -> str:
    """The library that the environment names, if the user of this process has named it."""
    real = os.path.realpath(path)
    if not os.path.exists(real):
        raise HeapdumpError(f"HEAPDUMP_LIBRARY: {path} does not exist")
    if library.is_raised():
        raise HeapdumpError(
            "HEAPDUMP_LIBRARY is refused: another user has started this process (sudo)"
        )
    why = library.refusal(real, {0, os.geteuid()})
    if why:
        raise HeapdumpError(f"HEAPDUMP_LIBRARY is refused: {why}")
    return real


def find(here: str) -> str:
    """Path of the library that belongs to what is in folder ``here``: GDB's plug-in, or this package."""
    named = os.environ.get("HEAPDUMP_LIBRARY")
    if named:
        return _named(named)
    prefix = os.path.join(here, "..", "..", "..")
    folders = [os.path.join(here, "..", "build")]
    folders += [os.path.join(prefix, "lib"), os.path.join(prefix, "lib64")]
    folders += sorted(glob.glob(os.path.join(prefix, "lib", "*-linux-gnu*")))
    for folder in folders:
        for name in ("libheapdump.so.0", "libheapdump.so"):
            path = os.path.realpath(os.path.join(folder, name))
            if not os.path.exists(path):
                continue
            # Who has the plug-in is trusted: it runs already.
            why = library.refusal(path, {0, os.geteuid(), os.stat(here).st_uid})
            if why:
                raise HeapdumpError(f"{path} is refused: {why}")
            return path
    raise HeapdumpError(
        "libheapdump.so was not found: build it (cmake --build build), install it, "
        "or set HEAPDUMP_LIBRARY to its path before this process starts"
    )


def load(path: str) -> ctypes.CDLL:
    """Load the library at ``path`` and declare its functions."""
    try:
        lib = ctypes.CDLL(path)
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(lib, name)
            function.restype = result
            function.argtypes = arguments
    except (OSError, AttributeError) as error:
        raise HeapdumpError(
            f"cannot load {path}: {error}; set HEAPDUMP_LIBRARY to the path of libheapdump.so "
            "before this process starts"
        ) from None
    return lib


def register_names(lib: ctypes.CDLL, processor: bytes) -> list[str]:
    """The registers that the library wants of a thread; none of a processor that it does not know."""
    count = ctypes.c_size_t()
    names = lib.hd_debugger_registers(processor, ctypes.byref(count))
    return [decode(names[index]) for index in range(count.value)] if names else []


def decode(data: bytes | None) -> str:
    """Text of the core, whose names may hold any byte."""
    return (data or b"").decode("utf-8", "replace")


def encode(word: str) -> bytes:
    """Bytes of a word for the core, which ends words with NUL."""
    try:
        data = word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise HeapdumpError("a word is not text", Status.ARGUMENT, EXIT_USAGE) from None
    if b"\0" in data:
        raise HeapdumpError("a word holds a NUL", Status.ARGUMENT, EXIT_USAGE)
    return data


def words(argv: Sequence[str]) -> Any:
    """``argv`` as the array of C strings that the core takes."""
    return (ctypes.c_char_p * (len(argv) + 1))(*[encode(word) for word in argv], None)


def address(function: Any) -> int | None:
    """Address of a C function or callback, for a field of :class:`Sink`."""
    return ctypes.cast(function, ctypes.c_void_p).value


def check(function: Any, *args: Any) -> None:
    """Call a core function whose last argument is the error, and raise what it reports."""
    error = Error()
    status = function(*args, ctypes.byref(error))
    if status:
        raise HeapdumpError(decode(error.message), status)


def raise_failure(status: int, error: Error, name: str) -> None:
    """Raise what a command says that failed."""
    if status in (EXIT_OK, EXIT_FINDINGS):
        return
    message = decode(error.message) or f"{name} failed"
    raise HeapdumpError(message, int(error.status), status)


def counted(lib: ctypes.CDLL, function: Callable[..., Any], *args: Any) -> tuple[Any, int]:
    """Call ``function`` with SIGINT taken in C: GDB's handler would raise inside of a callback.

    The result, and how often SIGINT came. A Ctrl-C just before may raise anywhere here, even before the begin: then
    the end has nothing to give back, and does nothing.
    """
    try:
        lib.hd_interrupt_begin()
        result = function(*args)
    finally:
        came = int(lib.hd_interrupt_end())
    return result, came


def guarded(lib: ctypes.CDLL, function: Callable[..., Any], *args: Any) -> Any:
    """The result of counted(): the function itself sees a SIGINT in time, or is done."""
    return counted(lib, function, *args)[0]


def command(lib: ctypes.CDLL, name: str) -> CommandInfo:
    """The table's entry of a command; one without a name when there is none."""
    info = CommandInfo(role=ROLE_OWN)
    lib.hd_command_find(encode(name), ctypes.byref(info))
    return info


def commands(lib: ctypes.CDLL) -> list[CommandInfo]:
    """The command table."""
    result: list[CommandInfo] = []
    info = CommandInfo()
    while lib.hd_command_at(len(result), ctypes.byref(info)) == 0:
        result.append(info)
        info = CommandInfo()
    return result


def command_help(lib: ctypes.CDLL, name: str | None) -> str:
    """Help text of a command, or the list of all commands."""
    pieces: list[bytes] = []

    def write(_arg: int, text: int, size: int) -> int:
        pieces.append(ctypes.string_at(text, size))
        return 0

    callback = WRITE(write)
    sink = Sink(struct_size=ctypes.sizeof(Sink), write=address(callback))
    which = None if name is None else encode(name)
    guarded(lib, check, lib.hd_command_help, which, ctypes.byref(sink))
    return decode(b"".join(pieces))


def complete(lib: ctypes.CDLL, session: Any, argv: Sequence[str]) -> list[str] | None:
    """Candidates for the last word, or None when it is the name of a file."""
    found: list[bytes] = []
    add = ADD(lambda _arg, candidate: found.append(candidate))
    function = lib.hd_command_complete
    is_file = guarded(lib, function, session, len(argv), words(argv), add, None)
    return None if is_file else [decode(candidate) for candidate in found]


def expressions(lib: ctypes.CDLL, argv: Sequence[str]) -> list[bool]:
    """Which words the debugger has to evaluate."""
    marks = (ctypes.c_uint8 * max(len(argv), 1))()
    lib.hd_command_expressions(len(argv), words(argv), marks)
    return [bool(mark) for mark in marks[: len(argv)]]


def raw_text(lib: ctypes.CDLL, name: str, rest: str) -> tuple[str, str] | None:
    """The text after a command's name, cut where a text begins that is one word; None: it has none."""
    data, begin = encode(rest), ctypes.c_size_t()
    if "\0" in rest or not lib.hd_command_raw(encode(name), data, ctypes.byref(begin)):
        return None
    parts = data[: begin.value], data[begin.value :].strip()
    return parts[0].decode("utf-8", "surrogateescape"), parts[1].decode("utf-8", "surrogateescape")


def get(lib: ctypes.CDLL, session: Any, name: str) -> str:
    """The value of a setting."""
    buf = ctypes.create_string_buffer(SETTING_SIZE)
    check(lib.hd_session_get, session, encode(name), buf, len(buf))
    return buf.value.decode("utf-8", "surrogateescape")


def settings(lib: ctypes.CDLL) -> list[tuple[str, str]]:
    """Name and help of each setting."""
    result: list[tuple[str, str]] = []
    text = ctypes.c_char_p()
    name = lib.hd_setting_name(0, ctypes.byref(text))
    while name is not None:
        result.append((decode(name), decode(text.value)))
        name = lib.hd_setting_name(len(result), ctypes.byref(text))
    return result


class Text:
    """The kept answer of one command; to be closed."""

    def __init__(self, lib: ctypes.CDLL) -> None:
        self._lib = lib
        self._text = ctypes.c_void_p()
        self.error = Error()

    def run(self, session: Any, argv: Sequence[str], sink: Sink) -> int:
        """Run the command; the exit status."""
        return int(
            self._lib.hd_text_run(
                session,
                len(argv),
                words(argv),
                ctypes.byref(sink),
                ctypes.byref(self._text),
                ctypes.byref(self.error),
            )
        )

    def read(self) -> bytes:
        """The next piece of the answer, empty at its end; raises when it was not kept whole."""
        if not self._text:
            return b""
        buf = ctypes.create_string_buffer(CHUNK)
        size = self._lib.hd_text_read(self._text, buf, CHUNK)
        if not size:
            check(self._lib.hd_text_check, self._text)
        return buf.raw[:size]

    def warnings(self) -> list[str]:
        if not self._text:
            return []
        return decode(self._lib.hd_text_warnings(self._text)).splitlines()

    def close(self) -> None:
        text, self._text = self._text, ctypes.c_void_p()
        self._lib.hd_text_free(text)
