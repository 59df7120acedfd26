#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare what heapdump reads out of cores with what the runtime's own DAC (through ClrMD) says, and
with what the program that was dumped said about itself (NAME.truth.json beside NAME.core).

    compare.py [--update-table] CORE...     both, and the rows of heap.tsv
    compare.py --record CORE                the same; then write recorded.json, for machines without .NET
    compare.py --recorded CORE              compare with recorded.json alone

Whole sets are compared, one kind of fact at a time. A difference is allowed only when one of the rules in
rules.py explains it. heap.tsv has a row for each core and fact: a row that is missing, or a rule that its
row does not name, fails, too.

Environment: HEAPDUMP_BUILD, the build folder (default: build). Exit status: 0 no unexplained difference,
1 differences, 2 usage, 77 nothing to compare with.
"""
from __future__ import annotations

import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Any, Iterator

import rules
import truth

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("HEAPDUMP_BUILD", ROOT / "build"))
TABLE = HERE / "heap.tsv"
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
    "H": "threads",
    "X": "exceptions",
    "D": "delegates",
    "M": "multicast delegates",
    "E": "unreadable",
}
Row = tuple[str, str, str]  # core, fact, verdict


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
    sources = sorted((HERE / "clrmd").glob("*.*"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    stamp = apps / "clrmd.stamp"
    program = apps / "clrmd" / "clrmd.dll"
    if not program.exists() or not stamp.exists() or stamp.read_text(encoding="ascii") != digest:
        subprocess.run(
            ["dotnet", "publish", str(HERE / "clrmd"), "-c", "Release", "-v", "quiet"],
            check=True,
            env={**os.environ, "HD_APPS_BUILD": str(apps)},
            stdout=sys.stderr,
        )
        stamp.write_text(digest, encoding="ascii")
    return program


def runtime_folder() -> pathlib.Path:
    """Of the newest .NET 10 that is installed."""
    text = subprocess.run(
        ["dotnet", "--list-runtimes"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    found = re.findall(r"^Microsoft\.NETCore\.App (10\.\S+) \[(.*)\]$", text, re.MULTILINE)
    version, folder = found[-1]
    return pathlib.Path(folder, version)


def ask_clrmd(core: pathlib.Path, out: pathlib.Path, is_walkable: bool) -> str:
    """Write ClrMD's facts; @return why there are none, or ""."""
    if core.suffix == ".zst":
        unpacked = out.with_suffix(".core")
        subprocess.run(["zstd", "-dqf", str(core), "-o", str(unpacked)], check=True)
        core = unpacked
    command = ["dotnet", str(clrmd_program(apps_folder(core))), str(core), str(out)]
    if core.name.startswith("single10"):
        # A single-file program brings no DAC; the shared runtime of the same version has it.
        command.append(str(runtime_folder() / "libmscordaccore.so"))
    result = subprocess.run(command, check=False, stderr=subprocess.PIPE, text=True)
    if result.returncode == 77:
        return result.stderr.strip()
    if result.returncode < 0 and not is_walkable:
        return f"it crashed (signal {-result.returncode}) on a heap in the middle of a collection"
    if result.returncode:
        sys.stderr.write(result.stderr)
        raise SystemExit(f"compare: ClrMD failed on {core}")
    return ""


def ask_heapdump(core: pathlib.Path, out: pathlib.Path, words: list[str]) -> None:
    """Write heapdump's facts."""
    program = BUILD / "tests" / "oracle" / "facts"
    options = [word for word in words if word.startswith("--")]
    addresses = [word for word in words if not word.startswith("--")]
    command = [str(program), *options, str(core), str(out), *addresses]
    result = subprocess.run(command, check=False)
    if result.returncode:
        raise SystemExit(f"compare: {program} failed on {core} ({result.returncode})")


def title(core: pathlib.Path) -> str:
    """Name of a core in the table: churn10-7 is one of many."""
    return re.sub(r"^(churn\d+)-\d+$", r"\1", core.name.split(".")[0])


def compare_clrmd(core: pathlib.Path, folder: pathlib.Path, ours: pathlib.Path) -> list[Row]:
    """One row for each kind of fact."""
    raw = folder / "clrmd"
    explain = rules.Explanation(ours)
    reason = ask_clrmd(core, raw, explain.is_walkable)
    if reason:
        print(f"{core.name}: not compared with ClrMD: {reason}", file=sys.stderr)
        return []
    theirs = sort(raw)
    for is_ours, line in differences(theirs, ours):
        if line[0] != "V":
            explain.add(is_ours, line)
    explain.apply()
    their_counts = counts(theirs)
    rows = []
    for kind, name in KINDS.items():
        left = explain.left(kind)
        for is_ours, line in left[:10]:
            print(f"{core.name}: only {'heapdump' if is_ours else 'ClrMD'}: {' '.join(line)}")
        reasons = explain.counts(kind)
        verdict = "equal"
        if left:
            verdict = f"DIFFERENT {len(left)}"
        elif reasons:
            verdict = "explained by " + ", ".join(f"{r} {n}" for r, n in sorted(reasons.items()))
        elif kind not in their_counts:
            continue
        rows.append((title(core), name, verdict))
        print(f"{core.name}\t{name}\t{their_counts.get(kind, 0)}\t{verdict}")
    return rows


