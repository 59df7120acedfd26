# SPDX-License-Identifier: MIT
"""
Programs of .NET for linux-arm64 in a virtual machine of arm64 (machine.py): processes, looked at by heapdump for arm64, and
cores of every kind, looked at by heapdump of this machine.

What is true is what the programs say of themselves: truth.cs, and those of corefiles/apps.
"""
from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Iterator

import check_musl as programs
from check_musl import BUILD, FOLDER, PROGRAM, SOURCE, Missing, run
from machine import Machine

RID = "linux-arm64"
PLACE = FOLDER / "arm64-machine"
SHARE = PLACE / "share"
APPS = PLACE / "apps"
HOST = FOLDER / "arm64-host"
# Programs of corefiles/apps, and the checks of tests/oracle of what they say about themselves.
READY = {
    "facts": ["truth", "roots"],
    "collections": ["collections"],
    "variables": ["variables"],
    "hang deadlock5": ["hangs", "stacks"],
    "hang mixed": ["hangs", "stacks"],
}
# These ask a target for more than one moment of it can tell.
OF_CORES = ("roots", "stacks")
# Ways to die of corefiles/apps/crash.
CRASHES = ["throw", "nullref", "threads", "filter-abort"]
# Packages of the programs, without code of a processor.
LIBRARIES = [
    f"Microsoft.Extensions.{name}"
    for name in (
        "Caching.Memory",
        "Caching.Abstractions",
        "DependencyInjection.Abstractions",
        "Logging.Abstractions",
        "Options",
        "Primitives",
    )
]
FLAVOURS = {"10.0.15": "net10.0", "11.0.0": "net11.0"}


def root_of(version: str) -> Path:
    """The folder of a runtime."""
    return programs.named("root", version, RID)


def framework(version: str) -> Path:
    """The runtime's own folder."""
    return root_of(version) / "shared" / "Microsoft.NETCore.App" / version


