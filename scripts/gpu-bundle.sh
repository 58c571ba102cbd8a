#!/usr/bin/env bash
# gpu-bundle.sh [-build=DIR] [DIR]: makes the folder DIR (build/gpu-bundle) and DIR.tar.gz, for tests on another machine with a GPU.
# That machine needs a driver and glibc 2.36 or later.  The folder has programs, passes, tests and benchmarks that use a device, example
# shaders, lit with Python, and all shared libraries except glibc.  DIR/gpu-check.sh runs the tests there.
#
# -build=DIR uses that build as it is.  Otherwise the release build is brought up to date first.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
build='' bundle=''
for argument in "$@"; do
  case $argument in
    -build=*) build=${argument#-build=} ;;
    -*)
      echo "usage: gpu-bundle.sh [-build=DIR] [DIR]" >&2
      exit 2
      ;;
    *) bundle=$argument ;;
  esac
done
if [ -z "$build" ]; then
  build=$source/build
  (cd "$source" && cmake --preset release >/dev/null && cmake --build --preset release >/dev/null)
fi
bundle=${bundle:-$build/gpu-bundle}
most=$((60 << 20)) # bytes of the archive

if [ ! -x "$build/bin/vyre-passmgr" ]; then
  echo "gpu-bundle.sh: '$build' is no build of vyre" >&2
  echo "Fix: -build=DIR names a folder where it was built" >&2
  exit 2
fi
if [ -e "$bundle" ] && [ ! -e "$bundle/gpu-check.sh" ] && [ -n "$(ls -A "$bundle")" ]; then
  echo "gpu-bundle.sh: '$bundle' is there, and no bundle that may be replaced" >&2
  echo "Fix: name a folder that is not there" >&2
  exit 2
fi
rm -rf "$bundle" "$bundle.tar.gz"
mkdir -p "$bundle"/{bin,lib,unittests,lit-tests,examples,tools/lib,libraries}
bundle=$(cd "$bundle" && pwd)
cp "$source"/scripts/gpu-{check,compare}.sh "$bundle"

copy() { # FILE... FOLDER: without what only a debugger reads
  local to=${*: -1}
  cp -L "$@"
  for file in "${@:1:$#-1}"; do
    strip --strip-unneeded "$to/$(basename "$file")" 2>/dev/null || true # a script
  done
}

# ---- vyre ----------------------------------------------------------------------------------------------------------------
for name in vyre-passmgr vyre-run vyre-fuzz vyre-kernelc vyre-mega bench-sequences bench-batch bench-device bench-mega \
  example-expected example-hash; do
  copy "$build/bin/$name" "$bundle/bin"
