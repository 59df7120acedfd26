#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Change bytes of cores, of module files and of PDBs anywhere; every command must answer, or say in a line why not.

    mutations.py [--front shell|gdb|lldb] [--seed N] [--first N] [--count N | --seconds N] [--keep DIR]
                 [--program FILE] [CORE...]

Mutant number I of a seed is always the same, for the same cores: a few places of one file are changed (mutants.py),
and a part of the commands run about it, as text or as JSON. The shell program, or the debugger with the plug-in, must
end by itself, with an answer for each command. The limits are of the processor's time (CPU_SECONDS) and of the
memory (MEMORY), so that a busy machine does not matter. When a debugger dies, the same file is given to it again
without the plug-in: what dies then too is counted as the debugger's own. What failed is printed with the words that
repeat it; --keep copies the changed file to a folder.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, NamedTuple

from core_image import BUILD, CORES, PROGRAM, SOURCE, turns
from mutants import Mutant, Victim, mutants

CPU_SECONDS = 120 * (5 if turns.SANITIZED else 1)
MEMORY = 0 if turns.SANITIZED else 6 << 30  # of the address space; a sanitizer's shadow is larger
WALL_SECONDS = 20 * CPU_SECONDS  # only a process that sleeps for ever reaches it
MUTANTS = 6
SHELL_STATUSES = (0, 1, 2, 3)
# No command has this name: the line that says so is the mark between two answers.
MARK = "mutation-mark"
BAD = re.compile(
    r"AddressSanitizer|LeakSanitizer|runtime error:|ended by signal|Python Exception|Assertion .* failed"
)
# These are about no core, or about other processes.
OTHER = {"collect", "ps", "doctor", "open", "close", "set", "help"}

# {x} is an address of that kind in the sound core (mutants.py), {out} a folder.
COMMANDS = """
info
info -layout
gcroot {object}
gcroot {string} -all -conservative
gcroot -type String
gcroot -mt {mt}
pathto {array} {string}
objsize {object} -stat
objsize -mt {mt}
retained {array}
assert -max System.String=10 -max-bytes System.*=1K -max-heap 10M
dominators -top 20
dumpheap -stat
dumpheap -limit 3000
dumpheap -strings
dumpheap -thinlock
dumpheap -live -stat
dumpheap -gen 2 -dead
dumpobj {object}
dumpobj {string} -refs
dumpobj {task}
dumpobj {continuation}
dumparray {array} -details
dumpcollection {collection}
dumpcollection {array}
dumpconcurrentdictionary {object}
dumpconcurrentqueue {object}
dumpvc {mt} {object}
dumpmt {mt} -md
dumpclass {mt}
name2ee * System.Object
token2ee * 02000002
token2ee * 06000001
ip2md {code}
dumpmd {method}
dumpil {method}
clru {method}
gcinfo {method}
ehinfo {method}
dumpsig {string} {module}
dumpsigelem {string} {module}
clrmodules -verbose
modules -verbose
dumpmodule {module} -mt
dumpassembly {assembly}
dumpdomain
dumpalc
dumpalc {object}
eeversion
crashinfo
analyzeoom
sizestats
printexception
printexception {exception} -nested
dumpdelegate {delegate}
strings
syncblk -all
eeheap
eeheap -gc
eeheap -loader
memory -detail -live
memory
maddress -images -reserve -reserveHeuristic
maddress -summary
verifyheap
verifyobj {array}
gcwhere {object}
dq {object}
dp {object} -count 3
db {object}
dw {object}
dd {object}
dc {object}
du {string}+c
registers
listnearobj {array}
clrthreads -special
threadstate 21220
threads
setthread 0
clrstack
setthread -all
clrstack -all -roots
clrstack -all -a -r -f
clrstack -n -p -l
dumpstackobjects -all -verify
parallelstacks -all
parallelstacks -noasync
waits -all
hang
dumpasync -fields
dumpasync -tasks -completed -all
dumpasync -stats
dumphttp
dumprequests
dumptasks
taskstate {task}
threadpool -wi
threadpoolqueue
timerinfo
gchandles
gchandles -stat
finalizequeue -detail
finalizequeue -allReady
dumpgen 0
dumpexceptions
gcheapstat -unreachable
notreachableinrange 0 ffffffffffff
ephrefs -stat
ephtoloh
balance
referrers {object}
referrers -mt {mt}
triage
report
report -conservative -top 0
report -against {core} -minutes 5
roots
roots -conservative
types
diff {core} -limit 5
sql SELECT type, count(*), sum(size) FROM objects GROUP BY type
sql SELECT * FROM refs LIMIT 99
sql SELECT * FROM fields WHERE type LIKE '%' LIMIT 999
sql SELECT * FROM arrays WHERE type LIKE '%' LIMIT 999
sql SELECT count(*), max(retained), sum(live) FROM objects
sql SELECT * FROM frames LIMIT 99
sql SELECT * FROM methods LIMIT 99
sql SELECT * FROM damage LIMIT 99
export {out}/o.gcdump
export {out}/o.heapsnapshot
export {out}/o.hprof
export {out}/o.folded -format folded
export {out}/o.speedscope -format speedscope
export {out}/o.sqlite
export {out}/o.heap -format rpm -live
report -o {out}/o.html
"""
COMMANDS += f"symbolize {SOURCE}/tests/data/perf_script.txt"
# How many of the commands run about one mutant: all take seconds each.
SHARE = {"shell": 3, "gdb": 8, "lldb": 8}
WRITES = re.compile(r"^(export|report -o)\b")


