#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks files that only other systems execute: the workflows of GitHub, the port of vcpkg, the recipe of Conan, and examples/scale-out.  They parse,
name scripts that exist, and have the version of CMakeLists.txt, as the packages of other languages do.

usage: packaging.py SOURCE CMAKE YAMLLINT SHELLCHECK
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE, CMAKE, YAMLLINT, SHELLCHECK = pathlib.Path(sys.argv[1]), *sys.argv[2:5]
VERSIONS = {"bindings/python/pyproject.toml": r'^version = "(.*)"$', "bindings/python/vyre/__init__.py": r'^__version__ = "(.*)"$',
            "bindings/rust/vyre/Cargo.toml": r'^version = "(.*)"$', "bindings/rust/vyre-sys/Cargo.toml": r'^version = "(.*)"$',
            "bindings/rust/vyre-plugin/Cargo.toml": r'^version = "(.*)"$', "packaging/vcpkg/vyre/vcpkg.json": r'"version": "(.*)"',
            "packaging/conan/conanfile.py": r'^    version = "(.*)"$', "CHANGELOG.md": r"^## (.*)$"}
RULES = "{extends: default, rules: {line-length: {max: 130}}}"


def check_versions():
    version = re.search(r"^project\(vyre VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text(), re.M).group(1)
    for name, pattern in VERSIONS.items():
        found = re.search(pattern, (SOURCE / name).read_text(), re.M)
        if not found or found.group(1) != version:
            yield f"{name}: the version is {found.group(1) if found else 'missing'}, not {version}\nFix: write the version of CMakeLists.txt"


def check_workflows():
    workflows = sorted((SOURCE / ".github/workflows").glob("*.yml"))
    done = subprocess.run([YAMLLINT, "-d", RULES, *workflows], capture_output=True, text=True)
    if done.returncode or done.stdout:
        yield done.stdout + done.stderr
    named = 0
    for path in workflows:
        for script in re.findall(r"(?<![\w/])(scripts/[\w.-]+)", path.read_text()):
            named += 1
            if not os.access(SOURCE / script, os.X_OK):
                yield f"{path.name}: '{script}' is not a program\nFix: name a file of scripts/"
    if named < 4:
        yield f"the workflows name {named} scripts\nFix: let the steps call scripts, which also run elsewhere"


def check_recipes():
    compile((SOURCE / "packaging/conan/conanfile.py").read_text(), "conanfile.py", "exec")
    port = json.loads((SOURCE / "packaging/vcpkg/vyre/vcpkg.json").read_text())
    if port["name"] != "vyre":
        yield "vcpkg.json: the name is not vyre"
    file = SOURCE / "packaging/vcpkg/vyre/portfile.cmake"
    calls = sorted(set(re.findall(r"^(vcpkg_\w+)\(", file.read_text(), re.M)))
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "port.cmake")
        stubs = "".join(f"function({call})\n  list(APPEND CALLS {call})\nendfunction()\n" for call in calls)
        script.write_text(f"{stubs}set(CURRENT_PACKAGES_DIR {folder})\ninclude({file})\nif(NOT EXISTS ${{SOURCE_PATH}}/CMakeLists.txt)\n"
                          "  message(FATAL_ERROR \"the port names another tree: ${SOURCE_PATH}\")\nendif()\n")
        done = subprocess.run([CMAKE, "-P", script], capture_output=True, text=True)
        if done.returncode:
            yield f"portfile.cmake: {done.stderr}"


def check_scale_out():
    folder = SOURCE / "examples/scale-out"
    done = subprocess.run([YAMLLINT, "-d", RULES, folder / "kubernetes.yaml"], capture_output=True, text=True)
    if done.returncode or done.stdout:
        yield done.stdout + done.stderr
    done = subprocess.run([SHELLCHECK, *folder.glob("*.sh"), folder / "slurm.sbatch"], capture_output=True, text=True)
    if done.returncode:
        yield done.stdout + done.stderr
    text = (folder / "Dockerfile").read_text().replace("\\\n", " ")
    for line in filter(None, (line.strip() for line in text.split("\n"))):
        word, _, rest = line.partition(" ")
        if word == "RUN" and subprocess.run(["bash", "-n", "-c", rest]).returncode:
            yield f"Dockerfile: the shell cannot parse: {rest}"
        elif not line.startswith("#") and word not in ("FROM", "WORKDIR", "COPY", "RUN", "USER", "ENTRYPOINT"):
            yield f"Dockerfile: unknown instruction: {line}"
    known = set(re.findall(r'name = "([\w-]+)"', "".join((SOURCE / path).read_text() for path in ("cli/tool_options.c", "cli/options/option_rows.h"))))
    named = {line.strip()[2:].split("=")[0].strip("-") for line in (folder / "kubernetes.yaml").read_text().split("\n") if line.strip().startswith("- -")}
    if not named or not named <= known:
        yield f"kubernetes.yaml: these are not options of vyre-passmgr: {sorted(named - known)}"


def main():
    errors = [*check_versions(), *check_workflows(), *check_recipes(), *check_scale_out()]
    print("\n".join([*errors, f"{len(VERSIONS)} versions, {len(errors)} errors"]))
    return 1 if errors else 0


sys.exit(main())
