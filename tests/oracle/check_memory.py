#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The account of `memory` has what a program took, in the rows where it belongs.

    check_memory.py [quick] [FLAVOUR...]

corefiles/apps/memory runs twice: once it takes nothing, once known amounts of each sort of memory. What the second
account has more than the first one is compared with what the program says that it took: within 2 % and 256 KB. Each
account has to add up: that of a process, which is stopped for it, to what smaps says, that of a core to the bytes of its file. What malloc has
is compared with what mallinfo2() said in the program. Both processes are looked at while they run, then in cores by
createdump, gcore and the kernel, next to which -against has the process. `quick`: only .NET 10, and no cores.
"""
from __future__ import annotations

import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import live

Json = dict[str, Any]
FLAVOURS = ["net10.0", "net9.0", "net8.0"]
KB = 1024
# The line that tells what mallinfo2() has said takes memory itself.
TOLD = 64 * KB
PAGE = 4096
# The pieces of malloc that are planted as small: 200 bytes asked for, malloc's 8, rounded up to 16.
SMALL = 208
# A program that takes nothing has hardly a page that nobody claims.
UNKNOWN = 4 * PAGE
# The kernel rounds down the kilobytes of each mapping.
PSS_ROUNDED = 2 * KB * KB
# Memory that no other process has: its share of these pages is all of them. Of others it changes when processes come or go.
PRIVATE = "malloc-used malloc-free malloc-mapped stack-used stack-below gen0 gen1 gen2 loh poh"


class Account:
    """An answer of `memory -detail -live`."""

    def __init__(self, target: str):
        self.answer = live.heapdump(target, "memory", "-detail", "-live", allowed=(0,))
        self.rows: list[Json] = self.answer["rows"]

    def sum(self, kinds: str, owner: str = "", column: str = "resident") -> int:
        """Bytes in memory of the kinds, separated by spaces, of owners that have these letters in them."""
        return sum(
            # A core has what was never used as zeros.
            row[column] if "resident" in row else row["in_core"] - row["zeros"]
            for row in self.rows
            if row["kind"] in kinds.split() and owner in row.get("owner", "")
        )

    def gaps(self) -> int:
        """Free bytes between the objects of GENERATIONS: a collection may sweep, or compact."""
        rows: list[Json] = self.answer["generations"]
        return sum(row["free"] for row in rows if row["generation"] in GENERATIONS.split())

    def rows_of(self, kind: str, owner: str) -> int:
        """How many rows have these letters in the name of their owner."""
        return sum(row["kind"] == kind and owner in row["owner"] for row in self.rows)


GENERATIONS = "gen0 gen1 gen2"
CODE = "code-heap loader-heap stubs code-view code-rest"

# Planted memory, by the words of the program's truth; the kinds of the rows that have it, and letters of the owner.
PLACES: list[tuple[str, str, str]] = [
    ("malloc_small malloc_freed malloc_threads malloc_runtime", "malloc-used", ""),
    ("malloc_freed", "malloc-free", ""),
    ("malloc_large", "malloc-mapped", ""),
    ("shared", "shared", ""),
    ("memfd", "memfd", "planted-memory"),
    ("file", "file", "planted.bin"),
    ("stack_used", "stack-used", "planted-user-"),
    ("stack_below", "stack-below", "planted-idle-"),
    ("objects pinned objects_runtime", GENERATIONS, ""),
    ("poh", "poh", ""),
    ("loh loh_dead", "loh", ""),
    ("methods contexts", CODE, ""),
]


def is_near(value: int, expected: int) -> bool:
    """Within 2 % and 256 KB."""
    return abs(value - expected) <= expected * 2 // 100 + 256 * KB


def check_planted(all_of_it: Account, nothing: Account, planted: Json, lost: str) -> list[str]:
    """Planted memory is where it should be; LOST kinds cannot be told from unknown memory."""
    bad = []
    # Half of it was written.
    unknown = planted["mapped"] // 2
    for words, kinds, owner in PLACES:
        expected = sum(planted[word] for word in words.split())
        value = all_of_it.sum(kinds, owner) - nothing.sum(kinds, owner)
        if kinds == GENERATIONS:
            value -= all_of_it.gaps() - nothing.gaps()
        if kinds in lost.split():
            unknown += expected
            expected = 0
        if not is_near(value, expected):
            bad.append(f"{words}: planted {expected:,}, found in {kinds} {owner}: {value:,}")
    value = all_of_it.sum("unknown") - nothing.sum("unknown")
    if not is_near(value, unknown):
        bad.append(f"what nobody has: {unknown:,}, unknown: {value:,}")
    for account, count in ((nothing, 0), (all_of_it, planted["contexts_count"])):
        found = account.rows_of("code-heap", "collectible")
        if found < count or bool(found) != bool(count):
            bad.append(f"{count} contexts, {found} code heaps of contexts")
    return bad


def check_sizes(account: Account, pieces: int) -> list[str]:
    """Size classes have all pieces of the arenas, and those that are mapped on their own."""
    sizes, arenas, malloc = (account.answer[name] for name in ("sizes", "arenas", "malloc"))
    pairs = [
        ("pieces", sum(row["used_pieces"] + row["free_pieces"] for row in sizes), pieces),
        ("used", sum(row["used"] for row in sizes), sum(arena["used"] for arena in arenas)),
        ("free", sum(row["free"] for row in sizes), sum(arena["free"] for arena in arenas)),
    ]
    more = {"pieces": malloc["mapped_pieces"], "used": malloc["mapped_bytes"]}
    return [
        f"sizes: {what}: {value:,}, not {expected + more.get(what, 0):,}"
        for what, value, expected in pairs
        if value != expected + more.get(what, 0)
    ]


def size_class(account: Account, size: int) -> Json:
    """The size class of pieces of SIZE bytes; they have one of their own."""
    for row in account.answer["sizes"]:
        if (row["from"], row.get("to")) == (size, size):
            return dict(row)
    return {"used_pieces": 0, "used": 0}


def check_malloc(account: Account, known: Json) -> list[str]:
    """Compare with what mallinfo2() said in the program."""
    arenas = account.answer["arenas"]

    def total(column: str) -> int:
        return sum(arena[column] for arena in arenas)

    pairs = [
        ("bytes of arenas", total("system"), known["arena"]),
        ("free bytes", total("free") + total("top"), known["free"] - known["fast"]),
        ("bytes in use", total("used"), known["used"] + known["fast"]),
        ("bytes of large pieces", account.answer["malloc"]["mapped_bytes"], known["mapped"]),
    ]
    bad = [
        f"malloc: {what}: {value:,}, mallinfo2() {expected:,}"
        for what, value, expected in pairs
        if abs(value - expected) > TOLD
    ]
    if account.answer["malloc"]["mapped_pieces"] != known["mapped_pieces"]:
        bad.append(f"malloc: {account.answer['malloc']['mapped_pieces']} large pieces")
    bad += check_sizes(account, total("pieces"))
    for arena in arenas:
        if "damaged_at" in arena:
            bad.append(f"malloc: the arena {arena['address']} is said to be damaged")
    return bad


def smaps_of(pid: int) -> Json:
    """The kernel's sums of all mappings."""
    sums = {"Rss": 0, "Swap": 0}
    for line in Path(f"/proc/{pid}/smaps").read_text("utf-8").splitlines():
        word = line.split(":")[0]
        if word in sums:
            sums[word] += KB * int(line.split()[1])
    return sums


