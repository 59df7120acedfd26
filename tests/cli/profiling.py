# SPDX-License-Identifier: MIT
"""Tests of the profiler share this: .NET programs that run with it, and the files that it writes."""
from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Iterator

from collecting import run
from shell_program import BUILD, SOURCE, TIMEOUT

APPS = Path(os.environ.get("HD_APPS_BUILD", SOURCE / "corefiles" / "build" / "apps"))
CLASS = "{8F1D9A52-6C3E-4B7A-9D04-5E2B7C61A8F3}"
SIGNAL = signal.SIGRTMIN + 6
# The runtime closes what a snapshot needs before it tells the profiler that the program ends.
TOO_LATE = r"(heapdump: there is no snapshot \({}\): (?!.*No such file).*\n)*"
LIBRARY = str(Path(BUILD) / "libheapdump_profiler.so")


def build_program(name: str, *flavours: str) -> bool:
    """Are dotnet and the program there?"""
    if not shutil.which("dotnet"):
        return False
    if "HD_APPS_BUILD" in os.environ:
        return all((APPS / f"{name}-{flavour}").exists() for flavour in flavours)
    script = str(SOURCE / "scripts" / "make_corefiles.sh")
    return all(
        subprocess.run(
            [script, "--build", name, flavour], stderr=subprocess.DEVNULL, check=False
        ).returncode
        == 0
        for flavour in flavours
    )


def newest_flavour() -> str:
    """The release that most programs are built for: the newest release whose packages are here, or what the variable says."""
    flavour = os.environ.get("HEAPDUMP_TEST_FLAVOUR", "")
    if not flavour and build_program("troubled", "net11.0"):
        return "net11.0"
    if not flavour:
        print("there is no program for .NET 11: it is left out", flush=True)
    return flavour or "net10.0"


def words_of(name: str, flavour: str) -> list[str]:
    """The command line of a program."""
    program = str(APPS / f"{name}-{flavour}" / name)
    return ["dotnet", f"{program}.dll"] if flavour == "net10.0" else [program]


NEWEST = newest_flavour()
TROUBLED = words_of("troubled", NEWEST)


def start_program(
    words: list[str], environment: dict[str, str], **more: Any
) -> subprocess.Popen[str]:
    """Start a program whose input and output the test has; MORE is for Popen."""
    return subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **more,
    )


