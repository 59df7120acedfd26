# SPDX-License-Identifier: MIT
"""Programs of corefiles/apps under one or another garbage collector, and what takes cores of them."""
from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple, Optional

from core_image import CORES, SOURCE

NO_SDK = 77
TRIES = 40
SERVER = {"DOTNET_gcServer": "1"}


class Collector(NamedTuple):
    """A runtime, and how its garbage collector is set up."""

    name: str
    flavour: str
    settings: dict[str, str]


def server(heaps: int) -> dict[str, str]:
    """Settings of a server GC with that many heaps, however many processors there are."""
    return {**SERVER, "DOTNET_GCHeapCount": f"{heaps:x}", "DOTNET_GCNoAffinitize": "1"}


LIBCLRGC = {"DOTNET_GCName": "libclrgc.so"}
NOT_CONCURRENT = {"DOTNET_gcConcurrent": "0"}
COLLECTORS = [
    Collector("wks10", "net10.0", {}),
    Collector("wks10-nonconcurrent", "net10.0", NOT_CONCURRENT),
    Collector("wks10-conserve", "net10.0", {"DOTNET_GCConserveMemory": "7"}),
    Collector("seg10", "net10.0", LIBCLRGC),
    Collector("svr10-2", "net10.0", server(2)),
    Collector("svr10-4", "net10.0", server(4)),
    Collector("svr10-2-nonconcurrent", "net10.0", {**server(2), **NOT_CONCURRENT}),
    Collector("svr10-datas", "net10.0", {**SERVER, "DOTNET_GCDynamicAdaptationMode": "1"}),
    Collector("svrseg10-2", "net10.0", {**server(2), **LIBCLRGC}),
    Collector("wks9", "net9.0", {}),
    Collector("svr9-2", "net9.0", server(2)),
    Collector("svr9-datas", "net9.0", SERVER | {"DOTNET_GCDynamicAdaptationMode": "1"}),
    Collector("seg9", "net9.0", LIBCLRGC),
    Collector("wks8", "net8.0", {}),
    Collector("wks8-nonconcurrent", "net8.0", NOT_CONCURRENT),
    Collector("svr8-4", "net8.0", server(4)),
    Collector("seg8", "net8.0", LIBCLRGC),
]


def build(app: str, flavour: str) -> Optional[Path]:
    """The folder of a program, built; None without an SDK."""
    made = subprocess.run(
        [SOURCE / "scripts" / "make_corefiles.sh", "--build", app, flavour],
        capture_output=True,
        check=False,
    )
    if made.returncode == NO_SDK:
        return None
    if made.returncode:
        raise OSError(made.stderr.decode())
    return CORES / "apps" / f"{app}-{flavour}"


def createdump(folder: Path) -> str:
    """The createdump of a self-contained program, else the one next to the newest .NET 10 runtime."""
    own = folder / "createdump"
    if own.exists():
        return str(own)
    listed = subprocess.run(["dotnet", "--list-runtimes"], capture_output=True, check=True)
    folders = [
        f"{line.split('[')[1].rstrip(']')}/{line.split()[1]}"
        for line in listed.stdout.decode().splitlines()
        if line.startswith("Microsoft.NETCore.App 10.")
    ]
    if not folders:
        raise OSError("there is no .NET 10 runtime")
    return f"{folders[-1]}/createdump"


class Program:
    """A running program, in an environment of its own."""

    def __init__(self, collector: Collector, app: str, words: list[str], **settings: str) -> None:
        folder = build(app, collector.flavour)
        assert folder, "there is no .NET SDK"
        self.createdump = createdump(folder)
        self.name = f"{app} {' '.join(words)} with {collector.name}"
        self._run = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        command = [str(folder / app), *words]
        if collector.flavour == "net10.0":
            command = ["dotnet", str(folder / f"{app}.dll"), *words]
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            cwd=self._run.name,
            env={
                "PATH": os.environ["PATH"],
                "HOME": "/",
                "LANG": "C.UTF-8",
                "TMPDIR": self._run.name,
                **collector.settings,
                **settings,
            },
        )
        assert self.process.stdout is not None
        self.truth = b""
        for line in self.process.stdout:
            if line.strip() == b"READY":
                return
            self.truth = line
        self.stop()
        raise OSError(f"{self.name} did not get ready")

    def take(self, core: Path) -> bool:
        """A core of this moment; createdump gives up (False) where threads end just now, each time."""
        for _ in range(TRIES):
            done = subprocess.run(
                [self.createdump, "--withheap", "-f", str(core), str(self.process.pid)],
                check=False,
                capture_output=True,
            )
            if not done.returncode:
                return True
            text = (done.stdout + done.stderr).decode("utf-8", "replace")
            if "No such process" not in text or self.process.poll() is not None:
                raise OSError(f"{self.createdump} of {self.name} failed: {text}")
        return False

    def stop(self) -> None:
        """End it."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self._run.cleanup()
