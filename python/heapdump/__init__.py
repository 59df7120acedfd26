# SPDX-License-Identifier: MIT
"""The .NET heap of a core, a process or a heap dump file.

    import heapdump

    with heapdump.open("core.1234") as h:
        for row in h.dumpheap(stat=True):
            print(row["count"], row["name"])
        session = h.statics["Shop.Table.Instance"].open[0]
        print(session.Customer.Name)

doc/python.md has the rest.
"""
from __future__ import annotations

import os
from typing import Any, Callable

from heapdump.answer import Answer
from heapdump.heap import Command, Heap, library_version
from heapdump.isolated import Isolated
from heapdump.local import Local
from heapdump.native import HeapdumpError, Status
from heapdump.objects import Array, Collection, Enum, Object, Statics, Struct
from heapdump.rows import Address
from heapdump.text import printable

__all__ = [
    "Address",
    "Answer",
    "Array",
    "Collection",
    "Command",
    "Enum",
    "Heap",
    "HeapdumpError",
    "Object",
    "Statics",
    "Status",
    "Struct",
    "current",
    "library_version",
    "open",
    "printable",
]

Progress = Callable[["str | None", int, int], object]


def open(  # pylint: disable=redefined-builtin
    target: str | os.PathLike[str] | int,
    *,
    lenient: bool = False,
    isolated: bool = False,
    progress: Progress | None = None,
    **settings: Any,
) -> Heap:
    """Open a core, a heap dump file, or a process by its id, and read it in this process, without a sandbox.

    ``isolated``: the program heapdump reads it, in its sandbox, and only rows come here.
    ``lenient``: count and skip records of a dump file that break its format.  ``progress`` is called with the
    name of the work, how much is done and of how much (0: not known), and with None in place of the name at its
    end.  ``settings`` are those of the command "set", with _ for -: workers=2, max_mem="2G", files=False,
    sysroot="/srv/image".

    HeapdumpError: it cannot be read.
    """
    path = str(target) if isinstance(target, int) else os.fspath(target)
    if isolated:
        return Heap(Isolated(path, lenient, settings, progress))
    local = Local(progress)
    try:
        for name, value in settings.items():
            local.set(name, value)
        local.open(path, lenient)
    except BaseException:
        local.close()
        raise
    return Heap(local)


def current() -> Heap:
    """In the Python of GDB: the heap of what GDB debugs, or of the file that "heapdump open" has opened.

    HeapdumpError: this is not GDB, or heapdump's plug-in is not loaded there.
    """
    try:
        # pylint: disable=import-outside-toplevel
        from heapdump_gdb.python import current_heap
    except ImportError:
        raise HeapdumpError(
            "there is no current heap here: it is that of GDB, in which heapdump.py has been sourced",
            Status.ARGUMENT,
        ) from None
    heap: Heap = current_heap()
    return heap
