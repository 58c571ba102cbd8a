#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The behaviours of docs/testing.md: each file and @program that is named there is there, and all of lit-tests/Behaviours is named.

usage: named.py ROOT
"""
import pathlib
import re
import sys


def main(root):
    root = pathlib.Path(root)
    named, errors = set(), []
    for line in (root / "docs/testing.md").read_text().split("\n"):
        for file, programs in re.findall(r"`((?:lit-tests|unittests)/[^`]*\.\w+)`((?:,? @\w+)*)", line):
            text = (root / file).read_text() if (root / file).is_file() else None
            if text is None:
                errors.append(f"{file} is not there")
            for program in re.findall(r"@\w+", programs):
                named.add((file, program))
                if text is not None and not re.search(rf"^program {program}\b", text, re.M):
                    errors.append(f"{file} has no program {program}")
    for path in sorted((root / "lit-tests/Behaviours").glob("*.vir")):
        for program in re.findall(r"^program (@\w+)", path.read_text(), re.M):
            if (str(path.relative_to(root)), program) not in named:
                errors.append(f"{path.relative_to(root)} {program} is not named")
    print("\n".join([*(f"docs/testing.md: {error}" for error in errors), f"{len(named)} programs named, {len(errors)} errors"]))
    return 1 if errors or not named else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
