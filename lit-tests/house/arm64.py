#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds vyre for arm64 with a cross compiler, and runs it with qemu-user.  Checks that outputs have the same bytes as on this system, and
that unit tests pass.

usage: arm64.py SOURCE BUILD CMAKE
"""
import os
import pathlib
import re
import subprocess
import sys

SOURCE, BUILD, CMAKE = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
HERE = BUILD / "arm64"
ROOT = HERE / "root"
# Unit tests that need neither a device nor a C compiler at run time.
UNITS = r"^unit-(ir|text|vir0|verify|interp|rules-parse|rules-match|spirv-import|spirv-export|passmgr|memory|threads)(-|$)"
# unit-ir-room reserves address space, for which qemu-user needs memory.  The other tests run programs on a device.
LEFT_OUT = r"^unit-(ir-room|spirv-export-(ops|subgroups|programs))$"
EMULATOR = ["qemu-aarch64", "-L", str(ROOT)]


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, **options)
    if done.returncode:
        sys.exit(f"arm64.py: exit code {done.returncode}: {' '.join(map(str, command))}\n{(done.stdout + done.stderr)[-3000:].decode(errors='replace')}")
    return done.stdout


def build():
    run(SOURCE / "scripts/arm64-root.sh", ROOT)
    run(CMAKE, "--preset", "arm64", "-B", HERE, f"-DVYRE_ARM64_ROOT={ROOT}", "-DVYRE_TESTS=ON", cwd=SOURCE)
    tests = run("ctest", "--test-dir", HERE, "-N", "-R", UNITS, "-E", LEFT_OUT).decode()
    units = re.findall(r"Test +#\d+: (unit-[\w-]+)", tests)
    run(CMAKE, "--build", HERE, "--target", "vyre-passmgr", "vyre-run", "vyre-fuzz", "vyre_glsl", "passes/all", *units)
    # A program in the emulator starts vyre-glsl as a process outside of the emulator, so a script starts vyre-glsl with an emulator.
    helper = HERE / "lib/vyre/vyre-glsl"
    if helper.read_bytes()[:4] == b"\x7fELF":
        helper.rename(helper.with_name("vyre-glsl.arm64"))
        helper.write_text(f'#!/bin/sh\nexec {" ".join(EMULATOR)} {helper}.arm64 "$@"\n')
        helper.chmod(0o755)
    return len(units)


def outputs(prefix, folder, options, inputs):
    """Returns the output of vyre-passmgr for each input, or its messages if it fails."""
    found = []
    for path in inputs:
        done = subprocess.run([*prefix, folder / "bin/vyre-passmgr", *options, path, "-o", "-"], capture_output=True)
        found.append(done.stdout if done.returncode == 0 else done.stderr.replace(str(folder).encode(), b""))
    return found


def main():
    units, errors, compared = build(), [], 0
    shaders = sorted((SOURCE / "examples/shaders").glob("*.comp"))
    texts = [path for path in sorted((SOURCE / "lit-tests").glob("*/**/*.vir")) if "Inputs" not in path.parts]
    for options, inputs in ((["-O3", "-emit=spirv"], shaders), (["-O", "-emit=ptx"], shaders), (["-O", "-emit=glsl"], shaders[:3]),
                            (["-O3", "-emit=vir"], texts), (["-passes=no-op", "-emit=spirv"], texts), (["-emit=vir0"], texts[::4])):
        here = outputs([], BUILD, options, inputs)
        for path, native, other in zip(inputs, here, outputs(EMULATOR, HERE, options, inputs)):
            compared += 1
            if native != other:
                errors.append(f"{' '.join(options)}: {path.relative_to(SOURCE)} becomes other bytes")
    log = run(*EMULATOR, HERE / "bin/vyre-fuzz", "-count=300", f"-out={HERE}").decode()
    if "0 of 300 programs failed" not in log:
        errors.append(f"vyre-fuzz: {log[-500:]}")
    tests = subprocess.run(["ctest", "--test-dir", HERE, "-R", UNITS, "-E", LEFT_OUT, "-j2", "--output-on-failure"], capture_output=True, text=True)
    if tests.returncode:
        errors.append(tests.stdout[-6000:])
    print("\n".join([*errors, f"{compared} outputs compared, {units} unit tests, {len(errors)} errors"]))
    return 1 if errors or units < 50 or compared < 300 else 0


sys.exit(main())
