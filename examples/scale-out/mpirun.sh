#!/bin/bash
# Workers of a queue by mpirun, which only starts them (docs/scale-out.md):
#   mpirun -n 64 mpirun.sh redis://redis.example/shaders
# With GPUs, one for each process of a node: mpirun -n 8 mpirun.sh redis://redis.example/shaders -target=cuda -batch
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
queue=${1:?usage: mpirun -n COUNT mpirun.sh redis://HOST/NAME [OPTION...]}
shift
device=()
for option in "$@"; do
  case $option in
    -target=cuda | -target=vulkan) device=(-device="${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-0}}") ;;
  esac
done
exec "$(dirname "$0")/workers.sh" "$queue" 1 "${device[@]}" "$@" # because mpirun ends all processes if one crashes
