#!/usr/bin/env bash
# mutate.sh [--file PATTERN] [--jobs N] [--list]: shows that the tests notice what they should.  Each entry of scripts/mutants/*.txt
#   is one line of code that is made wrong, and the test that must then fail:
#
#     ir/seal.c: unit-ir-seal
#     - the line, or a piece of it, that stands once in the file
#     + what it becomes
#
#   The test is a unit test program, or lit:PATH under lit-tests.  All is done in copies of the tree (as git sees it, uncommitted changes too)
#   in a temporary folder.  --file: only files whose path contains PATTERN; --jobs: so many copies at once; --list: the entries alone.
#   Prints a line for each, then the rate; ends with 1 if a mutant survives or an entry is wrong, 2 for wrong options.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

pattern= jobs=1 list=
usage() {
  echo "usage: mutate.sh [--file PATTERN] [--jobs N] [--list]" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
  --file) [ $# -ge 2 ] || usage; pattern=$2; shift 2 ;;
  --jobs) [ $# -ge 2 ] && [[ $2 =~ ^[1-9][0-9]*$ ]] || usage; jobs=$2; shift 2 ;;
  --list) list=1; shift ;;
  *) usage ;;
  esac
done

# One entry a line, its fields split by \x1f: file, test, old, new.
entries() {
  awk -v pattern="$pattern" -v OFS='\x1f' '
    /^#/ || /^[ \t]*$/ { next }
    /^- / { old = substr($0, 3); next }
    /^\+( |$)/ { if (index(file, pattern)) print file, test, old, substr($0, 3); next }
    match($0, /^[^ :]+\.[ch]: /) { file = substr($0, 1, RLENGTH - 2); test = substr($0, RLENGTH + 1); next }
    { print "error: " FILENAME ":" FNR ": not an entry: " $0 > "/dev/stderr"; exit 1 }' "$root"/scripts/mutants/*.txt
}
work=$(mktemp -d "${TMPDIR:-/tmp}/vyre-mutate-XXXXXX")
trap 'rm -rf "$work"' EXIT
entries >"$work/entries"
[ -s "$work/entries" ] || {
  echo "error: no entry for '$pattern'" >&2
  exit 2
}
if [ "$list" ]; then
  awk -F '\x1f' '{ print $1 ": " $2 "\n- " $3 "\n+ " $4 }' "$work/entries"
  exit 0
fi

# Replaces the text, which must stand there once.  In the copy alone: the path is the copy's.
apply() { # FILE OLD NEW
  FILE=$1 OLD=$2 NEW=$3 python3 -c '
import os, sys
path, old, new = (os.environ[k] for k in ("FILE", "OLD", "NEW"))
text = open(path).read()
if text.count(old) != 1 or old == new:
    sys.exit("the text stands there %d times" % text.count(old))
open(path, "w").write(text.replace(old, new))'
}

# A mutant may loop or take all the memory: both count as noticed.
run_test() { # TEST, in the copy
  (
    ulimit -d 8000000 -c 0
    case $1 in
    lit:*) timeout -k 5 120 python3 "$(sed -n 's/^VYRE_LIT:[A-Z]*=//p' b/CMakeCache.txt)" -q "b/lit-tests/${1#lit:}" ;;
    *) cd b/unittests && timeout -k 5 40 "./$1" ;;
    esac
  ) </dev/null >"$2" 2>&1
}

build() { # TEST LOG
  local targets=("$1")
  case $1 in
  lit:*) targets=(all) ;;
  unit-passes-*) targets+=(passes/all) ;;
  esac
  ninja -C b "${targets[@]}" >"$2" 2>&1
}

worker() { # K: every jobs-th entry, from the k-th on
  local k=$1 tree=$work/tree-$1 file test old new number=0
  mkdir "$tree"
  git -C "$root" ls-files -z --cached --others --exclude-standard | tar -C "$root" --null --ignore-failed-read -cf - -T - | tar -C "$tree" -xf -
  cd "$tree"
  cmake -S . -B b -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DVYRE_WERROR=OFF >"$tree.log" 2>&1 || {
    cat "$tree.log" >&2
    exit 1
  }
  while IFS=$'\x1f' read -r file test old new; do
    number=$((number + 1))
    [ $((number % jobs)) = $((k % jobs)) ] || continue
    local where="$file: $test: $old"
    if [ ! -e "$tree.$test.ok" ] && [ ! -d "$(dirname "$tree.$test.ok")" ]; then mkdir -p "$(dirname "$tree.$test.ok")"; fi
    if [ ! -e "$tree.$test.ok" ]; then # the test passes without it
      if ! build "$test" "$tree.log" || ! run_test "$test" "$tree.log"; then
        echo "WRONG     $where: the test fails without the mutant: $(tail -n 1 "$tree.log")"
        continue
      fi
      touch "$tree.$test.ok"
    fi
    cp "$file" "$work/original-$k"
    if ! apply "$file" "$old" "$new" 2>"$tree.log"; then
      echo "WRONG     $where: $(tail -n 1 "$tree.log")"
    elif ! build "$test" "$tree.log"; then
      echo "WRONG     $where: does not compile"
    elif run_test "$test" "$tree.log"; then
      echo "SURVIVED  $where -> $new"
    else
      echo "killed    $where"
    fi
    cp "$work/original-$k" "$file"
  done <"$work/entries"
}

for k in $(seq "$jobs"); do
  worker "$k" | tee "$work/result-$k" &
done
wait
killed=$(cat "$work"/result-* | grep -c '^killed' || true)
count=$(wc -l <"$work/entries")
echo "$killed of $count mutants killed ($((killed * 100 / count)) %)"
[ "$killed" = "$count" ]
