#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python package: commands, objects, errors, threads."""
from __future__ import annotations

import copy
import gc
import json
import multiprocessing
import os
import pickle
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
from typing import Any

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
os.environ["HEAPDUMP_LIBRARY"] = str(BUILD / "libheapdump.so")
sys.path[:0] = [str(SOURCE / "python"), str(SOURCE / "tests" / "cli")]
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import heapdump  # noqa: E402
from test_rows import bare, differences, wanted  # noqa: E402

LEAK = SOURCE / "corefiles" / "leak.core.zst"
LOG = SOURCE / "corefiles" / "bubblecs.heap"
TRUTH = json.loads((SOURCE / "corefiles" / "leak.truth.json").read_text(encoding="utf-8"))
FEED = "WebShop.PriceFeed.Instance"


def number(name: str) -> int:
    """The address of an object that the program has told."""
    return next(int(row["address"], 16) for row in TRUTH["objects"] if row["name"] == name)


def leak() -> heapdump.Heap:
    return heapdump.open(LEAK, files=False)


def spelt(value: Any) -> Any:
    """A value of an answer as JSON has it."""
    if isinstance(value, heapdump.Address):
        return hex(value)
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if isinstance(value, dict):
        return {name: spelt(member) for name, member in value.items()}
    return [spelt(item) for item in value] if isinstance(value, list) else value


