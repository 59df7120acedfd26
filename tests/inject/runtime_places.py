# SPDX-License-Identifier: MIT
"""Where the runtime's structures lie in a core: found by the formats (coreclr's headers), so that
they can be damaged.

Offsets that differ between versions stand in OFFSETS; coreclr: threads.h, appdomain.hpp, ceeload.h,
methodtable.h, codeman.h, rangesection, gc/handletablepriv.h, gc/gcinterface.dac.h.
"""
from __future__ import annotations

import struct
from typing import Any, Iterator, NamedTuple

from core_image import Image, elf_symbol, heapdump

NT_FILE = 0x46494C45

OFFSETS: dict[str, dict[int, int]] = {
    "thread.state": {8: 8, 9: 0, 10: 0, 11: 0},
    "thread.cooperative": {8: 12, 9: 4, 10: 4, 11: 4},
    "thread.frame": {8: 16, 9: 8, 10: 8, 11: 8},
    "thread.link": {8: 232, 9: 112, 10: 112, 11: 112},
    "thread.os_id": {8: 424, 9: 296, 10: 296, 11: 224},
    "thread.id": {8: 32, 9: 16, 10: 16, 11: 16},
    "thread.locals": {9: 32, 10: 32, 11: 32},
    "thread.exception": {9: 336, 10: 336, 11: 264},
    "thread.tracker": {9: 352, 10: 352, 11: 280},
    "thread.statics": {8: 1080, 9: 928, 10: 568, 11: 496},
    "module.type_defs": {8: 752, 9: 624, 10: 416, 11: 416},
    "module.type_params": {8: 968, 9: 808, 10: 600, 11: 600},
    "module.assembly": {9: 312, 10: 248, 11: 248},
    "module.r2r": {8: 1152, 9: 984, 10: 704, 11: 704},
    "r2r.entry_points": {8: 432, 9: 432, 10: 360, 11: 376},
    "module.loader_allocator": {8: 248, 9: 248, 10: 176, 11: 176},
}

SEGMENT = 65536
TAILS = 1920
VALUES = 4096


class Section(NamedTuple):
    """A RangeSection, and the words that led to it."""

    address: int
    begin: int
    end: int
    module: int
    heap: int
    levels: list[int]  # addresses of the five pointers
    fragment: int


class Method(NamedTuple):
    """Compiled code of a frame."""

    section: Section
    start: int
    header: int  # RealCodeHeader; 0: ReadyToRun
    function: int  # address of its RUNTIME_FUNCTION
    unwind: int
    gc_info: int


class Table(NamedTuple):
    """A handle table, and the words that led to it."""

    address: int
    entry: int  # of the bucket's array
    bucket: int
    bucket_slot: int
    map: int
    types: int  # N
    segments: list[int]


