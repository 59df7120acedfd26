#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--format: the main table as CSV and NDJSON holds what JSON has, read by Python's own readers."""
from __future__ import annotations

import csv
import io
import json
import re
import unittest
from pathlib import Path
from typing import Any

from shell_program import BUBBLECS, DATA, SOURCE, Base, run, temporary
from spreadsheet import formulas, guarded

LEAK = str(SOURCE / "corefiles" / "leak.core.zst")
FORMULAS = str(DATA / "formulas.heap")
FORMATS = ("json", "ndjson", "csv", "csv --raw-csv")
BEFORE = str(SOURCE / "tests" / "data" / "before.heap")
# A command line, and the table of its document that is the main one.
TABLES = {
    BUBBLECS: {
        "ps": "processes",
        "dumpheap": "objects",
        "dumpheap -stat": "types",
        "dumpheap -short": "objects",
        "dumpheap -limit 3": "objects",
        "dumpheap -type NoSuchType": "objects",
        "types": "types",
        "objsize 1ce056": "objects",
        "objsize 1ce056 -stat": "types",
        "notreachableinrange 0 ffffffff": "objects",
        "roots": "roots",
        "roots -stat": "kinds",
        "pathto 1ce03a 1ce056": "path",
        "gcroot 1ce056": "roots",
        "gcroot -type Bubble": "branches",
        "dominators": "nodes",
        "report": "findings",
        "triage": "parts",
        f"report -against {BEFORE}": "findings",
    },
    LEAK: {
        "dumpheap -type WebShop": "objects",
        "dumpheap -stat -live": "types",
        "dumpheap -strings -min 100": "strings",
        "dumpheap -thinlock": "locks",
        "strings -limit 20": "strings",
        "gchandles": "handles",
        "gchandles -stat": "types",
        "dumpgen 2": "types",
        "syncblk -all": "blocks",
        "eeheap": "heaps",
        "eeheap -loader": "loader_blocks",
        "eeheap -jit": "code_heaps",
        "balance": "heaps",
        "maddress": "regions",
        "maddress -summary": "kinds",
        "memory": "rows",
        "memory -detail": "rows",
        f"memory -against {LEAK}": "rows",
        "finalizequeue": "objects",
        "finalizequeue -stat": "types",
        "finalizequeue -short -limit 2": "objects",
        "gcheapstat": "heaps",
        "ephrefs": "objects",
        "ephrefs -stat": "groups",
        "ephtoloh": "to_large",
        "ephtoloh -limit 1": "to_large",
        "clrthreads": "threads",
        "clrstack": "threads",
        "clrstack -roots -limit 3": "threads",
        "threads": "threads",
        "dumpstackobjects": "objects",
        "db 7f039d8009b0": "lines",
        "dw 7f039d8009b0": "lines",
        "dd 7f039d8009b0": "lines",
        "dc 7f039d8009b0": "lines",
        "dq 7f039d8009b0": "words",
        "dp 7f039d8009b0": "words",
        "du 7f039d8009bc": "lines",
        "registers": "words",
        "symbolize tests/data/perf_script.txt": "addresses",
        "parallelstacks": "frames",
        "clrstack -a -r -f": "threads",
        "waits -all": "threads",
        "hang": "verdicts",
        "threadpoolqueue": "work_items",
        "timerinfo": "timers",
        "dumpasync": "chains",
        "dumpexceptions": "exceptions",
        "dumphttp": "requests",
        "dumprequests": "requests",
        "dumptasks": "tasks",
        "name2ee * WebShop.Session": "matches",
        "token2ee * 02000002": "matches",
        "clrmodules": "modules",
        "modules": "modules",
        "dumpdomain": "assemblies",
        "dumpalc": "contexts",
        "dumpil 7f0f7953e830": "instructions",
        "clru 7f0f7953e830": "pieces",
        "gcinfo 7f0f7953e830": "points",
        "ehinfo 7f0f7953e850": "clauses",
        "dumpsig 7f0ff80220ea 7f0f79538438": "parts",
        "analyzeoom": "failures",
        "crashinfo": "exceptions",
        "sizestats": "sizes",
        "gcheapstat -unreachable": "heaps",
        "roots": "roots",
        "roots -kind handle -limit 5": "roots",
        "gcroot -type WebShop -limit 5": "branches",
        "dominators -top 5": "nodes",
        "assert -max WebShop.Session=100 -max-heap 100M": "rules",
        "dumparray {array} -length 5": "elements",
        "dumparray {array} -details -length 2": "elements",
        "dumparray {bytes}": "elements",
        "dumpcollection 7f039fc0f268 -limit 20": "items",
        "dumpdelegate {delegate}": "invocations",
        "verifyheap": "findings",
        "verifyobj {array}": "findings",
    },
}
# No command has this name: the document that says so parts the answers of one process.
MARK = "formats-mark"
# Cells that are only known after a table in the row, and so is not in its line of CSV.
BEHIND = {"total.count", "total.size", "truncated"}


