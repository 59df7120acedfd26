#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""NativeAOT programs: truth.cs, compiled to a program without CoreCLR, for each release.

    check_nativeaot.py [VERSION...]

The threads, frames and objects of truth.cs are known, and so is the number of heaps of a server GC. Asked are the process, and its cores by gcore, the kernel and CoreCLR's
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
from typing import Iterator, NamedTuple

import check_musl as programs
from check_musl import FOLDER, HERE, SKIPPED, Missing, limit_cores, run

VERSIONS = ["8.0.34", "9.0.23", "10.0.12", "11.0.0"]
COMPILER = "runtime.linux-x64.microsoft.dotnet.ilcompiler"
RUNTIME = "microsoft.netcore.app.runtime.nativeaot.linux-x64"
DUMPER = "microsoft.netcore.app.runtime.linux-x64"
# In front of the names of gcc and objcopy.
TOOLS = {"x64": "", "arm64": "aarch64-linux-gnu-"}
DUMPER_VERSION = "10.0.12"
GCS = ["workstation", "server"]
# As many heaps as that from the first collection on; there are no more than processors.
HEAPS = 2
SERVER = {
    "DOTNET_GCHeapCount": str(HEAPS),
    "DOTNET_GCNoAffinitize": "1",
    "DOTNET_GCDynamicAdaptationMode": "0",
}
TRUTH = HERE / "truth.cs"

PROJECT = """<Project Sdk="{sdk}">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net{series}</TargetFramework>
    <RuntimeIdentifier>linux-{machine}</RuntimeIdentifier>
    <PublishAot>true</PublishAot>
    <ServerGarbageCollection>{server}</ServerGarbageCollection>
    <AllowUnsafeBlocks>true</AllowUnsafeBlocks>
    <InvariantGlobalization>true</InvariantGlobalization>
    <CppCompilerAndLinker>{compiler}</CppCompilerAndLinker>
    <ObjCopyName>{tools}objcopy</ObjCopyName>
    <AssemblyName>{name}</AssemblyName>
    {more}
  </PropertyGroup>
  <ItemGroup>
    <KnownILCompilerPack Update="Microsoft.DotNet.ILCompiler" ILCompilerPackVersion="{version}" />
    <KnownFrameworkReference Update="Microsoft.NETCore.App" LatestRuntimeFrameworkVersion="{version}" />
  </ItemGroup>
</Project>
"""

# The SDK of 11 passes these to ilc for a program without globalization.
ILC_OPTIONS = """--targetos:linux
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


class Program(NamedTuple):
    """A program, and how it is compiled."""

    version: str
    gc: str = "workstation"
    source: Path = TRUTH
    kind: str = ""
    more: str = ""  # properties of its project
    machine: str = "x64"
    others: tuple[Path, ...] = ()  # more sources
    sdk: str = "Microsoft.NET.Sdk"

    @property
    def name(self) -> str:
        """The name of its file."""
        own = HERE in self.source.parents
        return self.source.stem if own else self.source.parent.name

    @property
    def folder(self) -> Path:
        """Where it is."""
        word = "nativeaot" if self.source == TRUTH else self.name
        machine = self.machine if self.machine != "x64" else ""
        return FOLDER / "-".join(filter(None, [word, self.version, self.gc, self.kind, machine]))

    @property
    def file(self) -> Path:
        """The program itself."""
        return self.folder / self.name


def pack_of(name: str, program: Program) -> str:
    """The name of a pack for the program's processor."""
    return name.replace("x64", program.machine)


def compiler_of(program: Program) -> Path | str:
    """A program that links; the SDK gives gcc an option that only clang has."""
    if program.machine == "x64":
        return "gcc"
    path = FOLDER / f"{program.machine}-gcc"
    if not path.exists():
        words = (
            'for word; do shift; case $word in --target=*) ;; *) set -- "$@" "$word" ;; esac; done'
        )
        path.write_text(f'#!/bin/sh\n{words}\nexec {TOOLS[program.machine]}gcc "$@"\n', "ascii")
        path.chmod(0o755)
    return path


