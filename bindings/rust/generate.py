#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generate.py [--check] [INCLUDE_DIR]

Writes the Rust declarations of vyre's C headers, and the facts about their layout that vyre-sys/tests/layout.rs compares.
INCLUDE_DIR has the folder `vyre`; default: include/ of this tree. With --check, writes the facts alone, which are not in git, and
exits with 1 if the declarations differ.

The parser knows the style of these headers and no more of C. A declaration of another form is an error.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
# The headers in the order of their includes, and the names to take from a header, or None for all.
HEADERS = {
    "status.h": None,
    "types.h": None,
    "phases.h": None,
    "plugin.h": None,
    "run.h": ["vyre_specialization"],
    "optimize.h": None,
}
SCALARS = {"void": "c_void", "char": "c_char", "bool": "bool", "size_t": "usize"}
SCALARS.update({f"uint{bits}_t": f"u{bits}" for bits in (8, 16, 32, 64)})
KEYWORDS = {"loop", "self", "type"}


class Output:
    def __init__(self):
        self.rust, self.functions = [], []
        self.constants = {"UINT32_MAX": 2**32 - 1}  # values by name
        self.own_constants = []
        self.structs = {}  # fields by name
        self.known = dict(SCALARS)


def fail(message, fix):
    sys.exit(f"generate.py: {message}\nFix: {fix}")


def evaluate(output, text):
    """Returns the value of a constant expression, or None if the text is not one."""
    text = re.sub(r"\bUINT32_C\((\w+)\)", r"\1", text)
    text = re.sub(r"\bVYRE_ABI\((\d+), (\d+)\)", r"(\1 << 16 | \2)", text)
    text = re.sub(r"\b(0x[0-9a-f]+|\d+)u\b", r"\1", text)
    if not re.fullmatch(r"[\w\s()|<+-]+", text) or any(
        name not in output.constants for name in re.findall(r"\b[A-Za-z_]\w*", text)
    ):
        return None
    return eval(text, {}, output.constants)  # pylint: disable=eval-used


def escape(name):
    return name + "_" if name in KEYWORDS else name


def split_arguments(text):
    """Splits at commas outside of parentheses."""
    return [] if text.strip() in ("", "void") else [part.strip() for part in re.split(r",(?![^(]*\))", text)]


def rust_type(output, base, stars, arrays="", is_argument=False):
    """Returns the type of a declarator: `const char`, `*const *`, `[4]`."""
    match = re.fullmatch(r"(const )?(?:struct )?(\w+)", base.strip())
    if not match or match[2] not in output.known:
        fail(f"unknown type '{base}'", "add its header to HEADERS")
    is_const, result = bool(match[1]), output.known[match[2]]
    for star in re.findall(r"\*\s*(?:const\b)?", stars):
        result = ("*const " if is_const else "*mut ") + result
        is_const = star.endswith("const")
    lengths = re.findall(r"\[(\w*)\]", arrays)
    if lengths and is_argument:
        return ("*const " if is_const else "*mut ") + result
    for length in reversed(lengths):
        result = f"[{result}; {evaluate(output, length)}]"
    return result


def parse_declaration(output, text, is_argument=False):
    """Returns the names and types of `const uint32_t *a, *b` or `void (*emit)(void *user)`."""
    text = " ".join(text.split())
    pointer = re.fullmatch(r"(.*?)((?:\*\s*)*)\(\*(\w+)\)\((.*)\)", text)
    if pointer:
        arguments = [parse_declaration(output, part, True)[0][1] for part in split_arguments(pointer[4])]
        returned = rust_type(output, pointer[1], pointer[2])
        result = "" if returned == "c_void" else f" -> {returned}"
        return [(escape(pointer[3]), f"unsafe extern \"C\" fn({', '.join(arguments)}){result}")]
    match = re.fullmatch(r"((?:const )?(?:struct )?\w+)\s*(.+)", text)
    result = []
    for declarator in match[2].split(",") if match else []:
        parts = re.fullmatch(r"\s*((?:\*\s*(?:const\b\s*)?)*)(\w+)((?:\[\w*\])*)", declarator)
        if not parts:
            fail(f"cannot parse '{text}'", "write it in the style of the other declarations")
        result.append((escape(parts[2]), rust_type(output, match[1], parts[1], parts[3], is_argument)))
    return result


def add_constant(output, name, text):
    """Adds a constant, unless the text is not a number."""
    value = evaluate(output, text)
    if value is None:
        return
    output.constants[name] = value
    output.own_constants.append(name)
    output.rust.append(f"pub const {name}: u32 = {value if value < 1024 else hex(value)};")


def add_enum(output, name, body, operations):
    output.known[name] = name
    output.rust.append(f"\npub type {name} = u32;")
    value = -1
    for item in split_arguments(body) if name != "vyre_opcode" else operations:
        match = re.fullmatch(r"(\w+)(?:\s*=\s*(.+))?", item, re.DOTALL)
        if match:
            add_constant(output, match[1], match[2] or str(value + 1))
            value = output.constants[match[1]]


def add_opaque(output, name):
    output.known[name] = name
    output.rust.append(f"\n#[repr(C)]\npub struct {name} {{\n    _private: [u8; 0],\n}}")


def add_struct(output, name, body):
    fields = []
    output.known[name] = name
    for text in filter(str.strip, body.split(";")):
        fields += parse_declaration(output, text)
    if name != "vyre_host":  # whose functions are never NULL
        fields = [(field, f"Option<{kind}>" if kind.startswith("unsafe") else kind) for field, kind in fields]
    output.structs[name] = [field for field, _ in fields]
    lines = "".join(f"    pub {field}: {kind},\n" for field, kind in fields)
    output.rust.append(f"\n#[repr(C)]\n#[derive(Clone, Copy)]\npub struct {name} {{\n{lines}}}")


