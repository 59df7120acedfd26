#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processes in the shell: those without a runtime, and those that a GC is at work in."""
from __future__ import annotations

import functools
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Callable, NamedTuple

from shell_program import (
    BUBBLECS,
    PROGRAM,
    SOURCE,
    TIMEOUT,
    Result,
    await_handler,
    run,
    turns,
    waiting,
)

# So often a test is done again that did not get the processor in time.
TRIES = 20


class Processes(unittest.TestCase):
    """heapdump PID."""

    def test_no_such_process(self) -> None:
        result = run("4194305", "info")
        self.assertEqual(result.status, 3)
        self.assertRegex(result.err, "no process|no such")

    def test_a_file_wins_over_a_pid(self) -> None:
        with tempfile.TemporaryDirectory() as where:
            shutil.copy(BUBBLECS, Path(where) / "1")
            done = subprocess.run(
                [PROGRAM, "1", "info", "--json"], cwd=where, capture_output=True, check=True
            )
            self.assertEqual(json.loads(done.stdout)["kind"], "rpm")

    def kernel_memory(self, pid: int) -> dict[str, int]:
        """The kernel's numbers about a process."""
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
        return {line.split()[0]: 1024 * int(line.split()[1]) for line in rollup[1:]}

    def check_memory(
        self, memory: dict[str, int], before: dict[str, int], after: dict[str, int]
    ) -> None:
        """The numbers of info about a stopped process are the kernel's, and add up."""
        for name, word in (("resident", "Rss:"), ("swap", "Swap:")):
            # The kernel may take pages of files away at any time.
            least, most = sorted((before[word], after[word]))
            self.assertTrue(least <= memory[name] <= most, (name, memory[name], least, most))
        whole = {"resident", "pss", "swap"}
        parts = sum(memory[name] for name in memory.keys() - whole)
        self.assertEqual(parts, memory["resident"])
        self.assertGreater(memory["images"], memory["stacks"])
        self.assertEqual(memory["gc"], 0)

    def test_no_runtime(self) -> None:
        with subprocess.Popen(["sleep", "1000"]) as process:
            try:
                waiting.wait_until(
                    lambda: waiting.is_in(process.pid, "nanosleep"), "the program sleeps"
                )
                result = run(str(process.pid), "dumpheap", "-stat")
                if "refused" in result.err:
                    print("skipped: this machine refuses ptrace", file=sys.stderr)
                    return
                self.assertEqual(result.status, 3)
                self.assertIn("no CoreCLR here", result.err)
                self.assertRegex(result.err, r"was stopped for [0-9.]+ ms")
                # A second process is stopped, too; and none is for a rule that cannot be checked.
                result = run(str(process.pid), "memory", "-against", str(process.pid))
                self.assertEqual(len(re.findall(r"was stopped for [0-9.]+ ms", result.err)), 2)
                for rule in ("Shop.Session", "Shop.Session=many"):
                    result = run(str(process.pid), "assert", "-max", rule)
                    self.assertEqual(result.status, 2)
                    self.assertIn("the name of a type and a number", result.err)
                    self.assertNotIn("stopped", result.err)
                # The first look says it once, and names no command that has no answer here.
                look = run(str(process.pid), "triage", "--json").json()
                parts = [row["part"] for row in look["parts"]]
                self.assertEqual(parts, ["target", "memory", "runtime"])
                self.assertEqual(look["next"], ["info", "memory", "modules"])
                with waiting.stopped(process.pid):
                    before = self.kernel_memory(process.pid)
                    info = run(str(process.pid), "info", "--json").json()
                    after = self.kernel_memory(process.pid)
                self.assertEqual(info["kind"], "process")
                self.assertIsNone(info["runtime"])
                self.assertIn("no-runtime", [row["kind"] for row in info["findings"]])
                self.check_memory(info["memory"], before, after)
                self.assertIsNone(process.poll(), "it runs on")
            finally:
                process.kill()


# 16 MB of addresses that are only reserved.
RESERVING = """
import mmap, sys
kept = mmap.mmap(-1, 1 << 24, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0)
print("ready", flush=True)
sys.stdin.read()
"""


