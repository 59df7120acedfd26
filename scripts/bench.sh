#!/bin/bash
# SPDX-License-Identifier: MIT
# bench.sh dumps [RUNS [OBJECTS...]]: time dump files of 1 and 10 million objects, 5 runs each, and
# print a table.  OBJECTS-shuffled is a dump whose lines are in random order.  The dumps are made once
# and stay in build/bench-data.
# bench.sh heap [RUNS [CORE...]]: time cores of 1 and 10 million objects (gen10-1m-full,
# gen10-10m-full; scripts/make_corefiles.sh makes them) against a plain loop over their bytes and
# against ClrMD, 5 runs each, and print a table.  Needs the .NET SDK.
# bench.sh roots [RUNS [CORE...]]: time gcroot, objsize and retained on cores of heapgen with 1, 10 and 40
# million objects against plain C and against ClrMD, 3 runs each, and print a table.  Needs the .NET SDK.
# bench.sh gcdump [RUNS [CORE...]]: time reading and writing .gcdump files, and collecting from a running heapgen
# of the same size, with 1 and 10 million objects, 3 runs each, and print a table.  Needs the .NET SDK.
# bench.sh sandbox [RUNS [FILE...]]: time commands with the sandbox and without it, in turn, 20 runs each, on a
# small file, the core of the tour and one of a million objects, and print a table.
# bench.sh sql [RUNS [CORE...]]: time queries of sql against dumpheap -stat of the same cores, 5 runs each, and print
# a table.  Needs the .NET SDK.
# bench.sh rows [RUNS [PROGRAM]]: write the rows of a dump of 10 million objects as text, JSON and CSV, 5 runs each, and
# print a table; beside it what PROGRAM takes, an earlier heapdump.
# bench.sh open [RUNS [PROGRAM]]: open cores of very many segments, threads and notes, and real ones if they are there, 10
# runs each, and print a table of the least processor time; beside it what PROGRAM takes, an earlier heapdump.
# bench.sh profiler [RUNS]: a program that allocates, with the profiler and without it; then snapshots of 1 and 10 million
# objects in each way next to collect; 3 runs.
# bench.sh process [RUNS]: open a process of 2 GB whose heap has 100 MB, and one in a cgroup of 64 MB; 10 runs, and
# print a table.  Needs the .NET SDK; as root, for the cgroup.
# bench.sh load [RUNS]: how long five programs are stopped while 20 processes do nothing but count, before and after createdump
# has read all their memory, 20 looks each; takes about ten minutes. Needs the .NET SDK.
# bench.sh threads [RUNS]: how long a process of 1,000 to 20,000 threads is held, and how soon it is let go when heapdump, or GDB or
# LLDB with it, is ended at RUNS moments, 50 if not given; three tables. It fails if a process is not free 0.2 s after that.
# bench.sh hangs [RUNS [CORE...]]: time dumpasync, hang, waits, parallelstacks, memory and report on a core of 10 million objects with
# 200,000 async methods and 1,000 threads that wait, after a check of the answers, 5 runs each, and print a table.
# Needs the .NET SDK.
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-}
if [[ ! $what =~ ^(dumps|heap|roots|gcdump|sandbox|sql|hangs|rows|open|process|load|threads|profiler)$ ]] || [[ ! ${2:-5} =~ ^[1-9][0-9]*$ ]]; then
    echo "usage: bench.sh dumps [RUNS [OBJECTS[-shuffled]...]] | heap|roots|gcdump|sandbox|sql|hangs [RUNS [CORE...]] | rows|open [RUNS [PROGRAM]] | process|load|threads|profiler [RUNS]" >&2
    exit 2
