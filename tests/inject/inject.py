#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damage a core in many ways (heap_damage.py); verifyheap must name each, once, and nothing else."""
from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from core_image import CORES, Image, Run, heapdump, turns
from heap_damage import KINDS, Damage, Maker

STATUSES = (0, 1, 2, 3)


def problems(image: Image, damage: Damage, run: Run) -> Iterator[str]:
    """The mistakes in the answer of verifyheap."""
    if run.status not in (0, 1):
        yield f"verifyheap ended with {run.status}: {run.err.strip()}"
        return
    findings = run.json()["findings"]
    found = [(f["address"], f["kind"], f["verdict"], f["slot"]) for f in findings]
    bad = [f for f in findings if f["verdict"] == "damage"]
    if run.status != 1:
        yield f"exit status {run.status}"
    if damage.segments:
        if not 1 <= len(findings) <= damage.segments or len(bad) != len(findings):
            yield f"{len(findings)} findings: {found[:6]}"
        return
    wanted = {damage.address, *damage.others}
    if len(findings) != 1 or len(bad) != 1:
        yield f"{len(findings)} findings: {found[:6]}"
    elif int(bad[0]["address"], 16) not in wanted:
        yield f"found at {found}, not at {sorted(hex(w) for w in wanted)}"
    elif (
        damage.slot is not None
        and int(bad[0]["slot"], 16) != damage.slot
        and (int(bad[0]["address"], 16) == damage.address)
    ):
        yield f"bad word at {bad[0]['slot']}, not at {damage.slot:x}"


def sanity(image: Image, damage: Damage) -> Iterator[str]:
    """Other commands neither crash nor make up more than the heap holds."""
    for words in (["dumpheap", "-stat"], ["dumpheap"], ["dumpobj", hex(damage.address)]):
        run = heapdump(image.path, *words)
        if run.status not in STATUSES:
            yield f"{' '.join(words)} ended with {run.status}"
        elif words == ["dumpheap", "-stat"] and run.status < 2:
            size = run.json()["total"]["size"]
            if size > image.heap_size + (1 << 20):
                yield f"dumpheap -stat counts {size} bytes in a heap of {image.heap_size}"


def run_kind(maker: Maker, kind: str, seed: int, sane: bool) -> tuple[Damage, list[str]]:
    """Do it once."""
    image = maker.image
    maker.random.seed(f"{kind} {seed}")
    damage: Damage = getattr(maker, kind)()
    try:
        for address, data in damage.patches:
            image.patch(address, data)
        bad = list(problems(image, damage, heapdump(image.path, "verifyheap")))
        if sane:
            bad += sanity(image, damage)
    finally:
        image.restore()
    return damage, bad


def main() -> int:
    """Damage every core that is there, in every way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--core", action="append", help="name of a core in corefiles/build")
    parser.add_argument("--kind", action="append", help="only these kinds")
    rounds = 4 if turns.ALL else 1
    parser.add_argument("--rounds", type=int, default=rounds, help="places for each kind")
    parser.add_argument("--seed", type=int, default=turns.seed())
    options = parser.parse_args()
    failures = done = 0
    begin = time.monotonic()
    for name in options.core or ["wks11-heap", "leak10-heap", "wks10-heap"]:
        core = CORES / f"{name}.core"
        if not core.exists():
            print(f"inject: skipped, there is no {core}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            image = Image(core, Path(folder))
            maker = Maker(image)
            for index, kind in enumerate(options.kind or KINDS):
                for number in range(options.rounds):
                    # Other commands after a quarter of them.
                    sane = number == 0 and turns.is_turn(index, 4)
                    try:
                        damage, bad = run_kind(maker, kind, options.seed + number, sane)
                    except (LookupError, IndexError) as error:
                        print(f"inject: {name} {kind}: skipped, no place for it ({error})")
                        break
                    done += 1
                    failures += bool(bad)
                    for text in bad:
                        places = " ".join(f"{a:x}={d[:16].hex()}" for a, d in damage.patches)
                        print(f"inject: {name} {kind} {options.seed + number}: {text} [{places}]")
            image.close()
    print(
        f"inject: {done} damaged cores of {len(KINDS)} kinds, {failures} wrong answers, "
        f"{time.monotonic() - begin:.0f} s"
    )
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
