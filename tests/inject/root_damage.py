# SPDX-License-Identifier: MIT
"""Ways to damage what roots are found by: one word by another, or more at once."""
from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

from core_image import PT_LOAD, elf_segment
from root_places import Place, RootPlaces, sources, thread_source
from runtime_places import SEGMENT, TAILS, VALUES, module_base

NT_PRSTATUS = 1
NT_UNKNOWN = 0x6F6F6F6F
PAGE = 4096
EVERYTHING = sources("all", "heap")


class Damage(NamedTuple):
    """Bytes to write, and whose roots may change."""

    name: str
    patches: list[tuple[int, bytes]]
    sources: frozenset[str]
    lies: bool = False  # it fits: nobody can tell
    objects: tuple[int, ...] = ()  # roots to these may go, too
    file: tuple[tuple[int, bytes], ...] = ()  # patches by offset in the file
    length: int = 0  # not 0: what is left of the file


Value = Callable[[RootPlaces, Place, int], int]

# In place of a word: what it was is the third argument.
VALUES_OF: dict[str, Value] = {
    "zero": lambda at, place, old: 0,
    "ones": lambda at, place, old: 2**64 - 1,
    "wild": lambda at, place, old: 0x00007ABCDEF01230,
    "text": lambda at, place, old: 0x4141414141414141,
    "kernel": lambda at, place, old: 0xFFFF888000001000,
    "self": lambda at, place, old: place.address,
    "one": lambda at, place, old: old + 1,
    "next": lambda at, place, old: old + 8,
    "before": lambda at, place, old: old - 8,
    "page": lambda at, place, old: old + PAGE,
    "bit": lambda at, place, old: old ^ 1 << at.random.randrange(8 * place.size),
    "random": lambda at, place, old: at.random.getrandbits(64),
    "object": lambda at, place, old: at.object().address,
    "inside": lambda at, place, old: at.object().address + 8,
    "free": lambda at, place, old: at.random.choice(
        [o for o in at.image.objects if o.free]
    ).address,
    "stack": lambda at, place, old: int(at.frames(at.thread()[1])[-1]["sp"], 16),
    "code": lambda at, place, old: at.methods()[0][1].start + 5,
    "thread": lambda at, place, old: at.thread()[0],
}
# Bytes and counts have fewer.
SMALL = ("zero", "ones", "one", "bit", "random")


def word_damages(at: RootPlaces) -> Iterator[Damage]:
    """All words by all values."""
    for place in at.all():
        if not at.image.has(place.address + place.size - 1):
            continue
        old = int.from_bytes(at.image.read(place.address, place.size), "little")
        for name, value in VALUES_OF.items():
            if place.size < 8 and name not in SMALL:
                continue
            word = value(at, place, old) & (1 << 8 * place.size) - 1
            if word != old:
                o = at.image.at(word)
                fits = place.is_slot and (not word or (o is not None and not o.free))
                yield Damage(
                    f"{place.name}={name}",
                    [(place.address, word.to_bytes(place.size, "little"))],
                    place.sources,
                    fits or name in place.lies or "*" in place.lies,
                    place.objects,
                )


Maker = Callable[[RootPlaces], Damage]
MAKERS: list[Maker] = []


def kind(make: Maker) -> Maker:
    """A damage of more than a word."""
    MAKERS.append(make)
    return make


def u64(*values: int) -> bytes:
    """Little-endian."""
    return struct.pack(f"<{len(values)}Q", *(value & (2**64 - 1) for value in values))


# handle tables


@kind
def handles_header_random(at: RootPlaces) -> Damage:
    """The header of a segment but what it is recognised by."""
    segment = at.random.choice(at.table().segments)
    noise = at.random.randbytes(TAILS)
    return Damage("", [(segment, noise)], sources("handles"), True)


@kind
def handles_values_random(at: RootPlaces) -> Damage:
    """All handles of a segment."""
    segment = at.random.choice(at.table().segments)
    return Damage("", [(segment + VALUES, at.random.randbytes(PAGE))], sources("handles"))


@kind
def handles_segment_zero(at: RootPlaces) -> Damage:
    """A segment of zeros."""
    segment = at.random.choice(at.table().segments)
    return Damage("", [(segment, bytes(VALUES))], sources("handles"))


@kind
def handles_all_types(at: RootPlaces) -> Damage:
    """Types of blocks that do not exist."""
    segment = at.random.choice(at.table().segments)
    return Damage("", [(segment + 1560, b"\x77" * 120)], sources("handles"))


@kind
def handles_all_strong(at: RootPlaces) -> Damage:
    """All blocks strong ones: the counts of free handles tell."""
    segment = at.random.choice(at.table().segments)
    types = at.image.read(segment + 1560, 120)
    changed = bytes(2 if t < 10 else t for t in types)
    return Damage("", [(segment + 1560, changed)], sources("handles"))


