#!/usr/bin/env python3
# Makes the lines that scripts/mutants/*.txt list wrong, one at a time, in copies of the tree, and shows that the test named there notices.
# The copies and their builds (-O0, no debug information) stay in build/mutants: the next run compiles and links only what differs.
# See README.md beside this file.  SPDX-License-Identifier: Apache-2.0
import argparse
import collections
import fcntl
import fnmatch
import hashlib
import math
import os
import pathlib
import random
import re
import sys
import threading
import time

sys.dont_write_bytecode = True  # the sources stay as they are

import judge  # noqa: E402
from tree import FUZZ, FUZZ_PROGRAMS, ROOT, Tree, Wrong, is_lit, lit_path, sources  # noqa: E402

LISTS = ROOT / "scripts" / "mutants"
FLOOR = {"ir": 3}  # so many at least for each file with code that can be wrong
FLOOR_ELSEWHERE = 2

Mutant = collections.namedtuple("Mutant", "file test old new fuzz place")


def read_list(path):
    head = old = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        place = f"{os.path.relpath(path, ROOT)}:{number}"
        match = re.fullmatch(r"([^ :]+\.(?:c|h|def|cpp|vir|comp)): (\S+)(?: (fuzz))?", line)
        if not line.strip() or line.startswith("#"):
            continue
        if match:
            head = match.group(1, 2)
            fuzz = match.group(3) is not None
        elif line.startswith("- ") and head and old is None:
            old = line[2:]
        elif re.match(r"\+( |$)", line) and old is not None:
            yield Mutant(*head, old, line[2:], fuzz, place)
            old = None
        else:
            raise Wrong(f"{place}: not an entry: {line}")


def all_mutants(paths):
    return [mutant for path in paths or sorted(LISTS.glob("*.txt")) for mutant in read_list(path)]


def mutated(root, mutant):
    try:
        text = (root / mutant.file).read_text()
    except OSError as error:
        raise Wrong(f"{mutant.place}: {mutant.file}: {error.strerror}") from None
    count = text.count(mutant.old)
    if count != 1 or mutant.old == mutant.new:
        raise Wrong(f"{mutant.place}: '{mutant.old}' occurs {count} times in {mutant.file}, not once")
    return text.replace(mutant.old, mutant.new)


# ---- --check: the lists alone ------------------------------------------------------------------------------------------------


def has_code(path):
    """Whether a file has functions or rules: not only declarations."""
    return path.suffix in (".c", ".cpp") and re.search(r'^(  [a-z].*;|#include ".*\.def")', path.read_text(), re.M) is not None


def check(mutants, whole):
    """What is wrong with the lists: entries that do not apply, tests that are not there, and in whole lists files with too few."""
    errors, seen = [], set()
    tests = set(re.findall(r"vyre_add_unittest\(\s*([\w-]+)", "".join(p.read_text() for p in ROOT.glob("unittests/*/CMakeLists.txt"))))
    tests |= set(re.findall(r"vyre_add_test\(([\w-]+)", (ROOT / "lit-tests" / "CMakeLists.txt").read_text()))
    for path in ROOT.glob("unittests/*/CMakeLists.txt"):
        for names, stem in re.findall(r"foreach\(name ([^)]*)\)\s*vyre_add_unittest\((unit-[\w-]+)-\$\{name\}", path.read_text()):
            tests |= {f"{stem}-{name}" for name in names.split()}
    for mutant in mutants:
        try:
            mutated(ROOT, mutant)
        except Wrong as error:
            errors.append(f"{error}\nFix: bring the entry up to date with the code, or take it out")
        test = mutant.test
        if test != FUZZ and not ((ROOT / "lit-tests" / lit_path(test)).exists() if is_lit(test) else test in tests):
            errors.append(f"{mutant.place}: there is no test {test}")
        if mutant[:1] + mutant[2:4] in seen:
            errors.append(f"{mutant.place}: the mutant is there twice")
        seen.add(mutant[:1] + mutant[2:4])
    counts = collections.Counter(mutant.file for mutant in mutants)
    for folder in sorted({os.path.dirname(mutant.file) for mutant in mutants if whole}):
        floor = FLOOR.get(folder, FLOOR_ELSEWHERE)
        for path in sorted((ROOT / folder).iterdir()):
            name = str(path.relative_to(ROOT))
            if has_code(path) and counts[name] < floor:
                errors.append(f"{name} has {counts[name]} mutants of {floor}\n"
                              "Fix: list faults that could be made there, with the test that notices (scripts/mutants/README.md)")
    return errors


