#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command's document, of dump files."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import unittest
from pathlib import Path

import test_cores
from shell_program import BUBBLECS, DATA, LARGE_OBJECTS, PROGRAM, TIMEOUT
from shell_program import Base, environment, folder, large_dump, run, waiting

# The members that every answer of a command has, beside schema, command and target.
MEMBERS: dict[str, set[str]] = {
    "info": {
        "kind",
        "runtime",
        "walkable",
        "objects",
        "bytes",
        "types",
        "roots",
        "missing",
    }
    | {"findings", "free", "domains"},
    "gcroot 1ce056": {"object", "reachable", "roots"},
    "gcroot 1ce056 -weak -full": {"object", "reachable", "roots"},
    "gcroot -type Particle": {"count", "size", "found", "truncated", "branches"},
    "pathto 1ce03a 1ce056": {"path"},
    "objsize 1ce056": {"object", "count", "size"},
    "objsize 1ce056 -stat": {"object", "count", "size"},
    "objsize -mt 32": {"mt", "of", "count", "size"},
    "notreachableinrange 0 ffffffff": {"objects"},
    "referrers 1ce056": {"referrers", "to", "count", "roots"},
    "retained 1ce056": {"object", "count", "size"},
    "assert -max BubbleCS.Bubble=3 -max-heap 1M": {"rules", "complete", "findings"},
    "dominators": {"nodes"},
    "dumpheap": {"objects"},
    "dumpheap -stat": {"types", "total"},
    "dumpobj 1ce056": {"address", "mt", "type", "size", "fields", "references"},
    "roots": {"roots"},
    "roots -stat": {"kinds", "found"},
    "types": {"types"},
    "triage": {"next", "parts"},
    "report": {"complete", "findings", "findings_missing", "heap", "rules"},
    "report -against tests/data/before.heap": {
        "against",
        "growth_by_holder",
        "growth_by_root",
        "growth_by_type",
    },
    "diff tests/data/seed001.heap": {"types"},
    "open tests/data/seed001.heap": {"opened"},
    "set": {"settings"},
    "help": {"commands"},
}
ELEMENTS: dict[str, tuple[str, set[str]]] = {
    "gcroot 1ce056": (
        "roots",
        {
            "kind",
            "handle",
            "flags",
            "name",
            "address",
            "object",
            "thread",
            "frame",
            "slot",
        }
        | {"weak", "path"},
    ),
    "gcroot -type Particle": ("branches", {"depth", "count", "size", "own", "repeats"}),
    "roots -stat": ("kinds", {"kind", "handle", "weak", "container", "count"}),
    "pathto 1ce03a 1ce056": ("path", {"address", "type", "size", "via"}),
    "referrers 1ce056": (
        "referrers",
        {"count", "objects", "size", "mt", "type", "field"},
    ),
    "dominators": ("nodes", {"address", "type", "size", "retained", "count", "parent"}),
    "dumpheap": ("objects", {"address", "mt", "type", "size", "free", "generation"}),
    "dumpheap -stat": ("types", {"mt", "name", "count", "size"}),
    "roots": (
        "roots",
        {"kind", "handle", "flags", "name", "address", "object", "weak"},
    ),
    "types": ("types", {"mt", "name", "count", "size"}),
    "diff tests/data/seed001.heap": (
        "types",
        {"name", "count_before", "count_after", "size_before", "size_after"},
    ),
    "info": ("domains", {"name", "version", "start", "end"}),
}
# Commands about cores and processes.
CORE_COMMANDS = {line.split()[0] for line in test_cores.MEMBERS | test_cores.OF_HANG}


class Json(Base):
    """Every command's document."""

    def test_every_command(self) -> None:
        for line, members in MEMBERS.items():
            result = run(BUBBLECS, *line.split(), "--json")
            self.assertIn(result.status, (0, 1), line)
            self.assertEqual(result.err, "")
            self.assertEqual(result.out.count("\n"), 1, "one document on one line")
            document = result.json()
            self.assertEqual(document["schema"], 1)
            self.assertEqual(document["command"], line.split()[0])
            self.assertEqual(document["target"], BUBBLECS)
            self.assertLessEqual(members, document.keys(), line)
            self.assertNotIn("error", document)
            if line in ELEMENTS:
                name, keys = ELEMENTS[line]
                self.assertTrue(document[name], line)
                for element in document[name]:
                    self.assertLessEqual(keys, element.keys(), line)

    def test_every_command_is_here(self) -> None:
        names = {command["name"] for command in run(BUBBLECS, "help", "--json").json()["commands"]}
        tested = {line.split()[0] for line in MEMBERS} | {"export", "close"} | CORE_COMMANDS
        # test_collect.py, test_doctor.py and test_sql.py have them.
        tested |= {"collect", "doctor", "ps", "sql"}
        self.assertEqual(names, tested)

    def test_export_and_close(self) -> None:
        path = Path(folder.name) / "json.heap"
        document = run(BUBBLECS, "export", str(path), "--json").json()
        self.assertEqual((document["command"], document["file"]), ("export", str(path)))
        result = run("--json", BUBBLECS, text="info\nclose\ninfo\n")
        documents = [json.loads(line) for line in result.out.splitlines()]
        self.assertEqual(documents[1]["closed"], BUBBLECS)
        self.assertIn("error", documents[2])
        self.assertEqual(result.status, 2)

    def test_addresses_are_strings_and_counts_are_numbers(self) -> None:
        document = run(BUBBLECS, "dumpheap", "-limit", "3", "--json").json()
        self.assertIs(document["truncated"], True)
        self.assertEqual(len(document["objects"]), 3)
        for element in document["objects"]:
            self.assertRegex(element["address"], "^0x[0-9a-f]+$")
            self.assertRegex(element["mt"], "^0x[0-9a-f]+$")
            self.assertIs(type(element["size"]), int)
        self.assertEqual(document["total"]["count"], 273)

    def test_names_of_any_bytes(self) -> None:
        for line in (
            "types",
            "dumpheap",
            "gcroot 9 -full",
            "info",
            "dominators",
            "dumpobj 4",
        ):
            document = run(str(DATA / "names.heap"), *line.split(), "--json").json()
            self.assertEqual(document["schema"], 1)

    def test_a_listing_ends_at_once(self) -> None:
        """Text, too: what is in pipes and buffers still comes, and little of the 46 MB of the rest."""
        process = subprocess.Popen(
            [PROGRAM, large_dump(), "dumpheap"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        assert process.stdout
        os.read(process.stdout.fileno(), 1000)
        process.send_signal(signal.SIGINT)
        # It waits with a full pipe: nothing comes until the signal has been passed on.
        waiting.wait_until_rest(process.pid)
        out, _err = process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, 130)
        self.assertLess(len(out), 1 << 23)

    def test_interrupted_midway(self) -> None:
        """A reader that stops, then SIGINT: what was written is a document with an error in it."""
        process = subprocess.Popen(
            [PROGRAM, large_dump(), "dumpheap", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        assert process.stdout
        head = os.read(process.stdout.fileno(), 1000)
        process.send_signal(signal.SIGINT)
        waiting.wait_until_rest(process.pid)
        out, err = process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, 130)
        document = json.loads(head + out)
        self.assertEqual(document["error"]["status"], "cancelled")
        self.assertLess(len(document["objects"]), LARGE_OBJECTS)
        self.assertEqual(err, b"")


if __name__ == "__main__":
    unittest.main()
