# SPDX-License-Identifier: MIT
"""Ask heapdump's shell program."""
from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
from typing import Any, Callable, Sequence, TypeVar

Json = dict[str, Any]
SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Lines about one core that are printed.
TOLD = 40
sys.path.insert(0, str(SOURCE / "tests" / "support"))

import turns  # noqa: E402  pylint: disable=wrong-import-position

Row = TypeVar("Row")


def core_folder() -> pathlib.Path:
    """Where cores are."""
    return pathlib.Path(os.environ.get("COREFILES", str(SOURCE / "corefiles/build")))


def spread(rows: list[Row], most: int) -> list[Row]:
    """About MOST of the rows, at even distances; the seed says which (support/turns.py), or that it is all."""
    step = 1 if turns.ALL else max(1, len(rows) // most)
    return rows[turns.seed() % step :: step]


def one_release_of_each(kinds: tuple[str, ...], releases: tuple[int, ...]) -> list[str]:
    """
    Patterns of cores: for each kind, which has {} for the release, that of the release that fewest kinds before it have;
    the seed says where to begin (support/turns.py), or that it is all releases.
    """
    used = dict.fromkeys(releases, 0)
    patterns = []
    for number, kind in enumerate(kinds):
        found = [major for major in releases if any(core_folder().glob(kind.format(major)))]
        first = (turns.seed() + number) % len(releases)
        if not turns.ALL:
            found.sort(key=lambda major: (used[major], (releases.index(major) - first) % len(used)))
            found = found[:1]
        for major in found:
            used[major] += 1
        patterns += [kind.format(major) for major in found]
    return patterns


def ask(
    program: str, core: pathlib.Path, lines: list[str], options: Sequence[str] = ()
) -> list[Json]:
    """Run commands in one session, each with --json, of a program with OPTIONS; their answers in order."""
    text = "".join(line + " --json\n" for line in lines)
    run = subprocess.run(
        [program, *options, str(core)],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    if len(answers) != len(lines):
        sys.exit(f"{core}: {len(lines)} commands, {len(answers)} answers\n{run.stderr[:2000]}")
    return answers


def truth_of(core: pathlib.Path) -> Json:
    """The program's own words about itself, or {}."""
    path = core.with_name(core.name.split(".")[0] + ".truth.json")
    if not path.exists():
        return {}
    result: Json = json.loads(path.read_text(encoding="utf-8") or "{}")
    return result


def check_cores(
    description: str,
    patterns: list[str],
    compare: Callable[[str, pathlib.Path], tuple[str, list[str]]],
    *committed: str,
    needs_sdk: bool = False,
) -> int:
    """
    The main function of a script that compares cores: those of its command line, or else the COMMITTED ones, and those
    of corefiles/build (or of $COREFILES) that match PATTERNS.  COMPARE says in a few words what it compared, and what
    differs.  1 when anything differs, 77 without cores, or without the .NET SDK if it NEEDS_SDK.
    """
    if needs_sdk and not shutil.which("dotnet"):
        print("there is no .NET SDK", file=sys.stderr)
        return 77
    build = os.environ.get("HEAPDUMP_BUILD", str(SOURCE / "build"))
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--program", default=build + "/heapdump")
    parser.add_argument("cores", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    made = sorted(core for pattern in patterns for core in core_folder().glob(pattern))
    if not made and not options.cores:
        print("there are no cores", file=sys.stderr)
        return 77
    status = 0
    for core in options.cores or [*(SOURCE / "corefiles" / name for name in committed), *made]:
        compared, wrong = compare(options.program, core)
        print(f"{core.name}: {compared}, {len(wrong)} DIFFERENT", flush=True)
        for line in wrong[:TOLD]:
            print(f"  {line}")
        status |= bool(wrong)
    return status
