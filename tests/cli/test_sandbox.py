#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The sandbox of the shell program: what the process that reads a target cannot do."""
from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import functools
import os
import pty
import re
import signal
import subprocess
import unittest
from pathlib import Path

from shell_program import (
    BUBBLECS,
    BUILD,
    PROGRAM,
    SOURCE,
    TIMEOUT,
    environment,
    folder,
    large_dump,
    waiting,
)
from terminal import Terminal

FAILING = BUILD / "tests" / "libfailing_calls.so"
MISBEHAVING = str(BUILD / "tests" / "heapdump_misbehaving")
CORE = str(SOURCE / "corefiles" / "leak.core.zst")
# A session of the leaking shop and its handler; an array; a MethodTable; a List.
OBJECT, ARRAY, TABLE = "7f039fe5a158", "7f039d0bc268", "7f0f79550c38"
COLLECTION = "7f039d0000d0"
# The words that a command needs besides its name to do its work on that core.
WORDS = {
    "gcroot": [OBJECT],
    "pathto": [ARRAY, OBJECT],
    "objsize": [OBJECT],
    "referrers": [OBJECT],
    "retained": [OBJECT],
    "dumpheap": ["-stat"],
    "dumpobj": [OBJECT],
    "dumparray": [ARRAY],
    "dumpcollection": [COLLECTION],
    "dumpconcurrentdictionary": [COLLECTION],
    "dumpconcurrentqueue": [COLLECTION],
    "dumpvc": [TABLE, OBJECT],
    "dumpmt": [TABLE],
    "dumpclass": [TABLE],
    "dumpdelegate": ["7f039fe5a248"],
    "verifyobj": [OBJECT],
    "gcwhere": [OBJECT],
    **{name: [OBJECT] for name in ("db", "dw", "dd", "dc", "dq", "dp", "du")},
    "symbolize": [str(SOURCE / "tests" / "data" / "perf_script.txt")],
    "listnearobj": [OBJECT],
    "notreachableinrange": ["7f039fe50000", "7f039fe60000"],
    "dumpgen": ["0"],
    "roots": ["-limit", "10"],
    "strings": ["-limit", "10"],
    "diff": [BUBBLECS],
    "export": [os.path.join(folder.name, "traced.gcdump")],
    "set": ["width", "100"],
    "open": [BUBBLECS],
    "collect": ["999999999"],
}
# Calls by which a process gets at what it has not: none of them after the door is closed.
DOORS = re.compile(
    r"\b(open|openat|openat2|creat|execve|execveat|connect|socket|bind|ptrace|process_vm_readv"
    r"|process_vm_writev|kill|fork|vfork|unlink|unlinkat|rename|renameat|renameat2|link|linkat"
    r"|symlink|symlinkat|mkdir|mkdirat|chmod|fchmod|fchmodat|mount|setrlimit|io_uring_setup)\("
)
CLOSED = re.compile(r"seccomp\(SECCOMP_SET_MODE_FILTER, .*\{len=\d+, .*\) = 0")


def run(program: str, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *words],
        cwd=folder.name,
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def state() -> str:
    """The line of info about the sandbox."""
    found = re.search(r"^Sandbox: +(.*)$", run(PROGRAM, BUBBLECS, "info").stdout, re.M)
    return found[1] if found else ""


def without_system_calls(*names: str) -> None:
    """In a child process: as on a kernel without these calls, or in a container that forbids them."""
    seccomp = ctypes.CDLL("libseccomp.so.2")
    seccomp.seccomp_init.restype = ctypes.c_void_p
    filter_ = ctypes.c_void_p(seccomp.seccomp_init(0x7FFF0000))
    error = 0x00050000 | 38  # ENOSYS
    for name in names:
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        seccomp.seccomp_rule_add_array(filter_, error, number, 0, None)
    if "seccomp" in names:

        class Compare(ctypes.Structure):
            """struct scmp_arg_cmp"""

            _fields_ = [
                ("arg", ctypes.c_uint),
                ("op", ctypes.c_int),
                ("a", ctypes.c_uint64),
                ("b", ctypes.c_uint64),
            ]

        number = seccomp.seccomp_syscall_resolve_name(b"prctl")
        is_filter = Compare(0, 4, 22, 0)  # PR_SET_SECCOMP
        seccomp.seccomp_rule_add_array(filter_, 0x00050000 | 22, number, 1, ctypes.byref(is_filter))
    seccomp.seccomp_load(filter_)


