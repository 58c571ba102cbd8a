# Finds the lines that each test runs: builds the tree with clang so that each block records that it ran (coverage.c), and runs each test
# once, some tests at a time.  build/mutants/coverage.json keeps the result.  A test is run again when it or the code changes.
# SPDX-License-Identifier: Apache-2.0
import hashlib
import json
import multiprocessing
import os
import re
import resource
import shutil
import subprocess

from tree import FUZZ, ROOT, Tree, Wrong

# Tests that are not run: they run only code that other tests run, too, or they take minutes.
NOT_ASKED = {"installed", "lit", "lit-lint", "lit-lint-itself", "behaviours-named", *(f"fuzz-passes-{k}" for k in range(4)), "rules-hold"}
LIT_SUFFIXES = {".vir", ".test", ".comp", ".spvasm"}
PRODUCT = ("base/", "cli/", "cmake/", "codegen/", "include/", "ir/", "kernels/", "languages/", "passes/", "passmgr/", "runtime/", "spirv/", "targets/",
           "tools/", "CMakeLists.txt")
TESTS = "cmake/vyre-tests.cmake"  # has the lists of tests


def digest_of(names):
    """Returns a hash of the names and contents of files of the tree."""
    result = hashlib.sha256()
    for name in sorted(names):
        result.update(name.encode() + b"\0" + (ROOT / name).read_bytes() + b"\0")
    return result.hexdigest()


def product_digest(names):
    return digest_of(name for name in names if name.startswith(PRODUCT) and name != TESTS)


def lit_tests(names):
    for name in names:
        path = ROOT / name
        if name.startswith("lit-tests/") and path.suffix in LIT_SUFFIXES and "Inputs" not in path.parts:
            yield "lit:" + name[len("lit-tests/"):]


measured = None  # the Coverage whose tests a pool's processes run; each process has a copy, because it is forked


def run_measured(test):
    return measured.of(test)


