#!/usr/bin/env bash
# Runs the checks and counts them.
#
#   tools/test.sh all            what `make test` and CI run
#   tools/test.sh quick          the unit tests of the release build
#   tools/test.sh long           long fuzzing, soak and crash ledgers, every sanitizer on every test, clang-tidy on all
#   tools/test.sh soak           ten minutes of load
#   tools/test.sh STEP...        some steps alone: tree format release shared asan fuzz tsan package tidy docs cost
#
# Each step prints its time; all run even if one fails. The last line, `N passed, N failed`, sums the
# cases of all ctest runs and the steps that are no ctest run (a build, a check), one each.
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=${JOBS:-$(nproc)}
passed=0 failed=0 skipped=0
times=() broken=()

# One that is absent is an error, everywhere: a check that did not run has not passed.
need() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || { echo "test: $tool is missing; run tools/install-deps.sh test" >&2; return 1; }
    done
}

# check WHAT COMMAND...: one check that is no ctest run.
check() {
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1)) broken+=("$what")
        return 1
    fi
}

configure=()  # more arguments for cmake
precompile=OFF
[ -z "${CI:-}" ] || precompile=ON  # it builds from nothing
sbe=-DSHOVE_SBE_TESTS=ON  # without the tool: an error
build() {
    local preset=$1
    shift
    check "build $preset" build_only "$preset" "$@"
}
build_only() {
    cmake --preset "$1" $sbe -DSHOVE_PRECOMPILE_TESTS=$precompile "${configure[@]}" >"build/$1.configure.log" 2>&1 || { cat "build/$1.configure.log"; return 1; }
    # Ninja's progress is a page per build; its errors are what a reader wants.
    cmake --build "build/$1" -j "$jobs" "${@:2}" >"build/$1.build.log" 2>&1 || { grep -vE '^\[[0-9]+/[0-9]+\]' "build/$1.build.log"; return 1; }
}

# run_ctest PRESET ARGS...: runs a preset's tests and adds up its counts.
run_ctest() {
    local preset=$1 log="build/$1.ctest.log" rc=0 bad total skips
    shift
    echo "ctest $preset $*"
    "${no_aslr[@]}" ctest --test-dir "build/$preset" --output-on-failure --output-junit "$PWD/build/$preset.ctest.xml" \
        --no-tests=error -j "$jobs" "$@" >"$log" 2>&1 || rc=$?
    read -r bad total < <(sed -nE 's/.*tests passed, ([0-9]+) tests? failed out of ([0-9]+).*/\1 \2/p' "$log"; echo "1 1")
    skips=$(grep -c '\*\*\*Skipped' "$log" || true)
    passed=$((passed + total - bad - skips)) failed=$((failed + bad)) skipped=$((skipped + skips))
    echo "  $((total - bad - skips)) passed, $bad failed, $skips skipped (by capability)"
    if [ "$rc" -ne 0 ]; then
        # The cases that passed are noise in a failure's log.
        grep -vE '^ *[0-9]+/[0-9]+ Test .* Passed |^ +Start +[0-9]+:' "$log" | tail -n 400
        broken+=("ctest $preset")
    fi
    return "$rc"
}

# ---- sanitizers ---------------------------------------------------------------------------------
# ThreadSanitizer of clang 16 cannot map its shadow under the address randomisation of newer kernels.
no_aslr=()
setarch -R true 2>/dev/null && no_aslr=(setarch -R)
# addr2line comes with the assembler; it makes the stacks readable where llvm-symbolizer is absent.
symbolizer=$(command -v llvm-symbolizer-16 || command -v llvm-symbolizer || command -v addr2line || true)
export ASAN_OPTIONS="detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1:external_symbolizer_path=$symbolizer"
export UBSAN_OPTIONS="print_stacktrace=1:external_symbolizer_path=$symbolizer"
export TSAN_OPTIONS="suppressions=$PWD/tools/tsan.supp:halt_on_error=1:second_deadlock_stack=1:external_symbolizer_path=$symbolizer"

# The gate repeats itself: properties run on one seed. `long` and a run by hand take a new one each time.
[ "${1:-all}" != all ] || export RC_PARAMS=${RC_PARAMS:-seed=20261129}

# ---- brokers ------------------------------------------------------------------------------------
# They run from the first step that needs them to the end, whatever the end is. Those that ran before are left alone.
brokers=(rabbitmq rabbitmq-faults kafka kafka-faults)
need_brokers() {
    if ! tools/brokers.sh status "${brokers[@]}" >/dev/null; then
        trap stop_brokers EXIT
        echo "brokers: ${brokers[*]}"
        tools/brokers.sh wipe "${brokers[@]}" && tools/brokers.sh up "${brokers[@]}" || return 1
    fi
    eval "$(tools/brokers.sh env)"
}
# Killed: nobody asks for their data any more. Their logs stay in build/brokers.
stop_brokers() {
    tools/brokers.sh kill "${brokers[@]}" && tools/brokers.sh down "${brokers[@]}" || true
}

# ---- steps --------------------------------------------------------------------------------------
step_tree() { check tree tools/check-tree.sh; }

