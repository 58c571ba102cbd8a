#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds ineffective checks in lit tests.

FileCheck ignores unknown directives: a misspelt suffix (CHECK-NXT:), a missing colon (CHECK foo), a misspelt prefix.
Each is an error here.  Also errors: a misspelt `RUN:` line, a test without a `RUN:` line, and a program in a .vir test that pipes
to FileCheck without a check line for the program.  `lint: no-check @name` allows it.  A test may depend on the kind of build (debug,
sanitized), but not on tools of the machine, because a skipped test would hide errors.

usage: lint.py FOLDER | lint.py --self-test
"""
import os
import re
import sys

SUFFIXES = {"NEXT", "SAME", "NOT", "DAG", "LABEL", "EMPTY"}
TESTS = (".vir", ".test", ".comp", ".spvasm")


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


def prefixes_of(text):
    """Returns the prefixes of FileCheck in the RUN lines; CHECK if a line has none."""
    found = set()
    commands = re.sub(r"\\\n[^\n]*?RUN:", " ", text)
    for line in re.findall(r"RUN:(.*)", commands):
        for command in re.split(r"\||&&|;", line):
            if not re.search(r"\bFileCheck\b", command):
                continue
            given = re.findall(r"--?check-prefix(?:es)?[= ]([\w,-]+)", command)
            found.update(",".join(given).split(",") if given else ["CHECK"])
    return found


def known(directive, prefixes):
    for prefix in prefixes:
        if directive == prefix:
            return True
        if directive.startswith(prefix + "-"):
            rest = directive[len(prefix) + 1:]
            if rest in SUFFIXES or re.fullmatch(r"COUNT-\d+", rest):
                return True
    return False


def directive_errors(number, line, prefixes):
    comment = re.match(r"\s*(?:;|//|#)\s*(.*)", line)
    if not comment:
        return
    body = comment.group(1)
    word = re.match(r"([A-Z][A-Z0-9_-]*)(\{LITERAL\})?(:?)", body)
    if not word:
        return
    name, colon = word.group(1), word.group(3)
    if name.startswith("RUN") and not colon:
        yield number, f"'{name}' without a colon"
    if name in ("REQUIRES", "UNSUPPORTED", "XFAIL") and colon and not re.fullmatch(r".*: (debug|sanitized|all)", body):
        yield number, f"'{name}' may only name the kind of build: a missing tool is a failure (lit.cfg.py)"
    if name in ("RUN", "REQUIRES", "UNSUPPORTED", "XFAIL", "END"):
        return
    if colon and not known(name, prefixes):
        near = [p for p in prefixes if name.startswith(p + "-") or distance(name.split("-")[0], p.split("-")[0]) <= 2]
        if near or distance(name, "RUN") <= 1:
            yield number, f"'{name}:' is not a directive of the prefixes {', '.join(sorted(prefixes)) or '(none)'}"
    if not colon and prefixes and known(name, prefixes):
        yield number, f"'{name}' without a colon has no effect"


def lint(path, text):
    lines = text.split("\n")
    if not re.search(r"RUN:", text):
        yield 1, "no RUN line"
        return
    prefixes = prefixes_of(text)
    for number, line in enumerate(lines, 1):
        yield from directive_errors(number, line, prefixes)
    used = {p for p in prefixes for line in lines if re.search(r"(?:;|//|#)\s*" + re.escape(p) + r"(?:-[A-Z]+(?:-\d+)?)?(?:\{LITERAL\})?:", line)}
    for prefix in sorted(prefixes - used):
        yield 1, f"prefix '{prefix}' has no check line"
    if path.endswith(".vir") and prefixes:
        checks = "\n".join(line for line in lines if re.match(r"\s*;\s*[A-Z][A-Z0-9_-]*(?:\{LITERAL\})?:", line))
        meant = set(re.findall(r"lint: no-check @([\w.-]+)", text))
        for number, line in enumerate(lines, 1):
            name = re.match(r"\s*program\s+@([\w.-]+)", line)
            if name and name.group(1) not in meant and not re.search("[@%]" + re.escape(name.group(1)) + r"\b", checks):
                yield number, f"no check names program @{name.group(1)}"


def self_test():
    good = "; REQUIRES: debug\n; RUN: x %s | FileCheck %s\n; CHECK-LABEL: program @a\n; CHECK-NEXT: b\n; CHECK-COUNT-2: c\n; Note: prose\nprogram @a {}\n"
    bad = {
        "; RUN: x | FileCheck %s\n; CHECK: a\n; CHECK-NXT: b\n": "CHECK-NXT",
        "; RUN: x | FileCheck %s\n; CHECK: a\n; CHECK b\n": "without a colon",
        "; RUN: x | FileCheck %s\n; CHECK: a\n; CHEKC: b\n": "CHEKC",
        "; RUN: x | FileCheck %s --check-prefix=ERR\n; ERR: a\n; ERRR: b\n": "ERRR",
        "; RUN: x | FileCheck %s --check-prefixes=A1,B1\n; A1: a\n": "prefix 'B1'",
        "; RUN: x | FileCheck %s\n; CHECK: a\nprogram @lost {}\n": "@lost",
        "; RUN: x\n; REQUIRES: z3\n": "a missing tool is a failure",
        "; RUN: x\n; UNSUPPORTED: debug, root\n": "a missing tool is a failure",
        "; RNU: x | FileCheck %s\n": "no RUN line",
        "; RUN: x\n; RUN y\n": "without a colon",
    }
    assert not list(lint("a.vir", good)), list(lint("a.vir", good))
    for text, message in bad.items():
        found = [m for _, m in lint("a.vir", text)]
        assert any(message in m for m in found), (text, found)
    print(f"lint: {len(bad)} planted mistakes found")
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    files = errors = 0
    for folder, folders, names in os.walk(sys.argv[1]):
        folders[:] = sorted(f for f in folders if f not in ("Inputs", "house", "b", "build"))
        for name in sorted(names):
            if not name.endswith(TESTS):
                continue
            path = os.path.join(folder, name)
            files += 1
            with open(path, encoding="utf-8", errors="replace") as file:
                for number, message in lint(path, file.read()):
                    print(f"{path}:{number}: {message}")
                    errors += 1
    print(f"lint: {files} files, {errors} errors")
    return 1 if errors or not files else 0


if __name__ == "__main__":
    sys.exit(main())