class Ended(NamedTuple):
    """How a process ended, what it said, and its answers where these come apart from errors."""

    status: int
    text: str
    is_late: bool
    answers: str = ""


def is_killed(status: int) -> bool:
    """Was it ended by a signal, its own or that of a limit?  GDB ends with 128 + N for some."""
    return status < 0 or status > 128


def limits() -> None:
    """In the child, before it becomes the program."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if MEMORY:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(argv: list[str], text: str = "", answers: Path | None = None) -> Ended:
    """Run it to its end, or to that of its time; its answers go to a file, or where errors go."""
    environment = dict(os.environ, LC_ALL="C.UTF-8", TERM="dumb", HOME=str(BUILD))
    environment["HEAPDUMP_LIBRARY"] = str(BUILD / "libheapdump.so")
    environment.pop("DEBUGINFOD_URLS", None)
    argv = ["sh", "-c", f'exec "$@" {f"2>&1 >{answers}" if answers else "2>&1"}', "sh", *argv]
    try:
        done = subprocess.run(
            argv,
            input=text.encode(),
            stdout=subprocess.PIPE,
            env=environment,
            preexec_fn=limits,
            timeout=WALL_SECONDS,
            check=False,
        )
        status, said, is_late = done.returncode, done.stdout, False
    except subprocess.TimeoutExpired as late:
        status, said, is_late = 0, late.stdout or b"", True
    apart = answers.read_text("utf-8", "replace") if answers else ""
    return Ended(status, said.decode("utf-8", "replace"), is_late, apart)


def shell(mutant: Mutant, lines: list[str]) -> Ended:
    """All lines in one process of the shell program."""
    text = "".join(f"{line}\n{MARK}\n" for line in ["set max-mem 1G", *lines])
    answers = mutant.victim.folder / "answers"
    return run([OPTIONS.program, *mutant.options, mutant.path], text, answers)


def gdb(mutant: Mutant, lines: list[str]) -> Ended:
    """One GDB, which has the core as its target."""
    argv = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]
    argv += ["-iex", f"source {SOURCE}/gdb-plugin/heapdump.py"] if lines else []
    argv += ["-ex", f"core-file {mutant.path}", "-ex", "info threads"]
    for line in ["heapdump set max-mem 1G", *(f"heapdump {line}" for line in lines)]:
        argv += ["-ex", line, "-ex", f"echo {MARK}\\n"] if lines else []
    return run(argv)


def lldb(mutant: Mutant, lines: list[str]) -> Ended:
    """One LLDB in the same way."""
    argv = [os.environ.get("LLDB", "lldb-14"), "--no-lldbinit", "--no-use-colors"]
    argv += ["-O", f"plugin load {BUILD}/libheapdump_lldb.so"] if lines else []
    text = f"target create --core {mutant.path}\nthread list\n"
    for line in ["heapdump set max-mem 1G", *(f"heapdump {line}" for line in lines)]:
        text += f"{line}\nversion\n" if lines else ""
    return run(argv, text)


FRONTS: dict[str, Callable[[Mutant, list[str]], Ended]] = {"shell": shell, "gdb": gdb, "lldb": lldb}
# How the mark looks where it was printed, and not where it was typed.
MARKED = {
    "shell": re.compile(rf'^.*no command "{MARK}".*$', re.M),
    "gdb": re.compile(rf"^{MARK}$", re.M),
    "lldb": re.compile(r"^lldb version .*$", re.M),
}


def problem(front: str, lines: list[str], ended: Ended) -> str:
    """The mistake in it; nothing when all is well."""
    parts = MARKED[front].split(ended.text)
    last = lines[len(parts) - 2] if 2 <= len(parts) < len(lines) + 2 else "the opening, or the end"
    if ended.is_late:
        return f"does not end: {last}"
    if is_killed(ended.status):
        return (
            f"ended by signal {-ended.status if ended.status < 0 else ended.status - 128}: {last}"
        )
    said = BAD.search(ended.text)
    if said:
        number = MARKED[front].sub(MARK, ended.text[: said.start()]).count(MARK)
        return f"{said[0]}: {lines[number - 1] if 0 < number <= len(lines) else 'the opening'}"
    if front == "shell" and ended.status not in SHELL_STATUSES:
        return f"ended with {ended.status}: {last}"
    if len(parts) != len(lines) + 2:
        # One that cannot be opened at all has said so.
        return (
            ""
            if front == "shell" and ended.status >= 2 and len(parts) == 1
            else f"stopped at: {last}"
        )
    wanted = sum("--json" in line for line in lines) if front == "shell" else 0
    found = documents(ended.answers) if wanted else []
    if len(found) != wanted:
        return f"{len(found)} documents in place of {wanted}, the last of {found[-1:]}"
    return ""


def documents(text: str) -> list[str]:
    """The commands of the whole JSON documents in it, each of which is a line."""
    found = []
    for line in text.split("\n"):
        if line.startswith("{"):
            try:
                found.append(json.loads(line)["command"])
            except (ValueError, KeyError):
                break
    return found


def lines_of(mutant: Mutant, front: str, out: str) -> list[str]:
    """The commands that this one gets, in their order."""
    share = 1 if turns.ALL else SHARE[front]
    as_json = mutant.random.random() < 0.5
    lines = []
    for number, line in enumerate(COMMANDS.split("\n")):
        if line and (number + mutant.number) % share == 0:
            name, _, words = line.format(out=out, core=mutant.path, **mutant.addresses).partition(
                " "
            )
            name += " --json" if as_json and not WRITES.match(line) else ""
            # A statement may take several lines.
            lines.append(f"{name} {words}" + (";" if name.startswith("sql") else ""))
    return lines


class Tally:
    """The outcome of all of them."""

    def __init__(self) -> None:
        self.mutants = self.commands = self.debugger = 0
        self.failures: list[str] = []

    def one(self, mutant: Mutant, front: str, out: str) -> None:
        """Run the commands about one mutant."""
        lines = lines_of(mutant, front, out)
        ended = FRONTS[front](mutant, lines)
        wrong = problem(front, lines, ended)
        self.mutants += 1
        self.commands += len(lines)
        if wrong and front != "shell" and (ended.is_late or is_killed(ended.status)):
            alone = FRONTS[front](mutant, [])
            if alone.is_late or is_killed(alone.status):
                self.debugger += 1
                return
        if not wrong:
            return
        place = f"{mutant.victim.name}, --front {front} --seed {mutant.seed} --first {mutant.number} --count 1"
        self.failures.append(f"{wrong} [{place}]")
        print(f"mutations: {wrong} [{place}]", flush=True)
        if OPTIONS.keep:
            folder = Path(OPTIONS.keep)
            folder.mkdir(parents=True, exist_ok=True)
            name = f"{mutant.victim.name}-{front}-{mutant.seed}-{mutant.number}"
            subprocess.run(
                ["zstd", "-q", "-f", mutant.changed, "-o", folder / f"{name}.zst"], check=True
            )
            (folder / f"{name}.txt").write_text(
                "\n".join([mutant.changed, *lines, ended.text, ended.answers])
            )


def missing_commands() -> set[str]:
    """The commands of the program's table that COMMANDS lacks."""
    done = subprocess.run([PROGRAM, "help", "--json"], capture_output=True, check=True)
    names = {row["name"] for row in json.loads(done.stdout)["commands"]}
    return names - OTHER - {line.split()[0] for line in COMMANDS.split("\n") if line}


