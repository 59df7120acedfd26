#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpus of fuzz_cfi: make_cfi.py FOLDER."""
from __future__ import annotations

import pathlib
import struct
import sys

IMAGE, HEADER, FRAMES, EXPRESSION = range(4)
AT_HEADER, AT_FRAMES, AT_FUNCTION = 0x400, 0x1000, 0x3000
AFTER_CALL = bytes.fromhex("0c0708 9001")


def record(body: bytes) -> bytes:
    """A CIE or FDE with its length."""
    body += bytes(-len(body) % 4)
    return struct.pack("<I", len(body)) + body


def frames(code: bytes, augmentation: bytes = b"zR", first: bytes = AFTER_CALL) -> bytes:
    """Where the FDE is, a CIE, and the FDE of a function of 256 bytes."""
    data = b"".join(
        {"R": b"\x1b", "P": b"\x9b\1\2\3\4", "L": b"\xff"}.get(chr(c), b"")
        for c in augmentation[1:]
    )
    head = b"\1" + augmentation + b"\0" + b"\1\x78\x10" + bytes([len(data)]) + data
    cie = record(bytes(4) + head + first)
    begin = AT_FUNCTION - (AT_FRAMES + len(cie) + 8)
    fde = record(struct.pack("<IiIB", len(cie) + 4, begin, 256, 0) + code)
    return bytes([len(cie)]) + cie + fde


def header(encoding: int, row: bytes) -> bytes:
    """.eh_frame_hdr with one row."""
    return struct.pack("<4BiI", 1, 0x1B, 3, encoding, AT_FRAMES - AT_HEADER - 4, 1) + row


def image() -> bytes:
    """A whole image."""
    ident = b"\x7fELF\2\1\1" + bytes(9)
    elf = struct.pack("<16sHHIQQQIHHHHHH", ident, 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    elf += struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 0x4000, 0x4000, 4096)
    elf += struct.pack("<IIQQQQQQ", 0x6474E550, 4, 0, AT_HEADER, 0, 0x40, 0x40, 4)
    place, body = frames(b"")[0], frames(b"")[1:]
    row = struct.pack("<ii", AT_FUNCTION - AT_HEADER, AT_FRAMES - AT_HEADER + place)
    return (elf.ljust(AT_HEADER, b"\0") + header(0x3B, row)).ljust(AT_FRAMES, b"\0") + body


def inputs() -> dict[str, bytes]:
    """Name and bytes of each."""
    result = {
        "image": bytes([IMAGE]) + image(),
        "header-sdata4": bytes([HEADER])
        + header(0x3B, struct.pack("<ii", AT_FUNCTION - AT_HEADER, AT_FRAMES - AT_HEADER)),
        "header-udata8": bytes([HEADER])
        + header(0x04, struct.pack("<QQ", 0x7F1200003000, 0x7F1200001000)),
        "header-uleb128": bytes([HEADER]) + header(0x01, b"\1\2\3\4"),
    }
    codes = {
        "plain": "41 0e10 8602 43 0d06 4a 8303 0a c3 c6 0c0708 48 0b",
        "plt": "0f0b 7708 8000 3f 1a 3b 2a 33 24 22",
        "signal": "0f04 77a00106 1010 0377a801 1003 03778001",
        "registers": "0503 02 110402 140502 15067e 090c05 0708 0810 060c 2e20 2f0302",
        "undefined": "0710",
        "value": "0e20 160302 2310 100c0177 130e",
        "locations": "01 00300000 0201 030100 0401000000 0a0a0a0b0b",
        "cut": "05",
    }
    for name, code in codes.items():
        augmentation = b"zRS" if name == "signal" else b"zPLR" if name == "plain" else b"zR"
        result["frames-" + name] = bytes([FRAMES]) + frames(bytes.fromhex(code), augmentation)
    expressions = {
        "loop": "35 31 1c 12 28 faff",
        "forever": "2f fdff",
        "numbers": "08ff 09ff 0affff 0bffff 0cffffffff 0dffffffff 10e58e26 11c0bb78",
        "arithmetic": "3c 3a 1a 12 1b 33 1d 34 1e 19 1f 20 2302 33 24 32 25 31 26 35 27",
        "memory": "7700 06 7708 9404 57 9007 920601 1501 14 16 17 13",
    }
    for name, code in expressions.items():
        result["expression-" + name] = bytes([EXPRESSION]) + bytes.fromhex(code)
    return result


def main() -> None:
    """Write each input to a file of its own."""
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in inputs().items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
