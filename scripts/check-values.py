#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks by execution that exported SPIR-V reports the values of source variables correctly to a debugger, over random programs.

usage: check-values.py BUILD FOLDER [--seed N] [--count N]        (Debian: spirv-tools; FOLDER keeps the files of a failure)

Each program has two texts.  The noting text records in a buffer each value that a variable gets.  The interpreter runs it, and the record is `given`.
The plain text is compiled with -gV by a pipeline.  Its SPIR-V is changed to record the value of each DebugValue, and is run, too: the record is `told`.
Both records are split by call, variable and component.  Then `told` must be a path through `given`.  `given` consists of values, and of NOTHING where
the variable has no value: its scope is entered or left, or the variable is declared without a value.

  R1  A told value is the current value of `given` or the next one.  No value is skipped, because a debugger would continue to show the previous value.
      No earlier value returns, and no value is told that is not in `given`.
  R2  Consecutive equal values count as one value: a debugger shows no difference if one of them is omitted or repeated.  Where paths meet, values
      are repeated.
  R3  A value may be told late.  A value that no instruction computes is told where paths meet.  So only the order of the values is compared.
  R4  Before the first told value, values may be omitted, because a debugger shows that the value is not known.
  R5  The last told value is the last value of `given`.
  R6  Where a variable has NOTHING, SPIR-V may tell its previous value, its next value, zero or nothing.  The variable is out of scope or undefined, but
      a phi has some value there.  If the variable has at most one value each time that it is in scope, SPIR-V may tell any value: a pass may have
      moved the instruction out of the scope, and the instruction may run where the source does not.
  R7  Where paths meet, a debugger may not know the executed path.  So if a phi merges the values that were told on the paths, the phi is told.  This
      does not apply to a block without other instructions.

