#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpus of fuzz_core: small ELF cores, whole, odd and lying.

The module file that they name is "/f": fuzz_core puts the input itself there.
"""
from __future__ import annotations

import pathlib
import struct
import sys

BASE, LIBRARY, LINKS = 0x550000000000, 0x7F0000000000, 0x7F1000000000
DYNAMIC, NOTE = 0x180, 0x120
NT_PRSTATUS, NT_PRPSINFO, NT_AUXV, NT_FILE = 1, 3, 6, 0x46494C45


def pad(data: bytes, unit: int) -> bytes:
    """Zeros up to the next multiple."""
    return data + bytes(-len(data) % unit)


def note(name: str, kind: int, desc: bytes) -> bytes:
    """One ELF note."""
    text = name.encode() + b"\0"
    return struct.pack("<III", len(text), len(desc), kind) + pad(text, 4) + pad(desc, 4)


def thread(tid: int) -> bytes:
    """NT_PRSTATUS."""
    regs = struct.pack("<27Q", *range(27))
    desc = bytes(12) + struct.pack("<h", 6) + bytes(18) + struct.pack("<i", tid) + bytes(76)
    return note("CORE", NT_PRSTATUS, pad(desc + regs, 336))


def process() -> bytes:
    """NT_PRPSINFO."""
    desc = bytes(24) + struct.pack("<i", 7) + bytes(12) + pad(b"dotnet", 16) + bytes(80)
    return note("CORE", NT_PRPSINFO, desc)


def auxv(*pairs: tuple[int, int]) -> bytes:
    """NT_AUXV."""
    return note("CORE", NT_AUXV, b"".join(struct.pack("<QQ", *pair) for pair in pairs))


def files(*rows: tuple[int, int, int, str], count: int | None = None) -> bytes:
    """NT_FILE."""
    desc = struct.pack("<QQ", len(rows) if count is None else count, 1)
    desc += b"".join(struct.pack("<QQQ", *row[:3]) for row in rows)
    return note("CORE", NT_FILE, desc + b"".join(row[3].encode() + b"\0" for row in rows))


def core(
    notes: bytes,
    loads: list[tuple[int, bytes, int]],
    skew: int = 0,
    xnum: bool = False,
    kind: int = 4,
    machine: int = 62,
    ident: bytes = b"\x7fELF\2\1\1",
) -> bytes:
    """An ELF core: PT_NOTE, then PT_LOADs of (address, bytes, size in memory)."""
    count = len(loads) + 1
    offset = 64 + 56 * count
    headers = struct.pack("<IIQQQQQQ", 4, 0, offset, 0, 0, len(notes), 0, 0)
    body = notes
    for address, data, memsz in loads:
        body = pad(body, 8) + bytes(skew)
        headers += struct.pack(
            "<IIQQQQQQ", 1, 6, offset + len(body), address, 0, len(data), memsz, 0
        )
        body += data
    shoff = offset + len(body) if xnum else 0
    if xnum:
        body += struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 1, 0, count, 0, 0)
    number = 0xFFFF if xnum else count
    head = pad(ident, 16) + struct.pack(
        "<HHIQQQIHHHHHH", kind, machine, 1, 0, 64, shoff, 0, 64, 56, number, 64, int(xnum), 0
    )
    return head + headers + body


def with_headers(headers: list[tuple[int, int, int, int]], body: bytes) -> bytes:
    """An ELF core of any program headers: type, place in the body, size, address."""
    count = len(headers)
    table = b"".join(
        struct.pack("<IIQQQQQQ", kind, 6, 64 + 56 * count + at, address, 0, size, size, 0)
        for kind, at, size, address in headers
    )
    head = pad(b"\x7fELF\2\1\1", 16) + struct.pack(
        "<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, count, 64, 0, 0
    )
    return head + table + body


def shared_cores() -> dict[str, bytes]:
    """Cores whose headers have the same bytes again and again, and long lists of what is odd."""
    notes = files(*((BASE + i * 9, BASE + i * 9 + 9, 0, "/f") for i in range(60)))
    notes += b"".join(thread(i) for i in range(20))
    load, one = (1, 0, 64, BASE), len(thread(0))
    odd = files(*((BASE + i, BASE, 0, "/f") for i in range(1500)))
    return {
        "notes-repeated": with_headers([(4, 0, len(notes), 0)] * 900 + [load], notes),
        "notes-overlapping": with_headers(
            [(4, i * one, 10 * one, 0) for i in range(40)] + [load], thread(1) * 50
        ),
        "notes-apart": with_headers(
            [(4, i * 20, 20, 0) for i in range(900)] + [load], note("CORE", 99, b"") * 900
        ),
        "notes-odd": with_headers([(4, 0, len(odd), 0), load], odd),
        "loads-shared": with_headers(
            [(1, 0, 4096, BASE + i * 8192) for i in range(900)], image(BASE, debug=LINKS)[:4096]
        ),
        "loads-tiny": with_headers(
            [(1, i, 1, BASE + i) for i in range(900)], bytes(range(256)) * 4
        ),
    }


def gnu_hash(name: bytes) -> int:
    """The hash of DT_GNU_HASH."""
    value = 5381
    for char in name:
        value = (value * 33 + char) & 0xFFFFFFFF
    return value


def image(base: int, debug: int = 0, old_hash: bool = False) -> bytes:
    """A loaded ELF image with one symbol, one RELATIVE and one RELR relocation."""
    name = b"g_dacTable"
    tables = b""
    tags: list[tuple[int, int]] = []

    def put(data: bytes, *numbers: int) -> None:
        nonlocal tables
        tables = pad(tables, 8)
        tags.extend((number, base + DYNAMIC + 0xC0 + len(tables)) for number in numbers)
        tables += data

    put(bytes(24) + struct.pack("<IBBHQQ", 1, 17, 0, 1, 0x40, 1032), 6)
    put(b"\0" + name + b"\0", 5)
    if old_hash:
        put(struct.pack("<5I", 1, 2, 1, 0, 0), 4)
    else:
        bloom = struct.pack("<IIIIQ", 1, 1, 1, 6, 2**64 - 1)
        put(bloom + struct.pack("<II", 1, gnu_hash(name) | 1), 0x6FFFFEF5)
    put(struct.pack("<QQQ", 0x40, 8, 0x80), 7)
    put(struct.pack("<QQ", 0x48, 3), 36)
    tags += [(10, 12), (8, 24), (35, 16)] + ([(21, debug)] if debug else [])
    dynamic = b"".join(struct.pack("<QQ", *tag) for tag in tags)
    build_id = note("GNU", 3, b"a-build-id-of-20-byt")
    size = DYNAMIC + 0xC0 + len(tables)
    headers = b"".join(
        struct.pack("<IIQQQQQQ", kind, 5, at, at, at, length, length, 8)
        for kind, at, length in ((1, 0, size), (2, DYNAMIC, 0xC0), (4, NOTE, len(build_id)))
    )
    head = b"\x7fELF\2\1\1" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 3, 0, 0, 0)
    data = (head + headers).ljust(NOTE, b"\0") + build_id
    return data.ljust(DYNAMIC, b"\0") + dynamic.ljust(0xC0, b"\0") + tables


def links(last: int) -> bytes:
    """struct r_debug and two struct link_map."""
    rows = struct.pack("<QQ", 1, LINKS + 16)
    rows += struct.pack("<4Q", BASE, LINKS + 80, BASE + DYNAMIC, LINKS + 48)
    rows += struct.pack("<4Q", LIBRARY, LINKS + 81, LIBRARY + DYNAMIC, last)
    return rows + b"\0/f\0"


def program(last: int = 0, old_hash: bool = False, captured: int = 4096) -> bytes:
    """A core with a program, a library and their link map."""
    main, library = image(BASE, debug=LINKS), image(LIBRARY, old_hash=old_hash)
    notes = process() + auxv((3, BASE + 64), (5, 3), (9, BASE), (0, 0))
    notes += files((BASE, BASE + 4096, 0, "/main"), (LIBRARY, LIBRARY + 4096, 0, "/f")) + thread(7)
    held = library[:captured]
    return core(
        notes,
        [(BASE, main, len(main)), (LIBRARY, held, 4096), (LINKS, links(last), len(links(last)))],
    )


def zstd(data: bytes) -> bytes:
    """One frame of one raw block."""
    head = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data))
    return head + struct.pack("<I", len(data) << 3 | 1)[:3] + data


def pe_core() -> bytes:
    """A core that maps a PE file of which it holds the headers."""
    data = bytearray(512)
    data[0:2], data[0x3C], data[0x80:0x84] = b"MZ", 0x80, b"PE\0\0"
    notes = process() + files((LIBRARY, LIBRARY + 4096, 0, "/f"))
    return core(notes, [(LIBRARY, bytes(data), 512)])


def corpus() -> dict[str, bytes]:
    """Every input by name."""
    ram = b"memory of the process" * 8
    plain = core(process() + thread(7) + thread(8), [(BASE, ram, len(ram)), (LIBRARY, ram, 4096)])
    one = [(BASE, ram, len(ram))]
    return {
        "plain": plain,
        "program": program(),
        "program-old-hash": program(old_hash=True),
        "program-cyclic": program(last=LINKS + 16),
        "program-wild": program(last=0x1234),
        "program-from-file": program(captured=0),
        "program-headers-only": program(captured=0x180),
        "gcore": core(process() + note("GDB", 0xFF000000, b"<t/>"), one, skew=3),
        "xnum": core(thread(1), one, xnum=True),
        "xnum-cut": core(thread(1), one, xnum=True)[:-64],
        "overlap": core(b"", [(BASE + 50, ram, 200), (BASE, ram, 400), (BASE + 150, ram, 300)]),
        "neighbours": core(b"", [(BASE + i * 8, b"12345678", 8) for i in range(6)]),
        "wraps": core(b"", [(2**64 - 64, ram, 2**63), (BASE, ram, 3)]),
        "no-memory": core(thread(1), []),
        "cut-in-headers": plain[:200],
        "cut-in-notes": plain[:500],
        "cut-in-memory": plain[:-100],
        "cut-in-ehdr": plain[:40],
        "note-lies": core(
            struct.pack("<III", 5, 2**32 - 1, 1) + b"CORE\0\0\0\0" + bytes(400), one
        ),
        "note-short": core(note("CORE", NT_PRSTATUS, b"x") + note("CORE", NT_PRPSINFO, b""), one),
        "files-count": core(files((BASE, BASE + 9, 0, "/f"), count=2**60), one),
        "files-overlap": core(files((BASE, BASE + 9, 0, "/f"), (BASE, BASE + 99, 0, "/g")), one),
        "pe": pe_core(),
        "zstd": zstd(plain),
        "zstd-program": zstd(program()),
        "zstd-cut": zstd(plain)[:700],
        "arm64": core(b"", one, machine=183),
        "big-endian": core(b"", one, ident=b"\x7fELF\2\2\1"),
        "class-32": core(b"", one, ident=b"\x7fELF\1\1\1"),
        "program-file": image(0),
        "empty": b"",
        "text": b"this is no core\n",
        **shared_cores(),
    }


def main(folder: pathlib.Path) -> None:
    """Write all."""
    folder.mkdir(parents=True, exist_ok=True)
    for index, (name, data) in enumerate(corpus().items()):
        (folder / f"{index:02}-{name}").write_bytes(data)


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "corpus" / "core")
