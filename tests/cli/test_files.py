#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that are hard to read, and output that cannot be written."""
from __future__ import annotations

import os
import shutil
import subprocess
import time
import unittest
from pathlib import Path

from shell_program import BUBBLECS, DATA, PROGRAM, SOURCE, TIMEOUT
from shell_program import Base, environment, folder, interrupted, large_dump, run, temporary


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

    def test_what_is_cut_calls_nothing_dead(self) -> None:
        """Lines 1 to 100 of the game's dump: the objects and roots that follow are not in it."""
        head = b"".join(Path(BUBBLECS).read_bytes().splitlines(keepends=True)[:100])
        cut = temporary("head.heap", head)
        exported = str(Path(folder.name) / "head.gcdump")
        for path in (cut, exported):
            self.assertIn("may still be alive", run(path, "dumpheap", "-dead").out)
            answer = run(path, "dumpheap", "-dead", "--json").json()
            self.assertIs(answer["complete"], False)
            if path == cut:
                self.assertIn("missing-end-record", answer["findings"])
                result = run(cut, "export", "-live", exported)
                self.assertIn("what was left out may still be alive", result.out)
                again = run(cut, "export", "-live", exported, "--json").json()
                self.assertIs(again["complete"], False)
        self.assertIn("partial-heap", run(exported, "info").out)

    def test_shrinks_while_it_is_read(self) -> None:
        """Truncated under the reader: it ends in good order, whatever it has read by then."""
        path = str(Path(folder.name) / "shrinks.heap")
        for delay in (0.0, 0.005, 0.02, 0.05):
            shutil.copyfile(large_dump(), path)
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
                [PROGRAM, large_dump(), "dumpheap"],
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
                ["/bin/sh", "-c", f'"$0" "$1" {words} | head -n 1', PROGRAM, large_dump()],
                capture_output=True,
                env=environment(),
                timeout=TIMEOUT,
                check=False,
            )
            self.assertEqual(done.stderr, b"", words)
            self.assertEqual(done.stdout.count(b"\n"), 1)

    def test_closed_pipe_from_standard_input(self) -> None:
        done = subprocess.run(
            ["/bin/sh", "-c", 'echo dumpheap | "$0" "$1" | head -n 1', PROGRAM, large_dump()],
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
        one = run("--workers", "1", large_dump(), "export", "-").out
        self.assertEqual(one, run("--workers", "4", large_dump(), "export", "-").out)

    def test_a_name_without_an_ending(self) -> None:
        """It says which format was taken."""
        file = temporary("managed")
        result = run(BUBBLECS, "export", file)
        self.assertEqual(result.status, 0, result.err)
        self.assertIn("\nIt is a text log (rpm), since the name has no ending", result.out)
        result = run(BUBBLECS, "export", file, "-format", "rpm")
        self.assertEqual(result.out.count("\n"), 1)

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
            ["/bin/bash", "-c", limit, PROGRAM, large_dump(), str(old)],
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
        result = interrupted(large_dump(), "export", str(place / "new.heap"))
        self.assertEqual(result.status, 130, result.err)
        self.assertEqual(os.listdir(place), [])

    def test_errors(self) -> None:
        self.check_error(run(BUBBLECS, "export", "no-such/x.heap"), 3, "cannot write.*No such file")
        self.check_error(run(BUBBLECS, "export", str(SOURCE)), 3, "cannot write.*[Dd]irectory")
        self.check_error(run(BUBBLECS, "export", "/dev/full"), 3, "cannot write.*No space")
        self.check_error(run(BUBBLECS, "export"), 2, "a file is missing")
        if os.geteuid():
            place = Path(folder.name) / "read-only"
            place.mkdir(mode=0o555)
            self.check_error(run(BUBBLECS, "export", str(place / "x")), 3, "Permission denied")


class WithoutProc(Base):
    """A root folder with a program and a core, in which nobody has mounted /proc."""

    def test_it_is_said(self) -> None:
        if os.environ.get("HEAPDUMP_SANITIZED"):
            self.skipTest("LeakSanitizer needs /proc")
        line = 'mount -t tmpfs none /proc && exec "$@"'
        words = ["unshare", "--mount", "sh", "-c", line, "sh"]
        if subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
            self.skipTest("nobody may mount here")
        done = subprocess.run(
            [*words, PROGRAM, BUBBLECS, "info"],
            env=environment(),
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        self.assertEqual(done.returncode, 3)
        self.assertIn("cannot open: there is no /proc here", done.stderr)


class StandardInput(Base):
    """symbolize, which reads it once."""

    CORE = str(SOURCE / "corefiles" / "leak.core.zst")
    NAMED = "7f0f794a1bb5 <WebShop.Session..ctor(Int32, WebShop.Customer)+0x15>"

    def test_pipes_and_files(self) -> None:
        result = run(self.CORE, "symbolize", text="a 7f0f794a1bb5 b\n\tno\x1b[1m")
        self.assertEqual(result.out, f"a {self.NAMED} b\n\tno\x1b[1m\n")
        # The end of a line stays; what overwrites a line, or moves the cursor, is shown.
        text = "7f0f794a1bb5\r\n50 %\r100 %\r\n\x1b[2Jx\n"
        data = Path(temporary("ends.txt", text.encode()))
        done = subprocess.run(
            [PROGRAM, self.CORE, "symbolize", str(data)],
            capture_output=True,
            env=environment(),
            timeout=TIMEOUT,
            check=True,
        )
        expected = f"{self.NAMED}\r\n50 %\\u000d100 %\r\n\\u001b[2Jx\n"
        self.assertEqual(done.stdout.decode(), expected)
        result = run(self.CORE, "symbolize", "-", text="7f0f794a1bb5\n")
        self.assertEqual(result.out, self.NAMED + "\n")
        with open(temporary("addresses.txt", b"7f0f794a1bb5\n" * 3), "rb") as file:
            done = subprocess.run(
                [PROGRAM, self.CORE, "symbolize"],
                stdin=file,
                capture_output=True,
                env=environment(),
                timeout=TIMEOUT,
                check=False,
            )
        self.assertEqual(done.stdout.decode().splitlines(), [self.NAMED] * 3)

    def test_lines_without_an_end(self) -> None:
        many = "7f0f794a1bb5 " * 100000
        result = run(self.CORE, "symbolize", text=many)
        self.assertEqual(result.out.count("<WebShop.Session..ctor"), 100000)
        self.assertEqual(result.out.count("\n"), 2)
        self.check_error(run(self.CORE, "symbolize"), 2, "nothing came from the standard input")

    def test_other_commands_take_no_pipe(self) -> None:
        result = run("/dev/stdin", "info", text=Path(BUBBLECS).read_bytes())
        self.check_error(result, 3, "not a regular file")


if __name__ == "__main__":
    unittest.main()
