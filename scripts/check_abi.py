#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail if the public headers break the ABI that core/abi has the description of.

    check_abi.py [--update] [FOLDER]

core/abi/heapdump-VERSION.abi is what abidw says of core/include/heapdump and core/heapdump.map as of that version.
While the project has the same version, the release is being made: both must be equal, and --update writes the file
anew, so that each change of the ABI is a change that a reviewer sees.  Once the project has a later version, the file
is that of the last release: functions, enumerators and members at the end of a structure with struct_size may be
added, and nothing else may change.  --update then makes the file of the new version.  doc/abi.md has the rules.

The library itself is not needed: a stub is compiled of the headers alone, which takes less than a second.
"""
from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

COMMENT = re.compile(r"/\*.*?\*/", re.S)
FUNCTION = re.compile(r"HD_API\s+([^;{]*?);")
GROWS = re.compile(r"^struct (\w+) \{(\s*size_t struct_size;.*?)^\};", re.M | re.S)
NODE = re.compile(r"^(\w+) \{(.*?)^\}", re.M | re.S)
SYMBOL = re.compile(r"<elf-symbol name='(\w+)' version='(\w+)'")
ABIDIFF = ("abidiff", "--non-reachable-types")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a tool; a missing one ends the check."""
    try:
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except FileNotFoundError as error:
        raise SystemExit(f"check_abi.py: {error.filename} is missing: run scripts/setup.sh")


def headers_of(include: pathlib.Path) -> str:
    """All public headers, without comments and directives."""
    paths = sorted((include / "heapdump").glob("*.h"))
    text = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    return re.sub(r"^#.*$", "", COMMENT.sub("", text), flags=re.M)


def project_version(root: pathlib.Path) -> str:
    """The version in CMakeLists.txt."""
    text = (root / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r"project\(heapdump VERSION ([\d.]+)", text)
    assert found, "CMakeLists.txt has no version"
    return found[1]


def nodes_of(root: pathlib.Path) -> dict[str, str]:
    """The symbol version of each exported function."""
    text = (root / "core/heapdump.map").read_text(encoding="utf-8")
    return {
        name: node for node, body in NODE.findall(text) for name in re.findall(r"\b(hd_\w+);", body)
    }