class ObjectsTest(unittest.TestCase):
    """The objects say the same as the program said about itself."""

    heap: heapdump.Heap

    @classmethod
    def setUpClass(cls) -> None:
        cls.heap = leak()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.heap.close()

    def test_a_static_is_the_object_that_the_program_named(self) -> None:
        feed = self.heap.statics[FEED]
        self.assertEqual(feed.address_, number("feed"))
        self.assertEqual(feed.type_, "WebShop.PriceFeed")
        self.assertEqual(feed, self.heap.object(number("feed")))
        self.assertIn(FEED, self.heap.statics)
        self.assertIn(FEED, self.heap.statics.keys())

    def test_fifty_chains(self) -> None:
        handlers = self.heap.statics[FEED].Changed._invocationList
        tokens = [handlers[index]._target.Token for index in range(50)]
        self.assertEqual(tokens[0], "session-000000")
        self.assertEqual(len(set(tokens)), 50)
        self.assertTrue(all(token.startswith("session-") for token in tokens))

    def test_counts_are_those_of_the_program(self) -> None:
        types = {row["name"]: row["count"] for row in self.heap.dumpheap(stat=True)}
        for name, count in TRUTH["counts"].items():
            self.assertEqual(types[name], count, name)
        for name, want in (("open", "open"), ("leaked", "leaked")):
            self.assertEqual(self.heap.object(number(want)).type_, "WebShop.Session", name)

    def test_what_fields_hold(self) -> None:
        session = self.heap.object(number("leaked"))
        self.assertEqual(session.Started.text_, str(session.Started.text_))
        self.assertRegex(session.Started.text_, r"^2024-01-\d\dT")
        self.assertEqual(session["Started._dateData"], session.Started._dateData)
        self.assertIsInstance(session.Notices, int)
        self.assertEqual(len(session.ViewState), len(list(session.ViewState)))
        cart = session.Cart
        self.assertEqual(len(cart), len(list(cart)))
        line = cart[0]
        self.assertIsInstance(line, heapdump.Struct)
        self.assertIsInstance(line.Product, heapdump.Object)
        self.assertRegex(line.Price.text_, r"^\d+\.\d\d$")
        self.assertEqual([item.Quantity for item in cart], [item.Quantity for item in cart[:]])
        self.assertEqual(cart[-1].Quantity, cart[len(cart) - 1].Quantity)
        self.assertEqual([cart[2:], cart[1:99], cart[5:2]], [[cart[2]], [cart[1], cart[2]], []])
        self.assertEqual(cart[::-1], [cart[2], cart[1], cart[0]])
        self.assertEqual({"Token", "Cart", "address_"} - set(dir(session)), set())
        self.assertEqual(session.fields_()["Token"], session.Token)

    def test_null_missing_and_unreadable_are_three_things(self) -> None:
        feed = self.heap.statics[FEED]
        self.assertIsNone(self.heap.object(0))
        nulls = [value for value in feed.Changed._invocationList if value is None]
        self.assertTrue(nulls)
        for wrong in (
            lambda: feed.Nosuch,
            lambda: self.heap.nosuch,
        ):
            with self.assertRaises(AttributeError):
                wrong()
        for wrong in (
            lambda: feed["Nosuch"],
            lambda: feed["Changed.Nosuch"],
            lambda: self.heap.statics["WebShop.PriceFeed.Nosuch"],
            lambda: self.heap.statics["No.Such.Thing"],
            lambda: self.heap.statics[""],
        ):
            with self.assertRaises(KeyError):
                wrong()
        with self.assertRaises(IndexError):
            print(feed.Changed._invocationList[1 << 40])
        with self.assertRaises(heapdump.HeapdumpError) as caught:
            self.heap.object(0x10)
        self.assertEqual(caught.exception.status, heapdump.Status.NOTFOUND)
        row = {"name": "x", "type": "System.Int32", "value": None, "static": False}
        with self.assertRaises(heapdump.HeapdumpError) as caught:
            heapdump.objects.wrap(self.heap, row, "T")
        self.assertEqual(caught.exception.status, heapdump.Status.FAULT)

    def test_items_of_a_dictionary(self) -> None:
        pages = self.heap.statics["WebShop.PageCache.pages"]
        rows = self.heap.dumpcollection(pages, limit=0).rows("items")
        picked = [row for number, row in enumerate(rows) if number % 1000 == 7]
        for row in picked:
            key = self.heap.object(row["key"])
            self.assertEqual(key, row["key_text"])
            self.assertEqual(pages[key], self.heap.object(row["value"]))
        keys = list(pages)
        self.assertEqual(len(keys), len(set(keys)))
        self.assertEqual(keys[7], picked[0]["key_text"])
        # A name that is no key is a field.
        self.assertGreater(len(pages["_entries"]), len(pages))
        for wrong in ("nosuch", 5):
            with self.assertRaises(KeyError):
                print(pages[wrong])
        table = self.heap.statics["WebShop.SessionTable.open"]
        self.assertEqual([value.type_ for _, value in table.items_()], ["WebShop.Session"] * 50)

    def test_every_collection_has_a_length(self) -> None:
        names = set()
        for row in self.heap.types():
            if row["count"] and row["name"].startswith("System.Collections.Generic.Dictionary<"):
                names.add(row["name"])
        names.add(
            "System.Runtime.CompilerServices.ConditionalWeakTable"
            "<System.Buffers.SharedArrayPoolThreadLocalArray[], System.Object>"
        )
        seen = 0
        for name in sorted(names)[-6:]:
            for found in self.heap.objects(name):
                if isinstance(found, heapdump.Collection):
                    self.assertEqual(len(found), sum(1 for _ in found.items_()), name)
                    seen += 1
                    break
        self.assertGreater(seen, 1)

    def test_a_backing_field_is_its_property(self) -> None:
        rows = self.heap.sql(
            "SELECT object, name FROM fields WHERE type LIKE '%' AND name LIKE '<%>k__BackingField' LIMIT 1",
        )
        row = rows[0]
        name = row["name"][1:].partition(">")[0]
        thing = self.heap.object(row["object"])
        self.assertIn(name, dir(thing))
        self.assertEqual(getattr(thing, name), thing[row["name"]])

    def test_python_may_ask_objects_anything(self) -> None:
        feed = self.heap.statics[FEED]
        self.assertIn("WebShop.PriceFeed", repr(feed))
        self.assertEqual(len({feed, self.heap.object(number("feed"))}), 1)
        self.assertNotEqual(feed, 3)
        self.assertFalse(hasattr(feed, "__deepcopy__"))
        self.assertEqual(copy.copy(feed.address_), feed.address_)
        self.assertIs(bool(feed), True)

    def test_references_lead_back(self) -> None:
        feed = self.heap.statics[FEED]
        changed = feed.Changed
        self.assertIn(changed, list(feed.references_()))
        self.assertIn(feed, list(changed.referrers_()))


