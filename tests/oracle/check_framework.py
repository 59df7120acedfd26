#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare framework/fact_table.h with the metadata of each release of .NET, and of the packages.

    check_framework.py [--rows PROGRAM] [--verbose]

PROGRAM prints the rows (framework_rows of the build).  The packs come from NuGet, by dotnet restore, and stay in its
folder.  A row fails whose type or field is not in its assembly in a release that the row names, or is there in another
one; and a row that ends before the newest release without an alternative that goes on.  A row of
framework/collection_layout.c fails when a release has the class without a field that the row names, or the newest one
has no such class; what is in an object of a type argument is compared by check_collections.py.  Exit status 1 then,
and 77 when there is no .NET SDK, or the packs cannot be had.
"""
from __future__ import annotations

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Iterator, NamedTuple

from metadata import Assembly

BUILD = pathlib.Path(os.environ.get("HEAPDUMP_BUILD", "build"))
# The newest packs that NuGet has.
PACKS = {8: "8.0.34", 9: "9.0.23", 10: "10.0.15", 11: "11.0.0"}
PACK_NAMES = (
    "Microsoft.NETCore.App.Runtime.linux-x64",
    "Microsoft.AspNetCore.App.Runtime.linux-x64",
)
# By major version of the package.
PACKAGES = {
    "Microsoft.Extensions.Caching.Memory": {7: "7.0.0"},
    "FSharp.Core": {10: "10.1.401"},
    "Orleans.Core": {10: "10.4.2"},
    "Orleans.Runtime": {10: "10.4.2"},
    "Microsoft.Data.Sqlite": {8: "8.0.34", 9: "9.0.23", 10: "10.0.15", 11: "11.0.0"},
    "Microsoft.EntityFrameworkCore": {8: "8.0.30", 9: "9.0.10", 10: "10.0.0"},
}
# The packages of these have longer names than their assemblies.
PACKAGES_OF = {
    "Microsoft.Data.Sqlite": "Microsoft.Data.Sqlite.Core",
    "Orleans.Core": "Microsoft.Orleans.Core",
    "Orleans.Runtime": "Microsoft.Orleans.Runtime",
}
BASES_MAX = 32
SKIPPED = 77


class Row(NamedTuple):
    """A row of the table."""

    kind: str
    type: str
    assembly: str
    origin: str
    first: int
    last: int
    id: int
    main: int
    path: str

    def name(self) -> str:
        """The name that messages use."""
        return f"{self.type}.{self.path}" if self.path else self.type

    def says(self, release: int) -> bool:
        """Does the row say that the release has it?"""
        return self.first <= release and (not self.last or release <= self.last)


class Layout(NamedTuple):
    """A row of the table of collections, with the paths that it names; [] is an element of an array."""

    name: str
    is_own: bool
    paths: list[str]


class Release:
    """All types of one release."""

    def __init__(self, files: list[pathlib.Path]) -> None:
        self.assemblies: dict[str, Assembly] = {}
        self.types: dict[str, list[Assembly]] = {}
        for path in files:
            try:
                assembly = Assembly(path)
            except (KeyError, ValueError):
                continue  # a native library
            self.assemblies[path.stem] = assembly
            for name in assembly.types:
                self.types.setdefault(name, []).append(assembly)
        self.by_plain: dict[str, list[str]] = {}
        for name in self.types:
            self.by_plain.setdefault(re.sub(r"`\d+", "", name), []).append(name)

    def _field(self, at: Assembly | None, full: str, step: str) -> tuple[Assembly, str] | None:
        """Where the type of a field is looked up, and its name, in a type or its base classes."""
        for _ in range(BASES_MAX):
            known = self.types.get(full, [])
            within = at if at and full in at.types else known[0] if known else None
            if not within:
                return None
            fields = within.fields(full)
            if step in fields:
                return within, fields[step]
            at, full = within, within.parent(full)
        return None

    def _has_path(self, at: Assembly | None, full: str, path: str) -> bool:
        """Is there a field at the end of a path?  A type argument may have all of the rest."""
        for step in path.split(".") if path else []:
            if full == "!":
                return True
            if step == "[]" and full.endswith("[]"):
                full = full[:-2]
                continue
            found = self._field(at, full, step)
            if not found:
                return False
            at, full = found
        return True

    def has(self, row: Row) -> bool:
        """Does the release have the type, and the field at the end of the path?"""
        at = self.assemblies.get(row.assembly)
        if not at or row.type not in at.types:
            return False
        return self._has_path(at, row.type, row.path)

    def classes(self, name: str) -> list[tuple[Assembly, str]]:
        """The types with a name, whatever type arguments they have."""
        return [(at, full) for full in self.by_plain.get(name, []) for at in self.types[full]]

    def lacks(self, layout: Layout) -> list[str]:
        """The paths of a row that no class with its name has, or that derives from it."""
        known = self.classes(layout.name)
        if layout.is_own:
            bases = {full for _, full in known}
            known = [
                (at, full)
                for at in {id(at): at for at, _ in known}.values()
                for full in at.types
                if bases & set(self._bases(at, full))
            ]
        lacking = [
            [path for path in layout.paths if not self._has_path(at, full, path)]
            for at, full in known
        ]
        return min(lacking, key=len, default=layout.paths)

    @staticmethod
    def _bases(at: Assembly, full: str) -> Iterator[str]:
        """The names of the base classes, as far as they are in the same assembly."""
        for _ in range(BASES_MAX):
            if full not in at.types:
                return
            full = at.parent(full)
            yield full


def package_of(name: str) -> str:
    """The package that an assembly comes in."""
    return PACKAGES_OF.get(name, name)


def folders() -> dict[tuple[str, int], list[pathlib.Path]]:
    """Where the files of each pack and package are, once they are restored."""
    root = pathlib.Path(os.environ.get("NUGET_PACKAGES", pathlib.Path.home() / ".nuget/packages"))
    found = {}
    for release, version in PACKS.items():
        found["pack", release] = [root / name.lower() / version for name in PACK_NAMES]
    for name, versions in PACKAGES.items():
        for major, version in versions.items():
            found[name, major] = [root / package_of(name).lower() / version]
    return found


def restore() -> bool:
    """Get what is not there yet; False when that is not possible."""
    if all(folder.is_dir() for places in folders().values() for folder in places):
        return True
    dotnet = shutil.which("dotnet")
    if not dotnet:
        return False
    wanted = {name: PACKS.values() for name in PACK_NAMES}
    wanted |= {package_of(name): versions.values() for name, versions in PACKAGES.items()}
    items = "".join(
        f'<PackageDownload Include="{name}" Version="{";".join(f"[{v}]" for v in versions)}"/>'
        for name, versions in wanted.items()
    )
    with tempfile.TemporaryDirectory() as folder:
        project = pathlib.Path(folder, "packs.csproj")
        project.write_text(
            '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><TargetFramework>net10.0</TargetFramework>'
            f"</PropertyGroup><ItemGroup>{items}</ItemGroup></Project>",
            encoding="utf-8",
        )
        done = subprocess.run(
            [dotnet, "restore", str(project)], capture_output=True, text=True, check=False
        )
    return done.returncode == 0


def libraries(name: str, places: list[pathlib.Path]) -> list[pathlib.Path]:
    """The managed files of a pack; of a package, those of one target framework."""
    if name == "pack":
        files = [path for place in places for path in place.glob("runtimes/*/*/*.dll")]
        return files + [path for place in places for path in place.glob("runtimes/*/lib/*/*.dll")]
    return sorted(places[0].glob("lib/*/*.dll"))[-1:]


def check(rows: list[Row], releases: dict[tuple[str, int], Release]) -> Iterator[str]:
    """The mistakes in the table."""
    for row in rows:
        names = {"pack": ["pack"], "package": [row.assembly], "both": ["pack", row.assembly]}
        for (name, number), release in releases.items():
            if name not in names[row.origin]:
                continue
            if release.has(row) != row.says(number):
                has = "does not have" if row.says(number) else "has"
                yield f"{row.name()}: {name} {number} {has} it, which the row does not say"
            if not row.last or number <= row.last:
                continue
            group = [other for other in rows if (other.kind, other.main) == (row.kind, row.main)]
            if not any(other.says(number) for other in group):
                yield f"{row.name()}: nothing stands for it in {name} {number}"


def check_layouts(layouts: list[Layout], releases: dict[tuple[str, int], Release]) -> Iterator[str]:
    """The mistakes in the table of collections."""
    for layout in layouts:
        for (name, number), release in releases.items():
            if name != "pack":
                continue
            if not release.classes(layout.name):
                if number == max(PACKS):
                    yield f"{layout.name}: {name} {number} does not have it"
                continue
            for path in release.lacks(layout):
                yield f"{layout.name}: {name} {number} does not have {path}"


def read_layouts(lines: list[str]) -> list[Layout]:
    """The rows of the table of collections."""
    layouts: dict[str, Layout] = {}
    for line in lines:
        kind, *columns = line.split("\t")
        if kind == "layout":
            name, row, is_own, path = columns
            layouts.setdefault(row, Layout(name, is_own == "1", [])).paths.append(path)
    return list(layouts.values())


def read_rows(lines: list[str]) -> list[Row]:
    """The rows of types and fields."""
    rows = []
    for line in lines:
        if line.startswith("layout"):
            continue
        kind, full, assembly, origin, first, last, own, main, *path = line.split("\t")
        rows.append(
            Row(
                kind,
                full,
                assembly,
                origin,
                int(first),
                int(last),
                int(own),
                int(main),
                path[0] if path else "",
            )
        )
    return rows


def run() -> int:
    """Check all rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default=str(BUILD / "tests/oracle/framework_rows"))
    arguments = parser.parse_args()
    if not restore():
        print("skipped: the packs of .NET cannot be restored here")
        return SKIPPED
    lines = subprocess.run(
        [arguments.rows], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    rows, layouts = read_rows(lines), read_layouts(lines)
    releases = {}
    places = folders()
    oldest = libraries("pack", places["pack", min(PACKS)])
    for (name, number), own in places.items():
        # The fields of a package's types are of the framework's types.
        files = libraries(name, own)
        releases[name, number] = Release(files if name == "pack" else oldest + files)
        if not releases[name, number].types:
            print(f"{name} {number}: no types were found in {own}")
            return 1
    bad = [*check(rows, releases), *check_layouts(layouts, releases)]
    print("\n".join(bad))
    fields = sum(row.kind == "field" for row in rows)
    print(
        f"{len(rows) - fields} types, {fields} fields and {len(layouts)} collections in "
        f"{len(releases)} packs and packages, {len(bad)} wrong"
    )
    return int(bool(bad) or not fields or not layouts)


if __name__ == "__main__":
    sys.exit(run())
