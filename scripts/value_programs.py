# SPDX-License-Identifier: Apache-2.0
"""Generates random GLSL programs for check-values.py.  Each program has two texts: plain, and noting, which records values of variables in a buffer.

A record ("note") is three words: the path of calls, the variable's component (Variable.key), and the bits of the component's value.  A key with
NO_VALUE records that the component has no value from there on.  Programs have no undefined behavior: a variable is read only after it has a value,
and loops end.  Floats are small whole numbers, so that operations on floats are exact.
"""
import random

NO_VALUE = 1 << 31  # flag in the key of a note
NOTE_WORDS = 3
MOST_WORDS = 1 << 16  # room for all notes of a run
INPUTS, OUTPUTS = 8, 16
MOST_CALLS = 60  # fewer than 64, because each call has six bits of a path

SCALARS = ["int", "uint", "float", "bool"]
TYPES = {"int": 8, "float": 6, "uint": 3, "bool": 3, "vec2": 2, "vec3": 3, "vec4": 2, "Pair": 2, "int[3]": 1, "mat2": 1}


def lanes(text, indices, count):
    return [(f"{text}.{'xyzw'[k]}", indices + (k,), "float") for k in range(count)]


COMPONENTS = {  # by type of a variable, for each component: its GLSL suffix, its indices, its type
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


class Variable:
    def __init__(self, number, kind):
        self.number, self.type, self.name = number, kind, f"v{number}"
        self.held = False  # whether the variable is a loop counter, which only the loop writes
        self.made = False  # whether instructions compute all of its values, so that no value is a literal or a copy

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
    """A random program.  A line is (plain, noting, call): its text in each version or None, and the number of the call in it or 0."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.size = self.random.choice([4, 6, 8, 12, 16, 24])
        self.types = {kind: n for kind, n in TYPES.items() if kind in SCALARS or self.one_in(4)}
        self.variables, self.functions, self.scopes, self.lines = [], [], [], []
        self.defined, self.calls, self.depth, self.function, self.last = set(), 0, 0, None, None
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
        if kind == "float":  # small whole numbers, so that operations are exact
            return self.random.choice([f"clamp({a} + {b}, -99.0, 99.0)", f"clamp({a} * {b}, -99.0, 99.0)", f"min({a}, {b})", f"max({a}, {b})",
                                       f"float({self.scalar('int', depth - 1)} & 63)", f"clamp({a} - {b}, -99.0, 99.0)"])
        other = f"{kind}({self.scalar('uint' if kind == 'int' else 'int', depth - 1)})"
        of_float = f"{kind}(abs({self.scalar('float', depth - 1)}))"
        return self.random.choice([f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} & {b})", f"({a} ^ {b})", f"({a} >> 1)", f"min({a}, {b})", other,
                                   of_float])

    def made(self, v, value):
        """Returns the value, or an instruction that computes with it if v.made is set."""
        given = f"given[{self.random.randrange(INPUTS)}]"
        if not v.made:
            return value
        if v.type == "float" or v.type.startswith("vec"):
            return f"clamp({value} + {v.type}(float({given})), -99.0, 99.0)"
        return f"(({given} > 2) != {value})" if v.type == "bool" else f"({value} + {v.type}({given}))"

    def value(self, kind):
        """Returns a random expression of the type."""
        depth = self.random.choice([0, 1, 1, 2, 2, 3])
        same = self.visible(kind)
        if same and self.one_in(4):
            return self.random.choice(same).name
        if kind in SCALARS:
            return self.literal(kind) if self.one_in(5) else self.scalar(kind, depth)
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
        v = Variable(len(self.variables), kind or self.random.choices(list(self.types), list(self.types.values()))[0])
        v.made = (v.type in SCALARS or v.type.startswith("vec")) and not self.one_in(3)
        self.variables.append(v)
        (scope or self.scopes[-1]).variables.append(v)
        return v

    def both(self, text):
        self.lines.append((text, text, 0))

    def wrote(self, v):
        self.defined.add(v)
        self.lines += v.note()

    def declare(self):
        kind = self.random.choices(list(self.types), list(self.types.values()))[0]
        if (kind in SCALARS or kind.startswith("vec")) and self.one_in(3):
            v = self.new(kind)
            self.both(f"{kind} {v.name};")
            return
        value = self.value(kind)
        v = self.new(kind)
        self.both(f"{kind} {v.name} = {self.made(v, value)};")
        self.wrote(v)

    def assign(self):
        targets = self.visible(written=True)
        if not targets:
            return self.declare()
        v = self.last if self.last in targets and self.one_in(3) else self.random.choice(targets[-6:])
        self.last = v
        kind, parts = v.type, COMPONENTS[v.type]
        if v not in self.defined or (kind in SCALARS and self.one_in(2)) or self.one_in(3):
            self.both(f"{v.name} = {self.made(v, self.value(kind))};")
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

    def chain(self):
        """Writes several values to a variable.  An instruction computes each value, and some values are not used."""
        targets = [v for v in self.visible() if v.type in ("int", "uint", "float") and not v.held]
        if not targets:
            return self.declare()
        v = self.random.choice(targets)
        for _ in range(self.random.choice([2, 3, 3, 4])):
            self.both(f"{v.name} = {self.made(v, self.scalar(v.type, self.random.choice([1, 1, 2])))};")
            self.wrote(v)
            if self.one_in(2):
                self.both(f"result[{self.random.randrange(OUTPUTS)}] ^= int({v.name});")

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
        """Makes a block.  Returns its lines, whether control reaches its end, and the variables with a value at its end."""
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
        else:
            goes_on = not (kind == "block" and self.one_in(6) and self.jump())
        self.depth -= 1
        if goes_on and kind == "function":
            self.leave_function(None)
        elif goes_on:
            self.lines += self.forget([scope])
        self.scopes.pop()
        lines, self.lines = self.lines, saved
        defined, self.defined = self.defined, before
        return self.forget([scope]) + lines, goes_on, defined

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
        start, step = self.random.randrange(2), self.random.choice([1, 1, 2])
        test = f"{v.name} < {bound}"
        self.lines.append((f"for (int {v.name} = {start}; {test}; {v.name} += {step}) {{",
                           f"for (int {v.name} = keep({v.key(0)}u, {start}); {test}; {v.name} = keep({v.key(0)}u, {v.name} + {step})) {{", 0))
        self.lines += body
        self.both("}")
        self.scopes.pop()
        self.lines += v.forget()
        return True

    def test_loop(self):
        """Writes a `while` or `do` loop, with a counter of the remaining iterations."""
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
        """Writes `break`, `continue` or `return`.  Returns False if there is nothing to leave."""
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
        for v in self.visible():  # use their values, because passes may remove values that are not used
            if f.name == "main" and not self.one_in(3):
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
        """Writes a random statement.  Returns False if control does not reach the code after it."""
        if len(self.variables) > 90:
            return True
        flat = [(self.declare, 4), (self.assign, 12), (self.swap, 1), (self.chain, 3), (self.output, 2), (self.call, 3)]
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
