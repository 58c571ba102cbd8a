#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints all messages in one table, by folder, and checks that each error says what the user can do.

usage: messages.py SOURCE | messages.py --self-test

A call of VYRE_ERROR or vyre_parser_fail, and a text with "error: ", must contain "Fix:", or pass on a text that has it: an argument or a macro
with "fix" in its name.  Excepted are formats without words ("%s: %s"), and two kinds of errors to which base/status.c adds a fix: bugs
(VYRE_CODE_INTERNAL), and messages that begin with "out of memory".
"""
import itertools
import pathlib
import re
import subprocess
import sys

from words import c_parts

NOT_PRODUCT = ("unittests/", "fuzz/", "lit-tests/", "bench/", "examples/")
LITERAL = r'"(?:\\.|[^"\\\n])*"'
CALL = re.compile(r"\b(VYRE_ERROR|vyre_parser_fail)\(")
PRINTED = re.compile(rf'(?:{LITERAL}\s*(?:PRI\w+\s*)?)+')


def arguments(text, at):
    """Returns the arguments of the call whose parenthesis ends before `at`."""
    parts, depth, start = [], 0, at
    for m in re.compile(LITERAL + r"|'(?:\\.|[^'\\\n])*'|/\*.*?\*/|[(){}\[\],]", re.S).finditer(text, at):
        c = m.group(0)
        if c in "([{":
            depth += 1
        elif c in ")]}" and depth:
            depth -= 1
        elif c == ")" or c == "," and not depth:
            parts.append(text[start:m.start()].strip())
            start = m.end()
            if c == ")":
                return parts
    return parts


def literal(expression):
    return "".join(part[1:-1] for part in re.findall(LITERAL, expression))


def has_words(format_):
    return re.search(r"[A-Za-z]{2,}", re.sub(r"%[-+ #0]*[\d.*]*(?:hh|h|ll|l|z|j|t)?[A-Za-z]|\\n", "", format_)) is not None


def errors_of(text):
    """Yields (line, text) of errors without a fix."""
    text = re.sub(rf"({LITERAL})|/\*.*?\*/|//[^\n]*", lambda c: c.group(1) or re.sub(r"[^\n]", " ", c.group(0)), text, flags=re.S)
    for m in CALL.finditer(text):
        before = text[text.rfind("\n", 0, m.start()) + 1:m.start()]
        parts = arguments(text, m.end())
        if "#define" in before or len(parts) < 2 + 3 * (m.group(1) == "vyre_parser_fail") or parts[-1] == "..." or not re.search(r"[\w,(=:?]\s*$|^\s*$|return ", before):
            continue
        is_error = m.group(1) == "VYRE_ERROR"
        format_ = literal(parts[1 if is_error else 4])
        if is_error:
            fixed = "VYRE_CODE_INTERNAL" in parts[0] or format_.startswith("out of memory") or re.search(r"Fix:|\b(?:\w*_)?(?i:fix)\b", ", ".join(parts[1:]))
        else:
            fixed = parts[3] != "NULL"
        if not fixed and has_words(format_):
            yield text.count("\n", 0, m.start()) + 1, format_
    for m in PRINTED.finditer(text):
        printed = literal(m.group(0))
        rest = re.sub(r"^[^ ]*: error: |^error: |: error: ", "", printed)
        passed_on = "vyre_status_text(" in text[m.end():text.find(";", m.end())]
        if rest != printed and has_words(rest) and "Fix:" not in printed and not passed_on:
            yield text.count("\n", 0, m.start()) + 1, printed


def self_test():
    good = ('VYRE_ERROR(VYRE_CODE_INPUT, "no file\\nFix: give one")', 'VYRE_ERROR(VYRE_CODE_INPUT, "%s: %s", path, text)',
            'VYRE_ERROR(VYRE_CODE_INTERNAL, "row %u is not sealed", f(a, b))', 'VYRE_ERROR(VYRE_CODE_INPUT, "out of memory for %u rows", n)',
            'VYRE_ERROR(VYRE_CODE_DEVICE, "no device" NO_DEVICE_FIX)', 'VYRE_ERROR(VYRE_CODE_USAGE, "no %s%s", name, fix)',
            'vyre_parser_fail(p, at, 1, "Fix: close it", "no end")', 'printf("%s: error: %s\\n", a, b)', 'printf("tool: error: bad\\nFix: mend")')
    bad = ('VYRE_ERROR(VYRE_CODE_INPUT, "no file")', 'return VYRE_ERROR(VYRE_CODE_USAGE, "no %s\\n"\n  "found", f(","))',
           'x = VYRE_ERROR((vyre_code)c, "%s has %" PRIu32 " rows", a, b);', 'VYRE_ERROR(VYRE_CODE_DEVICE, "no device (VYRE_CODE_INTERNAL)")',
           'vyre_parser_fail(p, at, 1, NULL, "no end")', 'VYRE_ERROR(VYRE_CODE_INPUT, "no %s", prefix)', 'fprintf(stderr, "tool: error: no file\\n")')
    for text in good:
        assert not list(errors_of(text)), text
    for text in bad:
        assert len(list(errors_of(text))) == 1, text
    assert [line for line, _ in errors_of("\n\n" + bad[0])] == [3]


def main(source):
    listed = subprocess.run(["git", "ls-files"], cwd=source, capture_output=True, text=True, check=True).stdout.split("\n")
    names = [name for name in listed if name.endswith((".c", ".cpp", ".h", ".def")) and not name.startswith(NOT_PRODUCT)]
    count, wrong = 0, []
    for folder, files in itertools.groupby(names, key=lambda name: name.rpartition("/")[0]):
        lines = []
        for name in files:
            text = (pathlib.Path(source) / name).read_text(errors="replace")
            wrong += [f"{name}:{line}: no 'Fix:' in: {message}" for line, message in errors_of(text)]
            for line, part, is_message in c_parts(text):
                count += is_message
                if is_message:
                    lines.append(f"  {name.rpartition('/')[2] + ':' + str(line):28} {part}")
        if lines:
            print("\n".join(["", f"{folder}/", *lines]))
    print("\n".join(["", *wrong, f"{count} messages, {len(wrong)} without a fix"]))
    return bool(wrong) or count < 1000


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1:] == ["--self-test"] else main(sys.argv[1]))
