#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the events of a .nettrace (version 4) one after the other, for programs that take single events.

    nettrace_events.py TRACE

Each event: u32 size of the provider's name, u32 event, u32 version, u32 size of its metadata, u32 size of its
payload, u64 thread, u64 time; then the name (UTF-8), the metadata as EventPipeEventDelivered gives it, the payload.
It knows the format on its own (NetTraceFormat.md), apart from the library's reader.
"""
from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import Iterator, NamedTuple

HEAD = struct.Struct("<5I2Q")


class Definition(NamedTuple):
    provider: bytes
    event: int
    version: int
    metadata: bytes


class Event(NamedTuple):
    definition: Definition
    thread: int
    time: int
    payload: bytes

    def record(self) -> bytes:
        of = self.definition
        head = HEAD.pack(
            len(of.provider),
            of.event,
            of.version,
            len(of.metadata),
            len(self.payload),
            self.thread,
            self.time,
        )
        return head + of.provider + of.metadata + self.payload


class Cursor:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value & (1 << 64) - 1

    def utf16(self) -> str:
        end = self.at
        while self.data[end : end + 2] != b"\0\0":
            end += 2
        text = self.take(end - self.at).decode("utf-16-le")
        self.at += 2
        return text


def objects(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and contents of each object of the stream."""
    at = Cursor(data)
    assert at.take(32) == b"Nettrace\x14\0\0\0!FastSerialization.1", "version 4 is read"
    while at.take(1) == b"\x05":
        at.take(10)
        name = at.take(struct.unpack("<I", at.take(4))[0]).decode()
        at.take(1)
        size = 48
        if name != "Trace":
            size = struct.unpack("<I", at.take(4))[0]
            at.take(-at.at % 4)
        yield name, at.take(size)
        at.take(1)


def blobs(block: bytes) -> Iterator[tuple[int, int, int, bytes]]:
    """Metadata id, thread, time and payload of each blob of a block with compressed headers."""
    size, flags = struct.unpack_from("<HH", block)
    assert flags & 1, "headers are compressed"
    at = Cursor(block)
    at.take(size)
    metadata = thread = time = payload = 0
    while at.at < len(block):
        bits = at.take(1)[0]
        if bits & 1:
            metadata = at.number()
        if bits & 2:
            at.number()
            thread = at.number()
            at.number()
        if bits & 4:
            at.number()
        if bits & 8:
            at.number()
        time = (time + at.number()) & (1 << 64) - 1
        at.take(16 * ((bits >> 4 & 1) + (bits >> 5 & 1)))
        if bits & 128:
            payload = at.number()
        yield metadata, thread, time, at.take(payload)


def events(data: bytes) -> Iterator[Event]:
    known: dict[int, Definition] = {}
    for name, contents in objects(data):
        if name not in ("MetadataBlock", "EventBlock"):
            continue
        for metadata, thread, time, payload in blobs(contents):
            if name == "EventBlock":
                yield Event(known[metadata], thread, time, payload)
                continue
            at = Cursor(payload)
            number = struct.unpack("<I", at.take(4))[0]
            provider = at.utf16().encode()
            rest = payload[at.at :]
            event = struct.unpack("<I", at.take(4))[0]
            at.utf16()
            at.take(8)
            version = struct.unpack("<I", at.take(4))[0]
            known[number] = Definition(provider, event, version, rest)


def main() -> int:
    for event in events(Path(sys.argv[1]).read_bytes()):
        sys.stdout.buffer.write(event.record())
    return 0


if __name__ == "__main__":
    sys.exit(main())
