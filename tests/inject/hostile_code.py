#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damage what is known of code, and load the file that is made of it into GDB and LLDB.

    hostile_code.py [--seed N] [--count N] [--only INDEX]

Each case changes a core with a PDB: names become long, with control characters, quotes and the ends of comments; unwind codes,
bounds, tables of functions, MethodDescs and types lie, and so does the PDB. `export FILE.elf` must say what it thinks of that,
and a file that it writes must be sound for readelf, eu-elflint and llvm-dwarfdump --verify, and neither debugger may
crash on it. Exit status 1 when anything is wrong, 77 without the debuggers.
"""
from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Iterator

from core_image import SOURCE, Image, heapdump, turns

sys.path.insert(0, str(SOURCE / "tests" / "oracle"))

import check_managed_variables  # noqa: E402  pylint: disable=wrong-import-position

CORE = SOURCE / "corefiles" / "hang.core.zst"
SYMBOLS = SOURCE / "corefiles" / "symbols"
COUNT, TIMEOUT = 8, 300
HOSTILE = (b"*/", b'"', b"'", b"\x1b[31m", b"\n", b"\\", b"\xff\xfe", b"<", b"%n", b"\x7f", b"`$(")
LENGTHS = (30, 2000, 1 << 20)
GDB = (
    "bt 3",
    "info line *{ip}",
    "info symbol {ip}",
    "info scope *{ip}",
    "x/3i {ip}",
    "info types Ledger",
    "info functions Transfer",
    "info sources",
    "list *{ip}",
    "break *{ip}",
    "frame function Main",
)
LLDB = (
    "image lookup -v -a {ip}",
    "image dump line-table Orders.cs",
    "image lookup -t Shop.Ledger",
    "bt 5",
    "image dump sections",
    "disassemble -c 3 -s {ip}",
    "b Transfer",
    "image lookup -r -n Transfer",
)


class Victim:
    """The core, and where in it lies what is known of methods with frames."""

    def __init__(self, folder: Path) -> None:
        path = folder / "hang.core"
        subprocess.run(["zstd", "-qdf", str(CORE), "-o", str(path)], check=True)
        (folder / "copy").mkdir()
        self.image = Image(path, folder / "copy")
        self.folder = folder
        stacks = heapdump(str(path), "clrstack", "-all").json()["threads"]
        frames = [f for t in stacks for f in t["frames"] if f["kind"] == "managed"]
        self.ips = sorted({frame["ip"] for frame in frames})
        self.methods = [heapdump(str(path), "ip2md", ip).json() for ip in self.ips]
        self.methods = [method for method in self.methods if "name" in method]
        self.jitted = [method for method in self.methods if method["kind"] == "JIT"]

    def find(self, data: bytes) -> list[int]:
        """Addresses where these bytes lie."""
        found = []
        for start, offset, size in self.image.loads:
            part = self.image.map[offset : offset + size]
            at = part.find(data)
            while at >= 0:
                found.append(start + at)
                at = part.find(data, at + 1)
        return found

    def put(self, address: int, data: bytes) -> None:
        """Change bytes, if the core has them."""
        for i, byte in enumerate(data):
            if self.image.has(address + i):
                self.image.patch(address + i, bytes([byte]))


def scatter(victim: Victim, rng: random.Random, address: int, size: int) -> str:
    """Change some of these bytes."""
    for _ in range(rng.choice((1, 3, 20))):
        value = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        victim.put(address + rng.randrange(size), bytes([value]) * rng.choice((1, 1, 4)))
    return f"{size} bytes at {address:x}"


def change_names(victim: Victim, rng: random.Random, method: dict[str, str]) -> str:
    """Let names run into each other, with what nobody wants to see."""
    word = method["name"].split("(")[0].split(".")[-1].encode()
    places = victim.find(b"\0" + word + b"\0")
    if not places:
        return "nothing"
    place, length = rng.choice(places), rng.choice(LENGTHS)
    for at in range(place + 1, place + length):
        if not victim.image.has(at) or not victim.image.has(at + 8):
            break
        if victim.image.read(at, 1) == b"\0":
            victim.image.patch(at, rng.choice(HOSTILE)[:1])
    victim.put(place + 1, rng.choice(HOSTILE))
    return f"names at {place:x}, {length} bytes"


def change(victim: Victim, rng: random.Random, symbols: Path) -> str:
    """One kind of damage."""
    kind = rng.choice(("names", "header", "bounds", "code", "method", "type", "class", "pdb"))
    method = rng.choice(victim.jitted)
    start = int(method["start"], 16)
    if kind == "names":
        return change_names(victim, rng, method)
    if kind in ("header", "bounds"):
        header = victim.image.u64(start - 8)
        if kind == "header":
            return "header, " + scatter(victim, rng, header, 120)
        return "bounds, " + scatter(victim, rng, victim.image.u64(header), 200)
    if kind == "pdb":
        for path in symbols.glob("*.pdb/*/*.pdb"):
            data = bytearray(path.read_bytes())
            for _ in range(rng.choice((1, 5, 60))):
                data[rng.randrange(len(data))] = rng.randrange(256)
            path.write_bytes(data)
        return "PDB"
    place = {"code": start, "method": int(method["method_desc"], 16) - 24}
    place |= {"type": int(method["mt"], 16), "class": int(method["ee_class"] or "0", 16)}
    return f"{kind}, " + scatter(victim, rng, place[kind], 64 if kind == "method" else 160)


def debug(argv: list[str]) -> str:
    """Run a debugger; how it died, or nothing."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{argv[0]} did not end in {TIMEOUT} s"
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode < 0 or "internal-error" in text or "PLEASE submit a bug report" in text:
        return f"{argv[0]} died: status {done.returncode}: {text[-800:]}"
    return ""


