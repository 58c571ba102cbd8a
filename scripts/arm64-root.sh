#!/usr/bin/env bash
# arm64-root.sh FOLDER: unpacks the arm64 libraries of Debian 12 that vyre is built with in FOLDER, for the preset `arm64` and for qemu-user.
# They are not installed, because some of them would replace those of this system.  Needs root or sudo, to add the architecture to apt.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
root=$(realpath -m "$1")
packages=(libc6 libstdc++6 libgcc-s1 glslang-dev glslang-tools spirv-tools libspirv-cross-c-shared-dev libspirv-cross-c-shared0
  libjansson-dev libjansson4 libhiredis-dev libhiredis0.14 libmd-dev libmd0 zlib1g-dev zlib1g libvulkan-dev liburing-dev libxxhash-dev libcmocka-dev libcmocka0)
common=(spirv-headers uthash-dev libvulkan-volk-dev) # of every architecture
list="${packages[*]} ${common[*]}"
[ "$(cat "$root/packages" 2>/dev/null)" != "$list" ] || exit 0

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
dpkg --print-foreign-architectures | grep -qx arm64 || {
  "${as_root[@]}" dpkg --add-architecture arm64
  "${as_root[@]}" apt-get update -q >/dev/null
}
rm -rf "$root" "$root.debs"
mkdir -p "$root" "$root.debs"
(cd "$root.debs" && apt-get download -q "${packages[@]/%/:arm64}" "${common[@]}" >/dev/null 2>&1) || {
  echo "arm64-root.sh: the arm64 packages cannot be downloaded" >&2
  echo "Fix: run apt-get update, and check that the mirror has the architecture arm64" >&2
  exit 1
}
for package in "$root.debs"/*.deb; do
  dpkg -x "$package" "$root"
done
rm -r "$root.debs"
# Links to absolute paths lead into the folder.
find "$root" -type l -lname '/*' -printf '%p %l\n' | while read -r link target; do
  ln -sfr "$root$target" "$link"
done
echo "$list" >"$root/packages"
