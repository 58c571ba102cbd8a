#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bundle.sh SOURCE BUILD CACHE: makes a bundle of the build, moves it, and runs its quick check from another folder with an empty
# environment.  A second run has no driver for any target.  CACHE has compiled kernels of the other tests.
set -eu
rm -rf "$2/gpu-bundle-moved" "$2/gpu-check-none"
bash "$1/scripts/gpu-bundle.sh" "-build=$2" "$2/gpu-bundle-made"
mv "$2/gpu-bundle-made" "$2/gpu-bundle-moved"
mkdir -p "$2/gpu-check"
[ -L "$2/gpu-check/cache" ] || rm -rf "$2/gpu-check/cache"
ln -sfn "$3" "$2/gpu-check/cache"
touch "$2/gpu-check/.gpu-check" # marks the folder as the check's output
cd /
env -i bash "$2/gpu-bundle-moved/gpu-check.sh" -quick -cuda=sim "-out=$2/gpu-check" || {
  cat "$2/gpu-check/report.txt"
  exit 1
}
# A missing device is a failure with an exit code, and so is an unknown target.
if env -i VK_ICD_FILENAMES=/nonexistent/icd.json VK_DRIVER_FILES=/nonexistent/icd.json bash "$2/gpu-bundle-moved/gpu-check.sh" -quick -targets=vulkan,cuda,no-such "-out=$2/gpu-check-none" >"$2/gpu-check-none.txt"; then
  echo "the check passes without a device"
  exit 1
fi
grep -q '^vulkan: device  *1  *0  *1' "$2/gpu-check-none.txt"
grep -q '^cuda: device  *1  *0  *1' "$2/gpu-check-none.txt"
grep -q '^no-such: device  *1  *0  *1' "$2/gpu-check-none.txt"
# A comparison with a missing device fails.
if env -i bash "$2/gpu-bundle-moved/gpu-compare.sh" "$2/gpu-check-none/compared" example saxpy >"$2/gpu-check-none.txt"; then
  echo "a comparison with a missing device passes"
  exit 1
fi
grep -q '^saxpy-run: device is not as cpu: exit code 3' "$2/gpu-check-none.txt"
grep -q '^2 of 2 comparisons differ' "$2/gpu-check-none.txt"
