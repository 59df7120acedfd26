# SPDX-License-Identifier: MIT
"""Words of a command line as gdb.string_to_argv splits them, for completion."""
from __future__ import annotations

import os
import re
from typing import Iterable, Sequence

from heapdump.text import printable

BLANKS = " \t\n\v\f\r"
SPECIAL = BLANKS + "'\"\\"
# "pipe COMMAND | SHELL-COMMAND" ends the command at the first |, in quotes too, and "pipe -d" at
# what its user chose.  The core takes escapes for them.
DELIMITERS = re.compile("[|!@#$%^~;?]")
DELIMITER_ESCAPES = re.compile(r"\\u00(?:7c|21|40|23|24|25|5e|7e|3b|3f)")


def guard(text: str) -> str:
    """``text`` with escapes for what would end a command in GDB's pipe."""
    return DELIMITERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def unguard(text: str) -> str:
    """The text that guard() made ``text`` of."""
    return DELIMITER_ESCAPES.sub(lambda found: chr(int(found[0][2:], 16)), text)


class Line:
    """A command line up to the cursor.

    ``words`` are the finished words, ``last`` is the one under the cursor without its quoting and
    ``raw`` the same with it; ``quote`` is the quote that is still open, or ""; ``escaped``: it ends
    with a backslash that is about the next character.
    """

    def __init__(self, text: str) -> None:
        self.words: list[str] = []
        self.last = ""
        self.quote = ""
        self.escaped = False
        start = -1
        for index, char in enumerate(text):
            if not self.escaped and not self.quote and char in BLANKS:
                if start >= 0:
                    self.words.append(self.last)
                self.last = ""
                start = -1
                continue
            if start < 0:
                start = index
            if self.escaped:
                self.last += char
                self.escaped = False
            elif char == "\\":
                self.escaped = True
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

    @property
    def wanted(self) -> str:
        """The beginning of the values that may complete ``last``."""
        return unguard(self.last)

    def candidates(self, values: Iterable[str], word: str) -> list[str]:
        """The tails that complete GDB's ``word``, a tail of ``raw``, to each of ``values``."""
        typed = self.wanted
        fitting = [value for value in values if value.startswith(typed)]
        if not self.raw.endswith(word):
            return []
        if self.raw == word == self.last and any(is_special(guard(value)) for value in fitting):
            # All of them, so that they have a beginning in common.
            return ["'" + escape(guard(value), "\\'") + "'" for value in fitting]
        special = "\\" + self.quote if self.quote else SPECIAL
        rests = [guard(value[len(typed) :]) for value in fitting]
        if self.escaped:
            return [word + rest[:1] + escape(rest[1:], special) for rest in rests]
        return [word + escape(rest, special) for rest in rests]


def file_names(word: str) -> list[str]:
    """Names of files that ``word`` may become, folders with a slash."""
    folder, start = os.path.split(word)
    try:
        with os.scandir(os.path.expanduser(folder) or ".") as entries:
            names = [entry.name + "/" * entry.is_dir() for entry in entries]
    except OSError:
        return []
    return sorted(os.path.join(folder, name) for name in names if name.startswith(start))


def expression_end(argv: Sequence[str], start: int) -> int:
    """After the last word of an expression with blanks: the next option, or the end."""
    end = start + 1
    while end < len(argv) and not re.match("-[-a-z]", argv[end]):
        end += 1
    return end


# A function of GDB's that is called at the beginning of a word.
CALL = re.compile(r"\$\w+\(")


def call_end(text: str, start: int) -> int:
    """After the ) of the call whose arguments begin at ``start``; -1: there is none."""
    depth, index = 1, start
    while index < len(text):
        if text[index] in "\"'":
            quote = text[index]
            index += 1
            while index < len(text) and text[index] != quote:
                index += 2 if text[index] == "\\" else 1
        depth += {"(": 1, ")": -1}.get(text[index : index + 1], 0)
        index += 1
        if not depth:
            return index
    return -1


def keep_calls(text: str) -> str:
    """``text`` in which gdb.string_to_argv leaves the quotes and blanks of $hd_static("T", "f") to GDB."""
    result, quote, index = "", "", 0
    while index < len(text):
        begins_word = not quote and (not index or text[index - 1] in BLANKS + "=")
        found = CALL.match(text, index) if begins_word else None
        end = call_end(text, found.end()) if found else -1
        if end > 0:
            result += escape(text[index:end], SPECIAL)
            index = end
            continue
        if text[index] == "\\":
            result += text[index : index + 2]
            index += 2
            continue
        if not quote and text[index] in "'\"":
            quote = text[index]
        elif text[index] == quote:
            quote = ""
        result += text[index]
        index += 1
    return result


def is_special(text: str) -> bool:
    """Whether ``text`` is not a word without quotes."""
    return any(char in SPECIAL for char in text)


def is_plain(text: str) -> bool:
    """Whether ``text`` means nothing but itself, wherever GDB puts it."""
    return not is_special(text) and text == printable(guard(text))


def escape(text: str, special: str) -> str:
    """``text`` with a backslash before each character of ``special``."""
    return "".join("\\" + char if char in special else char for char in text)
