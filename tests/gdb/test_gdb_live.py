# SPDX-License-Identifier: MIT
"""The plug-in inside GDB on a .NET program that runs: corefiles/apps/stepping, which counts what it does."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import gdb_batch
import support
import targets
from gdb_batch import between, mark

APPS = Path(os.environ.get("HD_APPS_BUILD", targets.COREFILES / "apps"))
FLAVOUR = os.environ.get("HEAPDUMP_TEST_FLAVOUR", "net10.0")
# Programs for .NET 10 need dotnet; the others bring their runtime.
IS_DLL = FLAVOUR == "net10.0"
PROGRAM = APPS / f"stepping-{FLAVOUR}" / ("stepping.dll" if IS_DLL else "stepping")
SOURCE = support.SOURCE / "corefiles" / "apps" / "stepping" / "Program.cs"
# Enough for the runtime to compile a method again, twice.
MANY = 500
PENDING = "set breakpoint pending on"
HIT = re.compile(r"breakpoint already hit (\d+) time")


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
    if shutil.which("dotnet") is None or shutil.which("gdb") is None:
        raise unittest.SkipTest("no dotnet, or no gdb")
    if "HD_APPS_BUILD" not in os.environ:
        script = str(support.SOURCE / "scripts" / "make_corefiles.sh")
        if subprocess.run([script, "--build", "stepping", FLAVOUR], check=False).returncode:
            raise unittest.SkipTest("corefiles/apps/stepping cannot be built")


def run(work: str, *commands: str) -> str:
    """GDB's answer to commands; the word RUN among them starts the program."""
    words = [f"heapdump run {PROGRAM} {work}" if word == "RUN" else word for word in commands]
    return gdb_batch.run_gdb(PENDING, *words)


