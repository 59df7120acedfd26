#!/bin/bash
# SPDX-License-Identifier: MIT
# package_test.sh BUILD_FOLDER: check the Debian packages of a build (scripts/package.sh), install them into a copy of
# this machine's root (an overlay in a mount namespace of its own, without a network), use them there, and remove them.
# Root is needed, for dpkg; as another user it only looks at the packages.
set -euo pipefail

fail() {
    echo "package_test: $*" >&2
    exit 1
}

# expect WHAT PATTERN FILE
expect() {
    grep -q -- "$2" "$3" || { cat "$3" >&2; fail "$1: no line matches $2"; }
}

check_hardening() {
    local folder=$1 file
    dpkg-deb -x "$packages"/heapdump_*.deb "$folder"
    for file in usr/bin/heapdump usr/lib/libheapdump.so.0 usr/lib/heapdump/libheapdump_lldb.so \
        usr/lib/heapdump/libheapdump_profiler.so; do
        [ -e "$folder/$file" ] || continue
        readelf -hldW "$folder/$file" >elf
        readelf -W --dyn-syms "$folder/$file" >symbols
        expect "$file" 'Type: *DYN' elf
        expect "$file" 'GNU_RELRO' elf
        expect "$file" 'FLAGS.*BIND_NOW\|FLAGS_1.*NOW' elf
        expect "$file" 'GNU_STACK.*RW ' elf
        expect "$file" '__stack_chk_fail@' symbols
        expect "$file" '__[a-z]*_chk@' symbols
    done
    expect "PIE" 'FLAGS_1.*PIE' <(readelf -dW "$folder/usr/bin/heapdump")
    ! grep -rl "$source_root" "$folder" || fail "a file names the source folder"
}

