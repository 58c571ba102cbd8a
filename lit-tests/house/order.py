#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that code generators write the same output with every compiler.

C does not define the order in which the arguments of a call or the elements of an initializer are evaluated.  At most one of them may
write instructions or allocate a register, label or id.  Functions of equal names count as one.  The check ignores operators.

usage: order.py SOURCE | order.py --self-test
"""
import pathlib
import re
import sys

FOLDERS = ("codegen/c", "codegen/common", "codegen/ptx", "spirv/export")
WRITES = re.compile(r"\bcode_put\(|\bvyre_spv_push\(|next_id\+\+|\bmade\[\w+\]\+\+|\+\+g->labels")
FUNCTION = re.compile(r"^(\w+)\([^;{}]*\)\n\{\n(.*?)^\}|^#define (\w+)\([^)\n]*\)((?:[^\n]*\\\n)*[^\n]*)", re.M | re.S)
CALL = re.compile(r"\b(\w+)\(")
ARGUMENTS = re.compile(r"(?<!^)\b(?!if\b|for\b|while\b|switch\b|return\b|sizeof\b)(\w+)\(|(?<== ){|(?<=\)){", re.M)
FIX = "Fix: assign one of them to a local variable first"


def without_comments(text):
    """Returns the text with blanks for comments and strings, so that lines keep their numbers."""
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', lambda match: re.sub(r"[^\n]", " ", match.group()), text, flags=re.S)


def find_writers(texts):
    """Returns the names of functions and macros that write, themselves or by a call."""
    bodies = {}
    for text in texts:
        for name, body, macro, replacement in FUNCTION.findall(text):
            bodies[name or macro] = bodies.get(name or macro, "") + body + replacement
        for macro, name in re.findall(r"^([A-Z]+)\((\w+),", text, re.M):  # a macro that defines a function
            bodies[name] = macro + "()"
    calls = {name: set(CALL.findall(body)) for name, body in bodies.items()}
    writers = {name for name, body in bodies.items() if WRITES.search(body)}
    while more := {name for name in calls if name not in writers and calls[name] & writers}:
        writers |= more
    return writers


def split(text, at):
    """Returns the arguments or elements in the brackets that open at `at`."""
    parts, depth, start = [], 0, at + 1
    for i in range(at, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0 or (depth == 1 and text[i] == ","):
            parts.append(text[start:i])
            start = i + 1
        if depth == 0:
            break
    return parts


def find_pairs(text, writers):
    """Yields line numbers and the texts of two arguments that write.  Statements are no arguments."""
    for match in ARGUMENTS.finditer(text):
        found = [part for part in split(text, match.end() - 1) if ";" not in part and writers & set(CALL.findall(part))]
        if len(found) > 1:
            yield text.count("\n", 0, match.start()) + 1, [" ".join(part.split()) for part in found[:2]]


def self_test():
    text = "reg\nput(gen *g)\n{\n  code_put(g);\n}\n#define ADD(g, a, b) put(g)\n"
    writers = find_writers([text, "#define MAKE(name, op) ADD(g, op, op)\nMAKE(sum, 1)\n", "reg\npure(gen *g)\n{\n  (void)g;\n}\n"])
    assert writers == {"put", "ADD", "sum", "MAKE"}, writers
    for bad in ("  f(put(g), x, ADD(g, 1, 2));", "  x = f(g(put(g)), put(g));", "  const reg r[2] = {put(g), put(g)};",
                "  f((const reg[]){put(g), put(g)});", "  ADD(g, put(g),\n      put(g));", "  if (f(put(g), put(g)))"):
        assert list(find_pairs(bad, writers)), bad
    for good in ("  f(put(g), x, pure(g));", "  const reg a = put(g), b = put(g);", "  WHEN(g, put(g), { put(g); });", "  if (put(g)) {\n    put(g);\n  }"):
        assert not list(find_pairs(good, writers)), good


if sys.argv[1:] == ["--self-test"]:
    self_test()
    sys.exit(0)
root = pathlib.Path(sys.argv[1])
failed = False
for folder in FOLDERS:
    paths = [path for path in sorted((root / folder).rglob("*")) if path.suffix in (".c", ".h")]
    texts = [without_comments(path.read_text(encoding="utf-8")) for path in paths + sorted((root / "codegen/common").glob("*.[ch]"))]
    writers = find_writers(texts)
    for path, text in zip(paths, texts):
        for line, (first, second) in find_pairs(text, writers):
            failed = True
            print(f"{path.relative_to(root)}:{line}: '{first}' and '{second}' write in an order that C does not define\n{FIX}")
sys.exit(failed)
