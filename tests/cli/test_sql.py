#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sql: the tables hold what the commands answer; what SQL must not do; the queries of its help."""
from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

from shell_program import (
    BUBBLECS,
    DATA,
    PROGRAM,
    SOURCE,
    TIMEOUT,
    Base,
    await_handler,
    environment,
    folder,
    large_dump,
    run,
    waiting,
)

LEAK = str(SOURCE / "corefiles" / "leak.core.zst")
BUILT = SOURCE / "corefiles" / "build"
CORES = [LEAK] + [
    str(path)
    for name in (
        "wks11-full",
        "wks10-full",
        "svr10-full",
        "wks8-full",
        "seg9-full",
        "crash10-threads-heap",
    )
    if (path := BUILT / f"{name}.core").exists()
]
# Functions of SQLite that do more than compute; its full text search and R-trees have some that are left out with them.
REFUSED_FUNCTIONS = set(
    "bm25 fts3_tokenizer fts5 fts5_source_id highlight last_insert_rowid load_extension match matchinfo offsets optimize "
    "rtreecheck rtreedepth rtreenode snippet sqlite_compileoption_get sqlite_compileoption_used sqlite_log "
    "sqlite_source_id subtype total_changes".split()
)
WINDOW_FUNCTIONS = set(
    "cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number".split()
)
DUMPS = [BUBBLECS, str(DATA / "small300.gcdump"), str(DATA / "small300_v6.nettrace")]

# A command line, the table of its document, which of its members are compared, and the same as a query.
BOTH = [
    (
        "dumpheap",
        "objects",
        "address mt type size free generation",
        "SELECT address, mt, type, size, free, generation FROM objects",
    ),
    (
        "dumpheap -stat",
        "types",
        "mt name count size",
        "SELECT mt, type AS name, count(*) AS count, sum(size) AS size FROM objects GROUP BY mt, type",
    ),
    (
        "dumpheap -stat -live",
        "types",
        "mt name count size",
        "SELECT mt, type AS name, count(*) AS count, sum(size) AS size FROM objects WHERE live GROUP BY mt",
    ),
    (
        "dumpheap -type String",
        "objects",
        "address size",
        "SELECT address, size FROM objects WHERE instr(type, 'String')",
    ),
    ("types", "types", "mt name count size", "SELECT mt, name, count, size FROM types"),
    ("roots", "roots", "kind object weak", "SELECT kind, object, weak FROM roots"),
    ("info", "findings", "kind detail", "SELECT kind, detail FROM findings"),
]
BOTH_OF_CORES = [
    (
        "gchandles",
        "handles",
        "address kind object type",
        "SELECT address, kind, object, type FROM handles",
    ),
    (
        "clrthreads",
        "threads",
        "id os_id address state",
        "SELECT id, os_id, address, state FROM threads",
    ),
    (
        "clrstack -all",
        "threads.frames",
        "kind sp ip method",
        "SELECT kind, sp, ip, method FROM frames",
    ),
    (
        "eeheap -gc",
        "heaps.segments",
        "address generation begin allocated",
        "SELECT address, generation, begin, allocated FROM segments",
    ),
    ("syncblk -all", "blocks", "block object", "SELECT block, object FROM sync_blocks"),
    (
        "finalizequeue",
        "objects",
        "address type ready",
        "SELECT address, type, ready FROM finalizer_queue",
    ),
    (
        "strings",
        "strings",
        "value count size",
        "SELECT value, count(*) AS count, sum(size) AS size FROM strings GROUP BY value",
    ),
    (
        "dumpgen 2",
        "types",
        "mt name count size",
        "SELECT mt, type AS name, count(*) AS count, sum(size) AS size FROM objects"
        " WHERE generation = '2' GROUP BY mt, type",
    ),
    (
        "notreachableinrange 0 7fffffffffff",
        "objects",
        "address size",
        "SELECT address, size FROM objects WHERE NOT live AND NOT free",
    ),
    ("verifyheap", "findings", "address kind", "SELECT address, kind FROM damage"),
    ("dumptasks", "tasks", "address status method", "SELECT address, status, method FROM tasks"),
    (
        "waits -all",
        "threads",
        "id waits_for object method",
        "SELECT id, waits_for, object, method FROM waits",
    ),
    (
        "timerinfo",
        "timers",
        "address due left_at_most method",
        "SELECT address, due, left_at_most, method FROM timers",
    ),
    (
        "threadpoolqueue",
        "work_items",
        "queue first method count",
        "SELECT queue, first, method, count FROM work_items",
    ),
]


