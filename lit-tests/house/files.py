#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that only vyre_file_open (include/vyre/io.h) opens files, which neither blocks on FIFOs nor follows links by mistake.

Looks for calls of functions of the C library and the system that open or create files.  Tests may call them.

usage: files.py SOURCE | files.py --self-test
"""
import pathlib
import re
import sys

CALLS = "open|open64|openat|creat|fopen|fopen64|freopen|mkstemp|mkostemp|tmpfile|tmpnam|tempnam|CreateFileA|CreateFileW|_open|_wopen|_wfopen"
# Not a member (x->open), and not a function defined in the file, whose name begins a line.
CALL = re.compile(rf"(?<![\w.>:])(?:::|std::)?\b({CALLS})\s*\(|\bstd::(?:basic_)?[io]?f(?:ile)?stream\b", re.M)
TESTS = ("unittests/", "fuzz/", "lit-tests/", "scripts/")
ALLOWED = {
    "base/files/open.c": "the function itself",
    "windows/io.c": "the function itself, on Windows",
    "windows/files.c": "stat() on Windows, which needs an open file",
    "ir/cost/generate.c": "runs during the build, before the library exists, on a source file",
    "ir/opaque/words_generate.c": "likewise",
    "passes/rules/generate.c": "likewise",
    "examples/expected.c": "creates the data of tests",
}


def without_comments(text):
    """Returns the text with blanks for comments and strings, so that lines keep their numbers."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def find_calls(text):
    """Yields line numbers and function names."""
    for match in CALL.finditer(without_comments(text)):
        begins_line = match.start() == 0 or text[match.start() - 1] == "\n"
        if not (begins_line and match.group(1)):
            yield text.count("\n", 0, match.start()) + 1, match.group().rstrip("( \t")


def check(root):
    errors, used = [], set()
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix not in (".c", ".h", ".cpp", ".def") or name.startswith(TESTS) or re.match(r"\.|build|b/", name):
            continue
        for line, call in find_calls(path.read_text(encoding="utf-8")):
            used.add(name)
            if name not in ALLOWED:
                errors.append(f"{name}:{line}: '{call}' opens a file\nFix: vyre_file_read_as, vyre_file_write_as or vyre_file_open")
    errors += [f"{name}: the file opens no file\nFix: remove its entry from ALLOWED" for name in ALLOWED if name not in used]
    return errors


def self_test():
    for text in ("  int a = open(path, 0);", "x = fopen (p, \"r\");", "return ::open(p);", "std::ifstream in(p);", "f(mkstemp(p))", "  openat(1, p, 2);"):
        assert list(find_calls(text)) == [(1, next(find_calls(text))[1])], text
    for text in ("ops->open(&o);", "target.open(1);", "/* open(path) */", "reopen(p);", '"open(x)"', "vyre_file_open(1, p, 2);", "open(int x)\n{"):
        assert not list(find_calls(text)), text
    assert list(find_calls("\n\n a = creat(p);"))[0][0] == 3


if sys.argv[1:] == ["--self-test"]:
    self_test()
    sys.exit(0)
found = check(pathlib.Path(sys.argv[1]))
print("\n".join(found))
sys.exit(bool(found))
