#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fake_runtime.py MODE: answers on a diagnostics socket as a .NET runtime does, or as MODE says, no good one.

A program of its own, so that its id and start time make the socket's name.
"""
from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import struct
import sys
import threading
import time
import uuid
from pathlib import Path

TRACE = Path(__file__).resolve().parents[1] / "data" / "small300.nettrace"
# Until a test has given it up.
TIMEOUT = 120
# Seconds until a large heap is collected and walked: only then the runtime answers.
LATE = 11
NOBODY = 65534

MAGIC = b"DOTNET_IPC_V1\0"
OK, ERROR, SERVER = 0x00, 0xFF, 0xFF
TRACING, PROFILER, PROCESS = 0x02, 0x03, 0x04
STOP, INFO_2 = 0x01, 0x04
ATTACH = 0x01
UNKNOWN_COMMAND = 0x80131385
PROFILER_ACTIVE = 0x8013136A
CLASS = uuid.UUID("8F1D9A52-6C3E-4B7A-9D04-5E2B7C61A8F3")
SESSION = 7
# A session for a snapshot asks for this, next to the ranges of generations.
SNAPSHOT = 0x1980001
# Streams of sessions that end when they are stopped, and what comes then.
waiting: list[tuple[socket.socket, bytes]] = []


def socket_path(pid: int) -> str:
    """Where a runtime of that process listens."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    start = stat[stat.rindex(")") + 2 :].split()[19]
    return f"{os.environ.get('TMPDIR', '/tmp')}/dotnet-diagnostic-{pid}-{start}-socket"


def reply(kind: int, payload: bytes, magic: bytes = MAGIC) -> bytes:
    """One message of the server."""
    return magic + struct.pack("<HBBH", 20 + len(payload), SERVER, kind, 0) + payload


def version_reply(version: str) -> bytes:
    """The answer to ProcessInfo2."""

    def text(value: str) -> bytes:
        return struct.pack("<I", len(value) + 1) + (value + "\0").encode("utf-16-le")

    names = text("fake") + text("linux") + text("x64") + text("fake")
    return reply(OK, struct.pack("<Q", os.getpid()) + bytes(16) + names + text(version))


def trickle(connection: socket.socket) -> None:
    """A stream whose next block never ends."""
    trace = TRACE.read_bytes()
    head = trace[: trace.index(b"Trace", 12) + 5 + 1 + 48 + 1]
    block = b"\5\5\1" + struct.pack("<iii", 2, 2, 10) + b"StackBlock\6"
    block += struct.pack("<i", 64 << 20)
    with contextlib.suppress(OSError):
        connection.sendall(head + block + bytes(-(len(head) + len(block)) % 4))
        for _ in range(TIMEOUT * 5):
            connection.sendall(bytes(100))
            time.sleep(0.2)


def work() -> None:
    """Use a processor."""
    while True:
        pass


