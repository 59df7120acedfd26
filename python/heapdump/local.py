# SPDX-License-Identifier: MIT
"""A target that this process reads itself."""
from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import queue
import signal
import threading
from typing import Any, Callable, Iterator, Sequence

from heapdump import arrow, native
from heapdump.answer import Answer
from heapdump.columns import ArrowStream
from heapdump.rows import AddressRows
from heapdump.stream import RowMaker, Stream
from heapdump.turns import Turns

# Rows that a stream hands over at a time, and how many such batches may wait.
BATCH = 256
BATCHES = 8


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The library, loaded at its first use."""
    here = os.path.dirname(os.path.realpath(__file__))
    # One that came with the package, in a wheel: who can change it can change this file, too.
    own = os.path.join(here, "libheapdump.so.0")
    if os.path.exists(own) and not os.environ.get("HEAPDUMP_LIBRARY"):
        return native.load(own)
    return native.load(native.find(os.path.dirname(here)))


def setting_word(value: Any) -> str:
    """The value of a setting as the library takes it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(os.fspath(value) if isinstance(value, os.PathLike) else value)


class _Calls:
    """The callbacks of one command.  They are kept as long as this is, so C never calls what Python has freed."""

    def __init__(self, local: "Local") -> None:
        self._local = local
        self.raised: BaseException | None = None
        self._cancelled = native.CANCELLED(self._is_cancelled)
        self._progress = native.PROGRESS(self._show)
        self.sink = native.Sink(
            struct_size=ctypes.sizeof(native.Sink), cancelled=native.address(self._cancelled)
        )
        if local.progress is not None:
            self.sink.progress = native.address(self._progress)

    def _is_cancelled(self, _arg: int) -> int:
        local = self._local
        return int(local.is_cancelled or self.raised is not None or local.lib.hd_interrupted())

    def _show(self, _arg: int, what: bytes | None, done: int, total: int) -> None:
        try:
            if self._local.progress is not None and self.raised is None:
                self._local.progress(None if what is None else native.decode(what), done, total)
        except BaseException as error:  # pylint: disable=broad-except
            self.raised = error

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """The result of a function of the library.  Ctrl-C ends it: then this raises KeyboardInterrupt."""
        lib, interrupts = self._local.lib, 0
        try:
            if threading.current_thread() is threading.main_thread():
                result, interrupts = native.counted(lib, function, *args)
            else:
                result = function(*args)
        except native.HeapdumpError:
            if self.raised is None:
                raise
        if self.raised is not None:
            raise self.raised
        if interrupts:
            # Python's own handler has its turn, which raises KeyboardInterrupt if nobody has changed it.
            signal.raise_signal(signal.SIGINT)
        return result


class Local:
    """A session of the library."""

    #: Its answers may change while it is open.
    is_live = False

    def __init__(self, progress: Callable[..., object] | None) -> None:
        self.lib = library()
        self.progress = progress
        self.is_cancelled = False
        self._handle = ctypes.c_void_p()
        self._turns = Turns()
        native.check(self.lib.hd_session_create, ctypes.byref(self._handle))

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError, native.HeapdumpError):
            self.close()

    @contextlib.contextmanager
    def _use(self, is_stream: bool = False) -> Iterator[ctypes.c_void_p]:
        """Have the session to oneself."""
        with self._turns.use(is_stream):
            if not self._handle:
                raise native.HeapdumpError("this heap is closed", native.Status.ARGUMENT)
            self.is_cancelled = False
            yield self._handle

    def set(self, name: str, value: Any) -> None:
        """Change a setting."""
        word = native.encode(setting_word(value))
        with self._use() as handle:
            native.check(
                self.lib.hd_session_set, handle, native.encode(name.replace("_", "-")), word
            )

    def open(self, path: str, lenient: bool) -> None:
        """Open a target."""
        calls = _Calls(self)
        with self._use() as handle:
            calls.run(
                native.check,
                self.lib.hd_session_open,
                handle,
                native.encode(path),
                int(lenient),
                ctypes.byref(calls.sink),
            )

    def close(self) -> None:
        """Close it; again is harmless."""
        if not self._turns.is_ours or not self._handle:
            return
        with self._turns.wait():
            handle, self._handle = self._handle, ctypes.c_void_p()
            self.lib.hd_session_destroy(handle)

    def cancel(self) -> None:
        """End the command that runs now."""
        self.is_cancelled = True

    @property
    def path(self) -> str | None:
        """The name of what is open."""
        with self._use() as handle:
            found = self.lib.hd_session_path(handle)
        return None if found is None else os.fsdecode(found)

    def run(self, argv: Sequence[str]) -> Answer:
        """The answer of a command; HeapdumpError when it fails."""
        calls, rows = _Calls(self), AddressRows(self.lib)
        try:
            with self._use() as handle:
                status = calls.run(rows.run, handle, argv, calls.sink)
            native.raise_failure(status, rows.error, argv[0])
        except BaseException:
            rows.close()
            raise
        return Answer(rows, argv[0], status, self.source(argv))

    def source(self, argv: Sequence[str]) -> arrow.Source:
        """Makes columns of the tables of a command."""

        def run(table: str | None) -> ArrowStream:
            return self._columns(argv, table)

        return run

    def _columns(self, argv: Sequence[str], table: str | None) -> ArrowStream:
        calls, stream, error = _Calls(self), ArrowStream(), native.Error()
        words = native.words(argv)
        request = arrow.Request(
            struct_size=ctypes.sizeof(arrow.Request),
            argv=words,
            argc=len(argv),
            table=None if table is None else native.encode(table),
        )
        try:
            with self._use() as handle:
                status = calls.run(
                    self.lib.hd_arrow_run,
                    handle,
                    ctypes.byref(request),
                    ctypes.byref(calls.sink),
                    ctypes.byref(stream),
                    ctypes.byref(error),
                )
            native.raise_failure(status, error, argv[0])
        except BaseException:
            stream.end()
            raise
        return stream

    def complete(self, argv: Sequence[str]) -> list[str] | None:
        """Candidates for the last word; None: it is the name of a file."""
        with self._use() as handle:
            return native.complete(self.lib, handle, argv)

    def stream(self, argv: Sequence[str], table: str | None) -> Iterator[Any]:
        """The rows of a table, while the command runs in a thread of its own."""
        batches: queue.Queue[list[Any] | BaseException | None] = queue.Queue(BATCHES)
        stop = threading.Event()

        def hand_over(batch: list[Any] | BaseException | None) -> bool:
            while not stop.is_set():
                with contextlib.suppress(queue.Full):
                    batches.put(batch, timeout=0.2)
                    return True
            return False

        def work() -> None:
            maker = RowMaker(table, hand_over, BATCH)
            calls, stream = _Calls(self), Stream(self.lib, maker)
            try:
                with self._use(is_stream=True) as handle:
                    status = calls.run(stream.run, handle, argv, calls.sink)
                native.raise_failure(status, stream.error, argv[0])
                maker.check(argv[0])
                hand_over(None)
            except BaseException as error:  # pylint: disable=broad-except
                hand_over(error)

        thread = threading.Thread(target=work, name="heapdump", daemon=True)
        thread.start()
        try:
            while True:
                batch = batches.get()
                if batch is None:
                    return
                if isinstance(batch, BaseException):
                    raise batch
                yield from batch
        finally:
            stop.set()
            if thread.is_alive():
                self.cancel()
            thread.join()
