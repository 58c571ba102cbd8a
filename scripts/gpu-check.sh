#!/usr/bin/env bash
# gpu-check.sh: tests vyre on this machine's devices, in a bundle that scripts/gpu-bundle.sh made, and ends with a short table.
# SPDX-License-Identifier: Apache-2.0
set -u
here=$(cd "$(dirname "$0")" && pwd)

usage() {
  cat <<'TEXT'
usage: gpu-check.sh [-targets=NAME,...] [-parts=NAME,...] [-cuda=sim] [-limit=SECONDS] [-out=DIR] [-quick]

  -targets=NAME,...  what to test: vulkan, cuda; default: those of them that this vyre has, each of which must have a device
  -parts=NAME,...    units, examples, fuzz, lit, compare, sanitizer, plain, bench; default: all.  Each fits into minutes; `plain` is lit
                     as it is, compare holds the CPU target, the CUDA device and its simulator against each other
  -cuda=sim          the simulator is the CUDA driver, for a machine without one: it tests this script and vyre, and no device
  -limit=SECONDS     ends a test that has not ended by then, as one that hangs; default: 400, and an hour on few cores
  -out=DIR           what is written goes there; default: gpu-check in the current folder.  DIR/report.txt is the report,
                     DIR/results/ what was measured: a file of a date, target and device, for bench/results/
  -quick             a few of the tests and no benchmark, to see that it works

Of the machine it needs the driver, glibc 2.36, bash and coreutils; it uses what it has of other libraries.
Exit codes: 0 all passed, 1 something failed, 2 usage.
TEXT
}

targets='' out=$PWD/gpu-check quick='' parts='' cuda=device limit=''
for argument in "$@"; do
  case $argument in
    -targets=?*) targets=${argument#-targets=} ;;
    -out=?*) out=${argument#-out=} ;;
    -parts=?*) parts=,${argument#-parts=}, ;;
    -cuda=sim) cuda=sim ;;
    -limit=[1-9]*) limit=${argument#-limit=} ;;
    -quick) quick=1 ;;
    -help | --help | -h)
      usage
      exit 0
      ;;
    *)
      echo "gpu-check.sh: unknown option '$argument'" >&2
      usage >&2
      exit 2
      ;;
  esac
done
for part in ${parts//,/ }; do
  case $part in units | examples | fuzz | lit | compare | sanitizer | plain | bench) ;; *)
    echo "gpu-check.sh: there is no part '$part'" >&2
    usage >&2
    exit 2
    ;;
  esac
done
has_part() { [ -z "$parts" ] || [[ $parts == *,$1,* ]]; }
if [ ! -x "$here/bin/vyre-run" ]; then
  echo "gpu-check.sh: '$here' is no bundle" >&2
  echo "Fix: scripts/gpu-bundle.sh makes one, and this script runs in it" >&2
  exit 2
fi
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 2
if [ ! -e "$out/.gpu-check" ] && [ -n "$(ls -A "$out")" ]; then
  echo "gpu-check.sh: '$out' has other files, and the check replaces what is in its folder" >&2
  echo "Fix: -out=DIR names a new one" >&2
  exit 2
fi
touch "$out/.gpu-check"
rm -rf "${out:?}"/{logs,libraries,lit,examples,compare,fuzz,results}
mkdir -p "$out"/{logs,libraries,cache,home,fuzz}
started=$SECONDS
cores=$(nproc)
checks=-validate
# Seconds: no test waits for the clock, this only ends what hangs.
[ -n "$limit" ] || limit=$([ "$cores" -ge 8 ] && echo 400 || echo 3600)
count_failed=0

# ---- what the machine lacks ----------------------------------------------------------------------------------------------
# Of each library that was carried along the machine's own is used if it has one: its driver may need just that.
for file in "$here"/libraries/*; do
  if LD_PRELOAD=${file##*/} "$here/bin/example-expected" list 2>&1 | grep -q 'cannot be preloaded'; then
    ln -s "$file" "$out/libraries"
  fi
done
if [ "$cuda" = sim ]; then # under the driver's name, so that whoever opens that has it
  ln -s "$here/lib/libvyre-cuda-sim.so" "$out/libraries/libcuda.so.1"
  LD_LIBRARY_PATH=$out/libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$out/libraries
export PATH=$here/tools:$here/tools/bin:${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}
export HOME=$out/home XDG_CACHE_HOME=$out/cache MESA_SHADER_CACHE_DIR=$out/cache __GL_SHADER_DISK_CACHE_PATH=$out/cache
export VYRE_OUT=$out PYTHONDONTWRITEBYTECODE=1 VYRE_TEST_ON_DEVICE=1
cd "$out" || exit 2