class Coverage:
    def __init__(self, work, names, all_tests):
        self.names, self.file = names, work / ("coverage-all.json" if all_tests else "coverage.json")
        self.folder = work / "coverage"
        self.tree = Tree(self.folder / "tree", all_tests)
        stored = json.loads(self.file.read_text()) if self.file.is_file() else {"tests": {}, "code": {}}
        self.known = stored["tests"]
        self.code = {file: int(bits, 16) for file, bits in stored["code"].items()}  # by file: a mask of the lines that can run
        self.where = {}  # by program: a list with the set of lines of each block

    def configure(self):
        for name in ("blocks", "tree"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        code, log = self.tree.run(["clang", "-O1", "-fPIC", "-D_GNU_SOURCE", f'-DFOLDER="{self.folder}"', "-c", "scripts/mutants/coverage.c", "-o",
                                   self.folder / "coverage.o"], 600)
        if code != 0:
            raise Wrong(f"clang fails:\n{log}\nFix: install the packages that scripts/install-packages.sh names")
        flags = "-O1 -gline-tables-only -fsanitize-coverage=trace-pc-guard,pc-table,no-prune"
        del self.tree.environment["CCACHE_NOHASHDIR"]  # because an object compiled in another folder names that folder's files
        self.tree.environment["CCACHE_HASHDIR"] = "1"
        self.tree.configure(["-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++", f"-DCMAKE_C_FLAGS_DEBUG={flags}",
                             f"-DCMAKE_CXX_FLAGS_DEBUG={flags}"], str(self.folder / "coverage.o"))

    def measure(self, jobs):
        """Runs the tests whose digest differs from that of the stored result, `jobs` tests at a time."""
        product = product_digest(self.names)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.tree.path.mkdir(exist_ok=True)
        self.tree.synchronize(self.names)
        self.configure()
        tests = [test for test in self.tree.commands() if test not in NOT_ASKED] + list(lit_tests(self.names)) + [FUZZ]
        tests.sort(key=lambda test: (test.startswith("folds-"), not test.startswith("unit-"), not test.startswith("lit:")))
        wanted = {test: self.digest(product, test) for test in tests}
        self.known = {test: entry for test, entry in self.known.items() if wanted.get(test) == entry["digest"]}
        left = [test for test in tests if test not in self.known]
        if not left:
            return
        if not self.known:
            self.code = {}
        print(f"coverage: {len(left)} tests are run", flush=True)
        shutil.rmtree(self.folder / "blocks")
        (self.folder / "blocks").mkdir()
        code, log = self.tree.run(["ninja", "-C", "b"], 7200)
        if code != 0:
            raise Wrong(f"the tree with coverage does not build: {log[-2000:]}")
        global measured
        measured = self
        self.tree.commands()  # read once, before the fork
        with multiprocessing.get_context("fork").Pool(jobs) as pool:
            for test, entry, code in pool.imap_unordered(run_measured, left):
                self.known[test] = dict(entry, digest=wanted[test])
                for file, bits in code.items():
                    self.code[file] = self.code.get(file, 0) | bits
                written = {file: f"{bits:x}" for file, bits in self.code.items()}
                self.file.with_suffix(".new").write_text(json.dumps({"tests": self.known, "code": written}))
                self.file.with_suffix(".new").rename(self.file)

    def digest(self, product, test):
        """Returns a hash of the product and the test: of a lit test's file and its Inputs, or of the sources in a unit test's folder."""
        if test.startswith("lit:"):
            own = "lit-tests/" + test[4:]
            inputs = own.rsplit("/", 1)[0] + "/Inputs/"
            names = [name for name in self.names if name == own or name.startswith(inputs)]
        elif test == FUZZ:
            names = []
        else:
            area = str(self.tree.commands()[test][1].relative_to(self.tree.path / "b")) + "/"
            names = [name for name in self.names if name.startswith(area)]
        return hashlib.sha256((product + digest_of(names)).encode()).hexdigest()

    def of(self, test):
        """Runs a test.  Returns the test, its entry without a digest, and by file the lines that can run."""
        ran = self.folder / f"ran-{os.getpid()}"
        shutil.rmtree(ran, ignore_errors=True)
        ran.mkdir()
        self.tree.environment["VYRE_COVERAGE"] = str(ran)
        self.code = {}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code, _ = self.tree.test(test, 3600)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        lines = {}  # by file: a mask of the executed lines
        for path in ran.iterdir():
            for block, mark in zip(self.blocks_of(path), path.read_bytes()):
                if mark:
                    for file, line in block:
                        lines[file] = lines.get(file, 0) | 1 << line
        print(f"coverage: {test}: {len(lines)} files, {seconds:.1f} s" + ("" if code == 0 else ", fails"), flush=True)
        shutil.rmtree(ran)
        return test, {"seconds": seconds, "lines": {file: f"{bits:x}" for file, bits in lines.items()}}, self.code

    def blocks_of(self, ran):
        """Returns the set of lines of each block of an executed program, from the program's debug information."""
        if ran.name in self.where:
            return self.where[ran.name]
        data = (self.folder / "blocks" / ran.name).read_bytes()
        starts = [int.from_bytes(data[k:k + 8], "little") for k in range(0, len(data), 8)]
        order = sorted(range(len(starts)), key=starts.__getitem__)
        rows = sorted(self.line_table(ran.name.replace("+", "/")))
        result, row = [set() for _ in starts], 0
        for k, block in enumerate(order):
            end = starts[order[k + 1]] if k + 1 < len(order) else 1 << 63
            while row < len(rows) and rows[row][0] < starts[block]:
                row += 1
            while row < len(rows) and rows[row][0] < end:
                result[block].add(rows[row][1:])
                row += 1
        for _, file, line in rows:
            self.code[file] = self.code.get(file, 0) | 1 << line
        self.where[ran.name] = result
        return result

    def line_table(self, program):
        """Yields (address, file, line) for lines of the tree's sources.  Yields nothing for a program that a test copied and removed."""
        if not os.path.exists(program):
            return []
        log = subprocess.run(["objdump", "--dwarf=decodedline", "-w", program], capture_output=True, text=True, check=True).stdout
        root, file = str(self.tree.path) + "/", None
        for line in log.splitlines():
            if line.endswith(":") and not line.startswith((" ", "CU:")):  # a path: absolute, or relative to the build folder
                path = os.path.normpath(os.path.join(root, "b", line[:-1]))
                file = path[len(root):] if path.startswith(root) else None
                continue
            match = file and re.match(r"\S+\s+(\d+)\s+0x([0-9a-f]+)", line)
            if match:
                yield int(match.group(2), 16), file, int(match.group(1))

    def tests_of(self, file, first, last):
        """Returns (test, seconds, share of the file's lines that it runs) of the tests that run one of those lines or a line beside them.

        An optimizing compiler attributes code to a neighboring line.  So neighbors count, but little.
        """
        mask, code, result = (2 << last) - (1 << first), self.code.get(file, 0), []
        above, below = code & ((1 << first) - 1), code >> last + 1
        near = (1 << above.bit_length() - 1 if above else 0) | (below & -below) << last + 1
        for test, entry in self.known.items():
            bits = int(entry["lines"].get(file, "0"), 16)
            if bits & (mask | near):
                share = bin(bits).count("1") / bin(code).count("1")
                result.append((test, entry["seconds"], share if bits & mask else share / 1000))
        return result
