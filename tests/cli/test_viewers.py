#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports for other viewers: V8 heap snapshots, folded stacks, speedscope JSON."""
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(SOURCE / "tests" / "support"))
# pylint: disable=wrong-import-position
import check_heapsnapshot  # noqa: E402
import turns  # noqa: E402

BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
PROGRAM = str(BUILD / "heapdump")
BUBBLECS = SOURCE / "corefiles" / "bubblecs.heap"
LEAK = SOURCE / "corefiles" / "leak.core.zst"
TRUTH = json.loads((SOURCE / "corefiles" / "leak.truth.json").read_text(encoding="utf-8"))
NAMES = SOURCE / "tests" / "data" / "names.heap"
LARGER = [
    SOURCE / "corefiles" / "build" / f"{name}.core" for name in ("wks10-full", "gen10-1m-full")
]
TIMEOUT = 300
SPEEDSCOPE = "https://www.speedscope.app/file-format-schema.json"


def run(*words: str | Path) -> str:
    """The program's output; module files of a core, which would be a finding, may not be here."""
    done = subprocess.run(
        [PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    if done.returncode not in ((0, 1) if "info" in words else (0,)):
        raise AssertionError(f"{words}: {done.stderr}")
    return done.stdout


def answer(path: Path, *words: str) -> dict[str, Any]:
    """One command's JSON document."""
    document: dict[str, Any] = json.loads(run(path, *words, "--json"))
    return document


def bytes_below(frame: str, stacks: dict[tuple[str, ...], int]) -> int:
    """Bytes of all stacks that hold a frame."""
    return sum(size for frames, size in stacks.items() if frame in frames)


class ViewerTest(unittest.TestCase):
    """Each file is checked by the rules of its viewer, and against what other commands say."""

    folder: tempfile.TemporaryDirectory[str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory(prefix="heapdump-viewers-")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def export(self, dump: Path, extension: str, *options: str) -> Path:
        """Export a dump."""
        path = Path(self.folder.name) / f"{dump.name}{''.join(options)}{extension}"
        run(dump, "export", str(path), *options)
        return path

    def snapshot(self, dump: Path, *options: str) -> check_heapsnapshot.Snapshot:
        """Export a dump as heap snapshot and check it."""
        path = self.export(dump, ".heapsnapshot", *options)
        snapshot = check_heapsnapshot.read_snapshot(path)
        path.unlink()
        return snapshot

    def folded(self, dump: Path) -> dict[tuple[str, ...], int]:
        """Export a dump as folded stacks, by frames."""
        text = self.export(dump, ".folded").read_text(encoding="utf-8")
        stacks: dict[tuple[str, ...], int] = {}
        for line in text.splitlines():
            # As stackcollapse and flamegraph.pl split it.
            match = re.fullmatch(r"(.+) (\d+)", line)
            assert match, line
            frames = tuple(match.group(1).split(";"))
            self.assertTrue(all(frames), line)
            self.assertNotIn(frames, stacks)
            stacks[frames] = int(match.group(2))
        return stacks

    def speedscope(self, dump: Path) -> dict[tuple[str, ...], int]:
        """Export a dump as speedscope JSON, check its schema's rules; by frames."""
        text = self.export(dump, ".speedscope.json").read_text(encoding="utf-8")
        document = json.loads(text)
        self.assertEqual(document["$schema"], SPEEDSCOPE)
        self.assertEqual(document["exporter"], "heapdump")
        self.assertIsInstance(document["name"], str)
        frames = [frame["name"] for frame in document["shared"]["frames"]]
        self.assertEqual(len(set(frames)), len(frames))
        (profile,) = document["profiles"]
        self.assertLess(document["activeProfileIndex"], len(document["profiles"]))
        self.assertEqual(
            set(profile), {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
        )
        self.assertEqual((profile["type"], profile["unit"]), ("sampled", "bytes"))
        self.assertEqual(len(profile["samples"]), len(profile["weights"]))
        self.assertEqual(profile["startValue"], 0)
        self.assertEqual(profile["endValue"], sum(profile["weights"]))
        stacks: dict[tuple[str, ...], int] = {}
        for sample, weight in zip(profile["samples"], profile["weights"]):
            self.assertTrue(sample and weight > 0)
            self.assertTrue(all(0 <= index < len(frames) for index in sample))
            stacks[tuple(frames[index] for index in sample)] = weight
        self.assertEqual(len(stacks), len(profile["samples"]))
        return stacks

    def check_snapshot(self, dump: Path) -> check_heapsnapshot.Snapshot:
        """Sizes and counts are those of the heap; -live leaves out what is below its own node."""
        info = answer(dump, "info")
        snapshot = self.snapshot(dump)
        objects = snapshot.objects()
        self.assertEqual(sum(snapshot.sizes), info["bytes"])
        known = [node for node in objects if snapshot.type(node) != "hidden"]
        self.assertEqual(len(known), info["objects"])
        live = answer(dump, "dumpheap", "-stat", "-live")["total"]
        alone = self.snapshot(dump, "--live")
        self.assertEqual(sum(alone.sizes), live["size"])
        self.assertNotIn("(Not reachable)", [alone.name(edge.target) for edge in alone.edges(0)])
        return snapshot

    def check_stacks(self, dump: Path) -> dict[tuple[str, ...], int]:
        """Both forms hold the same stacks; they sum to what is live."""
        live = answer(dump, "dumpheap", "-stat", "-live")["total"]["size"]
        folded = self.folded(dump)
        self.assertEqual(sum(folded.values()), live)
        self.assertEqual(sum(self.speedscope(dump).values()), live)
        self.assertLess(len(folded), 50000)
        return folded

    def test_bubblecs(self) -> None:
        """A text log: roots without details, missing nodes none, 30 dead objects, a dead ring."""
        snapshot = self.check_snapshot(BUBBLECS)
        roots = snapshot.child(0, "(GC roots)")
        groups = [snapshot.name(edge.target) for edge in snapshot.edges(roots)]
        self.assertIn("(Static variables)", groups)
        self.assertIn("(Handles)", groups)
        handles = snapshot.edges(snapshot.child(roots, "(Handles)"))
        # Two weak handles, see corefiles/README.md.
        self.assertEqual([edge.type for edge in handles].count("weak"), 2)
        dead = snapshot.edges(snapshot.child(0, "(Not reachable)"))
        self.assertLess(len(dead), 30)
        boards = [i for i in snapshot.objects() if snapshot.name(i) == "BubbleCS.GameBoard"]
        self.assertEqual(len(boards), 2)
        # DevTools puts all arrays of its own type into one class.
        names = {snapshot.name(i) for i in snapshot.objects() if snapshot.type(i) == "object"}
        self.assertIn("BubbleCS.Bubble[,]", names)

    def test_bubblecs_stacks(self) -> None:
        """All of the linked list is one frame."""
        stacks = self.check_stacks(BUBBLECS)
        runs = [frames for frames in stacks if "BubbleCS.ParticleNode (run)" in frames]
        self.assertTrue(runs)

    def test_leak(self) -> None:
        """A leaked session: from the static variable by named links, as its program says."""
        snapshot = self.check_snapshot(LEAK)
        roots = snapshot.child(0, "(GC roots)")
        statics = snapshot.child(roots, "(Static variables)")
        (feed,) = [
            edge.target
            for edge in snapshot.edges(statics)
            if edge.name == "WebShop.PriceFeed.Instance"
        ]
        ids = {
            item["name"]: int(item["address"], 16) // 4 % 2**32 | 1 for item in TRUTH["objects"]
        }
        self.assertEqual(snapshot.ids[feed], ids["feed"])
        (changed,) = [e.target for e in snapshot.edges(feed) if e.name == "Changed"]
        (calls,) = [e.target for e in snapshot.edges(changed) if e.name == "_invocationList"]
        self.assertEqual(snapshot.type(calls), "object")
        held = set()
        for call in snapshot.edges(calls):
            self.assertEqual(call.type, "element")
            held |= {e.target for e in snapshot.edges(call.target) if e.name == "_target"}
        self.assertIn(ids["leaked"], {snapshot.ids[node] for node in held})
        self.assertEqual(len(held), TRUTH["counts"]["WebShop.Session"])
        for name, count in TRUTH["counts"].items():
            found = [i for i in snapshot.objects() if snapshot.name(i) == name]
            self.assertEqual(len(found), count, name)

    def test_leak_stacks(self) -> None:
        """The feed and the cache retain what "retained" says."""
        stacks = self.check_stacks(LEAK)
        (feed,) = [item["address"] for item in TRUTH["objects"] if item["name"] == "feed"]
        retained = answer(LEAK, "retained", feed)["size"]
        got = bytes_below("WebShop.PriceFeed.Instance", stacks)
        self.assertEqual(got, retained)
        self.assertGreater(got, sum(stacks.values()) // 3)

    def test_names(self) -> None:
        """Types with hostile names."""
        self.check_snapshot(NAMES)
        self.check_stacks(NAMES)

    def test_output(self) -> None:
        """To the output the same as to a file."""
        path = self.export(BUBBLECS, ".heapsnapshot")
        text = run(BUBBLECS, "export", "-", "--format", "heapsnapshot")
        self.assertEqual(text, path.read_text(encoding="utf-8"))

    def test_larger(self) -> None:
        """A real core, where there are any; the seed says which."""
        cores = [path for path in LARGER if path.exists()]
        if not cores:
            self.skipTest("no cores: scripts/make_corefiles.sh makes them")
        if not turns.ALL:
            cores = [turns.chance("viewers").choice(cores)]
        for core in cores:
            with self.subTest(core=core.name):
                self.check_snapshot(core)
                self.check_stacks(core)

    def test_checker(self) -> None:
        """The checker finds what is broken."""
        text = self.export(BUBBLECS, ".heapsnapshot").read_text(encoding="utf-8")
        breaks = [
            ('"node_count":', '"node_count":1'),
            ('"edge_count":4', '"edge_count":5'),
            ('"nodes":[9,1,', '"nodes":[3,1,'),
            ('"edges":[1,1,7', '"edges":[1,1,8'),
            ('"edges":[1,1,7', '"edges":[6,1,7'),
            ('"edges":[1,1,7', '"edges":[2,9999,7'),
            ('"strings":["<dummy>"', '"strings":["(GC roots)"'),
            ('"detachedness"', '"detached"'),
            ("\n,9,2,4,", "\n,9,2,2,"),
        ]
        check_heapsnapshot.Snapshot(text)
        for old, new in breaks:
            self.assertIn(old, text)
            with self.assertRaises(check_heapsnapshot.BadSnapshot, msg=old):
                check_heapsnapshot.Snapshot(text.replace(old, new, 1))


if __name__ == "__main__":
    unittest.main(verbosity=2)
