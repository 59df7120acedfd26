# SPDX-License-Identifier: MIT
"""The plug-in inside GDB on what GDB debugs: live processes, cores, gdbserver."""
from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import support
import targets

PLUGIN = str(support.SOURCE / "gdb-plugin" / "heapdump.py")
GDB = ["gdb", "-nx", "-q", "-iex", "set debuginfod enabled off", "-iex", "source " + PLUGIN]
NO_CLR = "no CoreCLR here"
NOTHING = "nothing is open"
THREAD_ROW = re.compile(r"(?m)^[* ] +(\d+) +.*\bLWP (\d+)")


def thread_numbers(text: str) -> dict[int, int]:
    """GDB's numbers of the threads, by the kernel's, of an "info threads"."""
    return {int(tid): int(number) for number, tid in THREAD_ROW.findall(text)}


def run_gdb(*commands: str, options: tuple[str, ...] = ()) -> str:
    """What GDB says to commands in batch mode, errors too."""
    argv = GDB + ["-batch"]
    for command in commands:
        argv += ["-ex", command]
    done = subprocess.run(
        argv + list(options),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=support.ENVIRONMENT,
        timeout=300,
        check=False,
    )
    text = done.stdout.decode("utf-8", "replace")
    assert "Traceback" not in text and "Python Exception" not in text, text
    return text


def mark(number: int) -> str:
    """A line to split the answers at."""
    return f"echo <<{number}>>\\n"


def between(text: str, first: int) -> str:
    """The answers between two marks."""
    return text.split(f"<<{first}>>\n")[1].split(f"<<{first + 1}>>\n")[0]


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
            "python from heapdump_gdb import target",
            "python rows = target.threads()",
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
            "shell sleep 2",
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

    def serve(self, argv: list[str]) -> str:
        """A gdbserver on the loopback; what to tell GDB."""
        if shutil.which("gdbserver") is None:
            self.skipTest("no gdbserver")
        server = subprocess.Popen(
            ["gdbserver", "--once", "127.0.0.1:0", *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

        def end() -> None:
            server.kill()
            server.communicate()

        self.addCleanup(end)
        assert server.stderr is not None
        for line in iter(server.stderr.readline, b""):
            if b"Listening on port" in line:
                return f"target remote 127.0.0.1:{int(line.split()[-1])}"
        raise AssertionError("gdbserver does not listen")

    def test_gdbserver_is_read_through_gdb(self) -> None:
        remote = self.serve([self.program])
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


class DotnetCoreTest(unittest.TestCase):
    """Cores of .NET programs, where they have been made."""

    def test_same_answers_as_the_shell(self) -> None:
        path = targets.core("wks10-full")
        if path is None:
            return
        for command in (
            "eeheap",
            "dumpheap -stat",
            "clrstack -all -roots",
            "gchandles",
            "finalizequeue",
        ):
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
            mark(6),
            f"heapdump open {path}",
            mark(7),
            "clrstack",
            mark(8),
            options=("-c", path),
        )
        self.assertEqual(between(text, 1), targets.shell(path, "clrstack", managed[-1]))
        self.assertEqual(between(text, 2), whole)
        self.assertEqual(between(text, 3), targets.shell(path, "clrstack", managed[0]))
        self.assertIn("is not managed: clrthreads lists those that are", between(text, 5))
        self.assertIn("$1 = 2", between(text, 5))
        self.assertEqual(between(text, 7), whole)

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

    def test_interrupt_while_gdb_is_asked(self) -> None:
        path = targets.core("gen10-1m-full")
        if path is None:
            return
        argv = GDB + ["-ex", "set height 0", "-ex", "set heapdump backend debugger", "-c", path]
        terminal = support.Terminal(argv, r"\(gdb\) ")
        self.addCleanup(terminal.__exit__)
        terminal.prompt()
        terminal.command("heapdump info")
        for delay in (0.2, 0.1, 0.3, 0.05, 0.4, 0.15):  # the machine may be too quick
            terminal.send("verifyheap\n")
            time.sleep(delay)
            terminal.send("\x03")
            terminal.send("\nprint $_heapdump_status + 1000\n")
            text = terminal.wait(r"= (1130|1000)", 120)
            self.assertNotIn("Traceback", text)
            self.assertNotIn("Python Exception", text)
            self.assertNotIn("Exception ignored", text)
            terminal.prompt()
            if text.endswith("1130"):
                break
            terminal.command("heapdump close")
        else:
            self.fail("not interrupted in 6 tries")
        self.assertIn("Quit", text)
        self.assertIn("= 42", terminal.command("print 42"))
        self.assertIn("Total", terminal.command("dumpheap -stat"))


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
        if shutil.which("gdbserver") is None:
            self.skipTest("no gdbserver")
        server = subprocess.Popen(
            ["gdbserver", "--once", "--attach", "127.0.0.1:0", str(child.pid)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.addCleanup(server.communicate)
        self.addCleanup(server.send_signal, signal.SIGTERM)
        assert server.stderr is not None
        port = 0
        for line in iter(server.stderr.readline, b""):
            if b"Listening on port" in line:
                port = int(line.split()[-1])
                break
        self.assertNotEqual(port, 0)
        text = run_gdb(
            "set sysroot /",
            f"target remote 127.0.0.1:{port}",
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
