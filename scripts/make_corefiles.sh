#!/bin/sh
# SPDX-License-Identifier: MIT
# make_corefiles.sh [DIR] [NAME...]: build the programs of corefiles/apps, run them, and take cores of them.
# make_corefiles.sh --list: the names.
# make_corefiles.sh --build APP FLAVOUR: only build a program (net11.0, net10.0, net9.0, net8.0, single, single11).
#
# DIR is corefiles/build when it is not given; a first argument that is no name of a core is DIR. Without
# names, every core is made but those marked "by name". NAME.core gets NAME.truth.json beside it: what the
# program said about its own heap. A core whose sources have not changed since is not made again.
# Programs for .NET 11 are compiled with runtime async; "10on11" are those for .NET 10, with
# state machines, that run on .NET 11. Without the packages of .NET 11 their cores are skipped.
# Exit status: 0 all there, 1 some could not be made, 2 usage, 77 no .NET SDK.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)

# The ways to die of corefiles/apps/crash; it says which they are.
modes='throw rethrow deep inner cctor async async-void pool threads callback callback-delegate nullref
nullref-try marshal segv abort sleep spin failfast oom catch-abort catch-throw finally-abort finally-throw
filter-abort filter-failfast nested overflow'
# The ways to hang of corefiles/apps/hang; those that programs for .NET 10 on .NET 11, and .NET 9 and 8 have a core of, too.
hangs='orders async tasks deadlock2 deadlock5 lock writers initializer join waits starved timers healthy1 healthy2 healthy3
healthy4 healthy5 healthy6 healthy7 healthy8 mixed several readers handles contexts gates finalizer collection lost stages answers callbacks
libraries healthy9 starts pulses consumers healthy10 schedulers rentals forgotten halls healthy11
places healthy12 bulkheads healthy13 replies healthy14 retries healthy15 databases queued'
on11_hangs='orders async tasks deadlock2 mixed contexts'
old_hangs='async tasks deadlock2 waits starved timers initializer mixed several readers handles contexts gates healthy6 healthy7 healthy8
lost stages answers callbacks libraries healthy9'
# The ways to leak or waste of corefiles/apps/leaks, and its healthy programs; those that .NET 9 and 8 have a core of, too.
leaks='sessions indexes audit chain weak tasks events linked timers plugin container cache finalizer baskets currencies
buffers undo failures prices formulas datasets interned outbox tracked pool callbacks pollers scripts throttle viewmodels slices
options reload gauges hours symbols rows neighbours owners visits tickets pictures peak watchers'
no_leaks='burst reference lru channel parser cachelimit grid game webshop worker connections quotes
streams chats sockets statements compacting deadlines studio'
old_leaks='sessions events tasks finalizer prices callbacks scripts slices webshop connections'

