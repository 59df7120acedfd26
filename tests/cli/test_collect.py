#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ps and collect: against servers that misbehave, and against live .NET processes if there is a SDK."""
from __future__ import annotations

import collections
import contextlib
import datetime
import json
import os
import pwd
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock
from pathlib import Path
from typing import Any, Callable, Counter, Iterator

SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
sys.path.insert(0, str(SOURCE / "tests" / "support"))

import gcdump_file  # noqa: E402  pylint: disable=wrong-import-position

PROGRAM = [str(BUILD / "heapdump")]
APPS = SOURCE / "corefiles" / "build" / "apps"
TRACE = SOURCE / "tests" / "data" / "small300.nettrace"
TIMEOUT = 120
# Seconds until a large heap is collected and walked: only then the runtime answers.
LATE = 11
NOBODY = 65534
# Seconds that a machine under load may take for what takes none.
SLACK = 5

MAGIC = b"DOTNET_IPC_V1\0"
OK, ERROR, SERVER = 0x00, 0xFF, 0xFF
TRACING, PROCESS = 0x02, 0x04
STOP, RESUME, INFO_2 = 0x01, 0x01, 0x04
UNKNOWN_COMMAND = 0x80131385
PROFILER_ACTIVE = 0x8013136A
SESSION = 7


# The fake runtime: a program of its own, so that its id and start time make the socket's name.


