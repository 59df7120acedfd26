#!/bin/bash
# SPDX-License-Identifier: MIT
# test.sh: everything that must pass: unit, golden, property, fault and debugger tests of a release build, those where
# AddressSanitizer and UBSan can find something in a build with them, an installation, the static program, Debian
# packages, and lint.
#
# Of the longest tests it runs a part, and always the same one (tests/support/turns.py): what passed once passes again.
# scripts/campaign.sh runs the other parts, and CONTRIBUTING.md says how to run only some of the tests, and what runs where.
#
# The cores that tests need are made while both builds are compiled. Then two rows of steps run side by side: the tests of
# the release build, whose output is shown, and all the rest, whose output is in build/rest.log and is shown at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 0 ] || { echo "usage: test.sh" >&2; exit 2; }
unset HEAPDUMP_TEST_SEED HEAPDUMP_TEST_ALL
jobs=$(nproc)

# Code that was compiled before is not compiled again, also of another clone: paths below this folder do not count.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

step() {
    printf '\n=== %s (after %d s)\n' "$*" "$SECONDS"
}

# build FOLDER CMAKE_OPTIONS
build() {
    local folder=$1
    shift
    step "build $folder"
    # A folder that is there already keeps its generator.
    [ -f "$folder/CMakeCache.txt" ] || set -- -G Ninja "$@"
    cmake -S . -B "$folder" -DCMAKE_BUILD_TYPE=Release -DHD_TESTS=ON -DCMAKE_C_COMPILER_LAUNCHER=ccache \
        -DCMAKE_CXX_COMPILER_LAUNCHER=ccache "$@"
    cmake --build "$folder" -j "$jobs"
}

# run_tests FOLDER LABELS JOBS: all tests but those with a label that matches.
run_tests() {
    ctest --test-dir "$1" --output-on-failure --no-tests=error -LE "$2" -j "$3" 2>&1 | tee "$1/test.log"
}

failed=()

# part NAME COMMAND...: go on after a failure, which is told at the end.
part() {
    local name=$1
    shift
    step "$name"
    "$@" || failed+=("$name")
}

make_static() {
    HD_STATIC_TESTS=1 scripts/static.sh build && tests/static_test.py build
}

make_packages() {
    scripts/package.sh build && tests/package_test.sh build
}

make_wheel() {
    scripts/wheel.sh build && tests/wheel_test.sh build
}

rest() {
    part "install" tests/install_test.sh build
    part "packages for Debian" make_packages
    part "lint" scripts/lint.sh --all
    # Some tests are skipped without the cores and their programs.
    part "wait for the cores" tail --pid="${background[0]}" -f /dev/null
    part "static program" make_static
    part "wheel for Python" make_wheel
    export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1:allocator_may_return_null=1
    export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
    part "test build-asan" run_tests build-asan '^(debugger|elsewhere)$' "$jobs"
    [ ${#failed[@]} -eq 0 ] || { printf 'failed: %s\n' "${failed[@]}"; exit 1; }
}

# Each is a group of processes of its own, which ends with this script.
background=()
cleanup() {
    local group
    for group in "${background[@]}"; do
        kill -- "-$group" 2>/dev/null || true
    done
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

# in_background LOG COMMAND...
in_background() {
    local log=$1
    shift
    set -m
    "$@" >"$log" 2>&1 </dev/null &
    set +m
    background+=("$!")
}

step "packages"
scripts/setup.sh
mkdir -p build build-asan
rm -f build/test.log build-asan/test.log
# The test "corefiles" waits for it, makes what it could not, and says why.
in_background build/corefiles.log tests/oracle/make.sh
build build -DHD_DEBUG_INFO=-g1 -DHD_LLDB=ON
build build-asan -DHD_SANITIZE=ON -DHD_LLDB=OFF
in_background build/rest.log rest
# Many tests wait for processes, timers and sockets: one more than there are processors.
part "test build" run_tests build '^elsewhere$' "$((jobs + 1))"
step "what ran beside these tests"
wait "${background[1]}" || failed+=("what ran beside the tests of the release build")
cat build/rest.log

step "result"
for folder in build build-asan; do
    printf '%s: ' "$folder"
    grep -s 'tests passed' "$folder/test.log" || echo "no tests were run"
    sed -n '/^The following tests FAILED/,$p' "$folder/test.log" 2>/dev/null || true
done
[ ${#failed[@]} -eq 0 ] || { printf 'failed: %s\n' "${failed[@]}"; exit 1; }
echo "all tests passed"
