# SPDX-License-Identifier: Apache-2.0
"""functions.py BIN SPIRV-VAL DIR COUNT SEED PIPELINE [OPTION OF VYRE-RUN...]

Tests random GLSL with helper functions: early returns from loops and switches, breaks, continues, fallthroughs, parameters of every
direction, globals that helpers change, conditions with effects, arrays and structs.  An evaluator of GLSL, which shares no code with
vyre, computes the stores of each invocation; the shader must store these values before and after the pipeline.
"""
import random
import subprocess
import sys

MASK = 0xFFFFFFFF
INVOCATIONS = 8
FUEL = 4000  # steps of an invocation: a program with more is not used
OPERATORS = {
    "+": lambda a, b: (a + b) & MASK, "-": lambda a, b: (a - b) & MASK, "*": lambda a, b: (a * b) & MASK,
    "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
}
COMPARES = {"<": lambda a, b: a < b, ">=": lambda a, b: a >= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b}


class Break(Exception):
    pass


class Continue(Exception):
    pass


class Return(Exception):
    pass


class TooLong(Exception):
    pass


# ---- programs: nodes are tuples, the first element is the kind ------------------------------------------------------------------


class Generator:
    """A program: functions that call earlier functions, and main."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.functions = []  # (name, returns, parameters, body)
        self.names = 0

    def pick(self, *choices):
        return self.r.choice(choices)

    def name(self):
        self.names += 1
        return f"v{self.names}"

    # Expressions have no effects, so that their order does not matter.
    def expression(self, scope, depth=2):
        what = self.r.randrange(9)
        if depth == 0 or what < 3:
            return ("const", self.pick(0, 1, 2, 3, 5, 7, 0x80000000, MASK)) if what == 0 else ("read", self.r.choice(scope["read"]))
        if what == 3:
            return ("element", self.pick("a", "s.w"), self.expression(scope, depth - 1))
        if what == 4:
            return ("choose", self.condition(scope, depth - 1), self.expression(scope, depth - 1), self.expression(scope, depth - 1))
        if what == 5:
            return ("shift", self.pick("<<", ">>"), self.expression(scope, depth - 1), self.r.randrange(32))
        return ("binary", self.r.choice(list(OPERATORS)), self.expression(scope, depth - 1), self.expression(scope, depth - 1))

    # A condition may call a helper: then only && and ||, which have an order, are around the call.
    def condition(self, scope, depth=1, calls=False):
        what = self.r.randrange(6)
        if depth and what == 0:
            return ("and", self.condition(scope, depth - 1, calls), self.condition(scope, depth - 1, calls))
        if depth and what == 1:
            return ("or", self.condition(scope, depth - 1, calls), self.condition(scope, depth - 1, calls))
        if depth and what == 2:
            return ("not", self.condition(scope, depth - 1, calls))
        if calls and self.functions and what == 3:
            call = self.call(scope)
            if call[0] == "call" and call[1][1]:
                return ("compare", self.r.choice(list(COMPARES)), call, ("const", self.pick(0, 1, 3)))
        return ("compare", self.r.choice(list(COMPARES)), self.expression(scope, depth), self.expression(scope, depth))

    # Arguments of inout parameters are distinct local variables, so the order of write-backs does not matter.
    def call(self, scope):
        function = self.r.choice(self.functions)
        outs = [p for p in function[2] if p[0] != "in"]
        if len(outs) > len(scope["local"]):
            return ("nothing",)
        places = self.r.sample(scope["local"], len(outs))
        return ("call", function, [self.expression(scope, 1) if p[0] == "in" else ("read", places.pop()) for p in function[2]])

    def statement(self, scope, depth):
        what = self.r.randrange(16)
        if depth == 0 or what < 4:
            return ("set", self.r.choice(scope["write"]), self.expression(scope))
        if what == 4:
            return ("store", self.pick("a", "s.w"), self.expression(scope, 1), self.expression(scope))
        if what == 5 and self.functions:
            call = self.call(scope)
            return ("set", self.r.choice(scope["write"]), call) if call[0] == "call" and call[1][1] else call
        if what in (6, 7, 8):
            return ("if", self.condition(scope, 1, True), self.block(scope, depth - 1), self.block(scope, depth - 1) if self.r.random() < 0.5 else None)
        if what in (9, 10):
            index, inner = self.name(), dict(scope, loop=True, breaks=True)
            inner["read"] = scope["read"] + [index]
            return ("for", index, self.r.randrange(1, 4), self.block(inner, depth - 1))
        if what == 11:
            inner = dict(scope, loop=True, breaks=True)
            return (self.pick("while", "do"), self.name(), self.r.randrange(1, 4), self.condition(scope, 1, True), self.block(inner, depth - 1))
        if what == 12:
            inner = dict(scope, breaks=True)
            labels = self.r.sample(range(5), self.r.randrange(1, 4))
            cases = [(label, self.block(inner, depth - 1), self.r.random() < 0.6) for label in labels]
            cases.insert(self.r.randrange(len(cases) + 1), (None, self.block(inner, depth - 1), True))
            return ("switch", ("binary", "&", self.expression(scope, 1), ("const", 7)), cases)
        if what == 13 and scope["breaks"]:
            return ("break",)
        if what == 14 and scope["loop"]:
            return ("continue",)
        return ("return", self.expression(scope, 1) if scope["returns"] else None)

    def block(self, scope, depth):
        """Returns statements.  Some declare a variable, which is visible to the end of the block; a jump ends the block."""
        scope = dict(scope, read=list(scope["read"]), write=list(scope["write"]), local=list(scope["local"]))
        out = []
        for _ in range(self.r.randrange(1, 4)):
            if self.r.random() < 0.2:
                name = self.name()
                out.append(("declare", name, self.expression(scope)))
                for of in ("read", "write", "local"):
                    scope[of].append(name)
            out.append(self.statement(scope, depth))
            if out[-1][0] in ("break", "continue", "return"):
                break
        return out

    def function(self):
        parameters = [(self.pick("in", "in", "inout", "out"), self.name()) for _ in range(self.r.randrange(1, 4))]
        returns = self.r.random() < 0.8
        names = [p[1] for p in parameters]
        scope = {"read": names + ["g", "h", "s.x"], "write": names + ["g", "h", "s.x"], "local": names, "loop": False, "breaks": False,
                 "returns": returns}
        start = [("set", name, ("const", 9)) for way, name in parameters if way == "out"]  # an out parameter has no value before
        body = start + self.block(scope, 3) + self.block(scope, 3)
        if returns:
            body.append(("return", self.expression(scope)))
        self.functions.append((f"f{len(self.functions)}", returns, parameters, body))

    def program(self):
        for _ in range(self.r.randrange(2, 5)):
            self.function()
        scope = {"read": ["id", "m", "n", "g", "h", "s.x"], "write": ["m", "n", "g", "h", "s.x"], "local": ["m", "n"], "loop": False,
                 "breaks": False, "returns": False}
        return self.block(scope, 3) + self.block(scope, 3) + self.block(scope, 2)


# ---- as GLSL --------------------------------------------------------------------------------------------------------------------


def expression_text(e):
    kind = e[0]
    if kind == "const":
        return f"{e[1]}u"
    if kind == "read":
        return e[1]
    if kind == "element":
        return f"{e[1]}[{expression_text(e[2])} & 3u]"
    if kind == "choose":
        return f"({condition_text(e[1])} ? {expression_text(e[2])} : {expression_text(e[3])})"
    if kind == "shift":
        return f"({expression_text(e[2])} {e[1]} {e[3]}u)"
    if kind == "call":
        return f"{e[1][0]}({', '.join(expression_text(x) for x in e[2])})"
    return f"({expression_text(e[2])} {e[1]} {expression_text(e[3])})"


def condition_text(c):
    if c[0] == "not":
        return f"!({condition_text(c[1])})"
    if c[0] in ("and", "or"):
        return f"({condition_text(c[1])} {'&&' if c[0] == 'and' else '||'} {condition_text(c[2])})"
    return f"{expression_text(c[2])} {c[1]} {expression_text(c[3])}"


def block_lines(block, indent):
    return [line for s in block for line in statement_lines(s, indent)]


def statement_lines(s, indent):
    pad, kind = "  " * indent, s[0]
    if kind == "declare":
        return [f"{pad}uint {s[1]} = {expression_text(s[2])};"]
    if kind == "set":
        return [f"{pad}{s[1]} = {expression_text(s[2])};"]
    if kind == "store":
        return [f"{pad}{s[1]}[{expression_text(s[2])} & 3u] = {expression_text(s[3])};"]
    if kind == "call":
        return [f"{pad}{expression_text(s)};"]
    if kind == "if":
        other = [pad + "} else {"] + block_lines(s[3], indent + 1) if s[3] else []
        return [f"{pad}if ({condition_text(s[1])}) {{"] + block_lines(s[2], indent + 1) + other + [pad + "}"]
    if kind == "for":
        return [f"{pad}for (uint {s[1]} = 0u; {s[1]} < {s[2]}u; {s[1]}++) {{"] + block_lines(s[3], indent + 1) + [pad + "}"]
    if kind == "while":
        return ([f"{pad}for (uint {s[1]} = 0u; {s[1]}++ < {s[2]}u && {condition_text(s[3])};) {{"] + block_lines(s[4], indent + 1) + [pad + "}"])
    if kind == "do":
        return ([f"{pad}uint {s[1]} = 0u;", pad + "do {"] + block_lines(s[4], indent + 1) +
                [f"{pad}}} while (++{s[1]} < {s[2]}u && {condition_text(s[3])});"])
    if kind == "switch":
        out = [f"{pad}switch ({expression_text(s[1])}) {{"]
        for label, block, ends in s[2]:
            out += [f"{pad}{'default' if label is None else f'case {label}u'}: {{"] + block_lines(block, indent + 1)
            out += [pad + "  }"] + ([pad + "  break;"] if ends else [])
        return out + [pad + "}"]
    if kind == "return":
        return [f"{pad}return {expression_text(s[1])};" if s[1] else pad + "return;"]
    return [f"{pad}{kind};"] if kind != "nothing" else []


def shader_text(generator, main):
    out = ["#version 450", f"layout(local_size_x = {INVOCATIONS}) in;", "layout(std430, set = 0, binding = 0) buffer Out { uint o[]; };",
           "struct S { uint x; uint w[4]; };", "uint g, h, a[4];", "S s;"]
    for name, returns, parameters, body in generator.functions:
        out += [f"{'uint' if returns else 'void'} {name}({', '.join(f'{way} uint {p}' for way, p in parameters)}) {{"] + block_lines(body, 1) + ["}"]
    out += ["void run() {", "  uint id = gl_LocalInvocationIndex, m = 3u, n = id;"] + block_lines(main, 1) + ["  g += m * 3u + n;", "}"]
    out += ["void main() {", "  g = 0u; h = 1u; s.x = 2u;", "  for (uint k = 0u; k < 4u; k++) { a[k] = k; s.w[k] = 0u; }", "  run();",
            "  uint sum = g ^ h * 5u ^ s.x * 7u;", "  for (uint k = 0u; k < 4u; k++) sum = sum * 31u + (a[k] ^ s.w[k] * 3u);",
            "  o[gl_LocalInvocationIndex] = sum;", "}"]
    return "\n".join(out) + "\n"


# ---- evaluation -----------------------------------------------------------------------------------------------------------------


class Run:
    """An invocation."""

    def __init__(self, identity):
        self.memory = {"g": 0, "h": 1, "s.x": 2, "a": [0, 1, 2, 3], "s.w": [0] * 4}
        self.id, self.fuel = identity, FUEL

    def step(self):
        self.fuel -= 1
        if self.fuel < 0:
            raise TooLong

    def where(self, frame, name):
        return frame if name in frame else self.memory

    def expression(self, e, frame):
        kind = e[0]
        if kind == "const":
            return e[1]
        if kind == "read":
            return self.where(frame, e[1])[e[1]]
        if kind == "element":
            return self.memory[e[1]][self.expression(e[2], frame) & 3]
        if kind == "choose":
            return self.expression(e[2] if self.condition(e[1], frame) else e[3], frame)
        if kind == "shift":
            value = self.expression(e[2], frame)
            return (value << e[3]) & MASK if e[1] == "<<" else value >> e[3]
        if kind == "call":
            return self.call(e, frame)
        return OPERATORS[e[1]](self.expression(e[2], frame), self.expression(e[3], frame))

    def condition(self, c, frame):
        if c[0] == "not":
            return not self.condition(c[1], frame)
        if c[0] == "and":
            return self.condition(c[1], frame) and self.condition(c[2], frame)
        if c[0] == "or":
            return self.condition(c[1], frame) or self.condition(c[2], frame)
        return COMPARES[c[1]](self.expression(c[2], frame), self.expression(c[3], frame))

    def call(self, e, frame):
        self.step()
        _, returns, parameters, body = e[1]
        inner, result = {}, 0
        for (way, name), argument in zip(parameters, e[2]):
            inner[name] = self.expression(argument, frame) if way != "out" else 0
        try:
            self.block(body, inner)
        except Return as done:
            result = done.args[0]
        for (way, name), argument in zip(parameters, e[2]):
            if way != "in":
                self.where(frame, argument[1])[argument[1]] = inner[name]
        return result if returns else 0

    def block(self, block, frame):
        for s in block:
            self.statement(s, frame)

    def loop(self, body, frame):
        """Executes a statement and returns whether the invocation continues."""
        self.step()
        try:
            self.block(body, frame)
        except Continue:
            pass
        except Break:
            return False
        return True

    def statement(self, s, frame):
        self.step()
        kind = s[0]
        if kind == "declare":
            frame[s[1]] = self.expression(s[2], frame)
        elif kind == "set":
            value = self.expression(s[2], frame)
            self.where(frame, s[1])[s[1]] = value
        elif kind == "store":
            index, value = self.expression(s[2], frame) & 3, self.expression(s[3], frame)
            self.memory[s[1]][index] = value
        elif kind == "call":
            self.call(s, frame)
        elif kind == "if":
            self.block(s[2] if self.condition(s[1], frame) else s[3] or [], frame)
        elif kind == "for":
            frame[s[1]] = 0
            while frame[s[1]] < s[2] and self.loop(s[3], frame):
                frame[s[1]] += 1
        elif kind == "while":
            rounds = 0
            while rounds < s[2] and self.condition(s[3], frame) and self.loop(s[4], frame):
                rounds += 1
        elif kind == "do":
            rounds = 1
            while self.loop(s[4], frame) and rounds < s[2] and self.condition(s[3], frame):
                rounds += 1
        elif kind == "switch":
            self.switch(s, frame)
        elif kind == "return":
            raise Return(self.expression(s[1], frame) if s[1] else 0)
        elif kind == "break":
            raise Break
        elif kind == "continue":
            raise Continue

    def switch(self, s, frame):
        value, labels = self.expression(s[1], frame), [case[0] for case in s[2]]
        try:
            for _, block, ends in s[2][labels.index(value if value in labels else None):]:
                self.block(block, frame)
                if ends:
                    return
        except Break:
            pass

    def whole(self, main):
        frame = {"id": self.id, "m": 3, "n": self.id}
        try:
            self.block(main, frame)
            self.memory["g"] = (self.memory["g"] + frame["m"] * 3 + frame["n"]) & MASK
        except Return:
            pass
        total = (self.memory["g"] ^ self.memory["h"] * 5 & MASK ^ self.memory["s.x"] * 7 & MASK) & MASK
        for k in range(4):
            total = (total * 31 + (self.memory["a"][k] ^ self.memory["s.w"][k] * 3 & MASK)) & MASK
        return total


def wanted(main):
    """Returns None if an invocation exceeds the fuel."""
    try:
        return [Run(i).whole(main) for i in range(INVOCATIONS)]
    except TooLong:
        return None


# ---- both -----------------------------------------------------------------------------------------------------------------------


def call(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def stored(binary, path, options):
    text = call([f"{binary}/vyre-run", path, "-groups", "1", "-size", f"0.0={INVOCATIONS}", "-buffer", "0.0=zero", "-print", "0.0", *options])
    return [int(word) for line in text.splitlines() if "]: " in line for word in line.split("]: ")[1].split()]


def main():
    binary, spirv_val, folder = sys.argv[1:4]
    count, seed, pipeline, options = int(sys.argv[4]), int(sys.argv[5]), sys.argv[6], sys.argv[7:]
    done = 0
    while done < count:
        generator = Generator(seed)
        body = generator.program()
        values = wanted(body)
        seed += 1
        if values is None:
            continue
        shader, after = f"{folder}/f{seed - 1}.comp", f"{folder}/f{seed - 1}.spv"
        with open(shader, "w", encoding="ascii") as file:
            file.write(shader_text(generator, body))
        call([f"{binary}/vyre-passmgr", f"-passes={pipeline}", shader, "-o", after])
        call([spirv_val, "--target-env", "vulkan1.2", after])
        for path in (shader, after):
            found = stored(binary, path, options)
            if found != values:
                sys.exit(f"{path}, of seed {seed - 1}, stores {found}, but must store {values}")
        done += 1
    print(f"{count} programs have the expected results")


main()
