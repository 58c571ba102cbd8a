# Random mutants: draws them from the code, and runs the tests that run their line until one notices.  Which those are is measured
# (coverage.py).  SPDX-License-Identifier: Apache-2.0
import bisect
import collections
import difflib
import hashlib
import json
import random
import re
import shlex
import threading
import time

import coverage
import operators
from tokens import Source
from tree import FUZZ, ROOT, Tree, Wrong, sources

FOLDERS = ("base", "cli", "codegen", "ir", "kernels", "languages", "passes", "passmgr", "runtime", "spirv", "targets", "tools")
SUFFIXES = (".c", ".h", ".cpp")
STAGES = (4, 12, 40, 1000)  # numbers of tests that are built and run together, one stage after another
STRICTLY = ["-Werror=int-conversion", "-Werror=incompatible-pointer-types", "-Werror=implicit-int"]  # errors that no build of the product has
LIT_COST = 0.6  # seconds that lit itself takes
LINK_COST = 0.3
NOT_KILLED = ("survived", "unexecuted")

Edit = collections.namedtuple("Edit", "number file line last operator start end text")


class Draw:
    """Draws random edits: a line that has edits, then an operator, then an edit of that operator.  Seed and code determine the edits."""

    def __init__(self, seed, folders, root):
        self.random = random.Random(seed)
        self.sources = {}
        self.lines = []  # (file, line) of each line with code
        for name in sorted(sources()):
            if name.split("/")[0] in FOLDERS and name.endswith(SUFFIXES) and (not folders or any(f in name for f in folders)):
                source = self.sources[name] = Source((root / name).read_text())
                self.lines += [(name, line) for line in sorted({source.line(k) for k in source.code})]
        self.drawn, self.count = set(), 0

    def next(self):
        """Returns a new edit, or None if 1000 random lines have no new edit."""
        for _ in range(1000):
            name, line = self.random.choice(self.lines)
            source = self.sources[name]
            edits = collections.defaultdict(list)
            for k in source.code:
                if source.line(k) == line:
                    for operator, *edit in operators.edits_at(source, k):
                        edits[operator].append(tuple(edit))
            if not edits:
                continue
            operator = self.random.choice(sorted(edits))
            start, end, text = self.random.choice(edits[operator])
            if (name, start, end, text) in self.drawn:
                continue
            self.drawn.add((name, start, end, text))
            self.count += 1
            first = bisect.bisect_right(source.lines, start)
            return Edit(self.count, name, first, bisect.bisect_right(source.lines, end), operator, start, end, text)
        return None


