#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clang takes all sources as this build compiles them, without a warning: macros, generated files and all.  No code is made, which is most of a
compiler's work: the presets with sanitizers make it.

usage: clang.py BUILD CLANG
"""
import json
import pathlib
import shlex
import subprocess
import sys

BUILD, CLANG = pathlib.Path(sys.argv[1]), sys.argv[2]


def as_clang(entry):
    """The command with clang in the place of the compiler (and of what starts it), and no output."""
    words = shlex.split(entry["command"])
    first = next(i for i, word in enumerate(words) if word.startswith("-"))
    options = words[first:]
    at = options.index("-o")
    del options[at : at + 2]
    return [CLANG + ("++" if entry["file"].endswith(".cpp") else ""), "-fsyntax-only", *options]


def main():
    entries, failed = json.loads((BUILD / "compile_commands.json").read_text()), 0
    for entry in entries:
        done = subprocess.run(as_clang(entry), cwd=entry["directory"], capture_output=True, text=True)
        if done.returncode != 0 or done.stderr:
            failed += 1
            print(done.stderr, end="")
    print(f"{failed} of {len(entries)} files are not for clang")
    return 1 if failed or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
