#!/usr/bin/env bash
# Installs what is missing, builds everything and runs all tests: clang with the address and undefined behaviour sanitizers, the tests
# that have threads with the thread sanitizer, gcc release.  Tests that compare values of thousands of programs and take minutes under
# sanitizers run in release alone (CMakePresets.json).  The last lines are ctest's summary.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-packages.sh tests
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
build() {
  echo "== build: $1"
  cmake --preset "$1" >/dev/null
  cmake --build --preset "$1" >"$log" || {
    grep -v '^\[' "$log" >&2
    exit 1
  }
  tail -n 1 "$log"
}

build asan-ubsan
build tsan
build release
echo "== test: asan-ubsan"
ctest --preset asan-ubsan
echo "== test: tsan"
ctest --preset tsan
echo "== test: release"
ctest --preset release
