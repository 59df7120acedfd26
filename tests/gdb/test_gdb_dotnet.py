# SPDX-License-Identifier: MIT
"""The plug-in inside GDB on .NET programs: cores that have been made, and one that lives."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from typing import Any

import gdb_batch
import support
import targets
from gdb_batch import GDB, between, mark, run_gdb, thread_numbers

HELD = str(support.SOURCE / "tests" / "gdb" / "held.py")


class DotnetCoreTest(unittest.TestCase):
    """Cores of .NET programs, where they have been made."""

    def test_same_answers_as_the_shell(self) -> None:
        path = targets.core("wks10-full")
        if path is None:
            return
        for command in targets.OF_CORES:
            expected = targets.shell(path, *command.split())
            self.assertGreater(len(expected.splitlines()), 10)
            for backend in ("auto", "debugger"):
                text = run_gdb(
                    f"set heapdump backend {backend}",
                    mark(1),
                    command,
                    mark(2),
                    options=("-c", path),
                )
                self.assertEqual(between(text, 1), expected, (command, backend))

    def test_the_stack_of_gdb_has_managed_frames(self) -> None:
        path = targets.core("hang10-mixed-heap")
        if path is None:
            return
        found = targets.document(targets.shell(path, "modules", "--json"))["modules"]
        program = next(m["path"] for m in found if m["path"].endswith("/dotnet"))
        opening = ["file " + program, "core-file " + path, mark(1), "thread 1", "bt", mark(2)]
        frame = re.compile(
            r"#\d+ +0x\w+ in Hang\.Program\.Main \(arguments=System\.String\[\] Count = 1 = \{\.\.\.\}\) "
            r"at /_/hang/Program\.cs:\d+"
        )
        text = run_gdb(
            *opening,
            "break Hang.Program.Main",
            "frame function Hang.Program.Main",
            "info symbol $pc",
        )
        told = [line for line in text.splitlines() if line.startswith("heapdump: ")]
        self.assertEqual(len(told), 1, text)
        self.assertRegex(told[0], r"^heapdump: \.NET 10\.0\.\d+: bt, frame and break know ")
        self.assertRegex(between(text, 1), frame)
        self.assertRegex(text, r"Breakpoint 1 at 0x\w+: file /_/hang/Program\.cs, line \d+\.")
        self.assertRegex(
            text, r"Hang\.Program\.Main\(System\.String\[\]\) \+ \d+ in section \.text"
        )
        # Nothing of it is left after the core, and the setting says no.
        text = run_gdb(*opening, "core-file", "info line Hang.Program.Main")
        self.assertIn('Function "Hang.Program.Main" not defined.', text)
        text = run_gdb("set heapdump code off", *opening)
        self.assertNotIn("heapdump: ", text)
        self.assertNotRegex(text, frame)

    def test_the_methods_of_a_core_of_another_machine(self) -> None:
        """The files of this core are on no machine: GDB has the runtime's name alone."""
        packed = support.SOURCE / "corefiles" / "musl8.core.zst"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "musl.core")
            subprocess.run(["zstd", "-dqf", str(packed), "-o", path], check=True)
            text = run_gdb("core-file " + path, mark(1), "info functions -n Work.Do", mark(2))
        self.assertIn("heapdump: .NET 8.0.34: bt, frame and break know its methods", text)
        self.assertRegex(between(text, 1), r"Work\.Do")

    def test_values_are_shown_as_the_program_means_them(self) -> None:
        path = targets.core("vars10-heap")
        if path is None:
            return
        found = targets.document(targets.shell(path, "modules", "--json"))["modules"]
        program = next(m["path"] for m in found if m["path"].endswith("/dotnet"))
        opening = ["file " + program, "core-file " + path, "frame function Plain.Holder.Objects"]
        text = run_gdb(
            *opening, mark(1), "info args", "info locals", mark(2), "p/r text", "p *list"
        )
        shown = dict(line.split(" = ", 1) for line in between(text, 1).splitlines())
        self.assertRegex(shown.pop("this"), r"^0x\w+$")
        self.assertRegex(shown.pop("item"), r"^0x\w+$")
        self.assertRegex(
            shown.pop("calls"), r"^System\.Action -> Plain\.Kinds\.Call\(\), .*, \.\.\.$"
        )
        ints = "System.Int32[] Count = 3 = {1, 2, 3}"
        self.assertEqual(
            shown,
            {
                "text": '"text"',
                "array": ints,
                "pair": '{A = 11, B = 22, C = "in"}',
                "maybe": "77",
                "absent": "null",
                "list": 'System.Collections.Generic.List<System.String> Count = 1 = {"one"}',
                "id": "00000000-0000-0000-0000-000000000000",
                "longer": '"textheld"',
                "local": '{A = 12, B = 22, C = "in"}',
                "table": "System.Collections.Generic.Dictionary<System.String, System.Int32> "
                'Count = 1 = {["a"] = 1}',
                "jagged": "System.Int32[][] Count = 1 = {" + ints + "}",
                "boxed": "(System.Int64) 5",
                "tuple": '{Item1 = 3, Item2 = "textheld"}',
                "moment": "1970-01-01T00:00:00.0000000Z",
                "result": "0",
            },
        )
        self.assertRegex(text, r"\$1 = \(struct System\.String \*\) 0x\w+")
        self.assertRegex(
            text, r'_items = System\.String\[\] Count = 4 = \{"one", null, null, null\}'
        )
        text = run_gdb("disable pretty-printer global heapdump", *opening, "p text")
        self.assertRegex(text, r"\$1 = \(struct System\.String \*\) 0x\w+")

    def test_clru_has_instructions_with_names(self) -> None:
        path = targets.core("hang10-mixed-heap")
        if path is None:
            return
        found = targets.document(targets.shell(path, "modules", "--json"))["modules"]
        program = next(m["path"] for m in found if m["path"].endswith("/dotnet"))
        opening = ["file " + program, "core-file " + path, "frame function Hang.Program.Main"]
        text = run_gdb(*opening, mark(1), "clru $pc", mark(2), "bpmd hang Hang.Program.Main")
        shown = between(text, 1)
        self.assertIn("Method Name:          Hang.Program.Main(System.String[])\n", shown)
        self.assertRegex(shown, r"\n(/_/hang/Program\.cs @ \d+:\n)?IL_\w{4}:\n[0-9a-f]{16} \w+")
        self.assertRegex(shown, r"call .*\[rip - 0x\w+\]  ; \w[\w.]+\(.*\)\n")
        self.assertIn("a core does not run on: a breakpoint needs a process", text)

    def test_exceptions_delegates_and_tasks_are_told_in_words(self) -> None:
        path = targets.core("awaits10-heap")
        if path is None:
            return
        found = targets.document(targets.shell(path, "modules", "--json"))["modules"]
        program = next(m["path"] for m in found if m["path"].endswith("/dotnet"))
        types = (
            ("System.Threading.Tasks.Task", "dumptasks", "tasks"),
            ("System.Delegate", "dumpheap -type System.Threading.TimerCallback", "objects"),
        )
        for struct, command, table in types:
            rows = targets.document(targets.shell(path, *command.split(), "--json"))[table]
            address = rows[0]["address"]
            text = run_gdb(
                "file " + program,
                "core-file " + path,
                f"python print(gdb.default_visualizer(gdb.Value({address}).cast("
                f"gdb.lookup_type('struct {struct}').pointer())).to_string())",
            )
            kind = r" (WaitingForActivation|RanToCompletion)$" if table == "tasks" else r" -> \S+\("
            self.assertRegex(text.splitlines()[-1], kind)

    def test_values_of_frames_are_read_while_gdb_walks(self) -> None:
        """Reading them selects no thread: GDB 13 ended, as the frames that it went through were gone."""
        path = targets.core("crash10-throw-full")
        if path is None:
            return
        found = targets.document(targets.shell(path, "modules", "--json"))["modules"]
        program = next(m["path"] for m in found if m["path"].endswith("/dotnet"))
        text = run_gdb("file " + program, "core-file " + path, "bt", "thread apply all bt")
        self.assertRegex(text, r"Crash\.Program\.Main \(")
        self.assertRegex(text, r"__libc_start_main")

    def test_functions_need_no_command_before(self) -> None:
        path = targets.core("wks10-full")
        if path is None:
            return
        found = targets.shell(path, "dumpheap", "-type", "System.String", "-limit", "1", "--json")
        row = targets.document(found)["objects"][0]
        for line, value in (
            (f"$hd_size({row['address']})", str(row["size"])),
            (f"$hd_type({row['address']})", f'"{row["type"]}"'),
            ('$hd_count("System.String") > 10', "1"),
        ):
            self.assertIn(f"$1 = {value}", run_gdb("print " + line, options=("-c", path)))
        text = run_gdb(
            "python import heapdump_gdb as h",
            "python rows = h.query('dumpheap', '-type', 'System.String')",
            "python print(sum(row['type'] == 'System.String' for row in rows) > 10)",
            "python print(len(list(h.query('clrstack', table='threads.frames'))) > 0)",
            options=("-c", path),
        )
        self.assertEqual(text.splitlines()[-2:], ["True", "True"])

    def first(self, path: str, type_name: str) -> str:
        """Address of an object of that type."""
        return "0x" + targets.shell(path, "dumpheap", "-short", "-type", type_name).split()[0]

    def test_functions_have_the_values_of_fields(self) -> None:
        path = targets.core("wks10-full")
        if path is None:
            return
        plain = self.first(path, "Facts.Primitives")
        known = self.first(path, "Facts.WellKnown")
        array = self.first(path, "Facts.WithReferences[]")
        generic = "Facts.Generic<System.Int32, System.Int32>"
        for line, expected in (
            (f'$hd_field({plain}, "yes")', "= 1"),
            (f'$hd_field({plain}, "u64")', "= 18446744073709551551"),
            (f'$hd_field({plain}, "i64")', "= -9223372036854775744"),
            (f'$hd_field({plain}, "f32")', "= 1.5"),
            (f'$hd_field({plain}, "ascii")', "= 65"),
            (f'$hd_field({plain}, "native")', "= (void *) 0x1234"),
            (f'$hd_field({plain}, "i32") < 0 && $hd_field({plain}, "u8") == 208', "= 1"),
            (f'$hd_field({plain}, "no_such")', "Facts.Primitives has no field no_such"),
            (f'$hd_field({plain}, "i32.x")', "System.Int32 has no field x"),
            (f'$hd_field({known}, "some.value")', "= 77"),
            (f'$hd_field({known}, "pair.Item2._stringLength")', "= 4"),
            (f'$hd_field({known}, "nested.Item2.Item2.x")', "Item2 is null, so it has no x"),
            (f'$hd_string($hd_field({known}, "pair.Item2"))', '= "five"'),
            (f'$_streq($hd_string($hd_field({known}, "pair.Item2")), "five")', "= 1"),
            (f"$hd_string({known})", f"{known} is not a string but a Facts.WellKnown"),
            ("$hd_string(0)", "null is no object"),
            (f"$hd_elem({array}, 1) == {array} + 40", "= 1"),
            (f"$hd_elem({array}, 5000)", "no element 5000: the array has 5000"),
            (f"$hd_elem({array}, -1)", "the index is negative"),
            (f"$hd_elem({known}, 0)", "is not an array but a Facts.WellKnown"),
            (f"$hd_elem({array})", "usage: $hd_elem(ID, INDEX)"),
            ('$hd_string($hd_static("System.String", "Empty"))', '= ""'),
            ('$hd_static("System.String", "Empty._stringLength")', "= 0"),
            ('$hd_static("Facts.No", "such")', 'no type or method "Facts.No" in any module'),
            (f'$hd_static("{generic}", "no_such")', f"{generic} has no field no_such"),
            ('$hd_static("No<Such>", "x")', "no type No<Such> that is in use"),
        ):
            with self.subTest(line):
                text = run_gdb("print " + line, options=("-c", path))
                self.assertIn(expected, text.splitlines()[-1])
        for word in (f"'$hd_field({known}, \"pair.Item2\")'", f'$hd_field({known}, "pair.Item2")'):
            text = run_gdb("dumpobj " + word, options=("-c", path))
            self.assertRegex(text, r"(?m)^String: +five$")

    def test_the_words_of_a_stack(self) -> None:
        path = targets.core("wks10-full")
        if path is None:
            return
        text = run_gdb("heapdump dq $rsp $rsp+16", options=("-c", path))
        self.assertEqual(len(re.findall(r"(?m)^[0-9a-f]{12}  [0-9a-f]{16}", text)), 2, text)

    def test_functions_of_values_need_a_target(self) -> None:
        with support.temporary_folder() as folder:
            dump = support.write_dump(folder)
            for line in ("$hd_string(10)", '$hd_field(10, "x")', '$hd_static("x", "y")'):
                text = run_gdb("heapdump open " + dump, "print " + line)
                self.assertIn("a dump file has no values", text)
        self.assertIn("nothing is open", run_gdb("print $hd_string(10)"))

    def test_info_threads_has_the_names_of_the_program(self) -> None:
        path = targets.core("wks10-full")
        if path is None:
            return
        expected = {}
        for row in targets.document(targets.shell(path, "clrthreads", "--json"))["threads"]:
            if row["os_id"] and row["name"]:
                expected[row["os_id"]] = row["name"]
        self.assertIn("roots", expected.values())
        numbers = thread_numbers(run_gdb("info threads", options=("-c", path)))
        mine = numbers[next(iter(expected))]
        text = run_gdb(
            f"thread {mine}",
            "thread name mine",
            mark(1),
            "info threads",
            mark(2),
            "set heapdump thread-names off",
            "info threads",
            mark(3),
            "show heapdump thread-names",
            options=("-c", path),
        )
        rows = {int(tid): name for tid, name in re.findall(r'LWP (\d+) "(.*?)"', between(text, 1))}
        self.assertEqual(rows, {**expected, next(iter(expected)): "mine"})
        names = re.findall(r'LWP \d+ "(.*?)"', between(text, 2))
        self.assertEqual(names, ["mine"])
        self.assertIn("heapdump's thread-names is off.", text)

    def test_threads_have_their_numbers_in_gdb(self) -> None:
        path = targets.core("wks10-full")
        if path is None:
            return
        for backend in ("auto", "debugger"):
            text = run_gdb(
                "set heapdump backend " + backend,
                mark(1),
                "clrthreads",
                mark(2),
                "info threads",
                mark(3),
                options=("-c", path),
            )
            targets.check_numbers(thread_numbers(between(text, 2)), between(text, 1))

    def test_core_that_is_read_through_gdb_is_a_core(self) -> None:
        path = targets.core("wks10-heap")
        if path is None:
            return
        text = run_gdb("set heapdump backend debugger", "heapdump info", options=("-c", path))
        self.assertRegex(text, rf"(?m)^File: +{re.escape(path)}$")
        self.assertRegex(text, r"(?m)^Kind: +core, read by the debugger$")
        self.assertNotIn(" at 0x0 ", text)

    def test_clrstack_is_about_the_selected_thread(self) -> None:
        path = targets.core("wks10-full")
        if path is None:
            return
        whole = targets.shell(path, "clrstack")
        managed = re.findall(r"(?m)^OS Thread Id: 0x([1-9a-f][0-9a-f]*) ", whole)
        numbers = thread_numbers(run_gdb("info threads", options=("-c", path)))
        other = next(number for tid, number in numbers.items() if f"{tid:x}" not in managed)
        last = numbers[int(managed[-1], 16)]
        text = run_gdb(
            f"thread {last}",
            mark(1),
            "clrstack",
            mark(2),
            "clrstack -all",
            mark(3),
            f"clrstack {managed[0]}",
            mark(4),
            f"thread {other}",
            mark(5),
            "clrstack",
            "print $_heapdump_status",
            "heapdump setthread 1",
            "heapdump threads",
            mark(6),
            f"heapdump open {path}",
            mark(7),
            "clrstack",
            mark(8),
            f"heapdump setthread -tid {managed[0]}",
            mark(9),
            "clrstack",
            mark(10),
            options=("-c", path),
        )
        self.assertEqual(between(text, 1), targets.shell(path, "clrstack", managed[-1]))
        self.assertEqual(between(text, 2), whole)
        self.assertEqual(between(text, 3), targets.shell(path, "clrstack", managed[0]))
        self.assertIn("is not managed: clrthreads lists those that are", between(text, 5))
        self.assertIn("$1 = 2", between(text, 5))
        self.assertIn("use its own command (thread N in GDB", between(text, 5))
        self.assertIn("use its own command (info threads in GDB", between(text, 5))
        self.assertEqual(between(text, 7), whole)
        self.assertEqual(between(text, 9), targets.shell(path, "clrstack", managed[0]))

    def test_objects_of_a_kernel_core(self) -> None:
        path = targets.core("wks10-kernel")
        if path is None:
            return
        expected = targets.shell(path, "dumpheap", "-stat")
        text = run_gdb(mark(1), "dumpheap -stat", mark(2), options=("-c", path))
        self.assertEqual(between(text, 1), expected)

    def test_two_cores_side_by_side(self) -> None:
        first, second = targets.core("wks10-full"), targets.core("svr10-full")
        if first is None or second is None:
            return
        text = run_gdb(
            "core-file " + first,
            "add-inferior",
            "inferior 2",
            "core-file " + second,
            mark(1),
            "eeheap",
            mark(2),
            "inferior 1",
            "eeheap",
            mark(3),
        )
        self.assertEqual(between(text, 1), targets.shell(second, "eeheap"))
        self.assertEqual(text.split("<<2>>")[1].count("Number of GC Heaps: 1"), 1)

    def test_interrupt_while_an_answer_is_printed(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="heapdump-gdb-")
        self.addCleanup(folder.cleanup)
        big = support.write_big_dump(folder.name)
        for height, wait in ((0, "Class Name|MT"), (10, "to quit")):
            terminal = support.Terminal(GDB + ["-ex", f"set height {height}"], r"\(gdb\) ")
            self.addCleanup(terminal.__exit__)
            terminal.prompt()
            terminal.command("heapdump open " + big)
            terminal.send("dumpheap -limit 100000\n")
            # GDB waits until what it has printed is read: it is not done yet.
            terminal.wait(wait)
            terminal.send("\x03")
            terminal.wait("Quit")
            terminal.prompt()
            self.assertIn("= 130", terminal.command("print $_heapdump_status"))
            self.assertIn("Found", terminal.command("gcroot 1010"))

    def interrupt(self, path: str, before: str, number: int) -> None:
        """Ctrl-C at that read of GDB's memory by a verifyheap after another command."""
        argv = GDB + ["-ex", "set height 0", "-ex", "set heapdump backend debugger", "-c", path]
        with support.Terminal(argv, r"\(gdb\) ") as terminal:
            terminal.prompt()
            terminal.command(before)
            terminal.command("source " + HELD)
            terminal.command(f"python hold_at_read({number})")
            terminal.send("verifyheap\n")
            terminal.wait("<HELD>")
            terminal.send("\x03")
            text = terminal.prompt() + terminal.command("print $_heapdump_status + 1000")
            for line in ("<LOST>", "Traceback", "Python Exception", "Exception ignored"):
                self.assertNotIn(line, text)
            self.assertIn("Quit", text)
            self.assertIn("= 1130", text)
            self.assertIn("= 42", terminal.command("print 42"))
            self.assertIn("Total", terminal.command("dumpheap -stat"))

    def test_interrupt_while_gdb_is_asked(self) -> None:
        path = targets.core("wks10-full")
        if path is None:
            return
        # The heap is looked for, and then it is walked.
        for before, number in (("print 1", 1), ("print 1", 50), ("heapdump info", 50)):
            with self.subTest(before=before, number=number):
                self.interrupt(path, before, number)