# Every folder can be entered, every file can be read by all, and only root can write.
check_listed() {
    local package
    for package in "$packages"/*.deb; do
        dpkg-deb -c "$package" | awk '{ print $1, $2, $6 }'
    done | sort >"listed-$1"
    ! grep -v '^drwxr-xr-x root/root \|^-rw-r--r-- root/root \|^lrwxrwxrwx root/root \|^-rwxr-xr-x root/root \./usr/bin/heapdump' \
        "listed-$1" || fail "umask $1: rights in a package"
}

# Packages that are made with another umask have the same files, with the same rights.
check_umasks() {
    local mask
    check_listed "$(umask)"
    for mask in 000 777; do
        (umask "$mask" && "$source_root/scripts/package.sh" "$build") >package.log 2>&1 ||
            { cat package.log >&2; fail "umask $mask: package.sh"; }
        check_listed "$mask"
        diff "listed-$(umask)" "listed-$mask" >&2 || fail "umask $mask: a package has other files"
    done
}

check_packages() {
    local package
    for package in "$packages"/*.deb; do
        lintian --fail-on error,warning "$package" >lintian.log 2>&1 ||
            { cat lintian.log >&2; fail "lintian, $(basename "$package")"; }
    done
    check_hardening "$scratch/unpacked"
    dpkg-deb -f "$packages"/heapdump_*.deb Depends >depends
    expect "dependencies" 'libc6 (>= .*libsqlite3-0' depends
    python3 - "$scratch/unpacked/usr/share/doc/heapdump/heapdump.spdx.json" <<'CODE' || fail "SBOM"
import json, sys
document = json.load(open(sys.argv[1]))
assert document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0"
names = {package["name"]: package for package in document["packages"]}
assert {"heapdump", "libc6", "libsqlite3-0", "libzstd1", "zlib1g", "libjansson4", "libseccomp2", "libelf1", "libdw1", "libcapstone4"} <= set(names)
assert all(package["versionInfo"] for package in names.values())
ids = [part["SPDXID"] for part in document["packages"] + document["files"]] + ["SPDXRef-DOCUMENT"]
assert len(ids) == len(set(ids))
for relationship in document["relationships"]:
    assert relationship["spdxElementId"] in ids and relationship["relatedSpdxElement"] in ids
CODE
}

# All files of the places that packages write to, with their rights, but for what dpkg and ldconfig keep themselves.
list_files() {
    find /etc /usr /opt /var/lib /srv -xdev \( -path /var/lib/dpkg -o -path /etc/ld.so.cache -o -path /usr/share/dotnet \) \
        -prune -o -printf '%p %M %u:%g\n' | LC_ALL=C sort
}

# The files of the packages as dpkg knows them, with the rights that each has now. Only the program can be run.
check_rights() {
    local place wanted
    dpkg -L heapdump heapdump-dev python3-heapdump | sort -u | while read -r place; do
        if [ -L "$place" ] || [ -z "$place" ]; then
            continue
        elif [ -d "$place" ] || [ "$place" = /usr/bin/heapdump ]; then
            wanted='755 root:root'
        else
            wanted='644 root:root'
        fi
        [ "$(stat -c '%a %U:%G' "$place")" = "$wanted" ] || fail "umask $(umask): $(ls -ld "$place"), not $wanted"
    done
}

# The package for Python, of a user without rights, and the prompt.
use_python() {
    (cd / && setpriv --reuid 65534 --regid 65534 --clear-groups /usr/bin/python3 -I -c \
        "import heapdump; print(heapdump.open('$dump').object(0x1ce056))") >out || fail "Python: status $?"
    expect "Python" '<BubbleCS.GameBoard at 0x1ce056>' out
    echo 'print(h.object(0x1ce056))' | PATH=/usr/bin:/bin heapdump python "$dump" >out 2>&1 || fail "prompt: status $?"
    expect "prompt" '<BubbleCS.GameBoard at 0x1ce056>' out
}

# Install, use as root and as a user without rights, remove and purge, all with this umask.
use_with_umask() {
    local open
    umask "$1"
    dpkg -i "$packages"/heapdump_*.deb "$packages"/heapdump-dev_*.deb "$packages"/python3-heapdump_*.deb >dpkg.log 2>&1 ||
        { cat dpkg.log >&2; fail "umask $1: dpkg -i"; }
    check_rights
    gdb -q -batch -ex "heapdump open $dump" -ex 'gcroot 1ce056' >out 2>&1 </dev/null || fail "umask $1: GDB: status $?"
    expect "umask $1: GDB" '1ce056 .*BubbleCS.GameBoard' out
    open=$(find /usr/share/heapdump /usr/lib/heapdump /etc/gdb -perm /022 ! -type l)
    [ -z "$open" ] || fail "umask $1: others may write to $open"
    setpriv --reuid 65534 --regid 65534 --clear-groups heapdump "$dump" gcroot 1ce056 >out ||
        fail "umask $1: program of a user: status $?"
    expect "umask $1: program of a user" '1ce056 .*BubbleCS.GameBoard' out
    use_python
    dpkg -r python3-heapdump heapdump-dev heapdump >dpkg.log 2>&1 || { cat dpkg.log >&2; fail "umask $1: dpkg -r"; }
    dpkg -P python3-heapdump heapdump-dev heapdump >dpkg.log 2>&1 || { cat dpkg.log >&2; fail "umask $1: dpkg -P"; }
    list_files >after
    diff before after >&2 || fail "umask $1: purging leaves files, or other rights"
}

use_debuggers() {
    gdb -q -batch -ex "heapdump open $dump" -ex 'gcroot 1ce056' >out 2>&1 </dev/null || fail "GDB: status $?"
    expect "GDB" '1ce056 .*BubbleCS.GameBoard' out
    gdb -q -batch -ex 'heapdump doctor' >out 2>&1 </dev/null || true
    expect "doctor in GDB" '^gdb-plugin   ok ' out
    gdb -nx -q -batch -ex 'heapdump help' >out 2>&1 </dev/null || true
    expect "GDB without files" 'Undefined command: "heapdump"' out
    [ -e /usr/lib/heapdump/libheapdump_lldb.so ] || return 0
    echo 'command source /usr/share/heapdump/lldb/lldbinit' >"$HOME/.lldbinit"
    lldb-14 -b -o 'heapdump doctor' >out 2>&1 </dev/null || true
    expect "doctor in LLDB" '^gdb-plugin   ok ' out
    lldb-14 -b -o "heapdump open $dump" -o 'gcroot 1ce056' >out 2>&1 </dev/null || fail "LLDB: status $?"
    expect "LLDB" '1ce056 .*BubbleCS.GameBoard' out
}

use_program() {
    [ "$(command -v heapdump)" = /usr/bin/heapdump ] || fail "heapdump is $(command -v heapdump)"
    heapdump "$dump" gcroot 1ce056 >out || fail "program: status $?"
    expect "program" '1ce056 .*BubbleCS.GameBoard' out
    heapdump "$dump" info >out
    expect "info" '^Sandbox: *on (seccomp' out
    heapdump doctor --format csv >out || true
    expect "doctor" '^gdb-plugin,ok,/usr/share/heapdump/gdb/heapdump.py; GDB loads it when it starts' out
    zcat /usr/share/man/man1/heapdump.1.gz >page
    cmp page "$source_root/core/cli/heapdump.1" || fail "the man page is another one"
    ! command -v man >/dev/null || MANWIDTH=80 man --warnings -l /usr/share/man/man1/heapdump.1.gz >out 2>warnings ||
        fail "man"
    [ ! -s warnings ] || { cat warnings >&2; fail "man warns"; }
    # shellcheck disable=SC2016 # the other bash expands them
    bash --norc -c '
        compopt() { :; }
        source /usr/share/bash-completion/completions/heapdump
        COMP_WORDS=(heapdump x dumph) COMP_CWORD=2
        _heapdump
        printf "%s\n" "${COMPREPLY[@]}"' >out
    expect "completion" '^dumpheap$' out
    [ -e /usr/share/zsh/vendor-completions/_heapdump ] || fail "no completion for zsh"
}

use_library() {
    local flags
    flags=$(PKG_CONFIG_PATH='' pkg-config --cflags --libs heapdump) || fail "pkg-config"
    # shellcheck disable=SC2086 # one word per flag
    gcc -std=c11 -Wall -Wextra -Werror "$source_root/doc/examples/largest_types.c" -o example $flags ||
        fail "heapdump-dev"
    ./example "$dump" 1ce056 >out || fail "example: status $?"
    expect "example" '^ *208608 System.Byte\[\]$' out
    heapdump --print-profiler >out || fail "--print-profiler: status $?"
    expect "profiler" '^CORECLR_PROFILER_PATH=/usr/lib/heapdump/libheapdump_profiler.so$' out
    ldd ./example >out
    expect "example" 'libheapdump.so.0 => .*/lib/libheapdump.so.0' out
}

