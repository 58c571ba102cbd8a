#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that tests named in documents exist.  docs/testing.md names all programs of lit-tests/Behaviours, each as @program, and each item
of docs/design-notes.md names a test.

usage: named.py ROOT
"""
import pathlib
import re
import sys


def tests(line):
    """Returns each file of a line with its @programs."""
    return re.findall(r"`((?:lit-tests|unittests|cmake)/[^`]*\.\w+)`((?:,? @\w+)*)", line)


def behaviours(root):
    named, errors = set(), []
    for line in (root / "docs/testing.md").read_text().split("\n"):
        for file, programs in tests(line):
            text = (root / file).read_text() if (root / file).is_file() else None
            if text is None:
                errors.append(f"{file} does not exist")
            for program in re.findall(r"@\w+", programs):
                named.add((file, program))
                if text is not None and not re.search(rf"^program {program}\b", text, re.M):
                    errors.append(f"{file} has no program {program}")
    for path in sorted((root / "lit-tests/Behaviours").glob("*.vir")):
        for program in re.findall(r"^program (@\w+)", path.read_text(), re.M):
            if (str(path.relative_to(root)), program) not in named:
                errors.append(f"{path.relative_to(root)} {program} is not named")
    return len(named), errors


def complaints(root):
    text = (root / "docs/design-notes.md").read_text()
    items, errors = re.findall(r"^- \*\*(.*?)\n(?=- |#|\n|$)", text, re.M | re.S), []
    for item in items:
        named = [file for file, _ in tests(" ".join(item.split()))]
        errors += [f"{file} does not exist" for file in named if not (root / file).is_file()]
        if not named:
            errors.append(f"no test is named for '{' '.join(item.split('**')[0].split())}'")
    return len(items), errors


def main(root):
    root = pathlib.Path(root)
    failed = False
    for document, what, check in (("testing.md", "programs", behaviours), ("design-notes.md", "complaints", complaints)):
        count, errors = check(root)
        print("\n".join([*(f"docs/{document}: {error}" for error in errors), f"{count} {what} named, {len(errors)} errors"]))
        failed |= bool(errors) or not count
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