sources() {
    git ls-files --cached --others --exclude-standard -- '*.cpp' '*.hpp' | grep -vE '^bench/peers/' |
        while read -r f; do [ -f "$f" ] && printf '%s\n' "$f"; done
}
step_format() { need clang-format-16 && check format format_ok; }
format_ok() { sources | xargs -r clang-format-16 --dry-run --Werror 2>&1 | head -n 60; return "${PIPESTATUS[1]}"; }

step_release() {
    need g++-12 && build release && need_brokers && run_ctest release -LE 'long|package' &&
        check capabilities python3 tools/capability_matrix.py build/release.ctest.xml
}
step_quick() { need g++-12 && build release && run_ctest release -L unit; }
step_shared() { need g++-12 && build shared && run_ctest shared -L unit; }
# A real broker takes most of the time: RabbitMQ's quorum queues are enough here, `long` runs the others too.
step_asan() { need clang++-16 && build asan && need_brokers && run_ctest asan -L 'unit|conformance' -E '^(command|example|kafka-conformance)|rabbitmq_classic'; }
# Of the backends, ThreadSanitizer runs the in-process one: the others' libraries are not instrumented. (`long` runs all.)
step_tsan() { need clang++-16 && build tsan && run_ctest tsan -L 'unit|conformance' -E '^(sqlite|(rabbitmq|kafka)-(transactional-)?conformance|command|example)'; }
step_package() { need pkg-config && build release && run_ctest release -L package; }
step_fuzz() { need clang++-16 && build asan && fuzzers asan "${FUZZ_SECONDS:-10}"; }

# fuzzers PRESET SECONDS: each fuzzer for so long, from its corpus; what it finds new stays in build/.
fuzzers() {
    local preset=$1 seconds=$2 rc=0 binary
    for binary in "build/$preset"/bin/fuzz/*; do
        [ -x "$binary" ] || { echo "test: no fuzzers in build/$preset" >&2; return 1; }
        check "fuzz $(basename "$binary")" fuzz_one "$binary" "$seconds" || rc=1
    done
    return "$rc"
}
fuzz_one() {
    local name work corpus
    name=$(basename "$1") work=build/fuzz-corpus/$(basename "$1")
    mkdir -p "$work"
    corpus=$(cat "$(dirname "$1")/../../fuzz-corpus/$name")
    if "$1" -max_total_time="$2" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$work-" \
        "$work" "$corpus" >"$work.log" 2>&1; then
        echo "  $name: $(sed -nE 's/^stat::number_of_executed_units: *//p' "$work.log") inputs"
    else
        tail -n 60 "$work.log"
        return 1
    fi
}

step_tidy() { need clang-tidy-16 run-clang-tidy-16 && check tidy tools/tidy.sh; }
step_docs() { need doxygen && check docs docs_ok; }
docs_ok() {
    mkdir -p build/docs
    doxygen Doxyfile >build/docs/doxygen.log 2>&1 || { grep -E 'warning|error' build/docs/doxygen.log | head -n 40; return 1; }
}
# With room for a noisy yardstick; `make compile-cost` holds it to the aim of 4 seconds.
step_cost() { need g++-12 && COMPILE_COST_LIMIT=4.7 check compile-cost tools/compile-cost.sh; }

step_soak() {
    need g++-12 && build release && need_brokers || return 1
    local jobs=1  # one after another: each wants the machine for itself
    run_ctest release -L long -R soak
}

step_long() {
    local rc=0
    need_brokers || rc=1
    build release && run_ctest release -L long || rc=1
    configure=(-DSHOVE_BUILD_CLI=ON -DSHOVE_BUILD_EXAMPLES=ON)
    build asan && run_ctest asan -LE package || rc=1
    build tsan && run_ctest tsan -LE package || rc=1
    configure=()
    build fuzz && fuzzers fuzz "${FUZZ_SECONDS:-600}" || rc=1
    step_shared || rc=1
    step_tidy || rc=1
    return "$rc"
}

# ---- main ---------------------------------------------------------------------------------------
case "${1:-all}" in
    all)  steps=(tree format release package cost asan fuzz tsan tidy docs) ;;
    *)    steps=("$@") ;;
esac
mkdir -p build
status=0
for step in "${steps[@]}"; do
    declare -F "step_$step" >/dev/null || { echo "test: no step '$step'" >&2; exit 64; }
    echo "== $step"
    from=$SECONDS before=$failed
    if ! "step_$step"; then
        status=1
        # A step that could not even start counts too.
        [ "$failed" -gt "$before" ] || { failed=$((failed + 1)); broken+=("$step"); }
    fi
    times+=("$(printf '%6d s  %s' $((SECONDS - from)) "$step")")
done

echo "== time"
printf '%s\n' "${times[@]}"
[ ${#broken[@]} -eq 0 ] || printf 'failed: %s\n' "${broken[@]}"
[ "$skipped" -eq 0 ] || echo "$skipped skipped: the backend lacks the capability"
echo "$passed passed, $failed failed"
exit "$status"
