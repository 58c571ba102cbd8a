#!/usr/bin/env bash
# bounds-random.sh BIN PLUGIN FIRST LAST: acme.bounds-check of that plugin writes something down of the random programs of these seeds where the
# interpreter's own -check-bounds stops, and nothing else.  SPDX-License-Identifier: Apache-2.0
set -euo pipefail
for seed in $(seq "$3" "$4"); do
  "$1/vyre-fuzz" -print -seed="$seed" >random.vir
  "$1/vyre-passmgr" -load="$2" -passes='acme.bounds-check<binding=9>' -verify-each random.vir -o checked.vir
  is=0 told=0
  "$1/vyre-run" random.vir -check-bounds -groups=2 >said 2>&1 || {
    grep -q 'out of bounds' said
    is=1
  }
  if grep -q 'buffer %bounds' checked.vir; then
    "$1/vyre-run" checked.vir -groups=2 -buffer=bounds=zero -print=bounds >said
    grep -q '^bounds.*\[0\]: 0 ' said || told=1
  fi
  [ $is = $told ] || {
    echo "seed $seed: the interpreter says $is, the buffer $told"
    exit 1
  }
done