def arguments() -> argparse.Namespace:
    """The words of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--front", choices=FRONTS, default="shell")
    parser.add_argument("--seed", type=int, default=turns.seed())
    parser.add_argument("--first", type=int, default=0, help="the number of the first mutant")
    parser.add_argument("--count", type=int, help="how many")
    parser.add_argument("--seconds", type=float, help="begin no more after that time")
    parser.add_argument("--keep", help="a folder for what failed")
    parser.add_argument("--program", default=PROGRAM, help="the shell program")
    parser.add_argument(
        "core", nargs="*", help="core files, also packed ones; the committed ones by default"
    )
    return parser.parse_args()


OPTIONS = arguments() if __name__ == "__main__" else argparse.Namespace(program=PROGRAM, keep=None)


def main() -> int:
    """See above."""
    lacking = missing_commands()
    if lacking:
        print("mutations: COMMANDS lacks " + ", ".join(sorted(lacking)))
        return 1
    if OPTIONS.front != "shell" and not shutil.which(
        {"gdb": "gdb", "lldb": "lldb-14"}[OPTIONS.front]
    ):
        return 77
    begin, tally = time.monotonic(), Tally()
    some = MUTANTS * (10 if turns.CAMPAIGN else 1)
    count = OPTIONS.count or (None if OPTIONS.seconds else some)
    print(
        f"mutations: front {OPTIONS.front}, seed {OPTIONS.seed}, from {OPTIONS.first}", flush=True
    )
    with tempfile.TemporaryDirectory(prefix="heapdump-mutations-") as folder:
        out = Path(folder) / "out"
        out.mkdir()
        victims = [Victim(core, Path(folder)) for core in cores()]
        for mutant in mutants(victims, OPTIONS.seed, OPTIONS.first, OPTIONS.front == "shell"):
            if count is not None and tally.mutants >= count:
                break
            if OPTIONS.seconds and time.monotonic() - begin > OPTIONS.seconds:
                break
            tally.one(mutant, OPTIONS.front, str(out))
            for path in out.iterdir():
                path.unlink()
    print(
        f"mutations: {tally.commands} commands about {tally.mutants} changed files, {len(tally.failures)} failed, "
        f"{tally.debugger} times the debugger died by itself, {time.monotonic() - begin:.0f} s"
    )
    if tally.debugger == tally.mutants:
        print("mutations: nothing was tried")
        return 1
    return int(bool(tally.failures))


def cores() -> list[Path]:
    """The cores that were named; else the committed ones, in a campaign also small ones of each kind that are there."""
    if OPTIONS.core:
        return [Path(core) for core in OPTIONS.core]
    found = [
        SOURCE / "corefiles" / f"{name}.core.zst"
        for name in ("hang11", "leak", "hang", "musl8", "arm64-11", "nativeaot11", "nativeaot8")
    ]
    if not turns.CAMPAIGN:
        return found
    made = "wks11-heap wks10-heap awaits11-heap web11-heap crash11-throw-kernel crash11-threads-mini crash10-throw-triage"
    return found + [path for name in made.split() if (path := CORES / f"{name}.core").exists()]


if __name__ == "__main__":
    sys.exit(main())
