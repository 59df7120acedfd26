#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The shell program as its users meet it: statuses, streams, options, files, pipes and the prompt."""
from __future__ import annotations

import errno
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path
from typing import Any

SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
PROGRAM = str(BUILD / "heapdump")
BUBBLECS = str(SOURCE / "corefiles" / "bubblecs.heap")
DATA = SOURCE / "tests" / "data"
BAD = str(DATA / "bad.heap")
PROMPT = "heapdump> "
TIMEOUT = 120
LARGE_OBJECTS = 1_500_000
# The members that every answer of a command has, beside schema, command and target.
MEMBERS: dict[str, set[str]] = {
    "info": {
        "kind",
        "runtime",
        "walkable",
        "objects",
        "bytes",
        "types",
        "roots",
        "missing",
    }
    | {"findings", "free", "domains"},
    "gcroot 1ce056": {"object", "reachable", "roots"},
    "gcroot 1ce056 -weak -full": {"object", "reachable", "roots"},
    "gcroot -type Particle": {"count", "size", "found", "truncated", "branches"},
    "pathto 1ce03a 1ce056": {"path"},
    "objsize 1ce056": {"object", "count", "size"},
    "objsize 1ce056 -stat": {"object", "count", "size"},
    "objsize -mt 32": {"mt", "of", "count", "size"},
    "notreachableinrange 0 ffffffff": {"objects"},
    "retained 1ce056": {"object", "count", "size"},
    "dominators": {"nodes"},
    "dumpheap": {"objects"},
    "dumpheap -stat": {"types", "total"},
    "dumpobj 1ce056": {"address", "mt", "type", "size", "fields", "references"},
    "roots": {"roots"},
    "roots -stat": {"kinds", "found"},
    "types": {"types"},
    "diff tests/data/seed001.heap": {"types"},
    "open tests/data/seed001.heap": {"opened"},
    "set": {"settings"},
    "help": {"commands"},
}
ELEMENTS: dict[str, tuple[str, set[str]]] = {
    "gcroot 1ce056": (
        "roots",
        {
            "kind",
            "handle",
            "flags",
            "name",
            "address",
            "object",
            "thread",
            "frame",
            "slot",
        }
        | {"weak", "path"},
    ),
    "gcroot -type Particle": ("branches", {"depth", "count", "size", "own", "repeats"}),
    "roots -stat": ("kinds", {"kind", "handle", "weak", "container", "count"}),
    "pathto 1ce03a 1ce056": ("path", {"address", "type", "size", "via"}),
    "dominators": ("nodes", {"address", "type", "size", "retained", "count", "parent"}),
    "dumpheap": ("objects", {"address", "mt", "type", "size", "free", "generation"}),
    "dumpheap -stat": ("types", {"mt", "name", "count", "size"}),
    "roots": (
        "roots",
        {"kind", "handle", "flags", "name", "address", "object", "weak"},
    ),
    "types": ("types", {"mt", "name", "count", "size"}),
    "diff tests/data/seed001.heap": (
        "types",
        {"name", "count_before", "count_after", "size_before", "size_after"},
    ),
    "info": ("domains", {"name", "version", "start", "end"}),
}

folder: tempfile.TemporaryDirectory[str]
large: str


def setUpModule() -> None:
    global folder, large
    folder = tempfile.TemporaryDirectory(prefix="heapdump-cli-")
    large = str(Path(folder.name) / "large.heap")
    write_large(large)


def tearDownModule() -> None:
    folder.cleanup()


def write_large(path: str) -> None:
    """Many objects in one long list, each with a second reference: long work for every command."""
    with open(path, "w", encoding="ascii", newline="\n") as file:
        file.write("a 2 large.exe\nt 1 Node\nt 2 Other\n")
        for start in range(0, LARGE_OBJECTS, 10000):
            file.write(
                "".join(
                    f"o {i * 16 + 16:x} {i % 2 + 1} 18 {i * 16 + 32:x} {i * 7919 % LARGE_OBJECTS * 16 + 16:x}\n"
                    for i in range(start, start + 10000)
                )
            )
        file.write(f"o {LARGE_OBJECTS * 16 + 16:x} 1 18\nr 10 1 0\nc large.exe\n")


def environment(**more: str) -> dict[str, str]:
    keep = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
    base = {
        "PATH": os.environ["PATH"],
        "LC_ALL": "C.UTF-8",
        "HOME": folder.name,
        "TERM": "xterm",
    }
    return base | keep | more


class Result:
    """What came out of one run."""

    def __init__(self, done: subprocess.CompletedProcess[bytes]) -> None:
        self.status = done.returncode
        self.out = (done.stdout or b"").decode("utf-8", "surrogateescape")
        self.err = (done.stderr or b"").decode("utf-8", "surrogateescape")

    def json(self) -> Any:
        return json.loads(self.out)


def run(*argv: str, text: str | bytes = "", **options: Any) -> Result:
    data = text.encode() if isinstance(text, str) else text
    return Result(
        subprocess.run(
            [PROGRAM, *argv],
            input=data,
            capture_output=True,
            cwd=SOURCE,
            env=options.pop("env", environment()),
            timeout=TIMEOUT,
            check=False,
            **options,
        )
    )


def temporary(name: str, data: bytes = b"") -> str:
    path = Path(folder.name) / name
    path.write_bytes(data)
    return str(path)


class Base(unittest.TestCase):
    """Checks that many tests share."""

    def check_error(self, result: Result, status: int, pattern: str) -> None:
        """One line on standard error, nothing on standard output."""
        self.assertEqual(result.status, status, result.err)
        self.assertEqual(result.out, "")
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertTrue(result.err.startswith("heapdump: "), result.err)
        self.assertRegex(result.err, pattern)

    def check_json_error(self, result: Result, status: int, pattern: str) -> None:
        """One document on standard output, nothing on standard error."""
        self.assertEqual(result.status, status, result.err)
        self.assertEqual(result.err, "")
        document = result.json()
        self.assertEqual(document["schema"], 1)
        self.assertIn("command", document)
        self.assertIsInstance(document["error"]["status"], str)
        self.assertRegex(document["error"]["message"], pattern)


