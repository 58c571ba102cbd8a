#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the portable archive of this system from copies of the tree in two folders.  Checks that the archives have the same bytes, depend only
on the C library, and contain no path of the build folder.  The programs must optimize the examples as the build does.  The lists of parts must
match the contents.

usage: release.py SOURCE BUILD
"""
import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

SOURCE, BUILD = map(pathlib.Path, sys.argv[1:])
WORK = BUILD / "release-test"
NAME = {"x86_64": "linux-x86_64", "aarch64": "linux-arm64"}[platform.machine()]
SYSTEM = re.compile(r"lib(c|m|dl|pthread|vyre)\.so\.\d+|ld-linux.*\.so\.\d+")  # the archive contains libvyre


def make(folder):
    """Makes the archive from a copy of the tree, and returns the folder of the archive."""
    tree, out = WORK / folder / "vyre", WORK / folder / "out"
    names = subprocess.run(["git", "ls-files", "-z"], cwd=SOURCE, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (SOURCE / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(SOURCE / name, tree / name)
    done = subprocess.run([tree / "scripts/release.sh", "-o", out, NAME], env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"release.sh fails:\n{(done.stdout + done.stderr)[-3000:]}")
    return out


def check_file(path, errors):
    """Checks the dependencies of a program or library."""
    if path.read_bytes()[:4] != b"\x7fELF":
        return
    dynamic = subprocess.run(["readelf", "-dW", path], capture_output=True, text=True, check=True).stdout
    errors += [f"{path.name} needs {library}" for library in re.findall(r"NEEDED.*\[(.*)\]", dynamic)
               if not SYSTEM.fullmatch(library) and "spirv-cross" not in path.name]
    errors += [f"{path.name} has the path {place}" for place in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", dynamic) if not re.fullmatch(r"\$ORIGIN[\w./-]*:*", place)]


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    made = [make("first"), make("another/folder")]
    errors, archives = [], [sorted(out.glob("*.tar.xz"))[0] for out in made]
    for first, second in zip(*(sorted(out.iterdir()) for out in made)):
        if first.read_bytes() != second.read_bytes():
            errors.append(f"{first.name} and {second.name} differ")
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=made[0], check=True)
    subprocess.run(["tar", "-xf", archives[0], "-C", WORK], check=True)
    root = WORK / archives[0].name.removesuffix(".tar.xz")
    parts = json.loads((root / "share/vyre.spdx.json").read_text())
    listed = {file["fileName"]: file["checksums"][1]["checksumValue"] for file in parts["files"]}
    files = {f"./{path.relative_to(root)}": path for path in root.rglob("*") if path.is_file() and not path.is_symlink()}
    for name, path in files.items():
        data = path.read_bytes()
        if name != "./share/vyre.spdx.json" and listed.get(name) != hashlib.sha256(data).hexdigest():
            errors.append(f"the list of parts does not fit {name}")
        if str(WORK).encode() in data:
            errors.append(f"{name} names a folder of the build")
        check_file(path, errors)
    shaders = sorted((SOURCE / "examples/shaders").glob("*.comp"))
    for shader in shaders:
        texts = [subprocess.run([place / "bin/vyre-passmgr", "-O", shader, "-emit=glsl", "-o", "-"], env={"HOME": str(WORK)}, capture_output=True, check=True).stdout
                 for place in (root, BUILD)]
        if texts[0] != texts[1]:
            errors.append(f"{shader.name} becomes another text")
    print("\n".join([*errors, f"{len(files)} files, {len(shaders)} shaders, {len(errors)} errors"]))
    return 1 if errors or len(files) < 100 else 0


sys.exit(main())
