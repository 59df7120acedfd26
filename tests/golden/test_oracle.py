#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every JSON answer of the program against oracle.py: sample dumps and random ones, whole answers."""
from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from typing import Any, Iterator

SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(SOURCE / "tests" / "support"))

import turns  # noqa: E402
from oracle import FLAGS, KINDS, Dump, Root, TypeKey  # noqa: E402
from random_dump import random_dump  # noqa: E402

# The seed says which (support/turns.py); sanitizers, which do not compare, see few of them.
RANDOM_DUMPS = 200 if turns.ALL else 4 if turns.SANITIZED else 30
FILES = [
    "corefiles/bubblecs.heap",
    "tests/data/seed000.heap",
    "tests/data/seed001.heap",
    "tests/data/kinds.heap",
    "tests/data/before.heap",
    "tests/data/after.heap",
]


def text_of(name: bytes | None) -> str | None:
    return None if name is None else name.decode("utf-8", "replace")


def flag_names(flags: int) -> tuple[str, ...]:
    return tuple(name for bit, name in FLAGS if flags & bit)


def run(path: Path, commands: list[str]) -> list[dict[str, Any]]:
    """The JSON answers to COMMANDS, all from one process."""
    done = subprocess.run(
        [str(BUILD / "heapdump"), "--json", str(path)],
        input="".join(command + "\n" for command in commands).encode(),
        capture_output=True,
        timeout=300,
        check=False,
    )
    errors = [
        line for line in done.stderr.splitlines() if not line.startswith(b"heapdump: warning: ")
    ]
    if errors:
        raise AssertionError(b"\n".join(errors).decode())
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(commands):
        raise AssertionError(f"{len(commands)} commands, {len(answers)} answers")
    return answers


