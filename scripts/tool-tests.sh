#!/usr/bin/env bash
# tool-tests.sh spirv-opt|glslc|glslangValidator CHECKOUT [BUILD]: runs the command-line tests of a tool, with the tool and with vyre in its place.
# The tests are in CHECKOUT, your checkout of the tool's sources.  BUILD is the folder of a build of vyre (build).
# Prints a line for each test, and then the number of tests that passed.  Fails if vyre fails a test that the tool passes.
# CHECKOUT of spirv-opt: SPIRV-Tools, of which test/tools is used.
# CHECKOUT of glslc: shaderc, of which glslc/test is used.  Of glslangValidator: glslang, of which Test/runtests is used.
# Choose the version of the checkout that is installed.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

fail() {
  echo "error: $1" >&2
  echo "Fix: $2" >&2
  exit 2
}

[ $# -ge 2 ] || fail "no tool or no checkout" "scripts/tool-tests.sh spirv-opt|glslc|glslangValidator CHECKOUT [BUILD]"
tool=$1 checkout=$(realpath "$2") build=$(realpath "${3:-build}")
replacement=$build/lib/vyre/compat/$tool
original=$(command -v "$tool") || fail "$tool is not installed" "scripts/install-packages.sh tests"
[ -x "$replacement" ] || fail "there is no '$replacement'" "build vyre, or name the folder of its build"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Runs the tests with the program $1, and prints "TEST passed|failed" for each.
run_spirv_opt() {
  cp -r "$checkout/test/tools" "$work/tools"
  { (cd "$work/tools" && python3 spirv_test_framework.py "$1" "$(command -v spirv-as)" "$(command -v spirv-dis)" --test-dir opt) 2>&1 || true; } |
    tee -a "$work/log" | sed -nE 's,^[0-9]+/[0-9]+ +(\w+) +Passed *$,\1 passed,p; s,^[0-9]+/[0-9]+ +(\w+) +-Failed- *$,\1 failed,p' | sort
  rm -rf "$work/tools"
}

run_glslc() {
  cp -r "$checkout/glslc/test" "$work/tools"
  { (cd "$work/tools" && python3 glslc_test_framework.py "$1" "$(command -v spirv-dis)" --test-dir .) 2>&1 || true; } |
    tee -a "$work/log" | sed -nE 's,^[0-9]+/[0-9]+ +(\w+) +Passed *$,\1 passed,p; s,^[0-9]+/[0-9]+ +(\w+) +-Failed- *$,\1 failed,p' | number
  rm -rf "$work/tools"
}

# Each comparison of an output in the script is a test.
run_glslangValidator() {
  cp -r "$checkout/Test" "$work/tools"
  sed -E 's,^( *)diff -b (\S+) (\S+) \|\| HASERROR=1.*,\1if diff -b \2 \3 >/dev/null 2>\&1; then echo "::\2 passed"; else echo "::\2 failed"; fi,' \
    "$work/tools/runtests" >"$work/tools/counted"
  { (cd "$work/tools" && timeout 1200 bash counted results "$1" none) 2>&1 || true; } |
    tee -a "$work/log" | sed -nE 's,^::.*/(\S+) (passed|failed)$,\1 \2,p' | sort -u -k1,1
  rm -rf "$work/tools"
}

# Numbers tests of one name.
number() {
  awk '{ if (seen[$1]++) $1 = $1 "." seen[$1]; print }' | sort
}

case $tool in
  spirv-opt)
    [ -f "$checkout/test/tools/spirv_test_framework.py" ] || fail "'$checkout' is not a checkout of SPIRV-Tools" "name one"
    run=run_spirv_opt
    ;;
  glslc)
    [ -f "$checkout/glslc/test/glslc_test_framework.py" ] || fail "'$checkout' is not a checkout of shaderc" "name one"
    run=run_glslc
    ;;
  glslangValidator)
    [ -f "$checkout/Test/runtests" ] || fail "'$checkout' is not a checkout of glslang" "name one"
    run=run_glslangValidator
    ;;
  *) fail "there are no tests for $tool" "name spirv-opt, glslc or glslangValidator" ;;
esac

"$run" "$original" >"$work/original"
"$run" "$replacement" >"$work/replacement"
[ -s "$work/original" ] || fail "no test ran: $(tail -n 3 "$work/log")" "check that python3 runs the tests of the checkout"
join -a 1 -e missing -o 0,1.2,2.2 "$work/original" "$work/replacement" >"$work/both"
awk -v tool="$tool" 'BEGIN { printf "%-48s %-12s %s\n", "test", tool, "vyre" } { printf "%-48s %-12s %s\n", $1, $2, $3 }' "$work/both"
awk '$2 == "passed" { original++ } $3 == "passed" { vyre++ } $2 == "passed" && $3 != "passed" { lost++ }
  END { printf "%d tests, %d passed with the tool, %d with vyre\n", NR, original, vyre; exit lost > 0 }' "$work/both"
