#!/bin/sh
# SPDX-License-Identifier: MIT
# Make the cores that tests use.  One that cannot be made here (its line says why) is no failure.
set -eu
status=0
"$(dirname "$0")"/../../scripts/make_corefiles.sh || status=$?
[ "$status" -eq 1 ] || exit "$status"
