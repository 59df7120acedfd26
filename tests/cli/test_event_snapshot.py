#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The example of heapdump/snapshot.h: events of a trace, given one by one, become what the reader makes of the file."""
from __future__ import annotations

import json
import subprocess
import sys
import unittest
from pathlib import Path

from shell_program import BUILD, DATA, PROGRAM, SOURCE, TIMEOUT, environment, folder

sys.path.insert(0, str(SOURCE / "tests" / "support"))
sys.dont_write_bytecode = True

import nettrace_events  # noqa: E402

TRACE = DATA / "small300.nettrace"


def records() -> list[bytes]:
    return [event.record() for event in nettrace_events.events(TRACE.read_bytes())]


class EventSnapshotTest(unittest.TestCase):
    def played(self, name: str, events: list[bytes]) -> tuple[Path, str]:
        path = Path(folder.name) / name
        done = subprocess.run(
            [BUILD / "tests/example_snapshot_events", path],
            input=b"".join(events),
            capture_output=True,
            check=True,
            timeout=TIMEOUT,
            env=environment(),
        )
        return path, done.stdout.decode()

    def answer(self, path: Path, *words: str) -> str:
        done = subprocess.run(
            [PROGRAM, "--no-files", path, *words],
            capture_output=True,
            check=True,
            timeout=TIMEOUT,
            env=environment(),
        )
        return done.stdout.decode()

    def log(self, path: Path) -> list[str]:
        """The text log of a dump, without its last line, which has the time."""
        return self.answer(path, "export", "-", "-format", "rpm").splitlines()[1:-1]

    def test_a_trace_of_the_events_has_the_same_objects_references_and_roots(self) -> None:
        expected = self.log(TRACE)
        self.assertGreater(len(expected), 1100)
        for name in ("a.nettrace", "a.heap"):
            path, told = self.played(name, records())
            self.assertEqual(self.log(path), expected, name)
            self.assertIn(": 1112 objects, ", told)
            self.assertNotIn("incomplete", told)

    def test_our_trace_is_what_another_reader_finds_in_the_first(self) -> None:
        path, _ = self.played("a.nettrace", records())
        kept = {1, 2, 15, 16, 17, 18, 19, 38, 146, 153, 154, 158}

        def heap_events(trace: Path) -> list[tuple[bytes, int, int, bytes]]:
            return [
                (e.definition.provider, e.definition.event, e.definition.version, e.payload)
                for e in nettrace_events.events(trace.read_bytes())
                if e.definition.event in kept and (e.definition.event != 1 or len(e.payload) == 26)
            ]

        ours = [row for row in heap_events(path)]
        self.assertEqual(ours, heap_events(TRACE))

    def test_the_dump_has_what_the_file_has(self) -> None:
        path, _ = self.played("a.gcdump", records())
        counts = []
        for dump in (path, TRACE):
            answer = json.loads(self.answer(dump, "dumpheap", "-stat", "--json"))
            counts.append(
                sorted((row["name"], row["count"], row["size"]) for row in answer["types"])
            )
        self.assertEqual(*counts)

    def test_a_missing_event_is_told(self) -> None:
        events = [e for e in nettrace_events.events(TRACE.read_bytes())]
        cut = [e.record() for e in events if e.definition.event != 2]
        _, told = self.played("a.gcdump", cut)
        self.assertTrue(told.endswith(", incomplete\n"), told)


if __name__ == "__main__":
    unittest.main()
