# SPDX-License-Identifier: Apache-2.0
"""pointers.py BIN SPIRV-AS SPIRV-DIS SPIRV-VAL DIR COUNT SEED PIPELINE

Tests random programs over physical pointers whose types differ in their ArrayStride.  Each is optimized, and an evaluator of SPIR-V,
which shares no code with vyre, computes the memory of both modules.  Addresses and values must be equal at the end.
"""
import random
import subprocess
import sys

# Pointer types: name, pointee, stride (None: undecorated).
POINTERS = [("u%d" % s, "uint", s) for s in (4, 8, 12, 16)] + [("s%d" % s, "S", s) for s in (8, 12, 24)] + [("plain", "uint", None)]
UINTS = 4


def generate(r):
    members = ["p_" + name for name, _, _ in POINTERS] + ["uint"] * UINTS
    offsets = [8 * k for k in range(len(POINTERS))] + [8 * len(POINTERS) + 4 * k for k in range(UINTS)]
    head = ["OpCapability Shader", "OpCapability Int64", "OpCapability PhysicalStorageBufferAddresses",
            "OpMemoryModel PhysicalStorageBuffer64 GLSL450", 'OpEntryPoint GLCompute %main "main" %push',
            "OpExecutionMode %main LocalSize 1 1 1", "OpDecorate %Push Block",
            "OpMemberDecorate %S 0 Offset 0", "OpMemberDecorate %S 1 Offset 4"]
    head += [f"OpMemberDecorate %Push {k} Offset {o}" for k, o in enumerate(offsets)]
    head += [f"OpDecorate %p_{name} ArrayStride {stride}" for name, _, stride in POINTERS if stride]
    head += ["%void = OpTypeVoid", "%fn = OpTypeFunction %void", "%bool = OpTypeBool", "%uint = OpTypeInt 32 0", "%long = OpTypeInt 64 0",
             "%S = OpTypeStruct %uint %uint"]
    head += [f"%p_{name} = OpTypePointer PhysicalStorageBuffer %{pointee}" for name, pointee, _ in POINTERS]
    head += ["%Push = OpTypeStruct " + " ".join("%" + m for m in members), "%ppush = OpTypePointer PushConstant %Push"]
    head += [f"%q_{m} = OpTypePointer PushConstant %{m}" for m in sorted(set(members))]
    head += ["%push = OpVariable %ppush PushConstant"]
    head += [f"%c{k} = OpConstant %uint {k}" for k in range(max(24, len(members)))] + [f"%l{k} = OpConstant %long {k}" for k in (4, 8, 12)]
    body, pointers, uints, count = ["%main = OpFunction %void None %fn", "%entry = OpLabel"], [], [], 0

    def new(kind, text, to):
        nonlocal count
        count += 1
        body.append(f"%v{count} = {text}")
        to.append((f"%v{count}", kind))
        return f"%v{count}"

    for k, m in enumerate(members):
        body.append(f"%at{k} = OpAccessChain %q_{m} %push %c{k}")
        new(POINTERS[k] if k < len(POINTERS) else None, f"OpLoad %{m} %at{k}", pointers if k < len(POINTERS) else uints)

    def index():
        if r.random() < 0.4:
            return f"%c{r.randrange(5)}"
        return new(None, f"OpBitwiseAnd %uint {r.choice(uints)[0]} %c7", uints)

    for _ in range(r.randrange(10, 50)):
        at, (name, pointee, stride) = r.choice(pointers)
        what = r.randrange(8)
        if what == 0 and stride:
            new((name, pointee, stride), f"OpPtrAccessChain %p_{name} {at} {index()}", pointers)
        elif what == 1 and pointee == "S" and stride:
            new(POINTERS[-1], f"OpPtrAccessChain %p_plain {at} {index()} %c{r.randrange(2)}", pointers)
        elif what == 2 and pointee == "S":
            new(POINTERS[-1], f"OpAccessChain %p_plain {at} %c{r.randrange(2)}", pointers)
        elif what == 3:
            to = r.choice(POINTERS)
            if to[0] != name:
                new(to, f"OpBitcast %p_{to[0]} {at}", pointers)
        elif what == 4:
            bits, to = [], r.choice(POINTERS)
            new(None, f"OpConvertPtrToU %long {at}", bits)
            new(None, f"OpIAdd %long {bits[0][0]} %l{r.choice((4, 8, 12))}", bits)
            new(to, f"OpConvertUToPtr %p_{to[0]} {bits[1][0]}", pointers)
        elif what == 5:
            new(None, f"OpIAdd %uint {r.choice(uints)[0]} {r.choice(uints)[0]}", uints)
        elif pointee == "uint" and what == 6:
            new(None, f"OpLoad %uint {at} Aligned 4", uints)
        elif pointee == "uint":
            body.append(f"OpStore {at} {r.choice(uints)[0]} Aligned 4")
    return "\n".join(head + body + ["OpReturn", "OpFunctionEnd"]) + "\n"


