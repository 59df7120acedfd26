#!/bin/bash
# SPDX-License-Identifier: MIT
# test.sh: everything that must pass: unit, golden, property, fault and debugger tests of a release build, the
# same without debuggers under AddressSanitizer and UBSan, an installation, the static program, Debian packages, and lint.
#
# Of the longest tests it runs a part, and always the same one (tests/support/turns.py): what passed once passes again.
# scripts/campaign.sh runs the other parts, and CONTRIBUTING.md says how to run only some of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 0 ] || { echo "usage: test.sh" >&2; exit 2; }
unset HEAPDUMP_TEST_SEED HEAPDUMP_TEST_ALL
jobs=$(nproc)
# Many tests wait for processes, timers and sockets: one more than there are processors.
tests=$((jobs + 1))

step() {
    printf '\n=== %s\n' "$*"
}

# build_and_test FOLDER CTEST_OPTIONS -- CMAKE_OPTIONS
build_and_test() {
    local folder=$1 ctest_options=()
    shift
    while [ "$1" != -- ]; do
        ctest_options+=("$1")
        shift
    done
    shift
    step "build $folder"
    # A folder that is there already keeps its generator.
    [ -f "$folder/CMakeCache.txt" ] || set -- -G Ninja "$@"
    cmake -S . -B "$folder" "$@"
    cmake --build "$folder" -j "$jobs"
    step "test $folder"
    ctest --test-dir "$folder" --output-on-failure --no-tests=error -j "$tests" \
        "${ctest_options[@]}" 2>&1 | tee "$folder/test.log"
}

step "packages"
scripts/setup.sh
build_and_test build -- -DCMAKE_BUILD_TYPE=Release -DHD_DEBUG_INFO=-g1 -DHD_TESTS=ON -DHD_LLDB=ON
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
build_and_test build-asan -LE debugger -- -DCMAKE_BUILD_TYPE=Release -DHD_SANITIZE=ON \
    -DHD_TESTS=ON -DHD_LLDB=OFF
step "install"
tests/install_test.sh build
step "static program"
HD_STATIC_TESTS=1 scripts/static.sh build
tests/static_test.py build
step "packages for Debian"
scripts/package.sh build
tests/package_test.sh build
step "lint"
scripts/lint.sh --all

step "result"
for folder in build build-asan; do
    printf '%s: ' "$folder"
    grep 'tests passed' "$folder/test.log"
done
echo "all tests passed"
