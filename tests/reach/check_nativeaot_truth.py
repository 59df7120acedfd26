#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""NativeAOT programs, asked for all that witness.cs says of itself.

    check_nativeaot_truth.py [-o FILE] [VERSION...]

Each release, with a workstation and a server GC; stripped, with its .dbg beside it, and not stripped; the process, its cores by
gcore and createdump, and the kernel's core of an exception that nobody catches. The same program, run by CoreCLR, is asked
the same. FILE gets a table of how many facts were asked and how many answers differ. What is needed is as for check_nativeaot.py.
"""
from __future__ import annotations

import argparse
import collections
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Iterator, NamedTuple

import check_musl as programs
import check_nativeaot as aot
from check_musl import FOLDER, HERE, PROGRAM, SKIPPED, SOURCE, Missing, run

sys.path.insert(0, str(SOURCE / "tests" / "oracle"))

from session import ask  # noqa: E402  pylint: disable=wrong-import-position

WITNESS = HERE / "witness.cs"
SYMBOLS = ["stripped", "with .dbg", "not stripped"]
ASKED = {
    "info": "info",
    "types": "dumpheap -stat",
    "dead": "dumpheap -stat -dead",
    "roots": "roots",
    "handles": "gchandles",
    "stacks": "clrstack -all -full",
    "threads": "clrthreads",
    "waits": "waits",
    "locks": "syncblk",
    "thin": "dumpheap -thinlock",
    "chains": "dumpasync",
    "queue": "finalizequeue",
    "verify": "verifyheap",
    "strings": "strings",
}
COLUMNS = {
    "objects": "count dead text refers",
    "types by name": "obj",
    "fields": "field known",
    "static fields": "static value",
    "handles, queue": "handle dependent finalizable",
    "only on stacks": "stack",
    "frames": "frames thread",
    "lines": "line",
    "exceptions": "exception handling crash",
    "locks, waits": "lock waits thinlock",
    "chains": "chain methods",
}
# The exception that nobody catches.
CRASH = ["crash", "Trade.Goods.TradeException", "second of 70", "first of 70"]
# Functions of libc that the program calls: stubs have their names.
NATIVE = ("Program.sleep", "Program.qsort")
# CoreCLR unwound handlers that throw by itself up to 8; SOS shows these frames, too.
CLR_FRAMES = {
    "8.0.34": {"incatch": "Program.InCatch Program.Throw1 Program.Throw2 Program.InCatch"},
}
COLUMN_OF = {kind: column for column, kinds in COLUMNS.items() for kind in kinds.split()}


class Target(NamedTuple):
    """One process or core, and how its answers may differ."""

    name: str
    words: list[str]  # options and the target
    symbols: bool
    crashed: bool = False
    assembly: str = "witness"
    frames: dict[str, str] = {}  # other ones than the program says, by thread


Facts = list[list[str]]


def number(word: str) -> str:
    """A value as the program and heapdump both write it."""
    if word in ("True", "False"):
        return str(int(word == "True"))
    if word.startswith("0x"):
        return str(int(word, 16))
    try:
        return str(float(word)) if "." in word or "E" in word else str(int(word))
    except ValueError:
        return word


def flat(fields: list[Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Fields by their path."""
    for field in fields:
        yield prefix + field["name"], field
        yield from flat(field.get("fields") or [], f"{prefix}{field['name']}.")


