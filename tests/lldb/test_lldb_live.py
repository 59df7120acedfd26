# SPDX-License-Identifier: MIT
"""The plug-in inside LLDB on a .NET program that runs: corefiles/apps/stepping, which counts what it does.

Whatever lets a process run can be disturbed on a busy machine, so these are tests of campaigns: HEAPDUMP_TEST_ALL.
"""
from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from lldb_batch import LLDB, PLUGIN, run_lldb
import support
import targets

APPS = Path(os.environ.get("HD_APPS_BUILD", targets.COREFILES / "apps"))
FLAVOUR = os.environ.get("HEAPDUMP_TEST_FLAVOUR", "net10.0")
# Programs for .NET 10 need dotnet; the others bring their runtime.
IS_DLL = FLAVOUR == "net10.0"
PROGRAM = APPS / f"stepping-{FLAVOUR}" / ("stepping.dll" if IS_DLL else "stepping")
SOURCE = support.SOURCE / "corefiles" / "apps" / "stepping" / "Program.cs"
# Enough for the runtime to compile a method again, twice.
MANY = 500
HITS = re.compile(r"(?m)^(\d+): .*?hit count = (\d+)")
HAS_PROCESS = "a process that runs can be disturbed: in a campaign"


def line_of(text: str) -> int:
    """The number of the only line of the program with that text."""
    found = [
        number
        for number, line in enumerate(SOURCE.read_text(encoding="utf-8").splitlines(), 1)
        if text in line
    ]
    assert len(found) == 1, (text, found)
    return found[0]


def setUpModule() -> None:
    if "HD_APPS_BUILD" not in os.environ and os.environ.get("HEAPDUMP_TEST_ALL"):
        script = str(support.SOURCE / "scripts" / "make_corefiles.sh")
        if subprocess.run([script, "--build", "stepping", FLAVOUR], check=False).returncode:
            raise unittest.SkipTest("corefiles/apps/stepping cannot be built")


def hits(text: str) -> dict[int, int]:
    """How often each breakpoint of "breakpoint list" was hit."""
    return {int(number): int(count) for number, count in HITS.findall(text)}


def at_line(name: str, line: int) -> str:
    """LLDB's frame of a managed method."""
    return rf"frame #0: 0x\w+ managed`{re.escape(name)}\b.* at Program\.cs:{line}\b"


