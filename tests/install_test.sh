#!/bin/bash
# SPDX-License-Identifier: MIT
# install_test.sh BUILD_FOLDER: install into a temporary prefix and use what was installed: the
# program, the lines it prints for GDB and LLDB, the library through pkg-config, the completion of bash and zsh; then
# move the prefix elsewhere and do it all again; remove all of it by the build's target "uninstall".
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
    version=$(sed -n 's/^heapdump \([0-9.]*\).*/\1/p' out)
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
    PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --exact-version="$version" heapdump ||
        fail "heapdump.pc has another version than the program, $version"
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
	printf("%s: %" PRIx64 " has %" PRIu64 " bytes\n", hd_version(), object.id, object.size);
	hd_session_destroy(session);
	return 0;
}
CODE
    libdir=$(dirname "$(dirname "$pc")")
    # pkg-config quotes for the shell, as make and CMake read it: blanks have a backslash.
    eval "gcc -std=c11 -Wall -Wextra -Werror use.c -o use \
        $(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs heapdump)"
    LD_LIBRARY_PATH=$libdir ./use "$dump" >out || fail "library: status $?"
    expect library "^$version: 1ce056 has 280 bytes\$" out
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

# complete_in_bash PREFIX EXPECTED WORD...: what TAB offers for the last word
complete_in_bash() {
    local prefix=$1 expected=$2
    shift 2
    # shellcheck disable=SC2016 # the other bash expands them
    PATH=$prefix/bin:$PATH bash --norc -c '
        compopt() { echo "compopt $*"; }
        source "$1" || exit 1
        complete -p heapdump >/dev/null || exit 1
        shift
        COMP_WORDS=(heapdump "$@") COMP_CWORD=$#
        _heapdump
        printf "%s\n" "${COMPREPLY[@]}"' bash \
        "$prefix/share/bash-completion/completions/heapdump" "$@" >out || fail "bash: status $?"
    [ "$(LC_ALL=C sort out | tr '\n' ' ')" = "$expected " ] || { cat out >&2; fail "bash offers that after: $*"; }
}

# The same of zsh, whose own functions say what they are given.
complete_in_zsh() {
    local prefix=$1 expected=$2
    shift 2
    # shellcheck disable=SC2016 # zsh expands them
    PATH=$prefix/bin:$PATH zsh -f -c '
        compadd() { shift; print -l -- "$@" }
        _files() { print _files }
        _heapdump() { source "$file" }
        file=$1
        shift
        words=(heapdump "$@") CURRENT=$#words
        _heapdump' zsh "$prefix/share/zsh/site-functions/_heapdump" "$@" >out || fail "zsh: status $?"
    [ "$(LC_ALL=C sort out | tr '\n' ' ')" = "$expected " ] || { cat out >&2; fail "zsh offers that after: $*"; }
}

use_completion() {
    local complete
    # shellcheck disable=SC2016 # it is not to be expanded
    touch 'core dump' core.1 'cor$(touch evaluated)'
    for complete in complete_in_bash complete_in_zsh; do
        if [ "$complete" = complete_in_zsh ] && ! command -v zsh >/dev/null; then
            echo "install_test: zsh is not installed: its completion was not tried"
            continue
        fi
        "$complete" "$1" "dumpheap" "$dump" dumphe
        "$complete" "$1" "-segment -short -stat -strings" "$dump" dumpheap -min 2 -s
        "$complete" "$1" "csv json ndjson text" --format ""
        "$complete" "$1" "-segment" --json "/tmp/o'\''ther \$(touch evaluated)" dumpheap -seg
    done
    complete_in_bash "$1" "collect compopt -o filenames cor\$(touch evaluated) core dump core.1" co
    complete_in_bash "$1" "close clrmodules clrstack clrthreads clru collect compopt -o filenames cor\$(touch evaluated) core dump core.1 crashinfo" c
    complete_in_bash "$1" " compopt -o default" "core\\ d"
    complete_in_bash "$1" " compopt -o default" "\$(touch evaluated)"
    complete_in_bash "$1" "json" --format = js
    [ ! -e evaluated ] || fail "completion evaluates what is in the line"
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
    "$1/bin/heapdump" --print-profiler >out || fail "--print-profiler: status $?"
    expect "profiler" "^CORECLR_PROFILER_PATH='\?$1/.*/libheapdump_profiler.so'\?\$" out
    use_library "$1"
    use_completion "$1"
}

