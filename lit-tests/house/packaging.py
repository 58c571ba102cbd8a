#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks files that only other systems execute: the workflows of GitHub, the port of vcpkg and the recipe of Conan.  They parse, name scripts that
exist, and have the version of CMakeLists.txt, as the packages of other languages do.

usage: packaging.py SOURCE CMAKE YAMLLINT
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE, CMAKE, YAMLLINT = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
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


def main():
    errors = [*check_versions(), *check_workflows(), *check_recipes()]
    print("\n".join([*errors, f"{len(VERSIONS)} versions, {len(errors)} errors"]))
    return 1 if errors else 0


sys.exit(main())