# ---- running -----------------------------------------------------------------------------------------------------------------


class Runner:
    def __init__(self, work, groups, fresh):
        self.groups, self.lock = groups, threading.Lock()
        self.verdicts = work / "killed.txt"  # keys of what is known to be killed
        self.known = set(self.verdicts.read_text().split()) if self.verdicts.is_file() and not fresh else set()
        self.counts = collections.defaultdict(collections.Counter)  # folder: verdict: how many
        self.left = []  # lines of what was not killed

    def say(self, verdict, mutant, seconds, why=""):
        folder = os.path.dirname(mutant.file)
        line = f"{verdict:9} {mutant.file}: {mutant.test}: {mutant.old} -> {mutant.new}" + (f": {why}" if why else "")
        with self.lock:
            self.counts[folder][verdict] += 1
            self.counts[folder]["seconds"] += seconds
            if verdict != "killed":
                self.left.append(line)
            print(line + (f"  ({seconds:.1f} s)" if seconds else ""), flush=True)

    def worker(self, tree):
        while True:
            with self.lock:
                if not self.groups:
                    return
                test, mutants = self.groups.pop(0)
            try:
                self.group(tree, test, mutants)
            except Wrong as error:
                for mutant in mutants:
                    self.say("WRONG", mutant, 0, str(error))

    def group(self, tree, test, mutants):
        """All mutants of one test: it passes without them, then each is applied, built, tested and taken back."""
        code, log = tree.build(test)
        if code != 0:
            raise Wrong(f"{test} does not build: {log[-2000:]}")
        digest, passed = tree.digest(test), None
        for mutant in sorted(mutants, key=lambda m: m.file):
            key = hashlib.sha256("\0".join([digest, mutant.file, mutant.old, mutant.new]).encode()).hexdigest()
            if key in self.known:
                self.say("killed", mutant, 0)
                continue
            if passed is None:
                start = time.monotonic()
                code, log = tree.test(test, 600)
                if code != 0:
                    raise Wrong(f"{test} fails without the mutant: {log[-500:]}")
                passed = time.monotonic() - start
            start = time.monotonic()
            verdict, why = self.one(tree, mutant, passed)
            if verdict == "killed":
                with self.lock, self.verdicts.open("a") as file:
                    file.write(key + "\n")
            self.say(verdict, mutant, time.monotonic() - start, why)

    @staticmethod
    def one(tree, mutant, passed):
        path = tree.path / mutant.file
        original = path.read_text()
        try:
            text = mutated(tree.path, mutant)
        except Wrong as error:
            return "WRONG", str(error)
        try:
            path.write_text(text)
            code, log = tree.build(mutant.test)
            if code != 0:
                error = re.search(r"error.*", log)
                return "WRONG", "does not compile: " + (error.group(0) if error else log[-200:])
            # A mutant may loop or take all the memory: both count as noticed.
            code, _ = tree.test(mutant.test, max(20, 8 * passed))
            return ("SURVIVED", "") if code == 0 else ("killed", "")
        finally:
            path.write_text(original)


