#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail if something cites a document of doc/ by a section that it does not have.

"doc/coreclr.md 10.6" needs a heading "10.6 ..." in that file, "10.2, 10.3", "9 to 12" and "1 and 2" each of theirs; "doc/NAME.md"
needs the file.  Numbers of sections must ascend, so that none is given twice.  Within a document "section 10.6" is its own.

core/README.md, CONTRIBUTING.md and doc/abi.md cite the code: `graph_reverse()` needs such a function, `command/run.c` and `analysis/graph` that
file or folder, of the core or of the repository.  What has a capital letter (`cmd_NAME.c`) is only an example.
"""
from __future__ import annotations

import pathlib
import re
import sys

FOLDERS = (
    "core",
    "gdb-plugin",
    "lldb-plugin",
    "profiler",
    "python",
    "scripts",
    "tests",
    "doc",
    ".ci",
)
NAMES = ("*.md", "CMakeLists.txt")
SUFFIXES = (".c", ".h", ".cpp", ".hpp", ".py", ".sh", ".md", ".txt", ".1")
HEADING = re.compile(r"^#{2,6} +(\d+(?:\.\d+)*)\.? ", re.M)
# A citation may go on in the next line of a comment; a number after which a word goes on is none.
GAP = r"(?:\s|\n\s*(?:\*|#|//+))+"
NUMBER = r"\d+(?:\.\d+)*\b(?!\s+(?:bytes|lines|times)\b)"
CITATION = re.compile(
    rf"\bdoc/([\w-]+\.md)((?:{GAP}{NUMBER}(?:(?:,|{GAP}and|{GAP}to){GAP}{NUMBER})*)?)"
)
# Without its folder.
BARE = re.compile(rf"(?<![/\w-])([\w-]+\.md){GAP}\d")
# The guides to the code, and how they name functions and files; some are not in the repository.
GUIDES = ("core/README.md", "CONTRIBUTING.md", "doc/abi.md", "doc/threading.md")
ELSEWHERE = ("build/", "sys/", "asm/", "inc/")
FUNCTION = re.compile(r"`([a-z]\w+)\(\)`")
PLACE = re.compile(r"`([\w.-]+(?:/[\w.-]+)+)/?`")
OWN = re.compile(rf"\b[Ss]ections?\s+({NUMBER}(?:(?:,|\s+and|\s+to)\s+{NUMBER})*)")


def sections(path: pathlib.Path, bad: list[str]) -> set[str]:
    """Numbers of the headings of a document."""
    found = HEADING.findall(path.read_text(encoding="utf-8"))
    numbers = [[int(part) for part in number.split(".")] for number in found]
    for before, after in zip(numbers, numbers[1:]):
        if before >= after:
            name = ".".join(map(str, after))
            bad.append(f"doc/{path.name}: section {name} does not ascend")
    return set(found)


def check_text(name: str, text: str, known: dict[str, set[str]], bad: list[str]) -> int:
    """Check the citations of one file; return how many there are."""
    count = 0
    for match in CITATION.finditer(text):
        count += 1
        line = text.count("\n", 0, match.start()) + 1
        document = match.group(1)
        if document not in known:
            bad.append(f"{name}:{line}: there is no doc/{document}")
            continue
        for number in re.findall(NUMBER, match.group(2)):
            if number not in known[document]:
                bad.append(f"{name}:{line}: doc/{document} has no section {number}")
    for match in BARE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match.group(1) in known:
            bad.append(f"{name}:{line}: cite doc/{match.group(1)}, not {match.group(1)} alone")
    return count


def check_own(name: str, text: str, known: set[str], bad: list[str]) -> None:
    """Check what a document says of its own sections."""
    for match in OWN.finditer(text):
        for number in re.findall(NUMBER, match.group(1)):
            if number not in known:
                bad.append(f"{name}: there is no section {number} in it")


def is_place(root: pathlib.Path, name: str) -> bool:
    """Is it a file, without its ending or with it, or a folder?"""
    paths = [root / folder / name for folder in ("core/src", "core", "core/include", "tests", "")]
    paths += [path.with_name(path.name + ending) for path in paths for ending in (".c", ".h")]
    return any(path.exists() for path in paths)


def functions_of(root: pathlib.Path) -> set[str]:
    """Everything that the core calls or defines."""
    found = set()
    for path in (root / "core").rglob("*"):
        if path.suffix in (".c", ".h"):
            found.update(re.findall(r"\b(\w+)\(", path.read_text(encoding="utf-8")))
    return found


def check_guide(root: pathlib.Path, guide: str, functions: set[str], bad: list[str]) -> int:
    """Check the names of functions, files and folders in a guide; return how many there are."""
    text = (root / guide).read_text(encoding="utf-8")
    count = 0
    for match in (*FUNCTION.finditer(text), *PLACE.finditer(text)):
        if match[1].startswith(ELSEWHERE) or re.search(r"[A-Z]{3}", match[1]):
            continue
        count += 1
        is_function = match.re is FUNCTION
        if match[1] in functions if is_function else is_place(root, match[1]):
            continue
        line = text.count("\n", 0, match.start()) + 1
        what = "function" if is_function else "file or folder"
        bad.append(f"{guide}:{line}: there is no {what} {match[1]}")
    return count


def main(root: pathlib.Path) -> int:
    """Check everything below a root."""
    bad: list[str] = []
    known = {path.name: sections(path, bad) for path in sorted((root / "doc").glob("*.md"))}
    paths = {path for name in NAMES for path in root.glob(name)}
    for folder in FOLDERS:
        paths |= {path for path in (root / folder).rglob("*") if path.suffix in SUFFIXES}
    count = 0
    for path in sorted(paths):
        name = path.relative_to(root).as_posix()
        if name != "scripts/check_citations.py":
            text = path.read_text(encoding="utf-8", errors="replace")
            count += check_text(name, text, known, bad)
            if path.parent == root / "doc":
                check_own(name, text, known[path.name], bad)
    functions = functions_of(root)
    named = sum(check_guide(root, guide, functions, bad) for guide in GUIDES)
    print(
        "\n".join(bad)
        or f"citations: {count} of {len(known)} documents, and {named} names of code; each is there"
    )
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
