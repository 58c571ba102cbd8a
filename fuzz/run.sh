#!/usr/bin/env bash
# run.sh [--test] BUILD TARGET [RUNS] [libFuzzer options]: runs a fuzz target over a new corpus from the tests and the examples.
#   New inputs go to BUILD/fuzz/found/TARGET, which the next run reads; inputs that cause a failure go to BUILD/fuzz/crashes/.
#   --test: runs RUNS inputs with a fixed seed, with one VYRE_SHAREth of the corpus, and keeps nothing.  SPDX-License-Identifier: Apache-2.0
set -euo pipefail

fixed=
[ "${1:-}" = --test ] && fixed=1 && shift
[ $# -ge 2 ] || {
  echo "usage: run.sh [--test] BUILD TARGET [RUNS] [libFuzzer options]" >&2
  exit 2
}
build=$(cd "$1" && pwd)
target=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
"$here/make-corpus.sh" "$build"
corpus=$build/fuzz/corpus/$target
export ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1:detect_stack_use_after_return=0}
# As a test, only hangs count; fuzzing looks for slow inputs, too.
options=(-rss_limit_mb=4096 "-timeout=${VYRE_COMMAND_LIMIT:-20}" -max_len=65536 "-artifact_prefix=$build/fuzz/crashes/$target-")
[ -f "$here/$target.dict" ] && options+=("-dict=$here/$target.dict")
mkdir -p "$build/fuzz/crashes" "$build/fuzz/found/$target"
cd "$build/fuzz"

if [ "$fixed" ]; then
  scratch=$(mktemp -d "$build/fuzz/test-$target.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  mkdir "$scratch/found" "$scratch/corpus"
  find "$corpus" -type f | sort | awk -v share="${VYRE_SHARE:-1}" 'NR % share == 0' | xargs -r cp --backup=numbered -t "$scratch/corpus"
  "./fuzz-$target" "${options[@]}" -seed=1 -runs="$1" -verbosity=0 "$scratch/found" "$scratch/corpus"
else
  runs=-1
  [[ "${1:-}" =~ ^[0-9]+$ ]] && runs=$1 && shift
  "./fuzz-$target" "${options[@]}" -runs="$runs" "$@" "found/$target" "$corpus"
fi
