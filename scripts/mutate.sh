#!/usr/bin/env bash
# mutate.sh: shows that the tests notice what they should; what it does and its options: scripts/mutants/README.md.
# SPDX-License-Identifier: Apache-2.0
exec python3 "$(dirname "$0")/mutants/mutate.py" "$@"
