#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the current plugin interface contains a frozen one, so that plugins built with the frozen headers still work.

For each item of the frozen headers: enum constants keep their values, structs their fields in order (with more fields only at the end,
if the first field is struct_size or arrays have a stride), macros their text, types their definition, and ops of ops.def their
number and facts.  Comments, and the bodies of inline functions, may change.

usage: abi.py FROZEN CURRENT           two folders of headers; plugin.h and its includes are compared
       abi.py itself FROZEN CURRENT    changes copies of the current headers, and checks that each change is reported
"""
import pathlib
import re
import shutil
import sys
import tempfile

# Macros with a header's version, or with a list of all items.
VERSIONS = {"VYRE_PLUGIN_ABI", "VYRE_OPSET_VERSION", "VYRE_ANALYSES", "VYRE_COLUMNS", "VYRE_SEMANTICS", "VYRE_SHARING"}
STRIDED = {"vyre_op_info"}


def plain(text):
    """Returns the text without comments and line continuations, with single spaces."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S).replace("\\\n", " ")
    return re.sub(r"[ \t]+", " ", text)


def enum_values(body):
    """Returns the text of each constant's value; a constant without a value counts on from the last value."""
    values, base, step = {}, "0", 0
    for part in filter(None, (part.strip() for part in body.split(","))):
        if part.startswith("#"):
            continue
        name, _, value = (piece.strip() for piece in part.partition("="))
        base, step = (value, 0) if value else (base, step)
        values[name] = f"{base} + {step}"
        step += 1
    return values


def headers(folder):
    names, left = [], ["plugin.h"]
    while left:
        names.append(left.pop())
        left += set(re.findall(r'^#include "vyre/([\w.]+)"', (folder / names[-1]).read_text(), re.M)) - {*names, *left}
    return [folder / name for name in sorted(names)]


def read(folder):
    """Returns the definitions of the headers by (kind, name)."""
    found = {}
    for path in headers(folder):
        text = plain(path.read_text())
        if path.name == "ops.def":
            for number, facts in re.findall(r"^ ?VYRE_OP\( ?(\d+),(.*)\)$", text, re.M):
                found["op", int(number)] = facts.replace(" ", "")
            continue
        for name, body in re.findall(r"^ ?# ?define (\w+(?:\([^)]*\))?) ?(.*)$", text, re.M):
            found.setdefault(("macro", name), []).append(body.strip())  # one for each platform
        text = re.sub(r"^ ?#.*$", "", text, flags=re.M)
        for name, body in re.findall(r"\benum (\w+) ?\{(.*?)\}", text, re.S):
            found["enum", name] = enum_values(re.sub(r"\s+", " ", body))
        for name, body in re.findall(r"\bstruct (\w+) ?\{(.*?)\n\}", text, re.S):
            found["struct", name] = [re.sub(r"\s+", " ", field).strip() for field in body.split(";") if field.strip()]
        for statement in re.findall(r"^ ?(typedef [^{};]*);", text, re.M):
            found["type", re.sub(r"\s+", " ", statement)] = True
        for statement in re.findall(r"^ ?(?:VYRE_MUST_USE )?static inline ([^{]*)\{", text, re.M):
            found["inline function", re.sub(r"\s+", " ", statement).strip()] = True
    return found


def is_kept(kind, name, then, now):
    if kind == "enum":
        return all(now.get(constant) == value for constant, value in then.items())
    if kind == "struct":
        grows = then[0] == "uint32_t struct_size" or name in STRIDED
        return now == then or (grows and now[: len(then)] == then)
    if kind == "macro":
        return [text for text in now if text in then] == then  # a new platform may add one
    return now == then


def check(frozen, current):
    """Returns the differences, and the number of items of each kind."""
    then, now = read(frozen), read(current)
    errors = []
    for (kind, name), what in then.items():
        if kind == "macro" and (name in VERSIONS or name.startswith(("VYRE_LAYOUT", "VYRE_OP("))):
            continue
        if (kind, name) not in now:
            errors.append(f"the {kind} '{name}' is missing\nFix: restore it as {frozen} defines it, because plugins use it")
        elif not is_kept(kind, name, what, now[kind, name]):
            errors.append(f"the {kind} '{name}' has changed\n  frozen: {what}\n  now: {now[kind, name]}\nFix: restore the frozen definition, and add new parts after it")
    return errors, {kind: sum(1 for k, _ in then if k == kind) for kind, _ in then}


# Header, old text, new text, and whether plugins still work.
BROKEN = [
    ("plugin.h", "VYRE_PARAM_UINT = 2", "VYRE_PARAM_UINT = 5", False),
    ("plugin.h", "VYRE_PARAM_TEXT = 4,", "VYRE_PARAM_TEXT = 4, VYRE_PARAM_MORE = 5,", True),
    ("plugin.h", "  uint32_t pass_count;", "  uint32_t pass_count; uint32_t more;", True),
    ("plugin.h", "  uint32_t pass_count;", "  uint64_t pass_count;", False),
    ("plugin.h", "  uint32_t abi; /* the least", "  uint32_t more; uint32_t abi; /* the least", False),
    ("plugin.h", "  bool (*fold)(", "  int (*fold)(", False),
    ("phases.h", "  VYRE_STEP_LEVELS,", "  VYRE_STEP_MORE, VYRE_STEP_LEVELS,", False),
    ("phases.h", "  uint32_t end;", "  uint32_t more; uint32_t end;", False),
    ("phases.h", "  uint64_t size;", "  uint64_t size, more;", False),
    ("phases.h", "/* in bytes */", "/* in octets */", True),
    ("types.h", "#define VYRE_CASE_DEFAULT 1u", "#define VYRE_CASE_DEFAULT 2u", False),
    ("types.h", "#define VYRE_NONE ((vyre_row){0})", "", False),
    ("plugin.h", "__declspec(dllexport)", "__declspec(dllimport)", True),
    ("ops.def", "VYRE_OP(  2, workgroup,", "VYRE_OP(  2, team,", False),
    ("ops.def", "VYRE_OP(  1, program,", "", False),
]


def itself(frozen, current):
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for name, old, new, is_right in BROKEN:
            copy = pathlib.Path(folder) / "vyre"
            shutil.copytree(current, copy, dirs_exist_ok=True)
            text = (copy / name).read_text()
            (copy / name).write_text(text.replace(old, new, 1))
            if old not in text or (not check(frozen, copy)[0]) != is_right:
                wrong.append(f"{name}: '{old}' as '{new}' is {'reported' if is_right else 'not reported'}, or the text is missing")
    return wrong


def main(arguments):
    frozen, current = (pathlib.Path(path) for path in arguments[-2:])
    if arguments[0] == "itself":
        errors, counts = itself(frozen, current), {"change": len(BROKEN)}
    else:
        errors, counts = check(frozen, current)
        errors += [f"there are no {kind}s" for kind in ("op", "enum", "struct", "type", "macro", "inline function") if counts.get(kind, 0) < 3]
    print("\n".join([*errors, ", ".join(f"{kind}: {count}" for kind, count in counts.items()) + f"; {len(errors)} errors"]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
