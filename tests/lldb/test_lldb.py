# SPDX-License-Identifier: MIT
"""The plug-in inside LLDB: what is typed there, and what comes back.

HEAPDUMP_LLDB names another LLDB than lldb-14 to run the same tests in.
"""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gdb"))
sys.dont_write_bytecode = True

import support  # noqa: E402

LLDB = os.environ.get("HEAPDUMP_LLDB", "lldb-14")
PLUGIN = str(support.BUILD / "libheapdump_lldb.so")
LOAD = "plugin load " + PLUGIN
TOP_LEVEL = ["gcroot", "pathto", "dumpheap", "dumpobj", "objsize", "clrstack", "gchandles"]
TOP_LEVEL += ["finalizequeue", "dumpgen", "gcheapstat", "notreachableinrange"]
TOP_LEVEL += ["ephrefs", "ephtoloh", "types", "roots", "sql", "strings", "referrers", "dominators"]
# Debian 12's LLDB 14 looks for its Python package in the wrong place.
PYTHON = "/usr/lib/llvm-14/lib/python3.11/dist-packages"
ENVIRONMENT = dict(support.ENVIRONMENT)
if LLDB == "lldb-14":
    ENVIRONMENT["PYTHONPATH"] = PYTHON


class LldbTest(unittest.TestCase):
    folder = ""
    dump = ""

    @classmethod
    def setUpClass(cls) -> None:
        folder = support.temporary_folder()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.dump = support.write_dump(folder.name)

    def lldb(self, *commands: str, load: bool = True) -> str:
        """LLDB's answer to lines on its standard input: errors do not end it, as with -b."""
        lines = ([LOAD] if load else []) + list(commands)
        done = subprocess.run(
            [LLDB, "--no-lldbinit"],
            input=("\n".join(lines) + "\n").encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=ENVIRONMENT,
            cwd=self.folder,
            timeout=300,
        )
        self.assertEqual(done.returncode, 0)
        text = done.stdout.decode("utf-8", "replace")
        # Typed lines are echoed.
        return "\n".join(line for line in text.splitlines() if not line.startswith("(lldb) "))

    def opened(self, *commands: str) -> str:
        return self.lldb("heapdump open " + self.dump, *commands)

    def test_commands_under_the_prefix_and_at_top_level(self) -> None:
        text = self.opened("gcroot 10", "heapdump gcroot 10", "heapdump do 20", "heapdump info")
        self.assertEqual(text.count("Found 2 unique roots"), 2)
        self.assertIn("A.Dict<System.String, System.Object>", text)
        self.assertIn("8 objects", self.opened("types"))
        for name in ("types", "fq", "dg", "pe", "lno", "da", "roots", "sql"):
            for prefix in ("", "heapdump "):
                self.assertNotIn("not a valid command", self.lldb(prefix + name))
        for name in ("export", "collect"):
            self.assertIn("not a valid command", self.lldb(name))
        self.assertNotIn("MethodTable", self.opened("do 20"))

    def test_the_stack_of_a_core_of_another_machine(self) -> None:
        """Its files are not here, and its processor is another one: LLDB knows no module of it."""
        packed = support.SOURCE / "corefiles" / "arm64-11.core.zst"
        core = os.path.join(self.folder, "arm64.core")
        subprocess.run(["zstd", "-dqf", str(packed), "-o", core], check=True)
        text = self.lldb("target create -c " + core, "thread select 7", "bt")
        self.assertIn("heapdump: .NET 11.0.0: bt, frame and breakpoint know its methods", text)
        self.assertRegex(text, r'managed`Work\.Do\(this=0x\w+, a=\(Node\), b=3, c="abc"\)')
        self.assertIn('managed`Program.Sleeper(o="arg")', text)
        self.assertIn("managed`System.Threading.Thread.StartCallback(", text)

    def test_report_in_a_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.html")
            self.assertIn("Wrote " + path, self.opened("report -o " + path))
            with open(path, encoding="utf-8") as file:
                self.assertTrue(file.read().endswith("</html>\n"))

    def test_prefix_alone_lists_the_commands(self) -> None:
        text = self.lldb("heapdump")
        for name in TOP_LEVEL + ["open", "close", "info"]:
            self.assertIn(f"{name} ", text)

    def test_errors(self) -> None:
        self.assertIn("error: ", self.lldb("gcroot 10"))
        self.assertIn("/nonexistent/file", self.lldb("heapdump open /nonexistent/file"))
        text = self.opened("gcroot 999", "gcroot", "heapdump nosuch", "gcroot 10")
        self.assertEqual(text.count("error: "), text.count("error: no object 999") + 1)
        self.assertIn("heapdump nosuch", text)
        self.assertIn("Found 2 unique roots", text)
        self.assertIn('"error"', self.opened("gcroot 999 --json"))

    def test_failure_ends_a_batch(self) -> None:
        argv = [LLDB, "--no-lldbinit", "-b", "-o", LOAD, "-o", "heapdump open " + self.dump]
        argv += ["-o", "gcroot 30", "-o", "gcroot 10", "-o", "gcroot 999", "-o", "dumpobj 20"]
        done = subprocess.run(argv, env=ENVIRONMENT, capture_output=True, timeout=300)
        text = done.stdout.decode("utf-8", "replace")
        self.assertIn("Found 2 unique roots", text)  # status 1 before it is a success
        self.assertNotIn("MethodTable", text)

    def test_expressions(self) -> None:
        self.assertIn("cannot evaluate '(8+8)': no target", self.opened("gcroot (8+8)"))
        text = self.opened("target create /bin/true", "gcroot (8+8)", "gcroot nosuch")
        self.assertIn("Found 2 unique roots", text)
        error = "error: cannot evaluate 'nosuch': use of undeclared identifier 'nosuch'"
        self.assertIn(error + "\n", text + "\n")
        self.assertNotIn("<user expression", text)
        self.assertIn("System.String[]", self.opened("dumpobj 1ce000+56"))

    def test_a_name_is_found_as_it_is_printed(self) -> None:
        name = b"Q\\u000a\\u001b[31m|\xff'"
        path = os.path.join(self.folder, "hostile.heap")
        with open(path, "wb") as file:
            file.write(b"a 2 x\nt 1 " + name + b"\no 100 1 18\nr 100 1 0\nc x\n")
        printed = r"Q\u000a\u001b[31m|\xff"
        text = self.lldb(
            "heapdump open " + path,
            "dumpheap -stat",
            f"dumpheap -short -type '{printed}'",
            'dumpheap -short -type "' + printed.replace("\\", "\\\\") + "'\"",
            "dumpheap -short -type Q\\\\u000a",
        )
        self.assertIn(printed + "'", text)
        self.assertEqual(text.splitlines().count("100"), 3, text)

    def test_messages_show_no_controls(self) -> None:
        text = self.opened("dumpobj (\x1b[31m\u202e)", "heapdump open no\x1b[31m\u202esuch")
        self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
        self.assertEqual(text.count("\\u001b[31m\\u202e"), 2)

    def test_quoted_words_reach_the_core_whole(self) -> None:
        for line in (
            "dumpheap -stat -type 'A.Dict<System.String, System.Object>'",
            'dumpheap -stat -type "It\'s"',
            "dumpheap -stat -type Café",
        ):
            self.assertIn("Total 1 object", self.opened(line), line)

    def test_help(self) -> None:
        for name in TOP_LEVEL + ["heapdump gcroot", "heapdump open"]:
            text = self.lldb("help " + name)
            self.assertIn("Syntax: " + name.split()[-1], text)
            self.assertIn("help options", text)
        # Which commands need the prefix cannot be guessed.
        text = " ".join(self.lldb("help heapdump").split())
        needed = text.split("Only these need the prefix: ")[1].split(".")[0].split(", ")
        self.assertLessEqual({"assert", "dq", "export", "memory"}, set(needed))
        self.assertFalse(set(needed) & set(TOP_LEVEL))

    def test_settings(self) -> None:
        for name, value in (("workers", "2"), ("width", "40"), ("max-mem", "1073741824")):
            text = self.lldb(
                f"heapdump set {name} {value}", f"heapdump set {name} x", f"heapdump set {name}"
            )
            self.assertIn("error: ", text)
            self.assertIn(value, text.splitlines()[-1])
        self.assertIn("error: ", self.lldb("heapdump set nosuch 1"))
        wide = self.opened("dumpheap -stat").splitlines()
        narrow = self.opened("heapdump set width 20", "dumpheap -stat").splitlines()
        self.assertEqual(len(wide), len(narrow))
        self.assertGreater(max(map(len, wide[2:])), 20)
        self.assertLess(max(map(len, narrow[2:])), max(map(len, wide[2:])))
        self.assertNotIn("\033", self.opened("gcroot 10"))
        self.assertIn("\033", self.opened("heapdump set color on", "gcroot 10"))

    def test_loading_twice_is_harmless(self) -> None:
        text = self.opened(LOAD, "gcroot 10")
        self.assertIn("Found 2 unique roots", text)
        self.assertNotIn("taken", text)

    def test_taken_names_stay(self) -> None:
        alias = "command alias gcroot version"
        text = self.lldb(alias, LOAD, "gcroot", "heapdump open " + self.dump, load=False)
        self.assertEqual(text.count("taken"), 1)
        self.assertIn("lldb version", text)
        text = self.lldb(
            alias,
            LOAD,
            "heapdump open " + self.dump,
            "heapdump gcroot 10",
            "dumpobj 20",
            load=False,
        )
        self.assertIn("Found 2 unique roots", text)
        self.assertIn("MethodTable", text)

    def test_other_heapdump_command_stays(self) -> None:
        text = self.lldb("command alias heapdump version", LOAD, "heapdump", "gcroot", load=False)
        self.assertIn("lldb version", text)
        self.assertIn("already", text)
        self.assertIn("not a valid command", text)

    def script(self, code: str) -> str:
        text = self.opened("script " + code)
        if "MARK" not in text:
            self.skipTest("this LLDB has no Python")
        return text

    def test_success_is_seen_by_the_api(self) -> None:
        run = (
            "r = lldb.SBCommandReturnObject(); i = lldb.debugger.GetCommandInterpreter(); "
            "i.HandleCommand('{}', r); print('MARK', r.Succeeded(), r.GetOutputSize() > 0)"
        )
        self.assertIn("MARK True True", self.script(run.format("gcroot 10")))
        self.assertIn("MARK True", self.script(run.format("gcroot 30")))
        self.assertIn("MARK False", self.script(run.format("gcroot 999")))
        self.assertIn("MARK True", self.script(run.format("heapdump set width 30")))

    def test_each_debugger_has_a_session(self) -> None:
        text = self.script(
            "d = lldb.SBDebugger.Create(); r = lldb.SBCommandReturnObject(); "
            "i = d.GetCommandInterpreter(); "
            f"i.HandleCommand('{LOAD}', r); i.HandleCommand('gcroot 10', r); "
            "print('MARK', r.Succeeded(), r.GetError()); lldb.SBDebugger.Destroy(d); "
            "lldb.debugger.HandleCommand('gcroot 10')"
        )
        self.assertIn("MARK False", text)
        self.assertIn("open", text)
        self.assertIn("Found 2 unique roots", text)


if __name__ == "__main__":
    if shutil.which(LLDB) is None or not os.path.exists(PLUGIN):
        print(f"skipped: no {LLDB}, or no plug-in for it")
        sys.exit(77)
    unittest.main()
