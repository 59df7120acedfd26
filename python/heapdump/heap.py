# SPDX-License-Identifier: MIT
"""An open target: its commands as methods, and its objects."""
from __future__ import annotations

import functools
from typing import Any, Iterator, Protocol, Sequence

from heapdump import native
from heapdump.answer import Answer
from heapdump.arrow import Columns, RowColumns
from heapdump.local import library, setting_word
from heapdump.objects import Object, Statics, resolve
from heapdump.rows import Address


class Target(Protocol):
    """Where the answers come from: a session of this process, of GDB, or another process."""

    @property
    def is_live(self) -> bool:
        """May its answers change while it is open?"""

    def run(self, argv: Sequence[str]) -> Any:
        """The answer of a command."""

    def stream(self, argv: Sequence[str], table: str | None) -> Iterator[Any]:
        """The rows of a table."""

    def cancel(self) -> None:
        """End the command that runs."""

    def close(self) -> None:
        """Close it."""

    @property
    def path(self) -> str | None:
        """The name of what is open."""


def library_version() -> str:
    """The version of the library, such as "0.2.0"."""
    return native.decode(library().hd_version())


@functools.lru_cache(maxsize=None)
def command_names() -> dict[str, str]:
    """Names and second names of all commands, as methods have them: to their own names."""
    found: dict[str, str] = {}
    for info in native.commands(library()):
        for name in (info.name, info.alias):
            if name is not None:
                method = native.decode(name).lower().replace("-", "_")
                found.setdefault(method, native.decode(info.name))
    return found


@functools.lru_cache(maxsize=None)
def option_names(command: str) -> dict[str, str]:
    """The options of a command: the keyword of each, to the option as it is typed."""
    found: dict[str, str] = {}
    for option in native.complete(library(), None, [command, "-"]) or []:
        keyword = option.lstrip("-").replace("-", "_")
        # Where two differ only in their dashes, the command's own one counts.
        if keyword not in found or not option.startswith("--"):
            found[keyword] = option
    return found


def _is_address(argv: Sequence[str], index: int) -> bool:
    """Is the word at that place of a command line an address?"""
    # Never an address as it is, nor the name of a type.
    words = [word if at != index else "$x" for at, word in enumerate(argv)]
    return native.expressions(library(), words)[index]


class Command:
    """A command of a heap, to be called: its words, and its options by keyword."""

    def __init__(self, heap: "Heap", name: str) -> None:
        self._heap = heap
        self.__name__ = name
        self.__qualname__ = f"Heap.{name}"
        self.__doc__ = native.command_help(library(), name)

    def __repr__(self) -> str:
        options = ", ".join(self.options)
        return f"<command {self.__name__}({options}) of {self._heap!r}; help() says more>"

    @property
    def options(self) -> list[str]:
        """The keywords that it takes."""
        return list(option_names(self.__name__))

    def __call__(self, *words: Any, **options: Any) -> Answer:
        """Run it; the answer is whole when this returns."""
        return self._heap.run(self.__name__, *words, **options)

    def stream(self, *words: Any, table: str | None = None, **options: Any) -> Iterator[Any]:
        """Run it, and give the rows of its main table, or of another one, while they are found."""
        return self._heap.stream(self.__name__, *words, table=table, **options)

    def columns(self, *words: Any, table: str | None = None, **options: Any) -> Columns:
        """The columns of its main table, or of another one; it runs when somebody asks for them."""
        return self._heap.columns(self.__name__, *words, table=table, **options)


