#!/bin/bash
# SPDX-License-Identifier: MIT
# fuzz.sh [SECONDS [TARGET...]]: run each fuzz target with libFuzzer, 30 seconds unless told.  New
# inputs go to build-fuzz/corpus/TARGET; what fails is kept as build-fuzz/TARGET-crash-*, -leak-*
# or -timeout-*.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-30}
[[ $seconds =~ ^[0-9]+$ ]] || { echo "usage: fuzz.sh [SECONDS [TARGET...]]" >&2; exit 2; }
shift $(($# > 0))

scripts/setup.sh
cmake -S . -B build-fuzz -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 \
    -DCMAKE_BUILD_TYPE=Release -DHD_FUZZ=ON -DHD_LLDB=OFF -DHD_TESTS=ON
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    for source in tests/fuzz/fuzz_*.c; do
        targets+=("$(basename "$source" .c)")
    done
fi
cmake --build build-fuzz -j "$(nproc)" --target "${targets[@]}"
for target in "${targets[@]}"; do
    name=${target#fuzz_}
    program=$(find build-fuzz -type f -executable -name "$target" -print -quit)
    mkdir -p "build-fuzz/corpus/$name"
    echo "=== $target, $seconds s"
    "$program" -max_total_time="$seconds" -max_len=65536 -timeout=20 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="build-fuzz/$target-" \
        "build-fuzz/corpus/$name" "tests/fuzz/corpus/$name"
done
echo "fuzz: nothing found"