def publish(program: Program) -> None:
    """Compile by the SDK."""
    work = Path(f"{program.folder}.work")
    work.mkdir(exist_ok=True)
    for source in (program.source, *program.others):
        shutil.copy(source, work)
    text = PROJECT.format(
        series=program.version.rsplit(".", 1)[0],
        version=program.version,
        server=str(program.gc == "server").lower(),
        name=program.name,
        more=program.more,
        machine=program.machine,
        compiler=compiler_of(program),
        tools=TOOLS[program.machine],
        sdk=program.sdk,
    )
    (work / f"{program.name}.csproj").write_text(text, encoding="utf-8")
    run(
        "dotnet",
        "publish",
        work / f"{program.name}.csproj",
        "-c",
        "Release",
        "-o",
        work / "out",
        timeout=1200,
    )
    (work / "out").rename(program.folder)
    shutil.rmtree(work)


def link(program: Program) -> None:
    """Compile by ilc, and link by gcc: the SDK of 10 does not know 11."""
    version, gc, name = program.version, program.gc, program.name
    work = Path(f"{program.folder}.work")
    work.mkdir(exist_ok=True)
    runtime = pack(pack_of(RUNTIME, program), version) / "runtimes" / f"linux-{program.machine}"
    native, framework = runtime / "native", runtime / "lib" / "net11.0"
    programs.compile_against(
        [framework, native], work / f"{name}.dll", [program.source], ["-debug:portable"]
    )
    options = [
        str(work / f"{name}.dll"),
        f"-o:{work / name}.o",
        f"-r:{framework}/*.dll",
        f"-r:{native}/*.dll",
        f"--exportsfile:{work / name}.exports",
        f"--targetarch:{program.machine}",
    ]
    if gc == "server":
        options.append("--runtimeknob:System.GC.Server=true")
    (work / f"{name}.rsp").write_text("\n".join(options) + "\n" + ILC_OPTIONS, encoding="utf-8")
    compiler = pack(COMPILER, version) / "tools" / "ilc"
    compiler.chmod(0o755)
    run(compiler, f"@{work / name}.rsp", timeout=1200)
    libraries = [f"libRuntime.{gc.capitalize()}GC.a", *LINKED_FIRST.split(), *LINKED_LAST.split()]
    out = program.folder
    out.mkdir(exist_ok=True)
    run(
        compiler_of(program),
        *(work / f"{name}.o", "-o", program.file),
        f"-Wl,--version-script={work / name}.exports",
        *("-Wl,--export-dynamic", "-Wl,-u,DotNetRuntimeContractDescriptor"),
        native / "libbootstrapper.o",
        *(native / name for name in libraries),
        *LINK_OPTIONS.split(),
    )
    shutil.rmtree(work)


def make_whole(program: Program) -> None:
    """The program as its compiler leaves it: that of 11 has its symbols, others as their properties say."""
    (link if program.version.startswith("11.") else publish)(program)


def build(program: Program) -> None:
    """The program, without symbols, with CoreCLR's createdump beside it."""
    folder = program.folder
    if (folder / "createdump").exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    make_whole(program)
    if not Path(f"{program.file}.dbg").exists():
        run("objcopy", "--only-keep-debug", program.file, f"{program.file}.dbg")
        run("objcopy", "--strip-unneeded", program.file)
    (folder / "symbols").mkdir(exist_ok=True)
    Path(f"{program.file}.dbg").rename(folder / "symbols" / f"{program.name}.dbg")
    dumper = pack(DUMPER, DUMPER_VERSION) / "runtimes" / "linux-x64" / "native" / "createdump"
    shutil.copy(dumper, folder)
    (folder / "createdump").chmod(0o755)


