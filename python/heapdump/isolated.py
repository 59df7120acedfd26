# SPDX-License-Identifier: MIT
"""A target that the shell program reads, in its sandbox: only rows come here (doc/python.md 8)."""
from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from typing import Any, Callable, Iterator, Mapping, Sequence

from heapdump import native
from heapdump.answer import Answer
from heapdump.local import BATCH, library, setting_word
from heapdump.rows import Address, AddressRows, Table, split_column
from heapdump.stream import RowMaker
from heapdump.turns import Turns

# The version of the lines that --serve writes.
VERSION = 1


def find_program() -> str:
    """The shell program next to the package, or in PATH."""
    here = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    places = [
        os.path.join(here, "heapdump", "bin", "heapdump"),
        os.path.join(here, "..", "build", "heapdump"),
        os.path.join(here, "..", "..", "..", "bin", "heapdump"),
    ]
    for place in places:
        if os.access(place, os.X_OK) and os.path.isfile(place):
            return os.path.realpath(place)
    found = shutil.which("heapdump")
    if found is None:
        raise native.HeapdumpError(
            "isolated needs the program heapdump, which is neither next to this package nor in PATH",
            native.Status.OS,
        )
    return found


def value_of(value: Any) -> Any:
    """A value as the program has written it: an address in brackets, a set in braces."""
    if isinstance(value, str):
        return value if value.isascii() else _text(value)
    if isinstance(value, list):
        return Address(value[0])
    if isinstance(value, dict):
        return _text(value["s"]).split()
    return value


def _text(value: str) -> str:
    """Text whose characters are the bytes of it."""
    return value.encode("latin-1").decode("utf-8", "surrogateescape")


class KeptRows(AddressRows):
    """An answer that was sent as lines."""

    def __init__(self) -> None:  # pylint: disable=super-init-not-called
        self._tables: list[Table] = []
        self._kept: dict[int, list[list[Any]]] = {}  # the rows of each table
        self._begins: dict[int, dict[int, list[int]]] = {}  # first row and count, by row around
        self._warnings: list[str] = []

    def begin(self, table: Table) -> None:
        """A table begins, in the last row of the one that it is in."""
        if table.address not in self._kept:
            self._tables.append(table)
            self._kept[table.address], self._begins[table.address] = [], {}
        around = max(len(self._kept.get(table.parent, ())) - 1, 0)
        self._begins[table.address].setdefault(around, [len(self._kept[table.address]), 0])

    def take(self, table: Table, values: list[Any]) -> None:
        """Keep a row."""
        self._kept[table.address].append(values)
        around = max(len(self._kept.get(table.parent, ())) - 1, 0)
        self._begins[table.address][around][1] += 1

    def warn(self, line: str) -> None:
        """Keep a warning."""
        self._warnings.append(line)

    def warnings(self) -> list[str]:
        return list(self._warnings)

    def close(self) -> None:
        """Nothing: Python has it all."""

    def count(self, table: Table) -> int:
        return len(self._kept[table.address])

    def _values(self, table: Table, index: int) -> list[Any]:
        return self._kept[table.address][index]

    def inside(self, table: Table, parent: int) -> range | None:
        found = self._begins[table.address].get(parent)
        return None if found is None else range(found[0], found[0] + found[1])


def _table(line: list[Any], tables: Mapping[int, Table]) -> Table:
    """The table of a line; the number of a table, from 1 on, is in place of an address."""
    _, index, parent, shape, is_main, name, *columns = line
    around = tables.get(parent + 1)
    table = Table(
        address=index + 1,
        name=name,
        own_name=name[len(around.name) :].lstrip(".") if around else name,
        shape=shape,
        is_main=bool(is_main),
        parent=parent + 1,
        columns=[split_column(column) for column in columns],
        children=[],
    )
    if around:
        around.children.append(table)
    return table


