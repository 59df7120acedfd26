#!/bin/bash
# SPDX-License-Identifier: MIT
# Install what is missing, build, walk the heap of a core file and ask a dump what keeps an object
# alive: in the shell, in GDB and in LLDB.  Every step prints the command that it runs and the first
# lines of its answer; any failure ends the script.
set -euo pipefail
cd "$(dirname "$0")/.."
dump=corefiles/bubblecs.heap
object=1ce056
core=corefiles/leak.core.zst
session=7f039fe5a158

# Print a command as one would type it.
show() {
    local word line='$'
    for word in "$@"; do
        if [[ $word == *[!A-Za-z0-9_./=-]* ]]; then
            line+=" '$word'"
        else
            line+=" $word"
        fi
    done
    printf '\n%s\n' "$line"
}

# Lines of each answer that are shown.
lines=10

# The first lines of an answer, and how many more there are.
cut_answer() {
    awk -v most="$lines" 'NR <= most { print } END { if (NR > most) print "... (" NR - most " more lines)" }'
}

run() {
    show "$@"
    "$@" 2>&1 | cut_answer
}

# Setting up and building: only its last lines matter, all of them where it fails.
build() {
    local output
    show "$@"
    if ! output=$("$@" 2>&1); then
        printf '%s\n' "$output"
        exit 1
    fi
    tail -n 2 <<<"$output"
}

# run_debugger TEXT COMMAND...: run a debugger and check that it printed TEXT: in batch mode it may
# exit with 0 after an error.
run_debugger() {
    local output expected=$1
    shift
    show "$@"
    if ! output=$("$@" 2>&1 </dev/null); then
        printf '%s\n' "$output"
        echo "demo: $1 failed" >&2
        exit 1
    fi
    cut_answer <<<"$output"
    if grep -qi '^error' <<<"$output" || ! grep -q "$expected" <<<"$output"; then
        echo "demo: $1 did not print \"$expected\"" >&2
        exit 1
    fi
}

build scripts/setup.sh --user
build cmake -S . -B build -DCMAKE_BUILD_TYPE=Release
build cmake --build build -j "$(nproc)" --target heapdump heapdump_program heapdump_lldb

run build/heapdump "$dump" gcroot "$object"
run build/heapdump "$dump" dumpheap -stat
run build/heapdump "$dump" dumpobj "$object"
run build/heapdump "$dump" objsize "$object"

# GDB and LLDB open a plain core; heapdump reads the packed one as it is.
plain=$(mktemp --suffix=.core)
plain11=$(mktemp --suffix=.core)
gcdump=$(mktemp --suffix=.gcdump)
trap 'rm -f "$plain" "$plain11" "$gcdump"' EXIT
zstd -q -d -f "$core" -o "$plain"
run build/heapdump "$core" info || [ $? -eq 1 ]
run build/heapdump "$core" dumpheap -stat -type WebShop
run build/heapdump "$core" dumpobj "$session"
run build/heapdump "$core" eeheap -gc
run build/heapdump "$core" verifyheap
run build/heapdump "$core" gcroot "$session"
run build/heapdump "$core" gcroot -type WebShop.Session
# A report of its leaks, as one page for a browser: status 1 says that there are findings.
page=$PWD/build/leak.html
run build/heapdump "$core" report || [ $? -eq 1 ]
run build/heapdump "$core" report -o "$page" || [ $? -eq 1 ]
grep -q 'WebShop.PriceFeed.Changed' "$page"
# A .gcdump of the core, and the same question to it.
run build/heapdump "$core" export "$gcdump"
run build/heapdump "$gcdump" info
run build/heapdump "$gcdump" gcroot "$session"

# Why a program hangs: status 1 says that it does.
run build/heapdump corefiles/hang.core.zst hang || [ $? -eq 1 ]
# The same on .NET 11, whose runtime suspends async methods itself.
hang11=corefiles/hang11.core.zst
run build/heapdump --no-files "$hang11" hang || [ $? -eq 1 ]
run build/heapdump --no-files --symbols corefiles/symbols "$hang11" dumpasync
run build/heapdump --no-files "$hang11" verifyheap
# A program for Alpine, of which musl tells nobody how its code is left.
run build/heapdump --no-files corefiles/musl8.core.zst clrstack -all
run build/heapdump --no-files corefiles/musl8.core.zst hang || [ $? -eq 1 ]
# A core of an arm64 machine.
run build/heapdump --no-files corefiles/arm64-11.core.zst clrstack -all

gdb=(gdb -nx -q -batch -iex 'set debuginfod enabled off' -ex 'source gdb-plugin/heapdump.py')
# Debian 12's LLDB 14 looks for its Python package in the wrong place, and says so at every start.
export PYTHONPATH=/usr/lib/llvm-14/lib/python3.11/dist-packages
lldb=(lldb-14 --no-lldbinit -b -o 'plugin load build/libheapdump_lldb.so')
run_debugger "$object .*BubbleCS.GameBoard" "${gdb[@]}" -ex "heapdump open $dump" -ex "gcroot $object"
run_debugger "$object .*BubbleCS.GameBoard" "${lldb[@]}" -o "heapdump open $dump" \
    -o "gcroot $object"
# The static variable that all leaked sessions hang on.
leak="WebShop.PriceFeed.Instance"
run_debugger "$leak" "${gdb[@]}" -ex "dumpheap -stat -type WebShop.S" -ex "dumpobj $session" \
    -ex verifyheap -ex "gcroot $session" -c "$plain"
run_debugger "$leak" "${lldb[@]}" -o "dumpheap -stat -type WebShop.S" -o "dumpobj $session" \
    -o verifyheap -o "gcroot $session" -c "$plain"
# The deadlock on .NET 11, and the async methods that wait.
zstd -q -d -f "$hang11" -o "$plain11"
waiting="Shop.Inventory.Reserve"
run_debugger "$waiting" "${gdb[@]}" -ex hang -ex "dumpasync -stats" -c "$plain11"
run_debugger "$waiting" "${lldb[@]}" -o hang -o "dumpasync -stats" -c "$plain11"
printf '\ndemo: every step passed\ndemo: the report of %s, for a browser: %s\n' "$core" "$page"