class DotnetLiveTest(unittest.TestCase):
    """A live .NET program that says itself what it has."""

    def start(self) -> "tuple[targets.Child, dict[str, object]]":
        started = targets.start_facts()
        if started is None:
            self.skipTest("no dotnet")
        self.addCleanup(started[0].end)
        return started

    def check_objects(self, truth: dict[str, object], text: str) -> None:
        for number, row in enumerate(targets.some_objects(truth), 1):
            found = targets.document(between(text, number))
            self.assertEqual(found["type"], row["type"])
            self.assertEqual(found["mt"], row["mt"])
            self.assertEqual(found["size"], row["size"])

    def test_roots(self) -> None:
        child, truth = self.start()
        lines = []
        for number, line in enumerate(targets.gcroot_lines(truth), 1):
            lines += [mark(number), line]
        count = len(lines) // 2
        text = run_gdb(*lines, mark(count + 1), options=("-p", str(child.pid)))
        targets.check_gcroots(truth, [between(text, i) for i in range(1, count + 1)])

    def commands(self, truth: dict[str, object]) -> list[str]:
        lines = []
        rows = targets.some_objects(truth)
        self.assertGreater(len(rows), 3)
        for number, row in enumerate(rows, 1):
            lines += [mark(number), f"dumpobj {row['address']} --json"]
        return lines + [mark(len(rows) + 1)]

    def test_attached(self) -> None:
        child, truth = self.start()
        pid = str(child.pid)
        text = run_gdb(*self.commands(truth), "heapdump info", options=("-p", pid))
        self.check_objects(truth, text)
        self.assertNotIn("read by the debugger", text)
        text = run_gdb("set heapdump backend debugger", *self.commands(truth), options=("-p", pid))
        self.check_objects(truth, text)
        self.assertIn(targets.wait_for_state(child.pid, "RS"), "RS")

    def test_stacks(self) -> None:
        child, truth = self.start()
        for backend in ("auto", "debugger"):
            text = run_gdb(
                "set heapdump backend " + backend,
                mark(1),
                "clrstack -all",
                mark(2),
                "clrthreads",
                mark(3),
                "info threads",
                mark(4),
                "thread",
                options=("-p", str(child.pid)),
            )
            targets.check_stacks(truth, between(text, 1))
            targets.check_numbers(thread_numbers(between(text, 3)), between(text, 2))
            self.assertRegex(text.split("<<4>>")[1], r"Current thread is 1 ")

    def test_functions(self) -> None:
        child, truth = self.start()
        row = targets.some_objects(truth)[0]
        address = row["address"]
        text = run_gdb(
            f"print $hd_type({address})",
            f"print $hd_size({address})",
            f'print $hd_count("{row["type"]}") > 100',
            'print $hd_count("No.Such")',
            "print $hd_size(8)",
            options=("-p", str(child.pid)),
        )
        self.assertIn(f'$1 = "{row["type"]}"', text)
        self.assertIn(f"$2 = {row['size']}", text)
        self.assertIn("$3 = 1", text)
        self.assertIn("$4 = 0", text)
        self.assertNotIn("$5", text)

    def test_functions_in_conditions(self) -> None:
        if not targets.CHURN.exists() or shutil.which("dotnet") is None:
            self.skipTest(f"no dotnet, or no {targets.CHURN}")
        child = targets.Child(["dotnet", str(targets.CHURN)])
        self.addCleanup(child.end)
        rounds = '$hd_static("Churn.Program", "rounds")'
        lines = (
            f"attach {child.pid}",
            "handle SIG34 SIG35 SIGUSR1 SIGUSR2 nostop noprint pass",
            f"set $wanted = {rounds} + 5000",
            f"break pthread_cond_timedwait if {rounds} > $wanted",
            "continue",
        )
        done = (mark(1), f"print {rounds} > $wanted", "delete", mark(2))
        text = run_gdb("maintenance set target-non-stop off", *lines, *done)
        self.assertNotIn("Error in testing", text)
        self.assertIn("= 1", between(text, 1))
        # Else other threads run on while GDB tests a condition.
        text = run_gdb("maintenance set target-non-stop on", *lines, *done)
        self.assertIn('for conditions, "maintenance set target-non-stop off"', text)

    def test_what_the_user_writes_is_seen(self) -> None:
        child, truth = self.start()
        row = next(r for r in targets.some_objects(truth) if r["name"] == "string.long")
        length = int(row["address"], 16) + 8
        for backend in ("auto", "debugger"):
            text = run_gdb(
                "set heapdump backend " + backend,
                mark(1),
                f"dumpobj {row['address']} --json",
                mark(2),
                f"set var *(int*){length:#x} = 3",
                f"dumpobj {row['address']} --json",
                f"set var *(int*){length:#x} = 1000",
                mark(3),
                f"dumpobj {row['address']} --json",
                mark(4),
                options=("-p", str(child.pid)),
            )
            sizes = [targets.document(between(text, i))["size"] for i in (1, 2, 3)]
            self.assertEqual(sizes, [2022, 28, 2022], backend)

    def test_every_way_to_write_is_seen(self) -> None:
        child, truth = self.start()
        row = next(r for r in targets.some_objects(truth) if r["name"] == "string.long")
        length = int(row["address"], 16) + 8
        with tempfile.NamedTemporaryFile(prefix="heapdump-test-") as file:
            file.write((3).to_bytes(4, "little"))
            file.flush()
            ways = (
                f"set var *(int*){length:#x} = 3",
                f"restore {file.name} binary {length:#x}",
                f"python gdb.selected_inferior().write_memory({length:#x}, bytes([3, 0, 0, 0]))",
                f'interpreter-exec mi "-data-write-memory-bytes {length:#x} 03000000"',
                # No event but that of the call tells of what a function writes.
                f"call (void*)memset({length:#x}, 3, 1)",
            )
            lines = []
            for number, way in enumerate(ways):
                lines += [f"set var *(int*){length:#x} = 255"]
                lines += [f"objsize {row['address']} --json", way, mark(2 * number)]
                lines += [f"objsize {row['address']} --json", mark(2 * number + 1)]
            lines += [f"set var *(int*){length:#x} = 1000"]
            text = run_gdb(*lines, options=("-p", str(child.pid)))
        for number, way in enumerate(ways):
            found = targets.document(between(text, 2 * number))
            self.assertEqual(found["total"]["size"], 28, way)

    def test_written_registers_are_seen(self) -> None:
        child, truth = self.start()
        roots: Any = truth["roots"]
        row = next(row for row in roots if row["kind"] == "none")
        text = run_gdb(
            mark(1),
            "dumpstackobjects --json",
            mark(2),
            f"set $rbx = {row['address']}",
            "dumpstackobjects --json",
            mark(3),
            options=("-p", str(child.pid)),
        )
        for number, expected in ((1, False), (2, True)):
            found = targets.document(between(text, number))
            self.assertEqual(row["address"] in str(found), expected, found)

    def test_after_continue_everything_is_read_anew(self) -> None:
        child, truth = self.start()
        row = next(r for r in targets.some_objects(truth) if r["name"] == "string.long")
        length = int(row["address"], 16) + 8
        # Another writes to its memory while it runs.
        write = (
            f"shell (sleep 1; python3 -c 'import os; "
            f'f = os.open("/proc/{child.pid}/mem", os.O_WRONLY); '
            f"os.pwrite(f, bytes([5, 0, 0, 0]), {length})'; kill -INT {child.pid}) &"
        )
        text = run_gdb(
            "handle SIG34 SIG35 nostop noprint pass",
            "set heapdump backend debugger",
            mark(1),
            f"dumpobj {row['address']} --json",
            mark(2),
            write,
            "continue",
            mark(3),
            f"dumpobj {row['address']} --json",
            mark(4),
            f"set var *(int*){length:#x} = 1000",
            options=("-p", str(child.pid)),
        )
        self.assertEqual(targets.document(between(text, 1))["size"], 2022)
        self.assertIn("SIGINT", between(text, 2))
        self.assertEqual(targets.document(between(text, 3))["size"], 32)

    def test_gdbserver(self) -> None:
        child, truth = self.start()
        remote = gdb_batch.serve(self, [str(child.pid)], ("--attach",))
        text = run_gdb(
            "set sysroot /",
            remote,
            *self.commands(truth),
            "heapdump info",
            mark(20),
            "clrstack -all",
            mark(21),
            "detach",
        )
        self.check_objects(truth, text)
        targets.check_stacks(truth, between(text, 20))
        self.assertIn("read by the debugger", text)


if __name__ == "__main__":
    if shutil.which("gdb") is None:
        print("skipped: no gdb")
        sys.exit(77)
    unittest.main()
