#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpus of fuzz_module_file: files of a module, sound ones and such as lie about their tables."""
from __future__ import annotations

import pathlib
import struct
import sys
from typing import Callable

PAGE = 4096
PROVEN, TWICE, PROGRAM, SYSROOT, SYMBOLS_FOLDER = 1, 2, 4, 8, 16
# Where the parts are, in the file and in memory.
NOTE, DYNAMIC, SYMBOLS, STRINGS, GNU_HASH, HASH = 0x300, 0x400, 0x600, 0x800, 0x900, 0xA00
VERSIONS, NEEDED_VERSIONS, SECTIONS = 0xB00, 0xB40, 0xC00
FRAME_HEADER, FRAMES, FUNCTION = 0x1000, 0x1100, 0x2000
SYMTAB, STRTAB, SECTION_NAMES, LINK = 0x2400, 0x2500, 0x2580, 0x2600
SECTION_TITLES = b"\0.symtab\0.strtab\0.shstrtab\0.gnu_debuglink\0"
DT_NULL, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_SONAME, DT_DEBUG = 0, 4, 5, 6, 10, 14, 21
DT_GNU_HASH, DT_VERSYM, DT_VERNEED, DT_VERNEEDNUM = 0x6FFFFEF5, 0x6FFFFFF0, 0x6FFFFFFE, 0x6FFFFFFF
NAMES = ("", "function", "g_dacTable", "libmodule.so")
FLAGS = (PROVEN, SYMBOLS_FOLDER, PROVEN | TWICE, PROGRAM | PROVEN | SYMBOLS_FOLDER)
HUGE = (0xFFFF, 0xFFFFFFFF, 2**47, 2**64 - 1)


def gnu_hash(name: str) -> int:
    """The hash of DT_GNU_HASH."""
    value = 5381
    for letter in name:
        value = (value * 33 + ord(letter)) & 0xFFFFFFFF
    return value


def system_v_hash(name: str) -> int:
    """The hash of DT_HASH."""
    value = 0
    for letter in name:
        value = (value << 4) + ord(letter)
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high & 0xFFFFFFFF
    return value


def offset_of(name: str) -> int:
    """The offset of a name in the table of strings."""
    return sum(len(one) + 1 for one in NAMES[: NAMES.index(name)])


