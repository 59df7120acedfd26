#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [--update-table]: make all cores that have a heap, and some of a program that never rests, and
# compare each with ClrMD and with what its program said. CHURN: how many of the latter (default 10).
# Exit status: 77 without a .NET SDK.
set -eu
status=0
cd "$(dirname "$0")/../.."
names=$(scripts/make_corefiles.sh --list | grep -v -e '(by name)$' -e '(no heap)' | cut -d ' ' -f 1)
i=0
while [ "$i" -lt "${CHURN:-10}" ]; do
    i=$((i + 1))
    names="$names churn10-$i"
done
names="$names gen10-1m-full"
# shellcheck disable=SC2086
scripts/make_corefiles.sh $names || status=$?
[ "$status" -lt 2 ] || exit "$status"
cores=
for name in $names; do
    # Some cannot be made everywhere; the script has said why.
    [ ! -e "corefiles/build/$name.core" ] || cores="$cores corefiles/build/$name.core"
done
truths=$(printf '%s' "$cores" | tr ' ' '\n' | grep -v -e churn -e gen10 -e leak10)
# shellcheck disable=SC2086
tests/oracle/check_truth.py --program "${HEAPDUMP_BUILD:-build}/heapdump" $truths || status=1
# shellcheck disable=SC2086
tests/oracle/compare.py "$@" $cores corefiles/leak.core.zst || status=$?
exit "$status"
