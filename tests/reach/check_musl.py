#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs of Alpine's kind: .NET for linux-musl-x64, run by Debian's musl on this machine.

    check_musl.py [VERSION...]

Each release runs truth.cs, whose threads, frames and objects are known. Asked are the process, and its cores by createdump,
gcore and the kernel; dotnet-dump, which runs under musl with the DAC for musl, says what is in the full core. What comes from
registries is pinned: NuGet's runtime packs and dotnet-dump, Debian's musl-tools. Where one does not answer, the test is skipped
(exit status 77), with a line. HD_REACH is the folder of what was fetched and built (build/reach).
"""
from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Iterator, Sequence

SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build"))
PROGRAM = str(BUILD / "heapdump")
HERE = SOURCE / "tests" / "reach"
FOLDER = Path(os.environ.get("HD_REACH", BUILD / "reach")).resolve()
VERSIONS = ["8.0.34", "10.0.15", "11.0.0"]
RID = "linux-musl-x64"
PACKS = "microsoft.netcore.app.runtime"
PACK = f"{PACKS}.{RID}"
WEB_PACK = "microsoft.aspnetcore.app.runtime.linux-musl-x64"
# The programs of corefiles/apps, for this release, and the checks of what they say about themselves.
APPS_VERSION = "10.0.15"
APPS = {
    "hang orders": "hangs",
    "hang mixed": "hangs",
    "collections": "collections",
    "facts": "truth",
    "variables": "variables",
    "awaits": "awaits",
}
ORACLE = "10.0.750501"
# The commands that dotnet-dump gets.
ASKED = [
    part
    for word in ("dumpheap -stat", "gchandles", "clrstack -all", "exit")
    for part in ("-c", word)
]
LOADER = "/lib/ld-musl-x86_64.so.1"
SKIPPED = 77
NODES = 2007  # 2000 in Keeper.All, five and two on threads

# The methods of each thread, innermost first, without those of the framework.
FRAMES = {
    "t-sleeper": ["Work.Do", "Program.Sleeper", "Program+<>c.<Main>"],  # see TAIL_CALL
    "t-blocked": ["Program.Blocked"],
    "t-spinner": ["Program.Spinner"] * 4 + ["Program+<>c.<Main>"],
    "t-catcher": ["Program.Catcher", "Program.Thrower", "Program.Catcher"],
    "t-waiter": ["Program.Waiter"],
    "t-sorter": ["Program.Compare", "Program.Sorter"],
}
# A compiler that knows all of the program jumps to the last method that another one calls.
TAIL_CALL = {"t-sleeper": ["Work.Do", "Program.Sleeper"]}
MAIN = ["Program.Main"]


class Missing(Exception):
    """The machine, or a registry, does not have something."""


def run(*words: str | Path, **options: Any) -> str:
    """The standard output of a command that must not fail."""
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=False, **options
    )
    if done.returncode:
        raise Missing(
            f"{words[0]}: status {done.returncode}: {(done.stderr or done.stdout)[-800:]}"
        )
    return done.stdout


def restore_packs(folder: Path, packs: dict[str, list[str]]) -> None:
    """Versions of packs, by NuGet's own client."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = "".join(
        f'<PackageDownload Include="{name}" Version="{";".join(f"[{version}]" for version in versions)}" />'
        for name, versions in packs.items()
    )
    (folder / "packs.csproj").write_text(
        '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><TargetFramework>net10.0</TargetFramework></PropertyGroup>'
        f"<ItemGroup>{rows}</ItemGroup></Project>\n",
        encoding="utf-8",
    )
    env = {**os.environ, "NUGET_PACKAGES": str(folder / "nuget")}
    run("dotnet", "restore", folder / "packs.csproj", env=env, timeout=600)


