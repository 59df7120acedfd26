#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""heapdump/answer.h: the rows of every golden command line make the document that it has with --json."""
from __future__ import annotations

import contextlib
import ctypes
import itertools
import json
import math
import os
import shlex
import struct
import sys
import unittest
from pathlib import Path
from typing import Any, Iterator

SOURCE = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "scripts"), str(SOURCE / "python")]

# pylint: disable=wrong-import-position
import golden  # noqa: E402
from heapdump import native, rows  # noqa: E402
from shell_program import BUILD  # noqa: E402

# The caller has these anyway.
OUTSIDE = ("schema", "command", "target", "error")
# These open or close, change settings, or tell what was found before: each gets a session of its own.
ALONE = ("open", "close", "set", "info")
# Their answers are of one moment, or of the program that asks.
LIVE = ("ps", "collect", "doctor")


class Documents(rows.Rows):
    """Rows whose values are spelt as JSON has them."""

    def text(self, data: bytes) -> str:
        return data.decode("utf-8", "replace")

    def address(self, number: int) -> str:
        return hex(number)


def bare(value: Any) -> Any:
    """Without what is null, and objects that hold nothing else: absent and null are the same."""
    if isinstance(value, dict):
        members = {name: bare(member) for name, member in value.items()}
        members = {name: member for name, member in members.items() if member is not None}
        return members or None
    if isinstance(value, list):
        return [bare(item) for item in value]
    return value


def differences(have: Any, want: Any, place: str = "") -> list[str]:
    """Where the rows and the document are not the same; a real of 32 bits has more digits in rows."""
    if isinstance(want, dict) and isinstance(have, dict):
        found = [f"{place}.{key}: only rows have it" for key in have.keys() - want.keys()]
        found += [f"{place}.{key}: rows lack it" for key in want.keys() - have.keys()]
        for key in have.keys() & want.keys():
            found += differences(have[key], want[key], f"{place}.{key}")
        return found
    if isinstance(want, list) and isinstance(have, list) and len(have) == len(want):
        pairs = enumerate(zip(have, want))
        return [line for i, (a, b) in pairs for line in differences(a, b, f"{place}[{i}]")]
    if isinstance(have, float):
        if isinstance(want, str):
            have = {math.inf: "Infinity", -math.inf: "-Infinity"}.get(have, "NaN")
        elif have != want and abs(have) <= 3.5e38:
            have, want = (struct.pack("f", number) for number in (have, want))
    is_flag = isinstance(have, bool), isinstance(want, bool)
    same = have == want and is_flag[0] == is_flag[1]
    return [] if same else [f"{place}: rows have {have!r}, the document {want!r}"]


def wanted(document: dict[str, Any]) -> Any:
    """The part of a document that rows have."""
    return bare({name: value for name, value in document.items() if name not in OUTSIDE}) or {}


class RowsTest(unittest.TestCase):
    """Documents, made of rows."""

    lib: ctypes.CDLL

    @classmethod
    def setUpClass(cls) -> None:
        cls.lib = native.load(str(BUILD / "libheapdump.so"))
        os.chdir(SOURCE)

    def ask(self, session: Any, argv: list[str]) -> tuple[int, Any]:
        """Status of a command, and the document that its rows make."""
        answer = Documents(self.lib)
        try:
            sink = native.Sink(struct_size=ctypes.sizeof(native.Sink))
            status = answer.run(session, argv, sink)
            self.assertLessEqual(sum(table.is_main for table in answer.tables()), 1)
            return status, bare(answer.document()) or {}
        finally:
            answer.close()

    def read(self, session: Any, argv: list[str]) -> tuple[int, Any]:
        """Status of a command, and its document."""
        text = native.Text(self.lib)
        try:
            sink = native.Sink(struct_size=ctypes.sizeof(native.Sink))
            status = text.run(session, argv + ["--json"], sink)
            pieces = b"".join(iter(text.read, b"")).decode("utf-8")
            return status, wanted(json.loads(pieces))
        finally:
            text.close()

    @contextlib.contextmanager
    def opened(self, file: str) -> Iterator[Any]:
        """A session about the file of a case; None: it cannot be opened."""
        session = ctypes.c_void_p()
        native.check(self.lib.hd_session_create, ctypes.byref(session))
        try:
            fails = file and self.ask(session, ["open", *shlex.split(file)])[0] > 1
            yield None if fails else session
        finally:
            self.lib.hd_session_destroy(session)

    def cases(self) -> Iterator[tuple[golden.Case, list[str]]]:
        """The cases whose command answers with a document, and the words of each."""
        for case in golden.find_cases([]):
            words = [word for word in shlex.split(case.command) if word != "--json"]
            writes = words[0] == "export" and "-" in words
            formats = [word for word in words if word.startswith("--format")]
            if words[0] not in LIVE and not writes and (words[0] == "export" or not formats):
                yield case, words

    def test_the_documents_of_golden_cases(self) -> None:
        count = 0
        for case, words in self.cases():
            if not case.expected or not case.expected.startswith("{") or case.status > 1:
                continue
            count += 1
            document = json.JSONDecoder().raw_decode(case.expected)[0]
            with self.subTest(command=case.command), self.opened(case.file) as session:
                status, have = self.ask(session, words)
                self.assertEqual(status, case.status)
                self.assertEqual(differences(have, wanted(document)), [])
        self.assertGreater(count, 60)

    def compare(self, first: Any, second: Any, words: list[str]) -> None:
        """A command in two sessions, which may be one: the document, and what rows make of it."""
        wanted_status, want = self.read(first, words)
        status, have = self.ask(second, words)
        self.assertEqual(status, wanted_status)
        self.assertEqual(differences(have, want), [])

    def test_every_golden_command_line_has_the_rows_of_its_document(self) -> None:
        count = 0
        cases = sorted(self.cases(), key=lambda found: found[0].file)
        for file, group in itertools.groupby(cases, key=lambda found: found[0].file):
            with self.opened(file) as shared:
                for case, words in group if shared else ():
                    count += 1
                    if words[0] not in ALONE:
                        with self.subTest(command=case.command, file=file):
                            self.compare(shared, shared, words)
                        continue
                    with self.subTest(command=case.command, file=file):
                        with self.opened(file) as first, self.opened(file) as second:
                            self.compare(first, second, words)
        self.assertGreater(count, 300)


if __name__ == "__main__":
    unittest.main()
