# SPDX-License-Identifier: MIT
"""The plug-in inside GDB: what is typed there, and what comes back."""
from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import unittest

import support

PLUGIN = str(support.SOURCE / "gdb-plugin" / "heapdump.py")
HELD = str(support.SOURCE / "tests" / "gdb" / "held.py")
GDB = ["gdb", "-nx", "-q", "-iex", "set debuginfod enabled off"]
TOP_LEVEL = ["gcroot", "pathto", "dumpheap", "dumpobj", "objsize", "clrstack", "gchandles"]
TOP_LEVEL += ["finalizequeue", "dumpgen", "gcheapstat", "notreachableinrange"]
TOP_LEVEL += ["ephrefs", "ephtoloh", "types", "roots", "sql", "strings", "referrers", "dominators"]

# Run inside GDB: what each abbreviation means, by the help that it brings up.
RESOLVE = """
import gdb
names = %r
for name in names:
    before, _, last = name.rpartition(" ")
    for size in range(1, len(last)):
        short = (before + " " + last[:size]).strip()
        try:
            gdb.execute("show user " + short, to_string=True)
            unique = True
        except gdb.error as error:
            unique = str(error) == "Not a user command." or bool(before)
        try:
            text = gdb.execute("help " + short, to_string=True) if unique else ""
            # "help set NOSUCH" shows the help of "set".
            if before and text == gdb.execute("help " + before, to_string=True):
                text = ""
        except gdb.error:
            text = ""
        lines = text.splitlines()
        # The first line names aliases, and those are what the plug-in adds.
        meaning = lines[1:3] if lines and not lines[0].endswith(".") else lines[:2]
        print("MEANS", repr(short), repr(meaning))
"""


