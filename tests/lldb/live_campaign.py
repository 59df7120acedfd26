#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many breakpoints and many steps in a program that lives, in LLDB: minutes of work, not a part of the tests.

    live_campaign.py [--count 200] [--lines 500] [--flavour net10.0] [--optimize] [--runtime FOLDER]

The program is that of tests/gdb/live_campaign.py, which says how often it calls each of its methods.  Status 1:
something was not as the program says.
"""
from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from lldb_batch import ENVIRONMENT, run_lldb  # noqa: E402
import many  # noqa: E402

HITS = re.compile(r"(?m)^(\d+): .*?hit count = (\d+)")
AT = re.compile(r"frame #0: 0x\w+ managed`(Many\.\w+)\(?.* at Program\.cs:(\d+)")
TIMEOUT = 3600
BIG = 1000000


class Campaign:
    def __init__(self, options: argparse.Namespace, program: many.Program) -> None:
        self._count = options.count
        self._program = program
        self._environment = many.environment(ENVIRONMENT, options.runtime)
        self._failures = 0

    def lldb(self, rounds: int, before: list[str], after: list[str]) -> str:
        """Run the program in LLDB, with commands before it starts, and after its first stop."""
        commands = [*before, f"heapdump run {self._program.path} {rounds}", *after, "process kill"]
        answers = run_lldb(*commands, environment=self._environment, timeout=TIMEOUT)
        return "\n".join(f"(lldb) {words}\n{text}" for words, text in zip(commands, answers))

    def judge(self, what: str, is_right: bool, text: str) -> None:
        print(f"{what}: {'right' if is_right else 'WRONG'}", flush=True)
        if not is_right:
            self._failures += 1
            Path(f"lldb_campaign-{self._failures}.txt").write_text(text, encoding="utf-8")

    def counted(self, what: str, places: list[str], rounds: int) -> None:
        """Breakpoints that do not stop, and how often each was hit."""
        before = [f"breakpoint set {place}" for place in places]
        before += [f"breakpoint modify -i {BIG} 1-{len(places)}"]
        before += ["breakpoint set -n Many.Finished"]
        text = self.lldb(rounds, before, ["breakpoint list --brief"])
        found = [int(count) for _, count in HITS.findall(text)]
        is_right = found == [rounds] * len(places) + [1]
        self.judge(f"{len(places)} breakpoints {what}, {rounds} rounds", is_right, text)

    def temporary(self) -> None:
        before = [f"tbreak Many.M{i}" for i in range(self._count)]
        before += ["breakpoint set -n Many.Finished"]
        text = self.lldb(3, before, ["process continue"] * self._count)
        found = [name for name, _ in AT.findall(text)]
        wanted = [f"Many.M{i}" for i in range(self._count)] + ["Many.Finished"]
        self.judge(f"{self._count} temporary breakpoints", found == wanted, text)

    def conditions(self) -> None:
        before = [f"breakpoint set -n Many.M{i} -c 'x == {i % 5}'" for i in range(self._count)] + [
            "breakpoint set -n Many.Finished"
        ]
        text = self.lldb(5, before, ["process continue"] * self._count)
        found = [name for name, _ in AT.findall(text)]
        wanted = [f"Many.M{i}" for x in range(5) for i in range(self._count) if i % 5 == x]
        self.judge(f"{self._count} conditions", found == [*wanted, "Many.Finished"], text)

    def lines(self, count: int) -> None:
        """step-in goes into each method, through its lines, and back to the next call; step-over goes over them."""
        start = "breakpoint set -n Many.Round -c 'round == 1'"
        text = self.lldb(2, [start], ["breakpoint disable 1", *["thread step-in"] * count])
        found = [(name, int(line)) for name, line in AT.findall(text)][1:]
        wrong = len(found) != count
        for (name, line), (name_after, line_after) in zip(found, found[1:]):
            if name == name_after and line_after != line + 1:
                wrong = True
            if name == "Many.Round" and name_after.startswith("Many.M"):
                i = int(name_after[len("Many.M") :])
                first = self._program.first[i]
                wrong |= line_after not in (first - 1, first)
                wrong |= line != self._program.calls + i
        self.judge(f"{count} lines by step-in", not wrong, text)
        steps = ["thread step-over"] * self._count
        text = self.lldb(2, [start], ["breakpoint disable 1", *steps])
        numbers = [int(line) for name, line in AT.findall(text) if name == "Many.Round"]
        wanted = list(range(numbers[0], numbers[0] + self._count)) if numbers else []
        self.judge(f"{len(numbers)} lines by step-over", numbers[: self._count] == wanted, text)

    def finish(self) -> None:
        """finish goes back to the line of the call, or to the next one."""
        before = [f"breakpoint set -n Many.M{i} -c 'x == 1'" for i in range(self._count)]
        after = ["finish", "process continue"] * self._count
        text = self.lldb(2, [*before, "breakpoint set -n Many.Finished"], after)
        found = [(name, int(line)) for name, line in AT.findall(text)]
        wrong = len(found) != 2 * self._count + 1
        for i in range(self._count):
            call = self._program.calls + i
            wrong |= found[2 * i : 2 * i + 1] != [] and found[2 * i][0] != f"Many.M{i}"
            wrong |= found[2 * i + 1 : 2 * i + 2] not in (
                [("Many.Round", call)],
                [("Many.Round", call + 1)],
            )
        self.judge(f"{self._count} times finish", not wrong, text)

    def run(self, options: argparse.Namespace) -> int:
        self.counted("at functions", [f"-n Many.M{i}" for i in range(self._count)], 100)
        first = self._program.first
        self.counted("at lines", [f"-f Program.cs -l {line}" for line in first], 100)
        self.temporary()
        self.conditions()
        self.lines(options.lines)
        self.finish()
        return 1 if self._failures else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--flavour", default="net10.0")
    parser.add_argument("--optimize", action="store_true")
    parser.add_argument("--runtime", help="the folder of another dotnet, which runs the program")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = many.Program(folder, options.count, options.flavour, options.optimize)
        return Campaign(options, program).run(options)


if __name__ == "__main__":
    sys.exit(main())
