#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cores and processes in the shell: every command's document, bad cores, files that core lacks."""
from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any, NamedTuple

SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
PROGRAM = str(BUILD / "heapdump")
LEAK = str(SOURCE / "corefiles" / "leak.core.zst")
BUBBLECS = str(SOURCE / "corefiles" / "bubblecs.heap")
TIMEOUT = 120
PT_LOAD = 1
# Of the committed core: see corefiles/leak.truth.json.
TRUTH = json.loads((SOURCE / "corefiles" / "leak.truth.json").read_text(encoding="utf-8"))
ADDRESSES = {entry["name"]: entry["address"] for entry in TRUTH["objects"]}
LEAKED = ADDRESSES["leaked"]
OPEN = TRUTH["open_sessions"]
SESSION_MT = "7f0f79550c38"
STRING = "7f039fe5a1b8"
ARRAY = "7f039fe5a1f0"
DELEGATE = "7f039fe5a248"
# In which a thread of corefiles/apps/facts caught an exception that it never leaves.
THROWING = "Facts.Threads.Body(System.Object)"
# The members that every answer of a command has, beside schema, command and target.
MEMBERS: dict[str, set[str]] = {
    "eeheap -gc": {"heaps", "total"},
    "balance": {"heaps"},
    f"gcwhere {LEAKED}": {"address", "heap", "segment", "generation"},
    f"listnearobj {LEAKED}": {"before", "current", "next", "consistent"},
    "clrthreads": {"threads"},
    "verifyheap": {"objects", "findings"},
    f"verifyobj {LEAKED}": {"findings"},
    f"dumparray {ARRAY}": {"address", "type", "lengths", "elements"},
    f"dumpmt {SESSION_MT}": {
        *("mt", "name", "base_size", "component_size", "flags", "module", "token", "parent"),
    },
    f"dumpclass {SESSION_MT}": {"mt", "fields"},
    "dumpvc 7f0f79550a08 7f039fe5a188": {"fields"},
    f"dumpdelegate {DELEGATE}": {"address", "type", "invocations"},
    "strings -limit 3": {"strings"},
    "syncblk": {"blocks"},
    "printexception": {"exceptions"},
    "gchandles": {"handles"},
    "finalizequeue": {"heaps"},
    "clrstack": {"threads"},
    "dumpgen gen2": {"types", "total"},
    "gcheapstat": {"heaps"},
    "ephrefs": {"objects"},
    "ephtoloh": {"to_large", "from_large", "through_large"},
}
ALSO: dict[str, set[str]] = {
    "info": {
        *("kind", "runtime", "walkable", "objects", "bytes", "types", "roots", "missing"),
        *("findings", "free", "core", "pid", "threads"),
    },
    "dumpheap -stat": {"types", "total"},
    f"dumpobj {LEAKED}": {"address", "mt", "type", "size", "fields", "references"},
    f"dumpobj {STRING}": {"address", "string"},
    f"objsize {LEAKED}": {"object", "count", "size"},
    "types": {"types"},
    "info -layout": {"layout"},
    "notreachableinrange 7f039d800000 7f039d900000": {"objects"},
    f"gcroot {LEAKED}": {"object", "reachable", "found", "truncated", "roots"},
    "gcroot -type WebShop.Session": {"count", "size", "found", "truncated", "branches"},
    f"retained {LEAKED}": {"object", "alive", "count", "size", "dominator"},
    "dominators -top 3": {"nodes"},
    "roots": {"roots", "found"},
    "roots -stat": {"kinds", "found"},
}
folder = tempfile.TemporaryDirectory(prefix="heapdump-targets-")


class Result(NamedTuple):
    """What a run of the program gave."""

    status: int
    out: str
    err: str

    def json(self) -> Any:
        """The one document."""
        return json.loads(self.out)


