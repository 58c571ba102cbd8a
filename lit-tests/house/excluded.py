# SPDX-License-Identifier: Apache-2.0
"""Lit's format of shell tests, but for those that a list says mean nothing in a variant of the run (excluded.txt)."""
import os

import lit.formats
import lit.Test


def read(root, variants):
    """By path, the reasons of what is left out in any of the variants."""
    reasons = {}
    with open(os.path.join(root, "excluded.txt"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("#") or not line.strip():
                continue
            name, _, reason = line.strip().partition(": ")
            variant, path = name.split()
            if not reason or not os.path.exists(os.path.join(root, path)):
                raise ValueError(f"excluded.txt: no such test, or no reason: {line.strip()}")
            if variant in variants:
                reasons[path] = reason
    return reasons


class ShTest(lit.formats.ShTest):
    def __init__(self, root, variants):
        super().__init__(execute_external=False)
        self.reasons = read(root, variants)

    def execute(self, test, lit_config):
        reason = self.reasons.get("/".join(test.path_in_suite))
        return lit.Test.Result(lit.Test.UNSUPPORTED, reason) if reason else super().execute(test, lit_config)
