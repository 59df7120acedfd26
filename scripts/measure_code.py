#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Figures about the C code that tell whether it is easy to find one's way in: a table.

    measure_code.py [FOLDER...]     (core/src core/cli core/include)

It relies on how clang-format lays code out: what begins in the first column is a declaration, and a function, a
struct or an enum ends with a closing brace there. Names are compared between files: a static function or a struct
that two files define sends a reader who searches for it to the wrong place.
"""
from __future__ import annotations

import argparse
import collections
import re
import statistics
from pathlib import Path
from typing import Iterator, NamedTuple

SOURCE = Path(__file__).resolve().parent.parent
DEFAULT = ("core/src", "core/cli", "core/include")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"' + r"|'(?:[^'\\\n]|\\.)*'")
FUNCTION = re.compile(
    r"^((?:[A-Za-z_][^;{}()=#]*?)\b(\w+)\(([^;{}]*?)\))\s*\n\{\n(.*?)^\}", re.M | re.S
)
STRUCT = re.compile(r"^(?:static )?(?:const )?(?:typedef )?struct (\w+) \{\n(.*?)^\}", re.M | re.S)
MACRO = re.compile(r"^#define (\w+)(\()?", re.M)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
FIELDS_MAX, FUNCTION_MAX, PARAMETERS_MAX = 20, 60, 5
FREE = r"^\t+(?:\w+_(?:deinit|destroy)|mem_free|pages_free)\(.*;"
COLUMNS_MAX = 100  # what is longer is counted as several lines, so that joining lines is no gain


class Function(NamedTuple):
    """One definition."""

    name: str
    file: Path
    lines: int
    parameters: int
    is_static: bool


def without_comments(text: str) -> str:
    """The code alone; lines stay where they are, what strings hold is left out."""
    text = COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    return TEXT.sub('""', text)


def functions_of(path: Path, code: str) -> Iterator[Function]:
    """All functions that a file defines."""
    for match in FUNCTION.finditer(code):
        head, name, parameters, body = match.groups()
        count = 0 if parameters.strip() in ("", "void") else parameters.count(",") + 1
        lines = head.count("\n") + body.count("\n") + 3
        yield Function(name, path, lines, count, bool(re.search(r"\bstatic\b", head)))


def fields_of(body: str) -> int:
    """How many fields the body of a struct declares, those of structs in it included."""
    return sum(
        1 if "(*" in line else line.count(",") + 1
        for line in body.replace("\n\t\t", " ").split(";")
        if line.strip() and "(" not in line or "(*" in line
    )


def spread(values: list[int]) -> str:
    """Median / 90th percentile / most."""
    if not values:
        return "-"
    ordered = sorted(values)
    tenth = ordered[min(len(ordered) - 1, len(ordered) * 9 // 10)]
    return f"{statistics.median(ordered):.0f} / {tenth} / {ordered[-1]}"


def shared(names: dict[str, set[Path]]) -> dict[str, set[Path]]:
    """Names that two files or more have."""
    return {name: files for name, files in names.items() if len(files) > 1}


def examples(names: dict[str, set[Path]], count: int = 6) -> str:
    """The worst of them."""
    worst = sorted(names.items(), key=lambda item: (-len(item[1]), item[0]))[:count]
    return ", ".join(f"{name} x{len(files)}" for name, files in worst)


class Code:
    """All that is measured."""

    def __init__(self, folders: list[Path]) -> None:
        self.files = sorted(f for folder in folders for f in folder.rglob("*.[ch]"))
        self.code = {f: without_comments(f.read_text(encoding="utf-8")) for f in self.files}
        self.functions = [f for path, code in self.code.items() for f in functions_of(path, code)]

    def lengths(self, suffix: str) -> list[int]:
        """Lines of the files of one kind."""
        return [
            path.read_text(encoding="utf-8").count("\n")
            for path in self.files
            if path.suffix == suffix
        ]

    def code_lines(self) -> int:
        """Lines that hold more than a comment; of a long one each COLUMNS_MAX columns."""
        lines = (
            line.expandtabs(8).rstrip()
            for path in self.files
            for line in COMMENT.sub(
                lambda match: "\n" * match[0].count("\n"), path.read_text(encoding="utf-8")
            ).splitlines()
        )
        return sum(-(-len(line) // COLUMNS_MAX) for line in lines)

    def comment_lines(self) -> int:
        """Lines that have a part of a comment."""
        return sum(
            match[0].count("\n") + 1
            for path in self.files
            for match in COMMENT.finditer(path.read_text(encoding="utf-8"))
        )

    def one_user(self) -> list[Path]:
        """Internal headers that one file besides their own .c includes, tests included."""
        users: dict[Path, set[Path]] = collections.defaultdict(set)
        tests = sorted((SOURCE / "tests").rglob("*.[ch]"))
        for path in self.files + tests:
            for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
                for folder in (path.parent, SOURCE / "core" / "src", SOURCE / "core"):
                    if (folder / name).is_file():
                        users[(folder / name).resolve()].add(path)
                        break
        headers = [f for f in self.files if f.suffix == ".h" and "include" not in f.parts]
        return [h for h in headers if len(users[h] - {h.with_suffix(".c")}) == 1]

    def structs(self) -> dict[str, set[Path]]:
        """Files by the name of a struct that they define."""
        names: dict[str, set[Path]] = collections.defaultdict(set)
        for path, code in self.code.items():
            for match in STRUCT.finditer(code):
                names[match[1]].add(path)
        return names

    def large_structs(self) -> list[tuple[int, str]]:
        """Structs with too many fields, most first."""
        found = [
            (fields_of(match[2]), match[1])
            for code in self.code.values()
            for match in STRUCT.finditer(code)
        ]
        return sorted((pair for pair in found if pair[0] > FIELDS_MAX), reverse=True)

    def statics(self) -> dict[str, set[Path]]:
        """Files by the name of a static function that they define."""
        names: dict[str, set[Path]] = collections.defaultdict(set)
        for function in self.functions:
            if function.is_static and function.file.suffix == ".c":
                names[function.name].add(function.file)
        return names

    def macros(self) -> dict[str, set[Path]]:
        """.c files by the name of a macro that they define."""
        names: dict[str, set[Path]] = collections.defaultdict(set)
        for path, code in self.code.items():
            for match in MACRO.finditer(code):
                if path.suffix == ".c":
                    names[match[1]].add(path)
        return names

    def uses(self, pattern: str, outside: str = "", inside: str = "") -> tuple[int, int]:
        """How often a pattern is met, and in how many files."""
        counts = [
            len(re.findall(pattern, code, re.M))
            for path, code in self.code.items()
            if not (outside and f"/{outside}/" in path.as_posix())
            and (not inside or f"/{inside}/" in path.as_posix())
        ]
        return sum(counts), sum(1 for count in counts if count)


def rows(code: Code) -> Iterator[tuple[str, str]]:
    """Measure and figure."""
    sources = [f for f in code.files if f.suffix == ".c"]
    folders = collections.Counter(f.parent.relative_to(SOURCE).as_posix() for f in code.files)
    yield ".c files, headers", f"{len(sources)}, {len(code.files) - len(sources)}"
    yield "lines", f"{sum(code.lengths('.c')) + sum(code.lengths('.h')):,}"
    yield "lines of code, of comments", f"{code.code_lines():,}, {code.comment_lines():,}"
    yield "headers with one user besides their own .c", str(len(code.one_user()))
    yield ".c lines: median / p90 / max", spread(code.lengths(".c"))
    yield "header lines: median / p90 / max", spread(code.lengths(".h"))
    yield "functions", str(len(code.functions))
    yield "function lines: median / p90 / max", spread([f.lines for f in code.functions])
    long = sum(f.lines > FUNCTION_MAX for f in code.functions)
    yield f"functions over {FUNCTION_MAX} lines", str(long)
    many = sum(f.parameters > PARAMETERS_MAX for f in code.functions)
    most = max((f.parameters for f in code.functions), default=0)
    yield f"functions with over {PARAMETERS_MAX} parameters, most", f"{many}, {most}"
    largest = ", ".join(f"{name} {count}" for name, count in folders.most_common(4))
    yield "folders; files in the largest", f"{len(folders)}; {largest}"
    structs = code.structs()
    large = code.large_structs()
    named = ", ".join(f"{name} {count}" for count, name in large[:6])
    yield f"structs over {FIELDS_MAX} fields", f"{len(large)} of {len(structs)}: {named}"
    both = shared(structs)
    yield "struct names that several files define", f"{len(both)}: {examples(both)}"
    statics = code.statics()
    both = shared(statics)
    count = sum(len(files) for files in both.values())
    total = sum(len(files) for files in statics.values())
    yield "static functions with a namesake", f"{count} of {total}: {examples(both)}"
    both = shared(code.macros())
    yield "macros of .c files with a namesake", f"{len(both)}: {examples(both)}"
    names = shared({f.name: {g for g in code.files if g.name == f.name} for f in code.files})
    yield "file names that come twice", f"{len(names)}: {', '.join(sorted(names))}"
    for what, pattern, outside, inside in (
        ("`clr->field` outside of clr", r"\bclr->\w+", "clr", ""),
        ("comparisons of the runtime's version", r"->major\b|\.major\b", "", ""),
        ("`as_json` in command", r"\bas_json\b", "", "command"),
        ("`json_*` calls in command", r"\bjson_\w+\(", "", "command"),
        ("`out_*` calls in command", r"\bout_\w+\(", "", "command"),
        ("`findings_add` calls", r"\bfindings_add\(", "", ""),
        ("scope guards (`HD_CLEANUP`)", r"\bHD_CLEANUP\(", "", ""),
        ("statuses carried on (`status == HD_OK`)", r"\bstatus == HD_OK\b", "", ""),
        ("frees by hand (`_deinit`, `_destroy`, `mem_free`)", FREE, "", ""),
        ("tables of columns with an enum beside them", r"struct column \w+\[\w+\] =", "", ""),
    ):
        count, files = code.uses(pattern, outside, inside)
        yield what, f"{count} in {files} files"


def main() -> None:
    """See the top of the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folders", nargs="*", default=[str(SOURCE / name) for name in DEFAULT])
    code = Code([Path(name).resolve() for name in parser.parse_args().folders])
    print("| measure | figure |\n| --- | --- |")
    for measure, figure in rows(code):
        print(f"| {measure} | {figure} |")


if __name__ == "__main__":
    main()