list() {
    cat <<'END'
wks11-full      .NET 11, workstation GC, createdump --full
wks11-heap      the same, createdump --withheap
wks11-triage    the same, createdump --triage (no heap)
wks11-mini      the same, createdump --normal (no heap)
wks11-gcore     the same, gcore of GDB
wks11-kernel    the same, written by the kernel after two SIGABRT
svr11-full      .NET 11, server GC with two heaps
seg11-full      .NET 11, segments instead of regions (libclrgc.so)
svrseg11-full   .NET 11, server GC with segments (by name)
limit11-full    .NET 11, with a hard limit for the heap (by name)
single11-full   .NET 11, a single-file program
single11-heap   the same, createdump --withheap (no code of the JIT)
leak11-heap     .NET 11, the web cache that leaks, createdump --withheap (by name)
awaits11-heap   .NET 11, methods that wait in every way, compiled with runtime async, createdump --withheap
awaits11-full   the same, createdump --full (by name)
awaits10on11-heap  the same as a program for .NET 10 that runs on .NET 11
awaits10-heap   the same on .NET 10
web11-heap      .NET 11, HttpClient and Kestrel with requests in flight, createdump --withheap
web11-full      the same, createdump --full (by name)
web10on11-heap  the same as a program for .NET 10 that runs on .NET 11
coll11-heap     .NET 11, collections of every kind, createdump --withheap
vars11-heap     .NET 11, arguments and locals of every kind, createdump --withheap
crash11-throw-kernel  .NET 11, an unhandled exception, written by the kernel
wks10-full      .NET 10, workstation GC, createdump --full
wks10-heap      the same, createdump --withheap
wks10-triage    the same, createdump --triage (no heap)
wks10-mini      the same, createdump --normal (no heap)
wks10-gcore     the same, gcore of GDB
wks10-kernel    the same, written by the kernel after two SIGABRT
svr10-full      .NET 10, server GC with two heaps
seg10-full      .NET 10, segments instead of regions (libclrgc.so)
svrseg10-full   .NET 10, server GC with segments
limit10-full    .NET 10, with a hard limit for the heap
single10-full   .NET 10, a single-file program
single10-heap   the same, createdump --withheap (no code of the JIT)
wks9-full       .NET 9, workstation GC
svr9-full       .NET 9, server GC with two heaps
seg9-full       .NET 9, segments
wks8-full       .NET 8, workstation GC
svr8-full       .NET 8, server GC with two heaps
seg8-full       .NET 8, segments
leak10-heap     .NET 10, the web cache that leaks, createdump --withheap
growth10-heap   .NET 10, a depot that grows, createdump --withheap; growth10-later-heap: the same process later (by name)
churn10-N       .NET 10, threads that allocate and collect at full speed; any N (by name)
gen10-1m-full   .NET 10, a million objects (by name)
gen10-10m-full  .NET 10, ten million objects (by name)
gen10-40m-full  .NET 10, forty million objects (by name)
churn11-N       .NET 11, the same (by name)
gen10-10m-waits .NET 10, ten million objects, 200,000 async methods and 1,000 threads that wait (by name)
crash10-throw-kernel  .NET 10, an unhandled exception, written by the kernel
crash9-throw-full     .NET 9, an unhandled exception
crash9-nullref-full   .NET 9, a null reference
crash8-throw-full     .NET 8, an unhandled exception
crash8-nullref-full   .NET 8, a null reference
crash9-oom-heap       .NET 9, no memory left (by name)
crash8-oom-heap       .NET 8, no memory left (by name)
END
    for kind in heap gcore kernel; do
        echo "svr11-$kind .NET 11, server GC with two heaps, $kind (by name)"
        echo "seg11-$kind .NET 11, segments, $kind (by name)"
    done
    for kind in gcore kernel; do
        echo "single11-$kind .NET 11, a single-file program, $kind (by name)"
    done
    for version in 11 10 9 8; do
        echo "crash$version-threads-mini .NET $version, dies with many threads, createdump of mini type (no heap)"
        echo "crash$version-throw-triage .NET $version, an unhandled exception, createdump of triage type (no heap)"
    done
    for mode in $hangs; do
        # A core has one moment, and of a hundred of healthy8 one was told wrong: chance is no part of the tests.
        case $mode in
        healthy8) chance=' (by name)' ;;
        *) chance= ;;
        esac
        echo "hang11-$mode-heap .NET 11, hangs or does not: $mode, createdump --withheap$chance"
        case " $on11_hangs " in
        *" $mode "*) name= ;;
        *) name=' (by name)' ;;
        esac
        echo "hang10on11-$mode-heap the same as a program for .NET 10 that runs on .NET 11$name"
        echo "hang10-$mode-heap .NET 10, hangs or does not: $mode, createdump --withheap$chance"
    done
    for mode in $old_hangs; do
        case $mode in
        healthy8) chance=' (by name)' ;;
        *) chance= ;;
        esac
        echo "hang9-$mode-heap .NET 9, the same$chance"
        echo "hang8-$mode-heap .NET 8, the same$chance"
    done
    for mode in $leaks $no_leaks; do
        echo "leaks10-$mode-heap .NET 10, leaks, wastes or is healthy: $mode, createdump --withheap (by name)"
    done
    for mode in $old_leaks; do
        echo "leaks9-$mode-heap .NET 9, the same (by name)"
        echo "leaks8-$mode-heap .NET 8, the same (by name)"
    done
    for version in 10 9 8; do
        echo "coll$version-heap .NET $version, collections of every kind, createdump --withheap"
        echo "vars$version-heap .NET $version, arguments and locals of every kind, createdump --withheap"
        echo "web$version-heap .NET $version, HttpClient and Kestrel with requests in flight, createdump --withheap"
    done
    for mode in $modes; do
        case $mode in
        throw | nullref | threads | pool | async | deep | finally-throw | filter-abort) name= ;;
        *) name=' (by name)' ;;
        esac
        echo "crash11-$mode-heap .NET 11, dies by $mode, not optimised, createdump of heap type$name"
        case $mode in
        throw | nullref | threads) name= ;;
        *) name=' (by name)' ;;
        esac
        echo "crash11-$mode-full .NET 11, dies by $mode, optimised, createdump of full type$name"
        echo "crash10-$mode-heap .NET 10, dies by $mode, not optimised, createdump of heap type"
        case $mode in
        throw | nullref | abort | spin | catch-throw | filter-abort | threads) name= ;;
        *) name=' (by name)' ;;
        esac
        echo "crash10-$mode-full .NET 10, dies by $mode, optimised, createdump of full type$name"
    done
}