def wrongs(victim: Victim, symbols: Path, elf: Path, ip: str) -> Iterator[str]:
    """The faults of the file that is made of a core."""
    core = str(victim.image.path)
    elf.unlink(missing_ok=True)
    made = heapdump(core, "--symbols", str(symbols), "export", str(elf))
    if made.status < 0 or (made.status > 1 and elf.exists()):
        yield f"export: status {made.status}: {made.err[-500:]}"
    if not elf.exists():
        return
    yield from check_managed_variables.checked(elf)
    gdb = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]
    for command in (f"core-file {core}", f"add-symbol-file {elf}", *GDB):
        gdb += ["-ex", command.format(ip=ip)]
    lldb = ["lldb-14", "-x", "-b"]
    loaded = (f"target modules add {elf}", f"target modules load --file {elf} --slide 0")
    for command in (f"target create -c {core}", *loaded, *LLDB):
        lldb += ["-o", command.format(ip=ip)]
    yield from filter(None, (debug(gdb), debug(lldb)))


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=turns.seed())
    parser.add_argument("--count", type=int, default=300 if turns.ALL else COUNT)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    if not shutil.which("gdb") or not shutil.which("lldb-14"):
        print("there is no GDB or no LLDB", file=sys.stderr)
        return 77
    status = files = 0
    with tempfile.TemporaryDirectory(prefix="heapdump-hostile-") as name:
        folder = Path(name)
        victim = Victim(folder)
        for index in range(options.count):
            if options.only not in (None, index):
                continue
            rng = random.Random(f"hostile code {options.seed} {index}")
            symbols, elf = folder / "symbols", folder / "managed.elf"
            shutil.rmtree(symbols, ignore_errors=True)
            shutil.copytree(SYMBOLS, symbols)
            said = [change(victim, rng, symbols) for _ in range(rng.choice((1, 2, 4)))]
            found = list(wrongs(victim, symbols, elf, rng.choice(victim.ips)))
            files += elf.exists()
            victim.image.restore()
            if found:
                status = 1
                print(f"--seed {options.seed} --only {index}: {'; '.join(said)}")
                print("".join(f"  {line}\n" for line in found), flush=True)
        print(f"{options.count} cases, {files} files")
        victim.image.close()
    return status


if __name__ == "__main__":
    sys.exit(main())