def run(*words: str, text: str = "") -> Result:
    """Run the program."""
    done = subprocess.run(
        [PROGRAM, *words],
        input=text,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=TIMEOUT,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def unpacked() -> Path:
    """The committed core as a plain file, made once."""
    path = Path(folder.name) / "leak.core"
    if not path.exists():
        subprocess.run(["zstd", "-q", "-d", LEAK, "-o", str(path)], check=True)
    return path


class Load(NamedTuple):
    """A PT_LOAD and where its header stands."""

    header: int
    offset: int
    address: int
    filesz: int


def loads(path: Path) -> list[Load]:
    """The segments of a core."""
    with path.open("rb") as file:
        head = file.read(64)
        (phoff,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        file.seek(phoff)
        data = file.read(size * count)
    found = []
    for i in range(count):
        kind, _, offset, address, _, filesz = struct.unpack_from("<IIQQQQ", data, i * size)
        if kind == PT_LOAD:
            found.append(Load(phoff + i * size, offset, address, filesz))
    return found


def exported_roots(answer: Any) -> set[tuple[Any, ...]]:
    """The roots of a gcroot, as far as the text format can say."""
    found: set[tuple[Any, ...]] = set()
    for root in answer["roots"]:
        kind = "static" if root["kind"] == "thread-static" else root["kind"]
        path = tuple(element["address"] for element in root["path"])
        container = (root["container"] or {}).get("mt")
        found.add((kind, tuple(root["flags"]), container, root["object"], root["weak"], path))
    return found


class Json(unittest.TestCase):
    """Every command's document."""

    def check(self, line: str, members: set[str]) -> None:
        """Run LINE with --json."""
        result = run("--no-files", LEAK, *line.split(), "--json")
        self.assertIn(result.status, (0, 1), (line, result))
        document = result.json()
        self.assertEqual(document["schema"], 1)
        self.assertEqual(document["command"], line.split()[0])
        self.assertEqual(document["target"], LEAK)
        self.assertLessEqual(members, document.keys(), line)
        self.assertEqual(result.out.count("\n"), 1, "one document on one line")

    def test_every_command(self) -> None:
        for line, members in (MEMBERS | ALSO).items():
            with self.subTest(line):
                self.check(line, members)

    def test_a_dump_file_has_no_heap(self) -> None:
        for line in MEMBERS:
            with self.subTest(line):
                result = run(BUBBLECS, *line.split(), "--json")
                self.assertEqual(result.status, 3)
                self.assertEqual(result.json()["error"]["status"], "unsupported")


class Truth(unittest.TestCase):
    """What the program said about itself before it was dumped."""

    def test_arity_in_a_type(self) -> None:
        rows = run("--no-files", LEAK, "dumpheap", "-stat", "--json").json()["types"]
        names = {row["name"] for row in rows if "Dictionary<" in row["name"]}
        command = ("dumpheap", "-stat", "-type", "Dictionary`2", "--json")
        got = {row["name"] for row in run("--no-files", LEAK, *command).json()["types"]}
        self.assertEqual(got, names)
        self.assertGreater(len(got), 1)

    def test_no_thread_has_thrown(self) -> None:
        result = run("--no-files", LEAK, "printexception")
        self.assertEqual(result.status, 0, result.err)
        self.assertIn("No managed thread", result.out)
        document = run("--no-files", LEAK, "pe", "--json").json()
        self.assertEqual(document["exceptions"], [])

    def test_counts(self) -> None:
        types = run("--no-files", LEAK, "dumpheap", "-stat", "--json").json()["types"]
        counts = {row["name"]: row["count"] for row in types}
        for name, count in TRUTH["counts"].items():
            self.assertEqual(counts[name], count)

    def test_objects(self) -> None:
        for entry in TRUTH["objects"]:
            document = run("--no-files", LEAK, "dumpobj", entry["address"], "--json").json()
            self.assertEqual(document["type"], entry["type"])

    def test_what_keeps_sessions(self) -> None:
        leaked = run("--no-files", LEAK, "gcroot", LEAKED, "--json").json()["roots"]
        self.assertEqual([root["kind"] for root in leaked], ["static"])
        path = leaked[0]["path"]
        self.assertEqual(path[0]["address"], ADDRESSES["feed"])
        self.assertEqual(path[0]["via"], ".Changed")
        self.assertEqual(path[-1], path[-1] | {"address": LEAKED, "via": None})
        opened = run("--no-files", LEAK, "gcroot", ADDRESSES["open"], "--json").json()["roots"]
        names = {root["name"] for root in opened}
        self.assertLess({leaked[0]["name"]}, names)
        self.assertTrue(all(name.startswith("WebShop.") for name in names))
        command = ("gcroot", "-mt", SESSION_MT, "--json")
        branches = run("--no-files", LEAK, *command).json()["branches"]
        kept = {branch["name"]: branch["count"] for branch in branches if not branch["depth"]}
        self.assertEqual(kept[leaked[0]["name"]], TRUTH["counts"]["WebShop.Session"] - OPEN)
        self.assertEqual(sum(kept.values()), TRUTH["counts"]["WebShop.Session"])

    def test_an_export_has_the_same_roots(self) -> None:
        path = Path(folder.name) / "roots.heap"
        run("--no-files", LEAK, "export", str(path))
        lines = path.read_text(encoding="utf-8").splitlines()
        ids = [line.split()[1] for line in lines if line.startswith("o ")]
        picked = random.Random(5).sample(ids, 200)
        script = "".join(f"gcroot {id} -full -limit 0 --json\n" for id in picked)
        both = [run(*words, text=script) for words in (("--no-files", LEAK), (str(path),))]
        for ours, copy in zip(*(result.out.splitlines() for result in both), strict=True):
            self.assertEqual(exported_roots(json.loads(ours)), exported_roots(json.loads(copy)))

    def test_export_holds_every_object(self) -> None:
        path = Path(folder.name) / "leak.heap"
        done = run("--no-files", LEAK, "export", str(path), "--json").json()
        info = run("--no-files", LEAK, "info", "--json").json()
        copy = run(str(path), "info", "--json").json()
        self.assertEqual(done["objects"], info["objects"])
        for key in ("objects", "bytes"):
            self.assertEqual(copy[key], info[key], key)
        # Those that only have static variables are written too.
        self.assertGreaterEqual(copy["types"], info["types"])
        command = ("objsize", LEAKED, "-stat", "--json")
        both = [run(target, *command).json() for target in (LEAK, str(path))]
        self.assertEqual(both[0]["count"], both[1]["count"])
        self.assertEqual(both[0]["size"], both[1]["size"])
        again = Path(folder.name) / "again.heap"
        run("--no-files", LEAK, "export", str(again))
        self.assertEqual(path.read_bytes(), again.read_bytes())

    def test_plain_and_packed_are_the_same(self) -> None:
        both = [run("--no-files", t, "dumpheap", "-stat") for t in (LEAK, str(unpacked()))]
        self.assertEqual(both[0].out, both[1].out)

    def test_workers_make_no_difference(self) -> None:
        one, four = (
            run("--no-files", LEAK, "dumpheap", "-stat", "--workers", n).out for n in ("1", "4")
        )
        self.assertEqual(one, four)


def poke(path: Path, address: int, data: bytes) -> None:
    """Write DATA over what a core has at ADDRESS."""
    for load in loads(path):
        if load.address <= address < load.address + load.filesz:
            with path.open("r+b") as file:
                file.seek(load.offset + address - load.address)
                file.write(data)
            return
    raise AssertionError(f"{address:x} is not in the core")


def leave_out(path: Path, address: int) -> None:
    """Make a core lack the bytes of the segment at ADDRESS."""
    for load in loads(path):
        if load.address <= address < load.address + load.filesz:
            with path.open("r+b") as file:
                file.seek(load.header + 32)
                file.write(struct.pack("<Q", 0))


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

    def test_options_before_the_command(self) -> None:
        result = run(LEAK, "--workers", "1", "info")
        self.assertEqual(result.status, 2)
        self.assertIn("behind the command", result.err)


class Incomplete(unittest.TestCase):
    """What no root is found for is called dead only where nothing is known to be missing."""

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
            self.assertIn("it need not be dead", result.out, line)
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
        self.assertIn("not reached need not be dead", tree)

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
        self.assertIn("max-mem allows 1 KB", result.err)
        self.assertNotIn("0 MB", result.err)


class Caught(unittest.TestCase):
    """Cores that scripts/make_corefiles.sh makes: mid-GC, and without a heap."""

    def core(self, name: str) -> str:
        """Its path, if it is there."""
        path = SOURCE / "corefiles" / "build" / f"{name}.core"
        if not path.exists():
            self.skipTest(f"no {path}: scripts/make_corefiles.sh makes it")
        return str(path)

    def test_mid_gc(self) -> None:
        core = self.core("churn10-9")
        info = run(core, "info", "--json").json()
        self.assertTrue(info["runtime"]["gc_in_progress"])
        self.assertFalse(info["walkable"])
        dead = run(core, "dumpheap", "-type", "Churn.Item", "-dead", "-limit", "1", "--json").json()
        self.assertFalse(dead["complete"])
        address = dead["objects"][0]["address"]
        result = run(core, "gcroot", address)
        self.assertIn("garbage collection was moving objects", result.out)
        self.assertNotIn("it is dead", result.out)
        # The number of gaps is that of a walk of the same segments.
        (gaps,) = re.findall(r"([\d,]+) stretches", run(core, "dumpheap", "-stat").err)
        self.assertIn(f"{gaps} stretches of the heap could not be walked", result.out)

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
    """What comes from module files, and what does not fit into memory."""

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
        struct.pack_into("<H", machine, 18, 183)
        cases.append((bytes(machine), "ARM64"))
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


class Processes(unittest.TestCase):
    """heapdump PID."""

    def test_no_such_process(self) -> None:
        result = run("4194305", "info")
        self.assertEqual(result.status, 3)
        self.assertRegex(result.err, "no process|no such")

    def test_a_file_wins_over_a_pid(self) -> None:
        with tempfile.TemporaryDirectory() as where:
            shutil.copy(BUBBLECS, Path(where) / "1")
            done = subprocess.run(
                [PROGRAM, "1", "info", "--json"], cwd=where, capture_output=True, check=True
            )
            self.assertEqual(json.loads(done.stdout)["kind"], "rpm")

    def test_no_runtime(self) -> None:
        with subprocess.Popen(["sleep", "60"]) as process:
            try:
                time.sleep(0.2)
                result = run(str(process.pid), "dumpheap", "-stat")
                if "refused" in result.err:
                    print("skipped: this machine refuses ptrace", file=sys.stderr)
                    return
                self.assertEqual(result.status, 3)
                self.assertIn("no CoreCLR here", result.err)
                self.assertRegex(result.err, r"stood still for [0-9.]+ ms")
                info = run(str(process.pid), "info", "--json").json()
                self.assertEqual(info["kind"], "process")
                self.assertIsNone(info["runtime"])
                self.assertIn("no-runtime", [row["kind"] for row in info["findings"]])
                self.assertIsNone(process.poll(), "it runs on")
            finally:
                process.kill()


class Program(NamedTuple):
    """A .NET program that has said that it is ready."""

    process: subprocess.Popen[bytes]

    @property
    def pid(self) -> str:
        """What to open."""
        return str(self.process.pid)

    def memory(self, address: int, size: int) -> bytes:
        """What it has at ADDRESS."""
        with open(f"/proc/{self.pid}/mem", "rb", buffering=0) as file:
            file.seek(address)
            return file.read(size)

    def words(self, address: int, count: int) -> tuple[int, ...]:
        """Words at ADDRESS."""
        return struct.unpack(f"<{count}Q", self.memory(address, 8 * count))

    def collecting(self) -> int:
        """Address of gc_structures_invalid_cnt: by g_dacTable and GcDacVars (gcinterface.dac.h)."""
        maps = Path(f"/proc/{self.pid}/maps").read_text(encoding="utf-8").splitlines()
        line = next(line for line in maps if line.endswith("/libcoreclr.so"))
        base, path = int(line.split("-")[0], 16), line.split()[-1]
        names = subprocess.run(["nm", "-D", path], capture_output=True, text=True, check=True)
        symbol = next(n for n in names.stdout.splitlines() if " g_dacTable" in n)
        for variable in self.words(base + int(symbol.split()[0], 16), 60):
            try:
                vars_at = self.words(variable, 1)[0]
                fields = self.words(vars_at, 25)
            except (OSError, OverflowError, struct.error):
                continue
            if fields[2] == 5 and 64 <= fields[1] <= 4096 and fields[0] & 0xFF == 2:
                return fields[24]
        raise AssertionError("no GcDacVars")

    def collect(self, count: int) -> None:
        """Let it look as if a GC was moving objects, or not."""
        with open(f"/proc/{self.pid}/mem", "r+b", buffering=0) as file:
            file.seek(self.collecting())
            file.write(struct.pack("<i", count))


class Collecting(unittest.TestCase):
    """A process that is stopped while a GC is in the act."""

    def start(self, name: str) -> Program:
        """Start a program of corefiles/apps; it ends with the test."""
        path = SOURCE / "corefiles" / "build" / "apps" / f"{name}-net10.0" / f"{name}.dll"
        dotnet = shutil.which("dotnet")
        if not dotnet or not path.exists() or not shutil.which("nm"):
            self.skipTest(f"no dotnet and nm to run {path}")
        # pylint: disable-next=consider-using-with
        process = subprocess.Popen([dotnet, str(path)], stdout=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        assert process.stdout
        self.addCleanup(process.stdout.close)
        for line in process.stdout:
            if line == b"READY\n":
                break
        if "refused" in run(str(process.pid), "info").err:
            self.skipTest("this machine refuses ptrace")
        return Program(process)

    def test_stops_again(self) -> None:
        program = self.start("churn")
        runs = [run(program.pid, "info", "--json").json() for _ in range(8)]
        caught = [document for document in runs if document["runtime"]["gc_in_progress"]]
        self.assertLess(len(caught), 4)
        self.assertGreater(max(document["stops"] for document in runs), 1)
        for document in caught:
            details = [row["detail"] for row in document["findings"]]
            self.assertIn(f"each of the {document['stops']} times", " ".join(details))

    def test_settles(self) -> None:
        program = self.start("facts")
        quiet = run(program.pid, "info", "--json").json()
        self.assertEqual(quiet["stops"], 1)
        program.collect(1)
        document = run(program.pid, "info", "--json").json()
        self.assertTrue(document["runtime"]["gc_in_progress"])
        self.assertGreater(document["stops"], 5)
        (finding,) = [row for row in document["findings"] if row["kind"] == "gc-in-progress"]
        self.assertIn(f"each of the {document['stops']} times", finding["detail"])
        clear = threading.Timer(0.3, program.collect, [0])
        clear.start()
        document = run(program.pid, "info", "--json").json()
        clear.join()
        self.assertFalse(document["runtime"]["gc_in_progress"])
        self.assertEqual(document["objects"], quiet["objects"])

    def test_waits_for_a_long_collection(self) -> None:
        program = self.start("facts")
        program.collect(1)
        clear = threading.Timer(2, program.collect, [0])
        clear.start()
        document = run(program.pid, "info", "--json").json()
        clear.join()
        self.assertFalse(document["runtime"]["gc_in_progress"])
        self.assertGreater(document["stops"], 10)

    def test_is_interrupted(self) -> None:
        program = self.start("facts")
        program.collect(1)
        with subprocess.Popen(
            [PROGRAM, program.pid, "info"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, 130)
        program.collect(0)
        self.assertFalse(run(program.pid, "info", "--json").json()["runtime"]["gc_in_progress"])


class Facts(unittest.TestCase):
    """What a core of corefiles/apps/facts says: as the program did."""

    def setUp(self) -> None:
        self.core = SOURCE / "corefiles" / "build" / "wks10-full.core"
        if not self.core.exists():
            self.skipTest(f"no {self.core}: scripts/make_corefiles.sh makes it")
        truth = self.core.with_suffix(".truth.json").read_text(encoding="utf-8")
        self.threads = {row["state"]: row for row in json.loads(truth)["threads"]}

    def last_thrown(self, core: Path) -> None:
        """The one that a thread is handling: in its Thread, and called so among the roots."""
        truth = json.loads(core.with_suffix(".truth.json").read_text(encoding="utf-8"))
        (catching,) = [row["os_id"] for row in truth["threads"] if row["state"] == "in-catch"]
        rows = run(str(core), "clrthreads", "--json").json()["threads"]
        thrown = [row for row in rows if row["exception"] != "0x0"]
        self.assertEqual([row["os_id"] for row in thrown], [catching])
        self.assertEqual(thrown[0]["exception_type"], "System.InvalidOperationException")
        (shown,) = run(str(core), "printexception", "--json").json()["exceptions"]
        self.assertEqual((shown["os_id"], shown["address"]), (catching, thrown[0]["exception"]))
        self.assertEqual(shown["message"], "caught, never left")
        (frame,) = shown["stack"]
        self.assertEqual((frame["module"], frame["method"]), ("facts.dll", THROWING))
        text = run(str(core), "pe", "-nested").out
        self.assertIn(f'Thread {catching:x} (managed 10) "worker 4":\n', text)
        self.assertIn(f" facts.dll!{THROWING}+0x{frame['offset']:x}\n", text)
        names: dict[str, list[str]] = {}
        for root in run(str(core), "roots", "-kind", "internal", "--json").json()["roots"]:
            names.setdefault(root["name"], []).append(root["object"])
        self.assertEqual(set(names["last thrown exception"]), {shown["address"]})
        objects = {row["address"] for row in truth["objects"] if "Threading.Thread" in row["type"]}
        self.assertGreater(len(objects & set(names["Thread object"])), 5)

    def first_link(self, core: Path, address: str) -> str:
        """The array that a strong handle holds, and what leads from there to an object."""
        roots = run(str(core), "gcroot", address, "--json").json()["roots"]
        (path,) = [root["path"] for root in roots if root["handle"] == "strong"]
        return str(path[0]["type"] + path[0]["via"])

    def test_what_the_runtime_keeps(self) -> None:
        """The table of string.Intern(), and the objects of assemblies."""
        for name in ("wks10-full", "wks9-full", "wks8-full"):
            core = self.core.with_name(f"{name}.core")
            if not core.exists():
                continue
            with self.subTest(name):
                truth = json.loads(core.with_suffix(".truth.json").read_text(encoding="utf-8"))
                objects = {row["name"]: row["address"] for row in truth["objects"]}
                link = self.first_link(core, objects["string.interned"])
                self.assertRegex(link, r"^System\.Object\[\]\[\d+\] \(interned string\)$")
                listed = run(str(core), "dumpheap", "-short", "-type", "RuntimeAssembly").out
                links = [run(str(core), "gcroot", address).out for address in listed.split()[:20]]
                self.assertTrue(
                    any("[] [" in text and "(exposed assembly)\n" in text for text in links)
                )

    def test_last_thrown_exceptions(self) -> None:
        for name in ("wks10-full", "wks9-full", "wks8-full"):
            core = self.core.with_name(f"{name}.core")
            if core.exists():
                with self.subTest(name):
                    self.last_thrown(core)
        rows = run(str(self.core), "clrthreads", "--json").json()["threads"]
        self.assertEqual([row["finalizer"] for row in rows].count(True), 1)
        text = run(str(self.core), "clrthreads").out
        self.assertIn(" -00001 Ukn System.InvalidOperationException 0000", text)
        self.assertEqual(text.count("(Finalizer)"), 1)

    def test_monitors_are_the_same_in_json(self) -> None:
        for words in ((), ("-all",)):
            text = run(str(self.core), "syncblk", *words).out
            rows = run(str(self.core), "syncblk", *words, "--json").json()["blocks"]
            self.assertEqual(len(text.split("---")[0].splitlines()) - 1, len(rows), words)


if __name__ == "__main__":
    try:
        unittest.main(verbosity=2)
    finally:
        folder.cleanup()