def flat(row: Any, prefix: str = "") -> dict[str, str]:
    """The fields of a line of CSV that are not empty: what @p row has but tables; what is not an object is a "value"."""
    fields: dict[str, str] = {}
    if not isinstance(row, dict):
        row = {"value": row}
    for name, value in row.items():
        if isinstance(value, dict):
            fields |= flat(value, prefix + name + ".")
        elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            fields[prefix + name] = " ".join(value)
        elif isinstance(value, bool):
            fields[prefix + name] = str(value).lower()
        elif value is not None and not isinstance(value, list) and value != "":
            fields[prefix + name] = str(value)
    return fields


def first_object(file: str, name: str) -> str:
    """The address of the first object of a type."""
    document = json.loads(run(file, "dumpheap", "-type", name, "--json").out)
    return next(o["address"] for o in document["objects"] if o["type"] == name)


def unguarded(rows: list[Any]) -> list[dict[str, str]]:
    """The rows of a document as those of a CSV file."""
    return [{k: v for k, v in flat(row).items() if k not in BEHIND} for row in rows]


def csv_rows(text: str) -> list[dict[str, str]]:
    """The rows of a CSV file without their empty fields."""
    reader = csv.DictReader(io.StringIO(text, newline=""))
    return [{k: v for k, v in row.items() if v} for row in reader]


