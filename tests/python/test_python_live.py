#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The heap of a process that runs, in Python."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
os.environ["HEAPDUMP_LIBRARY"] = str(BUILD / "libheapdump.so")
sys.path[:0] = [str(SOURCE / "python"), str(SOURCE / "tests" / "support")]
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import heapdump  # noqa: E402
import waiting  # noqa: E402

FACTS = SOURCE / "corefiles" / "build" / "apps" / "facts-net10.0" / "facts.dll"


class LiveTest(unittest.TestCase):
    """A process is copied when it is opened: what it does afterwards changes no answer."""

    pid: int

    @classmethod
    def setUpClass(cls) -> None:
        dotnet = shutil.which("dotnet")
        if not dotnet or not FACTS.exists():
            raise unittest.SkipTest(f"no dotnet to run {FACTS}")
        # pylint: disable-next=consider-using-with
        process = subprocess.Popen([dotnet, FACTS], stdout=subprocess.PIPE)
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.kill)
        assert process.stdout
        cls.addClassCleanup(process.stdout.close)
        for line in process.stdout:
            if line == b"READY\n":
                break
        cls.pid = process.pid
        try:
            heapdump.open(cls.pid).close()
        except heapdump.HeapdumpError as error:
            raise unittest.SkipTest(f"this machine refuses ptrace: {error}") from None

    def test_both_ways_see_the_same(self) -> None:
        seen = []
        with waiting.stopped(self.pid):
            for isolated in (False, True):
                with heapdump.open(self.pid, isolated=isolated) as heap:
                    self.assertEqual(heap.target, str(self.pid))
                    self.assertFalse(heap.is_live)
                    types = {row["name"]: row["count"] for row in heap.types()}
                    roots = heap.sql.columns("SELECT kind, name, object FROM roots", limit=0)
                    seen.append((types, roots.to_dict(), heap.statics.keys()))
        self.assertEqual(seen[0], seen[1])
        self.assertGreater(len(seen[0][2]), 10)

    def test_objects_stay_after_the_process_has_gone_on(self) -> None:
        with heapdump.open(self.pid) as heap:
            name = next(name for name in heap.statics if name.startswith("Facts."))
            value = heap.statics[name]
            for _ in range(3):
                self.assertEqual(repr(heap.statics[name]), repr(value))
            threads = list(heap.clrthreads())
            self.assertTrue(threads)
            self.assertEqual(list(heap.clrthreads()), threads)
        states = {state for state, _ in waiting.states(self.pid).values()}
        self.assertFalse(states & {"T", "t"}, states)

    def test_a_process_that_has_ended(self) -> None:
        with subprocess.Popen([sys.executable, "-c", "pass"]) as process:
            process.wait()
        for isolated in (False, True):
            with self.assertRaisesRegex(heapdump.HeapdumpError, str(process.pid)):
                heapdump.open(process.pid, isolated=isolated)


if __name__ == "__main__":
    unittest.main()
