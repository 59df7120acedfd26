# SPDX-License-Identifier: MIT
"""The one session of this GDB: runs commands and hands their text to GDB."""
from __future__ import annotations

import codecs
import ctypes
import os
import re
import signal
import sys
from typing import Any, Sequence

import gdb

from heapdump import answer, native
from heapdump.rows import Rows
from heapdump.text import printable
from heapdump_gdb.target import Follower
from heapdump_gdb.words import expression_end


def parameter(name: str) -> Any:
    """A setting of GDB's, None when this GDB lacks it."""
    try:
        return gdb.parameter(name)
    except (gdb.error, RuntimeError):
        return None


def host_text(text: str) -> str:
    """``text`` with escapes for what GDB's host character set cannot say."""
    name = getattr(gdb, "host_charset", lambda: "ascii")()
    try:
        return text.encode(name, "backslashreplace").decode(name)
    except (LookupError, UnicodeError):
        return text.encode("ascii", "backslashreplace").decode("ascii")


def failure(message: str) -> gdb.GdbError:
    """The error of a command: one line, which may hold names out of a target."""
    return gdb.GdbError(host_text(printable(message)))


def write_error(line: str) -> None:
    gdb.write(host_text(printable(line)) + "\n", gdb.STDERR)


def _is_machine_interface() -> bool:
    """Whether GDB was started for a program, which shows escape codes as they are."""
    try:
        with open("/proc/self/cmdline", "rb") as file:
            line = file.read()
    except OSError:
        return False
    return re.search(rb"\0--?i[a-z]*[=\0](mi|dap)", line) is not None


def _set_terminal(sink: native.Sink) -> None:
    """The place where the text goes: whether it takes colours, and how many columns it has."""
    width, height = parameter("width"), parameter("height")
    # pipe and to_string=True lift both limits while they capture.
    if not os.isatty(1) or _is_machine_interface() or not (width or height):
        return
    if parameter("logging enabled") or parameter("logging"):
        return
    sink.color = 1 if parameter("style enabled") else 0
    sink.width = width if isinstance(width, int) and 20 <= width <= 65535 else 0


class _Progress:
    """One line on standard error.  SIGINT is taken in C while it is called, so nothing is raised."""

    def __init__(self) -> None:
        stderr = sys.__stderr__
        self._stderr = stderr if stderr is not None and stderr.isatty() else None
        self.callback = native.PROGRESS(self._show)

    def _show(self, _arg: int, what: bytes | None, done: int, total: int) -> None:
        try:
            if self._stderr is None:
                return
            line = ""
            if what is not None:
                percent = f" {min(100, 100 * done // total)}%" if total else ""
                percent = percent or (f" {done:,}" if done else "")
                line = native.decode(what) + percent
            self._stderr.write(f"\r{line}\033[K")
            self._stderr.flush()
        except (OSError, ValueError):
            self._stderr = None


class _Interrupts:
    """Tells Ctrl-C from a q at the pager: GDB raises KeyboardInterrupt for both.

    GDB's handler of SIGINT hands the signal on to Python, which then writes into this pipe.
    """

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        try:
            self._before: int | None = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        except ValueError:  # not on GDB's own thread
            self._before = None

    def came(self) -> bool:
        try:
            return bool(os.read(self._read, 1))
        except BlockingIOError:
            return False

    def close(self) -> None:
        if self._before is not None:
            signal.set_wakeup_fd(self._before)
        os.close(self._read)
        os.close(self._write)


