#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Read what export and sql -o write with DuckDB, hyparquet and apache-arrow: check_columns.py [CORE...].

Each must find the rows that heapdump's own sql says: all tables of a core, the queries of doc/columns.md, and random
tables (--tables N of them; the seed is that of the campaign). pyarrow is used, too, where Python has it.

Status 77: there is no node, or npm brings none of the packages (into build/columns-oracle, once).
"""
from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
sys.path.insert(0, str(SOURCE / "tests" / "support"))
import turns  # noqa: E402  pylint: disable=wrong-import-position

PROGRAM = str(BUILD / "heapdump")
LEAK = SOURCE / "corefiles" / "leak.core.zst"
BUBBLECS = SOURCE / "corefiles" / "bubblecs.heap"
MODULES = BUILD / "columns-oracle"
PACKAGES = ("@duckdb/node-api", "hyparquet", "hyparquet-compressors", "apache-arrow")
SKIPPED = 77
TIMEOUT = 600


def say(text: str) -> None:
    """One line, at once."""
    print(text, flush=True)


def heapdump(*words: str) -> str:
    """The output of one command."""
    done = subprocess.run(
        [PROGRAM, *words], capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    if done.returncode not in (0, 1):
        raise AssertionError(f"{words}: {done.stderr}")
    return done.stdout


def install() -> str:
    """Bring the packages; says why not, or nothing."""
    if not shutil.which("node") or not shutil.which("npm"):
        return "there is no node"
    if (MODULES / "done").exists():
        return ""
    MODULES.mkdir(parents=True, exist_ok=True)
    (MODULES / "package.json").write_text('{"private": true}', encoding="utf-8")
    try:
        done = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", *PACKAGES],
            cwd=MODULES,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "npm does not answer"
    if done.returncode:
        return "npm brings no packages: " + done.stderr.strip().splitlines()[-1]
    (MODULES / "done").touch()
    return ""


def read(requests: list[list[str]]) -> list[dict[str, Any]]:
    """The answers of the readers."""
    done = subprocess.run(
        ["node", str(Path(__file__).with_name("columns.mjs")), str(MODULES)],
        input="\n".join(json.dumps(request) for request in requests),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    if done.returncode:
        raise AssertionError(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def plain(name: str, value: Any) -> Any:
    """A value of sql, or of a reader, in the form in which they are compared: numbers as texts."""
    if isinstance(value, str) and name != "value" and re.fullmatch("0x[0-9a-f]+", value):
        return str(int(value, 16))
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return f"{value:.9e}"
    return value if value is None else str(value)


def rows_of(names: list[str], rows: list[list[Any]]) -> list[tuple[Any, ...]]:
    """Rows in an order."""
    return sorted(
        (tuple(plain(*cell) for cell in zip(names, row)) for row in rows),
        key=lambda row: tuple((cell is None, cell or "") for cell in row),
    )


def query(target: Path, text: str) -> tuple[list[str], list[list[Any]]]:
    """The rows of sql."""
    document = json.loads(heapdump(str(target), "sql", text, "-limit", "0", "--json"))
    names = list(document["rows"][0]) if document["rows"] else []
    return names, [list(row.values()) for row in document["rows"]]


class Checks:
    """Counts what is the same, and what is not."""

    def __init__(self) -> None:
        self.good = 0
        self.bad: list[str] = []

    def same(self, what: str, got: Any, wanted: Any) -> None:
        """Two values are the same."""
        if got == wanted:
            self.good += 1
            return
        pairs = zip(got, wanted) if isinstance(got, list) and isinstance(wanted, list) else ()
        first = next(((a, b) for a, b in pairs if a != b), (got, wanted))
        self.bad.append(f"{what}: {str(first[0])[:200]}, and not {str(first[1])[:200]}")

    def table(self, what: str, got: dict[str, Any], names: list[str], rows: list[Any]) -> None:
        """A reader's rows are those of sql."""
        if "error" in got:
            self.bad.append(f"{what}: {got['error']}")
            return
        places = [got["names"].index(name) for name in names]
        found = [[row[place] for place in places] for row in got["rows"]]
        self.same(what, rows_of(names, found), rows_of(names, rows))


def check_tables(checks: Checks, target: Path, folder: Path) -> None:
    """All tables of an export."""
    path = folder / "heap.parquet"
    heapdump(str(target), "export", f"{path}/")
    requests: list[list[str]] = []
    wanted = []
    queries = {"objects": "SELECT address, mt, type, size, generation, live FROM objects"}
    queries["refs"] = 'SELECT "from", "to" FROM refs'
    queries["types"] = "SELECT mt, name, count, size FROM types WHERE count AND name != 'Free'"
    for file in sorted(path.iterdir()):
        text = queries.get(file.stem, f"SELECT * FROM {file.stem}")
        if file.stem == "objects":
            text += " WHERE NOT free" if target.suffix != ".heap" else ""
        stream = folder / f"{file.stem}.arrows"
        heapdump(str(target), "export", str(stream), "-table", file.stem)
        found = query(target, text)
        requests += [["duckdb", f"SELECT * FROM '{file}'", str(folder)]]
        requests += [["hyparquet", str(file)], ["arrow", str(stream)]]
        wanted += [(file.stem, reader, found) for reader in ("duckdb", "hyparquet", "arrow")]
    for (stem, reader, found), got in zip(wanted, read(requests)):
        checks.table(f"{target.name}: {stem} by {reader}", got, *found)
    shutil.rmtree(path)