class Answers:
    """All that heapdump says about a target, in a form in which facts are looked up."""

    def __init__(self, target: Target, facts: Facts) -> None:
        self.target = target
        # The namespace and the class whose methods count as the program's own.
        self.own = next((row[1] for row in facts if row[0] == "own"), "Trade.Program.")
        self.objects = sorted(
            {row[1] for row in facts if row[0] in ("field", "known", "refers", "value")}
            | {row[2] for row in facts if row[0] == "obj"}
            | {row[1] for row in facts if row[0] == "exception"}
        )
        exceptions = sorted({row[1] for row in facts if row[0] == "exception"})
        lines = [*ASKED.values()]
        lines += [f"dumpobj {address} -limit 0" for address in self.objects]
        lines += [f"printexception {address}" for address in exceptions]
        if target.crashed:
            lines.append("crashinfo")
        got = ask(PROGRAM, Path(target.words[-1]), lines, target.words[:-1])
        self.by_name = dict(zip(ASKED, got))
        rest = iter(got[len(ASKED) :])
        self.dumped = {address: next(rest) for address in self.objects}
        self.exceptions = {address: next(rest) for address in exceptions}
        self.texts = {row["value"] for row in self.by_name["strings"]["strings"]}
        self.crash = next(rest, None)
        self.counts = {row["name"]: row["count"] for row in self.by_name["types"]["types"]}
        self.dead = {row["name"]: row["count"] for row in self.by_name["dead"]["types"]}
        self.names = {
            row["id"]: row["name"] or "main" for row in self.by_name["threads"]["threads"]
        }
        self.fields = {
            address: {name: field for name, field in flat(answer.get("fields", []))}
            for address, answer in self.dumped.items()
        }
        self.roots = collections.defaultdict(list)
        for root in self.by_name["roots"]["roots"]:
            self.roots[root["object"]].append(root)
        self.stacks = {
            row["name"] or ("main" if row["id"] == 1 else f"#{row['id']}"): row
            for row in self.by_name["stacks"]["threads"]
        }

    def of_thread(self, row: Any) -> str:
        """The name of a thread in an answer, by its managed id."""
        return self.names.get(row if isinstance(row, int) else (row or {}).get("id"), "-")


def own_methods(stack: Any, prefix: str) -> str:
    """The program's own methods of a stack, innermost first, but for what the compiler has made."""
    space = prefix.index(".") + 1
    names = [row["method"].split("(")[0] for row in stack["frames"] if row["kind"] == "managed"]
    names = [re.sub(r"<.*>$|\[.*\]$", "", name) for name in names]
    own = (name[space:] for name in names if re.fullmatch(re.escape(prefix) + r"\w+", name))
    return " ".join(name for name in own if name not in NATIVE)


def mangled(assembly: str, name: str) -> str:
    """As the compiler writes the name of a class that has no MethodTable."""
    generic, _, rest = name.partition("<")
    words = f"{assembly}_" + re.sub(r"\W", "_", generic)
    if rest:
        arguments = [mangled(assembly, part) for part in rest[:-1].split(", ")]
        words += f"_{len(arguments)}<{'__'.join(arguments)}>"
    return words


def same(found: Any, expected: Any) -> str:
    """Nothing, or what differs."""
    return "" if found == expected else f"{found}"


def spelled(name: str | None) -> tuple[list[str], str]:
    """The words of a type's name, which Type.ToString() and heapdump put in another order, and its array's dimensions."""
    ranks = re.search(r"(\[,*\])*$", name or "")
    return sorted(re.findall(r"[\w.]+", re.sub(r"`\d+", "", name or ""))), ranks[0] if ranks else ""


def obj(answers: Answers, words: list[str]) -> str:
    """obj NAME ADDRESS TYPE"""
    found = answers.dumped[words[1]].get("type")
    return "" if spelled(found) == spelled(words[2]) else f"{found}"


def count(answers: Answers, words: list[str]) -> str:
    """count TYPE N"""
    more = 2 if answers.target.crashed and words[0].endswith("TradeException") else 0
    return same(answers.counts.get(words[0], 0), int(words[1]) + more)


def dead(answers: Answers, words: list[str]) -> str:
    """dead TYPE N"""
    return same(answers.dead.get(words[0], 0), int(words[1]))


def text(answers: Answers, words: list[str]) -> str:
    """text STRING"""
    return same(words[0] in answers.texts, True)


