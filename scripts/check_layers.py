#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail if a source file includes a layer above its own, or if the include graph has a cycle.

The table is the architecture: a folder of core/src may include the folders named on its line,
itself, and core/include.  The shell program and the plug-ins see the public headers alone.

Registers have names in core/src/arch/*/ and in the layouts of the runtime only; everybody else asks struct arch.

CoreCLR's struct, and the offsets and features of its releases, are for runtime/coreclr: another runtime has none
of these.  READS_CORECLR has the files that are left.

Private fields of the framework are named in core/src/framework alone, where check_framework.py
looks for them.
"""
from __future__ import annotations

import pathlib
import re
import sys

MAY_INCLUDE = {
    "util": "",
    "arch": "util mem",
    "graph": "util",
    "format": "util graph mem metadata",
    "output": "util graph",
    "answer": "util graph analysis output",
    "mem": "util",
    "targets": "util arch mem",
    "metadata": "util mem",
    "gc/layouts": "util arch mem targets",
    "framework/offsets": "util",
    "runtime": "util arch mem targets gc/layouts",
    "runtime/nativeaot": "util arch mem targets gc/layouts framework/offsets runtime",
    "runtime/coreclr": "util arch mem targets metadata gc/layouts runtime",
    "gc": "util arch mem targets runtime runtime/coreclr gc/layouts",
    "verify": "util arch mem targets runtime runtime/coreclr gc",
    "framework": "util mem targets metadata framework/offsets runtime runtime/coreclr gc",
    "inspect": "util mem targets metadata runtime runtime/coreclr gc framework",
    "unwind": "util arch mem targets",
    "stack": "util arch mem targets runtime runtime/coreclr gc unwind",
    "runtime/nativeaot/stack": "util arch mem targets runtime runtime/nativeaot gc unwind stack",
    "runtime/coreclr/stack": "util arch mem targets runtime runtime/coreclr gc unwind stack",
    "roots": "util mem targets runtime runtime/coreclr gc stack",
    "snapshot": "util graph mem targets runtime runtime/coreclr gc framework inspect stack roots",
    "contents": "util graph format mem targets runtime runtime/coreclr gc framework inspect stack roots snapshot",
    "analysis": "util arch graph mem targets runtime runtime/coreclr gc framework inspect stack roots",
    "native": "util arch mem targets runtime runtime/coreclr gc framework inspect stack analysis",
    "managed_elf": "util arch mem metadata runtime runtime/coreclr",
    "hangs": "util arch graph mem targets runtime runtime/coreclr gc framework inspect stack roots snapshot analysis",
    "findings": "util graph mem targets runtime runtime/coreclr gc framework inspect stack roots analysis native",
    "session": "util graph format analysis answer mem targets runtime runtime/coreclr gc framework inspect roots snapshot",
    "collect": "util targets",
    "command": "util arch graph format output answer mem targets metadata runtime runtime/coreclr gc framework verify inspect"
    " unwind stack roots snapshot contents analysis native managed_elf hangs findings session collect",
}
# Structures of a runtime or of its GC are read in these folders only.
READS_LAYOUTS = ("runtime", "gc")
# CoreCLR's struct, its offsets, its features.
CORECLR = re.compile(
    r"\bstruct coreclr\b|\bcoreclr_(?:of|is|has|has_field|offset|pointer|field_u(?:16|32)|layout)\("
)
# Who reads these all the same: files that say more about CoreCLR, and nothing wrong about another runtime.
READS_CORECLR = {
    "command/objects/cmd_dumpmt.c": "numbers of MethodTable and EEClass, as SOS shows them",
    "command/session/info_answer.c": "info -layout lists the offsets",
    "hangs/wait_infos.c": "the framework of 11 notes what a thread waits for",
    "hangs/wait_object.c": "the locks of 11 have managed ids",
    "hangs/wait_words.c": "the locks of 11 are managed code",
}
# Headers that only files of their own layer may include.
PRIVATE = {"runtime/coreclr/internal.h"}
# The state that all runtimes have, for the folders of runtime.
FOR_RUNTIMES = {"runtime/runtime_base.h"}
FRONT_ENDS = ("core/cli", "gdb-plugin", "lldb-plugin", "profiler", "python")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
# A string that is a path of fields, one of which is private by its name: "_x", "m_x", "s_x", "<X>k__BackingField".
FIELD = r"(?:(?:[ms]_|_)[A-Za-z]\w*|<\w+>k__BackingField)"
FIELD_PATH = re.compile(rf'"((?:[\w<>`+]+\.)*{FIELD}(?:\.[\w<>]+)*)"')
# The debug header of NativeAOT calls fields of the runtime so.
NAMES_RUNTIME_FIELDS = "runtime/nativeaot/layout.h"
# A register of a processor, as an identifier, or as a string.
REGISTER = re.compile(
    r"\b(?:REG|REGISTER)_(?:R[A-DS][XPI]|R[0-9]+|RIP|X[0-9]+|LR|FS_BASE)\b"
    r'|"(?:r[abcd]x|r[sd]i|r[sbi]p|r(?:8|9|1[0-5])|[xw](?:[12]?[0-9]|30))"'
)
NAMES_REGISTERS = re.compile(r"arch/\w+/|runtime/\w+/layouts/")
SOURCE = re.compile(r"\.(c|h|cpp|hpp)$")


def layer_of(name: str) -> str:
    """The layer that a file is in: its folder of core/src, or one in that which has a line of its own."""
    parts = name.split("/")
    found = ["/".join(parts[:size]) for size in range(len(parts), 0, -1)]
    return next((layer for layer in found if layer in MAY_INCLUDE), parts[0])


def sources(folder: pathlib.Path) -> list[pathlib.Path]:
    """C and C++ files below a folder, in a fixed order."""
    return sorted(path for path in folder.rglob("*") if SOURCE.search(path.name))


def check_core(src: pathlib.Path, bad: list[str]) -> dict[str, list[str]]:
    """Check each include of core/src against the table; return who includes what."""
    graph: dict[str, list[str]] = {}
    for path in sources(src):
        name = path.relative_to(src).as_posix()
        layer = layer_of(name)
        graph[name] = INCLUDE.findall(path.read_text(encoding="utf-8"))
        if layer not in MAY_INCLUDE:
            bad.append(f"{name}: folder {layer} has no line in {sys.argv[0]}")
            continue
        for target in graph[name]:
            other = layer_of(target)
            if other != layer and other not in MAY_INCLUDE[layer].split():
                bad.append(f"{name}: layer {layer} may not include {target}")
            elif "/layouts/" in target and name.split("/")[0] not in READS_LAYOUTS:
                bad.append(f"{name}: {target} is a layout, for {' and '.join(READS_LAYOUTS)} only")
            elif target in FOR_RUNTIMES and name.split("/")[0] != "runtime":
                bad.append(f"{name}: {target} is only for runtimes")
            elif other != layer and target in PRIVATE:
                bad.append(f"{name}: {target} is only for layer {other}")
            elif not (src / target).is_file():
                bad.append(f"{name}: {target} is not the path of a file in core/src")
    return graph


def check_fields(src: pathlib.Path, bad: list[str]) -> None:
    """Report each private field that is named elsewhere."""
    for path in sources(src):
        name = path.relative_to(src).as_posix()
        if name.startswith("framework/") or name == NAMES_RUNTIME_FIELDS:
            continue
        for field in FIELD_PATH.findall(COMMENT.sub("", path.read_text(encoding="utf-8"))):
            bad.append(f"{name}: {field} looks like a field of the framework: a row of framework/")


def check_coreclr(src: pathlib.Path, bad: list[str]) -> None:
    """Report each file elsewhere that reads CoreCLR's struct or layout, and each on the list that does not."""
    for path in sources(src):
        name = path.relative_to(src).as_posix()
        if name.startswith("runtime/coreclr/"):
            continue
        found = CORECLR.search(COMMENT.sub("", path.read_text(encoding="utf-8")))
        if found and name not in READS_CORECLR:
            bad.append(f"{name}: {found.group()} is CoreCLR's: ask runtime.h or runtime_ops.h")
        elif not found and name in READS_CORECLR:
            bad.append(f"{name}: reads nothing of CoreCLR: take it from READS_CORECLR")


def check_registers(root: pathlib.Path, bad: list[str]) -> None:
    """Report each register that is named elsewhere, in the plug-ins too."""
    src = root / "core" / "src"
    files = [
        path for path in sources(src) if not NAMES_REGISTERS.match(path.relative_to(src).as_posix())
    ]
    for folder in FRONT_ENDS:
        files += sources(root / folder) + sorted((root / folder).rglob("*.py"))
    for path in files:
        for match in REGISTER.finditer(COMMENT.sub("", path.read_text(encoding="utf-8"))):
            name = path.relative_to(root).as_posix()
            bad.append(f"{name}: {match.group()} is a register: struct arch has it")


def check_cycles(graph: dict[str, list[str]], bad: list[str]) -> None:
    """Report each cycle of includes."""
    state: dict[str, str] = {}

    def visit(node: str, trail: list[str]) -> None:
        if state.get(node) == "open":
            bad.append("cycle: " + " -> ".join(trail + [node]))
        if node in state:
            return
        state[node] = "open"
        for target in graph.get(node, ()):
            visit(target, trail + [node])
        state[node] = "done"

    for node in graph:
        visit(node, [])


def check_front_end(root: pathlib.Path, folder: str, bad: list[str]) -> int:
    """Check that a front end includes nothing of core/src; return how many files it has."""
    files = sources(root / folder)
    for path in files:
        for target in INCLUDE.findall(path.read_text(encoding="utf-8")):
            beside = (path.parent / target, root / folder / "src" / target)
            if not any(own.is_file() for own in beside):
                name = path.relative_to(root).as_posix()
                bad.append(f"{name}: a front end may not include {target}")
    return len(files)


def main(root: pathlib.Path) -> int:
    """Check everything below a root."""
    bad: list[str] = []
    graph = check_core(root / "core" / "src", bad)
    check_cycles(graph, bad)
    check_fields(root / "core" / "src", bad)
    check_registers(root, bad)
    check_coreclr(root / "core" / "src", bad)
    count = len(graph) + sum(check_front_end(root, name, bad) for name in FRONT_ENDS)
    print("\n".join(bad) or f"layers: {count} files, no violation")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
