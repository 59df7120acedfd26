#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dumps that go to standard output, and through symbolic links."""
from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import pty
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Iterator

import fake_runtime
from shell_program import DATA, PROGRAM, SOURCE, TIMEOUT, large_dump, waiting

DUMP = DATA / "small300.gcdump"
TRACE = fake_runtime.TRACE
# Functions of the kernel in which a process waits for one that reads.
WAITS = ("poll", "nanosleep", "fifo", "pipe_w", "wait_for_partner")
OUTPUTS = ("-", "/dev/stdout")


def heapdump(*words: str, stdout: Any = subprocess.PIPE) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [PROGRAM, *words],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=TIMEOUT,
        check=False,
    )


def prompt(text: str) -> subprocess.CompletedProcess[bytes]:
    """Lines at the prompt of the dump."""
    return subprocess.run(
        [PROGRAM, str(DUMP)],
        input=text.encode(),
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )


@contextlib.contextmanager
def runtime() -> Iterator[str]:
    """The id of a process that can be collected from."""
    with subprocess.Popen(
        [sys.executable, fake_runtime.__file__, "good"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout and process.stdout.readline() == "READY\n"
        path = fake_runtime.socket_path(process.pid)
        try:
            yield str(process.pid)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            os.unlink(path)


class Case(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="heapdump-outputs-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def refused(self, done: subprocess.CompletedProcess[bytes], message: bytes) -> None:
        """One line, and nothing is written."""
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertIn(message, done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def on_terminal(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        main, terminal = pty.openpty()
        try:
            return heapdump(*words, stdout=terminal)
        finally:
            os.close(terminal)
            os.close(main)


class Export(Case):
    def test_to_a_pipe(self) -> None:
        for output in OUTPUTS:
            done = heapdump(str(DUMP), "export", output, "-format", "gcdump")
            self.assertEqual((done.returncode, done.stderr), (0, b""), output)
            self.assertEqual(done.stdout, DUMP.read_bytes(), output)
            done = heapdump(str(DUMP), "export", output)
            self.assertTrue(done.stdout.startswith(b"a 2 "), output)
            self.assertNotIn(b"Wrote", done.stdout)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_to_a_file_that_is_appended_to(self) -> None:
        path = self.folder / "all"
        path.write_bytes(b"before")
        for output in OUTPUTS:
            with open(path, "ab") as file:
                done = heapdump(str(DUMP), "export", output, "-format", "gcdump", stdout=file)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(path.read_bytes(), b"before" + 2 * DUMP.read_bytes())

    def test_no_bytes_to_a_terminal(self) -> None:
        for output in OUTPUTS:
            done = self.on_terminal(str(DUMP), "export", output, "-format", "gcdump")
            self.refused(done, b"a .gcdump is not text: give the name of a file")

    def test_no_document_beside_it(self) -> None:
        for output in OUTPUTS:
            done = heapdump(str(DUMP), "export", output, "--json")
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"cannot go to the same output", done.stdout)

    def test_a_dangling_link(self) -> None:
        link, target = self.folder / "link.gcdump", self.folder / "target"
        link.symlink_to("target")
        for _ in range(2):
            self.assertEqual(heapdump(str(DUMP), "export", str(link)).returncode, 0)
            self.assertTrue(link.is_symlink())
            self.assertEqual(target.read_bytes(), DUMP.read_bytes())


class Owners(Case):
    """How the files of others are used: output_place.h has the rules."""

    def play_other(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("only root can play somebody else")

    def test_permissions_of_another_owner(self) -> None:
        self.play_other()
        path = self.folder / "x.heap"
        path.touch()
        os.chown(path, fake_runtime.NOBODY, fake_runtime.NOBODY)
        path.chmod(0o4777)
        self.assertEqual(heapdump(str(DUMP), "export", str(path)).returncode, 0)
        self.assertEqual((path.stat().st_mode & 0o7777, path.stat().st_uid), (0o600, os.geteuid()))

    def test_traps_in_a_sticky_folder(self) -> None:
        self.play_other()
        self.folder.chmod(0o1777)
        victim = self.folder / "victim"
        victim.write_bytes(b"old")
        trap = self.folder / "x.gcdump"
        for kind in ("link", "file", "fifo"):
            if kind == "link":
                trap.symlink_to(victim)
            elif kind == "file":
                trap.touch(0o666)
            else:
                os.mkfifo(trap)
            os.chown(trap, fake_runtime.NOBODY, fake_runtime.NOBODY, follow_symlinks=False)
            with runtime() as pid:
                runs = [
                    heapdump(str(DUMP), "export", str(trap)),
                    heapdump("collect", pid, "-o", str(trap)),
                    prompt(f"info > {trap}\n"),
                    prompt(f"info >> {trap}\n"),
                ]
            for done in runs:
                self.assertEqual(done.returncode, 3, (kind, done.args))
                self.assertEqual(done.stderr.count(b"\n"), 1, (kind, done.stderr))
                self.assertIn(b"x.gcdump: cannot write: ", done.stderr)
                self.assertIn(b"belongs to user 65534", done.stderr)
                # The process is not asked for what cannot be kept.
                self.assertNotIn(b"buffer", done.stderr)
            self.assertEqual(victim.read_bytes(), b"old")
            self.assertEqual(trap.lstat().st_uid, fake_runtime.NOBODY)
            trap.unlink()

    def test_new_files_are_private(self) -> None:
        old = os.umask(0)
        self.addCleanup(os.umask, old)
        with runtime() as pid:
            heapdump("collect", pid, "-o", "a.nettrace")
            heapdump("collect", pid, "-o", "b.gcdump")
        heapdump(str(DUMP), "export", "c.heap")
        prompt("info > d.txt\ninfo >> e.txt\n")
        modes = {path.name: path.stat().st_mode & 0o777 for path in self.folder.iterdir()}
        names = ("a.nettrace", "b.gcdump", "c.heap", "d.txt", "e.txt")
        self.assertEqual(modes, dict.fromkeys(names, 0o600))


class Limits(Case):
    """ulimit -f, which raises SIGXFSZ, too."""

    def limited(self, words: list[str], text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        def bound() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        with open(self.folder / "out", "wb") as out:
            return subprocess.run(
                [PROGRAM, *words],
                input=text,
                stdout=out,
                stderr=subprocess.PIPE,
                timeout=TIMEOUT,
                check=False,
                preexec_fn=bound,
            )

    def too_large(self, done: subprocess.CompletedProcess[bytes]) -> None:
        self.assertEqual(done.returncode, 3, (done.args, done.stderr))
        self.assertIn(b"File too large", done.stderr.splitlines()[-1])

    def test_files(self) -> None:
        self.too_large(self.limited([str(DUMP), "export", "x.heap"]))
        with runtime() as pid:
            for name in ("x.nettrace", "x.gcdump"):
                self.too_large(self.limited(["collect", pid, "-o", name]))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["out"])

    def test_standard_output(self) -> None:
        self.too_large(self.limited([str(DUMP), "dumpheap"]))
        done = self.limited([str(DUMP)], b"dumpheap > x\ninfo\n")
        self.too_large(done)
        self.assertIn(b"Findings", (self.folder / "out").read_bytes())

    def test_unpacking(self) -> None:
        """It goes to memory, which is not a file."""
        core = SOURCE / "corefiles" / "leak.core.zst"
        done = self.limited([str(core), "gcwhere", "7f039fe5a158"])
        self.assertEqual((done.returncode, done.stderr), (0, b""))


class Fifos(Case):
    """Ctrl-C ends the wait for a reader, and for one that does not read."""

    def interrupted(self, words: list[str], text: bytes = b"") -> None:
        with subprocess.Popen(
            [PROGRAM, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as program:
            assert program.stdin
            program.stdin.write(text)
            program.stdin.flush()
            # It looks for a reader once it does nothing but sleep.
            waiting.wait_until(lambda: waiting.is_in(program.pid, *WAITS), "it waits for a reader")
            waiting.wait_until_rest(program.pid)
            program.send_signal(signal.SIGINT)
            program.stdin.close()
            program.stdin = None
            try:
                _, err = program.communicate(timeout=TIMEOUT)
            except subprocess.TimeoutExpired:
                program.kill()
                raise
            self.assertEqual(program.returncode, 130, err)
            self.assertIn(b"interrupted", err)

    def test_nobody_reads(self) -> None:
        os.mkfifo("f")
        self.interrupted([str(DUMP), "export", "f"])
        self.interrupted([str(DUMP)], b"info > f\n")
        with runtime() as pid:
            self.interrupted(["collect", pid, "-o", "f"])
            self.interrupted(["collect", pid, "-o", "f", "-format", "nettrace"])

    def test_a_reader_that_stops(self) -> None:
        os.mkfifo("f")
        reader = os.open("f", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
        self.interrupted([str(DUMP), "export", "f"])

    def test_a_reader_that_comes_late(self) -> None:
        os.mkfifo("f")
        for words, text in (([str(DUMP), "export", "f"], b""), ([str(DUMP)], b"info > f\n")):
            with subprocess.Popen(
                [PROGRAM, *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
            ) as program:
                assert program.stdin
                program.stdin.write(text)
                program.stdin.close()
                waiting.wait_until_rest(program.pid)
                got = Path("f").read_bytes()
                self.assertEqual(program.wait(TIMEOUT), 0)
            self.assertIn(b"Findings" if text else b"a 2 ", got)


def without_names() -> None:
    """From now on openat() with O_TMPFILE fails, as on file systems that do not have it, and renameat() waits for ever."""
    syscall, flags = struct.pack("=HBBI", 0x20, 0, 0, 0), struct.pack("=HBBI", 0x20, 0, 0, 32)
    code = (
        syscall
        + struct.pack("=HBBI", 0x15, 0, 1, 264)
        + struct.pack("=HBBI", 0x06, 0, 0, 0x7FC00000)  # SECCOMP_RET_USER_NOTIF: nobody answers
        + struct.pack("=HBBI", 0x15, 0, 4, 257)
        + flags
        + struct.pack("=HBBI", 0x54, 0, 0, os.O_TMPFILE)
        + struct.pack("=HBBI", 0x15, 0, 1, os.O_TMPFILE)
        + struct.pack("=HBBI", 0x06, 0, 0, 0x50000 | errno.EOPNOTSUPP)
        + struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)
    )
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("=H6xQ", len(code) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
    # seccomp() with SECCOMP_SET_MODE_FILTER and SECCOMP_FILTER_FLAG_NEW_LISTENER.
    listener = libc.syscall(317, 1, 8, ctypes.c_char_p(program))
    assert listener >= 0, os.strerror(ctypes.get_errno())
    os.set_inheritable(listener, True)


class Killed(Case):
    """The rest of a program that is asked to end."""

    def killed(self, words: list[str], pattern: str, number: int) -> None:
        with subprocess.Popen(
            [PROGRAM, *words],
            stderr=subprocess.DEVNULL,
            preexec_fn=without_names,
            close_fds=False,
        ) as program:
            waiting.wait_until(lambda: list(self.folder.glob(pattern)), f"there is {pattern}")
            self.assertIsNone(program.poll())
            program.send_signal(number)
            self.assertEqual(program.wait(TIMEOUT), -number)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_nothing(self) -> None:
        for number in (signal.SIGTERM, signal.SIGHUP):
            self.killed([large_dump(), "export", "x.heap"], ".heapdump-*.part", number)
            self.killed(["collect", "-port", "port", "-o", "x.gcdump"], "port", number)

    def test_it_may_be_ignored(self) -> None:
        command = ["/bin/sh", "-c", 'trap "" HUP; exec "$@"', "sh", PROGRAM]
        command += ["collect", "-port", "port", "-timeout", "2", "-o", "x.gcdump"]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as program:
            while not (self.folder / "port").exists():
                time.sleep(0.01)
            program.send_signal(signal.SIGHUP)
            self.assertEqual(program.wait(TIMEOUT), 3)


class Ends(Case):
    """The messages about a file that is complete already."""

    def test_only_the_answer_is_lost(self) -> None:
        for words in (["export", "x.heap"], ["export", "x.heap", "--json"]):
            with open("/dev/full", "wb") as full:
                done = heapdump(str(DUMP), *words, stdout=full)
            self.assertEqual(done.returncode, 3)
            self.assertIn(b"warning: the file is written and complete; only", done.stderr)
            self.assertEqual(heapdump("x.heap", "diff", str(DUMP)).returncode, 0)

    def test_a_dump_that_shrinks_leaves_no_file(self) -> None:
        """Missing bytes read as zeros, so that a file of them would be wrong."""
        core = self.folder / "core"
        packed = SOURCE / "corefiles" / "leak.core.zst"
        subprocess.run(["zstd", "-qd", packed, "-o", core], check=True, timeout=TIMEOUT)
        with subprocess.Popen(
            [PROGRAM, str(core)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as program:
            assert program.stdin and program.stdout
            program.stdin.write(b"gcwhere 7f039fe5a158 > ready\n")
            program.stdin.flush()
            while not (self.folder / "ready").exists():
                time.sleep(0.02)
            os.truncate(core, core.stat().st_size // 2)
            _, err = program.communicate(b"export x.heap\n", timeout=TIMEOUT)
        self.assertEqual(program.returncode, 3, err)
        self.assertIn(b"shrank while it was open", err)
        self.assertFalse((self.folder / "x.heap").exists())


class Collect(Case):
    def test_to_a_pipe(self) -> None:
        for output in OUTPUTS:
            with runtime() as pid:
                done = heapdump("collect", pid, "-o", output, "-format", "nettrace")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, TRACE.read_bytes(), output)
            self.assertRegex(done.stderr.decode(), r"\nheapdump: wrote 1,112 objects, .* in .* s\n")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_it_is_a_gcdump(self) -> None:
        for output in OUTPUTS:
            with runtime() as pid:
                done = heapdump("collect", pid, "-o", output)
            self.assertEqual(done.returncode, 0, done.stderr)
            path = self.folder / "piped.gcdump"
            path.write_bytes(done.stdout)
            self.assertEqual(heapdump(str(path), "diff", str(TRACE)).returncode, 0, output)

    def test_no_bytes_to_a_terminal(self) -> None:
        for output in OUTPUTS:
            for name in ("gcdump", "nettrace"):
                done = self.on_terminal("collect", str(os.getpid()), "-o", output, "-format", name)
                self.refused(done, f"a .{name} is not text".encode())

    def test_no_document_beside_it(self) -> None:
        done = heapdump("collect", str(os.getpid()), "-o", "-", "--json")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"cannot go to the same output", done.stdout)


if __name__ == "__main__":
    unittest.main()
