#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare what heapdump reads out of cores with what the runtime's own DAC (through ClrMD) says, and
with what the program that was dumped said about itself (NAME.truth.json beside NAME.core).

    compare.py [--update-table] CORE...     both, and the rows of heap.tsv
    compare.py --record CORE                the same; then write recorded.json, for machines without .NET
    compare.py --recorded CORE              compare with recorded.json alone

Whole sets are compared, one kind of fact at a time. A difference is allowed only when one of the rules in
rules.py and root_rules.py explains it. heap.tsv and roots.tsv have a row for each core and fact: a row that
is missing, or a rule that its row does not name, fails, too.

The DAC dies while it reads the stacks of most crash dumps: the other parts are had from another run of it,
and the rows of what is lost say so (clrmd-crash). check_crash.py checks those.

Environment: HEAPDUMP_BUILD, the build folder (default: build). Exit status: 0 no unexplained difference,
1 differences, 2 usage, 77 nothing to compare with.
"""
from __future__ import annotations

import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Iterator

import live
import root_rules
import rules
import truth
from session import truth_of
from table import HEAP, ROOTS, Report, Row, finish

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("HEAPDUMP_BUILD", ROOT / "build"))
RECORDED = HERE / "recorded.json"
KINDS = {
    "I": "flavour",
    "S": "segments",
    "G": "ephemeral generations",
    "A": "allocation contexts",
    "O": "objects",
    "N": "type names",
    "R": "references",
    "T": "strings",
    "P": "array shapes",
    "F": "fields",
    "Q": "statics",
    "L": "thin locks",
    "B": "sync blocks",
    "K": "monitors",
    "H": "threads",
    "X": "exceptions",
    "D": "delegates",
    "M": "multicast delegates",
    "E": "unreadable",
}
ROOT_KINDS = {
    "h": "handles",
    "y": "finalizable objects",
    "z": "f-reachable objects",
    "n": "names of types with statics",
    "q": "statics of all types",
    "t": "thread statics",
    "c": "frames",
    "m": "methods of frames",
    "s": "stack roots",
    "p": "partial stacks",
    "w": "live set",
}
# Parts of the ClrMD program in the order in which they are asked for, and the kinds that each writes.
PARTS = {
    "heap": "".join(KINDS),
    "roots": "hyz",
    "statics": "nq",
    "threadstatics": "nt",
    "stacks": "cms",
    "live": "w",
    "collectible": "nt",
}
# For programs that run for a second.
QUICK = {"DOTNET_TieredPGO": "0", "DOTNET_gcConcurrent": "0", "DOTNET_EnableDiagnostics": "0"}
# Neither counts as a fact: values of objects, and what explains differences.
NOT_COMPARED = "Vugijkov"


def sort(path: pathlib.Path) -> pathlib.Path:
    """The lines of a file in order, each once."""
    result = path.with_suffix(path.suffix + ".sorted")
    command = ["sort", "-u", "-S", "1G", "--parallel=2", "-T", str(path.parent), "-o", str(result)]
    subprocess.run([*command, str(path)], check=True, env={**os.environ, "LC_ALL": "C"})
    path.unlink()
    return result


def counts(path: pathlib.Path) -> dict[str, int]:
    """Lines of each kind."""
    text = subprocess.run(
        ["awk", "{n[substr($0, 1, 1)]++} END {for (k in n) print k, n[k]}", str(path)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    return {line.split()[0]: int(line.split()[1]) for line in text.splitlines()}


def differences(theirs: pathlib.Path, ours: pathlib.Path) -> Iterator[tuple[bool, list[str]]]:
    """Lines that only one of two sorted files has: is it ours, and its fields."""
    with subprocess.Popen(
        ["comm", "-3", str(theirs), str(ours)],
        stdout=subprocess.PIPE,
        env={**os.environ, "LC_ALL": "C"},
        encoding="utf-8",
        errors="surrogateescape",
    ) as process:
        assert process.stdout
        for line in process.stdout:
            is_ours = line.startswith("\t")
            yield is_ours, line.removeprefix("\t").rstrip("\n").split("\t")
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, "comm")


def apps_folder(core: pathlib.Path) -> pathlib.Path:
    """Where make_corefiles.sh keeps what it builds."""
    beside = core.resolve().parent / "apps"
    return beside if beside.is_dir() else ROOT / "corefiles" / "build" / "apps"


def clrmd_program(apps: pathlib.Path) -> pathlib.Path:
    """The ClrMD program, built when its sources have changed."""
    return pathlib.Path(live.publish("clrmd", apps)[1])


def clrmd_lines(core: pathlib.Path, parts: str) -> dict[str, list[list[str]]]:
    """The facts of ClrMD about a core: the fields of its lines by their first letter (clrmd/Program.cs describes them)."""
    rows: dict[str, list[list[str]]] = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "facts")
        program = str(clrmd_program(apps_folder(core)))
        command = ["dotnet", program, str(core), str(out), parts, "/dev/null"]
        subprocess.run(command, check=True, env={**os.environ, **QUICK})
        for part in parts.split(","):
            for line in out.with_suffix("." + part).read_text(encoding="utf-8").splitlines():
                letter, *fields = line.split("\t")
                rows[letter].append(fields)
    return rows


def runtime_folder(core: pathlib.Path) -> pathlib.Path:
    """The folder of .NET 11 which make_corefiles.sh makes, or of the newest .NET 10 that is installed."""
    if core.name.startswith("single11"):
        shared = apps_folder(core) / "runtime-net11.0" / "shared" / "Microsoft.NETCore.App"
        return next(shared.iterdir())
    text = subprocess.run(
        ["dotnet", "--list-runtimes"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    found = re.findall(r"^Microsoft\.NETCore\.App (10\.\S+) \[(.*)\]$", text, re.MULTILINE)
    version, folder = found[-1]
    return pathlib.Path(folder, version)


def run_clrmd(command: list[str], out: pathlib.Path, parts: list[str]) -> tuple[str, int]:
    """Write as many parts as can be had; the part in which it failed ("" if none) and its status."""
    result = subprocess.run(
        [word if word != "PARTS" else ",".join(parts) for word in command],
        check=False,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **QUICK},
    )
    if result.returncode == 0:
        return "", 0
    if result.returncode == 77:
        return result.stderr.strip(), 77
    failed = next(part for part in parts if not out.with_suffix("." + part).exists())
    if result.returncode > 0:
        sys.stderr.write(result.stderr)
    return failed, result.returncode


def has_live_set(core: pathlib.Path) -> bool:
    """Is it worth the time?  Of a program that never rests there are many cores of a million objects."""
    return not re.match(r"churn\d+-([4-9]|\d\d)", core.name)


def ask_clrmd(core: pathlib.Path, out: pathlib.Path, types: pathlib.Path) -> tuple[str, set[str]]:
    """Write ClrMD's facts; why there are none (or ""), and the parts in which it crashed."""
    if core.suffix == ".zst":
        unpacked = out.with_suffix(".core")
        subprocess.run(["zstd", "-dqf", str(core), "-o", str(unpacked)], check=True)
        core = unpacked
    command = ["dotnet", str(clrmd_program(apps_folder(core))), str(core), str(out), "PARTS"]
    command.append(str(types))
    if core.name.startswith("single"):
        # A single-file program brings no DAC; the shared runtime of the same version has it.
        command.append(str(runtime_folder(core) / "libmscordaccore.so"))
    parts, crashed = list(PARTS), set()
    if "overflow" in core.name:
        # Walking a stack of 100,000 frames takes it longer than anybody waits.
        crashed = {"stacks", "live"}
    left_out = crashed if has_live_set(core) else {"live"}
    parts = [part for part in parts if part not in left_out]
    while parts:
        failed, status = run_clrmd(command, out, parts)
        if status == 77:
            return failed, set()
        if status > 0:
            raise SystemExit(f"compare: ClrMD failed on {core}")
        if not failed:
            break
        crashed.add(failed)
        parts = parts[parts.index(failed) + 1 :]
        if failed == "stacks":
            # It needs them.
            parts.remove("live")
            crashed.add("live")
    with out.open("wb") as whole:
        for part in PARTS:
            if out.with_suffix("." + part).exists():
                with out.with_suffix("." + part).open("rb") as lines:
                    shutil.copyfileobj(lines, whole)
                out.with_suffix("." + part).unlink()
    return "", crashed