def table_of(document: Any, path: str) -> list[Any]:
    """The rows of a table, or of a table in the rows of another one."""
    rows = [document]
    for name in path.split("."):
        rows = [inner for row in rows for inner in row.get(name, [])]
    return rows


def canonical(value: Any) -> Any:
    """SQL has 0 and 1 for flags, and NULL for what JSON leaves out."""
    return int(value) if isinstance(value, bool) else value


def rows_of(rows: list[Any], names: str) -> list[str]:
    if names == "value count size":
        # Texts that differ only in what UTF-8 cannot say (half a surrogate pair) are one in SQL.
        sums: dict[str, tuple[int, int]] = {}
        for row in rows:
            count, size = sums.get(row["value"], (0, 0))
            sums[row["value"]] = (count + row["count"], size + row["size"])
        return sorted(f"{value!r} {sums[value]}" for value in sums)
    return sorted(str([canonical(row.get(name)) for name in names.split()]) for row in rows)


class Sql(Base):
    """The command sql."""

    def query(self, target: str, text: str) -> list[dict[str, Any]]:
        answer = run(target, "sql", text, "--json")
        self.assertEqual(answer.status, 0, (target, text, answer.err))
        rows: list[dict[str, Any]] = answer.json()["rows"]
        return rows

    def queries(self, target: str, texts: list[str]) -> list[list[dict[str, Any]]]:
        """The rows of each, in one session."""
        lines = "".join(f"sql {text};\n" for text in texts)
        answer = run(target, text="set format json\n" + lines)
        documents = [json.loads(line) for line in answer.out.splitlines()]
        self.assertEqual(len(documents), len(texts), (target, answer.err))
        return [document["rows"] for document in documents]

    def document(self, target: str, line: str) -> Any:
        answer = run(target, *line.split(), "--json")
        self.assertIn(answer.status, (0, 1), (target, line, answer.err))
        return answer.json()

    def test_queries_answer_as_commands_do(self) -> None:
        for target in CORES + DUMPS:
            cases = BOTH + (BOTH_OF_CORES if target in CORES else [])
            answers = self.queries(target, [case[3] for case in cases])
            for (line, table, names, _), rows in zip(cases, answers):
                with self.subTest(target=target, command=line):
                    expected = rows_of(table_of(self.document(target, line), table), names)
                    self.assertEqual(rows_of(rows, names), expected)

    def test_references_of_an_object(self) -> None:
        for target in CORES + DUMPS:
            objects = self.document(target, "dumpheap -limit 400")["objects"]
            # Slots of statics are not references of the arrays that hold them.
            objects = [o for o in objects if not o["free"] and o["type"] != "System.Object[]"]
            tried = 0
            for row in objects[:: max(1, len(objects) // 6)]:
                with self.subTest(target=target, object=row["address"]):
                    line = f"dumpobj {row['address']} -refs -nofields"
                    found = self.document(target, line)
                    text = 'SELECT DISTINCT "to" AS o FROM refs WHERE "from" = ' + row["address"]
                    got = {edge["o"] for edge in self.query(target, text)}
                    self.assertEqual(got, set(found["references"]))
                    text = 'SELECT DISTINCT "from" AS o FROM refs WHERE "to" = ' + row["address"]
                    got = {edge["o"] for edge in self.query(target, text)}
                    if target in CORES:
                        # + hides the column from the plan: all references are read.
                        text = text.replace('"to" =', '+"to" =')
                        wanted = {edge["o"] for edge in self.query(target, text)}
                    else:
                        wanted = set(found["referrers"])
                    self.assertEqual(got, wanted)
                    tried += 1
            self.assertGreater(tried, 3)

    def test_places_of_references(self) -> None:
        """By the objects that refer, and by those that are referred to: the same fields."""
        for target in CORES[:3]:
            forward = 'SELECT field AS f, "from", "to" FROM refs GROUP BY "from", "to" HAVING count(*) = 1'
            rows = {(row["from"], row["to"]): row["f"] for row in self.query(target, forward)}
            self.assertGreater(len(rows), 1000)
            texts = [(pair, name) for pair, name in sorted(rows.items())][:: len(rows) // 150]
            back = 'SELECT field AS f FROM refs WHERE "to" = {} AND +"from" = {}'
            found = self.queries(target, [back.format(to, source) for (source, to), _ in texts])
            for (pair, name), fields in zip(texts, found):
                self.assertEqual(fields, [{"f": name}], (target, pair))

    def test_referrers(self) -> None:
        """The command counts what the table lists."""
        for target in (LEAK, BUBBLECS):
            name = "WebShop.Session" if target == LEAK else "BubbleCS.GameBoard"
            text = 'SELECT a.type AS type, count(DISTINCT "from") AS n FROM refs'
            text += ' JOIN objects a ON a.address = "from" JOIN objects b ON b.address = "to"'
            text += f" WHERE b.type = '{name}' GROUP BY a.type"
            expected = {row["type"]: row["n"] for row in self.query(target, text)}
            rows = self.document(target, f"referrers {name}")["referrers"]
            self.assertEqual({row["type"]: row["objects"] for row in rows}, expected)

    def test_fields_and_elements(self) -> None:
        session = self.query(
            LEAK, "SELECT address FROM objects WHERE type = 'WebShop.Session' LIMIT 1"
        )
        address = session[0]["address"]
        fields = self.document(LEAK, f"dumpobj {address}")["fields"]
        expected = {field["name"] for field in fields if not field["static"]}
        rows = self.query(LEAK, f"SELECT * FROM fields WHERE object = {address}")
        self.assertEqual({row["name"] for row in rows if "." not in row["name"]}, expected)
        by_name = {row["name"]: row for row in rows}
        token = next(field for field in fields if field["name"] == "Token")
        self.assertEqual(by_name["Token"]["reference"], token["value"])
        texts = self.query(LEAK, f"SELECT value FROM strings WHERE address = {token['value']}")
        self.assertEqual(by_name["Token"]["value"], texts[0]["value"])
        self.assertEqual(by_name["Started"]["meaning"], "2024-01-01T00:55:56.0000000")
        # Structs are taken apart: these are the values that dumpobj shows.
        started = next(field for field in fields if field["name"] == "Started")
        inner = {field["name"]: field["value"] for field in started["fields"]}
        nested = {row["name"]: row["value"] for row in rows if row["name"].startswith("Started.")}
        self.assertTrue(inner)
        self.assertEqual(nested, {f"Started.{name}": value for name, value in inner.items()})
        array = self.query(LEAK, "SELECT address FROM objects WHERE type = 'WebShop.Session[]'")[0]
        elements = self.document(LEAK, f"dumparray {array['address']}")["elements"]
        rows = self.query(
            LEAK,
            f"SELECT reference FROM arrays WHERE object = {array['address']} ORDER BY position",
        )
        self.assertEqual(len(rows), len(elements))

    def test_the_truth_of_the_program(self) -> None:
        """The program of the tour says what it made."""
        count = self.query(LEAK, "SELECT count(*) AS n FROM objects WHERE type = 'WebShop.Session'")
        truth = json.loads((SOURCE / "corefiles" / "leak.truth.json").read_text())
        self.assertEqual(count[0]["n"], truth["counts"]["WebShop.Session"])

    def test_refusals(self) -> None:
        attacks = [
            "ATTACH '/etc/passwd' AS p",
            "CREATE TABLE x(y)",
            "DELETE FROM objects",
            "INSERT INTO objects(address) VALUES (1)",
            "PRAGMA temp_store = 1",
            "PRAGMA temp_store_directory = '/tmp'",
            "VACUUM INTO '/tmp/x'",
            "SELECT load_extension('x')",
            "SELECT hex(fts3_tokenizer('simple'))",
            "SELECT hex(fts3_tokenizer('simple', x'4141414141414141'))",
            "SELECT * FROM fts3tokenize WHERE input = 'a'",
            "SELECT writefile('/tmp/x', 'y')",
            "SELECT * FROM objects; SELECT 1",
            "SELECT nothing FROM objects",
            "SELECT * FROM sqlite_dbpage",
            "SELECT FROM",
            "-- nothing",
            "SELECT * FROM fields",
            "SELECT * FROM fields WHERE name = 'x'",
        ]
        for text in attacks:
            with self.subTest(text=text):
                answer = run(LEAK, "sql", text)
                self.assertEqual(answer.status, 2, answer.out)
                self.assertEqual(answer.out, "")
                self.assertEqual(len(answer.err.splitlines()), 1, answer.err)
        self.assertIn("there are objects, refs", run(LEAK, "sql", "SELECT * FROM x").err)
        self.assertIn("one of object =", run(LEAK, "sql", "SELECT * FROM fields").err)
        answer = run(BUBBLECS, "sql", "SELECT * FROM threads")
        self.assertEqual(answer.status, 3)
        self.assertIn("a core or a process", answer.err)
        self.assertEqual(run(LEAK, "sql", "PRAGMA table_info(objects)").status, 0)

    def test_functions_that_compute(self) -> None:
        """SQLite's own functions that do something else are refused, and no other."""
        names = {row["name"] for row in self.query(BUBBLECS, "PRAGMA function_list")}
        self.assertGreater(len(names), 90)
        refused = set()
        for name in sorted(names):
            over = " OVER ()" if name in WINDOW_FUNCTIONS else ""
            for count in range(4):
                text = f'SELECT "{name}"({", ".join("1" * count)}){over}'
                answer = run(BUBBLECS, "sql", text)
                if "not authorized" in answer.err:
                    refused.add(name)
        self.assertEqual(refused, names & REFUSED_FUNCTIONS)
        rows = self.query(BUBBLECS, "SELECT value FROM json_each('[1, 2]')")
        self.assertEqual([row["value"] for row in rows], [1, 2])

    def test_memory_limit(self) -> None:
        text = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 9000000)"
        text += (
            " SELECT count(*) FROM (SELECT x || 'a string that takes room' AS s FROM c ORDER BY s)"
        )
        answer = run(BUBBLECS, "sql", text, "--max-mem", "32M")
        self.assertEqual(answer.status, 3)
        self.assertIn("max-mem", answer.err)

    def test_ctrl_c(self) -> None:
        endless = (
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c"
        )
        # Each step of the second takes a while, and all of them many minutes.
        slow = (
            "WITH RECURSIVE c(x, s) AS (SELECT 1, hex(randomblob(20000000)) UNION ALL "
            "SELECT x + 1, s FROM c) SELECT sum(instr(s, 'ABCDEFABCDEFABC')) FROM c"
        )
        # One call compares 40 million characters with a million others each.
        one_call = (
            "SELECT length(trim(hex(zeroblob(20000000)), "
            "replace(hex(zeroblob(500000)), '0', '1') || '0'))"
        )
        for text in (endless, slow, one_call):
            with subprocess.Popen(
                [PROGRAM, BUBBLECS, "sql", text],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(),
                start_new_session=True,
            ) as process:
                await_handler(process.pid)
                # It has no end, and nothing else needs so much of a processor.
                waiting.wait_until(
                    lambda pid=process.pid: waiting.seconds_of(pid) > 0.5, "the query runs"
                )
                self.assertIsNone(process.poll())
                os.killpg(process.pid, signal.SIGINT)
                process.communicate(timeout=TIMEOUT)
                self.assertEqual(process.returncode, 130)

    def test_texts_are_compared_as_sqlite_does(self) -> None:
        words = ["''", "'a'", "'aa'", "'ab'", "'aabaab '", "' a '", "'ä€a'", "'€'", "'a€ä€'"]
        words += ["NULL", "x'e282ac61'", "x'61'", "x''", "x'8261'", "12", "1.5"]
        calls = [f"{name}({one})" for name in ("trim", "ltrim", "rtrim") for one in words]
        for one in words:
            for two in words:
                calls += [f"{name}({one}, {two})" for name in ("instr", "trim", "ltrim", "rtrim")]
                calls += [f"replace({one}, {two}, {three})" for three in words[::3]]
                calls += [f"{one} {name} {two}" for name in ("LIKE", "GLOB")]
        patterns = [
            "'%'",
            "'_'",
            "'%A%b'",
            "'_a%'",
            "'[a-c]*'",
            "'*[^a]'",
            "'%\u20ac_'",
            "'!%%'",
            "'\u00e4%a'",
        ]
        for pattern in patterns:
            calls += [f"{one} {name} {pattern}" for one in words for name in ("LIKE", "GLOB")]
            for escape in ("'!'", "'\u00e4'", "'a'", "NULL"):
                calls += [f"{one} LIKE {pattern} ESCAPE {escape}" for one in words + patterns]
        with contextlib.closing(sqlite3.connect(":memory:")) as connection:
            for begin in range(0, len(calls), 250):
                some = calls[begin : begin + 250]
                values = ", ".join(f"(hex({call}) || typeof({call}))" for call in some)
                text = f"SELECT column1 AS value FROM (VALUES {values})"
                expected = [row[0] for row in connection.execute(text)]
                found = [row["value"] for row in self.query(BUBBLECS, text)]
                self.assertEqual(list(zip(some, found)), list(zip(some, expected)))

    def test_large_texts_are_compared_at_once(self) -> None:
        rows = self.query(
            BUBBLECS,
            "WITH t(s) AS (SELECT hex(zeroblob(15000000))) SELECT instr(s, hex(zeroblob(7000000)) "
            "|| '1') AS a, length(replace(s, hex(zeroblob(7000000)) || '1', '')) AS b FROM t",
        )
        self.assertEqual(rows, [{"a": 0, "b": 30_000_000}])
        text = "SELECT hex(zeroblob(30000000)) {} '{}' || substr(hex(zeroblob(300)), 1, 490) || '1'"
        for name, any_text in (("LIKE", "%"), ("GLOB", "*")):
            answer = run(BUBBLECS, "sql", text.format(name, any_text))
            self.assertEqual(answer.status, 2)
            self.assertIn(f"{name} takes too long for a text of 60000000 bytes", answer.err)
        for escape in ("", "ab", "%"):
            self.assertEqual(
                run(BUBBLECS, "sql", f"SELECT 'a' LIKE 'a' ESCAPE '{escape}'").status, 2
            )

    def test_formats_and_limit(self) -> None:
        text = "SELECT type, count(*) AS n FROM objects GROUP BY type ORDER BY n DESC, type"
        rows = self.query(BUBBLECS, text)
        lines = run(BUBBLECS, "sql", text, "--format", "csv").out.split("\r\n")
        self.assertEqual(lines[0], "type,n")
        self.assertEqual(len(lines), len(rows) + 2)
        limited = run(BUBBLECS, "sql", "-limit", "2", text, "--json").json()
        self.assertEqual(limited["rows"], rows[:2])
        self.assertTrue(limited["truncated"])
        self.assertTrue(limited["complete"])
        words = run(BUBBLECS, "sql", *text.split()).out
        self.assertEqual(words, run(BUBBLECS, "sql", text + ";").out)
        twice = self.query(BUBBLECS, "SELECT 1 AS a, 2 AS a, 1.5")
        self.assertEqual(twice, [{"a": 1, "a_2": 2, "1_5": 1.5}])

    def test_a_column_has_a_name_that_every_format_can_write(self) -> None:
        text = 'SELECT \'x"y\\z\', max(1, 2), 3 AS "\u202e\U000e0041\u00e4\n", 4 AS "=1"'
        self.assertEqual(
            self.query(BUBBLECS, text),
            [{"'x_y_z'": 'x"y\\z', "max(1, 2)": 2, "__\u00e4_": 3, "=1": 4}],
        )
        lines = list(csv.reader(io.StringIO(run(BUBBLECS, "sql", text, "--format", "csv").out)))
        self.assertEqual(lines[0], ["'x_y_z'", "max(1, 2)", "__\u00e4_", "'=1"])
        self.assertEqual([len(line) for line in lines], [4, 4])

    def test_many_objects_by_type(self) -> None:
        rows = self.query(large_dump(), "SELECT type, count(*) AS n FROM objects GROUP BY type")
        self.assertEqual(
            {row["type"]: row["n"] for row in rows}, {"Node": 750_001, "Other": 750_000}
        )

    def test_rows_that_stand_for_many(self) -> None:
        """Counting by type and size gives what counting one by one gives: + hides a column from the plan."""
        items = "type, count(*) AS n, count(size) AS c, sum(size) AS s, avg(size) AS a, total(size) AS t"
        items += ", min(size) AS least, max(size) AS most, sum(size * 2) + count(*) AS both"
        ends = [
            "GROUP BY {}type ORDER BY 1",
            "GROUP BY {}mt ORDER BY 4 DESC, mt",
            "GROUP BY mt, {}type ORDER BY mt",
            "WHERE size > 40 GROUP BY {}type HAVING n > 1 ORDER BY 1",
        ]
        for target in CORES[:2] + DUMPS:
            for end in ends:
                with self.subTest(target=target, end=end):
                    text = f"SELECT {items} FROM objects {end}"
                    rows = self.query(target, text.format(""))
                    self.assertEqual(rows, self.query(target, text.format("+")))
                    self.assertTrue(rows)
        for text in (
            "SELECT type, count(DISTINCT size) AS n FROM objects GROUP BY {}type ORDER BY 1",
            "SELECT type, group_concat(size) AS n FROM objects GROUP BY {}type ORDER BY 1",
            "SELECT type, (SELECT count(*) FROM objects) AS n FROM objects GROUP BY {}type ORDER BY 1",
            "SELECT DISTINCT type, size FROM objects ORDER BY {}type, size",
            "SELECT type FROM objects ORDER BY {}type",
        ):
            with self.subTest(text=text):
                rows = self.query(BUBBLECS, text.format(""))
                got = [str(sorted(str(row.get("n")).split(","))) for row in rows]
                plain = self.query(BUBBLECS, text.format("+"))
                self.assertEqual(got, [str(sorted(str(row.get("n")).split(","))) for row in plain])
                self.assertEqual([row["type"] for row in rows], [row["type"] for row in plain])
        pairs = self.query(
            BUBBLECS, "SELECT a.type, count(*) AS n FROM objects a, objects b GROUP BY a.type"
        )
        self.assertEqual(sum(row["n"] for row in pairs), 273 * 273)

    def test_exported_database(self) -> None:
        """Another program reads the same rows out of the file."""
        for target in (LEAK, BUBBLECS):
            path = f"{folder.name}/exported.sqlite"
            answer = run(target, "export", path)
            self.assertEqual(answer.status, 0, answer.err)
            self.assertRegex(
                answer.out, r"^Wrote .*exported.sqlite: [\d,]+ objects, [\d,]+ references"
            )
            with contextlib.closing(sqlite3.connect(path)) as database:
                database.row_factory = sqlite3.Row
                self.assertEqual(database.execute("PRAGMA integrity_check").fetchone()[0], "ok")
                names = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
                self.assertTrue(
                    names >= {"objects", "refs", "roots", "types", "strings", "refs_to"}
                )
                self.assertEqual("threads" in names, target == LEAK)
                for text in (
                    "SELECT type, count(*) AS n, sum(size) AS s, sum(live) AS l FROM objects GROUP BY type ORDER BY 1",
                    'SELECT count(*) AS n, count(DISTINCT "to") AS t FROM refs',
                    "SELECT kind, count(*) AS n FROM roots GROUP BY kind ORDER BY 1",
                    "SELECT value, count(*) AS n FROM strings GROUP BY value ORDER BY 1",
                ):
                    with self.subTest(target=target, text=text):
                        rows = [dict(row) for row in database.execute(text)]
                        self.assertEqual(rows, self.query(target, text))
            with subprocess.Popen(
                [PROGRAM, target, "export", "-", "--format", "sqlite"],
                stdout=subprocess.PIPE,
                env=environment(),
                cwd=SOURCE,
            ) as process:
                piped = process.communicate(timeout=TIMEOUT)[0]
            self.assertEqual(piped, Path(path).read_bytes())
            Path(path).unlink()
        answer = run(LEAK, "export", f"{folder.name}/x.sqlite", "-live")
        self.assertEqual(answer.status, 2)
        with tempfile.TemporaryDirectory() as small:
            answer = run(
                LEAK, "export", f"{folder.name}/x.sqlite", env=environment(TMPDIR=small + "/none")
            )
            self.assertEqual(answer.status, 3)
            self.assertFalse(Path(f"{folder.name}/x.sqlite").exists())

    def test_queries_of_the_help(self) -> None:
        text = run("help", "sql").out.split("Queries to begin with:")[1].split("\nOptions:")[0]
        queries = [
            " ".join(query.split())
            for query in re.findall(r":\n    (SELECT(?:.*\n)+?)\n", text + "\n")
        ]
        self.assertEqual(len(queries), 12)
        for query in queries:
            query = query.replace("Shop.Order", "WebShop.Session").replace("'State'", "'Notices'")
            if "0x7f0fd5c0b2f8" in query:
                found = self.query(LEAK, 'SELECT "to" AS o FROM refs LIMIT 1')[0]["o"]
                query = query.replace("0x7f0fd5c0b2f8", found)
            with self.subTest(query=query):
                self.assertTrue(self.query(LEAK, query))


if __name__ == "__main__":
    unittest.main()
