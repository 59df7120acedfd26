#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""NativeAOT programs that were compiled in other ways, and processes with several runtimes.

    check_nativeaot_kinds.py [KIND...]

The program is truth.cs, as in check_nativeaot.py. "libraries" are two NativeAOT libraries of two releases: in a C program, and in
a program that CoreCLR runs. Each heap must be there by its name, and the others told of.
"""
from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

import check_musl as programs
import check_nativeaot as aot
from check_musl import FOLDER, SKIPPED, Missing, run

KINDS = {
    "size": ("10.0.12", {"OptimizationPreference": "Size", "UseSystemResourceKeys": "true"}),
    "no-debugger": ("10.0.12", {"DebuggerSupport": "false"}),
    "no-reflection": ("8.0.34", {"IlcDisableReflection": "true"}),
    "events": ("10.0.12", {"EventSourceSupport": "true"}),
    "globalization": ("10.0.12", {"InvariantGlobalization": "false"}),
    "lld": ("10.0.12", {"LinkerFlavor": "lld"}),
    "no-names": ("10.0.12", {"StackTraceSupport": "false"}),
}
# The name, the type of its objects, and the release of each library.
LIBRARIES = [("one", "Apple", "10.0.12"), ("two", "Pear", "9.0.23")]
COUNT = 1000

LIBRARY = """
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;
public class ITEM { public int Id; public ITEM Next; }
public static class Api
{
    static readonly List<ITEM> all = new();
    [UnmanagedCallersOnly(EntryPoint = "NAME_fill")]
    public static int Fill(int count)
    {
        for (int i = 0; i < count; i++)
            all.Add(new ITEM { Id = i });
        return all.Count;
    }
    [UnmanagedCallersOnly(EntryPoint = "NAME_block")]
    public static void Block()
    {
        var local = new ITEM { Id = -1 };
        Thread.Sleep(-1);
        System.GC.KeepAlive(local);
    }
}
"""
C_HOST = """
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static void *block(void *function) { ((void (*)(void))function)(); return NULL; }
int main(int count, char **words)
{
    pthread_t thread;
    for (int i = 1; i + 1 < count; i += 2) {
        char name[64];
        void *library = dlopen(words[i], RTLD_NOW);
        if (!library)
            return 1;
        snprintf(name, sizeof(name), "%s_fill", words[i + 1]);
        ((int (*)(int))dlsym(library, name))(1000);
        snprintf(name, sizeof(name), "%s_block", words[i + 1]);
        pthread_create(&thread, NULL, block, dlsym(library, name));
    }
    puts("READY");
    fflush(stdout);
    pthread_join(thread, NULL);
    return 0;
}
"""
CLR_HOST = """
using System;
using System.Runtime.InteropServices;
using System.Threading;
class HostObject { public int Id; }
unsafe static class Host
{
    static readonly HostObject[] all = new HostObject[500];
    static void Main(string[] words)
    {
        for (int i = 0; i < all.Length; i++)
            all[i] = new HostObject { Id = i };
        for (int i = 0; i + 1 < words.Length; i += 2) {
            IntPtr library = NativeLibrary.Load(words[i]);
            ((delegate* unmanaged<int, int>)NativeLibrary.GetExport(library, words[i + 1] + "_fill"))(1000);
            IntPtr block = NativeLibrary.GetExport(library, words[i + 1] + "_block");
            new Thread(() => ((delegate* unmanaged<void>)block)()).Start();
        }
        Console.WriteLine("READY");
        Console.Out.Flush();
        Thread.Sleep(-1);
    }
}
"""


def properties(values: dict[str, str]) -> str:
    """As a project has them."""
    text = "".join(f"<{name}>{value}</{name}>" for name, value in values.items())
    if values.get("LinkerFlavor") == "lld":
        # Since 13 it drops what only __start_ and __stop_ symbols refer to.
        text += '</PropertyGroup><ItemGroup><LinkerArg Include="-Wl,-z,nostart-stop-gc" />'
        text += "</ItemGroup><PropertyGroup>"
    return text


def check_nameless(program: aot.Program) -> list[str]:
    """Without names of methods nothing is said that would need them, but that they are missing."""
    with aot.started(program) as process:
        target = str(process.pid)
        findings = [row["kind"] for row in programs.heapdump(target, "info")["findings"]]
        hang = programs.heapdump(target, "hang")
        damaged = programs.heapdump(target, "verifyheap")["damaged"]
    bad = [] if findings == ["missing-symbols"] else [f"findings: {findings}"]
    bad += ["verifyheap finds damage"] if damaged else []
    return bad + (["hang has a verdict"] if hang["verdicts"] else [])


def check_kind(kind: str) -> list[str]:
    """All targets of a program that was compiled in that way."""
    version, values = KINDS[kind]
    if kind == "lld" and not shutil.which("ld.lld"):
        print("lld: skipped, there is no ld.lld")
        return []
    program = aot.Program(version, kind=kind, more=properties(values))
    aot.build(program)
    if kind == "no-names":
        return check_nameless(program)
    # The struct that the elements of an array are has no name in a program of 8 without reflection.
    nameless = "2007 Node, 7 Fin" if kind == "no-reflection" else "\0"
    return [line for line in aot.check_program(program) if not line.endswith(nameless)]


def make_libraries(folder: Path) -> list[Path]:
    """The two libraries."""
    files = []
    for name, item, version in LIBRARIES:
        work = folder / f"{name}.work"
        file = folder / f"lib{name}.so"
        files.append(file)
        if file.exists():
            continue
        work.mkdir(parents=True, exist_ok=True)
        text = LIBRARY.replace("ITEM", item).replace("NAME", name)
        (work / "Library.cs").write_text(text, encoding="utf-8")
        project = aot.PROJECT.format(
            series=version.rsplit(".", 1)[0],
            version=version,
            server="false",
            name=f"lib{name}",
            more="<NativeLib>Shared</NativeLib>",
            machine="x64",
            compiler="gcc",
            tools="",
            sdk="Microsoft.NET.Sdk",
        ).replace("<OutputType>Exe", "<OutputType>Library")
        (work / "library.csproj").write_text(project, encoding="utf-8")
        project_file, out = str(work / "library.csproj"), str(work / "out")
        run("dotnet", "publish", project_file, "-c", "Release", "-o", out, timeout=1200)
        shutil.copy(work / "out" / file.name, file)
        shutil.rmtree(work)
    return files


def make_hosts(folder: Path) -> dict[str, list[str]]:
    """The command lines of both programs."""
    (folder / "host.c").write_text(C_HOST, encoding="utf-8")
    run("gcc", "-o", folder / "host", folder / "host.c", "-ldl", "-lpthread")
    (folder / "host.cs").write_text(CLR_HOST, encoding="utf-8")
    listed = run("dotnet", "--list-runtimes").splitlines()
    found = [line.split() for line in listed if line.startswith("Microsoft.NETCore.App 10.")]
    if not found:
        raise Missing("there is no runtime of .NET 10")
    _, version, place = found[-1]
    framework = Path(place.strip("[]")) / version
    programs.compile_against([framework], folder / "host.dll", [folder / "host.cs"])
    options = {"framework": {"name": "Microsoft.NETCore.App", "version": version}}
    text = json.dumps({"runtimeOptions": options})
    (folder / "host.runtimeconfig.json").write_text(text, encoding="utf-8")
    return {"C": [str(folder / "host")], "CoreCLR": ["dotnet", str(folder / "host.dll")]}


@contextlib.contextmanager
def running(words: list[str]) -> Iterator[str]:
    """The process id of a program that is ready."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        if not any(line == "READY\n" for line in process.stdout):
            raise Missing(f"{words[0]} did not get ready")
        try:
            yield str(process.pid)
        finally:
            process.kill()


