#!/usr/bin/env bash
# Installs missing packages, builds, and optimizes the example shaders.  Compares their results before and after on the interpreter and
# on Vulkan.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-packages.sh
# Shows the progress of the build on a terminal.
show() {
  if [ -t 1 ]; then
    awk '/^\[[0-9]+\/[0-9]+\]/ { printf "\rbuilding in build/ %s", $1; fflush() } END { print "" }'
  else
    echo "building in build/"
    cat >/dev/null
  fi
}
mkdir -p build
{ cmake --preset release -DVYRE_TESTS=OFF && cmake --build build; } 2>&1 | tee build/demo.log | show || {
  cat build/demo.log >&2
  exit 1
}

printf '\n%-12s %6s %6s   %-7s %-16s %-11s %s\n' 'shader' 'rows' 'after' 'SPIR-V' 'interpreter' 'vulkan' 'optimized = original'
for example in $(build/bin/example-expected list); do
  examples/run-example.sh build "$example"
done
cat <<'END'

Each shader went through  vyre-passmgr -passes='default<O2>'  and came out as SPIR-V that spirv-val accepts.  The original and the
optimized shader ran on the interpreter and on a Vulkan driver, under the validation layer; all results are what plain C computes.
END
