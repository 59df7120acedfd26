#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail if a comment begins with What, That, Those or Of.

    check_words.py [FOLDER]

Such a comment is half a sentence: "What is left over ends the index." makes the reader look for the subject.  A comment says
who does what ("Unused entries fill the end of the index."), or names the thing that it is about ("The rest of a word.").
"""
from __future__ import annotations

import ast
import io
import pathlib
import re
import sys
import tokenize
from typing import Iterator, NamedTuple

FOLDERS = ("core", "gdb-plugin", "lldb-plugin", "profiler", "python", "scripts", "tests")
BLOCK = re.compile(r"/\*+<?(.*?)\*/|(?<![:\w])//([^\n]*(?:\n\s*//[^\n]*)*)", re.S)
# Strings are skipped, as "/*" may be in them; what is left out is as long as it was.
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'")
BAD = re.compile(r"[\s*/#!<]*(What|That|Those|Of)\b")


class Comment(NamedTuple):
    """A comment that begins badly."""

    path: str
    line: int
    text: str


def of_c(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of each comment of C or C++."""
    plain = TEXT.sub(lambda match: "_" * len(match[0]), text)
    for match in BLOCK.finditer(plain):
        group = 1 if match[1] is not None else 2
        yield text.count("\n", 0, match.start()) + 1, text[match.start(group) : match.end(group)]


def of_python(text: str) -> Iterator[tuple[int, str]]:
    """The same of Python, with what documents functions, classes and files."""
    before = -1
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        line = token.start[0]
        is_alone = not token.line[: token.start[1]].strip()
        if not is_alone or before != line - 1:
            yield line, token.string
        before = line if is_alone else -1
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if ast.get_docstring(node):
                yield node.body[0].lineno, ast.get_docstring(node) or ""


def of_shell(text: str) -> Iterator[tuple[int, str]]:
    """The same of scripts of the shell and of CMake: lines of a comment belong together."""
    before = -1
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#"):
            if before != number - 1:
                yield number, line
            before = number


READERS = {
    ".c": of_c, ".h": of_c, ".cpp": of_c, ".hpp": of_c, ".cs": of_c, ".js": of_c,
    ".py": of_python, ".sh": of_shell, ".cmake": of_shell, ".txt": of_shell,
}  # fmt: skip


def bad_comments(root: pathlib.Path) -> Iterator[Comment]:
    """All of them, by folder and file."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in READERS or (path.suffix == ".txt" and path.stem != "CMakeLists"):
                continue
            for line, text in READERS[path.suffix](path.read_text(encoding="utf-8")):
                if BAD.match(text):
                    name = path.relative_to(root).as_posix()
                    yield Comment(name, line, " ".join(text.split())[:100])


def main(root: pathlib.Path) -> int:
    """Print them."""
    found = list(bad_comments(root))
    for comment in found:
        print(f"{comment.path}:{comment.line}: say who does what: {comment.text}")
    print(f"words: {len(found)} comments begin with What, That, Those or Of")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
