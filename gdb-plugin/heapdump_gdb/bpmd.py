# SPDX-License-Identifier: MIT
"""bpmd: what of SOS needs a debugger."""
from __future__ import annotations

import re

import gdb

from heapdump_gdb.asking import answer_of
from heapdump_gdb.names import resolves
from heapdump_gdb.session import Session, failure, host_text
from heapdump_gdb.target import connection


class BpmdCommand(gdb.Command):
    """Set a breakpoint in a managed method, as SOS does.

    bpmd MODULE METHOD     METHOD is Namespace.Type.Method, as name2ee takes it
    bpmd FILE.cs:LINE
    bpmd -md ADDRESS       a MethodDesc
    bpmd -list, -clear N, -clearall

    It is GDB's own breakpoint: "info breakpoints" lists it.  Where there is no code
    yet it waits, and is set when the runtime publishes the code.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        super().__init__("bpmd", gdb.COMMAND_BREAKPOINTS)

    def invoke(self, argument: str, _from_tty: bool) -> None:
        self.dont_repeat()
        words = gdb.string_to_argv(argument)
        if words == ["-list"]:
            gdb.execute("info breakpoints")
        elif words == ["-clearall"]:
            gdb.execute("delete")
        elif len(words) == 2 and words[0] == "-clear":
            gdb.execute(f"delete {int(words[1])}")
        else:
            gdb.write(host_text(self._set(words)))

    def _set(self, words: list[str]) -> str:
        inferior = gdb.selected_inferior()
        kind = connection(inferior) if inferior.is_valid() else None
        if kind == "core":
            raise gdb.GdbError("a core does not run on: a breakpoint needs a process")
        words = [word for word in words if word != "-nofuturemodule"]
        if len(words) == 2 and words[0] == "-md":
            found = self._session.query(["dumpmd", words[1]]).members
            place = (found["name"] or "").partition("(")[0]
        elif len(words) == 2:
            if inferior.pid:
                self._check(*words)
            place = words[1]
        elif len(words) == 1 and re.search(r":\d+$", words[0]):
            place = words[0]
        else:
            raise gdb.GdbError("usage: bpmd MODULE METHOD, bpmd FILE.cs:LINE, bpmd -md ADDRESS")
        return answer_of(f"with breakpoint pending on -- break {place}")

    def _check(self, module: str, method: str) -> None:
        """A method that the module does not have would wait for ever."""
        try:
            self._session.query(["name2ee", module, method])
        except gdb.GdbError as error:
            # A NativeAOT program has no modules, and names of methods only once its runtime has begun.
            if not any(words in str(error) for words in ("no module", "does not keep")):
                raise failure(str(error)) from None


def register(session: Session) -> None:
    if not resolves("bpmd"):
        BpmdCommand(session)
