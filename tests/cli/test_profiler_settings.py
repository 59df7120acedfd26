#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The settings of the profiler work in a live program, if there is a SDK: each leads to as many files as it should."""
from __future__ import annotations

import contextlib
import ctypes
import os
import re
import resource
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from profiling import (
    CLASS,
    LIBRARY,
    NEWEST,
    SIGNAL,
    TOO_LATE,
    TROUBLED,
    TroubledCase,
    build_program,
    start_program,
)
from shell_program import BUILD, PROGRAM, TIMEOUT, waiting

IN_CLOSE_NOWRITE = 0x10  # sys/inotify.h
SESSION_IN_VAIN = "session of 1, keywords 1980001\nsession 1 ends\n"


class SettingsTest(TroubledCase):
    """One program for each."""

    def signal_until(self, process: subprocess.Popen[str], count: int) -> None:
        """Send the signal, and wait until there were so many files."""
        os.kill(process.pid, SIGNAL)
        self.await_files(count)

    def host(
        self, when: str, *trouble: str, until: str = "initialised\n", **more: str
    ) -> tuple[str, str]:
        """
        The questions of a profiler to a runtime, and its lines on standard error.  It goes on after that until the
        two together match UNTIL, and nothing has come for a second.
        """
        variables = {"HEAPDUMP_WHEN": when, "HEAPDUMP_OUT": self.out("a.gcdump")} | more
        out, err = self.folder / "host.out", self.folder / "host.err"
        with (
            open(out, "wb") as stdout,
            open(err, "wb") as stderr,
            subprocess.Popen(
                [str(Path(BUILD) / "tests" / "profiler_host"), LIBRARY, *trouble],
                env=self.environment(**variables),
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
            ) as process,
        ):
            said = lambda: out.read_text("utf-8") + err.read_text("utf-8")  # noqa: E731
            waiting.wait_until(
                lambda: process.poll() is not None or re.search(until, said()), f"it says {until!r}"
            )
            with contextlib.suppress(FileNotFoundError):
                self.await_rest(process.pid)
            process.communicate(b"\n", timeout=TIMEOUT)
        self.assertEqual(process.returncode, 0)
        return out.read_text("utf-8"), err.read_text("utf-8")

    def test_a_signal_ends_no_program_whose_profiler_does_not_work(self) -> None:
        """SIGRTMIN+6, and the one that HEAPDUMP_WHEN names, whatever keeps the library from working."""
        good = "signal:3"
        cases = [
            (good, "release-7", "refused", "older than .NET 8"),
            (good, "release-12", "refused", r"has version 12.0, and only .NET 8 to 11 are known"),
            (good, "no-thread", "refused", "snapshots cannot be taken"),
            ("exit,signal:3", "no-collections", "refused", "does not let a profiler watch"),
            ("signal:3,sometimes", "", "refused", "HEAPDUMP_WHEN: 'sometimes'"),
            ("sometimes, signal:3 ", "", "refused", "HEAPDUMP_WHEN: 'sometimes'"),
            ("signal:3,signal:4", "", "refused", "HEAPDUMP_WHEN: 'signal:4'"),
        ]
        for when, trouble, state, message in cases:
            with self.subTest(when=when, trouble=trouble):
                out, err = self.host(when, trouble, "6", "3")
                self.assertTrue(out.endswith(f"{state}\nalive\n"), out)
                self.assertRegex(err, f"^heapdump: .*{message}.*\n$")
        for more in ({"HEAPDUMP_OUT": "x"}, {"HEAPDUMP_WAY": "x"}, {"HEAPDUMP_KEEP": "1" * 600}):
            with self.subTest(**more):
                out, err = self.host(good, "", "6", "3", **more)
                self.assertEqual(out, "refused\nalive\n")
                self.assertRegex(err, "^heapdump: .*nothing is done\n$")

    def test_a_signal_that_no_setting_asks_for_ends_no_program(self) -> None:
        for when, out in (("", ""), ("exit", "x")):
            self.assertEqual(
                self.host(when, "", "6", HEAPDUMP_OUT=out)[0].split("\n", 1)[1], "alive\n"
            )
        self.assertEqual(self.host("", "other-class", "6"), ("no class\nalive\n", ""))
        for when in ("rss>80%", "signal:3", "signal", "oom,exit"):
            with self.subTest(when=when):
                out, err = self.host(when, "", "6")
                self.assertTrue(out.endswith("idle\nalive\n"), out)
                self.assertEqual(err, "")

    def test_a_signal_of_a_file_that_does_not_count_ends_no_program(self) -> None:
        path = self.folder / "heapdump.profiler.json"
        for text in ('{"when": "signal:3", "keep": -1}', '{"when": "now,signal:3"}'):
            path.write_text(text, encoding="utf-8")
            for when, state in (("", "refused"), ("rss>80%", "idle"), ("now", "refused")):
                with self.subTest(text=text, when=when):
                    out, err = self.host(when, "", "3", "6")
                    self.assertTrue(out.endswith(f"{state}\nalive\n"), out)
                    self.assertIn("it does not count\n", err)

    def test_a_signal_after_the_last_snapshot_ends_no_program(self) -> None:
        for when in ("signal", "exit", "signal,exit"):
            out, _ = self.host(when, "end", "6")
            self.assertIn("\nidle\n", out)
            self.assertTrue(out.endswith("\nalive\n"), out)

    def test_what_the_program_has_set_for_a_signal_stays(self) -> None:
        """Also where the library refuses, and after the end."""
        for when in ("rss>80%", "signal:3", "sometimes", ""):
            with self.subTest(when=when):
                out, _ = self.host(when, "handled", "6")
                self.assertTrue(out.endswith("\nhandled\nalive\n"), out)

    def test_the_runtime_is_asked_for_nothing_while_idle(self) -> None:
        """The masks of events that are set at the start, and those that are left when the program runs."""
        cases = {
            "signal": (set(), "0 0"),
            "rss>80%,every 1h,pressure>50%": (set(), "0 0"),
            "oom": ({"mask 40 0"}, "40 0"),
            "heap>500M": ({"mask 0 80", "session of 1, keywords 1"}, "0 80"),
            "growth:5,oom": ({"mask 40 0", "mask 40 80", "session of 1, keywords 1"}, "40 80"),
            "exit": ({"mask 90 0"}, "0 0"),
        }
        for when, (first, last) in cases.items():
            with self.subTest(when=when):
                out, err = self.host(when, until=rf"(?s)initialised.*mask {last}\n")
                begin, rest = out.split("initialised\n")
                self.assertEqual(set(begin.splitlines()), first)
                self.assertEqual(rest, f"mask {last}\nidle\n")
                self.assertEqual(err, "")

    def test_the_runtime_is_asked_for_nothing_after_a_snapshot(self) -> None:
        out, err = self.host("signal", "signal", until="no snapshot")
        self.assertEqual(out, "initialised\nmask 0 0\nmask 0 80\nmask 0 0\nidle\n")
        self.assertRegex(err, r"^heapdump: there is no snapshot \(signal\): .*session.*\n$")

    def test_a_session_without_a_collection_is_begun_again(self) -> None:
        """The runtime may not have started when the first one came."""
        out, _ = self.host("signal", "vain")
        begin = "initialised\nmask 0 0\nmask 0 80\n" + 2 * SESSION_IN_VAIN
        self.assertTrue(out.startswith(begin), out)

    def test_collections_are_watched_again_after_a_snapshot(self) -> None:
        """The second session fails, too; the next try does not."""
        out, err = self.host("signal,heap>500M", "signal", until=r"(?s)initialised.*keywords 1\n")
        self.assertEqual(
            out.split("initialised\nmask 0 80\n")[1],
            "session 1 ends\nmask 0 80\nmask 0 80\nsession of 1, keywords 1\nidle\n",
        )
        self.assertRegex(err, r"^heapdump: there is no snapshot .*\n$")
        # One line when they are not seen for longer than a program takes to end.
        err = self.host("signal,heap>500M", "no-sessions", until="about collections")[1]
        self.assertRegex(
            err, r"^heapdump: there is no snapshot .*\nheapdump: .* about collections: .*\n$"
        )

    def test_a_runtime_that_does_not_tell_about_exceptions(self) -> None:
        """One line, and everything else works."""
        out, err = self.host(
            "signal,oom,growth:3", "no-exceptions", until=r"(?s)initialised.*mask 0 80\n"
        )
        begin, rest = out.split("initialised\n")
        self.assertEqual(begin.splitlines(), ["mask 40 0", "mask 0 80", "session of 1, keywords 1"])
        self.assertEqual(rest, "mask 0 80\nidle\n")
        self.assertRegex(err, r"^heapdump: the runtime does not tell about exceptions: .*\n$")

    def test_a_signal_that_was_ignored_interrupts_nothing(self) -> None:
        out, err = self.host("signal", "ignored")
        self.assertTrue(out.endswith("continued\nidle\n"), out)
        self.assertEqual(err, "")

    def test_a_child_ends_by_the_signal_as_without(self) -> None:
        out, err = self.host("signal", "fork", until="mask 0 0\n")
        self.assertEqual(out, "initialised\nmask 0 0\nthe child ends\nidle\n")
        self.assertEqual((err, self.written()), ("", []))

    def test_a_library_that_is_not_used_leaves_nothing_behind(self) -> None:
        out, err = self.host("signal,heap>500M,exit", "no-thread")
        self.assertTrue(out.endswith("session 1 ends\nmask 0 0\nrefused\n"), out)
        self.assertRegex(err, r"^heapdump: snapshots cannot be taken: .*\n$")

    def test_the_heap_is_too_large(self) -> None:
        """Once for each time that it becomes too large, in whatever collections that shows."""
        with self.program("heap>100M", "%t-%r.gcdump") as process:
            self.ask(process, "collect")
            time.sleep(1)
            self.assertEqual(self.written(), [])
            self.ask(process, "large 150")
            self.ask(process, "collect")
            self.await_files(1)
            self.ask(process, "collect")
            time.sleep(1.5)
            self.assertEqual(len(self.written()), 1)
            self.ask(process, "drop")
            self.ask(process, "large 150")
            self.ask(process, "collect")
            self.await_files(2)
        self.unharmed()
        self.assertTrue(all(name.endswith("-heap.gcdump") for name in self.written()))

    def test_the_heap_grows(self) -> None:
        with self.program("growth:3", "%t-%r.gcdump") as process:
            self.ask(process, "collect")
            for _ in range(2):
                self.ask(process, "grow 5")
                self.ask(process, "collect")
            self.ask(process, "drop")
            time.sleep(1)
            self.assertEqual(self.written(), [])
            for _ in range(3):
                self.ask(process, "grow 5")
                self.ask(process, "collect")
            self.await_files(1)
        self.unharmed()
        self.assertTrue(self.written()[0].endswith("-growth.gcdump"))

    def test_other_tools_are_told_the_names_of_types(self) -> None:
        """The session that watches collections does not spoil the snapshots of others."""
        with self.program("heap>900M") as process:
            self.ask(process, "grow 1")
            for number in range(3):
                path = self.out(f"{number}.gcdump")
                words = [PROGRAM, "collect", str(process.pid), "-o", path]
                environment = os.environ | {"TMPDIR": str(self.folder)}
                began = time.monotonic()
                subprocess.run(words, env=environment, capture_output=True, check=True)
                # The session is begun again when the tool's has ended, at most as long after it as that took.
                lasted = time.monotonic() - began
                self.assertEqual(self.counts(f"{number}.gcdump")["Troubled.Small"], 1 << 15)
                time.sleep(2 + 2 * lasted)
        self.unharmed()

    def test_the_program_listens_to_the_same_events(self) -> None:
        """The runtime tells the names of types to each of several snapshots, in each way."""
        for way in ("socket", "events", "walk"):
            with self.subTest(way=way):
                self.forget_files()
                with self.program("signal", "%t.gcdump", HEAPDUMP_WAY=way) as process:
                    self.ask(process, "grow 1")
                    self.ask(process, "listen")
                    for number in range(3):
                        self.signal_until(process, number + 1)
                        time.sleep(1.1)  # the next one has another name
                self.unharmed()
                counts = [self.counts(name).get("Troubled.Small") for name in self.written()]
                self.assertEqual(counts, [1 << 15] * 3)

    def test_the_newest_files_are_kept(self) -> None:
        with self.program("signal", "%t.gcdump", HEAPDUMP_KEEP="2", HEAPDUMP_REPORT="1") as process:
            pages: set[str] = set()
            for _ in range(4):
                os.kill(process.pid, SIGNAL)
                end = time.monotonic() + TIMEOUT
                # The page is written last, and then the older files go.
                while not (new := set(self.files_of(".html")) - pages):
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.05)
                pages |= new
                time.sleep(1.1)  # the next one has another name
            while len(self.complete()) > 4:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)
        self.unharmed()
        self.assertEqual(self.files_of(".html"), sorted(pages)[-2:])
        self.assertEqual([f"{name}.html" for name in self.files_of(".gcdump")], sorted(pages)[-2:])

    def test_a_page_is_written_next_to_it(self) -> None:
        for way in ("socket", "events", "walk"):
            with self.subTest(way=way):
                self.forget_files()
                more = {"HEAPDUMP_REPORT": "1", "HEAPDUMP_WAY": way}
                with self.program("signal", "%r.gcdump", **more) as process:
                    self.ask(process, "grow 5")
                    os.kill(process.pid, SIGNAL)
                    self.await_files(2)
                self.unharmed()
                self.assertEqual(self.written(), ["signal.gcdump", "signal.gcdump.html"])
                page = (self.folder / "out" / "signal.gcdump.html").read_text(encoding="utf-8")
                self.assertIn("Troubled.Small", page)

    def test_a_page_is_written_for_what_cannot_be_read_again(self) -> None:
        with self.program("signal", "%r.heapsnapshot", HEAPDUMP_REPORT="1") as process:
            os.kill(process.pid, SIGNAL)
            self.await_files(2)
        self.unharmed()
        self.assertEqual(self.written(), ["signal.heapsnapshot", "signal.heapsnapshot.html"])

    def test_a_disk_with_too_little_room(self) -> None:
        with self.program("signal", HEAPDUMP_FREE="900000G") as process:
            os.kill(process.pid, SIGNAL)
            self.await_line(process)
        self.unharmed(r"heapdump: there is no snapshot \(signal\): .*/out/ has only \d+ MB free\n")
        self.assertEqual(self.written(), [])

    def test_the_rate(self) -> None:
        """A signal that comes too early waits, and several become one."""
        with self.program("signal", "%t.gcdump", HEAPDUMP_RATE="1h") as process:
            self.signal_until(process, 1)
            for _ in range(5):
                os.kill(process.pid, SIGNAL)
            self.await_rest(process.pid)
            self.assertEqual(len(self.written()), 1)
        self.unharmed(TOO_LATE.format("signal"))
        self.forget_files()
        with self.program("signal", "%t.gcdump", HEAPDUMP_RATE="2s") as process:
            self.signal_until(process, 1)
            # They come together when it goes on.
            with waiting.stopped(process.pid):
                for _ in range(5):
                    os.kill(process.pid, SIGNAL)
            self.await_files(2)
            self.await_rest(process.pid)
        self.unharmed(TOO_LATE.format("signal"))
        # The last signal may have come after the second one had begun.
        self.assertIn(len(self.written()), (2, 3))

    def test_the_rate_does_not_count_what_failed(self) -> None:
        late = self.folder / "late"
        with self.program("signal", f"{late}/%r.gcdump", HEAPDUMP_RATE="1h") as process:
            os.kill(process.pid, SIGNAL)
            self.await_line(process)
            late.mkdir()
            os.kill(process.pid, SIGNAL)
            end = time.monotonic() + TIMEOUT
            while not list(late.glob("*.gcdump")):
                self.assertLess(time.monotonic(), end)
                time.sleep(0.1)
        self.unharmed(r"heapdump: there is no snapshot \(signal\): .*\n")

    def test_only_what_is_alive(self) -> None:
        for way in ("socket", "events"):
            with self.program(
                "signal", f"{way}.heap", HEAPDUMP_LIVE="1", HEAPDUMP_WAY=way
            ) as process:
                self.ask(process, "grow 1")
                os.kill(process.pid, SIGNAL)
                end = time.monotonic() + TIMEOUT
                while f"{way}.heap" not in self.written():
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.1)
            self.unharmed()
            self.assertEqual(self.counts(f"{way}.heap")["Troubled.Small"], 1 << 15)

    def test_the_program_is_held(self) -> None:
        with self.program("signal", "%r.gcdump", HEAPDUMP_HOLD="1") as process:
            self.ask(process, "grow 10")
            self.signal_until(process, 1)
            self.ask(process, "grow 1")
        self.unharmed()
        self.assertEqual(self.counts("signal.gcdump")["Troubled.Small"], 10 << 15)

    def test_the_heap_is_full(self) -> None:
        """The limit of the heap is reached: the file has what fills it, and the program goes on."""
        for way in ("any", "events", "walk"):
            with self.subTest(way=way):
                self.forget_files()
                more = {"HEAPDUMP_WAY": way, "DOTNET_GCHeapHardLimit": "0x4000000"}
                with self.program("oom", **more) as process:
                    self.ask(process, "exhaust")
                    self.await_files(1)
                    self.assertEqual(self.written(), ["oom.gcdump"])
                    self.ask(process, "drop")
                    self.ask(process, "grow 10")
                self.unharmed()
                # It has 64 MB.
                self.assertGreater(self.counts("oom.gcdump")["Troubled.Small"], 1_000_000)

    def die(self, environment: dict[str, str], signals: int) -> tuple[int, float]:
        """Let a program die of a full heap after some signals; its status, and how many seconds that took."""
        with start_program(
            TROUBLED,
            environment | {"DOTNET_GCHeapHardLimit": "0x4000000", "DOTNET_DbgEnableMiniDump": "0"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
        ) as process:
            try:
                assert process.stdout and process.stderr
                self.assertEqual(process.stdout.readline(), "READY\n")
                for number in range(signals):
                    self.signal_until(process, number + 1)
                began = time.monotonic()
                self.speak(process, "leak 2000")
                said = process.stderr.read()
                status = process.wait(TIMEOUT)
            finally:
                process.kill()
        self.assertRegex(said.replace(" ", ""), "(?i)outofmemory")
        self.assertNotIn("heapdump:", said)
        return status, time.monotonic() - began

    def test_the_program_dies_of_a_full_heap(self) -> None:
        """It does so when the file is there, as it would without."""
        self.assertEqual(self.die({"PATH": os.environ["PATH"]}, 0)[0], -signal.SIGABRT)
        for way in ("socket", "events", "walk"):
            with self.subTest(way=way):
                variables = {"HEAPDUMP_WHEN": "oom", "HEAPDUMP_OUT": self.out("%r.gcdump")}
                environment = self.environment(HEAPDUMP_WAY=way, **variables)
                self.assertEqual(self.die(environment, 0)[0], -signal.SIGABRT)
                self.assertEqual(self.written(), ["oom.gcdump"])
                self.assertGreater(self.counts("oom.gcdump")["Troubled.Small"], 1_000_000)
                self.forget_files()

    def test_a_program_does_not_wait_for_a_snapshot_that_has_to(self) -> None:
        variables = {"HEAPDUMP_WHEN": "signal,oom", "HEAPDUMP_OUT": self.out("%r.gcdump")}
        environment = self.environment(HEAPDUMP_RATE="1h", **variables)
        status, lasted = self.die(environment, 1)
        self.assertEqual((status, self.written()), (-signal.SIGABRT, ["signal.gcdump"]))
        self.assertLess(lasted, TIMEOUT)

    def in_made_up_group(
        self, when: str, out: str = ""
    ) -> contextlib.AbstractContextManager[subprocess.Popen[str]]:
        """The program in a cgroup of version 2 that this test writes: a folder, mounted where cgroups are."""
        group = self.folder / "group"
        group.mkdir(exist_ok=True)
        words = ["unshare", "--mount", "--cgroup", "sh", "-c"]
        if subprocess.run([*words, f"mount --bind {group} /sys/fs/cgroup"], check=False).returncode:
            self.skipTest("only root may mount a folder")
        words += [f'mount --bind {group} /sys/fs/cgroup; exec "$@"', "sh", *TROUBLED]
        environment = self.environment(
            HEAPDUMP_WHEN=when, HEAPDUMP_OUT=out or self.out("%t-%r.gcdump"), HEAPDUMP_WAY="events"
        )
        return self.run_program(words, environment)

    def write_group(self, name: str, text: str) -> None:
        """Change a file of that cgroup at once, as the kernel does."""
        (self.folder / "new").write_text(text, encoding="ascii")
        (self.folder / "new").rename(self.folder / "group" / name)

    def await_reads(self, name: str, count: int) -> None:
        """Wait until the profiler has read a file of that cgroup so often; what it read before has had its effect."""
        libc = ctypes.CDLL(None, use_errno=True)
        watch = libc.inotify_init1(os.O_CLOEXEC)
        try:
            path = os.fsencode(self.folder / "group" / name)
            self.assertGreaterEqual(libc.inotify_add_watch(watch, path, IN_CLOSE_NOWRITE), 0)
            for _ in range(count):
                self.assertTrue(select.select([watch], [], [], TIMEOUT)[0], f"{name} is not read")
                os.read(watch, 4096)
        finally:
            os.close(watch)

    def check_group(self, name: str, texts: tuple[str, str, str]) -> None:
        """The first text is no reason, the second is one, and so is the third, but the same."""
        self.write_group(name, texts[0])
        self.await_reads(name, 2)
        self.assertEqual(self.written(), [])
        began = time.monotonic()
        self.write_group(name, texts[1])
        self.await_files(1)
        self.write_group(name, texts[2])
        time.sleep(1)
        count = len(self.written())
        # Nothing counts for 10 seconds after the first; a busy machine may have needed longer until here.
        if time.monotonic() - began < 9:
            self.assertEqual(count, 1)

    def test_the_kernel_holds_the_group_back(self) -> None:
        events = "low 0\nhigh {}\nmax 7\noom 0\noom_kill 0\n"
        texts = events.format(3), events.format(4), events.format(9)
        with contextlib.ExitStack() as stack:
            started = self.in_made_up_group("high")
            self.write_group("memory.events", texts[0])
            stack.enter_context(started)
            self.check_group("memory.events", texts)
        self.unharmed()
        self.assertTrue(self.written()[0].endswith("-high.gcdump"))

    def test_tasks_wait_for_memory(self) -> None:
        pressure = "some avg10={} avg60=0.00 avg300=0.00 total=1\nfull avg10=99.00 avg60=0 avg300=0 total=1\n"
        texts = pressure.format("20.99"), pressure.format("21.00"), pressure.format("80.00")
        with contextlib.ExitStack() as stack:
            started = self.in_made_up_group("pressure>20%")
            self.write_group("memory.pressure", texts[0])
            stack.enter_context(started)
            self.check_group("memory.pressure", texts)
            self.write_group("memory.pressure", pressure.format("17.00"))
            self.await_reads("memory.pressure", 2)
            self.write_group("memory.pressure", texts[1])
            self.await_files(2)
        self.unharmed()
        self.assertTrue(all(name.endswith("-pressure.gcdump") for name in self.written()))

    def test_what_others_of_the_group_have_is_not_left(self) -> None:
        """A heap that needs more than that is not whole where the folder is in memory, too."""
        folder = Path(tempfile.mkdtemp(prefix="heapdump-profiler-", dir="/dev/shm"))
        self.addCleanup(shutil.rmtree, folder, True)
        limit = 64 << 30
        for cached in (0, 60 << 30):
            with self.subTest(cached=cached), contextlib.ExitStack() as stack:
                started = self.in_made_up_group("signal", f"{folder}/{cached}.gcdump")
                self.write_group("memory.max", f"{limit}\n")
                self.write_group("memory.current", f"{limit - (20 << 20)}\n")
                self.write_group("memory.stat", f"anon 0\ninactive_file {cached}\nfile 0\n")
                process = stack.enter_context(started)
                self.ask(process, "grow 50")
                os.kill(process.pid, SIGNAL)
                if cached:
                    end = time.monotonic() + TIMEOUT
                    while not (folder / f"{cached}.gcdump").exists():
                        self.assertLess(time.monotonic(), end)
                        time.sleep(0.05)
                else:
                    self.await_line(process)
                    time.sleep(0.5)
            self.unharmed(
                ""
                if cached
                else ".*(needs more memory than the program can spare|parts of the heap are missing)\n"
            )

    def test_a_notification_profiler(self) -> None:
        """It is one when the variables say so of it, and not when they name another one."""
        own = f"{LIBRARY}={CLASS};"  # the runtime drops what has no end
        cases = {
            "signal": {"CORECLR_NOTIFICATION_PROFILERS": own, "CORECLR_ENABLE_PROFILING": "0"},
            "exit": {"CORECLR_NOTIFICATION_PROFILERS": "/none.so={00000000" + CLASS[9:] + ";"},
        }
        for when, variables in cases.items():
            with self.subTest(when=when):
                self.forget_files()
                variables["CORECLR_ENABLE_NOTIFICATION_PROFILERS"] = "1"
                with self.program(when, **variables) as process:
                    if when == "signal":
                        self.signal_until(process, 1)
                self.unharmed()
                self.assertEqual(self.written(), [f"{when}.gcdump"])

    def make_group(self, name: str) -> Path:
        """A memory cgroup of 200 MB."""
        group = Path(f"/sys/fs/cgroup/memory/heapdump-test-{os.getpid()}-{name}")
        try:
            group.mkdir()
            (group / "memory.limit_in_bytes").write_text("200M", encoding="ascii")
        except OSError as error:
            self.skipTest(str(error))
        return group

    def test_the_limit_comes_later(self) -> None:
        group = self.make_group("later")
        try:
            with self.program("rss>60%") as process:
                self.ask(process, "large 100")
                time.sleep(0.5)
                self.assertEqual(self.written(), [])
                (group / "cgroup.procs").write_text(str(process.pid), encoding="ascii")
                self.await_files(1)
            self.unharmed()
        finally:
            with contextlib.suppress(OSError):
                time.sleep(0.2)
                group.rmdir()

    def fill_group(self, name: str, rate: int) -> tuple[bool, str]:
        """Fill a memory cgroup of 200 MB, so many MB in each second: was the file there before the group was full?"""
        group = self.make_group(name)
        environment = self.environment(
            HEAPDUMP_WHEN="rss>60%",
            HEAPDUMP_OUT=self.out(f"{name}.gcdump"),
            HEAPDUMP_HOLD="1",
            DOTNET_GCHeapHardLimitPercent="64",
        )
        words = ["bash", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "in", *TROUBLED]
        with start_program(words, environment) as process:
            try:
                assert process.stdout and process.stderr
                self.assertEqual(process.stdout.readline(), "READY\n")
                self.speak(process, f"leak {rate}")
                # Instead of ending it, the kernel may let it read its own code from the disk again and again.
                end = time.monotonic() + 30 + 200 / rate
                while process.poll() is None and f"{name}.gcdump" not in self.written():
                    if time.monotonic() > end:
                        break
                    time.sleep(0.05)
                is_there = f"{name}.gcdump" in self.written()
            finally:
                process.kill()
            err = process.stderr.read()
        with contextlib.suppress(OSError):
            time.sleep(0.2)
            group.rmdir()
        return is_there, err

    def test_the_file_is_there_before_the_kernel_ends_the_program(self) -> None:
        """120 MB of objects of 32 bytes, and 50 MB more in each second; HEAPDUMP_TEST_RUNS of them, 20 by hand.

        Among other tests the profiler may not get the processor in time; then fewer MB more in each second.
        """
        runs = os.environ.get("HEAPDUMP_TEST_RUNS")
        for number in range(int(runs or "1")):
            with self.subTest(number=number):
                for rate in (50,) if runs else (50, 12, 3):
                    name = f"{number}-{rate}"
                    is_there, err = self.fill_group(name, rate)
                    if is_there:
                        break
                self.assertTrue(is_there, err)
                least = 2_000_000 if rate == 50 else 1_000_000
                self.assertGreater(self.counts(f"{name}.gcdump")["Troubled.Small"], least)
                (self.folder / "out" / f"{name}.gcdump").unlink()


if __name__ == "__main__":
    if not build_program("troubled", NEWEST):
        print("there is no .NET SDK, or the program does not build")
        raise SystemExit(77)
    unittest.main()
