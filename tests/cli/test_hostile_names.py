#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No name of a core begins a line of its own in an answer, or a colour: names in metadata, in strings, in paths.

Copies of real cores get a line's end and one of heapdump's own colours in the middle of their names.  Nothing else
that a terminal acts on can leave the program (report/out.c); these two can, where a command forgets to escape.
"""
from __future__ import annotations

import re
import subprocess
import unittest
from pathlib import Path

from shell_program import PROGRAM, SOURCE, TIMEOUT, Base, environment, folder, run

MARK = "\n\x1b[2m#"
SHOWN = "\\u000a\\u001b[2m#"
OURS = re.compile("\x1b\\[(?:33|36|1|2|0)m")
NAMES = {
    "leak": ("WebShop", "Session", "Notices", "PriceFeed", "PriceChange", "webshop", "libclrjit"),
    "hang": ("Checkout", "Inventory", "transfer", "Transfer", "Reserve", "WaitAsync"),
}
LINES = """
info
crashinfo
clrthreads
threads
clrstack
clrstack -a -f -r
clrstack -roots
parallelstacks
dumpstackobjects
waits -all
hang
syncblk -all
threadpoolqueue
timerinfo
dumpasync -fields
dumptasks
dumpexceptions
clrmodules -verbose
modules -v
dumpdomain
dumpalc
eeheap -loader
maddress
memory -detail
dumpheap -stat
dumpheap -limit 200
dumpheap -strings
strings -limit 50
gchandles
finalizequeue
dumpgen 2
ephrefs
ephtoloh
verifyheap
roots -limit 200
types -retained
dominators -top 50
gcroot -type EventHandler -limit 3
gcroot -type Object -limit 3
report
name2ee * *
sql SELECT name FROM threads
sql SELECT type FROM objects LIMIT 500
""".split(
    "\n"
)
# For an object, and for a type, whose name was changed.
OF_OBJECT = ("dumpobj -refs", "gcroot -full", "objsize -stat", "referrers", "retained", "verifyobj")
OF_TYPE = ("dumpmt -md", "dumpclass", "dumpheap -limit 3 -mt")


def changed(name: str) -> str:
    """As many bytes, of which the middle ones are the mark."""
    return name[0] + MARK + name[1 + len(MARK) :]


class HostileNames(Base):
    """Every command that shows names, in text and with colours."""

    def make(self, name: str) -> Path:
        core = Path(folder.name) / f"{name}.core"
        packed = SOURCE / "corefiles" / f"{name}.core.zst"
        subprocess.run(["zstd", "-qdf", packed, "-o", core], check=True, timeout=TIMEOUT)
        self.addCleanup(core.unlink)
        data = core.read_bytes()
        for word in NAMES[name]:
            for encoding in ("ascii", "utf-16-le"):
                data = data.replace(word.encode(encoding), changed(word).encode(encoding))
        core.write_bytes(data)
        return core

    def check(self, core: Path, lines: list[str]) -> None:
        text = "".join(f"{line} --color on\n" for line in lines if line)
        done = subprocess.run(
            [PROGRAM, "--no-files", core],
            input=text.encode(),
            capture_output=True,
            cwd=SOURCE,
            env=environment(),
            timeout=3 * TIMEOUT,
            check=False,
        )
        for stream in (done.stdout, done.stderr):
            told = stream.decode()
            place = told.find(MARK)
            self.assertEqual(place, -1, told[max(0, place - 300) : place + 40])
            self.assertIsNone(re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", OURS.sub("", told)))
        self.assertGreater(done.stdout.decode().count(SHOWN), 100)

    def try_core(self, name: str) -> None:
        core = self.make(name)
        rows = run("--no-files", str(core), "dumpheap", "-limit", "0", "--json").json()["objects"]
        first = {row["mt"]: row["address"] for row in rows if MARK in (row["type"] or "")}
        self.assertGreater(len(first), 3)
        lines = [f"{words} {address}" for address in first.values() for words in OF_OBJECT]
        lines += [f"{words} {mt}" for mt in first for words in OF_TYPE]
        self.check(core, LINES + lines)

    def test_names_of_a_leak(self) -> None:
        self.try_core("leak")

    def test_names_of_a_hang(self) -> None:
        self.try_core("hang")


if __name__ == "__main__":
    unittest.main()
