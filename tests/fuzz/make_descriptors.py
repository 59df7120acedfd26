#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpus of fuzz_descriptor: make_descriptors.py FOLDER."""
from __future__ import annotations

import pathlib
import struct
import sys

DATA_AT = 0x20000

PLAIN = (
    '{"version":0,"baseline":"empty","types":{"MethodTable":{"MTFlags":0,"BaseSize":[4,"uint32"],'
    '"Module":"0x18","!":64},"EEAllocContext":{"GCAllocationContext":8},"MethodDescChunk":{"!":24}},'
    '"globals":{"AppDomain":[[1],"pointer"],"ThreadStore":[[2],"pointer"],"RID":["1-x64","string"],'
    '"SOSBreakingChangeVersion":["0x5","uint8"]},"contracts":{"Loader":1,"Thread":"c1"}}'
)
# As 11 writes it: a version, numbers without a type, other names, fields that are elsewhere or missing.
NEXT = (
    '{"version":2,"baseline":"empty","types":{"MethodTable":{"MTFlags":8,"BaseSize":12,"EEClassOrCanonMT":48},'
    '"AppDomain":{"AssemblyList":584,"DomainAssemblyList":8},"LoaderAllocator":{"ObjectHandle":672},'
    '"ThreadStore":{"FirstThreadLink":96},"Thread":{"LinkNext":120,"Id":65535}},"globals":{"GCInfoVersion":"0x6",'
    '"RuntimeProductVersionString":["12.0.0-preview.1","string"],"ThreadStore":[[2],"pointer"],'
    '"ContinuationSingletonEEClass":[[1],"pointer"]},"subDescriptors":{"GC":[[2],"pointer"],"X":[[1],"pointer"]}}'
)
HOSTILE = (
    '{"types":{"MethodTable":{"MTFlags":-1,"BaseSize":65536,"Module":[[[1]],"x"],"!":1e9},"EEClass":[]},'
    '"globals":{"AppDomain":[[99],"pointer"],"ThreadStore":[[-1]],"RID":{}},"subDescriptors":[1]}'
)


def image(pointers: list[int], json: str, rest: bytes = b"") -> bytes:
    """An input: count, pointers, JSON."""
    return (
        bytes([len(pointers)]) + struct.pack(f"<{len(pointers)}Q", *pointers) + json.encode() + rest
    )


def with_part() -> bytes:
    """A descriptor whose sub-descriptor is itself: its pointer leads to a variable in the input."""
    json = '{"subDescriptors":{"GC":[[1],"pointer"]}}'
    pointers = [0, DATA_AT + 17, 0x10000]
    return image(pointers, json)


def main() -> None:
    """Write each input to a file of its own."""
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    inputs = {
        "plain": image([0, 0x1234, 0x5678], PLAIN),
        "next": image([0, 0x1234, 0x5678], NEXT),
        "hostile": image([0], HOSTILE),
        "part": with_part(),
        "deep": image([], "[" * 3000),
        "empty": b"\0{}",
        "cut": image([0, 1], PLAIN)[:60],
    }
    for name, data in inputs.items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
