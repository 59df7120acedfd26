# SPDX-License-Identifier: MIT
"""Ways to damage a heap, and the finding that must come of each.

What is patched, and where, comes from the format (coreclr: gc/gc.h, vm/object.h, vm/syncblk.h,
gc/gcinterface.dac.h), not from the program: that only lists what objects there are.
"""
from __future__ import annotations

import random
import re
import struct
from collections.abc import Callable
from typing import NamedTuple

from core_image import Image, Object, Segment, elf_symbol, heapdump
from runtime_places import module_base

HEADER_SYNC = 0x08000000
HEADER_HASH = 0x04000000
PAGE = 4096


class Damage(NamedTuple):
    """Bytes to write, and the finding that must come of it."""

    patches: list[tuple[int, bytes]]
    address: int  # of the damaged object or structure
    slot: int | None = None  # of the bad word, when there is but one
    others: tuple[int, ...] = ()  # addresses that would be as right
    segments: int = 0  # not 0: up to so many findings, wherever they are


def u64(value: int) -> bytes:
    """8 bytes, little-endian."""
    return struct.pack("<Q", value & (2**64 - 1))


def u32(value: int) -> bytes:
    """4 bytes, little-endian."""
    return struct.pack("<I", value & (2**32 - 1))


class Maker:
    """Finds the places in one image."""

    def __init__(self, image: Image) -> None:
        self.image = image
        self.random = random.Random()
        types = {o.mt for o in image.objects}
        # Where a walk that stumbles in them may go on with what only looks like objects.
        self.deceiving = {o.address for o in image.objects if self._has_old_objects(o, types)}
        self.solid = [
            o
            for o in image.objects
            if not o.free
            and image.has(o.address - 8)
            and image.has(o.end)
            and o.address not in self.deceiving
        ]
        kinds = ("System.String[]", "System.Object[]", "Facts.Node[]", "WebShop.Product[]")
        self.arrays = [o for o in self.solid if o.type in kinds and o.size > 32]
        # Damage to what nobody uses may look like something else.
        self.referred = {
            image.u64(slot)
            for array in self.arrays
            for slot in range(array.address + 16, array.address + array.size - 8, 8)
        }
        # With an object right before and one directly after.
        ends = {o.end for o in image.objects}
        self.inner = [o for o in self.solid if o.address in ends and self.next(o)]
        self.known = [o for o in self.inner if o.address in self.referred]
        self.free = [o for o in image.objects if o.free and self.next(o)]
        self.places: dict[tuple[int, int], int] = {}

    def _has_old_objects(self, o: Object, types: set[int]) -> bool:
        """
        Do objects seem to lie in an array of numbers: of earlier days, if it was not cleared, or
        method tables in the runtime's cache of casts?
        """
        if o.type not in ("System.Byte[]", "System.Char[]", "System.Int32[]", "System.UInt64[]"):
            return False
        words = struct.iter_unpack("<Q", self.image.read(o.address + 16, o.step - 24))
        return any(word in types for (word,) in words)

    def next(self, o: Object) -> Object | None:
        """The object directly after another."""
        return self.image.at(o.end)

    def choose(self, objects: list[Object]) -> Object:
        """One of them."""
        return self.random.choice(objects)

    def _where(self, objects: list[Object], wanted: Callable[[Object], bool]) -> Object:
        """One that is wanted, by trying; LookupError when there seems to be none."""
        for _ in range(100_000):
            o = self.choose(objects)
            if wanted(o):
                return o
        raise LookupError("no such object")

    def slot(self) -> tuple[Object, int]:
        """An array of references, and one of its slots that is not null."""
        while True:
            array = self.choose(self.arrays)
            slots = range(array.address + 16, array.address + array.size - 8, 8)
            slots_used = [s for s in slots if self.image.u64(s)]
            if slots_used:
                return array, self.random.choice(slots_used)

    # method tables

    def bad_mt(self, word: int) -> Damage:
        """A word in place of a method table."""
        o = self.choose(self.known)
        return Damage([(o.address, u64(word))], o.address, o.address)

    def mt_garbage(self) -> Damage:
        return self.bad_mt(0x4141414141414140)

    def mt_random(self) -> Damage:
        return self.bad_mt(self.random.getrandbits(64))

    def mt_zero(self) -> Damage:
        return self.bad_mt(0)

    def mt_text(self) -> Damage:
        return self.bad_mt(struct.unpack("<Q", "StBa".encode("utf-16-le"))[0])

    def mt_into_heap(self) -> Damage:
        return self.bad_mt(self.choose(self.solid).address)

    def mt_itself(self) -> Damage:
        o = self.choose(self.known)
        return Damage([(o.address, u64(o.address))], o.address, o.address)

    def mt_near(self) -> Damage:
        o = self.choose(self.known)
        return Damage([(o.address, u64(o.mt + 8))], o.address, o.address)

    def mt_other_larger(self) -> Damage:
        """The method table of a larger class: the objects after seem to be part of it."""
        o, other = self._two_types()
        while other.size <= o.size or not self._covers_known(o, other.size):
            o, other = self._two_types()
        return Damage([(o.address, u64(other.mt))], o.address)

    def mt_other_smaller(self) -> Damage:
        """The method table of a smaller class: its rest is not an object."""
        o, other = self._two_types()
        while other.step >= o.step or self.image.u64(o.address + other.step) == 0:
            o, other = self._two_types()
        rest = o.address + other.step
        return Damage([(o.address, u64(other.mt))], o.address, None, (rest,))

    def _two_types(self) -> tuple[Object, Object]:
        def plain(o: Object) -> bool:
            return "[" not in o.type and o.type != "System.String"

        return self._where(self.known, plain), self._where(self.solid, plain)

    def _covers_known(self, o: Object, size: int) -> bool:
        at = self.next(o)
        end = (o.address + size + 7) & ~7
        known = False
        while at and at.end <= end:
            known = known or at.address in self.referred
            at = self.next(at)
        # It must end inside an object that others know, so that a walk stumbles there.
        if not at or at.address in self.deceiving:
            return False
        return at.address < end < at.end and (known or at.address in self.referred)

    # references

    def reference(self, value: int) -> Damage:
        """A value in place of a reference."""
        array, slot = self.slot()
        return Damage([(slot, u64(value))], array.address, slot)

    def ref_wild(self) -> Damage:
        return self.reference(0x00007ABCDEF01230)

    def ref_text(self) -> Damage:
        return self.reference(0x6F20776F6C6C6548)

    def ref_small(self) -> Damage:
        return self.reference(8)

    def ref_unaligned(self) -> Damage:
        array, slot = self.slot()
        return Damage([(slot, u64(self.image.u64(slot) + 4))], array.address, slot)

    def ref_middle(self) -> Damage:
        return self.reference(self._where(self.solid, lambda o: o.size > 40).address + 8)

    def ref_to_free(self) -> Damage:
        return self.reference(self.choose(self.free).address)

    def ref_to_type(self) -> Damage:
        return self.reference(self.choose(self.solid).mt)

    def ref_to_context(self) -> Damage:
        return self.reference(int(self._context()["context"]["pointer"], 16))

    def ref_field(self) -> Damage:
        """A reference field of an object: the last word of a Node or Session."""
        kinds = ("Facts.Node", "WebShop.Session", "WebShop.Customer")
        o = self._where(self.solid, lambda o: o.type in kinds)
        slots = [
            s
            for s in range(o.address + 8, o.address + o.size - 8, 8)
            if self.image.at(self.image.u64(s))
        ]
        if not slots:
            return self.ref_field()
        slot = self.random.choice(slots)
        return Damage([(slot, u64(0x7FFFFFFFF000))], o.address, slot)

    def ref_two_in_one(self) -> Damage:
        array, slot = self.slot()
        while array.size < 64:
            array, slot = self.slot()
        first = array.address + 16
        return Damage([(first, u64(0x1230)), (first + 8, u64(0x4560))], array.address, first)

    # sizes

    def length(self, o: Object, length: int) -> Damage:
        """Another length of an array or string."""
        return Damage([(o.address + 8, u32(length))], o.address, o.address + 8)

    def sized(self, *types: str) -> Object:
        """An object with a length, of one of these types."""
        return self._where(self.inner, lambda o: o.size > 48 and o.type in types)

    def length_huge(self) -> Damage:
        return self.length(self.sized("System.Int32[]", "System.String[]"), 0x7FFFFFFF)

    def length_wraps(self) -> Damage:
        return self.length(self.sized("System.Object[]", "System.String[]"), 0xFFFFFFFF)

    def length_negative(self) -> Damage:
        return self.length(self.sized("System.Byte[]"), 0x80000000)

    def length_long(self) -> Damage:
        """An array that covers objects which others know."""
        while True:
            o = self.sized("System.String[]", "System.Object[]")
            more = self.random.randrange(1, 12)
            if self._covers_known(o, o.size + 8 * more):
                return self.length(o, self.image.u32(o.address + 8) + more)

    def length_short(self) -> Damage:
        """An array of references with fewer elements: the rest are references, not objects."""
        while True:
            o = self.sized("System.String[]", "System.Object[]")
            count = self.image.u32(o.address + 8)
            keep = self.random.randrange(0, count)
            rest = o.address + max(24, 24 + 8 * keep)
            words = [self.image.u64(a) for a in range(rest, o.end - 8, 8)]
            if any(words):
                return self.length(o, keep)

    def length_short_numbers(self) -> Damage:
        while True:
            o = self.sized("System.Int32[]", "System.Double[]", "System.UInt64[]")
            half = self.image.u32(o.address + 8) // 2
            rest = (o.address + 24 + 4 * half + 7) & ~7
            if self.image.u64(rest) and self.image.u32(rest - 8):
                return Damage([(o.address + 8, u32(half))], o.address, None, (rest,))

    def string_long(self) -> Damage:
        while True:
            o = self.sized("System.String")
            more = self.random.randrange(1, 40)
            if self._covers_known(o, o.size + 2 * more):
                return self.length(o, self.image.u32(o.address + 8) + more)

    def string_short(self) -> Damage:
        while True:
            o = self.sized("System.String")
            length = self.image.u32(o.address + 8)
            keep = self.random.randrange(1, length - 8)
            if self.image.u64((o.address + 22 + 2 * keep + 7) & ~7):
                return self.length(o, keep)

    def string_text(self) -> Damage:
        o = self.sized("System.String")
        return self.length(o, 0x00610062)

    def free_huge(self) -> Damage:
        o = self.choose(self.free)
        return Damage([(o.address + 8, u64(0x7FFFFFFFFF))], o.address, o.address + 8)

    def free_long(self) -> Damage:
        for _ in range(10000):
            o = self.choose(self.free)
            more = 8 * self.random.randrange(2, 20)
            if self._covers_known(o, o.size + more):
                return Damage([(o.address + 8, u64(o.size - 24 + more))], o.address, o.address + 8)
        raise LookupError("no free object before a known one")

    # headers

    def _plain_header(self) -> Object:
        while True:
            o = self.choose(self.inner)
            if o.generation != "nongc" and self.image.u32(o.address - 4) == 0:
                return o

    def header(self, word: int) -> Damage:
        """A header word."""
        o = self._plain_header()
        return Damage([(o.address - 4, u32(word))], o.address, o.address - 4)

    def sync_out_of_range(self) -> Damage:
        return self.header(HEADER_SYNC | 0x3FFFFF)

    def sync_zero(self) -> Damage:
        return self.header(HEADER_SYNC)

    def sync_of_other(self) -> Damage:
        def has_block(o: Object) -> bool:
            word = self.image.u32(o.address - 4)
            return bool(word & HEADER_SYNC and not word & HEADER_HASH)

        return self.header(self.image.u32(self._where(self.solid, has_block).address - 4))

    def lock_dead(self) -> Damage:
        return self.header(0x0000BEEF)

    def lock_text(self) -> Damage:
        return self.header(0x00E1E2E3)

    def mark(self) -> Damage:
        o = self.choose(self.inner)
        return Damage([(o.address, u64(o.mt | 1))], o.address, o.address)

    # runs of bytes

    def run_text(self) -> Damage:
        """Text that runs from the end of one object over the header and fields of the next."""
        kinds = ("System.Byte[]", "System.Char[]", "System.String")
        while True:
            last = self._where(self.solid, lambda o: o.type in kinds)
            o = self.next(last)
            if not o or o.free or o.address not in self.referred or not self.next(o):
                continue
            text = ("All your heap are belong to us. " * 20).encode("utf-16-le")
            size = min(o.size - 8, len(text)) + 8
            return Damage([(o.address - 8, text[:size])], o.address, None, (last.address,))

    def run_fields(self) -> Damage:
        """Text over the last fields of an object, and on over the next one."""
        while True:
            array = self.choose(self.arrays)
            o = self.next(array)
            if array.size < 80 or not o or o.free or not self.next(o) or o.size > 400:
                continue
            if o.address not in self.referred:
                continue
            start = o.address - 8 - 24
            size = 24 + o.size
            return Damage([(start, (b"overwritten " * 60)[:size])], array.address)

    def zero_page(self) -> Damage:
        while True:
            o = self.choose(self.known)
            segment = self.image.segment_of(o.address)
            page = o.address & ~(PAGE - 1)
            if not segment or o.generation == "nongc":
                continue
            if segment.begin <= page and page + PAGE <= segment.allocated and o.end < page + PAGE:
                return Damage([(page, bytes(PAGE))], page, None, (), 1)

    # contexts

    def _context(self) -> dict[str, dict[str, str]]:
        # A thread in managed code may be about to change its context.
        threads = [
            t
            for t in self.image.threads
            if int(t["context"]["pointer"], 16) and not t["cooperative"]
        ]
        thread: dict[str, dict[str, str]] = self.random.choice(threads)
        return thread

    def context(self, change: Callable[[int, int], tuple[int, int]]) -> Damage:
        """Another pointer or limit of a thread's context, which lies beside it: {pointer, limit}."""
        thread = self._context()
        pointer, limit = (int(thread["context"][key], 16) for key in ("pointer", "limit"))
        key = (pointer, limit)
        if key not in self.places:
            self.places[key] = self.image.find(u64(pointer) + u64(limit))[0]
        where = self.places[key]
        changed = change(pointer, limit)
        slot = where if changed[0] != pointer else where + 8
        return Damage([(where, u64(changed[0]) + u64(changed[1]))], where, slot, (pointer,))

    def context_limit_below(self) -> Damage:
        return self.context(lambda pointer, limit: (pointer, pointer - 64))

    def context_outside(self) -> Damage:
        return self.context(lambda pointer, limit: (0x123456789000, limit))

    def context_limit_outside(self) -> Damage:
        return self.context(lambda pointer, limit: (pointer, limit + (1 << 32)))

    def context_pointer_up(self) -> Damage:
        return self.context(lambda pointer, limit: (pointer + 0x40, limit))

    def context_pointer_down(self) -> Damage:
        return self.context(lambda pointer, limit: (pointer - 0x100, limit))

    def context_limit_up(self) -> Damage:
        return self.context(lambda pointer, limit: (pointer, limit + 0x400))

    def context_limit_down(self) -> Damage:
        return self.context(lambda pointer, limit: (pointer, pointer + (limit - pointer) // 16 * 8))

    def context_unaligned(self) -> Damage:
        return self.context(lambda pointer, limit: (pointer + 3, limit))

    # segments

    def _segment(self) -> Segment:
        """A region of generation 2, or a larger one of large objects."""
        kinds = ("2", "loh", "1", "poh")
        big = [
            s
            for s in self.image.segments
            if s.generation in kinds
            and s.allocated - s.begin > 2 * PAGE
            and sum(s.begin <= o.address < s.allocated for o in self.solid) > 8
        ]
        return self.random.choice(big)

    def segment_cut(self) -> Damage:
        segment = self._segment()
        inside = [o for o in self.solid if segment.begin <= o.address and o.end < segment.allocated]
        cut = self.choose(inside[len(inside) // 4 : 3 * len(inside) // 4])
        return Damage(
            [(segment.address, u64(cut.address + cut.step // 2 & ~7))], segment.address, None, (), 1
        )

    def segment_cut_between(self) -> Damage:
        """At the end of an object: only what refers after it can tell."""
        while True:
            segment = self._segment()
            inside = [o for o in self.known if segment.begin < o.address < segment.allocated]
            if inside:
                cut = self.choose(inside)
                return Damage([(segment.address, u64(cut.address))], segment.address, None, (), 1)

    def segment_long(self) -> Damage:
        while True:
            segment = self._segment()
            # Zeros may be a pinned object in the making, when a thread is in managed code.
            if segment.generation != "poh" and segment.allocated + 64 <= min(
                segment.committed, segment.reserved
            ):
                return Damage(
                    [(segment.address, u64(segment.allocated + 64))], segment.address, None, (), 1
                )

    def segment_beyond(self) -> Damage:
        segment = self._segment()
        return Damage([(segment.address, u64(segment.reserved + 0x1000))], segment.address)

    def segment_self_linked(self) -> Damage:
        """heap_segment.next at +48 names its own segment."""
        segment = self._segment()
        return Damage(
            [(segment.address + 48, u64(segment.address))], segment.address, segment.address + 48
        )

    def segment_list_wild(self) -> Damage:
        segment = self._segment()
        return Damage(
            [(segment.address + 48, u64(0x123456789008))], segment.address, segment.address + 48
        )

    # finalizer queue

    def _queue(self) -> int:
        """CFinalize of the first heap, by GcDacVars (+144), which g_dacTable leads to."""
        info = heapdump(self.image.path, "info").json()
        path = info["runtime"]["path"]
        table = elf_symbol(path, "g_dacTable")
        base = module_base(self.image, path)
        if table is None or base is None:
            raise LookupError("no g_dacTable")
        for i in range(64):
            # An entry is the address of a variable, here of a pointer to GcDacVars.
            variable = self.image.u64(base + table + 8 * i)
            at = self.image.u64(variable) if self.image.has(variable) else 0
            if not self.image.has(at) or not self.image.has(at + 336) or at % 8:
                continue
            size, count = self.image.u64(at + 8), self.image.u64(at + 16)
            if 1 <= self.image.read(at, 1)[0] < 16 and count == 5 and 64 <= size <= 4096:
                if self.image.u64(at + 184):  # g_heaps: server
                    raise LookupError("server GC")
                return self.image.u64(self.image.u64(at + 144))
        raise LookupError("no GcDacVars")

    def queue_entry(self) -> Damage:
        queue = self._queue()
        fills = [self.image.u64(queue + 8 * i) for i in range(7)]
        start = self.image.u64(queue + 56)
        entry = self.random.randrange(start, fills[6], 8)
        return Damage([(entry, u64(0x123456789ABC))], queue, entry)

    def queue_not_finalizable(self) -> Damage:
        queue = self._queue()
        start = self.image.u64(queue + 56)
        string = self._where(self.solid, lambda o: o.type == "System.String")
        return Damage([(start, u64(string.address))], queue, start)

    def queue_order(self) -> Damage:
        queue = self._queue()
        return Damage([(queue + 24, u64(self.image.u64(queue + 56) - 0x1000))], queue, queue + 24)


KINDS = [
    name
    for name in vars(Maker)
    if re.match("(mt|ref|length|string|free|sync|lock|mark|run|zero|context|segment|queue)_?", name)
    and name not in ("reference", "referred", "context", "length")
]
