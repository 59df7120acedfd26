#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_report.py DIR [PROGRAM]: how precise are the findings of `report`?
bench_report.py --live DLL [--collect DIR] [--program PROGRAM] MODE...

Runs `report` on each core and .gcdump of DIR and compares its findings of severity high and medium with what the
program said of itself (NAME.truth.json: corefiles/apps/leaks).  A target without such a truth counts as healthy: each
finding of it is false, and is listed.  With --live, the programs run (DLL is the built corefiles/apps/leaks), and
`report` reads their processes; --collect also takes a .gcdump of each into DIR.  Prints a table, then precision and
recall: of all, and of the programs that were written after the rules, which name no rule in their truth.  Exit status:
0 as expected, 1 a leak was missed or a healthy program has a finding of severity high, 2 usage.
"""
from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
from typing import Any, Iterator

Truth = dict[str, Any]
Finding = dict[str, Any]


@dataclasses.dataclass
class Score:
    """Counts of one group of programs."""

    name: str
    leaks: int = 0
    found: int = 0
    found_high: int = 0
    right: int = 0
    wrong: int = 0
    healthy: int = 0
    healthy_high: int = 0
    healthy_medium: int = 0

    def add(self, is_leak: bool, hits: list[Finding], others: list[Finding]) -> None:
        """Count the findings of one program: those that are right, and the others."""
        self.leaks += is_leak
        self.found += bool(hits)
        self.found_high += any(row["severity"] == "high" for row in hits)
        self.right += len(hits)
        self.wrong += len(others)
        if not is_leak:
            self.healthy += 1
            self.healthy_high += sum(row["severity"] == "high" for row in others)
            self.healthy_medium += sum(row["severity"] == "medium" for row in others)

    def show(self) -> None:
        """Print precision and recall."""
        if not self.leaks and not self.healthy:
            return
        all_findings = self.right + self.wrong
        precision = f"{self.right / all_findings:.0%}" if all_findings else "-"
        recall = f"{self.found / self.leaks:.0%}" if self.leaks else "-"
        print(
            f"{self.name}: {self.found} of {self.leaks} leaks and wastes found with the right name"
            f" (recall {recall}), {self.found_high} of them as high;\n"
            f"    findings of severity high or medium: {self.right} right, {self.wrong} others"
            f" (precision {precision});\n"
            f"    {self.healthy} healthy programs: {self.healthy_high} findings of severity high,"
            f" {self.healthy_medium} of medium"
        )


def findings_of(program: str, target: str) -> list[Finding] | None:
    """The findings of a target; None: it has no heap to report on."""
    run = subprocess.run(
        [program, target, "report", "--json"], capture_output=True, check=False, timeout=600
    )
    if run.returncode not in (0, 1):
        return None
    rows: list[Finding] = json.loads(run.stdout)["findings"]
    return [row for row in rows if row["severity"] in ("high", "medium")]


def is_right(finding: Finding, truth: Truth, has_values: bool) -> bool:
    """Does the finding name what the program says it does wrong?  Without values of fields, only one rule runs."""
    text = " ".join(
        str(word) for word in (finding["title"], finding["sentence"], finding["blame"].values())
    )
    rules = truth["rule"].split() if has_values else []
    return (not rules or finding["rule"] in rules) and any(
        word in text for word in truth["mentions"].split("|")
    )


def targets_of_folder(folder: pathlib.Path) -> Iterator[tuple[str, str, Truth]]:
    """Name, target and truth of each core and .gcdump."""
    for path in sorted([*folder.glob("*.core"), *folder.glob("*.gcdump")]):
        truth_file = path.with_suffix(".truth.json")
        truth = json.loads(truth_file.read_text()) if truth_file.exists() else {}
        yield path.stem, str(path), truth


def collect(program: str, pid: int, folder: pathlib.Path, line: bytes) -> None:
    """Take a .gcdump of a program, and keep what it says of itself."""
    part = folder / f"leaks10-{json.loads(line)['mode']}"
    words = [program, "--trust-files", "collect", str(pid), "-o", f"{part}.gcdump"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    part.with_suffix(".truth.json").write_bytes(line)


def targets_alive(arguments: argparse.Namespace) -> Iterator[tuple[str, str, Truth]]:
    """Starts each program, and ends it when its findings are asked."""
    for mode in arguments.modes:
        with subprocess.Popen(
            ["dotnet", arguments.live, mode],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "HOME": "/", "LANG": "C.UTF-8"},
        ) as process:
            try:
                assert process.stdout
                line = process.stdout.readline()
                if process.stdout.readline() != b"READY\n":
                    raise SystemExit(f"bench_report: {mode} did not get ready")
                yield mode, str(process.pid), json.loads(line)
                if arguments.collect:
                    # Only now: it makes the process collect its garbage, after which less can be told.
                    collect(arguments.program, process.pid, pathlib.Path(arguments.collect), line)
            finally:
                process.kill()


def check(target: tuple[str, str, Truth], program: str, scores: list[Score]) -> None:
    """Ask for the findings of one target, print its lines of the table, and count them."""
    name, place, truth = target
    findings = findings_of(program, place)
    if findings is None:
        return
    is_leak = truth.get("program") == "leaks" and not truth["healthy"]
    hits = [
        row for row in findings if is_leak and is_right(row, truth, not place.endswith(".gcdump"))
    ]
    others = [row for row in findings if row not in hits]
    for score in scores[: 2 if is_leak and not truth["rule"] else 1]:
        score.add(is_leak, hits, others)
    verdict = "healthy"
    if is_leak:
        verdict = f"found {hits[0]['severity']:6} {hits[0]['rule']}" if hits else "MISSED"
    if is_leak or others:
        print(f"{name:32} {verdict}", flush=True)
    for row in others:
        print(f"{'':34} also {row['severity']}: {row['title']} ({row['stake']['bytes']:,} bytes)")


def main() -> int:
    """Check all targets."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--live", metavar="DLL")
    parser.add_argument("--collect", metavar="DIR")
    parser.add_argument("--program", default="build/heapdump")
    parser.add_argument("modes", nargs="+", metavar="DIR [PROGRAM] or MODE")
    arguments = parser.parse_args()
    if not arguments.live and len(arguments.modes) > 2:
        parser.error("one DIR, and one PROGRAM at most")
    if not arguments.live and len(arguments.modes) == 2:
        arguments.program = arguments.modes[1]
    scores = [Score("all"), Score("leaks written after the rules")]
    for target in (
        targets_alive(arguments)
        if arguments.live
        else targets_of_folder(pathlib.Path(arguments.modes[0]))
    ):
        check(target, arguments.program, scores)
    for score in scores:
        score.show()
    return 1 if scores[0].found < scores[0].leaks or scores[0].healthy_high else 0


if __name__ == "__main__":
    sys.exit(main())