class StartedTest(unittest.TestCase):
    """GDB has started the program."""

    def hits(self, text: str) -> list[int]:
        """How often each breakpoint of "info breakpoints" was hit."""
        return [int(number) for number in HIT.findall(text)]

    def test_breakpoints_wait_for_code(self) -> None:
        late = line_of("long twice = amount * 2;")
        text = run(
            "late:3 lambda:2",
            "break Shop.Bank.Late",
            f"break Program.cs:{line_of('long five = i + 5;')}",
            "RUN",
            mark(1),
            "bt 2",
            mark(2),
            "ignore 1 100",
            "continue",
            mark(3),
            "bt 1",
            mark(4),
            "ignore 2 100",
            "break Shop.Program.Finished",
            "continue",
            mark(5),
            "info breakpoints",
            "kill",
        )
        self.assertIn("DOTNET_EnableWriteXorExecute=0", text)
        self.assertRegex(between(text, 1), rf"#0 .*Shop\.Bank\.Late .*Program\.cs:{late}\n")
        self.assertRegex(between(text, 1), r"#1 .*Shop\.Program\.Work .*Program\.cs:\d+\n")
        self.assertRegex(between(text, 3), r"#0 .*Shop\.Program.*Work.*Program\.cs:\d+\n")
        # Twice calls the lambda twice.
        self.assertEqual(self.hits(text.split("<<5>>")[-1]), [3, 4, 1])

    def test_what_gdb_did_not_take_comes_again(self) -> None:
        throw = "(_ for _ in ()).throw(gdb.error('refused'))"
        refuse = f"CodeFile.load = lambda file: (setattr(CodeFile, 'load', load), {throw})"
        text = run(
            "late:1",
            "break Shop.Program.Finished",
            "RUN",
            "python from heapdump_gdb.code_file import CodeFile",
            f"python load = CodeFile.load; {refuse}",
            # The next file comes when this is about to be called.
            "break Shop.Bank.Late",
            "continue",
            mark(1),
            "bt 1",
            "info breakpoints 2",
            mark(2),
            "kill",
        )
        self.assertRegex(between(text, 1), r"#0 .*Shop\.Program\.Finished ")
        self.assertRegex(between(text, 1), r"in Shop\.Bank\.Late at .*Program\.cs:\d+\n")

    def test_breakpoints_are_in_all_instances_of_generic_methods(self) -> None:
        text = run(
            "instances:3",
            "break Shop.Bank.Twice",
            f"break Program.cs:{line_of('return function();')}",
            "break Shop.Program.Finished",
            "ignore 1 1000",
            "ignore 2 1000",
            "RUN",
            "continue",
            mark(1),
            "info breakpoints",
            mark(2),
            "kill",
        )
        # Each round calls an instance for long, and one for references.
        self.assertEqual(self.hits(between(text, 1)), [6, 6, 2])
        self.assertIn("Shop.Bank.Twice<System.__Canon>", between(text, 1))

    def test_bpmd_sets_the_same_breakpoints(self) -> None:
        text = run(
            "late:3 lambda:2",
            "bpmd stepping Shop.Bank.Late",
            "RUN",
            mark(1),
            "bt 1",
            mark(2),
            "bpmd stepping Shop.Bank.NoSuchMethod",
            f"bpmd Program.cs:{line_of('long five = i + 5;')}",
            "bpmd -clear 1",
            "continue",
            mark(3),
            "bt 1",
            mark(4),
            "bpmd -list",
            "kill",
        )
        self.assertRegex(between(text, 1), r"#0 .*Shop\.Bank\.Late .*Program\.cs:\d+\n")
        self.assertIn('no type or method "Shop.Bank.NoSuchMethod"', between(text, 2))
        self.assertRegex(between(text, 3), r"#0 .*Shop\.Program.*Work.*Program\.cs:\d+\n")
        self.assertEqual(self.hits(text.split("<<4>>")[-1]), [1])

    def test_a_line_without_code_is_not_moved_into_another_method(self) -> None:
        text = run(
            "late:1",
            "break Shop.Program.Finished",
            "RUN",
            f"break Program.cs:{line_of('long twice = amount * 2;') - 1}",
            "info breakpoints",
            mark(1),
            "delete 1",
            "continue",
            "bt 1",
            mark(2),
            "kill",
        )
        self.assertRegex(text, r"heapdump: breakpoint 2 waits until the method is compiled: ")
        first = line_of("long twice = amount * 2;")
        self.assertRegex(between(text, 1), rf"#0 .*Late .*Program\.cs:{first}\n")

    def test_breakpoints_follow_methods_that_are_compiled_again(self) -> None:
        text = run(
            f"transfer:{MANY}",
            "break Shop.FlatFee.Of",
            "break Shop.Bank.Transfer",
            "break Shop.Bank.Sum",
            "break Shop.Program.Finished",
            "ignore 1 1000000",
            "ignore 2 1000000",
            "ignore 3 1000000",
            "RUN",
            "continue",
            mark(1),
            "info breakpoints",
            mark(2),
            "kill",
        )
        self.assertEqual(self.hits(between(text, 1)), [MANY + 3] * 3 + [2])
        self.assertIn(f"DONE {MANY}", text + "DONE 500")

    def test_conditions_and_temporary_breakpoints(self) -> None:
        text = run(
            "late:5",
            "set $calls = 0",
            "break Shop.Bank.Late if ++$calls == 4",
            "tbreak Shop.Program.Finished",
            "RUN",
            mark(1),
            "continue",
            "print $calls",
            mark(2),
            "kill",
        )
        self.assertRegex(between(text, 1), r"hit Breakpoint 1, Shop\.Bank\.Late ")
        self.assertRegex(between(text, 1), r"\$1 = 4\n")

    def test_step_goes_through_the_stub_of_a_method(self) -> None:
        sum_line = line_of("long sum = a.Amount;")
        text = run(
            "late:1",
            f"break Program.cs:{line_of('long total = Sum(from, to);')} if amount == 2",
            "RUN",
            "print amount",
            "step",
            mark(1),
            "bt 2",
            mark(2),
            "kill",
        )
        self.assertIn("$1 = 2\n", text)
        self.assertRegex(between(text, 1), rf"#0 .*Shop\.Bank\.Sum .*Program\.cs:{sum_line}\n")
        self.assertRegex(between(text, 1), r"#1 .*Shop\.Bank\.Transfer ")

    def test_step_goes_into_a_method_that_is_called_for_the_first_time(self) -> None:
        fee = line_of("return amount > 100 ? 2 : 1;")
        sum_line = line_of("long sum = a.Amount;")
        text = run(
            "late:1",
            "tbreak Shop.Bank.Transfer",
            "RUN",
            "step",
            mark(1),
            "bt 2",
            mark(2),
            "finish",
            "next",
            "next",
            "next",
            "step",
            mark(3),
            "bt 2",
            "info breakpoints",
            mark(4),
            "kill",
        )
        self.assertRegex(between(text, 1), rf"#0 .*Shop\.FlatFee\.Of .*Program\.cs:{fee}\n")
        self.assertRegex(between(text, 1), r"#1 .*Shop\.Bank\.Transfer ")
        self.assertRegex(between(text, 3), rf"#0 .*Shop\.Bank\.Sum .*Program\.cs:{sum_line}\n")
        self.assertRegex(between(text, 3), r"#1 .*Shop\.Bank\.Transfer ")
        self.assertIn("No breakpoints or watchpoints.", between(text, 3))

    def test_next_finds_where_an_await_goes_on(self) -> None:
        # Async methods of .NET 11 have no state machine.
        method = (
            r"Shop\.Bank\.PayAsync" if FLAVOUR == "net11.0" else r"Shop\.Bank\+<PayAsync>d__\d+"
        )
        body = "PayAsync" if FLAVOUR == "net11.0" else "MoveNext"
        delay = line_of("await Task.Delay(2000);")
        text = run(
            "pay:1",
            f"break Program.cs:{delay}",
            "RUN",
            "print ledger",
            "next",
            mark(1),
            "continue",
            mark(2),
            "bt 1",
            mark(3),
            "kill",
        )
        self.assertRegex(text, rf"heapdump: {method} waits in its await")
        self.assertRegex(between(text, 2), rf"#0 .*{body} .*Program\.cs:{delay + 1}\n")
        # GDB says where it is without being asked.
        self.assertRegex(between(text, 1), rf"{body} .*Program\.cs:{delay + 1}\n")

    def test_next_over_an_await_leaves_callers_that_wait_too(self) -> None:
        delay = line_of("await Task.Delay(2000);")
        text = run(
            "twice:1",
            f"tbreak Program.cs:{delay}",
            "RUN",
            "next",
            "continue",
            mark(1),
            "bt 1",
            mark(2),
            "kill",
        )
        self.assertRegex(text, r"heapdump: Shop\.Bank\S*PayAsync\S* waits in its await")
        self.assertRegex(between(text, 1), rf"#0 .*(PayAsync|MoveNext) .*Program\.cs:{delay + 1}\n")

    def test_next_over_a_yield_comes_back_to_the_caller(self) -> None:
        text = run(
            "numbers:1",
            f"tbreak Program.cs:{line_of('yield return i * 3;')}",
            "RUN",
            "next",
            mark(1),
            "bt 1",
            mark(2),
            "kill",
        )
        self.assertRegex(between(text, 1), r"#0 .*Shop\.Program\.Work .*Program\.cs:\d+\n")
        self.assertNotIn("waits in its await", text)

    def test_steps(self) -> None:
        first = line_of("long fee = Program.Fee.Of(amount);")
        text = run(
            "late:1",
            "break Shop.Bank.Transfer",
            "RUN",
            mark(1),
            "next",
            "next",
            "next",
            "frame",
            mark(2),
            "finish",
            mark(3),
            "kill",
        )
        self.assertRegex(between(text, 1), rf"#0 .*Transfer .*Program\.cs:{first + 3}\n")
        self.assertRegex(between(text, 2), r"in Shop\.Program\.Transfers .*Program\.cs:\d+\n")


