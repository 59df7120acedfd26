#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare what dumpsig and dumpsigelem show with what System.Reflection.Metadata reads of the modules' files.

    check_signatures.py [--program HEAPDUMP] [CORE...]

Without CORE: all wks*-full.core of corefiles/build, or of $COREFILES.  Of the signatures of methods,
fields, properties, locals, member references, generic methods and TypeSpecs in the metadata of loaded modules, every
one (with HEAPDUMP_TEST_ALL) or 3,000 must have the same words there, and as many bytes; and of methods of loaded types, dumpmd must
say where the signature is.  Exit status 1 when anything differs, 77 without cores or a .NET SDK.
"""
from __future__ import annotations

import collections
import pathlib
import sys

import compare
from session import ask, check_cores, spread

CORES = ["wks*-full.core"]
CHOSEN, CHUNK, METHODS = 3000, 1000, 500

Facts = dict[str, list[list[str]]]
Begins = dict[str, str]  # by module: where its metadata begin


def compare_methods(program: str, core: pathlib.Path, known: Facts, begins: Begins) -> list[str]:
    """The mistakes of dumpmd about where signatures are."""
    methods = known["e"][:: max(1, len(known["e"]) // METHODS)]
    places = {(module, token): offset for module, token, offset in known["M"]}
    wrong = []
    answers = ask(program, core, [f"dumpmd {row[0]}" for row in methods])
    for method, answer in zip(methods, answers):
        module = answer["module"][2:]
        offset = places.get((module, answer["token"][2:]))
        if offset and answer["signature"] != f"{int(begins[module], 16) + int(offset, 16):#x}":
            wrong.append(f"dumpmd {method[0]}: {answer['signature']}, not at {offset} of metadata")
    return wrong


def compare_core(program: str, core: pathlib.Path) -> tuple[str, list[str]]:
    """Counts what was compared, and lists what differs."""
    known = compare.clrmd_lines(core, "names,signatures")
    rows = [[kind, *row] for kind in "ST" for row in known[kind] if "?" not in row[3]]
    modules = sorted({row[0] for row in known["M"]})
    answers = ask(program, core, [f"dumpmodule {one}" for one in modules])
    begins = {
        one: str(answer["metadata"]) for one, answer in zip(modules, answers) if answer["metadata"]
    }
    chosen = [row for row in spread(rows, CHOSEN) if row[1] in begins]
    wrong = compare_methods(program, core, known, begins)
    kinds = collections.Counter[str]()
    for first in range(0, len(chosen), CHUNK):
        part = chosen[first : first + CHUNK]
        lines = []
        for letter, module, offset, _, _ in part:
            address = int(begins[module], 16) + int(offset, 16)
            lines.append(f"{'dumpsig' if letter == 'S' else 'dumpsigelem'} {address:x} {module}")
        for line, row, answer in zip(lines, part, ask(program, core, lines)):
            want = [row[4].rstrip(), int(row[3]), True]
            have = [answer.get(name) for name in ("signature", "size", "complete")]
            kinds[row[4].split("]")[0].lstrip("[") if row[0] == "S" else "TypeSpec"] += 1
            if have != want:
                wrong.append(f"{line}: {answer if 'error' in answer else have}, not {want}")
    if not chosen:
        wrong.append("there is nothing to compare")
    sorts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return f"{len(chosen)} of {len(rows)} signatures of {len(modules)} modules ({sorts})", wrong


def main() -> int:
    """Check the cores."""
    return check_cores(__doc__ or "", CORES, compare_core, needs_sdk=True)


if __name__ == "__main__":
    sys.exit(main())
