#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cores that lack something, are cut or lie: an answer that says so, or one line."""
from __future__ import annotations

import os
import random
import re
import shutil
import struct
import subprocess
import sys
import time
import unittest
from pathlib import Path

from cores import LEAK, LEAKED, SESSION_MT, leave_out, loads, poke, unpacked
from shell_program import PROGRAM, SOURCE, TIMEOUT, Result, folder, run


class Changed(unittest.TestCase):
    """Copies of the committed core with a byte or a segment changed."""

    def copy(self) -> Path:
        """A core to change."""
        path = Path(folder.name) / "changed.core"
        shutil.copy(unpacked(), path)
        return path

    def test_a_free_block_has_no_lock(self) -> None:
        path = self.copy()
        rows = run("--no-files", LEAK, "dumpheap", "--json").json()["objects"]
        free = next(int(row["address"], 16) for row in rows if row["free"])
        poke(path, free - 4, struct.pack("<I", 1))
        locks = run("--no-files", str(path), "dumpheap", "-thinlock", "--json").json()["locks"]
        self.assertNotIn(hex(free), [row["address"] for row in locks])

    def test_types_that_are_missing_are_no_damage(self) -> None:
        path = self.copy()
        leave_out(path, int(SESSION_MT, 16))
        segments = run("--no-files", LEAK, "eeheap", "--json").json()["heaps"][0]["segments"]
        leave_out(path, next(int(s["begin"], 16) for s in segments if s["generation"] == "loh"))
        for line in ("dumpheap -stat", "strings", "info"):
            result = run("--no-files", str(path), *line.split())
            self.assertNotIn("damage", result.out + result.err, line)
            self.assertIn("bytes of the heap are not in the file", result.out + result.err, line)


