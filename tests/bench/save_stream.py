#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""save_stream.py PID FILE BYTES: the least that can save a heap snapshot's stream, to measure collect by.

Asks the runtime of PID (.NET 10) for a heap snapshot, saves what comes, and stops the session once
BYTES have come: a little less than what heapdump collect got of the same heap. Prints seconds and bytes.
"""
from __future__ import annotations

import os
import socket
import struct
import sys
import time
from pathlib import Path

MAGIC = b"DOTNET_IPC_V1\0"
PROVIDER = "Microsoft-Windows-DotNETRuntime"
BUFFER_MB = 8192
RUNDOWN = 8
KEYWORDS = 0x1980001


def socket_of(pid: int) -> str:
    """Path of the diagnostics socket."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    start = stat[stat.rindex(")") + 2 :].split()[19]
    return f"{os.environ.get('TMPDIR', '/tmp')}/dotnet-diagnostic-{pid}-{start}-socket"


def string(text: str) -> bytes:
    """A string as the protocol has it."""
    if not text:
        return struct.pack("<I", 0)
    return struct.pack("<I", len(text) + 1) + text.encode("utf-16-le") + b"\0\0"


def ask(pid: int, command: int, payload: bytes) -> socket.socket:
    """Send one command; the connection, with the reply's header and eight bytes read."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(socket_of(pid))
    head = struct.pack("<HBBH", 20 + len(payload), 2, command, 0)
    connection.sendall(MAGIC + head + payload)
    return connection


def main() -> int:
    """Save one stream."""
    pid, path, enough = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    began = time.monotonic()
    payload = struct.pack("<IIIQBI", 0, BUFFER_MB, 1, RUNDOWN, 0, 1)
    payload += struct.pack("<QI", KEYWORDS, 5) + string(PROVIDER) + string("")
    payload += struct.pack("<BI", 0, 0)
    stream = ask(pid, 6, payload)
    session = stream.recv(28, socket.MSG_WAITALL)[20:]
    buffer = bytearray(1 << 20)
    view = memoryview(buffer)
    got = 0
    stopper = None
    with open(path, "wb", buffering=0) as file:
        while size := stream.recv_into(buffer):
            file.write(view[:size])
            got += size
            if got >= enough and not stopper:
                stopper = ask(pid, 1, session)
    stream.close()
    print(f"seconds {time.monotonic() - began:.6f}\nbytes {got}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
