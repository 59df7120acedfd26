#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""arm64 on this machine: heapdump built for it, and programs of .NET for linux-arm64, in a virtual machine and by qemu-user.

    check_arm64.py [VERSION...]

What is built for arm64 gives the same documents about every committed core as what is built here, by qemu-user, which has no ptrace,
and neither seccomp nor Landlock; in the machine it passes the tests of these. Each release runs truth.cs and programs of
corefiles/apps in the machine, which are looked at there as processes, and here as cores of every kind (arm64_machine.py). dotnet-dump
for arm64, by qemu-user, says what is in full cores. A core that qemu-user writes lacks the list of mapped files: dotnet-dump
finds no runtime in it, and only its heap and stacks are compared with the program.

Debian's packages for arm64 and NuGet's runtime packs are fetched; where something is missing, the test is skipped (exit status 77),
with a line. HD_REACH is the folder of what was fetched and built (build/reach).
"""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import arm64_machine
import check_musl as programs
from check_musl import BUILD, FOLDER, HERE, PROGRAM, SKIPPED, SOURCE, Missing, run
from machine import Machine

VERSIONS = ["10.0.15", "11.0.0"]
RID = "linux-arm64"
PACK = f"microsoft.netcore.app.runtime.{RID}"
ROOT = FOLDER / "arm64-root"
BUILT = FOLDER / "arm64-build"
PACKAGES = (
    "libc6-dev libelf-dev libdw-dev libjansson-dev libzstd-dev libsqlite3-dev zlib1g-dev libedit-dev"
    " libseccomp-dev libcapstone-dev libcunit1-dev libstdc++6 busybox-static bash coreutils libc-bin"
    " gdb python3 linux-image-arm64"
).split()
TOOLS = "dotnet qemu-aarch64-static aarch64-linux-gnu-gcc qemu-system-aarch64 mke2fs cpio".split()
NEEDED = "qemu-user-static gcc-aarch64-linux-gnu qemu-system-arm e2fsprogs cpio".split()
# Cores of a program that never rests, of each release.
CHURNING = 3
# Unit tests of what qemu-user has not, as ptrace and /proc of other processes, and of what depends on the processor.
OF_KERNELS = (
    "api arm64 attach cfi debugger named_file proc process_lean process_server stopper".split()
)
# Commands whose documents are compared.
COMMANDS = ["info", "dumpheap -stat", "clrstack -all", "clrstack -a", "verifyheap", "hang"]
COMMANDS += ["report", "gchandles -stat", "threads", "crashinfo", "registers", "memory"]

TOOLCHAIN = """
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_SYSROOT {root})
set(CMAKE_LIBRARY_PATH /usr/lib/aarch64-linux-gnu)
set(CMAKE_INCLUDE_PATH /usr/include/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
"""


def need_tools() -> None:
    """Missing: a program that is needed is not here."""
    for tool in TOOLS:
        if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
            raise Missing(f"there is no {tool}: apt-get install {' '.join(NEEDED)}")


def fetch_packages() -> None:
    """Debian's packages for arm64, unpacked; the state of this machine's apt stays as it is."""
    wanted, stamp = " ".join(PACKAGES), ROOT / "packages"
    if stamp.exists() and stamp.read_text(encoding="ascii") == wanted:
        return
    state = FOLDER / "apt-arm64"
    for part in ("state/lists/partial", "cache/archives/partial", "parts"):
        (state / part).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    options = {
        "APT::Architecture": "arm64",
        "APT::Architectures::": "arm64",
        "Dir::State": state / "state",
        "Dir::State::status": state / "status",
        "Dir::Cache": state / "cache",
        "APT::Install-Recommends": "0",
        "Acquire::Languages": "none",
        "APT::Sandbox::User": "root",
    }
    words = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
    run("apt-get", *words, "update", "-q", timeout=600)
    run("apt-get", *words, "install", "-y", "-q", "--download-only", *PACKAGES, timeout=600)
    parts = ROOT.with_suffix(".new")
    parts.mkdir(exist_ok=True)
    for package in sorted((state / "cache" / "archives").glob("*.deb")):
        run("dpkg-deb", "-x", package, parts)
    shutil.rmtree(ROOT, ignore_errors=True)
    (parts / "packages").write_text(wanted, encoding="ascii")
    parts.rename(ROOT)


def build() -> None:
    """The shell program for arm64."""
    BUILT.mkdir(exist_ok=True)
    toolchain = FOLDER / "arm64.cmake"
    toolchain.write_text(TOOLCHAIN.format(root=ROOT), encoding="utf-8")
    config = ROOT / "usr" / "lib" / "aarch64-linux-gnu" / "pkgconfig"
    env = {**os.environ, "PKG_CONFIG_SYSROOT_DIR": str(ROOT), "PKG_CONFIG_LIBDIR": str(config)}
    words = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DHD_LLDB=OFF", "-DHD_TESTS=ON"]
    words += [f"-DCMAKE_TOOLCHAIN_FILE={toolchain}"]
    words += [f"-DCMAKE_CROSSCOMPILING_EMULATOR={';'.join(emulated())}"]
    run("cmake", "-S", SOURCE, "-B", BUILT, *words, env=env)
    run("ninja", "-C", BUILT, timeout=3600)


def emulated(*words: str | Path) -> list[str]:
    """The words that run a program of arm64."""
    return ["qemu-aarch64-static", "-cpu", "max,pauth-impdef=on", "-L", str(ROOT)] + [
        str(word) for word in words
    ]


def answer(words: list[str]) -> tuple[int, str]:
    """Status and document of a command."""
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=900)
    return done.returncode, done.stdout


def check_answers() -> list[str]:
    """Documents that differ."""
    bad, count = [], 0
    for core in sorted((SOURCE / "corefiles").glob("*.core.zst")):
        for command in COMMANDS:
            words = ["--no-sandbox", "--no-files", "--json", str(core), *command.split()]
            count += 1
            if answer(emulated(BUILT / "heapdump", *words)) != answer([PROGRAM, *words]):
                bad.append(f"{core.name}: {command} differs")
                print(bad[-1], flush=True)
    print(f"{'':8} {count} documents by a build for arm64, {len(bad)} differ", flush=True)
    return bad


def environment(version: str) -> dict[str, str]:
    """Nothing but what the program needs."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",
        "DOTNET_ROOT": str(FOLDER / f"root-{RID}-{version}"),
        "FXR_VERSION": version,
        "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1",
        "DOTNET_EnableWriteXorExecute": "0",
    }