is_name() {
    case $1 in
    churn1[01]-*[!0-9]* | churn1[01]-) return 1 ;;
    churn1[01]-*) return 0 ;;
    *[!a-z0-9-]*) return 1 ;;
    esac
    list | grep -q "^$1 "
}

say() {
    echo "make_corefiles: $*" >&2
}

dir=$root/corefiles/build
only=
case ${1:-} in
--list)
    list
    exit 0
    ;;
--build)
    # APP FLAVOUR: builds one program, and takes no core.
    only="${2:-} ${3:-}"
    if [ $# -ne 3 ] || [ ! -d "corefiles/apps/$2" ]; then
        say "there is no program ${2:-}"
        exit 2
    fi
    shift 3
    ;;
-*)
    echo "usage: make_corefiles.sh [DIR] [NAME...] | --build APP FLAVOUR | --list" >&2
    exit 2
    ;;
esac
if [ $# -gt 0 ] && ! is_name "$1"; then
    mkdir -p "$1"
    dir=$(cd "$1" && pwd)
    shift
fi
[ $# -gt 0 ] || [ -n "$only" ] || {
    # shellcheck disable=SC2046
    set -- $(list | grep -v '(by name)$' | cut -d ' ' -f 1)
}
for name; do
    is_name "$name" || {
        say "no such core: $name (--list shows the names)"
        exit 2
    }
done
sdk=$(dotnet --version 2>/dev/null) || {
    say "there is no .NET SDK"
    exit 77
}

mkdir -p "$dir"
tmp=$dir/tmp.$$
run=
pid=
# shellcheck disable=SC2317
cleanup() {
    [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || :
    rm -rf "$tmp" ${run:+"$run"}
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP
if command -v flock >/dev/null; then
    exec 9>"$dir/.lock"
    flock 9
fi
mkdir -p "$tmp"
export HD_APPS_BUILD="$dir/apps" DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1
dotnet=$(command -v dotnet)

# The program that a core is taken of.
app_of() {
    case $1 in
    leaks*) echo leaks ;;
    leak*) echo leak ;;
    growth*) echo growth ;;
    churn*) echo churn ;;
    gen*) echo heapgen ;;
    crash*) echo crash ;;
    hang*) echo hang ;;
    coll*) echo collections ;;
    vars*) echo variables ;;
    web*) echo web ;;
    awaits*) echo awaits ;;
    *) echo facts ;;
    esac
}

# How that program is built: NAME begins with a word and a release.
flavour_of() {
    release=${1%%-*}
    release=${release##*[a-z]}
    case $1 in
    single11-*) echo single11 ;;
    single*) echo single ;;
    *10on11-*) echo net10on11 ;;
    *) echo "net$release.0" ;;
    esac
}

# A core depends on these: the program, this script and the SDK.
stamp_of() {
    {
        cat scripts/make_corefiles.sh corefiles/apps/Directory.Build.*
        find "corefiles/apps/$1" -type f | LC_ALL=C sort | while read -r file; do
            echo "$file"
            cat "$file"
        done
        echo "$sdk"
    } | sha256sum | cut -d ' ' -f 1
}

