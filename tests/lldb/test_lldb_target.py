# SPDX-License-Identifier: MIT
"""The plug-in inside LLDB on what LLDB debugs: live processes and cores.

HEAPDUMP_LLDB names another LLDB than lldb-14 to run the same tests in.
"""
from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gdb"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.dont_write_bytecode = True

import support  # noqa: E402
import targets  # noqa: E402
import waiting  # noqa: E402
from lldb_batch import ENVIRONMENT, LLDB, PLUGIN, run_lldb  # noqa: E402

NO_CLR = "no CoreCLR here"
NOTHING = "nothing is open"
MANAGED_FRAME = r"frame #\d+: 0x\w+ managed`Hang\.Program\.Main(\(.*\))? at Program\.cs:\d+"
HELD_READS = str(support.BUILD / "tests" / "libheld_reads.so")
# Seconds of work after which a progress line is due, and more than that.
PROGRESS_DUE = 0.3


def thread_numbers(text: str) -> dict[int, int]:
    """LLDB's numbers of the threads, by the kernel's, of a "thread list"."""
    rows = re.findall(r"(?m)^[* ] +thread #(\d+): tid = (\w+)", text)
    return {int(tid, 0): int(number) for number, tid in rows}


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

    def lldb(self, *commands: str) -> list[str]:
        """At the first marker()."""
        start = ("breakpoint set -n marker", "process launch")
        answers = run_lldb(*start, *commands, options=("--", self.program))
        return answers[len(start) :]

    def make_core(self, name: str) -> str:
        path = os.path.join(self.folder, name)
        subprocess.run(
            ["gdb", "-nx", "-batch", "-ex", "break marker", "-ex", "run"]
            + ["-ex", "generate-core-file " + path, "-ex", "kill", self.program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=300,
            check=True,
        )
        return path

    def test_without_a_target_it_says_so(self) -> None:
        for answer in run_lldb("eeheap", "heapdump info", "dumpobj 10"):
            self.assertIn(NOTHING, answer)
        for answer in run_lldb("eeheap", "heapdump info", options=("--", self.program)):
            self.assertIn(NOTHING, answer)

    def test_live_process(self) -> None:
        for answer in self.lldb("heapdump info", "eeheap", "dumpobj $sp", "dumpobj &number"):
            self.assertIn(NO_CLR, answer)
            self.assertNotIn("read by the debugger", answer)

    def test_process_that_has_ended(self) -> None:
        answers = self.lldb("eeheap", "breakpoint disable", "continue", "eeheap")
        self.assertIn(NO_CLR, answers[0])
        self.assertIn(NOTHING, answers[3])

    def test_core(self) -> None:
        path = self.make_core("plain.core")
        answers = run_lldb("heapdump info", "dumpobj $sp", options=("-c", path))
        self.assertIn("written by gcore", answers[0])
        self.assertIn(path, answers[0])
        self.assertIn(NO_CLR, answers[1])
        # LLDB 14 does not tell the path of this one: it is found by its mapping.
        answers = run_lldb("target create --core " + path, "heapdump info", "eeheap")
        self.assertIn("written by gcore", answers[1])
        self.assertIn(path, answers[1])
        self.assertIn(NO_CLR, answers[1])
        self.assertIn(NO_CLR, answers[2])

    def test_core_without_managed_code_gets_none(self) -> None:
        path = self.make_core("native.core")
        answers = run_lldb(f"target create --core {path}", "bt", "image list")
        self.assertIn("marker", answers[1])
        self.assertNotIn("heapdump: ", answers[1])
        self.assertNotIn("managed", answers[2])

    def test_two_targets(self) -> None:
        first, second = self.make_core("first.core"), self.make_core("second.core")
        answers = run_lldb(
            "heapdump info",
            "target create --core " + second,
            "heapdump info",
            "target select 0",
            "heapdump info",
            options=("-c", first),
        )
        self.assertIn(first, answers[0])
        self.assertIn(second, answers[2])
        self.assertNotIn(first, answers[2])
        self.assertIn(first, answers[4])

    def test_backend(self) -> None:
        path = self.make_core("backend.core")
        answers = run_lldb(
            "heapdump set backend process",
            "eeheap",
            "heapdump set backend debugger",
            "heapdump info",
            "heapdump set backend file",
            "heapdump info",
            options=("-c", path),
        )
        self.assertIn("no process stopped on this machine", answers[1])
        self.assertIn("read by the debugger", answers[3])
        self.assertIn("written by gcore", answers[5])
        answers = self.lldb(
            "heapdump set backend file",
            "eeheap",
            "heapdump set backend debugger",
            "heapdump info",
            "heapdump set backend process",
            "heapdump info",
        )
        self.assertIn("no core file of the debugger's", answers[1])
        self.assertIn("read by the debugger", answers[3])
        self.assertIn(NO_CLR, answers[5])
        self.assertNotIn("read by the debugger", answers[5])

    def test_opened_file_comes_first_until_it_is_closed(self) -> None:
        dump = support.write_dump(self.folder)
        answers = self.lldb(
            "heapdump open " + dump, "gcroot 10", "next", "gcroot 10", "heapdump close", "eeheap"
        )
        self.assertIn("Found 2 unique roots", answers[1])
        self.assertIn("Found 2 unique roots", answers[3])
        self.assertIn(NO_CLR, answers[5])

    def test_process_that_lldb_has_cannot_be_opened_by_its_number(self) -> None:
        child = targets.Child([self.program, "wait"])
        self.addCleanup(child.end)
        options = ("-p", str(child.pid))
        answers = run_lldb(f"heapdump open {child.pid}", "heapdump info", options=options)
        self.assertIn(" is traced by process ", answers[0])
        self.assertIn(NO_CLR, answers[1])
        self.assertIn(targets.wait_for_state(child.pid, "RS"), "RS")

    def test_opened_process_runs_on(self) -> None:
        child = targets.Child([self.program, "wait"])
        self.addCleanup(child.end)
        answers = run_lldb(f"heapdump open {child.pid}", "heapdump info")
        self.assertIn("Opened process", answers[0])
        self.assertIn("Stopped:", answers[1])
        self.assertIn(targets.wait_for_state(child.pid, "RS"), "RS")


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
                lines = ("heapdump set backend " + backend, command)
                answer = run_lldb(*lines, options=("-c", path))[1]
                self.assertEqual(answer.rstrip("\n"), expected.rstrip("\n"), (command, backend))

    def test_threads_have_their_numbers_in_lldb(self) -> None:
        path = targets.core("wks10-full")
        if path is None:
            return
        for backend in ("auto", "debugger"):
            lines = ("heapdump set backend " + backend, "clrthreads", "thread list")
            answers = run_lldb(*lines, options=("-c", path))
            targets.check_numbers(thread_numbers(answers[2]), answers[1])

    def test_core_that_is_read_through_lldb_is_a_core(self) -> None:
        path = targets.core("wks10-heap")
        if path is None:
            return
        lines = ("heapdump set backend debugger", "heapdump info")
        answer = run_lldb(*lines, options=("-c", path))[1]
        self.assertRegex(answer, rf"(?m)^File: +{re.escape(path)}$")
        self.assertRegex(answer, r"(?m)^Kind: +core, read by the debugger$")
        answer = run_lldb(f"target create --core {path}", *lines)[2]
        self.assertRegex(answer, rf"(?m)^File: +{re.escape(path)}$")
        self.assertRegex(answer, r"(?m)^Kind: +core, read by the debugger$")

    def test_clrstack_is_about_the_selected_thread(self) -> None:
        path = targets.core("wks10-full")
        if path is None:
            return
        whole = targets.shell(path, "clrstack").strip()
        managed = re.findall(r"(?m)^OS Thread Id: 0x([1-9a-f][0-9a-f]*) ", whole)
        numbers = thread_numbers(run_lldb("thread list", options=("-c", path))[0])
        other = next(number for tid, number in numbers.items() if f"{tid:x}" not in managed)
        answers = run_lldb(
            f"thread select {numbers[int(managed[-1], 16)]}",
            "clrstack",
            "clrstack -all",
            f"clrstack {managed[0]}",
            f"thread select {other}",
            "clrstack",
            f"heapdump open {path}",
            "clrstack",
            options=("-c", path),
        )
        one = targets.shell(path, "clrstack", managed[-1]).strip()
        # LLDB tells of the thread whose turn it is now, at times only here, before or after it.
        self.assertIn(one, answers[1])
        self.assertEqual(answers[2].strip(), whole)
        one = targets.shell(path, "clrstack", managed[0]).strip()
        self.assertEqual(answers[3].strip(), one)
        self.assertIn("is not managed: clrthreads lists those that are", answers[5])
        self.assertIn(whole, answers[7])

    def test_the_stack_of_lldb_has_managed_frames(self) -> None:
        path = targets.core("hang10-mixed-heap")
        other = targets.core("hang9-mixed-heap")
        if path is None or other is None:
            return
        opening = f"target create --core {path}"
        answers = run_lldb(
            opening,
            "thread backtrace 1",
            "b Hang.Program.Main",
            "bt",
            "target list",
            f"target create --core {other}",
            "up",
            "bt",
            "target select 0",
            "bt",
            "target delete 0",
            "bt",
        )
        told = re.findall(r"(?m)^heapdump: \.NET (\d+)\.0\.\d+: bt, .*$", "\n".join(answers))
        self.assertEqual(told, ["10", "9"])
        self.assertIn("heapdump: .NET 10.", answers[1])
        self.assertIn("heapdump: .NET 9.", answers[6])
        for i in (1, 3, 7, 9, 11):
            self.assertRegex(answers[i], MANAGED_FRAME)
            self.assertIn("System.Threading.Thread.Sleep", answers[i])
        self.assertIn("managed`Hang.Program.Main + ", answers[2])
        self.assertRegex(answers[2], r"at Program\.cs:13, address = 0x")
        # The program of the target is still its own.
        self.assertNotIn("managed", answers[4])
        # The core is opened before the plug-in is loaded; and a setting says no.
        answers = run_lldb(
            "bt",
            "heapdump set code off",
            "bt",
            "image lookup -n Hang.Program.Main",
            options=("-c", path),
        )
        self.assertNotIn("heapdump: ", answers[0])
        self.assertRegex(answers[0], MANAGED_FRAME)
        self.assertNotIn("managed", answers[2] + answers[3])
        answers = run_lldb("heapdump set code off", opening, "bt")
        self.assertNotIn("managed", answers[2])
        self.assertNotIn("heapdump: ", answers[2])

    def test_values_have_summaries(self) -> None:
        path = targets.core("vars10-heap")
        if path is None:
            return
        opening = f"target create --core {path}"
        stack = run_lldb(opening, "bt")[1]
        found = re.search(r"frame #(\d+): 0x\w+ managed`Plain\.Holder\.Objects\(", stack)
        assert found, stack
        answers = run_lldb(
            opening,
            f"frame select {found.group(1)}",
            "frame variable",
            "p *this",
            "p text",
            "type category disable dotnet",
            "frame variable text",
        )
        text = answers[2]
        for line in (
            r'\(System\.String \*\) text = 0x\w+ "text"',
            r"\(System\.Int32\[\] \*\) array = 0x\w+ Count = 3",
            r"\(System\.Nullable<System\.Int32>\) maybe = 77",
            r"\(System\.Nullable<System\.Int32>\) absent = null",
            r"\(System\.Collections\.Generic\.List<System\.String> \*\) list = 0x\w+ Count = 1",
            r"\(System\.Guid\) id = \w{8}-\w{4}-\w{4}-\w{4}-\w{12}",
        ):
            self.assertRegex(text, rf"(?m)^{line}$")
        # A core of before has not these.
        if "moment" in text:
            self.assertRegex(text, r"(?m)\) moment = 1970-01-01T00:00:00\.0000000Z$")
            self.assertRegex(text, r"(?m) calls = 0x\w+ -> Plain\.Kinds\.Call\(\), .*, \.\.\.$")
        self.assertRegex(answers[3], r'(?m)^ +name = 0x\w+ "held"$')
        self.assertRegex(answers[4], r'^\(System\.String \*\) \$\d+ = 0x\w+ "text"')
        self.assertNotIn('"text"', answers[6])

    def test_objects_of_a_kernel_core(self) -> None:
        path = targets.core("wks10-kernel")
        if path is None:
            return
        expected = targets.shell(path, "dumpheap", "-stat")
        answer = run_lldb("dumpheap -stat", options=("-c", path))[0]
        self.assertEqual(answer.rstrip("\n"), expected.rstrip("\n"))

    def interrupt(self, path: str, is_open: bool) -> None:
        """Ctrl-C while a verifyheap reads memory through LLDB."""
        with support.temporary_folder() as folder:
            fifo = os.path.join(folder, "hold")
            environment = dict(ENVIRONMENT, LD_PRELOAD=HELD_READS, HEAPDUMP_TEST_HOLD=fifo)
            argv = [LLDB, "--no-lldbinit", "-o", "plugin load " + PLUGIN, "-c", path]
            with support.Terminal(argv, "$^", environment) as terminal:
                # The prompt is redrawn at will, so answers are waited for, not prompts.
                terminal.send("heapdump set backend debugger\nheapdump set backend\n")
                terminal.wait("backend +debugger ")
                if is_open:
                    terminal.send("heapdump info\n")
                    terminal.wait("Kind: +core, read by the debugger")
                os.mkfifo(fifo)
                terminal.send("verifyheap\n")
                terminal.wait("<HELD>")
                time.sleep(PROGRESS_DUE)
                terminal.send("\x03")
                # The kernel shows it after it has sent the signal.
                terminal.wait(r"\^C")
                waiting.wait_until_rest(terminal.pid)
                with open(fifo, "wb"):
                    os.unlink(fifo)
                if is_open:
                    terminal.wait(r"%\033\[K")
                text = terminal.wait("error: [^\r]*|objects verified")
                self.assertIn("error: interrupted", text)
                terminal.send("dumpheap -stat\n")
                terminal.wait("Total")

    def test_interrupt_while_lldb_is_asked(self) -> None:
        path = targets.core("wks10-full")
        if path is None:
            return
        # The heap is looked for, or it is walked.
        for is_open in (False, True):
            with self.subTest(is_open=is_open):
                self.interrupt(path, is_open)


class DotnetLiveTest(unittest.TestCase):
    """A live .NET program that says itself what it has."""

    def check(self, child: targets.Child, truth: dict[str, Any], backend: str) -> None:
        rows = targets.some_objects(truth)
        self.assertGreater(len(rows), 3)
        lines = [f"dumpobj {row['address']} --json" for row in rows]
        answers = run_lldb(
            "heapdump set backend " + backend,
            *lines,
            "clrthreads",
            "thread list",
            "clrstack -all",
            "heapdump info",
            options=("-p", str(child.pid)),
        )
        for row, answer in zip(rows, answers[1:]):
            found = targets.document(answer)
            self.assertEqual(found["type"], row["type"])
            self.assertEqual(found["mt"], row["mt"])
            self.assertEqual(found["size"], row["size"])
        targets.check_numbers(thread_numbers(answers[-3]), answers[-4])
        targets.check_stacks(truth, answers[-2])
        is_slow = "read by the debugger" in answers[-1]
        self.assertEqual(is_slow, backend == "debugger")

    @unittest.skipUnless(
        os.environ.get("HEAPDUMP_TEST_ALL"), "a step of LLDB can be disturbed: in a campaign"
    )
    def test_breakpoints_in_managed_code(self) -> None:
        if not targets.CHURN.exists() or shutil.which("dotnet") is None:
            self.skipTest(f"no dotnet, or no {targets.CHURN}")
        child = targets.Child(["dotnet", str(targets.CHURN)])
        self.addCleanup(child.end)
        answers = run_lldb(
            "thread list",
            "breakpoint set -n Churn.Program.Chain",
            "process continue",
            "bt 2",
            "breakpoint disable 1",
            "finish",
            "breakpoint set -n Churn.Program.Nobody",
            "thread backtrace all",
            "detach",
            options=("-p", str(child.pid)),
        )
        self.assertEqual("\n".join(answers).count("heapdump: "), 1, answers)
        self.assertIn("heapdump: code pages were made writable", answers[1])
        self.assertRegex(answers[2], r"stop reason = breakpoint 1\.\d")
        self.assertRegex(answers[3], r"frame #0: 0x\w+ managed`Churn\.Program\.Chain\b")
        self.assertRegex(answers[3], r"frame #1: 0x\w+ managed`Churn\.Program\.Work\b")
        self.assertIn("stop reason = step out", answers[5])
        self.assertIn("managed`Churn.Program.Work", answers[5])
        self.assertIn("pending", answers[6])
        self.assertIn("managed`Churn.Program.Main", answers[7])
        # LLDB 14 may leave a stop to a thread when it detaches, also without the plug-in.
        os.kill(child.pid, signal.SIGCONT)
        self.assertIn(targets.wait_for_state(child.pid, "RS"), "RS")

    @unittest.skipUnless(
        os.environ.get("HEAPDUMP_TEST_ALL"), "a step of LLDB can be disturbed: in a campaign"
    )
    def test_step_comes_into_a_method(self) -> None:
        program = targets.COREFILES / "apps" / "stepping-net10.0" / "stepping.dll"
        source = support.SOURCE / "corefiles" / "apps" / "stepping" / "Program.cs"
        if not program.exists() or shutil.which("dotnet") is None:
            self.skipTest(f"no dotnet, or no {program}")
        # Else the runtime stops the thread in the middle of a step, to give it better code.
        child = targets.Child(["env", "DOTNET_TieredCompilation=0", "dotnet", str(program)])
        self.addCleanup(child.end)
        lines = source.read_text(encoding="utf-8").splitlines()
        number = next(i for i, line in enumerate(lines, 1) if "= Sum(from, to);" in line)
        assert child.process.stdin is not None
        child.process.stdin.write(b"transfer:1000000000\n")
        child.process.stdin.flush()
        answers = run_lldb(
            f"breakpoint set -f Program.cs -l {number}",
            "process continue",
            "thread step-in",
            "bt 2",
            "finish",
            options=("-p", str(child.pid)),
        )
        self.assertIn("stop reason = breakpoint 1.", answers[1])
        self.assertRegex(answers[2], r"managed`Shop\.Bank\.Sum\b")
        self.assertRegex(answers[3], r"frame #1: 0x\w+ managed`Shop\.Bank\.Transfer\b")
        self.assertRegex(answers[4], r"managed`Shop\.Bank\.Transfer\b.* at Program\.cs:")

    def test_roots(self) -> None:
        started = targets.start_facts()
        if started is None:
            self.skipTest("no dotnet")
        child, truth = started
        self.addCleanup(child.end)
        lines = targets.gcroot_lines(truth)
        targets.check_gcroots(truth, run_lldb(*lines, options=("-p", str(child.pid))))

    def test_every_way_to_write_is_seen(self) -> None:
        started = targets.start_facts()
        if started is None:
            self.skipTest("no dotnet")
        child, truth = started
        self.addCleanup(child.end)
        row = next(r for r in targets.some_objects(truth) if r["name"] == "string.long")
        length = int(row["address"], 16) + 8
        ways = [
            f"memory write -s 4 {length:#x} 3",
            f"expression *(int*){length:#x} = 3",
            f"expression (void*)memset({length:#x}, 3, 1)",
        ]
        # Some LLDBs have no Python, or one that does not work.
        if run_lldb("script 40+2")[0].strip() == "42":
            ways.append(f"script lldb.process.WriteMemory({length:#x}, bytes([3]), lldb.SBError())")
        question = f"objsize {row['address']} --json"
        for backend in ("auto", "debugger"):
            lines = ["heapdump set backend " + backend]
            for way in ways:
                lines += [f"memory write -s 4 {length:#x} 0xff", question, way, question]
            # A summary of the user's makes LLDB forget ours, and so does a category less.
            for way in ("type summary add -s x Some", "type category disable *"):
                lines += [way, question, f"memory write -s 4 {length:#x} 0x3e8", question]
            answers = run_lldb(*lines, options=("-p", str(child.pid)))[1:]
            sizes = [
                targets.document(answer)["total"]["size"]
                for line, answer in zip(lines[1:], answers)
                if line == question
            ]
            self.assertEqual(sizes, [532, 28] * len(ways) + [28, 2022, 2022, 2022], backend)

    def test_nothing_is_read_again_when_nothing_was_written(self) -> None:
        started = targets.start_facts()
        if started is None:
            self.skipTest("no dotnet")
        child, truth = started
        self.addCleanup(child.end)
        row = next(r for r in targets.some_objects(truth) if r["name"] == "string.long")
        length = int(row["address"], 16) + 8
        question = f"objsize {row['address']} --json"
        # Another program writes, so the answer shows what was kept.
        with tempfile.NamedTemporaryFile("w", prefix="heapdump-test-", suffix=".py") as file:
            file.write(
                f"with open('/proc/{child.pid}/mem', 'r+b', 0) as memory:\n"
                f"    memory.seek({length})\n    memory.write(bytes([3, 0, 0, 0]))\n"
            )
            file.flush()
            lines = [question, "platform shell python3 " + file.name, "register read rdi"]
            lines += ["p $rdi", "memory read $sp", question, "heapdump close", question]
            answers = run_lldb(*lines, options=("-p", str(child.pid)))
        sizes = [targets.document(answers[i])["total"]["size"] for i in (0, 5, 7)]
        self.assertEqual(sizes, [2022, 2022, 28])

    def test_written_registers_are_seen(self) -> None:
        started = targets.start_facts()
        if started is None:
            self.skipTest("no dotnet")
        child, truth = started
        self.addCleanup(child.end)
        row = next(r for r in truth["roots"] if r["kind"] == "none")
        question = "dumpstackobjects --json"
        lines = (question, f"register write rbx {row['address']}", question)
        answers = run_lldb(*lines, options=("-p", str(child.pid)))
        for answer, expected in ((answers[0], False), (answers[2], True)):
            self.assertEqual(row["address"] in str(targets.document(answer)), expected, answer)

    def test_attached(self) -> None:
        started = targets.start_facts()
        if started is None:
            self.skipTest("no dotnet")
        child, truth = started
        self.addCleanup(child.end)
        for backend in ("auto", "debugger"):
            self.check(child, truth, backend)
            self.assertIn(targets.wait_for_state(child.pid, "RS"), "RS")


if __name__ == "__main__":
    if shutil.which(LLDB) is None or not os.path.exists(PLUGIN):
        print(f"skipped: no {LLDB}, or no plug-in for it")
        sys.exit(77)
    unittest.main()