@kind
def handles_all_used(at: RootPlaces) -> Damage:
    """No handle is free, in any block."""
    segment = at.random.choice(at.table().segments)
    return Damage("", [(segment + 600, bytes(960))], sources("handles"))


@kind
def handles_all_free(at: RootPlaces) -> Damage:
    """All handles are free, in each block."""
    segment = at.random.choice(at.table().segments)
    return Damage("", [(segment + 600, b"\xff" * 960)], sources("handles"))


@kind
def handles_ring(at: RootPlaces) -> Damage:
    """A second segment, a copy of the first, that leads back."""
    table = at.table()
    first = table.segments[0]
    places = [
        a
        for a, _, size in at.image.loads
        if size >= 2 * SEGMENT and not any(s.begin <= a < s.reserved for s in at.image.segments)
    ]
    copy = at.random.choice(places) + SEGMENT - 1 & ~(SEGMENT - 1)
    following = TAILS + 6 * table.types
    header = bytearray(at.image.read(first, VALUES))
    header[following : following + 8] = u64(first)
    # The object that was there is lost: it may have been anything.
    return Damage("", [(first + following, u64(copy)), (copy, bytes(header))], sources("all"), True)


# finalizer queues


@kind
def queue_huge(at: RootPlaces) -> Damage:
    """Bounds that span terabytes."""
    queue = int(at.random.choice(at.queues)["queue"], 16)
    start = at.image.u64(queue + 56)
    end = start + (1 << 43)
    return Damage("", [(queue, u64(*[end] * 7, start, end))], sources("finalizers"))


@kind
def queue_all_random(at: RootPlaces) -> Damage:
    """Nothing of it is left."""
    queue = int(at.random.choice(at.queues)["queue"], 16)
    return Damage("", [(queue, at.random.randbytes(72))], sources("finalizers"))


@kind
def queue_entries_random(at: RootPlaces) -> Damage:
    """Entries that are not objects."""
    queue = int(at.random.choice(at.queues)["queue"], 16)
    start, end = at.image.u64(queue + 56), at.image.u64(queue + 48)
    return Damage("", [(start, at.random.randbytes(end - start))], sources("finalizers"))


# threads


@kind
def thread_random(at: RootPlaces) -> Damage:
    """All that a Thread says, but its place in the list."""
    thread, os_id = at.thread()
    link = at.places.offset("thread.link")
    noise = at.random.randbytes(1100)
    patches = [(thread + 8, noise[: link - 8]), (thread + link + 8, noise[link:])]
    patches = [(a, d) for a, d in patches if at.image.has(a + len(d) - 1)]
    mine = sources(thread_source(os_id), f"thread-statics {os_id}", "threads")
    return Damage("", patches, mine, True)


@kind
def threads_ring(at: RootPlaces) -> Damage:
    """The last thread's link leads to the first."""
    first, last = at.image.threads[0], at.image.threads[-1]
    return Damage("", [(at.places.link(last), u64(at.places.linked(first)))], sources("threads"))


@kind
def threads_cut(at: RootPlaces) -> Damage:
    """The list ends after the third: their number tells."""
    third = at.places.link(at.image.threads[2])
    return Damage("", [(third, u64(0))], sources("threads"))


@kind
def frames_ring(at: RootPlaces) -> Damage:
    """The last Frame leads to the first."""
    rows = [t for t in at.stacks if sum(f["kind"] == "explicit" for f in t["frames"]) > 1]
    thread = at.random.choice(rows)
    frames = [int(f["frame"], 16) for f in thread["frames"] if f["kind"] == "explicit"]
    return Damage("", [(frames[-1] + 8, u64(frames[0]))], sources(thread_source(thread["os_id"])))


@kind
def exceptions_made_up(at: RootPlaces) -> Damage:
    """A ring of exceptions in flight, below the stack."""
    thread, os_id = at.thread()
    tracker = thread + at.places.offset("thread.tracker")
    below = int(at.frames(os_id)[0]["sp"], 16) - 2 * PAGE & ~15
    handle = int(at.random.choice(at.handles)["address"], 16)
    # From 11 on a record has the object itself.
    place, what = (8, handle) if at.places.major < 11 else (168, at.image.u64(handle))
    patches = [(tracker, u64(below))]
    for record, following in ((below, below + 1024), (below + 1024, below)):
        patches += [(record, u64(following)), (record + place, u64(what))]
    return Damage("", patches, sources(thread_source(os_id)), True)


@kind
def exceptions_unwound(at: RootPlaces) -> Damage:
    """An exception that says that all of the stack is unwound."""
    for row in at.image.threads:
        record = at.image.u64(int(row["address"], 16) + at.places.offset("thread.tracker"))
        if record:
            mine = sources(thread_source(row["os_id"]))
            rest = record + at.places.exception_rest()
            patches = [(rest + 0x08, b"\x04"), (rest + 0x48, u64(0, 2**64 - 1))]
            return Damage("", patches, mine, True)
    raise LookupError("no exception")


