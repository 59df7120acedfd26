#!/bin/bash
# SPDX-License-Identifier: MIT
# fuzz.sh [SECONDS [TARGET...]]: run each fuzz target with libFuzzer, 30 seconds unless told.  New
# inputs go to build-fuzz/corpus/TARGET; what fails is kept as build-fuzz/TARGET-crash-*, -leak-*
# or -timeout-*.
# fuzz.sh -campaign HOURS [-jobs N] [-seed N] [-o FILE] [TARGET...]: HOURS of fuzzing in all, shared
# by the targets, N (as there are processors) at a time; then a table of what was reached and found
# goes to FILE (build-fuzz/campaign.md), whose other text is kept.  scripts/fuzz.md has the last one.
# The seed, 1 unless told, is printed.  A campaign that was stopped goes on with the targets that
# are named: the table has a row for all that build-fuzz/outcomes knows.
# fuzz.sh -minimize [TARGET...]: add new inputs that reach more to tests/fuzz/corpus.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    echo "usage: fuzz.sh [SECONDS [TARGET...]]" >&2
    echo "       fuzz.sh -campaign HOURS [-jobs N] [-seed N] [-o FILE] [TARGET...]" >&2
    echo "       fuzz.sh -minimize [TARGET...]" >&2
    exit 2
}

: "${FUZZ_JOBS:=$(nproc)}" "${FUZZ_SEED:=1}"
mode=each seconds=30 hours="" table=build-fuzz/campaign.md
case "${1:-}" in
-campaign)
    mode=campaign hours=${2:-}
    [[ $hours =~ ^[0-9]+(\.[0-9]+)?$ ]] || usage
    shift 2
    while :; do
        case "${1:-}" in
        -o) format=. table=${2:-} ;;
        -jobs) format='^[1-9][0-9]?$' FUZZ_JOBS=${2:-} ;;
        -seed) format='^[1-9][0-9]{0,8}$' FUZZ_SEED=${2:-} ;;
        *) break ;;
        esac
        [[ ${2:-} =~ $format ]] || usage
        shift 2
    done
    ;;
-minimize)
    mode=minimize
    shift
    ;;
*)
    seconds=${1:-30}
    [[ $seconds =~ ^[0-9]+$ ]] || usage
    shift $(($# > 0))
    ;;
esac

names=()
for target in "$@"; do
    names+=("${target#fuzz_}")
    [ -f "tests/fuzz/fuzz_${target#fuzz_}.c" ] || { echo "fuzz.sh: no target $target" >&2; exit 2; }
done
if [ ${#names[@]} -eq 0 ]; then
    for source in tests/fuzz/fuzz_*.c; do
        source=$(basename "$source" .c)
        names+=("${source#fuzz_}")
    done
fi

export FUZZ_JOBS FUZZ_SEED FUZZ_OPTIONS
FUZZ_OPTIONS="-max_len=65536 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1"
# An input is short: what it freed need not be kept long, nor the whole stack of each allocation.
export ASAN_OPTIONS=quarantine_size_mb=4:malloc_context_size=2
export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"

build() {
    local folder=$1 prefix=$2
    shift 2
    cmake -S . -B "$folder" -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 \
        -DCMAKE_BUILD_TYPE=Release -DHD_LLDB=OFF -DHD_TESTS=ON "$@"
    cmake --build "$folder" --target "${names[@]/#/$prefix}"
}

scripts/setup.sh
build build-fuzz fuzz_ -DHD_FUZZ=ON
case $mode in
campaign)
    build build-coverage replay_ \
        -DCMAKE_C_FLAGS="-fprofile-instr-generate -fcoverage-mapping"
    exec scripts/fuzz_campaign.py run "$hours" "$table" "${names[@]}"
    ;;
minimize)
    exec scripts/fuzz_campaign.py minimize "${names[@]}"
    ;;
esac
for name in "${names[@]}"; do
    mkdir -p "build-fuzz/corpus/$name"
    echo "=== fuzz_$name, $seconds s"
    # shellcheck disable=SC2086 # options are words
    "build-fuzz/tests/fuzz/fuzz_$name" -max_total_time="$seconds" $FUZZ_OPTIONS \
        -artifact_prefix="build-fuzz/fuzz_$name-" \
        "build-fuzz/corpus/$name" "tests/fuzz/corpus/$name"
done
echo "fuzz: nothing found"
