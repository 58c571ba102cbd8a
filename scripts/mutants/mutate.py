#!/usr/bin/env python3
# Mutation tests: changes the code in copies of the tree, one mutant at a time, and runs the tests of the changed line until one fails.
# See README.md beside this file.  SPDX-License-Identifier: Apache-2.0
import argparse
import fcntl
import math
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True  # writes no .pyc files into the source tree

import judge  # noqa: E402
from tree import ROOT, Wrong  # noqa: E402


def lock_of(work):
    """Returns an open file that locks `work` as long as it is open."""
    work.mkdir(parents=True, exist_ok=True)
    lock = (work / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Wrong(f"another run uses {work}\nFix: wait for its end") from None
    return lock


def number(text):
    return int(text, 0)


def positive(text):
    value = int(text, 0)
    if value < 1:
        raise argparse.ArgumentTypeError("it is less than 1")
    return value


def path(text):
    return str(pathlib.Path(text).relative_to(ROOT)) if text.startswith(f"{ROOT}/") else text


def main():
    parser = argparse.ArgumentParser(prog="mutate.sh", description="shows which mutants of the code the tests notice: scripts/mutants/README.md")
    parser.add_argument("paths", metavar="PATH", nargs="*", type=path, help="mutate only files whose path contains PATH (all)")
    parser.add_argument("--count", metavar="N", type=positive, default=20, help="number of mutants (20)")
    parser.add_argument("--seed", metavar="N", type=number, default=0, help="seed of the choice of mutants (0)")
    parser.add_argument("--all-tests", action="store_true", help="judge with the long tests, too, and all of their programs")
    parser.add_argument("--seconds", metavar="N", type=float, default=math.inf, help="processor time of the tests of one mutant (no limit)")
    parser.add_argument("--least", metavar="PERCENT", type=number, default=100, help="exit with 1 if fewer mutants are killed (100)")
    parser.add_argument("--jobs", metavar="N", type=positive, default=2, help="number of copies of the tree that are used at once (2)")
    parser.add_argument("--fresh", action="store_true", help="judge mutants again that an earlier run judged")
    parser.add_argument("--list", action="store_true", help="print the mutants without judging them")
    options = parser.parse_args()
    os.nice(10)
    if options.list:
        judge.print_list(options)
        return 0
    work = ROOT / "build" / "mutants"
    with lock_of(work):
        return 0 if judge.run(work, options) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Wrong, OSError, subprocess.SubprocessError) as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        sys.exit(2)
