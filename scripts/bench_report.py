#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_report.py DIR [PROGRAM]: how precise are the findings of `report`?

Runs `report` on each core of DIR and compares its findings of severity high and medium with what the program said of
itself (NAME.truth.json: corefiles/apps/leaks).  A core without such a truth counts as healthy: each finding of it is
false, and is listed.  Prints a table, then precision and recall.  Exit status: 0 as expected, 1 a leak was missed or a
healthy program has a finding of severity high, 2 usage.
"""
from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from typing import Any


def findings_of(program: str, core: pathlib.Path) -> list[dict[str, Any]] | None:
    """The findings of a core; None: it has no heap to report on."""
    run = subprocess.run(
        [program, str(core), "report", "--json"], capture_output=True, check=False, timeout=600
    )
    if run.returncode not in (0, 1):
        return None
    answer = json.loads(run.stdout)
    rows: list[dict[str, Any]] = answer["findings"]
    return [row for row in rows if row["severity"] in ("high", "medium")]


def is_right(finding: dict[str, Any], truth: dict[str, Any]) -> bool:
    """Does the finding name what the program says it does wrong?"""
    text = " ".join(
        str(word) for word in (finding["title"], finding["sentence"], finding["blame"].values())
    )
    return finding["rule"] in truth["rule"].split() and any(
        word in text for word in truth["mentions"].split("|")
    )


def main() -> int:
    """Check all cores of the folder."""
    if not 2 <= len(sys.argv) <= 3:
        print(__doc__, file=sys.stderr)
        return 2
    program = sys.argv[2] if len(sys.argv) == 3 else "build/heapdump"
    leaks = found = right = wrong = high_wrong = healthy = 0
    for core in sorted(pathlib.Path(sys.argv[1]).glob("*.core")):
        truth_file = core.with_suffix("").with_suffix(".truth.json")
        truth = json.loads(truth_file.read_text()) if truth_file.exists() else {}
        findings = findings_of(program, core)
        if findings is None:
            continue
        is_leak = truth.get("program") == "leaks" and not truth["healthy"]
        leaks += is_leak
        healthy += not is_leak
        hits = [row for row in findings if is_leak and is_right(row, truth)]
        others = [row for row in findings if row not in hits]
        found += bool(hits)
        right += len(hits)
        wrong += len(others)
        if not is_leak:
            high_wrong += sum(row["severity"] == "high" for row in others)
        verdict = ("found " + hits[0]["severity"] if hits else "MISSED") if is_leak else "healthy"
        if is_leak or others:
            print(f"{core.stem:32} {verdict}")
        for row in others:
            print(
                f"{'':34} also {row['severity']}: {row['title']} ({row['stake']['bytes']:,} bytes)"
            )
    print(f"{leaks} leaks and wastes: {found} found with the right name")
    print(f"findings of severity high or medium: {right} right, {wrong} others")
    print(f"{healthy} healthy or other cores: {high_wrong} findings of severity high")
    return 1 if found < leaks or high_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