def environment(version: str, **more: str) -> dict[str, str]:
    """Nothing but what a program needs."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "DOTNET_ROOT": str(root_of(version)),
        "FXR_VERSION": version,
        "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1",
        **more,
    }


def build_app(name: str, flavour: str) -> Path:
    """Build a program without code of a processor: in a folder of its own, for the one of the cores has programs for x64."""
    folder = PLACE / "built"
    env = {**os.environ, "HD_APPS_BUILD": str(folder), "MSBUILDDISABLENODEREUSE": "1"}
    env |= {"HD_FLAVOUR": flavour, "HD_FRAMEWORK": flavour}
    words = ["-c", "Release", "-v", "quiet", "-nodeReuse:false", "-p:UseAppHost=false"]
    source = SOURCE / "corefiles" / "apps" / name
    run("dotnet", "publish", source, *words, env=env, timeout=600)
    return folder / f"{name}-{flavour}"


def prepare_app(name: str, version: str, nuget: Path) -> None:
    """A program of corefiles/apps, to run on the runtime for arm64."""
    out = APPS / f"{name}-{version}"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    if name == "facts":
        compile_facts(out, version)
        return
    built = build_app(name, FLAVOURS[version])
    for file in (f"{name}.dll", f"{name}.pdb", "plain.dll"):
        if (built / file).exists():
            shutil.copy(built / file, out)
    if name == "collections":
        for package in LIBRARIES:
            release = version.split(".", maxsplit=1)[0]
            folder = nuget / package.lower() / f"{release}.0.0" / "lib" / f"net{release}.0"
            shutil.copy(folder / f"{package}.dll", out)
    text = (built / f"{name}.runtimeconfig.json").read_text(encoding="utf-8")
    options = json.loads(text)["runtimeOptions"]
    for key in ("includedFrameworks", "frameworks"):
        options.pop(key, None)
    options["framework"] = {"name": "Microsoft.NETCore.App", "version": version}
    text = json.dumps({"runtimeOptions": options})
    (out / f"{name}.runtimeconfig.json").write_text(text, encoding="utf-8")


def compile_facts(out: Path, version: str) -> None:
    """Without its packed struct: the reflection of arm64 dies of a field that is not aligned."""
    sources = []
    for file in sorted((SOURCE / "corefiles" / "apps" / "facts").glob("*.cs")):
        text = file.read_text(encoding="utf-8").replace(", Pack = 1)", ")")
        (out / file.name).write_text(text, encoding="utf-8")
        sources.append(out / file.name)
    programs.compile_program(out / "facts.dll", version, RID, sources)


class Running:
    """A program in the machine."""

    def __init__(self, machine: Machine, version: str, words: list[str], **env: str) -> None:
        self.machine, self.version = machine, version
        self.folder = SHARE / "run"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.out = self.folder / "out"
        whole = [f"{key}={value}" for key, value in environment(version, **env).items()]
        line = shlex.join(["env", "-i", *whole, str(HOST), *words])
        self.pid = int(
            machine.script(
                f"rm -rf /var/tmp/run && mkdir -p /var/tmp/run && cd /var/tmp/run\n"
                f"setsid nice -n 5 {line} >{self.out} 2>{self.folder / 'err'} </dev/null &\necho $!"
            )
        )

    def is_alive(self) -> bool:
        """Has it not ended?"""
        return "yes" in self.machine.script(f"[ ! -d /proc/{self.pid} ] || echo yes")

    def wait_until_ready(self) -> None:
        """Until it says so."""
        end = time.monotonic() + 300
        while "READY" not in self.out.read_text(encoding="utf-8"):
            if time.monotonic() > end or not self.is_alive():
                said = (self.folder / "err").read_text(encoding="utf-8")
                raise RuntimeError(f"the program does not run in the machine: {said[-800:]}")
            time.sleep(0.2)
        # The last threads are on their way into their waits.
        time.sleep(1)

    def wait_for_end(self) -> None:
        """Until it has died."""
        end = time.monotonic() + 300
        while self.is_alive():
            if time.monotonic() > end:
                raise RuntimeError("the program does not end")
            time.sleep(0.2)

    def truth(self) -> str:
        """The last line that is a document."""
        lines = self.out.read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line.startswith("{")][-1]

    def dump(self, kind: str, core: Path) -> None:
        """A core, by createdump or GDB."""
        core.parent.mkdir(parents=True, exist_ok=True)
        if kind == "gcore":
            # It writes reserved memory out; that is left out of the copy.
            words = f"gdb -nx -batch -iex 'set debuginfod enabled off' -p {self.pid} -ex 'gcore /var/tmp/core'"
            self.machine.script(f"{words} >/dev/null 2>&1\n" + take("/var/tmp/core", core))
            return
        program = framework(self.version) / "createdump"
        self.machine.script(f"{program} --{kind} -f {core} {self.pid}")

    def stop(self) -> None:
        """End it."""
        self.machine.script(f"kill -KILL {self.pid} 2>/dev/null || :")


def take(written: str, core: Path) -> str:
    """The words that move a core out of the machine, without its holes."""
    return f"/bin/dd if={written} of={core} bs=1M conv=sparse 2>/dev/null && rm {written}"


@contextlib.contextmanager
def running(machine: Machine, version: str, *words: str, **env: str) -> Iterator[Running]:
    """A program that is ready."""
    program = Running(machine, version, [*words], **env)
    try:
        program.wait_until_ready()
        yield program
    finally:
        program.stop()


def oracle(name: str, program: str, core: Path) -> tuple[str, list[str]]:
    """One check of tests/oracle: its last line, and what is wrong."""
    words = [sys.executable, str(SOURCE / "tests" / "oracle" / f"check_{name}.py")]
    words += ["--program", program, core.name]
    env = {**os.environ, "HEAPDUMP_BUILD": str(BUILD), "HEAPDUMP_SOURCE": str(SOURCE)}
    done = subprocess.run(
        words, env=env, cwd=core.parent, capture_output=True, text=True, check=False
    )
    lines = (done.stdout or done.stderr).strip().split("\n")
    return lines[-1], lines[-12:] if done.returncode else []


class Checks:
    """The questions about one release, and what was wrong."""

    def __init__(self, machine: Machine, version: str, live: str) -> None:
        self.machine, self.version, self.live = machine, version, live
        self.folder = SHARE / f"cores-{version}"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.bad: list[str] = []

    def say(self, kind: str, cell: str, bad: list[str]) -> None:
        """A line of the table."""
        print(f"{self.version:8} {kind:28} {cell}", flush=True)
        self.bad += [f"{self.version} {kind}: {line}" for line in bad]

    def attempt(self, kind: str, check: Callable[..., None], *words: Any) -> None:
        """A check in which programs may not do what they should."""
        try:
            check(*words)
        except (RuntimeError, TimeoutError, AssertionError) as error:
            self.say(kind, "cannot be done", [str(error)])

    def target(self, kind: str, target: str, program: str, crashed: bool = False) -> None:
        """truth.cs, in a process or core."""
        bad, numbers = programs.check_target(target, ["--trust-files"], crashed, program)
        cell = ", ".join(f"{count} {name}" for name, count in numbers.items())
        self.say(kind, cell, bad)

    def truth(self) -> None:
        """truth.cs: the process, and its cores."""
        dll = str(programs.named("truth", self.version, RID) / "truth.dll")
        with running(self.machine, self.version, dll) as program:
            self.target("process", str(program.pid), self.live)
            for kind in ("full", "withheap", "gcore"):
                core = self.folder / f"{kind}.core"
                program.dump(kind, core)
                self.target(kind, str(core), PROGRAM)
            # Its session leaves objects behind.
            self.collect(program)
        program = Running(self.machine, self.version, [dll, "crash"])
        program.wait_for_end()
        core = self.folder / "kernel.core"
        self.machine.script(take("/var/tmp/run/core", core))
        self.target("kernel, FailFast", str(core), PROGRAM, crashed=True)

    def collect(self, program: Running) -> None:
        """The runtime's own snapshot, over its socket."""
        path = self.folder / "it.gcdump"
        words = [self.live, "collect", str(program.pid), "-o", str(path)]
        run(*words, timeout=300, stdin=subprocess.DEVNULL)
        stat = programs.heapdump(path, "dumpheap", "-stat")["types"]
        count = {row["name"]: row["count"] for row in stat}.get("Node")
        bad = [] if count == programs.NODES else [f"collect: {count} Node"]
        self.say("collect", f"{count} nodes", bad)

    def ready(self, name: str) -> None:
        """A program that says what it is, as a process and as a core."""
        checks = READY[name]
        app, *words = name.split()
        dll = APPS / f"{app}-{self.version}" / f"{app}.dll"
        with running(self.machine, self.version, str(dll), *words) as program:
            # Tables of the checks know cores by these names.
            number = self.version.split(".", maxsplit=1)[0]
            mode = "".join(f"-{word}" for word in words)
            core = self.folder / f"{'wks' if app == 'facts' else app}{number}{mode}-full.core"
            process = self.folder / str(program.pid)
            for path in (core, process):
                path.with_suffix(".truth.json").write_text(program.truth(), encoding="utf-8")
            for check in checks:
                if check not in OF_CORES:
                    line, bad = oracle(check, self.live, process)
                    self.say(f"{name}, process", line, bad)
            program.dump("full", core)
        for check in checks:
            line, bad = oracle(check, PROGRAM, core)
            self.say(name, line, bad)
        # dotnet-dump is asked about the one of facts later.
        if app != "facts" and not self.bad:
            core.unlink()

    def crash(self, mode: str) -> None:
        """A program that dies."""
        dll = APPS / f"crash-{self.version}" / "crash.dll"
        name = f"crash{self.version.split('.', maxsplit=1)[0]}-{mode}-heap"
        core = self.folder / f"{name}.core"
        env = {
            "DOTNET_DbgEnableMiniDump": "1",
            "DOTNET_DbgMiniDumpType": "2",
            "DOTNET_DbgMiniDumpName": str(core),
        }
        program = Running(self.machine, self.version, [str(dll), mode], **env)
        program.wait_for_end()
        truth = core.with_suffix(".truth.json")
        truth.write_text(program.truth(), encoding="utf-8")
        line, bad = oracle("crash", PROGRAM, core)
        self.say(f"crash {mode}", line, bad)
        if not bad:
            core.unlink()

    def churn(self, count: int) -> None:
        """Cores of a program that never rests: no damage is found."""
        dll = APPS / f"churn-{self.version}" / "churn.dll"
        objects, bad = 0, []
        with running(self.machine, self.version, str(dll)) as program:
            for number in range(count):
                core = self.folder / f"churn-{number}.core"
                program.dump("withheap", core)
                answer = programs.heapdump("--trust-files", core, "verifyheap")
                objects += answer["objects"]
                if answer["damaged"]:
                    bad.append(f"{core.name}: verifyheap finds damage")
                else:
                    core.unlink()
        self.say("churn", f"{objects} objects in {count} cores, {len(bad)} damaged", bad)