def ask_heapdump(core: pathlib.Path, out: pathlib.Path, words: list[str]) -> None:
    """Write heapdump's facts."""
    program = BUILD / "tests" / "oracle" / "facts"
    options = [word for word in words if word.startswith("--")]
    addresses = [word for word in words if not word.startswith("--")]
    command = [str(program), *options, str(core), str(out), *addresses]
    result = subprocess.run(command, check=False)
    if result.returncode:
        raise SystemExit(f"compare: {program} failed on {core} ({result.returncode})")


def compare_clrmd(
    core: pathlib.Path, folder: pathlib.Path, ours: pathlib.Path, report: Report
) -> None:
    """One row for each kind of fact."""
    raw = folder / "clrmd"
    explain = rules.Explanation(ours)
    reason, crashed = ask_clrmd(core, raw, ours)
    if "heap" in crashed:
        reason = "it crashed on a heap in the middle of a collection"
        if explain.is_walkable:
            raise SystemExit(f"compare: ClrMD crashed on {core}")
    if reason:
        print(f"{core.name}: not compared with ClrMD: {reason}", file=sys.stderr)
        return
    theirs = sort(raw)
    for is_ours, line in differences(theirs, ours):
        if line[0] not in NOT_COMPARED:
            explain.add(is_ours, line)
    explain.apply()
    kinds = "".join(PARTS[part] for part in crashed)
    root_rules.apply(explain, ours, kinds, "threadstatics" not in crashed)
    their_counts = counts(theirs)
    for kind, name in (KINDS | ROOT_KINDS).items():
        problems = [
            f"only {'heapdump' if is_ours else 'ClrMD'}: {' '.join(line)}"
            for is_ours, line in explain.left(kind)
        ]
        reasons = explain.counts(kind)
        if problems or reasons or kind in their_counts:
            report.add(name, their_counts.get(kind, 0), problems, reasons)