def libraries(folder: Path) -> None:
    """The C++ libraries that the runtime needs, made of Debian's for glibc."""
    folder.mkdir(parents=True, exist_ok=True)
    gnu = Path("/usr/lib/x86_64-linux-gnu")
    if not shutil.which("musl-gcc"):
        raise Missing("there is no musl-gcc: apt-get install musl musl-tools")
    shim = folder / "ld-linux-x86-64.so.2"
    run("musl-gcc", "-O2", "-shared", "-fPIC", "-o", shim, HERE / "musl_shim.c")
    run("musl-gcc", "-O2", "-o", folder / "host", HERE / "musl_host.c")
    shutil.copy((gnu / "libgcc_s.so.1").resolve(), folder / "libgcc_s.so.1")
    library = (gnu / "libstdc++.so.6").resolve().read_bytes()
    for name in (b"__newlocale\0", b"__freelocale\0", b"__duplocale\0"):
        library = library.replace(name, name[:-2] + b"X\0")
    (folder / "libstdc++.so.6").write_bytes(library)


def named(kind: str, version: str, rid: str) -> Path:
    """The folder of a runtime or program."""
    return FOLDER / (f"{kind}-{version}" if rid == RID else f"{kind}-{rid}-{version}")


def lay_out(version: str, rid: str = RID) -> None:
    """A runtime as an installation has it."""
    root = named("root", version, rid)
    if root.exists():
        return
    pack = FOLDER / "nuget" / f"{PACKS}.{rid}" / version / "runtimes" / rid
    parts = root.with_suffix(".new")
    framework = parts / "shared" / "Microsoft.NETCore.App" / version
    framework.mkdir(parents=True)
    (parts / "host" / "fxr" / version).mkdir(parents=True)
    for file in [*pack.glob("lib/net*/*"), *pack.glob("native/*")]:
        is_host = file.name == "libhostfxr.so"
        shutil.copy(file, parts / "host" / "fxr" / version if is_host else framework)
    (framework / "createdump").chmod(0o755)
    parts.rename(root)


def lay_out_web() -> None:
    """The web framework, which some programs need."""
    pack = FOLDER / "nuget" / WEB_PACK / APPS_VERSION / "runtimes" / "linux-musl-x64"
    folder = FOLDER / f"root-{APPS_VERSION}" / "shared" / "Microsoft.AspNetCore.App" / APPS_VERSION
    folder.mkdir(parents=True, exist_ok=True)
    for file in [*pack.glob("lib/net*/*"), *pack.glob("native/*")]:
        shutil.copy(file, folder)


