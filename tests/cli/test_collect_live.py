#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collect from live .NET processes, if there is a SDK."""
from __future__ import annotations

import collections
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from typing import Counter, Iterator

from collecting import Case, run
from shell_program import PROGRAM, SOURCE, TIMEOUT, waiting

sys.path.insert(0, str(SOURCE / "tests" / "support"))

# pylint: disable=wrong-import-position
import gcdump_file  # noqa: E402
import turns  # noqa: E402

APPS = SOURCE / "corefiles" / "build" / "apps"


def newest_flavour() -> str:
    """The newest release that the programs of corefiles/apps can be built for, or what the variable says; "": none."""
    script = str(SOURCE / "scripts" / "make_corefiles.sh")
    flavours = os.environ.get("HEAPDUMP_TEST_FLAVOUR", "net11.0 net10.0").split()
    for flavour in flavours if shutil.which("dotnet") else []:
        builds = (
            subprocess.run(
                [script, "--build", app, flavour], stderr=subprocess.DEVNULL, check=False
            ).returncode
            for app in ("leak", "churn", "heapgen")
        )
        if not any(builds):
            return flavour
        print(f"the programs are not built for {flavour}", flush=True)
    return ""


def sessions(pid: int) -> int:
    """How many threads serve EventPipe sessions; one more, of that name, serves the socket."""
    count = -1
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            count += ".NET EventPipe" in (task / "comm").read_text(encoding="utf-8")
    return count


def types_of(path: Path, *words: str) -> Counter[str]:
    """How many objects a file has of each type."""
    counts: Counter[str] = collections.Counter()
    for row in run(str(path), "dumpheap", "-stat", *words, "--json").json["types"]:
        counts[row["name"]] += row["count"]
    return counts


def apart(some: Counter[str], others: Counter[str]) -> int:
    """How many objects one has and the other has not."""
    return (some - others).total() + (others - some).total()


@contextlib.contextmanager
def memory_limit(pid: int, size: int) -> Iterator[None]:
    """A cgroup with that limit for a process, while the block runs."""
    roots = {"memory": "memory.limit_in_bytes", ".": "memory.max"}
    for name, limit in roots.items():
        group = Path("/sys/fs/cgroup") / name / f"heapdump-test-{pid}"
        back = group.parent / "cgroup.procs"
        if name == "memory":
            line = next(
                line
                for line in Path("/proc/self/cgroup").read_text("utf-8").splitlines()
                if ":memory:" in line or name == "."
            )
            back = group.parent / line.split(":")[2].lstrip("/") / "cgroup.procs"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(size), encoding="ascii")
            (group / "cgroup.procs").write_text(str(pid), encoding="ascii")
            yield
        except FileNotFoundError:
            continue
        finally:
            with contextlib.suppress(OSError):
                back.write_text(str(pid), encoding="ascii")
            group.rmdir()
        return
    raise unittest.SkipTest("no cgroup can be made")


