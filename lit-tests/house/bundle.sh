#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bundle.sh SOURCE BUILD CACHE: makes a bundle of the build and runs its quick check from another folder, with nothing in the environment,
# after it was moved; and once where no target has a driver.  What drivers compiled is that of the other tests, which CACHE has.
set -eu
rm -rf "$2/gpu-bundle-moved" "$2/gpu-check-none"
bash "$1/scripts/gpu-bundle.sh" "-build=$2" "$2/gpu-bundle-made"
mv "$2/gpu-bundle-made" "$2/gpu-bundle-moved"
mkdir -p "$2/gpu-check"
[ -L "$2/gpu-check/cache" ] || rm -rf "$2/gpu-check/cache"
ln -sfn "$3" "$2/gpu-check/cache"
touch "$2/gpu-check/.gpu-check" # so that the check takes it for its own
cd /
env -i bash "$2/gpu-bundle-moved/gpu-check.sh" -quick -cuda=sim "-out=$2/gpu-check" || {
  cat "$2/gpu-check/report.txt"
  exit 1
}
# What is not there is a failure that the exit code tells; so is a target that this vyre does not have.
if env -i VK_ICD_FILENAMES=/nonexistent/icd.json VK_DRIVER_FILES=/nonexistent/icd.json bash "$2/gpu-bundle-moved/gpu-check.sh" -quick -targets=vulkan,cuda,no-such "-out=$2/gpu-check-none" >"$2/gpu-check-none.txt"; then
  echo "it passes without a device"
  exit 1
fi
grep -q '^vulkan: device  *1  *0  *1' "$2/gpu-check-none.txt"
grep -q '^cuda: device  *1  *0  *1' "$2/gpu-check-none.txt"
grep -q '^no-such: device  *1  *0  *1' "$2/gpu-check-none.txt"
# A comparison with a device that is not there does not pass.
if env -i bash "$2/gpu-bundle-moved/gpu-compare.sh" "$2/gpu-check-none/compared" example saxpy >"$2/gpu-check-none.txt"; then
  echo "a device that is not there computes the same"
  exit 1
fi
grep -q '^saxpy-run: device is not as cpu: exit code 3' "$2/gpu-check-none.txt"
grep -q '^2 of 2 comparisons differ' "$2/gpu-check-none.txt"
