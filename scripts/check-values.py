#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What exported SPIR-V tells a debugger of a variable is what the variable was in the source: shown by execution, over random programs.

usage: check-values.py BUILD FOLDER [--seed N] [--count N]        (Debian: spirv-tools; what fails is kept in FOLDER)

A program is written twice.  One text notes in a buffer what each variable is given, which the interpreter runs: `given`.  The other one, plain, is
compiled with -gV by a pipeline; after each DebugValue its SPIR-V is made to note that value, and is run, too: `told`.  Both are taken apart by call,
variable and component, and `told` has to be a way through `given`, which consists of values, and of NOTHING where a variable has none: its scope
is entered or left, or it is declared without a value.

  R1  A told value is the one that the variable has got, or the next one that it gets: none is skipped, for a debugger would go on with the one before;
      none comes again that has gone, and none is told that never was.
  R2  Values alike in a row are one: nobody sees that one of them is not told, or told twice (where paths meet all is told again).
  R3  A value may be told late: for one that no instruction makes it is where paths meet.  So the two are compared by their order alone.
  R4  Until something is told of the variable for the first time, no value need be told: a debugger says that it does not know.
  R5  After the last one that was given, the last one that was told is it.
  R6  Where a variable has NOTHING, what it has had, is given later, or zero may be told, or nothing: it is out of scope or undefined, but a phi has
      some value there.  If it has one value at most each time that it is in scope, any may be told: the instruction may have been moved out of
      there, and be run where the source does not.