class Statuses(Base):
    """0 done, 1 findings, 2 usage, 3 input, 130 interrupted."""

    def test_0_done(self) -> None:
        for words in (["info"], ["gcroot", "1ce056"], ["dumpheap", "-stat"], ["help"]):
            result = run(BUBBLECS, *words)
            self.assertEqual((result.status, result.err), (0, ""), words)
            self.assertTrue(result.out.endswith("\n"))

    def test_1_findings(self) -> None:
        seed = str(DATA / "seed001.heap")
        for words in (
            [BUBBLECS, "gcroot", "1ce4bf"],
            [BUBBLECS, "pathto", "1ce056", "1ce4bf"],
            [BUBBLECS, "retained", "1ce4bf"],
            [BUBBLECS, "diff", seed],
            [seed, "info"],
        ):
            result = run(*words)
            self.assertEqual((result.status, result.err), (1, ""), words)
            self.assertNotEqual(result.out, "")

    def test_2_usage(self) -> None:
        for pattern, *words in (
            ("no object deadbeef in this dump .nearest: ", "gcroot", "deadbeef"),
            ("no option", "gcroot", "1ce056", "-nosuch"),
            ("is missing", "gcroot"),
            ("is missing", "diff"),
            ("too many", "info", "more"),
            ("is a number", "dumpheap", "-min", "x"),
            ("hexadecimal", "gcroot", "xyz"),
            ("no command", "dumpdomain"),
            ("workers", "info", "--workers", "1000"),
            ("width", "info", "--width", "3"),
            ("color", "info", "--color", "pink"),
            ("max-mem", "info", "--max-mem", "lots"),
        ):
            self.check_error(run(BUBBLECS, *words), 2, pattern)
            self.check_json_error(run(BUBBLECS, *words, "--json"), 2, pattern)
            self.check_json_error(run("--json", BUBBLECS, *words), 2, pattern)

    def test_2_usage_before_the_target(self) -> None:
        self.check_error(run("--nosuch", BUBBLECS, "info"), 2, "unknown option --nosuch")
        self.check_error(run("--workers", "many", BUBBLECS, "info"), 2, "workers")
        self.check_error(run("--width"), 2, "missing")
        self.check_error(run("-x", BUBBLECS), 2, "unknown option -x")
        result = run()
        self.assertEqual((result.status, result.out), (2, ""))
        self.assertIn("usage:", result.err)

    def test_3_input(self) -> None:
        garbage = temporary("garbage", bytes(range(256)) * 64)
        elf = temporary("elf", b"\x7fELF" + bytes(100))
        for pattern, path in (
            ("No such file", "no-such.heap"),
            ("is a directory", str(SOURCE)),
            ("is empty", temporary("empty")),
            ("not a heap dump", garbage),
            ("not a regular file", "/dev/null"),
            ("ELF", elf),
            ("line 4, column 8: expected", BAD),
        ):
            self.check_error(run(path, "info"), 3, pattern)
            self.check_json_error(run(path, "info", "--json"), 3, pattern)
            self.check_error(run(BUBBLECS, "diff", path), 3, pattern)
            self.check_json_error(run(BUBBLECS, "diff", path, "--json"), 3, pattern)

    def test_3_no_permission(self) -> None:
        if os.geteuid() == 0:
            print(
                "test_3_no_permission: skipped, root may read every file",
                file=sys.stderr,
            )
            self.skipTest("root may read every file")
        path = temporary("secret.heap", Path(BUBBLECS).read_bytes())
        os.chmod(path, 0)
        self.check_error(run(path, "info"), 3, "Permission denied")

    def test_3_wins_over_usage_of_the_id(self) -> None:
        self.check_error(run("no-such.heap", "gcroot", "1ce056"), 3, "No such file")

    def test_2_is_told_before_the_file_is_read(self) -> None:
        self.check_error(run("no-such.heap", "gcroot", "1ce056", "-x"), 2, "no option")

    def test_control_characters_never_reach_the_terminal(self) -> None:
        dump = str(DATA / "names.heap")
        for words in (
            ["dumpheap"],
            ["types"],
            ["gcroot", "9"],
            ["info"],
            ["dumpobj", "1"],
        ):
            out = run(dump, *words).out
            self.assertIsNone(re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", out), words)

    def test_control_characters_in_errors(self) -> None:
        err = run("no\x1b[31msuch\x07file.heap", "info").err
        self.assertIsNone(re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", err), repr(err))
        err = run(BUBBLECS, "no\x1b[31msuch").err
        self.assertIsNone(re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", err), repr(err))

    def interrupt(self, delay: float, *words: str) -> tuple[int, bytes, bytes]:
        """Send SIGINT after DELAY; the status, standard output and standard error."""
        process = subprocess.Popen(
            [PROGRAM, "--workers", "1", large, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT)
        return process.returncode, out, err

    def test_130_interrupted(self) -> None:
        last = f"{LARGE_OBJECTS * 16:x}"
        for words in (["info"], ["gcroot", last], ["info", "--json"]):
            for delay in (0.02, 0.04, 0.08, 0.01, 0.16, 0.32):
                status, out, err = self.interrupt(delay, *words)
                # Too early for our handler, or too late for the command.
                self.assertIn(status, (130, 0, -signal.SIGINT))
                if status == 130:
                    break
            self.assertEqual(status, 130, words)
            if "--json" in words:
                self.assertEqual(json.loads(out)["error"]["status"], "cancelled")
                self.assertEqual(err, b"")
            else:
                self.assertEqual(out, b"")
                self.assertLessEqual(err.count(b"\n"), 1)


def targets() -> set[str]:
    """The commands about cores and processes: test_targets.py has them."""
    from test_targets import MEMBERS as members

    return {line.split()[0] for line in members}


class Json(Base):
    """Every command's document."""

    def test_every_command(self) -> None:
        for line, members in MEMBERS.items():
            result = run(BUBBLECS, *line.split(), "--json")
            self.assertIn(result.status, (0, 1), line)
            self.assertEqual(result.err, "")
            self.assertEqual(result.out.count("\n"), 1, "one document on one line")
            document = result.json()
            self.assertEqual(document["schema"], 1)
            self.assertEqual(document["command"], line.split()[0])
            self.assertEqual(document["target"], BUBBLECS)
            self.assertLessEqual(members, document.keys(), line)
            self.assertNotIn("error", document)
            if line in ELEMENTS:
                name, keys = ELEMENTS[line]
                self.assertTrue(document[name], line)
                for element in document[name]:
                    self.assertLessEqual(keys, element.keys(), line)

    def test_every_command_is_here(self) -> None:
        names = {command["name"] for command in run(BUBBLECS, "help", "--json").json()["commands"]}
        tested = {line.split()[0] for line in MEMBERS} | {"export", "close"} | targets()
        tested |= {"collect", "ps"}  # test_collect.py has them
        self.assertEqual(names, tested)

    def test_export_and_close(self) -> None:
        path = Path(folder.name) / "json.heap"
        document = run(BUBBLECS, "export", str(path), "--json").json()
        self.assertEqual((document["command"], document["file"]), ("export", str(path)))
        result = run("--json", BUBBLECS, text="info\nclose\ninfo\n")
        documents = [json.loads(line) for line in result.out.splitlines()]
        self.assertEqual(documents[1]["closed"], BUBBLECS)
        self.assertIn("error", documents[2])
        self.assertEqual(result.status, 2)

    def test_addresses_are_strings_and_counts_are_numbers(self) -> None:
        document = run(BUBBLECS, "dumpheap", "-limit", "3", "--json").json()
        self.assertIs(document["truncated"], True)
        self.assertEqual(len(document["objects"]), 3)
        for element in document["objects"]:
            self.assertRegex(element["address"], "^0x[0-9a-f]+$")
            self.assertRegex(element["mt"], "^0x[0-9a-f]+$")
            self.assertIs(type(element["size"]), int)
        self.assertEqual(document["total"]["count"], 273)

    def test_names_of_any_bytes(self) -> None:
        for line in (
            "types",
            "dumpheap",
            "gcroot 9 -full",
            "info",
            "dominators",
            "dumpobj 4",
        ):
            document = run(str(DATA / "names.heap"), *line.split(), "--json").json()
            self.assertEqual(document["schema"], 1)

    def test_interrupted_midway(self) -> None:
        """A reader that stops, then SIGINT: what was written is a document with an error in it."""
        process = subprocess.Popen(
            [PROGRAM, large, "dumpheap", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        assert process.stdout
        head = os.read(process.stdout.fileno(), 1000)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, 130)
        document = json.loads(head + out)
        self.assertEqual(document["error"]["status"], "cancelled")
        self.assertLess(len(document["objects"]), LARGE_OBJECTS)
        self.assertEqual(err, b"")


class Options(Base):
    """Where options may stand, and what they do."""

    def test_before_the_target_and_behind_the_command(self) -> None:
        expected = run(BUBBLECS, "info", "--json").out
        for words in (
            ["--json", BUBBLECS, "info"],
            [BUBBLECS, "info", "-json"],
            ["--json", "--", BUBBLECS, "info"],
            ["--workers", "1", BUBBLECS, "info", "--json"],
            ["--workers=2", "--max-mem=1G", "--json", BUBBLECS, "info"],
            [BUBBLECS, "info", "--workers=1", "--json", "--max-mem", "1G"],
        ):
            result = run(*words)
            self.assertEqual((result.status, result.err), (0, ""), words)
            self.assertEqual(result.out, expected, words)

    def test_option_before_and_between_words(self) -> None:
        expected = run(BUBBLECS, "pathto", "1ce03a", "1ce2ce", "-full").out
        self.assertEqual(run(BUBBLECS, "pathto", "-full", "1ce03a", "1ce2ce").out, expected)
        self.assertEqual(run(BUBBLECS, "pathto", "1ce03a", "--full", "1ce2ce").out, expected)

    def test_two_dashes_end_options(self) -> None:
        name = temporary("-dash.heap", Path(BUBBLECS).read_bytes())
        result = run(BUBBLECS, "diff", "--", name)
        self.assertEqual((result.status, result.err), (0, ""))
        done = subprocess.run(
            [PROGRAM, "--", "-dash.heap", "info"],
            cwd=folder.name,
            capture_output=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_lenient(self) -> None:
        self.check_error(run(BAD, "info"), 3, "--lenient")
        for words in (["--lenient", BAD, "info"], [BAD, "info", "--lenient"]):
            result = run(*words)
            self.assertEqual((result.status, result.err), (1, ""))
            self.assertIn("bad-hex", result.out)
        result = run(BUBBLECS, "diff", BAD, "--lenient")
        self.assertEqual(result.status, 1)

    def test_max_mem(self) -> None:
        self.check_error(run(large, "info", "--max-mem", "1M"), 3, "max-mem")
        self.check_error(run("--max-mem", "1M", large, "info"), 3, "max-mem")

    def test_width(self) -> None:
        full = run(BUBBLECS, "dumpheap", "-stat").out.splitlines()
        for width in (20, 40, 80):
            lines = run(BUBBLECS, "dumpheap", "-stat", "--width", str(width)).out.splitlines()
            self.assertEqual(len(lines), len(full))
            for line, whole in zip(lines, full):
                self.assertLessEqual(len(line), width)
                kept = whole if len(whole) <= width else whole[: width - 1] + "\u2026"
                self.assertEqual(line, kept)

    def test_color(self) -> None:
        plain = run(BUBBLECS, "gcroot", "1ce056").out
        self.assertNotIn("\x1b", plain)
        for result in (
            run(BUBBLECS, "gcroot", "1ce056", "--color", "on"),
            run(
                "--color=on",
                BUBBLECS,
                "gcroot",
                "1ce056",
                env=environment(NO_COLOR="1"),
            ),
        ):
            self.assertIn("\x1b[", result.out)
            self.assertEqual(re.sub("\x1b\\[[0-9;]*m", "", result.out), plain)
        cut = run(BUBBLECS, "gcroot", "1ce056", "--color", "on", "--width", "30").out
        uncoloured = run(BUBBLECS, "gcroot", "1ce056", "--width", "30").out
        self.assertEqual(re.sub("\x1b\\[[0-9;]*m", "", cut), uncoloured)
        self.assertNotIn("\x1b", run(BUBBLECS, "info", "--json", "--color", "on").out)

    def test_version_and_help(self) -> None:
        self.assertRegex(run("--version").out, r"^heapdump \d+\.\d+\.\d+\n$")
        for option in ("--help", "-h"):
            result = run(option)
            self.assertEqual((result.status, result.err), (0, ""))
            for word in (
                "usage:",
                "--json",
                "--lenient",
                "gcroot",
                "dumpheap",
                "export",
            ):
                self.assertIn(word, result.out)

    def test_help_of_every_command(self) -> None:
        for command in run(BUBBLECS, "help", "--json").json()["commands"]:
            result = run(BUBBLECS, "help", command["name"])
            self.assertEqual((result.status, result.err), (0, ""))
            self.assertIn("Usage: " + command["name"], result.out)
            lines = [line for line in result.out.splitlines() if not line.startswith("Usage")]
            self.assertLessEqual(max(map(len, lines)), 100)

    def test_print_init(self) -> None:
        for option, command, name in (
            ("--print-gdbinit", "source ", "heapdump.py"),
            ("--print-lldbinit", "plugin load ", "libheapdump_lldb.so"),
        ):
            result = run(option)
            if result.status == 3 and name.endswith(".so") and not (BUILD / name).exists():
                print(f"{option}: skipped, {name} is not built", file=sys.stderr)
                continue
            if result.status == 3 and BUILD.parent != SOURCE:
                print(
                    f"{option}: skipped, {BUILD} is not in the source folder",
                    file=sys.stderr,
                )
                continue
            self.assertEqual((result.status, result.err), (0, ""))
            self.assertTrue(result.out.startswith(command), result.out)
            path = result.out.removeprefix(command).rstrip("\n")
            self.assertTrue(Path(path).is_file(), path)
            self.assertEqual(Path(path).name, name)


class BadFiles(Base):
    """Input that is hard to read."""

    def test_line_of_64_mib(self) -> None:
        path = Path(folder.name) / "line.heap"
        with open(path, "wb") as file:
            file.write(b"a 2 long.exe\nt 1 Long\no 10 1 8")
            for _ in range(64):
                file.write(b" 10" * (1 << 20) + b"      ")
            file.write(b"\no 20 1 8\nr 20 1 0\nc long.exe\n")
        small = ("--max-mem", "64M")
        self.check_error(run(*small, str(path), "info"), 3, "line 3.*16 MiB")
        result = run(*small, str(path), "info", "--lenient")
        self.assertEqual((result.status, result.err), (1, ""))
        self.assertIn("long-line", result.out)
        self.assertRegex(result.out, "Objects: +1 ")
        path.unlink()

    def test_line_of_64_mib_without_end(self) -> None:
        path = Path(folder.name) / "line.heap"
        with open(path, "wb") as file:
            for _ in range(64):
                file.write(b"a 2 " + b"x" * ((1 << 20) - 4))
        self.check_error(run(str(path), "info"), 3, "16 MiB")
        path.unlink()

    def test_ids_overflow(self) -> None:
        for number, record in (
            (3, "o 1ffffffffffffffff 1 8"),
            (3, "o 10 1ffffffffffffffff 8"),
            (3, "o 10 1 1ffffffffffffffff"),
            (3, "o 10 1 8 1ffffffffffffffff"),
            (3, "r 1ffffffffffffffff 1 0"),
            (3, "r 10 4 0 1ffffffffffffffff"),
        ):
            path = temporary("overflow.heap", f"a 2 x\nt 1 X\n{record}\nc x\n".encode())
            self.check_error(run(path, "info"), 3, f"line {number}, column .*64 bits")
        path = temporary("fits.heap", b"a 2 x\nt 1 X\no 00ffffffffffffffff 1 8\nc x\n")
        self.assertEqual(run(path, "dumpobj", "ffffffffffffffff").status, 0)
        sizes = b"a 2 x\nt 1 X\no 10 1 ffffffffffffffff\no 20 1 8\nc x\n"
        self.check_error(run(temporary("sum.heap", sizes), "info"), 3, "exceed 64 bits")

    def test_shrinks_while_it_is_read(self) -> None:
        """Truncated under the reader: it ends in good order, whatever it has read by then."""
        path = str(Path(folder.name) / "shrinks.heap")
        for delay in (0.0, 0.005, 0.02, 0.05):
            shutil.copyfile(large, path)
            process = subprocess.Popen(
                [PROGRAM, path, "info"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(),
            )
            time.sleep(delay)
            os.truncate(path, 1000)
            _, err = process.communicate(timeout=TIMEOUT)
            self.assertIn(process.returncode, (0, 1, 3), err)
            if process.returncode == 3:
                self.assertEqual(err.count(b"\n"), 1, err)
        os.unlink(path)

    def test_shrinks_between_commands(self) -> None:
        path = temporary("later.heap", Path(BUBBLECS).read_bytes())
        process = subprocess.Popen(
            [PROGRAM, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        assert process.stdin and process.stdout
        process.stdin.write(b"info\n")
        process.stdin.flush()
        first = process.stdout.readline()
        os.truncate(path, 10)
        out, err = process.communicate(b"gcroot 1ce056\n", timeout=TIMEOUT)
        self.assertTrue(first.startswith(b"File:"))
        self.assertEqual((process.returncode, err), (0, b""))
        self.assertIn(b"Found 3 unique roots", out)


class Output(Base):
    """Output that cannot be written, or is not read to its end."""

    def test_full_device(self) -> None:
        for words in (
            ["info"],
            ["dumpheap"],
            ["info", "--json"],
            ["--version"],
            ["--help"],
        ):
            argv = words if words[0].startswith("--") else [BUBBLECS, *words]
            with open("/dev/full", "wb") as full:
                done = subprocess.run(
                    [PROGRAM, *argv],
                    stdout=full,
                    stderr=subprocess.PIPE,
                    env=environment(),
                    timeout=TIMEOUT,
                    check=False,
                )
            self.assertEqual(done.returncode, 3, words)
            self.assertEqual(done.stderr.count(b"\n"), 1, (words, done.stderr))
            self.assertIn(b"cannot write", done.stderr)

    def test_full_device_with_much_output(self) -> None:
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [PROGRAM, large, "dumpheap"],
                stdout=full,
                stderr=subprocess.PIPE,
                env=environment(),
                timeout=TIMEOUT,
                check=False,
            )
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)

    def test_closed_pipe(self) -> None:
        for words in ("dumpheap", "dumpheap --json", "export -"):
            done = subprocess.run(
                ["/bin/sh", "-c", f'"$0" "$1" {words} | head -n 1', PROGRAM, large],
                capture_output=True,
                env=environment(),
                timeout=TIMEOUT,
                check=False,
            )
            self.assertEqual(done.stderr, b"", words)
            self.assertEqual(done.stdout.count(b"\n"), 1)

    def test_closed_pipe_from_standard_input(self) -> None:
        done = subprocess.run(
            ["/bin/sh", "-c", 'echo dumpheap | "$0" "$1" | head -n 1', PROGRAM, large],
            capture_output=True,
            env=environment(),
            timeout=TIMEOUT,
            check=False,
        )
        self.assertEqual(done.stderr, b"")

    def test_closed_streams(self) -> None:
        for closing in (">&-", "2>&-", "<&-"):
            done = subprocess.run(
                [
                    "/bin/sh",
                    "-c",
                    f'"$0" "$1" gcroot 1ce056 {closing}',
                    PROGRAM,
                    BUBBLECS,
                ],
                capture_output=True,
                env=environment(),
                timeout=TIMEOUT,
                check=False,
            )
            self.assertEqual(done.returncode, 3 if closing == ">&-" else 0, closing)


class Export(Base):
    """Files that are written."""

    def test_same_bytes_twice(self) -> None:
        first, second = Path(folder.name) / "one.heap", Path(folder.name) / "two.heap"
        result = run(BUBBLECS, "export", str(first))
        self.assertEqual((result.status, result.err), (0, ""))
        self.assertIn("273 objects, 341 references, 52 roots", result.out)
        self.assertEqual(run(str(first), "export", str(second)).status, 0)
        self.assertEqual(first.read_bytes(), second.read_bytes())
        self.assertEqual(run(BUBBLECS, "diff", str(first)).status, 0)
        self.assertEqual(run(BUBBLECS, "export", "-").out, first.read_text("utf-8"))

    def test_any_number_of_workers(self) -> None:
        one = run("--workers", "1", large, "export", "-").out
        self.assertEqual(one, run("--workers", "4", large, "export", "-").out)

    def test_onto_itself(self) -> None:
        path = Path(temporary("self.heap", (DATA / "sections.heap").read_bytes()))
        expected = run(str(path), "export", "-").out
        self.assertEqual(run(str(path), "export", str(path)).status, 0)
        self.assertEqual(path.read_bytes().decode(), expected)

    def test_no_partial_file(self) -> None:
        place = Path(folder.name) / "partial"
        place.mkdir()
        old = place / "old.heap"
        old.write_bytes(b"precious")
        limit = 'ulimit -f 64; trap "" XFSZ; exec "$0" "$1" export "$2"'
        done = subprocess.run(
            ["/bin/bash", "-c", limit, PROGRAM, large, str(old)],
            capture_output=True,
            env=environment(),
            timeout=TIMEOUT,
            check=False,
        )
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertEqual(os.listdir(place), ["old.heap"])
        self.assertEqual(old.read_bytes(), b"precious")

    def test_interrupted_leaves_nothing(self) -> None:
        place = Path(folder.name) / "interrupted"
        place.mkdir()
        seen = set()
        for delay in (0.02, 0.04, 0.08, 0.01, 0.16, 0.32, 0.64):
            process = subprocess.Popen(
                [PROGRAM, "--workers", "1", large, "export", str(place / "new.heap")],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(),
            )
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=TIMEOUT)
            seen.add(process.returncode)
            if process.returncode == 130:
                self.assertEqual(os.listdir(place), [])
                break
            # Too early for our handler, or too late for the command.
            self.assertIn(process.returncode, (0, -signal.SIGINT))
            self.assertIn(os.listdir(place), ([], ["new.heap"]))
            (place / "new.heap").unlink(missing_ok=True)
        self.assertIn(130, seen)

    def test_errors(self) -> None:
        self.check_error(run(BUBBLECS, "export", "no-such/x.heap"), 3, "cannot write.*No such file")
        self.check_error(run(BUBBLECS, "export", str(SOURCE)), 3, "cannot write.*[Dd]irectory")
        self.check_error(run(BUBBLECS, "export", "/dev/full"), 3, "cannot write.*No space")
        self.check_error(run(BUBBLECS, "export"), 2, "a file is missing")
        if os.geteuid():
            place = Path(folder.name) / "read-only"
            place.mkdir(mode=0o555)
            self.check_error(run(BUBBLECS, "export", str(place / "x")), 3, "Permission denied")


class Batch(Base):
    """Commands from standard input."""

    def test_all_run_and_the_highest_status_counts(self) -> None:
        for text, status in (
            ("info\n", 0),
            ("", 0),
            ("info\ngcroot 1ce4bf\ninfo\n", 1),
            ("gcroot 1ce4bf\nnosuch\ninfo\n", 2),
            ("nosuch\nopen no-such.heap\ninfo\n", 3),
        ):
            result = run(BUBBLECS, text=text)
            self.assertEqual(result.status, status, text)
            self.assertEqual(result.out.count("Findings:    none"), text.count("info"), text)

    def test_details_of_lines(self) -> None:
        text = "# a comment\n\n   \n  gcroot   '1ce056'   -limit \"1\"\r\ninfo"
        result = run(BUBBLECS, text=text)
        self.assertEqual((result.status, result.err), (0, ""))
        self.assertIn("Found 3 unique roots, 1 shown", result.out)
        self.assertIn("Findings:", result.out)

    def test_quit_ends(self) -> None:
        for word in ("quit", "exit", "q"):
            result = run(BUBBLECS, text=f"info\n{word}\nnosuch\n")
            self.assertEqual((result.status, result.err), (0, ""))

    def test_target_that_cannot_be_read(self) -> None:
        self.check_error(run("no-such.heap", text="info\ninfo\n"), 3, "No such file")
        self.check_error(run(BAD), 3, "line 4, column 8")

    def test_open_and_close(self) -> None:
        result = run(BUBBLECS, text="close\ninfo\nopen tests/data/kinds.heap\ngcroot 200\n")
        self.assertIn("Found 10 unique roots", result.out)
        self.assertEqual(result.status, 2)
        result = run(BUBBLECS, text="open no-such.heap\ngcroot 1ce056\n")
        self.assertIn("Found 3 unique roots", result.out)

    def test_set_holds(self) -> None:
        result = run(BUBBLECS, text="set width 30\nset color on\ngcroot 1ce056\n")
        self.assertEqual((result.status, result.err), (0, ""))
        lines = re.sub("\x1b\\[[0-9;]*m", "", result.out).splitlines()
        self.assertIn("\x1b[", result.out)
        self.assertLessEqual(max(map(len, lines)), 30)

    def test_quotes(self) -> None:
        name = "'System.Collections.Generic.List`1[[BubbleCS.HighScore, bubblecs'"
        result = run(BUBBLECS, text=f"dumpheap -stat -type {name}\n")
        self.assertIn("Total 1 objects", result.out)
        self.check_error(run(BUBBLECS, text="dumpheap -type 'open\n"), 2, "quote")

    def test_pipe(self) -> None:
        result = run(BUBBLECS, text="dumpheap -stat | grep Board\ninfo | wc -l\n")
        self.assertEqual(
            result.out.splitlines()[0].split(), ["1d", "2", "560", "BubbleCS.GameBoard"]
        )
        self.assertEqual(result.out.splitlines()[1].strip(), "8")
        self.assertEqual((result.status, result.err), (0, ""))

    def test_pipe_that_closes(self) -> None:
        result = run(large, text="dumpheap | head -n 1\ndumpobj 10\n")
        self.assertEqual(result.err, "")
        self.assertIn("Name:        Node", result.out)

    def test_file(self) -> None:
        path = Path(folder.name) / "answers.txt"
        lines = f"info > {path}\ninfo >> {path}\n"
        result = run(BUBBLECS, text=lines)
        self.assertEqual((result.status, result.out, result.err), (0, "", ""))
        self.assertEqual(path.read_text(), run(BUBBLECS, "info").out * 2)
        run(BUBBLECS, text=f"gcroot 1ce4bf >{path}\n")
        self.assertEqual(path.read_text(), run(BUBBLECS, "gcroot", "1ce4bf").out)

    def test_file_with_blanks_and_quotes(self) -> None:
        path = Path(folder.name) / "two words.txt"
        result = run(BUBBLECS, text=f"info > '{path}'\n")
        self.assertEqual((result.status, result.out, result.err), (0, "", ""))
        self.assertTrue(path.exists(), os.listdir(folder.name))

    def test_file_errors(self) -> None:
        self.check_error(run(BUBBLECS, text="info > no-such/file\n"), 3, "cannot write.*No such")
        self.check_error(run(BUBBLECS, text="info >\n"), 2, "behind")
        self.check_error(run(BUBBLECS, text="| wc\n"), 2, "before")
        result = run(BUBBLECS, text="info > /dev/full\ninfo\n")
        self.assertEqual(result.status, 3)
        self.assertEqual(result.err.count("\n"), 1, result.err)

    def test_status_of_a_redirected_command(self) -> None:
        result = run(BUBBLECS, text="gcroot 1ce4bf | cat\n")
        self.assertEqual(result.status, 1)
        result = run(BUBBLECS, text="gcroot deadbeef > /dev/null\n")
        self.assertEqual(result.status, 2)

    def test_long_line(self) -> None:
        result = run(BUBBLECS, text="gcroot " + "1" * 100000 + "\ninfo\n")
        self.assertEqual(result.status, 2)
        self.assertEqual(result.err.count("\n"), 1)
        self.assertIn("Findings:", result.out)


class Terminal:
    """The program on a pseudo-terminal."""

    def __init__(self, *argv: str, **env: str) -> None:
        # libedit's el_set(EL_ADDFN) keeps two copies that nothing frees.
        options = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
        pid, self.fd = pty.fork()
        if pid == 0:
            try:
                os.chdir(SOURCE)
                os.execve(PROGRAM, [PROGRAM, *argv], environment(**options | env))
            finally:
                os._exit(127)
        self.pid = pid
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self.seen = ""
        self.status: int | None = None

    def send(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def expect(self, pattern: str, seconds: float = 20) -> str:
        """Read until PATTERN is seen; what stood up to its end is taken away."""
        deadline = time.monotonic() + seconds
        while not (match := re.search(pattern, self.seen)):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise AssertionError(f"no {pattern!r} in {self.seen!r}")
            try:
                piece = os.read(self.fd, 65536)
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                piece = b""
            if not piece:
                raise AssertionError(f"the program ended: no {pattern!r} in {self.seen!r}")
            self.seen += piece.decode("utf-8", "replace")
        text = self.seen[: match.end()]
        self.seen = self.seen[match.end() :]
        return text

    def prompt(self) -> str:
        """Text up to the next prompt; libedit shows it shortly before it takes single keys."""
        text = self.expect(re.escape(PROMPT))
        deadline = time.monotonic() + 5
        while termios.tcgetattr(self.fd)[3] & termios.ICANON and time.monotonic() < deadline:
            time.sleep(0.001)
        return text

    def finish(self, seconds: float = 20) -> str:
        """Read to the end of the program; its status is kept."""
        text = self.seen
        deadline = time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise AssertionError(f"the program does not end: {text[-2000:]!r}")
            try:
                piece = os.read(self.fd, 65536)
            except OSError:
                piece = b""
            if not piece:
                break
            text += piece.decode("utf-8", "replace")
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        return text

    def close(self) -> None:
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self.fd)


class Prompt(unittest.TestCase):
    """Line editing on a terminal."""

    def start(self, *argv: str, **env: str) -> Terminal:
        terminal = Terminal(*argv, **env)
        self.addCleanup(terminal.close)
        return terminal

    def test_commands_and_ctrl_d(self) -> None:
        terminal = self.start(BUBBLECS)
        first = terminal.prompt()
        self.assertIn("273 objects", first)
        terminal.send("gcroot 1ce056\n")
        self.assertIn("Found 3 unique roots", terminal.prompt())
        terminal.send("nosuch\n")
        self.assertIn("no command", terminal.prompt())
        terminal.send("\x04")
        terminal.finish()
        self.assertEqual(terminal.status, 0)

    def test_quit(self) -> None:
        terminal = self.start(BUBBLECS)
        terminal.prompt()
        terminal.send("quit\n")
        terminal.finish()
        self.assertEqual(terminal.status, 0)

    def test_file_that_cannot_be_read(self) -> None:
        terminal = self.start("no-such.heap")
        self.assertIn("No such file", terminal.finish())
        self.assertEqual(terminal.status, 3)

    def test_history(self) -> None:
        home = tempfile.TemporaryDirectory(dir=folder.name)
        self.addCleanup(home.cleanup)
        terminal = self.start(BUBBLECS, HOME=home.name)
        terminal.prompt()
        terminal.send("dumpobj 1ce113\n")
        terminal.prompt()
        terminal.send("\x1b[A\n")
        self.assertIn("BubbleCS.Score", terminal.prompt())
        terminal.send("quit\n")
        terminal.finish()
        again = self.start(BUBBLECS, HOME=home.name)
        again.prompt()
        again.send("\x10\x10")  # Ctrl-P twice: quit, then the command before it
        again.expect("dumpobj 1ce113")
        again.send("\n")
        self.assertIn("BubbleCS.Score", again.prompt())
        files = os.listdir(home.name)
        self.assertEqual(len(files), 1)
        mode = os.stat(Path(home.name) / files[0]).st_mode & 0o777
        self.assertEqual(mode & 0o077, 0, f"history is readable by others: {mode:o}")

    def complete(self, typed: str, expected: str) -> None:
        """Type, with TAB characters, press Enter, and look for EXPECTED in the answer."""
        terminal = self.start(BUBBLECS)
        terminal.prompt()
        terminal.send(typed + "\n")
        text = terminal.expect("\n(?s:.*)" + re.escape(PROMPT))
        self.assertRegex(re.sub("\x1b\\[[0-9;]*[A-Za-z@]", "", text), expected)

    def test_completes_commands(self) -> None:
        self.complete("gcr\t1ce056", "Found 3 unique roots")
        self.complete("retai\t1ce056", "retains 75 objects")
        terminal = self.start(BUBBLECS)
        terminal.prompt()
        terminal.send("dump\t\t")
        terminal.expect("dumpheap\\s+dumpobj")

    def test_completes_options_and_values(self) -> None:
        self.complete("gcroot 1ce056 -nos\t", "\n\r?HandleTable:")
        self.complete("gcroot 1ce056 --js\t", '"schema": 1')
        self.complete("roots -kind st\tt\t", "Total 3 roots, 3 static")
        self.complete("help domi\t", "Usage: dominators")
        self.complete("set work\t", "workers +0")

    def test_completes_type_names(self) -> None:
        self.complete("dumpheap -stat -type BubbleCS.GameB\t", "Total 2 objects")

    def test_completes_type_names_with_blanks(self) -> None:
        for quote in ("", "'", '"'):
            typed = f"dumpheap -stat -type {quote}System.Collections.Generic.L\t"
            self.complete(typed, "Total 1 objects")

    def test_characters_of_any_language(self) -> None:
        terminal = self.start(str(DATA / "names.heap"))
        terminal.prompt()
        terminal.send("dumpheap -type \u00c4pfel\u20ac -short\n")
        terminal.expect("\r\n3\r\n")

    def test_completes_file_names(self) -> None:
        self.complete("open tests/data/kin\t", "17 objects")

    def test_ctrl_c_drops_the_line(self) -> None:
        terminal = self.start(BUBBLECS)
        terminal.prompt()
        terminal.send("export /no/such/fold")
        terminal.expect("fold")
        terminal.send("\x03")
        terminal.prompt()
        terminal.send("dumpobj 1ce113\n")
        text = terminal.prompt()
        self.assertIn("BubbleCS.Score", text)
        self.assertNotIn("cannot write", text)
        for _ in range(20):
            terminal.send("\x03")
        terminal.send("\ndumpobj 1ce113\n")
        terminal.expect("BubbleCS.Score")
        terminal.prompt()
        terminal.send("\x04")
        terminal.finish()
        self.assertEqual(terminal.status, 0)

    def test_ctrl_c_ends_a_command(self) -> None:
        terminal = self.start(large)
        self.assertIn("1,500,001 objects", terminal.prompt())
        terminal.send("dumpheap\n")
        terminal.expect("Node|Address")
        terminal.send("\x03")
        text = terminal.prompt()
        self.assertIn("nterrupted", text[-200:])
        terminal.send("dumpobj 10\n")
        self.assertIn("Size:        24(0x18) bytes", terminal.prompt())
        terminal.send("dominators -top 1\n")
        time.sleep(0.05)
        terminal.send("\x03")
        terminal.prompt()  # a second one follows when the command was faster
        terminal.send("dumpobj 10\n")
        terminal.expect(r"Size:        24\(0x18\) bytes")
        terminal.prompt()
        terminal.send("dominators -top 1\n")
        self.assertIn("1,500,001", terminal.prompt())
        terminal.send("quit\n")
        terminal.finish()
        self.assertEqual(terminal.status, 0)

    def test_ctrl_c_while_the_file_is_opened(self) -> None:
        """It ends the program; when it comes too late, the prompt lives on."""
        for delay in (0.03, 0.06, 0.1):
            terminal = self.start("--workers", "1", large)
            time.sleep(delay)
            terminal.send("\x03")
            try:
                terminal.prompt()
                terminal.send("\x04")
            except AssertionError:
                pass
            terminal.finish()
            self.assertIn(terminal.status, (0, 130, -signal.SIGINT, 127))

    def test_ctrl_c_with_a_pager(self) -> None:
        """Ctrl-C goes to the reader of a pipe as well; the prompt lives on."""
        terminal = self.start(large)
        terminal.prompt()
        terminal.send("dumpheap | cat\n")
        terminal.expect("Address")
        terminal.send("\x03")
        terminal.prompt()
        terminal.send("dumpobj 10\n")
        self.assertIn("Size:        24(0x18) bytes", terminal.prompt())

    def test_pipe_and_file(self) -> None:
        terminal = self.start(BUBBLECS)
        terminal.prompt()
        terminal.send("dumpheap -short | wc -l\n")
        self.assertRegex(terminal.prompt(), r"\n\s*273\r")
        path = Path(folder.name) / "prompt.txt"
        terminal.send(f"info > {path}\n")
        terminal.prompt()
        self.assertEqual(path.read_text(), run(BUBBLECS, "info").out)
        terminal.send(f"info >> {path}\n")
        terminal.prompt()
        self.assertEqual(path.read_text(), run(BUBBLECS, "info").out * 2)
        terminal.send("gcroot 1ce056 | head -n 1\n")
        self.assertIn("Stack:", terminal.prompt())

    def test_colours_and_width(self) -> None:
        terminal = self.start(BUBBLECS, "gcroot", "1ce056")
        self.assertIn("\x1b[36mBubbleCS.GameBoard", terminal.finish())
        for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
            terminal = self.start(BUBBLECS, "gcroot", "1ce056", **{name: value})
            self.assertNotIn("\x1b", terminal.finish())
        terminal = self.start(BUBBLECS, "gcroot", "1ce056", "--color", "off")
        self.assertNotIn("\x1b", terminal.finish())
        terminal = self.start("--color", "on", BUBBLECS, "gcroot", "1ce056", NO_COLOR="1")
        self.assertIn("\x1b[36m", terminal.finish())

    def test_colours_do_not_go_to_a_pipe(self) -> None:
        terminal = self.start(BUBBLECS)
        terminal.prompt()
        path = Path(folder.name) / "plain.txt"
        terminal.send(f"gcroot 1ce056 > {path}\n")
        terminal.prompt()
        self.assertNotIn("\x1b", path.read_text())


class Progress(unittest.TestCase):
    """Only for people."""

    def test_none_when_standard_error_is_no_terminal(self) -> None:
        result = run("--workers", "1", large, "info")
        self.assertEqual(result.err, "")

    def test_shown_on_a_terminal_and_wiped(self) -> None:
        terminal = Terminal("--workers", "1", large, "dominators", "-top", "1")
        self.addCleanup(terminal.close)
        text = terminal.finish()
        self.assertRegex(text, r"\r[A-Z][a-z ]+\.\.\.")
        self.assertIn("\r\x1b[K", text)
        lines = re.split(r"\r\n", re.sub("\r[^\r\n]*\x1b\\[K", "", text))
        self.assertFalse(any("..." in line for line in lines), lines[:5])


if __name__ == "__main__":
    unittest.main()
