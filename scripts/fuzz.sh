#!/bin/bash
# SPDX-License-Identifier: MIT
# fuzz.sh [SECONDS [TARGET...]]: run each fuzz target with libFuzzer, 30 seconds unless told.  New
# inputs go to build-fuzz/corpus/TARGET; what fails is kept as build-fuzz/TARGET-crash-*, -leak-*
# or -timeout-*.
# fuzz.sh -campaign HOURS [-o FILE] [TARGET...]: HOURS of fuzzing in all, shared by the targets, as
# many at a time as there are processors; then a table of what was reached and found goes to FILE
# (build-fuzz/campaign.md), whose other text is kept.  scripts/fuzz.md has the last one.
# fuzz.sh -minimize [TARGET...]: add new inputs that reach more to tests/fuzz/corpus.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    echo "usage: fuzz.sh [SECONDS [TARGET...]]" >&2
    echo "       fuzz.sh -campaign HOURS [-o FILE] [TARGET...]" >&2
    echo "       fuzz.sh -minimize [TARGET...]" >&2
    exit 2
}

mode=each seconds=30 hours="" table=build-fuzz/campaign.md
case "${1:-}" in
-campaign)
    mode=campaign hours=${2:-}
    [[ $hours =~ ^[0-9]+(\.[0-9]+)?$ ]] || usage
    shift 2
    if [ "${1:-}" = -o ]; then
        table=${2:-}
        [ -n "$table" ] || usage
        shift 2
    fi
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

export FUZZ_OPTIONS="-max_len=65536 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1"
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
