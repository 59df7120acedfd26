#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare .hprof files with VisualVM's library: check_hprof.py [CORE...] [DUMP.hprof...].

What export writes of a core must be what the library reads: counts, sizes, texts, references, ways to a root, what
retains most, threads. What the library reads of a dump of Java, a small program's when none is given, must be what
heapdump reads.

Status 77: there is no java, or no VisualVM (Debian's package visualvm, installed or, without root, by
"apt-get download visualvm" and "dpkg -x" into the folder that VISUALVM names).
"""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
PROGRAM = str(BUILD / "heapdump")
JAR = "usr/share/visualvm/visualvm/modules/org-graalvm-visualvm-lib-jfluid-heap.jar"
ROOTS = (os.environ.get("VISUALVM", "/"), "/")
SKIPPED = 77
TIMEOUT = 600
# Objects whose ways to a root are compared.
SAMPLE = "SELECT address, live FROM objects WHERE NOT free AND address / 8 % 97 = 5 LIMIT 400"
NUMBERS = {
    "System.Boolean[]": "boolean[]",
    "System.Char[]": "char[]",
    "System.Single[]": "float[]",
    "System.Double[]": "double[]",
    "System.Byte[]": "byte[]",
    "System.SByte[]": "byte[]",
    "System.Int16[]": "short[]",
    "System.UInt16[]": "short[]",
    "System.Int32[]": "int[]",
    "System.UInt32[]": "int[]",
    "System.Int64[]": "long[]",
    "System.UInt64[]": "long[]",
    "System.IntPtr[]": "long[]",
    "System.UIntPtr[]": "long[]",
}
PROGRAM_IN_JAVA = """
import java.util.*;
public class Held {
    static class Session { final String name; final byte[] body; Session(int i) {
        name = "session-" + i + (i % 3 == 0 ? "\\u00e9\\u4e16" : ""); body = new byte[i % 500]; } }
    static final List<Session> sessions = new ArrayList<>();
    static final Map<String, int[]> table = new HashMap<>();
    public static void main(String[] a) throws Exception {
        for (int i = 0; i < 3000; i++) { sessions.add(new Session(i)); table.put("key" + i, new int[i % 40]); }
        Session local = new Session(7);
        System.out.println("ready");
        System.in.read();
        System.out.println(local);
    }
}
"""


def say(text: str) -> None:
    """One line, at once."""
    print(text, flush=True)


class Checks:
    """Counts what is the same, and what is not."""

    def __init__(self) -> None:
        self.good = 0
        self.bad: list[str] = []

    def equal(self, what: str, ours: Any, theirs: Any) -> None:
        """Both must be the same."""
        self.holds(ours == theirs, f"{what}: {ours!r} of heapdump, {theirs!r} of VisualVM"[:300])

    def holds(self, holds: bool, what: str) -> None:
        """It must be so."""
        self.good += holds
        if not holds:
            self.bad.append(what)


class Library:
    """VisualVM's library, as HprofFacts.java asks it."""

    def __init__(self, folder: Path) -> None:
        jars = [Path(root) / JAR for root in ROOTS]
        self.jar = next((jar for jar in jars if jar.exists()), None)
        self.folder = folder

    def compile(self) -> str | None:
        """Make the program; why it cannot be."""
        if not self.jar:
            return "VisualVM is not installed, and VISUALVM does not say where it is"
        if not shutil.which("javac"):
            return "there is no javac"
        source = SOURCE / "tests" / "oracle" / "HprofFacts.java"
        subprocess.run(
            ["javac", "-nowarn", "-cp", str(self.jar), "-d", str(self.folder), str(source)],
            check=True,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT,
        )
        return None

    def facts(self, path: Path, biggest: int, objects: list[int]) -> dict[str, list[list[str]]]:
        """Its lines by their first word."""
        done = subprocess.run(
            ["java", "-cp", f"{self.folder}:{self.jar}", "HprofFacts", str(path), str(biggest)]
            + [f"{number:x}" for number in objects],
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr.decode(errors="replace")[-2000:])
        found: dict[str, list[list[str]]] = defaultdict(list)
        for line in done.stdout.decode("utf-8", "surrogatepass").splitlines():
            word, *cells = line.split("\t")
            found[word].append(cells)
        shutil.rmtree(f"{path}.hwcache", ignore_errors=True)
        return found