class Live(Case):
    """Programs of corefiles/apps."""

    # Things that sessions leave, and callbacks that wait for their turn, of which each is gone later.
    FLEETING = 8
    flavour = ""

    @classmethod
    def setUpClass(cls) -> None:
        cls.flavour = newest_flavour()
        if not cls.flavour:
            raise unittest.SkipTest("no dotnet, or the programs cannot be built")

    @contextlib.contextmanager
    def program(
        self, name: str, *words: str, server: bool = False, port: str = "", survives: bool = True
    ) -> Iterator[subprocess.Popen[bytes]]:
        """A program that has said READY, while the block runs; not waited for with a port."""
        env = dict(os.environ, TMPDIR=str(self.sockets), DOTNET_gcServer=str(int(server)))
        env["DOTNET_GCHeapCount"] = "2"
        if port:
            env["DOTNET_DiagnosticPorts"] = port
        built = str(APPS / f"{name}-{self.flavour}" / name)
        command = ["dotnet", f"{built}.dll"] if self.flavour == "net10.0" else [built]
        command += words
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE) as process:
            try:
                assert process.stdout
                while not port and process.stdout.readline() not in (b"READY\n", b""):
                    pass
                yield process
                if survives:
                    self.assertIsNone(process.poll(), "the program has ended")
            finally:
                process.kill()

    def ended(self, pid: int) -> None:
        """No session is left in the process, after the time that a busy runtime needs to end them."""
        waiting.wait_until(lambda: not sessions(pid), f"process {pid} has no session any more")

    def test_formats(self) -> None:
        """A collected file can be read, and holds what the program has made."""
        with self.program("leak") as leak:
            for name in ("a.nettrace", "a.gcdump", "a.heap", "a.heapsnapshot"):
                with self.subTest(name):
                    answer = self.collect(leak.pid, "--json", name=name)
                    self.assertEqual(answer.status, 0, answer.err + answer.out)
                    self.assertGreater(answer.json["objects"], 10000)
                    self.assertTrue(answer.json["complete"])
                    self.assertEqual(self.sessions_in(self.folder / name), 4000)
            self.ended(leak.pid)
        self.assertEqual(len(self.files()), 4)

    @staticmethod
    def sessions_in(path: Path) -> int:
        """How many objects of one type a file has."""
        if path.suffix != ".heapsnapshot":
            return types_of(path)["WebShop.Session"]
        document = json.loads(path.read_text(encoding="utf-8"))
        width = len(document["snapshot"]["meta"]["node_fields"])
        names = document["nodes"][1::width]
        return sum(document["strings"][name] == "WebShop.Session" for name in names)

    def test_live(self) -> None:
        """Without what is dead, and so many are told."""
        with self.program("leak") as leak:
            self.collect(leak.pid, name="all.nettrace")
            answer = self.collect(leak.pid, "-live", "--json", name="live.gcdump")
        self.assertEqual(answer.status, 0, answer.err)
        info = run(str(self.folder / "live.gcdump"), "info", "--json").json
        self.assertEqual(answer.json["objects"], info["objects"])
        self.assertEqual(answer.json["references"], info["references"])
        whole, live = types_of(self.folder / "all.nettrace"), types_of(self.folder / "live.gcdump")
        self.assertEqual(live.total(), info["objects"])
        self.assertGreater(whole.total() - live.total(), 50)
        self.assertLess(apart(live, types_of(self.folder / "all.nettrace", "-live")), self.FLEETING)

    def test_exact(self) -> None:
        """The .gcdump that dotnet-gcdump makes: its root, its names, as of a trace that was kept."""
        with self.program("leak") as leak:
            self.collect(leak.pid, name="kept.nettrace")
            answer = self.collect(leak.pid, "--exact", name="exact.gcdump")
            self.collect(leak.pid, name="plain.gcdump")
        self.assertEqual(answer.status, 0, answer.err)
        kept = run(
            str(self.folder / "kept.nettrace"),
            "export",
            "--exact",
            str(self.folder / "kept.gcdump"),
        )
        self.assertEqual(kept.status, 0, kept.err)
        names: dict[str, Counter[str]] = {}
        for name in ("exact", "kept", "plain"):
            dump = gcdump_file.read((self.folder / f"{name}.gcdump").read_bytes())
            self.assertEqual(dump.name(dump.root), "[.NET Roots]")
            names[name] = collections.Counter(str(dump.types[node.type][0]) for node in dump.nodes)
        self.assertLess(apart(names["exact"], names["kept"]), self.FLEETING)
        # Nested classes have their simple names there.
        self.assertIn("UTF8EncodingSealed", names["exact"])
        self.assertIn("System.Text.UTF8Encoding+UTF8EncodingSealed", names["plain"])

    def test_cgroup(self) -> None:
        """A limit of its cgroup bounds the buffer, and is named."""
        limit = 80 << 20
        with self.program("leak") as leak, memory_limit(leak.pid, limit):
            answer = self.collect(leak.pid, "--json")
        self.assertEqual(answer.status, 0, answer.err)
        self.assertLessEqual(answer.json["buffer"], limit // 4 * 3)
        self.assertGreater(answer.json["buffer"], limit // 4)
        self.assertIn("(what its cgroup leaves it)", answer.err)
        self.assertTrue(answer.json["complete"])

    def test_default_name(self) -> None:
        """Without -o the file is named by process and time."""
        with self.program("leak") as leak:
            answer = run("collect", str(leak.pid), "-format", "nettrace", cwd=self.folder)
            self.assertEqual(answer.status, 0, answer.err)
        names = self.files()
        self.assertEqual(len(names), 1)
        self.assertRegex(names[0], rf"^{leak.pid}-\d{{8}}-\d{{6}}\.nettrace$")

    def test_under_load(self) -> None:
        """Several times in a row, of server GC under load: each complete."""
        with self.program("churn", server=True) as churn:
            for i in range(20 if turns.ALL else 6):
                answer = self.collect(churn.pid, "--json")
                self.assertEqual(answer.status, 0, f"{i}: {answer.err} {answer.out}")
                self.assertEqual(answer.json["findings"], [])
                self.assertGreater(answer.json["objects"], 10000)
            self.ended(churn.pid)

    def test_small_buffer(self) -> None:
        """Events are lost, and it is done again with a larger one."""
        with self.program("leak") as leak:
            answer = self.collect(leak.pid, "--json", "-buffer", "1M")
            self.assertEqual(answer.status, 0, answer.err + answer.out)
            self.assertEqual(answer.json["tries"], 2)
            self.assertTrue(answer.json["complete"])

    def test_generations(self) -> None:
        """The ranges of the generations come along."""
        options: list[tuple[str, list[str]]] = [("with", ["-generations"]), ("without", [])]
        with self.program("leak") as leak:
            for name, words in options:
                answer = self.collect(leak.pid, *words, name=f"{name}.gcdump")
                self.assertEqual(answer.status, 0, answer.err)
        dump = gcdump_file.read((self.folder / "without.gcdump").read_bytes())
        self.assertFalse(dump.segments)
        dump = gcdump_file.read((self.folder / "with.gcdump").read_bytes())
        assert dump.segments
        # The end of the generation that each is of; the large and the pinned objects are 3 and 4.
        kinds = {key for row in dump.segments for key in row if "gen" in key and row[key]}
        self.assertLessEqual({"gen2", "gen3", "gen4"}, kinds)
        outside = collections.Counter(
            str(dump.types[node.type][0])
            for node in dump.nodes
            if node.address
            and not any(row["start"] <= node.address < row["end"] for row in dump.segments)
        )
        # Only the frozen heap is none of a generation.
        self.assertLess(outside.total(), 400)
        self.assertFalse(outside["WebShop.Session"] + outside["WebShop.Product"])
        path = str(self.folder / "with.gcdump")
        query = ("dumpheap", "-stat", "-type", "WebShop", "--json", "-gen")
        counts = [
            run(path, *query, generation).json["total"]["count"]
            for generation in ("0", "1", "2", "loh", "poh", "foh")
        ]
        # Collected by a GC of all generations: what the program holds has become old.
        self.assertGreater(counts[2], 10000)
        self.assertEqual(sum(counts), run(path, *query[:-1]).json["total"]["count"])

    def test_interrupt(self) -> None:
        """Ctrl-C at any moment: no file, no session, and the process goes on."""
        with self.program("heapgen", "1") as heapgen:
            for wait in (0.02, 0.05, 0.1, 0.15, 0.2, 0.3):
                out = str(self.folder / "x.nettrace")
                command = [PROGRAM, "collect", str(heapgen.pid), "-o", out]
                with subprocess.Popen(command, stderr=subprocess.PIPE) as program:
                    time.sleep(wait)
                    program.send_signal(signal.SIGINT)
                    status = program.wait(TIMEOUT)
                self.assertIn(status, (0, 130, -signal.SIGINT))
                self.assertEqual(self.files(), [] if status else ["x.nettrace"])
                (self.folder / "x.nettrace").unlink(missing_ok=True)
                self.ended(heapgen.pid)
            answer = self.collect(heapgen.pid, "--json")
            self.assertEqual(answer.status, 0, answer.err)
            self.assertGreater(answer.json["objects"], 1000000)

    def unnamed(self, name: str) -> int:
        """How many types of a file have no name."""
        rows = run(str(self.folder / name), "dumpheap", "-stat", "--json").json["types"]
        self.assertGreater(len(rows), 50)
        return sum(row["name"].startswith("UNKNOWN") for row in rows)

    def test_loss_that_shows_late(self) -> None:
        """After the events that were dropped small ones still had room."""
        with self.program("heapgen", "2") as heapgen:
            answer = self.collect(heapgen.pid, "--json", "-buffer", "8M")
        self.assertEqual(answer.status, 0, answer.err)
        self.assertGreater(answer.json["objects"], 2000000)
        self.assertTrue(answer.json["complete"])
        self.assertEqual(answer.json["tries"], 2)

    def test_names_after_another(self) -> None:
        """A session that still ends, or begins at the same time, takes no names away."""
        with self.program("heapgen", "1") as heapgen:
            for number in (signal.SIGINT, signal.SIGKILL):
                command = [PROGRAM, "collect", str(heapgen.pid), "-o"]
                command += [str(self.folder / "x.gcdump")]
                with subprocess.Popen(command, stderr=subprocess.DEVNULL) as program:
                    time.sleep(0.2)
                    program.send_signal(number)
                    program.wait(TIMEOUT)
                answer = self.collect(heapgen.pid, name="y.gcdump")
                self.assertEqual(answer.status, 0, answer.err)
                self.assertEqual(self.unnamed("y.gcdump"), 0)
            with subprocess.Popen(command, stdout=subprocess.DEVNULL) as program:
                answer = self.collect(heapgen.pid, name="y.nettrace")
                self.assertEqual(program.wait(TIMEOUT), 0)
            self.assertEqual(answer.status, 0, answer.err)
            self.assertEqual(self.unnamed("x.gcdump") + self.unnamed("y.nettrace"), 0)

    def test_dies(self) -> None:
        """A target that is killed in the middle."""
        with self.program("heapgen", "1", survives=False) as heapgen:
            command = [PROGRAM, "collect", str(heapgen.pid)]
            command += ["-o", str(self.folder / "x.nettrace")]
            with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as program:
                time.sleep(0.15)
                heapgen.kill()
                status = program.wait(TIMEOUT)
                assert program.stderr
                text = program.stderr.read()
            self.assertIn(status, (0, 1, 3), text)
            self.assertEqual(self.files(), [] if status == 3 else ["x.nettrace"])
            if status == 3:
                self.assertRegex(text, "has ended|hung up")

    def test_ports(self) -> None:
        """The runtime connects to us; one that waits with its start is let go."""
        for suffix in (",nosuspend", ""):
            with self.subTest(suffix):
                port = str(self.sockets / "port")
                name = self.folder / "x.nettrace"
                command = [PROGRAM, "collect", "-port", port, "-o", str(name), "--json"]
                with subprocess.Popen(
                    command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
                ) as program:
                    waiting.wait_until(lambda at=port: os.path.exists(at), "it listens")
                    with self.program("leak", port=port + suffix) as leak:
                        out, err = program.communicate(timeout=TIMEOUT)
                        self.assertEqual(program.returncode, 0, err + out)
                        self.assertEqual(json.loads(out)["pid"], leak.pid)
                        self.assertTrue(name.exists())
                self.assertFalse(os.path.exists(port))


if __name__ == "__main__":
    unittest.main(verbosity=2)
