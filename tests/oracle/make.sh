#!/bin/sh
# SPDX-License-Identifier: MIT
# Make the cores that tests use, but those that oracle.crash makes.  One that cannot be made here (its line says why)
# is no failure.
set -eu
status=0
cd "$(dirname "$0")/../.."
# cli/test_small_cores.py compares with this one.
names=$(scripts/make_corefiles.sh --list |
    awk '!/\(by name\)$/ && ($1 !~ /^crash10-.*-(heap|full)$/ || $1 == "crash10-threads-heap") { print $1 }')
# shellcheck disable=SC2086
scripts/make_corefiles.sh $names || status=$?
[ "$status" -eq 1 ] || exit "$status"
