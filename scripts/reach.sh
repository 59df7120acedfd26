#!/bin/bash
# SPDX-License-Identifier: MIT
# reach.sh musl [VERSION...]: programs of other kinds than this machine's: .NET for linux-musl-x64 (Alpine), run by Debian's musl.
#
# It takes two minutes, fetches NuGet's runtime packs and dotnet-dump (all pinned, in BUILD/reach), and ends with 77 where these,
# the .NET SDK, or musl-tools are not here. HEAPDUMP_BUILD is the folder of the build (build).
set -euo pipefail
cd "$(dirname "$0")/.."
export HEAPDUMP_BUILD=${HEAPDUMP_BUILD:-$PWD/build}
case ${1:-} in
musl)
    shift
    scripts/static.sh "$HEAPDUMP_BUILD"
    exec tests/reach/check_musl.py "$@"
    ;;
*)
    echo "usage: reach.sh musl [VERSION...]" >&2
    exit 2
    ;;
esac