# build APP FLAVOUR STAMP
build() {
    built=$dir/apps/$1-$2.stamp
    [ "$(cat "$built" 2>/dev/null)" != "$3" ] || return 0
    say "building $1 for $2"
    rm -rf "$dir/apps/$1-$2" "$dir/apps/obj/$1-$2" "$dir/apps/out/$1-$2"
    set -- "$1" "$2" "$3" -c Release -v quiet -nodeReuse:false
    case $2 in
    single*) set -- "$@" -r linux-x64 --self-contained -p:PublishSingleFile=true ;;
    net10.0) set -- "$@" -p:UseAppHost=false ;;
    *) set -- "$@" -r linux-x64 --self-contained ;;
    esac
    app=$1 flavour=$2 hash=$3
    shift 3
    framework=$flavour
    case $flavour in
    single) framework=net10.0 ;;
    single11) framework=net11.0 ;;
    esac
    (
        export HD_FLAVOUR="$flavour" HD_FRAMEWORK="$framework" MSBUILDDISABLENODEREUSE=1
        dotnet publish "corefiles/apps/$app" "$@"
    ) >"$tmp/build.log" 2>&1 9>&- </dev/null || {
        cat "$tmp/build.log" >&2
        say "$app for $flavour does not build"
        return 1
    }
    echo "$hash" >"$built"
}

# Makes the folder of .NET 11 that runs programs for .NET 10, if that has not been tried: are the packages there?
has_11() {
    [ -n "$has_11" ] || {
        has_11=no
        ! build runtime net11.0 "$(stamp_of runtime)" || has_11=yes
    }
    [ "$has_11" = yes ]
}

# The folder of the .NET 10 runtime that runs framework-dependent programs.
runtime_folder() {
    dotnet --list-runtimes | awk '
        $1 == "Microsoft.NETCore.App" && $2 ~ /^10\./ { folder = $3; version = $2 }
        END { gsub(/[][]/, "", folder); print folder "/" version }'
}

# launch NAME APP FLAVOUR [ARGUMENT...]: runs the program; sets pid and run.
launch() {
    name=$1 program=$2 flavour=$3 start=$dotnet prefix=''
    if [ "$flavour" = net10on11 ]; then
        flavour=net10.0 start=$dir/apps/runtime-net11.0/dotnet
    fi
    folder=$dir/apps/$program-$flavour
    shift 3
    # A short path for the runtime's sockets, which SIGKILL leaves behind.
    run=$(mktemp -d)
    if [ "$program" = leak ]; then
        # This core goes into the repository: no path of this machine in it.
        cp -R "$folder" "$run/webshop"
        folder=$run/webshop
    elif [ "$program" = growth ]; then
        # So do these.
        cp -R "$folder" "$run/depot"
        folder=$run/depot
    elif [ "$name" = hang10-orders-heap ] || [ "$name" = hang11-orders-heap ]; then
        # So do these: what the runtime read of mounts and control groups is not left in freed memory, and its
        # own group has no name.
        cp -R "$folder" "$run/orders"
        folder=$run/orders
        prefix=$(unshare --user --map-root-user --cgroup echo unshare --user --map-root-user --cgroup 2>/dev/null) || prefix=
    fi
    if [ "$flavour" = net10.0 ]; then
        set -- "$start" "$folder/$program.dll" "$@"
    else
        set -- "$folder/$program" "$@"
    fi
    case $name in
    *10on11-*) set -- DOTNET_ROLL_FORWARD=Major "$@" ;;
    esac
    case $name in
    *-kernel) set -- prlimit --core=unlimited "$@" ;;
    svr*) set -- DOTNET_gcServer=1 DOTNET_GCHeapCount=2 "$@" ;;
    limit*) set -- DOTNET_GCHeapHardLimit=0x10000000 "$@" ;;
    hang1[01]-orders-*) set -- GLIBC_TUNABLES=glibc.malloc.perturb=255:glibc.malloc.tcache_count=0 "$@" ;;
    crash*-oom-*) set -- DOTNET_GCHeapHardLimit=0x8000000 "$@" ;;
    esac
    case $name in
    crash*-full) set -- DOTNET_TieredCompilation=0 DOTNET_DbgMiniDumpType=4 "$@" ;;
    crash*-heap) set -- DOTNET_DbgMiniDumpType=2 "$@" ;;
    crash*-triage) set -- DOTNET_DbgMiniDumpType=3 "$@" ;;
    crash*-mini) set -- DOTNET_DbgMiniDumpType=1 "$@" ;;
    esac
    case $name in
    crash*-full | crash*-heap | crash*-triage | crash*-mini) set -- DOTNET_DbgEnableMiniDump=1 "DOTNET_DbgMiniDumpName=$run/core" "$@" ;;
    esac
    case $name in
    svrseg* | seg*) set -- DOTNET_GCName=libclrgc.so "$@" ;;
    esac
    : >"$tmp/out"
    : >"$tmp/err"
    (
        cd "$run"
        # shellcheck disable=SC2086
        exec $prefix env -i PATH=/usr/bin:/bin HOME=/ LANG=C.UTF-8 TMPDIR="$run" "$@"
    ) >"$tmp/out" 2>"$tmp/err" 9>&- </dev/null &
    pid=$!
}

