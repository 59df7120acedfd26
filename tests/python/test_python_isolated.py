#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python package over the sandboxed program: isolated=True."""
from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
# pylint: disable=wrong-import-position
import test_python as base  # noqa: E402  (it finds the package)
import heapdump  # noqa: E402
from heapdump.isolated import Isolated  # noqa: E402


class IsolatedTest(unittest.TestCase):
    """The shell program reads the target, in its sandbox; its answers are the same."""

    def test_every_answer_is_the_same(self) -> None:
        same = 0
        with base.leak() as heap, heapdump.open(base.LEAK, files=False, isolated=True) as isolated:
            for name in heap.commands:
                if name in base.CommandsTest.NOT_HERE:
                    continue
                words = base.CommandsTest.WORDS.get(name, ())
                with self.subTest(command=name):
                    try:
                        want = heap.run(name, *words)
                    except heapdump.HeapdumpError as error:
                        with self.assertRaises(heapdump.HeapdumpError) as caught:
                            isolated.run(name, *words)
                        found = caught.exception
                        self.assertEqual(str(found), str(error))
                        self.assertEqual((found.status, found.exit), (error.status, error.exit))
                        continue
                    have = isolated.run(name, *words)
                    self.assertEqual(repr(have.document()), repr(want.document()))
                    self.assertEqual((have.status, have.tables), (want.status, want.tables))
                    self.assertEqual(have.warnings, want.warnings)
                    same += 1
        self.assertGreater(same, 55)

    def test_it_is_in_the_sandbox(self) -> None:
        with heapdump.open(base.LEAK, files=False, isolated=True) as heap:
            self.assertRegex(heap.info().members["sandbox"], "^on|^off.*system")
            handlers = heap.statics[base.FEED].Changed._invocationList
            self.assertEqual(handlers[0]._target.Token, "session-000000")
            self.assertEqual(
                handlers[0]._target.address_, heap.object(handlers[0]._target).address_
            )

    def test_words_mean_nothing_but_themselves(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            mark = Path(folder) / "mark"
            words = (
                f"a|touch {mark}",
                f"a > {mark}",
                f"'; touch {mark}",
                f"$(touch {mark})",
                "a\nb",
                "",
                "\x1b",
            )
            with heapdump.open(base.LEAK, files=False, isolated=True) as heap:
                for word in words:
                    text = word.replace("'", "''")
                    row = heap.sql(f"SELECT '{text}' AS x;\n-- more\n")[0]
                    self.assertEqual(row, {"x": word})
                    with self.assertRaises(heapdump.HeapdumpError):
                        heap.gcroot(word + "!")
                with self.assertRaises(heapdump.HeapdumpError):
                    heap.gcroot("a\0b")
            self.assertFalse(mark.exists())

    def test_streams_end_when_they_are_left(self) -> None:
        with heapdump.open(base.LEAK, files=False, isolated=True) as heap:
            rows = heap.stream("sql", base.StreamTest.ALL, limit=0)
            first = next(rows)
            with self.assertRaisesRegex(heapdump.HeapdumpError, "busy"):
                heap.info()
            rows.close()  # type: ignore[attr-defined]
            with base.leak() as own:
                self.assertEqual(first, own.sql(base.StreamTest.ALL + " LIMIT 1")[0])
                want = own.gcroot(base.number("leaked"))
                have = list(heap.gcroot.stream(base.number("leaked")))
                self.assertEqual(base.bare(have), base.bare(list(want)))

    def test_control_c_and_cancel(self) -> None:
        with heapdump.open(base.LEAK, files=False, isolated=True) as heap:
            heap.sql("SELECT count(*) FROM refs")
            timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                heap.sql(base.InterruptTest.LONG)
                time.sleep(60)
            timer.join()
            self.assertEqual(heap.sql("SELECT 1 AS one")[0], {"one": 1})
            timer = threading.Timer(0.3, heap.cancel)
            timer.start()
            with self.assertRaises(heapdump.HeapdumpError) as caught:
                heap.sql(base.InterruptTest.LONG)
            timer.join()
            self.assertEqual(caught.exception.status, heapdump.Status.CANCELLED)
            heap.cancel()  # nothing runs
            self.assertEqual(heap.sql("SELECT 1 AS one")[0], {"one": 1})

    def test_what_cannot_be_opened_says_the_same(self) -> None:
        for path in ("/nonexistent/core", "/etc/passwd"):
            said = []
            for isolated in (False, True):
                with self.assertRaises(heapdump.HeapdumpError) as caught:
                    heapdump.open(path, isolated=isolated)
                said.append((str(caught.exception), caught.exception.status))
            self.assertEqual(said[0], said[1])
        with self.assertRaisesRegex(heapdump.HeapdumpError, "--nosuch"):
            heapdump.open(base.LEAK, isolated=True, nosuch=1)

    def test_a_program_that_dies_is_an_error(self) -> None:
        for number in (signal.SIGKILL, signal.SIGSEGV):
            heap = heapdump.open(base.LEAK, files=False, isolated=True)
            child = heap._target._child  # type: ignore[attr-defined]
            os.kill(child.pid, number)
            child.wait()
            with self.assertRaisesRegex(heapdump.HeapdumpError, f"ended by signal {int(number)}"):
                heap.info()
            with self.assertRaisesRegex(heapdump.HeapdumpError, "signal.*open the heap again"):
                heap.info()

    def reader(self, heap: heapdump.Heap) -> int:
        """The process that reads the target for the program."""
        child = heap._target._child.pid  # type: ignore[attr-defined]
        text = Path(f"/proc/{child}/task/{child}/children").read_text(encoding="ascii")
        return int(text.split()[0])

    def test_so_is_a_reader_that_dies(self) -> None:
        with heapdump.open(base.LEAK, files=False, isolated=True) as heap:
            timer = threading.Timer(0.3, os.kill, (self.reader(heap), signal.SIGKILL))
            timer.start()
            with self.assertRaisesRegex(heapdump.HeapdumpError, "reads the target.*signal 9"):
                heap.sql(base.InterruptTest.LONG)
            timer.join()
            with self.assertRaisesRegex(heapdump.HeapdumpError, "signal 9.*open the heap again"):
                heap.info()

    def test_so_is_one_that_dies_while_it_writes(self) -> None:
        for _ in range(3):
            with heapdump.open(base.LEAK, files=False, isolated=True) as heap:
                rows = heap.stream("sql", base.StreamTest.ALL, limit=0)
                next(rows)
                os.kill(self.reader(heap), signal.SIGKILL)
                with self.assertRaisesRegex(heapdump.HeapdumpError, "reads the target.*signal 9"):
                    for _ in rows:
                        pass

    def test_half_a_line_is_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "program"
            lines = '["t",0,-1,0,1,"x","y"]\\n["r",0,[1]]\\n["r",0,[2\\n["s",3]\\n'
            script = (
                "printf '[\"v\",1]\\n[\"s\",0]\\n'; head -c 7 >/dev/null; echo 'heapdump: gone' >&2"
            )
            program.write_text(f"#!/bin/sh\n{script}; printf '{lines}'\n")
            program.chmod(0o755)
            target = Isolated("x", False, {}, None, str(program))
            with heapdump.Heap(target) as heap:
                with self.assertRaisesRegex(heapdump.HeapdumpError, "^gone$"):
                    heap.info()
                with self.assertRaisesRegex(heapdump.HeapdumpError, "open the heap again"):
                    heap.info()

    def test_a_program_of_another_version_is_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "program"
            for line in ('["v",2]', '["s",0]', "[1]"):
                program.write_text(f"#!/bin/sh\necho '{line}'\n")
                program.chmod(0o755)
                with self.assertRaisesRegex(
                    heapdump.HeapdumpError, "version (2|another)"
                ) as caught:
                    Isolated("x", False, {}, None, str(program))
                self.assertEqual(caught.exception.status, heapdump.Status.UNSUPPORTED)

    def test_a_big_answer(self) -> None:
        query = "SELECT a.* FROM refs a, (SELECT 1 FROM refs LIMIT 3) b"
        with heapdump.open(base.LEAK, files=False, isolated=True) as heap:
            self.assertEqual(sum(1 for _ in heap.sql.stream(query, limit=0)), 3 * 100813)


if __name__ == "__main__":
    unittest.main()