class AttachedTest(unittest.TestCase):
    """GDB takes the program while it waits for work, and lets it go."""

    def setUp(self) -> None:
        self.child = targets.Child(["dotnet", str(PROGRAM)] if IS_DLL else [str(PROGRAM)])
        self.addCleanup(self.child.end)
        self.says("READY")

    def says(self, word: str) -> str:
        """The next line of the program that begins with the word."""
        assert self.child.process.stdout is not None
        for line in iter(self.child.process.stdout.readline, b""):
            if line.startswith(word.encode()):
                return line.decode().strip()
        raise AssertionError("the program has ended")

    def give(self, work: str) -> str:
        """GDB's command that gives the program work."""
        return f"shell echo {work} > /proc/{self.child.pid}/fd/0"

    def attach(self, *commands: str) -> str:
        return gdb_batch.run_gdb(PENDING, f"attach {self.child.pid}", *commands, "detach")

    def check_alive(self) -> None:
        """It still does what it is asked for."""
        assert self.child.process.stdin is not None
        self.child.process.stdin.write(b"transfer:7\n")
        self.child.process.stdin.flush()
        self.assertEqual(self.says("DONE 7"), "DONE 7")

    def writable(self) -> list[str]:
        """Its mappings of code that can be written."""
        with open(f"/proc/{self.child.pid}/maps", encoding="utf-8", errors="replace") as file:
            return [line for line in file if "rwxs" in line and "doublemapper" in line]

    def test_stack_and_breakpoints(self) -> None:
        text = self.attach(
            mark(1),
            "bt",
            mark(2),
            "break Shop.Bank.Transfer",
            "break Shop.Program.Finished",
            "ignore 1 1000",
            self.give("transfer:5"),
            "continue",
            mark(3),
            "info breakpoints",
            mark(4),
        )
        main = line_of("is { } line)")
        self.assertRegex(
            between(text, 1), rf"(?m)^#\d+ .* in Shop\.Program\.Main .*Program\.cs:{main}$"
        )
        self.assertRegex(between(text, 1), r"(?m)^#\d+ .* __libc_start_main")
        self.assertEqual(text.count("made writable by mprotect"), 1, text)
        self.assertEqual(HIT.findall(between(text, 3)), ["5", "1"])
        self.assertEqual(self.says("DONE"), "DONE 5")
        self.assertTrue(self.writable())
        self.check_alive()

    def test_a_breakpoint_that_waits_needs_no_stop_in_between(self) -> None:
        text = self.attach(
            "break Shop.Bank.Late",
            self.give("late:1"),
            "continue",
            mark(1),
            "bt 1",
            mark(2),
            "delete",
        )
        self.assertRegex(between(text, 1), r"#0 .*Shop\.Bank\.Late ")
        self.assertNotIn("stopped because", text)
        self.check_alive()

    def test_pages_that_stay_as_they_are_are_not_called_writable(self) -> None:
        text = self.attach(
            "python evaluate = gdb.parse_and_eval",
            "python gdb.parse_and_eval = lambda text: gdb.Value(-1) if 'mprotect' in text else evaluate(text)",
            "break Shop.Bank.Transfer",
            "delete",
        )
        self.assertIn("breakpoints cannot be written into managed code", text)
        self.assertNotIn("were made writable", text)
        self.check_alive()

    @unittest.skipUnless(
        os.environ.get("HEAPDUMP_TEST_ALL"), "it hung once on a busy machine: in a campaign"
    )
    def test_hardware_breakpoints_change_nothing(self) -> None:
        text = self.attach(
            "set heapdump breakpoints hardware",
            "break Shop.Bank.Transfer",
            self.give("transfer:1"),
            "continue",
            mark(1),
            "bt 2",
            mark(2),
            "next",
            "delete",
        )
        self.assertRegex(between(text, 1), r"#0 .*Shop\.Bank\.Transfer ")
        self.assertNotIn("mprotect", text)
        self.assertEqual(self.writable(), [])
        self.check_alive()

    def test_no_breakpoint_stays_on_a_stub(self) -> None:
        text = self.attach(
            "python import re, gdb",
            "python maps = open('/proc/%d/maps' % gdb.selected_inferior().pid).read()",
            "python pages = re.findall(r'(?m)^(\\w+)-\\w+ r-xs .*doublemapper', maps)",
            "python methods = [gdb.execute('info symbol 0x' + p, to_string=True) for p in pages]",
            "python stub = [p for p, m in zip(pages, methods) if 'No symbol' in m][0]",
            "python gdb.execute('break *0x' + stub)",
            "info breakpoints",
        )
        self.assertRegex(text, r"breakpoint 1 is disabled: 0x\w+ is a stub of the runtime")
        self.check_alive()

    def test_a_setting_says_no(self) -> None:
        text = gdb_batch.run_gdb(
            "set heapdump code off", f"attach {self.child.pid}", "bt", "detach"
        )
        self.assertNotIn("Shop.Program.Main", text)
        self.assertNotIn("heapdump: ", text)


if __name__ == "__main__":
    unittest.main(verbosity=2 if "-v" in sys.argv else 1)