# The part that runs in the overlay: /dev, /proc and the scratch folder are this machine's.
use_installed() {
    cd "$scratch"
    export HOME=$scratch/home PATH=/usr/bin:/usr/sbin:/bin:/sbin DEBIAN_FRONTEND=noninteractive
    unset PYTHONDONTWRITEBYTECODE
    mkdir -p "$HOME"
    list_files >before
    dpkg -i "$packages"/heapdump_*.deb "$packages"/heapdump-dev_*.deb >dpkg.log 2>&1 ||
        { cat dpkg.log >&2; fail "dpkg -i"; }
    use_program
    use_debuggers
    use_library
    # As GDB of root leaves it; removing the package takes it away.
    [ -d /usr/share/heapdump/gdb/heapdump_gdb/__pycache__ ] || fail "GDB keeps no compiled Python any more"
    dpkg -r heapdump-dev heapdump >dpkg.log 2>&1 || { cat dpkg.log >&2; fail "dpkg -r"; }
    ! grep -i 'warning' dpkg.log || fail "dpkg -r warns"
    [ ! -e /usr/share/heapdump ] || fail "removing leaves /usr/share/heapdump"
    [ -e /etc/gdb/gdbinit.d/heapdump.py ] || fail "removing deletes what a user may have changed"
    # The hook is still there, and its program is not.
    gdb -q -batch -ex 'print 6*7' >out 2>&1 </dev/null
    [ "$(cat out)" = "\$1 = 42" ] || { cat out >&2; fail "GDB after removing"; }
    dpkg -P heapdump-dev heapdump >dpkg.log 2>&1 || { cat dpkg.log >&2; fail "dpkg -P"; }
    list_files >after
    diff before after >&2 || fail "purging leaves files"
    ! dpkg-query -W heapdump heapdump-dev >/dev/null 2>&1 || fail "dpkg knows the packages"
    # The files that it writes itself are there, and stay as they are.
    touch out dpkg.log after
    for mask in 000 077 777; do
        (use_with_umask "$mask")
    done
}

enter_overlay() {
    local root=$scratch/root folder
    mkdir -p "$root" "$scratch/layer"
    mount -t tmpfs heapdump-test "$scratch/layer"
    mkdir "$scratch/layer/upper" "$scratch/layer/work"
    mount -t overlay heapdump-test -o "lowerdir=/,upperdir=$scratch/layer/upper,workdir=$scratch/layer/work" "$root"
    for folder in /proc /dev "$scratch" "$build" "$source_root"; do
        mkdir -p "$root$folder"
        mount --rbind "$folder" "$root$folder"
    done
    exec chroot "$root" "$source_root/tests/package_test.sh" --installed "$build" "$scratch"
}

source_root=$(realpath "$(dirname "$0")/..")
dump=$source_root/corefiles/bubblecs.heap
stage=all
case "${1:-}" in
--enter | --installed)
    stage=$1
    shift
    ;;
esac
build=$(realpath "${1:?usage: package_test.sh BUILD_FOLDER}")
packages=$build/packages
case $stage in
--enter)
    scratch=$2
    enter_overlay
    ;;
--installed)
    scratch=$2
    use_installed
    exit 0
    ;;
esac
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
check_umasks
check_packages
echo "package_test: the packages are sound"
if [ "$(id -u)" -ne 0 ]; then
    echo "package_test: they were not installed: that takes root"
    exit 0
fi
unshare --mount --net --propagation private "$source_root/tests/package_test.sh" --enter "$build" "$scratch"
echo "package_test: passed"
