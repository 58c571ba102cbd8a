#!/usr/bin/env bash
# run-example.sh BUILD NAME [WORK [TARGET]]: optimizes one example shader and checks the SPIR-V.  Then runs the original and the
# optimized shader on the interpreter and on Vulkan under the validation layer, and compares all results with those of plain C.
# Prints one line of a table:
#   name, rows before, rows after, SPIR-V words before, after, verdicts
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

command -v spirv-val >/dev/null || {
  echo "run-example.sh: spirv-val is missing" >&2
  echo "Fix: install the package spirv-tools (scripts/install-packages.sh installs all)" >&2
  exit 1
}
build=$1
name=$2
here=$(cd "$(dirname "$0")" && pwd)
shader=$here/shaders/$name.comp
passes='default<O2>'
work=${3:-$build/examples}/$name
target=${4:-vulkan}
checks=-validate
[ -n "${VYRE_NO_VALIDATION:-}" ] && checks='' # there are none, says who runs it
rm -rf "$work"
mkdir -p "$work"

"$build/bin/example-expected" "$name" prepare "$work"
mapfile -t arguments <"$work/args"

"$build/bin/vyre-passmgr" -passes=no-op "$shader" -emit=vir -o "$work/before.vir"
"$build/bin/vyre-passmgr" -passes="$passes" "$shader" -emit=vir -o "$work/after.vir"
"$build/bin/vyre-passmgr" -passes="$passes" -verify-each "$shader" -o "$work/after.spv"
spirv-val --target-env vulkan1.2 "$work/after.spv"
"$build/bin/vyre-passmgr" -passes="$passes" "$shader" -o "$work/after.glsl"

run() { # FILE OPTIONS...
  "$build/bin/vyre-run" "$@" "${arguments[@]}" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    return 1
  }
  "$build/bin/example-expected" "$name" check "$work"
  rm -f "$work"/*.out
}
run "$shader" -target=interpreter
run "$work/after.spv" -target=interpreter
run "$work/after.vir" -target=interpreter
run "$work/after.glsl" -target=interpreter
run "$shader" -target="$target" $checks
run "$work/after.spv" -target="$target" $checks

# Compares the optimized shader with the original, bit for bit, in one command.
plain=()
for argument in "${arguments[@]}"; do
  case $argument in -write=*) ;; *) plain+=("$argument") ;; esac
done
for where in cpu "$target"; do
  "$build/bin/vyre-run" "$shader" -compare "$work/after.spv" -target=$where "${plain[@]}" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
  }
done

rows() { grep -c '^ *[^ ;}]' "$1"; }
printf '%-12s %6d %6d   valid   interpreter ok   %s ok   same bits\n' "$name" "$(rows "$work/before.vir")" "$(rows "$work/after.vir")" "$target"