def lock_of(work):
    """Held as long as the file is open."""
    work.mkdir(parents=True, exist_ok=True)
    lock = (work / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Wrong(f"another run is under way in {work}") from None
    return lock


def run(mutants, options, work):
    groups = collections.defaultdict(list)
    for mutant in mutants:
        groups[mutant.test].append(mutant)
    queue = sorted(groups.items(), key=lambda g: -len(g[1]))
    runner, names, threads = Runner(work, queue, options.fresh), sources(), []
    for k in range(min(options.jobs, len(queue))):
        tree = Tree(work / f"tree-{k + 1}")
        tree.path.mkdir(parents=True, exist_ok=True)
        tree.synchronize(names)
        tree.configure()
        threads.append(threading.Thread(target=runner.worker, args=(tree,)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report(runner, mutants)
    return 0 if not runner.left else 1


def report(runner, mutants):
    files = collections.defaultdict(set)
    for mutant in mutants:
        files[os.path.dirname(mutant.file)].add(mutant.file)
    if runner.left:
        print("\nNot killed:\n" + "\n".join(sorted(runner.left)))
    print(f"\n{'folder':22}{'files':>6}{'mutants':>9}{'killed':>8}{'survived':>10}{'wrong':>7}{'seconds':>9}")
    total = collections.Counter()
    for folder in sorted(runner.counts):
        c = dict(runner.counts[folder])
        row = dict(c, files=len(files[folder]), mutants=sum(c.values()) - c["seconds"])
        total.update(row)
        print_row(folder, row)
    print_row("all", total)
    print(f"{total['killed']} of {total['mutants']:.0f} mutants killed ({100 * total['killed'] // max(1, total['mutants'])} %)")


def print_row(name, row):
    columns = (("files", 6), ("mutants", 9), ("killed", 8), ("SURVIVED", 10), ("WRONG", 7), ("seconds", 9))
    print(f"{name:22}" + "".join(f"{row.get(key, 0):{width}.0f}" for key, width in columns))


def main():
    parser = argparse.ArgumentParser(prog="mutate.sh", description="shows that the tests notice mutants: scripts/mutants/README.md")
    parser.add_argument("--file", metavar="PATTERN", action="append", help="only files whose path has this in it, or matches it")
    parser.add_argument("--test", metavar="PATTERN", action="append", help="only tests whose name has this in it, or matches it")
    parser.add_argument("--fuzz", action="store_true", help=f"only those marked so, with {FUZZ_PROGRAMS} programs of vyre-fuzz as their test")
    parser.add_argument("--from", metavar="LIST", dest="paths", type=pathlib.Path, action="append", help="the entries of this file")
    parser.add_argument("--jobs", metavar="N", type=int, default=2, help="so many copies of the tree at once (2)")
    parser.add_argument("--random", metavar="N", type=int, help="so many that are drawn from the code, not listed")
    parser.add_argument("--by-lists", action="store_true", help="of --random: the tests that the lists name for a file and its folder try a mutant")
    parser.add_argument("--seconds", metavar="N", type=float, default=math.inf, help="of --random: tests of so many seconds in all try a mutant (all)")
    parser.add_argument("--sample", metavar="N", type=int, help="only so many, taken at random")
    parser.add_argument("--seed", metavar="N", type=lambda text: int(text, 0), default=0, help="of --random and --sample")
    parser.add_argument("--fresh", action="store_true", help="forget what is known of equal programs")
    parser.add_argument("--list", action="store_true", help="the entries alone")
    parser.add_argument("--check", action="store_true", help="only whether the entries apply, and each file has enough")
    options = parser.parse_args()

    def matches(patterns, name):
        return not patterns or any(p in name or fnmatch.fnmatch(name, p) for p in patterns)

    if options.random is not None:
        os.nice(10)
        work = ROOT / "build" / "mutants"
        with lock_of(work):
            listed = [m for m in all_mutants(options.paths) if matches(options.test, m.test)] if options.by_lists else None
            return judge.run(work, options.random, options.seed, options.jobs, options.file, options.seconds, options.fresh, listed)
    mutants = [m for m in all_mutants(options.paths) if matches(options.file, m.file) and matches(options.test, m.test)]
    if options.fuzz:
        mutants = [m._replace(test=FUZZ) for m in mutants if m.fuzz]
    if options.sample:
        mutants = random.Random(options.seed).sample(mutants, min(options.sample, len(mutants)))
    if not mutants:
        raise Wrong("no entry is meant")
    if options.list:
        for m in mutants:
            print(f"{m.file}: {m.test}\n- {m.old}\n+ {m.new}")
        return 0
    if options.check:
        errors = check(mutants, not (options.fuzz or options.paths or options.file or options.test or options.sample))
        for error in errors:
            print(f"error: {error}", file=sys.stderr)
        print(f"{len(mutants)} mutants of {len({m.file for m in mutants})} files, {len(errors)} errors")
        return 1 if errors else 0
    os.nice(10)
    work = ROOT / "build" / "mutants"
    with lock_of(work):
        return run(mutants, options, work)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        sys.exit(2)