def socket_path(pid: int) -> str:
    """Where a runtime of that process listens."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    start = stat[stat.rindex(")") + 2 :].split()[19]
    return f"{os.environ.get('TMPDIR', '/tmp')}/dotnet-diagnostic-{pid}-{start}-socket"


def reply(kind: int, payload: bytes, magic: bytes = MAGIC) -> bytes:
    """One message of the server."""
    return magic + struct.pack("<HBBH", 20 + len(payload), SERVER, kind, 0) + payload


def version_reply(version: str) -> bytes:
    """The answer to ProcessInfo2."""

    def text(value: str) -> bytes:
        return struct.pack("<I", len(value) + 1) + (value + "\0").encode("utf-16-le")

    names = text("fake") + text("linux") + text("x64") + text("fake")
    return reply(OK, struct.pack("<Q", os.getpid()) + bytes(16) + names + text(version))


def trickle(connection: socket.socket) -> None:
    """A stream whose next block never ends."""
    trace = TRACE.read_bytes()
    head = trace[: trace.index(b"Trace", 12) + 5 + 1 + 48 + 1]
    block = b"\5\5\1" + struct.pack("<iii", 2, 2, 10) + b"StackBlock\6"
    block += struct.pack("<i", 64 << 20)
    connection.sendall(head + block + bytes(-(len(head) + len(block)) % 4))
    for _ in range(TIMEOUT * 5):
        connection.sendall(bytes(100))
        time.sleep(0.2)


def serve_trace(connection: socket.socket, mode: str, trace: bytes) -> None:
    """Answer the command that begins a session."""
    started = reply(OK, struct.pack("<Q", SESSION))
    if mode == "unnamed":
        provider = "Microsoft-Windows-DotNETRuntime\0".encode("utf-16-le")
        bulk_type = provider + struct.pack("<I", 15)
        assert bulk_type in trace
        trace = trace.replace(bulk_type, provider + struct.pack("<I", 9999))
    if mode == "late":
        time.sleep(LATE)
    if mode in ("good", "old", "late", "unnamed"):
        connection.sendall(started + trace)
    elif mode == "cut":
        connection.sendall(started + trace[: len(trace) * 4 // 5])
    elif mode == "cut-late":
        connection.sendall(started + trace[: len(trace) * 9 // 10])
    elif mode == "early":
        connection.sendall(started + trace[:500])
    elif mode == "dies":
        connection.sendall(started + trace[:500])
        time.sleep(0.3)
        os._exit(1)
    elif mode == "silent":
        connection.sendall(started + trace[:32])
        time.sleep(TIMEOUT)
    elif mode == "trickle":
        connection.sendall(started)
        trickle(connection)
    elif mode == "freezes":
        connection.sendall(started + trace[: len(trace) * 4 // 5])
        os.kill(os.getpid(), signal.SIGSTOP)
    elif mode == "noise":
        connection.sendall(started + random.Random(1).randbytes(5000))
    elif mode == "profiler":
        connection.sendall(reply(ERROR, struct.pack("<I", PROFILER_ACTIVE)))
    elif mode == "no-session":
        connection.sendall(reply(OK, b""))


def serve_one(connection: socket.socket, mode: str, trace: bytes) -> None:
    """Answer one command."""
    if mode == "stall":
        time.sleep(TIMEOUT)
    if mode == "hangup":
        return
    head = connection.recv(20, socket.MSG_WAITALL)
    if len(head) < 20:
        return
    size, command_set, command = struct.unpack("<HBB", head[14:18])
    connection.recv(size - 20, socket.MSG_WAITALL)
    print(f"{command_set:x}/{command:x}", flush=True)
    early = {
        "garbage": random.Random(2).randbytes(300),
        "magic": reply(OK, bytes(8), b"DOTNET_IPC_V2\0"),
        "short": reply(OK, bytes(8))[:11],
        "tiny": MAGIC + struct.pack("<HBBH", 3, SERVER, OK, 0),
        "large": MAGIC + struct.pack("<HBBH", 65535, SERVER, OK, 0) + bytes(100),
        "ancient": reply(ERROR, struct.pack("<I", UNKNOWN_COMMAND)),
    }
    if mode in early:
        connection.sendall(early[mode])
    elif (command_set, command) == (PROCESS, INFO_2):
        connection.sendall(version_reply("3.1.0" if mode == "flush" else "10.0.1"))
    elif command_set == TRACING and command == STOP:
        connection.sendall(reply(OK, struct.pack("<Q", SESSION)))
    elif command_set == TRACING and mode == "old" and command != 0x03:
        connection.sendall(reply(ERROR, struct.pack("<I", UNKNOWN_COMMAND)))
    else:
        serve_trace(connection, mode, trace)


def serve(mode: str) -> None:
    """Listen as a runtime does until killed; "other": as another user."""
    trace = TRACE.read_bytes()
    listener = socket.socket(socket.AF_UNIX)
    path = socket_path(os.getpid())
    if mode == "other":
        os.chmod(os.path.dirname(path), 0o777)
        if os.fork():
            time.sleep(TIMEOUT)
        os.setuid(NOBODY)
    listener.bind(path)
    listener.listen(16)
    print("READY", flush=True)
    while True:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            serve_one(connection, mode, trace)


# The tests.


def as_nobody() -> None:
    """Become another user, in the child."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


class Answer:
    """What came of one run of the program."""

    def __init__(self, result: subprocess.CompletedProcess[str], seconds: float) -> None:
        self.status = result.returncode
        self.out = result.stdout
        self.err = result.stderr
        self.seconds = seconds

    @property
    def json(self) -> dict[str, Any]:
        """The document."""
        document: dict[str, Any] = json.loads(self.out)
        return document


def run(*words: str, cwd: Path | None = None, as_user: Callable[[], None] | None = None) -> Answer:
    """Run the program."""
    began = time.monotonic()
    result = subprocess.run(
        [*PROGRAM, *words],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
        cwd=cwd,
        preexec_fn=as_user,
        stdin=subprocess.DEVNULL,
    )
    return Answer(result, time.monotonic() - began)