class Module:
    """A shared library of three pages: tables, call frame information, code."""

    def __init__(self, with_gnu_hash: bool = True) -> None:
        self.bytes = bytearray(3 * PAGE)
        self.put_headers()
        self.put(NOTE, struct.pack("<III4s20s", 4, 20, 3, b"GNU\0", b"build-id of a module"))
        self.tags = {
            DT_STRTAB: STRINGS,
            DT_SYMTAB: SYMBOLS,
            DT_STRSZ: 64,
            DT_SONAME: offset_of("libmodule.so"),
        }
        self.tags.update({DT_VERSYM: VERSIONS, DT_VERNEED: NEEDED_VERSIONS, DT_VERNEEDNUM: 1})
        self.tags[DT_GNU_HASH if with_gnu_hash else DT_HASH] = GNU_HASH if with_gnu_hash else HASH
        self.put_tags()
        self.put(STRINGS, b"".join(name.encode() + b"\0" for name in NAMES))
        self.put_symbol(1, "function", FUNCTION, 0x100, 0x12)
        self.put_symbol(2, "g_dacTable", 0x2800, 8, 0x11)
        self.put_hashes()
        self.put(VERSIONS, struct.pack("<4H", 0, 1, 1, 1))
        self.put(
            NEEDED_VERSIONS,
            struct.pack("<HHIII", 1, 1, 0, 16, 0) + struct.pack("<IHHII", 0, 0, 2, 0, 0),
        )
        self.put_frames()
        self.put_sections()

    def put(self, at: int, data: bytes) -> None:
        """Write bytes there."""
        self.bytes[at : at + len(data)] = data

    def number(self, at: int, value: int, size: int = 4) -> None:
        """Write a number there."""
        self.put(at, (value & 2 ** (8 * size) - 1).to_bytes(size, "little"))

    def put_headers(self) -> None:
        """An ELF header, and program headers."""
        rows = (
            (1, 5, 0, 3 * PAGE),
            (2, 6, DYNAMIC, 0x200),
            (4, 4, NOTE, 36),
            (0x6474E550, 4, FRAME_HEADER, 0x100),
        )
        ident = b"\x7fELF\2\1\1" + bytes(9)
        head = struct.pack(
            "<16sHHIQQQIHHHHHH", ident, 3, 62, 1, 0, 64, SECTIONS, 0, 64, 56, len(rows), 64, 5, 3
        )
        for kind, flags, at, size in rows:
            head += struct.pack("<IIQQQQQQ", kind, flags, at, at, at, size, size, 4096)
        self.put(0, head)

    def put_sections(self) -> None:
        """.symtab with two functions, .gnu_debuglink to the file itself, and the rows of all sections."""
        self.put(SYMTAB + 24, struct.pack("<IBBHQQ", 1, 2, 0, 1, FUNCTION + 0x400, 0x100))
        self.put(SYMTAB + 48, struct.pack("<IBBHQQ", 7, 2, 0, 1, FUNCTION + 0x480, 0x1000))
        self.put(STRTAB, b"\0local\0hidden\0")
        self.put(SECTION_NAMES, SECTION_TITLES)
        self.put(LINK, b"libmodule.so\0\0\0\0" + struct.pack("<I", 0x12345678))
        rows = (
            (2, SYMTAB, 72, 2, 24),
            (3, STRTAB, 14, 0, 0),
            (3, SECTION_NAMES, len(SECTION_TITLES), 0, 0),
            (1, LINK, 20, 0, 0),
        )
        titles = (b".symtab", b".strtab", b".shstrtab", b".gnu_debuglink")
        for index, (title, (kind, at, size, link, row)) in enumerate(zip(titles, rows)):
            name = SECTION_TITLES.index(b"\0" + title + b"\0") + 1
            head = struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, at, size, link, 0, 1, row)
            self.put(SECTIONS + 64 * (index + 1), head)

    def put_tags(self) -> None:
        """.dynamic"""
        tags = [*self.tags.items(), (DT_NULL, 0)]
        self.put(
            DYNAMIC, b"".join(struct.pack("<QQ", tag, value & 2**64 - 1) for tag, value in tags)
        )

    def put_symbol(self, index: int, name: str, value: int, size: int, info: int) -> None:
        """A row of .dynsym."""
        self.put(
            SYMBOLS + 24 * index, struct.pack("<IBBHQQ", offset_of(name), info, 0, 1, value, size)
        )

    def put_hashes(self) -> None:
        """Both tables, with one bucket each."""
        hashes = [gnu_hash(name) for name in ("function", "g_dacTable")]
        self.put(GNU_HASH, struct.pack("<IIIIQI", 1, 1, 1, 6, 2**64 - 1, 1))
        self.put(GNU_HASH + 28, struct.pack("<II", hashes[0] & ~1, hashes[1] | 1))
        self.put(HASH, struct.pack("<II", 1, 3) + struct.pack("<IIII", 1, 0, 2, 0))

    def put_frames(self, code: bytes = b"\x41\x0e\x10", augmentation: bytes = b"zR") -> None:
        """.eh_frame_hdr with one row, and .eh_frame with a CIE and an FDE."""
        cie = (
            struct.pack("<I", 0)
            + b"\1"
            + augmentation
            + b"\0\1\x78\x10\1\x1b"
            + b"\x0c\x07\x08\x90\x01"
        )
        cie += bytes(-len(cie) % 4)
        fde_at = FRAMES + 4 + len(cie)
        fde = struct.pack("<IiIB", fde_at + 4 - FRAMES, FUNCTION - (fde_at + 8), 0x100, 0) + code
        fde += bytes(-len(fde) % 4)
        self.put(
            FRAMES, struct.pack("<I", len(cie)) + cie + struct.pack("<I", len(fde)) + fde + bytes(4)
        )
        head = struct.pack("<4Bi", 1, 0x1B, 3, 0x3B, FRAMES - (FRAME_HEADER + 4))
        self.put(
            FRAME_HEADER,
            head + struct.pack("<Iii", 1, FUNCTION - FRAME_HEADER, fde_at - FRAME_HEADER),
        )


