#!/usr/bin/env bash
# compare.sh EXAMPLE TARGET [DEVICE]: compares example-hash with sha256sum on an empty file, sizes around those of a block and a
# chunk, and the files of this folder.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

example=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for size in 0 1 3 55 56 63 64 65 119 120 16383 16384 16385 32768 50001; do
  head -c "$size" < <(yes "a stream of files, $size") >"$work/$size" || true
done
sha256sum "$work"/* "$here"/* | sort >"$work.expected"
"$example" -target="$2" ${3:+-device="$3"} "$work"/* "$here"/* | sort >"$work.got"
cmp "$work.expected" "$work.got" || exit 1
"$example" -target="$2" ${3:+-device="$3"} "$work/none" "$work/3" >"$work.got" 2>"$work.said" && exit 1
grep -q "none: Bad file descriptor" "$work.said"
grep -q "$(sha256sum <"$work/3" | cut -c1-64)" "$work.got"
"$example" -target="$2" -fast "$work/3" >"$work.got" 2>"$work.said" && exit 1
grep -q '^usage: ' "$work.said"
rm -f "$work.expected" "$work.got" "$work.said"
echo "the same sums"
