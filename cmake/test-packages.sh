#!/usr/bin/env bash
# test-packages.sh SOURCE BUILD VERSION CPACK: the `packages` test.  Makes the Debian packages of the build, checks their fields and
# contents, unpacks them to a folder, and runs the programs there.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
source=$1 build=$2 version=$3 cpack=$4
work=$build/packages-test
root=$work/root

fail() {
  echo "test-packages.sh: $*" >&2
  exit 1
}

rm -rf "$work"
mkdir -p "$root"
"$cpack" --config "$build/CPackConfig.cmake" -B "$work/made" >"$work/log" 2>&1 || {
  cat "$work/log" >&2
  fail "cpack fails"
}
! grep -i warning "$work/log" || fail "cpack warns"

# PACKAGE, its dependences in order, and some of its files.
architecture=$(dpkg --print-architecture)
abi=${version%%.*}
lib=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
libc='libc6 \(>= 2\.[0-9]+\)'
check() {
  local package=$1 depends=$2 architecture=${architecture}
  [ "$package" != python3-vyre ] || architecture=all
  local deb=$work/made/${package}_${version}_$architecture.deb
  shift 2
  [ -f "$deb" ] || fail "there is no $deb"
  dpkg-deb -f "$deb" Package Version Architecture Maintainer Section Description >"$work/$package.control"
  grep -qx "Package: $package" "$work/$package.control" || fail "$package has another name"
  grep -qx "Version: $version" "$work/$package.control" || fail "$package has another version"
  grep -qx "Architecture: $architecture" "$work/$package.control" || fail "$package has another architecture"
  grep -qx "Description: optimizer for GPU compute shaders.*" "$work/$package.control" || fail "$package does not say what it is"
  dpkg-deb -f "$deb" Depends | grep -qxE "$depends" || fail "$package depends on: $(dpkg-deb -f "$deb" Depends)"
  dpkg-deb --fsys-tarfile "$deb" | tar -t | sed -n 's,^\.\(/.*[^/]\)$,\1,p' >"$work/$package.files"
  for file in "$@" "/usr/share/doc/$package/copyright"; do
    grep -qx "$file" "$work/$package.files" || fail "$package has no $file"
  done
  dpkg-deb --fsys-tarfile "$deb" | tar -tv | awk '$2 != "root/root" || $1 ~ /^[^l].{4}w|^[^l].{7}w/' >"$work/owners"
  [ ! -s "$work/owners" ] || fail "$package has files that others may write: $(cat "$work/owners")"
  dpkg-deb -x "$deb" "$root"
}
check vyre "libvyre$abi \(= $version\), $libc, libhiredis0.14 \(.*\), libjansson4 \(.*\), libmd0 \(.*\), zlib1g \(.*\)" \
  /usr/bin/vyre-passmgr /usr/bin/vyre-run /usr/bin/vyre-wrap /usr/bin/vyre-queue /usr/share/man/man1/vyre-passmgr.1 /usr/share/bash-completion/completions/vyre-passmgr \
  /usr/share/zsh/site-functions/_vyre-run /usr/share/fish/vendor_completions.d/vyre-run.fish /usr/share/doc/vyre/README.md /usr/share/doc/vyre/CHANGELOG.md
check "libvyre$abi" "vyre-passes \(= $version\), libspirv-cross-c-shared0, $libc, libgcc-s1 \(.*\), libstdc\+\+6 \(.*\)" \
  "$lib/libvyre\\.so\\.$version" "$lib/libvyre\\.so\\.$abi" "$lib/vyre/vyre-glsl"
check vyre-passes "$libc" "$lib/vyre/passes/dce\.so" "$lib/vyre/passes/simplify\.so"
check libvyre-dev "vyre \(= $version\), libvyre$abi \(= $version\), $libc" \
  /usr/include/vyre/plugin.h /usr/include/vyre/ops.def "$lib/libvyre\.so" /usr/share/cmake/vyre/vyreConfig.cmake \
  "$lib/pkgconfig/vyre\.pc" /usr/bin/vyre-kernelc /usr/bin/vyre-new-pass /usr/bin/vyre-prove /usr/share/man/man1/vyre-kernelc.1 \
  /usr/share/doc/vyre/examples/plugins/acme.c /usr/share/vim/vimfiles/syntax/vir.vim /usr/share/vyre/vscode/package.json
