#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the frames of GDB and LLDB with those of clrstack, for every kind of frame, of code and of GC.

    check_frames.py [RELEASE] [BUILD]...

The program corefiles/apps/frames parks threads in frames of every kind: handlers with exceptions in flight, a handler after a
signal, lambdas, iterators, async methods, generics, dynamic methods, callbacks, code that spins, finalizers, recursion. It is
built for Debug and Release, precompiled (ReadyToRun), and run with tiering and without it, with server GC, with 1,000
threads, with a recursion of 50,000, and until its stack overflows. Each core is compared as check_managed_elf.py does it; the
registers that a frame keeps for its callers are those in which precise roots say that objects are. A campaign runs all of
it (HEAPDUMP_TEST_ALL); else it is one case. Exit status 1 when anything differs, 77 without an SDK, GDB or LLDB.
"""
from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Iterator

import check_managed_elf
import live
from session import turns

# The builds: how they differ from Release.
BUILDS = {
    "debug": ["-c", "Debug"],
    "release": ["-c", "Release"],
    "r2r": ["-c", "Release", "-p:PublishReadyToRun=true"],
}
# A case: the build, the arguments, and more of the environment.
CASES: dict[str, tuple[str, list[str], dict[str, str]]] = {
    "debug": ("debug", ["0", "100"], {}),
    "release": ("release", ["0", "100"], {}),
    "r2r": ("r2r", ["0", "100"], {}),
    "untiered": ("release", ["0", "100"], {"DOTNET_TieredCompilation": "0"}),
    "optimised": ("release", ["0", "100"], {"DOTNET_TC_QuickJitForLoops": "0"}),
    "instrumented": ("release", ["0", "100"], {"DOTNET_TieredPGO": "1"}),
    "server": ("release", ["0", "100"], {"DOTNET_gcServer": "1", "DOTNET_GCHeapCount": "2"}),
    "threads": ("release", ["1000", "100"], {}),
    "deep": ("release", ["0", "50000"], {}),
    "deep-untiered": ("release", ["0", "50000"], {"DOTNET_TieredCompilation": "0"}),
    "overflow": ("debug", ["overflow"], {}),
    "overflow-untiered": ("release", ["overflow"], {"DOTNET_TieredCompilation": "0"}),
}
RELEASES = ("8", "9", "10", "11")


def publish(release: str, build: str, apps: Path) -> Path:
    """The folder of a build; made once."""
    folder = apps / f"frames-net{release}.0-{build}"
    if (folder / "frames").exists():
        return folder
    words = ["dotnet", "publish", str(live.SOURCE / "corefiles/apps/frames"), "-v", "quiet"]
    words += ["-nodeReuse:false", "-r", "linux-x64", "--self-contained", *BUILDS[build]]
    env = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ.get("HOME", "/"),
        "HD_APPS_BUILD": str(apps),
        "HD_FLAVOUR": f"net{release}.0-{build}",
        "HD_FRAMEWORK": f"net{release}.0",
        "MSBUILDDISABLENODEREUSE": "1",
        "DOTNET_NOLOGO": "1",
    }
    made = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    if made.returncode:
        shutil.rmtree(folder, ignore_errors=True)
        raise live.Missing(f"frames for .NET {release} cannot be built: {made.stdout[-500:]}")
    return folder


@contextlib.contextmanager
def core_of(folder: Path, arguments: list[str], more: dict[str, str]) -> Iterator[Path]:
    """A core of the program, taken when all threads are where they belong, or written when it dies."""
    with tempfile.TemporaryDirectory(prefix="heapdump-frames-") as name:
        core = Path(name) / "frames.core"
        env = {"PATH": "/usr/bin:/bin", "HOME": "/", "LANG": "C.UTF-8", "TMPDIR": name, **more}
        if arguments == ["overflow"]:
            env |= {"DOTNET_DbgEnableMiniDump": "1", "DOTNET_DbgMiniDumpType": "2"}
            env["DOTNET_DbgMiniDumpName"] = str(core)
        words = [str(folder / "frames"), *arguments]
        with subprocess.Popen(
            words, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=name
        ) as process:
            program = live.Program("frames", "", Path(name), process)
            try:
                if arguments == ["overflow"]:
                    process.wait(live.TIMEOUT)
                else:
                    program.wait_until_ready()
                    words = [str(folder / "createdump"), "--withheap", "-f", str(core)]
                    subprocess.run(
                        [*words, str(process.pid)],
                        check=True,
                        capture_output=True,
                        timeout=live.TIMEOUT,
                    )
                yield core
            finally:
                process.kill()


def main() -> int:
    """Exit status."""
    if not shutil.which("gdb") or not shutil.which("lldb-14"):
        raise live.Missing("there is no GDB or no LLDB")
    live.dotnet()
    words = sys.argv[1:]
    cases = [
        (release, case)
        for release in [word for word in words if word in RELEASES] or RELEASES
        for case in [word for word in words if word in CASES] or CASES
    ]
    if not words and not turns.ALL:
        cases = [turns.chance("frames").choice(cases)]
    status = 0
    for release, case in cases:
        build, arguments, more = CASES[case]
        try:
            folder = publish(release, build, live.APPS)
        except live.Missing as reason:
            print(f".NET {release} {case}: skipped, {reason}", flush=True)
            continue
        with core_of(folder, arguments, more) as core:
            compared, wrong = check_managed_elf.compare(live.PROGRAM, core)
        print(f".NET {release} {case}: {compared}, {len(wrong)} DIFFERENT", flush=True)
        for line in wrong[:40]:
            print(f"  {line}")
        status |= bool(wrong)
    return status


if __name__ == "__main__":
    live.run_tests(main)
