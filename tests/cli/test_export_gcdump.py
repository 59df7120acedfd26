#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that "export" writes as .gcdump, read back by a reader that knows the format alone."""
from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from typing import Any

SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
sys.path.insert(0, str(SOURCE / "tests" / "support"))

import gcdump_file  # noqa: E402  pylint: disable=wrong-import-position
from gcdump_file import Dump, Node  # noqa: E402  pylint: disable=wrong-import-position

PROGRAM = str(BUILD / "heapdump")
LEAK = str(SOURCE / "corefiles" / "leak.core.zst")
BUBBLECS = str(SOURCE / "corefiles" / "bubblecs.heap")
DATA = SOURCE / "tests" / "data"
TRUTH = json.loads((SOURCE / "corefiles" / "leak.truth.json").read_text(encoding="utf-8"))
INT_MAX = 2147483647
folder = tempfile.TemporaryDirectory(prefix="heapdump-gcdump-")
FOLDER = Path(folder.name)


def run(*words: str, status: int = 0) -> str:
    """Run the program; its output."""
    done = subprocess.run(
        [PROGRAM, *words], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stdout if status == 0 else done.stderr


def answer(*words: str) -> Any:
    """The document of a command."""
    return json.loads(run("--json", *words))


def export(source: str, name: str, *words: str) -> tuple[Dump, Path]:
    """Write a file and read it."""
    path = FOLDER / name
    run(source, "export", *words, str(path))
    return gcdump_file.read(path.read_bytes()), path


class Log:
    """The same graph as the text log has it, which has its own writer."""

    def __init__(self, source: str, name: str) -> None:
        path = FOLDER / name
        run(source, "export", "-format", "rpm", str(path))
        self.types: dict[int, str] = {}
        self.objects: dict[int, tuple[int, int, list[int]]] = {}
        self.roots: list[tuple[int, int, int]] = []
        for line in path.read_text("utf-8", "replace").split("\n"):
            words = line.split(" ")
            if words[0] == "t":
                self.types[int(words[1], 16)] = " ".join(words[2:])
            elif words[0] == "o":
                mt, size, *to = (int(word, 16) for word in words[2:])
                self.objects[int(words[1], 16)] = (mt, size, to)
            elif words[0] == "r":
                node, kind, flags = (int(word, 16) for word in words[1:4])
                self.roots.append((node, kind, flags))

    def strong(self, *kinds: int) -> Counter[int]:
        """Objects of the strong roots of some kinds."""
        return Counter(node for node, kind, flags in self.roots if kind in kinds and not flags & 2)

    def alive(self) -> set[int]:
        """The objects that strong roots reach."""
        left = [node for node, _, flags in self.roots if not flags & 2]
        found = set(left)
        while left:
            for to in self.objects.get(left.pop(), (0, 0, []))[2]:
                if to not in found:
                    found.add(to)
                    left.append(to)
        return found


def pseudo(dump: Dump) -> dict[str, list[int]]:
    """Pseudo-nodes by path, and the objects that they have as children."""
    found: dict[str, list[int]] = {}
    left = [(dump.root, "")]
    while left:
        node, before = left.pop()
        path = f"{before}/{dump.name(node)}" if before else str(dump.name(node))
        row = found.setdefault(path, [])
        for child in dump.nodes[node].children:
            if dump.nodes[child].address:
                row.append(dump.nodes[child].address)
            else:
                left.append((child, path))
    return found


def suffix(size: int) -> str:
    """The end of the name of a large object's type."""
    names = {
        10**8: "100M",
        10**7: "10M",
        10**6: "1M",
        10**5: "100K",
        10**4: "10K",
        1001: "1K",
    }
    return next((f" (Bytes > {name})" for least, name in names.items() if size >= least), "")


def objects(dump: Dump) -> dict[int, tuple[str | None, int, list[int]]]:
    """Objects by address: name of the type, size, addresses of what it refers to."""
    return {
        node.address: (
            dump.types[node.type][0],
            node.size,
            [dump.nodes[child].address for child in node.children],
        )
        for node in dump.nodes
        if node.address and not node.undefined
    }


def made(seed: int, count: int) -> Dump:
    """A graph with every kind of text and number."""
    rand = random.Random(seed)
    sizes = [0, 1, 63, 64, 8191, 8192, (1 << 20) - 1, 1 << 20, (1 << 27) - 1, 1 << 27, INT_MAX]
    dump = Dump()
    dump.types = [
        ("UNDEFINED", 0, None),
        ("[root]", -1, None),
        ("A", -1, "/x/a.dll"),
        ("Ns.\u00e9\u6587<T>", -1, ""),
        ("smile \U0001f600 \ud83d", -1, None),
        ("Big", -1, "C:\\m\\b.dll"),
        ("", -1, None),
        ("never", -1, None),
    ]
    for i in range(count):
        degree = rand.choice([0, 0, 1, 2, 5, 70]) if i else 40
        children = [rand.randrange(count) for _ in range(degree)]
        address = rand.choice([0x1000, 0x7F0000000000, 0xFFFFFFFF00000000]) + 8 * i if i else 0
        kind = rand.randrange(2, 7) if i else 1
        dump.nodes.append(Node(kind, rand.choice(sizes) if i else 0, children, address))
    dump.order = list(range(count))
    dump.total = sum(node.size for node in dump.nodes)
    return dump


def segment(start: int, end: int, generation: int) -> dict[str, int]:
    """A region."""
    row = dict.fromkeys(gcdump_file.SEGMENT, 0)
    row.update({"start": start, "end": end, f"gen{generation}": end})
    return row


def variants() -> dict[str, Dump]:
    """Files of every feature."""
    found = {"plain": made(1, 300), "large": made(2, 5000), "shuffled": made(3, 400)}
    random.Random(4).shuffle(found["shuffled"].order)
    undefined = found["undefined"] = made(5, 300)
    for index in undefined.order[250:]:
        undefined.nodes[index] = Node(0, 0, [], undefined.nodes[index].address, True)
    undefined.order = undefined.order[:250]
    undefined.total = sum(node.size for node in undefined.nodes)
    found["32bit"] = made(6, 100)
    found["32bit"].is_64 = 0
    for node in found["32bit"].nodes:
        node.address &= 0xFFFFFFFF
    found["no64"] = made(7, 100)
    found["no64"].is_64 = None
    found["notool"] = made(8, 100)
    found["notool"].tool = None
    meta = found["meta"] = made(9, 100)
    meta.log, meta.machine, meta.process = "line 1\r\nline \u00fc\n", "host", "app"
    meta.time, meta.pid, meta.commit, meta.working_set = 638 * 10**15, 4242, 1 << 33, 1 << 32
    meta.multipliers, meta.average, meta.segment_bytes = [1.0, 2.5], (3.0, 4.5), 1 << 34
    meta.segments = [
        segment(0x1000, 0x2000, 0),
        segment(0x9000, 0xA000, 4),
        segment(0x7F0000000000, 0x7F0000010000, 2),
    ]
    deferred = found["deferred"] = made(10, 40)
    name, size, _ = deferred.types[5]
    deferred.types[5] = (None, size, None)
    module = ("C:\\app\\n.dll", 0x180000000)
    deferred.deferred = [(0, None, None)] * 5
    deferred.deferred += [(0x1234, module, None), (0x5678, module, " (static var)")]
    assert name
    empty = found["empty"] = Dump()
    empty.types = [("UNDEFINED", 0, None), ("[.NET Roots]", -1, None)]
    empty.nodes, empty.order = [Node(1, 0, [])], [0]
    return found


class Copies(unittest.TestCase):
    """A .gcdump exported as one is the same file."""

    def check(self, name: str, data: bytes, expected: bytes) -> None:
        """Export a file of these bytes."""
        source, path = FOLDER / f"{name}.in.gcdump", FOLDER / f"{name}.out.gcdump"
        source.write_bytes(data)
        run(str(source), "export", str(path))
        self.assertEqual(path.read_bytes() == expected, True, name)

    def test_files_of_every_feature(self) -> None:
        """Files that the writer here makes."""
        for name, dump in variants().items():
            data = gcdump_file.write(dump)
            self.check(name, data, data)
            self.check(name, data[:-8], data)

    def test_files_of_dotnet_gcdump(self) -> None:
        """Real ones."""
        for name in ("small300", "small1000"):
            data = (DATA / f"{name}.gcdump").read_bytes()
            self.check(name, data, data)

    def test_the_reader_here_agrees(self) -> None:
        """Both halves of the module that the other tests rely on, and it reads real files."""
        for name, dump in variants().items():
            data = gcdump_file.write(dump)
            if name != "deferred":
                again = gcdump_file.read(data)
                self.assertEqual(gcdump_file.write(again), data, name)
        for name in ("small300", "small1000"):
            data = (DATA / f"{name}.gcdump").read_bytes()
            expected = json.loads((DATA / f"{name}.gcdump.expected.json").read_text("utf-8"))
            dump = gcdump_file.read(data)
            self.assertEqual(len(dump.nodes), expected["nodes"])
            self.assertEqual(sum(len(node.children) for node in dump.nodes), expected["edges"])
            self.assertEqual(gcdump_file.write(dump), data, name)

    def test_a_trace_becomes_what_dotnet_gcdump_makes_of_it(self) -> None:
        """The trace and the file of one snapshot."""
        trace = DATA / "small300.nettrace"
        if not trace.exists():
            self.skipTest("no trace")
        path = FOLDER / "trace.gcdump"
        for words in (
            ["--exact", str(trace), "export", str(path)],
            [str(trace), "export", "--exact", str(path)],
            [str(trace), "export", str(path), "--exact"],
        ):
            run(*words)
            self.assertEqual(path.read_bytes() == (DATA / "small300.gcdump").read_bytes(), True)
            path.unlink()
        lines = f"open --exact {trace}\nexport {path}\n"
        subprocess.run([PROGRAM, BUBBLECS], input=lines, text=True, capture_output=True, check=True)
        self.assertEqual(path.read_bytes() == (DATA / "small300.gcdump").read_bytes(), True)

    def test_large_objects_have_types_of_their_own(self) -> None:
        """As in the file of dotnet-gcdump, and reading the file again gives the types of the trace."""
        trace, theirs = str(DATA / "small300.nettrace"), gcdump_file.read(
            (DATA / "small300.gcdump").read_bytes()
        )
        ours, path = export(trace, "large.gcdump")
        self.assertEqual(ours.total, theirs.total)
        rows: list[dict[int, tuple[int, str, str | None]]] = [{}, {}]
        for dump, row in zip((ours, theirs), rows):
            for node in dump.nodes:
                name, _, module = dump.types[node.type]
                end = re.search(r" \(Bytes > \d+[KM]\)$|$", name or "")
                assert end
                row[node.address] = (node.size, end.group(), module)
            del row[0]
        self.assertEqual(rows[0], rows[1])
        self.assertIn(" (Bytes > 1K)", [end for _, end, _ in rows[0].values()])
        types = [
            sorted((row["name"], row["count"], row["size"]) for row in answer(*words)["types"])
            for words in ((trace, "dumpheap", "-stat"), (str(path), "dumpheap", "-stat"))
        ]
        self.assertEqual(types[0], types[1])


class OfACore(unittest.TestCase):
    """The committed core."""

    dump: Dump
    path: Path
    log: Log

    @classmethod
    def setUpClass(cls) -> None:
        cls.dump, cls.path = export(LEAK, "leak.gcdump")
        cls.log = Log(LEAK, "leak.heap")

    def test_every_object_is_there(self) -> None:
        """Addresses, types, sizes, references: as in the text log."""
        types = self.log.types
        expected = {
            address: (types[mt] + suffix(size), size, to)
            for address, (mt, size, to) in self.log.objects.items()
        }
        self.assertEqual(objects(self.dump) == expected, True)
        self.assertEqual(self.dump.total, sum(size for _, size, _ in self.log.objects.values()))
        found = answer(LEAK, "dumpheap", "-stat")["types"]
        counts = [row["count"] for row in found if row["name"] != "Free"]
        self.assertEqual(len(expected), sum(counts))

    def test_the_program_counted_its_objects_itself(self) -> None:
        """The program leak counts its own heap."""
        counts = Counter(self.dump.name(i) for i in range(len(self.dump.nodes)))
        for name, count in TRUTH["counts"].items():
            self.assertEqual(counts[name], count, name)
        names = {node.address: self.dump.types[node.type][0] for node in self.dump.nodes}
        for row in TRUTH["objects"]:
            self.assertEqual(names[int(row["address"], 16)], row["type"])

    def test_the_roots_are_in_the_tree_of_dotnet_gcdump(self) -> None:
        """Paths and what lies below them, against the text log's roots."""
        paths = pseudo(self.dump)
        self.assertEqual(self.dump.root, 0)
        self.assertEqual(self.dump.name(0), "[.NET Roots]")
        statics = Counter[int]()
        for path, row in paths.items():
            if "/[static var " in path:
                statics.update(row)
                self.assertIn(path.split("/")[1], ("[static vars]", "[thread static vars]"))
        self.assertEqual(statics, self.log.strong(4))
        feed = "[.NET Roots]/[static vars]/[static var WebShop.PriceFeed.Instance]"
        self.assertEqual(paths[feed], [int(TRUTH["objects"][0]["address"], 16)])
        self.assertEqual(Counter(paths["[.NET Roots]/[local vars]"]), self.log.strong(1))
        other = "[.NET Roots]/[other roots]/"
        self.assertEqual(Counter(paths[other + "[frozen objects]"]), self.log.strong(5))
        self.assertEqual(Counter(paths[other + "[internal]"]), self.log.strong(0))
        handles = Counter(paths[other + "[strong Handles]"] + paths[other + "[pinning Handles]"])
        self.assertEqual(handles, self.log.strong(3))

    def test_what_is_dead_is_there_and_says_so(self) -> None:
        """Or it is left out."""
        alive = self.log.alive()
        dead = set(self.log.objects) - alive
        self.assertTrue(dead)
        paths = pseudo(self.dump)
        self.assertEqual(sorted(paths["[.NET Roots]/[not reachable from roots]"]), sorted(dead))
        live, _ = export(LEAK, "live.gcdump", "-live")
        self.assertNotIn("[.NET Roots]/[not reachable from roots]", pseudo(live))
        kept = objects(live)
        self.assertEqual(set(kept), alive)
        whole = objects(self.dump)
        self.assertEqual(kept == {address: whole[address] for address in alive}, True)

    def test_the_live_ones_alone_in_every_format(self) -> None:
        log = Log(LEAK, "live_all.heap")
        alive = log.alive()
        references = sum(len(log.objects[address][2]) for address in alive)
        strong = [node for node, _, flags in log.roots if not flags & 2]
        kept_weak = [node for node, _, flags in log.roots if flags & 2 and node in alive]
        self.assertLess(len(alive), len(log.objects))
        for name, has_weak in (
            ("rpm", True),
            ("gcdump", False),
            ("heapsnapshot", True),
            ("hprof", False),
            ("folded", False),
            ("speedscope", False),
        ):
            path = str(FOLDER / f"live.{name}")
            told = answer(LEAK, "export", "-live", "-format", name, path)
            roots = len(strong) + (len(kept_weak) if has_weak else 0)
            self.assertEqual(
                (told["objects"], told["references"], told["roots"]),
                (len(alive), references, roots),
                name,
            )
        for name in ("rpm", "gcdump"):
            read = Log(str(FOLDER / f"live.{name}"), f"live_{name}.heap")
            self.assertEqual(set(read.objects), alive, name)
            self.assertEqual(sum(len(row[2]) for row in read.objects.values()), references)

    def test_the_name_of_the_file_says_the_format(self) -> None:
        for name, magic in (
            ("a.GCDUMP", b"\x14\0\0\0!FastSerialization.1"),
            ("a.heap", b"a 2 "),
            ("a", b"a 2 "),
        ):
            path = FOLDER / name
            run(BUBBLECS, "export", str(path))
            self.assertEqual(path.read_bytes()[: len(magic)], magic)
        told = run(BUBBLECS, "export", str(FOLDER / "a.nettrace"), status=2)
        self.assertIn("collect writes it", told)
        self.assertFalse((FOLDER / "a.nettrace").exists())
        path = FOLDER / "a.folded"
        run(BUBBLECS, "export", str(path))
        self.assertIn("only written, not read", run(str(path), "info", status=3))

    def test_the_process_is_told(self) -> None:
        """Name, id, tool, generations, modules; but no machine: that of the core is not known."""
        dump = self.dump
        self.assertEqual((dump.pid, dump.tool, dump.is_64), (TRUTH["pid"], "heapdump", 1))
        self.assertTrue(dump.process)
        self.assertEqual((dump.machine, dump.log), (None, None))
        modules = {name: module for name, _, module in dump.types}
        self.assertEqual(Path(str(modules["WebShop.Session"])).name, "leak.dll")
        self.assertEqual(Path(str(modules["System.String"])).name, "System.Private.CoreLib.dll")
        rows = answer(LEAK, "dumpheap", "-limit", "0")["objects"]
        names = {"0": 0, "1": 1, "2": 2, "loh": 3, "poh": 4}
        self.assertTrue(dump.segments)
        for row in rows[::50]:
            if row["free"]:
                continue
            address = int(row["address"], 16)
            found = [
                generation
                for item in dump.segments or []
                for generation in range(5)
                if item["start"] <= address < item[f"gen{generation}"]
            ]
            expected = names.get(row["generation"])
            self.assertEqual(found, [] if expected is None else [expected], row)

    def test_two_exports_are_the_same(self) -> None:
        """Byte for byte, in a time zone."""
        _, again = export(LEAK, "again.gcdump")
        self.assertEqual(again.read_bytes() == self.path.read_bytes(), True)

    def test_a_text_log_is_called_after_the_program(self) -> None:
        """The executable is dotnet."""
        there = FOLDER / "header.heap"
        run(LEAK, "export", str(there))
        with open(there, encoding="utf-8") as log:
            self.assertEqual(log.readline(), "a 2 leak 0\n")

    def test_the_time_is_that_of_the_core(self) -> None:
        """In .NET's ticks, local time."""
        path, there = FOLDER / "timed.core.zst", FOLDER / "timed.gcdump"
        path.write_bytes(Path(LEAK).read_bytes())
        os.utime(path, (1_700_000_000, 1_700_000_000))
        for zone, offset in (("UTC0", 0), ("XXX-02:30", 9000)):
            subprocess.run(
                [PROGRAM, str(path), "export", str(there)],
                env={**os.environ, "TZ": zone},
                capture_output=True,
                timeout=300,
                check=True,
            )
            dump = gcdump_file.read(there.read_bytes())
            seconds = 62135596800 + 1_700_000_000 + offset
            self.assertEqual(dump.time, seconds * 10**7)

    def test_commands_answer_the_same(self) -> None:
        """On the core, and on the file."""
        file = str(self.path)
        leaked = TRUTH["objects"][2]["address"]
        for words in ((leaked,), (TRUTH["objects"][0]["address"],)):
            core, dump = (answer(path, "retained", *words) for path in (LEAK, file))
            for key in ("alive", "count", "size", "dominator"):
                self.assertEqual(core[key], dump[key], key)
        statistics = []
        for path in (LEAK, file):
            rows = answer(path, "dumpheap", "-stat")["types"]
            statistics.append(Counter((row["name"], row["count"], row["size"]) for row in rows))
        extra = statistics[0] - statistics[1]
        self.assertEqual([name for name, _, _ in extra if name != "Free"], [])
        self.assertEqual(statistics[1] - statistics[0], Counter())
        chains = []
        for path in (LEAK, file):
            (root,) = answer(path, "gcroot", leaked)["roots"]
            chains.append((root["kind"], [item["address"] for item in root["path"]]))
        self.assertEqual(chains[0], chains[1])

    def test_generations_answer_the_same(self) -> None:
        """Also on a copy of the file."""
        copy = FOLDER / "copy.gcdump"
        run(str(self.path), "export", "-live", str(copy))
        self.assertEqual(gcdump_file.read(copy.read_bytes()).segments, self.dump.segments)
        total = 0
        for generation in ("0", "1", "2", "loh", "poh", "foh"):
            rows = [
                answer(path, "dumpheap", "-gen", generation, "-stat")["types"]
                for path in (LEAK, str(self.path))
            ]
            core, dump = (
                sorted((row["name"], row["count"], row["size"]) for row in part) for part in rows
            )
            self.assertEqual([row for row in core if row[0] != "Free"], dump, generation)
            total += sum(count for _, count, _ in dump)
        self.assertEqual(total, answer(str(self.path), "info")["objects"])
        young = answer(LEAK, "dumpheap", "-gen", "0", "-live", "-limit", "1")["objects"][0][
            "address"
        ]
        for path in (LEAK, str(copy)):
            self.assertTrue(answer(path, "gcroot", young, "-gcgen", "0")["reachable"])
        old = answer(LEAK, "dumpheap", "-gen", "2", "-limit", "1")["objects"][0]["address"]
        self.assertIn("does not touch it", run(str(self.path), "gcroot", old, "-gcgen", "1"))


class OfALog(unittest.TestCase):
    """A text log, and back to one."""

    def test_there_and_back(self) -> None:
        """Objects, references, roots: those of the log."""
        for name in (BUBBLECS, *(str(DATA / f"{n}.heap") for n in ("names", "kinds", "seed000"))):
            _, path = export(name, "log.gcdump")
            first, second = Log(name, "first.heap"), Log(str(path), "second.heap")
            self.assertEqual(set(first.objects), set(second.objects), name)
            for address, (mt, size, to) in first.objects.items():
                got = second.objects[address]
                expected = first.types.get(mt, f"UNKNOWN {mt:#x}")
                self.assertEqual((second.types[got[0]], got[1], got[2]), (expected, size, to))
            roots = []
            for file in (name, str(path)):
                rows = answer(file, "roots", "-limit", "0")["roots"]
                roots.append(
                    Counter((row["kind"], row["object"]) for row in rows if not row["weak"])
                )
            self.assertEqual(roots[0], roots[1], name)
            self.assertTrue(roots[0], name)

    def test_statics_keep_their_container(self) -> None:
        """Also when it has no objects, and once more as a log."""
        _, path = export(BUBBLECS, "statics.gcdump")
        back = FOLDER / "statics.heap"
        run(str(path), "export", str(back))
        containers = []
        for file in (BUBBLECS, str(path), str(back)):
            rows = answer(file, "roots", "-kind", "static", "-limit", "0")["roots"]
            containers.append(Counter((row["object"], row["container"]["name"]) for row in rows))
        self.assertEqual(containers[1:], containers[:1] * 2)

    def test_references_to_nothing_are_undefined_nodes(self) -> None:
        """With their address."""
        path = FOLDER / "missing.heap"
        path.write_text("a 2 x\nt 1 T\no 10 1 8 18 20\nr 10 1 0\nr 30 3 0\nc x\n", "utf-8")
        dump, _ = export(str(path), "missing.gcdump")
        undefined = sorted(node.address for node in dump.nodes if node.undefined)
        self.assertEqual(undefined, [0x18, 0x20, 0x30])
        self.assertEqual(objects(dump), {0x10: ("T", 8, [0x18, 0x20])})
        self.assertEqual(pseudo(dump)["[.NET Roots]/[other roots]/[strong Handles]"], [0x30])

    def test_objects_over_2_gib(self) -> None:
        """Are clamped, and their true size comes back."""
        path = FOLDER / "big.heap"
        path.write_text("a 2 x\nt 1 T\no 10 1 80000000\no 20 1 123456789a\no 30 1 7fffffff\nc x\n")
        dump, there = export(str(path), "big.gcdump")
        self.assertEqual([size for _, size, _ in objects(dump).values()], [INT_MAX] * 3)
        self.assertEqual(dump.log, "heapdump: true sizes\n10 80000000\n20 123456789a\n")
        again = Log(str(there), "big2.heap")
        sizes = {address: size for address, (_, size, _) in again.objects.items()}
        self.assertEqual(sizes, {0x10: 1 << 31, 0x20: 0x123456789A, 0x30: INT_MAX})


if __name__ == "__main__":
    try:
        unittest.main(verbosity=2)
    finally:
        folder.cleanup()
