#!/usr/bin/env bash
# test.sh SOURCE BUILD: the test `rust`.  Builds the crates in a copy in BUILD/rust with Debian's cargo, without network, and runs their tests.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
source=$1 build=$2
work=$build/rust

mkdir -p "$work"
rm -rf "$work/tree"
mkdir -p "$work/tree/bindings"
cp -r "$source/bindings/rust" "$work/tree/bindings/rust"
ln -s "$source/include" "$work/tree/include"
ln -s "$source/examples" "$work/tree/examples"
ln -s "$source/docs" "$work/tree/docs"
cd "$work/tree/bindings/rust"
python3 generate.py --check
export PATH=/usr/bin:/bin CARGO_HOME=$work/home CARGO_TARGET_DIR=$work/target
export VYRE_LIB_DIR=$build/lib VYRE_INCLUDE_DIR=$source/include VYRE_BIN_DIR=$build/bin
cargo build --offline --quiet
cargo test --offline --quiet