def check_apps() -> list[str]:
    """Programs of corefiles/apps: cores of them, compared with what they have said."""
    bad: list[str] = []
    builds = Path(os.environ.get("HD_APPS_BUILD", SOURCE / "corefiles" / "build" / "apps"))
    folder = FOLDER / "apps"
    folder.mkdir(exist_ok=True)
    lay_out_web()
    for name, oracle_name in APPS.items():
        app, *words = name.split()
        run(SOURCE / "scripts" / "make_corefiles.sh", "--build", app, "net10.0", timeout=600)
        core = folder / f"musl10-{name.replace(' ', '-')}.core"
        with subprocess.Popen(
            [FOLDER / "lib" / "host", builds / f"{app}-net10.0" / f"{app}.dll", *words],
            env=environment(APPS_VERSION),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            assert process.stdout
            for line in process.stdout:
                if line.startswith("{"):
                    core.with_suffix(".truth.json").write_text(line, encoding="utf-8")
                if line == "READY\n":
                    break
            # The last threads are on their way into their waits.
            time.sleep(0.5)
            try:
                createdump(APPS_VERSION, "full", process.pid, core)
            finally:
                process.kill()
        words = [str(SOURCE / "tests" / "oracle" / f"check_{oracle_name}.py"), str(core)]
        env = {**os.environ, "HEAPDUMP_BUILD": str(BUILD), "HEAPDUMP_SOURCE": str(SOURCE)}
        done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
        lines = (done.stdout or done.stderr).strip().split("\n")
        print(f"{APPS_VERSION:8} {lines[-1]}", flush=True)
        if done.returncode:
            bad += lines[-10:]
        core.unlink()
    return bad


def compile_against(
    folders: list[Path],
    out: Path,
    sources: Sequence[Path] = (HERE / "truth.cs",),
    options: Sequence[str] = (),
) -> None:
    """Compile a program against the assemblies of these folders."""
    sdk = run("dotnet", "--list-sdks").strip().split("\n")[-1]
    match = re.match(r"(\S+) \[(.*)\]", sdk)
    assert match, sdk
    files = {file.name: file for folder in folders for file in folder.glob("System.*.dll")}
    run(
        "dotnet",
        Path(match[2]) / match[1] / "Roslyn" / "bincore" / "csc.dll",
        *("-nologo", "-noconfig", "-nostdlib", "-o+", "-unsafe", "-nowarn:CS"),
        "-langversion:latest",
        *options,
        *(f"-r:{file}" for file in files.values()),
        f"-out:{out}",
        *sources,
    )


def compile_program(
    out: Path, version: str, rid: str, sources: Sequence[Path], words: Sequence[str] = ()
) -> None:
    """Compile a program that runs on the runtime of the pack."""
    out.parent.mkdir(parents=True, exist_ok=True)
    framework = named("root", version, rid) / "shared" / "Microsoft.NETCore.App" / version
    compile_against([framework], out, sources, words)
    options = {
        "framework": {"name": "Microsoft.NETCore.App", "version": version},
        "configProperties": {"System.Globalization.Invariant": True},
    }
    text = json.dumps({"runtimeOptions": options})
    out.with_suffix(".runtimeconfig.json").write_text(text, encoding="utf-8")


def compile_truth(version: str, rid: str = RID) -> None:
    """Compile truth.cs."""
    compile_program(named("truth", version, rid) / "truth.dll", version, rid, [HERE / "truth.cs"])


def environment(version: str) -> dict[str, str]:
    """Nothing but what the program needs."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",
        "LD_LIBRARY_PATH": str(FOLDER / "lib"),
        "DOTNET_ROOT": str(FOLDER / f"root-{version}"),
        "FXR_VERSION": version,
        "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1",
    }


def limit_cores() -> None:
    """The kernel may write a core of any size."""
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@contextlib.contextmanager
def truth(version: str, *words: str, folder: Path | None = None) -> Iterator[subprocess.Popen[str]]:
    """The program, when it is ready; it is stopped when that is over."""
    with subprocess.Popen(
        [FOLDER / "lib" / "host", FOLDER / f"truth-{version}" / "truth.dll", *words],
        env=environment(version),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=folder,
        preexec_fn=limit_cores,
    ) as process:
        assert process.stdout
        said = ""
        for line in process.stdout:
            said += line
            if line == "READY\n":
                break
        try:
            if "READY" not in said:
                raise Missing(f"{version}: the program does not run under musl: {said}")
            yield process
        finally:
            process.kill()


def heapdump(*words: str | Path, program: str = PROGRAM) -> Any:
    """The document of a command."""
    done = subprocess.run(
        [program, "--json", *map(str, words)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode in (0, 1), (words, done.returncode, done.stderr)
    return json.loads(done.stdout)


def own_frames(thread: Any) -> list[str]:
    """The program's methods of a thread, without parameters."""
    names = [row["method"].split("(")[0] for row in thread["frames"] if row["kind"] == "managed"]
    names = [re.sub(r"(<\w+>)b__.*", r"\1", name) for name in names]
    return [name for name in names if name.startswith(("Program", "Work"))]


def check_target(
    target: str,
    options: list[str],
    crashed: bool,
    program: str = PROGRAM,
    expected: frozenset[str] = frozenset(),
) -> tuple[list[str], dict[str, int]]:
    """The errors in the answers about a process or core that may have these findings, and numbers for the table."""
    bad: list[str] = []

    def ask(*words: str) -> Any:
        return heapdump(*options, target, *words, program=program)

    threads = ask("clrstack", "-all")["threads"]
    found = {row["name"]: own_frames(row) for row in threads if row["name"]}
    for name, frames in FRAMES.items():
        if found.get(name) not in (frames, TAIL_CALL.get(name)):
            bad.append(f"{name}: {found.get(name)}, and not {frames}")
    # NativeAOT lists the last thread first.
    main = own_frames(next((row for row in threads if row["id"] == 1), threads[0]))
    if main != MAIN:
        bad.append(f"main thread: {main}")
    partial = [row["os_id"] for row in threads if row["partial"] or row["missing"]]
    if partial:
        bad.append(f"stacks of {partial} are incomplete")
    findings = {row["kind"] for row in ask("info")["findings"]}
    odd = findings - {"files-unverified", "files-missing", *expected}
    if odd:
        bad.append(f"findings: {odd}")
    stat = ask("dumpheap", "-stat")["types"]
    counts = {row["name"]: row["count"] for row in stat}
    if (counts.get("Node"), counts.get("Fin"), counts.get("Pair[]")) != (NODES, 7, 1):
        bad.append(f"objects: {counts.get('Node')} Node, {counts.get('Fin')} Fin")
    if ask("verifyheap")["damaged"]:
        bad.append("verifyheap finds damage")
    hang = ask("hang")
    told = hang["waiting"], hang["threads"] - hang["waiting"] - hang["idle"]
    if told != (6, 1) and not crashed:
        bad.append(f"hang: {told[0]} threads wait and {told[1]} run, and not 6 and 1")
    managed = sum(row["kind"] == "managed" for thread in threads for row in thread["frames"])
    return bad, {"types": len(stat), "frames": managed, "nodes": counts.get("Node", 0)}


def oracle_tool() -> Path:
    """dotnet-dump, for musl."""
    tools = FOLDER / "tools"
    if not tools.exists():
        env = {**os.environ, "HOME": str(FOLDER / "home")}
        run(
            "dotnet",
            "tool",
            "install",
            "--tool-path",
            tools,
            "dotnet-dump",
            "--version",
            ORACLE,
            env=env,
        )
    return next(tools.glob(".store/dotnet-dump/*/dotnet-dump/*/tools/net8.0/any/dotnet-dump.dll"))


def oracle(version: str, core: Path) -> str:
    """The answers of dotnet-dump about a core."""
    home = FOLDER / "home"
    home.mkdir(exist_ok=True)
    tool = oracle_tool()
    env = {**environment(version), "HOME": str(home)}
    return run(FOLDER / "lib" / "host", tool, "analyze", core, *ASKED, env=env, timeout=300)


Row = tuple[str, ...]


def rows_of(text: str) -> dict[str, set[Row]]:
    """Types, frames and handles in the text of SOS, or ours."""
    types = text[text.index("Class Name") : text.index("\nTotal")]
    stacks = r"^([0-9A-Fa-f]{16}) ([0-9A-Fa-f]{16}) (?!\[)"
    handles = r"^([0-9A-Fa-f]{12,16}) +\w+ +([0-9A-Fa-f]{12,16}) "
    patterns = {
        "types": (r"^\s*([0-9a-f]{10,16}) +([\d,]+) +([\d,]+) \S", types),
        "frames": (stacks, text),
        "handles": (handles, text),
    }
    return {
        name: {
            tuple(part.lower().lstrip("0").replace(",", "") for part in match)
            for match in re.findall(pattern, where, re.MULTILINE)
        }
        for name, (pattern, where) in patterns.items()
    }


def compare(core: Path, said: str) -> tuple[list[str], str]:
    """Differences from what dotnet-dump said, and a cell for the table."""
    theirs = rows_of(said)
    text = "".join(
        run(PROGRAM, core, *words)
        for words in (["dumpheap", "-stat"], ["gchandles"], ["clrstack", "-all"])
    )
    ours = rows_of(text)
    bad = [
        f"{name}: {len(ours[name])} of ours, {len(theirs[name])} of dotnet-dump, {len(ours[name] & theirs[name])} equal"
        for name in theirs
        if ours[name] != theirs[name] or not theirs[name]
    ]
    return bad, ", ".join(f"{len(rows)} {name}" for name, rows in theirs.items())


def stack_lines(text: str) -> list[str]:
    """The lines of frames."""
    return re.findall(r"^[0-9A-F]{16} .*$", text, re.MULTILINE)


def check_debuggers(core: Path) -> list[str]:
    """Stacks in GDB and LLDB are those of the shell."""
    expected = stack_lines(run(PROGRAM, core, "clrstack", "-all"))
    env = {**os.environ, "HEAPDUMP_BUILD": str(BUILD)}
    gdb = ["gdb", "-nx", "-q", "-batch", "-iex", "set style enabled off"]
    gdb += ["-ex", f"source {SOURCE}/gdb-plugin/heapdump.py", "-ex", f"core {core}"]
    lldb = [os.environ.get("LLDB", "lldb-14"), "--no-lldbinit", "--no-use-colors", "-b"]
    lldb += ["-O", f"plugin load {BUILD}/libheapdump_lldb.so", "-o", f"target create -c {core}"]
    bad = []
    for words in ([*gdb, "-ex", "clrstack -all"], [*lldb, "-o", "clrstack -all"]):
        if not shutil.which(words[0]):
            continue
        found = stack_lines(run(*words, env=env, timeout=300))
        print(f"{'':8} {words[0]:20} {len(found)} frames", flush=True)
        if found != expected:
            bad.append(f"{words[0]}: {len(found)} frames, and not the {len(expected)} of the shell")
    return bad


# With --rbind it works as an ordinary user, too (tests/static_test.py).
ENTER = 'mount --rbind /proc "$0/proc" && exec env -i "$(command -v chroot)" "$0" "$@"'


def check_static(pid: int) -> list[str]:
    """The static program, in a root folder that has musl and nothing else, about the process."""
    static = BUILD / "static" / "heapdump"
    if not static.exists():
        print("there is no static program: scripts/static.sh makes it")
        return []
    root = FOLDER / "alpine"
    for part in ("proc", "lib"):
        (root / part).mkdir(parents=True, exist_ok=True)
    shutil.copy(static, root)
    shutil.copy(LOADER, root / "lib")
    user = [] if os.getuid() == 0 else ["--map-root-user"]
    enter = ["unshare", "--mount", *user, "sh", "-c", ENTER, str(root), "/heapdump"]
    env = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
    inside = stack_lines(run(*enter, str(pid), "clrstack", "-all", env=env, timeout=300))
    here = stack_lines(run(PROGRAM, str(pid), "clrstack", "-all"))
    spinning = re.compile(r".*Spinner.*")
    inside, here = ([line for line in rows if not spinning.match(line)] for rows in (inside, here))
    print(f"{'':8} {'static, in a root':20} {len(inside)} frames", flush=True)
    return [] if inside == here and inside else [f"static: {len(inside)} frames, not {len(here)}"]


def check_collect(pid: int, folder: Path) -> list[str]:
    """The runtime's own snapshot, over its socket."""
    path = folder / "it.gcdump"
    run(PROGRAM, "collect", str(pid), "-o", path, timeout=300)
    rows = {row["name"]: row["count"] for row in heapdump(path, "dumpheap", "-stat")["types"]}
    print(f"{'':8} {'collect':20} {rows.get('Node')} nodes", flush=True)
    return [] if rows.get("Node") == NODES else [f"collect: {rows.get('Node')} Node"]


def check_heap() -> list[str]:
    """Pieces of musl's malloc: as many as the program says, in the process and in its core."""
    program, core = FOLDER / "musl_heap", FOLDER / "musl_heap.core"
    core.unlink(missing_ok=True)
    run("musl-gcc", "-O2", "-o", program, HERE / "musl_heap.c")
    bad: list[str] = []
    with subprocess.Popen(
        [program], stdout=subprocess.PIPE, text=True, env={"LC_ALL": "C"}
    ) as process:
        assert process.stdout
        said = []
        for line in process.stdout:
            if line == "READY\n":
                break
            said.append([int(word) for word in line.split()])
        try:
            targets = [str(process.pid)]
            if shutil.which("gdb"):
                words = ["-batch", "-p", str(process.pid), "-ex", f"gcore {core}"]
                run("gdb", *words, timeout=300)
                targets.append(str(core))
            for target in targets:
                answer = heapdump(target, "memory")
                bad += check_pieces(target, answer, said)
        finally:
            process.kill()
    print(f"{'musl':8} {'malloc':20} {len(said)} sizes in {len(targets)} targets", flush=True)
    return bad


def check_pieces(target: str, answer: Any, said: list[list[int]]) -> list[str]:
    """Each size has a class of its own; the program has a few pieces besides."""
    bad = []
    if answer["malloc"].get("library") != "musl":
        bad.append(f"{target}: musl's malloc is not found")
    for size, used, freed in said:
        # The class is the smallest that holds the size and musl's 4 bytes.
        rows = [row for row in answer["sizes"] if size + 4 <= row.get("to", size + 4)]
        row = min(rows, key=lambda row: int(row["from"]), default=None)
        # Pages of large pieces are given back.
        expected = (used, freed if size < 20000 else 0)
        found = (row["used_pieces"], row["free_pieces"]) if row else (0, 0)
        if found[0] != used or not expected[1] <= found[1] <= freed + 32:
            bad.append(f"{target}: pieces of {size}: {found} in use and free, and not {expected}")
    mapped = sum(used for size, used, _ in said if size > 131052)
    if answer["malloc"]["mapped_pieces"] != mapped:
        bad.append(f"{target}: {answer['malloc']['mapped_pieces']} large pieces, and not {mapped}")
    return bad


def createdump(version: str, kind: str, pid: int, core: Path) -> None:
    """The runtime's own program."""
    program = (
        FOLDER / f"root-{version}" / "shared" / "Microsoft.NETCore.App" / version / "createdump"
    )
    env = environment(version)
    run(LOADER, program, f"--{kind}", "-f", core, str(pid), env=env, timeout=300)


def kernel_core(version: str, folder: Path) -> Path | None:
    """The kernel's core of FailFast; None: cores do not go to files here."""
    pattern = Path("/proc/sys/kernel/core_pattern").read_text(encoding="ascii").strip()
    if "/" in pattern or pattern.startswith("|"):
        return None
    with truth(version, "crash", folder=folder) as process:
        process.wait(timeout=120)
        assert process.returncode == -signal.SIGABRT, process.returncode
    cores = list(folder.glob("core*"))
    return cores[0] if cores else None


def check_version(version: str) -> list[str]:
    """All kinds of targets of a release."""
    bad: list[str] = []
    folder = FOLDER / f"cores-{version}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()

    def check(kind: str, target: str | Path, crashed: bool = False) -> None:
        began = time.monotonic()
        found, numbers = check_target(str(target), ["--trust-files"], crashed)
        bad.extend(f"{version} {kind}: {line}" for line in found)
        said = ", ".join(f"{value} {name}" for name, value in numbers.items())
        print(f"{version:8} {kind:20} {said} ({time.monotonic() - began:.0f} s)", flush=True)

    with truth(version) as process:
        check("live", str(process.pid))
        for kind in ("full", "withheap"):
            createdump(version, kind, process.pid, folder / f"{kind}.core")
        if shutil.which("gdb"):
            words = ["-batch", "-p", str(process.pid), "-ex", f"gcore {folder / 'gcore.core'}"]
            run("gdb", *words, timeout=300)
        found = check_static(process.pid) + check_collect(process.pid, folder)
        bad.extend(f"{version}: {line}" for line in found)
    for kind in ("full", "withheap", "gcore"):
        if (folder / f"{kind}.core").exists():
            check(kind, folder / f"{kind}.core")
    core = kernel_core(version, folder)
    if core:
        check("kernel, FailFast", core, crashed=True)
    bad.extend(f"{version}: {line}" for line in check_debuggers(folder / "full.core"))
    found, cell = compare(folder / "full.core", oracle(version, folder / "full.core"))
    bad.extend(f"{version} dotnet-dump: {line}" for line in found)
    print(f"{version:8} {'as dotnet-dump':20} {cell}", flush=True)
    return bad


def main() -> int:
    """Exit status."""
    bad: list[str] = []
    try:
        if not shutil.which("dotnet"):
            raise Missing("there is no .NET SDK")
        libraries(FOLDER / "lib")
        bad += check_heap()
        restore_packs(FOLDER, {PACK: VERSIONS, WEB_PACK: [APPS_VERSION]})
        for version in sys.argv[1:] or VERSIONS:
            lay_out(version)
            compile_truth(version)
            bad += check_version(version)
            if version == APPS_VERSION:
                bad += check_apps()
    except Missing as missing:
        print(f"skipped: {missing}")
        return SKIPPED
    print("\n".join(bad) or "all as it has to be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
