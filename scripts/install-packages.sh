#!/usr/bin/env bash
# install-packages.sh [tests|all|packages|windows|arm64]: installs the packages of Debian 12 that are needed to build vyre.
# An argument adds those for the tests, for all tests (scripts/test.sh --all), for making packages, or for building for Windows
# (docs/windows.md) or arm64.  Does nothing if all are installed.
# Runs as root, or through sudo.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

build=(gcc g++ cmake ninja-build pkg-config libc6-dev
  libspirv-cross-c-shared-dev libvulkan-dev libvulkan-volk-dev liburing-dev glslang-dev glslang-tools spirv-headers spirv-tools uthash-dev libxxhash-dev libjansson-dev libhiredis-dev libmd-dev zlib1g-dev)
run=(mesa-vulkan-drivers vulkan-validationlayers)
package=(dpkg-dev file)
test=("${package[@]}" cargo chromium clang doxygen libclang-rt-14-dev llvm-14-tools glslc libcmocka-dev locales make meson mold python3 python3-markdown python3-pip python3-setuptools python3-wheel redis-server redis-tools rustc shellcheck valgrind yamllint z3)
all=(munge openmpi-bin slurm-client slurmctld slurmd)
arm64=(g++-aarch64-linux-gnu qemu-user)
windows=(gcc-mingw-w64-x86-64-posix libz-mingw-w64-dev wine64)

packages=("${build[@]}" "${run[@]}")
case ${1:-} in
  tests) packages+=("${test[@]}" "${windows[@]}" "${arm64[@]}") ;;
  all) packages+=("${test[@]}" "${windows[@]}" "${arm64[@]}" "${all[@]}") ;;
  windows) packages+=("${windows[@]}") ;;
  arm64) packages+=("${arm64[@]}") ;;
  packages) packages+=("${package[@]}") ;;
esac

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}\n' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "installing ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "error: these packages are missing: ${missing[*]}" >&2
    echo "Fix: install them as root (apt-get install ${missing[*]}), or install sudo" >&2
    exit 1
  }
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -q >/dev/null
"${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}" >/dev/null