class Case(unittest.TestCase):
    """A directory for output, and one for sockets."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="heapdump-collect-"))
        self.sockets = Path(tempfile.mkdtemp(prefix="heapdump-sockets-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.addCleanup(shutil.rmtree, self.sockets, True)

    def files(self) -> list[str]:
        """What lies in the directory for output."""
        return sorted(path.name for path in self.folder.iterdir())

    def collect(self, pid: int | str, *words: str, name: str = "out.nettrace") -> Answer:
        """Collect into the directory."""
        return run("collect", str(pid), "-o", str(self.folder / name), *words)

    def fails(self, answer: Answer, message: str, status: int = 3) -> None:
        """One clear line, and no file."""
        self.assertEqual(answer.status, status, answer.err)
        last = answer.err.strip().splitlines()[-1]
        self.assertIn(message, last)
        self.assertTrue(last.startswith("heapdump: "), last)
        self.assertEqual(self.files(), [])


class Fakes(Case):
    """Servers that are no good runtime."""

    @contextlib.contextmanager
    def fake(self, mode: str, tmpdir: bool = True) -> Iterator[subprocess.Popen[str]]:
        """A fake runtime while the block runs."""
        env = dict(os.environ)
        env.pop("TMPDIR", None)
        if tmpdir:
            env["TMPDIR"] = str(self.sockets)
        with subprocess.Popen(
            [sys.executable, __file__, "--fake", mode],
            env=env,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            assert process.stdout
            self.assertEqual(process.stdout.readline(), "READY\n")
            path = socket_path(process.pid)
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
        self.assertEqual(answer.json["bytes"], TRACE.stat().st_size)
        self.assertEqual((self.folder / "out.nettrace").read_bytes(), TRACE.read_bytes())
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
        """What does not answer is given up."""
        for mode in ("stall", "silent"):
            with self.subTest(mode), self.fake(mode) as fake:
                answer = self.collect(fake.pid, "-timeout", "2")
                message = "does not answer" if mode == "stall" else "it took too long: collect"
                self.fails(answer, message)
                self.assertLess(answer.seconds, 25)

    def test_late_answer(self) -> None:
        """A runtime collects before it answers, which takes as long as its heap is large."""
        with self.fake("late") as fake:
            answer = self.collect(fake.pid, "--json")
        self.assertEqual(answer.status, 0, answer.err)
        self.assertTrue(answer.json["complete"])

    def test_bad_answers(self) -> None:
        """What is no answer is told."""
        expected = {
            "hangup": "hung up: try again",
            "short": "hung up: try again",
            "large": "hung up: try again",
            "garbage": "sent no answer of a .NET runtime",
            "magic": "sent no answer of a .NET runtime",
            "tiny": "sent an answer that breaks the protocol",
            "profiler": "0x8013136a): a profiler is active in it",
            "no-session": "sent no number of a session",
            "noise": "sent no trace that can be read",
            "early": "the process ended the trace: collect again",
            "dies": "the process has ended: what is missing",
        }
        for mode, message in expected.items():
            with self.subTest(mode), self.fake(mode) as fake:
                answer = self.collect(fake.pid)
                self.fails(answer, message)
                self.assertLess(answer.seconds, 15)

    def test_cut(self) -> None:
        """What came before the trace was cut is kept, and said to be partial."""
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

    def test_timeout(self) -> None:
        """No target holds it for longer."""
        with self.fake("trickle") as fake:
            answer = self.collect(fake.pid, "-timeout", "2")
            self.fails(answer, "it took too long")
            self.assertLess(answer.seconds, 2 + 2.5 + SLACK)

    def test_freezes(self) -> None:
        """A process that is stopped on the way is told at once, in one line."""
        with self.fake("freezes") as fake:
            answer = self.collect(fake.pid, name="x.gcdump")
        self.assertEqual(answer.status, 1, answer.err)
        self.assertLess(answer.seconds, 2 + SLACK)
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
            command = [*PROGRAM, "collect", str(fake.pid), "-o", str(self.folder / "x.nettrace")]
            with subprocess.Popen(command, stderr=subprocess.PIPE) as program:
                time.sleep(1)
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
        self.assertLess(answer.seconds, 5)
        self.assertEqual([row["stopped"] for row in listed if row["pid"] == fake.pid], [True])

    def test_ps(self) -> None:
        """Those that live are listed, sockets that were left behind are not."""
        stale = self.sockets / "dotnet-diagnostic-1-12345-socket"
        with socket.socket(socket.AF_UNIX) as left, self.fake("good") as fake:
            left.bind(str(stale))
            rows = run("ps", "--json").json["processes"]
            mine = [row for row in rows if row["pid"] == fake.pid]
            self.assertEqual(len(mine), 1)
            self.assertEqual(mine[0]["runtime"], "10.0.1")
            self.assertEqual(mine[0]["user"], pwd.getpwuid(os.getuid()).pw_name)
            self.assertIn("--fake good", mine[0]["command"])
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
        self.fails(self.collect(1, "-port", str(self.folder / "p")), "exclude each other", 2)
        self.fails(self.collect(1, "--snapshot", "2"), "--snapshot is about a .nettrace", 2)
        answer = run("collect")
        self.assertEqual(answer.status, 2)
        self.assertIn("no process is given", answer.err)

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
            self.fails(self.collect(fake.pid), f"belongs to user {NOBODY}")


def runtime_works() -> bool:
    """Are dotnet and the programs of corefiles/apps there?  They are built with cores of them."""
    if not shutil.which("dotnet"):
        return False
    script = str(SOURCE / "scripts" / "make_corefiles.sh")
    cores = ("leak10-heap", "churn10-1", "gen10-1m-full")
    return subprocess.run([script, *cores], stderr=subprocess.DEVNULL, check=False).returncode == 0


def sessions(pid: int) -> int:
    """How many threads serve EventPipe sessions; one more, of that name, serves the socket."""
    count = -1
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            count += ".NET EventPipe" in (task / "comm").read_text(encoding="utf-8")
    return count


def types_of(path: Path, *words: str) -> Counter[str]:
    """How many objects a file has of each type."""
    counts: Counter[str] = collections.Counter()
    for row in run(str(path), "dumpheap", "-stat", *words, "--json").json["types"]:
        counts[row["name"]] += row["count"]
    return counts


def apart(some: Counter[str], others: Counter[str]) -> int:
    """How many objects one has and the other has not."""
    return (some - others).total() + (others - some).total()


@contextlib.contextmanager
def memory_limit(pid: int, size: int) -> Iterator[None]:
    """A cgroup with that limit for a process, while the block runs."""
    roots = {"memory": "memory.limit_in_bytes", ".": "memory.max"}
    for name, limit in roots.items():
        group = Path("/sys/fs/cgroup") / name / f"heapdump-test-{pid}"
        back = group.parent / "cgroup.procs"
        if name == "memory":
            line = next(
                line
                for line in Path("/proc/self/cgroup").read_text("utf-8").splitlines()
                if ":memory:" in line or name == "."
            )
            back = group.parent / line.split(":")[2].lstrip("/") / "cgroup.procs"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(size), encoding="ascii")
            (group / "cgroup.procs").write_text(str(pid), encoding="ascii")
            yield
        except FileNotFoundError:
            continue
        finally:
            with contextlib.suppress(OSError):
                back.write_text(str(pid), encoding="ascii")
            group.rmdir()
        return
    raise unittest.SkipTest("no cgroup can be made")


class Live(Case):
    """Programs of corefiles/apps."""

    # What sessions leave behind, and callbacks that wait for their turn, of which each is gone later.
    FLEETING = 8

    @classmethod
    def setUpClass(cls) -> None:
        if not runtime_works():
            raise unittest.SkipTest("no dotnet, or the programs cannot be built")

    @contextlib.contextmanager
    def program(
        self, name: str, *words: str, server: bool = False, port: str = "", survives: bool = True
    ) -> Iterator[subprocess.Popen[bytes]]:
        """A program that has said READY, while the block runs; not waited for with a port."""
        env = dict(os.environ, TMPDIR=str(self.sockets), DOTNET_gcServer=str(int(server)))
        env["DOTNET_GCHeapCount"] = "2"
        if port:
            env["DOTNET_DiagnosticPorts"] = port
        command = ["dotnet", str(APPS / f"{name}-net10.0" / f"{name}.dll"), *words]
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE) as process:
            try:
                assert process.stdout
                while not port and process.stdout.readline() not in (b"READY\n", b""):
                    pass
                yield process
                if survives:
                    self.assertIsNone(process.poll(), "the program has ended")
            finally:
                process.kill()

    def ended(self, pid: int) -> None:
        """No session is left in the process."""
        for _ in range(50):
            if not sessions(pid):
                return
            time.sleep(0.1)
        self.fail(f"sessions are left: {sessions(pid)}")

    def test_formats(self) -> None:
        """What is collected can be read, and holds what the program has made."""
        with self.program("leak") as leak:
            for name in ("a.nettrace", "a.gcdump", "a.heap", "a.heapsnapshot"):
                with self.subTest(name):
                    answer = self.collect(leak.pid, "--json", name=name)
                    self.assertEqual(answer.status, 0, answer.err + answer.out)
                    self.assertGreater(answer.json["objects"], 10000)
                    self.assertTrue(answer.json["complete"])
                    self.assertEqual(self.sessions_in(self.folder / name), 4000)
            self.ended(leak.pid)
        self.assertEqual(len(self.files()), 4)

    @staticmethod
    def sessions_in(path: Path) -> int:
        """How many objects of one type a file has."""
        if path.suffix != ".heapsnapshot":
            return types_of(path)["WebShop.Session"]
        document = json.loads(path.read_text(encoding="utf-8"))
        width = len(document["snapshot"]["meta"]["node_fields"])
        names = document["nodes"][1::width]
        return sum(document["strings"][name] == "WebShop.Session" for name in names)

    def test_live(self) -> None:
        """Without what is dead, and so many are told."""
        with self.program("leak") as leak:
            self.collect(leak.pid, name="all.nettrace")
            answer = self.collect(leak.pid, "-live", "--json", name="live.gcdump")
        self.assertEqual(answer.status, 0, answer.err)
        info = run(str(self.folder / "live.gcdump"), "info", "--json").json
        self.assertEqual(answer.json["objects"], info["objects"])
        self.assertEqual(answer.json["references"], info["references"])
        whole, live = types_of(self.folder / "all.nettrace"), types_of(self.folder / "live.gcdump")
        self.assertEqual(live.total(), info["objects"])
        self.assertGreater(whole.total() - live.total(), 50)
        self.assertLess(apart(live, types_of(self.folder / "all.nettrace", "-live")), self.FLEETING)

    def test_exact(self) -> None:
        """The .gcdump that dotnet-gcdump makes: its root, its names, as of a trace that was kept."""
        with self.program("leak") as leak:
            self.collect(leak.pid, name="kept.nettrace")
            answer = self.collect(leak.pid, "--exact", name="exact.gcdump")
            self.collect(leak.pid, name="plain.gcdump")
        self.assertEqual(answer.status, 0, answer.err)
        kept = run(
            str(self.folder / "kept.nettrace"),
            "export",
            "--exact",
            str(self.folder / "kept.gcdump"),
        )
        self.assertEqual(kept.status, 0, kept.err)
        names: dict[str, Counter[str]] = {}
        for name in ("exact", "kept", "plain"):
            dump = gcdump_file.read((self.folder / f"{name}.gcdump").read_bytes())
            self.assertEqual(dump.name(dump.root), "[.NET Roots]")
            names[name] = collections.Counter(str(dump.types[node.type][0]) for node in dump.nodes)
        self.assertLess(apart(names["exact"], names["kept"]), self.FLEETING)
        # Nested classes have their simple names there.
        self.assertIn("UTF8EncodingSealed", names["exact"])
        self.assertIn("System.Text.UTF8Encoding+UTF8EncodingSealed", names["plain"])

    def test_cgroup(self) -> None:
        """A limit of its cgroup bounds the buffer, and is named."""
        limit = 80 << 20
        with self.program("leak") as leak, memory_limit(leak.pid, limit):
            answer = self.collect(leak.pid, "--json")
        self.assertEqual(answer.status, 0, answer.err)
        self.assertLessEqual(answer.json["buffer"], limit // 4 * 3)
        self.assertGreater(answer.json["buffer"], limit // 4)
        self.assertIn("(what its cgroup leaves it)", answer.err)
        self.assertTrue(answer.json["complete"])

    def test_default_name(self) -> None:
        """Without -o the file is named by process and time."""
        with self.program("leak") as leak:
            answer = run("collect", str(leak.pid), "-format", "nettrace", cwd=self.folder)
            self.assertEqual(answer.status, 0, answer.err)
        names = self.files()
        self.assertEqual(len(names), 1)
        self.assertRegex(names[0], rf"^{leak.pid}-\d{{8}}-\d{{6}}\.nettrace$")

    def test_under_load(self) -> None:
        """Twenty times in a row, of server GC under load: each complete."""
        with self.program("churn", server=True) as churn:
            for i in range(20):
                answer = self.collect(churn.pid, "--json")
                self.assertEqual(answer.status, 0, f"{i}: {answer.err} {answer.out}")
                self.assertEqual(answer.json["findings"], [])
                self.assertGreater(answer.json["objects"], 10000)
            self.ended(churn.pid)

    def test_small_buffer(self) -> None:
        """Events are lost, and it is done again with a larger one."""
        with self.program("leak") as leak:
            answer = self.collect(leak.pid, "--json", "-buffer", "1M")
            self.assertEqual(answer.status, 0, answer.err + answer.out)
            self.assertEqual(answer.json["tries"], 2)
            self.assertTrue(answer.json["complete"])

    def test_generations(self) -> None:
        """The ranges of the generations come along."""
        options: list[tuple[str, list[str]]] = [("with", ["-generations"]), ("without", [])]
        with self.program("leak") as leak:
            for name, words in options:
                answer = self.collect(leak.pid, *words, name=f"{name}.gcdump")
                self.assertEqual(answer.status, 0, answer.err)
        dump = gcdump_file.read((self.folder / "without.gcdump").read_bytes())
        self.assertFalse(dump.segments)
        dump = gcdump_file.read((self.folder / "with.gcdump").read_bytes())
        assert dump.segments
        # The end of the generation that each is of; the large and the pinned objects are 3 and 4.
        kinds = {key for row in dump.segments for key in row if "gen" in key and row[key]}
        self.assertLessEqual({"gen2", "gen3", "gen4"}, kinds)
        outside = collections.Counter(
            str(dump.types[node.type][0])
            for node in dump.nodes
            if node.address
            and not any(row["start"] <= node.address < row["end"] for row in dump.segments)
        )
        # Only the frozen heap is none of a generation.
        self.assertLess(outside.total(), 400)
        self.assertFalse(outside["WebShop.Session"] + outside["WebShop.Product"])
        path = str(self.folder / "with.gcdump")
        query = ("dumpheap", "-stat", "-type", "WebShop", "--json", "-gen")
        counts = [
            run(path, *query, generation).json["total"]["count"]
            for generation in ("0", "1", "2", "loh", "poh", "foh")
        ]
        # Collected by a GC of all generations: what the program holds has become old.
        self.assertGreater(counts[2], 10000)
        self.assertEqual(sum(counts), run(path, *query[:-1]).json["total"]["count"])

    def test_interrupt(self) -> None:
        """Ctrl-C at any moment: no file, no session, and the process goes on."""
        with self.program("heapgen", "1") as heapgen:
            for wait in (0.02, 0.05, 0.1, 0.15, 0.2, 0.3):
                out = str(self.folder / "x.nettrace")
                command = [*PROGRAM, "collect", str(heapgen.pid), "-o", out]
                with subprocess.Popen(command, stderr=subprocess.PIPE) as program:
                    time.sleep(wait)
                    program.send_signal(signal.SIGINT)
                    status = program.wait(TIMEOUT)
                self.assertIn(status, (0, 130, -signal.SIGINT))
                self.assertEqual(self.files(), [] if status else ["x.nettrace"])
                (self.folder / "x.nettrace").unlink(missing_ok=True)
                self.ended(heapgen.pid)
            answer = self.collect(heapgen.pid, "--json")
            self.assertEqual(answer.status, 0, answer.err)
            self.assertGreater(answer.json["objects"], 1000000)

    def unnamed(self, name: str) -> int:
        """How many types of a file have no name."""
        rows = run(str(self.folder / name), "dumpheap", "-stat", "--json").json["types"]
        self.assertGreater(len(rows), 50)
        return sum(row["name"].startswith("UNKNOWN") for row in rows)

    def test_loss_that_shows_late(self) -> None:
        """Behind the events that were dropped small ones still had room."""
        with self.program("heapgen", "2") as heapgen:
            answer = self.collect(heapgen.pid, "--json", "-buffer", "8M")
        self.assertEqual(answer.status, 0, answer.err)
        self.assertGreater(answer.json["objects"], 2000000)
        self.assertTrue(answer.json["complete"])
        self.assertEqual(answer.json["tries"], 2)

    def test_names_after_another(self) -> None:
        """A session that still ends, or begins at the same time, takes no names away."""
        with self.program("heapgen", "1") as heapgen:
            for number in (signal.SIGINT, signal.SIGKILL):
                command = [*PROGRAM, "collect", str(heapgen.pid), "-o"]
                command += [str(self.folder / "x.gcdump")]
                with subprocess.Popen(command, stderr=subprocess.DEVNULL) as program:
                    time.sleep(0.2)
                    program.send_signal(number)
                    program.wait(TIMEOUT)
                answer = self.collect(heapgen.pid, name="y.gcdump")
                self.assertEqual(answer.status, 0, answer.err)
                self.assertEqual(self.unnamed("y.gcdump"), 0)
            with subprocess.Popen(command, stdout=subprocess.DEVNULL) as program:
                answer = self.collect(heapgen.pid, name="y.nettrace")
                self.assertEqual(program.wait(TIMEOUT), 0)
            self.assertEqual(answer.status, 0, answer.err)
            self.assertEqual(self.unnamed("x.gcdump") + self.unnamed("y.nettrace"), 0)

    def test_dies(self) -> None:
        """A target that is killed in the middle."""
        with self.program("heapgen", "1", survives=False) as heapgen:
            command = [*PROGRAM, "collect", str(heapgen.pid)]
            command += ["-o", str(self.folder / "x.nettrace")]
            with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as program:
                time.sleep(0.15)
                heapgen.kill()
                status = program.wait(TIMEOUT)
                assert program.stderr
                text = program.stderr.read()
            self.assertIn(status, (0, 1, 3), text)
            self.assertEqual(self.files(), [] if status == 3 else ["x.nettrace"])
            if status == 3:
                self.assertRegex(text, "has ended|hung up")

    def test_ports(self) -> None:
        """The runtime connects to us; one that waits with its start is let go."""
        for suffix in (",nosuspend", ""):
            with self.subTest(suffix):
                port = str(self.sockets / "port")
                name = self.folder / "x.nettrace"
                command = [*PROGRAM, "collect", "-port", port, "-o", str(name), "--json"]
                with subprocess.Popen(
                    command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
                ) as program:
                    time.sleep(0.5)
                    with self.program("leak", port=port + suffix) as leak:
                        out, err = program.communicate(timeout=TIMEOUT)
                        self.assertEqual(program.returncode, 0, err + out)
                        self.assertEqual(json.loads(out)["pid"], leak.pid)
                        self.assertTrue(name.exists())
                self.assertFalse(os.path.exists(port))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fake"]:
        serve(sys.argv[2])
    else:
        unittest.main(verbosity=2)