class Places:
    """The places of one image."""

    def __init__(self, image: Image) -> None:
        self.image = image
        info = heapdump(image.path, "info").json()
        self.major = int(info["runtime"]["version"].split(".")[0])
        self.path = info["runtime"]["path"]
        self.base = module_base(image, self.path)
        symbol = elf_symbol(self.path, "g_dacTable")
        if symbol is None or self.base is None:
            raise LookupError("no g_dacTable")
        self.dac_table = self.base + symbol

    def offset(self, name: str) -> int:
        """The offset of a field in this version; LookupError where it is not known."""
        return OFFSETS[name][self.major]

    # the GC's variables

    def gc_vars(self) -> int:
        """GcDacVars, which an entry of g_dacTable leads to."""
        image = self.image
        for i in range(64):
            variable = image.u64(self.dac_table + 8 * i)
            at = image.u64(variable) if image.has(variable) else 0
            if not image.has(at) or not image.has(at + 336) or at % 8:
                continue
            size, count = image.u64(at + 8), image.u64(at + 16)
            if 1 <= image.read(at, 1)[0] < 16 and count == 5 and 64 <= size <= 4096:
                return at
        raise LookupError("no GcDacVars")

    def handle_map(self) -> int:
        """HandleTableMap: buckets, next, index."""
        return self.image.u64(self.gc_vars() + 232)

    def tables(self) -> Iterator[Table]:
        """All handle tables."""
        image, start = self.image, self.handle_map()
        buckets = image.u64(start)
        for i in range(10):
            bucket = image.u64(buckets + 8 * i)
            if not bucket:
                continue
            array = image.u64(bucket)
            entry = array
            while image.has(entry) and image.has(image.u64(entry)):
                table = image.u64(entry)
                found = self.segments(table)
                if not found:
                    break
                yield Table(table, entry, bucket, buckets + 8 * i, start, *found)
                entry += 8

    def segments(self, table: int) -> tuple[int, list[int]] | None:
        """N and the segments of a table."""
        image = self.image
        for types in (13, 12):
            first = table + (4 * types + 7 & ~7)
            if not image.has(first) or not (segment := image.u64(first)):
                continue
            owner = segment + TAILS + 6 * types + 8
            if segment % SEGMENT or not image.has(owner) or image.u64(owner) != table:
                continue
            segments = []
            while segment:
                segments.append(segment)
                segment = image.u64(segment + TAILS + 6 * types)
            return types, segments
        return None

    # threads

    def threads(self) -> list[dict[str, Any]]:
        """The threads that run."""
        return [t for t in self.image.threads if t["os_id"] and not t["dead"]]

    def thread_store(self) -> int:
        """Address of the word that leads to the first thread: the one that is not a thread's link."""
        links = [self.link(t) for t in self.image.threads]
        first = {8: 160, 9: 160, 10: 88, 11: 88}[self.major]
        for at in self.image.find(struct.pack("<Q", self.linked(self.image.threads[0]))):
            # Before it stand no small numbers: it is the second word of the list.
            if at not in links and self.image.has(at - first) and at % 8 == 0:
                # From 11 on it is a Thread's address, which others have, too: then comes their number.
                if self.major < 11 or self.image.u32(at + 8) == len(links):
                    return at
        raise LookupError("no ThreadStore")

    def link(self, thread: dict[str, Any]) -> int:
        """The word of a Thread that leads to the next one."""
        return int(thread["address"], 16) + self.offset("thread.link")

    def linked(self, thread: dict[str, Any]) -> int:
        """The value of the word that leads to this one: its link, from 11 on the Thread itself."""
        return int(thread["address"], 16) if self.major >= 11 else self.link(thread)

    def exception_rest(self) -> int:
        """Where an ExInfo has what comes after its first words: 11 has no handle among them."""
        return 0x30 if self.major >= 11 else 0x38

    # code

    def section(self, ip: int) -> Section:
        """The RangeSection of code."""
        image = self.image
        at = image.u64(self.dac_table)
        levels = []
        for shift in (49, 41, 33, 25, 17):
            slot = at + 8 * (ip >> shift & 255)
            levels.append(slot)
            at = image.u64(slot) & ~1
        while at:
            following, begin, end, section = (image.u64(at + 8 * i) for i in range(4))
            if begin <= ip < end:
                words = [image.u64(section + 8 * i) for i in range(6)]
                return Section(section, words[0], words[1], words[4], words[5], levels, at)
            at = following & ~1
        raise LookupError("no RangeSection")

    def functions(self, section: Section) -> tuple[int, int, int]:
        """ReadyToRunInfo, its table of functions, and their number."""
        info = self.image.u64(section.module + self.offset("module.r2r"))
        return info, self.image.u64(info + 80), self.image.u32(info + 88)

    def method(self, ip: int, offset: int) -> Method:
        """The code of a frame whose ip is so far from its method's start."""
        image, section, start = self.image, self.section(ip), ip - offset
        if not section.module:
            header = image.u64(start - 8)
            count = image.u32(header + 32)
            rows = [header + 36 + 12 * i for i in range(count)]
            row = [r for r in rows if section.begin + image.u32(r) <= ip][-1]
            unwind = section.begin + image.u32(row + 8)
            return Method(section, start, header, row, unwind, image.u64(header + 16))
        _, table, count = self.functions(section)
        row = self._function(table, count, ip - section.begin)
        first = self._function(table, count, start - section.begin)
        unwind = section.begin + image.u32(first + 8)
        codes = image.read(unwind + 2, 1)[0]
        gc_info = unwind + (4 + 2 * codes + 4 + 3 & ~3)
        return Method(section, start, 0, row, section.begin + image.u32(row + 8), gc_info)

    def _function(self, table: int, count: int, rva: int) -> int:
        low, high = 0, count
        while low < high:
            middle = (low + high) // 2
            if self.image.u32(table + 12 * middle) <= rva:
                low = middle + 1
            else:
                high = middle
        return table + 12 * (low - 1)

    # types

    def module_of(self, method_table: int) -> int:
        """Module of a type."""
        return self.image.u64(method_table + 24)

    def assemblies(self, module: int) -> int:
        """The AppDomain's list of assemblies, by the element that leads to @p module (9, 10, 11)."""
        image = self.image
        assembly = image.u64(module + self.offset("module.assembly"))
        # Elements are DomainAssemblies, whose first word is the Assembly, and from 11 on Assemblies.
        elements = [assembly]
        if self.major < 11:
            elements = list(image.find(struct.pack("<Q", assembly)))
        for element in elements:
            for at in image.find(struct.pack("<Q", element)):
                # {u32 count; block {next, u32 size 5, elements}}: the first element.
                if (
                    image.has(at - 24)
                    and image.u32(at - 8) == 5
                    and 1 <= image.u32(at - 24) < 10000
                    and image.has(image.u64(at - 16) or at)
                ):
                    return at - 24
        raise LookupError("no list of assemblies")


def module_base(image: Image, path: str) -> int | None:
    """Where a file is mapped: NT_FILE, count and page size, then start, end, offset."""
    for kind, body in image.notes():
        if kind != NT_FILE:
            continue
        count, _ = struct.unpack_from("<QQ", body)
        names = body[16 + 24 * count :].split(b"\0")
        for i in range(count):
            start, _, offset = struct.unpack_from("<QQQ", body, 16 + 24 * i)
            if names[i].decode() == path and offset == 0:
                result: int = start
                return result
    return None