class Isolated:
    """The shell program, and what it says."""

    #: It reads a process once.
    is_live = False

    def __init__(
        self,
        path: str,
        lenient: bool,
        settings: Mapping[str, Any],
        progress: Callable[..., object] | None,
        program: str | None = None,
    ) -> None:
        options = [
            f"--{name.replace('_', '-')}={setting_word(value)}" for name, value in settings.items()
        ]
        options += ["--lenient"] * lenient
        words = [program or find_program(), "--serve", *options, "--", path]
        argv = [native.encode(word) for word in words]
        self.path: str | None = path
        self.lib = library()
        self._progress = progress
        self._turns = Turns()
        self._child: subprocess.Popen[bytes] | None = None
        self._said = tempfile.TemporaryFile()
        self._heard = 0  # how much of that is about commands before
        self._why = "this heap is closed"  # what is said once the program has ended
        try:
            self._child = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                start_new_session=True,
            )
        except OSError as error:
            self._said.close()
            raise native.HeapdumpError(f"{words[0]}: {error.strerror}", native.Status.OS) from None
        with self._turns.use():
            self._greet(words[0])
            self._finish(self._lines(), "open")

    def _greet(self, program: str) -> None:
        """Refuse a program that has other lines than this package knows."""
        line = self._line()
        if line != ["v", VERSION]:
            self.close()
            spoken = line[1] if line[0] == "v" and len(line) > 1 else "another"
            raise native.HeapdumpError(
                f"{program} --serve has version {spoken} of its lines, and this package knows only {VERSION}:"
                " have both of one release",
                native.Status.UNSUPPORTED,
            )

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError, OSError):
            self.close()

    def close(self) -> None:
        """End the program; again is harmless."""
        child, self._child = self._child, None
        if child is None or not self._turns.is_ours:
            return
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            child.wait(timeout=1)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        self._said.close()

    def cancel(self) -> None:
        """End the command that runs now."""
        child = self._child
        if child is not None and child.poll() is None:
            # The process that reads is in the same group, as at a terminal.
            with contextlib.suppress(OSError):
                os.killpg(child.pid, signal.SIGINT)

    def _last_said(self) -> str:
        """The last line that the program has written to standard error about the last command."""
        self._said.seek(self._heard)
        line = native.decode(self._said.read()).strip().rpartition("\n")[2]
        return line[len("heapdump: ") :] if line.startswith("heapdump: ") else line

    def _is_over(self, message: str) -> None:
        """The program, or the one that reads for it, has ended: no command can run any more."""
        self._why = f"{message}; open the heap again"
        self.close()

    def _ended(self) -> native.HeapdumpError:
        """The program has ended: why?"""
        assert self._child is not None
        status = self._child.wait()
        message = self._last_said()
        if not message and status < 0:
            name = signal.strsignal(-status)
            message = f"the program heapdump was ended by signal {-status} ({name})"
        message = message or f"the program heapdump ended with status {status}"
        self._is_over(message)
        known = status in (native.EXIT_USAGE, native.EXIT_INPUT)
        code = native.Status.ARGUMENT if status == native.EXIT_USAGE else native.Status.OS
        return native.HeapdumpError(message, code, status if known else native.EXIT_INPUT)

    def _line(self) -> list[Any]:
        """The next line; of half a line, which a process left that has ended, nothing."""
        assert self._child is not None and self._child.stdout is not None
        while True:
            line = self._child.stdout.readline()
            if not line.endswith(b"\n"):
                raise self._ended()
            if line == b"\n":
                continue
            try:
                found: list[Any] = json.loads(line)
            except ValueError:
                continue
            return found

    def _drain(self) -> None:
        """Let the command end, and drop the rest of its answer."""
        with contextlib.suppress(native.HeapdumpError):
            self.cancel()
            while self._line()[0] != "s":
                pass

    def _lines(self) -> Iterator[list[Any]]:
        """Lines up to that of the status."""
        is_over = False
        try:
            while not is_over:
                line = self._line()
                is_over = line[0] == "s"
                if line[0] == "p" and self._progress is not None:
                    self._progress(None if line[1] is None else _text(line[1]), *line[2:])
                yield line
        except native.HeapdumpError:
            is_over = True
            raise
        finally:
            if not is_over and self._child is not None:
                self._drain()

    def _send(self, argv: Sequence[str]) -> Iterator[list[Any]]:
        """Have a command run."""
        if self._child is None or self._child.stdin is None:
            raise native.HeapdumpError(self._why, native.Status.ARGUMENT)
        words = [native.encode(word) for word in argv]
        try:
            data = b"".join(word + b"\0" for word in [b"%d" % len(words), *words])
            self._heard = os.fstat(self._said.fileno()).st_size
            self._child.stdin.write(data)
            self._child.stdin.flush()
        except OSError:
            raise self._ended() from None
        return self._lines()

    def _finish(self, lines: Iterator[list[Any]], command: str) -> tuple[KeptRows, int]:
        """The whole answer, and the exit status."""
        rows, error = KeptRows(), None
        tables: dict[int, Table] = {}
        status = native.EXIT_INPUT
        # Only a generator that is closed has read its lines.
        with contextlib.closing(lines) as each:  # type: ignore[type-var]
            for line in each:
                if line[0] == "t":
                    table = tables[line[1] + 1] = _table(line, tables)
                    rows.begin(table)
                elif line[0] == "b":
                    rows.begin(tables[line[1] + 1])
                elif line[0] == "r":
                    rows.take(tables[line[1] + 1], [value_of(value) for value in line[2]])
                elif line[0] == "w":
                    rows.warn(_text(line[1]))
                elif line[0] == "e":
                    error = line
                elif line[0] == "s":
                    status = line[1]
        self._raise_failure(status, error, command)
        return rows, status

    def _raise_failure(self, status: int, error: list[Any] | None, command: str) -> None:
        if status in (native.EXIT_OK, native.EXIT_FINDINGS):
            return
        if error is None:
            # The process that reads says itself why it fails, unless it has ended.
            message = self._last_said() or f"{command} failed with status {status}"
            self._is_over(message)
            raise native.HeapdumpError(message, native.Status.OS, status)
        raise native.HeapdumpError(_text(error[2]), error[1], status)

    def run(self, argv: Sequence[str]) -> Answer:
        """The answer of a command; HeapdumpError when it fails."""
        with self._turns.use():
            rows, status = self._finish(self._send(argv), argv[0])
        return Answer(rows, argv[0], status)

    def stream(self, argv: Sequence[str], table: str | None) -> Iterator[Any]:
        """The rows of a table, while the command runs."""
        ready: list[Any] = []

        def hand_over(batch: list[Any]) -> bool:
            ready.extend(batch)
            return True

        maker, error, status = RowMaker(table, hand_over, BATCH), None, native.EXIT_INPUT
        tables = maker.tables
        with self._turns.use(is_stream=True):
            lines = self._send(argv)
            with contextlib.closing(lines) as each:  # type: ignore[type-var]
                for line in each:
                    if line[0] == "t":
                        maker.begin(_table(line, tables))
                    elif line[0] == "b":
                        maker.begin(tables[line[1] + 1])
                    elif line[0] == "r" and maker.wants(tables[line[1] + 1]):
                        values = [value_of(value) for value in line[2]]
                        maker.take(tables[line[1] + 1], values)
                    elif line[0] == "e":
                        error = line
                    elif line[0] == "s":
                        status = line[1]
                    yield from ready
                    ready.clear()
        maker.flush()
        yield from ready
        self._raise_failure(status, error, argv[0])
        maker.check(argv[0])
