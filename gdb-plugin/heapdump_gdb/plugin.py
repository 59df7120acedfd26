# SPDX-License-Identifier: MIT
"""Loads the library and registers everything, once per GDB."""
from __future__ import annotations

from heapdump import native
from heapdump_gdb import (
    bpmd,
    code,
    commands,
    functions,
    live,
    names,
    printers,
    settings,
    thread_names,
)
from heapdump_gdb.session import Session, failure, write_error

_session: Session | None = None


def session() -> Session:
    """The one of this GDB; gdb.GdbError when the plug-in could not be loaded."""
    if _session is None:
        raise failure("heapdump is not loaded: source heapdump.py")
    return _session


def load(here: str) -> None:
    """Register what the plug-in in folder ``here`` has; again is harmless."""
    global _session
    if _session is not None:
        return
    try:
        made = Session(native.load(native.find(here)))
    except native.HeapdumpError as error:
        # Raised, it would come with a traceback, which GDB prints for every sourced script.
        write_error(f"heapdump: {error}")
        return
    if names.resolves(commands.PREFIX):
        write_error('heapdump: there is a command "heapdump" already; nothing was registered')
        return
    # All names are tested before the first is registered: ours would look like others'.
    infos = native.commands(made.lib)
    wanted = commands.top_level(infos)
    taken = [name for name in wanted if names.resolves(name)]
    free = [name for name in wanted if name not in taken]
    names.keep_abbreviations(free + [commands.PREFIX, "set heapdump", "show heapdump"])
    _session = made
    commands.register(made, infos, free)
    settings.register(made)
    functions.register(made)
    thread_names.register(made)
    code.register(made)
    live.register(made)
    printers.register(made)
    bpmd.register(made)
    # A second name that GDB has, as do, is a short word that its users mean.
    aliases = [native.decode(info.alias) for info in infos if info.alias is not None]
    commands.report_taken([name for name in taken if name not in aliases])