# start NAME APP FLAVOUR [ARGUMENT...]: runs the program until it is READY.
start() {
    launch "$@"
    tries=0
    await 1
}

# await N: waits until the program has said N times that it is READY.
await() {
    until [ "$(grep -c '^READY$' "$tmp/out")" -ge "$1" ]; do
        tries=$((tries + 1))
        if [ "$tries" -gt 600 ] || ! kill -0 "$pid" 2>/dev/null; then
            cat "$tmp/err" >&2
            say "$name: the program did not get ready"
            return 1
        fi
        sleep 0.1
    done
    # The last threads are on their way into their waits.
    sleep 0.2
}

# later NAME FLAVOUR: lets the program go on, and makes a second core of it, NAME-later-heap, with what it said then.
later() {
    kill -HUP "$pid"
    await 2 || return 1
    take "$1-later-heap" "$2" "$tmp/later" || return 1
    grep '^{' "$tmp/out" | tail -n 1 >"$dir/$1-later-heap.truth.json"
    ! command -v fallocate >/dev/null || fallocate --dig-holes "$tmp/later" 2>/dev/null || :
    mv "$tmp/later" "$dir/$1-later-heap.core"
}

# crash NAME APP FLAVOUR PART: runs the program until it has died of what NAME says; moves the core to PART.
crash() {
    mode=${1#*-}
    mode=${mode%-*}
    launch "$1" "$2" "$3" "$mode"
    tries=0
    until [ ! -d "/proc/$pid" ] || grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null; do
        tries=$((tries + 1))
        case $mode-$tries in
        # A signal from outside writes the core, but does not always end the program.
        sleep-* | spin-*)
            ! grep -q "^.createdump. Dump successfully written" "$tmp/out" "$tmp/err" || break
            ! grep -q '^READY$' "$tmp/out" || [ -e "$tmp/aborted" ] || {
                sleep 0.3
                kill -ABRT "$pid"
                : >"$tmp/aborted"
            }
            ;;
        esac
        [ "$tries" -le 1200 ] || break
        sleep 0.05
    done
    kill -KILL "$pid" 2>/dev/null || :
    wait "$pid" 2>/dev/null || :
    find "$run" -name 'core*' -type f -exec mv {} "$4" \;
    grep '^{' "$tmp/out" | tail -n 1 >"$tmp/truth"
    if [ ! -s "$4" ] || [ ! -s "$tmp/truth" ]; then
        tail -n 20 "$tmp/err" >&2
        return 1
    fi
}

stop() {
    kill -KILL "$pid" 2>/dev/null || :
    wait "$pid" 2>/dev/null || :
    rm -rf "$run"
    pid='' run=''
}