fi
case $what in
roots | gcdump) runs=${2:-3} ;;
sandbox | load) runs=${2:-20} ;;
process | open) runs=${2:-10} ;;
threads) runs=${2:-50} ;;
profiler) runs=${2:-3} ;;
*) runs=${2:-5} ;;
esac
shift $(($# > 1 ? 2 : 1))
build=build
data=$build/bench-data

# make_dump OBJECTS[-shuffled]: unless it is there
make_dump() {
    local size=$1 dump=$data/$1.heap options
    cmake --build "$build" -j "$(nproc)" --target dump_maker >&2
    if [ ! -f "$dump" ] || [ "$build/tests/bench/dump_maker" -nt "$dump" ]; then
        echo "making $dump" >&2
        options=("${size%-shuffled}")
        [ "$size" = "${options[0]}" ] || options+=(--shuffle)
        "$build/tests/bench/dump_maker" "${options[@]}" >"$dump.new" 2>"$data/$size.targets"
        mv "$dump.new" "$dump"
    fi
}

bench_dumps() {
    [ $# -gt 0 ] || set -- 1000000 10000000
    cmake --build "$build" -j "$(nproc)" --target bench_dumps plain_loop >&2
    for size in "$@"; do
        make_dump "$size"
    done
    python3 scripts/bench_table.py "$build" "$data" "$runs" "$@"
}

# bench_cores WHAT CORE...: bench_WHAT against clrmd_bench, shown by bench_WHAT.py.
bench_cores() {
    program=bench_$1
    shift
    cmake --build "$build" -j "$(nproc)" --target "$program" >&2
    scripts/make_corefiles.sh "$@" >&2
    HD_BENCH_BUILD=$PWD/$data DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 \
        dotnet publish tests/bench/clrmd -c Release -v quiet -nodeReuse:false >&2
    python3 "scripts/$program.py" "$build/tests/bench/$program" \
        "$data/clrmd_bench/clrmd_bench.dll" corefiles/build "$runs" "$@"
}

bench_heap() {
    [ $# -gt 0 ] || set -- gen10-1m-full gen10-10m-full
    bench_cores heap "$@"
}

bench_roots() {
    [ $# -gt 0 ] || set -- gen10-1m-full gen10-10m-full gen10-40m-full
    bench_cores roots "$@"
}

bench_gcdump() {
    [ $# -gt 0 ] || set -- gen10-1m-full gen10-10m-full
    cmake --build "$build" -j "$(nproc)" --target bench_gcdump bench_roots heapdump_program >&2
    scripts/make_corefiles.sh "$@" >&2
    python3 scripts/bench_gcdump.py "$build" corefiles/build/apps corefiles/build "$runs" "$@"
}

bench_sandbox() {
    [ $# -gt 0 ] || set -- corefiles/bubblecs.heap corefiles/leak.core.zst \
        corefiles/build/gen10-1m-full.core
    cmake --build "$build" -j "$(nproc)" --target heapdump_program >&2
    scripts/make_corefiles.sh gen10-1m-full >&2
    python3 scripts/bench_sandbox.py "$build/heapdump" "$runs" "$@"
}

bench_rows() {
    make_dump 10000000
    python3 scripts/bench_rows.py "$runs" "$data/10000000.heap" "$build/heapdump" "$@"
}

bench_open() {
    cmake --build "$build" -j "$(nproc)" --target heapdump_program >&2
    python3 scripts/bench_open.py "$runs" "$build/heapdump" "$@"
}

bench_sql() {
    [ $# -gt 0 ] || set -- gen10-1m-full gen10-10m-full
    cmake --build "$build" -j "$(nproc)" --target heapdump_program >&2
    scripts/make_corefiles.sh "$@" >&2
    local cores=("${@/#/corefiles/build/}")
    python3 scripts/bench_sql.py "$build/heapdump" "$runs" "${cores[@]/%/.core}"
}

bench_hangs() {
    [ $# -gt 0 ] || set -- gen10-10m-waits
    cmake --build "$build" -j "$(nproc)" --target heapdump_program >&2
    scripts/make_corefiles.sh "$@" >&2
    local cores=("${@/#/corefiles/build/}")
    python3 scripts/bench_hangs.py "$build/heapdump" "$runs" "${cores[@]/%/.core}"
}

bench_process() {
    cmake --build "$build" -j "$(nproc)" --target ballast heapdump_program >&2
    scripts/make_corefiles.sh --build heapgen net10.0 >&2
    scripts/make_corefiles.sh --build leak net10.0 >&2
    python3 scripts/bench_process.py "$build" corefiles/build/apps "$runs"
}

bench_load() {
    cmake --build "$build" -j "$(nproc)" --target heapdump_program >&2
    for app in facts web hang leak awaits; do
        scripts/make_corefiles.sh --build "$app" net10.0 >&2
    done
    python3 scripts/bench_load.py "$build" corefiles/build/apps "$runs" 20
}

bench_threads() {
    cmake --build "$build" -j "$(nproc)" --target many_threads heapdump_program >&2
    python3 scripts/bench_threads.py "$build" "$runs"
}

bench_profiler() {
    cmake --build "$build" -j "$(nproc)" --target heapdump_profiler >&2
    HEAPDUMP_BUILD=$build python3 scripts/bench_profiler.py "$runs"
}

scripts/setup.sh >&2
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release >&2
mkdir -p "$data"
grep -m 1 '^model name' /proc/cpuinfo | sed 's/.*: //' >&2 || true
"bench_$what" "$@"