def check_sums(account: Account, columns: list[str]) -> list[str]:
    """Rows add up to the total, and groups do."""
    bad = []
    for column in columns:
        total = account.answer["total"][column]
        for table in ("rows", "groups"):
            value = sum(row[column] for row in account.answer[table])
            if value != total:
                bad.append(f"{table}: {column} adds up to {value:,}, not {total:,}")
    if not account.answer["complete"]:
        bad.append("the account is not complete")
    return bad


def check_live(account: Account, before: Json, after: Json) -> list[str]:
    """Compare a stopped process with smaps before and after: the kernel may take pages of files away."""
    bad = check_sums(account, ["resident", "pss", "swap"])
    total = account.answer["total"]
    for word, column in (("Rss", "resident"), ("Swap", "swap")):
        if not min(before[word], after[word]) <= total[column] <= max(before[word], after[word]):
            bad.append(f"{column}: {total[column]:,}, smaps {before[word]:,}, {after[word]:,}")
    share, private = account.sum(PRIVATE, column="pss"), account.sum(PRIVATE)
    if (
        not private
        or abs(share - private) > PSS_ROUNDED
        or not share < total["pss"] < total["resident"]
    ):
        bad.append(
            f"pss: {total['pss']:,}, {share:,} of {private:,} bytes that only this process has"
        )
    if account.sum("linker") not in range(PAGE, 16 * PAGE):
        bad.append(f"the dynamic linker's own: {account.sum('linker'):,}")
    if account.sum("changed") or any(row["kind"] == "changed" for row in account.rows):
        bad.append(f"changed: {account.sum('changed'):,} of a process that is stopped")
    return bad


# Accounts of a stopped process until the kernel leaves it alone meanwhile.
LOOKS_MAX = 20


def read_live(pid: int) -> tuple[Account, list[str]]:
    """
    The account of a process and what is wrong with it.  The process is stopped, but the kernel may still move or take
    away a page of it while the account is made: then the account says so, and another one is asked for.
    """
    with live.waiting.stopped(pid):
        for left in reversed(range(LOOKS_MAX)):
            before = smaps_of(pid)
            account = Account(str(pid))
            bad = check_live(account, before, smaps_of(pid))
            if not left or not account.sum("changed"):
                break
        return account, bad


