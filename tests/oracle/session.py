# SPDX-License-Identifier: MIT
"""Ask heapdump's shell program."""
from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from typing import Any

Json = dict[str, Any]


def ask(program: str, core: pathlib.Path, lines: list[str]) -> list[Json]:
    """Run commands in one session, each with --json; their answers in order."""
    text = "".join(line + " --json\n" for line in lines)
    run = subprocess.run(
        [program, str(core)], input=text, capture_output=True, text=True, check=False, timeout=600
    )
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    if len(answers) != len(lines):
        sys.exit(f"{core}: {len(lines)} commands, {len(answers)} answers\n{run.stderr[:2000]}")
    return answers


def truth_of(core: pathlib.Path) -> Json:
    """What the program said about itself, or {}."""
    path = core.with_name(core.name.split(".")[0] + ".truth.json")
    if not path.exists():
        return {}
    result: Json = json.loads(path.read_text(encoding="utf-8") or "{}")
    return result
