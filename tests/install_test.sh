#!/bin/bash
# SPDX-License-Identifier: MIT
# install_test.sh BUILD_FOLDER: install into a temporary prefix and use what was installed: the
# program, the lines it prints for GDB and LLDB, the library through pkg-config; then move the prefix
# elsewhere and do it all again.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: install_test.sh BUILD_FOLDER" >&2; exit 2; }
build=$(realpath "$1")
source_root=$(realpath "$(dirname "$0")/..")
dump=$source_root/corefiles/bubblecs.heap
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
    echo "install_test: $*" >&2
    exit 1
}

# expect WHAT PATTERN FILE
expect() {
    grep -q -- "$2" "$3" || { cat "$3" >&2; fail "$1: no line matches $2"; }
}

use_program() {
    "$1/bin/heapdump" "$dump" gcroot 1ce056 >out || fail "program: status $?"
    expect program '1ce056 .*BubbleCS.GameBoard' out
    "$1/bin/heapdump" --version >out
    expect version 'heapdump [0-9]' out
    [ -f "$1/share/man/man1/heapdump.1" ] || fail "no man page"
}

use_debugger_line() {
    local prefix=$1 debugger=$2 option=$3
    shift 3
    "$prefix/bin/heapdump" "$option" >init || fail "$option: status $?"
    expect "$option" "$prefix/" init
    ! grep -q "$source_root" init || fail "$option names the source folder"
    "$@" >out 2>&1 </dev/null || { cat out >&2; fail "$debugger: status $?"; }
    expect "$debugger" '1ce056 .*BubbleCS.GameBoard' out
    ! grep -qi '^error' out || { cat out >&2; fail "$debugger printed an error"; }
}

use_library() {
    local pc libdir
    pc=$(find "$1" -name heapdump.pc)
    [ -n "$pc" ] || fail "no heapdump.pc"
    cat >use.c <<'CODE'
#include <inttypes.h>
#include <stdio.h>

#include <heapdump/heapdump.h>

int main(int argc, char **argv)
{
	struct hd_session *session = NULL;
	struct hd_error err;
	struct hd_object object;
	if (argc != 2 || hd_session_create(&session, &err) != HD_OK ||
	    hd_session_open(session, argv[1], 0, NULL, &err) != HD_OK)
		return 1;
	const struct hd_graph *graph = hd_session_graph(session);
	if (hd_graph_object(graph, hd_graph_find(graph, 0x1ce056), &object))
		return 1;
	printf("%" PRIx64 " has %" PRIu64 " bytes\n", object.id, object.size);
	hd_session_destroy(session);
	return 0;
}
CODE
    libdir=$(dirname "$(dirname "$pc")")
    # pkg-config quotes for the shell, as make and CMake read it: blanks have a backslash.
    eval "gcc -std=c11 -Wall -Wextra -Werror use.c -o use \
        $(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs heapdump)"
    LD_LIBRARY_PATH=$libdir ./use "$dump" >out || fail "library: status $?"
    expect library '^1ce056 has 280 bytes$' out
    eval "gcc -std=c11 -Wall -Wextra -Werror '$source_root/doc/examples/largest_types.c' -o example \
        $(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs heapdump)"
    LD_LIBRARY_PATH=$libdir ./example "$dump" 1ce056 >out || fail "example: status $?"
    expect example '^ *208608 System.Byte\[\]$' out
    expect example '^  -> 1ce056 BubbleCS.GameBoard$' out
    for header in "$1"/include/heapdump/*.h; do
        printf '#include <heapdump/%s>\n' "$(basename "$header")" >header.cpp
        g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$1/include" header.cpp ||
            fail "$(basename "$header") is no C++"
    done
}

use_all() {
    echo "install_test: $2"
    use_program "$1"
    use_debugger_line "$1" gdb --print-gdbinit \
        gdb -nx -q -batch -iex 'set debuginfod enabled off' -x init \
        -ex "heapdump open $dump" -ex 'gcroot 1ce056'
    if [ -n "$(find "$1" -name 'libheapdump_lldb.so')" ]; then
        use_debugger_line "$1" lldb --print-lldbinit \
            lldb-14 --no-lldbinit -b -s init -o "heapdump open $dump" -o 'gcroot 1ce056'
    fi
    use_library "$1"
}

cmake --install "$build" --prefix "$scratch/first" >log 2>&1 || { cat log >&2; fail "install"; }
! grep -v '^-- \(Install configuration\|Installing\|Up-to-date\|Set non-toolchain\)' log ||
    fail "the installation printed the above"
use_all "$scratch/first" "the prefix it was installed to"
mkdir -p "$scratch/other place"
mv "$scratch/first" "$scratch/other place/second"
use_all "$scratch/other place/second" "moved to another place, with a space in its name"
echo "install_test: passed"
