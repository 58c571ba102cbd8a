#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each option of a program is in a RUN line of a lit test and, for installed programs, in its document.
Checks also that the first column of the document's tables names only existing options.

usage: options.py SOURCE BUILD
"""
import pathlib
import re
import subprocess
import sys

DOCUMENTS = {"vyre-passmgr": ("%passmgr", "docs/passmgr.md"), "vyre-run": ("%run", "docs/vyre-run.md"), "vyre-fuzz": ("%fuzz", None),
             "vyre-kernelc": ("%kernelc", None), "vyre-prove": ("%prove", None), "vyre-mega": ("%mega ", None), "vyre-megac": ("%megac ", None), "vyre-wrap": ("%wrap ", None),
             "vyre-queue": ("%queue ", "docs/scale-out.md"),
             "vyre-new-pass": ("%new-pass", "docs/writing-passes.md")}


def run_lines(source, word):
    for path in sorted((source / "lit-tests").rglob("*")):
        if path.suffix in (".vir", ".test", ".comp", ".spvasm"):
            text = re.sub(r"\\\n\W*(?:RUN:)?", " ", path.read_text(errors="replace"))
            yield from (line for line in re.findall(r"RUN:(.*)", text) if word in line)


def occurs(name, text):
    after = "" if len(name) == 1 and name in "IDj" else r"(?![\w-])"
    return re.search(rf"(?<![\w-])--?{re.escape(name)}{after}", text) is not None


def check(source, build, program):
    word, document = DOCUMENTS[program]
    shown = subprocess.run([build / "bin" / program, "-help"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^  -([\w-]+)", shown, re.M)
    tested = "\n".join(run_lines(source, word))
    errors = [f"-{name} is in no RUN line with {word}" for name in names if not occurs(name, tested)]
    if document:
        told = (source / document).read_text()
        errors += [f"-{name} is not in {document}" for name in names if not occurs(name, told)]
        for cell in re.findall(r"^\| (`-[^|]*(?:\\\|[^|]*)*)\|", told, re.M):
            errors += [f"{document} has -{name}, which is not an option" for name in re.findall(r"`-([\w][\w-]*)", cell) if name not in names]
    return len(names), errors


def main(source, build):
    count, errors = 0, []
    for program in DOCUMENTS:
        more, wrong = check(pathlib.Path(source), pathlib.Path(build), program)
        count += more
        errors += [f"{program}: {error}" for error in wrong]
    print("\n".join([*errors, f"{count} options, {len(errors)} errors"]))
    return 1 if errors or count < 50 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