def core_bytes(core: Path) -> int:
    """The bytes of a core's memory that its file has."""
    with core.open("rb") as file:
        header = file.read(64)
        (offset,) = struct.unpack_from("<Q", header, 32)
        size, count, section_size, sections = struct.unpack_from("<HHHH", header, 54)
        if count == 0xFFFF:
            raise AssertionError(f"{core}: {sections} sections of {section_size} bytes")
        file.seek(offset)
        table = file.read(size * count)
    total = 0
    for at in range(0, len(table), size):
        kind, _, _, _, _, file_size = struct.unpack_from("<IIQQQQ", table, at)
        total += file_size if kind == 1 else 0
    return total


def check_against(core: Path, account: Account, pid: int) -> list[str]:
    """A core next to the process of which it was made, and which has not gone on."""
    with live.waiting.stopped(pid):
        answer = live.heapdump(str(core), "memory", "-detail", "-against", str(pid), allowed=(0,))
        resident = smaps_of(pid)["Rss"]
    total = answer["total"]
    bad = []
    for column in ("before", "now", "difference"):
        for table in ("rows", "groups"):
            value = sum(row[column] for row in answer[table])
            if value != total[column]:
                bad.append(f"{table}: {column} adds up to {value:,}, not {total[column]:,}")
    now = account.answer["total"]["in_core"] - account.answer["total"]["zeros"]
    if (total["now"], total["difference"]) != (now, now - total["before"]):
        bad.append(f"against the process: {total}, the core alone has {now:,}")
    if not is_near(total["before"], resident) or not answer["against"]["is_process"]:
        bad.append(f"against the process: {total['before']:,}, smaps {resident:,}")
    for row in answer["rows"]:
        if row["kind"] == "stack-used" and not (row["before"] > 0 and row["now"] > 0):
            bad.append(f"only one of the two has it: {row}")
    return bad


class Run:
    """One way to run the program, looked at in each way."""

    def __init__(self, flavour: str, word: str, with_cores: bool):
        self.accounts: dict[str, Account] = {}
        self.bad: list[str] = []
        with live.running("memory", flavour, arguments=(word,)) as program:
            self.truth = program.truth
            self.accounts["live"], bad = read_live(program.pid)
            self.say("live", bad)
            if with_cores:
                self.take_cores(program)

    def say(self, how: str, bad: list[str]) -> None:
        """Print the mistakes in one of them."""
        self.bad += [f"{how}: {line}" for line in bad]

    def add_core(self, how: str, core: Path, pid: int = 0) -> None:
        """The account of a core, which is large and is deleted; 0: its process has ended."""
        account = Account(str(core))
        bad = check_sums(account, ["in_core", "zeros"])
        if account.answer["total"]["in_core"] != core_bytes(core):
            bad.append(f"{account.answer['total']['in_core']:,}, the file has {core_bytes(core):,}")
        if pid:
            bad += check_against(core, account, pid)
        self.accounts[how] = account
        self.say(how, bad)
        core.unlink()

    def take_cores(self, program: live.Program) -> None:
        """By createdump, by gcore, and by the kernel, which ends the process."""
        self.add_core("createdump --full", program.core("full.core"), program.pid)
        core = program.core("heap.core", "--withheap")
        self.add_core("createdump --withheap", core, program.pid)
        if shutil.which("gdb"):
            core = program.folder / "gcore.core"
            words = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off"]
            words += ["-iex", "set auto-load off", "-p", str(program.pid), "-ex", f"gcore {core}"]
            subprocess.run(words, check=True, capture_output=True, timeout=live.TIMEOUT)
            self.add_core("gcore", core, program.pid)
        if Path("/proc/sys/kernel/core_pattern").read_text("ascii") == "core\n":
            self.add_core("kernel", kernel_core(program))


def kernel_core(program: live.Program) -> Path:
    """The first signal only takes the runtime's own handler away."""
    subprocess.run(["prlimit", f"--pid={program.pid}", "--core=unlimited"], check=True)
    for _ in range(2):
        program.process.send_signal(signal.SIGABRT)
        live.waiting.wait_until_rest(program.pid)
    program.process.wait(live.TIMEOUT)
    return next(path for path in program.folder.glob("core*") if path.is_file())


def lost_in(how: str, flavour: str) -> tuple[str, set[str]]:
    """Kinds that a core does not tell from unknown memory, and what was planted that it does not have at all."""
    lost, absent = "", set() if how in ("live", "createdump --full") else {"file"}
    if how.startswith("createdump") and flavour != "net8.0":
        # It writes down no name of what is in no folder.
        lost = "shared memfd"
    if how == "createdump --withheap":
        # It leaves out the data of the C library, in which malloc's memory begins.
        lost += " malloc-used malloc-free malloc-mapped"
        if flavour == "net8.0":
            absent |= {"shared", "memfd"}
    return lost, absent