def children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(word) for word in text.split()]


def wait_for_child(pid: int) -> int:
    return waiting.wait_until(lambda: children(pid), f"process {pid} has a worker")[0]


def wait_for_end(pid: int) -> None:
    waiting.wait_until(lambda: not Path(f"/proc/{pid}").exists(), f"process {pid} ends")


SANITIZED = "built with sanitizers" in state()


@unittest.skipIf(SANITIZED, "a program with sanitizers has no sandbox: its leaks are looked for")
class Closed(unittest.TestCase):
    """Each thing that a worker tries ends it, or is refused."""

    def test_every_attack_ends_the_worker(self) -> None:
        attacks = run(MISBEHAVING, BUBBLECS, "misbehave", "list").stdout.split()
        self.assertGreater(len(attacks), 30)
        for attack in [*attacks, "thread-of-32-bits"]:
            with self.subTest(attack):
                if attack == "thread-of-32-bits":
                    free = run(MISBEHAVING, "--no-sandbox", BUBBLECS, "misbehave", attack)
                    if free.returncode == -signal.SIGSEGV:
                        print("skipped: this kernel has no calls of 32-bit programs")
                        continue
                done = run(MISBEHAVING, BUBBLECS, "misbehave", attack)
                self.assertNotIn("survived", done.stdout)
                self.assertIn("the sandbox has ended the process", done.stderr)
                self.assertEqual(done.returncode, 3)
        self.assertFalse((Path(folder.name) / "misbehaved").exists())

    def test_without_a_sandbox_they_succeed(self) -> None:
        """The attacks are real ones."""
        done = run(MISBEHAVING, "--no-sandbox", BUBBLECS, "misbehave", "open")
        self.assertRegex(done.stdout, r"survived: \d+")

    def test_the_broker_refuses_what_the_user_has_not_named(self) -> None:
        secret = Path(folder.name) / "secret"
        secret.write_text("secret", encoding="ascii")
        for question in ("ask-read", "ask-below", "ask-write", "ask-commit", "ask-attach"):
            with self.subTest(question):
                # One letter more, so that it is not a word of the command.
                done = run(MISBEHAVING, BUBBLECS, "misbehave", question, f"x{secret}")
                self.assertEqual(done.stdout, "refused\n", done.stderr)
        self.assertEqual(secret.read_text(encoding="ascii"), "secret")

    def test_a_number_among_the_words_is_no_process(self) -> None:
        """Only what a command opens is stopped and read: not whatever number its words hold."""
        with subprocess.Popen(
            [MISBEHAVING, BUBBLECS],
            cwd=folder.name,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as program:
            # It asks for its parent.
            out, _ = program.communicate(f"misbehave ask-attach x {program.pid}\n", TIMEOUT)
        self.assertEqual(out, "refused\n")

    def test_the_helpers_for_a_process_are_counted(self) -> None:
        """Each is a process: a worker that was taken over could make as many as it likes."""
        with subprocess.Popen(["sleep", "100"]) as target:
            words = (str(target.pid), "misbehave", "attach", str(target.pid))
            done = run(MISBEHAVING, *words)
            target.kill()
        self.assertIn(int(done.stdout), range(1, 20), done.stderr)

    @unittest.skipIf(SANITIZED, "the sanitizer has its own malloc()")
    @unittest.skipIf(not FAILING.exists(), "a static program loads no other malloc()")
    def test_a_start_that_fails_has_one_line(self) -> None:
        """Nothing is read without the filter, only because there was no memory to make it."""
        failing = str(FAILING)
        for call, most in (("memory", 60), ("dup2", 6)):
            statuses = []
            for at in range(1, most):
                faulty = {"LD_PRELOAD": failing, "FAIL_CALL": call, "FAIL_AT": str(at)}
                done = subprocess.run(
                    [PROGRAM, BUBBLECS, "info"],
                    env={**environment(), **faulty},
                    capture_output=True,
                    text=True,
                    timeout=TIMEOUT,
                    check=False,
                )
                with self.subTest(call=call, at=at):
                    statuses.append(done.returncode)
                    if done.returncode == 0:
                        self.assertRegex(done.stdout, r"(?m)^Sandbox: +on \(seccomp")
                        self.assertEqual(done.stderr, "")
                    else:
                        self.assertEqual(done.returncode, 3)
                        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertEqual(set(statuses), {0, 3}, call)

    def on_terminal(self, *words: str, user: int = 0) -> str:
        """The output of MISBEHAVING on a terminal where something is typed."""
        pid, terminal = pty.fork()
        if pid == 0:
            try:
                if user:
                    os.setuid(user)
                os.execve(MISBEHAVING, [MISBEHAVING, *words], environment())
            finally:
                os._exit(127)
        os.write(terminal, b"password\n")
        text = b""
        with contextlib.suppress(OSError):  # the other side is closed
            while piece := os.read(terminal, 4096):
                text += piece
        os.close(terminal)
        os.waitpid(pid, 0)
        return text.decode()

    def test_what_is_typed_is_not_read(self) -> None:
        """A terminal is open for both, by all three streams: the worker gets it to write alone."""
        self.assertIn("refused", self.on_terminal(BUBBLECS, "misbehave", "read-terminal"))
        # The attack is a real one.
        words = ("--no-sandbox", BUBBLECS, "misbehave", "read-terminal")
        self.assertIn("granted", self.on_terminal(*words))

    @unittest.skipIf(os.getuid() != 0, "only root can be two users")
    def test_a_terminal_of_another_user_is_told(self) -> None:
        """As after su: it cannot be opened once more."""
        answer = self.on_terminal(BUBBLECS, "types", user=65534)
        if "BubbleCS" not in answer:
            self.skipTest("another user cannot run the program")
        self.assertEqual(answer.count("could read what you type"), 1, answer)

    def test_what_the_c_library_opens_is_refused(self) -> None:
        """malloc() reads a setting of the kernel's when the memory of a thread shrinks."""
        done = run(PROGRAM, "--workers", "4", large_dump(), "export", "many.heap")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(run(MISBEHAVING, BUBBLECS, "misbehave", "quiet-open").stdout, "refused\n")

    def test_address_space_follows_max_mem(self) -> None:
        sizes = []
        for limit in ("64M", "2G"):
            done = run(MISBEHAVING, "--max-mem", limit, BUBBLECS, "misbehave", "memory")
            sizes.append(int(done.stdout))
        self.assertLess(sizes[0], 4 << 30)
        self.assertGreater(sizes[1], sizes[0] + (4 << 30))

    def test_a_file_counts_once_and_without_its_holes(self) -> None:
        """Or a worker could raise its own limit by opening."""
        size = os.stat(MISBEHAVING).st_size
        grown = int(run(MISBEHAVING, BUBBLECS, "misbehave", "grow", MISBEHAVING).stdout)
        self.assertGreater(grown, 0)
        self.assertLessEqual(grown, size)
        sparse = Path(folder.name) / "sparse.so"
        sparse.write_bytes(Path(MISBEHAVING).read_bytes()[:4096])
        os.truncate(sparse, 1 << 40)
        grown = int(run(MISBEHAVING, BUBBLECS, "misbehave", "grow", str(sparse)).stdout)
        self.assertLess(grown, 1 << 20)

    def test_descriptors_are_few(self) -> None:
        done = run(MISBEHAVING, BUBBLECS, "misbehave", "descriptors")
        self.assertLess(int(done.stdout), 256)

    def test_info_says_that_it_is_on(self) -> None:
        self.assertRegex(state(), r"^on \(seccomp")
        answer = run(PROGRAM, CORE, "info", "--json", "--no-files").stdout
        self.assertRegex(answer, r'"sandbox": "on \(seccomp')

    def test_no_sandbox_says_so(self) -> None:
        done = run(PROGRAM, "--no-sandbox", BUBBLECS, "info")
        self.assertIn("Sandbox:     off (--no-sandbox)\n", done.stdout)

    def test_kernels_without_it_say_so(self) -> None:
        cases = [
            (("landlock_create_ruleset",), r"^Sandbox: +on \(seccomp; .* no Landlock\)", ""),
            (
                ("seccomp",),
                r"^Sandbox: +partly on \(Landlock; ",
                "warning: the sandbox is partly on",
            ),
            (
                ("seccomp", "landlock_create_ruleset"),
                r"^Sandbox: +off \(",
                "warning: the sandbox is off",
            ),
        ]
        for calls, says, warns in cases:
            with self.subTest(calls):
                done = subprocess.run(
                    [PROGRAM, BUBBLECS, "info"],
                    env=environment(),
                    capture_output=True,
                    text=True,
                    timeout=TIMEOUT,
                    check=False,
                    preexec_fn=functools.partial(without_system_calls, *calls),
                )
                self.assertRegex(done.stdout, re.compile(says, re.M))
                self.assertIn(warns, done.stderr)

    def test_no_command_opens_anything_itself(self) -> None:
        listed = run(PROGRAM, "help").stdout
        names = [name for name in re.findall(r"^  (\w+)", listed, re.M) if name != "help"]
        self.assertGreater(len(names), 30)
        for name in names:
            with self.subTest(name):
                self.check_calls([CORE, name, *WORDS.get(name, [])])

    def check_calls(self, words: list[str]) -> None:
        trace = Path(folder.name) / "trace"
        # Each process in a file of its own.
        for old in trace.parent.glob("trace.*"):
            old.unlink()
        done = subprocess.run(
            ["strace", "-ff", "-o", str(trace), PROGRAM, *words],
            cwd=folder.name,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        self.assertNotIn("the sandbox has ended", done.stderr)
        closed = 0
        for path in trace.parent.glob("trace.*"):
            text = path.read_text(encoding="utf-8", errors="replace")
            door = CLOSED.search(text)
            if not door:
                continue
            closed += 1
            after = [line for line in text[door.end() :].splitlines() if DOORS.search(line)]
            # The C library asks for files by itself, and gets none.
            self.assertEqual([line for line in after if "= -1 EACCES" not in line], [])
        self.assertGreater(closed, 0)


@unittest.skipIf(SANITIZED, "a program with sanitizers has no sandbox")
class Silent(unittest.TestCase):
    """A worker that says nothing is ended by the user's signals."""

    def silent(self) -> subprocess.Popen[str]:
        program = subprocess.Popen(
            [MISBEHAVING, BUBBLECS, "misbehave", "silence"],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(program.kill)
        worker = wait_for_child(program.pid)
        # It reads its command in recvmsg, and then it waits in poll.
        waiting.wait_until(lambda: waiting.is_in(worker, "poll"), "the worker becomes silent")
        return program

    def test_the_third_ctrl_c_ends_it(self) -> None:
        with self.silent() as program:
            for _ in range(2):
                program.send_signal(signal.SIGINT)
                waiting.wait_until_rest(program.pid)
                self.assertIsNone(program.poll())
            program.send_signal(signal.SIGINT)
            _, err = program.communicate(timeout=TIMEOUT)
        self.assertEqual(err, "heapdump: interrupted; what was open is closed\n")
        self.assertEqual(program.returncode, 130)

    def test_other_signals_end_it_within_seconds(self) -> None:
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.silent() as program:
                worker = wait_for_child(program.pid)
                program.send_signal(number)
                self.assertEqual(program.communicate(timeout=TIMEOUT), ("", ""))
            self.assertEqual(program.returncode, -number)
            wait_for_end(worker)


@unittest.skipIf(SANITIZED, "a program with sanitizers has no sandbox")
class Completing(unittest.TestCase):
    """The words that a worker offers at the prompt."""

    def setUp(self) -> None:
        self.terminal = Terminal(BUBBLECS, program=MISBEHAVING)
        self.addCleanup(self.terminal.close)
        self.terminal.prompt()

    def check_lives(self) -> None:
        """The prompt does."""
        self.terminal.send(f"\x15open {BUBBLECS}\n")
        self.terminal.expect("273 objects")
        self.terminal.prompt()

    def test_what_does_not_begin_with_the_word_is_dropped(self) -> None:
        self.terminal.send("dumpheap -type attack-other\t")
        self.terminal.expect("-and-more ")

    def test_too_many_or_too_large_ones_end_it(self) -> None:
        for attack in ("count", "size"):
            self.terminal.send(f"dumpheap -type attack-{attack}\t")
            self.terminal.expect("the process that reads the target")
            self.check_lives()

    def test_the_third_ctrl_c_ends_it(self) -> None:
        self.terminal.send("dumpheap -type attack-silence\t")
        for _ in range(3):
            waiting.wait_until_rest(self.terminal.pid)
            self.terminal.send("\x03")
        self.terminal.expect("interrupted; what was open is closed")
        self.check_lives()


class Ends(unittest.TestCase):
    """The end of two processes when one of them goes."""

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [PROGRAM, *words],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def test_a_worker_that_dies_is_told_and_the_next_target_opens(self) -> None:
        with self.start(BUBBLECS) as program:
            assert program.stdin and program.stdout
            program.stdin.write("objsize 1ce056\n")
            program.stdin.flush()
            self.assertTrue(program.stdout.readline())
            os.kill(wait_for_child(program.pid), signal.SIGKILL)
            out, err = program.communicate(
                f"types\ntypes\nopen {BUBBLECS}\ndumpheap -stat\n", TIMEOUT
            )
        self.assertIn("was ended by signal 9", err)
        self.assertIn("nothing is open", err)
        self.assertIn("Total 273 objects", out)
        self.assertEqual(program.returncode, 3)

    @unittest.skipIf(SANITIZED, "it has no worker that misbehaves")
    def test_only_a_broken_pipe_ends_in_silence(self) -> None:
        done = run(MISBEHAVING, BUBBLECS, "misbehave", "broken-pipe")
        self.assertIn("was ended by signal 13", done.stderr)
        self.assertEqual(done.returncode, 3)
        read, write = os.pipe()
        os.close(read)
        ended = subprocess.run(
            [MISBEHAVING, BUBBLECS, "misbehave", "broken-pipe"],
            env=environment(),
            stdout=write,
            stderr=subprocess.PIPE,
            timeout=TIMEOUT,
            check=False,
        )
        os.close(write)
        self.assertEqual((ended.returncode, ended.stderr), (-signal.SIGPIPE, b""))

    def test_a_worker_ends_with_its_program(self) -> None:
        with self.start(BUBBLECS) as program:
            worker = wait_for_child(program.pid)
            program.kill()
            program.wait(TIMEOUT)
        wait_for_end(worker)

    def test_a_worker_has_nothing_of_the_rest(self) -> None:
        """Neither descriptors of its parent nor the environment, also where there is no close_range()."""
        for without in ((), ("close_range",)):
            with open(BUBBLECS, "rb") as other, subprocess.Popen(
                [PROGRAM, BUBBLECS],
                env=environment(PASSWORD="swordfish", TMPDIR="/var/tmp"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=[other.fileno()],
                preexec_fn=functools.partial(without_system_calls, *without),
            ) as program:
                assert program.stdin and program.stdout
                program.stdin.write(b"objsize 1ce056\n")
                program.stdin.flush()
                self.assertTrue(program.stdout.readline())
                worker = wait_for_child(program.pid)
                self.assertLessEqual(
                    {int(name) for name in os.listdir(f"/proc/{worker}/fd")}, {0, 1, 2, 3, 4}
                )
                variables = Path(f"/proc/{worker}/environ").read_bytes()
                self.assertEqual(variables.strip(b"\0"), b"")
                program.communicate(b"quit\n", TIMEOUT)

    def test_a_worker_does_not_read_the_users_input(self) -> None:
        with self.start(BUBBLECS) as program:
            worker = wait_for_child(program.pid)
            waiting.wait_until(
                lambda: os.readlink(f"/proc/{worker}/fd/0") == "/dev/null",
                "the worker's input is not the user's",
            )
            program.communicate("quit\n", TIMEOUT)


if __name__ == "__main__":
    unittest.main()