class Ended:
    """The traces of a program that has ended."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err


class ProfilerCase(unittest.TestCase):
    """A folder for the files, and runs of a program."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="heapdump-profiler-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        (self.folder / "out").mkdir()
        self.ended: Ended | None = None

    def out(self, pattern: str) -> str:
        """A file of the folder, as HEAPDUMP_OUT names it."""
        return f"{self.folder}/out/{pattern}"

    def environment(self, **variables: str) -> dict[str, str]:
        """The environment that a program gets."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            "CORECLR_ENABLE_PROFILING": "1",
            "CORECLR_PROFILER": CLASS,
            "CORECLR_PROFILER_PATH": LIBRARY,
            **variables,
        }

    @contextlib.contextmanager
    def run_program(
        self, words: list[str], environment: dict[str, str], head_lines: int = 0
    ) -> Iterator[subprocess.Popen[str]]:
        """Run a program until it is ready; afterwards let it end, and keep what it left."""
        with start_program(words, environment, cwd=self.folder) as process:
            try:
                assert process.stdout
                head = "".join(process.stdout.readline() for _ in range(head_lines))
                self.assertEqual(process.stdout.readline(), "READY\n")
                yield process
                out, err = process.communicate("end\n", timeout=TIMEOUT)
                self.ended = Ended(process.returncode, head + out, err)
            except BaseException as failure:
                failure.add_note(self.state_of(process))
                raise
            finally:
                process.kill()

    def threads(self, pid: int) -> set[str]:
        """The names of a process's threads."""
        names = set()
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                names.add((task / "comm").read_text(encoding="utf-8").strip())
        return names

    def state_of(self, process: subprocess.Popen[str]) -> str:
        """A report of what its threads do, which files there are, and what it has said; it is ended."""
        lines = [f"files: {self.written()}"]
        if process.poll() is None:
            for task in Path(f"/proc/{process.pid}/task").iterdir():
                with contextlib.suppress(OSError):
                    words = [
                        (task / name).read_text("utf-8") for name in ("comm", "wchan", "syscall")
                    ]
                    lines.append(f"thread {task.name}: " + " ".join(words).replace("\n", " "))
            process.kill()
        with contextlib.suppress(ValueError, subprocess.TimeoutExpired):
            lines += [f"said: {text!r}" for text in process.communicate(timeout=TIMEOUT)]
        return "\n".join(lines)

    def speak(self, process: subprocess.Popen[str], line: str = "a") -> None:
        """A line that the program does, or answers when it ends."""
        assert process.stdin
        process.stdin.write(line + "\n")
        process.stdin.flush()

    def written(self) -> list[str]:
        """The files."""
        return sorted(path.name for path in (self.folder / "out").iterdir())

    def forget_files(self) -> None:
        """Remove the files, for the next program."""
        for name in self.written():
            (self.folder / "out" / name).unlink(missing_ok=True)

    def complete(self) -> list[str]:
        """The files that have their names: core/src/util/output_place.c gives others to a file for a moment."""
        return [name for name in self.written() if not name.startswith(".heapdump-")]

    def files_of(self, ending: str) -> list[str]:
        """The ones that are files."""
        return [name for name in self.complete() if name.endswith(ending)]

    def await_files(self, count: int) -> None:
        """Wait until so many files are there."""
        end = time.monotonic() + TIMEOUT
        while len(self.complete()) < count:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def await_line(self, process: subprocess.Popen[str]) -> None:
        """Wait until the program, or the profiler, has said something on standard error, which stays there to be read."""
        self.assertTrue(select.select([process.stderr], [], [], TIMEOUT)[0], "nothing was said")

    def await_rest(self, pid: int) -> None:
        """Wait until no thread of a program has had anything to do for a second."""
        end, quiet = time.monotonic() + TIMEOUT, 0
        while quiet < 20:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
            quiet += 1
            for task in Path(f"/proc/{pid}/task").iterdir():
                with contextlib.suppress(OSError):
                    if (task / "stat").read_text("utf-8").rsplit(")", 1)[1].split()[0] in "RD":
                        quiet = 0

    def counts(self, name: str) -> dict[str, int]:
        """How many objects of each type a file has."""
        path = str(self.folder / "out" / name)
        rows = run(path, "dumpheap", "-stat", "--json").json["types"]
        return {row["name"]: row["count"] for row in rows}


class TroubledCase(ProfilerCase):
    """The program "troubled", which does what it is told."""

    @contextlib.contextmanager
    def program(
        self, when: str, out: str = "%r.gcdump", **more: str
    ) -> Iterator[subprocess.Popen[str]]:
        """Run it with the profiler."""
        out = out if out.startswith("/") else self.out(out)
        environment = self.environment(HEAPDUMP_WHEN=when, HEAPDUMP_OUT=out, **more)
        with self.run_program(TROUBLED, environment) as process:
            yield process

    def ask(self, process: subprocess.Popen[str], line: str) -> None:
        """Let the program do something, and wait until it has."""
        self.speak(process, line)
        assert process.stdout
        self.assertEqual(process.stdout.readline(), line.split()[0] + "\n")

    def unharmed(self, err: str = "") -> None:
        """The program ended as it does without the profiler, which said no more than this."""
        assert self.ended
        self.assertEqual(self.ended.status, 7, self.ended.err)
        self.assertIn(self.ended.out, ("held\n", "held nothing\n"))
        self.assertRegex(self.ended.err, f"^{err}$")