done
mkdir -p "$bundle/bench"
cp "$source"/bench/bench-{run,drivers} "$bundle/bench"
copy "$build"/lib/{libvyre.so.0,libvyre-cuda-sim.so} "$bundle/lib"
mkdir -p "$bundle/lib/vyre/passes" "$bundle/lit-tests/plugins"
copy "$build/lib/vyre/vyre-glsl" "$bundle/lib/vyre"
copy "$build/lib/libvyre-cuda-sim.so" "$bundle/lib"
copy "$build"/lib/vyre/passes/*.so "$bundle/lib/vyre/passes"
# Unit tests that use a device, and their files.
copy "$build"/unittests/unit-{vulkan,spirv-export}-* "$build"/unittests/unit-kernel-{device,choose} "$build"/unittests/unit-conformance-vulkan \
  "$build"/unittests/unit-glsl-{ops,subgroups,programs} "$build/unittests/libfake-vulkan.so" "$bundle/unittests"
copy "$build"/unittests/unit-{conformance-cuda,kernel-device-cuda,kernel-shapes,kernel-shapes-cuda,ptx,ptx-ops,ptx-texts} "$bundle/unittests"
copy "$build"/unittests/unit-mega-{kernel,dispatch,live,live-io,recover,recover-live,host,stress}-{cuda,vulkan} "$bundle/unittests"
rm -f "$bundle"/unittests/unit-spirv-export-phis # of the interpreter alone
rm -f "$bundle"/unittests/unit-vulkan-{*-discrete,barriers,statistics} # these need a changed lavapipe, or AMD's driver in Mesa
mkdir -p "$bundle/unittests/targets"
cp -r "$build"/unittests/targets/{*.vir,lists} "$bundle/unittests/targets"
# Lit tests and examples: files that git tracks or does not ignore.
(cd "$source" && git ls-files -z -co --exclude-standard lit-tests examples/shaders examples/plugins examples/run-example.sh | xargs -0 cp --parents -t "$bundle")
copy "$build"/lit-tests/plugins/*.so "$bundle/lit-tests/plugins"

# ---- lit and Python ------------------------------------------------------------------------------------------------------
setting() { sed -n "s/^config\.$1 = \"\(.*\)\"$/\1/p" "$build/lit-tests/lit.site.cfg.py"; }
copy "$(setting filecheck)" "$(setting spirv_as)" "$(setting spirv_dis)" "$(setting spirv_val)" "$bundle/tools"
lit=$(sed -n 's/^VYRE_LIT:[A-Z]*=//p' "$build/CMakeCache.txt")
cp -r "$(dirname "$lit")/lit" "$lit" "$bundle/tools/lib"
read -r python version library dynamic < <(python3 -c '
import os, sys, sysconfig
print(os.path.realpath(sys.executable), "python%d.%d" % sys.version_info[:2], sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))')
mkdir -p "$bundle/tools/bin" "$bundle/tools/lib/$version/lib-dynload"
copy "$python" "$bundle/tools/bin"
mv "$bundle/tools/bin/$(basename "$python")" "$bundle/tools/bin/python3"
(cd "$library" && find . -name '*.py' -not -path '*/test*/*' -not -path '*-packages/*' -not -regex '\./\(config-\|idlelib\|lib2to3\|ensurepip\|tkinter\|turtledemo\|pydoc_data\).*' \
  -print0 | xargs -0 cp --parents -t "$bundle/tools/lib/$version")
for module in "$dynamic"/lib-dynload/*.so; do # those of Python alone
  [ -n "$(ldd "$module" | grep -vE 'vdso|libc\.|libm\.|libz\.|libpython|ld-linux|statically')" ] || copy "$module" "$bundle/tools/lib/$version/lib-dynload"
done
cat >"$bundle/lit-tests/lit.site.cfg.py" <<CFG
# A bundle's: scripts/gpu-bundle.sh.  SPDX-License-Identifier: Apache-2.0
import os

here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
config.vyre_bundle = True
config.vyre_bin = here + "/bin"
config.vyre_source = here
config.vyre_obj = os.environ["VYRE_OUT"] + "/lit"
config.vyre_cache = os.environ["XDG_CACHE_HOME"]
config.vyre_unittests = here + "/unittests"
config.vyre_plugins = here + "/lit-tests/plugins"
config.vyre_sanitize = ""
config.vyre_build_type = "$(setting vyre_build_type)"
config.vyre_version = "$(setting vyre_version)"
config.cc = "no-compiler"
config.filecheck = here + "/tools/FileCheck"
config.spirv_val = here + "/tools/spirv-val"
config.spirv_as = here + "/tools/spirv-as"
config.spirv_dis = here + "/tools/spirv-dis"
config.vyre_limit = 120

lit_config.load_config(config, here + "/lit-tests/lit.cfg.py")
CFG

# ---- shared libraries ----------------------------------------------------------------------------------------------------
# All shared libraries except those of glibc.  gpu-check.sh uses those that the machine lacks.
find "$bundle" -type f \( -perm -u+x -o -name '*.so*' \) -print0 | { xargs -0 ldd 2>/dev/null || true; } |
  sed -n 's/^\t.* => \(\/[^ ]*\) .*/\1/p' | sort -u | grep -vE "/(libc|libm|libdl|libpthread|librt|libresolv|ld-linux[^/]*|libvyre)\.so" >"$bundle/libraries.list"
for name in vulkan.so.1 uring.so.2; do # opened at run time
  ldconfig -p | sed -n "s/^\tlib${name//./\\.} (.*x86-64.* => //p" | head -n 1 >>"$bundle/libraries.list"
done
while read -r file; do copy "$file" "$bundle/libraries"; done <"$bundle/libraries.list"
rm "$bundle/libraries.list"

# ---- what it is ----------------------------------------------------------------------------------------------------------
{
  echo "vyre $(setting vyre_version)"
  git -C "$source" describe --always --dirty --abbrev=12 2>/dev/null || true
} >"$bundle/version"
tar -C "$(dirname "$bundle")" -czf "$bundle.tar.gz" "$(basename "$bundle")"
size=$(stat -c %s "$bundle.tar.gz")
echo "$bundle: $(du -sm "$bundle" | cut -f1) MiB; $bundle.tar.gz: $(((size + 1048575) >> 20)) MiB"
if [ "$size" -gt "$most" ]; then
  echo "gpu-bundle.sh: the archive is larger than 60 MiB" >&2
  exit 1
fi
