#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many breakpoints and many steps in a program that lives, in GDB: minutes of work, not a part of the tests.

    live_campaign.py [--count 200] [--lines 500] [--steps 20000] [--flavour net10.0] [--optimize] [--runtime FOLDER]

It writes a program with that many methods, which says how often it calls each, builds it, and asks GDB with
the plug-in.  Status 1: something was not as the program says.
"""
from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import many  # noqa: E402
import support  # noqa: E402
from gdb_batch import PLUGIN  # noqa: E402

STEPS = Path(__file__).with_name("live_steps.py")
HIT = re.compile(r"breakpoint already hit (\d+) time")


class Campaign:
    def __init__(self, options: argparse.Namespace, folder: str) -> None:
        self._count = options.count
        self._folder = folder
        self._program = many.Program(folder, options.count, options.flavour, options.optimize)
        self._environment = many.environment(support.ENVIRONMENT, options.runtime)
        self._failures = 0

    def gdb(self, rounds: int, before: list[str], after: list[str]) -> str:
        """Run the program in GDB, with commands before it starts, and after its first stop."""
        words = ["set pagination off", "set confirm off", "set breakpoint pending on", *before]
        words += [f"heapdump run {self._program.path} {rounds}", *after, "kill"]
        script = Path(self._folder, "commands.gdb")
        script.write_text("\n".join(words) + "\n", encoding="utf-8")
        done = subprocess.run(
            ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]
            + ["-iex", "source " + PLUGIN, "-x", str(script)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self._environment,
            timeout=3600,
            check=False,
        )
        return done.stdout.decode("utf-8", "replace")

    def judge(self, what: str, is_right: bool, text: str) -> None:
        print(f"{what}: {'right' if is_right else 'WRONG'}", flush=True)
        if not is_right:
            self._failures += 1
            Path(f"live_campaign-{self._failures}.txt").write_text(text, encoding="utf-8")

    def counted(self, what: str, places: list[str], rounds: int, hits: int) -> None:
        """Breakpoints that do not stop, and how often each was hit."""
        before = [f"break {place}" for place in places]
        before += [f"ignore {i + 1} 1000000" for i in range(len(places))]
        before += ["break Many.Finished"]
        text = self.gdb(rounds, before, ["info breakpoints"])
        found = [int(number) for number in HIT.findall(text)]
        is_right = found == [hits] * len(places) + [1]
        self.judge(f"{len(places)} breakpoints {what}, {rounds} rounds", is_right, text)

    def temporary(self) -> None:
        before = [f"tbreak Many.M{i}" for i in range(self._count)] + ["break Many.Finished"]
        after = ["continue"] * self._count + ["info breakpoints"]
        text = self.gdb(3, before, after)
        found = [int(number) for number in re.findall(r"Temporary breakpoint (\d+), Many\.M", text)]
        is_right = found == list(range(1, self._count + 1)) and " hit Breakpoint" in text
        self.judge(f"{self._count} temporary breakpoints", is_right, text)

    def conditions(self) -> None:
        before = ["set $n = 0"]
        before += [f"break Many.M{i} if x == {i % 5} && ++$n" for i in range(self._count)]
        before += ["break Many.Finished"]
        text = self.gdb(5, before, ["continue"] * self._count + ["print $n", "bt 1"])
        found = re.findall(r"hit Breakpoint (\d+), Many\.M(\d+) \(x=(\d+)\)", text)
        wanted = [
            (str(i + 1), str(i), str(x)) for x in range(5) for i in range(self._count) if i % 5 == x
        ]
        self.judge(f"{self._count} conditions", found == wanted, text)

    def hardware(self) -> None:
        after = []
        for i in range(self._count):
            after += [f"hbreak Many.M{i}", "continue", "delete"]
        text = self.gdb(3, ["break Many.Round if round == 1"], ["delete", *after])
        found = re.findall(r"hit Breakpoint \d+, Many\.M(\d+) ", text)
        is_right = found == [str(i) for i in range(self._count)]
        self.judge(f"{self._count} hardware breakpoints", is_right, text)

    def lines(self, count: int) -> None:
        """step goes into each method, through its lines, and back to the next call."""
        after = [f"source {STEPS}", "delete", f"python lines({count}, 'step')"]
        text = self.gdb(2, ["break Many.Round if round == 1"], after)
        found = [(name, int(line)) for name, line in re.findall(r"AT (\S+) (\d+)", text)]
        wrong = len(found) != count
        for (name, line), (name_after, line_after) in zip(found, found[1:]):
            if name == name_after and line_after != line + 1:
                wrong = True
            if name == "Many.Round" and name_after.startswith("Many.M"):
                i = int(name_after[len("Many.M") :])
                wrong |= line_after not in (self._program.first[i] - 1, self._program.first[i])
                wrong |= line != self._program.calls + i
        self.judge(f"{count} lines by step", not wrong, text)
        text = self.gdb(
            2,
            ["break Many.Round if round == 1"],
            [f"source {STEPS}", "delete", f"python lines({self._count}, 'next')"],
        )
        found = [(name, int(line)) for name, line in re.findall(r"AT (\S+) (\d+)", text)]
        numbers = [line for name, line in found if name == "Many.Round"]
        is_right = (
            numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else False
        )
        self.judge(
            f"{len(numbers)} lines by next", is_right and len(numbers) >= self._count - 1, text
        )

    def finish(self) -> None:
        """finish goes back to the line of the call, or to the next one."""
        before = [f"break Many.M{i} if x == 1" for i in range(self._count)]
        text = self.gdb(2, [*before, "break Many.Finished"], ["finish", "continue"] * self._count)
        at = r"hit Breakpoint \d+, Many\.M(\d+) .*\n.*\n0x\w+ in Many\.Round .*:(\d+)\n"
        found = re.findall(at, text)
        wrong = len(found) != self._count
        for i, (method, line) in enumerate(found):
            call = self._program.calls + i
            wrong |= int(method) != i or int(line) not in (call, call + 1)
        self.judge(f"{self._count} times finish", not wrong, text)

    def single_steps(self, count: int) -> None:
        after = [f"source {STEPS}", "delete", f"python single_steps({count})"]
        text = self.gdb(10000, ["break Many.Round if round == 1"], after)
        found = re.search(r"STEPPED (\d+) wrong (\d+) places (\d+)", text)
        print(found[0] if found else text[-2000:])
        is_right = found is not None and int(found[1]) == count and found[2] == "0"
        self.judge(f"{count} single steps, the caller at each", is_right, text)

    def run(self, options: argparse.Namespace) -> int:
        names = [f"Many.M{i}" for i in range(self._count)]
        self.counted("at functions", names, 100, 100)
        self.counted("at lines", [f"Program.cs:{line}" for line in self._program.first], 100, 100)
        self.temporary()
        self.conditions()
        self.hardware()
        self.lines(options.lines)
        self.finish()
        self.single_steps(options.steps)
        return 1 if self._failures else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--flavour", default="net10.0")
    parser.add_argument("--optimize", action="store_true")
    parser.add_argument("--runtime", help="the folder of another dotnet, which runs the program")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return Campaign(options, folder).run(options)


if __name__ == "__main__":
    sys.exit(main())
