#!/bin/bash
# SPDX-License-Identifier: MIT
# package.sh [BUILD_FOLDER]: make Debian packages of a release build: BUILD_FOLDER/packages/heapdump_*.deb,
# heapdump-dev_*.deb and python3-heapdump_*.deb. The objects of the build are taken as they are; their flags must have all that dpkg-buildflags asks for.
set -euo pipefail
# Files and folders get the rights that the process lets them have.
umask 022
cd "$(dirname "$0")/.."
[ $# -le 1 ] || { echo "usage: package.sh [BUILD_FOLDER]" >&2; exit 2; }
build=$(realpath -m "${1:-build}")
stage=$build/packages/stage
[ -f "$build/CMakeCache.txt" ] || cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DHD_TESTS=OFF
if ! grep -q '^CMAKE_BUILD_TYPE:[A-Z]*=Release' "$build/CMakeCache.txt" ||
    grep -q '^HD_SANITIZE:BOOL=ON' "$build/CMakeCache.txt"; then
    echo "package.sh: $build is not a release build" >&2
    exit 2
fi
# In Ninja's files "heapdump" is the program.
library=heapdump
[ ! -f "$build/build.ninja" ] || library=libheapdump.so
targets=("$library" heapdump_program heapdump_profiler)
! grep -q '^HD_LLDB:BOOL=ON' "$build/CMakeCache.txt" || targets+=(heapdump_lldb)
cmake --build "$build" -j "$(nproc)" --target "${targets[@]}"

# Paths of the build folder and the format of debug information are our own; -Wformat=2 -Werror says more than theirs.
flags=$(DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-buildflags --get CFLAGS
    DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-buildflags --get CPPFLAGS)
command=$(grep '"command".*heapdump_program.dir/cli/main.c.o' "$build/compile_commands.json")
for flag in $flags; do
    case $flag in
    -g | -ffile-prefix-map=* | -Wformat | -Werror=format-security) continue ;;
    esac
    [[ " $command " == *" $flag "* ]] || { echo "package.sh: not compiled with $flag" >&2; exit 1; }
done

rm -rf "$build/packages"
mkdir -p "$stage"
gzip -9n <core/cli/heapdump.1 >"$stage/heapdump.1.gz"
gzip -9n <scripts/debian/changelog >"$stage/changelog.Debian.gz"
libdir=$(sed -n 's/^CMAKE_INSTALL_LIBDIR:[A-Z]*=//p' "$build/CMakeCache.txt")
printf 'plugin load /usr/%s/heapdump/libheapdump_lldb.so\n' "$libdir" >"$stage/lldbinit"
mkdir "$stage/python3"
ln -s ../../../share/heapdump/python/heapdump "$stage/python3/heapdump"
python3 scripts/debian/sbom.py "$build" "$stage/heapdump.spdx.json"
(cd "$build" && cpack -G DEB --config CPackConfig.cmake >packages/cpack.log 2>&1) ||
    { cat "$build/packages/cpack.log" >&2; exit 1; }
rm -rf "$build/packages/_CPack_Packages"
ls -l "$build"/packages/*.deb
