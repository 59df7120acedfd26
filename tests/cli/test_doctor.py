#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command doctor: as root and as an ordinary user, in a container, and where things are missing."""
from __future__ import annotations

import csv
import ctypes
import functools
import io
import json
import os
import resource
import shutil
import subprocess
import unittest
from pathlib import Path
from typing import Any, Callable

from shell_program import BUILD, PROGRAM, TIMEOUT, environment, folder
from test_sandbox import without_system_calls

STATES = {"ok", "limited", "no"}
NAMES = [
    "gdb",
    "gdb-plugin",
    "gdb-library",
    "lldb",
    "lldb-plugin",
    "ptrace",
    "yama",
    "capability",
    "processes",
    "memory",
    "sandbox",
    "cores",
]
NOBODY = 65534
PR_SET_CHILD_SUBREAPER = 36


def doctor(
    *before: str, prepare: Callable[[], None] | None = None, **more: str
) -> tuple[int, dict[str, Any]]:
    """Status and rows by name; what is BEFORE the program runs it."""
    done = subprocess.run(
        [*before, PROGRAM, "doctor", "--format", "ndjson"],
        cwd=folder.name,
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
        preexec_fn=prepare,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.stderr == "", done.stderr
    return done.returncode, {row["what"]: row for row in rows}


class Doctor(unittest.TestCase):
    """Its answer about this machine."""

    def test_every_row_is_there_and_has_a_state(self) -> None:
        status, rows = doctor()
        self.assertEqual(list(rows), NAMES)
        for row in rows.values():
            self.assertIn(row["state"], STATES)
            self.assertTrue(row["found"])
            if row["state"] == "no":
                self.assertTrue(row["advice"])
        self.assertEqual(status, int(any(row["state"] == "no" for row in rows.values())))

    def test_the_library_that_the_environment_names(self) -> None:
        _, rows = doctor()
        self.assertEqual(rows["gdb-library"]["found"], os.path.realpath(BUILD / "libheapdump.so"))
        _, rows = doctor(HEAPDUMP_LIBRARY=str(PROGRAM))
        self.assertEqual(rows["gdb-library"]["found"], f"{PROGRAM}, which HEAPDUMP_LIBRARY names")
        status, rows = doctor(HEAPDUMP_LIBRARY="/no/such.so")
        self.assertEqual((status, rows["gdb-library"]["state"]), (1, "no"))
        self.assertIn("HEAPDUMP_LIBRARY names /no/such.so", rows["gdb-library"]["found"])
        self.assertIn("unset HEAPDUMP_LIBRARY", rows["gdb-library"]["advice"])

    def test_text_has_the_same_rows(self) -> None:
        done = subprocess.run(
            [PROGRAM, "doctor"], env=environment(), stdout=subprocess.PIPE, text=True, check=False
        )
        lines = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
        self.assertEqual([line.split()[0] for line in lines], ["What", *NAMES])

    def test_json_and_csv_have_the_same_rows(self) -> None:
        """Not in test_formats.py: how much memory is free changes from one run to the next."""
        asked = [
            subprocess.run(
                [PROGRAM, "doctor", "--format", name],
                env=environment(),
                stdout=subprocess.PIPE,
                text=True,
                check=False,
            ).stdout
            for name in ("json", "csv")
        ]
        checks = [row for row in json.loads(asked[0])["checks"] if row["what"] != "memory"]
        found = [row for row in csv.DictReader(io.StringIO(asked[1])) if row["what"] != "memory"]
        # No advice is null in JSON, and nothing in CSV.
        self.assertEqual([{k: v or None for k, v in row.items()} for row in found], checks)
        self.assertEqual(len(found), len(NAMES) - 1)

    def test_debuggers_of_path(self) -> None:
        _, rows = doctor()
        gdb = shutil.which("gdb")
        if gdb:
            python = subprocess.run(
                [gdb, "-nx", "-batch", "-ex", "python import sys; print(sys.version_info[:2])"],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            ).stdout
            major, minor = python.strip("()\n").split(", ")
            self.assertEqual(rows["gdb"]["found"], f"{gdb} with python{major}.{minor}")
        status, rows = doctor(PATH="/nowhere:.")
        self.assertEqual((rows["gdb"]["state"], rows["lldb"]["state"], status), ("no", "no", 1))

    def test_nothing_of_path_is_run(self) -> None:
        place = Path(folder.name) / "bin"
        place.mkdir(exist_ok=True)
        for name in ("gdb", "lldb", "lldb-14"):
            (place / name).write_text(f"#!/bin/sh\ntouch {folder.name}/was-run\n", encoding="ascii")
            (place / name).chmod(0o755)
        _, rows = doctor(PATH=str(place))
        self.assertEqual(rows["gdb"]["found"], f"{place}/gdb, which is not linked with Python")
        self.assertEqual(rows["gdb"]["state"], "no")
        self.assertEqual(rows["lldb"]["found"], f"{place}/lldb")
        self.assertFalse((Path(folder.name) / "was-run").exists())

    def test_a_program_of_path_may_be_anything(self) -> None:
        place = Path(folder.name) / "odd"
        place.mkdir(exist_ok=True)
        # The name begins at the end of what is read at a time.
        for before in (65536 - 4, 65536 - 14, 3 * 65536 - 70):
            (place / "gdb").write_bytes(b"x" * before + b"libpython3.99.so.1.0\0" + b"y" * 100)
            (place / "gdb").chmod(0o755)
            _, rows = doctor(PATH=str(place))
            self.assertEqual(rows["gdb"]["found"], f"{place}/gdb with python3.99")
        (place / "gdb").write_bytes(b"libpython3.\x1b[31m.so libpython3." + b"1" * 100)
        _, rows = doctor(PATH=str(place))
        self.assertEqual(rows["gdb"]["state"], "no")
        (place / "gdb").unlink()
        os.mkfifo(place / "gdb", 0o755)
        _, rows = doctor(PATH=str(place))
        self.assertEqual(rows["gdb"]["found"], "no gdb in PATH")

    def test_plugins_of_the_build(self) -> None:
        _, rows = doctor()
        if (BUILD / "libheapdump_lldb.so").exists():
            found = str((BUILD / "libheapdump_lldb.so").resolve())
            self.assertEqual(rows["lldb-plugin"]["found"], found)
        self.assertIn("heapdump.py", rows["gdb-plugin"]["found"])

    def test_ptrace_that_is_refused(self) -> None:
        # LeakSanitizer needs it.
        options = {"ASAN_OPTIONS": "detect_leaks=0"}
        refuse = functools.partial(without_system_calls, "ptrace")
        status, rows = doctor(prepare=refuse, **options)
        self.assertEqual((rows["ptrace"]["state"], status), ("no", 1))
        self.assertIn("Function not implemented", rows["ptrace"]["found"])
        self.assertIn("SYS_PTRACE", rows["ptrace"]["advice"])

    def test_kernels_without_a_sandbox(self) -> None:
        calls = ("seccomp", "landlock_create_ruleset")
        status, rows = doctor(prepare=functools.partial(without_system_calls, *calls))
        self.assertEqual((rows["sandbox"]["state"], status), ("no", 1))
        _, rows = doctor(prepare=functools.partial(without_system_calls, calls[1]))
        self.assertEqual(rows["sandbox"]["state"], "ok")
        self.assertIn("no Landlock", rows["sandbox"]["found"])

    def test_limits(self) -> None:
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if not os.environ.get("HEAPDUMP_SANITIZED"):
                resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))

        _, rows = doctor(prepare=limit)
        pattern = Path("/proc/sys/kernel/core_pattern").read_text(encoding="utf-8")
        if not pattern.startswith("|"):
            self.assertEqual(rows["cores"]["state"], "limited")
            self.assertIn("ulimit -c is 0", rows["cores"]["found"])
        if not os.environ.get("HEAPDUMP_SANITIZED"):
            self.assertEqual(rows["memory"]["found"], "ulimit -v leaves 512 MB")

    @unittest.skipIf(os.getuid() != 0, "only root can be two users")
    def test_root_and_an_ordinary_user(self) -> None:
        has = int(Path("/proc/self/status").read_text("ascii").split("CapEff:")[1].split()[0], 16)
        _, rows = doctor()
        self.assertEqual(rows["capability"]["state"], "ok" if has >> 19 & 1 else "limited")
        setpriv = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        program = [*setpriv, "test", "-x", PROGRAM]
        if subprocess.run(program, check=False).returncode != 0:
            self.skipTest("another user cannot run the program")
        _, rows = doctor(*setpriv)
        self.assertEqual(rows["capability"]["state"], "limited")
        self.assertIn(f"only processes of user {NOBODY}", rows["capability"]["found"])
        # One's own children are one's own, unless Yama forbids everything.
        scope = Path("/proc/sys/kernel/yama/ptrace_scope")
        if not scope.exists() or scope.read_text("ascii").strip() in "01":
            self.assertEqual(rows["ptrace"]["state"], "ok")

    @unittest.skipIf(os.getuid() != 0, "only root can make a pid namespace")
    def test_a_container(self) -> None:
        _, rows = doctor("unshare", "--pid", "--fork", "--mount-proc")
        self.assertEqual(rows["processes"]["state"], "limited")
        self.assertIn("this is a container", rows["processes"]["found"])

    def test_its_child_goes(self) -> None:
        """A process that the trial leaves would become a child of ours."""
        prctl = ctypes.CDLL(None).prctl
        self.assertEqual(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0)
        self.addCleanup(prctl, PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        doctor()
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)


if __name__ == "__main__":
    unittest.main()