# ---- groups --------------------------------------------------------------------------------------------------------------
rows=() # of the table
# row GROUP RUN PASSED FAILED SECONDS
row() {
  rows+=("$(printf '%-24s %6s %6s %6s %6s' "$@")")
  count_failed=$((count_failed + $4))
}

number() { grep -oE "$1" "$2" | grep -oE '[0-9]+' | head -n 1; }
# tally LOG CODE: "RUN PASSED FAILED" of a program's output: cmocka's, the conformance suite's, lit's, vyre-fuzz's, gpu-compare.sh's, or
# else one test.
tally() {
  local run passed failed
  if grep -q '^Testing Time' "$1"; then
    passed=$(number '^ *Passed *: [0-9]+' "$1")
    failed=0
    for word in Failed Unresolved 'Timed Out'; do
      run=$(number "^ *$word *: [0-9]+" "$1")
      failed=$((failed + ${run:-0}))
    done
    run=$((${passed:-0} + failed))
  elif grep -q ' programs failed$' "$1"; then
    failed=$(number '[0-9]+ of [0-9]+ programs failed' "$1")
    run=$(grep -oE 'of [0-9]+ programs failed' "$1" | grep -oE '[0-9]+')
  elif grep -q ' comparisons differ; ' "$1"; then
    failed=$(number '^[0-9]+ of [0-9]+ comparisons differ' "$1")
    run=$(grep -oE 'of [0-9]+ comparisons' "$1" | grep -oE '[0-9]+')
  elif grep -qE '^(SPIRV|PTX|C|VIR|none) [a-z_]+: ' "$1"; then
    run=$(grep -cE '^(SPIRV|PTX|C|VIR|none) [a-z_]+: (ok|FAILS|PASSES|fails)' "$1")
    failed=$(grep -cE '^(SPIRV|PTX|C|VIR|none) [a-z_]+: (FAILS|PASSES)' "$1")
  elif grep -q '^\[ RUN ' "$1"; then
    passed=$(grep -c '^\[       OK ' "$1")
    failed=$(grep -oE '^\[  FAILED  \] [a-z_]+' "$1" | sort -u | grep -c .)
    run=$((passed + failed))
  else
    run=1 failed=$(($2 != 0))
  fi
  [ "$2" -ne 0 ] && [ "$failed" -eq 0 ] && run=$((run + 1)) failed=1 # it crashed, say
  echo "$run $((run - failed)) $failed"
}

# one NAME COMMAND...: runs it, what it says in logs/NAME.log, what came of it in logs/NAME.tally, and of failures in logs/NAME.failed
one() {
  local name=$1 code
  shift
  timeout -k 10 "$limit" "$@" >"logs/$name.log" 2>&1 </dev/null &
  echo $! >"logs/$name.pid"
  wait $!
  code=$?
  rm "logs/$name.pid"
  tally "logs/$name.log" "$code" >"logs/$name.tally"
  if [ "$code" -ne 0 ]; then
    { echo "== $name: exit code $code"; [ "$code" -eq 124 ] && echo "== it did not end in $limit seconds"; cat "logs/$name.log"; } >"logs/$name.failed"
  fi
}