@unittest.skipUnless(os.environ.get("HEAPDUMP_TEST_ALL"), HAS_PROCESS)
class StartedTest(unittest.TestCase):
    """LLDB has started the program."""

    def run_program(self, work: str, *commands: str) -> list[str]:
        """LLDB's answers; the word RUN among the commands starts the program."""
        words = [f"heapdump run {PROGRAM} {work}" if word == "RUN" else word for word in commands]
        return run_lldb(*words, "process kill")

    def test_breakpoints_wait_for_code(self) -> None:
        answers = self.run_program(
            "late:3 lambda:2",
            "breakpoint set -n Shop.Bank.Late",
            f"b Program.cs:{line_of('long five = i + 5;')}",
            "RUN",
            "bt 2",
            "breakpoint modify -i 100 1",
            "process continue",
            "breakpoint modify -i 100 2",
            "breakpoint set -n Shop.Program.Finished",
            "process continue",
            "breakpoint list",
        )
        self.assertIn("DOTNET_EnableWriteXorExecute=0", answers[2])
        self.assertIn("heapdump: breakpoint 1 waits until the method is compiled", answers[2])
        self.assertIn("stop reason = breakpoint 1.", answers[2])
        late = line_of("long twice = amount * 2;")
        self.assertRegex(answers[3], at_line("Shop.Bank.Late", late))
        self.assertRegex(answers[3], r"frame #1: 0x\w+ managed`Shop\.Program\.Work\b")
        self.assertIn("stop reason = breakpoint 2.", answers[5])
        self.assertIn("managed`Shop.Program+", answers[5])
        found = hits(answers[9])
        # Twice calls the lambda twice.
        self.assertEqual([found[1], found[2]], [3, 4], answers[9])
        # Nobody sees the plug-in's own breakpoints.
        self.assertNotIn("coreclr", answers[9])
        self.assertEqual(len(found), 3)

    def test_code_that_replaces_a_file_is_known(self) -> None:
        # The line belongs to a lambda; its class is in the file that the next one replaces.
        answers = self.run_program(
            "late:3 lambda:2",
            f"b Program.cs:{line_of('long five = i + 5;')}",
            "breakpoint set -n Shop.Bank.Late",
            "RUN",
            "bt 2",
        )
        late = line_of("long twice = amount * 2;")
        self.assertRegex(answers[2], at_line("Shop.Bank.Late", late))
        self.assertRegex(answers[3], at_line("Shop.Bank.Late", late))

    def test_breakpoints_are_in_all_instances_of_generic_methods(self) -> None:
        answers = self.run_program(
            "instances:3",
            "breakpoint set -n Shop.Bank.Twice",
            f"breakpoint set -f Program.cs -l {line_of('return function();')}",
            "breakpoint set -n Shop.Program.Finished",
            "breakpoint modify -i 1000 1 2",
            "RUN",
            "process continue",
            "breakpoint list",
        )
        found = hits(answers[6])
        # Each round calls an instance for long, and one for references.
        self.assertEqual([found[i] for i in (1, 2, 3)], [6, 6, 2], answers[6])

    def test_bpmd_sets_the_same_breakpoints(self) -> None:
        answers = self.run_program(
            "late:3 lambda:2",
            "bpmd stepping Shop.Bank.Late",
            "RUN",
            "bpmd stepping Shop.Bank.NoSuchMethod",
            f"bpmd Program.cs:{line_of('long five = i + 5;')}",
            "bpmd -clear 1",
            "process continue",
            "bpmd -list",
            "bpmd nothing",
        )
        late = line_of("long twice = amount * 2;")
        self.assertRegex(answers[1], at_line("Shop.Bank.Late", late))
        self.assertIn('no type or method "Shop.Bank.NoSuchMethod"', answers[2])
        self.assertRegex(answers[5], r"managed`Shop\.Program\+.*Work.* at Program\.cs:")
        self.assertEqual(list(hits(answers[6]).values()), [1])
        self.assertIn("usage: bpmd MODULE METHOD", answers[7])

    def test_a_line_without_code_is_not_moved_into_another_method(self) -> None:
        late = line_of("long twice = amount * 2;")
        answers = self.run_program(
            "late:1",
            "breakpoint set -n Shop.Program.Finished",
            "RUN",
            f"breakpoint set -f Program.cs -l {late - 1}",
            "breakpoint disable 1",
            "process continue",
            "breakpoint list",
        )
        self.assertRegex(answers[4], r"heapdump: breakpoint \d+ waits until the method is compiled")
        self.assertRegex(answers[4], at_line("Shop.Bank.Late", late))

    def test_breakpoints_follow_methods_that_are_compiled_again(self) -> None:
        answers = self.run_program(
            f"transfer:{MANY}",
            "breakpoint set -n Shop.FlatFee.Of",
            "breakpoint set -n Shop.Bank.Transfer",
            "breakpoint set -n Shop.Bank.Sum",
            "breakpoint set -n Shop.Program.Finished",
            "breakpoint modify -i 1000000 1 2 3",
            "RUN",
            "process continue",
            "breakpoint list",
        )
        found = hits(answers[7])
        self.assertEqual([found[i] for i in range(1, 5)], [MANY + 3] * 3 + [2], answers[7])

    def test_conditions_and_temporary_breakpoints(self) -> None:
        answers = self.run_program(
            "late:5",
            "breakpoint set -n Shop.Bank.Late -c 'amount == 3'",
            "tbreak Shop.Program.Finished",
            "RUN",
            "process continue",
            "frame variable amount",
        )
        self.assertIn("managed`Shop.Program.Finished", answers[2])
        self.assertIn("managed`Shop.Bank.Late(amount=3)", answers[3])
        self.assertIn("amount = 3", answers[4])

    def test_steps(self) -> None:
        first = line_of("long fee = Program.Fee.Of(amount);")
        answers = self.run_program(
            "late:1",
            "breakpoint set -n Shop.Bank.Transfer -c 'amount == 1'",
            "RUN",
            "thread step-over",
            "thread step-over",
            "thread step-over",
            "thread step-in",
            "bt 2",
            "finish",
            "finish",
        )
        self.assertRegex(answers[1], at_line("Shop.Bank.Transfer", first))
        for i in range(3):
            self.assertRegex(answers[2 + i], at_line("Shop.Bank.Transfer", first + 1 + i))
        self.assertRegex(answers[5], r"managed`Shop\.Bank\.Sum\b")
        self.assertRegex(answers[6], r"frame #1: 0x\w+ managed`Shop\.Bank\.Transfer\b")
        self.assertRegex(answers[7], r"managed`Shop\.Bank\.Transfer\b.* at Program\.cs:")
        self.assertRegex(answers[8], r"managed`Shop\.Program\.Transfers\b.* at Program\.cs:")

    def test_step_in_goes_into_a_method_that_is_called_for_the_first_time(self) -> None:
        first = line_of("long fee = Program.Fee.Of(amount);")
        answers = self.run_program(
            "late:1",
            "breakpoint set -n Shop.Bank.Transfer -o true",
            "RUN",
            "thread step-in",
            "bt 2",
            "finish",
            *["thread step-over"] * 3,
            "thread step-in",
            "bt 2",
            "breakpoint list",
        )
        fee = line_of("return amount > 100 ? 2 : 1;")
        self.assertRegex(answers[2], at_line("Shop.FlatFee.Of", fee))
        self.assertRegex(answers[3], r"frame #1: 0x\w+ managed`Shop\.Bank\.Transfer\b")
        self.assertRegex(answers[7], at_line("Shop.Bank.Transfer", first + 3))
        self.assertRegex(answers[8], at_line("Shop.Bank.Sum", line_of("long sum = a.Amount;")))
        self.assertRegex(answers[9], r"frame #1: 0x\w+ managed`Shop\.Bank\.Transfer\b")
        # Nobody sees the plug-in's own breakpoints.
        self.assertEqual(hits(answers[10]), {})

    def test_step_over_finds_where_an_await_goes_on(self) -> None:
        # Async methods of .NET 11 have no state machine.
        body = "PayAsync" if FLAVOUR == "net11.0" else "MoveNext"
        delay = line_of("await Task.Delay(2000);")
        answers = self.run_program(
            "pay:1",
            f"breakpoint set -f Program.cs -l {delay} -o true",
            "RUN",
            "thread step-over",
            "process continue",
            "frame variable amount",
            "breakpoint list",
        )
        self.assertIn("PayAsync", answers[3])
        self.assertIn("waits in its await", answers[3])
        self.assertRegex(answers[3], rf"{body}\b.* at Program\.cs:{delay + 1}\b")
        self.assertIn("amount = 0", answers[4])
        self.assertEqual(hits(answers[5]), {})

    def test_step_over_an_await_leaves_callers_that_wait_too(self) -> None:
        delay = line_of("await Task.Delay(2000);")
        answers = self.run_program(
            "twice:1",
            f"breakpoint set -f Program.cs -l {delay} -o true",
            "RUN",
            "thread step-over",
            "process continue",
            "breakpoint list",
        )
        self.assertRegex(answers[3], r"Shop\.Bank\S*PayAsync\S* waits in its await")
        self.assertRegex(answers[3], rf"(PayAsync|MoveNext)\b.* at Program\.cs:{delay + 1}\b")
        self.assertEqual(hits(answers[4]), {})