class Heap:
    """
    An open target.

    Every command is a method, with - in its name as _: h.dumpheap(stat=True), h.gcroot(0x7f039d000090, limit=3),
    h.sql("SELECT ..."); help(h.gcroot) has its words and options.  It gives an Answer.  A heap is one thread's at a
    time: others wait.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        #: Which types are collections, by MethodTable.
        self.collections: dict[int, bool] = {}

    def __enter__(self) -> "Heap":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        try:
            return f"<heap of {self.target or 'nothing'}>"
        except native.HeapdumpError as error:
            return f"<heap: {error}>"

    def __getattr__(self, name: str) -> Command:
        own = command_names().get(name.lower()) if not name.startswith("_") else None
        if own is None:
            raise AttributeError(f"a heap has no command {name}; h.commands lists them")
        return Command(self, own)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *command_names()]

    def __reduce__(self) -> Any:
        raise TypeError("a heap cannot be pickled: give the path of its file")

    @property
    def commands(self) -> list[str]:
        """The names of all commands."""
        return sorted(set(command_names().values()))

    @property
    def target(self) -> str | None:
        """The name of the file, or the id of the process, that is open."""
        return self._target.path

    @property
    def is_live(self) -> bool:
        """Whether objects may change while this is open: then none of their values is kept."""
        return self._target.is_live

    def close(self) -> None:
        """Close it; answers stay."""
        self._target.close()

    def cancel(self) -> None:
        """From another thread: end the command that runs now, which then raises HeapdumpError."""
        self._target.cancel()

    def words(self, command: str, *words: Any, **options: Any) -> list[str]:
        """The command line of a call: for people who want to see it."""
        name = command_names().get(command.lower().replace("-", "_"), command)
        known = option_names(name)
        argv, marked = [name], []
        for keyword, value in options.items():
            option = known.get(keyword.rstrip("_"))
            if option is None:
                takes = ", ".join(known) or "none"
                raise TypeError(f"{name} has no option {keyword}; it has {takes}")
            for item in value if isinstance(value, (list, tuple)) else [value]:
                if item is None or item is False:
                    continue
                argv.append(option)
                if item is not True:
                    marked.append((len(argv), item))
                    argv.append("?")
        plain = [_plain(word) for word in words]
        if any(word.startswith("-") for word in plain):
            argv.append("--")
        for word, text in zip(words, plain):
            marked.append((len(argv), word))
            argv.append(text)
        for index, value in marked:
            argv[index] = _plain(value)
            if type(value) is int and _is_address(
                argv, index
            ):  # pylint: disable=unidiomatic-typecheck
                argv[index] = hex(value)
        return argv

    def run(self, command: str, *words: Any, **options: Any) -> Answer:
        """Run a command: run("gcroot", 0x7f039d000090, limit=3); the answer is whole when this returns.

        HeapdumpError: it fails.  TypeError: it has no such option.
        """
        return self._answer(self.words(command, *words, **options))

    def _answer(self, argv: Sequence[str]) -> Answer:
        answer: Answer = self._target.run(argv)
        return answer

    def stream(
        self, command: str, *words: Any, table: str | None = None, **options: Any
    ) -> Iterator[Any]:
        """Run a command and give rows while they are found, with memory for a few of them only.

        No other command of this heap may run until the last row, or until the iterator is closed.
        """
        return self._target.stream(self.words(command, *words, **options), table)

    def columns(
        self, command: str, *words: Any, table: str | None = None, **options: Any
    ) -> Columns:
        """The columns of a table of a command's answer, for pandas, pyarrow and others.

        Made without a row of Python, where this process reads the target: for millions of them.  The command runs when
        somebody asks for the columns.
        """
        argv = self.words(command, *words, **options)
        source = getattr(self._target, "source", None)
        if source is None:
            return RowColumns(lambda: self._answer(argv).kept(), table)
        return Columns(source(argv), table)

    def object(self, address: "int | Object") -> Any:
        """The object at an address: an Object; None for 0; a string and a boxed number as Python has them.

        HeapdumpError: there is no object, or it cannot be read.
        """
        return resolve(self, int(getattr(address, "address_", address)))

    @property
    def statics(self) -> Statics:
        """Static fields by name: statics["Shop.Table.Instance"]."""
        return Statics(self)

    def objects(self, type_name: str, **options: Any) -> Iterator[Any]:
        """All objects of exactly that type; options are those of dumpheap."""
        for row in self.run("dumpheap", type=type_name, limit=0, **options).rows("objects"):
            if row["type"] == type_name:
                yield self.object(row["address"])


def _plain(value: Any) -> str:
    """A word as it is typed."""
    if isinstance(value, Address):
        return hex(value)
    if isinstance(value, Object):
        return hex(value.address_)
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, float):
        return repr(value)
    return setting_word(value)