def difference(draw, edit):
    old = draw.sources[edit.file].text
    lines = difflib.unified_diff(old.splitlines(), (old[:edit.start] + edit.text + old[edit.end:]).splitlines(), lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


class Judge:
    def __init__(self, work, draw, known, options):
        self.wanted, self.draw, self.coverage, self.seconds = options.count, draw, known, options.seconds
        self.lock, self.changed = threading.Lock(), threading.Condition()
        shared = [name for name in known.names if name.startswith(("lit-tests/house/", "lit-tests/lit.cfg")) or name.count("/") == 1 and
                  name.startswith("unittests/")]  # files that many tests run or include
        self.product = coverage.product_digest(known.names) + coverage.digest_of(shared)
        # Mutants that an earlier run judged: by key, the verdict, the digest of the deciding tests, and the test that killed the mutant.
        self.file = work / "judged.txt"
        self.known = {}
        if self.file.is_file() and not options.fresh:
            words = (line.split() for line in self.file.read_text().splitlines())
            self.known = {line[0]: line[1:] for line in words if len(line) == 4}
        self.counts = collections.defaultdict(collections.Counter)
        self.valid, self.under_way = 0, 0
        self.error = None  # the first error that ended a worker
        self.left = []  # (edit, verdict) of the mutants that were not killed
        self.sound, self.unsound = set(), set()  # tests that pass without a mutant; tests that fail without a mutant
        self.start = time.monotonic()

    # ---- choosing the next mutant, and recording verdicts ----

    def take(self):
        with self.changed:
            while self.valid < self.wanted and self.error is None:
                if self.valid + self.under_way < self.wanted:
                    edit = self.draw.next()
                    if edit is None:
                        return None
                    self.under_way += 1
                    return edit
                self.changed.wait()
        return None

    def done(self, edit, verdict, test, seconds):
        with self.changed:
            self.under_way -= 1
            self.valid += verdict == "killed" or verdict in NOT_KILLED
            folder = edit.file.rsplit("/", 1)[0]
            self.counts[folder][verdict] += 1
            if verdict in NOT_KILLED:
                self.left.append((edit, verdict))
            if verdict != "invalid":
                print(f"{edit.number:4} {verdict:10} {edit.file}:{edit.line}: {edit.operator}" + (f": {test}" if test else "") +
                      f"  ({seconds:.0f} s)", flush=True)
                print("\n".join("       " + line for line in difference(self.draw, edit)), flush=True)
            self.changed.notify_all()

    def key(self, edit):
        return hashlib.sha256("\0".join([self.product, edit.file, str(edit.start), str(edit.end), edit.text]).encode()).hexdigest()

    def worker(self, tree):
        try:
            self.judge_all(tree)
        except BaseException as error:
            with self.changed:
                self.error = self.error or error
                self.changed.notify_all()

    def judge_all(self, tree):
        while (edit := self.take()) is not None:
            start, key = time.monotonic(), self.key(edit)
            verdict, digest, test = self.known.get(key, (None, None, None))
            if verdict is None or digest != self.digest_of_tests(edit, verdict, test):
                verdict, test = self.one(tree, edit)
                with self.lock, self.file.open("a") as file:
                    file.write(f"{key} {verdict} {self.digest_of_tests(edit, verdict, test)} {test or '-'}\n")
            self.done(edit, verdict, test if verdict == "killed" else None, time.monotonic() - start)

    def digest_of_tests(self, edit, verdict, test):
        """Returns a digest of the tests that the verdict depends on: the mutant is judged again when they differ."""
        tests = self.tests(edit) if verdict in NOT_KILLED else [test] if test in self.coverage.known else []
        return hashlib.sha256("\0".join(f"{name} {self.coverage.known[name]['digest']}" for name in tests).encode()).hexdigest()

    # ---- judging a mutant ----

    def one(self, tree, edit):
        """Returns the verdict on the edit, and the test that killed the mutant."""
        path = tree.path / edit.file
        original = path.read_text()
        killer = None
        try:
            path.write_text(original[:edit.start] + edit.text + original[edit.end:])
            commands = self.compilations(tree, edit.file)
            if not all(self.compiles(tree, command) for command in commands[:1]):
                return "invalid", None
            tests = self.tests(edit)
            killer = self.killer(tree, tests)
            if killer == "build" and not all(self.compiles(tree, command) for command in commands):
                return "invalid", None
            if killer is None:
                if commands and self.same_code(tree, path, original, commands):
                    return "same", None
                return ("survived" if tests else "unexecuted"), None
        finally:
            path.write_text(original)
        return self.confirm(tree, edit, killer)

    def confirm(self, tree, edit, killer):
        """Returns "killed" if the failing test or build passes without the mutant.  Otherwise ignores the test and judges again."""
        if killer == "build":
            code, log = tree.build_again()
            if code != 0:
                raise Wrong(f"{tree.path} does not build without a mutant:\n{log[-2000:]}")
        elif killer not in self.sound:
            code, log = tree.build(killer)
            if code == 0:
                code, log = tree.test(killer, 3600)
            if code != 0:
                print(f"warning: {killer} fails without a mutant, and is ignored: {log[-300:]}", flush=True)
                with self.lock:
                    self.unsound.add(killer)
                return self.one(tree, edit)
            with self.lock:
                self.sound.add(killer)
        return "killed", killer

    def tests(self, edit):
        """Returns the tests that run the edit's lines.  Short tests that run much of the file come first."""
        found = []
        for test, seconds, share in self.coverage.tests_of(edit.file, edit.line, edit.last):
            if test not in self.unsound:
                cost = seconds + (LIT_COST / 8 if test.startswith("lit:") else LINK_COST)
                found.append((test == FUZZ, -share / cost, test))
        result, left = [], self.seconds
        for _, _, test in sorted(found):
            seconds = self.coverage.known[test]["seconds"]
            if seconds <= left:
                left -= seconds
                result.append(test)
        return result

    def killer(self, tree, tests):
        """Returns the first test that fails, or None if all pass.  Returns "build" if the build fails, because it runs tools of vyre."""
        if not tests:
            return "build" if tree.build()[0] != 0 else None
        at = 0
        for count in STAGES:
            stage = tests[at:at + count]
            at += count
            if not stage:
                return None
            code, _ = tree.build(*stage)
            if code != 0:
                return "build"
            lit = [test for test in stage if test.startswith("lit:")]
            for test in sorted((test for test in stage if test not in lit), key=lambda test: test == FUZZ):
                if test == FUZZ and lit:  # lit tests come before it
                    if (failed := self.failing_lit(tree, lit)):
                        return failed
                    lit = []
                if tree.test(test, self.patience([test]), processor=self.limit(test))[0] != 0:
                    return test
            if lit and (failed := self.failing_lit(tree, lit)):
                return failed
        return None

    def limit(self, test):
        """Returns the test's limit of CPU seconds, for mutants that loop.  Wall time would depend on the load of the machine."""
        return int(max(20, 10 * self.coverage.known[test]["seconds"]))

    def patience(self, tests):
        """Returns the seconds after which the tests are killed: a mutant may wait forever, and the machine be busy."""
        return 60 + sum(5 + 20 * self.coverage.known[test]["seconds"] for test in tests)

    def failing_lit(self, tree, tests):
        limit = max(self.limit(test) for test in tests)
        code, log = tree.lit([test[4:] for test in tests], "-j1", "--max-failures=1", limit=self.patience(tests), processor=limit)
        if code == 0:
            return None
        match = re.search(r"^(?:FAIL|TIMEOUT|UNRESOLVED): \S+ :: (\S+)", log, re.M)
        return "lit:" + match.group(1) if match else tests[0]

    # ---- finding edits that do not compile or change nothing ----

    @staticmethod
    def compilations(tree, file):
        """Returns the commands that compile the file, or the files that include it."""
        entries = json.loads((tree.path / "b" / "compile_commands.json").read_text())
        named = {str(tree.path / file)}
        if not file.endswith((".c", ".cpp")):
            include = re.compile(rf'#include "[^"]*{re.escape(file.rsplit("/", 1)[1])}"')
            named = {e["file"] for e in entries if e["file"].startswith(tuple(f"{tree.path}/{folder}/" for folder in FOLDERS))
                     and include.search(open(e["file"]).read())}
        unique = {}
        for entry in entries:
            if entry["file"] in named:
                unique.setdefault(entry["file"], shlex.split(entry["command"]))
        return [unique[name] for name in sorted(unique)]

    @staticmethod
    def compiles(tree, command):
        return tree.run([*command[:command.index("-o")], *STRICTLY, "-fsyntax-only", *command[command.index("-c"):]], 600, "b")[0] == 0

    def same_code(self, tree, path, original, commands):
        """Returns whether an optimizing compiler makes equal objects of both texts, so that no test can distinguish them."""
        mutant = path.read_text()
        for command in commands:
            made = []
            for text in (mutant, original):
                path.write_text(text)
                at = command.index("-o")
                code, _ = tree.run([*command[:at], "-O2", "-DNDEBUG", "-o", "same.o", *command[at + 2:]], 600, "b")
                made.append((tree.path / "b" / "same.o").read_bytes() if code == 0 else text.encode())
            if made[0] != made[1]:
                return False
        return True

    # ---- the report ----

    def report(self):
        print("\nNot killed (unexecuted: no test runs the line):")
        for edit, verdict in sorted(self.left, key=lambda item: item[0].file):
            print(f"{verdict} {edit.file}:{edit.line}: {edit.operator}")
            print("\n".join("  " + line for line in difference(self.draw, edit)))
        columns = ("killed", "survived", "unexecuted", "same", "invalid")
        print(f"\n{'folder':22}{'mutants':>9}" + "".join(f"{c:>12}" for c in columns))
        total = collections.Counter()
        for folder in sorted(self.counts) + ["all"]:
            row = self.counts[folder] if folder != "all" else total
            mutants = row["killed"] + row["survived"] + row["unexecuted"]
            print(f"{folder:22}{mutants:9}" + "".join(f"{row[c]:12}" for c in columns))
            if folder != "all":
                total.update(row)
        mutants = total["killed"] + total["survived"] + total["unexecuted"]
        percent = 100 * total["killed"] // max(1, mutants)
        print(f"{total['killed']} of {mutants} mutants killed ({percent} %), {time.monotonic() - self.start:.0f} s")
        return percent


def draw_of(options, root=ROOT):
    draw = Draw(options.seed, options.paths, root)
    for part in options.paths:
        if not any(part in name for name in draw.sources):
            raise Wrong(f"no code in {part}\nFix: give a part of a path of {', '.join(FOLDERS)}")
    return draw


def print_list(options):
    draw = draw_of(options)
    for _ in range(options.count):
        if (edit := draw.next()) is not None:
            print(f"{edit.number:4} {edit.file}:{edit.line}: {edit.operator}")
            print("\n".join("       " + line for line in difference(draw, edit)))


def run(work, options):
    """Judges mutants.  Returns whether the share of killed mutants is at least the one that the options require."""
    names = sources()
    draw_of(options)  # report a wrong path before the measurement
    known = coverage.Coverage(work, names, options.all_tests)
    known.measure(options.jobs)
    source = known.tree.path  # not ROOT, which may change during the run
    judge, trees = Judge(work, draw_of(options, source), known, options), []
    for k in range(options.jobs):
        tree = Tree(work / f"tree-{k + 1}", options.all_tests)
        tree.path.mkdir(parents=True, exist_ok=True)
        tree.synchronize(names, source)
        tree.configure()
        trees.append(tree)
    threads = [threading.Thread(target=judge.worker, args=(tree,)) for tree in trees]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        with judge.changed:
            judge.error = Wrong("interrupted")
        for tree in trees:
            tree.kill()
        for thread in threads:
            thread.join()
    if judge.error:
        raise judge.error
    return judge.report() >= options.least