What a pass leaves out is left out: nothing is asked of a variable of which nothing is told.  But a floor is set under how many are told.
What the program writes is compared as well.
"""
import argparse
import collections
import itertools
import pathlib
import random
import re
import shlex
import shutil
import struct
import subprocess
import sys

PIPELINES = ["no-op", "default<O2>"]  # of each program, and one of:
OTHERS = ["default<O1>", "licm", "cse,dce", "pm,dce", "dbe,dce", "simplify,dce", "cprop,dce", "expand", "remainder", "early", "contract", "canon,cf,dce",
          "licm,cse,dse,dce", "fixpoint(canon,cf,dbe,licm,dce)", "default<O3>"]
FLOORS = {"no-op": 0.6, "default<O2>": 0.07}  # of the variables, those of which something is told
NOTHING = None
GIVEN_WORDS, TOLD_WORDS = 3, 2
MOST_WORDS = 1 << 16
INPUTS, OUTPUTS, MOST_CALLS = 8, 16, 60
BATCH = 25

SCALARS = ["int", "uint", "float", "bool"]
TYPES = {"int": 8, "float": 6, "uint": 3, "bool": 3, "vec2": 2, "vec3": 3, "vec4": 2, "Pair": 2, "int[3]": 1, "mat2": 1}


def lanes(text, indices, count):
    return [(f"{text}.{'xyzw'[k]}", indices + (k,), "float") for k in range(count)]


COMPONENTS = {  # what to write after the variable, the indices that lead there, and its type
    **{scalar: [("", (), scalar)] for scalar in SCALARS},
    **{f"vec{n}": lanes("", (), n) for n in (2, 3, 4)},
    "Pair": [(".a", (0,), "int")] + lanes(".b", (1,), 2),
    "int[3]": [(f"[{k}]", (k,), "int") for k in range(3)],
    "mat2": lanes("[0]", (0,), 2) + lanes("[1]", (1,), 2),
}

HEAD = """#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer In { int given[%d]; };
layout(set = 0, binding = 1) buffer Out { int result[%d]; };
struct Pair { int a; vec2 b; };
""" % (INPUTS, OUTPUTS)
NOTES = """layout(set = 0, binding = 2) buffer Notes { uint count; uint words[%d]; };
uint path = 0u;
void word(uint key, uint bits) { if (count < %du) { words[count] = path; words[count + 1u] = key; words[count + 2u] = bits; } count += 3u; }
uint bits(int x) { return uint(x); }
uint bits(uint x) { return x; }
uint bits(float x) { return floatBitsToUint(x); }
uint bits(bool x) { return x ? 1u : 0u; }
int keep(uint key, int x) { word(key, uint(x)); return x; }
""" % (MOST_WORDS, MOST_WORDS - 3)
NO_VALUE = 1 << 31  # with a key


# ---- programs ----

class Variable:
    def __init__(self, number, kind):
        self.number, self.type, self.name = number, kind, f"v{number}"
        self.held = False  # a loop counts with it

    def key(self, k):
        return self.number * 16 + k

    def note(self):
        return [(None, "".join(f"word({self.key(k)}u, bits({self.name}{text})); " for k, (text, _, _) in enumerate(COMPONENTS[self.type])), 0)]

    def forget(self):
        return [(None, "".join(f"word({self.key(k) | NO_VALUE}u, 0u); " for k in range(len(COMPONENTS[self.type]))), 0)]


class Scope:
    def __init__(self, kind):
        self.kind, self.variables = kind, []


class Function:
    def __init__(self, name, result, ways):
        self.name, self.result, self.ways, self.parameters = name, result, ways, []


class Generator:
    """Lines are (plain, noting, call): texts or None, and the number of the call that is there, or 0."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.size = self.random.choice([4, 6, 8, 12, 16, 24])
        self.variables, self.functions, self.scopes, self.lines = [], [], [], []
        self.defined, self.calls, self.depth, self.function = set(), 0, 0, None
        text = []
        for k in range(self.random.choice([0, 0, 1, 1, 2, 3])):
            text += self.make_function(f"f{k}")
        text += self.make_main()
        self.plain, self.noting, self.call_of_line = self.render(text)

    def render(self, text):
        plain, noting, calls = HEAD.splitlines(), (HEAD + NOTES).splitlines(), {}
        for line, with_notes, call in text:
            if with_notes is not None:
                noting.append(with_notes)
            if line is not None:
                plain.append(line)
            if call:
                calls[len(plain)] = call
        return "\n".join(plain) + "\n", "\n".join(noting) + "\n", calls

    def one_in(self, n):
        return self.random.randrange(n) == 0

    # -- expressions --

    def visible(self, kind=None, written=False):
        return [v for scope in self.scopes for v in scope.variables
                if (kind is None or v.type == kind) and (v in self.defined or written) and not (written and v.held)]

    def parts(self, kind):
        return [v.name + text for v in self.visible() for text, _, scalar in COMPONENTS[v.type] if scalar == kind]

    def literal(self, kind):
        n = self.random.choice([0, 1, 2, 3, 5, 7])
        return {"int": str(n), "uint": f"{n}u", "float": f"{n}.0", "bool": self.random.choice(["true", "false"])}[kind]

    def leaf(self, kind):
        known = self.parts(kind)
        if known and not self.one_in(4):
            return self.random.choice(known)
        if self.one_in(2):
            return self.literal(kind)
        given = f"given[{self.random.randrange(INPUTS)}]"
        return {"int": given, "uint": f"uint({given})", "float": f"float({given})", "bool": f"({given} > 1)"}[kind]

    def scalar(self, kind, depth):
        if depth == 0:
            return self.leaf(kind)
        a, b = self.scalar(kind, depth - 1), self.scalar(kind, self.random.randrange(depth))
        if self.one_in(6):
            return f"({self.scalar('bool', depth - 1)} ? {a} : {b})"
        if kind == "bool":
            number = self.random.choice(["int", "uint", "float"])
            x, y = self.scalar(number, depth - 1), self.scalar(number, 0)
            return self.random.choice([f"({x} < {y})", f"({x} >= {y})", f"({a} && {b})", f"({a} || {b})", f"({a} != {b})", f"!{a}"])
        if kind == "float":  # whole numbers, and small: exact, whatever is made of them
            return self.random.choice([f"clamp({a} + {b}, -99.0, 99.0)", f"clamp({a} * {b}, -99.0, 99.0)", f"min({a}, {b})", f"max({a}, {b})",
                                       f"float({self.scalar('int', depth - 1)} & 63)", f"clamp({a} - {b}, -99.0, 99.0)"])
        other = f"{kind}({self.scalar('uint' if kind == 'int' else 'int', depth - 1)})"
        of_float = f"{kind}(abs({self.scalar('float', depth - 1)}))"
        return self.random.choice([f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} & {b})", f"({a} ^ {b})", f"({a} >> 1)", f"min({a}, {b})", other,
                                   of_float])

    def value(self, kind):
        """An expression of any type."""
        depth = self.random.choice([0, 1, 1, 2, 2, 3])
        same = self.visible(kind)
        if same and self.one_in(4):
            return self.random.choice(same).name
        if kind in SCALARS:
            return self.scalar(kind, depth)
        if kind.startswith("vec"):
            n = int(kind[3])
            if same and self.one_in(2):
                v, other = self.random.choice(same).name, self.random.choice([self.random.choice(same).name, f"{kind}({self.scalar('float', 1)})"])
                return self.random.choice([f"clamp({v} + {other}, -99.0, 99.0)", f"min({v}, {other})", f"{v}.{''.join(self.random.choices('xyzw'[:n], k=n))}"])
        arguments = [self.scalar(scalar, min(depth, 1)) for _, _, scalar in COMPONENTS[kind]]
        if kind == "Pair":
            return f"Pair({arguments[0]}, vec2({arguments[1]}, {arguments[2]}))"
        return f"{kind}({', '.join(arguments)})"

    # -- statements --

    def new(self, kind=None, scope=None):
        v = Variable(len(self.variables), kind or self.random.choices(list(TYPES), list(TYPES.values()))[0])
        self.variables.append(v)
        (scope or self.scopes[-1]).variables.append(v)
        return v

    def both(self, text):
        self.lines.append((text, text, 0))

    def wrote(self, v):
        self.defined.add(v)
        self.lines += v.note()

    def declare(self):
        kind = self.random.choices(list(TYPES), list(TYPES.values()))[0]
        if (kind in SCALARS or kind.startswith("vec")) and self.one_in(3):
            v = self.new(kind)
            self.both(f"{kind} {v.name};")
            return
        value = self.value(kind)
        v = self.new(kind)
        self.both(f"{kind} {v.name} = {value};")
        self.wrote(v)

    def assign(self):
        targets = self.visible(written=True)
        if not targets:
            return self.declare()
        v = self.random.choice(targets)
        kind, parts = v.type, COMPONENTS[v.type]
        if v not in self.defined or (kind in SCALARS and self.one_in(2)) or self.one_in(3):
            self.both(f"{v.name} = {self.value(kind)};")
        elif kind in ("int", "uint") and self.one_in(2):
            self.both(self.random.choice([f"{v.name}++;", f"{v.name} += {self.scalar(kind, 1)};", f"{v.name} *= {self.scalar(kind, 0)};", f"--{v.name};",
                                          f"{v.name} ^= {self.scalar(kind, 1)};"]))
        elif kind == "int[3]" and self.one_in(6):
            self.both(f"{v.name}[min(uint({self.scalar('int', 1)}), 2u)] = {self.scalar('int', 1)};")
        elif kind in ("vec2", "vec3", "vec4") and self.one_in(3):
            self.both(f"{v.name}.xy = {v.name}.yx;")
        else:
            text, _, scalar = self.random.choice(parts)
            self.both(f"{v.name}{text} = {self.scalar(scalar, self.random.randrange(3))};")
        self.wrote(v)

    def swap(self):
        known = [v for v in self.visible() if not v.held]
        pairs = [(a, b) for a in known for b in known if a is not b and a.type == b.type]
        if not pairs:
            return self.assign()
        a, b = self.random.choice(pairs)
        t = self.new(a.type)
        self.both(f"{a.type} {t.name} = {a.name};")
        self.wrote(t)
        self.both(f"{a.name} = {b.name};")
        self.wrote(a)
        self.both(f"{b.name} = {t.name};")
        self.wrote(b)

    def output(self):
        self.both(f"result[{self.random.randrange(OUTPUTS)}] = {self.scalar('int', self.random.randrange(3))};")

    def call(self):
        if not self.functions or self.calls >= MOST_CALLS:
            return self.assign()
        f = self.random.choice(self.functions)
        arguments, wrote = [], []
        for way, p in zip(f.ways, f.parameters):
            if way == "in":
                arguments.append(self.value(p.type))
                continue
            fits = [v for v in self.visible(p.type, written=way == "out") if v not in wrote and not v.held]
            if not fits:
                return self.assign()
            wrote.append(self.random.choice(fits))
            arguments.append(wrote[-1].name)
        self.calls += 1
        text = f"{f.name}({', '.join(arguments)});"
        if f.result:
            fits = [v for v in self.visible(f.result, written=True) if v not in wrote]
            if fits and self.one_in(2):
                to = self.random.choice(fits)
                text = f"{to.name} = {text}"
            else:
                to = self.new(f.result)
                text = f"{f.result} {to.name} = {text}"
            wrote.append(to)
        self.lines.append((text, f"path = path * 64u + {self.calls}u; {text} path = path / 64u;", self.calls))
        for v in wrote:
            self.wrote(v)

    def block(self, kind, size, first=(), variables=()):
        """Its lines, whether its end is reached, and what is defined there."""
        saved, self.lines = self.lines, []
        before, scope = set(self.defined), Scope(kind)
        scope.variables += variables
        self.scopes.append(scope)
        self.lines += first
        self.depth += 1
        goes_on = True
        for _ in range(size):
            if not self.statement():
                goes_on = False
                break
        self.depth -= 1
        if goes_on and kind == "function":
            self.leave_function(None)
        elif goes_on:
            self.lines += self.forget([scope])
        self.scopes.pop()
        lines, self.lines = self.lines, saved
        defined, self.defined = self.defined, before
        return self.forget([scope]) + lines, goes_on, defined & before if kind == "function" else defined

    @staticmethod
    def forget(scopes):
        return [line for scope in scopes for v in scope.variables for line in v.forget()]

    def inner(self):
        return self.random.randrange(1, 5)

    def branch(self):
        condition, two = self.scalar("bool", self.random.randrange(1, 3)), self.one_in(2)
        then, then_goes, then_defined = self.block("block", self.inner())
        other, other_goes, other_defined = self.block("block", self.inner()) if two else ([], True, set(self.defined))
        self.both(f"if ({condition}) {{")
        self.lines += then
        if two:
            self.both("} else {")
            self.lines += other
        self.both("}")
        self.defined |= then_defined & other_defined if then_goes and other_goes else then_defined if then_goes else other_defined
        return then_goes or other_goes

    def count_loop(self):
        bound = self.random.choice(["2", "3", "4", f"({self.scalar('int', 1)} & 3)"])
        around = Scope("for")
        v = self.new("int", around)
        v.held = True
        self.lines += v.forget()
        self.scopes.append(around)
        self.defined.add(v)
        body, _, _ = self.block("loop", self.inner())
        if self.one_in(6):
            self.both(f"for (int {v.name} = 0; {v.name} < {bound}; {v.name}++) {{")
            self.lines[-1] = (self.lines[-1][0], None, 0)
            self.lines.append((None, f"for (int {v.name} = keep({v.key(0)}u, 0); {v.name} < {bound}; {v.name} = keep({v.key(0)}u, {v.name} + 1)) {{", 0))
        else:
            start, step = self.random.randrange(2), self.random.choice([1, 1, 2])
            self.lines.append((f"for (int {v.name} = {start}; {v.name} < {bound}; {v.name} += {step}) {{",
                               f"for (int {v.name} = keep({v.key(0)}u, {start}); {v.name} < {bound}; {v.name} = keep({v.key(0)}u, {v.name} + {step})) {{", 0))
        self.lines += body
        self.both("}")
        self.scopes.pop()
        self.lines += v.forget()
        return True

    def test_loop(self):
        """`while` or `do`, with a count of what is left."""
        v = self.new("int")
        self.both(f"int {v.name} = {self.scalar('int', 1)} & 3;")
        self.wrote(v)
        v.held = True
        down = [(f"{v.name}--;", f"{v.name}--;", 0)] + v.note()
        condition = f"{v.name} > 0"
        if self.one_in(3):
            condition += f" && {self.scalar('bool', 1)}"
        body, _, _ = self.block("loop", self.inner(), down)
        is_do = self.one_in(2)
        self.both("do {" if is_do else f"while ({condition}) {{")
        self.lines += body
        self.both(f"}} while ({condition});" if is_do else "}")
        return True

    def cases(self):
        self.both(f"switch ({self.scalar('int', 1)} & 3) {{")
        self.scopes.append(Scope("switch"))
        labels = ["case 0:", "case 1:", "case 2: case 3:", "default:"]
        labels = self.random.sample(labels, self.random.randrange(1, 5))
        for label in labels:
            body, goes_on, _ = self.block("case", self.random.randrange(1, 4))
            self.both(f"{label} {{")
            self.lines += body
            self.both("} break;" if goes_on and not self.one_in(3) else "}")
        self.scopes.pop()
        self.both("}")
        return True

    def jump(self):
        """`break`, `continue` or `return`; false: there is nothing to leave."""
        kinds = [scope.kind for scope in self.scopes]
        words = [word for word, of in (("break", ("loop", "switch")), ("continue", ("loop",)), ("return", ("function",)))
                 if any(kind in of for kind in kinds)]
        if len(kinds) < 2:
            return False
        word = self.random.choice(words)
        if word == "return":
            self.leave_function("return")
            return True
        inner = max(k for k, kind in enumerate(kinds) if kind == "loop" or (kind == "switch" and word == "break"))
        self.lines += self.forget(self.scopes[inner:])
        self.both(word + ";")
        return True

    def leave_function(self, word):
        f = self.function
        for v in self.visible():  # others are not used, and may go
            if not f.parameters and f.name == "main" and not self.one_in(3):
                text, _, _ = self.random.choice(COMPONENTS[v.type])
                self.both(f"result[{self.random.randrange(OUTPUTS)}] ^= int({v.name}{text});")
        for way, p in zip(f.ways, f.parameters):
            if way == "out" and p not in self.defined:
                self.both(f"{p.name} = {self.value(p.type)};")
                self.wrote(p)
                self.defined.discard(p)
        result = f"return {self.value(f.result)};" if f.result else "return;" if word else ""
        self.lines += self.forget(self.scopes)
        if result:
            self.both(result)

    def statement(self):
        """False: what follows is not reached."""
        if len(self.variables) > 90:
            return True
        flat = [(self.declare, 7), (self.assign, 9), (self.swap, 1), (self.output, 2), (self.call, 3)]
        nested = [(self.branch, 4), (self.count_loop, 2), (self.test_loop, 1), (self.cases, 1)]
        if self.depth > 1 and self.one_in(12) and self.jump():
            return False
        kinds = flat + (nested if self.depth < 5 else [])
        return self.random.choices([k for k, _ in kinds], [n for _, n in kinds])[0]() is not False

    # -- functions --

    def make_function(self, name):
        f = self.function = Function(name, self.random.choice([None, *SCALARS, "vec3", "Pair"]), [])
        f.ways = self.random.choices(["in", "out", "inout"], [3, 1, 1], k=self.random.randrange(4))
        self.scopes, self.defined, self.depth = [], set(), 0
        holder = Scope("function")
        f.parameters = [self.new(None, holder) for _ in f.ways]
        first = []
        for way, p in zip(f.ways, f.parameters):
            if way != "out":
                self.defined.add(p)
                first += p.note()
        text = ", ".join(f"{way} {p.type} {p.name}" for way, p in zip(f.ways, f.parameters))
        body, _, _ = self.block("function", self.random.randrange(1, 2 + self.size // 2), first, f.parameters)
        self.functions.append(f)
        return [(f"{f.result or 'void'} {name}({text}) {{",) * 2 + (0,)] + body + [("}", "}", 0)]

    def make_main(self):
        self.function = Function("main", None, [])
        self.scopes, self.defined, self.depth = [], set(), 0
        body, _, _ = self.block("function", self.size)
        return [("void main() {", "void main() {", 0)] + body + [("}", "}", 0)]


# ---- what SPIR-V tells ----

class Teller:
    """The text of SPIR-V in which each DebugValue notes what it tells."""

    def __init__(self, text):
        self.lines, self.of, self.ids = text.splitlines(), {}, {}
        for line in self.lines:
            match = re.match(r"\s*(%\w+) = (.*)", line)
            if match:
                self.of[match[1]] = match[2]
                self.ids.setdefault(match[2], match[1])
        self.made, self.keys, self.names, self.count = [], [], set(), 0
        self.uint, self.void = self.need("OpTypeInt 32 0"), self.need("OpTypeVoid")
        self.word = self.need(f"OpTypePointer StorageBuffer {self.uint}")
        self.zero, self.one = self.need(f"OpConstant {self.uint} 0"), self.need(f"OpConstant {self.uint} 1")

    def fresh(self):
        self.count += 1
        return f"%told{self.count}"

    def need(self, what):
        if what not in self.ids:
            self.ids[what] = self.fresh()
            self.of[self.ids[what]] = what
            self.made.append(f"{self.ids[what]} = {what}")
        return self.ids[what]

    def operands(self, id):
        """What comes after the type of an instruction, or after the number of one of the set for shaders."""
        words = self.of[id].split()
        return words[4:] if words[0] == "OpExtInst" else words[2:]

    def number(self, id):
        return int(self.operands(id)[0])

    def path_of(self, scope, call_of_line):
        """The calls that inlined it, from the outermost."""
        path, shift = 0, 0
        at = scope[1] if scope and len(scope) > 1 else None
        while at:
            operands = self.operands(at)
            path |= call_of_line[self.number(operands[0])] << shift
            shift += 6
            at = operands[2] if len(operands) > 2 else None
        return path

    def bits(self, id, kind, out):
        what = self.of[kind]
        if kind == self.uint:
            return id
        bits = self.fresh()
        if what == "OpTypeBool":
            out.append(f"{bits} = OpSelect {self.uint} {id} {self.one} {self.zero}")
        else:
            out.append(f"{bits} = OpBitcast {self.uint} {id}")
        return bits

    def note(self, path, variable, indices, id, kind, out):
        match = re.match(r"Op(?:TypeVector|TypeArray|TypeMatrix) (%\w+) (%?\w+)", self.of[kind])
        if match:
            count = self.number(match[2]) if match[2].startswith("%") else int(match[2])
            for k in range(count):
                part = self.fresh()
                out.append(f"{part} = OpCompositeExtract {match[1]} {id} {k}")
                self.note(path, variable, indices + (k,), part, match[1], out)
            return
        key = self.need(f"OpConstant {self.uint} {len(self.keys)}")
        self.keys.append((path, variable, indices))
        bits = self.bits(id, kind, out)
        out.append(f"{self.fresh()} = OpFunctionCall {self.void} %noted {key} {bits}")

    def instrument(self, call_of_line):
        out, scope = [], None
        function = self.need(f"OpTypeFunction {self.void} {self.uint} {self.uint}")
        for line in self.lines:
            out.append(line)
            match = re.search(r"OpExtInst \S+ \S+ (Debug\w+)(.*)", line)
            if re.search(r"= OpLabel|Debug(NoScope)\b", line):
                scope = None
            elif match and match[1] == "DebugScope":
                scope = match[2].split()
            elif match and match[1] in ("DebugDeclare", "DebugValue"):
                operands = match[2].split()
                name = self.of[self.operands(operands[0])[0]].split()[1].strip('"')
                self.names.add(name)
                if match[1] == "DebugValue":
                    kind = self.of[operands[1]].split()[1]
                    self.note(self.path_of(scope, call_of_line), int(name[1:]), tuple(self.number(k) for k in operands[3:]), operands[1], kind, out)
        return self.with_buffer(out, function)

    def with_buffer(self, lines, function):
        array, block, pointer, label = self.fresh(), self.fresh(), self.fresh(), self.fresh()
        decorations = [f"OpDecorate {array} ArrayStride 4", f"OpDecorate {block} Block", f"OpMemberDecorate {block} 0 Offset 0",
                       f"OpMemberDecorate {block} 1 Offset 4", "OpDecorate %told DescriptorSet 3", "OpDecorate %told Binding 3"]
        size = self.need(f"OpConstant {self.uint} {MOST_WORDS}")
        made = self.made + [f"{array} = OpTypeArray {self.uint} {size}", f"{block} = OpTypeStruct {self.uint} {array}",
                            f"{pointer} = OpTypePointer StorageBuffer {block}", f"%told = OpVariable {pointer} StorageBuffer"]
        a, b, n, p, q, r, m, l = (self.fresh() for _ in range(8))
        tail = [f"%noted = OpFunction {self.void} None {function}", f"{a} = OpFunctionParameter {self.uint}", f"{b} = OpFunctionParameter {self.uint}",
                f"{label} = OpLabel", f"{p} = OpAccessChain {self.word} %told {self.zero}", f"{n} = OpLoad {self.uint} {p}",
                f"{q} = OpAccessChain {self.word} %told {self.one} {n}", f"OpStore {q} {a}", f"{m} = OpIAdd {self.uint} {n} {self.one}",
                f"{r} = OpAccessChain {self.word} %told {self.one} {m}", f"OpStore {r} {b}", f"{l} = OpIAdd {self.uint} {m} {self.one}",
                f"OpStore {p} {l}", "OpReturn", "OpFunctionEnd"]
        first_type = next(k for k, line in enumerate(lines) if re.search(r"= OpType", line))
        first_function = next(k for k, line in enumerate(lines) if re.search(r"= OpFunction ", line))
        entry = next(k for k, line in enumerate(lines) if "OpEntryPoint" in line)
        lines = lines[:first_type] + decorations + lines[first_type:first_function] + made + lines[first_function:] + tail
        lines[entry] += " %told"
        return "\n".join(lines) + "\n"


# ---- the rules ----

def plain_bits(bits, kind):
    """Zeros are alike, and so are NaNs: they are what passes may change."""
    if kind == "float":
        if bits & 0x7fffffff == 0:
            return 0
        if bits & 0x7fffffff > 0x7f800000:
            return 0x7fc00000
    return bits


def wrong(given, told):
    """By the rules above: the index of the told value that is wrong; len(told): the last one is not the last; None: all are right."""
    had = {value for value in given if value is not NOTHING} | {0}
    stretches = [set(stretch) for is_nothing, stretch in itertools.groupby(given, lambda token: token is NOTHING) if not is_nothing]
    has_one = all(len(stretch) == 1 for stretch in stretches)

    def fits(token, value):
        return token == value if token is not NOTHING else has_one or value in had

    def further(at, last):
        """R2: and on from there, as far as nothing else is given."""
        out = set(at)
        for k in at:
            while k + 1 < len(given) and (given[k + 1] is NOTHING or given[k + 1] == last):
                k += 1
                out.add(k)
        return out

    at = set(range(len(given)))  # R4
    for k, value in enumerate(told):
        ahead = at if k == 0 else at | {p + 1 for p in at if p + 1 < len(given)}
        at = further({p for p in ahead if fits(given[p], value)}, value)
        if not at:
            return k
    return None if not told or len(given) - 1 in at else len(told)  # R5


# ---- runs ----

class Failure(Exception):
    pass


class Checker:
    def __init__(self, build, folder):
        self.bin, self.top, self.folder = pathlib.Path(build) / "bin", pathlib.Path(folder), None
        self.told, self.declared, self.runs = collections.Counter(), collections.Counter(), 0

    def run(self, *command):
        command = [str(word) for word in command]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        if done.returncode:
            raise Failure(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stdout.decode(errors='replace')}")

    def execute(self, program, inputs, notes):
        """What it wrote, and the words that it noted; None: they are too many."""
        out, said = self.folder / "out.bin", self.folder / "notes.bin"
        self.run(self.bin / "vyre-run", program, f"-buffer=0.0=values:{','.join(map(str, inputs))}", "-buffer=0.1=zero", f"-buffer={notes}=zero",
                 "-groups=1", f"-write=0.1={out}", f"-write={notes}={said}")
        words = struct.unpack(f"<{1 + MOST_WORDS}I", said.read_bytes())
        return out.read_bytes(), words[1:1 + words[0]] if words[0] <= MOST_WORDS - 3 else None

    def compile(self, seeds):
        """The programs of the seeds, both texts of each as VIR0: a process for many, which would need longer to begin than for one."""
        self.generators = {seed: Generator(seed) for seed in seeds}
        for which, options in (("plain", ["-gV"]), ("noting", ["-max-growth=1000"])):
            files = [self.top / f"seed-{seed}" / f"{which}.comp" for seed in seeds]
            for file, g in zip(files, self.generators.values()):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(getattr(g, which))
            to = ["-outdir", self.top] if len(files) > 1 else ["-o", files[0].with_suffix(".vir0")]
            self.run(self.bin / "vyre-passmgr", *options, "-emit=vir0", *to, *files)

    def program(self, seed):
        g, self.folder = self.generators[seed], self.top / f"seed-{seed}"
        inputs = [g.random.randrange(8) for _ in range(INPUTS)]
        result, notes = self.execute(self.folder / "noting.vir0", inputs, "0.2")
        if notes is None:
            return
        given = collections.defaultdict(lambda: [NOTHING])
        for path, key, bits in zip(*(notes[k::GIVEN_WORDS] for k in range(GIVEN_WORDS))):
            v = g.variables[(key & ~NO_VALUE) >> 4]
            _, indices, kind = COMPONENTS[v.type][key & 15]
            given[path, v.number, indices].append(NOTHING if key & NO_VALUE else plain_bits(bits, kind))
        for pipeline in PIPELINES + [g.random.choice(OTHERS)]:
            self.pipeline(g, pipeline, inputs, given, result)

    def pipeline(self, g, pipeline, inputs, given, result):
        compiled, text, program = (self.folder / name for name in ("compiled.spv", "instrumented.spvasm", "instrumented.spv"))
        try:
            self.run(self.bin / "vyre-passmgr", f"-passes={pipeline}", self.folder / "plain.vir0", "-o", compiled)
            self.run("spirv-dis", "--raw-id", compiled, "-o", text)
            teller = Teller(text.read_text())
            text.write_text(teller.instrument(g.call_of_line))
            self.run("spirv-as", "--target-env", "vulkan1.2", text, "-o", program)
            self.run("spirv-val", "--target-env", "vulkan1.2", program)
            wrote, words = self.execute(program, inputs, "3.3")
            if words is None:
                return
            if wrote != result:
                raise Failure("the program writes something else")
            self.compare(g, teller, given, words)
        except Failure as failure:
            raise Failure(f"-passes='{pipeline}': {failure}") from None
        self.told[pipeline] += len(teller.names)
        self.declared[pipeline] += len(g.variables)
        self.runs += 1

    def compare(self, g, teller, given, words):
        told = collections.defaultdict(list)
        for k, bits in zip(words[0::TOLD_WORDS], words[1::TOLD_WORDS]):
            told[teller.keys[k]].append(bits)
        for (path, number, indices), values in told.items():
            v = g.variables[number]
            kinds = {of: kind for _, of, kind in COMPONENTS[v.type]}
            if indices not in kinds:
                raise Failure(f"{v.name} has no part {indices}")
            values = [plain_bits(bits, kinds[indices]) for bits in values]
            tokens = given[path, number, indices]
            at = wrong(tokens, values)
            if at is not None:
                what = f"told value {at} is wrong" if at < len(values) else "the last told value is not the last one"
                raise Failure(f"{v.type} {v.name}{list(indices) or ''}, call {path}: {what}\n  given {show(tokens, kinds[indices])}\n"
                              f"  told  {show(values, kinds[indices])}")


def show(values, kind):
    def one(value):
        if value is NOTHING:
            return "-"
        if kind in ("float", "int"):
            return str(struct.unpack("<f" if kind == "float" else "<i", struct.pack("<I", value))[0])
        return str(value)
    return " ".join(one(value) for value in values)


def main():
    options = argparse.ArgumentParser(usage="check-values.py BUILD FOLDER [--seed N] [--count N]")
    options.add_argument("build")
    options.add_argument("folder")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=100)
    options.add_argument("--all", action="store_true", help="go on after a failure")
    o = options.parse_args()
    checker, failures = Checker(o.build, o.folder), 0
    for start in range(o.seed, o.seed + o.count, BATCH):
        seeds = range(start, min(start + BATCH, o.seed + o.count))
        checker.compile(seeds)
        for seed in seeds:
            try:
                checker.program(seed)
            except Failure as failure:
                failures += 1
                print(f"{checker.folder}: {failure}\nRepeat: {sys.argv[0]} {o.build} {o.folder} --seed={seed} --count=1", flush=True)
                if not o.all:
                    return 1
            else:
                shutil.rmtree(checker.folder)
    for pipeline, floor in FLOORS.items():
        told, declared = checker.told[pipeline], checker.declared[pipeline]
        print(f"{pipeline}: something is told of {told} of {declared} variables")
        if o.count > 50 and told < floor * declared:
            print(f"Fix: that should be {floor:.0%}")
            failures += 1
    print(f"{o.count} programs, {checker.runs} runs, {failures} failures")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
