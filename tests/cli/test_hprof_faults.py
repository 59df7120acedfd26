#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged .hprof files, full disks, writers that are killed, processes that run."""
from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
# pylint: disable=wrong-import-position
import turns  # noqa: E402
import waiting  # noqa: E402
from hprof_made import sample  # noqa: E402
from hprof_records import Hprof  # noqa: E402
from shell_program import PROGRAM, SOURCE, TIMEOUT, run  # noqa: E402

LEAK = SOURCE / "corefiles" / "leak.core.zst"
# One process runs them all: those that need values say that a dump file has none.
COMMANDS = b"""info
types
dumpheap -stat
dumpheap
roots
dominators -top 9
gcroot -type Line
report
retained Line
strings
sql SELECT count(*), sum(size), sum(retained) FROM objects
export OUT.gcdump
export OUT2.hprof
"""
MUTANTS = 1200 if turns.ALL else 120
# Numbers that count bytes, records and elements are most often wrong in these ways.
NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF0, 0xFFFFFFFF)


def damaged(data: bytes, choice: random.Random) -> bytes:
    """The file with one to three changes."""
    found = bytearray(data)
    for _ in range(choice.randint(1, 3)):
        at = choice.randrange(len(found) - 4)
        how = choice.randrange(6)
        if how == 0:
            found[at] = choice.randrange(256)
        elif how == 1:
            found[at : at + 4] = struct.pack(">I", choice.choice(NUMBERS))
        elif how == 2:
            del found[at : at + choice.choice((1, 4, 8, 64))]
        elif how == 3:
            found[at:at] = found[at : at + choice.choice((1, 8, 64, 512))]
        elif how == 4:
            found[at : at + 8] = bytes(8)
        else:
            del found[max(at, 40) :]
        if len(found) < 48:
            break
    return bytes(found)