def check_document(checks: Checks, folder: Path) -> None:
    """The queries of doc/columns.md: each has an answer, of the table that it is about."""
    text = (SOURCE / "doc" / "columns.md").read_text(encoding="utf-8")
    section = text.split("## 5.")[1]
    heapdump(str(LEAK), "export", str(folder / "heap.parquet"))
    queries = re.findall(r"^    (SELECT .*?);$", section, re.M | re.S)
    checks.same("queries in doc/columns.md", len(queries) >= 3, True)
    for line, got in zip(queries, read([["duckdb", line, str(folder)] for line in queries])):
        checks.same(f"doc/columns.md: {line}: {got.get('error')}", bool(got.get("rows")), True)
    shutil.rmtree(folder / "heap.parquet")


def random_column(chance: random.Random) -> str:
    """An expression over i, the number of the row, which repeats itself or jumps, and may be missing."""
    step, shift = chance.choice((1, 3, 1000, 7919, 2**31)), chance.choice((1, 2, 17, 300, 5000))
    number = f"(i / {shift} * {step} * 2654435761 % {chance.choice((2, 97, 65536, 2**40))})"
    form = chance.choice(
        (
            number,
            f"({number} - {chance.choice((1, 48, 2**39))})",
            f"({number} * 1.5)",
            f"printf('%x', {number})",
            f"substr('\u00e9\u4e16\U0001f600 abcdefgh', 1, {number} % 12)",
            f"CASE {number} % 3 WHEN 0 THEN {number} WHEN 1 THEN 'x' || i ELSE 0.25 END",
            "NULL",
        )
    )
    missing = chance.choice((0, 0, 2, 7, 1000))
    return f"CASE WHEN i % {missing} = 0 THEN NULL ELSE {form} END" if missing else form


def check_random(checks: Checks, tables: int, folder: Path) -> None:
    """Random tables, through DuckDB and the others."""
    chance = turns.chance("columns")
    for number in range(tables):
        rows = chance.choice((0, 1, 7, 8, 9, 64, 1000, 3000, 140_000 if number == 0 else 4000))
        columns = ", ".join(f"{random_column(chance)} AS c{i}" for i in range(chance.randint(1, 6)))
        text = (
            f"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})"
            f" SELECT {columns} FROM n WHERE i < {rows}"
        )
        for ending in ("parquet", "arrows"):
            heapdump(str(BUBBLECS), "sql", text, "-o", str(folder / f"rows.{ending}"))
        names, found = query(BUBBLECS, text)
        got = read(
            [
                ["duckdb", "SELECT * FROM 'rows.parquet'", str(folder)],
                ["hyparquet", str(folder / "rows.parquet")],
                ["arrow", str(folder / "rows.arrows")],
            ]
        )
        for reader, answer in zip(("duckdb", "hyparquet", "arrow"), got):
            texts = {
                name
                for i, name in enumerate(names)
                if any(isinstance(row[i], str) for row in found)
                and any(isinstance(row[i], float) for row in found)
            }
            kept = [name for name in names if name not in texts]
            places = [names.index(name) for name in kept]
            checks.table(
                f"random table {number} by {reader}: {text}",
                answer,
                kept,
                [[row[place] for place in places] for row in found],
            )


def check_pyarrow(checks: Checks, folder: Path) -> None:
    """pyarrow reads the same, where it is there."""
    try:
        import pyarrow.parquet  # type: ignore  # pylint: disable=import-outside-toplevel
    except ImportError:
        say("pyarrow is not there: not run")
        return
    heapdump(str(LEAK), "export", str(folder / "heap.parquet"))
    table = pyarrow.parquet.read_table(folder / "heap.parquet" / "objects.parquet")
    names, rows = query(LEAK, "SELECT count(*) AS n, sum(size) AS s FROM objects WHERE NOT free")
    got = [table.num_rows, sum(table.column("size").to_pylist())]
    checks.same(f"pyarrow: {names}", got, rows[0])


def main() -> int:
    """Check each core; the number of failures decides the status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=5)
    parser.add_argument("cores", nargs="*", type=Path)
    arguments = parser.parse_args()
    why = install()
    if why:
        say(f"skipped: {why}")
        return SKIPPED
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="heapdump-columns-") as name:
        for core in arguments.cores or [LEAK, BUBBLECS]:
            check_tables(checks, core, Path(name))
        check_document(checks, Path(name))
        check_random(checks, arguments.tables, Path(name))
        check_pyarrow(checks, Path(name))
    say(f"{checks.good} equal, {len(checks.bad)} not")
    for bad in checks.bad[:10]:
        say(f"  {bad}")
    return bool(checks.bad)


if __name__ == "__main__":
    sys.exit(main())