def compare(core: pathlib.Path, record: bool) -> list[Row]:
    """All rows of a core."""
    said = truth_of(core)
    addresses = [o["address"] for o in said.get("objects", [])]
    with tempfile.TemporaryDirectory(prefix="heapdump-oracle-") as name:
        folder = pathlib.Path(name)
        options = [] if has_live_set(core) else ["--no-live"]
        ask_heapdump(core, folder / "facts", options + addresses)
        ours = sort(folder / "facts")
        report = Report(core)
        compare_clrmd(core, folder, ours, report)
        for name, count, problems, reasons in truth.check(said, ours) if said else ():
            report.add("truth: " + name, count, problems, reasons)
        rows = report.end()
        if record and not any("DIFFERENT" in verdict for _, _, verdict in rows):
            write_recorded(core, ours)
    return rows


def digests(ours: pathlib.Path) -> dict[str, dict[str, Any]]:
    """Number and SHA-256 of the lines of each kind."""
    result: dict[str, dict[str, Any]] = {}
    hashes: dict[str, Any] = {}
    kinds = KINDS | ROOT_KINDS
    with ours.open("rb") as lines:
        for line in lines:
            name = kinds.get(chr(line[0]))
            if name:
                result.setdefault(name, {"count": 0})["count"] += 1
                hashes.setdefault(name, hashlib.sha256()).update(line)
    for kind, digest in hashes.items():
        result[kind]["sha256"] = digest.hexdigest()
    return result


def write_recorded(core: pathlib.Path, ours: pathlib.Path) -> None:
    """Record what heapdump reads, now that ClrMD agrees."""
    project = (HERE / "clrmd" / "clrmd.csproj").read_text(encoding="utf-8")
    version = re.search(r'"Microsoft.Diagnostics.Runtime" Version="([^"]+)"', project)
    assert version
    document = {
        "core": core.name,
        "sha256": hashlib.sha256(core.read_bytes()).hexdigest(),
        "agreed": f"ClrMD {version[1]}",
        "facts": digests(ours),
    }
    RECORDED.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def check_recorded(core: pathlib.Path) -> int:
    """Compare with what was recorded for this very core."""
    document = json.loads(RECORDED.read_text(encoding="utf-8"))
    if hashlib.sha256(core.read_bytes()).hexdigest() != document["sha256"]:
        print(f"compare: {core} is not the core that {RECORDED.name} is about", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="heapdump-oracle-") as name:
        ask_heapdump(core, pathlib.Path(name) / "facts", ["--no-files"])
        found = digests(sort(pathlib.Path(name) / "facts"))
    status = 0
    for kind in sorted(set(found) | set(document["facts"])):
        verdict = "equal"
        if found.get(kind) != document["facts"].get(kind):
            verdict = f"DIFFERENT: recorded {document['facts'].get(kind)}, found {found.get(kind)}"
            status = 1
        print(f"{core.name}\t{kind}\t{found.get(kind, {}).get('count', 0)}\t{verdict}")
    return status


def main() -> int:
    """See the top of the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--update-table", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--recorded", action="store_true")
    parser.add_argument("cores", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.recorded:
        return max(check_recorded(core) for core in arguments.cores)
    # The DAC's own crashes.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    rows: list[Row] = []
    for core in arguments.cores:
        rows += compare(core, arguments.record)
    if not rows:
        return 77
    names = set(ROOT_KINDS.values())
    good = True
    for table, is_roots in ((HEAP, False), (ROOTS, True)):
        part = [row for row in rows if (row[1] in names) == is_roots]
        good = finish(part, table, arguments.update_table) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