class Incomplete(unittest.TestCase):
    """An object without a root is called dead only where nothing is known to be missing."""

    def setUp(self) -> None:
        self.path = Path(folder.name) / "incomplete.core"
        shutil.copy(unpacked(), self.path)

    def run_on(self, line: str) -> Result:
        """Run a command on the changed core."""
        return run("--no-files", str(self.path), *line.split())

    def lose_stack(self) -> str:
        """Leave the main thread's stack out; the address of an object that it alone keeps alive."""
        rows = run(LEAK, "roots", "-kind", "stack", "--json").json()["roots"]
        slots = {row["object"]: int(row["address"], 16) for row in rows}
        for address, slot in slots.items():
            roots = run(LEAK, "gcroot", address, "--json").json()["roots"]
            if {root["kind"] for root in roots} == {"stack"}:
                leave_out(self.path, slot)
                return address
        raise AssertionError("no object is kept alive by a stack alone")

    def check(self, address: str, kind: str, words: str) -> None:
        """No command may say that the object at ADDRESS is dead; all say why."""
        for line in (f"gcroot {address}", f"retained {address}", f"dominators {address}"):
            result = self.run_on(line)
            self.assertEqual(result.status, 1, line)
            self.assertNotIn("is dead", result.out)
            self.assertIn(words, result.out, line)
            self.assertIn("it may still be alive", result.out, line)
            self.assertIn(f"{kind}: ", result.err, line)
            document = self.run_on(f"{line} --json").json()
            self.assertIs(document["complete"], False, line)
            self.assertIn(kind, document["findings"], line)
        for line in ("dumpheap -dead -stat", "gcheapstat -unreachable", "finalizequeue -allReady"):
            self.assertIn(words, self.run_on(line).out, line)
            self.assertIs(self.run_on(f"{line} --json").json()["complete"], False, line)
        line = f"notreachableinrange {address} {int(address, 16) + 8:x}"
        self.assertIn(words, self.run_on(line).out)
        self.assertIs(self.run_on(f"{line} --json").json()["complete"], False)

    def test_a_whole_core_is_complete(self) -> None:
        dead = run(LEAK, "dumpheap", "-dead", "-short", "-limit", "1").out.strip()
        self.assertIn("it is dead", run(LEAK, "gcroot", dead).out)
        self.assertIn("is dead", run(LEAK, "retained", dead).out)
        for line in (f"gcroot {dead}", f"retained {dead}", "dumpheap -dead -stat", "dominators"):
            document = run(LEAK, *line.split(), "--json").json()
            self.assertIs(document["complete"], True, line)
            self.assertEqual(document["findings"], [], line)

    def test_a_stack_is_missing(self) -> None:
        self.check(self.lose_stack(), "missing-stack", "1 stack could not be read")

    def test_an_object_on_the_path_is_damaged(self) -> None:
        (root,) = run(LEAK, "gcroot", LEAKED, "--json").json()["roots"]
        poke(self.path, int(root["path"][1]["address"], 16), bytes.fromhex("1234567812345678"))
        self.check(LEAKED, "unwalkable", "1 stretch of the heap could not be walked")
        tree = self.run_on("gcroot -type WebShop.Session").out
        self.assertNotIn("dead: ", tree)
        self.assertIn("not reached may still be alive", tree)

    def test_what_an_object_refers_to_needs_no_roots(self) -> None:
        self.lose_stack()
        lines = (
            f"objsize {LEAKED} -stat",
            f"objsize {LEAKED} -strings",
            f"pathto {LEAKED} {LEAKED}",
        )
        for line in lines:
            self.assertNotIn("Incomplete", self.run_on(line).out, line)
            self.assertIs(self.run_on(f"{line} --json").json()["complete"], True, line)
        (root,) = run(LEAK, "gcroot", LEAKED, "--json").json()["roots"]
        source, damaged = (link["address"] for link in root["path"][:2])
        poke(self.path, int(damaged, 16), bytes.fromhex("1234567812345678"))
        result = self.run_on(f"pathto {source} {LEAKED}")
        self.assertEqual(result.status, 1)
        self.assertIn("Incomplete: 1 stretch of the heap could not be walked", result.out)
        self.assertIn("there may be one", result.out)
        self.assertIn("it may reach more", self.run_on(lines[0]).out)
        self.assertIn("it may reach more", self.run_on(lines[1]).out)
        for line in lines:
            document = self.run_on(f"{line} --json").json()
            self.assertIs(document["complete"], False, line)
            self.assertNotIn("missing-stack", document["findings"], line)

    def test_info_finds_it_by_itself(self) -> None:
        self.lose_stack()
        document = self.run_on("info --json").json()
        self.assertIn("missing-stack", [row["kind"] for row in document["findings"]])
        self.assertEqual(document["examined"], {"roots": True, "references": False})
        self.assertIn("References:  not examined yet", self.run_on("info").out)
        result = run("--no-files", str(self.path), text="info\nclrthreads\n")
        self.assertNotIn("missing-stack", result.err)

    def test_an_export_says_what_is_missing(self) -> None:
        segments = run(LEAK, "eeheap", "--json").json()["heaps"][0]["segments"]
        gap = max(segments, key=lambda s: int(s["allocated"], 16) - int(s["begin"], 16))
        leave_out(self.path, int(gap["begin"], 16))
        result = self.run_on(f"export {folder.name}/missing.gcdump")
        self.assertEqual(result.status, 0)
        self.assertIn("heap-bytes-missing: ", result.err)
        self.assertIn("bytes of the heap are not in the file", result.err)

    def test_small_sizes_have_small_units(self) -> None:
        result = run("--no-files", "--max-mem", "1K", str(self.path), "gcroot", LEAKED)
        self.assertEqual(result.status, 3)
        self.assertIn("max-mem allows (1 KB)", result.err)
        self.assertNotIn("0 MB", result.err)