def answer(path: Path, *words: str) -> dict[str, Any]:
    """One command's JSON document."""
    done = subprocess.run(
        [PROGRAM, str(path), *words, "--json"], capture_output=True, timeout=TIMEOUT, check=False
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr.decode())
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def rows(path: Path, query: str) -> list[dict[str, Any]]:
    """The rows of a query."""
    found: list[dict[str, Any]] = answer(path, "sql", query)["rows"]
    return found


def escaped(text: str) -> str:
    """As HprofFacts writes it."""
    for plain, written in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(plain, written)
    return text


def retained_of(path: Path, count: int) -> dict[str, int]:
    """The bytes that the largest objects retain, by their addresses in hex."""
    found = answer(path, "dominators", "-top", str(count))["nodes"]
    found.sort(key=lambda row: -int(row["retained"]))
    return {row["address"][2:]: row["retained"] for row in found}


def check_classes(checks: Checks, core: Path, facts: dict[str, list[list[str]]]) -> None:
    """Counts of all types, and sizes of those that the format counts as .NET does."""
    ours: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for row in answer(core, "types")["types"]:
        ours[row["name"]] += row["count"]
        sizes[row["name"]] += row["size"]
    theirs = {cells[0]: cells for cells in facts["class"]}
    java: Counter[str] = Counter()
    for name, count in ours.items():
        if name in NUMBERS or name == "System.String":
            java[NUMBERS.get(name, "java.lang.String")] += count
            continue
        if not count:
            continue
        got = theirs.get(name, ["", "0", "0"])
        checks.equal(f"count of {name}", count, int(got[1]))
        if "[" not in name:
            checks.equal(f"bytes of {name}", sizes[name], int(got[2]))
    for name, count in java.items():
        checks.holds(int(theirs[name][1]) >= count, f"{name}: fewer than {count}")


def check_texts(checks: Checks, core: Path, facts: dict[str, list[list[str]]]) -> None:
    """All texts."""
    theirs = {cells[0]: cells[1] for cells in facts["text"]}
    for row in rows(core, "SELECT address, value FROM strings"):
        text = row["value"]
        if text is None or "\ufffd" in text:
            continue
        got = theirs.get(row["address"][2:], "")
        checks.equal(f"text at {row['address']}", escaped(text), got[: len(escaped(text))])


def check_ways(checks: Checks, core: Path, facts: dict[str, list[list[str]]]) -> None:
    """The chosen objects: do both find a way to a root?"""
    ways: dict[str, list[list[str]]] = defaultdict(list)
    for cells in facts["path"]:
        ways[cells[0]].append(cells)
    live = {row["address"][2:]: bool(row["live"]) for row in rows(core, SAMPLE)}
    for key, way in ways.items():
        checks.equal(f"is {key} alive", live[key], way[-1][3] == "root")


