#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write a wheel: make_wheel.py FOLDER LIBRARIES PROGRAM PLATFORM (scripts/wheel.sh calls it).

A wheel is a zip file with the package, and a folder that says what it is (PyPA, "Binary distribution format"). The same
input gives the same bytes.
"""
from __future__ import annotations

import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
# The licences of the libraries that lie beside it, and of those that are linked into it or into the program.
NOTICE = """\
The files *.so.* are those of Debian, stripped: libjansson (Expat), libelf and libdw (LGPL-3+ or GPL-2+, elfutils), zlib (zlib
licence), liblzma (public domain), libbz2 (bzip2 licence). libheapdump.so.0 has in it: libzstd (BSD-3-clause), SQLite
(public domain), capstone (BSD-3-clause). bin/heapdump, a static program, has all of these in it, and the C library and
libseccomp (LGPL-2.1), libedit, libbsd and libmd (BSD), ncurses (MIT-X11). Their texts are in /usr/share/doc of Debian's packages.
Who passes on the program has to offer what it takes to link it again: the sources of heapdump, and Debian's packages.
"""
DATE = (2026, 1, 1, 0, 0, 0)


def version() -> str:
    """The version of the sources."""
    text = (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r"project\(heapdump VERSION ([\d.]+) ", text)
    assert found
    return found[1]


def package(libraries: Path, program: Path) -> dict[str, bytes]:
    """The files of the package, by their names."""
    files = {
        f"heapdump/{path.name}": path.read_bytes()
        for path in sorted((SOURCE / "python" / "heapdump").iterdir())
        if path.suffix == ".py" or path.name == "py.typed"
    }
    for path in sorted(libraries.glob("*.so.*")):
        files[f"heapdump/{path.name}"] = path.read_bytes()
    files["heapdump/bin/heapdump"] = program.read_bytes()
    return files


def metadata(platform: str) -> dict[str, bytes]:
    """The files that say what it is."""
    tag = f"py3-none-{platform}"
    about = (
        f"Metadata-Version: 2.1\nName: heapdump\nVersion: {version()}\n"
        "Summary: The .NET heap of a core, a process or a heap dump file\nLicense: MIT\n"
        "Requires-Python: >=3.8\nProvides-Extra: arrow\nRequires-Dist: pyarrow; extra == 'arrow'\n"
        "Provides-Extra: pandas\nRequires-Dist: pandas; extra == 'pandas'\nDescription-Content-Type: text/markdown\n\n"
    )
    page = (SOURCE / "doc" / "python.md").read_text(encoding="utf-8")
    wheel = f"Wheel-Version: 1.0\nGenerator: heapdump\nRoot-Is-Purelib: false\nTag: {tag}\n"
    return {
        "METADATA": (about + page).encode(),
        "WHEEL": wheel.encode(),
        "entry_points.txt": b"[console_scripts]\nheapdump = heapdump.__main__:main\n",
        "NOTICE": NOTICE.encode(),
        "LICENSE": (SOURCE / "LICENSE").read_bytes(),
        "copyright": (SOURCE / "scripts" / "debian" / "copyright").read_bytes(),
    }


def record(files: dict[str, bytes], name: str) -> bytes:
    """The list of all files with what they hash to."""
    lines = []
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(data)}\n")
    return ("".join(lines) + f"{name},,\n").encode()


def main(folder: Path, libraries: Path, program: Path, platform: str) -> None:
    """Write it."""
    name = f"heapdump-{version()}"
    files = package(libraries, program)
    files |= {f"{name}.dist-info/{key}": data for key, data in metadata(platform).items()}
    files[f"{name}.dist-info/RECORD"] = record(files, f"{name}.dist-info/RECORD")
    with zipfile.ZipFile(folder / f"{name}-py3-none-{platform}.whl", "w") as archive:
        for path, data in files.items():
            info = zipfile.ZipInfo(path, DATE)
            mode = 0o100755 if path.endswith("bin/heapdump") or ".so." in path else 0o100644
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
