#!/bin/bash
# SPDX-License-Identifier: MIT
# bench.sh dumps [RUNS [OBJECTS...]]: time dump files of 1 and 10 million objects, 5 runs each, and
# print a table.  OBJECTS-shuffled is a dump whose lines are in random order.  The dumps are made once
# and stay in build/bench-data.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" != dumps ] || [[ ! ${2:-5} =~ ^[1-9][0-9]*$ ]]; then
    echo "usage: bench.sh dumps [RUNS [OBJECTS[-shuffled]...]]" >&2
    exit 2
fi
runs=${2:-5}
shift $(($# > 1 ? 2 : 1))
[ $# -gt 0 ] || set -- 1000000 10000000
build=build
data=$build/bench-data

scripts/setup.sh >&2
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release >&2
cmake --build "$build" -j "$(nproc)" --target bench_dumps dump_maker plain_loop >&2
mkdir -p "$data"
for size in "$@"; do
    dump=$data/$size.heap
    if [ ! -f "$dump" ] || [ "$build/tests/bench/dump_maker" -nt "$dump" ]; then
        echo "making $dump" >&2
        options=("${size%-shuffled}")
        [ "$size" = "${options[0]}" ] || options+=(--shuffle)
        "$build/tests/bench/dump_maker" "${options[@]}" >"$dump.new" 2>"$data/$size.targets"
        mv "$dump.new" "$dump"
    fi
done
grep -m 1 '^model name' /proc/cpuinfo | sed 's/.*: //' >&2 || true
python3 scripts/bench_table.py "$build" "$data" "$runs" "$@"