def _note(_arg: int, line: bytes) -> None:
    """Say what is going on, at once."""
    try:
        sys.stderr.write(native.decode(line) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass


class Answer(answer.Answer):
    """The whole answer of a command: it stays as it is when GDB's target changes."""

    def failure(self, message: str) -> Exception:
        return failure(message)


class Session:
    """The core's session, and what GDB adds to it."""

    def __init__(self, lib: ctypes.CDLL, has_threads: bool = True) -> None:
        """``has_threads``: it may select all threads in turn, which forgets frames that GDB walks through."""
        self.lib = lib
        self.handle = ctypes.c_void_p()
        native.check(lib.hd_session_create, ctypes.byref(self.handle))
        self._follower = Follower(lib, self.handle, has_threads)

    def set(self, name: str, value: str) -> None:
        native.check(
            self.lib.hd_session_set, self.handle, native.encode(name), native.encode(value)
        )

    def get(self, name: str) -> str:
        return native.get(self.lib, self.handle, name)

    def complete(self, argv: Sequence[str]) -> list[str] | None:
        return native.complete(self.lib, self.handle, argv)

    def run(self, argv: list[str]) -> None:
        """Run a command and write its answer; raises gdb.GdbError when it fails."""
        interrupts = _Interrupts()
        try:
            self._run(self._evaluate(argv))
        except KeyboardInterrupt:  # while the answer is printed, or between two steps
            if interrupts.came():
                _set_status(native.EXIT_INTERRUPTED)
            raise gdb.GdbError("Quit") from None
        finally:
            interrupts.close()

    def _evaluate(self, argv: list[str]) -> list[str]:
        """``argv`` with the debugger's expressions replaced by their values."""
        result: list[str] = []
        # A command that takes one address takes all the words of its expression.
        one = sum(native.expressions(self.lib, [argv[0]] + ["?"] * 3)) == 1
        end = 0
        for index, marked in enumerate(native.expressions(self.lib, argv)):
            if index < end:
                continue
            end = expression_end(argv, index) if marked and one else index + 1
            word = " ".join(argv[index:end])
            result.append(self._value(word, end < len(argv) and not one) if marked else word)
        return result

    def _value(self, word: str, more: bool) -> str:
        """The value of an expression; ``more``: words that follow may be its rest."""
        try:
            return hex(int(gdb.parse_and_eval(word)) & native.MASK64)
        except (gdb.error, ValueError, TypeError, OverflowError, RuntimeError) as error:
            _set_status(native.EXIT_USAGE)
            message = f"cannot evaluate '{word}': {error}"
            if more:
                message += " (put an expression with spaces in quotes)"
            raise failure(message) from None

    def query(self, argv: list[str], rows_type: type[Rows] = Rows) -> Answer:
        """The answer of a command as data; raises gdb.GdbError when it fails."""
        interrupts = _Interrupts()
        rows = rows_type(self.lib)
        try:
            self._query(self._evaluate(argv), rows)
            return Answer(rows, argv[0])
        except KeyboardInterrupt:
            rows.close()
            raise gdb.GdbError("Quit") from None
        except gdb.GdbError:
            rows.close()
            raise
        finally:
            interrupts.close()

    def _query(self, argv: list[str], rows: Rows) -> None:
        try:
            self._ask(argv, rows)
        except native.HeapdumpError as error:
            raise failure(str(error)) from None

    def ask(self, argv: list[str], rows_type: type[Rows]) -> answer.Answer:
        """The same as query(), for heapdump.current(): no expressions, and its errors are HeapdumpError."""
        rows = rows_type(self.lib)
        try:
            return answer.Answer(rows, argv[0], self._ask(argv, rows))
        except BaseException:
            rows.close()
            raise

    def _ask(self, argv: list[str], rows: Rows) -> int:
        progress = _Progress()
        note = native.ADD(_note)
        sink = native.Sink(progress=native.address(progress.callback), note=native.address(note))
        status = self._answer(argv, rows, sink)
        if status == native.EXIT_INTERRUPTED:
            raise KeyboardInterrupt
        native.raise_failure(status, rows.error, argv[0])
        return status

    def follow(self) -> None:
        """Be about what GDB debugs now, if that is what the session is about."""
        try:
            self._follower.follow(self._sink(native.Sink()))
        except native.HeapdumpError as error:
            raise failure(str(error)) from None

    def is_of_gdb(self) -> bool:
        """Whether it is about what GDB debugs, and not about what the user opened."""
        return not self._follower.is_paused

    def _sink(self, sink: native.Sink) -> native.Sink:
        sink.struct_size = ctypes.sizeof(native.Sink)
        sink.cancelled = native.address(self.lib.hd_interrupted)
        return sink

    def _answer(self, argv: list[str], into: native.Text | Rows, sink: native.Sink) -> int:
        """Run a command ``into`` what keeps its answer; the exit status."""
        self._sink(sink)
        # The typed name may be an alias, or in upper case: the table's own entry counts.
        info = native.command(self.lib, argv[0])
        if info.needs_open:
            self._follower.follow(sink)
        elif info.follows:
            # It takes the process that is stopped here when it is given none, and says that it is.
            try:
                self._follower.follow(sink)
            except native.HeapdumpError as error:
                if error.status == native.ERR_CANCELLED:
                    raise
        status = int(native.guarded(self.lib, into.run, self.handle, argv, sink))
        if status in (native.EXIT_OK, native.EXIT_FINDINGS):
            if info.role == native.ROLE_OPEN:
                self._follower.pause()
            elif info.role == native.ROLE_CLOSE:
                self._follower.resume()
        return status

    def _run(self, argv: list[str]) -> None:
        progress = _Progress()
        note = native.ADD(_note)
        sink = native.Sink(progress=native.address(progress.callback), note=native.address(note))
        _set_terminal(sink)
        text = native.Text(self.lib)
        try:
            status = self._answer(argv, text, sink)
            _set_status(status)
            for line in text.warnings():
                write_error("warning: " + line)
            _write(text)
            if status == native.EXIT_INTERRUPTED:
                raise gdb.GdbError("Quit")
            if status not in (native.EXIT_OK, native.EXIT_FINDINGS):
                message = native.decode(text.error.message) or f"{argv[0]} failed"
                raise failure(message)
        except native.HeapdumpError as error:
            cancelled = error.status == native.ERR_CANCELLED
            _set_status(native.EXIT_INTERRUPTED if cancelled else native.EXIT_INPUT)
            raise failure("Quit" if cancelled else str(error)) from None
        finally:
            text.close()


def _write(text: native.Text) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    piece = text.read()
    while piece:
        gdb.write(host_text(decoder.decode(piece)))
        piece = text.read()
    gdb.write(host_text(decoder.decode(b"", True)))


def _set_status(status: int) -> None:
    gdb.set_convenience_variable("_heapdump_status", status)
