#!/bin/bash
# SPDX-License-Identifier: MIT
# Install what is missing, build, and ask one dump what keeps an object alive: in the shell, in GDB
# and in LLDB.  Every step prints the command that it runs; any failure ends the script.
set -euo pipefail
cd "$(dirname "$0")/.."
dump=corefiles/bubblecs.heap
object=1ce056

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

run() {
    show "$@"
    "$@"
}

# Run a debugger and check its output too: in batch mode it may exit with 0 after an error.
run_debugger() {
    local output
    show "$@"
    if ! output=$("$@" 2>&1 </dev/null); then
        printf '%s\n' "$output"
        echo "demo: $1 failed" >&2
        exit 1
    fi
    printf '%s\n' "$output"
    if grep -qi '^error' <<<"$output" || ! grep -q "$object .*BubbleCS.GameBoard" <<<"$output"; then
        echo "demo: $1 did not print what keeps $object alive" >&2
        exit 1
    fi
}

run scripts/setup.sh
run cmake -S . -B build -DCMAKE_BUILD_TYPE=Release
run cmake --build build -j "$(nproc)" --target heapdump heapdump_program heapdump_lldb

run build/heapdump "$dump" gcroot "$object"
run build/heapdump "$dump" dumpheap -stat
run build/heapdump "$dump" dumpobj "$object"
run build/heapdump "$dump" objsize "$object"

run_debugger gdb -nx -q -batch -iex 'set debuginfod enabled off' \
    -ex 'source gdb-plugin/heapdump.py' -ex "heapdump open $dump" -ex "gcroot $object"
run_debugger lldb-14 --no-lldbinit -b -o 'plugin load build/libheapdump_lldb.so' \
    -o "heapdump open $dump" -o "gcroot $object"
printf '\ndemo: every step passed\n'
