# SPDX-License-Identifier: MIT
"""Programs of corefiles/apps that run, cores of them, and the C# programs that the tests compare with."""
from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Iterator

SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
PROGRAM = str(BUILD / "heapdump")
sys.path.insert(0, str(SOURCE / "tests" / "support"))

import turns  # noqa: E402  pylint: disable=wrong-import-position
import waiting  # noqa: E402  pylint: disable=wrong-import-position

CORES = SOURCE / "corefiles" / "build"
APPS = Path(os.environ.get("HD_APPS_BUILD", CORES / "apps"))
SKIPPED = 77
TIMEOUT = 300


class Missing(Exception):
    """The machine does not have something; the test is to be skipped."""


def dotnet() -> str:
    """The SDK's program."""
    found = shutil.which("dotnet")
    if not found:
        raise Missing("there is no .NET SDK")
    return found


def make(*names: str) -> None:
    """Have make_corefiles.sh make cores, and with them the programs; fast when they are there."""
    dotnet()
    script = str(SOURCE / "scripts" / "make_corefiles.sh")
    made = subprocess.run([script, *names], capture_output=True, text=True, check=False)
    if made.returncode:
        raise Missing(f"make_corefiles.sh: {made.stderr[-1000:]}")


def newest(*apps: str) -> str:
    """The release that programs are built for here: .NET 11 where its packages are, else 10, with a line."""
    dotnet()
    script = str(SOURCE / "scripts" / "make_corefiles.sh")
    for app in apps:
        words = [script, "--build", app, "net11.0"]
        if subprocess.run(words, capture_output=True, check=False).returncode:
            print(f"{app} is not built for .NET 11: .NET 10 takes its place")
            return "net10.0"
    return "net11.0"


