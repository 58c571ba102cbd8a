#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks by execution that import and default<O2> keep the results of SPIR-V that spirv-opt has rewritten, over random programs.

usage: check-rewritten.py BUILD FOLDER [--seed N] [--count N]        (Debian: spirv-tools; FOLDER keeps the files of a failure)

vyre-fuzz makes a strict program, so each of its results is defined.  vyre writes it as SPIR-V, spirv-opt applies some of its passes, and vyre imports
and optimizes the result.  The rewritten and the optimized module must compute what the program computes.  spirv-opt makes control flow, phis and
accesses that vyre's exporter never writes.  If the rewritten module computes something else, a Vulkan driver decides whether import is wrong.
"""
import argparse
import collections
import pathlib
import random
import subprocess
import sys

# Left out: loop-invariant-code-motion moves loads of variables out of loops that write these, merge-return puts barriers where not all invocations reach
# them, and loop-peeling crashes.
PASSES = """
    --ccp --cfg-cleanup --combine-access-chains --compact-ids --convert-local-access-chains --copy-propagate-arrays --eliminate-dead-branches
    --eliminate-dead-code-aggressive --eliminate-dead-const --eliminate-dead-inserts --eliminate-dead-variables --eliminate-insert-extract
    --eliminate-local-multi-store --eliminate-local-single-block --eliminate-local-single-store --freeze-spec-const --if-conversion
    --local-redundancy-elimination --loop-unroll --loop-unswitch --merge-blocks --private-to-local --reduce-load-size --redundancy-elimination
    --remove-duplicates --scalar-replacement --simplify-instructions --ssa-rewrite --strength-reduction --unify-const --vector-dce --workaround-1209
""".split() + ["--loop-unroll-partial 2", "--loop-unroll-partial 3", "--loop-fission 8", "--loop-fusion 64"]
MOST_PASSES = 8
MOST_UNDECIDED = 0.005
LEAST_COMPARED = 0.5  # of the programs: SPIR-V has no 64-bit form of some operations


class Checker:
    def __init__(self, build, folder):
        self.bin, self.folder, self.ends = build / "bin", folder, collections.Counter()

    def run(self, program, *arguments):
        """Returns an error text, or "" on success."""
        done = subprocess.run([program, *arguments], cwd=self.folder, capture_output=True, text=True, check=False, timeout=600)
        return (done.stdout + done.stderr or f"exit code {done.returncode}") if done.returncode else ""

    def compare(self, first, second, target="interpreter"):
        return self.run(self.bin / "vyre-run", first, "-compare", second, f"-target={target}", f"-compare-target={target}")

    def check(self, seed):
        """Returns an error text, or "".  Counts the outcome of each program."""
        draw = random.Random(seed)
        narrow = ["-narrow"] if seed % 2 else []
        passes = " ".join(draw.sample(PASSES, draw.randint(2, MOST_PASSES))).split()
        program = subprocess.run([self.bin / "vyre-fuzz", "-print", "-strict", f"-seed={seed}", *narrow], capture_output=True, text=True, check=True).stdout
        (self.folder / "program.vir").write_text(program, encoding="utf-8")
        if " flush_" in program.split("{", 1)[0]:
            self.ends["that flush denormals, which spirv-opt ignores"] += 1
            return ""
        if self.run(self.bin / "vyre-passmgr", "-passes=no-op", "program.vir", "-emit=spirv", "-o", "program.spv"):
            self.ends["without a SPIR-V form"] += 1
            return ""
        if self.run("spirv-opt", *passes, "program.spv", "-o", "rewritten.spv") or self.run("spirv-val", "--target-env", "vulkan1.3", "rewritten.spv"):
            self.ends["that spirv-opt made invalid"] += 1
            return ""
        changed = self.compare("program.vir", "rewritten.spv")
        if changed:
            driver = self.compare("program.spv", "rewritten.spv", "vulkan")
            if not driver:
                return f"seed {seed}, spirv-opt {' '.join(passes)}: the results of the rewritten module differ:\n{changed}"
            self.ends["that spirv-opt changed, but no driver here runs" if "lacks" in driver else "that spirv-opt changed, as a driver confirms"] += 1
        wrong = self.run(self.bin / "vyre-passmgr", "-passes=default<O2>", "rewritten.spv", "-o", "optimized.spv")
        wrong = wrong or self.compare("rewritten.spv" if changed else "program.vir", "optimized.spv")
        self.ends["equal"] += not wrong and not changed
        return wrong and f"seed {seed}, spirv-opt {' '.join(passes)}: the optimized module is wrong:\n{wrong}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    checker = Checker(options.build.resolve(), options.folder.resolve())
    for seed in range(options.seed, options.seed + options.count):
        wrong = checker.check(seed)
        if wrong:
            sys.exit(f"{wrong}\nFix: compare the files in {options.folder}")
    print(", ".join(f"{count} {end}" for end, count in sorted(checker.ends.items())))
    if checker.ends["that spirv-opt changed, but no driver here runs"] > MOST_UNDECIDED * options.count + 1:
        sys.exit("spirv-opt changed too many programs\nFix: check whether import is wrong")
    if checker.ends["equal"] < LEAST_COMPARED * options.count:
        sys.exit("too few programs were compared\nFix: look for a pass of spirv-opt that fails")


if __name__ == "__main__":
    main()
