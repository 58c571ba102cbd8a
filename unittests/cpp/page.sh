#!/usr/bin/env bash
# page.sh SOURCE BUILD c|cpp COMPILER: the tests `c-page` and `cpp-page`.  Compiles the first program of docs/embedding.md or docs/cpp.md, and
# runs it.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
source=$1 build=$2 language=$3 compiler=$4
work=$build/$language-page
page=cpp flags=(-std=c++17)
[ "$language" = cpp ] || page=embedding flags=(-std=c17)
rm -rf "$work"
mkdir -p "$work"
sed -n "/^\`\`\`$language\$/,/^\`\`\`\$/p" "$source/docs/$page.md" | sed '1d;/^```$/,$d' >"$work/optimize.$language"
"$compiler" "${flags[@]}" -Wall -Wextra -Werror "-I$source/include" "$work/optimize.$language" "-L$build/lib" -lvyre "-Wl,-rpath,$build/lib" \
  -o "$work/optimize"
"$work/optimize" "$source/examples/shaders/blur.comp" "$work/blur.spv"
"$build/bin/vyre-passmgr" -O "$source/examples/shaders/blur.comp" -o "$work/wanted.spv"
cmp "$work/blur.spv" "$work/wanted.spv"
