#!/bin/bash
# SPDX-License-Identifier: MIT
# wheel.sh [BUILD_FOLDER]: make a wheel for pip, without a network: BUILD_FOLDER/wheel/heapdump-VERSION-py3-none-manylinux_*.whl.
#
# It has the package, the library, and the shell program as one file (scripts/static.sh) for isolated=True. Images of Python
# have few libraries, so what the library needs is linked into it; libjansson, whose static library cannot be, libelf and
# libdw, which are under the LGPL, and what these two need lie beside it. The objects of the build are taken as they are.
set -euo pipefail
umask 022
cd "$(dirname "$0")/.."
[ $# -le 1 ] || { echo "usage: wheel.sh [BUILD_FOLDER]" >&2; exit 2; }
build=$(realpath -m "${1:-build}")
# The newest C library of which it may need a symbol; the tag of the wheel says so.
glibc=2.34
scripts/static.sh "$build"

out=$build/wheel
rm -rf "$out"
mkdir -p "$out/parts"
folder=$out/parts
# As this machine has them. libheapdump.so.0 names all of them as its own, for only its own are looked for beside it: what
# libdw needs has been loaded by then.
beside=(libjansson.so.4 libelf.so.1 libdw.so.1 libz.so.1 liblzma.so.5 libbz2.so.1.0)
for name in "${beside[@]}"; do
    cp -L "$(gcc -print-file-name="$name")" "$folder/$name"
    strip --strip-unneeded "$folder/$name"
done
# A name that nothing here defines ends the link (-z defs), not the first import.
gcc -shared -o "$folder/libheapdump.so.0" -Wl,-soname,libheapdump.so.0 -Wl,--version-script=core/heapdump.map \
    -Wl,--whole-archive "$build/core/libheapdump_static.a" -Wl,--no-whole-archive -Wl,--gc-sections \
    -Wl,-z,relro,-z,now,-z,noexecstack,-z,defs -Wl,--enable-new-dtags,-rpath,"\$ORIGIN" \
    -Wl,--no-as-needed "${beside[@]/#/$folder/}" -Wl,--as-needed \
    -Wl,-Bstatic -lzstd -lsqlite3 -lcapstone -Wl,-Bdynamic -lm -lpthread -ldl
strip --strip-unneeded "$folder/libheapdump.so.0"

# check FILE: it needs only the C library and what lies beside it, and no newer C library than the tag says.
check() {
    local needed newest
    needed=$(readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -v -x 'libc\.so\.6\|libm\.so\.6\|libpthread\.so\.0\|libdl\.so\.2\|ld-linux-x86-64\.so\.2' |
        grep -v -x -F "$(printf '%s\n' "${beside[@]}")" || true)
    [ -z "$needed" ] || { echo "wheel.sh: $1 needs $needed" >&2; exit 1; }
    newest=$(readelf -W --dyn-syms "$1" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -Vu | tail -1)
    [ "$(printf '%s\n' "$glibc" "${newest:-0}" | sort -V | tail -1)" = "$glibc" ] ||
        { echo "wheel.sh: $1 needs the C library $newest" >&2; exit 1; }
}
for library in "$folder"/*.so.*; do
    check "$library"
done
python3 scripts/make_wheel.py "$out" "$folder" "$build/static/heapdump" "manylinux_${glibc/./_}_x86_64"
ls -l "$out"/*.whl
