#!/usr/bin/env bash
# gpu-compare.sh OUT passes FILE...      compares the output of passes for these programs
# gpu-compare.sh OUT example NAME...     compares the buffers that example shaders write
# gpu-compare.sh OUT random SEED COUNT   compares both for random programs
#
# Part of the bundle of scripts/gpu-bundle.sh.  Runs on the CPU target, on the first CUDA device and on the simulator, and compares the
# bytes and exit codes of all three.  Prints a line for each difference, whose files stay in OUT, and a summary.
# Exit codes: 0 no difference, 1 a difference, 2 usage.
# SPDX-License-Identifier: Apache-2.0
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-} kind=${2:-}
[ "$#" -ge 3 ] && shift 2
case $kind in passes | example | random) ;; *)
  sed -n 's/^# \(gpu-compare.sh .*\)/usage: \1/p' "$0" >&2
  exit 2
  ;;
esac
mkdir -p "$out" && cd "$out" || exit 2
declare -A where=([cpu]='-target=cpu' [device]='-target=cuda -device=0' [sim]='-target=cuda -device=sim')
compared=0 refused=0 differ=0

# three NAME COMMAND...: runs it in three places; what it prints, and the file `written` if it makes one, must be the same.
three() {
  local name=$1 place code
  shift
  for place in cpu device sim; do
    rm -f written
    # shellcheck disable=SC2086 # options are words
    "$@" ${where[$place]} >"$name.$place" 2>"$name.$place.err"
    code=$?
    [ "$code" -ne 0 ] && echo "exit code $code" >"$name.$place" # messages name the place
    [ -f written ] && cat written >>"$name.$place"
  done
  compared=$((compared + 1))
  grep -q '^exit code' "$name.cpu" && refused=$((refused + 1))
  for place in device sim; do
    cmp -s "$name.cpu" "$name.$place" && continue
    differ=$((differ + 1))
    echo "$name: $place is not as cpu: $(grep -h '^exit code' "$name.cpu" "$name.$place" | paste -sd,) $(grep -h . "$name.$place.err" | head -n 1)"
    return
  done
  rm -f "$name".{cpu,device,sim}{,.err}
}

passes() { three "$1" "$here/bin/vyre-passmgr" -passes='canon,cf,shash,cid,pm,dce' "$2" -emit=vir -o written; }

# Prints a random program that can be compared.  Arrays of buffers get a length, because PTX needs one.  Functions of libm, whose last
# bits differ between CPU and GPU, are replaced by exact operations.
random() {
  "$here/bin/vyre-fuzz" -seed="$1" -strict -print | sed -E 's/: @Words\[\] storage/: @Words[4] storage/
    s/= (sin|cos|tan|asin|acos|atan|sinh|cosh|tanh|asinh|acosh|atanh|exp|exp2|log|log2)( exact)? /= fabs\2 /
    s/= (atan2|pow)( exact)? /= step\2 /'
}

case $kind in
  passes)
    for file in "$@"; do
      passes "$(basename "$(dirname "$file")")-$(basename "$file")" "$file"
    done
    ;;
  example)
    for name in "$@"; do
      mkdir -p "$name" && "$here/bin/example-expected" "$name" prepare "$name" || exit 1
      arguments=()
      while read -r argument; do [[ $argument == -write=* ]] || arguments+=("$argument"); done <"$name/args"
      three "$name-run" "$here/bin/vyre-run" "$here/examples/shaders/$name.comp" "${arguments[@]}"
      passes "$name-passes" "$here/examples/shaders/$name.comp"
    done
    ;;
  random)
    for ((seed = $1; seed < $1 + $2; seed++)); do
      random "$seed" >"$seed.vir"
      three "$seed-run" "$here/bin/vyre-run" "$seed.vir"
      passes "$seed-passes" "$seed.vir"
      [ -f "$seed-run.cpu" ] || [ -f "$seed-passes.cpu" ] || rm "$seed.vir"
    done
    ;;
esac
# Nothing was compared where everything is refused.
[ "$refused" -lt "$compared" ] || differ=$compared
echo "$differ of $compared comparisons differ; $refused are of what the CPU target refuses, too"
[ "$differ" -eq 0 ]
