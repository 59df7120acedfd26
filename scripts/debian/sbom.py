#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sbom.py BUILD_FOLDER FILE: what a Debian package of this build consists of, in SPDX 2.3 (JSON).

Its own files are named with their SHA-256 as they are built (before CPack strips them), the libraries that they load
with the Debian package and version that they were linked with.
"""
from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[2]
# Carries the libraries that the other one loads, of the same Debian source packages.
CARRIES = {"libheapdump_profiler.so": "libheapdump.so"}
PROGRAMS = ("heapdump", "libheapdump.so", "libheapdump_lldb.so", "libheapdump_profiler.so")


def output(*words: str) -> str:
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def moment() -> str:
    """SOURCE_DATE_EPOCH, or the time of the last entry of the changelog: the same for each build of it."""
    changelog = str(SOURCE / "scripts" / "debian" / "changelog")
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or output(
        "dpkg-parsechangelog", "-l", changelog, "-S", "Timestamp"
    )
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(seconds)))


def libraries(path: Path) -> set[str]:
    """The names of the libraries that a file loads."""
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", str(path))))


def folder_of(library: str) -> str:
    """Where the linker's cache has it."""
    found = re.search(
        rf"^\s+{re.escape(library)} \(libc6,x86-64.*=> (.*)$", output("/sbin/ldconfig", "-p"), re.M
    )
    if not found:
        raise SystemExit(f"sbom.py: {library} is not in the linker's cache")
    return os.path.realpath(found[1])


def debian_package(library: str) -> tuple[str, str, str]:
    """Name, version and source of the package that LIBRARY belongs to."""
    path = folder_of(library)
    # Debian 12 has /lib merged into /usr/lib; packages know their files by either name.
    for name in (path, path.removeprefix("/usr")):
        done = subprocess.run(
            ["dpkg-query", "-S", name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        if done.returncode == 0:
            package = done.stdout.split(": ")[0]
            shown = output(
                "dpkg-query", "-W", "-f", "${Package}\t${Version}\t${source:Package}", package
            )
            binary, version, source = shown.split("\t")
            return binary, version, source
    raise SystemExit(f"sbom.py: {path} belongs to no package")


def described(name: str, version: str, **more: Any) -> dict[str, Any]:
    """A package of the document."""
    return {
        "SPDXID": "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.-]", "-", name),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        **more,
    }


def relation(one: str, kind: str, other: str) -> dict[str, str]:
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def described_file(path: Path) -> dict[str, Any]:
    """A file of the document."""
    data = path.read_bytes()
    return {
        "SPDXID": "SPDXRef-File-" + path.name.replace("_", "-"),
        "fileName": "./" + path.name,
        "fileTypes": ["BINARY"],
        "checksums": [
            {"algorithm": "SHA1", "checksumValue": hashlib.sha1(data).hexdigest()},
            {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()},
        ],
        "licenseConcluded": "MIT",
        "licenseInfoInFiles": ["NOASSERTION"],
        "copyrightText": "NOASSERTION",
    }


def described_library(binary: str, version: str, source: str) -> dict[str, Any]:
    """The Debian package of a library."""
    locator = f"pkg:deb/debian/{binary}@{version}?arch=amd64".replace("+", "%2B")
    reference = {
        "referenceCategory": "PACKAGE-MANAGER",
        "referenceType": "purl",
        "referenceLocator": locator,
    }
    return described(
        binary,
        version,
        sourceInfo=f"Debian's source package {source}",
        externalRefs=[reference],
        primaryPackagePurpose="LIBRARY",
    )


def document(build: Path) -> dict[str, Any]:
    changelog = str(SOURCE / "scripts" / "debian" / "changelog")
    version = output("dpkg-parsechangelog", "-l", changelog, "-S", "Version").strip()
    own = described(
        "heapdump",
        version,
        licenseConcluded="MIT",
        licenseDeclared="MIT",
        copyrightText="Copyright (c) 2026 heapdump contributors",
        primaryPackagePurpose="APPLICATION",
    )
    relationships = [relation("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])]
    files, packages = [], {}
    for path in [build / name for name in PROGRAMS if (build / name).exists()]:
        file = described_file(path)
        files.append(file)
        relationships.append(relation(own["SPDXID"], "CONTAINS", file["SPDXID"]))
        loaded = libraries(path)
        carried = libraries(build / CARRIES[path.name]) - loaded if path.name in CARRIES else set()
        for library in sorted(loaded | carried):
            package = described_library(*debian_package(library))
            packages[package["SPDXID"]] = package
            kind = "STATIC_LINK" if library in carried else "DYNAMIC_LINK"
            relationships.append(relation(file["SPDXID"], kind, package["SPDXID"]))
    digest = hashlib.sha256(json.dumps(files).encode()).hexdigest()
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"heapdump-{version}",
        "documentNamespace": f"https://heapdump.invalid/spdx/{version}/{digest[:32]}",
        "creationInfo": {"created": moment(), "creators": ["Tool: heapdump-sbom.py"]},
        "packages": [own, *(packages[name] for name in sorted(packages))],
        "files": files,
        "relationships": relationships,
    }


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit("usage: sbom.py BUILD_FOLDER FILE")
    text = json.dumps(document(Path(sys.argv[1])), indent=2)
    Path(sys.argv[2]).write_text(text + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
