#!/usr/bin/env bash
# prove.sh [options of vyre-prove]: proves the rules of pm and expand that passes/pm/proofs.ledger does not have yet, and updates the
# ledger.  The time limit is higher than in the tests.  -fresh proves all rules.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."
prove=${BUILD:-build}/bin/vyre-prove
[ -x "$prove" ] || {
  echo "$prove is not there: build first (cmake --preset release && cmake --build build)" >&2
  exit 2
}
exec "$prove" -limit=20000000 -points=10000000 -ledger=passes/pm/proofs.ledger -update "$@" passes/pm/*.rules
