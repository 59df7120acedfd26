#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""doc/schema: the files are those that the library describes, and all JSON answers of golden cases fit them."""
from __future__ import annotations

import json
import shlex
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any, Iterator

import jsonschema  # type: ignore[import]

from shell_program import BUILD, TIMEOUT, environment, run

SOURCE = Path(__file__).resolve().parents[2]
SCHEMAS = SOURCE / "doc" / "schema"
sys.path[:0] = [str(SOURCE / "scripts")]

import golden  # noqa: E402  pylint: disable=wrong-import-position


def schema_of(command: str) -> dict[str, Any]:
    """The committed schema of a command."""
    result = json.loads((SCHEMAS / f"{command}.json").read_text(encoding="utf-8"))
    assert isinstance(result, dict)
    return result


def documents() -> Iterator[tuple[str, dict[str, Any]]]:
    """The case and the document of every golden answer in JSON."""
    for case in golden.find_cases([]):
        formats = [word for word in shlex.split(case.command) if word.startswith("--format")]
        if case.expected and case.expected.startswith("{") and not formats:
            found = json.JSONDecoder().raw_decode(case.expected)[0]
            # A word that is not a command has a document, too: its error.
            if (SCHEMAS / f"{found['command']}.json").exists() or "error" not in found:
                yield case.name, found


# make_schemas.py runs a program for each command.
MANY = 4 * TIMEOUT


class Schemas(unittest.TestCase):
    """The files, and what they are for."""

    def test_the_files_are_what_the_library_describes(self) -> None:
        done = subprocess.run(
            [
                sys.executable,
                str(SOURCE / "scripts/make_schemas.py"),
                "--check",
                "--build",
                str(BUILD),
            ],
            env=environment(),
            capture_output=True,
            text=True,
            timeout=MANY,
            check=False,
        )
        self.assertEqual((done.stderr, done.returncode), ("", 0))

    def test_golden_documents_fit(self) -> None:
        count = 0
        for name, document in documents():
            with self.subTest(case=name):
                jsonschema.validate(document, schema_of(document["command"]))
                count += 1
        self.assertGreater(count, 60)

    def test_documents_of_the_shell_program_fit(self) -> None:
        for words in (
            ["ps"],
            ["doctor"],
            ["help"],
            ["no-such-file", "info"],
            [str(SOURCE / "corefiles/bubblecs.heap"), "dumpheap", "-stat"],
            [str(SOURCE / "corefiles/bubblecs.heap"), "syncblk"],
        ):
            with self.subTest(words=words):
                document = json.loads(run(*words, "--json").out)
                jsonschema.validate(document, schema_of(document["command"]))

    def test_another_member_does_not_fit(self) -> None:
        for name, document in documents():
            with self.subTest(case=name):
                schema = schema_of(document["command"])
                with self.assertRaises(jsonschema.ValidationError):
                    jsonschema.validate(document | {"renamed": 1}, schema)
        _, document = next(found for found in documents() if found[1].get("roots"))
        document["roots"][0]["renamed"] = 1
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(document, schema_of(document["command"]))


if __name__ == "__main__":
    unittest.main()
