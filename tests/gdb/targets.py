# SPDX-License-Identifier: MIT
"""Tests of the debugger plug-ins on live processes and cores share this."""
from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import support

COREFILES = support.SOURCE / "corefiles" / "build"
FACTS = COREFILES / "apps" / "facts-net10.0" / "facts.dll"
CHURN = COREFILES / "apps" / "churn-net10.0" / "churn.dll"
PROGRAM = str(support.BUILD / "heapdump")
# A debugger must answer these as the shell does, about a core.
OF_CORES = ("eeheap", "dumpheap -stat", "clrstack -all -roots", "gchandles", "finalizequeue")

SOURCE_TEXT = """
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
volatile int number = 42;
void marker(void) { number++; }
static void *rest(void *arg) { for (;;) pause(); return arg; }
int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argv;
    if (argc > 1)
        pthread_create(&thread, NULL, rest, NULL);
    for (int i = 0; i < 4; i++)
        marker();
    puts("READY");
    fflush(stdout);
    for (int i = 0; argc > 1 && i < 600; i++)
        usleep(100000);
    return 0;
}
"""


def compile_program(folder: str) -> str:
    """A C program that calls marker() four times; with an argument it has a thread, and waits."""
    source = os.path.join(folder, "plain.c")
    with open(source, "w", encoding="ascii") as file:
        file.write(SOURCE_TEXT)
    program = os.path.join(folder, "plain")
    subprocess.run(["gcc", "-g", "-O0", "-pthread", "-o", program, source], check=True)
    return program


def core(name: str) -> str | None:
    """Path of a core that scripts/make_corefiles.sh makes; says so when it is not there."""
    path = COREFILES / (name + ".core")
    if path.exists():
        return str(path)
    print(f"skipped: no {path} (scripts/make_corefiles.sh)", flush=True)
    return None


def state(pid: int) -> str:
    """Letter of a process's state."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rsplit(b")", 1)[1].split()[0].decode("ascii")


def threads(pid: int) -> list[int]:
    """Numbers of a process's threads."""
    return [int(name) for name in os.listdir(f"/proc/{pid}/task")]


def wait_for_state(pid: int, letters: str, seconds: float = 300) -> str:
    """The state once it is one of ``letters``, or the last one seen."""
    end = time.monotonic() + seconds
    now = state(pid)
    while now not in letters and time.monotonic() < end:
        time.sleep(0.02)
        now = state(pid)
    return now


class Child:
    """A process of ours that printed its first line; ``line`` is that."""

    def __init__(self, argv: list[str]) -> None:
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()
        self.pid = self.process.pid

    def end(self) -> None:
        try:
            self.process.send_signal(signal.SIGKILL)
        finally:
            self.process.communicate()


def start_facts() -> tuple[Child, dict[str, Any]] | None:
    """The program that knows its own heap, and what it says about it."""
    if shutil.which("dotnet") is None or not FACTS.exists():
        print(f"skipped: no dotnet, or no {FACTS}", flush=True)
        return None
    child = Child(["dotnet", str(FACTS)])
    return child, json.loads(child.line)


def some_objects(truth: dict[str, Any]) -> list[dict[str, Any]]:
    """Objects of plain kinds, with type and size."""
    names = ("string.built", "string.long", "array.int", "array.string", "array.2d.int")
    return [row for row in truth["objects"] if row["name"] in names]


def gcroot_lines(truth: dict[str, Any]) -> list[str]:
    """A gcroot of each object that the program keeps alive in one way, or in none."""
    assert len(truth["roots"]) > 20
    return [f"gcroot {row['address']} --json" for row in truth["roots"]]


def check_gcroots(truth: dict[str, Any], answers: list[str]) -> None:
    """Do the answers to gcroot_lines() name what the program says?"""
    assert len(answers) == len(truth["roots"])
    for row, answer in zip(truth["roots"], answers):
        found = document(answer)
        assert found["reachable"] == (row["kind"] != "none"), (row, answer)
        kinds = {root["kind"] for root in found["roots"] if not root["weak"]}
        if row["alone"] and row["kind"] != "none":
            assert kinds == {row["kind"]}, (row, answer)


def check_stacks(truth: dict[str, Any], text: str) -> None:
    """Is each thread of the program, that it says to run, in a method of its own in a clrstack?"""
    blocks = dict(re.findall(r"(?m)^OS Thread Id: 0x([0-9a-f]+) .*\n((?:.+\n?)*)", text))
    assert len(truth["threads"]) > 5
    for thread in truth["threads"]:
        method = "Facts.Program.Main" if thread["name"] == "main" else "Facts.Threads.Body"
        assert method in blocks[f"{thread['os_id']:x}"], (thread, text)


def check_numbers(numbers: dict[int, int], text: str) -> None:
    """Does a clrthreads give each thread the debugger's own number of it?"""
    rows = re.findall(r"(?m)^ *(\d+|XXXX) +\d+ +([0-9a-f]+) [0-9A-F]{16} ", text)
    assert len([row for row in rows if row[0] != "XXXX"]) > 2, text
    for number, os_id in rows:
        expected = numbers.get(int(os_id, 16))
        assert number == ("XXXX" if expected is None else str(expected)), (os_id, numbers, text)


def shell(*argv: str) -> str:
    """The answer of the shell program."""
    done = subprocess.run(
        [PROGRAM, *argv], env=support.ENVIRONMENT, stdout=subprocess.PIPE, timeout=300, check=False
    )
    return done.stdout.decode("utf-8", "replace")


def document(text: str) -> Any:
    """The JSON document in what a debugger said."""
    start = text.index('{"schema"')
    return json.JSONDecoder().raw_decode(text[start:])[0]
