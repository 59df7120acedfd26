#!/bin/bash
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."

help() {
    cat <<'END'
usage: campaign.sh [--minutes N | --rounds N] [--seed N] [--keep-going] [--whole] [--build FOLDER]
                   [--parts FILE] [PART...]
       campaign.sh --list | --help

scripts/test.sh always runs the same: fixed seeds, and of long loops the same part. A campaign looks for what that does
not find. In each round it takes another seed and runs the tests that depend on it, and the tests that are left to
chance: cores of programs at random moments, for example. Run it before you say that a larger change is finished.

For each test it prints one line. For a failure it prints the end of what the test said, where all of it is, and the
command (for the top folder) that repeats the test with this seed; then it ends with status 1. The command repeats all
choices that the seed makes, but not the moment at which a core was taken: such tests keep the core and print its path.

  --minutes N    begin no more tests after N minutes (30 when neither is given)
  --rounds N     end after N rounds
  --seed N       the seed of the first round; the next round has N + 1 (a random number when it is not given)
  --keep-going   go on after a failure, and list all failures at the end
  --whole        run all parts of the long loops in place of one: a round takes hours
  --build FOLDER the build whose tests are run (build); one with sanitizers takes other parts
  --parts FILE   run the lines of this file in place of the parts of --list: a name, then a command for the shell
  PART...        run only these parts; "fuzz", "gdb_live" and "lldb_live" run only when they are named

A command finds the seed in HEAPDUMP_TEST_SEED. It succeeds with status 0; 77 says that this machine cannot run it.
scripts/fuzz.sh -campaign HOURS is the campaign of the fuzz targets.
END
}

usage() {
    help | sed -n '1,3p' >&2
    exit 2
}

# number WORD: is it one?
number() {
    [[ ${1:-} =~ ^[0-9]{1,9}$ ]] || usage
    echo $((10#$1))
}

minutes='' rounds='' seed='' build=build parts_file='' keep_going='' list='' chosen=()
export HEAPDUMP_TEST_CAMPAIGN=1
unset HEAPDUMP_TEST_ALL
while [ $# -gt 0 ]; do
    case $1 in
    --minutes | --rounds | --seed | --build | --parts)
        [ $# -gt 1 ] || usage
        case $1 in
        --minutes) minutes=$(number "$2") ;;
        --rounds) rounds=$(number "$2") ;;
        --seed) seed=$(number "$2") ;;
        --build) build=$2 ;;
        --parts) parts_file=$2 ;;
        esac
        shift
        ;;
    --keep-going) keep_going=1 ;;
    --whole) export HEAPDUMP_TEST_ALL=1 ;;
    --list) list=1 ;;
    --help | -h)
        help
        exit 0
        ;;
    -*) usage ;;
    *) chosen+=("$1") ;;
    esac
    shift
done
[ -n "$rounds$minutes" ] || minutes=30
[ -n "$seed" ] || seed=$((RANDOM * 32768 + RANDOM))

# The parts: a name, then a command for the shell.
all_parts() {
    if [ -n "$parts_file" ]; then
        cat "$parts_file"
        return
    fi
    [ -f "$build/CTestTestfile.cmake" ] || { echo "campaign.sh: $build is not built" >&2; return 2; }
    # Tests with the label "varies" depend on the seed.
    ctest --test-dir "$build" -N -L '^varies$' -FS . | sed -n 's/^ *Test *#[0-9]*: //p' | while read -r name; do
        echo "$name ctest --test-dir $build -R '^$name\$' --no-tests=error --output-on-failure"
    done
    export_build="HEAPDUMP_BUILD=$(realpath "$build")"
    echo "collecting $export_build tests/inject/collecting.py --cores 8"
    echo "healthy $export_build tests/inject/healthy.py --cores 36"
    echo "churn $export_build tests/oracle/run.sh --churn \$((6 * (HEAPDUMP_TEST_SEED % 1000000) + 1)) &&" \
        "rm -f corefiles/build/churn10-*"
    echo "frames $export_build python3 tests/oracle/check_frames.py"
    echo "hostile_code $export_build python3 tests/inject/hostile_code.py --count 20"
    echo "gdb_words $export_build python3 tests/fuzz/fuzz_gdb_words.py --count 20000 --seed \$HEAPDUMP_TEST_SEED"
    echo "gdb_live $export_build tests/gdb/live_campaign.py"
    echo "lldb_live $export_build tests/lldb/live_campaign.py &&" \
        "HEAPDUMP_TEST_ALL=1 $export_build python3 tests/lldb/test_lldb_live.py"
    echo "fuzz scripts/fuzz.sh 10"
}

# is_chosen NAME
is_chosen() {
    local name
    [ ${#chosen[@]} -gt 0 ] || { [[ ! $1 =~ ^(fuzz|gdb_live|lldb_live)$ ]] && return; }
    for name in "${chosen[@]}"; do
        [ "$name" != "$1" ] || return 0
    done
    return 1
}

parts=$(all_parts)
for name in "${chosen[@]}"; do
    grep -q "^$name " <<<"$parts" || { echo "campaign.sh: there is no part $name; --list shows all" >&2; exit 2; }
done
if [ -n "$list" ]; then
    echo "$parts"
    exit 0
fi

logs=$build/campaign failures=() passed=0 skipped=0
mkdir -p "$logs"
settings="HEAPDUMP_TEST_CAMPAIGN=1${HEAPDUMP_TEST_ALL:+ HEAPDUMP_TEST_ALL=1}"

report() {
    echo "campaign: $passed tests passed, $skipped skipped, ${#failures[@]} failed, in $((SECONDS / 60)) minutes"
    [ ${#failures[@]} -gt 0 ] || exit 0
    printf '  %s\n' "${failures[@]}"
    exit 1
}
trap 'echo; report' INT TERM

# run_part NAME COMMAND: with the seed of this round
run_part() {
    local name=$1 command=$2 log=$logs/$seed-$1.log begin=$SECONDS status=0
    HEAPDUMP_TEST_SEED=$seed bash -c "$command" >"$log" 2>&1 </dev/null || status=$?
    if [ $status -eq 77 ] || { [ $status -eq 0 ] && grep -q 'did not run:$' "$log"; }; then
        skipped=$((skipped + 1))
        echo "  $name: skipped"
    elif [ $status -eq 0 ]; then
        passed=$((passed + 1))
        echo "  $name: passed, $((SECONDS - begin)) s"
    else
        echo "  $name: FAILED with status $status, $((SECONDS - begin)) s"
        tail -n 20 "$log" | sed 's/^/    /'
        echo "    all that it said: $log"
        echo "    to repeat it: HEAPDUMP_TEST_SEED=$seed $settings bash -c ${command@Q}"
        failures+=("$name with seed $seed, $log")
        [ -n "$keep_going" ] || report
        return
    fi
    rm -f "$log"
}

for ((round = 1; !rounds || round <= rounds; round++, seed++)); do
    echo "round $round, seed $seed ($((SECONDS / 60)) minutes so far)"
    while read -r name command; do
        [ -z "$minutes" ] || [ "$SECONDS" -lt $((60 * minutes)) ] || report
        ! is_chosen "$name" || run_part "$name" "$command"
    done <<<"$parts"
done
report
