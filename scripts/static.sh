#!/bin/bash
# SPDX-License-Identifier: MIT
# static.sh [BUILD_FOLDER]: link the shell program once more, as one file that needs no other: BUILD_FOLDER/static/heapdump.
# It may be copied into a container that has neither a C library nor /etc: only /proc has to be there.
#
# It takes the objects of the build, and the static libraries of Debian's -dev packages. What it leaves out is in
# static_parts.c. The C library, libseccomp, libelf and libdw are under the LGPL: who passes the file on has to offer what it takes
# to link it again (this repository, and Debian's packages). HD_STATIC_TESTS=1: also the program that tries what the sandbox forbids (tests/static_test.py).
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -le 1 ] || { echo "usage: static.sh [BUILD_FOLDER]" >&2; exit 2; }
build=${1:-build}
limit=8000000
[ -f "$build/CMakeCache.txt" ] || cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release
if grep -q '^HD_SANITIZE:BOOL=ON' "$build/CMakeCache.txt"; then
    echo "static.sh: $build is built with sanitizers, which need shared libraries" >&2
    exit 2
fi
targets=(heapdump_static heapdump_program)
[ -z "${HD_STATIC_TESTS:-}" ] || targets+=(heapdump_misbehaving)
cmake --build "$build" -j "$(nproc)" --target "${targets[@]}"

out=$build/static
parts=$out/parts
mkdir -p "$parts"
gcc -O2 -fPIE -fstack-protector-strong -Wall -Wextra -Werror -D_GNU_SOURCE -c scripts/static_parts.c \
    -o "$parts/static_parts.o"
# Names that are not exported become local: libjansson has a json_object(), too.
ld -r -o "$parts/core.o" --whole-archive "$build/core/libheapdump_static.a"
objcopy --localize-hidden "$parts/core.o"
# Tables to unwind the stack are for exceptions and debuggers: C has none of the former, and the file is stripped.
cat >"$parts/discard.ld" <<'SCRIPT'
SECTIONS { /DISCARD/ : { *(.eh_frame) } } INSERT BEFORE .text;
SCRIPT

# link TARGET FILE: a position-independent file, so that addresses are as random as those of the shared program.
link() {
    local objects
    mapfile -d "" objects < <(find "$build/core/CMakeFiles/$1.dir" -name "*.o" -print0)
    # The linker warns of dlopen() wherever its name is used, also if it is our own.
    gcc -static-pie -s -o "$2.new" "${objects[@]}" "$parts/core.o" \
        "$parts/static_parts.o" -Wl,--gc-sections,--wrap=setlocale -Wl,-z,relro,-z,now,-z,noexecstack \
        -Wl,-z,pack-relative-relocs -Wl,-T,"$parts/discard.ld",--no-eh-frame-hdr \
        -ljansson -lzstd -lsqlite3 -ldw -lelf -lcapstone -lz -lseccomp -ledit -ltinfo -lbsd -lmd -lm 2>"$parts/warnings" ||
        { cat "$parts/warnings" >&2; exit 1; }
    ! grep -v "unixDlOpen'\|Using 'dlopen' in statically linked" "$parts/warnings" >&2 ||
        { echo "static.sh: the linker warned" >&2; exit 1; }
    mv "$2.new" "$2"
}

link heapdump_program "$out/heapdump"
if [ -n "${HD_STATIC_TESTS:-}" ]; then
    mkdir -p "$out/tests"
    link heapdump_misbehaving "$out/tests/heapdump_misbehaving"
fi
if readelf -dl "$out/heapdump" | grep -E 'NEEDED|INTERP' >&2; then
    echo "static.sh: it needs other files" >&2
    exit 1
fi
size=$(stat -c %s "$out/heapdump")
if [ "$size" -ge "$limit" ]; then
    echo "static.sh: $size bytes are too much: it was to have less than $limit" >&2
    exit 1
fi
echo "static.sh: $out/heapdump has $size bytes"