check vyre-tools-compat "vyre \(= $version\)" "$lib/vyre/compat/spirv-opt" "$lib/vyre/compat/glslc" \
  "$lib/vyre/compat/glslangValidator" "$lib/vyre/compat/glslang"
check python3-vyre "libvyre$abi \(= $version\), python3 \(>= 3\.9\)" /usr/lib/python3/dist-packages/vyre/__init__.py \
  /usr/lib/python3/dist-packages/vyre/_native.py /usr/lib/python3/dist-packages/vyre/py.typed
[ "$(find "$work/made" -maxdepth 1 -name '*.deb' | wc -l)" = 6 ] || fail "there are other packages, too: $(ls "$work/made")"
grep -q 'Built in, of the package glslang-dev' "$root/usr/share/doc/libvyre$abi/copyright" || fail "no word of glslang's authors"
dpkg-deb -I "$work/made/libvyre${abi}_${version}_$architecture.deb" postinst | grep -q ldconfig || fail "ldconfig does not run"

# Together the packages contain the files that `cmake --install` installs, each once and below /usr.
cmake --install "$build" --prefix "$work/installed/usr" >/dev/null
(cd "$work/installed" && find . -not -type d | sed 's,^\.,,' | sort) >"$work/installed.files"
sort "$work"/{vyre,vyre-passes,vyre-tools-compat,python3-vyre,libvyre-dev,"libvyre$abi"}.files | diff "$work/installed.files" - || fail "the packages are not what is installed"
! grep -v '^/usr/' "$work/installed.files" || fail "files are outside of /usr"
! grep '^/usr/lib' "$work/installed.files" | grep -v "^$lib/\|^/usr/lib/python3/dist-packages/vyre/" || fail "these are not in the folder of the architecture"
! grep -rlF "$build" "$root" || fail "these files name the build's folder"

# The version is everywhere that of CMakeLists.txt.
[ "$(sed -n 's/^## //p' "$source/CHANGELOG.md" | head -n 1)" = "$version" ] || fail "CHANGELOG.md does not begin with $version"
grep -qx "version = \"$version\"" "$source/bindings/python/pyproject.toml" || fail "pyproject.toml has another version"
grep -qx "__version__ = \"$version\"" "$source/bindings/python/vyre/__init__.py" || fail "the Python package has another version"
out() { env -i HOME="$work" "$@"; }
out "$root/usr/bin/vyre-passmgr" -version | grep -q "^vyre-passmgr $version " || fail "vyre-passmgr says another version"

# It runs where it is unpacked, with the passes that are there, and makes what the build makes.
shader=$root/usr/share/doc/vyre/examples/shaders/sha256.comp
out "$root/usr/bin/vyre-passmgr" -passes='default<O2>' "$shader" -o "$work/unpacked.spv"
"$build/bin/vyre-passmgr" -passes='default<O2>' "$shader" -o "$work/built.spv"
cmp "$work/unpacked.spv" "$work/built.spv"
out "$root$lib/vyre/compat/spirv-opt" --version | grep -q "spirv-opt: vyre-passmgr $version" || fail "the link spirv-opt does not run"
out "$root/usr/bin/vyre-run" "$shader" -compare "$work/unpacked.spv" | grep -q '^equal: ' || fail "vyre-run does not find them equal"
out "$root/usr/bin/vyre-kernelc" "$root/usr/share/doc/vyre/examples/plugins/half.vir" -emit=vir -o "$work/half.vir"
out VYRE_LIBRARY="$root$lib/libvyre.so.$abi" PYTHONPATH="$root/usr/lib/python3/dist-packages" PYTHONDONTWRITEBYTECODE=1 python3 -c "
import sys, vyre
sys.stdout.buffer.write(vyre.optimize(open('$shader', 'rb').read(), path='$shader'))" >"$work/python.spv"
cmp "$work/python.spv" "$work/built.spv"
mv "$root$lib/vyre/passes" "$work/passes"
! out "$root/usr/bin/vyre-passmgr" -passes=dce "$shader" -o "$work/without.spv" 2>"$work/log" || fail "it runs without the package vyre-passes"
grep -q "core passes: '$root$lib/vyre/passes'" "$work/log" || fail "it looks for passes elsewhere: $(cat "$work/log")"
echo "6 packages of $version: $(wc -l <"$work/installed.files") files"
