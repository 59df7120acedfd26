#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Names of native functions that their library does not export: of a live program and of its core, in the shell, in GDB
and in LLDB. The library comes between the program and the C library, so that threads wait in a function of it.
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from shell_program import SOURCE, run, waiting

sys.path.insert(0, str(SOURCE / "tests" / "gdb"))
sys.path.insert(0, str(SOURCE / "tests" / "lldb"))

# pylint: disable=wrong-import-position
import targets  # noqa: E402
from gdb_batch import run_gdb  # noqa: E402
from test_lldb_target import LLDB, PLUGIN, run_lldb  # noqa: E402

LIBRARY_TEXT = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>
typedef int waiter(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static waiter *wait_of_libc;
__attribute__((constructor)) static void find(void)
{
	wait_of_libc = (waiter *)dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
}
__attribute__((noinline)) static int wait_in_secret(pthread_cond_t *condition, pthread_mutex_t *mutex,
						    const struct timespec *end)
{
	int result = wait_of_libc(condition, mutex, end);
	__asm__ volatile("" ::: "memory"); /* so that it is not a jump */
	return result;
}
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *end)
{
	int result = wait_in_secret(condition, mutex, end);
	__asm__ volatile("" ::: "memory");
	return result;
}
"""
NAMED = r"libsecret\.so!wait_in_secret\+0x"
EXPORTED = r"libsecret\.so!pthread_cond_timedwait\+0x"
PLACE = r"libsecret\.so\+0x"


def build(folder: Path) -> tuple[Path, Path, Path]:
    """The library without symbols; the same with them; its symbols as a file. All have one build-id."""
    source, whole = folder / "secret.c", folder / "whole" / "libsecret.so"
    stripped, symbols = folder / "libsecret.so", folder / "symbols" / "libsecret.so.debug"
    source.write_text(LIBRARY_TEXT, encoding="ascii")
    whole.parent.mkdir()
    symbols.parent.mkdir()
    options = ["-shared", "-fPIC", "-O1", "-g", "-Wl,--build-id=sha1", "-Wl,-soname,libsecret.so"]
    subprocess.run(["gcc", *options, "-o", whole, source, "-ldl"], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", whole, symbols], check=True)
    subprocess.run(
        ["objcopy", "--strip-all", f"--add-gnu-debuglink={symbols}", whole, stripped], check=True
    )
    return stripped, whole, symbols


class NativeNames(unittest.TestCase):
    """One program whose threads wait in the library, and its core."""

    folder: Path
    library: Path
    whole: Path
    symbols: Path
    child: targets.Child
    core: str

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="heapdump-native-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.library, cls.whole, cls.symbols = build(cls.folder)
        words = ["env", f"LD_PRELOAD={cls.library}", "dotnet", str(targets.FACTS)]
        cls.child = targets.Child(words)
        cls.addClassCleanup(cls.child.end)
        waiting.wait_until_rest(cls.child.pid)
        cls.core = str(cls.folder / "native.core")
        run_gdb(f"generate-core-file {cls.core}", options=("-p", str(cls.child.pid)))

    def tearDown(self) -> None:
        (self.folder / self.symbols.name).unlink(missing_ok=True)

    def targets(self) -> tuple[str, str]:
        """The program and its core."""
        return str(self.child.pid), self.core

    def stacks(self, target: str, *options: str) -> str:
        """All stacks with their native frames, in the shell."""
        done = run(*options, target, "clrstack", "-all", "-f")
        self.assertEqual(done.status, 0, done.err)
        self.assertRegex(done.out, EXPORTED)
        return done.out

    def check(self, text: str, is_named: bool) -> None:
        """Does the function that is not exported have its name everywhere, or nowhere?"""
        self.assertRegex(text, NAMED if is_named else PLACE)
        self.assertNotRegex(text, PLACE if is_named else NAMED)

    def test_without_symbols_there_is_the_place(self) -> None:
        for target in self.targets():
            self.check(self.stacks(target), False)

    def test_a_symbol_file_below_symbols(self) -> None:
        for target in self.targets():
            text = self.stacks(target, "--symbols", str(self.symbols.parent))
            self.check(text, True)
            # The library itself, with its symbols, is as good.
            self.check(self.stacks(target, "--symbols", str(self.whole.parent)), True)

    def test_without_files_only_those_that_the_user_names(self) -> None:
        # The core lacks the code of libraries, so that its stacks cannot be walked without files.
        target = str(self.child.pid)
        shutil.copy(self.symbols, self.folder)
        self.check(self.stacks(target, "--no-files"), False)
        text = self.stacks(target, "--no-files", "--symbols", str(self.symbols.parent))
        self.check(text, True)

    def test_the_file_that_gnu_debuglink_names(self) -> None:
        shutil.copy(self.symbols, self.folder)
        for target in self.targets():
            self.check(self.stacks(target), True)
        # One byte more, and the CRC is another one.
        with open(self.folder / self.symbols.name, "ab") as file:
            file.write(b"\0")
        for target in self.targets():
            self.check(self.stacks(target), False)

    def test_the_own_file_with_its_symbols(self) -> None:
        root = self.folder / "root"
        place = root / str(self.library).lstrip("/")
        place.parent.mkdir(parents=True)
        self.addCleanup(shutil.rmtree, root)
        shutil.copy(self.whole, place)
        self.check(self.stacks(str(self.child.pid), "--sysroot", str(root)), True)

    def test_another_build_is_refused(self) -> None:
        other = self.folder / "other"
        other.mkdir()
        self.addCleanup(shutil.rmtree, other)
        data = bytearray(self.symbols.read_bytes())
        notes = subprocess.run(
            ["readelf", "-n", self.symbols], check=True, capture_output=True, text=True
        )
        found = re.search(r"Build ID: ([0-9a-f]+)", notes.stdout)
        assert found
        data[data.index(bytes.fromhex(found[1]))] ^= 1
        (other / self.symbols.name).write_bytes(data)
        for target in self.targets():
            words = ("--symbols", str(other), target, "clrstack", "-all", "-f")
            done = run(*words)
            self.check(done.out, False)
            self.assertIn("is of another build", done.err)

    def test_in_gdb(self) -> None:
        lines = ("clrstack -all -f", f"set heapdump symbols {self.symbols.parent}")
        for options in (("-p", str(self.child.pid)), ("-c", self.core)):
            self.check(run_gdb(lines[0], options=options), False)
            self.check(run_gdb(lines[1], lines[0], options=options), True)

    @unittest.skipUnless(shutil.which(LLDB) and os.path.exists(PLUGIN), "no LLDB")
    def test_in_lldb(self) -> None:
        lines = ("clrstack -all -f", f"heapdump set symbols {self.symbols.parent}")
        for options in (("-p", str(self.child.pid)), ("-c", self.core)):
            first, _, second = run_lldb(lines[0], lines[1], lines[0], options=options)
            self.check(first, False)
            self.check(second, True)


if __name__ == "__main__":
    if shutil.which("dotnet") is None or not targets.FACTS.exists():
        print(f"skipped: no dotnet, or no {targets.FACTS}")
        sys.exit(77)
    unittest.main()
