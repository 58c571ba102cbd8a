#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a hanging lit test fails after the limit, that its processes end, and that the other tests still pass.

usage: hangs.py LIT
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HOUSE = pathlib.Path(__file__).resolve().parent
CONFIG = """import sys
sys.path.insert(0, {house!r})
import shell_test
config.name = "hangs"
config.suffixes = [".test"]
config.test_format = shell_test.ShTest({folder!r}, [], 5)
"""
# The test starts a child and a daemon, which would survive if only the shell were killed.
TESTS = {"hangs.test": '# RUN: sh -c "sleep 300 & echo $! > {folder}/child; setsid sh -c \'echo $$ > {folder}/daemon; sleep 300\' & wait"\n',
         "passes.test": "# RUN: echo passes\n"}


def is_running(process):
    """Returns whether a process has not ended; a zombie (state Z) has ended."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def main(lit):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "excluded.txt").touch()
        (folder / "lit.cfg.py").write_text(CONFIG.format(house=str(HOUSE), folder=name), encoding="utf-8")
        for file, text in TESTS.items():
            (folder / file).write_text(text.format(folder=name), encoding="utf-8")
        environment = {key: value for key, value in os.environ.items() if not key.startswith("LIT_")}
        done = subprocess.run([sys.executable, lit, "-v", "-j2", name], env=environment, capture_output=True, text=True, timeout=120)
        output = done.stdout + done.stderr
        wanted = ("FAIL: hangs :: hangs.test", "PASS: hangs :: passes.test", "the test was ended after 5 seconds")
        errors = [f"missing in lit's output: {line}" for line in wanted if line not in output]
        if done.returncode != 1:
            errors.append(f"lit ends with {done.returncode} instead of 1")
        for name in ("child", "daemon"):
            file = folder / name
            if not file.is_file() or is_running(file.read_text(encoding="ascii").strip()):
                errors.append(f"the {name} of the hanging test did not start, or still runs")
    print("\n".join(errors + [output] * bool(errors) + [f"{len(errors)} errors"]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