class Reserved(unittest.TestCase):
    """maddress of a process without a runtime."""

    def test_what_is_left_out_is_said(self) -> None:
        with subprocess.Popen(
            [sys.executable, "-c", RESERVING], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdin and process.stdout
            process.stdout.readline()
            try:
                result = run(str(process.pid), "maddress", "-list", "reserved", "--json")
                if "refused" in result.err:
                    print("skipped: this machine refuses ptrace", file=sys.stderr)
                    return
                self.assertEqual(result.json()["regions"], [])
                self.assertIn('no region matches "reserved" but reserved ones', result.err)
                shown = run(str(process.pid), "maddress", "-list", "reserved", "-reserve", "--json")
                self.assertNotIn("no region", shown.err)
                self.assertIn(1 << 24, [row["size"] for row in shown.json()["regions"]])
            finally:
                process.kill()


# A page of shared memory of which nobody tells what is in it (userfaultfd: linux/userfaultfd.h).  Its
# file has no name any more, so it can only be read in the process; it had the name of an image.
SILENT = """
import ctypes, mmap, os, struct, sys, tempfile, time
libc = ctypes.CDLL(None, use_errno=True)
fd = libc.syscall(323, os.O_CLOEXEC)
if fd < 0:
    print("refused", flush=True)
    sys.exit()
file = tempfile.NamedTemporaryFile(dir="/dev/shm", suffix=".dll")
file.truncate(1 << 16)
shared = mmap.mmap(file.fileno(), 1 << 16)
file.close()
at = ctypes.addressof(ctypes.c_char.from_buffer(shared))
api = struct.pack("<QQQ", 0xAA, 0, 0)
register = struct.pack("<QQQQ", at, 1 << 16, 1, 0)
for call, words in ((0xC018AA3F, api), (0xC020AA00, register)):
    if libc.ioctl(fd, ctypes.c_ulong(call), words) != 0:
        sys.exit(f"ioctl: {os.strerror(ctypes.get_errno())}")
print(f"{at:x}", flush=True)
time.sleep(1000)
"""

# The first thread ends; the other one goes on.
LEADERLESS = """
import ctypes, sys, threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
print("ready", flush=True)
ctypes.CDLL(None).syscall(60, 0)
"""


class Hostile(unittest.TestCase):
    """Processes that do not behave."""

    def start(self, script: str) -> tuple[subprocess.Popen[str], str]:
        """Start a Python program; what it says."""
        # pylint: disable-next=consider-using-with
        process = subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        assert process.stdout
        self.addCleanup(process.stdout.close)
        said = process.stdout.readline().strip()
        if said == "refused":
            self.skipTest("userfaultfd is not allowed here")
        return process, said

    def assert_runs(self, pid: int) -> None:
        """It is not stopped, and nobody traces it."""
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        self.assertRegex(status, r"State:\t[SR]")
        self.assertRegex(status, r"TracerPid:\t0\n")

    def test_memory_that_does_not_answer(self) -> None:
        process, address = self.start(SILENT)
        said = f"0x{address} of process {process.pid} did not answer within"
        for _ in range(TRIES):
            result = run(str(process.pid), "info")
            self.assertEqual(result.status, 3)
            # A machine that gives the program no processor for 10 seconds makes other memory look like that.
            if said in result.err:
                break
        self.assertIn(said, result.err)
        self.assert_runs(process.pid)

    def test_is_interrupted_while_it_waits(self) -> None:
        process, _ = self.start(SILENT)
        with subprocess.Popen(
            [PROGRAM, str(process.pid), "info"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as program:
            await_handler(program.pid)
            waiting.wait_until(
                lambda: waiting.is_in(program.pid, "userfault"), "the program reads the page"
            )
            program.send_signal(signal.SIGINT)
            _, err = program.communicate(timeout=TIMEOUT)
        # If the page did not answer in time, the status would be 3.
        self.assertEqual(program.returncode, 130, err)
        self.assert_runs(process.pid)

    def test_first_thread_has_ended(self) -> None:
        process, _ = self.start(LEADERLESS)
        status = Path(f"/proc/{process.pid}/status")
        waiting.wait_until(
            lambda: "zombie" in status.read_text(encoding="utf-8"), "the first thread ends"
        )
        info = run(str(process.pid), "info", "--json").json()
        self.assertEqual(info["kind"], "process")
        self.assertIn("no-runtime", [row["kind"] for row in info["findings"]])
        result = run("collect", str(process.pid))
        self.assertNotIn("has ended", result.err)
        self.assertIn("no diagnostics socket", result.err)


class Program(NamedTuple):
    """A .NET program that has said that it is ready."""

    process: subprocess.Popen[bytes]

    @property
    def pid(self) -> str:
        """The process to open."""
        return str(self.process.pid)

    def memory(self, address: int, size: int) -> bytes:
        """Its bytes at ADDRESS."""
        with open(f"/proc/{self.pid}/mem", "rb", buffering=0) as file:
            file.seek(address)
            return file.read(size)

    def words(self, address: int, count: int) -> tuple[int, ...]:
        """Words at ADDRESS."""
        return struct.unpack(f"<{count}Q", self.memory(address, 8 * count))

    @functools.cache
    def collecting(self) -> int:
        """Address of gc_structures_invalid_cnt: by g_dacTable and GcDacVars (gcinterface.dac.h)."""
        maps = Path(f"/proc/{self.pid}/maps").read_text(encoding="utf-8").splitlines()
        line = next(line for line in maps if line.endswith("/libcoreclr.so"))
        base, path = int(line.split("-")[0], 16), line.split()[-1]
        names = subprocess.run(["nm", "-D", path], capture_output=True, text=True, check=True)
        symbol = next(n for n in names.stdout.splitlines() if " g_dacTable" in n)
        for variable in self.words(base + int(symbol.split()[0], 16), 60):
            try:
                vars_at = self.words(variable, 1)[0]
                fields = self.words(vars_at, 25)
            except (OSError, OverflowError, struct.error):
                continue
            if fields[2] == 5 and 64 <= fields[1] <= 4096 and fields[0] & 0xFF == 2:
                return fields[24]
        raise AssertionError("no GcDacVars")

    def collect(self, count: int) -> None:
        """Let it look as if a GC was moving objects, or not."""
        with open(f"/proc/{self.pid}/mem", "r+b", buffering=0) as file:
            file.seek(self.collecting())
            file.write(struct.pack("<i", count))


class Collecting(unittest.TestCase):
    """A process that is stopped while a GC is in the act."""

    def start(self, name: str) -> Program:
        """Start a program of corefiles/apps; it ends with the test."""
        path = SOURCE / "corefiles" / "build" / "apps" / f"{name}-net10.0" / f"{name}.dll"
        dotnet = shutil.which("dotnet")
        if not dotnet or not path.exists() or not shutil.which("nm"):
            self.skipTest(f"no dotnet and nm to run {path}")
        # pylint: disable-next=consider-using-with
        process = subprocess.Popen([dotnet, str(path)], stdout=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        assert process.stdout
        self.addCleanup(process.stdout.close)
        for line in process.stdout:
            if line == b"READY\n":
                break
        if "refused" in run(str(process.pid), "info").err:
            self.skipTest("this machine refuses ptrace")
        return Program(process)

    def while_stopping(self, program: Program, times: int, act: Callable[[int], None]) -> Result:
        """
        Run info while a collection seems to go on, and let ACT happen to it (its pid) once it has stopped the process
        so many times.  The first thread sleeps: each stop wakes it, and then it waits again, which are two switches.
        """
        program.collect(1)
        before = waiting.switches(program.process.pid)
        with subprocess.Popen(
            [PROGRAM, program.pid, "info", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as info:
            await_handler(info.pid)
            waiting.wait_until(
                lambda: waiting.switches(program.process.pid) >= before + 2 * times
                or info.poll() is not None,
                "the process is stopped several times",
            )
            act(info.pid)
            out, err = info.communicate(timeout=TIMEOUT)
        return Result(subprocess.CompletedProcess([], info.returncode, out, err))

    def settled(self, program: Program, times: int) -> Any:
        """The answer of info when the collection ends after so many stops; it must not give up before."""
        for _ in range(TRIES):
            answer = self.while_stopping(program, times, lambda _: program.collect(0)).json()
            if not answer["runtime"]["gc_in_progress"]:
                return answer
            # It waits for 3 seconds, and this test did not get the processor for so long: once more.
        return self.fail("info never sees that the collection has ended")

    @turns.left_to_chance
    def test_stops_again(self) -> None:
        program = self.start("churn")
        runs = [run(program.pid, "info", "--json").json() for _ in range(8)]
        caught = [document for document in runs if document["runtime"]["gc_in_progress"]]
        self.assertLess(len(caught), 4)
        self.assertGreater(max(document["stops"] for document in runs), 1)
        for document in caught:
            details = [row["detail"] for row in document["findings"]]
            self.assertIn(f"each of the {document['stops']} times", " ".join(details))

    def test_settles(self) -> None:
        program = self.start("facts")
        waiting.wait_until_rest(program.process.pid)
        with waiting.stopped(program.process.pid):
            quiet = run(program.pid, "info", "--json").json()
        self.assertEqual(quiet["stops"], 1)
        program.collect(1)
        document = run(program.pid, "info", "--json").json()
        self.assertTrue(document["runtime"]["gc_in_progress"])
        self.assertGreater(document["stops"], 1)
        (finding,) = [row for row in document["findings"] if row["kind"] == "gc-in-progress"]
        self.assertIn(f"each of the {document['stops']} times", finding["detail"])
        for times in (1, 9):
            document = self.settled(program, times)
            self.assertGreater(document["stops"], times)
            self.assertEqual(document["objects"], quiet["objects"])

    def test_is_interrupted(self) -> None:
        program = self.start("facts")
        for _ in range(TRIES):
            result = self.while_stopping(program, 2, lambda pid: os.kill(pid, signal.SIGINT))
            # It may have ended before this test got the processor.
            if result.status != 0:
                break
        self.assertEqual(result.status, 130, result.err)
        program.collect(0)
        self.assertFalse(run(program.pid, "info", "--json").json()["runtime"]["gc_in_progress"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
