# SPDX-License-Identifier: MIT
"""The plug-in inside GDB on C programs: live ones, their cores, and behind gdbserver."""
from __future__ import annotations

import os
import re
import shutil
import sys
import unittest

import gdb_batch
import support
import targets
from gdb_batch import GDB, NOTHING, NO_CLR, between, mark, run_gdb


class PlainTest(unittest.TestCase):
    """A C program, no .NET needed: commands find no CoreCLR in it."""

    folder = ""
    program = ""

    @classmethod
    def setUpClass(cls) -> None:
        folder = support.temporary_folder()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.program = targets.compile_program(folder.name)

    def gdb(self, *commands: str) -> str:
        """At the first marker()."""
        start = ("break marker", "run") + commands + ("kill",)
        return run_gdb(*start, options=(self.program,))

    def test_without_a_target_it_says_so(self) -> None:
        for line in ("eeheap", "dumpobj 10", "heapdump info", "print $hd_type(16)"):
            self.assertIn(NOTHING, run_gdb(line, options=(self.program,)))

    def test_live_process(self) -> None:
        text = self.gdb("heapdump info", "eeheap", "print $_heapdump_status")
        self.assertIn("process", text)
        self.assertEqual(text.count(NO_CLR), 2)
        self.assertIn("$1 = 3", text)

    def test_expressions_of_a_live_process(self) -> None:
        text = self.gdb("dumpobj $sp", "dumpobj &number", "dumpobj number")
        self.assertEqual(text.count(NO_CLR), 3)
        self.assertNotIn("cannot evaluate", text)

    def test_process_that_has_ended(self) -> None:
        text = self.gdb("eeheap", "delete", "continue", mark(1), "eeheap", mark(2))
        self.assertIn(NO_CLR, text.split("<<1>>")[0])
        self.assertIn(NOTHING, between(text, 1))
        self.assertNotIn(NO_CLR, between(text, 1))

    def test_core(self) -> None:
        path = os.path.join(self.folder, "plain.core")
        text = self.gdb("generate-core-file " + path, "heapdump info")
        self.assertIn(NO_CLR, text)
        for options in ((self.program, path), ("-c", path)):
            text = run_gdb("heapdump info", "dumpobj $sp", options=options)
            self.assertIn("written by gcore", text)
            self.assertEqual(text.count(NO_CLR), 2)
        text = run_gdb(mark(1), "heapdump info", mark(2), options=("-c", path))
        self.assertIn(path, between(text, 1))
        text = run_gdb(
            "heapdump info", "core-file", mark(1), "heapdump info", mark(2), options=("-c", path)
        )
        self.assertIn(NOTHING, between(text, 1))

    def test_names_of_files_that_are_not_utf8(self) -> None:
        program = os.path.join(self.folder, os.fsdecode(b"caf\xe9"))
        shutil.copy(self.program, program)
        path = program + ".core"
        start = ("break marker", "run")
        text = run_gdb(
            *start, "heapdump info", "generate-core-file " + path, "kill", options=(program,)
        )
        self.assertIn(NO_CLR, text)
        text = run_gdb("heapdump info", "dumpobj $sp", options=("-c", path))
        self.assertIn("written by gcore", text)
        self.assertEqual(text.count(NO_CLR), 2)

    def test_backend(self) -> None:
        path = os.path.join(self.folder, "backend.core")
        text = self.gdb(
            "generate-core-file " + path,
            "set heapdump backend file",
            "eeheap",
            "set heapdump backend process",
            "eeheap",
            "set heapdump backend debugger",
            "heapdump info",
        )
        self.assertIn("no core file of the debugger's", text)
        self.assertIn("read by the debugger", text)
        self.assertEqual(text.count(NO_CLR), 2)
        text = run_gdb(
            "set heapdump backend process",
            "eeheap",
            "set heapdump backend file",
            "heapdump info",
            "set heapdump backend debugger",
            "heapdump info",
            options=("-c", path),
        )
        self.assertIn("no process stopped on this machine", text)
        self.assertIn("written by gcore", text)
        self.assertIn("read by the debugger", text)

    def test_opened_file_comes_first_until_it_is_closed(self) -> None:
        dump = support.write_dump(self.folder)
        text = self.gdb(
            mark(1),
            "heapdump open " + dump,
            "gcroot 10",
            "next",
            "heapdump info",
            mark(2),
            "heapdump close",
            "heapdump info",
            "dumpobj 10",
            mark(3),
        )
        self.assertIn("Found 2 unique roots", between(text, 1))
        self.assertNotIn(NO_CLR, between(text, 1))
        self.assertEqual(between(text, 2).count(NO_CLR), 2)

    def test_commands_may_be_in_upper_case(self) -> None:
        """OPEN is open: what GDB debugs does not come back by itself, and does with CLOSE."""
        dump = support.write_dump(self.folder)
        text = self.gdb(
            "heapdump OPEN " + dump,
            mark(1),
            "heapdump info",
            mark(2),
            "heapdump CLOSE",
            "heapdump info",
            mark(3),
        )
        self.assertIn("test.exe", between(text, 1))
        self.assertNotIn(NO_CLR, between(text, 1))
        self.assertIn(NO_CLR, between(text, 2))

    def test_file_that_cannot_be_opened_changes_nothing(self) -> None:
        text = self.gdb("heapdump open /nonexistent/file", "heapdump info")
        self.assertIn("/nonexistent/file", text)
        self.assertIn(NO_CLR, text)

    def test_recorded_process_is_read_through_gdb(self) -> None:
        text = self.gdb(
            "record full", mark(1), "heapdump info", "record stop", mark(2), "heapdump info"
        )
        self.assertIn("read by the debugger", between(text, 1))
        self.assertNotIn("read by the debugger", text.split("<<2>>")[1])

    def test_registers_of_threads(self) -> None:
        child = targets.Child([self.program, "wait"])
        self.addCleanup(child.end)
        text = run_gdb(
            "thread 2",
            "up",
            mark(1),
            "python from heapdump import native; from heapdump_gdb import plugin, target",
            "python processor = gdb.selected_inferior().architecture().name().encode()",
            "python names = native.register_names(plugin.session().lib, processor)",
            "python rows = target.threads(names)",
            mark(2),
            "python for row in rows: print(hex(row[0]), *[hex(value) for value in row[2]])",
            mark(3),
            "frame",
            "thread",
            mark(4),
            # Each as GDB itself shows it.
            'thread apply all printf "%#x %#lx %#lx %#lx %#lx\\n", $_gthread * 0, $rax, $rbx, '
            "$r15, $pc",
            "info threads",
            options=("-p", str(child.pid)),
        )
        self.assertEqual(between(text, 1), "")
        rows = [[int(word, 16) for word in line.split()] for line in between(text, 2).splitlines()]
        self.assertEqual(len(rows), 2)
        self.assertEqual({row[0] for row in rows}, set(targets.threads(child.pid)))
        self.assertRegex(between(text, 3), r"(?m)^#1 ")
        self.assertRegex(between(text, 3), r"Current thread is 2 ")
        shown = text.split("<<4>>")[1]
        for tid, *values in rows:
            thread = re.search(rf"Thread (\d+) \(.*LWP {tid}\)", shown)
            assert thread is not None, shown
            line = re.search(rf"(?m)^Thread {thread.group(1)} \(.*\n(0.*)", shown)
            assert line is not None, shown
            expected = [int(word, 16) for word in line.group(1).split()[1:]]
            self.assertEqual([values[0], values[3], values[15], values[16]], expected)

    def test_running_threads_are_refused(self) -> None:
        text = run_gdb(
            "set pagination off",
            "set non-stop on",
            "run wait &",
            "heapdump info",
            "print $_heapdump_status",
            "kill",
            options=(self.program,),
        )
        self.assertIn("threads are running", text)
        self.assertIn("interrupt -a", text)
        self.assertIn("$1 = 3", text)

    def test_process_that_gdb_has_cannot_be_opened_by_its_number(self) -> None:
        child = targets.Child([self.program, "wait"])
        self.addCleanup(child.end)
        text = run_gdb(
            f"heapdump open {child.pid}", "heapdump info", options=("-p", str(child.pid))
        )
        self.assertRegex(text, r"is traced by process \d+ \(gdb\)")
        self.assertIn(NO_CLR, text)
        self.assertIn(targets.wait_for_state(child.pid, "RS"), "RS")

    def test_process_lives_when_gdb_is_killed(self) -> None:
        child = targets.Child([self.program, "wait"])
        self.addCleanup(child.end)
        terminal = support.Terminal(GDB + ["-p", str(child.pid)], r"\(gdb\) ")
        try:
            terminal.prompt()
            self.assertIn(NO_CLR, terminal.command("heapdump info"))
        finally:
            terminal.__exit__()
        self.assertIn(targets.wait_for_state(child.pid, "RS"), "RS")

    def test_opened_process_runs_on(self) -> None:
        child = targets.Child([self.program, "wait"])
        self.addCleanup(child.end)
        text = run_gdb(f"heapdump open {child.pid}", "heapdump info")
        self.assertIn("Opened process", text)
        self.assertIn("Stopped:", text)
        self.assertIn(targets.wait_for_state(child.pid, "RS"), "RS")

    def test_gdbserver_is_read_through_gdb(self) -> None:
        remote = gdb_batch.serve(self, [self.program])
        text = run_gdb(
            remote, "break marker", "continue", "heapdump info", "kill", options=(self.program,)
        )
        self.assertIn("read by the debugger", text)
        self.assertIn(NO_CLR, text)

    def test_two_cores(self) -> None:
        paths = [os.path.join(self.folder, f"two{i}.core") for i in (1, 2)]
        self.gdb("generate-core-file " + paths[0], "next", "generate-core-file " + paths[1])
        text = run_gdb(
            "core-file " + paths[0],
            "add-inferior",
            "inferior 2",
            "core-file " + paths[1],
            mark(1),
            "heapdump info",
            mark(2),
            "inferior 1",
            "heapdump info",
            mark(3),
            "inferior 2",
            "heapdump info",
            mark(4),
        )
        for number, path in ((1, paths[1]), (2, paths[0]), (3, paths[1])):
            self.assertIn(path, between(text, number))


if __name__ == "__main__":
    if shutil.which("gdb") is None:
        print("skipped: no gdb")
        sys.exit(77)
    unittest.main()
