#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the editors' grammars of .vir text: editors/grammar.c generates them, and they match every word in the project's .vir files.

usage: grammar.py SOURCE VYRE-GRAMMAR VERSION
"""
import json
import pathlib
import re
import subprocess
import sys

# Generated files.  Words of SPIR-V in opaque rows and types begin with a capital and need no colour.
MADE = {"vim": "editors/vim/syntax/vir.vim", "vscode": "editors/vscode/syntaxes/vir.tmLanguage.json"}


def unknown(text, patterns):
    """Returns the words without a colour.  Like an editor, it applies the first match from left to right in each line."""
    found = []
    for line in text.split("\n"):
        at = 0
        while at < len(line):
            matches = [m for m in (pattern.search(line, at) for pattern in patterns) if m and m.end() > m.start()]
            first = min(matches, key=lambda m: m.start(), default=None)
            plain = line[at:first.start() if first else len(line)]
            found += [word for word in re.findall(r"(?<![\w.])[a-z]\w*\b(?!\s*:)", plain)]
            at = first.end() if first else len(line)
    return found


def main(source, grammar, version):
    source, errors, words = pathlib.Path(source), [], 0
    for kind, name in MADE.items():
        made = subprocess.run([grammar, kind], check=True, capture_output=True, text=True).stdout
        if (source / name).read_text() != made:
            errors.append(f"{name} differs from the output of vyre-grammar {kind}\nFix: cmake --build build --target grammars")
    package = json.loads((source / "editors/vscode/package.json").read_text())
    if package["version"] != version:
        errors.append(f"editors/vscode/package.json: its version is {package['version']}, vyre's {version}")
    json.loads((source / "editors/vscode/language-configuration.json").read_text())
    patterns = [re.compile(pattern["match"]) for pattern in json.loads((source / MADE["vscode"]).read_text())["patterns"]]
    for path in [*(source / "lit-tests" / "Passes").rglob("*.vir"), *(source / "unittests/text/corpus").glob("*.vir"), *(source / "passes").rglob("*.vir")]:
        text = path.read_text()
        words += len(text.split())
        errors += [f"{path.relative_to(source)}: no pattern matches '{word}'" for word in dict.fromkeys(unknown(text, patterns))]
    print("\n".join([*errors[:40], f"{words} words, {len(errors)} errors"]))
    return 1 if errors or words < 10000 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
