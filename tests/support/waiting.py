# SPDX-License-Identifier: MIT
"""Wait until another process is where a test wants it, however long a busy machine takes for that.

A sleep does not do this: on a busy machine it ends too early. Where a process cannot say where it is, /proc tells it,
or the process is stopped.
"""
from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Callable, Iterator, TypeVar

# Seconds. Only a test that hangs takes so long.
LIMIT = 300
# A thread that has had the processor for so many seconds spins, and is not on its way into a wait.
SPINS = 0.2
# So often in a row all threads of a process must rest.
LOOKS = 3
Value = TypeVar("Value")


def wait_until(condition: Callable[[], Value], what: str) -> Value:
    """The value that CONDITION returns when it is true at last; WHAT is waited for, in the words of a failure."""
    end = time.monotonic() + LIMIT
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"this did not happen within {LIMIT} seconds: {what}")
        time.sleep(0.005)
    return value


def thread_files(pid: int, name: str) -> dict[int, str]:
    """This file of /proc for each thread of a process, by the thread's id; a thread that ends has none."""
    texts = {}
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                texts[int(task.name)] = (task / name).read_text("utf-8", "replace")
    return texts


def states(pid: int) -> dict[int, tuple[str, float]]:
    """The letter of each thread's state, and the seconds of processor time that it has had."""
    found = {}
    for thread, text in thread_files(pid, "stat").items():
        words = text.rpartition(")")[2].split()
        ticks = int(words[11]) + int(words[12])
        found[thread] = (words[0], ticks / os.sysconf("SC_CLK_TCK"))
    return found


def family(pid: int) -> list[int]:
    """A process and all that it has started."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(path.read_text("utf-8", "replace").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(path.parent.name))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def wait_until_rest(pid: int) -> None:
    """
    Wait until every thread of a process, and of those that it has started, sleeps, is stopped, has ended, or spins.
    A signal or input that was sent before has been handled then: it makes its thread ready to run at once.
    """
    begin: dict[int, float] = {}
    looks = 0

    def all_rest() -> bool:
        nonlocal looks
        looks += 1
        for one in family(pid):
            for thread, (letter, seconds) in states(one).items():
                if letter not in "STtZX" and seconds - begin.setdefault(thread, seconds) < SPINS:
                    looks = 0
        return looks >= LOOKS

    wait_until(all_rest, f"the threads of process {pid} rest")


def seconds_of(pid: int) -> float:
    """The processor time of a process and of those that it has started."""
    return sum(seconds for one in family(pid) for _, seconds in states(one).values())


def is_in(pid: int, *places: str) -> bool:
    """Does a thread of a process, or of one that it has started, sleep in one of these functions of the kernel?"""
    return any(
        place in text
        for one in family(pid)
        for text in thread_files(one, "wchan").values()
        for place in places
    )


def switches(pid: int) -> int:
    """How often the first thread of a process began to wait. While it sleeps, only a debugger's stops change that."""
    text = Path(f"/proc/{pid}/status").read_text("utf-8", "replace")
    return int(text.split("\nvoluntary_ctxt_switches:")[1].split()[0])


def wants_terminal(pid: int) -> bool:
    """Does a process, or one that it has started, wait to write to a terminal whose output is stopped?"""
    return is_in(pid, "wait_woken", "n_tty_write")


def wait_until_terminal_is_full(pid: int) -> None:
    """Wait until a process, or one that it has started, wants to write to a terminal whose output is stopped."""
    wait_until(lambda: wants_terminal(pid), f"process {pid} waits for its terminal")


@contextlib.contextmanager
def stopped(pid: int) -> Iterator[None]:
    """No thread of the process runs while the block does."""
    os.kill(pid, signal.SIGSTOP)
    try:
        wait_until(
            lambda: all(letter in "TtZX" for letter, _ in states(pid).values()),
            f"process {pid} stops",
        )
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
