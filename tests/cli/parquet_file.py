# SPDX-License-Identifier: MIT
"""Reads a Parquet file as heapdump writes them, and refuses what breaks the rules of doc/formats.md 11."""
from __future__ import annotations

import ctypes
import struct
from pathlib import Path
from typing import Any

PLAIN, HYBRID, DELTAS, DICTIONARY = 0, 3, 5, 8
BOOL, I64, DOUBLE, BYTES = 0, 2, 5, 6
ZSTD = 6


class Broken(Exception):
    """The file breaks a rule."""


def rule(holds: bool, text: str) -> None:
    """Fail unless a rule holds."""
    if not holds:
        raise Broken(text)


def unpacked(data: bytes, size: int) -> bytes:
    """Decompress a page with the library that heapdump itself uses."""
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(size + 1)
    got = zstd.ZSTD_decompress(room, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)))
    rule(got == size, f"a page of {size} bytes is unpacked to {got}")
    return room.raw[:size]


class Thrift:
    """Values of thrift's compact protocol: a struct is a dict by the ids of its fields."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    def take(self, size: int) -> bytes:
        """The next bytes."""
        rule(self.at + size <= len(self.data), f"{size} bytes at {self.at} are not there")
        self.at += size
        return self.data[self.at - size : self.at]

    def varint(self) -> int:
        """A number of 7 bits a byte."""
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def signed(self) -> int:
        """The same with a sign."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def value(self, kind: int) -> Any:
        """A value of a type."""
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self.take(1)[0]
        if kind in (4, 5, 6):
            return self.signed()
        if kind == 8:
            return self.take(self.varint())
        if kind == 9:
            head = self.take(1)[0]
            count = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15) for _ in range(count)]
        rule(kind == 12, f"a value of type {kind}")
        return self.struct()

    def struct(self) -> dict[int, Any]:
        """A struct, whose fields ascend."""
        fields: dict[int, Any] = {}
        last = 0
        while head := self.take(1)[0]:
            rule(head >> 4 != 0, "fields that do not ascend")
            last += head >> 4
            fields[last] = self.value(head & 15)
        return fields