def refers(answers: Answers, words: list[str]) -> str:
    """refers OBJECT TARGET"""
    found = answers.dumped[words[0]]["references"]
    return same(words[1] in found, True)


def field(answers: Answers, words: list[str]) -> str:
    """field OBJECT NAME VALUE"""
    found = answers.fields[words[0]].get(words[1])
    return same(number(str((found or {}).get("value"))), number(words[2]))


def static(answers: Answers, words: list[str]) -> str:
    """static TYPE NAME ADDRESS VALUE"""
    kind, name, address, value = words
    if value == "value":
        return ""
    name, _, thread = name.partition("@")
    found = [
        root for root in answers.roots[value] if int(root["address"] or "0", 16) == int(address, 16)
    ]
    if not found:
        return f"no root at {address} for {value}"
    if found[0]["kind"] != ("thread-static" if thread else "static"):
        return f"kind {found[0]['kind']}"
    if not answers.target.symbols or thread:
        return ""
    names = (f"{kind}.{name}", f"{mangled(answers.target.assembly, kind)}.{name}")
    return "" if found[0]["name"] in names else f"{found[0]['name']}"


def value_of_static(answers: Answers, words: list[str]) -> str:
    """value OBJECT NAME VALUE: a static field of an object's class"""
    found = answers.fields[words[0]].get(words[1])
    return same(number(str((found or {}).get("value"))), number(words[2]))


def handle(answers: Answers, words: list[str]) -> str:
    """handle KIND ADDRESS TARGET"""
    rows = [row for row in answers.by_name["handles"]["handles"] if row["address"] == words[1]]
    return same([(row["kind"], row["object"]) for row in rows], [(words[0], words[2])])


def dependent(answers: Answers, words: list[str]) -> str:
    """dependent TARGET SECONDARY"""
    rows = answers.by_name["handles"]["handles"]
    found = [row for row in rows if (row["object"], row["secondary"]) == (words[0], words[1])]
    return same([row["kind"] for row in found], ["dependent"])


def finalizable(answers: Answers, words: list[str]) -> str:
    """finalizable TYPE N pending N"""
    rows = [row for row in answers.by_name["queue"]["objects"] if row["type"] == words[0]]
    ready = sum(row["ready"] for row in rows)
    return same((len(rows) - ready, ready), (int(words[1]), int(words[3])))


def stack(answers: Answers, words: list[str]) -> str:
    """stack THREAD ADDRESS TYPE"""
    found = {
        (root["kind"], answers.of_thread(root["thread"]))
        for root in answers.roots[words[1]]
        if not root["weak"]
    }
    return same(found, {("stack", words[0])})


def frames(answers: Answers, words: list[str]) -> str:
    """frames THREAD METHODS"""
    expected = answers.target.frames.get(words[0], words[1])
    if answers.target.crashed and words[0] == "main":
        expected = "Program.Throw2 Program.Throw1 Program.Throw2 Program.Main"
    row = answers.stacks.get(words[0])
    return same(own_methods(row, answers.own) if row else "no such thread", expected)


def thread(answers: Answers, words: list[str]) -> str:
    """thread NAME ID OS_ID"""
    rows = answers.by_name["threads"]["threads"]
    found = [(row["id"], row["os_id"]) for row in rows if row["name"] == words[0]]
    return same(found, [(int(words[1]), int(words[2]))])


def line(answers: Answers, words: list[str]) -> str:
    """line THREAD METHOD LINE: of the innermost frame of that method"""
    row = answers.stacks.get(words[0]) or {"frames": []}
    space = answers.own[: answers.own.index(".") + 1]
    for at in row["frames"]:
        if at.get("method", "").split("(")[0] == space + words[1]:
            return same(at.get("line"), int(words[2]))
    return "no such frame"


