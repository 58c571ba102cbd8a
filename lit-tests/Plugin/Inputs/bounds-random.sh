#!/usr/bin/env bash
# bounds-random.sh BIN PLUGIN FIRST LAST: runs the random program of each seed.  acme.bounds-check of the plugin must record an access if
# and only if -check-bounds of the interpreter reports one.  SPDX-License-Identifier: Apache-2.0
set -euo pipefail
for seed in $(seq "$3" "$4"); do
  "$1/vyre-fuzz" -print -seed="$seed" >random.vir
  "$1/vyre-passmgr" -load="$2" -passes='acme.bounds-check<binding=9>' -verify-each random.vir -o checked.vir
  is=0 recorded=0
  "$1/vyre-run" random.vir -check-bounds -groups=2 >output 2>&1 || {
    grep -q 'out of bounds' output
    is=1
  }
  if grep -q 'buffer %bounds' checked.vir; then
    "$1/vyre-run" checked.vir -groups=2 -buffer=bounds=zero -print=bounds >output
    grep -q '^bounds.*\[0\]: 0 ' output || recorded=1
  fi
  [ $is = $recorded ] || {
    echo "seed $seed: the interpreter reports $is, the buffer $recorded"
    exit 1
  }
done