class Formats(Base):
    """The formats of one answer."""

    def ask_all(self, file: str, commands: list[str], name: str) -> list[str]:
        """The answers of all commands in one format, by one process."""
        text = "".join(f"{command} --format {name}\n{MARK} --json\n" for command in commands)
        answer = run(file, text=text)
        self.assertEqual(answer.err, "", name)
        answers = re.split(rf'{{"schema": 1, "command": "{MARK}".*\n', answer.out)
        self.assertEqual(len(answers), len(commands) + 1, name)
        return answers[:-1]

    def ask(self, file: str, command: str, name: str) -> str:
        """The answer of a command in one format."""
        answer = run(file, *command.split(), "--format", name)
        self.assertEqual(answer.err, "", (command, name))
        self.assertEqual(answer.status, 0, (command, name))
        return answer.out

    def is_steady(self, file: str, commands: list[str], answers: list[list[str]]) -> bool:
        """Did no process change while `ps` was asked for in one format after the other?"""
        document, lines, text, raw = (answer[commands.index("ps")] for answer in answers)
        processes = json.loads(document)["processes"]
        expected = unguarded(processes)
        return (
            [json.loads(line) for line in lines.splitlines()] == processes
            and csv_rows(raw) == expected
            and csv_rows(text) == [{k: guarded(v) for k, v in row.items()} for row in expected]
            and self.ask_all(file, commands, "json") == answers[0]
        )

    def test_rows_of_csv_and_ndjson_are_those_of_json(self) -> None:
        named = {
            "array": first_object(LEAK, "WebShop.Session[]"),
            "bytes": first_object(LEAK, "System.Byte[]"),
            "delegate": first_object(LEAK, "System.EventHandler<WebShop.PriceChange>"),
        }
        for file, tables in TABLES.items():
            commands = [line.format(**named) for line in tables]
            answers = [self.ask_all(file, commands, name) for name in FORMATS]
            # Processes begin, stop and end while they are listed: until nothing changes.
            for _ in range(20):
                if "ps" not in commands or self.is_steady(file, commands, answers):
                    break
                answers = [self.ask_all(file, commands, name) for name in FORMATS]
            for command, table, *texts in zip(commands, tables.values(), *answers):
                with self.subTest(command=command):
                    document, lines, text, raw = texts
                    rows = json.loads(document)[table]
                    self.assertEqual([json.loads(line) for line in lines.splitlines()], rows)
                    expected = unguarded(rows)
                    self.check_csv(raw, expected)
                    self.check_csv(
                        text, [{k: guarded(v) for k, v in row.items()} for row in expected]
                    )

    def check_csv(self, text: str, expected: list[dict[str, str]]) -> None:
        """The rows of a CSV file; an empty field is what JSON leaves out or has as null."""
        found = csv_rows(text)
        for have, want in zip(found, expected):
            self.assertEqual(have, want)
        self.assertEqual(len(found), len(expected))
        self.assertTrue(text.endswith("\r\n"))

    def test_no_text_is_a_formula(self) -> None:
        """Whether a spreadsheet takes commas, semicolons or tabs between cells, and in each column."""
        letters = "=+-@\uff1d; \"',\n\t1a"
        values = ",".join(f"(char({ord(letter)}))" for letter in letters)
        query = (
            f"WITH l(c) AS (VALUES {values}) SELECT %s AS t "
            "FROM l a, l b, l c, l d WHERE a.c || b.c || c.c || d.c <> ''"
        )
        text = "a.c || b.c || c.c || d.c"
        for columns in (text, f"1 AS n, {text}", f"{text} AS t1, {text}"):
            words = (BUBBLECS, "sql", "-limit", "0", query % columns, "--format", "csv")
            answer = run(*words)
            self.assertEqual((answer.err, answer.status), ("", 0))
            for delimiter in ",;\t":
                self.assertEqual(formulas(answer.out, delimiter), [])
            self.assertGreater(len(formulas(run(*words, "--raw-csv").out, ",")), 1000)

    def test_a_formula_is_kept_where_that_is_wanted(self) -> None:
        """An option of the command, one before the target, and a setting; the page of report has its file, too."""
        exact = [row["name"] for row in run(FORMULAS, "types", "--json").json()["types"]]
        self.assertIn("=cmd|'/c calc'!A1", exact)
        for words, text, is_raw in (
            ((FORMULAS, "types", "--format", "csv"), "", False),
            ((FORMULAS, "types", "--format=csv", "--raw-csv"), "", True),
            (("--raw-csv", FORMULAS, "types", "--format", "csv"), "", True),
            ((FORMULAS,), "set raw-csv on\nset format csv\ntypes\n", True),
            ((FORMULAS,), "set raw-csv on\nset raw-csv off\nset format csv\ntypes\n", False),
        ):
            answer = run(*words, text=text)
            rows = csv.DictReader(io.StringIO(answer.out, newline=""))
            expected = exact if is_raw else [guarded(name) for name in exact]
            self.assertEqual([row["name"] for row in rows], expected, words)

    def test_a_report_in_a_file_is_guarded_too(self) -> None:
        pile = "".join(f"o {i:x} 1 1000\n" for i in range(0x20, 0x20 + 3000))
        holder = "o 10 2 18 " + " ".join(f"{i:x}" for i in range(0x20, 0x20 + 3000))
        text = f"a 2 x.exe\nt 1 =Pile\nt 2 @Holder\n{holder}\n{pile}r 10 4 0 2\nc x.exe\n"
        dump, path = temporary("pile.heap", text.encode()), temporary("pile.csv")
        for more in ((), ("--raw-csv",)):
            run(dump, "report", "-o", path, *more)
            found = Path(path).read_bytes().decode()
            self.assertIn("@Holder", found)
            self.assertEqual(",'@Holder" in found, not more)
            self.assertEqual(found, run(dump, "report", "--format", "csv", *more).out)

    def test_text_and_json_are_the_same_as_without_the_option(self) -> None:
        self.assertEqual(self.ask(BUBBLECS, "types", "text"), run(BUBBLECS, "types").out)
        document = run(BUBBLECS, "types", "--json").out
        self.assertEqual(self.ask(BUBBLECS, "types", "json"), document)

    def test_the_format_can_be_set_before_the_target_and_at_the_prompt(self) -> None:
        expected = self.ask(BUBBLECS, "types", "csv")
        self.assertEqual(run("--format", "csv", BUBBLECS, "types").out, expected)
        self.assertEqual(run(BUBBLECS, text="set format csv\ntypes\n").out, expected)

    def test_a_format_of_rows_can_be_left_again(self) -> None:
        lines = f"set format csv\nhelp types\nopen {BUBBLECS}\nset format text\ntypes\n"
        answer = run(BUBBLECS, text=lines)
        self.assertEqual((answer.status, answer.err), (0, ""))
        self.assertTrue(answer.out.endswith(run(BUBBLECS, "types").out))

    def test_what_has_no_table_says_so(self) -> None:
        for name in ("csv", "ndjson"):
            answer = run(BUBBLECS, "help", "--format", name)
            self.assertEqual((answer.status, answer.out), (3, ""))
            self.assertEqual(
                answer.err,
                "heapdump: help does not answer with a table: --format is text or json for it\n",
            )

    def test_an_unknown_format_is_refused(self) -> None:
        answer = run(BUBBLECS, "types", "--format", "xml")
        self.assertEqual(answer.status, 2)
        self.assertIn("text, json, ndjson, csv", answer.err)


if __name__ == "__main__":
    unittest.main()
