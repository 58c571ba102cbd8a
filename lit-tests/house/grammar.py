#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what editors are given for .vir text: it is what editors/grammar.c makes, and it knows every word that stands in the project's .vir files.

usage: grammar.py SOURCE VYRE-GRAMMAR VERSION
"""
import json
import pathlib
import re
import subprocess
import sys

# Words that are no vyre's: what is in opaque rows and types is SPIR-V's, and begins with a capital.
MADE = {"vim": "editors/vim/syntax/vir.vim", "vscode": "editors/vscode/syntaxes/vir.tmLanguage.json"}


def unknown(text, patterns):
    """Words of a program to which the patterns give no colour, as an editor goes through a line: the first pattern that matches, from left to right."""
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
            errors.append(f"{name} is not what vyre-grammar {kind} says\nFix: cmake --build build --target grammars")
    package = json.loads((source / "editors/vscode/package.json").read_text())
    if package["version"] != version:
        errors.append(f"editors/vscode/package.json: its version is {package['version']}, vyre's {version}")
    json.loads((source / "editors/vscode/language-configuration.json").read_text())
    patterns = [re.compile(pattern["match"]) for pattern in json.loads((source / MADE["vscode"]).read_text())["patterns"]]
    for path in [*(source / "lit-tests" / "Passes").rglob("*.vir"), *(source / "unittests/text/corpus").glob("*.vir"), *(source / "passes").rglob("*.vir")]:
        text = path.read_text()
        words += len(text.split())
        errors += [f"{path.relative_to(source)}: nothing is known of '{word}'" for word in dict.fromkeys(unknown(text, patterns))]
    print("\n".join([*errors[:40], f"{words} words, {len(errors)} errors"]))
    return 1 if errors or words < 10000 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
