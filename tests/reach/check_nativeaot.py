#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""NativeAOT programs: truth.cs, compiled to a program without CoreCLR, for each release.

    check_nativeaot.py [VERSION...]

The threads, frames and objects of truth.cs are known. Asked are the process, and its cores by gcore, the kernel and CoreCLR's
createdump, which a program of this kind starts if it lies beside it; with a workstation and a server GC; without symbols, as
programs are shipped. The SDK compiles for 8 to 10, and the packs of 11 are put together by hand. NuGet's packs are pinned;
where it does not answer, or there is no SDK or gcc, the test is skipped (exit status 77), with a line. HD_REACH is the folder of
what was fetched and built (build/reach).
"""
from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Iterator

import check_musl as programs
from check_musl import FOLDER, HERE, SKIPPED, Missing, limit_cores, run

VERSIONS = ["8.0.34", "9.0.23", "10.0.12", "11.0.0"]
COMPILER = "runtime.linux-x64.microsoft.dotnet.ilcompiler"
RUNTIME = "microsoft.netcore.app.runtime.nativeaot.linux-x64"
DUMPER = "microsoft.netcore.app.runtime.linux-x64"
DUMPER_VERSION = "10.0.12"
GCS = ["workstation", "server"]

PROJECT = """<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net{series}</TargetFramework>
    <RuntimeIdentifier>linux-x64</RuntimeIdentifier>
    <PublishAot>true</PublishAot>
    <ServerGarbageCollection>{server}</ServerGarbageCollection>
    <InvariantGlobalization>true</InvariantGlobalization>
    <CppCompilerAndLinker>gcc</CppCompilerAndLinker>
    <AssemblyName>truth</AssemblyName>
  </PropertyGroup>
  <ItemGroup>
    <KnownILCompilerPack Update="Microsoft.DotNet.ILCompiler" ILCompilerPackVersion="{version}" />
    <KnownFrameworkReference Update="Microsoft.NETCore.App" LatestRuntimeFrameworkVersion="{version}" />
  </ItemGroup>
</Project>
"""

# The SDK of 11 passes these to ilc for a program without globalization.
ILC_OPTIONS = """--targetos:linux
--targetarch:x64
--dehydrate
-O
-g
--export-dynamic-symbol:DotNetRuntimeContractDescriptor
--initassembly:System.Private.CoreLib
--initassembly:System.Private.StackTraceMetadata
--initassembly:System.Private.TypeLoader
--initassembly:System.Private.Reflection.Execution
--directpinvoke:System.Native
--feature:System.Diagnostics.Tracing.EventSource.IsSupported=false
--feature:System.Globalization.Invariant=true
--feature:System.Runtime.CompilerServices.RuntimeFeature.IsDynamicCodeSupported=false
--feature:System.StartupHookProvider.IsSupported=false
--runtimeknob:System.Globalization.Invariant=true
--runtimeknob:RUNTIME_IDENTIFIER=linux-x64
--stacktracedata:frames
--scanreflection
--methodbodyfolding:generic
--resilient
--generateunmanagedentrypoints:System.Private.CoreLib,HIDDEN
"""
LINKED_FIRST = (
    "libeventpipe-disabled.a libstandalonegc-disabled.a libaotminipal.a libstdc++compat.a"
)
LINKED_LAST = "libRuntime.VxsortEnabled.a libSystem.Native.a libaotminipal.a"
LINK_OPTIONS = (
    "-Wl,--build-id=sha1 -Wl,--as-needed -pthread -ldl -lrt -lm -pie -Wl,-z,relro -Wl,-z,now"
    " -Wl,--eh-frame-hdr -Wl,--discard-all -Wl,--gc-sections"
)


def pack(name: str, version: str) -> Path:
    """The folder of a pack."""
    return FOLDER / "nuget" / name / version


def place(version: str, gc: str) -> Path:
    """The folder of a program."""
    return FOLDER / f"nativeaot-{version}-{gc}"


def publish(version: str, gc: str) -> None:
    """Compile by the SDK."""
    work = Path(f"{place(version, gc)}.work")
    work.mkdir(exist_ok=True)
    shutil.copy(HERE / "truth.cs", work)
    series = version.rsplit(".", 1)[0]
    server = str(gc == "server").lower()
    (work / "truth.csproj").write_text(
        PROJECT.format(series=series, version=version, server=server), encoding="utf-8"
    )
    run(
        "dotnet",
        "publish",
        work / "truth.csproj",
        "-c",
        "Release",
        "-o",
        work / "out",
        timeout=1200,
    )
    (work / "out").rename(place(version, gc))


def link(version: str, gc: str) -> None:
    """Compile by ilc, and link by gcc: the SDK of 10 does not know 11."""
    work = Path(f"{place(version, gc)}.work")
    work.mkdir(exist_ok=True)
    native = pack(RUNTIME, version) / "runtimes" / "linux-x64" / "native"
    framework = pack(RUNTIME, version) / "runtimes" / "linux-x64" / "lib" / "net11.0"
    programs.compile_against([framework, native], work / "truth.dll")
    options = [
        str(work / "truth.dll"),
        f"-o:{work / 'truth.o'}",
        f"-r:{framework}/*.dll",
        f"-r:{native}/*.dll",
        f"--exportsfile:{work / 'truth.exports'}",
    ]
    if gc == "server":
        options.append("--runtimeknob:System.GC.Server=true")
    (work / "truth.rsp").write_text("\n".join(options) + "\n" + ILC_OPTIONS, encoding="utf-8")
    compiler = pack(COMPILER, version) / "tools" / "ilc"
    compiler.chmod(0o755)
    run(compiler, f"@{work / 'truth.rsp'}", timeout=1200)
    libraries = [f"libRuntime.{gc.capitalize()}GC.a", *LINKED_FIRST.split(), *LINKED_LAST.split()]
    out = place(version, gc)
    out.mkdir(exist_ok=True)
    run(
        "gcc",
        *(work / "truth.o", "-o", out / "truth"),
        f"-Wl,--version-script={work / 'truth.exports'}",
        *("-Wl,--export-dynamic", "-Wl,-u,DotNetRuntimeContractDescriptor"),
        native / "libbootstrapper.o",
        *(native / name for name in libraries),
        *LINK_OPTIONS.split(),
    )
    run("objcopy", "--only-keep-debug", out / "truth", out / "truth.dbg")
    run("objcopy", "--strip-unneeded", out / "truth")


def build(version: str, gc: str) -> None:
    """The program, without symbols, with CoreCLR's createdump beside it."""
    folder = place(version, gc)
    if (folder / "createdump").exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    (link if version.startswith("11.") else publish)(version, gc)
    (folder / "symbols").mkdir(exist_ok=True)
    (folder / "truth.dbg").rename(folder / "symbols" / "truth.dbg")
    dumper = pack(DUMPER, DUMPER_VERSION) / "runtimes" / "linux-x64" / "native" / "createdump"
    shutil.copy(dumper, folder)
    (folder / "createdump").chmod(0o755)


