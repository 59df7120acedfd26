#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exported .gcdump files, read by TraceEvent's own FastSerialization (gcdump/Program.cs)."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
sys.path.insert(0, str(SOURCE / "tests" / "support"))

import gcdump_file  # noqa: E402  pylint: disable=wrong-import-position

PROGRAM = str(BUILD / "heapdump")
PROJECT = SOURCE / "tests" / "oracle" / "gcdump" / "gcdump.csproj"
APPS = Path(os.environ.get("HD_APPS_BUILD", SOURCE / "corefiles" / "build" / "apps"))
SKIPPED = 77
SOURCES = [
    SOURCE / "corefiles" / "leak.core.zst",
    SOURCE / "corefiles" / "bubblecs.heap",
    *(SOURCE / "tests" / "data" / f"{name}.gcdump" for name in ("small300", "small1000")),
    *(
        SOURCE / "corefiles" / "build" / f"{name}.core"
        for name in ("wks11-full", "awaits11-heap", "wks10-full", "svr10-full")
    ),
]


def text(value: str | None) -> str:
    """A string as the reader in C# prints it."""
    return "null" if value is None else f'"{value}"'


def expected(data: bytes) -> list[str]:
    """The text that it has to print."""
    dump = gcdump_file.read(data)
    lines = [f"total {dump.total} root {dump.root}"]
    lines += [f"type {size} {text(name)} {text(module)}" for name, size, module in dump.types]
    for node in dump.nodes:
        words = [str(node.type), str(node.size), f"{node.address:x}", *map(str, node.children)]
        lines.append("node " + " ".join(words))
    lines.append(f"bits {64 if dump.is_64 else 32}")
    lines.append("average {:g} {:g}".format(*dump.average))
    if dump.segments is not None:
        lines.append(f"segments {dump.segment_bytes}")
        for segment in dump.segments:
            lines.append("segment " + " ".join(f"{value:x}" for value in segment.values()))
    lines += [f"log {text(dump.log)}", f"time {dump.time}", f"machine {text(dump.machine)}"]
    lines += [f"process {text(dump.process)}", f"pid {dump.pid}", f"tool {text(dump.tool)}"]
    return "\n".join(lines).split("\n")


LIFE: list[list[str]] = [[], ["-live"]]


def main() -> int:
    """Compare all of them."""
    dotnet = shutil.which("dotnet")
    if not dotnet:
        print("skipped: no .NET SDK")
        return SKIPPED
    words = [dotnet, "publish", "-c", "Release", "-v", "quiet", "--nologo", str(PROJECT)]
    made = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)
    if made.returncode:
        print("skipped: cannot be built:", made.stdout[-1000:])
        return SKIPPED
    failed = 0
    with tempfile.TemporaryDirectory(prefix="heapdump-gcdump-") as folder:
        for source in SOURCES:
            if not source.exists():
                continue
            for options in LIFE:
                path = Path(folder) / "it.gcdump"
                subprocess.run(
                    [PROGRAM, str(source), "export", *options, str(path)],
                    check=True,
                    capture_output=True,
                    timeout=300,
                )
                reader = str(APPS / "gcdump" / "gcdump.dll")
                read = subprocess.run(
                    [dotnet, reader, str(path)], capture_output=True, timeout=300, check=False
                )
                lines = read.stdout.decode("utf-8").split("\n")[:-1]
                same = read.returncode == 0 and lines == expected(path.read_bytes())
                failed += not same
                print("ok" if same else "FAILED", source.name, *options, len(lines), "lines")
                if not same:
                    print(read.stderr.decode("utf-8", "replace")[-1000:])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
