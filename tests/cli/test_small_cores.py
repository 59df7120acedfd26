#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mini and triage dumps of createdump: the stacks and exceptions that the programs said they had."""
from __future__ import annotations

import json
import re
import struct
import unittest
from pathlib import Path
from typing import Any

from shell_program import SOURCE, folder, run

# The work of the threads of corefiles/apps/crash in its mode "threads" (Concurrent.cs), those that stand still: at
# another time their stacks are the same. (The writer does not walk every stack of one that runs.)
STILL = ("Sleeping", "Waiting", "Receiving", "InNative", "Catching")


def core(name: str) -> Path:
    """A core that scripts/make_corefiles.sh makes."""
    return SOURCE / "corefiles" / "build" / f"{name}.core"


def stacks(path: Path) -> list[dict[str, Any]]:
    """The threads of clrstack."""
    threads: list[dict[str, Any]] = run(str(path), "clrstack", "--json").json()["threads"]
    return threads


def methods(thread: dict[str, Any]) -> list[str]:
    """The managed frames of a thread, innermost first."""
    frames = [frame for frame in thread["frames"] if frame["kind"] == "managed"]
    return [frame["method"].split("(")[0] for frame in frames]


def by_body(path: Path) -> dict[str, list[str]]:
    """The frames of each thread of the mode "threads", by the method that it runs."""
    found = {}
    for thread in stacks(path):
        frames = methods(thread)
        for body in STILL:
            if f"Crash.Concurrent.{body}" in frames:
                found[body] = frames
    return found