# code


@kind
def gc_info_random(at: RootPlaces) -> Damage:
    """All of a method's GCInfo."""
    _, method = at.random.choice(at.methods())
    return Damage("", [(method.gc_info, at.random.randbytes(48))], sources("stacks"), True)


@kind
def gc_info_ones(at: RootPlaces) -> Damage:
    """Numbers without end."""
    _, method = at.random.choice(at.methods())
    return Damage("", [(method.gc_info, b"\xff" * 64)], sources("stacks"), True)


@kind
def unwind_loop(at: RootPlaces) -> Damage:
    """Unwind information that is chained to itself."""
    _, method = at.random.choice(at.methods())
    where = method.unwind - method.section.begin
    codes = at.image.read(method.unwind + 2, 1)[0]
    head = at.image.read(method.unwind, 1)[0] & 7 | 4 << 3
    row = at.image.read(method.function, 8) + struct.pack("<I", where & 0xFFFFFFFF)
    behind = method.unwind + 4 + 2 * (codes + 1 & ~1)
    return Damage("", [(method.unwind, bytes([head])), (behind, row)], sources("stacks"))


@kind
def unwind_empty_loop(at: RootPlaces) -> Damage:
    """The same, without codes: nothing changes on the way."""
    _, method = at.random.choice(at.methods())
    where = method.unwind - method.section.begin
    row = at.image.read(method.function, 8) + struct.pack("<I", where & 0xFFFFFFFF)
    return Damage("", [(method.unwind, b"\x21\0\0\0" + row)], sources("stacks"))


@kind
def unwind_huge(at: RootPlaces) -> Damage:
    """A frame of 4 GB."""
    _, method = at.random.choice(at.methods())
    data = bytes([1, 0, 3, 0, 0, 0x11, 0xF8, 0xFF, 0xFF, 0xFF])
    return Damage("", [(method.unwind, data)], sources("stacks"))


@kind
def unwind_nothing(at: RootPlaces) -> Damage:
    """A frame of no bytes but the return address."""
    _, method = at.random.choice(at.methods())
    return Damage("", [(method.unwind, bytes([1, 0, 0, 0]))], sources("stacks"), True)


@kind
def nibbles_zero(at: RootPlaces) -> Damage:
    """No method is in the map of a heap of code."""
    method = at.random.choice([m for _, m in at.methods() if m.header])
    base, nibbles = (at.image.u64(method.section.heap + i) for i in (32, 40))
    end = min(method.section.end - base, 1 << 20) // 256 * 4
    while not at.image.has(nibbles + end - 1):
        end //= 2
    return Damage("", [(nibbles, bytes(end))], sources("stacks"))


@kind
def nibbles_ones(at: RootPlaces) -> Damage:
    """Everywhere a method begins."""
    method = at.random.choice([m for _, m in at.methods() if m.header])
    base, nibbles = (at.image.u64(method.section.heap + i) for i in (32, 40))
    unit = (method.start - base) // 256
    return Damage("", [(nibbles + 4 * unit, b"\xff" * 8)], sources("stacks"))


def _image(at: RootPlaces, name: str) -> tuple[int, int, int]:
    """Base of a library, address and size of its .eh_frame_hdr."""
    path = at.places.path
    if name != "libcoreclr":
        path = next(p for p in at.image.mapped() if p.rsplit("/", 1)[-1].startswith(name))
    base = module_base(at.image, path)
    found = elf_segment(path, 0x6474E550)
    if base is None or found is None or not at.image.has(base + found[0] + found[1] - 1):
        raise LookupError(f"no .eh_frame_hdr of {name}")
    return base, base + found[0], found[1]


def _frames_damage(at: RootPlaces, data: Callable[[int], bytes]) -> Damage:
    name = at.random.choice(("libcoreclr", "libc.so", "libSystem.Native"))
    _, header, size = _image(at, name)
    return Damage("", [(header, data(size))], sources("stacks"), True)


@kind
def cfi_zero(at: RootPlaces) -> Damage:
    """.eh_frame_hdr of zeros."""
    return _frames_damage(at, bytes)


@kind
def cfi_random(at: RootPlaces) -> Damage:
    """.eh_frame_hdr of noise after the four bytes that say how it is encoded."""
    head = bytes([1, 0x1B, 3, 0x3B])
    return _frames_damage(at, lambda size: head + at.random.randbytes(size - 4))


