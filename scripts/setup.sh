#!/bin/sh
# SPDX-License-Identifier: MIT
# setup.sh: install the Debian 12 packages that building, testing and linting need.
# setup.sh --user: only those that building and the two debuggers need.
# When all are there it does nothing and needs no network.
set -eu

packages="
    gcc g++ libc6-dev make cmake ninja-build mold pkg-config python3
    libedit-dev libjansson-dev libzstd-dev libsqlite3-dev libelf-dev libdw-dev zlib1g-dev libseccomp-dev
    libcapstone-dev
    zstd gdb lldb-14 liblldb-14-dev
"
for_tests="
    libcunit1-dev ccache strace gdbserver python3-jsonschema python3-pandas
    clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev llvm-14 elfutils
    cppcheck shellcheck black mypy abigail-tools
    dpkg-dev lintian file chromium chromium-driver
"
case "${1-}" in
--user) ;;
'') packages="$packages $for_tests" ;;
*)
    echo "usage: setup.sh [--user]" >&2
    exit 2
    ;;
esac

missing=""
for package in $packages; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=""
    [ "$status" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
    echo "setup: every package is installed"
    exit 0
fi

if [ "$(id -u)" -eq 0 ]; then
    as_root() { env "$@"; }
elif command -v sudo >/dev/null; then
    as_root() { sudo env "$@"; }
else
    echo "setup: run as root, or install sudo; these packages are missing:$missing" >&2
    exit 1
fi
echo "setup: installing$missing"
as_root DEBIAN_FRONTEND=noninteractive apt-get update -q </dev/null
# shellcheck disable=SC2086 # one word per package
as_root DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    $missing </dev/null
