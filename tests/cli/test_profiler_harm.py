#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that make it hard for the profiler, and places that cannot be written: the program goes on as without it."""
from __future__ import annotations

import contextlib
import fcntl
import os
import re
import resource
import signal
import socket
import subprocess
import time
import unittest
from pathlib import Path

from profiling import NEWEST, SIGNAL, TOO_LATE, TROUBLED, TroubledCase, build_program, start_program
from shell_program import BUILD, PROGRAM, TIMEOUT, waiting

NOBODY = 65534


class HarmTest(TroubledCase):
    """One program, which does what it is told."""

    def refuses(self, out: str, message: str) -> None:
        """A signal leads to one line, and to no file."""
        before = self.written()
        with self.program("signal", out) as process:
            os.kill(process.pid, SIGNAL)
            self.await_line(process)
            time.sleep(0.5)
        self.unharmed(rf"heapdump: there is no snapshot \(signal\): .*{message}.*\n")
        self.assertEqual(self.written(), before)

    def mount(self, options: str) -> Path:
        """A small file system of its own."""
        place = self.folder / "mount"
        place.mkdir(exist_ok=True)
        words = ["mount", "-t", "tmpfs", "-o", options, "none", str(place)]
        result = subprocess.run(words, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            self.skipTest(f"mount: {result.stderr.strip()}")
        self.addCleanup(lambda: subprocess.run(["umount", "-l", str(place)], check=False))
        return place

    def await_handler(self, pid: int) -> None:
        """Wait until the signal has a handler."""
        end = time.monotonic() + TIMEOUT
        while True:
            self.assertLess(time.monotonic(), end)
            status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
            if int(status.split("SigCgt:")[1].split()[0], 16) >> (SIGNAL - 1) & 1:
                break

    def test_the_signal_comes_while_the_runtime_starts(self) -> None:
        """It cannot collect yet."""
        for way in ("socket", "events", "walk"):
            for delay in (0.0, 0.005, 0.02):
                with self.subTest(way=way, delay=delay):
                    self.forget_files()
                    environment = self.environment(
                        HEAPDUMP_WHEN="signal", HEAPDUMP_OUT=self.out("a.gcdump"), HEAPDUMP_WAY=way
                    )
                    with start_program(TROUBLED, environment) as process:
                        self.await_handler(process.pid)
                        time.sleep(delay)
                        os.kill(process.pid, SIGNAL)
                        end = time.monotonic() + TIMEOUT
                        while not self.complete() and time.monotonic() < end:
                            time.sleep(0.05)
                        left = process.communicate("end\n", timeout=TIMEOUT)
                    self.assertEqual(self.written(), ["a.gcdump"])
                    self.assertEqual(left, ("READY\nheld nothing\n", ""))
                    self.assertEqual(process.returncode, 7)

    def test_the_end_comes_during_a_snapshot_of_events(self) -> None:
        """Nothing is said but that there is no snapshot."""
        for when, hold in (("signal", "0"), ("signal", "1"), ("signal,heap>900M", "0")):
            for delay in (0.0, 0.02, 0.05, 0.1):
                with self.subTest(when=when, hold=hold, delay=delay):
                    more = {"HEAPDUMP_WAY": "events", "HEAPDUMP_HOLD": hold}
                    with self.program(when, **more) as process:
                        self.ask(process, "grow 20")
                        os.kill(process.pid, SIGNAL)
                        time.sleep(delay)
                    self.unharmed(TOO_LATE.format("signal"))

    @staticmethod
    def opens_a_file(process: "subprocess.Popen[str]") -> bool:
        """Does the library's own thread wait in the FIFO? The runtime has a thread that waits in one of its own."""
        names = waiting.thread_files(process.pid, "comm")
        places = waiting.thread_files(process.pid, "wchan")
        return any(
            name.strip() == "heapdump" and "wait_for_partner" in places.get(thread, "")
            for thread, name in names.items()
        )

    def test_who_has_sent_the_library_does_not_wait(self) -> None:
        """There is no file then, and the library leaves."""
        fifo = self.folder / "hold"
        more = {
            "LD_PRELOAD": str(Path(BUILD) / "tests" / "libheld_opens.so"),
            "HEAPDUMP_TEST_HOLD": str(fifo),
        }
        with self.program("", CORECLR_ENABLE_PROFILING="0", **more) as process:
            self.ask(process, "grow 1")
            os.mkfifo(fifo)
            words = ["collect", str(process.pid), "-inside", "-o", self.out("a.gcdump")]
            with subprocess.Popen([PROGRAM, *words], stderr=subprocess.DEVNULL) as collecting:
                waiting.wait_until(lambda: self.opens_a_file(process), "the library opens a file")
                collecting.send_signal(signal.SIGINT)
                self.assertEqual(collecting.wait(TIMEOUT), 130)
            with open(fifo, "wb"):
                fifo.unlink()
            waiting.wait_until(
                lambda: "heapdump" not in self.threads(process.pid), "the library leaves"
            )
            self.assertEqual(self.written(), [])
        self.unharmed()

    def test_descriptors_are_closed_by_others(self) -> None:
        with self.program("signal") as process:
            self.ask(process, "close")
            os.kill(process.pid, SIGNAL)
            self.await_files(1)
        self.unharmed()

    def test_standard_error_is_a_full_pipe(self) -> None:
        reading, writing = os.pipe()
        flags = fcntl.fcntl(writing, fcntl.F_GETFL)
        fcntl.fcntl(writing, fcntl.F_SETFL, flags | os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writing, b" " * 4096)
        fcntl.fcntl(writing, fcntl.F_SETFL, flags)
        try:
            for when in ("signal", "nonsense"):
                environment = self.environment(HEAPDUMP_WHEN=when, HEAPDUMP_OUT="/none/a.gcdump")
                with subprocess.Popen(
                    TROUBLED,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=writing,
                    text=True,
                    env=environment,
                ) as process:
                    assert process.stdout
                    self.assertEqual(process.stdout.readline(), "READY\n")
                    if when == "signal":
                        os.kill(process.pid, SIGNAL)
                        time.sleep(1)
                    self.assertEqual(
                        process.communicate("end\n", timeout=TIMEOUT)[0], "held nothing\n"
                    )
                    self.assertEqual(process.returncode, 7)
        finally:
            os.close(reading)
            os.close(writing)

    def test_a_failed_snapshot_of_a_threshold_is_tried_again(self) -> None:
        late = self.folder / "late"
        with self.program("rss>200M", f"{late}/%r.gcdump") as process:
            self.ask(process, "large 200")
            self.await_line(process)
            late.mkdir()
            end = time.monotonic() + TIMEOUT
            while not list(late.glob("*.gcdump")):
                self.assertLess(time.monotonic(), end)
                time.sleep(0.1)
            time.sleep(1)
            (late / "rss.gcdump").unlink()
            # It is there now: the memory has not sunk.
            time.sleep(7)
            self.assertEqual(list(late.iterdir()), [])
        self.unharmed(r"(heapdump: there is no snapshot \(rss\): .*\n)+")

    def test_a_handler_that_wants_one_call_gets_one(self) -> None:
        preload = str(Path(BUILD) / "tests" / "libearly_handler.so")
        with self.program("signal", "%t.gcdump", LD_PRELOAD=preload) as process:
            for _ in range(3):
                os.kill(process.pid, SIGNAL)
                time.sleep(0.2)
            self.await_files(1)
        assert self.ended
        self.assertEqual((self.ended.status, self.ended.out), (7, "called\nheld nothing\n"))

    def test_the_socket_of_an_earlier_process_is_another_one(self) -> None:
        with self.program("signal", DOTNET_EnableDiagnostics_IPC="0") as process:
            name = self.folder / f"dotnet-diagnostic-{process.pid}-1-socket"
            with socket.socket(socket.AF_UNIX) as old:
                old.bind(str(name))
                os.kill(process.pid, SIGNAL)
                self.await_files(1)
        self.unharmed()

    def test_triggers_that_come_together(self) -> None:
        """One file for all that come before it is begun, and at most one more for what comes meanwhile."""
        with self.program("signal,rss>150M,every 1h", "%t-%r.gcdump") as process:
            self.speak(process, "large 150")
            # They come together when it goes on.
            with waiting.stopped(process.pid):
                for _ in range(300):
                    os.kill(process.pid, SIGNAL)
            self.await_files(1)
            assert process.stdout
            self.assertEqual(process.stdout.readline(), "large\n")
            self.await_rest(process.pid)
        self.unharmed(TOO_LATE.format("(signal|rss)"))
        self.assertLessEqual(len(self.written()), 4)

    def test_another_tool_collects_meanwhile(self) -> None:
        with self.program("signal", "%r.gcdump") as process:
            self.ask(process, "grow 20")
            others = [
                subprocess.Popen(
                    [PROGRAM, "collect", str(process.pid), "-o", str(self.folder / f"{i}.gcdump")],
                    env={**os.environ, "TMPDIR": str(self.folder)},
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                )
                for i in range(3)
            ]
            os.kill(process.pid, SIGNAL)
            for other in others:
                err = other.communicate(timeout=TIMEOUT)[1]
                self.assertEqual(other.returncode, 0, err)
            self.await_files(1)
        self.unharmed()
        for name in ("signal.gcdump", "../0.gcdump", "../1.gcdump", "../2.gcdump"):
            self.assertEqual(self.counts(name)["Troubled.Small"], 20 << 15)

    def test_children_are_made_meanwhile(self) -> None:
        for way in ("socket", "events", "walk"):
            with self.subTest(way=way):
                self.forget_files()
                with self.program("signal", "%r.gcdump", HEAPDUMP_WAY=way) as process:
                    self.ask(process, "grow 20")
                    self.speak(process, "spawn 60")
                    for _ in range(100):
                        os.kill(process.pid, SIGNAL)
                        time.sleep(0.01)
                    assert process.stdout
                    self.assertEqual(process.stdout.readline(), "spawn\n")
                    self.await_files(1)
                # The last of these signals may find the program at its end.
                self.unharmed("" if way == "walk" else TOO_LATE.format("signal"))
                self.assertEqual(self.counts("signal.gcdump")["Troubled.Small"], 20 << 15)

    def test_a_thread_stays_in_a_call_for_ever(self) -> None:
        for way in ("socket", "events", "walk"):
            with self.subTest(way=way):
                self.forget_files()
                with self.program(
                    "signal,exit" if way == "walk" else "signal", HEAPDUMP_WAY=way
                ) as process:
                    self.ask(process, "stuck")
                    os.kill(process.pid, SIGNAL)
                    self.await_files(1)
                self.unharmed()

    def test_a_program_that_dies_dies_as_without(self) -> None:
        for word in ("abort", "failfast", "throw"):
            left = []
            for when in ("", "signal,oom,exit"):
                environment = self.environment(DOTNET_DbgEnableMiniDump="0")
                if when:
                    environment |= {"HEAPDUMP_WHEN": when, "HEAPDUMP_OUT": self.out("%r.gcdump")}
                with start_program(
                    TROUBLED,
                    environment,
                    cwd=self.folder,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
                ) as process:
                    assert process.stdout
                    self.assertEqual(process.stdout.readline(), "READY\n")
                    if when:
                        os.kill(process.pid, SIGNAL)
                    out, err = process.communicate(word + "\n", timeout=TIMEOUT)
                    # It may die before the signal has led to a snapshot.
                    err = re.sub(TOO_LATE.format("signal"), "", err)
                    left.append((process.returncode, out, err))
            with self.subTest(word=word):
                self.assertEqual(left[1], left[0])
                self.assertEqual(left[0][0], -signal.SIGABRT)

    def test_the_disk_is_full(self) -> None:
        place = self.mount("size=16k")
        self.refuses(f"{place}/%p.gcdump", "No space left on device")
        self.assertEqual(list(place.iterdir()), [])

    def test_files_may_not_become_so_large(self) -> None:
        with self.program("signal") as process:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4096, 4096))
            os.kill(process.pid, SIGNAL)
            self.await_line(process)
            time.sleep(0.5)
        self.unharmed(r"heapdump: there is no snapshot \(signal\): .*File too large.*\n")
        self.assertEqual(self.written(), [])

    def test_the_folder_is_read_only(self) -> None:
        place = self.mount("size=1m")
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        self.refuses(f"{place}/%p.gcdump", "Read-only file system")

    @unittest.skipIf(os.geteuid() != 0, "only root can make files of others")
    def test_the_file_belongs_to_another_user(self) -> None:
        """A folder where everybody may write, as /tmp is: files and links of others stay as they are."""
        shared = self.folder / "shared"
        shared.mkdir()
        shared.chmod(0o1777)
        victim = self.folder / "victim"
        victim.write_text("kept", encoding="utf-8")
        theirs = shared / "file.gcdump"
        theirs.write_text("theirs", encoding="utf-8")
        os.chown(theirs, NOBODY, NOBODY)
        link = shared / "link.gcdump"
        link.symlink_to(victim)
        os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
        self.refuses(str(theirs), "")
        self.refuses(str(link), "")
        self.assertEqual(theirs.read_text(encoding="utf-8"), "theirs")
        self.assertTrue(link.is_symlink())
        self.assertEqual(victim.read_text(encoding="utf-8"), "kept")


if __name__ == "__main__":
    if not build_program("troubled", NEWEST):
        print("there is no .NET SDK, or the program does not build")
        raise SystemExit(77)
    unittest.main()
