#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Frames of NativeAOT programs in GDB and LLDB: those of clrstack, without the program's file (doc/managed-elf.md 14).

The committed cores have no libc, without which debuggers see the managed frames only of a thread that runs managed code.
tests/oracle/check_managed_elf.py compares all frames of cores with their programs.
"""
from __future__ import annotations

import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

import gdb_batch
import support

sys.path.insert(0, str(support.SOURCE / "tests" / "oracle"))

import check_managed_elf  # noqa: E402
from session import ask  # noqa: E402

# Debuggers get at the code in different ways, but it is the same in all releases: one for each.
CORES = {"gdb": ("nativeaot8", "nativeaot11"), "lldb": ("nativeaot9", "nativeaot10")}


class FramesTest(unittest.TestCase):
    """The debuggers say the same as clrstack."""

    folder = Path()

    @classmethod
    def setUpClass(cls) -> None:
        folder = support.temporary_folder()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)

    def compare(self, name: str, stacks: dict[int, list[Any]], core: Path) -> None:
        answer = ask(str(support.BUILD / "heapdump"), core, ["clrstack -all"], ["--no-files"])[0]
        compared = 0
        for thread in answer["threads"]:
            frames = thread["frames"]
            if not frames or frames[0]["kind"] != "managed" or not frames[0].get("active"):
                continue
            for frame, found in zip(frames, stacks[thread["os_id"]]):
                expected = (int(frame["sp"], 16), int(frame["ip"], 16))
                self.assertEqual(expected, tuple(found[:2]), f"{name}: {frame['method']}")
                method = check_managed_elf.plain(frame["method"])
                self.assertEqual(method, check_managed_elf.plain(found[2]), name)
                compared += 1
        self.assertGreaterEqual(compared, 6, name)

    def unpack(self, name: str) -> Path:
        path = self.folder / f"{name}.core"
        packed = support.SOURCE / "corefiles" / f"{name}.core.zst"
        subprocess.run(["zstd", "-dqf", str(packed), "-o", str(path)], check=True)
        return path

    @unittest.skipUnless(shutil.which("gdb"), "there is no GDB")
    def test_gdb(self) -> None:
        for name in CORES["gdb"]:
            core = self.unpack(name)
            self.compare(name, check_managed_elf.gdb_stacks("", core, self.folder), core)

    @unittest.skipUnless(shutil.which("lldb-14"), "there is no LLDB")
    def test_lldb(self) -> None:
        for name in CORES["lldb"]:
            core = self.unpack(name)
            self.compare(name, check_managed_elf.lldb_stacks("", core, False), core)


# As the compiler writes types into the symbol file of a NativeAOT program.
TYPES = """
class Object {
      public:
	void *m_pEEType;
};
class String : public Object {
      public:
	int _stringLength;
	char16_t _firstChar;
};
class truth_Node : public Object {
      public:
	Object &other;
};
String *text;
truth_Node *node;
"""
# Objects of nativeaot10.core, of these types and of others, and how GDB shows them.
VALUES = (
    ("(String *) 0x7f1e07c08208", '"caught-2003"'),
    ("(String &) *(String *) 0x7f1e07c08208", '"caught-2003"'),
    ("(String *) 0", "null"),
    ("(Object &) *(Object *) 0x7f1e07c08190", "System.InvalidOperationException: caught-2003"),
    ("(String *) 0x5593943ae9c8", chr(34) * 2),
    ("(Object &) *(Object *) 0x7f1e07c04150", "(Node *) 0x7f1e07c04150"),
)


class ValuesTest(unittest.TestCase):
    """Values by the types of a symbol file, which are references of C++."""

    @unittest.skipUnless(shutil.which("gdb") and shutil.which("g++"), "there is no GDB or no g++")
    def test_gdb(self) -> None:
        with support.temporary_folder() as name:
            folder = Path(name)
            (folder / "types.cc").write_text(TYPES, encoding="utf-8")
            subprocess.run(["g++", "-g", "-c", "types.cc"], cwd=folder, check=True)
            packed = support.SOURCE / "corefiles" / "nativeaot10.core.zst"
            core = folder / "values.core"
            subprocess.run(["zstd", "-dqf", str(packed), "-o", str(core)], check=True)
            commands = [f"core-file {core}", f"add-symbol-file {folder / 'types.o'} 0x1000"]
            commands += [f"print {expression}" for expression, _ in VALUES]
            commands += ["print (truth_Node &) *(truth_Node *) 0x7f1e07c04150"]
            lines = gdb_batch.run_gdb(*commands).splitlines()
            found = [line.partition(" = ")[2] for line in lines if line.startswith("$")]
            self.assertEqual([shown for _, shown in VALUES], found[:-1])
            self.assertIn("other = ", found[-1])


if __name__ == "__main__":
    unittest.main()