# take NAME FLAVOUR PART: writes the core of pid into PART.
take() {
    case $2 in
    net10.0 | single) createdump=$runtime/createdump ;;
    net10on11 | single11) createdump=$(echo "$dir"/apps/runtime-net11.0/shared/Microsoft.NETCore.App/*/createdump) ;;
    *) createdump=$dir/apps/$program-$2/createdump ;;
    esac
    case $1 in
    *-gcore)
        gdb -nx -batch -iex 'set debuginfod enabled off' -iex 'set auto-load off' -p "$pid" \
            -ex "gcore $3" >"$tmp/dump.log" 2>&1
        ;;
    *-kernel)
        # The first only takes the runtime's own handler away; two that come at once are one.
        until [ ! -d "/proc/$pid" ] || grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null; do
            kill -ABRT "$pid" 2>/dev/null || :
            sleep 0.5
        done
        wait "$pid" 2>/dev/null || :
        find "$run" -name 'core*' -type f -exec mv {} "$3" \; >"$tmp/dump.log" 2>&1
        ;;
    *)
        case $1 in
        *-triage) kind=--triage ;;
        *-mini) kind=--normal ;;
        *-heap) kind=--withheap ;;
        *) kind=--full ;;
        esac
        "$createdump" "$kind" -f "$3" "$pid" >"$tmp/dump.log" 2>&1
        ;;
    esac
    [ -s "$3" ] || {
        cat "$tmp/dump.log" >&2
        return 1
    }
}

# The thing that is missing and that a core cannot be made without, or nothing.
missing() {
    case $1 in
    *-gcore) command -v gdb >/dev/null || echo "there is no gdb" ;;
    *-kernel)
        case $(cat /proc/sys/kernel/core_pattern) in
        core) prlimit --core=unlimited true 2>/dev/null || echo "the limit for cores cannot be raised" ;;
        *) echo "/proc/sys/kernel/core_pattern is not plain" ;;
        esac
        ;;
    esac
}

# make NAME STAMP
make() {
    app=$(app_of "$1") flavour=$(flavour_of "$1") part=$tmp/$1.core.part
    case $flavour in
    net10on11) build "$app" net10.0 "$2" || return 1 ;;
    *) build "$app" "$flavour" "$2" || return 1 ;;
    esac
    set -- "$1" "$2" "$app" "$flavour" "$part"
    case $1 in
    gen10-1m-*) start "$1" "$app" "$flavour" 1 || return 1 ;;
    gen10-10m-waits) start "$1" "$app" "$flavour" 10 waits || return 1 ;;
    gen10-10m-*) start "$1" "$app" "$flavour" 10 || return 1 ;;
    gen10-40m-*) start "$1" "$app" "$flavour" 40 || return 1 ;;
    crash*)
        crash "$1" "$app" "$flavour" "$part" || {
            say "$1: no core was written"
            return 1
        }
        ;;
    hang* | leaks*)
        mode=${1#*-}
        start "$1" "$app" "$flavour" "${mode%-*}" || return 1
        ;;
    *) start "$1" "$app" "$flavour" || return 1 ;;
    esac
    case $1 in
    # At another moment each, spread over a second.
    churn*) sleep "0.$(printf %03d $((${1#churn1?-} * 379 % 1000)))" ;;
    esac
    case $1 in
    crash*) ;;
    *)
        take "$1" "$4" "$5" || {
            say "$1: no core was written"
            return 1
        }
        head -n 1 "$tmp/out" >"$tmp/truth"
        ;;
    esac
    case $1 in
    growth*) later "${1%-heap}" "$4" || return 1 ;;
    esac
    stop
    ! command -v fallocate >/dev/null || fallocate --dig-holes "$5" 2>/dev/null || :
    rm -f "$dir/$1.core" "$dir/$1.stamp"
    mv "$tmp/truth" "$dir/$1.truth.json"
    mv "$5" "$dir/$1.core"
    echo "$2" >"$dir/$1.stamp"
    say "$1.core: $(du -m "$dir/$1.core" | cut -f 1) MiB"
}

if [ -n "$only" ]; then
    app=${only% *} flavour=${only#* }
    build "$app" "$flavour" "$(stamp_of "$app")"
    exit
fi
runtime=
has_11=
status=0
for name; do
    case $(flavour_of "$name") in
    *11*)
        has_11 || {
            say "$name: skipped, the packages of .NET 11 cannot be had"
            continue
        }
        ;;
    esac
    app=$(app_of "$name")
    eval "hash=\${stamp_$app:-}"
    # shellcheck disable=SC2154
    if [ -z "$hash" ]; then
        hash=$(stamp_of "$app")
        eval "stamp_$app=\$hash"
    fi
    if [ -s "$dir/$name.core" ] && [ "$(cat "$dir/$name.stamp" 2>/dev/null)" = "$hash" ]; then
        continue
    fi
    reason=$(missing "$name")
    if [ -n "$reason" ]; then
        say "$name: skipped, $reason"
        continue
    fi
    [ -n "$runtime" ] || runtime=$(runtime_folder)
    rm -rf "$tmp"
    mkdir -p "$tmp"
    make "$name" "$hash" || status=1
    [ -z "$pid" ] || stop
done
exit "$status"
