# SPDX-License-Identifier: MIT
"""A program with many methods, which says how often it calls each: for the campaigns of debuggers on what lives."""
from __future__ import annotations

import os
import subprocess
from pathlib import Path

PROJECT = """<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>{framework}</TargetFramework>
    <DebugType>portable</DebugType>
    <Optimize>{optimize}</Optimize>
    <NuGetAudit>false</NuGetAudit>
    <UseAppHost>false</UseAppHost>
  </PropertyGroup>
</Project>
"""
HEAD = """using System;
using System.Runtime.CompilerServices;
using System.Threading;
public static class Many
{
    public static long sum;
"""
METHOD = """    [MethodImpl(MethodImplOptions.NoInlining)]
    public static long M{i}(long x)
    {{
        long y = x + {i};
        y = y * 3 - x;
        sum += y;
        return y;
    }}
"""
TAIL = """    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Finished() {{ Console.WriteLine("SUM " + sum); }}
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Round(long round)
    {{
{calls}    }}
    public static void Main(string[] args)
    {{
        long rounds = long.Parse(args[0]);
        for (long i = 0; i < rounds; i++)
        {{
            Round(i);
            if (i % 8 == 7)
                Thread.Sleep(1);
        }}
        Finished();
    }}
}}
"""


class Program:
    """The program, built."""

    def __init__(self, folder: str, count: int, framework: str, is_optimized: bool) -> None:
        text = HEAD
        self.first: list[int] = []  # the line of the first statement of each method
        for i in range(count):
            self.first.append(text.count("\n") + 4)
            text += METHOD.format(i=i)
        self.calls = text.count("\n") + 6  # the line of the first call
        self.path = folder + "/out/many.dll"
        text += TAIL.format(calls="".join(f"        M{i}(round);\n" for i in range(count)))
        Path(folder, "Program.cs").write_text(text, encoding="utf-8")
        project = PROJECT.format(framework=framework, optimize="true" if is_optimized else "false")
        Path(folder, "many.csproj").write_text(project, encoding="utf-8")
        subprocess.run(
            ["dotnet", "build", folder, "-v", "quiet", "-nodeReuse:false", "-o", folder + "/out"],
            check=True,
            stdout=subprocess.DEVNULL,
            env=dict(os.environ, MSBUILDDISABLENODEREUSE="1"),
        )


def environment(base: dict[str, str], runtime: str | None) -> dict[str, str]:
    """The environment in which it runs: with the dotnet of that folder, if there is one."""
    found = dict(base)
    if runtime:
        found["PATH"] = runtime + ":" + os.environ["PATH"]
        found["DOTNET_ROLL_FORWARD"] = "LatestMajor"
    return found