def oracle(version: str, core: Path) -> str:
    """The answers of dotnet-dump for arm64 about a core."""
    home = FOLDER / "home"
    home.mkdir(exist_ok=True)
    framework = FOLDER / f"root-{RID}-{version}" / "shared" / "Microsoft.NETCore.App" / version
    words = emulated(FOLDER / "arm64-host", programs.oracle_tool(), "analyze", core)
    words += ["-c", f"setclrpath {framework}", *programs.ASKED]
    return run(*words, env={**environment(version), "HOME": str(home)}, timeout=900)


def core_of(version: str) -> Path:
    """The core that qemu writes of the program, which ends itself; qemu's own is taken away."""
    folder = FOLDER / f"arm64-{version}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    subprocess.run(
        emulated(FOLDER / "arm64-host", FOLDER / f"truth-{RID}-{version}" / "truth.dll", "crash"),
        env=environment(version),
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=900,
        preexec_fn=programs.limit_cores,
    )
    cores = list(folder.glob("qemu_*.core"))
    for other in folder.iterdir():
        if other not in cores:
            other.unlink()
    if not cores:
        raise Missing(f"{version}: qemu has written no core")
    return cores[0]


def check_version(version: str) -> list[str]:
    """Errors about a release, and its lines of the table."""
    core = core_of(version)
    bad, numbers = programs.check_target(str(core), [], crashed=True)
    cells = ", ".join(f"{count} {name}" for name, count in numbers.items())
    print(f"{version:8} {'core of qemu-user':20} {cells}", flush=True)
    core.unlink()
    return bad