def exception(answers: Answers, words: list[str]) -> str:
    """exception ADDRESS TYPE MESSAGE HRESULT INNER METHODS"""
    found = answers.exceptions[words[0]]
    methods = [row["method"].split("(")[0] for row in found["stack"]]
    called = " ".join(name.replace("Trade.", "") for name in methods)
    got = [found["type"], found["message"], str(found["hresult"]), found["inner"], called]
    return same(got, words[1:])


def handling(answers: Answers, words: list[str]) -> str:
    """handling THREAD EXCEPTION"""
    rows = answers.by_name["threads"]["threads"]
    return same([row["exception"] for row in rows if row["name"] == words[0]], [words[1]])


def crash(answers: Answers, words: list[str]) -> str:
    """crash TYPE MESSAGE INNER"""
    told = str(answers.crash)
    return "" if all(word in told for word in words) else told[:300]


def lock(answers: Answers, words: list[str]) -> str:
    """lock OBJECT OWNER RECURSION WAITERS"""
    blocks = [
        row for row in answers.by_name["locks"].get("blocks", []) if row["object"] == words[0]
    ]
    ids = {row["address"]: row["id"] for row in answers.by_name["threads"]["threads"]}
    found = [(answers.of_thread(ids.get(row["thread"])), row["waiters"]) for row in blocks]
    return same(found, [(words[1], int(words[2]))])


def waits(answers: Answers, words: list[str]) -> str:
    """waits THREAD WHAT OBJECT OWNER"""
    rows = [row for row in answers.by_name["waits"]["threads"] if row["name"] == words[0]]
    found = [
        [row["waits_for"], row["object"] or "0x0", answers.of_thread(row["owner"])] for row in rows
    ]
    return same(found, [words[1:]])


def thinlock(answers: Answers, words: list[str]) -> str:
    """thinlock OBJECT OWNER"""
    return same(words[0] in str(answers.by_name["thin"]), True)


def chain(answers: Answers, words: list[str]) -> str:
    """chain COUNT WAITS_FOR METHODS"""
    rows = [
        (row["waits_for"], [method["method"] for method in row["methods"]], row["count"])
        for row in answers.by_name["chains"]["chains"]
    ]
    methods = [f"Trade.{name}" for name in words[2].split()]
    found = sum(row[2] for row in rows if row[:2] == (words[1], methods))
    return "" if found == int(words[0]) else f"{rows}"


def methods_of(answers: Answers, words: list[str]) -> str:
    """methods METHOD N: so many calls of an async method are not done"""
    space = answers.own[: answers.own.index(".") + 1]
    rows = answers.by_name["chains"]["chains"]
    found = sum(
        row["count"] * sum(method["method"] == space + words[0] for method in row["methods"])
        for row in rows
    )
    return same(found, int(words[1]))


CHECKS: dict[str, Callable[[Answers, list[str]], str]] = {
    "obj": obj,
    "count": count,
    "dead": dead,
    "text": text,
    "refers": refers,
    "field": field,
    "known": field,
    "static": static,
    "value": value_of_static,
    "handle": handle,
    "dependent": dependent,
    "finalizable": finalizable,
    "stack": stack,
    "frames": frames,
    "thread": thread,
    "line": line,
    "exception": exception,
    "handling": handling,
    "crash": crash,
    "lock": lock,
    "waits": waits,
    "thinlock": thinlock,
    "chain": chain,
    "methods": methods_of,
}


def is_asked(target: Target, words: list[str]) -> bool:
    """A stripped program has no names of its own fields."""
    if words[0] in ("field", "value", "line") and not target.symbols:
        return False
    return not (words[0] == "static" and words[-1] == "value")


class Row(NamedTuple):
    """Facts asked and answers that differ, by column."""

    asked: collections.Counter[str]
    wrong: collections.Counter[str]