def check_generations(account: Account, planted: Json) -> list[str]:
    """Dead and live large objects, and the sums."""
    rows = {row["generation"]: row for row in account.answer["generations"]}
    parts = ("live", "dead", "free", "areas", "unused")
    bad = [
        f"{name}: the parts add up to {sum(row[part] for part in parts):,}, not {row['committed']:,}"
        for name, row in rows.items()
        if sum(row[part] for part in parts) != row["committed"]
    ]
    for name, part, word in (
        ("loh", "dead", "loh_dead"),
        ("loh", "live", "loh"),
        ("poh", "live", "poh"),
    ):
        if not is_near(rows[name][part], planted[word]):
            bad.append(f"{name} {part}: {rows[name][part]:,}, planted {planted[word]:,}")
    return bad


# The advice for a program that wastes memory, and the thing that it planted for that.
ADVICE = {
    "arenas": "arenas",
    "gc-dead": "dead",
    "loh-gaps": "loh_gaps",
    "stacks": "stacks",
}


def check_advice(flavour: str) -> list[str]:
    """A program that wastes gets all of it, with its settings."""
    more = {"DOTNET_GCConserveMemory": "2", "MALLOC_TRIM_THRESHOLD_": "1000000000"}
    with live.running("memory", flavour, more=more, arguments=("waste",)) as program:
        account = Account(str(program.pid))
        planted = program.truth["planted"]
        core = Account(str(program.core("full.core")))
    bad = []
    for how, one in (("live", account), ("core", core)):
        given = {row["advice"]: row for row in one.answer["advice"]}
        if set(given) != {*ADVICE, "contexts"}:
            bad.append(f"{how}: advice about {sorted(given)}")
            continue
        for word, amount in ADVICE.items():
            if not is_near(given[word]["bytes"], planted[amount]):
                bad.append(f"{how}: {word}: {given[word]['bytes']:,}, planted {planted[amount]:,}")
        if "DOTNET_GCConserveMemory is 0x2 in its environment, " not in given["gc-dead"]["text"]:
            bad.append(f"{how}: {given['gc-dead']['text']}")
        if "MALLOC_ARENA_MAX is not set" not in given["arenas"]["text"]:
            bad.append(f"{how}: {given['arenas']['text']}")
        if not given["contexts"]["text"].startswith(f"{planted['unloading']} contexts "):
            bad.append(f"{how}: {given['contexts']['text']}")
    return [f"waste: {line}" for line in bad]


def check(flavour: str, is_quick: bool) -> list[str]:
    """One version of the runtime; what is wrong."""
    nothing = Run(flavour, "none", not is_quick)
    all_of_it = Run(flavour, "all", not is_quick)
    unknown = nothing.accounts["live"].sum("unknown")
    if unknown > UNKNOWN:
        nothing.bad.append(f"live: {unknown:,} bytes that nobody has")
    bad = [f"none: {line}" for line in nothing.bad] + [f"all: {line}" for line in all_of_it.bad]
    planted, known = all_of_it.truth["planted"], all_of_it.truth["malloc"]
    for how, account in all_of_it.accounts.items():
        lost, absent = lost_in(how, flavour)
        expected = {word: 0 if word in absent else planted[word] for word in planted}
        wrong = check_planted(account, nothing.accounts[how], expected, lost)
        wrong += check_generations(account, planted)
        if account.answer["advice"]:
            wrong.append(f"advice: {account.answer['advice']}")
        if "malloc-used" not in lost.split():
            wrong += check_malloc(account, known)
            small = size_class(account, SMALL)["used"]
            small -= size_class(nothing.accounts[how], SMALL)["used"]
            if not is_near(small, planted["malloc_small"]):
                wrong.append(f"pieces of {SMALL}: {small:,}, planted {planted['malloc_small']:,}")
        bad += [f"{how}: {line}" for line in wrong]
        print(
            f"{flavour} {how}: {len(planted)} amounts, {len(account.rows)} rows, {len(wrong)} wrong"
        )
    return bad + check_advice(flavour)


def main() -> int:
    """See the top of the file."""
    is_quick = "quick" in sys.argv[1:]
    chosen = [word for word in sys.argv[1:] if word != "quick"]
    script = str(live.SOURCE / "scripts" / "make_corefiles.sh")
    failed = False
    for flavour in chosen or (FLAVOURS[:1] if is_quick else FLAVOURS):
        live.dotnet()
        subprocess.run([script, "--build", "memory", flavour], check=True, timeout=600)
        bad = check(flavour, is_quick)
        for line in bad:
            print("   ", line)
        failed |= bool(bad)
    return 1 if failed else 0


if __name__ == "__main__":
    live.run_tests(main)
