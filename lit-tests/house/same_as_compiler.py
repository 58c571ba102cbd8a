#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that vyre-passmgr with the personality of a tool does what the installed tool does.

Each line of CASES is `FLAGS` for both programs, which run in two copies of FOLDER.  Exit codes, standard output and all files must be
equal.  Each case must also differ from the case without FLAGS of the same shader, because a flag without effect tests nothing.  Lines
that begin with `=` are cases whose flag has no effect on the shader.  One of VYRE_SHARE other lines is run.

usage: same_as_compiler.py TOOL PASSMGR FOLDER CASES
"""
import concurrent.futures
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile


def run(command, folder):
    """Runs the command in a copy of the folder.  Returns the exit code, the output, and the new files with their bytes."""
    with tempfile.TemporaryDirectory() as place:
        here = pathlib.Path(place) / "w"
        shutil.copytree(folder, here)
        known = {path.relative_to(here) for path in here.rglob("*")}
        done = subprocess.run(command, cwd=here, capture_output=True, stdin=open(here / "stdin.glsl", "rb"))
        files = {str(path.relative_to(here)): path.read_bytes() for path in sorted(here.rglob("*")) if path.is_file() and path.relative_to(here) not in known}
        if any(word.startswith(("-M", "--depfile")) for word in command):  # the order of dependences is not defined
            return done.returncode, sorted(done.stdout.split()), {name: sorted(data.split()) for name, data in files.items()}, done.stderr
        if "--vn" in command or "-x" in command:  # a comment has the version of the program
            files = {name: [line.strip() for line in data.splitlines() if b"//" not in line] for name, data in files.items()}
        return done.returncode, done.stdout, files, done.stderr


def check(case, tool, passmgr, folder):
    """Returns the error of a case, or None, and the tool's result."""
    flags = shlex.split(case.lstrip("= "))
    wanted = run([tool, *flags], folder)
    got = run([*passmgr, f"-as={tool}", *flags], folder)
    for what, a, b in zip(("exit code", "standard output", "files"), wanted, got):
        if a != b:
            names = f" ({sorted(a)} and {sorted(b)})" if what == "files" else f" ({a!r:.300} and {b!r:.300})"
            return f"{tool} {case}: {what} differs{names}\n{wanted[3].decode()}{got[3].decode()}", wanted
    return None, wanted


def main(tool, passmgr, folder, cases):
    lines, share = [line for line in pathlib.Path(cases).read_text().splitlines() if line], int(os.environ.get("VYRE_SHARE", "1"), 0) or 1
    lines = [line for number, line in enumerate(lines) if line.startswith("=") or number % min(share, 4) == 0]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda line: check(line, tool, shlex.split(passmgr), folder), lines))
    errors = [error for error, _ in results if error]
    plain = {}
    for line, (_, result) in zip(lines, results):
        words = shlex.split(line.lstrip("= "))
        if line.startswith("="):
            plain.setdefault(words[-1], result[:3])
        elif plain.get(words[-1]) == result[:3]:
            errors.append(f"{tool} {line}: the flags change nothing, so the case tests nothing")
    print("\n".join([*errors, f"{len(lines)} cases, {len(errors)} errors"]))
    return 1 if errors or len(lines) < 12 else 0


sys.exit(main(*sys.argv[1:]))