class UnreadableTest(unittest.TestCase):
    """A core in which the memory of some objects is missing."""

    @classmethod
    def setUpClass(cls) -> None:
        if shutil.which("zstd") is None:
            raise unittest.SkipTest("there is no zstd to unpack a core")
        folder = tempfile.TemporaryDirectory(prefix="heapdump-python-")
        cls.addClassCleanup(folder.cleanup)
        cls.whole = Path(folder.name) / "leak.core"
        subprocess.run(["zstd", "-q", "-d", LEAK, "-o", cls.whole], check=True)

    whole: Path

    def without(self, address: int) -> Path:
        """The core without memory from there on to the end of its segment."""
        path = self.whole.with_name(f"{address:x}.core")
        data = bytearray(self.whole.read_bytes())
        headers, count = (
            struct.unpack_from("<Q", data, 32)[0],
            struct.unpack_from("<H", data, 56)[0],
        )
        for header in range(headers, headers + 56 * count, 56):
            kind, _, _, begin, _, size = struct.unpack_from("<IIQQQQ", data, header)
            if kind == 1 and begin <= address < begin + size:
                struct.pack_into("<Q", data, header + 32, address - begin)
                path.write_bytes(data)
                return path
        raise AssertionError(f"{address:#x} is in no segment")

    def test_null_missing_and_unreadable(self) -> None:
        with leak() as heap:
            last = max(heap.objects("WebShop.Session"), key=lambda found: found.address_)
            token = next(
                row["to"]
                for row in heap.sql(
                    f'SELECT "to", field FROM refs WHERE "from" = {last.address_:d}'
                )
                if row["field"] == ".Token"
            )
        self.assertGreater(token, last.address_)
        # The characters of the token, the token, and the fields of the session behind the first one are missing.
        for address, field, status in (
            (token + 16, "Token", heapdump.Status.FAULT),
            (token, "Token", heapdump.Status.NOTFOUND),
            (last.address_ + 16, "Notices", heapdump.Status.FAULT),
        ):
            path = self.without(address)
            for isolated in (False, True):
                with self.subTest(address=hex(address)), heapdump.open(
                    path, files=False, isolated=isolated
                ) as heap:
                    session = heap.object(last.address_)
                    with self.assertRaises(heapdump.HeapdumpError) as caught:
                        getattr(session, field)
                    self.assertEqual(caught.exception.status, status, caught.exception)
                    self.assertIsInstance(session.fields_()[field], heapdump.HeapdumpError)
                    with self.assertRaises(AttributeError):
                        print(session.Nosuch)
                    with self.assertRaises(KeyError):
                        print(session["Nosuch"])
                    findings = [row["kind"] for row in heap.info().rows("findings")]
                    self.assertIn("heap-bytes-missing", findings)
            path.unlink()


