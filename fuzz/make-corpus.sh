#!/usr/bin/env bash
# make-corpus.sh BUILD: BUILD/fuzz/corpus/TARGET/ from the lit and unit tests' files and the examples' shaders; nothing of it is committed.
# Examples come as SPIR-V and as text; also each pipeline text of the lit tests.  SPDX-License-Identifier: Apache-2.0
set -euo pipefail

for tool in spirv-as:spirv-tools spirv-opt:spirv-tools glslangValidator:glslang-tools; do
  command -v "${tool%:*}" >/dev/null || {
    echo "make-corpus.sh: ${tool%:*} is missing" >&2
    echo "Fix: install the package ${tool#*:} (scripts/install-packages.sh tests installs all)" >&2
    exit 1
  }
done
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
exec 9>"$build/fuzz/corpus.lock"
flock 9
out=$build/fuzz/corpus
stamp=$out/stamp
if [ -f "$stamp" ] && [ -z "$(find "$root/lit-tests" "$root/unittests/text/corpus" "$root/unittests/vir0/version1.vir0" "$root/examples/shaders" "$0" -newer "$stamp" -print -quit)" ]; then
  exit 0
fi
rm -rf "$out"
mkdir -p "$out"/{text,spirv,vir0,pipeline,plugin,ptx,rules,table,megakernel,foz}

name() { echo "${1#"$root"/}" | tr '/ ' '--'; }

# Text: files as they are, and their parts where they are many in one (split-file).
while IFS= read -r file; do
  cp "$file" "$out/text/$(name "$file")"
done < <(find "$root/unittests/text/corpus" "$root/lit-tests" -name '*.vir' -type f)
while IFS= read -r file; do
  awk -v base="$out/text/$(name "$file")" '/^[;#\/]*--- / { part++; next } part { print > (base "." part ".vir") }' "$file"
done < <(grep -rlE '^[;#/]*--- ' "$root/lit-tests" --include='*.vir' --include='*.test')

# SPIR-V: assembly, and the examples, with and without optimization and debug information.
while IFS= read -r file; do
  spirv-as --preserve-numeric-ids --target-env vulkan1.2 "$file" -o "$out/spirv/$(name "$file").spv" 2>/dev/null || true
done < <(find "$root/lit-tests" -name '*.spvasm' -type f)
for file in "$root"/examples/shaders/*.comp; do
  glslangValidator --target-env vulkan1.2 "$file" -o "$out/spirv/$(name "$file").spv" >/dev/null
  glslangValidator --target-env vulkan1.2 -gVS -Od "$file" -o "$out/spirv/$(name "$file").g.spv" >/dev/null || true
  spirv-opt -O "$out/spirv/$(name "$file").spv" -o "$out/spirv/$(name "$file").O.spv"
done
# Leaves out files that are refused (exit code 1).
convert() { # FORM FOLDER FILE...
  "$build/bin/vyre-passmgr" -j 2 -emit="$1" -outdir "$out/$2" "${@:3}" >/dev/null 2>&1 || [ $? -eq 1 ] || {
    echo "make-corpus.sh: vyre-passmgr -emit=$1 failed" >&2
    exit 1
  }
}
convert vir text "$out"/spirv/*.spv
convert ptx ptx "$out"/text/*.vir
convert spirv spirv/made "$out"/text/*.vir

# VIR0: of both, and the frozen sample.
cp "$root/unittests/vir0/version1.vir0" "$out/vir0/"
convert vir0 vir0/text "$out"/text/*.vir
convert vir0 vir0/spirv "$out"/spirv/*.spv

# Archives of the examples' SPIR-V, packed and not.  They have no checksums, so that a changed archive is not refused early.
python3 - "$out/foz" "$out"/spirv/*.comp.O.spv <<'END'
import pathlib, struct, sys, zlib

def packed(words):
    for (word,) in struct.iter_unpack("<I", words):
        while word > 127:
            yield word & 127 | 128
            word >>= 7
        yield word

for level, strategy in ((None, 0), (0, 0), (9, 0), (9, zlib.Z_FIXED)):
    all = b"\x81FOSSILIZEDB\0\0\0\6"
    for k, path in enumerate(sys.argv[2:5]):
        spirv = pathlib.Path(path).read_bytes()
        words = bytes(packed(spirv))
        data = b'{"version":6,"shaderModules":{"%016x":{"varintOffset":0,"varintSize":%d,"codeSize":%d,"flags":0}}}\0' % (k, len(words), len(spirv)) + words
        pack = zlib.compressobj(level or 0, zlib.DEFLATED, 15, 8, strategy)
        stored = data if level is None else pack.compress(data) + pack.flush()
        all += b"%024x%016x" % (4, k) + struct.pack("<4I", len(stored), 1 if level is None else 2, 0, len(data)) + stored
    pathlib.Path(sys.argv[1], f"{level}-{strategy}.foz").write_bytes(all)
END

# Rules: a few of a file, so that inputs are small.
for file in "$root"/passes/pm/*.rules; do
  awk -v base="$out/rules/$(basename "$file")" '/^[a-z]/ { n++ } n { print > (base "." int(n / 8)) }' "$file"
done

# Pipeline texts.
count=0
while IFS= read -r text; do
  count=$((count + 1))
  printf '%s' "$text" >"$out/pipeline/$count"
done < <(grep -rhoE -e "-passes='[^']*'" "$root/lit-tests" | sed "s/^-passes='//; s/'\$//" | sort -u)

# Edits of nothing.
printf '\0' >"$out/plugin/none"
printf '\1\110\0\0\0' >"$out/plugin/core"

# Images of the megakernel: control, a ring, an IO queue and a debug log of zeros, and some that are published.
{ printf '\0'; head -c 8 /dev/zero; printf '\3\0\0\0'; head -c 628 /dev/zero; } >"$out/megakernel/control"
{ printf '\1'; head -c 256 /dev/zero; printf '\1\0\0\0'; head -c 60 /dev/zero; } >"$out/megakernel/ring"
{ printf '\2'; head -c 2040 /dev/zero; printf '\1\0\0\0\0\0\0\0'; } >"$out/megakernel/io"
{ printf '\3\10\0\0\0'; head -c 1024 /dev/zero; } >"$out/megakernel/debug"
for base in $(seq 0 127); do
  # shellcheck disable=SC2059
  printf "\\$(printf '%o' "$base")\\0" >"$out/table/base-$base"
done
touch "$stamp"