@contextlib.contextmanager
def started(
    program: Program, *words: str, folder: Path | None = None
) -> Iterator[subprocess.Popen[str]]:
    """The program, when it is ready; it is stopped when that is over."""
    with subprocess.Popen(
        [program.file, *words],
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": "/tmp",
            **(SERVER if program.gc == "server" else {}),
        },
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


def kernel_core(program: Program, folder: Path) -> Path | None:
    """The kernel's core of FailFast; None: cores do not go to files here."""
    pattern = Path("/proc/sys/kernel/core_pattern").read_text(encoding="ascii").strip()
    if "/" in pattern or pattern.startswith("|"):
        return None
    with started(program, "crash", folder=folder) as process:
        process.wait(timeout=120)
        assert process.returncode == -signal.SIGABRT, process.returncode
    return next(folder.glob("core*"), None)


def check_heaps(program: Program, target: str) -> list[str]:
    """A server GC has several heaps, all of them with objects of their own."""
    heaps = programs.heapdump("--trust-files", target, "eeheap", "-gc")["heaps"]
    if len(heaps) == (HEAPS if program.gc == "server" else 1):
        return []
    return [f"{len(heaps)} heaps of the GC"]


def dump(program: Program, pid: int, kind: str, core: Path) -> None:
    """A core by createdump."""
    run(program.folder / "createdump", f"--{kind}", "-f", core, str(pid), timeout=300)


def check_program(program: Program) -> list[str]:
    """All kinds of targets of a program."""
    bad: list[str] = []
    folder = Path(f"{program.folder}.cores")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()

    def check(kind: str, target: str | Path, crashed: bool = False) -> None:
        began = time.monotonic()
        # Such a core lacks the words that lead to static fields.
        expected = frozenset({"statics"} if kind == "withheap" else {})
        # In 8 it does not tell either whether a collection was moving objects.
        if kind == "withheap" and program.version.startswith("8."):
            expected |= {"missing-symbols"}
        found, numbers = programs.check_target(
            str(target), ["--trust-files"], crashed, expected=expected
        )
        found += check_heaps(program, str(target))
        what = f"{program.version} {program.kind or program.gc} {kind}"
        bad.extend(f"{what}: {line}" for line in found)
        said = ", ".join(f"{value} {name}" for name, value in numbers.items())
        print(f"{what:40} {said} ({time.monotonic() - began:.0f} s)", flush=True)

    with started(program) as process:
        check("live", str(process.pid))
        for kind in ("full", "withheap"):
            dump(program, process.pid, kind, folder / f"{kind}.core")
        if shutil.which("gdb"):
            words = ["-batch", "-p", str(process.pid), "-ex", f"gcore {folder / 'gcore.core'}"]
            run("gdb", *words, timeout=300)
    for kind in ("full", "withheap", "gcore"):
        if (folder / f"{kind}.core").exists():
            check(kind, folder / f"{kind}.core")
    core = kernel_core(program, folder)
    if core:
        check("kernel, FailFast", core, crashed=True)
    shutil.rmtree(folder)
    return bad


def get_ready(machine: str = "x64") -> None:
    """Fetch what is needed for programs of that processor; Missing: it is not to be had."""
    for tool in ("dotnet", "gcc", "objcopy"):
        if not shutil.which(tool):
            raise Missing(f"there is no {tool}")
    runtime, dumper = (name.replace("x64", machine) for name in (RUNTIME, DUMPER))
    programs.restore_packs(
        FOLDER, {COMPILER: VERSIONS[-1:], runtime: VERSIONS[-1:], dumper: [DUMPER_VERSION]}
    )


def main() -> int:
    """Exit status."""
    bad: list[str] = []
    try:
        get_ready()
        for version in sys.argv[1:] or VERSIONS:
            for gc in GCS:
                build(Program(version, gc))
                bad += check_program(Program(version, gc))
    except Missing as missing:
        print(f"skipped: {missing}")
        return SKIPPED
    print("\n".join(bad) or "all as it has to be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
