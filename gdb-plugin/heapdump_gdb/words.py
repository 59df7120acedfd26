# SPDX-License-Identifier: MIT
"""Words of a command line as gdb.string_to_argv splits them, for completion."""
from __future__ import annotations

import re
from typing import Iterable, Sequence

SPECIAL = " \t\n'\"\\"


class Line:
    """A command line up to the cursor.

    ``words`` are the finished words, ``last`` is the one under the cursor without its quoting and
    ``raw`` the same with it; ``quote`` is the quote that is still open, or "".
    """

    def __init__(self, text: str) -> None:
        self.words: list[str] = []
        self.last = ""
        self.quote = ""
        start = -1
        escaped = False
        for index, char in enumerate(text):
            if not escaped and not self.quote and char in " \t\n":
                if start >= 0:
                    self.words.append(self.last)
                self.last = ""
                start = -1
                continue
            if start < 0:
                start = index
            if escaped:
                self.last += char
                escaped = False
            elif char == "\\":
                escaped = True
            elif self.quote:
                if char == self.quote:
                    self.quote = ""
                else:
                    self.last += char
            elif char in "'\"":
                self.quote = char
            else:
                self.last += char
        self.raw = text[start:] if start >= 0 else ""

    def candidates(self, values: Iterable[str], word: str) -> list[str]:
        """What completes GDB's ``word``, a tail of ``raw``, to each of ``values``."""
        fitting = [value for value in values if value.startswith(self.last)]
        if not self.raw.endswith(word):
            return []
        if self.raw == word == self.last and any(is_special(value) for value in fitting):
            # All of them, so that they have a beginning in common.
            return ["'" + escape(value, "\\'") + "'" for value in fitting]
        special = "\\" + self.quote if self.quote else SPECIAL
        return [word + escape(value[len(self.last) :], special) for value in fitting]


def expression_end(argv: Sequence[str], start: int) -> int:
    """Behind the last word of an expression with blanks: the next option, or the end."""
    end = start + 1
    while end < len(argv) and not re.match("-[-a-z]", argv[end]):
        end += 1
    return end


def is_special(text: str) -> bool:
    """Whether ``text`` is no word without quotes."""
    return any(char in SPECIAL for char in text)


def escape(text: str, special: str) -> str:
    """``text`` with a backslash before each character of ``special``."""
    return "".join("\\" + char if char in special else char for char in text)