class Caught(unittest.TestCase):
    """Cores that scripts/make_corefiles.sh makes: mid-GC, and without a heap."""

    def core(self, name: str) -> str:
        """Its path, if it is there."""
        path = SOURCE / "corefiles" / "build" / f"{name}.core"
        if not path.exists():
            self.skipTest(f"no {path}: scripts/make_corefiles.sh makes it")
        return str(path)

    def mid_gc(self) -> tuple[str, str]:
        """A core in whose GC objects were moving, which is chance, and an object without a root in it."""
        for path in sorted((SOURCE / "corefiles" / "build").glob("churn10-*.core")):
            info = run(str(path), "info", "--json").json()
            if not info["runtime"]["gc_in_progress"] or info["walkable"]:
                continue
            options = ("-type", "Churn.Item", "-dead", "-limit", "1", "--json")
            dead = run(str(path), "dumpheap", *options).json()
            self.assertFalse(dead["complete"])
            if dead["objects"]:
                return str(path), dead["objects"][0]["address"]
        self.skipTest("no core was caught in a GC: scripts/make_corefiles.sh churn10-N makes more")

    def test_mid_gc(self) -> None:
        core, address = self.mid_gc()
        result = run(core, "gcroot", address)
        self.assertIn("garbage collection was moving objects", result.out)
        self.assertNotIn("it is dead", result.out)
        # The number of gaps, if there are any, is that of a walk of the same segments.
        stretches = r"([\d,]+) stretch(?:es)? of the heap could not be walked"
        gaps = re.findall(stretches, run(core, "dumpheap", "-stat").err)
        self.assertEqual(gaps, re.findall(stretches, result.out))

    def test_no_heap(self) -> None:
        for name in ("wks10-mini", "wks10-triage"):
            core = self.core(name)
            self.assertFalse(run(core, "info", "--json").json()["walkable"])
            for line in (
                *("gcroot -type Node", "retained 10", "dominators", "dumpheap -stat", "types"),
                *("roots", f"export {folder.name}/mini.gcdump", "dumpheap -dead", "verifyheap"),
            ):
                result = run(core, *line.split())
                self.assertEqual(result.status, 3, line)
                self.assertIn("the GC heap is not in it", result.err, line)