@contextlib.contextmanager
def truth(
    version: str, gc: str, *words: str, folder: Path | None = None
) -> Iterator[subprocess.Popen[str]]:
    """The program, when it is ready; it is stopped when that is over."""
    with subprocess.Popen(
        [place(version, gc) / "truth", *words],
        env={"PATH": "/usr/bin:/bin", "HOME": "/tmp"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=folder,
        preexec_fn=limit_cores,
    ) as process:
        assert process.stdout
        for line in process.stdout:
            if line == "READY\n":
                break
        try:
            yield process
        finally:
            process.kill()


def kernel_core(version: str, gc: str, folder: Path) -> Path | None:
    """The kernel's core of FailFast; None: cores do not go to files here."""
    pattern = Path("/proc/sys/kernel/core_pattern").read_text(encoding="ascii").strip()
    if "/" in pattern or pattern.startswith("|"):
        return None
    with truth(version, gc, "crash", folder=folder) as process:
        process.wait(timeout=120)
        assert process.returncode == -signal.SIGABRT, process.returncode
    return next(folder.glob("core*"), None)


def check_version(version: str, gc: str) -> list[str]:
    """All kinds of targets of a program."""
    bad: list[str] = []
    folder = FOLDER / f"nativeaot-cores-{version}-{gc}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()

    def check(kind: str, target: str | Path, crashed: bool = False) -> None:
        began = time.monotonic()
        found, numbers = programs.check_target(str(target), ["--trust-files"], crashed)
        bad.extend(f"{version} {gc} {kind}: {line}" for line in found)
        said = ", ".join(f"{value} {name}" for name, value in numbers.items())
        print(
            f"{version:8} {gc:11} {kind:17} {said} ({time.monotonic() - began:.0f} s)", flush=True
        )

    with truth(version, gc) as process:
        check("live", str(process.pid))
        dumper = place(version, gc) / "createdump"
        for kind in ("full", "withheap"):
            run(dumper, f"--{kind}", "-f", folder / f"{kind}.core", str(process.pid), timeout=300)
        if shutil.which("gdb"):
            words = ["-batch", "-p", str(process.pid), "-ex", f"gcore {folder / 'gcore.core'}"]
            run("gdb", *words, timeout=300)
    for kind in ("full", "withheap", "gcore"):
        if (folder / f"{kind}.core").exists():
            check(kind, folder / f"{kind}.core")
    core = kernel_core(version, gc, folder)
    if core:
        check("kernel, FailFast", core, crashed=True)
    return bad


def main() -> int:
    """Exit status."""
    bad: list[str] = []
    try:
        for tool in ("dotnet", "gcc", "objcopy"):
            if not shutil.which(tool):
                raise Missing(f"there is no {tool}")
        programs.restore_packs(
            FOLDER, {COMPILER: VERSIONS[-1:], RUNTIME: VERSIONS[-1:], DUMPER: [DUMPER_VERSION]}
        )
        for version in sys.argv[1:] or VERSIONS:
            for gc in GCS:
                build(version, gc)
                bad += check_version(version, gc)
    except Missing as missing:
        print(f"skipped: {missing}")
        return SKIPPED
    print("\n".join(bad) or "all as it has to be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
