#!/bin/bash
# SPDX-License-Identifier: MIT
# reach.sh musl|arm64|nativeaot|nativeaot-kinds|nativeaot-heap|nativeaot-arm64|nativeaot-unseen [VERSION...]: programs of other kinds than this machine's: .NET for linux-musl-x64 (Alpine), run by
# Debian's musl, for linux-arm64, run in a virtual machine and by qemu-user, with heapdump built for arm64, too, and NativeAOT
# programs, compiled here: of each release, with a table of what they say of themselves, compiled in other ways and as libraries (a kind in place of a version), and with heaps
# that are collected or damaged; for linux-arm64, in that machine; and around packages of NuGet.
#
# It takes two minutes, five for nativeaot, and twenty for arm64, fetches NuGet's runtime packs and dotnet-dump (all pinned, in BUILD/reach) and Debian's
# packages for arm64, and ends with 77 where these, the .NET SDK, musl-tools, or qemu-user-static, qemu-system-arm and
# gcc-aarch64-linux-gnu are not here. HEAPDUMP_BUILD is the folder of the build (build).
set -euo pipefail
cd "$(dirname "$0")/.."
export HEAPDUMP_BUILD=${HEAPDUMP_BUILD:-$PWD/build}
case ${1:-} in
musl)
    shift
    scripts/static.sh "$HEAPDUMP_BUILD"
    exec tests/reach/check_musl.py "$@"
    ;;
arm64)
    shift
    exec tests/reach/check_arm64.py "$@"
    ;;
nativeaot)
    shift
    tests/reach/check_nativeaot.py "$@"
    exec tests/reach/check_nativeaot_truth.py "$@"
    ;;
nativeaot-kinds)
    shift
    exec tests/reach/check_nativeaot_kinds.py "$@"
    ;;
nativeaot-heap)
    shift
    exec tests/reach/check_nativeaot_heap.py "$@"
    ;;
nativeaot-arm64)
    shift
    exec tests/reach/check_nativeaot_arm64.py "$@"
    ;;
nativeaot-unseen)
    shift
    exec tests/reach/check_nativeaot_unseen.py "$@"
    ;;
*)
    echo "usage: reach.sh musl|arm64|nativeaot|nativeaot-kinds|nativeaot-heap|nativeaot-arm64|nativeaot-unseen [VERSION...]" >&2
    exit 2
    ;;
esac