# Ends all tests when the script is stopped, so that the device is free.
stop() {
  kill $(cat logs/*.pid 2>/dev/null) 2>/dev/null
  exit 143
}
trap stop TERM INT HUP

running=0
# in_parallel NAME COMMAND...: one of those that run at once: one a core, but few, for a device has one at a time
in_parallel() {
  if [ "$running" -ge $((cores < 8 ? cores : 8)) ]; then
    wait -n
    running=$((running - 1))
  fi
  one "$@" &
  running=$((running + 1))
}

# sum GROUP PREFIX SINCE: the row of the jobs whose names begin so and that are in no other row yet, all of which have ended
sum() {
  local run=0 passed=0 failed=0 a b c file
  wait
  running=0
  for file in logs/"$2"*.tally; do
    read -r a b c <"$file" && run=$((run + a)) passed=$((passed + b)) failed=$((failed + c))
    rm -f "$file"
  done
  row "$1" "$run" "$passed" "$failed" $((SECONDS - $3))
}

test_units() { # TARGET
  local since=$SECONDS name part names=()
  if [ -n "$quick" ] && [ "$1" = cuda ]; then
    names=(unit-conformance-cuda)
  elif [ -n "$quick" ]; then
    names=("unit-$1-target" "unit-$1-images" "unit-kernel-choose")
  else
    # The longest first.
    names=("unit-conformance-$1")
    [ "$1" = cuda ] && names+=(unit-kernel-device-cuda unit-kernel-rounds-cuda unit-kernel-shapes-cuda)
    [ "$1" = vulkan ] && names+=(unit-kernel-device unit-kernel-rounds unit-kernel-shapes unit-kernel-choose)
    [ "$1" = vulkan ] && names+=($(cd "$here/unittests" && ls | grep -E '^unit-(spirv|glsl)-'))
    names+=($(cd "$here/unittests" && ls | grep "^unit-$1-"))
    [ "$1" = cuda ] && names+=(unit-ptx-texts)
  fi
  for name in "${names[@]}"; do
    [ -x "$here/unittests/$name" ] && in_parallel "$1-unit-${name#unit-}" "$here/unittests/$name"
  done
  # Programs as PTX: of one op each, and random ones, which are compiled by the thousand.
  if [ -z "$quick" ] && [ "$1" = cuda ]; then
    for ((part = 0; part < 8; part++)); do
      in_parallel "cuda-unit-ptx-ops-$part" env VYRE_PARTS=8 VYRE_PART=$part "$here/unittests/unit-ptx-ops"
      in_parallel "cuda-unit-ptx-$part" env VYRE_SEED=$((1 + 200 * part)) VYRE_RUNS=200 "$here/unittests/unit-ptx"
    done
  fi
  wait
  running=0
  # A live kernel spins, and takes the device from all that runs beside it.
  [ -n "$quick" ] || for name in kernel dispatch host live live-io recover recover-live stress; do
    one "$1-unit-mega-$name" "$here/unittests/unit-mega-$name-$1"
  done
  sum "$1: unit tests" "$1-unit-" "$since"
}

test_examples() { # TARGET
  local since=$SECONDS name names
  names=$("$here/bin/example-expected" list)
  [ -n "$quick" ] && names='saxpy scan'
  for name in $names; do
    in_parallel "$1-example-$name" bash "$here/examples/run-example.sh" "$here" "$name" "$out/examples" "$1"
  done
  sum "$1: example shaders" "$1-example-" "$since"
}

test_fuzz() { # TARGET: random programs, different ones in each process
  local since=$SECONDS count=250 jobs=20 part
  [ "$1" = vulkan ] && count=50 # whose driver compiles for long
  [ "$1$cuda" = cudasim ] && count=10
  [ -n "$quick" ] && count=10 jobs=2
  for ((part = 0; part < jobs; part++)); do
    in_parallel "$1-fuzz-$part" "$here/bin/vyre-fuzz" -target="$1" $checks -quiet -seed=$((1 + part * count)) \
      -count=$count -out="$out/fuzz"
  done
  sum "$1: random programs" "$1-fuzz-" "$since"
}

lit() { # GROUP NAME OPTIONS...
  local since=$SECONDS group=$1 name=$2
  shift 2
  one "$name" python3 "$here/tools/lib/lit.py" -j "$cores" -sv "$@"
  sum "$group" "$name" "$since"
}

test_lit() { # TARGET: each test that means something there, with passes there
  local folders=("$here"/lit-tests/{Behaviours,Export,Manager,Passes,Pipeline,Plugin})
  [ -n "$quick" ] && folders=("$here/lit-tests/Passes/Canon")
  lit "$1: lit, passes there" "$1-lit" --param "target=$1" "${folders[@]}"
}

# The CPU target, the device and the simulator give the same bytes: gpu-compare.sh.
test_compare() {
  local since=$SECONDS names count=100 jobs=10 part files
  names=$("$here/bin/example-expected" list)
  mapfile -t files < <(find "$here/lit-tests" \( -name '*.vir' -o -name '*.comp' \) | sort)
  [ "$cuda" = sim ] && count=20
  [ -n "$quick" ] && names='saxpy scan' count=5 jobs=2 files=("${files[@]:0:20}")
  for name in $names; do
    in_parallel "cuda-compare-example-$name" "$here/gpu-compare.sh" "$out/compare/example-$name" example "$name"
  done
  sum 'cuda as CPU: examples' cuda-compare-example- "$since"
  since=$SECONDS
  for ((part = 0; part < ${#files[@]}; part += 20)); do
    in_parallel "cuda-compare-lit-$part" "$here/gpu-compare.sh" "$out/compare/lit-$part" passes "${files[@]:part:20}"
  done
  sum 'cuda as CPU: lit inputs' cuda-compare-lit- "$since"
  since=$SECONDS
  for ((part = 0; part < jobs; part++)); do
    in_parallel "cuda-compare-random-$part" "$here/gpu-compare.sh" "$out/compare/random-$part" random $((1 + part * count)) $count
  done
  sum 'cuda as CPU: random' cuda-compare-random- "$since"
}

# Runs each tool of compute-sanitizer over the kernels of passes.  The table reports a machine without it.
test_sanitizer() {
  local since=$SECONDS tool program
  program=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
  if [ -z "$program" ] || [ "$cuda" = sim ]; then
    rows+=("cuda: compute-sanitizer is missing: memcheck, racecheck and synccheck were not run")
    [ "$cuda" = sim ] && rows[-1]="cuda: compute-sanitizer is for devices: memcheck, racecheck and synccheck were not run"
    return
  fi
  for tool in memcheck racecheck synccheck; do
    in_parallel "cuda-sanitizer-$tool" "$program" --tool "$tool" --error-exitcode 1 "$here/bin/vyre-passmgr" -target=cuda -cache-dir=none \
      -passes='canon,cf,shash,cid,pm,dce' "$here/examples/shaders/sha256.comp" -o /dev/null
  done
  sum "cuda: compute-sanitizer" cuda-sanitizer- "$since"
}

bench() { # TARGET
  local since=$SECONDS most=1000000 extra=''
  [ -n "$quick" ] && return
  [ "$1$cuda" = cudasim ] && most=1000 extra='-rounds=1 -bytes=65536'
  one "bench-mega-$1" "$here/bin/bench-mega" -target="$1" $([ "$1$cuda" = cudasim ] && echo -rounds=3)
  one "bench-device-$1" "$here/bin/bench-device" -target="$1" -max=$most $extra
  if [ "$1$cuda" != cudasim ]; then
    one "bench-run-$1" python3 "$here/bench/bench-run" --bin "$here/bin" --target "$1" --rounds 5 "$here"/examples/shaders/*.comp
    grep -q ' measured, 0 not: ' "logs/bench-run-$1.log" && rm -f "logs/bench-run-$1.failed" && echo '1 1 0' >"logs/bench-run-$1.tally" # it measured
  fi
  [ "$1" = vulkan ] && one bench-sequences "$here/bin/bench-sequences" -rounds=5 -max=100000
  [ "$1$cuda" = cudasim ] ||
    one "bench-batch-$1" "$here/bin/bench-batch" -target="$1" -rounds=3 -rows=1048576 -passes='default<O2>' "$here"/examples/shaders/*.comp
  sum "$1: benchmarks" bench- "$since"
}

# A line of each benchmark; the report has all of them.
ratios() {
  for target in vulkan cuda; do
    [ -f "logs/bench-run-$target.log" ] && awk -v target="$target" '$6 + 0 > 0 && NF >= 6 && $4 + 0 > 0 { s += log($5); n++ }
      END { if (n) printf "bench-run: time of shaders on %s after default<O2> / before: %.3f (geometric mean of %d)\n", target, exp(s / n), n }' "logs/bench-run-$target.log"
  done
  [ -f logs/bench-sequences.log ] && awk -F'|' '$4 ~ /plain C/ && $4 !~ /A\/A/ { plain[$2 $3] = $6 }
    $4 ~ /Vulkan, fused/ && plain[$2 $3] > 0 { gsub(/ /, "", $2); gsub(/ /, "", $3); printf "bench-sequences: %s, %s rows: fused on the device / plain C: %.2f (%.0f us)\n", $2, $3, $6 / last, $6 }
    { if ($4 ~ /plain C/ && $4 !~ /A\/A/) last = $6 }' logs/bench-sequences.log
  cat logs/bench-batch-*.log 2>/dev/null | sed -n 's/^| \(.*\) | .* | \([0-9.]*\) |$/bench-batch: \1 \/ one by one: \2/p'
  for name in logs/bench-device-*.log; do
    [ -f "$name" ] && sed -n '1,/^$/p; /^1,000 rows of /p' "$name"
  done
}

# ---- all of it -----------------------------------------------------------------------------------------------------------
has_target() { "$here/bin/vyre-run" -help | sed -n '/^Names of targets:/,$p' | grep -q "^  $1 "; }

if [ -z "$targets" ]; then
  for name in vulkan cuda; do
    has_target "$name" && targets=${targets:+$targets,}$name
  done
fi
devices=''
for target in ${targets//,/ }; do
  if ! has_target "$target"; then
    devices+="$target: this vyre does not have it"$'\n'
    row "$target: device" 1 0 1 0
    continue
  fi
  listed=$("$here/bin/vyre-run" -list-devices -target="$target" 2>&1)
  if [ $? -ne 0 ] && [ -z "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ]; then # containers have drivers in folders of their own
    VK_DRIVER_FILES=$(ls -d /usr/local/*/share/vulkan/icd.d/*.json 2>/dev/null | paste -sd:)
    [ -n "$VK_DRIVER_FILES" ] && export VK_DRIVER_FILES
    listed=$("$here/bin/vyre-run" -list-devices -target="$target" 2>&1)
  fi
  if ! printf '%s\n' "$listed" | grep -q "^$target 0: "; then
    devices+="$listed"$'\n'
    row "$target: device" 1 0 1 0
    continue
  fi
  devices+=$(printf '%s\n' "$listed" | grep -E "^$target [0-9]+: |^ *driver: ")$'\n'
  if [ "$target" = vulkan ] && ! "$here/bin/vyre-run" "$here/examples/shaders/saxpy.comp" -target=vulkan -validate >logs/validation.txt 2>&1 &&
    grep -q LAYER_NOT_PRESENT logs/validation.txt; then
    export VYRE_NO_VALIDATION=1
    checks=''
    devices+='without the validation layer, which is not there'$'\n'
  fi
  # The kernels of passes are compiled once, which takes a driver seconds, and are on the disk when many processes ask for them.
  "$here/bin/vyre-passmgr" -target="$target" -passes='canon,cf,shash,cid,pm,simplify,dce' "$here/examples/shaders/sha256.comp" \
    -o /dev/null >"logs/$target-warm.txt" 2>&1
  has_part units && test_units "$target"
  has_part examples && test_examples "$target"
  has_part fuzz && test_fuzz "$target"
  has_part lit && test_lit "$target"
  [ "$target" = cuda ] && has_part compare && test_compare
  [ "$target" = cuda ] && has_part sanitizer && test_sanitizer
done
# All tests as they are: those that name a target among them.
folders=("$here/lit-tests")
[ -n "$quick" ] && folders=("$here/lit-tests/Run")
has_part plain && lit 'lit, as it is' lit-plain "${folders[@]}"
for target in ${targets//,/ }; do
  has_part bench && has_target "$target" && bench "$target"
done

{
  date -u '+%Y-%m-%d %H:%M UTC'
  cat "$here/version"
  printf '%s' "$devices"
  echo "$(uname -sr), glibc $(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2), $cores cores; carried libraries that are used: $(ls libraries | tr '\n' ' ')"
  echo
  printf '%-24s %6s %6s %6s %6s\n' '' run passed failed s
  printf '%s\n' "${rows[@]}"
  echo
  ratios
  [ "$count_failed" -eq 0 ] && echo "all passed in $((SECONDS - started)) s" || echo "$count_failed FAILED; $((SECONDS - started)) s"
} >table.txt
{
  cat table.txt
  for name in bench-device-{vulkan,cuda} bench-run-{vulkan,cuda} bench-sequences bench-batch-{vulkan,cuda} bench-mega-{vulkan,cuda}; do
    [ -f "logs/$name.log" ] && echo && echo "== $name" && cat "logs/$name.log"
  done
  for file in logs/*.failed; do
    [ -f "$file" ] && echo && cat "$file"
  done
} >report.txt
# Writes the measurements of each target to a file for bench/results/: DATE-TARGET-DEVICE.txt.
mkdir -p results
for target in ${targets//,/ }; do
  [ -f "logs/bench-device-$target.log" ] || continue
  device=$(sed -n 's/^device: \([^,;]*\).*/\1/p' "logs/bench-device-$target.log" | tr -cs '[:alnum:]\n' '-' | tr '[:upper:]' '[:lower:]')
  {
    date -u '+%Y-%m-%d %H:%M UTC'
    cat "$here/version"
    for name in "bench-device-$target" "bench-batch-$target" "bench-mega-$target" "bench-run-$target" $([ "$target" = vulkan ] && echo bench-sequences); do
      [ -f "logs/$name.log" ] && echo && echo "== $name" && cat "logs/$name.log"
    done
  } >"results/$(date -u +%Y-%m-%d)-$target-${device%-}.txt"
done
cat table.txt
for file in logs/*.failed; do # their names; the rest is in the report
  [ -f "$file" ] && { head -n 1 "$file"; grep -hE '^\[  FAILED  \] [a-z]|: FAILS$|^FAIL: |^ *vyre::? .*\(.*\)$' "$file" | sort -u | head -n 20; }
done | cut -c1-200 | head -n 60
echo "report: $out/report.txt"
[ "$count_failed" -eq 0 ]