class Machine:
    """Executes the text of a module: addresses are integers, and an unwritten word of memory is identified by its address."""

    def __init__(self, text, given):
        self.types, self.typed, self.values, self.stride, self.offset, self.memory = {}, {}, {}, {}, {}, {}
        self.given = given
        for line in text.splitlines():
            words = line.split()
            if not words or words[0].startswith(";"):
                continue
            result = words[0] if len(words) > 1 and words[1] == "=" else None
            self.step(words[2] if result else words[0], words[3:] if result else words[1:], result)

    def value(self, name):
        return self.values[name]

    def width(self, kind):
        return (1 << int(self.types[kind][1])) - 1

    def word(self, at):
        return self.memory.get(at, (at * 2654435761 >> 7) & 0xff)

    def into(self, kind, at, indices):
        for index in indices:
            what = self.types[kind]
            assert what[0] == "OpTypeStruct", what
            member = self.value(index)
            at += self.offset[kind, member]
            kind = what[1 + member]
        return at

    def step(self, op, args, result):
        if op.startswith("OpType"):
            self.types[result] = [op] + args
        elif op == "OpDecorate":
            if args[1] == "ArrayStride":
                self.stride[args[0]] = int(args[2])
        elif op == "OpMemberDecorate":
            if args[2] == "Offset":
                self.offset[args[0], int(args[1])] = int(args[3])
        elif op == "OpConstant":
            self.values[result] = int(args[1])
        elif op == "OpVariable":
            self.values[result] = ("push", self.types[args[0]][2])
        elif op in ("OpAccessChain", "OpInBoundsAccessChain", "OpPtrAccessChain"):
            self.values[result] = self.chain(op, args)
        elif op == "OpLoad":
            at = self.value(args[1])
            self.values[result] = self.given[at[1]] if isinstance(at, tuple) else self.word(at)
        elif op == "OpStore":
            self.memory[self.value(args[0])] = self.value(args[1])
        elif op in ("OpBitcast", "OpConvertPtrToU", "OpConvertUToPtr", "OpCopyObject"):
            self.values[result] = self.value(args[1])
        elif op in ("OpIAdd", "OpISub", "OpIMul", "OpBitwiseAnd", "OpShiftLeftLogical"):
            x, y = self.value(args[1]), self.value(args[2])
            made = {"OpIAdd": x + y, "OpISub": x - y, "OpIMul": x * y, "OpBitwiseAnd": x & y, "OpShiftLeftLogical": x << (y & 63)}[op]
            self.values[result] = made & self.width(args[0])
        elif op not in ("OpCapability", "OpExtension", "OpMemoryModel", "OpEntryPoint", "OpExecutionMode", "OpFunction", "OpLabel", "OpReturn",
                        "OpFunctionEnd", "OpName", "OpMemberName"):
            sys.exit(f"pointers.py: the evaluator does not know {op}")
        if result and args and args[0] in self.types:
            self.typed[result] = args[0]

    def chain(self, op, args):
        base = self.value(args[1])
        if isinstance(base, tuple):  # push constants: by the member's offset
            return ("push", self.offset[base[1], self.value(args[2])])
        kind = self.typed[args[1]]
        pointee, indices, at = self.types[kind][2], args[2:], base
        if op == "OpPtrAccessChain":
            at += self.stride[kind] * self.value(args[2])
            indices = args[3:]
        return self.into(pointee, at, indices)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"pointers.py: {' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def main():
    binary, assembler, disassembler, validator, folder, count, seed, pipeline = sys.argv[1:]
    for k in range(int(count)):
        r = random.Random(int(seed) + k)
        path = f"{folder}/pointers-{k}"
        with open(path + ".spvasm", "w") as out:
            out.write(generate(r))
        run(assembler, "--target-env", "vulkan1.2", path + ".spvasm", "-o", path + ".spv")
        given = {8 * i: 0x10000 * (i + 1) for i in range(len(POINTERS))}
        given.update({8 * len(POINTERS) + 4 * i: r.randrange(1 << 32) for i in range(UINTS)})
        ends = []
        run(f"{binary}/vyre-passmgr", path + ".spv", f"-passes={pipeline}", "-verify-each", "-o", path + ".o.spv")
        for module in (path + ".spv", path + ".o.spv"):
            run(validator, "--target-env", "vulkan1.2", module)
            ends.append(Machine(run(disassembler, "--no-color", "--raw-id", module), given).memory)
        if ends[0] != ends[1]:
            differ = sorted(at for at in set(ends[0]) | set(ends[1]) if ends[0].get(at) != ends[1].get(at))
            sys.exit(f"pointers.py: {path}.spv: {pipeline} changes the word at 0x{differ[0]:x}: {ends[0].get(differ[0])}, "
                     f"then {ends[1].get(differ[0])}")
    print(f"{count} programs have the same results after {pipeline}")


main()
