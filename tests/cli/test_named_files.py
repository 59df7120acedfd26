#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cores that name files of this machine: only what is proven to be the process's own is read."""
from __future__ import annotations

import os
import shutil
import struct
import unittest
from pathlib import Path

from cores import LEAK, loads, poke, unpacked
from shell_program import BUBBLECS, Result, folder, run

NT_FILE = 0x46494C45
SECRET = "the password of root is swordfish"


def note(data: bytes) -> int:
    """Offset of the description of NT_FILE in the bytes of a core."""
    (phoff,) = struct.unpack_from("<Q", data, 32)
    kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", data, phoff)
    assert kind == 4, "the notes are not first"
    at = offset
    while at < offset + size:
        name, length, number = struct.unpack_from("<III", data, at)
        at += 12 + (name + 3 & ~3)
        if number == NT_FILE:
            return at
        at += length + 3 & ~3
    raise AssertionError("no NT_FILE")


def name_file(path: Path, start: int, end: int, name: str) -> None:
    """Make a row of a core's NT_FILE say that [START, END) is mapped from the file NAME."""
    data = bytearray(path.read_bytes())
    at = note(data)
    (count,) = struct.unpack_from("<Q", data, at)
    names = at + 16 + 24 * count
    for row in range(count):
        finish = data.index(0, names)
        if finish - names >= len(name):
            # As many slashes as needed: the table keeps its size.
            data[names:finish] = (b"/" * (finish - names - len(name))) + name.encode()
            struct.pack_into("<QQQ", data, at + 16 + 24 * row, start, end, 0)
            path.write_bytes(data)
            return
        names = finish + 1
    raise AssertionError("no name is long enough")


class Attack(unittest.TestCase):
    """A core whose only string has its characters in a file that its author cannot read."""

    def setUp(self) -> None:
        self.core = Path(folder.name) / "evil.core"
        self.secret = Path(folder.name) / "secret"
        shutil.copy(unpacked(), self.core)
        rows = run("--no-files", LEAK, "dumpheap", "-type", "System.String", "--json").json()
        self.text = int(rows["objects"][5]["address"], 16)
        poke(self.core, self.text + 8, struct.pack("<I", len(SECRET)))
        load = next(x for x in loads(self.core) if x.address <= self.text < x.address + x.filesz)
        self.begin, self.end = self.text + 12, self.text + 0x10000
        with self.core.open("r+b") as file:
            file.seek(load.header + 32)
            file.write(struct.pack("<Q", self.begin - load.address))

    def put(self, before: bytes = b"") -> None:
        """Write the secret, for nobody else to read, and have the core name it."""
        self.secret.write_bytes(before + SECRET.encode("utf-16-le") + bytes(1 << 20))
        os.chmod(self.secret, 0o600)
        name_file(self.core, self.begin - len(before), self.end, str(self.secret))

    def ask(self, *options: str) -> Result:
        """The text that the string is said to be."""
        return run(*options, str(self.core), "dumpobj", hex(self.text))

    def check(self) -> None:
        """Nothing of the file is to be seen, in no answer."""
        for line in (f"dumpobj {self.text:x}", "strings", "dumpheap -strings", "verifyheap"):
            for json in ((), ("--json",)):
                result = run(str(self.core), *line.split(), *json)
                self.assertNotIn("swordfish", result.out + result.err, line)

    def test_a_text_is_not_read(self) -> None:
        self.put()
        self.assertIn(SECRET, self.ask("--trust-files").out)
        self.check()
        result = run(str(self.core), text=f"dumpobj {self.text:x}\ninfo\n")
        self.assertIn("files-unverified", result.out)
        self.assertIn("--trust-files", result.out)

    def test_nor_what_begins_as_an_image(self) -> None:
        for before in (b"MZ", b"\x7fELF"):
            self.put(before)
            self.assertIn(SECRET, self.ask("--trust-files").out)
            self.check()

    def test_the_setting(self) -> None:
        self.put()
        lines = f"set trust-files on\nopen {self.core}\ndumpobj {self.text:x}\nset trust-files\n"
        lines += f"set trust-files off\nopen {self.core}\ndumpobj {self.text:x}\n"
        result = run(BUBBLECS, text=lines)
        self.assertEqual(result.out.count("swordfish"), 1)
        self.assertIn("trust-files", result.out)
        result = run(str(self.core), "dumpobj", hex(self.text), "--trust-files")
        self.assertIn(SECRET, result.out)


if __name__ == "__main__":
    unittest.main()
