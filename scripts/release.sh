#!/usr/bin/env bash
# release.sh [-o FOLDER] [linux-x86_64] [linux-arm64] [windows-x86_64]: makes portable archives in FOLDER (default: build/release), by
# default for all three platforms.  An archive has the programs, the library, passes, headers and documents.  Its programs run
# from any folder.  Also writes SHA256SUMS and, for each archive, a list of its parts (SPDX).  Two runs for a commit write the same bytes.
# Installs missing packages first.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
out=$source/build/release
[ "${1:-}" != -o ] || {
  out=$(realpath -m "$2")
  shift 2
}
cd "$source"
platforms=("$@")
[ $# -gt 0 ] || platforms=(linux-x86_64 linux-arm64 windows-x86_64)
version=$(sed -n 's/^project(vyre VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC

# build PRESET BUILD OPTION...: configures and builds, and installs into BUILD/stage.
build() {
  local preset=$1 build=$2
  shift 2
  cmake --preset "$preset" -B "$build" -DVYRE_TESTS=OFF -DVYRE_PORTABLE=ON -DCMAKE_INSTALL_LIBDIR=lib "$@" >/dev/null
  cmake --build "$build"
  rm -rf "$build/stage"
  cmake --install "$build" --prefix "$build/stage" --strip >/dev/null
}

# pack PLATFORM STAGE: makes the archive and the list of its parts.
pack() {
  local name=vyre-$version-$1 stage=$2
  python3 scripts/sbom.py "$1" "$version" "$stage" >"$stage/share/vyre.spdx.json"
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --transform "s,^\.,$name," \
    -C "$stage" -cf - . | xz -6 -T1 >"$out/$name.tar.xz"
  cp "$stage/share/vyre.spdx.json" "$out/$name.spdx.json"
}

mkdir -p "$out"
for platform in "${platforms[@]}"; do
  build=$source/build/portable/$platform
  case $platform in
  linux-x86_64)
    scripts/install-packages.sh
    build release "$build"
    ;;
  linux-arm64)
    scripts/install-packages.sh arm64
    scripts/arm64-root.sh "$source/build/arm64/root"
    build arm64 "$build"
    ;;
  windows-x86_64)
    scripts/install-packages.sh windows
    [ -x build/bin/vyre-kernelc ] || { cmake --preset release -DVYRE_TESTS=OFF >/dev/null && cmake --build build; }
    build windows "$build"
    ;;
  *)
    echo "release.sh: '$platform' is not a platform" >&2
    echo "Fix: use linux-x86_64, linux-arm64 or windows-x86_64" >&2
    exit 2
    ;;
  esac
  pack "$platform" "$build/stage"
done
(cd "$out" && sha256sum ./*.tar.xz ./*.spdx.json | sed 's,\./,,' >SHA256SUMS)
ls -l "$out"
