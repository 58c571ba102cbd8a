# SPDX-License-Identifier: Apache-2.0
"""What vyre-kernelc says of a file that is wrong, case by case: file:line:column and the message.

usage: errors.py KERNELC FOLDER
"""
import os
import re
import subprocess
import sys

PHASE = "phase @p flat (%i) { }\n"
WHILES = "repeat while cannot be nested, because targets cannot nest repetitions"
CASES = [
    # text, where, message
    ("side x : u32\n", "1:6", "expected a name, like %count, found 'x'"),
    ("side %x\nside %y : u32\n", "2:1", "expected ': u32', found 'side'"),
    ("side %x : f32\n", "1:11", "expected ': u32', found 'f32'"),
    ("side %x : u32[17]\n", "1:15", "expected a number from 1 to 16"),
    ("side %x : u32[0]\n", "1:15", "expected a number from 1 to 16"),
    ("side %op : u32\n", "1:6", "%op is already declared"),
    ("counter %x[2]\n", "1:12", "expected ']', found '2'"),
    ("constant %x = 1\n", "1:10", "expected the name of a number, like @most, found '%x'"),
    ("constant @x 1\n", "1:13", "expected '=', found '1'"),
    ("constant @x = -1\n", "1:15", "expected a number from 0 to 4294967295"),
    ("constant @x = 4294967296\n", "1:15", "expected a number from 0 to 4294967295"),
    ("constant @op.add = 1\n", "1:10", "@op.add is already a number"),
    ("constant @x = 1\nconstant @x = 2\n", "2:10", "@x is already a number"),
    ("provides %level\n", "1:10", "expected %hash or %canonical, found '%level'"),
    ("func name() { }\n", "1:6", "expected the name of the function, like @max, found 'name'"),
    ("func @f() {\n", "1:11", "this '{' is not closed"),
    ("func @f(%x : u32 {\n", "1:8", "this '(' is not closed"),
    ("func @f() { }\nfunc @f() { }\n", "2:6", "@f is already a function or phase"),
    ("phase %p flat (%i) { }\n", "1:7", "expected the name of the phase, like @mark, found '%p'"),
    ("phase @p (%i) { }\n", "1:10", "expected flat, up, down, inward or outward, found '('"),
    ("phase @p flat { }\n", "1:15", "expected '(', found '{'"),
    ("phase @p flat () { }\n", "1:15", "expected the name of the row in parentheses, like (%i), found '('"),
    ("phase @p flat (%i : u32) { }\n", "1:15", "expected the name of the row in parentheses, like (%i), found '('"),
    (PHASE + "sequence @p\n", "2:10", "expected '{', found '@p'"),
    (PHASE + "sequence { @p\n", "2:10", "this '{' is not closed"),
    (PHASE + "sequence { until { @p } }\n", "2:12", "expected a phase, levels or repeat, found 'until'"),
    (PHASE + "sequence { repeat 0 { @p } }\n", "2:19", "expected a number from 1 to 1024"),
    (PHASE + "sequence { repeat 1025 { @p } }\n", "2:19", "expected a number from 1 to 1024"),
    ("side %x : u32\n" + PHASE + "sequence { repeat while %x { @p } }\n", "3:25", "expected a number, or the name of a counter, found '%x'"),
    ("counter %x[]\n" + PHASE + "sequence { repeat while %x { @p } }\n", "3:25", "expected a number, or the name of a counter, found '%x'"),
    (PHASE + "sequence { " + "repeat 1 { " * 9 + "@p" + " }" * 10 + "\n", "2:100", "steps nest deeper than 8"),
    ("phase @p up (%i) { }\nsequence { levels { levels { @p } } }\n", "2:1", "levels cannot be nested"),
    ("phase @p up (%i) { }\nphase @q down (%i) { }\nsequence { levels { @p @q } }\n", "2:8",
     "the phases of levels must have one direction, which is not flat"),
    ("counter %n\n" + PHASE + "sequence { repeat while %n { repeat while %n { @p } } }\n", "3:37", WHILES),
    ("counter %n\nphase @p up (%i) { }\nsequence { repeat while %n { levels { repeat 2 { repeat while %n { @p } } } } }\n", "3:57", WHILES),
    # one after the other is allowed
    ("counter %n\n" + PHASE + "sequence { repeat while %n { @p } repeat while %n { until } }\n", "3:53",
     "expected a phase, levels or repeat, found 'until'"),
    (PHASE + "sequence { @p }\nsequence { @p }\n", "3:1", "there are two sequences"),
    ("include \"" + "a/" * 600 + "b.vir\"\n", "1:9", "this path is too long"),
    (PHASE + "sequence { }\n", "3:1", "the file has no sequence that runs a phase"),
    ("counter %n\nsequence { repeat while %n { } }\n", "3:1", "the file has no sequence that runs a phase"),
    (PHASE + "sequence { @p }\n", "1:8", "the phases use no column and no other memory"),
    ("phase @p flat (%i) -> u32 { return 1u32 }\n", "1:20", "expected '{', found '->'"),
    ("constant @x = 0x100000000\n", "1:15", "expected a number from 0 to 4294967295"),
    ("constant @x = 0xfg\n", "1:15", "expected a number from 0 to 4294967295"),
    # a phase's row has its own name, and a column's name becomes a name in C
    ("phase @p flat (%i) { %\"the row\" = load %imm[%i] }\n", "1:22", "a kernel file cannot have names in quotes"),
    ("side %\"a b\" : u32\n", "1:6", "a kernel file cannot have names in quotes"),
    ("func @\"f g\"() { }\n", "1:6", "a kernel file cannot have names in quotes"),
    # and the rest of the file is not read
    ("side %\"a b\" : u32\nconstant @x = 0xfg\n", "1:6", "a kernel file cannot have names in quotes"),
    ("phase @p (%i)\nconstant @x = 0xfg\n", "1:10", "expected flat, up, down, inward or outward, found '('"),
    ("phase @p other (%i) { }\nconstant @x = 0xfg\n", "1:10", "expected flat, up, down, inward or outward, found 'other'"),
    ("include", "1:8", "expected the path of a file in quotes, but the text ends"),
    # limits; * because some functions exist already
    ("".join(f"side %x{i} : u32\n" for i in range(70)), "35:6", "there are more than 64 names"),
    ("".join(f"constant @x{i} = 1\n" for i in range(300)), "257:10", "there are more than 256 constants"),
    ("".join(f"func @f{i}() {{ }}\n" for i in range(1100)), "*:6", "there are more than 1024 functions and phases"),
    (PHASE + "sequence {" + " @p" * 300 + " }\n", "2:780", "the sequence has more than 256 steps"),
    ("".join(f"include \"f{i}.vir\"\n" for i in range(70)), "63:9", "more than 63 files"),
]


def main():
    kernelc, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for i in range(70):
        open(os.path.join(folder, f"f{i}.vir"), "w").close()
    wrong = 0
    for number, (text, where, message) in enumerate(CASES):
        path = os.path.join(folder, f"case{number}.vir")
        with open(path, "w") as file:
            file.write(text)
        done = subprocess.run([kernelc, path, "-o", path + ".c"], capture_output=True, text=True)
        first = done.stderr.split("\n")[0]
        said = re.fullmatch(re.escape(f"{path}:{where}: error: {message}").replace(r"\*", r"\d+"), first)
        if done.returncode != 1 or not said or done.stderr.endswith(" errors\n") or os.path.exists(path + ".c"):
            print(f"case {number}: exit code {done.returncode}\n  is     {first}\n  should {path}:{where}: error: {message}")
            wrong += 1
    print(f"{len(CASES)} cases, {wrong} wrong")
    sys.exit(wrong != 0)


main()
