#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the interface of libvyre.so: its SONAME, that it exports each function of the public headers under its version, and that no function
of the list of earlier versions is missing.

usage: library.py LIBRARY HEADERS LIST VERSION [update]    update: adds the functions of the headers to the list
"""
import pathlib
import re
import subprocess
import sys


def declared(headers):
    """Returns the functions and variables that the headers declare, without inline functions and those of Windows."""
    names = set()
    for path in sorted(headers.glob("*.h")):
        text = re.sub(r"/\*.*?\*/", " ", path.read_text(), flags=re.S).replace("\\\n", " ")
        text = re.sub(r"^#.*$", "", text, flags=re.M)
        text = re.sub(r"static inline[^{;]*\{.*?\n\}", "", text, flags=re.S)
        names.update(re.findall(r"^(?!typedef)[A-Za-z][\w ]*?[ *]+(vyre_\w+)\(", text, re.M))
        names.update(re.findall(r"^extern [\w ]*?[ *]*(vyre_\w+)[\[;]", text, re.M))
    return names


def main():
    library, headers, listed, version = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
    major = version.split(".")[0]
    errors = []
    dynamic = subprocess.run(["readelf", "-dW", library], capture_output=True, text=True, check=True).stdout
    if f"[libvyre.so.{major}]" not in dynamic:
        errors.append(f"the SONAME is not libvyre.so.{major}")
    symbols = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", library], capture_output=True, text=True, check=True).stdout
    exported = dict(re.findall(r" [A-Z] (vyre_\w+)@@?(\w+)$", symbols, re.M))
    names = declared(headers)
    errors += [f"'{name}' of the headers is not exported" for name in sorted(names - set(exported))]
    errors += [f"'{name}' has the version {exported[name]}, not VYRE_{major}" for name in sorted(names & set(exported)) if exported[name] != f"VYRE_{major}"]
    if sys.argv[5:] == ["update"]:
        listed.write_text("\n".join(sorted(names)) + "\n")
    before = set(listed.read_text().split()) if listed.exists() else set()
    errors += [f"'{name}' is missing\nFix: keep the function, or raise the major version and the list" for name in sorted(before - set(exported))]
    errors += [f"'{name}' is not in {listed.name}\nFix: run library.py with update" for name in sorted(names - before)]
    print("\n".join([*errors, f"{len(names)} functions, {len(errors)} errors"]))
    return 1 if errors or len(names) < 150 else 0


sys.exit(main())
