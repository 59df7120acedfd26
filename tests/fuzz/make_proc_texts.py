#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpus of fuzz_proc: files of /proc and of cgroups, as the kernel writes them and odd."""
from __future__ import annotations

import pathlib
import struct
import sys

MAPS, TEXT, AUXV, FILES = range(4)

MAPS_TEXT = b"""\
55d0c0a00000-55d0c0a02000 r--p 00000000 fe:01 1573 /usr/bin/dotnet
55d0c0a02000-55d0c0a05000 r-xp 00002000 fe:01 1573 /usr/bin/dotnet
7f0000000000-7f0000021000 rw-p 00000000 00:00 0
7f1000000000-7f1000400000 rw-s 00000000 00:01 2049 /memfd:doublemapper (deleted)
7f2000000000-7f2000001000 r--p 00001000 fe:01 99 /tmp/a\\012b (deleted)
7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]
7ffc000e0000-7ffc000e4000 r--p 00000000 00:00 0 [vvar]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]
"""
ODD_MAPS = b"""\
2000-1000 r--p 0 0:0 0 /backwards
3000-4000 r--p 0 0:0 0 /first
1000-2000 r--p 0 0:0 0 /descends
5000-6000 r--p 99999999999999999 0:0 0 /large
7000-8000 rw
zz-yy
9000-a000 rwxs 0 ffffffffff:0 18446744073709551615 (deleted)
"""
STATUS = b"""\
Name:\tdotnet
State:\tS (sleeping)
Tgid:\t4711
TracerPid:\t0
Uid:\t1000\t1000\t1000\t1000
NSpid:\t4711\t17
VmSize:\t  123456 kB
RssAnon:\t   12345 kB
VmSwap:\t       8 kB
Kthread:\t0
"""
STAT = b"4711 (a) S (b) R 1 4711 4711 0 -1 4194560 1 2 3 4 150 50 7 8 20 0 1 0 4242388 9 10\n"
CGROUP_2 = b"0::/user.slice/app.service\n"
CGROUP_1 = b"4:cpu,memory:/a/b\n3:cpuset:/\n"
MOUNTS = b"""\
22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/root rw
48 22 0:48 / /mnt/a\\040b rw,nosuid - fuse.sshfs host:/ rw,user_id=0
49 22 0:49 / /srv rw master:3 - nfs4 host:/srv rw
"""
EVENTS = b"low 0\nhigh 2\nmax 3\noom 4\noom_kill 5\n"
PRESSURE = b"""\
some avg10=0.22 avg60=0.17 avg300=1.11 total=58761459
full avg10=0.00 avg60=12.03 avg300=100.00 total=1
"""
OUTSIDE = b"0::/../../..\n"


def auxv(*pairs: tuple[int, int]) -> bytes:
    """An auxiliary vector."""
    return b"".join(struct.pack("<QQ", *pair) for pair in pairs)


def files(*texts: bytes) -> bytes:
    """The files of a machine, in the order of fuzz_proc.c."""
    return b"\xff".join(texts)


def corpus() -> dict[str, tuple[int, bytes]]:
    """Every input by name."""
    room = (b"100000000\n", b"5000\n", b"anon 1\ninactive_file 300\n")
    old = (b"9223372036854771712\n", b"7\n", b"total_rss 3\n")
    waits = (EVENTS, PRESSURE, b"oom_kill_disable 0\noom_kill 2\n", PRESSURE)
    meminfo = b"MemTotal: 8000000 kB\nMemAvailable:    4000000 kB\n"
    return {
        "maps": (MAPS, MAPS_TEXT),
        "maps-odd": (MAPS, ODD_MAPS),
        "maps-cut": (MAPS, MAPS_TEXT[:150]),
        "status": (TEXT, STATUS),
        "stat": (TEXT, STAT),
        "stat-odd": (TEXT, b"1 ()"),
        "environ": (TEXT, b"A=b\0TMPDIR=/x/y\0TMPDIR=/z"),
        "mounts": (TEXT, MOUNTS),
        "cgroup": (TEXT, CGROUP_1 + CGROUP_2),
        "auxv": (AUXV, auxv((3, 0x550000000040), (5, 13), (9, 0x550000001000), (7, 1), (0, 0))),
        "auxv-cut": (AUXV, auxv((3, 64), (5, 2**64 - 1))[:-3]),
        "room-2": (FILES, files(meminfo, STATUS, CGROUP_2, *room)),
        "room-1": (FILES, files(meminfo, STATUS, CGROUP_1, b"max", b"", b"", *room)),
        "cgroup-2": (FILES, files(meminfo, STATUS, CGROUP_2, *room, *old, *waits)),
        "cgroup-1": (FILES, files(meminfo, STATUS, CGROUP_1, b"max", b"", b"", *room, *waits)),
        "pressure": (TEXT, PRESSURE),
        "pressure-odd": (TEXT, PRESSURE.replace(b".", b"999.", 2)),
        "room-outside": (FILES, files(meminfo, STATUS, OUTSIDE, *room)),
    }


def main(folder: pathlib.Path) -> None:
    """Write all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (kind, data) in corpus().items():
        (folder / name).write_bytes(bytes([kind]) + data)


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "corpus" / "proc")