class DamageTest(unittest.TestCase):
    """No command crashes or hangs about a file that somebody has changed; what cannot be read is said."""

    def test_changed_bytes(self) -> None:
        refused = 0
        with tempfile.TemporaryDirectory(prefix="heapdump-hprof-") as folder:
            for number in range(MUTANTS):
                choice = turns.chance(f"hprof {number}")
                size, tag = choice.choice(((4, 0x1C), (8, 0x1C), (4, 0x0C), (8, 0x0C)))
                path = Path(folder) / "changed.hprof"
                path.write_bytes(damaged(sample(size).file(tag), choice))
                words = [PROGRAM, *(["--lenient"] if number % 2 else []), path.name]
                done = subprocess.run(
                    words,
                    input=COMMANDS,
                    capture_output=True,
                    timeout=TIMEOUT,
                    check=False,
                    cwd=folder,
                )
                said = done.stderr.decode("utf-8", "replace")
                with self.subTest(number=number):
                    self.assertIn(done.returncode, (0, 1, 2, 3), said)
                    self.assertNotIn("ended by signal", said)
                    self.assertNotIn("sandbox has ended", said)
                    if done.returncode == 3 and not done.stdout:
                        refused += 1
                        self.assertRegex(said, r"heapdump: changed\.hprof")
                    for out in ("OUT.gcdump", "OUT2.hprof"):
                        written = Path(folder) / out
                        if written.exists():
                            again = run(str(written), "info")
                            self.assertIn(again.status, (0, 1), again.err)
                            written.unlink()
                    self.assertEqual(os.listdir(folder), ["changed.hprof"])
        # Neither is everything refused, nor nothing.
        self.assertGreater(refused, MUTANTS // 20)
        self.assertLess(refused, MUTANTS * 9 // 10)


class WriterTest(unittest.TestCase):
    """Under the final name is a whole file, or none."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="heapdump-hprof-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def test_full_disk(self) -> None:
        for limit in (1, 100, 65536, 3000000):
            done = subprocess.run(
                [PROGRAM, LEAK, "export", self.folder / "leak.hprof"],
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
                check=False,
                # pylint: disable-next=cell-var-from-loop
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
            )
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("File too large", done.stderr)
            self.assertEqual(os.listdir(self.folder), [])
        done = subprocess.run(
            [PROGRAM, LEAK, "export", "/dev/full", "-format", "hprof"],
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        self.assertEqual(done.returncode, 3)
        self.assertIn("No space left on device", done.stderr)

    def test_killed_writer(self) -> None:
        old = self.folder / "leak.hprof"
        old.write_bytes(b"what was there")
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            with subprocess.Popen(
                [PROGRAM, LEAK, "export", "-format", "hprof", old],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            ) as export:
                waiting.wait_until(
                    lambda: len(os.listdir(self.folder)) > 1 or export.poll() is not None,
                    "a file is being written",
                )
                export.send_signal(number)
                export.wait()
            text = old.read_bytes()
            # It may have been ready before the signal came.
            if text != b"what was there":
                self.assertEqual(export.returncode, 0)
                self.assertGreater(len(Hprof(old).classes), 50)
                old.write_bytes(b"what was there")
            for path in self.folder.iterdir():
                if path != old:
                    self.assertEqual(number, signal.SIGKILL, path)
                    path.unlink()


class NamesTest(unittest.TestCase):
    """Names that the format has a meaning for, and bytes that are no text."""

    # A name, and how it comes back.
    NAMES = (
        (b"Shop/Line", "Shop.Line"),
        (b"A\x1b[31mX", "A\x1b[31mX"),
        (b"caf\xc3\xa9", "caf\u00e9"),
        (b"bad\xff\xfe", "bad\\xff\\xfe"),
        (b"\xed\xa0\x80", "\\xed\\xa0\\x80"),
        (b"x" * 70000, "x" * 70000),
        (b"[I", "_[I"),
        (b"[Lx;", "_[Lx;"),
        (b"int[]", "int[]"),
        (b"java.lang.Thread", "java.lang.Thread"),
        (b"A<B,C[]>[,]", "A<B,C[]>[,]"),
        (b"\xe2\x80\xae", "\u202e"),
        (b"T (element)", "T (element)"),
        (b"Twice", "Twice"),
        (b"Twice", "Twice"),
    )

    def test_names(self) -> None:
        lines = [b"a 2 names.exe 1"]
        for number, (name, _) in enumerate(self.NAMES, 1):
            lines.append(b"t %x %s" % (number, name))
            lines.append(b"o %x %x 20 1040" % (0x1000 + 64 * number, number))
        lines += [b"r 1040 4 0 1", b"c names.exe 2", b""]
        with tempfile.TemporaryDirectory(prefix="heapdump-hprof-") as folder:
            log, out = Path(folder) / "names.heap", Path(folder) / "names.hprof"
            log.write_bytes(b"\n".join(lines))
            done = run(str(log), "export", str(out))
            self.assertEqual(done.status, 0, done.err)
            counts: Counter[str] = Counter()
            for row in run(str(out), "types", "--json").json()["types"]:
                counts[row["name"]] += row["count"]
            for shown, want in Counter(shown for _, shown in self.NAMES).items():
                self.assertEqual(counts[shown], want, shown[:40])
            query = 'SELECT count(*) AS n FROM refs WHERE "to" = 0x1040 AND "from" % 64 = 0'
            found = run(str(out), "sql", query, "--json").json()["rows"][0]["n"]
            self.assertGreaterEqual(found, len(self.NAMES))


class LiveTest(unittest.TestCase):
    """A process is exported as its core is."""

    def test_export_of_a_process(self) -> None:
        path = SOURCE / "corefiles" / "build" / "apps" / "facts-net10.0" / "facts.dll"
        dotnet = shutil.which("dotnet")
        if not dotnet or not path.exists():
            self.skipTest(f"no dotnet to run {path}")
        with tempfile.TemporaryDirectory(prefix="heapdump-hprof-") as folder:
            out = Path(folder) / "facts.hprof"
            with subprocess.Popen([dotnet, path], stdout=subprocess.PIPE) as process:
                self.addCleanup(process.kill)
                assert process.stdout
                for line in process.stdout:
                    if line == b"READY\n":
                        break
                pid = str(process.pid)
                if "refused" in run(pid, "info").err:
                    self.skipTest("this machine refuses ptrace")
                with waiting.stopped(process.pid):
                    told = run(pid, "export", str(out), "--json").json()
                    types = run(pid, "types", "--json").json()["types"]
                process.kill()
            dump = Hprof(out)
            counts = dump.counts()
            want: Counter[str] = Counter()
            for row in types:
                want[row["name"]] += row["count"]
            own = {
                name: n
                for name, n in want.items()
                if n and "[" not in name and "System" not in name
            }
            self.assertGreater(len(own), 5)
            for name, count in own.items():
                self.assertEqual(counts[name], count, name)
            self.assertEqual(told["format"], "hprof")
            again = run(str(out), "gcroot", "-type", next(iter(own)))
            self.assertIn(again.status, (0, 1), again.err)


if __name__ == "__main__":
    unittest.main()