def compare_truth(core: pathlib.Path, ours: pathlib.Path, said: dict[str, Any]) -> list[Row]:
    """Rows for what the program itself said."""
    rows = []
    for name, count, problems, reasons in truth.check(said, ours):
        verdict = "equal"
        if problems:
            verdict = f"DIFFERENT {len(problems)}"
            for problem in problems[:10]:
                print(f"{core.name}: {problem}")
        elif reasons:
            verdict = "explained by " + ", ".join(f"{r} {n}" for r, n in sorted(reasons.items()))
        rows.append((title(core), "truth: " + name, verdict))
        print(f"{core.name}\ttruth: {name}\t{count}\t{verdict}")
    return rows


def compare(core: pathlib.Path, record: bool) -> list[Row]:
    """All rows of a core."""
    side = core.with_name(core.name.split(".")[0] + ".truth.json")
    said = json.loads(side.read_text(encoding="utf-8")) if side.exists() else {}
    addresses = [o["address"] for o in said.get("objects", [])]
    with tempfile.TemporaryDirectory(prefix="heapdump-oracle-") as name:
        folder = pathlib.Path(name)
        ask_heapdump(core, folder / "facts", addresses)
        ours = sort(folder / "facts")
        rows = compare_clrmd(core, folder, ours)
        if said:
            rows += compare_truth(core, ours, said)
        if record and not any("DIFFERENT" in verdict for _, _, verdict in rows):
            write_recorded(core, ours)
    return rows


def digests(ours: pathlib.Path) -> dict[str, dict[str, Any]]:
    """Number and SHA-256 of the lines of each kind."""
    result: dict[str, dict[str, Any]] = {}
    hashes: dict[str, Any] = {}
    with ours.open("rb") as lines:
        for line in lines:
            kind = chr(line[0])
            if kind not in KINDS:
                continue
            entry = result.setdefault(KINDS[kind], {"count": 0})
            entry["count"] += 1
            hashes.setdefault(KINDS[kind], hashlib.sha256()).update(line)
    for kind, digest in hashes.items():
        result[kind]["sha256"] = digest.hexdigest()
    return result


def write_recorded(core: pathlib.Path, ours: pathlib.Path) -> None:
    """What heapdump reads, now that ClrMD agrees."""
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


def rule_names(verdict: str) -> set[str]:
    """Of an "explained by NAME COUNT, ..."."""
    if not verdict.startswith("explained by "):
        return set()
    return {part.split()[0] for part in verdict.removeprefix("explained by ").split(", ")}


def read_table() -> dict[tuple[str, str], str]:
    """Rows of the committed table."""
    if not TABLE.exists():
        return {}
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    return {(line.split("\t")[0], line.split("\t")[1]): line.split("\t")[2] for line in lines}


def check_table(rows: list[Row]) -> bool:
    """Does the table have every row, with the same explanations?"""
    table = read_table()
    missing = [f"{core}: {fact}" for core, fact, _ in rows if (core, fact) not in table]
    if missing:
        print(f"compare: {TABLE.name} has no row for {', '.join(missing[:5])}", end="")
        print(f" and {len(missing) - 5} more" if len(missing) > 5 else "")
    good = not missing
    for core, fact, verdict in rows:
        row = table.get((core, fact))
        # A program that never rests may be caught by a collection, or not.
        random = {"gc-in-progress"} if core.startswith("churn") else set()
        allowed = rule_names(row) | random if row else set()
        if row and "DIFFERENT" not in verdict and not rule_names(verdict) <= allowed:
            print(f"compare: {TABLE.name} says of {core}, {fact}: {row}; now: {verdict}")
            good = False
    return good


def update_table(rows: list[Row]) -> None:
    """Put rows into the table; those of other cores stay.  Of cores with one title all rules count."""
    table = read_table()
    done: dict[tuple[str, str], str] = {}
    for core, fact, verdict in rows:
        if "DIFFERENT" in verdict:
            continue
        known, now = rule_names(done.get((core, fact), "")), rule_names(verdict)
        if known and now != known:
            verdict = "explained by " + ", ".join(sorted(known | now))
        done[(core, fact)] = verdict
    table |= done
    lines = ["# core, fact, verdict: written by compare.py --update-table"]
    lines += ["\t".join((*key, row)) for key, row in sorted(table.items())]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


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
    rows: list[Row] = []
    for core in arguments.cores:
        rows += compare(core, arguments.record)
    if not rows:
        return 77
    good = not any("DIFFERENT" in verdict for _, _, verdict in rows)
    if arguments.update_table:
        update_table(rows)
    good = check_table(rows) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
