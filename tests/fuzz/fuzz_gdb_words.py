#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random command lines for the words of the GDB plug-in (gdb-plugin/heapdump_gdb/words.py).

    fuzz_gdb_words.py [--seed N] [--count N | --seconds N]

The words of a line are those that GDB makes of it, and what completes a word to a value makes a line
whose last word is that value.  Inside GDB (gdb -x) its own string_to_argv() is asked; elsewhere a copy
of its rules.  Options come from FUZZ_GDB_WORDS then.  Ends with status 1 and the line that fails.
"""
from __future__ import annotations

import argparse
import os
import pathlib
import random
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / name) for name in ("python", "gdb-plugin")]

# pylint: disable=wrong-import-position
from heapdump_gdb.words import Line, expression_end  # noqa: E402

try:
    import gdb  # type: ignore[import-not-found,unused-ignore]
except ImportError:
    gdb = None

PIECES = list(" \t\n\v\f\r'\"\\ab-[]<>,`1$;|u") + [
    "  ",
    "\\\\",
    "\\'",
    '\\"',
    "-stat",
    "System.",
    "é",
]


def argv_of(text: str) -> list[str]:
    """As buildargv() of libiberty cuts a line: a backslash counts inside of quotes too."""
    if gdb is not None:
        return list(gdb.string_to_argv(text))
    words: list[str] = []
    word: str | None = None
    quote, escaped = "", False
    for char in text:
        if not escaped and not quote and char in " \t\n\v\f\r":
            if word is not None:
                words.append(word)
            word = None
            continue
        word = word or ""
        if escaped:
            word, escaped = word + char, False
        elif char == "\\":
            escaped = True
        elif quote:
            quote, word = ("", word) if char == quote else (quote, word + char)
        elif char in "'\"":
            quote = char
        else:
            word += char
    return words + ([word] if word is not None else [])


def check_words(text: str) -> None:
    """The words are GDB's; what is under the cursor is one of them unless a blank ends the line."""
    line = Line(text)
    if not text.strip():
        assert not line.words and not line.raw, text
        return
    mine = line.words + ([line.last] if line.raw else [])
    assert mine == argv_of(text), (text, mine, argv_of(text))
    assert text.endswith(line.raw)


def check_candidates(dice: random.Random, text: str) -> None:
    """Whatever part of the last word GDB takes for the word: it becomes the value."""
    line = Line(text)
    values = [line.wanted + some_text(dice, 4) for _ in range(3)]
    if not line.last:
        values = [value for value in values if value]
    word = line.raw[dice.randrange(len(line.raw) + 1) :]
    before = text[: len(text) - len(word)]
    offered = line.candidates(values, word)
    assert len(offered) == len(values), (text, word, values, offered)
    for value, candidate in zip(values, offered):
        done = Line(before + candidate)
        assert done.wanted == value, (text, word, value, candidate, done.last)
        assert done.words == line.words, (text, word, value, candidate, done.words)


def check_expression(dice: random.Random, text: str) -> None:
    """An expression ends after its begin, at an option or the end."""
    argv = argv_of(text)
    if not argv:
        return
    start = dice.randrange(len(argv))
    end = expression_end(argv, start)
    assert start < end <= len(argv), (argv, start, end)


def some_text(dice: random.Random, most: int) -> str:
    """A few characters that matter."""
    return "".join(dice.choice(PIECES) for _ in range(dice.randrange(most + 1)))


def main() -> int:
    """See above."""
    parser = argparse.ArgumentParser(description="Random lines for the GDB plug-in's words.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seconds", type=float)
    inside = os.environ.get("FUZZ_GDB_WORDS", "").split()
    options = parser.parse_args(inside if gdb is not None else None)
    dice = random.Random(options.seed)
    end = time.monotonic() + (options.seconds or 0)
    runs = 0
    while time.monotonic() < end if options.seconds else runs < options.count:
        text = some_text(dice, 12)
        try:
            check_words(text)
            check_candidates(dice, text)
            check_expression(dice, text)
        except AssertionError as error:
            print(f"seed {options.seed}, run {runs}: {error}", file=sys.stderr)
            return 1
        runs += 1
    print(f"number_of_executed_units: {runs}")
    return 0


if __name__ == "__main__":
    STATUS = main()
    if gdb is not None:
        gdb.execute(f"quit {STATUS}")
    sys.exit(STATUS)