class CommandsTest(unittest.TestCase):
    """Commands by their names, options by keyword."""

    heap: heapdump.Heap

    @classmethod
    def setUpClass(cls) -> None:
        cls.heap = leak()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.heap.close()

    def shell(self, *words: str) -> Any:
        done = subprocess.run(
            [BUILD / "heapdump", "--json", "--no-files", LEAK, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
            env=dict(os.environ, LD_PRELOAD=""),
        )
        return done.returncode, json.loads(done.stdout.splitlines()[0])

    # Words that each command needs; the others need none.
    WORDS = {
        "assert": ("count(type=WebShop.Session) <= 10000",),
        "dumparray": ("7f039fe68318",),
        "dumpcollection": ("7f039d0000d0",),
        "dumpobj": ("7f039fc09b30",),
        "gcroot": ("7f039fe5a158",),
        "pathto": ("7f039fc09b30", "7f039fe5a158"),
        "sql": (
            "SELECT type, count(*) AS n FROM objects GROUP BY type ORDER BY n DESC, type LIMIT 5",
        ),
        "objsize": ("7f039fe5a158",),
        "retained": ("7f039fe5a158",),
        "referrers": ("7f039fe5a158",),
        "dumpclass": ("7f0f79554ed8",),
        "dumpmt": ("7f0f79554ed8",),
        "name2ee": ("*!WebShop.PriceFeed",),
        "gcwhere": ("7f039fc09b30",),
        "listnearobj": ("7f039fc09b30",),
        "verifyobj": ("7f039fc09b30",),
        "dumpdelegate": ("7f039d0bc268",),
        "dumpvc": ("7f0f79550a08", "7f039fc09a30"),
        "printexception": ("7f039fc00088",),
        "dq": ("7f039fc09b30",),
        "db": ("7f039fc09b30",),
        "dumpmodule": ("7f0f79538438",),
        "threadstate": ("1020",),
        "help": ("gcroot",),
    }
    # Their answers are about this moment, or this process; or they change what is open, or write.
    NOT_HERE = {"ps", "collect", "doctor", "info", "open", "close", "set", "export", "setthread"}

    def test_every_command_says_what_the_shell_says(self) -> None:
        same, failed = 0, []
        for name in self.heap.commands:
            if name in self.NOT_HERE:
                continue
            words = self.WORDS.get(name, ())
            status, document = self.shell(name, *words)
            with self.subTest(command=name):
                try:
                    answer = self.heap.run(name, *words)
                except heapdump.HeapdumpError as error:
                    self.assertEqual(status, error.exit)
                    self.assertEqual(document["error"]["message"], str(error))
                    failed.append(name)
                    continue
                self.assertEqual(answer.status, status)
                have = bare(spelt(answer.document())) or {}
                self.assertEqual(differences(have, wanted(document)), [])
                same += 1
        # The rest need words that are not in WORDS: their errors are the same.
        self.assertGreater(same, 55, failed)

    def test_options_by_keyword(self) -> None:
        heap = self.heap
        self.assertEqual(heap.words("gcroot", 16, limit=3), ["gcroot", "-limit", "3", "0x10"])
        self.assertEqual(
            heap.words("dumpheap", mt=32, min=5), ["dumpheap", "-mt", "0x20", "-min", "5"]
        )
        self.assertEqual(
            heap.words("dumpheap", stat=True, live=False, type=None), ["dumpheap", "-stat"]
        )
        self.assertEqual(heap.words("gcroot", "-x"), ["gcroot", "--", "-x"])
        self.assertEqual(heap.words("info", max_mem="2G"), ["info", "--max-mem", "2G"])
        feed = heap.statics[FEED]
        self.assertEqual(heap.words("dumpobj", feed), ["dumpobj", hex(feed.address_)])
        with self.assertRaisesRegex(TypeError, "gcroot has no option nosuch; it has .*limit"):
            heap.gcroot(nosuch=1)
        self.assertIn("limit", heap.gcroot.options)
        self.assertIn("Usage: gcroot", str(heap.gcroot.__doc__))
        self.assertIn("gcroot", dir(heap))

    def test_an_answer_has_rows_members_and_tables(self) -> None:
        answer = self.heap.gcroot(number("leaked"))
        self.assertEqual(answer.status, 0)
        self.assertIn("roots", answer.tables)
        self.assertEqual(list(answer)[0], answer[0])
        self.assertEqual(answer[-1], list(answer)[-1])
        with self.assertRaisesRegex(KeyError, "it has .*roots"):
            answer.rows("nosuch")
        answer = self.heap.sql("SELECT count(*) AS n FROM objects")
        self.assertIs(answer.complete, True)
        self.assertEqual(answer.members["findings"], [])
        self.assertEqual([list(row) for row in answer], [["n"]])

    def test_an_answer_is_shown_as_a_table(self) -> None:
        lines = str(self.heap.clrthreads()).splitlines()
        self.assertEqual(lines[0].split()[:3], ["id", "os_id", "address"])
        self.assertEqual(len(lines), 1 + len(list(self.heap.clrthreads())))
        lines = str(self.heap.sql("SELECT address, 'a\x1b[31m' AS x FROM objects")).splitlines()
        self.assertEqual(len(lines), 52)
        self.assertIn(r"a\u001b[31m", lines[1])
        self.assertEqual(lines[-1], "(50 of 72861 rows)")
        self.assertIn("runtime.version", str(self.heap.info()))
        self.assertEqual(
            str(self.heap.sql("SELECT 1 AS one WHERE 0")).split()[:2], ["name", "value"]
        )
        for name in ("crashinfo", "eeheap", "hang", "report", "roots", "syncblk", "threads"):
            self.assertTrue(str(self.heap.run(name)), name)

    def test_failures_have_a_status(self) -> None:
        with self.assertRaises(heapdump.HeapdumpError) as caught:
            self.heap.gcroot("no such type")
        self.assertEqual(
            (caught.exception.status, caught.exception.exit), (heapdump.Status.NOTFOUND, 2)
        )
        with self.assertRaises(heapdump.HeapdumpError) as caught:
            heapdump.open("/nonexistent/core")
        self.assertEqual(caught.exception.status, heapdump.Status.OS)
        with self.assertRaises(heapdump.HeapdumpError) as caught:
            heapdump.open(LEAK, workers=1000)
        self.assertEqual(caught.exception.status, heapdump.Status.ARGUMENT)
        with self.assertRaises(heapdump.HeapdumpError):
            heapdump.open(LEAK, nosuch=1)
        for isolated in (False, True):
            for path in (f"{LEAK}\0.x", "\ud800"):
                with self.assertRaises(heapdump.HeapdumpError) as caught:
                    heapdump.open(path, isolated=isolated)
                self.assertEqual(caught.exception.status, heapdump.Status.ARGUMENT)
        with self.assertRaisesRegex(heapdump.HeapdumpError, "NUL"):
            self.heap.gcroot("WebShop.Session\0x")
        with self.assertRaisesRegex(heapdump.HeapdumpError, "this is|no current heap"):
            heapdump.current()

    def test_a_dump_file_has_objects_without_values(self) -> None:
        with heapdump.open(str(LOG)) as heap:
            board = heap.object(0x1CE056)
            self.assertEqual((board.type_, board.size_), ("BubbleCS.GameBoard", 280))
            self.assertTrue(list(board.references_()))
            with self.assertRaises(heapdump.HeapdumpError) as caught:
                print(board.Anything)
            self.assertEqual(caught.exception.status, heapdump.Status.UNSUPPORTED)
        heap.close()
        with self.assertRaisesRegex(heapdump.HeapdumpError, "closed"):
            heap.info()
        self.assertIn("closed", repr(heap))


class StreamTest(unittest.TestCase):
    """Rows while the command runs."""

    ALL = "SELECT * FROM refs"

    def test_a_stream_gives_the_rows_of_the_answer(self) -> None:
        with leak() as heap:
            cases: list[tuple[Any, dict[str, Any], Any]] = [
                (("sql", "SELECT * FROM objects LIMIT 3000"), {"limit": 0}, None),
                (("gcroot", hex(number("leaked"))), {}, None),
                (("gcroot", hex(number("leaked"))), {}, "roots.path"),
                (("dumparray", "7f039fe68318"), {}, None),
                (("dumpobj", "7f039fe5a158"), {}, "fields"),
                (("clrstack",), {"all": True}, None),
            ]
            for words, options, table in cases:
                with self.subTest(words=words, table=table):
                    answer = heap.run(*words, **options)
                    found: Any = answer if table is None else answer.rows(table)
                    want = list(found)
                    self.assertTrue(want)
                    have = list(heap.stream(*words, table=table, **options))
                    self.assertEqual(bare(have), bare(want))
            with self.assertRaises(KeyError):
                list(heap.stream("gcroot", "WebShop.Page", table="nosuch"))
            with self.assertRaises(heapdump.HeapdumpError):
                list(heap.gcroot.stream("no such type"))

    def test_one_that_is_left_ends_the_command(self) -> None:
        with leak() as heap:
            rows = heap.stream("sql", self.ALL, limit=0)
            self.assertTrue(next(rows))
            with self.assertRaisesRegex(heapdump.HeapdumpError, "busy"):
                heap.info()
            rows.close()  # type: ignore[attr-defined]
            self.assertTrue(heap.info().document())
            self.assertFalse([t for t in threading.enumerate() if t.name == "heapdump"])


class InterruptTest(unittest.TestCase):
    """Who may stop a command, and what is said meanwhile."""

    LONG = "SELECT count(*) FROM refs a, refs b"

    def test_control_c_is_keyboard_interrupt(self) -> None:
        with leak() as heap:
            heap.sql("SELECT count(*) FROM refs")
            timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                heap.sql(self.LONG)
                time.sleep(60)
            timer.join()
            self.assertEqual(heap.sql("SELECT 1 AS one")[0], {"one": 1})

    def test_another_thread_may_cancel(self) -> None:
        with leak() as heap:
            heap.sql("SELECT count(*) FROM refs")
            timer = threading.Timer(0.3, heap.cancel)
            timer.start()
            with self.assertRaises(heapdump.HeapdumpError) as caught:
                heap.sql(self.LONG)
            timer.join()
            self.assertEqual(caught.exception.status, heapdump.Status.CANCELLED)

    def test_progress_is_shown_and_may_raise(self) -> None:
        seen: list[Any] = []
        with heapdump.open(LEAK, files=False, progress=lambda *what: seen.append(what)) as heap:
            timer = threading.Timer(0.8, heap.cancel)
            timer.start()
            with self.assertRaises(heapdump.HeapdumpError):
                heap.sql(self.LONG)
            timer.join()
        self.assertTrue(seen)
        self.assertTrue(all(isinstance(done, int) for _, done, _ in seen))

        # On a busy machine opening shows progress, too.
        is_open = [False]

        def stop(*_: Any) -> None:
            if is_open[0]:
                raise ZeroDivisionError

        with heapdump.open(LEAK, files=False, progress=stop) as heap:
            is_open[0] = True
            with self.assertRaises(ZeroDivisionError):
                heap.sql(self.LONG)
            is_open[0] = False
            self.assertTrue(heap.info().document())

        def again(*_: Any) -> None:
            if is_open[0]:
                heap.info()

        with heapdump.open(LEAK, files=False, progress=again) as heap:
            is_open[0] = True
            with self.assertRaisesRegex(heapdump.HeapdumpError, "busy"):
                heap.sql(self.LONG)


def use_in_child(heap: heapdump.Heap, results: Any) -> None:
    """Runs after fork()."""
    try:
        heap.info()
    except heapdump.HeapdumpError as error:
        results.put(str(error))
    with heapdump.open(LOG) as own:
        results.put(own.object(0x1CE056).type_)


class StressTest(unittest.TestCase):
    """Threads, fork and Python's own collector."""

    def test_callbacks_live_as_long_as_their_command(self) -> None:
        seen = [0]

        def count(*_: Any) -> None:
            seen[0] += 1
            gc.collect()

        before = gc.get_threshold()
        gc.set_threshold(1)
        try:
            with heapdump.open(LOG, progress=count) as heap:
                for _ in range(3):
                    self.assertTrue(list(heap.dumpheap(stat=True)))
                    self.assertTrue(list(heap.stream("dumpheap", stat=True)))
        finally:
            gc.set_threshold(*before)

    def test_threads_take_turns_at_one_heap_and_not_at_several(self) -> None:
        wrong: list[str] = []

        def work(heap: heapdump.Heap) -> None:
            for _ in range(15):
                types = {row["name"]: row["count"] for row in heap.dumpheap(stat=True)}
                if types["BubbleCS.GameBoard"] != 2:
                    wrong.append(str(types))

        with heapdump.open(LOG) as shared, heapdump.open(LOG) as other:
            threads = [
                threading.Thread(target=work, args=(heap,))
                for heap in (shared, shared, shared, other)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(wrong, [])

    def test_a_child_opens_its_own(self) -> None:
        context = multiprocessing.get_context("fork")
        results = context.Queue()
        with heapdump.open(LOG) as heap:
            child = context.Process(target=use_in_child, args=(heap, results))
            child.start()
            self.assertIn("fork", results.get(timeout=60))
            self.assertEqual(results.get(timeout=60), "BubbleCS.GameBoard")
            child.join()
            self.assertEqual(child.exitcode, 0)
            self.assertTrue(heap.info().document())
            with self.assertRaisesRegex(TypeError, "cannot be pickled"):
                pickle.dumps(heap)

    def test_what_is_dropped_is_closed(self) -> None:
        for _ in range(20):
            heap = heapdump.open(LOG)
            rows = iter(heap.dumpheap(stat=True))
            next(rows)
            del heap
            self.assertTrue(next(rows))


class HostileNamesTest(unittest.TestCase):
    """Names that a file made up."""

    def test_text_is_what_the_file_has(self) -> None:
        name = "A\x1b[31m\u202e<script>'; DROP TABLE objects; --"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x\n\x1b[2J.heap"
            text = LOG.read_bytes().replace(b"BubbleCS.GameBoard", name.encode())
            path.write_bytes(text)
            with heapdump.open(path) as heap:
                board = heap.object(0x1CE056)
                self.assertNotIn("\x1b", repr(board))
                self.assertNotIn("\x1b", heapdump.printable(board.type_))
                found = [row for row in heap.dumpheap(stat=True) if "DROP" in row["name"]]
                self.assertTrue(found)
                with self.assertRaises(heapdump.HeapdumpError):
                    heap.statics[name + ".x"]
                self.assertEqual(list(heap.objects("nosuch'\"\x1b")), [])
                with self.assertRaises(heapdump.HeapdumpError):
                    heap.run("no\x1bsuch")


if __name__ == "__main__":
    unittest.main()
