#!/bin/bash
# SPDX-License-Identifier: MIT
# lint.sh [--all|--analyze]: formatting, layers, sizes, first words of comments, citations, the ABI, messages of commits, shellcheck, black, mypy, cppcheck and clang-tidy.
#
# clang-tidy looks at the files of core/src, core/cli and profiler/src that differ from the last commit, or at all of them
# (--all). The clang analyzer, which is nearly all of its time, is left out of --all; --analyze: all of both, which
# takes minutes.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
all=false
tidy_options=()
case "${1:-}" in
--all)
    all=true
    tidy_options=(--checks=-clang-analyzer-*)
    ;;
--analyze) all=true ;;
"") ;;
*)
    echo "usage: lint.sh [--all|--analyze]" >&2
    exit 2
    ;;
esac
failed=()

check() {
    local name=$1 start=$SECONDS
    shift
    if "$@"; then
        echo "lint: $name: ok ($((SECONDS - start)) s)"
    else
        echo "lint: $name: FAILED" >&2
        failed+=("$name")
    fi
}

files() {
    find core gdb-plugin lldb-plugin profiler python tests scripts .ci -type f "$@" \
        -not -path '*/__pycache__/*' | LC_ALL=C sort
}

check_format() {
    files \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.hpp' \) -print0 | tr -d '\n' |
        xargs -0 -r clang-format-14 --dry-run -Werror
}

check_python() {
    local folder follow status=0
    # One folder at a time: test scripts of different folders may share a name.
    while read -r folder; do
        # The plug-in's heapdump.py would be taken for the package of that name.
        [ "$folder" = gdb-plugin ] && follow=skip || follow=normal
        MYPYPATH=python:gdb-plugin mypy --ignore-missing-imports --no-error-summary --disable-error-code override \
            --follow-imports "$follow" --cache-dir "build/mypy-$follow" "$folder"/*.py || status=1
    done < <(files -name '*.py' | xargs -r -n 1 dirname | sort -u)
    # The package has py.typed: users see what it leaves without a type.
    MYPYPATH=python:gdb-plugin mypy --strict --ignore-missing-imports --no-error-summary --follow-imports silent \
        --cache-dir build/mypy-strict python/heapdump || status=1
    return "$status"
}

check_shell() {
    {
        files \( -name '*.sh' -o -name '*.bash' \)
        echo .ci/run
    } | xargs shellcheck
}

check_black() {
    files -name '*.py' | xargs -r black --quiet --check --diff --line-length 100
}

# Results of earlier runs: what has not changed is not looked at again, also in another clone.
results=${XDG_CACHE_HOME:-${HOME:-$PWD/build}/.cache}/heapdump-lint

check_cppcheck() {
    mkdir -p "$results/cppcheck"
    cppcheck --quiet --cppcheck-build-dir="$results/cppcheck" --std=c11 --enable=warning,portability --error-exitcode=1 --inline-suppr \
        --suppress=normalCheckLevelMaxBranches -j "$(nproc)" -D__GNUC__ -D__x86_64__ -DHD_API= -DHD_NODISCARD= \
        -DHD_VERSION='"0"' -I core/include -I core/src core/src core/cli profiler/src
}

tidy_files() {
    local changed
    if ! $all && git rev-parse --quiet --verify HEAD >/dev/null 2>&1; then
        changed=$({
            git diff --name-only --diff-filter=d HEAD
            git ls-files --others --exclude-standard
        } 2>/dev/null)
        grep -E '^(core/(src|cli)|profiler/src)/.*\.c$' <<<"$changed"
    else
        find core/src core/cli profiler/src -name '*.c'
    fi
}

# not_passed KEY: of the files on standard input, those that have not passed with that key; each with what it is kept by.
not_passed() {
    local file sum
    while read -r file; do
        sum=$({ echo "$1 $file"; cat "$file"; } | sha256sum | cut -c 1-64)
        [ -e "$results/tidy/$sum" ] || echo "$file $sum"
    done
}

# All that the result for a file depends on, apart from the file: the program, its settings, and all headers.
tidy_key() {
    {
        clang-tidy-14 --version
        echo "${tidy_options[@]}"
        cat .clang-tidy scripts/lint.sh
        find . -path ./build\* -prune -o \( -name '*.h' -o -name CMakeLists.txt \) -print | LC_ALL=C sort | xargs cat
    } | sha256sum | cut -c 1-64
}

check_tidy() {
    local list todo
    list=$(tidy_files | LC_ALL=C sort -u)
    if [ -z "$list" ]; then
        echo "clang-tidy: no C file of the product differs from the last commit (--all: everything)"
        return 0
    fi
    todo=$(not_passed "$(tidy_key)" <<<"$list")
    echo "clang-tidy: $(wc -l <<<"$list") files, $(grep -c . <<<"$todo") of them changed since they passed"
    [ -n "$todo" ] || return 0
    list=$(cut -d ' ' -f 1 <<<"$todo")
    [ -f build/compile_commands.json ] || cmake -S . -B build >/dev/null || return 1
    # The flags are gcc's: clang does not know all of its warnings.
    xargs -P "$(nproc)" -n 4 clang-tidy-14 -p build --quiet "${tidy_options[@]}" \
        --extra-arg=-Wno-unknown-warning-option <<<"$list" 2>&1 |
        grep -v -E '^[0-9]+ warnings? (generated|treated)|^$'
    [ "${PIPESTATUS[0]}" -eq 0 ] || return 1
    mkdir -p "$results/tidy"
    (cd "$results/tidy" && cut -d ' ' -f 2 <<<"$todo" | xargs touch)
}

mkdir -p build
check "clang-format" check_format
check "layers" python3 scripts/check_layers.py
check "sizes" python3 scripts/check_sizes.py
check "words" python3 scripts/check_words.py
check "citations" python3 scripts/check_citations.py
check "abi" python3 scripts/check_abi.py
check "commits" python3 scripts/check_commits.py
check "shellcheck" check_shell
check "black" check_black
check "mypy" check_python
check "cppcheck" check_cppcheck
check "clang-tidy" check_tidy
if [ ${#failed[@]} -gt 0 ]; then
    echo "lint: failed: ${failed[*]}" >&2
    exit 1
fi
echo "lint: everything is clean"