@unittest.skipUnless(os.environ.get("HEAPDUMP_TEST_ALL"), HAS_PROCESS)
class AttachedTest(unittest.TestCase):
    """LLDB takes the program while it waits for work, and lets it go."""

    def setUp(self) -> None:
        self.child = targets.Child(["dotnet", str(PROGRAM)] if IS_DLL else [str(PROGRAM)])
        self.addCleanup(self.child.end)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.says("READY")

    def says(self, word: str) -> str:
        """The next line of the program that begins with the word."""
        # LLDB 14 may leave a stop to a thread when it detaches, also without the plug-in.
        os.kill(self.child.pid, signal.SIGCONT)
        assert self.child.process.stdout is not None
        for line in iter(self.child.process.stdout.readline, b""):
            if line.startswith(word.encode()):
                return line.decode().strip()
        raise AssertionError("the program has ended")

    def give(self, work: str) -> str:
        """LLDB's command that gives the program work."""
        # LLDB 14 hands no ">" to a shell.
        script = Path(self.folder.name, work.replace(":", "-"))
        script.write_text(f"echo {work} > /proc/{self.child.pid}/fd/0\n", encoding="utf-8")
        return f"platform shell sh {script}"

    def attach(self, *commands: str) -> list[str]:
        return run_lldb(*commands, "detach", options=("-p", str(self.child.pid)))

    def check_alive(self) -> None:
        """It still does what it is asked for."""
        assert self.child.process.stdin is not None
        self.child.process.stdin.write(b"transfer:7\n")
        self.child.process.stdin.flush()
        self.assertEqual(self.says("DONE 7"), "DONE 7")

    def test_stack_and_breakpoints(self) -> None:
        answers = self.attach(
            "bt",
            "breakpoint set -n Shop.Bank.Transfer",
            "breakpoint set -n Shop.Bank.Late",
            "breakpoint set -n Shop.Program.Finished",
            "breakpoint modify -i 1000 1",
            self.give("transfer:5"),
            "process continue",
            self.give("late:2"),
            "process continue",
            "breakpoint list",
        )
        main = line_of("is { } line)")
        self.assertRegex(answers[0], rf"managed`Shop\.Program\.Main\(.* at Program\.cs:{main}\b")
        self.assertIn("__libc_start_main", answers[0])
        self.assertEqual("\n".join(answers).count("code pages were made writable"), 1, answers)
        self.assertIn("managed`Shop.Program.Finished", answers[6])
        self.assertIn("managed`Shop.Bank.Late(amount=0)", answers[8])
        found = hits(answers[9])
        self.assertEqual([found[i] for i in (1, 2, 3)], [5, 1, 1], answers[9])
        self.assertEqual(self.says("DONE"), "DONE 5")
        self.assertEqual(self.says("DONE"), "DONE 2")
        self.check_alive()

    def test_no_breakpoint_stays_on_a_stub(self) -> None:
        with open(f"/proc/{self.child.pid}/maps", encoding="utf-8", errors="replace") as file:
            pages = re.findall(r"(?m)^(\w+)-\w+ r-xs .*doublemapper", file.read())
        answers = self.attach(
            *[f"breakpoint set -a 0x{page}" for page in pages],
            self.give("late:1"),
            "breakpoint set -n Shop.Program.Finished",
            "process continue",
        )
        self.assertRegex(answers[-2], r"breakpoint \d+ is disabled: 0x\w+ is a stub of the runtime")
        self.assertIn("managed`Shop.Program.Finished", answers[-2])
        self.check_alive()

    def test_a_setting_says_no(self) -> None:
        answers = self.attach("heapdump set code off", "bt")
        self.assertNotIn("Shop.Program.Main", answers[1])
        self.assertNotIn("heapdump: ", "\n".join(answers))
        self.check_alive()


if __name__ == "__main__":
    if shutil.which(LLDB) is None or not os.path.exists(PLUGIN):
        print(f"skipped: no {LLDB}, or no plug-in for it")
        sys.exit(77)
    unittest.main(verbosity=2 if "-v" in sys.argv else 1)