def check_runtime(target: str, name: str, item: str, count: int) -> list[str]:
    """The heap of one of the runtimes has its objects and no others, and its thread its frame."""

    def ask(*words: str) -> Any:
        return programs.heapdump("--runtime", name, target, *words)

    counts = {row["name"]: row["count"] for row in ask("dumpheap", "-stat")["types"]}
    items = ["HostObject", *(item for _, item, _ in LIBRARIES)]
    found = {word: counts[word] for word in items if word in counts}
    bad = [] if found == {item: count} else [f"{name}: {found}"]
    if ask("verifyheap")["damaged"]:
        bad.append(f"{name}: verifyheap finds damage")
    if "Api.Block" not in str(ask("clrstack", "-all")) and item != "HostObject":
        bad.append(f"{name}: no frame of its thread")
    return bad


def check_libraries() -> list[str]:
    """Two libraries in one process, and these beside CoreCLR."""
    folder = FOLDER / "nativeaot-libraries"
    files = make_libraries(folder)
    bad = []
    for host, words in make_hosts(folder).items():
        words = words + [
            word for row, file in zip(LIBRARIES, files) for word in (str(file), row[0])
        ]
        with running(words) as target:
            others = [
                row["detail"]
                for row in programs.heapdump(target, "info")["findings"]
                if row["kind"] == "other-runtime"
            ]
            if len(others) != (2 if host == "CoreCLR" else 1):
                bad.append(f"{host}: info names {others}")
            # COUNT in the list, and the one on the stack.
            for (name, item, _), file in zip(LIBRARIES, files):
                bad += check_runtime(target, file.name, item, COUNT + 1)
            if host == "CoreCLR":
                bad += check_runtime(target, "libcoreclr.so", "HostObject", 500)
        print(f"libraries in a {host} program: {len(others)} other runtimes are named", flush=True)
    return bad


def main() -> int:
    """Exit status."""
    bad: list[str] = []
    try:
        aot.get_ready()
        for kind in sys.argv[1:] or [*KINDS, "libraries"]:
            found = check_libraries() if kind == "libraries" else check_kind(kind)
            bad += [f"{kind}: {line}" for line in found]
    except Missing as missing:
        print(f"skipped: {missing}")
        return SKIPPED
    print("\n".join(bad) or "all as it has to be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
