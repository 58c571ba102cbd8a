# A copy of the tree with its build, in which mutants are made, and the tests that can be run there.  SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

BUILD_SECONDS = 120  # of processor time, for each process of a build
FUZZ = "fuzz"  # the name of the test that runs vyre-fuzz
FUZZ_PROGRAMS = 2000


def is_lit(test):
    """Returns whether the test is a lit test, whose name is `lit:PATH`."""
    return test.startswith("lit:")


class Wrong(Exception):
    """An error of usage, or a tree that does not build."""


def sources():
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           check=True, capture_output=True).stdout.decode().split("\0")
    return [name for name in names if name and (ROOT / name).is_file()]


class Tree:
    """A copy of the tree with its own build.  A copy belongs to one thread."""

    def __init__(self, path, all_tests):
        self.path, self.all_tests, self.known_commands, self.child, self.built = path, all_tests, None, None, []
        self.environment = dict(os.environ, CCACHE_BASEDIR=str(path), CCACHE_NOHASHDIR="1", LC_ALL="C")
        if not all_tests:  # select the tests that scripts/test.sh runs
            presets = json.loads((ROOT / "CMakePresets.json").read_text())["testPresets"]
            self.environment.update(next(p for p in presets if p["name"] == "release")["environment"])

    def synchronize(self, names, source=ROOT):
        """Makes the copy equal to the files `names` of `source`.  Removes other files."""
        here = {str(p.relative_to(self.path)) for p in self.path.rglob("*") if p.is_file() and p.relative_to(self.path).parts[0] != "b"}
        for name in here - set(names):
            (self.path / name).unlink()
        for name in names:  # an equal file is not written, so that it keeps its time and is not built again
            target = self.path / name
            if name not in here or target.read_bytes() != (source / name).read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source / name, target)

    def configure(self, more=(), linked=""):
        """Configures the copy.  `linked` has further linker flags for each program and shared object."""
        if (self.path / "b" / "build.ninja").is_file():
            if self.run(["ninja", "-C", "b", "build.ninja"], 600)[0] == 0:  # configures again if a CMakeLists.txt changed
                return
            shutil.rmtree(self.path / "b")
        options = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O1", "-DCMAKE_CXX_FLAGS_DEBUG=-O1", "-DVYRE_WERROR=OFF", *more]
        if shutil.which("ccache"):
            options += ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
        if shutil.which("mold"):
            linked += " -fuse-ld=mold"
        options += [f"-DCMAKE_{kind}_LINKER_FLAGS={linked.strip()}" for kind in ("EXE", "SHARED", "MODULE")]
        code, log = self.run(["cmake", "-S", ".", "-B", "b", "-G", "Ninja", *options], 600)
        if code:
            raise Wrong(f"cmake fails:\n{log}")

    def commands(self):
        """Returns for each of ctest's tests the command, the folder and the environment."""
        if self.known_commands:
            return self.known_commands
        code, log = self.run(["ctest", "--test-dir", "b", "--show-only=json-v1"], 600)
        if code != 0:
            raise Wrong(f"ctest fails:\n{log}")
        self.known_commands = {}
        for test in json.loads(log)["tests"]:
            properties = {p["name"]: p["value"] for p in test["properties"]}
            if self.all_tests or "long" not in properties.get("LABELS", []):
                folder = pathlib.Path(properties["WORKING_DIRECTORY"])
                command = test.get("command") or self.written_command(test["name"], folder)
                environment = dict(item.split("=", 1) for item in properties.get("ENVIRONMENT", []))
                self.known_commands[test["name"]] = (command, folder, environment)
        return self.known_commands

    @staticmethod
    def written_command(test, folder):
        """Returns the command of a test whose program is not built yet: ctest does not print it."""
        text = (folder / "CTestTestfile.cmake").read_text()
        line = re.search(rf"^add_test\((?:\[=\[)?{re.escape(test)}(?:\]=\])? (.*)\)$", text, re.M).group(1)
        return re.findall(r'"([^"]*)"', line)

    def run(self, command, limit, folder=".", processor=resource.RLIM_INFINITY, environment=None):
        """Runs a command.  Returns its exit code, or None after `limit` seconds, and its output.  `processor` limits each process's CPU seconds."""
        def limits():
            resource.setrlimit(resource.RLIMIT_CPU, (processor, processor))
            resource.setrlimit(resource.RLIMIT_DATA, (8 << 30, 8 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        child = subprocess.Popen(command, cwd=self.path / folder, env={**self.environment, **(environment or {})}, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=limits, errors="replace")
        self.child = child
        try:
            log, _ = child.communicate(timeout=limit)
            return child.returncode, log
        except subprocess.TimeoutExpired:
            self.kill()
            log, _ = child.communicate()
            return None, log
        except BaseException:
            self.kill()
            raise

    def kill(self):
        """Kills the processes that run() started."""
        if self.child is not None and self.child.returncode is None:
            os.killpg(self.child.pid, signal.SIGKILL)

    def targets(self, test):
        if test == FUZZ:
            return ["vyre-fuzz", "passes/all"]
        if test.startswith("folds-") or test == "rules-page":
            return ["vyre-folds" if test.startswith("folds-") else "vyre-rules"]
        program = "" if is_lit(test) else self.commands()[test][0][0]
        own = [program.removeprefix(f"{self.path}/b/")] if program.startswith(f"{self.path}/b/") else []
        # vyre_glsl is a plugin that programs open at run time, so linking a test does not build it.
        if test.startswith("unit-"):
            return own + ["vyre_glsl"]
        programs = ["cli/all", "tools/all", "vyre_cuda_sim", "passes/all", "vyre_glsl"]
        return own + programs + (["lit-tests/all"] if is_lit(test) else ["examples/all"])

    def build(self, *tests):
        """Builds the targets that the tests need, or everything without tests."""
        self.built = list(dict.fromkeys(target for test in tests for target in self.targets(test)))
        return self.build_again()

    def build_again(self):
        """Builds the targets of the last build().  A mutant of a program that the build runs may loop."""
        return self.run(["ninja", "-C", "b", *self.built], 1200, processor=BUILD_SECONDS)

    def lit(self, files, *options, **limits):
        cache = (self.path / "b" / "CMakeCache.txt").read_text()
        lit = re.search(r"^VYRE_LIT:\w+=(.*)$", cache, re.M).group(1)
        return self.run([sys.executable, lit, "-q", *options, *(f"b/lit-tests/{file}" for file in files)], **limits)

    def test(self, test, limit, **limits):
        if test == FUZZ:
            return self.run(["./vyre-fuzz", f"-count={FUZZ_PROGRAMS}", "-first", "-no-reduce", "-quiet", "-out=.."], limit, "b/bin", **limits)
        if is_lit(test):
            return self.lit([test[4:]], limit=limit, **limits)
        command, folder, environment = self.commands()[test]
        return self.run(command, limit, folder, environment=environment, **limits)
