# SPDX-License-Identifier: MIT
"""clru with GDB's disassembler, and bpmd: what of SOS needs a debugger."""
from __future__ import annotations

import re
from typing import Any

import gdb

from heapdump_gdb.asking import answer_of
from heapdump_gdb.commands import HeapCommand, line_words
from heapdump_gdb.names import resolves
from heapdump_gdb.session import Session, failure, host_text
from heapdump_gdb.target import connection
from heapdump_gdb.words import printable

# The place from which an indirect call takes its target: GDB writes it as a comment.
CELL = re.compile(r"^(?:call|jmp)\b.*# (0x[0-9a-f]+)")


class ClruCommand(HeapCommand):
    """The command of the table, with instructions in place of bytes."""

    def invoke(self, argument: str, _from_tty: bool) -> None:
        self.dont_repeat()
        words = line_words(self._session, self._name, argument)
        is_plain = len(words) == 2 and not words[1].startswith("-")
        if not is_plain or not self._session.is_of_gdb():
            super().invoke(argument, _from_tty)  # options, wrong words, or a file that was opened
            return
        found = self._session.query(words)
        head = found.members
        gdb.write(f"Method Name:          {host_text(printable(head['name'] or ''))}\n")
        gdb.write(f"entry point {head['start']:016x} ({head['kind']}, {head['size']} bytes)\n")
        self._calls: dict[int, str] = {}
        rows = list(found)
        end = head["start"] + head["size"]
        before: tuple[Any, ...] = ()
        for index, row in enumerate(rows):
            place = (row.get("source_file"), row.get("line"), row.get("il"))
            if place == before:
                continue  # its instructions were shown with the row before
            before = place
            self._heading(place)
            following = (r for r in rows[index + 1 :] if self._place(r) != place)
            until = next((r["address"] for r in following), end)
            self._instructions(row["address"], until)

    def _place(self, row: dict[str, Any]) -> tuple[Any, ...]:
        return (row.get("source_file"), row.get("line"), row.get("il"))

    def _heading(self, place: tuple[Any, ...]) -> None:
        file, line, il = place
        parts = [f"{printable(file)} @ {line}"] if file else []
        parts += [f"IL_{il:04x}"] if il is not None else []
        gdb.write("\n" + host_text(" ".join(parts) + ":\n" if parts else ""))

    def _instructions(self, begin: int, end: int) -> None:
        architecture = gdb.selected_inferior().architecture()
        try:
            steps = architecture.disassemble(begin, end - 1)
        except gdb.MemoryError:
            gdb.write(f"{begin:016x} <not in the target>\n")
            return
        for step in steps:
            text = step["asm"].strip()
            name = self._called(text)
            gdb.write(f"{step['addr']:016x} {text}{'  ; ' + name if name else ''}\n")

    def _called(self, text: str) -> str:
        """The method that an indirect call goes to now."""
        found = CELL.match(text)
        if found is None:
            return ""
        cell = int(found[1], 16)
        if cell not in self._calls:
            try:
                data = gdb.selected_inferior().read_memory(cell, 8)
                target = int.from_bytes(data.tobytes(), "little")
                members = self._session.query(["ip2md", hex(target)]).members
                self._calls[cell] = host_text(printable(members["name"] or ""))
            except (gdb.GdbError, gdb.error, gdb.MemoryError, KeyError):
                self._calls[cell] = ""
        return self._calls[cell]


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
            if "no module" not in str(error):
                raise failure(str(error)) from None


def register(session: Session) -> None:
    if not resolves("bpmd"):
        BpmdCommand(session)