def compare(target: Target, facts: Facts, row: Row) -> list[str]:
    """Ask all about a target; a line for each difference."""
    answers = Answers(target, facts)
    bad = []
    for words in facts:
        if words[0] in ("collections", "own") or not is_asked(target, words):
            continue
        differs = CHECKS[words[0]](answers, words[1:])
        row.asked[COLUMN_OF[words[0]]] += 1
        if differs:
            row.wrong[COLUMN_OF[words[0]]] += 1
            bad.append(f"{target.name}: {' '.join(words)}: {differs}")
    odd = {finding["kind"] for finding in answers.by_name["info"]["findings"]}
    odd -= {"files-unverified", "files-missing"}
    if not any(words[0] == "static" for words in facts):
        odd.discard("statics")
    if odd:
        bad.append(f"{target.name}: findings {odd}")
    if answers.by_name["verify"]["damaged"]:
        bad.append(f"{target.name}: verifyheap finds damage")
    return bad


def facts_of(path: Path) -> Facts:
    """The lines that the program has written."""
    lines = path.read_text(encoding="utf-8").splitlines()
    facts = [line.split("\t") for line in lines]
    if ["collections", "0"] not in facts:
        raise Missing(f"{path}: there was a collection while the program wrote")
    return facts


@contextlib.contextmanager
def started(
    words: list[str], env: dict[str, str], folder: Path, crashes: bool
) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """The program, when it has said all, and its file of facts."""
    truth = folder / "facts.tsv"
    with subprocess.Popen(
        [*words, str(truth), *(["throw"] if crashes else [])],
        env={"PATH": "/usr/bin:/bin", "HOME": "/tmp", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=folder,
        preexec_fn=programs.limit_cores,
    ) as process:
        assert process.stdout
        try:
            if not any(line == "READY\n" for line in process.stdout):
                raise Missing(f"{words[0]} did not get ready")
            yield process, truth
        finally:
            process.kill()


def build(version: str, gc: str, machine: str = "x64") -> aot.Program:
    """The program with its symbols, and the three kinds of it in folders of their own."""
    more = "<StripSymbols>false</StripSymbols>"
    program = aot.Program(version, gc, WITNESS, "whole", more, machine)
    if (program.folder / "stripped").exists():
        return program
    shutil.rmtree(program.folder, ignore_errors=True)
    aot.make_whole(program)
    name = program.name
    dumper = aot.pack(aot.pack_of(aot.DUMPER, program), aot.DUMPER_VERSION)
    dumper = dumper / "runtimes" / f"linux-{machine}" / "native"
    objcopy = f"{aot.TOOLS[machine]}objcopy"
    # As the SDK does it.
    symbols = program.folder / f"{name}.dbg"
    run(objcopy, "--only-keep-debug", program.file, symbols)
    for kind in reversed(SYMBOLS):
        folder = program.folder / kind.replace(" ", "-")
        folder.mkdir()
        shutil.copy(dumper / "createdump", folder)
        (folder / "createdump").chmod(0o755)
        shutil.copy(program.file, folder / name)
        if kind != "not stripped":
            run(objcopy, "--strip-debug", "--strip-unneeded", folder / name)
        if kind == "with .dbg":
            shutil.copy(symbols, folder)
            run(objcopy, f"--add-gnu-debuglink={symbols}", folder / name)
    return program


def check_kind(program: aot.Program, symbols: str, row: Row) -> list[str]:
    """All targets of one kind of a program."""
    folder = program.folder / symbols.replace(" ", "-")
    work = Path(f"{folder}.work")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    env = aot.SERVER if program.gc == "server" else {}
    words = [str(folder / program.name)]
    bad: list[str] = []

    def check(kind: str, target: Path | int, facts: Facts) -> None:
        name = f"{program.version} {program.gc} {symbols} {kind}"
        options = ["--trust-files", str(target)]
        bad.extend(
            compare(Target(name, options, symbols != SYMBOLS[0], kind == "kernel"), facts, row)
        )

    with started(words, env, work, False) as (process, truth):
        facts = facts_of(truth)
        check("live", process.pid, facts)
        full, gcore = work / "full.core", work / "gcore.core"
        run(folder / "createdump", "--full", "-f", full, str(process.pid), timeout=300)
        run("gdb", "-batch", "-p", str(process.pid), "-ex", f"gcore {gcore}", timeout=300)
    check("createdump", full, facts)
    check("gcore", gcore, facts)
    full.unlink()
    gcore.unlink()
    with started(words, env, work, True) as (process, truth):
        process.wait(timeout=120)
        if process.returncode != -signal.SIGABRT:
            raise Missing(f"status {process.returncode} after an exception")
        facts = facts_of(truth)
        facts.append(CRASH)
        core = next(work.glob("core*"), None)
    if core:
        check("kernel", core, facts)
    shutil.rmtree(work)
    return bad


def check_clr(version: str, row: Row) -> list[str]:
    """The same program, run by CoreCLR."""
    rid = "linux-x64"
    programs.lay_out(version, rid)
    dll = FOLDER / f"witness-clr-{version}" / "witness.dll"
    programs.compile_program(dll, version, rid, [WITNESS], ["-debug:portable"])
    host = FOLDER / "clr-host"
    run("gcc", "-O2", "-o", host, HERE / "musl_host.c", "-ldl")
    env = {"DOTNET_ROOT": str(programs.named("root", version, rid)), "FXR_VERSION": version}
    with started([str(host), str(dll)], env, dll.parent, False) as (process, truth):
        name = f"{version} CoreCLR live"
        target = Target(name, [str(process.pid)], True, frames=CLR_FRAMES.get(version, {}))
        return compare(target, facts_of(truth), row)


def write_table(rows: dict[str, Row]) -> str:
    """As Markdown."""
    lines = ["| program | " + " | ".join(COLUMNS) + " | different |"]
    lines.append("| --- |" + " ---: |" * (len(COLUMNS) + 1))
    for name, row in rows.items():
        cells = [f"{row.asked[column]:,}" for column in COLUMNS]
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {sum(row.wrong.values())} |")
    return "\n".join(lines) + "\n"


def check_all(versions: list[str]) -> tuple[dict[str, Row], list[str]]:
    """The table, and what differs."""
    rows: dict[str, Row] = {}
    bad: list[str] = []

    def begin(name: str) -> Row:
        rows[name] = Row(collections.Counter(), collections.Counter())
        return rows[name]

    def end(name: str, found: list[str]) -> None:
        row = rows[name]
        print(
            f"{name:34} {sum(row.asked.values())} facts, {sum(row.wrong.values())} different",
            flush=True,
        )
        bad.extend(found)

    for version in versions:
        for gc in aot.GCS:
            program = build(version, gc)
            for symbols in SYMBOLS:
                name = f"{version}, {gc}, {symbols}"
                end(name, check_kind(program, symbols, begin(name)))
        name = f"{version}, CoreCLR"
        end(name, check_clr(version, begin(name)))
    return rows, bad


def tell(rows: dict[str, Row], bad: list[str], file: Path | None) -> int:
    """Print the table and what differs, and write the table to a file; returns the exit status."""
    table = write_table(rows)
    print(table)
    if file:
        file.write_text(table, encoding="utf-8")
    print("\n".join(bad) or "all as the programs say")
    return 1 if bad else 0


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", dest="table", type=Path)
    parser.add_argument("versions", nargs="*")
    options = parser.parse_args()
    versions = options.versions or aot.VERSIONS
    try:
        aot.get_ready()
        if not shutil.which("gdb"):
            raise Missing("there is no gdb")
        programs.restore_packs(FOLDER, {aot.DUMPER: versions})
        rows, bad = check_all(versions)
    except Missing as missing:
        print(f"skipped: {missing}")
        return SKIPPED
    return tell(rows, bad, options.table)


if __name__ == "__main__":
    sys.exit(main())
