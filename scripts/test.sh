#!/usr/bin/env bash
# test.sh [--all]: installs what is missing, builds, and runs the tests under ctest; the last lines are ctest's summary.
#   Without --all: clang with the address and undefined behaviour sanitizers for the tests that read input or handle memory, gcc
#   release for all others, and of the random programs one of ten (cmake/vyre-tests.cmake).
#   --all: release runs every test, the sanitizers run all but five that compare values for many minutes, and the thread sanitizer runs
#   the tests that have threads.  This takes over an hour.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."

all=
case $* in
  '') ;;
  --all) all=-all ;;
  *)
    echo "usage: test.sh [--all]" >&2
    exit 2
    ;;
esac

scripts/install-packages.sh "$([ "$all" ] && echo all || echo tests)"
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
build() {
  echo "== build: $1"
  cmake --preset "$1" "-DVYRE_ALL_TESTS=$([ "$all" ] && echo ON || echo OFF)" >/dev/null
  cmake --build --preset "$1" >"$log" || {
    grep -v '^\[' "$log" >&2
    exit 1
  }
  tail -n 1 "$log"
}

build asan-ubsan
if [ "$all" ]; then build tsan; fi
build release
echo "== test: asan-ubsan"
ctest --preset "asan-ubsan$all"
if [ "$all" ]; then
  echo "== test: tsan"
  ctest --preset tsan
fi
echo "== test: release"
ctest --preset "release$all"
