#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Time heapdump PID on a process with much native memory: a table.

    bench_process.py BUILD APPS RUNS

Programs of corefiles/apps get native memory that their heap has nothing to do with (tests/oracle/ballast.c).
One of 2 GB is opened with all its memory copied (--copy-all) and without; the private memory is the most that
all processes of heapdump had together, of looks every few milliseconds. Then one with a small heap and 400 MB is
opened in a memory cgroup of 64 MB (version 1 or 2), if one can be made.
"""
from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Iterator, NamedTuple

MB = 1 << 20
LIMIT = 64 * MB
STOPPED_MAX = 50
TIMES_MAX, MORE_MAX = 1.5, 32


class Look(NamedTuple):
    """One run of info."""

    stopped: float
    seconds: float
    private: int
    status: int
    info: dict[str, Any]


def descendants(pid: int) -> list[int]:
    """A process and all that it has forked, helpers of helpers too."""
    found = [pid]
    for one in found:
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{one}/task"):
                text = Path(f"/proc/{one}/task/{task}/children").read_text(encoding="ascii")
                found += [int(word) for word in text.split()]
    return found


def private_memory(pid: int) -> int:
    """Bytes that only it has."""
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
        return sum(int(size) << 10 for size in re.findall(r"Private_\w+: +(\d+) kB", text))
    return 0


def look(words: list[str], before: Any = None) -> Look:
    """Run info; the most private memory of all its processes."""
    began = time.monotonic()
    most = 0
    with tempfile.TemporaryFile() as out:
        with subprocess.Popen(
            [*words, "info", "--json"],
            stdout=out,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            preexec_fn=before,
        ) as program:
            while program.poll() is None:
                most = max(most, sum(map(private_memory, descendants(program.pid))))
                time.sleep(0.003)
        seconds = time.monotonic() - began
        out.seek(0)
        text = out.read()
    info = json.loads(text) if program.returncode in (0, 1) else {}
    return Look(info.get("stopped_ms", 0), seconds, most, program.returncode, info)


def resident(pid: int) -> int:
    """RSS, bytes."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    return int(found.group(1)) << 10 if found else 0


@contextlib.contextmanager
def running(build: str, app: list[str], megabytes: int) -> Iterator[int]:
    """A program with so much native memory, ready."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": "/",
        "LD_PRELOAD": f"{build}/tests/oracle/libballast.so",
        "BALLAST_MB": str(megabytes),
    }
    with subprocess.Popen(
        app, env=env, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    ) as program:
        assert program.stdout
        try:
            for line in program.stdout:
                if line == "READY\n":
                    break
            while resident(program.pid) < megabytes * MB:
                time.sleep(0.2)
            time.sleep(1)
            yield program.pid
        finally:
            program.kill()


@contextlib.contextmanager
def group() -> Iterator[Path | None]:
    """A memory cgroup with a limit; None where none can be made."""
    name = f"heapdump-bench-{os.getpid()}"
    for root, limit in (
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        ("/sys/fs/cgroup", "memory.max"),
    ):
        folder = Path(root) / name
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            (folder / limit).write_text(str(LIMIT), encoding="ascii")
            yield folder
            return
        except OSError:
            pass
        finally:
            time.sleep(0.2)
            with contextlib.suppress(OSError):
                folder.rmdir()
    yield None


def best(looks: list[Look]) -> Look:
    """The shortest stop, with the most memory of all."""
    shortest = min(looks, key=lambda one: one.stopped)
    return shortest._replace(private=max(one.private for one in looks))


def row(*cells: Any) -> None:
    print("| " + " | ".join(map(str, cells)) + " |")


def large(build: str, apps: str, runs: int) -> bool:
    """2 GB."""
    app = ["dotnet", f"{apps}/heapgen-net10.0/heapgen.dll", "2"]
    with running(build, app, 1900) as pid:
        program = f"{build}/heapdump"
        info = look([program, str(pid)]).info
        heap = info["bytes"] + info["free"]["size"]
        print(f"\nA process of {resident(pid) / MB:.0f} MiB, GC heap {heap / MB:.0f} MiB", end=", ")
        print(f"{info['objects']:,} objects; load {os.getloadavg()[0]:.1f}\n")
        row("copy", "stopped, best", "median", "all of info", "private memory", "allowed")
        row("---", *(["---:"] * 5))
        good = True
        for name, options in (("all (--copy-all)", ("--copy-all",)), ("what is needed", ())):
            looks = [look([program, *options, str(pid)]) for _ in range(runs)]
            one = best(looks)
            allowed = TIMES_MAX * heap / MB + MORE_MAX
            median = sorted(each.stopped for each in looks)[runs // 2]
            row(
                name,
                f"{one.stopped:.0f} ms",
                f"{median:.0f} ms",
                f"{one.seconds:.2f} s",
                f"{one.private / MB:.0f} MiB",
                "" if options else f"{STOPPED_MAX} ms, {allowed:.0f} MiB",
            )
            if not options:
                good = one.stopped < STOPPED_MAX and one.private / MB < allowed
        return good


def small(build: str, apps: str) -> bool:
    """A cgroup of 64 MB."""
    app = ["dotnet", f"{apps}/leak-net10.0/leak.dll"]
    with running(build, app, 400) as pid, group() as folder:
        if folder is None:
            print("\nNo memory cgroup can be made here: not tried.")
            return True

        procs = folder / "cgroup.procs"

        def enter() -> None:
            procs.write_text(str(os.getpid()), encoding="ascii")

        size = resident(pid)
        looks = {
            name: look([f"{build}/heapdump", *options, str(pid)], enter)
            for name, options in (
                ("all (--copy-all --max-mem 2G)", ("--copy-all", "--max-mem", "2G")),
                ("all (--copy-all)", ("--copy-all",)),
                ("what is needed", ()),
            )
        }
        info = looks["what is needed"].info
        heap = info.get("bytes", 0) + info.get("free", {}).get("size", 0)
        print(f"\nA process of {size / MB:.0f} MiB, GC heap {heap / MB:.0f} MiB, ", end="")
        print(f"opened in a cgroup of {LIMIT // MB} MiB\n")
        row("copy", "exit status", "stays stopped", "stopped", "private memory")
        row("---", *(["---:"] * 4))
        for name, one in looks.items():
            held = [found for found in one.info.get("findings", []) if found["kind"] == "held"]
            row(
                name,
                one.status,
                "yes" if held else "no" if one.info else "",
                f"{one.stopped:.0f} ms" if one.info else "",
                f"{one.private / MB:.0f} MiB",
            )
        last = looks["what is needed"]
        return last.status == 0


def main() -> int:
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    build, apps, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
    good = large(build, apps, runs)
    good &= small(build, apps)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