Change = Callable[[Module], None]


def at(place: int, value: int, size: int = 4) -> Change:
    """A change of one number."""
    return lambda module: module.number(place, value, size)


def tag(key: int, value: int) -> Change:
    """A change of one row of .dynamic."""

    def change(module: Module) -> None:
        module.tags[key] = value
        module.put_tags()

    return change


def frames(code: str, augmentation: bytes = b"zR") -> Change:
    """Other instructions, in hexadecimal."""
    return lambda module: module.put_frames(bytes.fromhex(code), augmentation)


def many_tags(module: Module) -> None:
    """.dynamic without an end: the symbols come right after it."""
    for place in range(DYNAMIC, PAGE - 16, 16):
        module.put(place, struct.pack("<QQ", DT_SYMTAB, SYMBOLS))


def filled(place: int, data: bytes, end: int) -> Change:
    """The same bytes again and again."""
    return lambda module: module.put(place, data * ((end - place) // len(data)))


def changes() -> dict[str, Change]:
    """Lies, by what they are about."""
    found: dict[str, Change] = {}
    for i, value in enumerate(HUGE):
        for name, place, size in (
            ("gnu-buckets", GNU_HASH, 4),
            ("gnu-first", GNU_HASH + 4, 4),
            ("gnu-bloom", GNU_HASH + 8, 4),
            ("gnu-shift", GNU_HASH + 12, 4),
            ("gnu-bucket", GNU_HASH + 24, 4),
            ("sysv-buckets", HASH, 4),
            ("sysv-symbols", HASH + 4, 4),
            ("symbol-name", SYMBOLS + 24, 4),
            ("symbol-value", SYMBOLS + 24 + 8, 8),
            ("symbol-size", SYMBOLS + 24 + 16, 8),
            ("frame-count", FRAME_HEADER + 8, 4),
            ("frame-length", FRAMES, 4),
            ("note-size", NOTE + 4, 4),
            ("segment-address", 64 + 16, 8),
            ("segment-offset", 64 + 8, 8),
            ("segment-size", 64 + 40, 8),
            ("frames-size", 64 + 3 * 56 + 40, 8),
            ("sections", 40, 8),
            ("section-size", SECTIONS + 64 + 32, 8),
            ("section-place", SECTIONS + 64 + 24, 8),
            ("section-link", SECTIONS + 64 + 40, 4),
            ("section-row", SECTIONS + 64 + 56, 8),
            ("section-strings-size", SECTIONS + 128 + 32, 8),
            ("section-names-size", SECTIONS + 192 + 32, 8),
            ("section-link-size", SECTIONS + 256 + 32, 8),
            ("local-name", SYMTAB + 24, 4),
            ("local-value", SYMTAB + 24 + 8, 8),
            ("local-size", SYMTAB + 24 + 16, 8),
        ):
            found[f"{name}-{i}"] = at(place, value, size)
        for name, key in (
            ("symbols", DT_SYMTAB),
            ("strings", DT_STRTAB),
            ("gnu", DT_GNU_HASH),
            ("size", DT_STRSZ),
        ):
            found[f"tag-{name}-{i}"] = tag(key, value)
    found.update(
        {
            # Tables in each other, and in themselves.
            "overlap-strings": tag(DT_STRTAB, SYMBOLS),
            "overlap-symbols": tag(DT_SYMTAB, GNU_HASH),
            "overlap-hash": tag(DT_GNU_HASH, SYMBOLS),
            "overlap-header": tag(DT_SYMTAB, 0),
            "overlap-debug": tag(DT_DEBUG, DYNAMIC),
            # Chains that go in a circle, or never end.
            "sysv-circle": at(HASH + 12 + 4, 1),
            "sysv-long": filled(HASH + 8, struct.pack("<I", 2), 0xB00),
            "gnu-endless": filled(
                GNU_HASH + 28, struct.pack("<I", gnu_hash("function") & ~1), 3 * PAGE
            ),
            "dynamic-endless": many_tags,
            "phdr-many": at(56, 0xFFFE, 2),
            "phdr-xnum": at(56, 0xFFFF, 2),
            "phdr-far": at(32, 2**64 - 64, 8),
            "phdr-size": at(54, 0, 2),
            "sections-many": at(60, 0xFFFF, 2),
            "sections-none": at(60, 0, 2),
            "sections-names": at(62, 0xFFFF, 2),
            "section-packed": at(SECTIONS + 64 + 8, 0x800, 8),
            "section-strings-packed": at(SECTIONS + 128 + 8, 0x800, 8),
            "section-self": at(SECTIONS + 64 + 40, 1),
            "section-over-header": at(SECTIONS + 64 + 24, 0, 8),
            "link-path": lambda module: module.put(LINK, b"../module.so\0"),
            "link-endless": lambda module: module.put(LINK, b"x" * 20),
            "locals-overlap": filled(
                SYMTAB + 24, struct.pack("<IBBHQQ", 1, 2, 0, 1, FUNCTION, 0x1000), STRTAB
            ),
            "version-circle": at(NEEDED_VERSIONS + 12, 0),
            # .eh_frame_hdr and .eh_frame
            "frame-hdr-version": at(FRAME_HEADER, 2, 1),
            "frame-hdr-indirect": at(FRAME_HEADER + 3, 0x9B, 1),
            "frame-hdr-self": at(FRAME_HEADER + 16, 0),
            "frame-unsorted": filled(
                FRAME_HEADER + 12, struct.pack("<ii", 0x7FFFFFFF, -0x80000000), FRAMES
            ),
            "frame-length-64": filled(FRAMES, b"\xff", FRAMES + 12),
            "frame-cie-self": at(FRAMES + 4 + 20 + 4, 0),
            "frame-cie-fde": at(FRAMES + 4 + 20 + 4, 4),
            "augmentation-odd": frames("41", b"zRLPSBX"),
            "augmentation-eh": frames("41", b"eh"),
            "restore-deep": frames("0a" * 300),
            "restore-empty": frames("0b" * 64),
            "advance-all": frames("04ffffffff" * 40),
            "rule-many": frames("0e10" * 200),
            "register-huge": frames("05ffffffff0f 01" + "0cffffffff0f10"),
            "expression-loop": frames("0f04 2f fdff 96"),
            "expression-back": frames("0f05 30 30 28 f9ff"),
            "expression-huge": frames("0fffffffff0f 77"),
            "expression-deep": frames("0f" + "c001" + "12" * 192),
            "expression-far": frames("0f09 03 f8ffffffffffffff"),
            "same-address": frames("0e00"),
        }
    )
    return found


def runs(data: bytes) -> bytes:
    """The runs of bytes that are not zeros, as runs.h says."""
    parts, place = [], 0
    while place < len(data):
        if not any(data[place : place + 8]):
            place += 8
            continue
        end = place
        while end < len(data) and any(data[end : end + 16]):
            end += 16
        run = data[place:end].rstrip(b"\0")
        parts.append(struct.pack("<HH", place, len(run)) + run)
        place = end
    return b"".join(parts)


def packed(flags: int, data: bytes) -> bytes:
    """An input of the target."""
    return struct.pack("<BBH", flags, 2, len(data)) + runs(data)


def corpus() -> dict[str, bytes]:
    """Each input by its name."""
    inputs = {}
    sound = bytes(Module().bytes)
    for name, flags in (
        ("trusted", 0),
        ("proven", PROVEN),
        ("twice", TWICE),
        ("program", PROGRAM),
        ("below", SYSROOT),
        ("folder", PROVEN | SYMBOLS_FOLDER),
    ):
        inputs[name] = packed(flags, sound)
        inputs[name + "-sysv"] = packed(flags, bytes(Module(False).bytes))
    inputs["cut-page"] = packed(PROVEN, sound[:PAGE])
    inputs["cut-head"] = packed(0, sound[:63])
    inputs["cut-tables"] = packed(0, sound[: SYMBOLS + 30])
    for index, (name, change) in enumerate(changes().items()):
        module = Module(not name.startswith("sysv"))
        change(module)
        inputs[name] = packed(FLAGS[index % len(FLAGS)], bytes(module.bytes))
    return inputs


def main(folder: pathlib.Path) -> None:
    """Write each."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in corpus().items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "corpus" / "module_file")