def publish(project: str, apps: Path = APPS) -> list[str]:
    """The command of a C# program of this folder, built when its sources have changed; several tests may ask for it at once."""
    sources = sorted((SOURCE / "tests" / "oracle" / project).glob("*.*"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    stamp, program = apps / f"{project}.stamp", apps / project / f"{project}.dll"
    apps.mkdir(parents=True, exist_ok=True)
    with open(apps / f".{project}.lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists() or not stamp.exists() or stamp.read_text("ascii") != digest:
            words = [dotnet(), "publish", str(sources[0].parent), "-c", "Release", "-v", "quiet"]
            made = subprocess.run(
                [*words, "--nologo", "-nodeReuse:false"],
                env={**os.environ, "HD_APPS_BUILD": str(apps)},
                capture_output=True,
                text=True,
                check=False,
            )
            if made.returncode:
                raise Missing(f"{project} cannot be built: {made.stdout[-1000:]}")
            stamp.write_text(digest, encoding="ascii")
    return [dotnet(), str(program)]


def oracle(project: str, *words: str, **env: str) -> bytes:
    """The output of a C# program."""
    run = subprocess.run(
        [*publish(project), *words],
        env={**os.environ, "DOTNET_EnableDiagnostics": "0", "DOTNET_TieredPGO": "0", **env},
        stdout=subprocess.PIPE,
        check=True,
        timeout=TIMEOUT,
    )
    return run.stdout


def heapdump(*words: str, allowed: tuple[int, ...] = (0, 1)) -> dict[str, Any]:
    """The answer of one command, with --json; status 1 are findings."""
    run = subprocess.run(
        [PROGRAM, *words, "--json"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=TIMEOUT,
    )
    if run.returncode not in allowed:
        # With --json the error is a document on standard output.
        said = (run.stderr + run.stdout).decode()[-500:]
        raise AssertionError(f"{' '.join(words)}: {run.returncode}: {said}")
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


def by_type(rows: list[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    """Count and bytes of each type's name; several MethodTables may have one."""
    sums: dict[str, tuple[int, int]] = {}
    for row in rows:
        count, size = sums.get(row["name"], (0, 0))
        sums[row["name"]] = (count + row["count"], size + row["size"])
    return {name: value for name, value in sums.items() if value[0]}


class Program:
    """A program of corefiles/apps that runs, in a folder of its own where its socket is, too."""

    def __init__(self, app: str, flavour: str, folder: Path, process: "subprocess.Popen[bytes]"):
        self.app, self.flavour, self.folder, self.process = app, flavour, folder, process
        self.pid = process.pid
        self.truth: dict[str, Any] = {}

    def wait_until_ready(self) -> None:
        """It says what it knows of itself, then READY."""
        assert self.process.stdout
        last = b""
        for line in self.process.stdout:
            if line == b"READY\n":
                self.truth = json.loads(last)
                # The last threads are on their way into their waits.
                waiting.wait_until_rest(self.pid)
                return
            last = line
        raise AssertionError(f"{self.app} for {self.flavour} did not get ready")

    def collect(self, name: str, *words: str) -> Path:
        """A snapshot, by heapdump; it has to be complete."""
        path = self.folder / name
        answer = heapdump("collect", str(self.pid), "-o", str(path), *words, allowed=(0,))
        if not answer["complete"] or answer["findings"]:
            raise AssertionError(f"{path.name}: not complete: {answer['findings']}")
        return path

    def core(self, name: str, kind: str = "--full") -> Path:
        """A core, by the runtime's createdump."""
        createdump = APPS / f"{self.app}-{self.flavour}" / "createdump"
        if not createdump.exists():
            createdump = runtime_folder() / "createdump"
        path = self.folder / name
        subprocess.run(
            [str(createdump), kind, "-f", str(path), str(self.pid)],
            check=True,
            capture_output=True,
            timeout=TIMEOUT,
        )
        return path


def runtime_folder() -> Path:
    """The folder of the .NET 10 runtime which runs programs that bring none."""
    listed = subprocess.run([dotnet(), "--list-runtimes"], capture_output=True, check=True)
    folders = [
        Path(line.split("[")[1].rstrip("]")) / line.split()[1]
        for line in listed.stdout.decode().splitlines()
        if line.startswith("Microsoft.NETCore.App 10.")
    ]
    if not folders:
        raise Missing("there is no .NET 10 runtime")
    return folders[-1]


@contextlib.contextmanager
def running(
    app: str,
    flavour: str = "net10.0",
    server: bool = False,
    more: dict[str, str] | None = None,
    arguments: tuple[str, ...] = (),
) -> Iterator[Program]:
    """A program that is ready, while the block runs; more of its environment."""
    built = APPS / f"{app}-{flavour}"
    if not built.is_dir():
        raise Missing(f"{built} is not built")
    with tempfile.TemporaryDirectory(prefix="heapdump-live-") as name:
        env = {"PATH": "/usr/bin:/bin", "HOME": "/", "LANG": "C.UTF-8", "TMPDIR": name}
        env.update(more or {})
        if server:
            env.update({"DOTNET_gcServer": "1", "DOTNET_GCHeapCount": "2"})
        words = (
            [dotnet(), str(built / f"{app}.dll")] if flavour == "net10.0" else [str(built / app)]
        )
        words += arguments
        with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, cwd=name) as process:
            program = Program(app, flavour, Path(name), process)
            try:
                program.wait_until_ready()
                yield program
            finally:
                process.kill()


def some(programs: list[tuple[str, str, bool]]) -> list[tuple[str, str, bool]]:
    """The first and another one, which the seed chooses; all of them when all has been asked for."""
    if turns.ALL:
        return programs
    return [programs[0], turns.chance(sys.argv[0]).choice(programs[1:])]


def run_tests(main: Any) -> None:
    """Exit by main(), with 77 for what the machine does not have."""
    try:
        sys.exit(main())
    except Missing as reason:
        print("skipped:", reason)
        sys.exit(SKIPPED)
