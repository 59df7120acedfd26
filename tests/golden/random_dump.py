# SPDX-License-Identifier: MIT
"""Random dumps that strict reading accepts, the same for the same seed."""
from __future__ import annotations

import random

NAMES = [
    b"System.String",
    b"A.B`1[[C, d]]",
    b"With space",
    b"\xc3\x84pfel",
    b"Same",
    b"Same",
]


def _objects(rng: random.Random, ids: list[int], all_ids: list[int]) -> list[bytes]:
    """Object records of one section: lists, hubs, cycles, undefined references, huge sizes."""
    lines = []
    hub = rng.choice(all_ids)
    for i, address in enumerate(ids):
        references = [rng.choice(all_ids) for _ in range(rng.choice([0, 0, 1, 1, 2, 3, 6]))]
        if rng.random() < 0.3:
            references.append(hub)
        if rng.random() < 0.5 and i + 1 < len(ids):
            references.append(ids[i + 1])
        if rng.random() < 0.05:
            references.append(rng.getrandbits(40) | 1)
        size = rng.choice([0, 8, 12, 24, 0xFFFFFFFE, 0xFFFFFFFF, 0x100000000, rng.getrandbits(20)])
        words = [b"o", b"%x" % address, b"%X" % rng.randrange(1, 9), b"%x" % size]
        blank = rng.choice([b" ", b" ", b" ", b"\t", b"  "])
        lines.append(blank.join(words + [b"%x" % reference for reference in references]))
    return lines


def _roots(rng: random.Random, all_ids: list[int]) -> list[bytes]:
    lines = []
    for _ in range(rng.randrange(1, 8)):
        kind, flags = rng.randrange(6), rng.choice([0, 0, 0, 1, 2, 3, 4, 5, 6, 7])
        address = rng.choice(all_ids) if rng.random() < 0.95 else rng.getrandbits(40) | 1
        container = b" %x" % rng.randrange(1, 12) if kind == 4 else b""
        line = b"r %x %x %x" % (address, kind, flags) + container
        lines += [line] * rng.choice([1, 1, 1, 2])
    return lines


def random_dump(seed: int) -> bytes:
    """The text of one dump."""
    rng = random.Random(seed)
    count = rng.choice([1, 2, 5, 20, 60, 120])
    all_ids = [identifier * 2 for identifier in rng.sample(range(1 << rng.choice([10, 32])), count)]
    if rng.random() < 0.2:
        all_ids[0] = 0xFFFFFFFFFFFFFFFE
    if rng.random() < 0.5:
        all_ids.sort()
    sections = rng.choice([1, 1, 2, 3])
    end = rng.choice([b"\n", b"\n", b"\r\n"])
    lines = []
    for section in range(sections):
        name = rng.choice([b"app.exe", b"two words", b"dead beef.exe"])
        time = rng.choice([b"", b" %x" % rng.getrandbits(32)])
        ids = all_ids[section * count // sections : (section + 1) * count // sections]
        types = [b"t %x %s" % (i + 1, rng.choice(NAMES)) for i in range(9) if rng.random() < 0.8]
        records = types + _objects(rng, ids, all_ids) + _roots(rng, all_ids)
        if rng.random() < 0.5:
            rng.shuffle(records)
        if rng.random() < 0.3 and ids:
            records.append(next(record for record in records if record[:1] == b"o"))
        if not any(record[:1] == b"r" for record in records):
            records.append(b"")
        lines += [b"a 2 " + name + time] + records + [b"c " + name + time]
    return end.join(lines) + rng.choice([end, b""])
