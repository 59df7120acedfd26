#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The documents: every line with a prompt in them is run, and prints what they show.

In a block between ``` lines, "$ " begins a command for the shell; what follows is its output. "..." is any text, in a
line or as a line of its own any number of lines. All commands of a page run in one folder, in their order.
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from shell_program import BUILD, SOURCE, TIMEOUT, environment

PAGES = [SOURCE / "README.md"] + sorted((SOURCE / "doc").glob("*.md"))
# Pages that must have commands: a test of a page without any says nothing.
WITH_COMMANDS = (
    "README.md",
    "leak.md",
    "hang.md",
    "crash.md",
    "ci.md",
    "sos.md",
    "eight-problems.md",
    "debug.md",
)


def gdb_is_usable() -> bool:
    """GDB is not built with AddressSanitizer, so it cannot load a library that is."""
    return shutil.which("gdb") is not None and not os.environ.get("HEAPDUMP_SANITIZED")


def lldb_is_usable() -> bool:
    """The same of LLDB; and its plug-in may have been left out."""
    has_plugin = (BUILD / "libheapdump_lldb.so").exists()
    return has_plugin and shutil.which("lldb-14") is not None and gdb_is_usable()


def missing_core(command: str) -> str | None:
    """A core in the command that scripts/make_corefiles.sh has not made."""
    for name in re.findall(r"corefiles/build/\S+", command):
        if not (SOURCE / name).exists():
            return str(name)
    return None


def blocks(text: str) -> list[list[str]]:
    """The lines of each fenced block that has a prompt."""
    found = re.findall(r"^```\n(.*?)^```$", text, re.M | re.S)
    return [block.splitlines() for block in found if re.search(r"^\$ ", block, re.M)]


def steps(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Commands with the lines that follow each."""
    result: list[tuple[str, list[str]]] = []
    for line in lines:
        # "$1 = ..." is GDB's own.
        if line.startswith("$ "):
            result.append((line[2:], []))
        elif result:
            result[-1][1].append(line)
    return result


def pattern(expected: list[str]) -> str:
    """The pattern that the output has to match."""
    parts = []
    for line in expected:
        if line == "...":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append(".*".join(re.escape(part) for part in line.split("...")) + "\n")
    return "".join(parts)


class Documents(unittest.TestCase):
    """One folder for each page, with the cores of the repository in it."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="heapdump-docs-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("corefiles", "tests", "gdb-plugin", "python"):
            (self.folder / name).symlink_to(SOURCE / name)
        (self.folder / "build").symlink_to(BUILD)

    def check(self, command: str, expected: list[str]) -> None:
        # GDB's plug-in finds the library in the build folder of the sources.
        env = environment(
            PATH=f"{BUILD}:{os.environ['PATH']}", HEAPDUMP_LIBRARY=str(BUILD / "libheapdump.so")
        )
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT,
            check=False,
        )
        output = done.stdout.decode()
        if output and not output.endswith("\n"):
            output += "\n"
        self.assertRegex(output, r"\A" + pattern(expected) + r"\Z", command)
        self.assertIn(done.returncode, (0, 1), f"{command}\n{output}")

    def test_every_command_prints_what_its_page_shows(self) -> None:
        for page in PAGES:
            commands = [step for block in blocks(page.read_text()) for step in steps(block)]
            if page.name in WITH_COMMANDS:
                self.assertTrue(commands, page.name)
            for command, expected in commands:
                if command.startswith("gdb ") and not gdb_is_usable():
                    print(f"skipped, there is no gdb for this build: {command}")
                    continue
                if command.startswith("lldb") and not lldb_is_usable():
                    print(f"skipped, there is no LLDB for this build: {command}")
                    continue
                missing = missing_core(command)
                if missing:
                    print(f"skipped, there is no {missing}: {command}")
                    continue
                with self.subTest(page=page.name, command=command):
                    self.check(command, expected)

    def test_all_say_the_same_version(self) -> None:
        done = subprocess.run([BUILD / "heapdump", "--version"], stdout=subprocess.PIPE, check=True)
        version = done.stdout.decode().split()[1]
        for name, found in (
            ("CMakeLists.txt", r"project\(heapdump VERSION ([\d.]+) "),
            ("CHANGELOG.md", r"\n## ([\d.]+)"),
            ("scripts/debian/changelog", r"\Aheapdump \(([\d.]+)-\d+\)"),
            ("core/cli/heapdump.1", r'"heapdump ([\d.]+)"'),
        ):
            with self.subTest(name):
                match = re.search(found, (SOURCE / name).read_text(encoding="utf-8"))
                self.assertIsNotNone(match)
                self.assertEqual(match[1] if match else "", version)

    def test_links_lead_somewhere(self) -> None:
        for page in PAGES + [
            SOURCE / name
            for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "MAINTAINERS.md")
        ]:
            for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
                with self.subTest(page=page.name, link=link):
                    self.assertTrue((page.parent / link).exists())


if __name__ == "__main__":
    unittest.main()