class Files(unittest.TestCase):
    """Bytes that come from module files, and cores that do not fit into memory."""

    def test_no_files_opens_none(self) -> None:
        trace = Path(folder.name) / "trace"
        strace = shutil.which("strace")
        if not strace:
            print("skipped: no strace to see which files are opened", file=sys.stderr)
            return
        subprocess.run(
            [strace, "-f", "-e", "trace=openat,open", "-o", str(trace), PROGRAM, "--no-files"]
            + [LEAK, "dumpheap", "-stat"],
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=TIMEOUT,
            env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"},
        )
        text = trace.read_text(encoding="utf-8", errors="replace")
        self.assertNotIn(".dll", text)
        self.assertNotIn("libcoreclr", text)

    def test_max_mem_limits_unpacking(self) -> None:
        result = run("--no-files", "--max-mem", "8M", LEAK, "dumpheap", "-stat")
        self.assertEqual(result.status, 3)
        self.assertIn("max-mem", result.err)

    def test_sysroot_must_be_a_folder(self) -> None:
        result = run("--sysroot", "/nowhere", LEAK, "info")
        self.assertEqual(result.status, 2)
        self.assertIn("sysroot", result.err)

    def test_a_file_that_shrinks_is_named(self) -> None:
        path = Path(folder.name) / "shrinks.core"
        shutil.copy(unpacked(), path)
        with subprocess.Popen(
            [PROGRAM, "--no-files", str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin and process.stdout
            process.stdin.write("eeheap\n")
            process.stdin.flush()
            process.stdout.readline()
            os.truncate(path, 1 << 20)
            _, err = process.communicate("dumpheap -stat\n", timeout=TIMEOUT)
        self.assertEqual(process.returncode, 3, err)
        self.assertIn("shrank", err)

    def overwritten(self, before: str, after: str, name: str = "changes.core") -> tuple[int, str]:
        """Run BEFORE, write one byte of the core again, read on, and run AFTER."""
        path = Path(folder.name) / name
        shutil.copy(LEAK if name.endswith(".zst") else unpacked(), path)
        with subprocess.Popen(
            [PROGRAM, "--no-files", str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin and process.stdout
            process.stdin.write(before)
            process.stdin.flush()
            process.stdout.readline()
            time.sleep(0.05)  # the clock of the file system is no finer
            with path.open("r+b") as file:
                file.seek(-1, os.SEEK_END)
                last = file.read(1)
                file.seek(-1, os.SEEK_END)
                file.write(bytes([last[0] ^ 1]))
            _, err = process.communicate(after.replace("FILE", str(path)), timeout=TIMEOUT)
        return process.returncode, err

    def test_a_core_that_is_overwritten_between_commands(self) -> None:
        status, err = self.overwritten("eeheap\n", "dumpheap -stat\n")
        self.assertEqual(status, 3, err)
        self.assertIn("changes.core was changed while it was open", err)
        # Opened again, it is another core.
        status, err = self.overwritten("eeheap\n", "open FILE\ndumpheap -stat\n")
        self.assertEqual((status, err), (0, ""))

    def test_a_core_that_is_overwritten_during_a_command(self) -> None:
        # More than a pipe holds: it is still at it when the core changes.
        status, err = self.overwritten("dumpheap\n", "")
        self.assertEqual(status, 3, err)
        self.assertIn("changes.core was changed while it was open", err)

    def test_a_packed_core_is_read_once(self) -> None:
        status, err = self.overwritten("eeheap\n", "dumpheap -stat\n", "changes.core.zst")
        self.assertEqual((status, err), (0, ""))


class Bad(unittest.TestCase):
    """Cores that are cut or lie: an answer or one line, never a crash, soon."""

    def check(self, path: Path, *lines: str) -> None:
        """Run LINES on PATH; statuses are those of the contract, errors one line."""
        for line in lines:
            result = run("--no-files", str(path), *line.split())
            self.assertIn(result.status, (0, 1, 2, 3), (line, result.err))
            errors = [e for e in result.err.splitlines() if "warning:" not in e]
            self.assertLessEqual(len(errors), 1, result.err)
            self.assertEqual(result.status > 1, bool(errors), result.err)

    def test_cut_anywhere(self) -> None:
        path = Path(folder.name) / "cut.core"
        shutil.copy(unpacked(), path)
        chance = random.Random(4)
        size = path.stat().st_size
        table = loads(path)
        places = {load.header for load in table[:20]} | {load.offset for load in table[::8]}
        places |= {chance.randrange(size) for _ in range(25)} | {0, 1, 63, 64}
        for place in sorted(places, reverse=True):
            os.truncate(path, place)
            with self.subTest(place):
                self.check(path, "dumpheap -stat", "info")
                if 64 < place:
                    self.assertNotEqual(run("--no-files", str(path), "info").status, 0)

    def test_random_words(self) -> None:
        source = unpacked()
        path = Path(folder.name) / "words.core"
        table = loads(source)
        for seed in range(12):
            chance = random.Random(seed)
            shutil.copy(source, path)
            with path.open("r+b") as file:
                for _ in range(2000):
                    load = chance.choice(table)
                    if load.filesz < 16:
                        continue
                    file.seek(load.offset + chance.randrange(load.filesz // 8) * 8)
                    file.write(struct.pack("<Q", chance.getrandbits(chance.choice((8, 32, 64)))))
            with self.subTest(seed):
                self.check(
                    path, "dumpheap -stat", "verifyheap", "info", f"dumpobj {LEAKED}", "eeheap"
                )

    def test_other_files(self) -> None:
        cases: list[tuple[bytes, str]] = []
        head = bytearray(unpacked().read_bytes()[:4096])
        machine = bytearray(head)
        struct.pack_into("<H", machine, 18, 243)
        cases.append((bytes(machine), "RISC-V"))
        small = bytearray(head)
        small[4] = 1
        cases.append((bytes(small), "32"))
        big = bytearray(head)
        big[5] = 2
        struct.pack_into(">H", big, 16, 4)
        cases.append((bytes(big), "endian"))
        program = bytearray(head)
        struct.pack_into("<H", program, 16, 3)
        cases.append((bytes(program), "core"))
        for i, (data, pattern) in enumerate(cases):
            path = Path(folder.name) / f"other{i}"
            path.write_bytes(data)
            result = run(str(path), "info")
            self.assertEqual(result.status, 3)
            self.assertRegex(result.err, pattern)
            self.assertEqual(result.err.count("\n"), 1)

    def test_damaged_zst(self) -> None:
        data = bytearray(Path(LEAK).read_bytes())
        path = Path(folder.name) / "bad.core.zst"
        data[len(data) // 2] ^= 0xFF
        path.write_bytes(data)
        self.check(path, "dumpheap -stat")
        path.write_bytes(data[: len(data) // 3])
        self.check(path, "dumpheap -stat", "info")


if __name__ == "__main__":
    unittest.main(verbosity=2)
