#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds twice: with gcc, optimised, and with clang and its sanitizers. Each test of a library runs under the
# sanitizers, or optimised if it would take long there; all others run optimised. With --slow, all tests run in both
# builds and in clang's optimised build, except the checks of the repository and the `screen` tests; gcc uses link-time
# optimisation, as in a release.
#   ./test.sh [--slow] [arguments for ctest]      --slow: also the tests that take minutes
#   ./test.sh --cassandra [OPERATIONS]            only the mock against real Cassandra nodes; needs a JDK and Maven
#   ./test.sh --live                              live processes over SQLite and, with a JDK and Maven, over Cassandra nodes
# The last line sums up: N passed, N failed[, N skipped].
set -uo pipefail
cd "$(dirname "$0")" || exit 3

excluded=slow
if [[ ${1-} == --slow ]]; then
    shift
    excluded=
else
    export BUCKETLAB_TEST_SHARE=5 # tests of many seeds or faults try one in five (tests/share.h)
fi
jobs=$(nproc)
tests=$((jobs + 2)) # more than processors, since some tests wait for locks, browsers or other processes
passed=0 failed=0 skipped=0
faults=()
targets=()             # all
built_by=() tested_by=() # prefixes of the commands

./setup.sh build test || exit 3
# If this fails, the tests of other machines are skipped with a message.
[[ -n $excluded ]] || ./setup.sh machines

build() { # preset
    cmake --preset "$1" && "${built_by[@]}" cmake --build --preset "$1" -j "$jobs" "${targets[@]}"
}

if [[ ${1-} == --cassandra ]]; then
    targets=(--target cassandra_replay)
    build release >/dev/null || exit 3
    tests/cassandra5/live.sh build/release/tests/cassandra/cassandra_replay "${2:-20000}"
    status=$?
    [[ $status != 77 ]] || exit 0
    exit $status
fi

if [[ ${1-} == --live ]]; then
    targets=(--target bucketlab live_host)
    build release >/dev/null || exit 3
    exec tests/live/live.sh build/release/bucketlab build/release/tests/live_host "${@:2}"
fi

number() { # attribute, JUnit file
    sed -n "s/^[[:space:]]*$1=\"\([0-9]*\)\".*/\1/p; s/.*<testsuite .*[[:space:]]$1=\"\([0-9]*\)\".*/\1/p" "$2" |
        head -n 1
}

count() { # preset, JUnit file
    local tests failures disabled skips
    tests=$(number tests "$2") failures=$(number failures "$2") disabled=$(number disabled "$2")
    skips=$(number skipped "$2")
    skips=$((${skips:-0} + ${disabled:-0}))
    passed=$((passed + ${tests:-0} - ${failures:-0} - skips))
    failed=$((failed + ${failures:-0}))
    skipped=$((skipped + skips))
    while read -r name; do
        faults+=("$1: $name")
    done < <(sed -n 's/.*<testcase name="\([^"]*\)".* status="fail".*/\1/p' "$2")
}

attempt() { # preset, arguments for ctest: 64 when it does not build
    local preset=$1 log status=64
    shift
    echo "== $preset"
    log=$(mktemp)
    if build "$preset" >"$log" 2>&1; then
        rm -f "build/$preset/junit.xml"
        "${tested_by[@]}" ctest --test-dir "build/$preset" --output-on-failure -j "$tests" \
            --output-junit "$PWD/build/$preset/junit.xml" "$@"
        status=$?
    else
        cat "$log"
    fi
    rm -f "$log"
    return "$status"
}

settle() { # preset, how `attempt` ended
    local report=build/$1/junit.xml before=$failed
    if (($2 == 64)); then
        faults+=("$1: the build; its messages are above")
        failed=$((failed + 1))
        return
    fi
    [[ -f $report ]] && count "$1" "$report"
    if (($2 != 0 && failed == before)); then
        faults+=("$1: ctest ended with $2")
        failed=$((failed + 1))
    fi
}

run() { # preset, arguments for ctest
    attempt "$@"
    settle "$1" $?
}

if [[ -n $excluded ]]; then
    # Each test of a library runs once: under the sanitizers, or optimised if it would take long there. The sanitized
    # tests are built and run at low priority in a separate process group, and their output is printed last. So are the
    # tests with threads, under ThreadSanitizer, which finds data races.
    said=$(mktemp) ended=$(mktemp)
    set -m
    (
        built_by=(nice -n 15) tested_by=(nice -n 5) targets=(--target tests_sanitized)
        attempt sanitized -L '^sanitized$' "$@"
        echo "sanitized $?" >>"$ended"
        if (($# == 0)); then
            targets=(--target lab_crew_test lab_sweep_test core_agent_answers_test)
            attempt tsan -L '^threads$'
            echo "tsan $?" >>"$ended"
        fi
    ) >"$said" 2>&1 &
    meanwhile=$!
    set +m
    trap 'kill -- -"$meanwhile" 2>/dev/null; rm -f "$said" "$ended"' EXIT
    targets=(--target tests_optimised)
    run test -LE '^(slow|sanitized)$' "$@"
    wait "$meanwhile" || echo "sanitized $?" >>"$ended" # it was killed
    trap 'rm -f "$said" "$ended"' EXIT
    cat "$said"
    while read -r preset status; do
        settle "$preset" "$status"
    done <"$ended"
else
    run release "$@"
    mapfile -t elsewhere < <(printf '%s\n' -LE '^(repository|screen|mpi)$')
    run clang "${elsewhere[@]}" "$@"
    run asan "${elsewhere[@]}" "$@"
fi

echo
if ((passed + failed == 0)); then
    echo "No test ran: check the arguments for ctest"
fi
for fault in "${faults[@]}"; do
    echo "FAILED $fault"
done
summary="$passed passed, $failed failed"
((skipped > 0)) && summary+=", $skipped skipped"
echo "$summary"
((failed == 0 && passed > 0))