def hybrid(thrift: Thrift, width: int, count: int) -> list[int]:
    """Numbers of some bits: runs, and groups of eight."""
    values: list[int] = []
    while len(values) < count:
        head = thrift.varint()
        if head & 1:
            groups = head >> 1
            rule(groups > 0, "no groups")
            bits = int.from_bytes(thrift.take(groups * width), "little")
            values += [bits >> i * width & (1 << width) - 1 for i in range(groups * 8)]
        else:
            rule(head > 0, "an empty run")
            values += [int.from_bytes(thrift.take((width + 7) // 8), "little")] * (head >> 1)
    rule(len(values) < count + 8, "more values than rows")
    return values[:count]


def deltas(thrift: Thrift) -> list[int]:
    """Numbers by their differences."""
    block, parts, count, value = (
        thrift.varint(),
        thrift.varint(),
        thrift.varint(),
        thrift.signed(),
    )
    rule(block % 128 == 0 and block // parts % 32 == 0, "sizes of blocks")
    values = [value] if count else []
    while len(values) < count:
        least, widths = thrift.signed(), thrift.take(parts)
        for width in widths:
            if len(values) == count:
                break
            rule(width <= 64, "a width of over 64 bits")
            bits = int.from_bytes(thrift.take(block // parts * width // 8), "little")
            for i in range(min(block // parts, count - len(values))):
                value += least + (bits >> i * width & (1 << width) - 1)
                values.append(value)
    return [value & (1 << 64) - 1 for value in values]


class Parquet:
    """A file: names, types, and values of its columns, by rows."""

    def __init__(self, path: Path) -> None:
        self.data = path.read_bytes()
        rule(self.data[:4] == b"PAR1" == self.data[-4:], "it does not begin and end with PAR1")
        size = struct.unpack("<I", self.data[-8:-4])[0]
        end = len(self.data) - 8
        thrift = Thrift(self.data[:end], end - size)
        self.footer = thrift.struct()
        rule(thrift.at == end, "the footer is not as long as it says")
        self.metadata = {row[1].decode(): row[2].decode() for row in self.footer[5]}
        root, *self.schema = self.footer[2]
        rule(root[5] == len(self.schema), "the number of columns")
        rule(len(self.footer[7]) == len(self.schema), "an order for each column")
        self.names = [row[4].decode() for row in self.schema]
        self.columns: dict[str, list[Any]] = {name: [] for name in self.names}
        self.groups = self.footer[4]
        self.codecs: set[int] = set()
        at = 4
        for group in self.groups:
            rule(len(group[1]) == len(self.schema), "columns of a group")
            for element, chunk in zip(self.schema, group[1]):
                at = self.read_chunk(element, chunk[3], at)
            rule({len(c) for c in self.columns.values()} == {self.rows_until(group)}, "rows")
        rule(at == end - size, "bytes between the last page and the footer")
        rule(self.footer[3] == sum(group[3] for group in self.groups), "the number of rows")

    def rows_until(self, group: dict[int, Any]) -> int:
        """The number of rows up to the end of a group."""
        return sum(g[3] for g in self.groups[: self.groups.index(group) + 1])

    def read_page(self, at: int, codec: int) -> tuple[dict[int, Any], bytes, int]:
        """Header, content and end of a page."""
        thrift = Thrift(self.data, at)
        header = thrift.struct()
        stored = thrift.take(header[3])
        content = unpacked(stored, header[2]) if codec == ZSTD else stored
        rule(len(content) == header[2], "the size of a page")
        return header, content, thrift.at

    def read_chunk(self, element: dict[int, Any], about: dict[int, Any], at: int) -> int:
        """The pages of a column in a group; returns where they end."""
        first, dictionary = about.get(11, about[9]), None
        rule(first == at, f"pages begin at {at}, not {first}")
        rule(about[3] == [element[4]] and about[1] == element[1], "the name and type of a column")
        self.codecs.add(about[4])
        values: list[Any] = []
        end = first + about[7]
        while at < end:
            header, content, at = self.read_page(at, about[4])
            if header[1] == 2:
                rule(dictionary is None and not values, "a dictionary that is not the first page")
                dictionary = plain(Thrift(content), element[1], header[7][1])
                continue
            rule(header[1] == 0, "an unknown page")
            rule(header[5][2] in about[2], "an encoding that is not announced")
            values += page_values(content, header[5], element, dictionary)
        rule(at == end and len(values) == about[5], "the sizes of a column")
        self.check_range(element, about, values)
        self.columns[element[4].decode()] += [typed(element, value) for value in values]
        return at

    @staticmethod
    def check_range(element: dict[int, Any], about: dict[int, Any], values: list[Any]) -> None:
        """Minimum, maximum and the number of missing values are right."""
        there = [typed(element, value) for value in values if value is not None]
        rule(about[12][3] == len(values) - len(there), "the number of missing values")
        if 5 in about[12]:
            ends = [typed(element, struct.unpack("<Q", about[12][i])[0]) for i in (6, 5)]
            rule(ends == [min(there), max(there)], f"range {ends}")


def typed(element: dict[int, Any], value: Any) -> Any:
    """A value as its type says."""
    if value is None or element[1] == BOOL:
        return value
    if element[1] == BYTES:
        rule(element[6] == 0 and element[10] == {1: {}}, "texts are UTF-8")
        return value.decode("utf-8")
    if element[1] == DOUBLE:
        return struct.unpack("<d", struct.pack("<Q", value))[0]
    if element.get(6) == 14:
        rule(element[10] == {10: {1: 64, 2: False}}, "both types are the same")
        return value
    return value - (1 << 64) if value >> 63 else value


def plain(thrift: Thrift, kind: int, count: int) -> list[Any]:
    """Values as they are."""
    if kind == BOOL:
        bits = int.from_bytes(thrift.take((count + 7) // 8), "little")
        return [bool(bits >> i & 1) for i in range(count)]
    if kind == BYTES:
        values: list[Any] = []
        for _ in range(count):
            values.append(thrift.take(struct.unpack("<I", thrift.take(4))[0]))
    else:
        values = list(struct.unpack(f"<{count}Q", thrift.take(8 * count)))
    return values


def page_values(
    content: bytes, header: dict[int, Any], element: dict[int, Any], dictionary: Any
) -> list[Any]:
    """The values of a page, None where there is none."""
    thrift = Thrift(content)
    there = [1] * header[1]
    if element[3]:
        size = struct.unpack("<I", thrift.take(4))[0]
        end = thrift.at + size
        there = hybrid(thrift, 1, header[1])
        rule(thrift.at == end, "the size of levels")
    count = sum(there)
    if header[2] == DICTIONARY:
        width = thrift.take(1)[0]
        found = [dictionary[i] for i in hybrid(thrift, width, count)]
    elif header[2] == DELTAS:
        found = deltas(thrift)
    else:
        rule(header[2] == PLAIN, "an unknown encoding")
        found = plain(thrift, element[1], count)
    rule(thrift.at == len(content) and len(found) == count, "bytes after the values of a page")
    values = iter(found)
    return [next(values) if is_there else None for is_there in there]
