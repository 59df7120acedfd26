#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The profiler in live .NET programs, if there is a SDK: what it writes, and that the program does not notice it."""
from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
import unittest
import uuid
from pathlib import Path
from typing import Iterator

from collecting import Answer, run
from profiling import (
    CLASS,
    LIBRARY,
    NEWEST,
    SIGNAL,
    TOO_LATE,
    ProfilerCase,
    build_program,
    words_of,
)
from shell_program import PROGRAM, TIMEOUT

FLAVOURS = tuple(dict.fromkeys((NEWEST, "net10.0", "net9.0", "net8.0")))
HELD = 1000


def simple_name(name: str) -> str:
    """Without type arguments and outer classes, which the events do not have for nested classes."""
    name, before = name.replace("<>c", "()c"), ""
    while name != before:
        name, before = re.sub(r"<[^<>]*>", "", name), name
    return name.rsplit("+", 1)[-1]


class ProfilerTest(ProfilerCase):
    """Its files, and the times when it writes them."""

    def words(self, flavour: str) -> list[str]:
        """The command line of the program."""
        return [*words_of("profiled", flavour), str(HELD)]

    @contextlib.contextmanager
    def program(self, flavour: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
        """Run the program until it is ready; afterwards let it end, and keep what it left."""
        with self.run_program(
            self.words(flavour), self.environment(**variables), head_lines=1
        ) as process:
            yield process

    def unharmed(self, err: str = "", said: str = "") -> None:
        """The program ended as it does without the profiler, and said nothing else."""
        assert self.ended
        self.assertEqual(self.ended.status, 7)
        self.assertEqual(
            self.ended.out, f'{{"program":"profiled","held":{HELD}}}\n{said}heard a\nheld {HELD}\n'
        )
        self.assertRegex(self.ended.err, f"^{err}$")

    def holds_all(self, name: str) -> None:
        """The file has the objects that the program holds, and the static that holds them."""
        self.assertEqual(self.counts(name)["Profiled.Held"], HELD)

    def test_a_signal_writes_each_format(self) -> None:
        for flavour in FLAVOURS:
            for ending in ("gcdump", "nettrace", "heap"):
                with self.subTest(flavour=flavour, ending=ending):
                    self.forget_files()
                    with self.program(
                        flavour,
                        HEAPDUMP_WHEN="signal",
                        HEAPDUMP_OUT=f"{self.folder}/out/%p-%r.{ending}",
                    ) as process:
                        self.speak(process)
                        os.kill(process.pid, SIGNAL)
                        self.await_files(1)
                    self.unharmed()
                    self.assertEqual(self.written(), [f"{process.pid}-signal.{ending}"])
                    self.holds_all(self.written()[0])

    def types(self, name: str) -> dict[str, tuple[int, int]]:
        """Count and size of the objects of each type of a file, by its simple name."""
        path = str(self.folder / "out" / name)
        ret: dict[str, tuple[int, int]] = {}
        for row in run(path, "dumpheap", "-stat", "--json").json["types"]:
            simple = simple_name(row["name"])
            # The name of the file is in the environment.
            size = 0 if simple == "System.String" else row["size"]
            count, bytes_before = ret.get(simple, (0, 0))
            ret[simple] = (count + row["count"], bytes_before + size)
        return ret

    def frozen(self, name: str) -> int:
        """How many frozen objects have roots in a file."""
        rows = run(str(self.folder / "out" / name), "roots", "--json").json["roots"]
        return sum(row["kind"] == "gc" for row in rows)

    def test_three_ways_find_the_same_objects(self) -> None:
        """ObjectReferences tells objects without EventPipe."""
        for flavour in FLAVOURS:
            found: dict[str, dict[str, tuple[int, int]]] = {}
            rooted: dict[str, int] = {}
            for way in ("socket", "events", "walk"):
                name = f"{flavour}-{way}.heap"
                with self.program(
                    flavour,
                    HEAPDUMP_WHEN="signal",
                    HEAPDUMP_WAY=way,
                    HEAPDUMP_OUT=f"{self.folder}/out/{name}",
                ) as process:
                    self.await_rest(process.pid)
                    os.kill(process.pid, SIGNAL)
                    self.await_files(len(found) + 1)
                    self.speak(process)
                self.unharmed()
                found[way] = self.types(name)
                rooted[way] = self.frozen(name)
            with self.subTest(flavour=flavour):
                self.assertEqual(found["walk"], found["socket"])
                self.assertEqual(found["events"], found["socket"])
                # The runtime sends no roots for them; the profiler asks where they are.
                self.assertGreater(rooted["events"], 100)
                self.assertEqual(rooted["walk"], rooted["events"])
                self.assertEqual(rooted["socket"], 0)
            self.forget_files()

    def test_exit_and_exceptions(self) -> None:
        for flavour in FLAVOURS:
            for way in ("any", "walk"):
                with self.subTest(flavour=flavour, way=way):
                    self.forget_files()
                    with self.program(
                        flavour,
                        HEAPDUMP_WHEN="exit,oom",
                        HEAPDUMP_WAY=way,
                        HEAPDUMP_OUT=f"{self.folder}/out/%r.gcdump",
                    ) as process:
                        assert process.stdin
                        process.stdin.write("oom\n")
                        process.stdin.flush()
                        self.await_files(1)
                        self.assertEqual(self.written(), ["oom.gcdump"])
                        (self.folder / "out" / "oom.gcdump").rename(self.folder / "first.gcdump")
                        # Only the first one counts.
                        process.stdin.write("oom\n")
                        process.stdin.flush()
                        time.sleep(1)
                        self.assertEqual(self.written(), [])
                        self.speak(process)
                    self.unharmed(said="out of memory\nout of memory\n")
                    self.assertEqual(self.written(), ["exit.gcdump"])
                    self.holds_all("exit.gcdump")
                    self.holds_all("../first.gcdump")

    def test_without_a_socket(self) -> None:
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                with self.program(
                    flavour,
                    HEAPDUMP_WHEN="signal",
                    HEAPDUMP_OUT=f"{self.folder}/out/{flavour}.nettrace",
                    DOTNET_EnableDiagnostics_IPC="0",
                ) as process:
                    self.speak(process)
                    os.kill(process.pid, SIGNAL)
                    self.await_files(FLAVOURS.index(flavour) + 1)
                self.unharmed()
                self.holds_all(f"{flavour}.nettrace")

    def test_the_program_is_held(self) -> None:
        """It says so when it is not."""
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                self.forget_files()
                with self.program(
                    flavour,
                    HEAPDUMP_WHEN="signal",
                    HEAPDUMP_HOLD="1",
                    HEAPDUMP_OUT=f"{self.folder}/out/%t.gcdump",
                ) as process:
                    for number in range(2):
                        os.kill(process.pid, SIGNAL)
                        self.await_files(number + 1)
                        time.sleep(1.1)
                    self.speak(process)
                self.unharmed()

    def test_a_schedule(self) -> None:
        with self.program(
            NEWEST, HEAPDUMP_WHEN="every 1s", HEAPDUMP_OUT=f"{self.folder}/out/%t-%r.gcdump"
        ) as process:
            self.speak(process)
            # On a busy machine the first ones may come before the program holds everything.
            self.await_files(len(self.complete()) + 3)
        self.unharmed(TOO_LATE.format("every"))
        for name in self.written():
            self.assertTrue(name.endswith("-every.gcdump"), name)
        for name in self.written()[-2:]:
            self.holds_all(name)

    def test_resident_memory_leads_to_one_file(self) -> None:
        # The program grows from less than the first to more than it, when it holds everything.
        cases = [("rss>250M", 1), ("rss > 250M , every 1h", 1), ("rss>900G", 0), ("rss>99%", 0)]
        for when, count in cases:
            with self.subTest(when=when):
                self.forget_files()
                out = f"{self.folder}/out/%t-%r.gcdump"
                with self.program(NEWEST, HEAPDUMP_WHEN=when, HEAPDUMP_OUT=out) as process:
                    self.assertEqual(self.written(), [])
                    self.speak(process, "grow")
                    self.speak(process)
                    self.await_files(count)
                    time.sleep(2.5)
                self.unharmed(said="grown\n")
                self.assertEqual(len(self.written()), count)
                for name in self.written():
                    self.assertTrue(name.endswith("-rss.gcdump"), name)
                    self.holds_all(name)

    def test_a_storm_of_signals(self) -> None:
        out = f"{self.folder}/out/%r.gcdump"
        with self.program(NEWEST, HEAPDUMP_WHEN="signal", HEAPDUMP_OUT=out) as process:
            for _ in range(3000):
                os.kill(process.pid, SIGNAL)
            self.speak(process)
            self.await_files(1)
        self.unharmed(TOO_LATE.format("signal"))
        self.holds_all("signal.gcdump")

    def test_the_end_comes_during_a_snapshot(self) -> None:
        out = f"{self.folder}/out/%r.gcdump"
        for wait in (0, 0.005, 0.02, 0.05, 0.1, 0.2):
            with self.subTest(wait=wait):
                with self.program(NEWEST, HEAPDUMP_WHEN="signal", HEAPDUMP_OUT=out) as process:
                    self.speak(process)
                    os.kill(process.pid, SIGNAL)
                    time.sleep(wait)
                self.unharmed(TOO_LATE.format("signal"))
                self.assertIn(self.written(), ([], ["signal.gcdump"]))

    def inside(self, pid: int, name: str) -> Answer:
        """collect -inside into the folder."""
        return run("collect", str(pid), "-inside", "-o", f"{self.folder}/out/{name}")

    def signals(self, pid: int) -> list[str]:
        """Which signals a process ignores, and which it handles."""
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        return re.findall(r"Sig(?:Ign|Cgt):\t(\w+)", status)

    def test_a_library_that_is_sent(self) -> None:
        """It writes each format, leaves again, and the program does not notice."""
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                with self.program(flavour, CORECLR_ENABLE_PROFILING="0") as process:
                    handled = self.signals(process.pid)
                    for ending in ("gcdump", "nettrace", "heap", "heapsnapshot"):
                        answer = self.inside(process.pid, f"{flavour}.{ending}")
                        self.assertEqual(answer.status, 0, answer.err)
                        if ending != "heapsnapshot":
                            self.holds_all(f"{flavour}.{ending}")
                    self.assertIn("cannot write", self.inside(process.pid, "no/a.heap").err)
                    self.speak(process)
                    end = time.monotonic() + TIMEOUT
                    while "heapdump" in self.threads(process.pid):
                        self.assertLess(time.monotonic(), end)
                        time.sleep(0.05)
                    # It was not asked to wait for signals, and they do what they did.
                    self.assertEqual(self.signals(process.pid), handled)
                self.unharmed()
                self.assertEqual(len(self.written()), 4 * (FLAVOURS.index(flavour) + 1))
                # The rest belongs to the runtime, or to the program.
                left = [path.name for path in self.folder.iterdir() if "heapdump-" in path.name]
                self.assertEqual(left, [])

    def test_a_library_that_is_sent_next_to_another_profiler(self) -> None:
        """The other one is this one under another name, in its own memory."""
        library = Path(LIBRARY).read_bytes()
        # A half: the compiler may have made two numbers of it.
        name = uuid.UUID(CLASS).bytes_le[:8]
        self.assertIn(name, library)
        other = self.folder / "other.so"
        other.write_bytes(library.replace(name, bytes(4) + name[4:]))
        for flavour in FLAVOURS:
            with self.program(
                flavour,
                CORECLR_PROFILER="{00000000" + CLASS[9:],
                CORECLR_PROFILER_PATH=str(other),
                HEAPDUMP_WHEN="signal",
                HEAPDUMP_OUT=f"{self.folder}/out/{flavour}-other.gcdump",
            ) as process:
                answer = self.inside(process.pid, f"{flavour}-sent.gcdump")
                self.assertEqual(answer.status, 0, answer.err)
                os.kill(process.pid, SIGNAL)
                self.await_files(2 * FLAVOURS.index(flavour) + 2)
                self.speak(process)
            self.unharmed()
            self.holds_all(f"{flavour}-sent.gcdump")
            self.holds_all(f"{flavour}-other.gcdump")

    def test_a_library_that_is_there_is_not_sent_again(self) -> None:
        out = f"{self.folder}/out/%r.gcdump"
        with self.program(NEWEST, HEAPDUMP_WHEN="signal", HEAPDUMP_OUT=out) as process:
            answer = self.inside(process.pid, "a.gcdump")
            self.assertEqual(answer.status, 3)
            self.assertIn("it has loaded it itself", answer.err)
            os.kill(process.pid, SIGNAL)
            self.await_files(1)
            self.speak(process)
        self.unharmed()
        self.assertEqual(self.written(), ["signal.gcdump"])

    def test_the_end_comes_while_the_sent_library_works(self) -> None:
        for wait in (0, 0.02, 0.05, 0.1, 0.15):
            with self.subTest(wait=wait):
                with self.program(NEWEST, CORECLR_ENABLE_PROFILING="0") as process:
                    with subprocess.Popen(
                        [
                            PROGRAM,
                            *("collect", str(process.pid), "-inside"),
                            *("-o", f"{self.folder}/out/{wait}.gcdump"),
                        ],
                        stderr=subprocess.PIPE,
                        stdout=subprocess.DEVNULL,
                    ) as collecting:
                        self.speak(process)
                        time.sleep(wait)
                        assert process.stdin
                        process.stdin.write("end\n")
                        process.stdin.flush()
                        collecting.communicate(timeout=TIMEOUT)
                        self.assertIn(collecting.returncode, (0, 2, 3))
                self.unharmed()

    def test_nothing_happens_without_settings(self) -> None:
        with self.program(NEWEST) as process:
            self.assertNotIn("heapdump", self.threads(process.pid))
            self.assertNotIn(
                "heapdump_profiler", Path(f"/proc/{process.pid}/maps").read_text(encoding="utf-8")
            )
            # It has gone, and the signal that the documentation names ends nothing all the same.
            os.kill(process.pid, SIGNAL)
            self.speak(process)
        self.unharmed()

    def test_bad_settings_are_one_line(self) -> None:
        good = f"{self.folder}/out/%p.gcdump"
        cases = [
            ({"HEAPDUMP_WHEN": "sometimes", "HEAPDUMP_OUT": good}, "HEAPDUMP_WHEN: 'sometimes'"),
            ({"HEAPDUMP_WHEN": "signal,", "HEAPDUMP_OUT": good}, "HEAPDUMP_WHEN: ''"),
            ({"HEAPDUMP_WHEN": "signal:31", "HEAPDUMP_OUT": good}, "HEAPDUMP_WHEN: 'signal:31'"),
            ({"HEAPDUMP_WHEN": "signal:0", "HEAPDUMP_OUT": good}, "HEAPDUMP_WHEN: 'signal:0'"),
            (
                {"HEAPDUMP_WHEN": "exit", "HEAPDUMP_OUT": good, "HEAPDUMP_WAY": "socket"},
                "'exit' needs HEAPDUMP_WAY any or walk",
            ),
            ({"HEAPDUMP_WHEN": "exit", "HEAPDUMP_OUT": "/a.nettrace"}, "exit has no events"),
            (
                {"HEAPDUMP_WHEN": "signal", "HEAPDUMP_OUT": "/a.nettrace", "HEAPDUMP_WAY": "walk"},
                "walk has no events",
            ),
            (
                {"HEAPDUMP_WHEN": "signal", "HEAPDUMP_OUT": good, "HEAPDUMP_WAY": "out"},
                "HEAPDUMP_WAY: 'out': it is not any",
            ),
            ({"HEAPDUMP_WHEN": "rss>100%", "HEAPDUMP_OUT": good}, "'rss>100%'"),
            ({"HEAPDUMP_WHEN": "rss>5", "HEAPDUMP_OUT": good}, "'rss>5'"),
            ({"HEAPDUMP_WHEN": "rss>1" + "0" * 30 + "G", "HEAPDUMP_OUT": good}, "'rss>10"),
            ({"HEAPDUMP_WHEN": "every 0s", "HEAPDUMP_OUT": good}, "'every 0s'"),
            ({"HEAPDUMP_WHEN": "every 999999h", "HEAPDUMP_OUT": good}, "'every 999999h'"),
            ({"HEAPDUMP_WHEN": "every 1h 2h", "HEAPDUMP_OUT": good}, "'every 1h 2h'"),
            ({"HEAPDUMP_WHEN": "signal"}, "HEAPDUMP_OUT is not set"),
            ({"HEAPDUMP_OUT": good}, "HEAPDUMP_WHEN is not set"),
            ({"HEAPDUMP_WHEN": "signal", "HEAPDUMP_OUT": "a.gcdump"}, "it does not begin with /"),
            ({"HEAPDUMP_WHEN": "signal", "HEAPDUMP_OUT": "/a.dmp"}, "it does not end in"),
            ({"HEAPDUMP_WHEN": "signal", "HEAPDUMP_OUT": "/%n.gcdump"}, "only %p, %t"),
            ({"HEAPDUMP_WHEN": "signal", "HEAPDUMP_OUT": "/" + "a" * 9999}, "it is longer"),
            (
                {"HEAPDUMP_WHEN": "signal", "HEAPDUMP_OUT": good, "HEAPDUMP_KEEP": "0"},
                "HEAPDUMP_KEEP: '0': it is not a number",
            ),
            (
                {"HEAPDUMP_WHEN": "signal", "HEAPDUMP_OUT": "/a.nettrace", "HEAPDUMP_LIVE": "1"},
                "a .nettrace has all objects",
            ),
            (
                {
                    "HEAPDUMP_WHEN": "signal",
                    "HEAPDUMP_OUT": good,
                    "HEAPDUMP_HOLD": "1",
                    "HEAPDUMP_WAY": "walk",
                },
                "HEAPDUMP_HOLD needs any or events",
            ),
        ]
        for variables, message in cases:
            with self.subTest(**variables):
                with self.program(NEWEST, **variables) as process:
                    os.kill(process.pid, SIGNAL)
                    self.speak(process)
                self.unharmed(f"heapdump: .*{message}.*nothing is done\n")
                self.assertEqual(self.written(), [])

    def test_the_file_of_settings(self) -> None:
        path = self.folder / "heapdump.profiler.json"
        good = f'{{"when": "signal", "out": "{self.folder}/out/%r.gcdump"}}'
        cases = [
            (good, 0o600, ""),
            (good, 0o622, "others may write it"),
            ("[" * 60000, 0o600, "line 1"),
            (" " * 70000, 0o600, "larger than 64 KB"),
            ("[]", 0o600, "not an object"),
            ('{"when": 5}', 0o600, '"when" is not a string'),
            ('{"who": "me"}', 0o600, 'no setting "who"'),
        ]
        for text, mode, message in cases:
            with self.subTest(text=text[:20], mode=mode):
                self.forget_files()
                path.write_text(text, encoding="utf-8")
                path.chmod(mode)
                with self.program(NEWEST) as process:
                    self.speak(process)
                    if not message:
                        os.kill(process.pid, SIGNAL)
                        self.await_files(1)
                self.unharmed(f"heapdump: .*{message}.*\n" if message else "")
                self.assertEqual(self.written(), [] if message else ["signal.gcdump"])

    def test_a_bad_file_of_settings_does_not_stop_the_variables(self) -> None:
        path = self.folder / "heapdump.profiler.json"
        cases = {
            "[]": "not an object; it does not count",
            '{"keep": -1}': "\"keep\": '-1': it is not a number from 1 to 10000: it does not count",
            '{"when": "now"}': "\"when\": 'now' is not .*: it does not count",
            '{"out": "a.gcdump", "live": true}': "\"out\": 'a.gcdump': .*: it does not count",
        }
        for text, message in cases.items():
            with self.subTest(text=text):
                self.forget_files()
                path.write_text(text, encoding="utf-8")
                with self.program(
                    NEWEST, HEAPDUMP_WHEN="signal", HEAPDUMP_OUT=f"{self.folder}/out/%r.gcdump"
                ) as process:
                    self.speak(process)
                    os.kill(process.pid, SIGNAL)
                    self.await_files(1)
                self.unharmed(f"heapdump: .*{message}\n")

    def test_the_thread_can_handle_files_that_shrink(self) -> None:
        with self.program(
            NEWEST, HEAPDUMP_WHEN="signal", HEAPDUMP_OUT=f"{self.folder}/out/%r.gcdump"
        ) as process:
            self.speak(process)
            found: list[Path] = []
            end = time.monotonic() + TIMEOUT
            while not found:
                self.assertLess(time.monotonic(), end, "there is no thread")
                for task in Path(f"/proc/{process.pid}/task").iterdir():
                    with contextlib.suppress(OSError):  # the runtime's threads come and go
                        if (task / "comm").read_text(encoding="utf-8") == "heapdump\n":
                            found.append(task)
            status = (found[0] / "status").read_text(encoding="utf-8")
            blocked = int(status.split("SigBlk:")[1].split()[0], 16)
            self.assertFalse(blocked >> (signal.SIGBUS - 1) & 1)
            self.assertTrue(blocked >> (signal.SIGTERM - 1) & 1)
        self.unharmed()

    def test_what_cannot_be_done_is_one_line(self) -> None:
        link = self.folder / "out" / "link.gcdump"
        link.symlink_to(self.folder / "elsewhere" / "file")
        cases: list[tuple[str, dict[str, str], str | None]] = [
            (f"{self.folder}/none/%p.gcdump", {}, "No such file"),
            ("/proc/%p.gcdump", {}, ""),
            ("/dev/full/%p.gcdump", {}, "Not a directory"),
            (str(link), {}, ""),
            (f"{self.folder}/out/%p.gcdump", {"DOTNET_DefaultDiagnosticPortSuspend": "0"}, None),
        ]
        for out, variables, message in cases:
            with self.subTest(out=out, **variables):
                with self.program(
                    NEWEST, HEAPDUMP_WHEN="signal", HEAPDUMP_OUT=out, **variables
                ) as process:
                    self.speak(process)
                    os.kill(process.pid, SIGNAL)
                    if message is None:
                        self.await_files(2)  # the link is one
                    else:
                        self.await_line(process)
                        time.sleep(0.5)
                if message is None:
                    self.unharmed()
                else:
                    self.unharmed(rf"heapdump: there is no snapshot \(signal\): .*{message}.*\n")


if __name__ == "__main__":
    if not build_program("profiled", *FLAVOURS):
        print("there is no .NET SDK, or the program does not build")
        raise SystemExit(77)
    unittest.main()