class Small(unittest.TestCase):
    """Cores of .NET 10, 9 and 8: each lacks what its writer, the runtime's own walk, did not read."""

    def each(self, kind: str) -> list[tuple[Path, Any]]:
        """The cores of a kind that are there, with what their programs said."""
        paths = [core(f"crash{number}-{kind}") for number in (10, 9, 8)]
        paths = [path for path in paths if path.exists()]
        if not paths:
            self.skipTest(f"no core of {kind}: scripts/make_corefiles.sh makes them")
        truths = [path.with_suffix(".truth.json").read_text(encoding="utf-8") for path in paths]
        return list(zip(paths, map(json.loads, truths)))

    def check_frames(self, path: Path, said: Any) -> None:
        """The thread that died has the methods that the program named, in their order."""
        (dead,) = [thread for thread in stacks(path) if thread["os_id"] == said["os_id"]]
        self.assertFalse(dead["partial"], dead["why"])
        self.assertEqual([name for name in methods(dead) if name in said["frames"]], said["frames"])

    def test_stacks_of_triage_dumps(self) -> None:
        for path, said in self.each("throw-triage"):
            with self.subTest(path.name):
                self.check_frames(path, said)

    def test_stacks_of_mini_dumps(self) -> None:
        for path, said in self.each("threads-mini"):
            with self.subTest(path.name):
                self.check_frames(path, said)
                self.assertEqual(set(by_body(path)), set(STILL))
                waiting = [t for t in stacks(path) if "System.Threading.Monitor.Wait" in methods(t)]
                self.assertEqual(len(waiting), 1)

    def test_stacks_are_those_of_the_dump_with_the_heap(self) -> None:
        mini, heap = core("crash10-threads-mini"), core("crash10-threads-heap")
        if not mini.exists() or not heap.exists():
            self.skipTest("no cores of crash10-threads: scripts/make_corefiles.sh makes them")
        small, large = by_body(mini), by_body(heap)
        for body in STILL:
            self.assertEqual(small[body], large[body], body)
            self.assertGreater(len(small[body]), 0, body)

    def test_what_was_thrown(self) -> None:
        for path, said in self.each("threads-mini") + self.each("throw-triage"):
            with self.subTest(path.name):
                result = run(str(path), "printexception", "--json")
                self.assertEqual(result.status, 0, result.err)
                rows = result.json()["exceptions"]
                (row,) = [row for row in rows if row["os_id"] == said["os_id"]]
                self.assertEqual(row["type"], "Crash.TagException")
                frames = [frame["method"].split("(")[0] for frame in row["stack"]]
                self.assertEqual(frames, said["frames"])
                # The message is in a mini dump; a triage dump is without what users may have typed.
                is_mini = path.stem.endswith("mini")
                self.assertEqual(row["message"], "threads" if is_mini else None)
                self.assertEqual(row["missing"], [] if is_mini else ["message"])
                text = run(str(path), "printexception").out
                self.assertIn("threads" if is_mini else "Message:          <cannot be read>", text)
                threads = run(str(path), "clrthreads", "--json").json()["threads"]
                (thrower,) = [thread for thread in threads if thread["os_id"] == said["os_id"]]
                self.assertEqual(thrower["exception_type"], "Crash.TagException")
                self.assertEqual(thrower["exception"], row["address"])
                crash = run(str(path), "crashinfo", "--json").json()["exceptions"]
                (thrown,) = [thrown for thrown in crash if thrown["os_id"] == said["os_id"]]
                self.assertEqual(thrown["type"], "Crash.TagException")
                self.assertEqual(thrown.get("message"), row["message"])
                self.assertEqual(thrown["method"], said["frames"][0])

    def test_triage_does_not_count_what_is_not_there(self) -> None:
        for path, _ in self.each("threads-mini") + self.each("throw-triage"):
            with self.subTest(path.name):
                text = run(str(path), "triage").out
                self.assertRegex(
                    text, r" could be read: not all of the heap can be walked \(info\)"
                )
                self.assertRegex(text, r"\ncrash .*; Crash\.TagException")
                self.assertEqual(text.count("the GC heap is not in it"), 1)
                # Each command that it names to go on with has an answer.
                look = run(str(path), "triage", "--json").json()
                self.assertEqual(len(look["next"]), 3)
                for line in look["next"]:
                    self.assertLess(run(str(path), *line.split()).status, 2, line)
                for row in look["parts"]:
                    if row["part"] in ("damage", "hang", "finding"):
                        self.assertIn("the GC heap is not in it", row["text"])

    def test_a_message_goes_on_as_a_sentence(self) -> None:
        path = core("crash10-nullref-heap")
        if not path.exists():
            self.skipTest(f"no {path}: scripts/make_corefiles.sh makes it")
        self.assertRegex(run(str(path), "triage").out, r"instance of an object in Crash\.")

    def test_the_code_is_there_without_the_heap(self) -> None:
        for path, _ in self.each("threads-mini") + self.each("throw-triage"):
            with self.subTest(path.name):
                code = Path(folder.name) / "code.elf"
                result = run(str(path), "export", str(code))
                self.assertEqual(result.status, 0, result.err)
                self.assertRegex(result.out, r"^Wrote .*: [1-9][0-9,]* methods?, ")
                if " 0 lines." in result.out:
                    self.assertRegex(result.out, r"\nNo source lines: .*PDB")
                self.assertEqual(code.read_bytes()[:4], b"\x7fELF")

    def test_the_heap_is_refused(self) -> None:
        for path, _ in self.each("threads-mini") + self.each("throw-triage"):
            for line in ("dumpheap -stat", "verifyheap", "gchandles", "roots", "syncblk"):
                with self.subTest(path.name, line=line):
                    result = run(str(path), *line.split())
                    self.assertEqual(result.status, 3)
                    self.assertIn("the GC heap is not in it", result.err)


class Namespaces(unittest.TestCase):
    """A core that names threads by the ids of another pid namespace than the runtime does."""

    SHIFT = 300000

    def renamed(self, path: Path) -> Path:
        """A copy in which each thread has another id (pr_pid of NT_PRSTATUS, elfcore.h)."""
        data = bytearray(path.read_bytes())
        (phoff,) = struct.unpack_from("<Q", data, 32)
        size, count = struct.unpack_from("<HH", data, 54)
        for i in range(count):
            kind, _, at, _, _, length = struct.unpack_from("<IIQQQQ", data, phoff + i * size)
            end = at + length
            while kind == 4 and at < end:
                name, desc, note = struct.unpack_from("<III", data, at)
                at += 12 + (name + 3) // 4 * 4
                if note == 1:
                    (tid,) = struct.unpack_from("<i", data, at + 32)
                    struct.pack_into("<i", data, at + 32, tid + self.SHIFT)
                at += (desc + 3) // 4 * 4
        copy = Path(folder.name) / path.name
        copy.write_bytes(data)
        return copy

    def test_stacks_are_told_apart(self) -> None:
        paths = [core(f"crash{number}-threads-mini") for number in (10, 9, 8)]
        for path in filter(Path.exists, paths):
            with self.subTest(path.name):
                copy = self.renamed(path)
                expected, found = stacks(path), stacks(copy)
                self.assertGreater(len(expected), 8)
                for one, other in zip(expected, found, strict=True):
                    self.assertEqual(other["os_id"], one["os_id"] and one["os_id"] + self.SHIFT)
                    self.assertEqual(other["frames"], one["frames"])
                kinds = [row["kind"] for row in run(str(copy), "info", "--json").json()["findings"]]
                self.assertIn("thread-ids", kinds)
                kinds = [row["kind"] for row in run(str(path), "info", "--json").json()["findings"]]
                self.assertNotIn("thread-ids", kinds)
        if not any(map(Path.exists, paths)):
            self.skipTest("no cores of crash-threads-mini: scripts/make_corefiles.sh makes them")


