#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands from standard input and at a terminal."""
from __future__ import annotations

import os
import re
import tempfile
import subprocess
import time
import unittest
from pathlib import Path

from shell_program import (
    BAD,
    BUBBLECS,
    DATA,
    PROGRAM,
    Base,
    folder,
    large_dump,
    quick_clock,
    run,
    waiting,
)
from terminal import PROMPT, StoppedTerminal, Terminal


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
        for word in ("quit", "exit", "q", "QUIT", "Exit"):
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
        plain = re.sub("\x1b\\[[0-9;]*m", "", result.out)
        self.assertIn("\x1b[", result.out)
        self.assertNotIn("BubbleCS.GameForm", plain)
        self.assertIn("-> 1ce03a       GameForm\n", plain)

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
        self.assertEqual(result.out.splitlines()[1].strip(), "9")
        self.assertEqual((result.status, result.err), (0, ""))

    def test_pipe_that_closes(self) -> None:
        result = run(large_dump(), text="dumpheap | head -n 1\ndumpobj 10\n")
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
        self.check_error(run(BUBBLECS, text="info >\n"), 2, "after it")
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
        self.assertEqual(os.listdir(home.name), [".local"])
        kept = Path(home.name) / ".local/state/heapdump"
        for path in (kept, kept / "history"):
            mode = path.stat().st_mode & 0o777
            self.assertEqual(mode & 0o077, 0, f"{path.name} can be read by others: {mode:o}")

    def test_history_where_xdg_has_it(self) -> None:
        home = tempfile.TemporaryDirectory(dir=folder.name)
        self.addCleanup(home.cleanup)
        terminal = self.start(BUBBLECS, HOME=folder.name, XDG_STATE_HOME=home.name + "/a/b")
        terminal.prompt()
        terminal.send("quit\n")
        terminal.finish()
        self.assertIn("quit", (Path(home.name) / "a/b/heapdump/history").read_text())

    def history(self, home: str) -> Path:
        """Where the prompt keeps its history, with its folder."""
        folder_of = Path(home) / ".local" / "state" / "heapdump"
        folder_of.mkdir(parents=True)
        return folder_of / "history"

    @unittest.skipIf(os.geteuid() != 0, "only root can play somebody else")
    def test_history_in_the_home_of_somebody_else(self) -> None:
        """Root may have kept HOME: a link there must not make it write elsewhere."""
        home = tempfile.TemporaryDirectory(dir=folder.name)
        self.addCleanup(home.cleanup)
        victim, link = Path(home.name) / "victim", self.history(home.name)
        victim.write_text("old")
        link.symlink_to(victim)
        for path in (Path(home.name), *link.parents[:3]):
            os.chown(path, 65534, 65534)
        os.chown(link, 65534, 65534, follow_symlinks=False)
        terminal = self.start(BUBBLECS, HOME=home.name)
        terminal.prompt()
        terminal.send("quit\n")
        terminal.finish()
        self.assertEqual(terminal.status, 0)
        self.assertEqual(victim.read_text(), "old")

    def key_works(self, home: str) -> bool:
        """Does the prompt obey a file in which the key Z stands for a command?"""
        terminal = self.start(BUBBLECS, HOME=home)
        terminal.prompt()
        terminal.send("Z\n")
        text = terminal.prompt()
        terminal.send("quit\n")
        terminal.finish()
        return "Found 3 unique roots" in text

    def test_keys_of_the_users_own_file(self) -> None:
        home = tempfile.TemporaryDirectory(dir=folder.name)
        self.addCleanup(home.cleanup)
        keys, other = Path(home.name) / ".editrc", Path(home.name) / "other"
        keys.write_text('bind -s Z "gcroot 1ce056"\n')
        keys.chmod(0o644)
        self.assertTrue(self.key_works(home.name))
        for mode in (0o664, 0o646):
            keys.chmod(mode)
            self.assertFalse(self.key_works(home.name), oct(mode))
        keys.chmod(0o644)
        keys.rename(other)
        keys.symlink_to(other)
        self.assertFalse(self.key_works(home.name), "a link")
        keys.unlink()
        os.mkfifo(keys)
        self.assertFalse(self.key_works(home.name), "a FIFO")
        if os.geteuid() == 0:
            keys.unlink()
            other.rename(keys)
            os.chown(keys, 65534, 65534)
            self.assertFalse(self.key_works(home.name), "of another user")

    def test_history_of_the_users_own_file(self) -> None:
        home = tempfile.TemporaryDirectory(dir=folder.name)
        self.addCleanup(home.cleanup)
        history = self.history(home.name)
        for size, mode, owner in (
            (0, 0o600, -1),
            (5 << 20, 0o600, -1),
            (0, 0o620, -1),
            (0, 0o600, 65534),
        ):
            if owner > 0 and os.geteuid() != 0:
                continue
            history.unlink(missing_ok=True)
            history.write_text("_HiStOrY_V2_\n" + "x\n" * (size // 2) + "gcroot\\0401ce056\n")
            history.chmod(mode)
            os.chown(history, owner, owner)
            terminal = self.start(BUBBLECS, HOME=home.name)
            terminal.prompt()
            terminal.send("\x10\n")
            found = "Found 3 unique roots" in terminal.prompt()
            self.assertEqual(found, (size, mode, owner) == (0, 0o600, -1), (size, mode, owner))
            terminal.send("quit\n")
            terminal.finish()

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
        terminal = self.start(large_dump())
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

    def send_into_stopped(self, terminal: Terminal) -> None:
        """Ctrl-C while a process waits for its terminal, which takes no output."""
        waiting.wait_until_terminal_is_full(terminal.pid)
        before = {pid: waiting.switches(pid) for pid in waiting.family(terminal.pid)}
        terminal.send("\x03")
        # The signal wakes each of them, and then it waits again.
        waiting.wait_until(
            lambda: all(waiting.switches(pid) > count for pid, count in before.items()),
            "the key has become a signal",
        )

    def test_ctrl_c_while_the_file_is_opened(self) -> None:
        """It ends the program, which waits to show its progress."""
        terminal = StoppedTerminal("--workers", "1", large_dump(), **quick_clock())
        self.addCleanup(terminal.close)
        self.send_into_stopped(terminal)
        terminal.go_on()
        self.assertIn("heapdump: interrupted", terminal.finish())
        self.assertEqual(terminal.status, 130)

    def test_ctrl_c_when_the_file_is_open_already(self) -> None:
        """It came while the file was being opened: it ends the program, and is not for the first look."""
        terminal = StoppedTerminal(BUBBLECS)
        self.addCleanup(terminal.close)
        self.send_into_stopped(terminal)
        terminal.go_on()
        seen = terminal.finish()
        self.assertIn("heapdump: interrupted", seen)
        self.assertNotIn("Go on with", seen)
        self.assertEqual(terminal.status, 130)

    def test_first_look(self) -> None:
        """A person sees it before the prompt; nobody else does, and no format but text has it."""
        leak = "corefiles/leak.core.zst"
        seen = self.start(leak).prompt()
        self.assertRegex(seen, r"(?s)target .*72,859 objects.*finding .*Go on with:")
        for argv in (("--format", "json", leak), (leak,)):
            terminal = self.start("-c", f'"$0" "$@" | cat', PROGRAM, *argv, program="/bin/sh")
            terminal.send("\x04")
            self.assertNotIn("Go on with", terminal.finish(), str(argv))
        self.assertNotIn("Go on with", self.start("--format", "json", leak).prompt())
        self.assertNotIn("Go on with", run(leak, text="").out)

    def test_ctrl_c_in_the_first_look(self) -> None:
        """It ends the first look, and the prompt comes."""
        for _ in range(20):
            terminal = self.start("--workers", "1", large_dump(), **quick_clock())
            terminal.expect("1,500,001 objects")
            terminal.stop()
            waiting.wait_until(
                lambda: waiting.wants_terminal(terminal.pid) or terminal.has(PROMPT),
                "the first look waits for its terminal, or has ended",
            )
            if not terminal.has("Go on with"):
                break  # else it was faster
        self.send_into_stopped(terminal)
        terminal.go_on()
        seen = terminal.prompt()
        self.assertIn("heapdump: interrupted", seen)
        self.assertNotIn("Go on with", seen)
        terminal.send("dumpobj 10\n")
        self.assertIn("Size:        24(0x18) bytes", terminal.prompt())
        terminal.send("quit\n")
        terminal.finish()
        self.assertEqual(terminal.status, 0)

    def test_ctrl_c_at_the_end_of_the_first_look(self) -> None:
        """However often it comes, the program goes on: three of them may close what was open."""
        terminal = self.start(BUBBLECS)
        terminal.expect("Go on with")
        for _ in range(20):
            terminal.send("\x03")
        terminal.prompt()
        terminal.send("\nopen tests/data/kinds.heap\n")
        terminal.expect("17 objects")
        terminal.prompt()
        terminal.send("\x04")
        terminal.finish()
        self.assertEqual(terminal.status, 0)

    def test_memory_that_was_not_copied(self) -> None:
        """The sandbox of a prompt lets no process be opened again: the message says what to do."""
        with subprocess.Popen(["sleep", "600"]) as child:
            self.addCleanup(child.wait)
            self.addCleanup(child.kill)
            terminal = self.start(str(child.pid))
            terminal.prompt()
            terminal.send("memory\n")
            self.assertIn(f"ask in the shell: heapdump {child.pid} memory", terminal.prompt())
            terminal.send("quit\n")
            terminal.finish()
            child.kill()

    def test_ctrl_c_with_a_pager(self) -> None:
        """Ctrl-C goes to the reader of a pipe as well; the prompt lives on."""
        terminal = self.start(large_dump())
        terminal.prompt()
        terminal.send("dumpheap | cat\n")
        terminal.expect("Address")
        terminal.send("\x03")
        terminal.prompt()
        terminal.send("dumpobj 10\n")
        self.assertIn("Size:        24(0x18) bytes", terminal.prompt())

    def test_pager(self) -> None:
        """At the prompt of a terminal, with its colours and columns; `set pager off` ends that."""
        name = "System.Collections.Generic.List`1[[BubbleCS.HighScore, bubblecs"
        terminal = self.start(BUBBLECS, PAGER="sed 's/^/PAGED /'")
        terminal.prompt()
        terminal.send("types -type HighScore\n")
        seen = terminal.prompt()
        self.assertRegex(seen, "PAGED .*\x1b\\[36mBubbleCS.HighScore\x1b")
        self.assertNotIn(name, seen)
        terminal.send("types -type HighScore -full\n")
        self.assertIn(name, terminal.prompt())
        terminal.send("types -type HighScore | head -n 1\n")
        self.assertNotIn("PAGED", terminal.prompt())
        terminal.send("set pager off\n")
        terminal.prompt()
        terminal.send("types -type HighScore\n")
        seen = terminal.prompt()
        self.assertNotIn("PAGED", seen)
        self.assertIn("BubbleCS.HighScore", seen)
        for env in ({"TERM": "dumb"}, {"PAGER": ""}):
            terminal = self.start(BUBBLECS, **{"PAGER": "sed 's/^/PAGED /'"} | env)
            terminal.prompt()
            terminal.send("types -type HighScore\n")
            seen = terminal.prompt()
            self.assertNotIn("PAGED", seen)
            self.assertIn("HighScore", seen)

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


# Names of types, each of a hostile kind: what it would do, were it read as more than a word.
HOSTILE = (
    b"Q1''|touch${IFS}pwned;#",
    b'Q2"|touch pwned;"',
    b"Q3'|touch pwned;\"\\\\",
    b"Q4 > pwned",
    b"Q5\\u000atouch pwned",
    b"Q6\\u001b]0;title\\u0007\\u001b[31m",
    b"Q7\xff\x9b31m",
    "Q8\u202eedoc \u00c4\U0001f40d".encode(),
    b"#Q9|touch pwned",
    b"-Q10 >pwned",
)


class HostileNames(unittest.TestCase):
    """TAB puts what a dump or a folder holds into the line: as one word, whatever it is."""

    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory(dir=folder.name)
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def start(self, target: str, **env: str) -> Terminal:
        terminal = Terminal(target, cwd=str(self.place), **env)
        self.addCleanup(terminal.close)
        terminal.prompt()
        return terminal

    def dump(self, names: tuple[bytes, ...]) -> str:
        """A dump with one object of each type."""
        path = self.place / "hostile.dump"
        lines = [b"a 2 x"]
        lines += [b"t %x %s" % (index + 1, name) for index, name in enumerate(names)]
        lines += [b"o %x %x 18" % (index + 0x100, index + 1) for index in range(len(names))]
        path.write_bytes(b"\n".join(lines + [b"r 100 1 0", b"c x", b""]))
        return str(path)

    def check_terminal(self, text: str) -> None:
        """The line editor's own sequences and the colours, and nothing else."""
        rest = re.sub("\x1b\\[[0-9;]*[A-Za-z@]", "", text)
        self.assertNotRegex(rest, "[\x00-\x06\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
        self.assertNotRegex(text, "\x1b\\[31m|title\x07")

    def check_untouched(self) -> None:
        """Nothing was run, and nothing was written."""
        made = [name for name in os.listdir(self.place) if name != "hostile.dump"]
        for name in made:
            os.unlink(self.place / name)
        self.assertEqual(made, [])

    def test_a_completed_type_finds_its_objects_and_runs_nothing(self) -> None:
        for index, name in enumerate(HOSTILE):
            for quote in ("", "'", '"'):
                with self.subTest(name=name, quote=quote):
                    terminal = self.start(self.dump(HOSTILE))
                    start = re.split(rb"['\"| \\\xff\xe2]", name)[0].decode()
                    terminal.send(f"dumpheap -short -type {quote}{start}\t\n")
                    text = terminal.prompt()
                    self.check_terminal(text)
                    self.assertRegex(text, rf"\n{index + 0x100:x}\r\n")
                    self.check_untouched()

    def test_candidates_are_listed_quoted(self) -> None:
        terminal = self.start(self.dump(HOSTILE))
        terminal.send("dumpheap -short -type Q\t")
        text = terminal.expect(r"Q8.*\n(?s:.*)-type Q")
        self.check_terminal(text)
        self.assertIn("\"Q1''|touch${IFS}pwned;#\"", text)
        self.check_untouched()

    def test_a_shared_beginning_is_quoted_and_goes_on(self) -> None:
        names = (b"Q|a b;'1", b"Q|a b;'2")
        terminal = self.start(self.dump(names))
        terminal.send('dumpheap -short -type Q\t2" | wc -l\n')
        self.assertRegex(terminal.prompt(), r"\n\s*1\r\n")
        self.check_untouched()

    def test_characters_before_the_cursor_are_replaced_not_bytes(self) -> None:
        terminal = self.start(self.dump(("\u00c4\u20ac\u00f6 b|c".encode(),)))
        terminal.send("dumpheap -short -type \u00c4\u20ac\u00f6\t\n")
        text = terminal.prompt()
        self.assertRegex(text, r"\n100\r\n")
        self.check_untouched()

    def test_nothing_of_a_dump_gets_behind_a_pipe(self) -> None:
        terminal = self.start(self.dump((b"Q;touch pwned",)))
        terminal.send("dumpheap -type Q | cat \t\t\n")
        terminal.prompt()
        terminal.send("dumpheap -type Q | \tcat\n")
        terminal.prompt()
        self.check_untouched()

    def test_names_of_files(self) -> None:
        names = ("P1'|touch pwned;'", "P2\ntouch pwned", "P3\x1b[31m", "P4 >pwned", "-P5")
        target = self.dump((b"Found",))
        for name in names:
            os.rename(target, self.place / name)
            terminal = self.start(BUBBLECS)
            terminal.send(f"open {name[:2] if name[0] != '-' else ''}\t\n")
            text = terminal.prompt()
            self.check_terminal(text)
            self.assertIn(": 1 object, 24 bytes", text, name)
            terminal.send("dumpheap -stat\n")
            self.assertIn("Found", terminal.prompt())
            self.assertEqual(os.listdir(self.place), [name])
            os.rename(self.place / name, target)
        (self.place / "R|tee pwned").mkdir()
        terminal = self.start(BUBBLECS)
        terminal.send("info > R\tout'\n")
        terminal.prompt()
        self.assertEqual(os.listdir(self.place / "R|tee pwned"), ["out"])

    def test_messages_show_no_controls(self) -> None:
        terminal = self.start(BUBBLECS)
        for line in (
            "info > $'no\\x1b[31m\\x9bsuch/\\n\\xe2\\x80\\xae'",
            "$'no\\x1b[31m\\x9bsuch'",
            "open $'no\\x1b[31m\\x9b\\xe2\\x80\\xaesuch'",
            "info $'no\\x1b[31m\\x9b\\xe2\\x80\\xaesuch'",
        ):
            terminal.send(line + "\n")
            text = terminal.prompt()
            self.check_terminal(text)
            self.assertIn("\\u001b[31m\\x9b", text)

    def test_the_history_holds_one_line_for_each(self) -> None:
        terminal = self.start(self.dump(HOSTILE), HOME=folder.name)
        terminal.send("dumpheap -short -type Q5\t\n")
        terminal.prompt()
        terminal.send("quit\n")
        terminal.finish()
        history = (Path(folder.name) / ".local/state/heapdump/history").read_bytes()
        self.assertNotRegex(history, rb"[\x00-\x09\x0b-\x1f\x7f]|\ntouch")


class Progress(unittest.TestCase):
    """Only for people."""

    def test_none_when_standard_error_is_no_terminal(self) -> None:
        result = run("--workers", "1", large_dump(), "info")
        self.assertEqual(result.err, "")

    def test_shown_on_a_terminal_and_wiped(self) -> None:
        terminal = Terminal("--workers", "1", large_dump(), "dominators", "-top", "1")
        self.addCleanup(terminal.close)
        text = terminal.finish()
        self.assertRegex(text, r"\r[A-Z][a-z ]+\.\.\.")
        self.assertIn("\r\x1b[K", text)
        lines = re.split(r"\r\n", re.sub("\r[^\r\n]*\x1b\\[K", "", text))
        self.assertFalse(any("..." in line for line in lines), lines[:5])


if __name__ == "__main__":
    unittest.main()