class OracleTest(unittest.TestCase):
    """One method per command; each runs over every dump."""

    dumps: list[tuple[Path, Dump]]
    folder: tempfile.TemporaryDirectory[str]
    where = ""

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        paths = [SOURCE / name for name in FILES]
        first = turns.seed() * RANDOM_DUMPS
        for seed in range(first, first + RANDOM_DUMPS):
            path = Path(cls.folder.name) / f"random{seed}.heap"
            path.write_bytes(random_dump(seed))
            paths.append(path)
        cls.dumps = [(path, Dump(path.read_bytes())) for path in paths]

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def each(self) -> Iterator[tuple[Path, Dump]]:
        for path, dump in self.dumps:
            self.where = path.name
            yield path, dump

    def _formatMessage(self, msg: str | None, standardMsg: str) -> str:
        return super()._formatMessage(msg, standardMsg) + f"\n{self.where}"

    def root_key(self, dump: Dump, root: Root) -> tuple[Any, ...]:
        """A root as answers show it, without its section."""
        container = root.container
        shown = None if container is None else (container[1], text_of(dump.types[container]))
        return hex(root.id), KINDS[root.kind], flag_names(root.flags), shown, root.weak

    def answer_key(self, root: dict[str, Any]) -> tuple[Any, ...]:
        container = root["container"]
        shown = None if container is None else (int(container["mt"], 16), container["name"])
        return root["object"], root["kind"], tuple(root["flags"]), shown, root["weak"]

    def check_path(self, dump: Dump, root: dict[str, Any], target: int, length: int) -> None:
        path = root["path"]
        self.assertEqual(path[0]["address"], root["object"])
        self.assertEqual(path[-1]["address"], hex(target))
        self.assertEqual(len(path), length + 1, "not the shortest path")
        addresses = [int(element["address"], 16) for element in path]
        for here, there in zip(addresses, addresses[1:]):
            self.assertIn(there, dump.next(here))
        for address, element in zip(addresses, path):
            found = dump.objects[address]
            self.assertEqual(element["type"], text_of(dump.types[found.type]))
            self.assertEqual(element["size"], found.size)

    def check_gcroot(self, dump: Dump, target: int, answer: dict[str, Any], options: str) -> None:
        distances = dump.distances_to(target)
        strong: Counter[tuple[Any, ...]] = Counter()
        weak: Counter[tuple[Any, ...]] = Counter()
        stacks = 0
        for root in dump.roots:
            if root.id not in distances:
                continue
            if root.weak:
                if root.id == target or "-weak" in options:
                    weak[self.root_key(dump, root)] += 1
            elif root.kind == 1 and "-nostacks" in options:
                stacks += 1
            else:
                strong[self.root_key(dump, root)] += 1
        self.assertEqual(answer["object"], hex(target))
        listed = Counter(self.answer_key(root) for root in answer["roots"])
        self.assertEqual(listed, strong + weak)
        self.assertEqual(answer["found"], sum(strong.values()))
        self.assertEqual(answer["reachable"], bool(strong) or stacks > 0)
        self.assertEqual(answer["reachable"], target in dump.alive())
        self.assertFalse(answer["truncated"])
        for shown in answer["roots"]:
            if shown["weak"] and "-weak" not in options:
                self.assertEqual(shown["path"], [])
            else:
                self.check_path(dump, shown, target, distances[int(shown["object"], 16)])

    def test_gcroot(self) -> None:
        for options in ("", " -weak", " -nostacks", " -weak -nostacks -all"):
            for path, dump in self.each():
                ids = sorted(dump.objects)
                commands = [f"gcroot {i:x} -limit 0 -full{options}" for i in ids]
                for target, answer in zip(ids, run(path, commands)):
                    self.check_gcroot(dump, target, answer, options)

    def test_gcroot_folds_only(self) -> None:
        """Folded lines and those that are shown add up to the whole path."""
        for path, dump in self.each():
            ids = sorted(dump.objects)
            for target, answer in zip(ids, run(path, [f"gcroot {i:x} -limit 0" for i in ids])):
                distances = dump.distances_to(target)
                for root in answer["roots"]:
                    if root["weak"]:
                        continue
                    count = sum(element.get("folded", 1) for element in root["path"])
                    self.assertEqual(count, distances[int(root["object"], 16)] + 1)
                    self.assertEqual(root["path"][-1]["address"], hex(target))

    def test_pathto(self) -> None:
        rng = random.Random(1)
        for path, dump in self.each():
            ids = sorted(dump.objects)
            pairs = [(rng.choice(ids), rng.choice(ids)) for _ in range(60)]
            commands = [f"pathto {a:x} {b:x} -full" for a, b in pairs]
            for (source, target), answer in zip(pairs, run(path, commands)):
                distances = dump.distances_to(target)
                self.assertEqual(answer["reachable"], source in distances)
                if source in distances:
                    root = {"path": answer["path"], "object": hex(source)}
                    self.check_path(dump, root, target, distances[source])
                else:
                    self.assertEqual(answer["path"], [])

    def check_statistics(
        self,
        dump: Dump,
        answer: dict[str, Any],
        expected: dict[TypeKey, tuple[int, int]],
    ) -> None:
        """The types of an answer, and their total; two sections may have one id and name."""
        wanted = Counter((k[1], text_of(dump.types[k]), *v) for k, v in expected.items())
        rows = answer["types"]
        found = Counter((int(r["mt"], 16), r["name"], r["count"], r["size"]) for r in rows)
        self.assertEqual(found, wanted)
        total = {"count": sum(c for c, _ in expected.values())}
        total["size"] = sum(s for _, s in expected.values())
        self.assertEqual(answer["total"], total)
        sizes = [row["size"] for row in rows]
        self.assertEqual(sizes, sorted(sizes))

    def test_dumpheap(self) -> None:
        for path, dump in self.each():
            alive = dump.alive()
            every = set(dump.objects)
            middle = sorted(every)[len(every) // 2]
            string = {i for i, o in dump.objects.items() if b"S" in (dump.types[o.type] or b"")}
            sets = {
                "": every,
                "-live": alive,
                "-dead": every - alive,
                "-min 24": {i for i in every if dump.objects[i].size >= 24},
                "-min 1 -max 24": {i for i in every if 1 <= dump.objects[i].size <= 24},
                "-mt 2": {i for i in every if dump.objects[i].type[1] == 2},
                "-type S": string,
                "-type S -dead": string - alive,
                f"{middle:x}": {i for i in every if i >= middle},
            }
            if middle:
                sets[f"0 {middle:x}"] = {i for i in every if i < middle}
            commands = [f"dumpheap {options}" for options in sets]
            commands += [f"dumpheap -stat {options}" for options in sets]
            answers = run(path, commands)
            for answer, expected in zip(answers, sets.values()):
                addresses = [int(row["address"], 16) for row in answer["objects"]]
                self.assertEqual(addresses, sorted(expected))
                for row in answer["objects"]:
                    found = dump.objects[int(row["address"], 16)]
                    name = text_of(dump.types[found.type])
                    self.assertEqual((row["type"], row["size"]), (name, found.size))
                    self.assertEqual(row["mt"], hex(found.type[1]))
            for answer, expected in zip(answers, list(sets.values()) * 2):
                self.check_statistics(dump, answer, dump.count_types(expected))

    def test_types(self) -> None:
        for path, dump in self.each():
            expected = dict.fromkeys(dump.types, (0, 0)) | dump.count_types(dump.objects)
            self.check_statistics(dump, run(path, ["types"])[0], expected)

    def test_dumpobj(self) -> None:
        for path, dump in self.each():
            ids = sorted(dump.objects)
            for address, answer in zip(ids, run(path, [f"dumpobj {i:x} -refs" for i in ids])):
                found = dump.objects[address]
                self.assertEqual(answer["address"], hex(address))
                self.assertEqual(answer["mt"], hex(found.type[1]))
                self.assertEqual(answer["type"], text_of(dump.types[found.type]))
                self.assertEqual(answer["size"], found.size)
                self.assertEqual(answer["references"], [hex(i) for i in found.references])
                referrers = Counter(hex(i) for i in dump.referrers.get(address, []))
                self.assertEqual(set(answer["referrers"]), set(referrers))

    def test_objsize(self) -> None:
        for path, dump in self.each():
            ids = sorted(dump.objects)
            for address, answer in zip(ids, run(path, [f"objsize {i:x}" for i in ids])):
                kept = dump.reach([address]) & dump.objects.keys()
                self.assertEqual(answer["count"], len(kept))
                self.assertEqual(answer["size"], dump.size_of(kept))
                listed = [int(row["address"], 16) for row in answer["objects"]]
                self.assertEqual(listed, sorted(kept))
                self.check_statistics(dump, answer, dump.count_types(kept))

    def test_retained_and_dominators(self) -> None:
        for path, dump in self.each():
            dominated = dump.dominated()
            # The nearest of an object's dominators is the one that dominates least.
            nearest: dict[int, int] = {}
            for above in sorted(dominated, key=lambda i: -len(dominated[i])):
                for below in dominated[above] - {above}:
                    nearest[below] = above
            ids = sorted(dump.objects)
            *answers, tree = run(path, [f"retained {i:x}" for i in ids] + ["dominators -top 0"])
            for address, answer in zip(ids, answers):
                kept = dominated.get(address, set())
                parent = nearest.get(address)
                self.assertEqual(answer["alive"], address in dominated)
                self.assertEqual(answer["count"], len(kept))
                self.assertEqual(answer["size"], dump.size_of(kept))
                self.assertEqual(answer["dominator"], None if parent is None else hex(parent))
            nodes = {int(node["address"], 16): node for node in tree["nodes"]}
            self.assertEqual(nodes.keys(), dominated.keys())
            self.assertEqual(len(tree["nodes"]), len(nodes))
            for address, node in nodes.items():
                parent = nearest.get(address)
                self.assertEqual(node["retained"], dump.size_of(dominated[address]))
                self.assertEqual(node["count"], len(dominated[address]))
                self.assertEqual(node["parent"], None if parent is None else hex(parent))
                self.assertEqual(node["size"], dump.objects[address].size)

    def test_dominators_of_one(self) -> None:
        for path, dump in self.each():
            dominated = dump.dominated()
            ids = sorted(dump.objects)
            commands = [f"dominators {i:x} -top 0" for i in ids] + ["dominators -top 3"]
            *answers, top = run(path, commands)
            for address, answer in zip(ids, answers):
                nodes = {int(node["address"], 16) for node in answer["nodes"]}
                self.assertEqual(nodes, dominated.get(address, set()))
            sizes = sorted((dump.size_of(kept) for kept in dominated.values()), reverse=True)
            shown = sorted((node["retained"] for node in top["nodes"]), reverse=True)
            self.assertEqual(shown, sizes[:3])

    def test_roots(self) -> None:
        for path, dump in self.each():
            filters = [""] + [f"-kind {kind}" for kind in KINDS] + [f"-flag {f}" for _, f in FLAGS]
            for text, answer in zip(filters, run(path, [f"roots {text}" for text in filters])):
                word = text.split()[-1] if text else ""
                expected = Counter(
                    self.root_key(dump, root)
                    for root in dump.roots
                    if not word or word == KINDS[root.kind] or word in flag_names(root.flags)
                )
                found = Counter(self.answer_key(root) for root in answer["roots"])
                self.assertEqual(found, expected)
                self.assertEqual(answer["found"], sum(expected.values()))

    def test_info(self) -> None:
        for path, dump in self.each():
            answer = run(path, ["info"])[0]
            self.assertEqual(answer["objects"], len(dump.objects))
            self.assertEqual(answer["bytes"], dump.size_of(dump.objects))
            self.assertEqual(answer["types"], len(dump.types))
            self.assertEqual(answer["roots"], len(dump.roots))
            edges = sum(len(found.references) for found in dump.objects.values())
            self.assertEqual(answer["references"], edges)
            kinds = Counter(KINDS[root.kind] for root in dump.roots)
            self.assertEqual(answer["root_kinds"], {kind: kinds[kind] for kind in KINDS})
            self.assertEqual(answer["weak_roots"], sum(root.weak for root in dump.roots))
            self.assertEqual(answer["repeated_roots"], 0)
            domains = [
                (
                    d["name"],
                    *(None if d[k] is None else int(d[k], 16) for k in ("start", "end")),
                )
                for d in answer["domains"]
            ]
            self.assertEqual(domains, [(text_of(d.name), d.start, d.end) for d in dump.domains])
            kinds_of_findings = (
                "unresolved-reference",
                "unresolved-root",
                "unresolved-type",
            )
            expected = {
                kind: count for kind, count in zip(kinds_of_findings, dump.unresolved()) if count
            }
            found = {finding["kind"]: finding["count"] for finding in answer["findings"]}
            self.assertEqual(found, expected)

    def test_diff(self) -> None:
        for index, (path, before) in enumerate(self.dumps):
            other, after = self.dumps[(index * 7 + 3) % len(self.dumps)]
            self.where = f"{path.name} {other.name}"
            answer = run(path, [f"diff {other}"])[0]
            expected: dict[str | None, list[int]] = {}
            for at, dump in ((0, before), (1, after)):
                for key, (count, size) in dump.count_types(dump.objects).items():
                    row = expected.setdefault(text_of(dump.types[key]), [0, 0, 0, 0])
                    row[at] += count
                    row[2 + at] += size
            rows = {
                row["name"]: [
                    row[f"{what}_{when}"]
                    for what in ("count", "size")
                    for when in ("before", "after")
                ]
                for row in answer["types"]
            }
            changed = {k: v for k, v in expected.items() if v[0] != v[1] or v[2] != v[3]}
            self.assertEqual(rows, changed)
            growth = [row["size_after"] - row["size_before"] for row in answer["types"]]
            self.assertEqual(growth, sorted(growth, reverse=True))

    def test_export(self) -> None:
        for path, dump in self.each():
            copy = Path(self.folder.name) / "copy.heap"
            again = Path(self.folder.name) / "again.heap"
            run(path, [f"export {copy}"])
            self.assertEqual(Dump(copy.read_bytes()).content(), dump.content())
            run(copy, [f"export {again}"])
            self.assertEqual(again.read_bytes(), copy.read_bytes())


if __name__ == "__main__":
    unittest.main()
