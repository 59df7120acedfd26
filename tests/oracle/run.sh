#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [--crash|--large|--churn N] [--update-table]: make all cores that have a heap, and compare each with ClrMD and
# with what its program said. --crash: instead, those of programs that died; a third of the ways to die is made.
# --large: instead, one with many objects. --churn N: instead, six of a program that never rests, from number N on,
# which scripts/campaign.sh asks for. COREFILES: the folder of the cores (default corefiles/build).
# Exit status: 77 without a .NET SDK.
set -eu
status=0
cd "$(dirname "$0")/../.."
folder=${COREFILES:-corefiles/build}
all=$(scripts/make_corefiles.sh --list | grep -v -e '(by name)$' -e '(no heap)' -e '(no code of the JIT)' | cut -d ' ' -f 1)
case ${1:-} in
--crash)
    shift
    # On .NET 10 there are many ways to die, and a third of them is taken; the seed says which (support/turns.py).
    names=$(echo "$all" | grep '^crash' | tests/support/turns.py 3 --lines '^crash10-.*-(heap|full)$')
    ;;
--large)
    shift
    names=gen10-1m-full
    ;;
--churn)
    first=${2:?run.sh: --churn needs a number}
    names=$(seq -f "churn10-%.0f" "$first" "$((first + 5))")
    shift 2
    ;;
*) names=$(echo "$all" | grep -v -e '^crash' -e '^hang' -e '^coll' -e '^vars' -e '^web' -e '^awaits') ;;
esac
# shellcheck disable=SC2086
scripts/make_corefiles.sh "$folder" $names || status=$?
[ "$status" -lt 2 ] || exit "$status"
cores='' facts='' crashes=''
for name in $names; do
    core=$folder/$name.core
    # Some cannot be made everywhere; the script has said why.
    [ -e "$core" ] || continue
    cores="$cores $core"
    case $name in
    crash*) crashes="$crashes $core" ;;
    churn* | gen10* | leak10*) ;;
    *) facts="$facts $core" ;;
    esac
done
program=${HEAPDUMP_BUILD:-build}/heapdump
# check SCRIPT ARGUMENT...
check() {
    script=$1
    shift
    "tests/oracle/$script" --program "$program" "$@" || status=1
}
update=${1:-}
# shellcheck disable=SC2086
[ -z "$facts" ] || check check_truth.py $facts
# shellcheck disable=SC2086
[ -z "$crashes" ] || check check_crash.py $update $crashes
# shellcheck disable=SC2086
[ -z "$cores" ] || check check_roots.py $update $cores
[ -z "$facts" ] || cores="$cores corefiles/leak.core.zst"
# shellcheck disable=SC2086
tests/oracle/compare.py $update $cores || status=$?
exit "$status"