class WithoutCode(unittest.TestCase):
    """A single-file program: createdump finds no runtime to ask, and leaves out what the JIT made."""

    def test_what_is_not_there_is_said(self) -> None:
        path = core("single10-heap")
        if not path.exists():
            self.skipTest(f"no {path}: scripts/make_corefiles.sh makes it")
        broken = [thread for thread in stacks(path) if thread["partial"]]
        self.assertTrue(broken)
        for thread in broken:
            self.assertRegex(thread["why"], r"^the managed code at [0-9a-f]+ is not in the target$")
        # Code that was compiled before is read from the program's file, which its build-id proves.
        names = [name for thread in stacks(path) for name in methods(thread)]
        self.assertIn("System.Threading.Monitor.Wait", names)
        text = run(str(path), "info").out
        self.assertRegex(
            text, r"partial-stack: .*: the managed code at [0-9a-f]+ is not in the target"
        )
        # The heap does not need the code.
        truth = json.loads(path.with_suffix(".truth.json").read_text(encoding="utf-8"))
        for row in truth["objects"][:20]:
            shown = run(str(path), "dumpobj", row["address"], "--json").json()
            self.assertEqual(shown["type"], row["type"])


class Warnings(unittest.TestCase):
    """Info lists what a command warns of."""

    # Each way in which a core lacks something.
    CORES = (
        *("wks11-mini", "wks11-triage", "wks11-kernel", "single11-heap"),
        *("wks10-mini", "wks10-triage", "crash9-threads-mini", "crash8-throw-triage"),
        *("crash10-throw-kernel", "wks10-kernel", "wks10-heap", "wks8-full", "single10-full"),
    )
    COMMANDS = (
        *("clrstack", "clrstack -roots", "clrthreads", "printexception", "eeheap", "types"),
        *("dumpheap -stat", "gchandles -stat", "finalizequeue", "roots -stat", "verifyheap"),
        *("syncblk", "strings -limit 1", "gcheapstat"),
    )

    @staticmethod
    def kinds(warning: str) -> set[str]:
        """The kinds in "heapdump: warning: FILE: KIND: text; KIND: text; and 3 more (KIND, KIND): ..."."""
        told = set(re.findall(r"(?:\.core: |; )([a-z-]+): ", warning))
        more = re.search(r"; and \d+ more \(([a-z, -]+)\)", warning)
        return told | (set(more[1].split(", ")) if more else set())

    def test_kinds_are_read(self) -> None:
        line = "heapdump: warning: a.core: one-kind: why; two: it is; and 2 more (three, four): the"
        self.assertEqual(self.kinds(line), {"one-kind", "two", "three", "four"})

    def test_every_warning_is_a_finding(self) -> None:
        warned = 0
        for path in filter(Path.exists, map(core, self.CORES)):
            findings = run(str(path), "info", "--json").json()["findings"]
            known = {finding["kind"] for finding in findings}
            for line in self.COMMANDS:
                with self.subTest(path.name, line=line):
                    found = self.kinds(run(str(path), *line.split()).err)
                    self.assertLessEqual(found, known)
                    warned += len(found)
        if not warned:
            self.skipTest("no core lacks anything: scripts/make_corefiles.sh makes them")


if __name__ == "__main__":
    unittest.main(verbosity=2)