# The lines in .gdbinit and .lldbinit when the prefix has moved: both go on, and say what to do.
use_stale_lines() {
    gdb -nx -q -batch -x stale.gdb -ex 'print 6*7' >out 2>&1 </dev/null || fail "GDB: status $?"
    expect "GDB" 'delete this line of .gdbinit, and run "heapdump --print-gdbinit' out
    expect "GDB" '= 42' out
    [ -s stale.lldb ] || return 0
    expect "the line for LLDB" '^# .*run "heapdump --print-lldbinit' stale.lldb
    lldb-14 --no-lldbinit -b -s stale.lldb -o 'print 6*7' >out 2>&1 </dev/null || true
    expect "LLDB" '^error: no such file' out
}

# Whatever the umask is: our own folders can be entered, files can be read by all, and only their owner can write.
# Folders that others use, too (bin, lib), are made as the umask says where they are not there.
install_with_umasks() {
    local mask prefix wrong
    for mask in 000 027 077 777; do
        prefix=$scratch/umask-$mask
        # Whoever is not root cannot even write to a folder that was made with 777.
        [ "$mask" != 777 ] || [ "$(id -u)" -eq 0 ] || continue
        (umask "$mask" && cmake --install "$build" --prefix "$prefix" >/dev/null) || fail "umask $mask: install"
        wrong=$(find "$prefix" -mindepth 1 ! -type l ! \( -type d -perm 755 \) ! \( -type f -perm 644 \) \
            ! \( -type f -perm 755 \( -path "$prefix/bin/*" -o -name '*.so*' \) \) \
            ! \( -type d ! -path '*/heapdump*' ! -perm /022 \))
        [ -z "$wrong" ] || fail "umask $mask: wrong rights: $wrong"
        cmake --build "$build" --target uninstall >log 2>&1 || { cat log >&2; fail "umask $mask: uninstall"; }
        wrong=$(find "$prefix" ! -type d)
        [ -z "$wrong" ] || fail "umask $mask: uninstall leaves $wrong"
    done
}

install_with_umasks
cmake --install "$build" --prefix "$scratch/first" >log 2>&1 || { cat log >&2; fail "install"; }
! grep -v '^-- \(Install configuration\|Installing\|Up-to-date\|Set non-toolchain\)' log ||
    fail "the installation printed the above"
use_all "$scratch/first" "the prefix it was installed to"
"$scratch/first/bin/heapdump" --print-gdbinit >stale.gdb
"$scratch/first/bin/heapdump" --print-lldbinit >stale.lldb 2>/dev/null || true
mkdir -p "$scratch/other place"
mv "$scratch/first" "$scratch/other place/second"
use_all "$scratch/other place/second" "moved to another place, with a space in its name"
use_stale_lines
mv "$scratch/other place/second" "$scratch/first"
echo mine >"$scratch/first/share/heapdump/mine"
cmake --build "$build" --target uninstall >log 2>&1 || { cat log >&2; fail "uninstall"; }
left=$(cd "$scratch/first" && find . -type f -o -type l)
[ "$left" = ./share/heapdump/mine ] || fail "uninstall leaves $left"
[ ! -e "$scratch/first/include/heapdump" ] || fail "uninstall leaves a folder"
! cmake --build "$build" --target uninstall >log 2>&1 || fail "there is something to uninstall again"
echo "install_test: passed"
