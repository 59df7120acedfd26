# SPDX-License-Identifier: MIT
"""Sourced by GDB in live_campaign.py: it steps through managed code, and compares what GDB shows with what must be."""
from __future__ import annotations

import struct
from typing import Any

import gdb

MASK = (1 << 64) - 1
# Where a shadow of the stack begins: nothing returns from there.
OUTERMOST = 1 << 63
CALL_SIZE_MAX = 7


def quiet(command: str) -> str:
    return str(gdb.execute(command, to_string=True))


def register(name: str) -> int:
    return int(gdb.newest_frame().read_register(name)) & MASK


def word(address: int) -> int:
    data = bytes(gdb.selected_inferior().read_memory(address, 8))
    return int(struct.unpack("<Q", data)[0])


def name_of(frame: Any) -> str:
    return str(frame.name() or "")


def single_steps(count: int) -> None:
    """Execute instructions of the program's methods one by one: is the caller right at each of them?"""
    # Where the method and its caller return to, and where on the stack that is.
    caller = gdb.newest_frame().older()
    shadow = [int(frame.pc()) & MASK for frame in (caller.older(), caller)]
    places = [OUTERMOST, (int(caller.read_register("sp")) & MASK) - 8]
    checks = wrong = passed = 0
    seen = set()
    while checks < count:
        frame = gdb.newest_frame()
        pc, sp = int(frame.pc()) & MASK, register("sp")
        while len(places) > 1 and sp > places[-1]:
            places.pop()
            shadow.pop()
        if "Many." not in name_of(frame):
            # Code of the framework and of the runtime: on to where it returns.
            passed += 1
            quiet(f"advance *{shadow[-1]:#x}")
            continue
        checks += 1
        seen.add(pc)
        older = frame.older()
        if older is None or int(older.pc()) & MASK != shadow[-1]:
            wrong += 1
            print("WRONG", name_of(frame), hex(pc), older and hex(int(older.pc())), hex(shadow[-1]))
        quiet("stepi")
        after = register("sp")
        if after == sp - 8 and pc < word(after) <= pc + CALL_SIZE_MAX:
            shadow.append(word(after))
            places.append(after)
    print(f"STEPPED {checks} wrong {wrong} places {len(seen)} passed {passed}")


def lines(count: int, command: str) -> None:
    """Step by lines: which methods and lines come."""
    for _ in range(count):
        quiet(command)
        frame = gdb.newest_frame()
        print("AT", name_of(frame), frame.find_sal().line)
