#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Time the opening of a core, up to the answer of info, as a table: least processor time of all runs.

    bench_open.py RUNS PROGRAM [PROGRAM...]

The cores are made here: a usual one, and some with very many segments, threads or notes.  Cores of
scripts/make_corefiles.sh are measured too, if they are there.
"""
from __future__ import annotations

import os
import struct
import sys
import tempfile
from pathlib import Path

LOAD, NOTE, PN_XNUM = 1, 4, 0xFFFF
REAL = ("crash10-throw-kernel", "awaits10-heap", "crash9-throw-full")
PRSTATUS = struct.pack("<III8s", 5, 336, 1, b"CORE") + bytes(336)
Segment = tuple[int, int, int, int]  # type, offset in the body, bytes, address


def files_note(count: int) -> bytes:
    """NT_FILE of so many libraries."""
    rows = b"".join(
        struct.pack("<QQQ", 0x10000000 + i * 0x2000, 0x10001000 + i * 0x2000, 0)
        for i in range(count)
    )
    names = b"".join(b"/usr/lib/lib%06d.so\0" % i for i in range(count))
    content = struct.pack("<QQ", count, 4096) + rows + names
    head = struct.pack("<III8s", 5, len(content), 0x46494C45, b"CORE")
    return head + content + bytes(-len(content) % 4)


def write(path: Path, segments: list[Segment], body: bytes) -> None:
    """A core; the number of many segments is in section 0, at its end, as the kernel writes it."""
    count = len(segments)
    at = (64 + 56 * count + 4095) & ~4095
    is_many = count >= PN_XNUM
    section = (at + len(body), 1) if is_many else (0, 0)
    with open(path, "wb") as file:
        ident = b"\x7fELF\x02\x01\x01" + bytes(9)
        head = (4, 62, 1, 0, 64, section[0], 0, 64, 56, min(count, PN_XNUM), 64, section[1], 0)
        file.write(ident + struct.pack("<HHIQQQIHHHHHH", *head))
        for kind, offset, size, address in segments:
            memory = 4096 if kind == LOAD else 0
            file.write(struct.pack("<IIQQQQQQ", kind, 6, at + offset, address, 0, size, memory, 4))
        file.write(bytes(at - file.tell()) + body)
        if is_many:
            file.write(struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 1, 0, count, 0, 0))


def loads(count: int) -> list[Segment]:
    """Segments without bytes."""
    return [(LOAD, 0, 0, 0x10000000 + i * 0x2000) for i in range(count)]


def make_cores(folder: Path) -> list[Path]:
    """All cores."""
    usual = PRSTATUS * 200 + files_note(400)
    gaps = [(NOTE, i * (len(PRSTATUS) + 8), len(PRSTATUS), 0) for i in range(60000)]
    made = {
        "1,500 segments, 200 threads": ([(NOTE, 0, len(usual), 0)] + loads(1500), usual),
        "60,000 segments": ([(NOTE, 0, len(usual), 0)] + loads(60000), usual),
        "500,000 segments": ([(NOTE, 0, len(usual), 0)] + loads(500000), usual),
        "20,000 threads": (
            [(NOTE, 0, len(PRSTATUS) * 20000, 0)] + loads(1500),
            PRSTATUS * 20000,
        ),
        "60,000 segments of notes": (gaps + loads(1), (PRSTATUS + bytes(8)) * 60000),
    }
    for name, (segments, body) in made.items():
        write(folder / name, segments, body)
    paths = [folder / name for name in made]
    return paths + [Path("corefiles/build") / (name + ".core") for name in REAL]


def least(argv: list[str], runs: int) -> float:
    """Milliseconds of processor time."""
    quiet = [(os.POSIX_SPAWN_OPEN, number, "/dev/null", os.O_WRONLY, 0) for number in (1, 2)]
    best = float("inf")
    for _ in range(runs):
        pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=quiet)
        _, _, usage = os.wait4(pid, 0)
        best = min(best, (usage.ru_utime + usage.ru_stime) * 1e3)
    return best


def main(runs: int, programs: list[str]) -> None:
    """The table."""
    print("| core | " + " | ".join(programs) + " |\n| --- |" + " ---: |" * len(programs))
    with tempfile.TemporaryDirectory(prefix="heapdump-bench-") as folder:
        for path in make_cores(Path(folder)):
            if not path.exists():
                continue
            words = ["--no-sandbox", str(path), "info"]
            row = [f"{least([program, *words], runs):.1f} ms" for program in programs]
            print(f"| {path.name} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main(int(sys.argv[1]), sys.argv[2:])
