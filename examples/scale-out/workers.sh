#!/bin/bash
# Workers of a queue on this machine: one for each processor, or COUNT (docs/scale-out.md).
#   workers.sh redis://redis.example/shaders [COUNT] [OPTION...]
# Starts a worker again if it crashes.  Ends when the queue has no jobs left, with the exit code of the first worker that failed.
# SPDX-License-Identifier: Apache-2.0
set -uo pipefail
queue=${1:?usage: workers.sh redis://HOST/NAME [COUNT] [OPTION...]}
count=$(nproc)
shift
if [[ ${1:-} =~ ^[1-9][0-9]*$ ]]; then
  count=$1
  shift
fi

# A code over 128 is a signal, such as that of a crash.  The worker's own codes are smaller.  TERM reaches this shell alone, which
# therefore sends it to its workers.
work() {
  local code=129 worker=
  trap 'kill "$worker" 2>/dev/null; wait "$worker"; exit 143' TERM
  while [ "$code" -gt 128 ]; do
    code=0
    "${VYRE:-vyre-passmgr}" -queue="$queue" "$@" &
    worker=$!
    wait "$worker" || code=$?
  done
  return "$code"
}

pids=()
trap 'kill "${pids[@]}" 2>/dev/null; wait; exit 143' TERM INT
for ((i = 0; i < count; i++)); do
  work "$@" &
  pids+=($!)
done
code=0
for pid in "${pids[@]}"; do
  wait "$pid" || code=$((code ? code : $?))
done
exit "$code"