def check_kernel(machine: Machine) -> list[str]:
    """Unit tests and those of the sandbox, in the machine."""
    bad = []
    env = f"export LC_ALL=C.UTF-8 HEAPDUMP_BUILD={BUILT} HEAPDUMP_SOURCE={SOURCE}\n"
    tests = [f"{BUILT}/tests/unit_tests {name}" for name in OF_KERNELS]
    tests.append(f"python3 {SOURCE}/tests/cli/test_sandbox.py -k every_attack -k without_a_sandbox")
    for test in tests:
        try:
            machine.script(env + test, seconds=900)
        except (RuntimeError, TimeoutError) as error:
            bad.append(str(error))
    print(f"{'':8} {len(tests)} suites in the machine, {len(bad)} failed", flush=True)
    return bad


def check_damage(core: Path) -> list[str]:
    """A core that is damaged in each way, once: verifyheap finds that, and nothing else."""
    words = [str(SOURCE / "tests" / "inject" / "inject.py"), "--rounds", "1"]
    words += ["--core", str(core.with_suffix(""))]
    env = {**os.environ, "HEAPDUMP_BUILD": str(BUILD), "HEAPDUMP_SOURCE": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, *words], env=env, capture_output=True, text=True, check=False
    )
    lines = (done.stdout or done.stderr).strip().split("\n")
    print(f"{'':8} {lines[-1]}", flush=True)
    return lines[-12:] if done.returncode else []


def check_machine(versions: list[str]) -> list[str]:
    """Programs in the virtual machine; dotnet-dump about their cores."""
    bad: list[str] = []
    for version in versions:
        for name in {name.split()[0] for name in [*arm64_machine.READY, "crash", "churn"]}:
            arm64_machine.prepare_app(name, version, FOLDER / "nuget")
    copies = [
        programs.named(kind, version, RID) for version in versions for kind in ("root", "truth")
    ]
    copies += [arm64_machine.HOST, arm64_machine.APPS, SOURCE / "tests", SOURCE / "core"]
    copies += [*(SOURCE / "corefiles").glob("*.heap"), *(SOURCE / "corefiles").glob("*.zst")]
    copies += [path for path in BUILT.glob("*heapdump*") if not path.is_dir()]
    copies += [BUILT / "tests" / name for name in ("unit_tests", "heapdump_misbehaving")]
    arm64_machine.SHARE.mkdir(parents=True, exist_ok=True)
    machine = Machine(ROOT, arm64_machine.PLACE, [arm64_machine.SHARE], copies)
    with machine:
        live = arm64_machine.PLACE / "heapdump"
        machine.stand_in(live, BUILT / "heapdump")
        bad += check_kernel(machine)
        for version in versions:
            checks = arm64_machine.Checks(machine, version, str(live))
            checks.attempt("truth", checks.truth)
            for name in arm64_machine.READY:
                checks.attempt(name, checks.ready, name)
            for mode in arm64_machine.CRASHES:
                checks.attempt(f"crash {mode}", checks.crash, mode)
            checks.attempt("churn", checks.churn, CHURNING)
            bad += checks.bad
    for version in versions:
        folder = arm64_machine.SHARE / f"cores-{version}"
        for core in (folder / "full.core", *folder.glob("wks*-full.core")):
            found, cell = programs.compare(core, oracle(version, core))
            bad += [f"{core.name}, dotnet-dump: {line}" for line in found]
            print(f"{version:8} {core.name}: as dotnet-dump: {cell}", flush=True)
        bad += check_damage(next(folder.glob("wks*-full.core")))
    return bad


def main() -> int:
    """Exit status."""
    bad: list[str] = []
    try:
        need_tools()
        FOLDER.mkdir(parents=True, exist_ok=True)
        fetch_packages()
        build()
        bad += check_answers()
        run("aarch64-linux-gnu-gcc", "-O2", "-o", FOLDER / "arm64-host", HERE / "musl_host.c")
        versions = sys.argv[1:] or VERSIONS
        releases = [version.split(".", maxsplit=1)[0] + ".0.0" for version in versions]
        packs = {name: releases for name in arm64_machine.LIBRARIES}
        programs.restore_packs(FOLDER, {PACK: versions, **packs})
        for version in versions:
            programs.lay_out(version, RID)
            programs.compile_truth(version, RID)
            bad += check_version(version)
        bad += check_machine(versions)
    except Missing as missing:
        print(f"skipped: {missing}")
        return SKIPPED
    print("\n".join(bad) or "all as it has to be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
