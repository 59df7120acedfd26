# SPDX-License-Identifier: MIT
"""Roots are found by these: words of the handle tables, finalizer queues, threads, Frames, stacks, code
maps, statics and objects, each with the roots that depend on it."""
from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from core_image import Image, Object, heapdump
from runtime_places import TAILS, VALUES, Method, Places, Table

Json = dict[str, Any]


class Place(NamedTuple):
    """A word."""

    name: str
    address: int
    sources: frozenset[str]  # of the roots that depend on it
    size: int = 8
    lies: tuple[str, ...] = ()  # values that nobody can tell from right ones; "*": all
    is_slot: bool = False  # it refers to an object: any other will do, and null
    objects: tuple[int, ...] = ()  # roots to these may go, too


def sources(*names: str) -> frozenset[str]:
    """The roots that a place leads to."""
    return frozenset(names)


def thread_source(os_id: int) -> str:
    """The source of all that one thread keeps alive."""
    return f"thread {os_id}"


class RootPlaces:
    """Finds them in one image, at random where there are many."""

    def __init__(self, image: Image, seed: str) -> None:
        self.image = image
        self.places = Places(image)
        self.random = random.Random(seed)
        self.stacks = heapdump(image.path, "clrstack", "-roots").json()["threads"]
        self.roots: list[Json] = heapdump(image.path, "roots").json()["roots"]
        self.queues = heapdump(image.path, "finalizequeue").json()["heaps"]
        self.handles = heapdump(image.path, "gchandles").json()["handles"]
        self.tables = list(self.places.tables())
        self.solid = [o for o in image.objects if not o.free and image.has(o.end)]

    def all(self) -> Iterator[Place]:
        """One of each kind; what this version or core does not have is left out."""
        groups: list[Callable[[], Iterator[Place]]] = [
            self.table_words,
            self.segment_words,
            self.handle_words,
            self.queue_words,
            self.thread_words,
            self.chain_words,
            self.stack_words,
            self.method_words,
            self.code_words,
            self.static_words,
            self.type_words,
            self.thread_static_words,
            self.object_words,
        ]
        for group in groups:
            rows = group()
            while True:
                try:
                    yield next(rows)
                except StopIteration:
                    break
                except LookupError:
                    break

    # handle tables

    def table(self) -> Table:
        """A handle table."""
        return self.random.choice(self.tables)

    def table_words(self) -> Iterator[Place]:
        """Down to the segments."""
        table, of = self.table(), sources("handles")
        yield Place("handles.map.buckets", table.map, of)
        yield Place("handles.map.next", table.map + 8, of)
        yield Place("handles.bucket", table.bucket_slot, of)
        yield Place("handles.bucket.tables", table.bucket, of)
        yield Place("handles.table", table.entry, of)
        first = table.address + (4 * table.types + 7 & ~7)
        yield Place("handles.table.first", first, of)

    def segment_words(self) -> Iterator[Place]:
        """Words of a TableSegment's header."""
        table, of = self.table(), sources("handles")
        segment = self.random.choice(table.segments)
        tails = segment + TAILS
        yield Place("handles.segment.owner", tails + 6 * table.types + 8, of)
        yield Place("handles.segment.next", tails + 6 * table.types, of)
        types = self.image.read(segment + 1560, 120)
        used = [i for i in range(120) if types[i] < table.types - 1]
        block = self.random.choice(used)
        yield Place("handles.block.type", segment + 1560 + block, of, 1)
        dependent = [i for i in used if types[i] == 6]
        if dependent:
            data = self.image.read(segment + 1680 + dependent[0], 1)[0]
            yield Place("handles.block.user_data", segment + 1680 + dependent[0], of, 1)
            yield Place("handles.data_block.type", segment + 1560 + data, of, 1)
        yield Place("handles.block.mask", segment + 600 + 8 * block, of)
        yield Place("handles.chain", segment + 480 + block, of, 1)
        yield Place("handles.tail", tails + types[block], of, 1)
        yield Place("handles.count", tails + 2 * table.types + 4 * types[block], of, 4)

    def handle_words(self) -> Iterator[Place]:
        """Handles, and what dependent ones keep alive."""
        of = sources("handles")
        for kind in ("strong", "pinned", "weak-short", "weak-interior", "dependent"):
            rows = [h for h in self.handles if h["kind"] == kind]
            if not rows:
                continue
            handle = self.random.choice(rows)
            address = int(handle["address"], 16)
            yield Place(f"handle.{kind}", address, of, is_slot=True)
            if kind == "dependent":
                segment = address & ~0xFFFF
                block, slot = divmod((address - segment - VALUES) // 8, 64)
                data = self.image.read(segment + 1680 + block, 1)[0]
                where = segment + VALUES + 512 * data + 8 * slot
                yield Place("handle.secondary", where, of, is_slot=True)

    # finalizer queues

    def queue_words(self) -> Iterator[Place]:
        """Words of a CFinalize."""
        of = sources("finalizers")
        queue = int(self.random.choice(self.queues)["queue"], 16)
        for i in range(7):
            yield Place(f"queue.fill{i}", queue + 8 * i, of, 8, ("next", "before", "bit"))
        yield Place("queue.start", queue + 56, of)
        yield Place("queue.end", queue + 64, of, lies=("*",))
        start, end = self.image.u64(queue + 56), self.image.u64(queue + 48)
        if start < end:
            yield Place("queue.first", start, of, is_slot=True)
            yield Place("queue.last", end - 8, of, is_slot=True)
        for at in self.image.find(struct.pack("<Q", queue)):
            yield Place("queue.pointer", at, of)

    # threads

    def thread(self, wanted: Callable[[Json], bool] = lambda thread: True) -> tuple[int, int]:
        """Address and OS id of a thread with managed frames."""
        rows = [
            t for t in self.stacks if t["os_id"] and t["frames"] and not t["partial"] and wanted(t)
        ]
        os_id = self.random.choice(rows)["os_id"]
        (address,) = [int(t["address"], 16) for t in self.image.threads if t["os_id"] == os_id]
        return address, os_id

    def frames(self, os_id: int) -> list[Json]:
        """The frames of a thread."""
        (rows,) = [t["frames"] for t in self.stacks if t["os_id"] == os_id]
        return list(rows)

    def thread_words(self) -> Iterator[Place]:
        """Words of the list of threads, and of one."""
        thread, os_id = self.thread()
        where, mine = self.places, sources(thread_source(os_id))
        everyone = sources("threads")
        # The bytes there are then taken for a thread, and words of them for its allocation context.
        there = (
            "object",
            "inside",
            "free",
            "stack",
            "code",
            "self",
            "page",
            "next",
            "before",
            "bit",
        )
        yield Place("threads.first", where.thread_store(), everyone, 8, there)
        yield Place("thread.link", thread + where.offset("thread.link"), everyone, 8, there)
        yield Place("thread.os_id", thread + where.offset("thread.os_id"), everyone)
        yield Place("thread.state", thread + where.offset("thread.state"), mine, 4, ("*",))
        cooperative = thread + where.offset("thread.cooperative")
        # Registers of a thread in the runtime's code, which uses objects, may hold some.
        yield Place("thread.cooperative", cooperative, mine, 4, ("*",))
        yield Place("thread.id", thread + where.offset("thread.id"), sources(), 4)
        yield Place("thread.exception", thread + where.offset("thread.exception"), mine, 8, ("*",))
        yield Place("thread.locals", thread + where.offset("thread.locals"), sources())

    # Frames, GCFrames, exceptions

    def chain_words(self) -> Iterator[Place]:
        """Words of the lists on stacks."""
        thread, os_id = self.thread(lambda t: any(f["kind"] == "explicit" for f in t["frames"]))
        mine = sources(thread_source(os_id))
        # Any Frame of its stack might be the first one.
        first = thread + self.places.offset("thread.frame")
        yield Place(
            "frame.first", first, mine, lies=("zero", "ones", "page", "next", "before", "bit")
        )
        for name in sorted({f["method"] for t in self.stacks for f in t["frames"]}):
            yield from self.frame_words(name)
        for offset in range(0x100, 0x500, 8):
            for row in self.image.threads:
                at = int(row["address"], 16) + offset
                word = self.image.u64(at) if self.image.has(at + 7) else 0
                if word % 8 == 0 and self.image.has(word + 8) and word < 1 << 47:
                    if self.image.u64(word + 8) == int(row["address"], 16) and row["os_id"]:
                        yield from self.gc_frame_words(at, word, row["os_id"])
        for row in self.image.threads:
            at = int(row["address"], 16) + self.places.offset("thread.tracker")
            if self.image.u64(at):
                yield from self.exception_words(at, self.image.u64(at), row["os_id"])

    def frame_words(self, name: str) -> Iterator[Place]:
        """Words of an explicit Frame of that kind."""
        rows = [
            (t["os_id"], int(f["frame"], 16))
            for t in self.stacks
            for f in t["frames"]
            if f["kind"] == "explicit" and f["method"] == name
        ]
        if not rows:
            return
        os_id, frame = self.random.choice(rows)
        mine = sources(thread_source(os_id))
        yield Place(f"frame.{name}.identifier", frame, mine)
        yield Place(f"frame.{name}.next", frame + 8, mine)
        fields: dict[str, dict[str, int]] = {
            "InlinedCallFrame": {"sp": 24, "ip": 32, "fp": 40},
            "SoftwareExceptionFrame": {
                "rbx_pointer": 24 + 128 + 8 * 3,
                "rbp_pointer": 24 + 128 + 8 * 5,
                "rip": 288 + 0xF8,
                "rsp": 288 + 0x98,
                "rbp": 288 + 0xA0,
            },
        }
        for field, offset in fields.get(name, {}).items():
            yield Place(f"frame.{name}.{field}", frame + offset, mine)

    def gc_frame_words(self, pointer: int, frame: int, os_id: int) -> Iterator[Place]:
        """Words of a GCFrame."""
        mine = sources(thread_source(os_id))
        yield Place("gc_frame.first", pointer, mine, 8, ("zero", "ones"))
        yield Place("gc_frame.next", frame, mine, 8, ("zero", "ones"))
        yield Place("gc_frame.thread", frame + 8, mine)
        near = ("next", "before", "page", "stack", "bit")
        yield Place("gc_frame.references", frame + 16, mine, 8, near)
        yield Place("gc_frame.count", frame + 24, mine, 4, ("zero", "one", "bit"))

    def exception_words(self, pointer: int, record: int, os_id: int) -> Iterator[Place]:
        """Words of an ExInfo."""
        mine = sources(thread_source(os_id))
        yield Place("exception.first", pointer, mine, 8, ("zero",))
        yield Place("exception.previous", record, mine, 8, ("zero",))
        if self.places.major < 11:
            # It is the address of a handle, and any word that refers to an object may be one.
            yield Place("exception.handle", record + 8, mine, 8, ("*",))
        if self.places.major >= 10:
            rest = record + self.places.exception_rest()
            yield Place("exception.clause", rest, mine, 4)
            yield Place("exception.flags", rest + 0x08, mine, 4)
            yield Place("exception.low", rest + 0x48, mine)
            yield Place("exception.high", rest + 0x50, mine)
            yield Place("exception.object", rest + 0x78, mine)
            yield Place("exception.pass", rest + 0x81, mine, 1)

    # stacks

    def stack_words(self) -> Iterator[Place]:
        """Return addresses, saved registers, slots of local variables."""
        rows = []
        for thread in self.stacks:
            frames = thread["frames"]
            for i, frame in enumerate(frames[1:], 1):
                slot = int(frame["sp"], 16) - 8
                if frame["kind"] == "managed" and self.image.has(slot):
                    if self.image.u64(slot) == int(frame["ip"], 16):
                        rows.append((thread["os_id"], slot, i, len(frames)))
        for i in range(3):
            os_id, where, _, _ = self.random.choice(rows)
            yield Place(f"stack.return{i}", where, sources(thread_source(os_id)))
        based = []
        locals_ = []
        for thread in self.stacks:
            for frame in thread["frames"]:
                for root in frame.get("roots", []):
                    name = root["slot"] or ""
                    if name[:4] in ("rbp-", "rbp+"):
                        base = int(root["address"], 16) - int(name[3:], 16)
                        based.append((thread["os_id"], base))
                    if root["object"] == root["value"] and name[3:4] in ("+", "-"):
                        locals_.append((thread["os_id"], int(root["address"], 16)))
        os_id, base = self.random.choice(based)
        yield Place("stack.rbp", base, sources(thread_source(os_id)))
        os_id, variable = self.random.choice(locals_)
        yield Place("stack.local", variable, sources(thread_source(os_id)), is_slot=True)

    # code

    def methods(self) -> list[tuple[int, Method]]:
        """The methods of all frames, with the OS ids of their threads."""
        rows = []
        for thread in self.stacks:
            for frame in thread["frames"]:
                if frame["kind"] == "managed":
                    method = self.places.method(int(frame["ip"], 16), frame["offset"])
                    rows.append((thread["os_id"], method))
        return rows

    def method_words(self) -> Iterator[Place]:
        """Unwind codes and GCInfo, of compiled and of ReadyToRun code: they are other frames', too."""
        every = sources("stacks")
        for name, ready in (("jit", False), ("r2r", True)):
            rows = [m for _, m in self.methods() if (m.header == 0) == ready]
            if not rows:
                continue
            method = self.random.choice(rows)
            for i in (0, 1, 4):
                yield Place(f"{name}.gc_info{i}", method.gc_info + i, every, 4, ("*",))
            yield Place(f"{name}.unwind.head", method.unwind, every, 4, ("*",))
            yield Place(f"{name}.unwind.codes", method.unwind + 4, every, 4, ("*",))
            yield Place(f"{name}.function.begin", method.function, every, 4)
            yield Place(f"{name}.function.end", method.function + 4, every, 4)
            yield Place(f"{name}.function.unwind", method.function + 8, every, 4, ("*",))
            if method.header:
                yield Place("jit.header", method.start - 8, every, 8, ("*",))
                yield Place("jit.header.gc_info", method.header + 16, every, 8, ("*",))
                yield Place("jit.header.method", method.header + 24, every)
                yield Place("jit.header.count", method.header + 32, every, 4)

    def code_words(self) -> Iterator[Place]:
        """The way from an address to its method."""
        every = sources("stacks")
        rows = [m for _, m in self.methods()]
        for name, ready in (("jit", False), ("r2r", True)):
            method = self.random.choice([m for m in rows if (m.header == 0) == ready])
            section = method.section
            for i, level in enumerate(section.levels):
                yield Place(f"{name}.map.level{i}", level, every)
            for i, word in enumerate(("next", "begin", "end", "section")):
                yield Place(f"{name}.fragment.{word}", section.fragment + 8 * i, every)
            yield Place(f"{name}.section.begin", section.address, every)
            yield Place(f"{name}.section.end", section.address + 8, every)
            yield Place(f"{name}.section.module", section.address + 32, every)
            yield Place(f"{name}.section.heap", section.address + 40, every)
            if ready:
                info, _, _ = self.places.functions(section)
                pointer = section.module + self.places.offset("module.r2r")
                buckets = info + self.places.offset("r2r.entry_points") + 16
                yield Place("r2r.info", pointer, every)
                yield Place("r2r.header", info + 16, every)
                yield Place("r2r.composite", info + 40, every)
                yield Place("r2r.functions", info + 80, every)
                yield Place("r2r.count", info + 88, every, 4)
                yield Place("r2r.entry_points", buckets, every)
                yield Place("r2r.entry_points.count", self.image.u64(buckets), every, 4)
            else:
                yield Place("jit.heap.base", section.heap + 32, every)
                yield Place("jit.heap.map", section.heap + 40, every)
                base, nibbles = self.image.u64(section.heap + 32), self.image.u64(section.heap + 40)
                unit = (method.start - base) // 256
                yield Place("jit.nibbles", nibbles + 4 * unit, every, 4)

    # statics

    def static_types(self) -> list[int]:
        """MethodTables with static roots."""
        return sorted(
            {
                int(r["container"]["mt"], 16)
                for r in self.roots
                if r["kind"] == "static" and r["container"]
            }
        )

    def static_words(self) -> Iterator[Place]:
        """Words of a type's statics."""
        of, heap = sources("statics"), sources("statics", "heap")
        rows = [r for r in self.roots if r["kind"] == "static"]
        slot = self.random.choice(rows)
        yield Place("static.slot", int(slot["address"], 16), of, is_slot=True)
        table = self.random.choice(self.static_types())
        if self.places.major >= 9:
            auxiliary = self.image.u64(table + 32)
            yield Place(
                "static.bases", auxiliary - 24, of, lies=("zero", "page", "next", "before", "bit")
            )
            yield Place("static.auxiliary", table + 32, heap)
        yield Place("static.flags2", table + 8, heap, 4, ("*",))
        yield Place("static.class", table + 40, heap)
        ee_class = self.image.u64(table + 40)
        if not ee_class & 1:
            fields = self.image.u64(ee_class + 24)
            yield Place("static.fields", ee_class + 24, of, 8, ("*",))
            yield Place("static.field.flags", fields + 8, of, 4, ("*",))
            yield Place("static.field.offset", fields + 12, of, 4, ("*",))
            yield Place("static.counts", ee_class + 50, of, 2, ("*",))
            yield Place("static.counts.static", ee_class + 54, of, 2, ("*",))

    def type_words(self) -> Iterator[Place]:
        """Words of the tables that types are listed in."""
        of = sources("statics")
        table = self.random.choice(self.static_types())
        module = self.places.module_of(table)
        types = module + self.places.offset("module.type_defs")
        yield Place("types.next", types, of, 8, ("zero",))
        yield Place("types.table", types + 8, of)
        yield Place("types.count", types + 16, of, 4, ("zero", "bit", "random"))
        yield Place("types.mask", types + 24, of)
        rows = self.image.u64(types + 8)
        used = [
            rows + 8 * i
            for i in range(self.image.u32(types + 16))
            if self.image.u64(rows + 8 * i) in self.static_types()
        ]
        if used:
            yield Place("types.row", self.random.choice(used), of, 8, ("zero",))
        pointer = module + self.places.offset("module.type_params")
        yield Place("instances", pointer, of, 8, ("zero",))
        instances = self.image.u64(pointer)
        buckets = self.image.u64(instances + 16)
        yield Place("instances.buckets", instances + 16, of)
        yield Place("instances.count", instances + 24, of, 4)
        yield Place("instances.length", buckets, of)
        yield Place("instances.growing", buckets + 8, of)
        chains = [
            buckets + 8 * (3 + i)
            for i in range(self.image.u64(buckets))
            if not self.image.u64(buckets + 8 * (3 + i)) & 1
        ]
        if chains:
            entry = self.image.u64(self.random.choice(chains))
            yield Place("instances.entry", entry, of, 8, ("*",))
            yield Place("instances.next", entry + 8, of)
        assemblies = self.places.assemblies(module)
        yield Place("assemblies.count", assemblies, of, 4, ("zero", "bit"))
        yield Place("assemblies.next", assemblies + 8, of)
        yield Place("assemblies.size", assemblies + 16, of, 4)
        yield Place("assemblies.first", assemblies + 24, of, 8, ("zero",))

    def thread_static_words(self) -> Iterator[Place]:
        """Words of a thread's statics."""
        rows = [r for r in self.roots if r["kind"] == "thread-static"]
        root = self.random.choice(rows)
        os_id = root["thread"]["os_id"]
        (thread,) = [int(t["address"], 16) for t in self.image.threads if t["os_id"] == os_id]
        of = sources(f"thread-statics {os_id}")
        yield Place("thread_static.slot", int(root["address"], 16), of, is_slot=True)
        pointer = thread + self.places.offset("thread.statics")
        near = ("zero", "next", "before", "one", "bit", "page", "thread", "self")
        old = near if self.places.major == 8 else ("zero",)
        yield Place("thread_statics", pointer, of, 8, old)
        data = self.image.u64(pointer)
        if self.places.major == 8:
            yield Place("thread_statics.count", pointer + 8, of)
            return
        yield Place("thread_statics.count", data, of, 4)
        yield Place("thread_statics.array", data + 8, of)
        yield Place("thread_statics.collectible", data + 16, of)
        yield Place("thread_statics.in_flight", data + 32, of)
        table = int(root["container"]["mt"], 16)
        auxiliary = self.image.u64(table + 32)
        yield Place("thread_static.index", auxiliary - 36, sources("statics"), 4, ("*",))

    # objects

    def object_words(self) -> Iterator[Place]:
        """Words of objects that roots lead to."""
        for kind in ("stack", "handle", "static", "finalizer", "gc"):
            rows = [r for r in self.roots if r["kind"] == kind and not r["weak"] and not r["flags"]]
            if not rows:
                continue
            address = int(self.random.choice(rows)["object"], 16)
            yield Place(f"object.{kind}.type", address, sources(), objects=(address,))
        arrays = [o for o in self.solid if o.type.endswith("[]") and o.size > 32]
        array = self.random.choice(arrays)
        yield Place(
            "object.length", array.address + 8, sources("heap"), 4, ("*",), objects=(array.address,)
        )
        invalid = self.image.u64(self.places.gc_vars() + 192)
        yield Place("gc.structures_invalid", invalid, sources("heap"), 4)

    def object(self) -> Object:
        """Any that is not Free."""
        return self.random.choice(self.solid)