def check_retained(checks: Checks, core: Path, facts: dict[str, list[list[str]]]) -> None:
    """The same objects retain most, where sizes are counted in the same way."""
    theirs = {cells[0]: int(cells[1]) for cells in facts["retained"]}
    ours = list(retained_of(core, 8))
    ranks = list(theirs)
    met = [key for key in ours if key in theirs]
    checks.holds(len(met) >= len(ours) // 2, f"of the largest {len(ours)} only {len(met)} are met")
    order = [ranks.index(key) for key in met]
    swaps = sum(
        1
        for i, first in enumerate(met)
        for second in met[i + 1 :]
        if order[met.index(first)] > order[met.index(second)]
        and theirs[second] > theirs[first] * 1.4
    )
    checks.equal("order of what retains most", 0, swaps)


def check_statics_and_threads(
    checks: Checks, core: Path, facts: dict[str, list[list[str]]]
) -> None:
    """Statics refer to the same objects; each thread with frames is there, and has their methods."""
    theirs = {(cells[0], cells[1]): cells[2] for cells in facts["static"]}
    query = "SELECT DISTINCT name, object FROM roots WHERE kind = 'static'"
    found = rows(core, query)
    values = set((key[0], value) for key, value in theirs.items())
    for row in found:
        if not row["name"] or not row["object"]:
            continue
        match = re.fullmatch(r"(.+)\.([^.>]+)", row["name"])
        if match:
            of = match.group(1)
            key = ("java.lang.String" if of == "System.String" else of, row["object"][2:])
            checks.holds(key in values, f"static {row['name']} is not there")
    methods = Counter(cells[2] for cells in facts["frame"])
    names = {
        re.sub(r"\(.*", "", row["method"]).rsplit(".", 1)[-1]
        for row in rows(core, "SELECT method FROM frames WHERE kind = 'managed'")
        if row["method"] and "<" not in row["method"]
    }
    for name in names:
        checks.holds(bool(methods[name]), f"no frame of {name}")


def check_core(library: Library, core: Path, folder: Path) -> Checks:
    """Export a core and compare."""
    checks = Checks()
    path = folder / "core.hprof"
    answer(core, "export", str(path))
    chosen = [int(row["address"], 16) for row in rows(core, SAMPLE)]
    facts = library.facts(path, 40, chosen)
    check_classes(checks, core, facts)
    check_texts(checks, core, facts)
    check_ways(checks, core, facts)
    check_retained(checks, core, facts)
    check_statics_and_threads(checks, core, facts)
    path.unlink()
    return checks


def check_dump(library: Library, path: Path) -> Checks:
    """Read a dump of Java and compare."""
    checks = Checks()
    facts = library.facts(path, 12, [])
    ours: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for row in answer(path, "types")["types"]:
        ours[row["name"]] += row["count"]
        sizes[row["name"]] += row["size"]
    counts: Counter[str] = Counter()
    bytes_: Counter[str] = Counter()
    for cells in facts["class"]:
        counts[cells[0]] += int(cells[1])
        bytes_[cells[0]] += int(cells[2])
    for name in counts.keys() | ours.keys():
        # Classes are objects of it for heapdump, and none for VisualVM.
        if name != "java.lang.Class":
            checks.equal(f"count of {name}", ours[name], counts[name])
            checks.equal(f"bytes of {name}", sizes[name], bytes_[name])
    retained = retained_of(path, 200)
    same = [cells for cells in facts["retained"] if cells[2] != "java.lang.Class"]
    for cells in same:
        checks.equal(f"retained by {cells[0]} ({cells[2]})", retained.get(cells[0]), int(cells[1]))
    checks.holds(len(same) > 5, "nothing that retains much")
    return checks


def make_dump(folder: Path) -> Path:
    """A dump of a small program, whose references have 8 bytes."""
    (folder / "Held.java").write_text(PROGRAM_IN_JAVA, encoding="utf-8")
    subprocess.run(["javac", "Held.java"], cwd=folder, check=True, timeout=TIMEOUT)
    path = folder / "held.hprof"
    words = ["java", "-XX:-UseCompressedOops", "-Xmx64m", "-cp", str(folder), "Held"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout and process.stdin
        process.stdout.readline()
        subprocess.run(
            ["jcmd", str(process.pid), "GC.heap_dump", str(path)],
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=TIMEOUT,
        )
        process.stdin.close()
    return path


def main() -> int:
    """Check each file; the number of failures decides the status."""
    with tempfile.TemporaryDirectory(prefix="heapdump-hprof-") as name:
        folder = Path(name)
        library = Library(folder)
        why = library.compile()
        if why:
            say(f"skipped: {why}")
            return SKIPPED
        paths = [Path(word) for word in sys.argv[1:]]
        if not paths:
            paths = [SOURCE / "corefiles" / "leak.core.zst", make_dump(folder)]
        failed = 0
        for path in paths:
            begin = time.monotonic()
            is_dump = path.suffix == ".hprof"
            checks = check_dump(library, path) if is_dump else check_core(library, path, folder)
            failed += len(checks.bad)
            seconds = time.monotonic() - begin
            say(f"{path.name}: {checks.good} equal, {len(checks.bad)} not; {seconds:.1f} s")
            for bad in checks.bad[:10]:
                say(f"  {bad}")
        return failed != 0


if __name__ == "__main__":
    sys.exit(main())
