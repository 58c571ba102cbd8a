#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What LLVM's split-file does, for machines where that is not: the parts of a file, each after a line `#--- NAME`, become files of a
folder.

usage: split-file.py FILE FOLDER
"""
import os
import re
import sys


def main(file, folder):
    parts, name = {}, None
    with open(file, "rb") as opened:
        for line in opened.read().splitlines(keepends=True):
            begins = re.match(rb"(?:.|//)--- (.*?)\r?\n?$", line)
            if begins:
                name = begins.group(1).strip().decode()
                parts[name] = b""
            elif name is not None:
                parts[name] += line
    if not parts:
        sys.exit(f"{file}: no part")
    for name, text in parts.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as written:
            written.write(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
