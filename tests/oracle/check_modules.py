#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare modules, domains, contexts of types and failed allocations with ClrMD.

    check_modules.py [--program HEAPDUMP] [CORE...]

Without CORE: those of CORES in corefiles/build, or in $COREFILES.  Everything that ClrMD says must be the same, except what
RULES has.  Exit status 1 when anything differs, 77 without cores or a .NET SDK.
"""
from __future__ import annotations

import pathlib
import sys
from typing import Iterator

import compare
from session import Json, ask, check_cores

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CORES = [
    "wks11-full",
    "svr11-full",
    "wks10-full",
    "wks9-full",
    "wks8-full",
    "svr10-full",
    "crash10-oom-heap",
]
TYPES_MAX = 40  # types of each context that dumpalc is asked about
RULES = {
    "layout": "ClrMD says Mapped of modules without an image, and of 9, where its DAC does not tell",
    "none": "ClrMD has no name for modules without a file; ours is that of the assembly",
    "metadata": "the DAC does not say where the metadata of Reflection.Emit lie",
}


def number(text: str | None) -> int:
    """An address of JSON; 0 for null."""
    return int(text, 16) if text else 0


def check_module(said: list[str], ours: Json) -> Iterator[str]:
    """One module."""
    address, assembly, image, size, layout, dynamic, metadata, length, name, _, _ = said
    pairs = {
        "assembly": (number(ours["assembly"]), int(assembly, 16)),
        "image": (number(ours["image"]), int(image, 16)),
        "size": (ours["size"] or 0, int(size, 16)),
        "dynamic": (ours["dynamic"], dynamic == "1"),
        "path": (ours["path"] or "-", name),
    }
    if not ours["dynamic"]:
        pairs["metadata"] = (number(ours["metadata"]), int(metadata, 16))
        pairs["metadata size"] = (ours["metadata_size"] or 0, int(length, 16))
    if ours["layout"] == "flat" or layout == "Flat":
        pairs["layout"] = (ours["layout"], layout.lower())
    for what, (have, want) in pairs.items():
        if have != want:
            yield f"module {address} {name}: {what} {have}, ClrMD says {want}"


def check_contexts(
    program: str, core: pathlib.Path, rows: list[list[str]]
) -> tuple[int, list[str]]:
    """The contexts of types, by one object of each."""
    chosen: dict[str, list[str]] = {}
    for row in rows:
        if len(chosen.setdefault(row[1], [])) < TYPES_MAX:
            chosen[row[1]].append(row[0])
    wanted = {table: holder for holder, tables in chosen.items() for table in tables}
    lists = ask(program, core, [f"dumpheap -mt {table} -limit 1" for table in wanted])
    objects = {
        table: answer["objects"][0]["address"]
        for table, answer in zip(wanted, lists)
        if answer.get("objects")
    }
    wrong = []
    answers = ask(program, core, [f"dumpalc {address}" for address in objects.values()])
    for table, answer in zip(objects, answers):
        found = [number(row["address"]) for row in answer.get("contexts", [])]
        have, want = found[0] if found else 0, int(wanted[table], 16)
        if have != want:
            wrong.append(f"context of MethodTable {table}: {have:x}, ClrMD says {want:x}")
    return len(objects), wrong


def check_failures(ours: list[Json], rows: list[list[str]]) -> Iterator[str]:
    """Failed allocations."""
    reasons = "none budget cant_commit cant_reserve loh low_memory unproductive_full_gc".split()
    have = [
        (
            row["heap"],
            reasons.index(row["reason"]),
            row["allocation"],
            row["collection"],
            row["size"],
        )
        for row in ours
    ]
    # The GC does not note what the program asked for then.
    unsized = {reasons.index("budget"), reasons.index("low_memory")}
    want = [
        (
            int(r[0]),
            int(r[1]),
            None if int(r[1]) in unsized else int(r[2], 16),
            int(r[3]),
            int(r[5], 16),
        )
        for r in rows
    ]
    if have != want:
        yield f"failed allocations: {have}, ClrMD says {want}"


def compare_core(program: str, core: pathlib.Path) -> tuple[str, list[str]]:
    """Counts what was compared, and lists what differs."""
    said = compare.clrmd_lines(core, "modules")
    modules, domains, failures = ask(program, core, ["clrmodules", "dumpdomain", "analyzeoom"])
    ours = {number(row["address"]): row for row in modules["modules"]}
    wrong = []
    if set(ours) != {int(row[0], 16) for row in said["U"]}:
        wrong.append(f"{len(ours)} modules, ClrMD has {len(said['U'])}, or others")
    for row in said["U"]:
        if int(row[0], 16) in ours:
            wrong += check_module(row, ours[int(row[0], 16)])
    have = {(number(row["address"]), row["kind"], row["name"]) for row in domains["domains"]}
    kinds = {"system": ("system", False), "domain": ("app", True)}
    want = {(int(r[0], 16), kinds[r[1]][0], r[2] if kinds[r[1]][1] else None) for r in said["d"]}
    if not any(kind == "system" for _, kind, _ in want):
        # ClrMD lists none of .NET 11; it is there.
        want |= {domain for domain in have if domain[1] == "system" and domain[0]}
    if have != want:
        wrong.append(f"domains {have}, ClrMD says {want}")
    listed = {number(row["address"]) for row in domains["assemblies"]}
    if listed != {int(row[1], 16) for row in said["v"]}:
        wrong.append("the modules of the domain differ")
    count, differ = check_contexts(program, core, said["a"])
    wrong += differ
    wrong += check_failures(failures["failures"], said["o"])
    compared = (
        f"{len(ours)} modules, {len(have)} domains, contexts of {count} types,"
        f" {len(said['o'])} failed allocations"
    )
    return compared, wrong


def main() -> int:
    """Check the cores."""
    return check_cores(
        __doc__ or "", [f"{name}.core" for name in CORES], compare_core, needs_sdk=True
    )


if __name__ == "__main__":
    sys.exit(main())
