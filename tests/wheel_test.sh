#!/bin/bash
# SPDX-License-Identifier: MIT
# wheel_test.sh BUILD_FOLDER: install the wheel of a build (scripts/wheel.sh) into an environment of its own, without a
# network, and use it there: rows, objects, sql, and the sandboxed program.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: wheel_test.sh BUILD_FOLDER" >&2; exit 2; }
build=$(realpath "$1")
source_root=$(realpath "$(dirname "$0")/..")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
unset HEAPDUMP_LIBRARY PYTHONPATH
if ! /usr/bin/python3 -m venv env >venv.log 2>&1; then
    echo "wheel_test: skipped, python3 makes no environments here (Debian: python3-venv)"
    exit 0
fi
env/bin/pip install -q --no-index --no-deps --disable-pip-version-check "$build"/wheel/heapdump-*.whl
# With no library loaded before, all but the C library's come from the wheel; of libz, liblzma and libbz2, Python's own modules
# may have loaded the system's.
package=$(echo env/lib/python3*/site-packages/heapdump)
env -i ldd "$package/libheapdump.so.0" >ldd.out
for name in libjansson libelf libdw libz liblzma libbz2; do
    grep -q "$name\.so[^ ]* => .*/env/" ldd.out || { cat ldd.out >&2; echo "wheel_test: $name is not the wheel's" >&2; exit 1; }
done
if grep -v '/env/\|linux-vdso\|/lib/.*-linux-gnu/lib\(c\|m\|dl\|pthread\)\.so\|ld-linux' ldd.out >&2; then
    echo "wheel_test: the library needs these of the system" >&2
    exit 1
fi
cat >use.py <<'CODE'
import sys

import heapdump

core = sys.argv[1] + "/corefiles/leak.core.zst"
for isolated in (False, True):
    with heapdump.open(core, files=False, isolated=isolated) as h:
        feed = h.statics["WebShop.PriceFeed.Instance"]
        assert feed.Changed._invocationList[0]._target.Token == "session-000000", feed
        assert h.sql("SELECT count(*) AS n FROM objects")[0] == {"n": 72861}
        assert len(list(h.name2ee("*!WebShop.PriceFeed"))) == 1
        assert isolated == (h.info().members.get("sandbox") is not None)
with open("/proc/self/maps") as maps:
    loaded = {line.split()[-1] for line in maps if ".so" in line}
for name in ("libheapdump.so.0", "libjansson.so.4", "libelf.so.1", "libdw.so.1"):
    found = [path for path in loaded if path.endswith("/" + name)]
    assert found and all("/env/" in path for path in found), (name, found)
assert not any("sqlite" in path or "zstd" in path or "capstone" in path for path in loaded), loaded
assert heapdump.__file__.startswith(sys.prefix), heapdump.__file__
print("wheel_test: heapdump", heapdump.library_version(), "works")
CODE
env/bin/python use.py "$source_root"
[ "$(env/bin/heapdump --version)" = "$(env/bin/python -m heapdump --version)" ]
env/bin/heapdump "$source_root/corefiles/bubblecs.heap" gcroot 1ce056 | grep -q BubbleCS.GameBoard
env/bin/pip uninstall -q -y heapdump
[ -z "$(find env -name 'heapdump*')" ] || { echo "wheel_test: files are left after pip uninstall" >&2; exit 1; }
