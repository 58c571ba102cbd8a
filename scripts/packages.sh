#!/usr/bin/env bash
# packages.sh [FOLDER]: builds vyre and makes its Debian packages in FOLDER (build/packages): vyre, libvyre0, vyre-passes, libvyre-dev,
# vyre-tools-compat, python3-vyre.  Installs missing packages before.  Then, as root: apt-get install FOLDER/*.deb
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
folder=$(realpath -m "${1:-$source/build/packages}")
cd "$source"

scripts/install-packages.sh packages
cmake --preset release -DVYRE_TESTS=OFF >/dev/null
cmake --build build
rm -f "$folder"/*.deb
cpack --config build/CPackConfig.cmake -B "$folder"
rm -rf "$folder/_CPack_Packages"
ls "$folder"/*.deb