A pass may omit all values of a variable.  So a variable without told values is not checked, but FLOORS has the least share of told variables.
The program's output is compared as well.
"""
import argparse
import collections
import itertools
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True  # writes no .pyc files into the source tree

from value_programs import COMPONENTS, INPUTS, MOST_WORDS, NO_VALUE, NOTE_WORDS, Generator  # noqa: E402

PIPELINES = ["no-op", "default<O2>"]  # for each program, and one of OTHERS
OTHERS = ["default<O1>", "licm", "cse,dce", "pm,dce", "dbe,dce", "simplify,dce", "cprop,dce", "expand", "remainder", "early", "uncopy", "contract", "canon,cf,dce",
          "licm,cse,dse,dce", "fixpoint(canon,cf,dbe,licm,dce)", "default<O3>"]
FLOORS = {"no-op": 0.5, "default<O2>": 0.04}  # the least share of variables with a known value
NOTHING = None
TOLD_WORDS = 2  # words of a record: the index in Teller.keys, and the bits of the value
BATCH = 25


# ---- debug values of SPIR-V ----

class Teller:
    """A SPIR-V text.  `instrument` adds code after each DebugValue that records its value."""

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
        """Returns the operands of an instruction: the words after its type, or of an OpExtInst the words after its number."""
        words = self.of[id].split()
        return words[4:] if words[0] == "OpExtInst" else words[2:]

    def number(self, id):
        return int(self.operands(id)[0])

    def path_of(self, scope, call_of_line):
        """Returns the path of the calls that inlined the scope, with six bits for each call."""
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
        out, scope, ways = [], None, Ways()
        function = self.need(f"OpTypeFunction {self.void} {self.uint} {self.uint}")
        for line in self.lines:
            out.append(line)
            ways.read(line)
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
                    path, indices = self.path_of(scope, call_of_line), tuple(self.number(k) for k in operands[3:])
                    ways.tell((path, name), indices, operands[1])
                    self.note(path, int(name[1:]), indices, operands[1], self.of[operands[1]].split()[1], out)
        ways.check()
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


class Block:
    def __init__(self):
        self.phis, self.told, self.to, self.before, self.after, self.known, self.works = [], {}, [], [], {}, False, False


class Ways:
    """The values that were told last of each variable at the ends of blocks, for R7."""

    def __init__(self):
        self.blocks, self.at = {}, None

    def read(self, line):
        words = line.replace("=", " ").split()
        if len(words) > 1 and words[1] == "OpLabel":
            self.at = self.blocks[words[0]] = Block()
        elif len(words) > 1 and words[1] == "OpPhi":
            self.at.phis.append({words[k + 1]: words[k] for k in range(3, len(words), 2)})
        elif words and words[0] in ("OpBranch", "OpBranchConditional", "OpSwitch"):
            self.at.to = [word for word in words[1:] if word.startswith("%")][0 if words[0] == "OpBranch" else 1:]
        elif self.at and not re.search(r"Op(Selection|Loop)Merge|OpExtInst \S+ \S+ Debug", line):
            self.at.works = True

    def tell(self, variable, indices, id):
        self.put(self.at.told, (variable, indices), id)

    @staticmethod
    def put(told, key, id):
        """Records a value.  The value replaces those of all variables that it contains or that contain it."""
        variable, indices = key
        for other in [other for other in told if other[0] == variable]:
            shorter = min(len(indices), len(other[1]))
            if indices[:shorter] == other[1][:shorter]:
                told[other] = None
        told[key] = id

    def flow(self, block):
        """Updates the values after the block: None if paths have no value or different ones.  Returns whether a value changed."""
        ways = [self.blocks[name].after for name in block.before if self.blocks[name].known]
        told = {key: ways[0][key] if all(way.get(key) == ways[0][key] for way in ways) else None for key in (ways[0] if ways else {})}
        for key, id in block.told.items():
            self.put(told, key, id)
        changed = not block.known or told != block.after
        block.after, block.known = told, True
        return changed

    def check(self):
        for name, block in self.blocks.items():
            for to in dict.fromkeys(block.to):
                self.blocks[to].before.append(name)
        while any([self.flow(block) for block in self.blocks.values()]):
            pass
        for name, block in self.blocks.items():
            for key in (self.blocks[block.before[0]].after if len(block.before) > 1 and block.works else ()):
                told = {way: self.blocks[way].after.get(key) for way in block.before}
                if None not in told.values() and len(set(told.values())) > 1 and told in block.phis and key not in block.told:
                    raise Failure(f"{key[0][1]}{list(key[1]) or ''}, call {key[0][0]}: a phi of block {name} is not told, but the values that it merges are")


# ---- the rules ----

def plain_bits(bits, kind):
    """Returns the bits, with one zero and one NaN for all, because passes may change their bits."""
    if kind == "float":
        if bits & 0x7fffffff == 0:
            return 0
        if bits & 0x7fffffff > 0x7f800000:
            return 0x7fc00000
    return bits


def wrong(given, told):
    """Returns the index of the first told value that breaks a rule, len(told) if it breaks R5, or None if all values are correct."""
    stretches = [set(stretch) for is_nothing, stretch in itertools.groupby(given, lambda token: token is NOTHING) if not is_nothing]
    has_one = all(len(stretch) == 1 for stretch in stretches)

    def fits(at, value):
        if given[at] is not NOTHING:
            return given[at] == value
        around = (next((token for token in tokens if token is not NOTHING), 0) for tokens in (reversed(given[:at]), given[at:]))
        return has_one or value in (0, *around)

    def further(at, last):
        """Adds to the positions `at` the following positions without another value (R2)."""
        out = set(at)
        for k in at:
            while k + 1 < len(given) and (given[k + 1] is NOTHING or given[k + 1] == last):
                k += 1
                out.add(k)
        return out

    at = set(range(len(given)))  # R4: values before the first told one may be omitted
    for k, value in enumerate(told):
        ahead = at if k == 0 else at | {p + 1 for p in at if p + 1 < len(given)}
        at = further({p for p in ahead if fits(p, value)}, value)
        if not at:
            return k
    return None if not told or len(given) - 1 in at else len(told)  # R5: the last value must be told


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
        """Runs a program.  Returns its output and the words that it recorded, or None for too many words."""
        out, said = self.folder / "out.bin", self.folder / "notes.bin"
        self.run(self.bin / "vyre-run", program, f"-buffer=0.0=values:{','.join(map(str, inputs))}", "-buffer=0.1=zero", f"-buffer={notes}=zero",
                 "-groups=1", f"-write=0.1={out}", f"-write={notes}={said}")
        words = struct.unpack(f"<{1 + MOST_WORDS}I", said.read_bytes())
        return out.read_bytes(), words[1:1 + words[0]] if words[0] <= MOST_WORDS - 3 else None

    def compile(self, seeds):
        """Compiles both texts of each seed's program to VIR0.  One process compiles all programs, because starting a process takes long."""
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
        for path, key, bits in zip(*(notes[k::NOTE_WORDS] for k in range(NOTE_WORDS))):
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
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(str(failure))