def describe(root: pathlib.Path, include: pathlib.Path, scratch: pathlib.Path) -> pathlib.Path:
    """Let abidw describe a library that has the functions of the headers."""
    stub, library, result = scratch / "stub.c", scratch / "libheapdump.so", scratch / "now.abi"
    lines = ["#include <heapdump/heapdump.h>"]
    for declaration in FUNCTION.findall(headers_of(include)):
        words = " ".join(declaration.replace("HD_NODISCARD", "").split())
        lines.append(words + " { __builtin_trap(); }")
    stub.write_text("\n".join(lines) + "\n", encoding="utf-8")
    cmake = (root / "core/CMakeLists.txt").read_text(encoding="utf-8")
    number = re.search(r"SOVERSION (\d+)", cmake)
    assert number, "core/CMakeLists.txt has no SOVERSION"
    done = run(
        "gcc", "-std=c17", "-g", "-O0", "-fno-eliminate-unused-debug-types", "-fPIC", "-shared",
        f"-I{include}", str(stub), "-o", str(library),
        f"-Wl,--version-script={root / 'core/heapdump.map'}",
        f"-Wl,-soname,libheapdump.so.{number[1]}",
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"check_abi.py: the headers do not compile:\n{done.stdout}")
    options = ("--load-all-types", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs")
    done = run("abidw", *options, "--out-file", str(result), str(library))
    if done.returncode:
        raise SystemExit(f"check_abi.py: abidw: {done.stdout}")
    return result


def structs_of(description: pathlib.Path) -> dict[str, tuple[int, int]]:
    """How many members each structure has, and its size in bits."""
    found = {}
    for row in ElementTree.parse(description).iter("class-decl"):
        members = len(row.findall("data-member"))
        if members and row.get("name"):
            found[row.get("name", "")] = members, int(row.get("size-in-bits", "0"))
    return found


def cut_members(body: str, count: int) -> str:
    """The first members of a structure."""
    result, depth = "", 0
    for letter in body:
        depth += (letter == "(") - (letter == ")")
        # A comma between parameters ends no member.
        count -= letter == ";" or (letter == "," and not depth)
        if not count:
            return result + ";"
        result += letter
    return result


def cut_headers(root: pathlib.Path, released: pathlib.Path, scratch: pathlib.Path) -> pathlib.Path:
    """
    A copy of the headers in which structures with struct_size end where they ended in the release: what is left must
    be as it was.
    """
    known = structs_of(released)
    folder = scratch / "include/heapdump"
    folder.mkdir(parents=True)

    def cut(match: re.Match[str]) -> str:
        members = known.get(match[1], (0, 0))[0]
        body = cut_members(match[2], members) if members else match[2]
        return f"struct {match[1]} {{{body}\n}};"

    for path in (root / "core/include/heapdump").glob("*.h"):
        text = COMMENT.sub("", path.read_text(encoding="utf-8"))
        (folder / path.name).write_text(GROWS.sub(cut, text), encoding="utf-8")
    return folder.parent


def grown_in_place(released: pathlib.Path, now: pathlib.Path) -> list[str]:
    """Structures with more members and the same size: struct_size could not tell them apart."""
    new = structs_of(now)
    return [
        f"struct {name} has more members and the same size: add a reserved member, too"
        for name, (members, bits) in sorted(structs_of(released).items())
        if name in new and new[name][0] > members and new[name][1] == bits
    ]


def misplaced(root: pathlib.Path, released: str) -> list[str]:
    """New functions in the symbol version of a release that did not have them."""
    old = dict(SYMBOL.findall(released))
    return [
        f"{name} is new: it needs a symbol version of its own release, not {node}"
        for name, node in sorted(nodes_of(root).items())
        if name not in old and node in old.values()
    ]


def check(root: pathlib.Path, update: bool) -> int:
    """Compare, and with @p update write the description."""
    version = project_version(root)
    own = root / "core/abi" / f"heapdump-{version}.abi"
    found = sorted((root / "core/abi").glob("heapdump-*.abi"))
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        now = describe(root, root / "core/include", scratch)
        if not found and update:
            own.write_bytes(now.read_bytes())
            found = [own]
        if len(found) != 1:
            print(f"abi: core/abi must have one description, and has {len(found)}")
            return 1
        is_release, compared, bad = found[0] != own, now, []
        if is_release:
            bad = misplaced(root, found[0].read_text(encoding="utf-8"))
            bad += grown_in_place(found[0], now)
            (scratch / "cut").mkdir()
            compared = describe(root, cut_headers(root, found[0], scratch), scratch / "cut")
        options = ["--no-added-syms"] if is_release else ["--harmless"]
        done = run(*ABIDIFF, *options, str(found[0]), str(compared))
        same_soname = "SONAME changed" not in done.stdout
        if update and (not is_release or not (done.returncode or bad) or not same_soname):
            own.write_bytes(now.read_bytes())
            if is_release:
                found[0].unlink()
            print(f"abi: wrote {own.relative_to(root)}")
            return 0
    if not done.returncode and not bad:
        print(f"abi: {len(nodes_of(root))} functions, compared with {found[0].name}")
        return 0
    print(done.stdout + "\n".join(bad))
    if is_release:
        print(
            f"abi: programs built with {found[0].stem} would break: undo it, add a new function or member instead, or"
        )
        print("raise SOVERSION in core/CMakeLists.txt (doc/abi.md 2)")
    else:
        print(
            f"abi: this differs from core/abi/{own.name}.  If {version} is not released yet, it may (doc/abi.md):"
        )
        print(
            "run scripts/check_abi.py --update, and commit the file with your change and a line in CHANGELOG.md."
        )
        print("If it is released, raise the version in CMakeLists.txt first.")
    return 1


if __name__ == "__main__":
    arguments = [word for word in sys.argv[1:] if word != "--update"]
    sys.exit(
        check(pathlib.Path(arguments[0] if arguments else ".").resolve(), "--update" in sys.argv)
    )
