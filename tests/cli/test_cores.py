#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cores in the shell: every command's document, and what the programs said about themselves."""
from __future__ import annotations

import json
import random
import unittest
from pathlib import Path
from typing import Any

from cores import ADDRESSES, LEAK, LEAKED, OPEN, SESSION_MT, TRUTH, unpacked
from shell_program import BUBBLECS, SOURCE, folder, run

STRING = "7f039fe5a1b8"
ARRAY = "7f039fe5a1f0"
DELEGATE = "7f039fe5a248"
# In which a thread of corefiles/apps/facts caught an exception that it never leaves.
THROWING = "Facts.Threads.Body(System.Object)"
HANG = str(SOURCE / "corefiles" / "hang.core.zst")
COLLECTION = {
    *("address", "mt", "type", "count", "found", "capacity", "fill_percent", "complete", "items"),
}
# The members that every answer of a command has, beside schema, command and target.
MEMBERS: dict[str, set[str]] = {
    "eeheap -gc": {"heaps", "total"},
    "eeheap -loader": {
        *("loader_blocks", "code_heaps", "loader_committed", "loader_wasted", "code_committed"),
        "complete",
    },
    "eeheap -jit": {"code_heaps", "code_committed", "complete"},
    "maddress": {"regions", "kinds"},
    "maddress -summary -images": {"kinds", "images"},
    "memory": {
        *("groups", "rows", "arenas", "malloc", "advice", "settings", "gc_settings", "total"),
        "complete",
    },
    f"memory -detail -against {LEAK}": {
        *("against", "groups", "rows", "arenas", "malloc", "advice", "settings", "gc_settings"),
        *("total", "complete"),
    },
    "balance": {"heaps"},
    f"dq {LEAKED}": {"words", "missing"},
    f"dw {LEAKED}": {"lines", "missing"},
    f"dc {LEAKED}": {"lines", "missing"},
    f"dd {LEAKED}": {"lines", "missing"},
    f"du {LEAKED}": {"lines", "missing"},
    f"dp {LEAKED}": {"words", "missing"},
    f"db {LEAKED}": {"lines", "missing"},
    "registers": {"words"},
    "symbolize tests/data/perf_script.txt": {"addresses"},
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
    "threadstate 21220": {"value", "states"},
    "threads": {"threads"},
    "setthread 1": {"thread"},
    "dumpstackobjects": {"objects", "incomplete", "missing"},
    "parallelstacks": {"frames", "total"},
    "waits": {"deadlocks", "threads"},
    "hang": {
        "verdicts",
        "threads",
        "waiting",
        "async_chains",
        "idle",
        "partial",
        "complete",
        "gaps",
        "running",
    },
    "threadpool": {
        *("cpu_percent", "workers", "running", "idle", "min", "max", "goal", "blocked"),
        *("added_for_blocked", "queued"),
    },
    "threadpoolqueue": {"work_items", "complete"},
    "timerinfo": {"timers", "complete"},
    "dumpasync": {"chains", "total"},
    "dumpasync -tasks": {"chains", "tasks", "total"},
    "dumpexceptions": {"exceptions", "total"},
    "dumphttp": {"requests", "pools", "total", "absent_fields"},
    "dumprequests": {"requests", "total"},
    "dumptasks": {"tasks", "total"},
    "name2ee * WebShop.Session": {"matches", "complete"},
    "ip2md 7f0f794a1bb0": {"ip", "kind", "start", "size", "method_desc", "code", "complete"},
    "dumpmd 7f0f7953e830": {"method_desc", "token", "current_code", "code", "complete"},
    f"dumpmt {SESSION_MT} -md": {"mt", "methods", "method_descs", "complete"},
    "token2ee * 06000001": {"matches", "complete"},
    "dumpcollection 7f039d0000d0": COLLECTION,
    "dumpgen gen2": {"types", "total"},
    "dumpil 7f0f7953e830": {"method_desc", "token", "size", "instructions", "clauses", "complete"},
    "clru 7f0f7953e830": {"method_desc", "start", "size", "pieces"},
    "gcinfo 7f0f7953e830": {
        "method_desc",
        "start",
        "size",
        "gc_info",
        "points",
        "untracked",
        "at",
        "complete",
    },
    "ehinfo 7f0f7953e850": {"method_desc", "start", "size", "clauses", "complete"},
    "dumpsig 7f0ff80220ea 7f0f79538438": {"address", "module", "signature", "complete", "parts"},
    "dumpsigelem 7f0ff80220ee 7f0f79538438": {"address", "module", "signature", "type"},
    "clrmodules": {"modules"},
    "modules": {"modules", "total"},
    "dumpmodule 7f0f78464000": {"address", "name", "path", "assembly", "mvid", "version"},
    "dumpassembly 562f8f690dc0": {"address", "name", "domain", "collectible", "dynamic"},
    "dumpdomain": {"domains", "assemblies"},
    "dumpalc": {"contexts"},
    "eeversion": {"runtime", "server", "heaps", "file_version"},
    "crashinfo": {"crash", "exceptions"},
    "analyzeoom": {"failures", "complete"},
    "sizestats": {"sizes"},
    "gcheapstat": {"heaps"},
    "ephrefs": {"objects"},
    "ephtoloh": {"to_large", "from_large", "through_large"},
}
# The same, of what only the core of the service that hangs has.
OF_HANG: dict[str, set[str]] = {
    "dumpconcurrentdictionary 7fb0d98133f8": COLLECTION,
    "dumpconcurrentqueue 7fb0d98135f8": COLLECTION,
    "taskstate 7fb0d9814540": {"status", "flags", "options", "continuation"},
}
ALSO: dict[str, set[str]] = {
    "info": {
        *("kind", "runtime", "walkable", "objects", "bytes", "types", "roots", "missing"),
        *("findings", "free", "core", "pid", "threads", "memory"),
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

    def test_full_shortens_nothing(self) -> None:
        """Types of fields, strings in place of their first characters."""
        for words in (["--full"], ["--width", "0"]):
            fields = run(LEAK, *words, "dumpobj", LEAKED).out
            self.assertIn(" System.Collections.Generic.List<WebShop.CartLine> ", fields)
            self.assertNotIn("...", fields)
            last = run(LEAK, *words, "strings", "-limit", "1").out
            self.assertGreater(len(last), 14000)
            self.assertNotIn("...", last)
        self.assertIn("...WebShop.CartLine>", run(LEAK, "dumpobj", LEAKED).out)
        self.assertIn("System.Xm...", run(LEAK, "strings", "-limit", "1").out)

    def check(self, line: str, members: set[str], core: str = LEAK) -> None:
        """Run LINE with --json."""
        result = run("--no-files", core, *line.split(), "--json")
        self.assertIn(result.status, (0, 1), (line, result))
        document = result.json()
        self.assertEqual(document["schema"], 1)
        self.assertEqual(document["command"], line.split()[0])
        self.assertEqual(document["target"], core)
        self.assertLessEqual(members, document.keys(), line)
        self.assertEqual(result.out.count("\n"), 1, "one document on one line")

    def test_memory_of_info_adds_up(self) -> None:
        memory = run(LEAK, "info", "--json").json()["memory"]
        total = run(LEAK, "memory", "--json").json()["total"]
        self.assertEqual(memory.pop("in_core"), total["in_core"])
        self.assertEqual(sum(memory.values()), total["in_core"])

    def test_every_command(self) -> None:
        for line, members in (MEMBERS | ALSO).items():
            with self.subTest(line):
                self.check(line, members)
        for line, members in OF_HANG.items():
            with self.subTest(line):
                self.check(line, members, HANG)

    def test_a_dump_file_has_no_heap(self) -> None:
        for line in MEMBERS | OF_HANG:
            with self.subTest(line):
                result = run(BUBBLECS, *line.split(), "--json")
                self.assertEqual(result.status, 3)
                self.assertEqual(result.json()["error"]["status"], "unsupported")


class Truth(unittest.TestCase):
    """The program's own words about itself before it was dumped."""

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

    def test_commands_are_about_the_chosen_thread(self) -> None:
        lines = ["setthread -thread 4", "threads", "clrstack", "dso", "pe"]
        lines += ["setthread -tid 6bdd", "clrstack", "setthread 3", "clrstack"]
        lines += ["clrstack -all", "pe -all", "setthread -all", "clrstack", "threads"]
        script = "".join(line + " --json\n" for line in lines)
        result = run("--no-files", HANG, text=script)
        chosen, *answers = [json.loads(line) for line in result.out.splitlines()]
        threads, stack, objects, thrown, _, other, _, none, every, _, _, again, after = answers
        thread = {"current": True, "number": 7, "os_id": 0x6BDC, "id": 4, "name": "transfer-1"}
        self.assertEqual(chosen["thread"], thread)
        self.assertEqual([row for row in threads["threads"] if row["current"]], [thread])
        self.assertEqual([row["id"] for row in stack["threads"]], [4])
        self.assertEqual({row["thread"]["id"] for row in objects["objects"]}, {4})
        self.assertEqual(thrown["exceptions"], [])
        self.assertEqual([row["id"] for row in other["threads"]], [5])
        self.assertIn("6bd7) is not managed", none["error"]["message"])
        self.assertGreater(len(every["threads"]), 10)
        self.assertEqual(again["threads"], every["threads"])
        self.assertEqual([row for row in after["threads"] if row["current"]], [])

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
        # Types that only have static variables are written, too.
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


class Facts(unittest.TestCase):
    """A core of corefiles/apps/facts says what the program did."""

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
        for name in ("wks11-full", "wks10-full", "wks9-full", "wks8-full"):
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
        for name in ("wks11-full", "wks10-full", "wks9-full", "wks8-full"):
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
            blocks = text.split("---")[0].split("\n\n")[0]  # without the threads that wait
            self.assertEqual(len(blocks.splitlines()) - 1, len(rows), words)


if __name__ == "__main__":
    unittest.main(verbosity=2)
