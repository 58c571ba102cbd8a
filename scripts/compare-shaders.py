#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare-shaders.py [option...] FILE...

Runs compute shaders (SPIR-V, GLSL, .vir) on one target and again elsewhere, with the same inputs, and prints a table of the results.
`FILE.args` beside FILE.spv (its name without the last ending) has more options of vyre-run for that shader, one a line.

  --list FILE         more shaders, one a line
  --run PROGRAM       vyre-run; default build/bin/vyre-run
  --target NAME       target that runs the shaders; default cuda
  --device NAME       device of that target; default sim, the CUDA simulator
  --with NAME         target to compare with, or interpreter; may be repeated; default interpreter
  --bound N           largest difference of floats for the result `bounds`: N or Nulps, as in vyre-run's -tolerance; default 4ulps
  --seconds N         time limit of a run; default 60
  --jobs N            runs at a time; default: number of processors
  --details           print a line for each shader whose result is not `same`
  --args FOLDER       folder of the files NAME.args, if they are not beside the shaders
  --allow RESULTS     results that are not failures; default: same,bounds,undefined,refused,slow,idle

Results:
  same       equal bit for bit
  bounds     floats differ by at most --bound
  undefined  the results differ or a run fails, and the interpreter reports undefined behavior, an access out of bounds or a race
  refused    one of the two cannot run the shader
  slow       a run exceeds --seconds
  idle       the shader writes nothing
  differs    the results differ
  failed     an error of the device, or a signal
The exit code is 0 if --allow has all results.
"""
import argparse
import collections
import concurrent.futures
import os
import subprocess
import sys


def parse():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--list", action="append", default=[])
    parser.add_argument("--run", default="build/bin/vyre-run")
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--device", default="sim")
    parser.add_argument("--with", action="append", default=[], dest="others")
    parser.add_argument("--bound", default="4ulps")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--details", action="store_true")
    parser.add_argument("--args")
    parser.add_argument("--allow", default="same,bounds,undefined,refused,slow,idle")
    options = parser.parse_args()
    for name in options.list:
        with open(name, encoding="utf-8") as lines:
            options.files += [line.strip() for line in lines if line.strip()]
    if not options.files:
        parser.error("no shaders\nFix: name some, or a --list of them")
    if not os.access(options.run, os.X_OK):
        parser.error(f"{options.run} is not there\nFix: build first, or say where vyre-run is with --run")
    options.others = options.others or ["interpreter"]
    return options


def own_arguments(options, file):
    path = os.path.splitext(file)[0] + ".args"
    if options.args:
        path = os.path.join(options.args, os.path.basename(path))
    try:
        with open(path, encoding="utf-8") as lines:
            return [line for line in lines.read().split("\n") if line]
    except FileNotFoundError:
        return []


def run(options, file, more):
    """Runs vyre-run.  Returns its exit code, or None after a timeout, and its output."""
    command = [options.run, file] + own_arguments(options, file) + more
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=options.seconds, check=False)
    except subprocess.TimeoutExpired:
        return None, f"more than {options.seconds} seconds"
    return done.returncode, done.stdout + done.stderr


def line_with(text, *words):
    """Returns the first line with the first of the words that the text contains, or the text's first line if it contains none."""
    lines = [line.strip() for line in text.split("\n") if line.strip()] or ["nothing was said"]
    return next((line for word in words for line in lines if word in line), lines[0])


def is_refusal(code, text):
    """Returns whether vyre-run refused the input before the run: the input is not supported, or the target lacks a feature."""
    lacks = (" lacks ", "at most", "it can have", "does not have", "as many as", "not supported")
    return "Fix:" in text and (code in (1, 2) or (code == 3 and any(words in text for words in lacks)))


def undefined(options, file):
    """Returns the interpreter's report of undefined behavior in the shader, or None if there is none."""
    for check in ("-check-bounds", "-undefined=report", "-check-races"):
        code, said = run(options, file, [check])
        if code == 1 and any(words in said for words in ("out of bounds", "undefined", "data race", "endless")):
            return line_with(said, "error:")
    return None


def difference(options, file, other, text):
    """Returns the result for outputs with different bits, and its explanation."""
    code, said = run(options, file, on(options, other) + [f"-tolerance={options.bound}"])
    if code == 0:
        return "bounds", line_with(said, "equal")
    why = undefined(options, file)
    if why:
        return "undefined", why
    lines = [line.strip() for line in text[text.index("different:"):].split("\n") if line.strip()]
    return "differs", " | ".join(lines[:4])


def on(options, other):
    validate = ["-validate"] if other == "interpreter" else []  # only with one target, so that all messages are that target's
    return [f"-target={options.target}", f"-device={options.device}", f"-compare-target={other}", "-isolate", "-cache-dir=none"] + validate


def compare(options, file, other):
    code, said = run(options, file, on(options, other))
    if code is None:
        return "slow", said
    if code == 0:
        return ("idle", line_with(said, "changed no")) if "changed no element" in said else ("same", "")
    if code == 1 and "different:" in said:
        return difference(options, file, other, said)
    if "nothing to compare" in said:
        return "idle", line_with(said, "error")
    if is_refusal(code, said):
        return "refused", line_with(said, "error:")
    why = undefined(options, file)  # without guards, a relaxed program fails with an illegal address
    if code == 3 and why:
        return "undefined", why
    return "failed", f"exit code {code}: " + line_with(said, "error:")


RESULTS = ("same", "bounds", "undefined", "refused", "slow", "idle", "differs", "failed")


def main():
    options = parse()
    allowed = options.allow.split(",")
    counts = {other: collections.Counter() for other in options.others}
    is_good = True
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for other in options.others:
            for file, (result, why) in zip(options.files, pool.map(lambda file: compare(options, file, other), options.files)):
                counts[other][result] += 1
                is_bad = result not in allowed
                is_good = is_good and not is_bad
                if is_bad or (options.details and result != "same"):
                    print(f"{result}: {file} with {other}: {why[:400]}", flush=True)
    width = max(len(other) for other in options.others + ["compared with"])
    print("compared with".ljust(width), *(result.rjust(9) for result in RESULTS))
    for other in options.others:
        print(other.ljust(width), *(str(counts[other][result]).rjust(9) for result in RESULTS))
    return 0 if is_good else 1


sys.exit(main())
