#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks programs against their expected values: unchanged, after each pass, and after the default pipelines.

A line above each program of a .vir file has the expected values of its buffer %out, and options of vyre-run if needed:

    ; @name -buffer in=iota: 1 2 3
    program @name ...

Every run stops at a data race, and at undefined behaviour of a relaxed program.  Prints a line for each run with other values.
A program with the text of an earlier result does not run again.

usage: holds.py "FOLDER-OF-PROGRAMS [options of vyre-passmgr]" FILE FILE-TO-WRITE [more pipelines]
"""
import re
import subprocess
import sys

# `contract` changes results of floats by design.
NO_REWRITE = ("contract", "limits", "no-op", "print", "shash", "cid", "verify")
OPTIONS = ["-groups=1", "-size", "out=16", "-buffer", "out=zero", "-undefined=report", "-check-races", "-print=out"]


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def values_of(folder, file, name, options):
    done = subprocess.run([f"{folder}/vyre-run", file, "-entry", name, *OPTIONS, *options], capture_output=True, text=True)
    return re.sub(r"^out\[\d+\]:", "", done.stdout, flags=re.M).split() if done.returncode == 0 else done.stderr.split()


def programs_of(file):
    """Returns for each name of a program its text and all text outside of programs.  Equal texts compute equal values."""
    with open(file, encoding="utf-8") as opened:
        parts = re.split(r"^(program @[\w.]+ (?:.*\n)*?\}\n)", opened.read(), flags=re.M)
    outside = "".join(parts[::2])
    return {re.match(r"program @([\w.]+)", part).group(1): outside + part for part in parts[1::2]}


def main(folder, file, written, *more):
    folder, *options_of_passes = re.split(" (?=-)", folder)
    with open(file, encoding="utf-8") as opened:
        text = opened.read()
    wanted = [(name, options.split(), values.split())
              for name, options, values in re.findall(r"^; @([\w.]+)( -.*?)?: (.*)\nprogram @\1\b", text, re.M)]
    silent = set(re.findall(r"^program @([\w.]+)", text, re.M)) - {name for name, _, values in wanted if values}
    if silent or not wanted:
        sys.exit(f"{file}: a program has no line with its expected values: {' '.join(sorted(silent))}")
    passmgr = f"{folder}/vyre-passmgr"
    passes = re.findall(r"^([\w-]+)", output(passmgr, "-list-passes").split("\n\n")[0], re.M)
    wrong, results = 0, {}
    for pipeline in ["no-op", *(p for p in passes if p not in NO_REWRITE), "default<O1>", "default<O2>", *more]:
        output(passmgr, *options_of_passes, f"-passes={pipeline}", "-verify-each", "-emit=vir", file, "-o", written)
        texts = programs_of(written)
        for name, options, values in wanted:
            text = texts[name]
            if text not in results:
                results[text] = values_of(folder, written, name, options)
            found = results[text]
            if found[:len(values)] != values:
                print(f"@{name} after {pipeline}: {' '.join(found)}, not {' '.join(values)}")
                wrong += 1
    print(f"{len(wanted)} programs, {wrong} wrong results")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
