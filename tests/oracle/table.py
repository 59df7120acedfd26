# SPDX-License-Identifier: MIT
"""The committed tables heap.tsv and roots.tsv: one row for each core and fact, and what was found.

A row that is missing fails; so does an explanation that the row does not name.
"""
from __future__ import annotations

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
Row = tuple[str, str, str]  # core, fact, verdict
GC = {
    "wks": "workstation",
    "svr": "server",
    "seg": "segments",
    "svrseg": "server, segments",
    "limit": "hard limit",
    "single": "workstation, single file",
}


def title(core: pathlib.Path) -> str:
    """Name of a core in the tables: churn10-7 is one of many."""
    return re.sub(r"^(churn\d+)-\d+$", r"\1", core.name.split(".")[0])


def describe(name: str) -> str:
    """Runtime, GC and kind of dump, for the reader of a table."""
    match = re.match(r"([a-z]+)(\d+)?", name)
    assert match
    kind = name.rsplit("-", 1)[-1] if "-" in name else ""
    kind = kind if kind in ("full", "heap", "gcore", "kernel") else "heap"
    if match[1] == "churn":
        kind = "full"
    return f".NET {match[2] or '10'}, {GC.get(match[1], 'workstation')}, {kind}"


# Facts that depend on where threads stand, what a finalizer has done, how many heaps a server's GC uses.
RANDOM = (
    "clrmd-empty-context",
    "clrmd-unfinished-object",
    "clrmd-unmade-frame",
    "clrmd-hijacked",
    "clrmd-arity",
    "clrmd-parameter",
    "clrmd-generic-slot",
    "clrmd-handle-tables",
)


def is_random(name: str, fact: str, rule: str) -> bool:
    """Does one core of that name need the rule, and another one not?"""
    if rule in RANDOM:
        return True
    of_stacks = fact in ("frames", "methods of frames", "stack roots", "live set")
    if name.startswith("churn"):
        # A collection may have caught it, anywhere.
        return rule == "gc-in-progress" or (of_stacks and rule.startswith("clrmd-"))
    if name.startswith("crash"):
        # The DAC does not always die.
        return rule == "after-report" or (of_stacks and rule.startswith("clrmd-"))
    return False


def is_only_random(name: str, fact: str, verdict: str) -> bool:
    """Is there a difference only because of such rules?"""
    rules = rule_names(verdict)
    return bool(rules) and all(is_random(name, fact, rule) for rule in rules)


class Report:
    """The result of one core: differences are printed as they come, the rest is one line at the end."""

    def __init__(self, core: pathlib.Path) -> None:
        self.rows: list[Row] = []
        self._core = core

    def add(self, fact: str, count: int, problems: list[str], reasons: dict[str, int]) -> None:
        """A row: how many of that fact there are, what is wrong, and which rules explain how many."""
        verdict = verdict_of(len(problems), reasons)
        self.rows.append((title(self._core), fact, verdict))
        if not problems:
            return
        print(f"{self._core.name}\t{fact}\t{count}\t{verdict}")
        for problem in problems[:10]:
            print(f"{self._core.name}: {problem[:1000]}")

    def end(self) -> list[Row]:
        """Its rows."""
        verdicts = [verdict.split()[0] for _, _, verdict in self.rows]
        equal, explained = verdicts.count("equal"), verdicts.count("explained")
        different = len(verdicts) - equal - explained
        print(
            f"{self._core.name}: {equal} facts equal, {explained} explained, {different} DIFFERENT"
        )
        return self.rows


class Table:
    """One of the files."""

    def __init__(self, name: str, described: bool) -> None:
        self.path = HERE / name
        self._described = described

    def read(self) -> dict[tuple[str, str], str]:
        """Its rows."""
        if not self.path.exists():
            return {}
        lines = self.path.read_text(encoding="utf-8").splitlines()
        fields = [line.split("\t") for line in lines if line[:1] != "#"]
        return {(row[0], row[-2]): row[-1] for row in fields}

    def check(self, rows: list[Row]) -> bool:
        """Does it have every row, with the same explanations?"""
        table = self.read()
        missing = [
            f"{core}: {fact}"
            for core, fact, verdict in rows
            if (core, fact) not in table and not is_only_random(core, fact, verdict)
        ]
        if missing:
            print(f"{self.path.name} has no row for {', '.join(missing[:5])}", end="")
            print(f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        good = not missing
        for core, fact, verdict in rows:
            row = table.get((core, fact))
            if not row or "DIFFERENT" in verdict:
                continue
            new = rule_names(verdict) - rule_names(row)
            if any(not is_random(core, fact, rule) for rule in new):
                print(f"{self.path.name} says of {core}, {fact}: {row}; now: {verdict}")
                good = False
        return good

    def update(self, rows: list[Row]) -> None:
        """Put rows into it; those of other cores stay.  Of cores with one title all rules count."""
        table = self.read()
        done: dict[tuple[str, str], str] = {}
        for core, fact, verdict in rows:
            if "DIFFERENT" in verdict:
                continue
            known, now = rule_names(done.get((core, fact), "")), rule_names(verdict)
            if known and now != known:
                verdict = "explained by " + ", ".join(sorted(known | now))
            done[(core, fact)] = verdict
        table |= done
        head = "# core, fact, verdict: written with --update-table"
        if self._described:
            head = head.replace("core,", "core, (runtime, GC, kind of dump),")
        lines = [head]
        for (core, fact), verdict in sorted(table.items()):
            middle = [describe(core)] if self._described else []
            lines.append("\t".join([core, *middle, fact, verdict]))
        self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")


HEAP = Table("heap.tsv", False)
ROOTS = Table("roots.tsv", True)


def rule_names(verdict: str) -> set[str]:
    """The names in an "explained by NAME COUNT, ..."."""
    if not verdict.startswith("explained by "):
        return set()
    return {part.split()[0] for part in verdict.removeprefix("explained by ").split(", ")}


def verdict_of(problems: int, reasons: dict[str, int]) -> str:
    """In the words of the tables."""
    if problems:
        return f"DIFFERENT {problems}"
    if reasons:
        return "explained by " + ", ".join(f"{name} {n}" for name, n in sorted(reasons.items()))
    return "equal"


def finish(rows: list[Row], table: Table, update: bool) -> bool:
    """Write or check the table; whether all is well."""
    if update:
        table.update(rows)
    return table.check(rows) and not any("DIFFERENT" in verdict for _, _, verdict in rows)
