#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""verifyheap finds no damage in any core of a sound program, and nothing at all in whole ones."""
from __future__ import annotations

import json
import sys

from core_image import CORES, heapdump

# Cores without the heap, and those of programs that were collecting.
PARTIAL = ("-triage", "-mini")


def main() -> int:
    """All that make_corefiles.sh has made."""
    failures = count = 0
    for core in sorted(CORES.glob("*.core")):
        name = core.stem
        partial = name.endswith(PARTIAL)
        run = heapdump(str(core), "verifyheap")
        if run.status == 3 and partial:
            continue
        count += 1
        findings = json.loads(run.out).get("findings", []) if run.out else []
        bad = [f for f in findings if f["verdict"] == "damage"]
        whole = not partial and not name.startswith("churn")
        if run.status or bad or (findings and whole):
            failures += 1
            print(f"healthy: {name}: status {run.status} {run.err.strip()} {findings[:3]}")
    if not count:
        print(f"healthy: skipped, there are no cores in {CORES}")
    print(f"healthy: {count} cores, {failures} wrong answers")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
