#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cores of programs that damaged their heap and died in the collection after it: verifyheap must find where.

    corrupt.py [--crashes N] [--collector NAME]... [--damage NAME]... [-o FILE]

Programs are run with other kinds of damage, collections, collectors and dumps each time, until N of them have
died in the garbage collector of the first collection after the damage. For each verifyheap must exit with 1
and have a finding of damage within 64 bytes of the first damaged word, or of the array before it, which is found
by its content where the collection has moved it. The others are counted. A core with a wrong answer is kept, and its path printed. FILE gets a table.
"""
from __future__ import annotations

import argparse
import collections
import itertools
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Optional

from collecting import keep
from core_image import Image, heapdump, turns
from gc_programs import COLLECTORS, Collector, build

DAMAGES = (
    "overrun-8",
    "overrun-16",
    "overrun-56",
    "overrun-2048",
    "length-over",
    "length-long",
    "length-short",
    "table-filler",
    "table-zero",
    "table-shifted",
    "reference-filler",
    "reference-inside",
    "reference-stale",
    "use-after-free",
)
COLLECTS = ("full", "compacting", "young", "one", "background")
REACH = 64
# The beginning of the array (corefiles/apps/corrupt), and its size.
MARK = 0x5EAF00D5EAF00D5E
ARRAY_SIZE = 88
SECONDS = 40


class Case(NamedTuple):
    """A program that is going to crash."""

    collector: Collector
    damage: str
    collect: str
    life: str
    dump: str

    def __str__(self) -> str:
        return f"{self.collector.name} {self.damage} {self.collect} {self.life} {self.dump}"


class Crash(NamedTuple):
    """The outcome."""

    core: Path
    truth: dict[str, Any]


def kernel_writes_cores() -> bool:
    """Into the folder of the process, under the name core?"""
    pattern = Path("/proc/sys/kernel/core_pattern").read_text(encoding="ascii").strip()
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    return pattern == "core" and (hard == resource.RLIM_INFINITY or os.geteuid() == 0)


def crash(case: Case, folder: Path) -> tuple[str, Optional[Crash]]:
    """Run the program; (why there is no crash of the wanted kind, the crash)."""
    program = build("corrupt", case.collector.flavour)
    assert program, "there is no .NET SDK"
    core = folder / "core"
    words = [case.damage, case.collect, case.life]
    command = [str(program / "corrupt"), *words]
    if case.collector.flavour == "net10.0":
        command = ["dotnet", str(program / "corrupt.dll"), *words]
    settings = {"DOTNET_DbgEnableMiniDump": "1", "DOTNET_DbgMiniDumpType": "2"}
    settings["DOTNET_DbgMiniDumpName"] = str(core)
    if case.dump == "kernel":
        settings = {"DOTNET_DbgEnableMiniDump": "0"}
        command = ["prlimit", "--core=unlimited", *command]
    environment = {"PATH": os.environ["PATH"], "HOME": "/", "LANG": "C.UTF-8"}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        cwd=folder,
        env={**environment, **case.collector.settings, **settings},
    ) as process:
        assert process.stdout
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        lines = []
        for line in process.stdout:
            lines.append(line.decode().strip())
            if lines[-1] == "SURVIVED":
                process.kill()
        process.wait()
        timer.cancel()
    cores = sorted(path for path in folder.glob("core*") if path.stat().st_size)
    if "SURVIVED" in lines:
        return "survives", None
    if process.returncode == -signal.SIGKILL:
        return "hangs", None
    if not cores or not lines or lines[0][:1] != "{":
        return "writes no core", None
    return "", Crash(cores[0], json.loads(lines[0]))


def is_beside_moved(found: Crash, damage: list[dict[str, Any]]) -> bool:
    """Is any of the damage at the array, or right after it, where the collection has moved that to?"""
    with tempfile.TemporaryDirectory() as folder:
        image = Image(found.core, Path(folder))
        try:
            for finding in damage:
                at = int(finding["address"], 16)
                last = finding["last_good"]
                for array in [at, *([int(last["address"], 16)] if last else [])]:
                    if image.has(array + 16) and image.u64(array + 16) == MARK:
                        return at - array <= ARRAY_SIZE + REACH
        finally:
            image.close()
    return False


def check(found: Crash) -> tuple[str, str]:
    """(why it is no crash in the collector, what is wrong with the answer)."""
    run = heapdump(str(found.core), "verifyheap")
    if run.status not in (0, 1):
        return "", f"verifyheap ended with {run.status}: {run.err.strip()}"
    answer = run.json()
    if not answer["crash"]:
        return "", "no signal is known"
    if not answer["crash"]["collecting"] or "clr" not in str(answer["crash"]["module"]):
        return "dies elsewhere", ""
    places = [int(found.truth["first"], 16), int(found.truth["array"], 16)]
    damage = [f for f in answer["findings"] if f["verdict"] == "damage"]
    near = min(
        (
            abs(int(f[key], 16) - place)
            for f in damage
            for key in ("address", "slot")
            for place in places
        ),
        default=None,
    )
    if run.status == 1 and near is not None and near <= REACH:
        return "", ""
    if run.status == 1 and is_beside_moved(found, damage):
        return "", ""
    shown = [(f["address"], f["kind"], f["verdict"]) for f in answer["findings"][:4]]
    return "", f"status {run.status}, nearest damage {near}, {found.truth}, findings {shown}"


def cases(options: argparse.Namespace, chance: random.Random) -> Iterator[Case]:
    """All that are wanted, in some order."""
    collectors = [c for c in COLLECTORS if not options.collector or c.name in options.collector]
    dumps = ["createdump", "createdump", "kernel"] if kernel_writes_cores() else ["createdump"]
    while True:
        every = list(itertools.product(collectors, options.damage or DAMAGES))
        chance.shuffle(every)
        for collector, damage in every:
            collect, life = chance.choice(COLLECTS), chance.choice(("alive", "dead"))
            yield Case(collector, damage, collect, life, chance.choice(dumps))


def write_table(path: Path, rows: dict[tuple[str, str], collections.Counter[str]]) -> None:
    """As Markdown."""
    lines = [
        "| damage | collection | crashes in the GC | found | others |",
        "| --- | --- | ---: | ---: | --- |",
    ]
    for (damage, collect), counts in sorted(rows.items()):
        others = ", ".join(f"{n} {why}" for why, n in sorted(counts.items()) if why[0] != "+")
        lines.append(
            f"| {damage} | {collect} | {counts['+crash']} | {counts['+found']} | {others} |"
        )
    total: collections.Counter[str] = sum(rows.values(), collections.Counter())
    lines.append(f"| all | | {total['+crash']} | {total['+found']} | |")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> int:
    """Run programs until enough have died."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crashes", type=int, default=24 if turns.ALL else 4)
    parser.add_argument("--collector", action="append", help="only these")
    parser.add_argument("--damage", action="append", choices=DAMAGES, help="only these")
    parser.add_argument("--seed", type=int, default=turns.seed())
    parser.add_argument("-o", dest="table", type=Path)
    options = parser.parse_args()
    if not build("corrupt", "net10.0"):
        print("corrupt: skipped, there is no .NET SDK")
        return 0
    print(f"corrupt: --seed {options.seed}", flush=True)
    rows: dict[tuple[str, str], collections.Counter[str]] = collections.defaultdict(
        collections.Counter
    )
    crashes = failures = runs = 0
    for case in cases(options, random.Random(options.seed)):
        if crashes >= options.crashes or runs >= 8 * options.crashes:
            break
        runs += 1
        row = rows[case.damage, case.collect]
        with tempfile.TemporaryDirectory() as folder:
            why, found = crash(case, Path(folder))
            text = ""
            if found:
                why, text = check(found)
            if why:
                row[why] += 1
                continue
            assert found
            crashes += 1
            row["+crash"] += 1
            row["+found"] += not text
            if text:
                failures += 1
                kept = keep(found.core, str(case).replace(" ", "-"))
                print(f"corrupt: {case}: {text}; kept: {kept}", flush=True)
    print(f"corrupt: {crashes} crashes in the collector of {runs} runs, {failures} wrong answers")
    if options.table:
        write_table(options.table, rows)
    return int(failures > 0 or crashes < options.crashes)


if __name__ == "__main__":
    sys.exit(main())
