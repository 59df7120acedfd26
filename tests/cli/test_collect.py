#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ps and collect against servers that misbehave; test_collect_live.py has live .NET processes."""
from __future__ import annotations

import contextlib
import datetime
import os
import pwd
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path
from typing import Iterator
from unittest import mock

import fake_runtime
from collecting import Answer, Case, run
from shell_program import BUILD, PROGRAM, TIMEOUT, await_handler, waiting

PROFILER = Path(BUILD) / "libheapdump_profiler.so"
NEEDS_LIBRARY = unittest.skipUnless(PROFILER.exists(), "there is no profiler with sanitizers")
LIBRARY_FOLDER = "lib/heapdump"


def as_nobody() -> None:
    """Become another user, in the child."""
    os.setgroups([])
    os.setgid(fake_runtime.NOBODY)
    os.setuid(fake_runtime.NOBODY)


class Fakes(Case):
    """Servers that are no good runtime."""

    @contextlib.contextmanager
    def fake(
        self, mode: str, tmpdir: bool = True, arguments: tuple[str, ...] = ()
    ) -> Iterator[subprocess.Popen[str]]:
        """A fake runtime while the block runs."""
        env = dict(os.environ)
        env.pop("TMPDIR", None)
        if tmpdir:
            env["TMPDIR"] = str(self.sockets)
        with subprocess.Popen(
            [sys.executable, fake_runtime.__file__, mode, *arguments],
            env=env,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            assert process.stdout
            self.assertEqual(process.stdout.readline(), "READY\n")
            path = fake_runtime.socket_path(process.pid)
            try:
                yield process
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                Path(path).unlink(missing_ok=True)

    def test_good(self) -> None:
        """The fixture arrives byte for byte."""
        with self.fake("good") as fake:
            answer = self.collect(fake.pid, "--json")
        self.assertEqual(answer.status, 0, answer.err)
        self.assertTrue(answer.json["complete"])
        self.assertEqual(answer.json["tries"], 1)
        self.assertEqual(answer.json["bytes"], fake_runtime.TRACE.stat().st_size)
        self.assertEqual(
            (self.folder / "out.nettrace").read_bytes(), fake_runtime.TRACE.read_bytes()
        )
        self.assertEqual(self.files(), ["out.nettrace"])
        self.assertRegex(answer.err, "^heapdump: process [0-9]+ is asked for a buffer of up to")
        self.assertNotIn("warning", answer.err)

    def test_process_is_told(self) -> None:
        """A .gcdump says of which process on which machine it is."""
        with self.fake("good") as fake:
            answer = self.collect(fake.pid, name="out.gcdump")
        self.assertEqual(answer.status, 0, answer.err)
        process = run(str(self.folder / "out.gcdump"), "info", "--json").json["process"]
        self.assertEqual(process["name"], "heapapp")
        self.assertEqual(process["machine"], socket.gethostname())

    def test_time_is_that_of_the_machine(self) -> None:
        """A .gcdump has its local time, the trace UTC."""
        times = []
        for zone in ("UTC0", "AAA5"):
            with self.fake("good") as fake, mock.patch.dict(os.environ, TZ=zone):
                answer = self.collect(fake.pid, name="out.gcdump")
            self.assertEqual(answer.status, 0, answer.err)
            path = str(self.folder / "out.gcdump")
            times.append(run(path, "info", "--json").json["process"]["time"])
        utc, west = map(datetime.datetime.fromisoformat, times)
        self.assertEqual(utc - west, datetime.timedelta(hours=5))

    def test_older_commands(self) -> None:
        """Each unknown command leads to the next older one."""
        with self.fake("old") as fake:
            answer = self.collect(fake.pid)
            fake.kill()
            assert fake.stdout
            commands = fake.stdout.read().split()
        self.assertEqual(answer.status, 0, answer.err)
        self.assertEqual(commands, ["4/4", "2/6", "2/5", "2/4", "2/3"])

    def test_no_command(self) -> None:
        """A runtime that knows none of them."""
        with self.fake("ancient") as fake:
            self.fails(self.collect(fake.pid), "has a runtime before .NET Core 3.1")

    def test_no_answer(self) -> None:
        """A runtime that does not answer is given up."""
        for mode in ("stall", "silent"):
            with self.subTest(mode), self.fake(mode) as fake:
                answer = self.collect(fake.pid, "-timeout", "5")
                message = "does not answer" if mode == "stall" else "it took too long: collect"
                self.fails(answer, message)

    def test_late_answer(self) -> None:
        """A runtime collects before it answers, which takes as long as its heap is large."""
        with self.fake("late") as fake:
            answer = self.collect(fake.pid, "--json")
        self.assertEqual(answer.status, 0, answer.err)
        self.assertTrue(answer.json["complete"])

    def test_a_session_before_the_runtime_has_started(self) -> None:
        """It never sends anything: another one is begun, soon."""
        with self.fake("starts") as fake:
            answer = self.collect(fake.pid, "--json", "-timeout", "100")
        self.assertEqual(answer.status, 0, answer.err)
        self.assertTrue(answer.json["complete"])

    def test_a_collection_of_the_program_comes_in_between(self) -> None:
        """Then the session has no objects, and another one is begun."""
        with self.fake("busy") as fake:
            answer = self.collect(fake.pid, "--json", "-timeout", "100")
        self.assertEqual(answer.status, 0, answer.err)
        self.assertTrue(answer.json["complete"])

    def test_bad_answers(self) -> None:
        """An answer that is none is told."""
        expected = {
            "hangup": "hung up: try again",
            "short": "hung up: try again",
            "large": "hung up: try again",
            "garbage": "sent not an answer of a .NET runtime",
            "magic": "sent not an answer of a .NET runtime",
            "tiny": "sent an answer that breaks the protocol",
            "profiler": "0x8013136a): a profiler is active in it",
            "no-session": "sent no number of a session",
            "noise": "sent no trace that can be read",
            "early": "the process ended the trace: collect again",
            "dies": "the process has ended: only a core",
        }
        for mode, message in expected.items():
            with self.subTest(mode), self.fake(mode) as fake:
                answer = self.collect(fake.pid)
                self.fails(answer, message)

    def test_cut(self) -> None:
        """The events before a cut are kept, and said to be partial."""
        for mode, kind in (("cut", "partial"), ("cut-late", "no-end")):
            with self.subTest(mode), self.fake(mode) as fake:
                answer = self.collect(fake.pid, "--json")
                self.assertEqual(answer.status, 1, answer.err)
                self.assertFalse(answer.json["complete"])
                self.assertEqual(answer.json["findings"][0]["kind"], kind)
                # As many as the file has, the last ones of which are not whole.
                info = run(str(self.folder / "out.nettrace"), "info", "--json").json
                self.assertEqual(answer.json["objects"], info["objects"])
                self.assertEqual(info["process"]["partial"], kind == "partial")
                self.assertEqual(self.files(), ["out.nettrace"])

    def test_full_disk(self) -> None:
        """A directory that is not there; a device is no place."""
        with self.fake("good") as fake:
            answer = self.collect(fake.pid, name="no/out.nettrace")
            self.fails(answer, "no/out.nettrace: cannot write")
            self.assertNotIn("buffer", answer.err)
            for path, message in (
                (str(self.folder), "cannot write: Is a directory"),
                ("/dev/full", "cannot write: No space left on device"),
                ("", "the name of the file is empty"),
            ):
                answer = run("collect", str(fake.pid), "-o", path)
                self.fails(answer, message, 3 if path else 2)
                # The process is not asked for what cannot be kept.
                if path != "/dev/full":
                    self.assertNotIn("buffer", answer.err)
            self.assertEqual(run("collect", str(fake.pid), "-o", "/dev/null").status, 0)

    def test_few_descriptors(self) -> None:
        """With too few of them it fails at once, and says so; the fewest with which it works are enough."""
        done = False
        for limit in range(4, 20):

            def bound(limit: int = limit) -> None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

            with self.subTest(limit), self.fake("waits") as fake:
                words = ("collect", str(fake.pid), "-o", str(self.folder / "x.nettrace"))
                answer = run(*words, "-timeout", "100", as_user=bound)
                if answer.status == 127:
                    continue  # not even the program can be loaded
                if answer.status == 0:
                    done = True
                    break
                self.fails(answer, "Too many open files")
        self.assertTrue(done)

    def test_few_descriptors_at_a_port(self) -> None:
        """A runtime that connects cannot be accepted."""
        port = self.sockets / "port"
        out = str(self.folder / "x.nettrace")
        listing = subprocess.Popen(
            [PROGRAM, "collect", "-port", str(port), "-timeout", "100", "-o", out],
            stderr=subprocess.PIPE,
            text=True,
        )
        with listing as program:
            while not port.exists():
                time.sleep(0.01)
            # As many as the process that collects has now, and not one more.
            children = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text()
            worker = int(children.split()[0])
            waiting.wait_until(lambda: waiting.is_in(worker, "poll"), "it waits for a runtime")
            used = max(map(int, os.listdir(f"/proc/{worker}/fd"))) + 1
            resource.prlimit(worker, resource.RLIMIT_NOFILE, (used, used))
            with socket.socket(socket.AF_UNIX) as runtime:
                runtime.connect(str(port))
                assert program.stderr
                err = program.stderr.read()
                self.assertEqual(program.wait(TIMEOUT), 3, err)
        self.assertIn("Too many open files", err.splitlines()[-1])
        self.assertEqual(self.files(), [])

    def test_timeout(self) -> None:
        """No target holds it for longer."""
        with self.fake("trickle") as fake:
            answer = self.collect(fake.pid, "-timeout", "5")
            self.fails(answer, "it took too long")

    def test_freezes(self) -> None:
        """A process that is stopped on the way is told at once, in one line."""
        with self.fake("freezes") as fake:
            answer = self.collect(fake.pid, name="x.gcdump")
        self.assertEqual(answer.status, 1, answer.err)
        lines = [line for line in answer.err.splitlines() if "is asked for" not in line]
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines[0], "the process was stopped.* has only the first [0-9]+ objects")
        self.assertIn("let it continue", lines[0])
        first = lines[0].split("the first ")[1].split()[0]
        self.assertIn(f": {first} objects,", answer.out)
        # The file itself tells too.
        info = run(str(self.folder / "x.gcdump"), "info", "--json")
        self.assertEqual(info.status, 1)
        self.assertTrue(info.json["process"]["partial"])
        self.assertIn("partial-heap", [row["kind"] for row in info.json["findings"]])

    def test_unnamed(self) -> None:
        """Types that the process does not name are asked for again, then told."""
        for name in ("x.nettrace", "x.gcdump"):
            with self.subTest(name), self.fake("unnamed") as fake:
                answer = self.collect(fake.pid, "--json", name=name)
            self.assertEqual(answer.status, 1, answer.err)
            self.assertEqual(answer.json["tries"], 3)
            self.assertEqual([row["kind"] for row in answer.json["findings"]], ["unresolved-type"])
            self.assertEqual(answer.json["objects"], 1112)
            info = run(str(self.folder / name), "info", "--json")
            self.assertEqual(info.status, 1)
            self.assertIn("unresolved-type", [row["kind"] for row in info.json["findings"]])

    def test_interrupt(self) -> None:
        """Ctrl-C while nothing comes."""
        with self.fake("silent") as fake:
            command = [PROGRAM, "collect", str(fake.pid), "-o", str(self.folder / "x.nettrace")]
            with subprocess.Popen(command, stderr=subprocess.PIPE) as program:
                await_handler(program.pid)
                waiting.wait_until(lambda: waiting.is_in(program.pid, "poll"), "nothing comes")
                waiting.wait_until_rest(program.pid)
                program.send_signal(signal.SIGINT)
                self.assertEqual(program.wait(TIMEOUT), 130)
        self.assertEqual(self.files(), [])

    def test_stopped(self) -> None:
        """A process that stands still is not asked."""
        with self.fake("good") as fake:
            fake.send_signal(signal.SIGSTOP)
            while "\nState:\tT" not in Path(f"/proc/{fake.pid}/status").read_text("utf-8"):
                time.sleep(0.01)
            answer = self.collect(fake.pid)
            listed = run("ps", "--json").json["processes"]
            fake.send_signal(signal.SIGCONT)
        self.fails(answer, "is stopped (by a debugger or a signal)")
        self.assertEqual([row["stopped"] for row in listed if row["pid"] == fake.pid], [True])

    def test_ps(self) -> None:
        """Living processes are listed, sockets that were left over are not."""
        stale = self.sockets / "dotnet-diagnostic-1-12345-socket"
        with socket.socket(socket.AF_UNIX) as left, self.fake("good") as fake:
            left.bind(str(stale))
            rows = run("ps", "--json").json["processes"]
            mine = [row for row in rows if row["pid"] == fake.pid]
            self.assertEqual(len(mine), 1)
            self.assertEqual(mine[0]["runtime"], "10.0.1")
            self.assertEqual(mine[0]["user"], pwd.getpwuid(os.getuid()).pw_name)
            self.assertIn("fake_runtime.py good", mine[0]["command"])
            self.assertNotIn(1, [row["pid"] for row in rows])
            text = run("ps").out
            self.assertIn(f"{fake.pid:8} ", text)
            pid = fake.pid
        self.assertNotIn(pid, [row["pid"] for row in run("ps", "--json").json["processes"]])

    def test_arguments(self) -> None:
        """Wrong usage, and processes that are none."""
        self.fails(self.collect(os.getpid()), "has no diagnostics socket in", 2)
        self.fails(self.collect(0x7FFFFFF0), "there is no process 2147483632", 2)
        self.fails(self.collect("0"), "PID is the number of a process", 2)
        self.fails(self.collect("x"), "PID is a number", 2)
        self.fails(self.collect(1, "-timeout", "0"), "-timeout is 1 to", 2)
        self.fails(self.collect(1, "-buffer", "0"), "-buffer is a size", 2)
        self.fails(self.collect(1, "-live"), "-live needs another format", 2)
        self.fails(self.collect(1, "-port", str(self.folder / "p")), "not both", 2)
        self.fails(self.collect(1, "--snapshot", "2"), "--snapshot is about a .nettrace", 2)
        answer = run("collect")
        self.assertEqual(answer.status, 2)
        self.assertIn("no process is given", answer.err)

    def inside(self, mode: str, *words: str, name: str = "out.gcdump") -> tuple[Answer, str]:
        """collect -inside, and what the runtime was given."""
        with self.fake(mode) as fake:
            answer = run("collect", str(fake.pid), "-inside", "-o", f"{self.folder}/{name}", *words)
            fake.kill()
            assert fake.stdout
            return answer, fake.stdout.read().replace(str(fake.pid), "PID")

    @NEEDS_LIBRARY
    def test_the_library_is_sent(self) -> None:
        answer, given = self.inside("good", "--json", name="a b\u00e9\U0001f600.heap")
        self.assertEqual(answer.status, 0, answer.err)
        self.assertEqual(
            given,
            f"3/1\n{BUILD}/libheapdump_profiler.so HEAPDUMP-INSIDE-1 "
            f"{self.folder}/a b\u00e9\U0001f600.heap {self.sockets}/heapdump-inside-PID-socket\n",
        )
        told = {key: answer.json[key] for key in ("objects", "references", "roots", "bytes")}
        self.assertEqual(told, {"objects": 10, "references": 20, "roots": 30, "bytes": 40})
        self.assertTrue(answer.json["complete"])
        self.assertEqual(answer.json["format"], "rpm")

    @NEEDS_LIBRARY
    def test_what_the_library_could_not_do(self) -> None:
        answer, _ = self.inside("partial")
        self.assertEqual(answer.status, 1)
        self.assertIn("events are missing, as when the process has too little memory", answer.err)
        for mode, message in {
            "loaded": "it has loaded it itself",
            "unreadable": "(error 80131392): it may not be able to read it",
            "vanishes": "cannot be reached at",
            "fails": "has taken no snapshot: it \\u001b[2J cannot",
            "bare": "has taken no snapshot: it does not say why",
            "longer": "is not of this version of heapdump",
            "noise": "is something else at its socket?",
            "hangup": "hung up: try again",
        }.items():
            with self.subTest(mode):
                answer, _ = self.inside(mode)
                self.fails(answer, message)
        answer, given = self.inside("active")
        self.fails(answer, "another heapdump's is in it")
        self.assertGreater(given.count("3/1\n"), 3)
        answer, _ = self.inside("silent", "-timeout", "1")
        self.fails(answer, "does not answer at its diagnostics socket")

    def test_who_forbids_profilers_gets_none(self) -> None:
        with mock.patch.dict(os.environ, {"DOTNET_EnableDiagnostics_Profiler": "0"}):
            answer, given = self.inside("good")
        self.fails(answer, "DOTNET_EnableDiagnostics_Profiler=0, which forbids profilers")
        self.assertEqual(given, "")

    def installed(self, mode: int = 0o755, owner: int = 0) -> Path:
        """A copy of the program with its library."""
        for name, target in (("bin/heapdump", Path(PROGRAM)), ("x.so", PROFILER)):
            path = self.folder / "installed" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(target, path)
        library = self.folder / "installed" / LIBRARY_FOLDER / PROFILER.name
        library.parent.mkdir(parents=True)
        path.rename(library)
        library.chmod(mode)
        if owner:
            os.chown(library, owner, 0)
        return library

    def from_installed(self, *cases: tuple[int, int]) -> Iterator[tuple[str, int, str]]:
        """The answer of collect -inside when the library has a mode and an owner."""
        for mode, owner in cases:
            library = self.installed(mode, owner)
            with self.fake("good") as fake:
                done = subprocess.run(
                    [
                        f"{self.folder}/installed/bin/heapdump",
                        *("collect", str(fake.pid), "-inside", "-o", f"{self.folder}/a.gcdump"),
                    ],
                    capture_output=True,
                    text=True,
                    check=False,
                    timeout=TIMEOUT,
                )
                fake.kill()
                assert fake.stdout
                yield fake.stdout.read(), done.returncode, done.stderr
            shutil.rmtree(library.parents[2])

    @NEEDS_LIBRARY
    def test_only_a_library_that_others_cannot_change_is_sent(self) -> None:
        cases = self.from_installed((0o755, 0), (0o775, 0), (0o757, 0))
        given, status, err = next(cases)
        self.assertEqual(status, 0, err)
        self.assertIn(f"/installed/{LIBRARY_FOLDER}/libheapdump_profiler.so ", given)
        for given, status, err in cases:
            self.assertEqual((given, status), ("", 3))
            self.assertIn("is not sent to a process: others may write it", err)

    @NEEDS_LIBRARY
    @unittest.skipIf(os.geteuid(), "only root can give files away")
    def test_only_our_own_library_is_sent(self) -> None:
        ((given, status, err),) = self.from_installed((0o755, fake_runtime.NOBODY))
        self.assertEqual((given, status), ("", 3))
        self.assertIn("it belongs to another user", err)

    def test_arguments_of_inside(self) -> None:
        for words, message in (
            (("-o", "a.gcdump"), "-inside needs -o with an absolute path"),
            ((), "-inside needs -o with an absolute path"),
            (("-o", "/a.dmp"), "with -inside the ending says the format"),
            (("-o", "/a.gcdump", "-live"), "-inside does not go with -live"),
            (("-o", "/a.gcdump", "-format", "rpm"), "-inside does not go with -format"),
            (("-o", "/a.gcdump", "-buffer", "5M"), "-inside does not go with -buffer"),
            (("-o", "/a.gcdump", "-generations"), "-inside does not go with -generations"),
        ):
            with self.subTest(words):
                self.fails(run("collect", "1", "-inside", *words), message, 2)
        answer = run("collect", "-inside", "-port", "/tmp/x", "-o", "/a.gcdump")
        self.fails(answer, "-inside does not go with -port", 2)

    def test_nobody_connects(self) -> None:
        """A port where no runtime comes; the socket goes away."""
        port = self.sockets / "port"
        out = str(self.folder / "x.nettrace")
        answer = run("collect", "-port", str(port), "-timeout", "1", "-o", out)
        self.fails(answer, "no runtime has connected to")
        self.assertFalse(port.exists())

    @unittest.skipIf(os.getuid() != 0, "only root can be two users")
    def test_other_users(self) -> None:
        """Their processes cannot be asked; nobody else answers for a process."""
        with self.fake("good", tmpdir=False) as fake:
            os.chmod(self.folder, 0o777)
            words = ("collect", str(fake.pid), "-o", str(self.folder / "x.nettrace"))
            try:
                answer = run(*words, as_user=as_nobody)
            except PermissionError:
                self.skipTest("another user cannot run the program")
            self.fails(answer, "run this as that user or as root")
        with self.fake("other") as fake:
            self.fails(self.collect(fake.pid), f"belongs to user {fake_runtime.NOBODY}")
            self.check_not_listed(fake.pid)

    def test_a_turn_that_somebody_took_and_does_not_use(self) -> None:
        """Any user may take the name by which those who collect take turns."""
        with self.fake("good") as fake, socket.socket(socket.AF_UNIX) as name:
            name.bind(f"\0heapdump-collect-{fake.pid}")
            answer = self.collect(fake.pid, "-timeout", "15")
        self.assertEqual(answer.status, 0, answer.err)

    @unittest.skipIf(os.getuid() != 0, "only root can be two users")
    def test_a_socket_that_another_user_planted(self) -> None:
        """In /tmp anyone may make a socket by the name of a process that is none of .NET."""
        with subprocess.Popen(["sleep", str(TIMEOUT)]) as victim:
            try:
                with self.fake("plant", tmpdir=False, arguments=(str(victim.pid),)) as planter:
                    self.check_not_listed(victim.pid)
                    self.fails(self.collect(victim.pid), f"belongs to user {fake_runtime.NOBODY}")
                    planter.kill()
                    assert planter.stdout
                    self.assertEqual(planter.stdout.read(), "", "it was asked")
            finally:
                Path(fake_runtime.socket_path(victim.pid)).unlink(missing_ok=True)
                victim.kill()

    def check_not_listed(self, pid: int) -> None:
        """ps does not take it for a process of .NET."""
        self.assertNotIn(pid, [row["pid"] for row in run("ps", "--json").json["processes"]])
        self.assertNotIn(f"{pid:8} ", run("ps").out)

    def test_a_socket_where_another_process_listens(self) -> None:
        """The kernel tells who it is, also of the same user's."""
        with self.fake("planted") as fake:
            self.check_not_listed(fake.pid)
            self.fails(self.collect(fake.pid), f"and not process {fake.pid}: it is not asked")

    def test_what_a_process_says_is_no_more_than_text(self) -> None:
        """Name, arguments and version hold what they like."""
        hostile = "x\x1b[2J\n\x9b\u202e"
        with self.fake("noname", arguments=(hostile,)) as fake:
            answer = run("ps")
            lines = [line for line in answer.out.splitlines() if f"{fake.pid:8} " in line]
            self.assertEqual(len(lines), 1, answer.out)
            self.assertIn("x\\u001b[2J\\u000a\\u009b\\u202e", lines[0])
            self.assertNotRegex(answer.out, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")


if __name__ == "__main__":
    unittest.main(verbosity=2)
