#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure what rows cost in Python, as dicts and as columns: bench_python.py RUNS CORE.

Seconds of one processor (user and system), medians; the ways take turns. What the command itself takes is measured by
a stream of columns that nobody reads, and told apart.
"""
from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from typing import Any, Callable

SOURCE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "python"))

# pylint: disable=wrong-import-position
import heapdump  # noqa: E402

COMMANDS: tuple[tuple[str, tuple[str, ...], dict[str, Any], "str | None"], ...] = (
    ("sql", ("SELECT address, size FROM objects",), {"limit": 0}, None),
    ("sql", ("SELECT * FROM objects",), {"limit": 0}, None),
    ("sql", ("SELECT * FROM refs",), {"limit": 0}, None),
    ("dumpheap", (), {}, "objects"),
)


def seconds(work: Callable[[], int]) -> tuple[float, int]:
    """Processor time of some work, and the number of rows."""
    begin = time.process_time()
    count = work()
    return time.process_time() - begin, count


def main(runs: int, core: str) -> None:
    """Print the table."""
    with heapdump.open(core, files=False, workers=1) as heap:
        print("| command | rows | itself | dicts | lists | pandas | rows: dicts / pandas | whole |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for name, words, options, table in COMMANDS:
            columns = heap.columns(name, *words, table=table, **options)
            found: dict[str, list[float]] = {}
            rows = 0

            def dicts() -> int:
                answer = heap.run(name, *words, **options)  # pylint: disable=cell-var-from-loop
                each = iter(answer) if table is None else answer.rows(table)
                return len(list(each))

            ways: dict[str, Callable[[], int]] = {
                "itself": lambda: len(repr(columns.__arrow_c_stream__())),
                "dicts": dicts,
                "lists": lambda: len(next(iter(columns.to_dict().values()))),
                "pandas": lambda: len(columns.to_pandas()),
            }
            for run in range(runs + 1):
                for way, work in ways.items():
                    took, count = seconds(work)
                    rows = count if way == "pandas" else rows
                    # The first run warms up.
                    if run:
                        found.setdefault(way, []).append(took)
            middle = {way: statistics.median(times) for way, times in found.items()}
            own = middle["itself"]
            ratio = (middle["dicts"] - own) / max(middle["pandas"] - own, 0.0001)
            shown = " | ".join(f"{middle[way]:.3f} s" for way in ways)
            whole = middle["dicts"] / middle["pandas"]
            title = " ".join((name, *words))
            print(f"| `{title}` | {rows:,} | {shown} | {ratio:.0f} | {whole:.1f} |")


if __name__ == "__main__":
    if len(sys.argv) != 3 or not sys.argv[1].isdecimal():
        sys.exit(__doc__)
    main(int(sys.argv[1]), sys.argv[2])
