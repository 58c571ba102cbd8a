#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a missing tool is a failure that names the package: in lit, the configuration, the examples and vyre-prove.

usage: missing.py SOURCE BUILD LIT CMAKE
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE, BUILD, LIT, CMAKE = map(pathlib.Path, sys.argv[1:])


def expect(what, command, package, environment=None):
    """Returns an error unless the command fails and names the package."""
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True)
    said = re.sub(r"\s+", " ", done.stdout + done.stderr)
    if done.returncode != 0 and re.search(r"Fix: install the package " + re.escape(package) + r"\b", said):
        return []
    return [f"{what}: exit code {done.returncode}, and the output does not name the package {package}:\n{said[-600:]}"]


def without_in_lit(folder, name):
    """Returns a command that runs the configured lit tests without the tool."""
    text = (BUILD / "lit-tests" / "lit.site.cfg.py").read_text()
    changed = re.sub(rf'(?m)^(config\.{name} = ").*"$', r'\1/nowhere/of-that-name"', text)
    assert changed != text, name
    folder = folder / name
    folder.mkdir()
    (folder / "lit.site.cfg.py").write_text(changed.replace(f'config.vyre_obj = "{BUILD}/lit-tests"', f'config.vyre_obj = "{folder}"'))
    return [sys.executable, LIT, folder]


def main():
    errors = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        nowhere = dict(os.environ, PATH=str(folder / "no-such"))
        for tool, package in (("spirv_val", "spirv-tools"), ("spirv_as", "spirv-tools"), ("spirv_dis", "spirv-tools"),
                              ("filecheck", "llvm-14-tools")):
            errors += expect(f"lit without {tool}", without_in_lit(folder, tool), package)
        errors += expect("lit without z3", [sys.executable, LIT, BUILD / "lit-tests"], "z3", nowhere)
        rules = sorted((SOURCE / "passes/pm").glob("*.rules"))
        errors += expect("vyre-prove without z3", [BUILD / "bin/vyre-prove", rules[0]], "z3", dict(os.environ, Z3="/nowhere/z3"))
        errors += expect("an example without spirv-val", ["/bin/bash", SOURCE / "examples/run-example.sh", BUILD, "saxpy"], "spirv-tools", nowhere)
        script = folder / "need.cmake"
        script.write_text(f"include({SOURCE}/cmake/vyre-need.cmake)\nvyre_need(some-tools find_program TOOL no-tool-of-that-name)\n")
        errors += expect("the configuration without a tool", [CMAKE, "-P", script], "some-tools")
    print("\n".join([*errors, f"{len(errors)} of 8 are not reported"]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