class GdbTest(unittest.TestCase):
    folder = ""
    dump = ""

    @classmethod
    def setUpClass(cls) -> None:
        folder = support.temporary_folder()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.dump = support.write_dump(folder.name)

    def gdb(
        self,
        *commands: str,
        before: tuple[str, ...] = (),
        plugin: str | None = PLUGIN,
        environment: dict[str, str] | None = None,
    ) -> str:
        """GDB's answer to commands in batch mode, errors too."""
        argv = GDB + ["-batch"]
        for command in before:
            argv += ["-ex", command]
        if plugin:
            argv += ["-ex", "source " + plugin]
        for command in commands:
            argv += ["-ex", command]
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment or support.ENVIRONMENT,
            cwd=self.folder,
            timeout=300,
        )
        text = done.stdout.decode("utf-8", "replace")
        self.assertNotIn("Traceback", text)
        self.assertNotIn("Python Exception", text)
        return text

    def opened(self, *commands: str) -> str:
        return self.gdb("heapdump open " + self.dump, *commands)

    def script(self, name: str, text: str) -> str:
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_loading_is_silent_and_twice_is_harmless(self) -> None:
        self.assertEqual(self.gdb("source " + PLUGIN), "")

    def test_a_script_may_source_the_plug_in(self) -> None:
        """Then __file__ is the script's."""
        mine = self.script("mine.py", f"import gdb\ngdb.execute({'source ' + PLUGIN!r})\n")
        text = self.gdb("heapdump help close", before=("source " + mine,), plugin=None)
        self.assertIn("Usage: close", text)

    def test_commands_under_the_prefix_and_at_top_level(self) -> None:
        text = self.opened("gcroot 10", "heapdump gcroot 10", "heapdump do 20", "heapdump info")
        self.assertEqual(text.count("Found 2 unique roots"), 2)
        self.assertIn("A.Dict<System.String, System.Object>", text)
        self.assertIn("System.String", text)
        # GDB's own: do is down.
        for name in ("do 20", "info heap"):
            self.assertNotIn("Found", self.opened(name))
        self.assertNotIn("Name:", self.opened("do 20"))
        self.assertIn("8 objects", self.opened("types"))
        self.assertIn("n", self.opened("sql select count(*) as n from objects"))
        for name in ("types", "fq", "dg", "pe", "lno", "da", "roots", "sql"):
            for prefix in ("", "heapdump "):
                self.assertNotIn("Undefined", self.gdb(prefix + name))
        for name in ("export", "open"):
            self.assertIn("Undefined command", self.gdb(name))

    def test_report_in_a_file(self) -> None:
        folder = support.temporary_folder()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "report.html")
        self.assertIn("Wrote " + path, self.opened("report -o " + path))
        with open(path, encoding="utf-8") as file:
            self.assertTrue(file.read().endswith("</html>\n"))

    def test_prefix_alone_lists_the_commands(self) -> None:
        text = self.gdb("heapdump")
        for name in TOP_LEVEL + ["open", "close", "info"]:
            self.assertIn(name, text)

    def test_unknown_command_is_one_line(self) -> None:
        text = self.gdb("heapdump nosuch")
        self.assertIn("nosuch", text)
        self.assertEqual(len(text.splitlines()), 1)

    def test_errors_and_status(self) -> None:
        text = self.gdb(
            "print $_heapdump_status",
            "gcroot 10",
            "print $_heapdump_status",
            "heapdump open /nonexistent/file",
            "print $_heapdump_status",
            "heapdump open " + self.dump,
            "print $_heapdump_status",
            "gcroot 30",
            "print $_heapdump_status",
            "gcroot",
            "print $_heapdump_status",
            "gcroot 999",
            "heapdump close",
            "gcroot 10",
        )
        statuses = re.findall(r"\$\d+ = (\w+)", text)
        self.assertEqual(statuses, ["void", "2", "3", "0", "1", "2"])
        self.assertIn("/nonexistent/file", text)

    def test_failure_in_json_still_fails(self) -> None:
        text = self.opened("gcroot 999 --json", "print $_heapdump_status")
        self.assertIn('"error"', text)
        self.assertIn("$1 = 2", text)
        argv = GDB + ["-batch", "-ex", "source " + PLUGIN, "-ex", "gcroot 999 --json"]
        done = subprocess.run(argv, env=support.ENVIRONMENT, capture_output=True, timeout=300)
        self.assertNotEqual(done.returncode, 0)

    def test_expressions_are_evaluated(self) -> None:
        text = self.opened(
            "set var $one = 1", "gcroot $one*16", "gcroot (0x1ce000+0x56)", "dumpobj 1ce000+56"
        )
        self.assertEqual(len(re.findall("Found [12] unique root", text)), 2)
        self.assertIn("System.String[]", text.split("Found")[-1])
        for word in ("$nosuch", "nosuch", "(1", '"text"'):
            text = self.opened(f"gcroot '{word}'", "print $_heapdump_status")
            self.assertIn("cannot evaluate", text)
            self.assertIn("$1 = 2", text)

    def test_arguments_of_functions_keep_their_quotes(self) -> None:
        text = self.opened(
            'dumpobj $hd_count("A.Dict<System.String, System.Object>")*0x10',
            'gcroot $hd_count("System.String" ) + 0x0d -all',
            'gcroot $hd_count("My.It\'s")*16',
        )
        self.assertNotIn("cannot evaluate", text)
        self.assertEqual(len(re.findall("Found [12] unique root", text)), 2, text)

    def test_expressions_with_blanks(self) -> None:
        text = self.opened(
            "gcroot (unsigned long) 0x1ce056",
            "set var $base = 0x1ce000",
            "gcroot $base + 0x56 -all",
            "gcroot $base -- 0x56",
            "pathto '(unsigned long) 0x1ce056' $base+0x56",
        )
        self.assertEqual(len(re.findall("Found [12] unique root", text)), 2, text)
        self.assertNotIn("cannot evaluate", text)
        text = self.opened("pathto (unsigned long) 0x1ce056 1ce056")
        self.assertIn("with spaces in quotes", text)

    def test_quoted_words_reach_the_core_whole(self) -> None:
        for line in (
            "dumpheap -stat -type 'A.Dict<System.String, System.Object>'",
            "dumpheap -stat -type A.Dict<System.String,\\ System.Object>",
            "dumpheap -stat -type 'It\\'s'",
            "dumpheap -stat -type Café",
        ):
            self.assertIn("Total 1 object", self.opened(line), line)

    def test_bytes_that_are_no_text(self) -> None:
        self.assertIn("Bad.", self.opened("dumpheap -stat"))
        plain = dict(support.ENVIRONMENT, LC_ALL="C")
        text = self.gdb("heapdump open " + self.dump, "dumpheap -stat", environment=plain)
        self.assertIn("Caf\\xe9", text)

    def test_pipe_and_capture(self) -> None:
        text = self.opened("pipe dumpheap -stat | grep -c System")
        # GDB and grep write to one file, in either order.
        self.assertIn("4", text.splitlines())
        line = "python print(len(gdb.execute('dumpheap -stat', to_string=True).splitlines()) > 5)"
        self.assertEqual(self.opened(line).splitlines()[-1], "True")

    def test_set_logging(self) -> None:
        log = os.path.join(self.folder, "log")
        self.opened(f"set logging file {log}", "set logging enabled on", "gcroot 10")
        with open(log, encoding="utf-8") as file:
            self.assertIn("Found 2 unique roots", file.read())

    def test_help(self) -> None:
        for name in TOP_LEVEL + ["heapdump gcroot", "heapdump open"]:
            lines = self.gdb("help " + name).splitlines()
            self.assertTrue(lines[0].endswith("."), lines[0])
            self.assertTrue(any(line.startswith("Usage: ") for line in lines), name)
            self.assertTrue(any("help options" in line for line in lines), name)
        text = self.gdb("help heapdump")
        self.assertIn("heapdump dumpheap -- ", text)
        # Which commands need the prefix cannot be guessed.
        needed = re.search(r"(?ms)^Only with it: (.*?)\.$", text)
        assert needed
        names = re.split(r",\s+", needed[1])
        self.assertLessEqual({"assert", "dq", "export", "memory"}, set(names))
        self.assertFalse(set(names) & set(TOP_LEVEL))
        self.assertIn("\nWithout the prefix, too: ", text)
        self.assertIn("heapdump assert -- ", self.gdb("apropos rules"))

    def test_settings(self) -> None:
        for name, value in (("workers", "2"), ("width", "40"), ("max-mem", "1073741824")):
            text = self.gdb(
                f"set heapdump {name} {value}",
                f"set heapdump {name} x",
                f"set heapdump {name}",
                f"show heapdump {name}",
                f"heapdump set {name}",
            )
            self.assertIn(f'"{value}"', text.splitlines()[-2])
            self.assertIn(value, text.splitlines()[-1])
            self.assertGreaterEqual(len(text.splitlines()), 4)
        text = self.gdb("set heapdump color red", "set heapdump color off", "show heapdump color")
        self.assertIn('"off"', text.splitlines()[-1])
        shown, listed = (self.gdb(line).splitlines() for line in ("show heapdump", "heapdump set"))
        # And the one that only GDB has.
        self.assertEqual(len(shown), len(listed) + 2)
        for name, value in (
            ("files", "off"),
            ("backend", "debugger"),
            ("sysroot", "/tmp"),
            ("raw-csv", "on"),
        ):
            text = self.gdb(f"set heapdump {name} {value}", f"show heapdump {name}")
            self.assertIn(f'"{value}"', text.splitlines()[-1])
            text = self.gdb(f"set heapdump {name} /nonexistent", f"show heapdump {name}")
            self.assertNotIn("nonexistent", text.splitlines()[-1])
            self.assertGreater(len(text.splitlines()), 1)
        text = self.gdb(
            "set heapdump sysroot /tmp", "set heapdump sysroot", "show heapdump sysroot"
        )
        self.assertIn('""', text.splitlines()[-1])
        self.assertIn("Undefined", self.gdb("set heapdump nosuch 1"))
        self.assertIn("Undefined", self.gdb("show heapdump nosuch"))
        self.assertIn("set heapdump workers", self.gdb("set heapdump"))

    def test_settings_change_behaviour(self) -> None:
        wide = self.opened("dumpheap -stat").splitlines()
        narrow = self.opened("set heapdump width 20", "dumpheap -stat").splitlines()
        self.assertGreater(max(map(len, wide[2:])), 20)
        self.assertLess(max(map(len, narrow[2:])), max(map(len, wide[2:])))
        self.assertNotIn("\033", self.opened("gcroot 10"))
        self.assertIn("\033", self.opened("set heapdump color on", "gcroot 10"))
        text = self.opened("with heapdump width 20 -- dumpheap -stat", "show heapdump width")
        self.assertIn('"auto"', text.splitlines()[-1])
        text = self.opened("heapdump set width 30", "show heapdump width")
        self.assertIn('"30"', text.splitlines()[-1])
        text = self.gdb("set heapdump max-mem 1", "heapdump open " + self.dump)
        self.assertNotIn("Opened", text)

    def test_functions(self) -> None:
        text = self.opened(
            "print $hd_type(0x20)",
            "print $hd_size(0x1ce056)",
            'print $hd_count("System.String")',
            'print $hd_count("System.Str")',
            "print $hd_size(0x10) + 1",
            'print $_streq($hd_type(0x30), "My.It\'s")',
            "print $hd_type(0x40)",
            "print $hd_type(0x60)",
        )
        values = re.findall(r"\$\d+ = (.*)", text)
        self.assertEqual(values[0], '"A.Dict<System.String, System.Object>"')
        self.assertEqual(values[1:6], ["280", "3", "0", "21", "1"])
        self.assertEqual(len(values), 8)

    def test_functions_without_an_answer(self) -> None:
        self.assertIn("nothing is open", self.gdb("print $hd_type(0x20)"))
        self.assertIn("nothing is open", self.gdb('print $hd_count("x")'))
        self.assertIn("no object 0x999", self.opened("print $hd_size(0x999)"))
        self.assertIn("not in the file", self.opened("print $hd_type(0x50)"))
        self.assertIn("usage: $hd_type", self.opened("print $hd_type()"))
        self.assertIn("not the name", self.opened("print $hd_count(1)"))
        self.assertIn("not an object id", self.opened('print $hd_size("x")'))

    def complete(self, line: str) -> list[str]:
        answer = self.opened("complete " + line)
        return answer[answer.index("see info.") :].splitlines()[1:]

    def test_completion(self) -> None:
        self.assertIn("heapdump gcroot -all", self.complete("heapdump gcroot -"))
        self.assertIn("gcroot -limit", self.complete("gcroot -li"))
        name = "dumpheap -type "
        types = self.complete(name + "System.Str")
        self.assertEqual(sorted(types), [name + "System.String", name + "System.String[]"])
        dictionary = "A.Dict<System.String, System.Object>"
        self.assertEqual(self.complete(name + "A"), [f"{name}'{dictionary}'"])
        self.assertEqual(self.complete(name + "'A.D"), [f"{name}'{dictionary}"])
        escaped = dictionary.replace(" ", "\\ ")
        self.assertEqual(self.complete(name + "A.Dict<Sys"), [name + escaped])
        self.assertEqual(self.complete(name + "My"), [name + "'My.It\\'s'"])
        self.assertEqual(self.complete(name + "Nosuch"), [])
        self.assertIn("heapdump dumpheap", self.complete("heapdump dump"))
        self.assertEqual(self.complete("heapdump open test.h"), ["heapdump open test.heap"])
        self.assertIn("set heapdump workers", self.complete("set heapdump w"))
        self.assertIn("set heapdump color auto", self.complete("set heapdump color a"))

    def test_what_completion_quotes_is_read_as_it_was(self) -> None:
        """For any text, GDB's own way to split a line; and nothing in it ends a command in a pipe."""
        code = """
import random, gdb
from heapdump_gdb.words import Line, guard, unguard
choice = random.Random(4711)
often = "'\\"\\\\|@! \\t;#$-`xu007c\u00e4<>"
wrong = 0
for turn in range(5000):
    value = "".join(choice.choice(often) for _ in range(choice.randrange(1, 12)))
    size = choice.randrange(0, len(value))
    for quote in ("", "'", '"'):
        typed = quote + value[:size]
        if any(char in " \\t\\n'\\"\\\\|@!;#$" for char in value[:size]):
            continue
        line = Line(typed)
        for found in line.candidates([value], line.raw):
            words = gdb.string_to_argv(found + quote)
            ends = any(char in found for char in "|@!;#$")
            if [unguard(word) for word in words] != [value] or ends:
                wrong += 1
                print("WRONG", repr(value), repr(found), words)
print("CHECKED", wrong)
"""
        path = os.path.join(self.folder, "check_words.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(code)
        self.assertIn("CHECKED 0", self.gdb("source " + path))

    def test_messages_and_functions_show_no_controls(self) -> None:
        text = self.opened(
            "dumpobj (\x1b[31m\u202e\u200b)",
            "heapdump open no\x1b[31m\u202e\u200b\U000e0041such",
            "set heapdump nosuch\x1b[31m",
            "echo >",
            "output $hd_type(0x60)",
            "echo \\n",
            'print $hd_count("Bad.\\\\xff")',
        )
        self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\U000e0041]")
        self.assertEqual(text.count("\\u001b[31m"), 3)
        self.assertIn("\\u202e\\u200b\\u{e0041}such", text)
        self.assertIn('>"Bad.\\\\xff"\n', text)
        self.assertIn("= 1\n", text)

    def test_completion_of_processes(self) -> None:
        """This one, which has a runtime's socket meanwhile."""
        with open("/proc/self/stat", encoding="ascii", errors="replace") as file:
            start = file.read().rpartition(")")[2].split()[19]
        folder = os.environ.get("TMPDIR") or "/tmp"
        pid = str(os.getpid())
        path = os.path.join(folder, f"dotnet-diagnostic-{pid}-{start}-socket")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            try:
                line = "heapdump collect "
                self.assertIn(line + pid, self.complete(line))
                self.assertIn(line + pid, self.complete(line + pid[:-1]))
                self.assertEqual(self.complete(line + pid), [line + pid])
            finally:
                os.unlink(path)

    def test_taken_names_stay(self) -> None:
        mine = self.script("mine.gdb", "define gcroot\necho mine\\n\nend\n")
        text = self.gdb("gcroot 10", before=("source " + mine,))
        self.assertEqual(text.count("taken"), 1)
        self.assertIn("mine", text.splitlines())
        text = self.gdb(
            "heapdump open " + self.dump,
            "heapdump gcroot 10",
            "dumpobj 10",
            "source " + PLUGIN,
            before=("source " + mine,),
        )
        self.assertIn("Found 2 unique roots", text)
        self.assertEqual(text.count("taken"), 1)

    def test_other_heapdump_command_stays(self) -> None:
        mine = self.script("other.gdb", "define heapdump\necho mine\\n\nend\n")
        text = self.gdb("heapdump", "gcroot 1", before=("source " + mine,))
        self.assertIn("already", text)
        self.assertIn("mine", text.splitlines())
        self.assertIn("Undefined command", text)

    def test_abbreviations_mean_what_they_meant(self) -> None:
        names = TOP_LEVEL + ["heapdump", "set heapdump", "show heapdump"]
        path = self.script("resolve.py", RESOLVE % names)
        outcomes = []
        for plugin in (None, PLUGIN):
            text = self.gdb("source " + path, plugin=plugin)
            outcomes.append(dict(re.findall(r"^MEANS ('.*?') (.*)$", text, re.M)))
        before, after = outcomes
        self.assertEqual(set(before), set(after))
        meant = {short for short, meaning in before.items() if meaning != "[]"}
        for short in ("'gc'", "'du'", "'dum'", "'pat'", "'he'", "'set he'", "'show he'"):
            self.assertIn(short, meant)
        for short in meant:
            self.assertEqual(after[short], before[short], short)

    def test_machine_interface(self) -> None:
        lines = [
            f'-interpreter-exec console "source {PLUGIN}"',
            f'-interpreter-exec console "heapdump open {self.dump}"',
            '-interpreter-exec console "gcroot 1ce056"',
            '-interpreter-exec console "gcroot 999"',
            "-gdb-exit",
        ]
        done = subprocess.run(
            GDB + ["-i=mi"],
            input="\n".join(lines) + "\n",
            capture_output=True,
            text=True,
            env=support.ENVIRONMENT,
            timeout=300,
        )
        self.assertRegex(done.stdout, r'~".*Found 1 unique roots')
        self.assertRegex(done.stdout, r'\^error,msg="no object 999')
        self.assertNotIn("Traceback", done.stdout + done.stderr)

    def test_missing_library_is_one_line(self) -> None:
        environment = dict(support.ENVIRONMENT, HEAPDUMP_LIBRARY="/nonexistent/libheapdump.so")
        text = self.gdb(environment=environment)
        self.assertEqual(len(text.splitlines()), 1)
        self.assertIn("HEAPDUMP_LIBRARY", text)
        copy = os.path.join(self.folder, "copy", "share", "heapdump", "gdb")
        shutil.copytree(os.path.dirname(PLUGIN), copy)
        text = self.gdb(plugin=copy + "/heapdump.py", environment=environment)
        self.assertEqual(len(text.splitlines()), 1)
        self.assertIn("install all of heapdump", text)
        shutil.copytree(support.SOURCE / "python", os.path.join(os.path.dirname(copy), "python"))
        environment.pop("HEAPDUMP_LIBRARY")
        text = self.gdb(plugin=copy + "/heapdump.py", environment=environment)
        self.assertIn("HEAPDUMP_LIBRARY", text)
        # And the layout of an installation.
        os.mkdir(os.path.join(self.folder, "copy", "lib"))
        shutil.copy(support.LIBRARY, os.path.join(self.folder, "copy", "lib", "libheapdump.so"))
        text = self.gdb("heapdump", plugin=copy + "/heapdump.py", environment=environment)
        self.assertIn("gcroot", text)


class TerminalTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = support.temporary_folder()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.dump = support.write_dump(folder.name)

    def start(self, *options: str) -> support.Terminal:
        argv = GDB + list(options) + ["-ex", "source " + PLUGIN]
        terminal = support.Terminal(argv, r"\(gdb\) ")
        self.addCleanup(terminal.__exit__)
        terminal.prompt()
        return terminal

    def test_colours_only_on_the_terminal(self) -> None:
        terminal = self.start("-ex", "set height 0")
        terminal.command("heapdump open " + self.dump)
        colour = r"\033\[\d+m"
        self.assertRegex(terminal.command("gcroot 10"), colour)
        self.assertNotRegex(terminal.command("pipe gcroot 10 | cat"), colour)
        terminal.command("set style enabled off")
        self.assertNotRegex(terminal.command("gcroot 10"), colour)
        terminal.command("set style enabled on")
        terminal.command("set heapdump color off")
        self.assertNotRegex(terminal.command("gcroot 10"), colour)
        terminal.command("set heapdump color auto")
        terminal.command(f"set logging file {self.folder}/log")
        terminal.command("set logging enabled on")
        self.assertNotRegex(terminal.command("gcroot 10"), colour)

    def test_quit_at_the_pager(self) -> None:
        terminal = self.start("-ex", "set height 10")
        terminal.command("heapdump open " + self.dump)
        terminal.send("help gcroot\n")
        terminal.wait("to quit")
        terminal.send("q\n")
        terminal.prompt()
        terminal.send("heapdump\n")
        terminal.wait("to quit")
        terminal.send("q\n")
        terminal.prompt()
        terminal.send("dumpheap\n")
        terminal.wait("to quit")
        terminal.send("q\n")
        text = terminal.prompt()
        self.assertIn("Quit", text)
        self.assertNotIn("Traceback", text)
        self.assertIn("= 280", terminal.command("print $hd_size(0x1ce056)"))
        self.assertIn("= 0", terminal.command("print $_heapdump_status"))

    def test_completed_name_is_taken(self) -> None:
        terminal = self.start("-ex", "set height 0")
        terminal.command("heapdump open " + self.dump)
        for typed in ("A", "'A.Di", "A.Di", "'A.Dict<System.S"):
            terminal.send(f"dumpheap -stat -type {typed}\t")
            terminal.wait("Object>")
            terminal.send("\n")
            self.assertIn("Total 1 object", terminal.prompt(), typed)

    def write_hostile(self, names: list[bytes]) -> str:
        """A dump with one object of each type."""
        lines = [b"a 2 x"]
        lines += [b"t %x %s" % (index + 1, name) for index, name in enumerate(names)]
        lines += [b"o %x %x 18" % (index + 0x100, index + 1) for index in range(len(names))]
        path = os.path.join(self.folder, "hostile.heap")
        with open(path, "wb") as file:
            file.write(b"\n".join(lines + [b"r 100 1 0", b"c x", b""]))
        return path

    def test_a_completed_name_runs_nothing(self) -> None:
        """GDB's pipe ends the command at the first |, in quotes too."""
        made = os.path.join(self.folder, "made")
        names = [
            f"{start}touch {made}{end}".encode()
            for start, end in (
                ("Q1|:; ", ";#"),
                ("Q2'|:; ", ";'"),
                ('Q3"\\|: ; ', ' | "'),
                ("Q4 |: ; ", ";"),
                ("Q5\\u000a!", ""),
                ("Q6\u202e|", "|"),
                ("Q7@:; ", ";#"),
            )
        ]
        names.append(b"Q8\xff\x9b|touch " + made.encode())
        terminal = self.start("-ex", "set height 0", "-ex", "set width 0")
        terminal.command("heapdump open " + self.write_hostile(names))
        for index, name in enumerate(names):
            for quote in ("", "'", '"'):
                # GDB 13 makes something else of more than one word in such a command: it finds
                # nothing, but it must not run anything.
                for before, after in (("", ""), ("pipe ", "| cat"), ("pipe -d @ ", "@ cat")):
                    with self.subTest(name=name, quote=quote, before=before):
                        terminal.send(f"{before}dumpheap -type {quote}Q{index + 1}\t{after}\n")
                        text = terminal.prompt()
                        if not before:
                            self.assertIn("Total 1 objects", text)
                        self.assertNotRegex(text, "[\x80-\x9f\u202a-\u202e]")
                        self.assertFalse(os.path.exists(made), text)

    def test_a_completed_name_goes_on_behind_an_escape(self) -> None:
        terminal = self.start("-ex", "set height 0", "-ex", "set width 0")
        terminal.command("heapdump open " + self.write_hostile([b"Q|a b1", b"Q|a b2c"]))
        terminal.send("dumpheap -type Q\t2\t\n")
        text = terminal.prompt()
        self.assertIn("Total 1 objects", text)
        self.assertIn("Q|a b2c", text)

    def test_completed_names_of_files_run_nothing(self) -> None:
        made = os.path.join(self.folder, "made")
        dump = self.write_hostile([b"Found"])
        folder = os.path.join(self.folder, "files")
        os.mkdir(folder)
        path = os.path.join(folder, f"P|sh -c 'cd {self.folder}; touch made';".replace("/", "-"))
        shutil.copy(dump, path)
        shutil.copy(dump, os.path.join(folder, "P2 \x1b[31m"))
        shutil.copy(dump, os.path.join(folder, "R two"))
        terminal = self.start("-ex", "set height 0")
        terminal.send(f"pipe heapdump open {folder}/P\t\t| cat\n")
        text = terminal.prompt()
        self.assertNotIn("sh -c", text)
        self.assertNotIn("\x1b[31m", text)
        self.assertFalse(os.path.exists(made))
        terminal.send(f"heapdump open {folder}/R\t\n")
        self.assertIn(": 1 object, 24 bytes", terminal.prompt())

    def test_interrupt(self) -> None:
        big = support.write_big_dump(self.folder)
        terminal = self.start("-ex", "set height 0", "-ex", "set heapdump workers 1")
        terminal.command("heapdump open " + big)
        terminal.command("source " + HELD)
        terminal.command("python hold_at_poll()")
        terminal.send("heapdump dominators -top 3\n")
        terminal.wait(r"%\033\[K")
        terminal.wait("<HELD>")
        terminal.send("\x03")
        text = terminal.prompt() + terminal.command("print $_heapdump_status + 1000")
        for line in ("<LOST>", "Traceback", "Exception"):
            self.assertNotIn(line, text)
        self.assertIn("Quit", text)
        self.assertIn("= 1130", text)
        self.assertIn("= 42", terminal.command("print 42"))
        self.assertIn("Found", terminal.command("gcroot 1010"))
        # GDB's own handler is back: Ctrl-C at the prompt is its Quit.
        terminal.send("\x03")
        self.assertIn("Quit", terminal.prompt())


if __name__ == "__main__":
    if shutil.which("gdb") is None:
        print("skipped: no gdb")
        sys.exit(77)
    unittest.main()
