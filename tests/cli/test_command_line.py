#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The shell program as its users meet it: statuses, streams, options."""
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from shell_program import BAD, BUBBLECS, BUILD, DATA, LARGE_OBJECTS, PROGRAM, SOURCE, TIMEOUT
from shell_program import Base, environment, folder, interrupted, large_dump, run, temporary


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
            ("no command", "dumpruntimetypes"),
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

    def test_options_after_the_target(self) -> None:
        expected = run("--json", BUBBLECS, "dumpheap", "-stat")
        self.assertEqual(run(BUBBLECS, "--json", "dumpheap", "-stat").out, expected.out)
        self.assertEqual(run(BUBBLECS, "dumpheap", "-stat", "--json").out, expected.out)
        narrow = run(BUBBLECS, "--width", "60", "--workers=1", "types")
        self.assertEqual(max(len(line) for line in narrow.out.splitlines()), 60)
        self.check_error(run(BUBBLECS, "--nosuch", "info"), 2, "unknown option --nosuch")
        self.check_error(run(BUBBLECS, "--width"), 2, "missing")

    def test_the_command_first(self) -> None:
        """The target may come directly after the command, or last."""
        expected = run(BUBBLECS, "dumpheap", "-stat")
        for words in (
            ("dumpheap", BUBBLECS, "-stat"),
            ("dumpheap", "-stat", BUBBLECS),
            ("DumpHeap", "-stat", BUBBLECS),
        ):
            result = run(*words)
            self.assertEqual((result.status, result.out), (0, expected.out), words)
        expected = run("--json", BUBBLECS, "gcroot", "1ce056")
        self.assertEqual(run("--json", "gcroot", BUBBLECS, "1ce056").out, expected.out)
        # Not the file that is the value of an option, and not one that is called as a command.
        seed = str(DATA / "seed001.heap")
        against = run("report", "-against", BUBBLECS, seed)
        self.assertEqual(against.out, run(seed, "report", "-against", BUBBLECS).out)
        self.check_error(run("report"), 2, "heapdump TARGET report")
        # A file that is not there is named.
        for line in (
            "report no-such.heap",
            "assert no-such.heap --max A.B=1",
            "assert --max A=1 no-such.heap",
        ):
            self.check_error(run(*line.split()), 3, "no-such.heap: cannot open: No such file")
        self.check_error(run("report", "4999999"), 3, "no process 4999999")
        self.check_error(run("gcroot", "1ce056"), 2, "an existing file or the id")

    def test_a_command_that_is_not_spelled_right(self) -> None:
        for word, meant in (
            ("dumpheep", "dumpheap"),
            ("gcrot", "gcroot"),
            ("clrstac", "clrstack"),
            ("veryfyheap", "verifyheap"),
            ("reprot", "report"),
        ):
            self.check_error(run(BUBBLECS, word), 2, f'no command "{word}": did you mean {meant}')
            self.check_error(run(word, BUBBLECS), 2, f'no command "{word}": did you mean {meant}')
        self.check_error(run(BUBBLECS, "xyzzy"), 2, "help lists the commands")
        # Alone, it may also be the name of a file that is not there.
        self.check_error(run("helpp"), 2, 'no file "helpp", and .*: did you mean help')
        self.check_error(run("xyzzy"), 3, "xyzzy: cannot open: No such file")
        for word, meant in (("bt", "clrstack"), ("k", "clrstack"), ("!analyze", "triage")):
            self.check_error(run(BUBBLECS, word), 2, f'no command "{word}": use {meant}')

    def test_settings_of_the_users_own_file(self) -> None:
        home = tempfile.mkdtemp(dir=folder.name)
        config = Path(home) / ".config/heapdump/config"
        config.parent.mkdir(parents=True)
        config.write_text("# mine\n\n  width  60 \nnosuch 1\nworkers many\n")
        config.chmod(0o600)
        result = run(BUBBLECS, "types", env=environment(HOME=home))
        self.assertEqual(max(len(line) for line in result.out.splitlines()), 60)
        self.assertIn(f"warning: {config}, line 4: ", result.err)
        self.assertIn(f"warning: {config}, line 5: ", result.err)
        full = run("--full", BUBBLECS, "types", env=environment(HOME=home))
        self.assertGreater(max(len(line) for line in full.out.splitlines()), 60)
        other = environment(HOME="/nowhere", XDG_CONFIG_HOME=home + "/.config")
        self.assertEqual(run(BUBBLECS, "types", env=other).out, result.out)
        plain = run(BUBBLECS, "types").out
        config.chmod(0o662)
        result = run(BUBBLECS, "types", env=environment(HOME=home))
        self.assertEqual(result.out, plain)
        self.assertIn(f"warning: {config} is not read: it must be a file", result.err)
        config.unlink()
        config.mkdir()
        result = run(BUBBLECS, "types", env=environment(HOME=home))
        self.assertEqual(result.out, plain)
        self.assertIn(f"warning: {config} is not read", result.err)

    def test_comments_and_home_in_the_users_own_file(self) -> None:
        home = tempfile.mkdtemp(dir=folder.name)
        (Path(home) / "sym#bols").mkdir()
        config = Path(home) / ".config/heapdump/config"
        config.parent.mkdir(parents=True)
        config.write_text("width 60# no comment\nworkers 3 # ours\nsymbols ~/sym#bols\t#\n")
        config.chmod(0o600)
        result = run("set", "--json", env=environment(HOME=home))
        self.assertIn('line 1: width is auto, 0 or a number from 20 to 65535, not "60#', result.err)
        self.assertEqual(result.err.count("warning"), 1)
        settings = result.json()["settings"]
        self.assertEqual(settings["workers"], "3")
        self.assertEqual(settings["symbols"], f"{home}/sym#bols")
        for words in (("help", "config"), ("help", "set"), ("help",), ("--help",)):
            self.assertIn("config", run(*words).out, words)
        self.assertIn("~/.config/heapdump/config", run("help", "config").out)

    def test_lines(self) -> None:
        """-c, and a command in one word."""
        total, retained = "Total 273 objects, 219,720 bytes\n", run(BUBBLECS, "retained", "1ce056")
        lines = ("-c", "dumpheap -stat | tail -1", "-c", "retained 1ce056")
        for words in ((BUBBLECS, *lines), (*lines, BUBBLECS), (*lines[:2], BUBBLECS, *lines[2:])):
            result = run(*words)
            self.assertEqual((result.status, result.out), (0, total + retained.out), words)
        several = run(BUBBLECS, "-c", "sql SELECT 1 AS x\n;", "--json", "-c", "retained 1ce056")
        self.assertEqual(len([json.loads(line) for line in several.out.splitlines()]), 2)
        # All lines are run, and the highest status counts.
        result = run(
            BUBBLECS, "-c", "gcroot deadbeef", "-c", "retained 1ce056", "-c", "quit", "-c", "x"
        )
        self.assertEqual((result.status, result.out), (2, retained.out))
        result = run(BUBBLECS, "retained 1ce056")
        self.assertEqual((result.status, result.out), (0, retained.out))
        path = os.path.join(folder.name, "written-by-one-word")
        for line in (f"info > {path}", f"info | tee {path}", f"info '{path}"):
            self.check_error(run(BUBBLECS, line), 2, "-c")
            self.assertFalse(os.path.exists(path))
        self.check_error(run(BUBBLECS, "-c"), 2, "missing")
        self.check_error(
            run(BUBBLECS, "-c", "info", "dumpheap"), 2, "this word is too many: dumpheap"
        )
        self.check_error(run("no-such.heap", "-c", "info"), 3, "No such file")

    def test_help_of_a_command(self) -> None:
        expected = run("help", "gcroot")
        for option in ("--help", "-h"):
            self.assertEqual(run("gcroot", option).out, expected.out)
        self.assertIn("usage: heapdump", run(BUBBLECS, "--help").out)

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

    def test_3_commands_cannot_be_read(self) -> None:
        """A directory can be opened, not read: that is not the end of the commands."""
        folder_fd = os.open(SOURCE, os.O_RDONLY)
        self.addCleanup(os.close, folder_fd)
        done = subprocess.run(
            [PROGRAM, BUBBLECS],
            stdin=folder_fd,
            capture_output=True,
            env=environment(),
            timeout=TIMEOUT,
            check=False,
        )
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr, b"heapdump: cannot read commands: Is a directory\n")

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

    def test_130_interrupted(self) -> None:
        last = f"{LARGE_OBJECTS * 16:x}"
        for words in (["info"], ["gcroot", last], ["info", "--json"]):
            with self.subTest(words):
                result = interrupted(large_dump(), *words)
                self.assertEqual(result.status, 130, result.err)
                if "--json" in words:
                    self.assertEqual(result.json()["error"]["status"], "cancelled")
                    self.assertEqual(result.err, "")
                else:
                    self.assertEqual((result.out, result.err), ("", "heapdump: interrupted\n"))


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
        self.check_error(run(large_dump(), "info", "--max-mem", "1M"), 3, "max-mem")
        self.check_error(run("--max-mem", "1M", large_dump(), "info"), 3, "max-mem")

    def test_width(self) -> None:
        full = run(BUBBLECS, "dumpheap", "-stat").out.splitlines()
        for width in (20, 40, 80):
            lines = run(BUBBLECS, "dumpheap", "-stat", "--width", str(width)).out.splitlines()
            self.assertEqual(len(lines), len(full))
            for line, whole in zip(lines, full):
                name = line.split()[-1]
                # A name keeps 12 columns, and numbers and totals are never cut.
                short = len(line) <= width or len(name) <= 12 or whole.startswith("Total")
                self.assertTrue(short, line)
                self.assertEqual(line.split()[:3], whole.split()[:3])
                if len(whole) <= width:
                    self.assertEqual(line, whole)

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
        for option in ("--version", "-V"):
            self.assertRegex(run(option).out, r"^heapdump \d+\.\d+\.\d+\n$")
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
            lines = [line for line in result.out.splitlines() if not line.startswith("Example")]
            self.assertLessEqual(max(map(len, lines)), 80, command["name"])
            self.assertEqual([line for line in lines if line.endswith(" ")], [])
        for words in (("help",), ("help", "options"), ("help", "config"), ("--help",)):
            self.assertLessEqual(max(map(len, run(*words).out.splitlines())), 80, words)

    def test_print_init(self) -> None:
        for option, command, name in (
            ("--print-gdbinit", r"python .*\('(.*)'\)", "heapdump.py"),
            ("--print-lldbinit", r"#.*\nplugin load (.*)", "libheapdump_lldb.so"),
            (
                "--print-profiler",
                r"CORECLR_ENABLE_PROFILING=1\n"
                r"CORECLR_PROFILER=\{8F1D9A52-6C3E-4B7A-9D04-5E2B7C61A8F3\}\n"
                r"CORECLR_PROFILER_PATH='?(.*?)'?",
                "libheapdump_profiler.so",
            ),
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
            line = re.fullmatch(command + "\n", result.out)
            assert line, result.out
            self.assertTrue(Path(line[1]).is_file(), line[1])
            self.assertEqual(Path(line[1]).name, name)


if __name__ == "__main__":
    unittest.main()