def add_function(output, result, name, arguments):
    texts = [parse_declaration(output, part, True)[0] for part in split_arguments(arguments)]
    match = re.fullmatch(r"(.*?)\s*(\**)", result.strip())
    returned = rust_type(output, match[1], match[2])
    arrow = "" if returned == "c_void" else f" -> {returned}"
    output.functions.append(f"    pub fn {name}({', '.join(f'{n}: {t}' for n, t in texts)}){arrow};")


def add_header(output, include, header, wanted):
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", (include / "vyre" / header).read_text(), flags=re.DOTALL)
    text = text.replace("\\\n", " ")
    table = (include / "vyre" / "ops.def").read_text()
    operations = [f"VYRE_OP_{name} = {number}" for number, name in re.findall(r"^VYRE_OP\(\s*(\d+), (\w+),", table, re.M)]
    struct_names = re.findall(r"struct (\w+) \{", text)
    forms = [
        (r"#define (\w+) +([^\n]+)", lambda m: add_constant(output, m[1], m[2])),
        (r"#[^\n]*|static inline[^;{]*\{.*?\n\}|extern \"C\" \{|\}|VYRE_LAYOUT\([^;]*;", lambda m: None),
        (r"[^;{}]*\bVYRE_PRINTF\([^;]*;", lambda m: None),  # has variable arguments
        (r"typedef enum (\w+) \{(.*?)\} \w+;", lambda m: add_enum(output, m[1], m[2], operations)),
        (r"(?:typedef )?struct (\w+) \{(.*?)\}[ \w]*;", lambda m: add_struct(output, m[1], m[2])),
        (r"typedef struct (\w+) (\w+);", lambda m: m[1] in struct_names or add_opaque(output, m[1])),
        (r"typedef struct (\w+) \*(\w+);", lambda m: (add_opaque(output, m[1]), add_type(output, m[2], f"*mut {m[1]}"))),
        (r"typedef (\w+) (\w+);", lambda m: add_type(output, m[2], output.known[m[1]])),
        (r"typedef ([^;]*\(\*\w+\)\([^;]*\));", lambda m: add_type(output, *parse_declaration(output, m[1])[0])),
        (r"(?:VYRE_MUST_USE )?([\w ]+[ *])(vyre_\w+)\(([^()]*)\);", lambda m: add_function(output, m[1], m[2], m[3])),
    ]
    # A struct may name a struct of its header before the definition.
    output.known.update({name: name for name in struct_names})
    at = 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        for pattern, add in forms:
            match = re.compile(pattern, re.DOTALL).match(text, at)
            if match:
                if not wanted or (match.lastindex and match[1] in wanted):
                    add(match)
                at = match.end()
                break
        else:
            if not wanted:
                fail(f"{header}: cannot parse '{text[at:at + 60]}'", "write it in the style of the other declarations")
            at = text.index("\n", at) + 1


def add_type(output, name, kind):
    output.known[name] = name
    output.rust.append(f"\npub type {name} = {kind};")


def generate(include):
    output = Output()
    for header, wanted in HEADERS.items():
        add_header(output, include, header, wanted)
    note = "Written by generate.py from vyre's headers, which document all of it."
    rust = [f"// SPDX-License-Identifier: Apache-2.0\n// {note}", "use std::os::raw::{c_char, c_void};"] + output.rust
    rust += ['\n#[cfg(feature = "link")]\n#[link(name = "vyre")]\nextern "C" {'] + output.functions + ["}"]
    c_facts, rust_facts = [], []
    for name in output.own_constants:
        c_facts.append(f'  printf("{name} %llu\\n", (unsigned long long){name});')
        rust_facts.append(f'    add("{name}", {name} as usize);')
    for name, fields in output.structs.items():
        c_facts.append(f'  printf("{name} %zu\\n", sizeof({name}));')
        rust_facts.append(f'    let base = MaybeUninit::<{name}>::uninit();\n    let base = base.as_ptr();')
        rust_facts.append(f'    add("{name}", size_of::<{name}>());')
        for field in fields:
            c_name = field[:-1] if field[:-1] in KEYWORDS else field
            c_facts.append(f'  printf("{name}.{field} %zu\\n", offsetof({name}, {c_name}));')
            rust_facts.append(f'    add("{name}.{field}", unsafe {{ addr_of!((*base).{field}) }} as usize - base as usize);')
    c = [f"/* {note}\n *\n * SPDX-License-Identifier: Apache-2.0 */", "#include <stdio.h>", "#include <vyre/optimize.h>"]
    c += ["#include <vyre/plugin.h>\n", "int\nmain(void)\n{"] + c_facts + ["  return 0;\n}"]
    facts = [f"// SPDX-License-Identifier: Apache-2.0\n// {note}", "use std::mem::{size_of, MaybeUninit};"]
    facts += ["use std::ptr::addr_of;", "use vyre_sys::*;\n", "pub fn list(add: &mut dyn FnMut(&str, usize)) {"] + rust_facts + ["}"]
    files = {"vyre-sys/src/generated.rs": rust, "vyre-sys/tests/facts/mod.rs": facts, "vyre-sys/tests/facts/facts.c": c}
    return {name: "\n".join(lines) + "\n" for name, lines in files.items()}


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    include = pathlib.Path(arguments[0]) if arguments else HERE.parent.parent / "include"
    for name, text in generate(include).items():
        path = HERE / name
        if "--check" not in sys.argv or "facts" in name:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            fail(f"bindings/rust/{name} differs from the headers", "run bindings/rust/generate.py")


main()