@kind
def cfi_entries(at: RootPlaces) -> Damage:
    """.eh_frame, which follows its header, with noise here and there."""
    _, header, size = _image(at, at.random.choice(("libcoreclr", "libc.so")))
    patches = []
    for _ in range(4000):
        place = header + size + at.random.randrange(8 * size)
        if at.image.has(place):
            patches.append((place, at.random.randbytes(1)))
    return Damage("", patches, sources("stacks"), True)


# the core


def _load(at: RootPlaces, address: int) -> tuple[int, int]:
    """Offset of the program header whose bytes hold an address; begin of the part."""
    for place, start, size in at.image.headers(PT_LOAD):
        if start <= address < start + size:
            return place, start
    raise LookupError("not in the core")


def _without(at: RootPlaces, address: int, names: frozenset[str]) -> Damage:
    """The bytes of that part of memory are not in the file."""
    place, _ = _load(at, address)
    return Damage("", [], names, False, (), ((place + 32, u64(0)),))


@kind
def core_without_stack(at: RootPlaces) -> Damage:
    """A stack is not in the core, nor what lies beside it: other stacks, and objects, perhaps."""
    _, os_id = at.thread()
    return _without(at, int(at.frames(os_id)[0]["sp"], 16), EVERYTHING)


@kind
def core_without_stack_mapping(at: RootPlaces) -> Damage:
    """Not even its program header is."""
    _, os_id = at.thread()
    place, _ = _load(at, int(at.frames(os_id)[0]["sp"], 16))
    return Damage("", [], EVERYTHING, False, (), ((place, struct.pack("<I", 0)),))


@kind
def core_half_stack(at: RootPlaces) -> Damage:
    """The part of a stack after the first frame is not in the core."""
    _, os_id = at.thread(lambda t: len(t["frames"]) > 2)
    frame = int(at.frames(os_id)[1]["sp"], 16)
    place, start = _load(at, frame)
    return Damage("", [], EVERYTHING, False, (), ((place + 32, u64((frame & ~7) - start)),))


@kind
def core_without_handles(at: RootPlaces) -> Damage:
    """The handle table's segment is not in the core."""
    return _without(at, at.table().segments[0], sources("handles", "thread-statics", "threads"))


@kind
def core_without_queue(at: RootPlaces) -> Damage:
    """The finalizer queue's entries are not in the core, nor what lies beside them."""
    queue = int(at.random.choice(at.queues)["queue"], 16)
    return _without(at, at.image.u64(queue + 56), sources("all"))


@kind
def core_without_statics(at: RootPlaces) -> Damage:
    """The part of the heap with the objects that statics lie in."""
    slot = at.random.choice([r for r in at.roots if r["kind"] == "static"])
    return _without(at, int(slot["address"], 16), sources("all"))


@kind
def core_without_registers(at: RootPlaces) -> Damage:
    """A thread without registers."""
    _, os_id = at.thread()
    for place, number, body in at.image.note_places():
        if number == NT_PRSTATUS and struct.unpack_from("<I", body, 32)[0] == os_id:
            names = sources(thread_source(os_id))
            return Damage("", [], names, False, (), ((place, struct.pack("<I", NT_UNKNOWN)),))
    raise LookupError("no PRSTATUS")


@kind
def core_without_any_registers(at: RootPlaces) -> Damage:
    """All threads without registers."""
    rows = [place for place, number, _ in at.image.note_places() if number == NT_PRSTATUS]
    patches = tuple((place, struct.pack("<I", NT_UNKNOWN)) for place in rows)
    return Damage("", [], sources("stacks", "threads"), False, (), patches)


def _cut(at: RootPlaces, part: int) -> Damage:
    return Damage("", [], sources("all"), False, (), (), len(at.image.map) * part // 100)


for _part in (99, 90, 75, 50, 25, 10, 1):

    def _make(at: RootPlaces, part: int = _part) -> Damage:
        return _cut(at, part)

    _make.__name__ = f"core_cut_{_part}"
    kind(_make)


# objects


@kind
def objects_smashed(at: RootPlaces) -> Damage:
    """The types of a hundred objects."""
    rows = [at.object().address for _ in range(100)]
    return Damage("", [(a, at.random.randbytes(8)) for a in rows], sources("heap"))


@kind
def collecting(at: RootPlaces) -> Damage:
    """In the middle of a GC: its flag, and objects with gaps before plugs."""
    invalid = at.image.u64(at.places.gc_vars() + 192)
    rows = [at.object().address for _ in range(50)]
    patches = [(a, u64(0xFFFFFFFFFD1982A0)) for a in rows]
    return Damage("", [(invalid, b"\1\0\0\0"), *patches], sources("heap", "stacks"))


def made_damages(at: RootPlaces) -> Iterator[Damage]:
    """One of each of the others."""
    for make in MAKERS:
        try:
            yield make(at)._replace(name=make.__name__)
        except (LookupError, StopIteration):
            pass