def serve_trace(connection: socket.socket, mode: str, trace: bytes) -> None:
    """Answer the command that begins a session for a snapshot."""
    started = reply(OK, struct.pack("<Q", SESSION))
    if mode == "unnamed":
        provider = "Microsoft-Windows-DotNETRuntime\0".encode("utf-16-le")
        bulk_type = provider + struct.pack("<I", 15)
        assert bulk_type in trace
        trace = trace.replace(bulk_type, provider + struct.pack("<I", 9999))
    if mode in ("starts", "busy") and threading.active_count() > 1:
        mode = "good"
    if mode == "late":
        time.sleep(LATE)
    if mode in ("good", "old", "late", "unnamed"):
        connection.sendall(started + trace)
    elif mode == "waits":
        # The rest comes when the session is stopped.
        connection.sendall(started + trace[: len(trace) * 9 // 10])
        waiting.append((connection.dup(), trace[len(trace) * 9 // 10 :]))
    elif mode == "starts":
        # The first session has come too early, and is in vain; the program is busy.
        connection.sendall(started + trace[:32])
        waiting.append((connection.dup(), b""))
        threading.Thread(target=work, daemon=True).start()
    elif mode == "busy":
        # A collection of the program's own came in between: its events come, and no objects.
        connection.sendall(started)
        waiting.append((connection.dup(), b""))
        threading.Thread(target=trickle, args=(connection.dup(),), daemon=True).start()
    elif mode == "cut":
        connection.sendall(started + trace[: len(trace) * 4 // 5])
    elif mode == "cut-late":
        connection.sendall(started + trace[: len(trace) * 9 // 10])
    elif mode == "early":
        connection.sendall(started + trace[:500])
    elif mode == "dies":
        connection.sendall(started + trace[:500])
        time.sleep(0.3)
        os._exit(1)
    elif mode == "silent":
        connection.sendall(started + trace[:32])
        time.sleep(TIMEOUT)
    elif mode == "trickle":
        connection.sendall(started)
        trickle(connection)
    elif mode == "freezes":
        connection.sendall(started + trace[: len(trace) * 4 // 5])
        os.kill(os.getpid(), signal.SIGSTOP)
    elif mode == "noise":
        connection.sendall(started + random.Random(1).randbytes(5000))
    elif mode == "profiler":
        connection.sendall(reply(ERROR, struct.pack("<I", PROFILER_ACTIVE)))
    elif mode == "no-session":
        connection.sendall(reply(OK, b""))


def parse_attach(payload: bytes) -> tuple[str, list[str]]:
    """The path of a library that is to be loaded, and what it is given."""
    timeout, class_id, units = struct.unpack_from("<I16sI", payload)
    end = 24 + 2 * units
    path = payload[24:end].decode("utf-16-le")
    (size,) = struct.unpack_from("<I", payload, end)
    data = payload[end + 4 :]
    assert timeout and uuid.UUID(bytes_le=class_id) == CLASS, (timeout, class_id)
    assert path.endswith("\0") and len(data) == size and data.endswith(b"\0")
    return path[:-1], data[:-1].decode().split("\0")


def serve_attach(connection: socket.socket, mode: str, payload: bytes) -> None:
    """Answer AttachProfiler, and what our library answers at its own socket after that."""
    library, (head, path, place) = parse_attach(payload)
    print(library, head, path, place, flush=True)
    codes = {"active": PROFILER_ACTIVE, "loaded": 0x80131375, "unreadable": 0x80131392}
    if mode in codes:
        connection.sendall(reply(ERROR, struct.pack("<I", codes[mode])))
        return
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen(1)
        if mode == "vanishes":
            os.unlink(place)
        connection.sendall(reply(OK, struct.pack("<I", 0)))
        if mode == "vanishes":
            return
        answers = {
            "good": reply(OK, struct.pack("<5Q", 1, 10, 20, 30, 40)),
            "partial": reply(OK, struct.pack("<5Q", 0, 10, 20, 30, 40)),
            "fails": reply(ERROR, struct.pack("<I", 0x80004005) + b"it \x1b[2J cannot"),
            "bare": reply(ERROR, struct.pack("<I", 0x80004005)),
            "longer": reply(OK, bytes(41)),
            "noise": random.Random(3).randbytes(200),
            "hangup": b"",
        }
        other, _ = listener.accept()
        with other:
            other.recv(20, socket.MSG_WAITALL)
            if mode == "silent":
                time.sleep(TIMEOUT)
            other.sendall(answers[mode])
    os.unlink(place)


def asks_for_snapshot(payload: bytes) -> bool:
    """Has a session the keywords of a walk?"""
    provider = payload.index("Microsoft".encode("utf-16-le"))
    (keywords,) = struct.unpack_from("<Q", payload, provider - 16)
    return bool(keywords & SNAPSHOT == SNAPSHOT)


def serve_one(connection: socket.socket, mode: str, trace: bytes) -> None:
    """Answer one command."""
    if mode == "stall":
        time.sleep(TIMEOUT)
    if mode == "hangup":
        return
    head = connection.recv(20, socket.MSG_WAITALL)
    if len(head) < 20:
        return
    size, command_set, command = struct.unpack("<HBB", head[14:18])
    payload = connection.recv(size - 20, socket.MSG_WAITALL) if size > 20 else b""
    print(f"{command_set:x}/{command:x}", flush=True)
    if (command_set, command) == (PROFILER, ATTACH):
        serve_attach(connection, mode, payload)
        return
    early = {
        "garbage": random.Random(2).randbytes(300),
        "magic": reply(OK, bytes(8), b"DOTNET_IPC_V2\0"),
        "short": reply(OK, bytes(8))[:11],
        "tiny": MAGIC + struct.pack("<HBBH", 3, SERVER, OK, 0),
        "large": MAGIC + struct.pack("<HBBH", 65535, SERVER, OK, 0) + bytes(100),
        "ancient": reply(ERROR, struct.pack("<I", UNKNOWN_COMMAND)),
    }
    if mode in early:
        connection.sendall(early[mode])
    elif (command_set, command) == (PROCESS, INFO_2):
        versions = {"noname": "1\n\x1b[2J\x9b\u202e"}
        connection.sendall(version_reply(versions.get(mode, "10.0.1")))
    elif command_set == TRACING and command == STOP:
        connection.sendall(reply(OK, struct.pack("<Q", SESSION)))
        if waiting:
            stream, rest = waiting.pop()
            with stream:
                stream.sendall(rest)
                stream.shutdown(socket.SHUT_RDWR)
    elif command_set == TRACING and mode == "old" and command != 0x03:
        connection.sendall(reply(ERROR, struct.pack("<I", UNKNOWN_COMMAND)))
    elif asks_for_snapshot(payload):
        serve_trace(connection, mode, trace)
    else:
        # It only makes the runtime forget which types it has told.
        connection.sendall(reply(OK, struct.pack("<Q", SESSION)) + trace[:32])
        waiting.append((connection.dup(), b""))


def serve(mode: str) -> None:
    """Listen as a runtime does until killed.

    "other": another user listens at the place of this process, "planted": another process, "plant":
    this process as another user at the place of a third, and "noname": this one, whose version would
    write over the terminal.
    """
    trace = TRACE.read_bytes()
    listener = socket.socket(socket.AF_UNIX)
    path = socket_path(int(sys.argv[2]) if mode == "plant" else os.getpid())
    if mode in ("other", "planted"):
        os.chmod(os.path.dirname(path), 0o777)
        if os.fork():
            time.sleep(TIMEOUT)
    if mode in ("other", "plant"):
        os.setuid(NOBODY)
    listener.bind(path)
    listener.listen(16)
    print("READY", flush=True)
    while True:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            serve_one(connection, mode, trace)


if __name__ == "__main__":
    serve(sys.argv[1])
