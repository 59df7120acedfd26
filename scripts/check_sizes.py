#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keep files, functions and structs small.

    check_sizes.py [FOLDER]

Fail: a function of more than 100 lines or 6 parameters, a struct of more than 20 fields, more than 12 includes of
internal headers in one file, a chain of more than 8 of them, a file of more than 4 MiB in the repository.  Warn: a file of more than 600 lines, a header of more
than 200, a function of more than 60 lines.
"""
from __future__ import annotations

import ast
import pathlib
import re
import subprocess
import sys

import measure_code

FILE_WARN, HEADER_WARN, FUNCTION_WARN = 600, 200, 60
FUNCTION_FAIL, INCLUDES_FAIL = 100, 12
REPOSITORY_FILE_FAIL = 4 << 20  # bytes
PARAMETERS_FAIL, FIELDS_FAIL, DEPTH_FAIL = 6, 20, 8
FOLDERS = ("core", "gdb-plugin", "lldb-plugin", "profiler", "python", "scripts", "tests")
LOCAL = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
HEAD_END = re.compile(r"(\)|\bconst|\boverride|\bnoexcept|,)\s*$")


def c_functions(lines: list[str]) -> list[tuple[int, int]]:
    """First line and length of each function body: a brace alone on its line opens one."""
    result = []
    start, indent = 0, ""
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not start and text == "{" and number > 1 and HEAD_END.search(lines[number - 2]):
            start, indent = number, line[: line.index("{")]
        elif start and text in ("}", "};") and line.startswith(indent + "}"):
            result.append((start, number - start + 1))
            start = 0
    return result


def python_functions(text: str) -> list[tuple[int, int]]:
    """First line and length of each function."""
    result = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            end = node.end_lineno or node.lineno
            result.append((node.lineno, end - node.lineno + 1))
    return result


def large_files(root: pathlib.Path) -> list[str]:
    """Errors about files of the repository, whatever they are."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z"], stdout=subprocess.PIPE, text=True, check=False
    )
    paths = [root / name for name in listed.stdout.split("\0") if name]
    return [
        f"{path.relative_to(root).as_posix()}: more than {REPOSITORY_FILE_FAIL >> 20} MiB"
        for path in paths
        if path.is_file() and path.stat().st_size > REPOSITORY_FILE_FAIL
    ]


class Includes:
    """Who includes which of our files."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root / "core" / "src"
        self.depths: dict[pathlib.Path, int] = {}

    def of(self, path: pathlib.Path) -> list[pathlib.Path]:
        """Our files that a file includes."""
        result = []
        for name in LOCAL.findall(path.read_text(encoding="utf-8")):
            for folder in (path.parent, path.parent.parent / "src", self.root):
                if (folder / name).is_file():
                    result.append((folder / name).resolve())
                    break
        return result

    def depth(self, path: pathlib.Path) -> int:
        """Longest chain of includes below a file; a cycle is check_layers.py's business."""
        path = path.resolve()
        if path not in self.depths:
            self.depths[path] = 0
            self.depths[path] = max((1 + self.depth(p) for p in self.of(path)), default=0)
        return self.depths[path]


def parts_of(path: pathlib.Path, name: str) -> list[str]:
    """Errors about the functions and structs of a C file that are too large."""
    code = measure_code.without_comments(path.read_text(encoding="utf-8"))
    errors = [
        f"{name}:{function.name}: {function.parameters} parameters, more than {PARAMETERS_FAIL}"
        for function in measure_code.functions_of(path, code)
        if function.parameters > PARAMETERS_FAIL
    ]
    for match in measure_code.STRUCT.finditer(code):
        fields = measure_code.fields_of(match[2])
        if fields > FIELDS_FAIL:
            errors.append(f"{name}:{match[1]}: {fields} fields, more than {FIELDS_FAIL}")
    return errors


def main(root: pathlib.Path) -> int:
    """Check everything below a root."""
    warnings: list[str] = []
    errors: list[str] = []
    includes = Includes(root)
    count = 0
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*")):
        if path.suffix not in (".c", ".h", ".cpp", ".hpp", ".py"):
            continue
        count += 1
        name = path.relative_to(root).as_posix()
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        limit = HEADER_WARN if path.suffix in (".h", ".hpp") else FILE_WARN
        if len(lines) > limit:
            warnings.append(f"{name}: {len(lines)} lines, more than {limit}")
        is_python = path.suffix == ".py"
        for start, size in python_functions(text) if is_python else c_functions(lines):
            message = f"{name}:{start}: a function of {size} lines"
            if size > FUNCTION_FAIL:
                errors.append(f"{message}, more than {FUNCTION_FAIL}")
            elif size > FUNCTION_WARN:
                warnings.append(message)
        if is_python:
            continue
        if len(includes.of(path)) > INCLUDES_FAIL:
            errors.append(f"{name}: more than {INCLUDES_FAIL} local includes")
        errors += parts_of(path, name)
        if includes.depth(path) > DEPTH_FAIL:
            errors.append(
                f"{name}: a chain of {includes.depth(path)} includes, more than {DEPTH_FAIL}"
            )
    errors += large_files(root)
    for message in warnings:
        print(f"warning: {message}")
    for message in errors:
        print(f"error: {message}")
    print(f"sizes: {count} files, {len(warnings)} warnings, {len(errors)} errors")
    return int(bool(errors))


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
