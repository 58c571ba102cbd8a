#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the documentation: its commands run, the names in it exist, and folders include only what
docs/architecture.md allows.

Commands of README.md and docs/*.md: the lines of `sh` blocks and those after `$ `, and code in the text that begins with a program of vyre or
with cc.  They run in a folder that has the example shaders, examples/ and build/, one document after another, with build/bin in PATH and a separate
HOME.  A block after a line with a file name in backquotes and a colon is that file.  Code with `...`, brackets or a word in capitals is a
form, not a command.

usage: docs.py commands|flags|host|includes|passes|symbols|targets SOURCE BUILD
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Commands that do not run here: their beginning, and the reason.
ELSEWHERE = {"real-shaders.md": "its commands need public shaders"}
NOT_RUN = {
    "scripts/": "they build or prove everything: scripts/test.sh runs this test, and scripts/demo.sh has tests in examples/",
    "vyre-passmgr -watch": "it ends by ^C, which lit-tests/Tool/watch.test sends",
    "gpu-bundle/": "the test gpu-bundle makes a bundle and runs its contents",
}
PROGRAMS = r"(?:vyre-passmgr|vyre-run|vyre-fuzz|vyre-prove|vyre-kernelc|cc) "


def is_form(command):
    """Returns whether the command is a form: it has placeholders, or is a single option."""
    if re.fullmatch(r"vyre-\w+ -(?!help|list|version)\S+", command):
        return True
    arguments = re.sub(r"'[^']*'|\$\w+", "", command)
    return "..." in command or re.search(r"[\[\]\u2026]|(?<![\w=<$-])[A-Z][A-Z|]*\b(?![=.\w])|=[A-Z]+\b", arguments) is not None


def parts(text):
    """Returns the parts of a document in order: a file as ("NAME", text), a command as (None, line)."""
    lines = text.split("\n")
    i = 0
    while i < len(lines):
        fence = re.match(r"```(\w*)$", lines[i])
        if fence:
            end = lines.index("```", i + 1)
            name = next((m.group(1) for m in [re.fullmatch(r"`([\w./]+)`:", line) for line in lines[max(i - 2, 0):i]] if m), None)
            block = lines[i + 1:end]
            if name:
                yield name, "\n".join(block) + "\n"
            elif fence.group(1) == "sh":
                for line in re.sub(r"\\\n\s*", "", "\n".join(block)).split("\n"):
                    if line.strip() and not line.startswith("#"):
                        yield None, re.sub(r"\s+# .*", "", line)
            elif not fence.group(1):
                for line in block:
                    if re.match(PROGRAMS, line) and not is_form(line):
                        yield None, line
            i = end
        elif re.match(r"\s+\$ ", lines[i]):
            yield None, lines[i].strip()[2:]
        else:
            for code in re.findall(r"`(" + PROGRAMS + r"[^`]+)`", lines[i]):
                if not is_form(code):
                    yield None, code.replace("\\|", "|")
        i += 1


def documents(source):
    return [source / "README.md", *(path for path in sorted((source / "docs").glob("*.md")) if path.name not in ELSEWHERE)]


def commands(source, build):
    errors, run = [], 0
    with tempfile.TemporaryDirectory() as name:
        home = pathlib.Path(name)
        environment = dict(os.environ, HOME=str(home), PATH=f"{build}/bin:{os.environ['PATH']}")
        for document in documents(source):
            folder = home / document.stem
            shutil.copytree(source / "examples/shaders", folder)
            for link, target in (("examples", source / "examples"), ("build", build)):
                (folder / link).symlink_to(target)
            # exports and cd apply to later lines
            script = []
            for file, content in parts(document.read_text()):
                if file:
                    (folder / file).write_text(content)
                    continue
                if content.startswith(tuple(NOT_RUN)):
                    continue
                run += 1
                done = subprocess.run(["bash", "-c", "\n".join([*script, content])], cwd=folder, env=environment, capture_output=True, text=True,
                                      stdin=subprocess.DEVNULL)
                if done.returncode != 0:
                    errors.append(f"{document.relative_to(source)}: exit code {done.returncode}: {content}\n{done.stderr[-2000:]}{done.stdout[-500:]}")
                if re.match(r"(cd|export) ", content):
                    script.append(content)
    return errors, f"{run} commands", run >= 15


def host(source, build):
    header = (source / "include/vyre/plugin.h").read_text()
    table = re.search(r"typedef struct vyre_host \{(.*?)\n\} vyre_host;", header, re.S).group(1)
    fields = re.findall(r"^  \w[\w ]*\*?\(\*(\w+)\)\(", table, re.M)
    rows = re.search(r"\n## Host functions\n(.*?)\n## ", (source / "docs/plugins.md").read_text(), re.S).group(1)
    said = [name for row in re.findall(r"^\| (`.*?) \|", rows, re.M) for name in re.findall(r"`(\w+)`", row)]
    errors = [f"docs/plugins.md: no row names the host function {name}" for name in fields if name not in said]
    errors += [f"docs/plugins.md: the host has no function {name}" for name in said if name not in fields]
    return errors, f"{len(fields)} functions", len(fields) > 20


def passes(source, build):
    """Checks that each core pass has a section in docs/passes.md whose heading names the pass."""
    cmake = (source / "passes/CMakeLists.txt").read_text()
    names = [name for name in re.findall(r"^vyre_add_(?:rules_)?pass\((\w+) ", cmake, re.M)]
    headings = re.findall(r"^## ([\w, ]+):", (source / "docs/passes.md").read_text(), re.M)
    said = [name for heading in headings for name in heading.split(", ")]
    errors = [f"docs/passes.md: no section describes the pass {name}\nFix: add '## {name}: DESCRIPTION'" for name in names if name not in said]
    errors += [f"docs/passes.md: there is no pass {name}" for name in said if name not in names]
    return errors, f"{len(names)} passes", len(names) > 10


def targets(source, build):
    """Checks that docs/targets.md has a row for each counter of counters.def, and that the tests named there exist."""
    text = (source / "docs/targets.md").read_text()
    counters = re.findall(r'^TARGET_COUNTER\((\w+), ', (source / "targets/common/counters.def").read_text(), re.M)
    rows = re.search(r"\n## Metrics\n(.*?)\n## ", text, re.S).group(1)
    errors = [f"docs/targets.md: no row of 'Metrics' has the counter `{name}`" for name in counters if f"\n| `{name}` | " not in rows]
    code = "".join(path.read_text() for folder in ("targets", "vulkan", "megakernel") for path in (source / "unittests" / folder).glob("*.c"))
    there = {name for name in re.findall(r"^(?:TEST(?:_WITH)?|CONFORM|EACH_WAY)\((\w+)", code, re.M)}
    named = [name for cell in re.findall(r"\| ((?:`\w+`(?:, )?)+) \|$", text, re.M) for name in re.findall(r"`(\w+)`", cell)]
    errors += [f"docs/targets.md: there is no test {name}" for name in named if name not in there]
    return errors, f"{len(counters)} counters, {len(named)} tests", len(counters) > 10 and len(named) > 40


def rows_of(text):
    """Returns the rows of a .def file of a personality: (flag, forms, state, text, function)."""
    row = re.compile(r'^FOREIGN_FLAG\("([^"]+)",\s*([\w |]+?),\s*FOREIGN_(\w+),\s*((?:"(?:\\.|[^"\\])*"\s*)+),\s*(\w+)(?:\(\w+\))?\)', re.M)
    return [(flag, forms, state, "".join(re.findall(r'"((?:\\.|[^"\\])*)"', words)).replace('\\"', '"'), function)
            for flag, forms, state, words, function in row.findall(text)]


def tables_of(rows):
    """Returns the tables of a document for these rows, one for each state.  Neighbouring flags with equal texts share a row."""
    lines = []
    for state, heading in (("DONE", "effect, or the options of vyre-passmgr"), ("WITHOUT_EFFECT", "without effect, because"), ("REFUSED", "refused, because")):
        group = [(flag, f"`{text}`" if state == "DONE" and function in ("NULL", "add_replaced_pass") else text) for flag, _, is_in, text, function in rows if is_in == state]
        lines += ["", f"| flag | {heading} |", "| --- | --- |"] if group else []
        while group:
            text, names = group[0][1].replace("|", "\\|"), []
            while group and group[0][1].replace("|", "\\|") == text and len(f"| {', '.join([*names, '`' + group[0][0] + '`'])} | {text} |") <= 120:
                names.append(f"`{group.pop(0)[0]}`")
            if not names:
                raise SystemExit(f"the text of {group[0][0]} is longer than a line of 120 characters: {text}")
            lines.append(f"| {', '.join(names)} | {text} |")
    return "\n".join(lines[1:]) + "\n"


def flags_of(tool):
    """Returns the flags that the installed tool's own --help prints."""
    text = subprocess.run([tool, "--help"], capture_output=True, text=True).stdout
    heads = re.findall(r"^ {2,4}(-\S.*?)(?: {2,}|$)", text, re.M)
    names = [re.sub(r"\{(\w+)\}.*", r"\1", part) for head in heads for part in re.split(r" \| |, ", head)]
    return [match.group() for name in names if (match := re.match(r"--?\w[\w.-]*", name))]


def flags(source, build):
    """Checks that each flag of the replaced tools is in the table of its personality, and that docs/drop-in.md has the tables."""
    errors, count = [], 0
    document = (source / "docs/drop-in.md").read_text()
    for path in sorted((source / "cli/personality").glob("*.def")):
        tool = re.search(r'\.name = "([^"]+)"', path.with_suffix(".c").read_text()).group(1)
        rows, lines = rows_of(path.read_text()), len(re.findall(r"^FOREIGN_FLAG\(", path.read_text(), re.M))
        name, known = path.relative_to(source), {row[0] for row in rows}
        errors += [f"{name}: {lines - len(rows)} rows have another form than FOREIGN_FLAG(flag, forms, state, text, parse)"] if lines != len(rows) else []
        if len(known) != len(rows):
            errors.append(f"{name}: a flag has two rows")
        joined = tuple(row[0] for row in rows if "JOINED" in row[1])  # -Dmacro
        errors += [f"{name}: no row for {flag}, which {tool} --help prints" for flag in sorted(set(flags_of(tool)) - known) if not flag.startswith(joined or "?")]
        if tables_of(rows) not in document:
            errors.append(f"docs/drop-in.md: the tables of {tool} differ from {name}\nFix: replace them by these\n\n{tables_of(rows)}")
        count += len(rows)
    return errors, f"{count} flags", count > 60


def may_include(text):
    """Returns for each folder the folders that it may include, by the table of docs/architecture.md.  A folder may have several rows."""
    table = re.search(r"\n## Folders\n(.*?)\n## ", text, re.S).group(1)
    rules = {}
    for folders, allowed in re.findall(r"^\| ((?:`[\w/-]+`(?:, )?)+) \|[^|]*\|([^|]*)\|$", table, re.M):
        for folder in re.findall(r"`([\w/-]+)`", folders):
            rules.setdefault(folder.rstrip("/"), set()).update(name.rstrip("/") for name in re.findall(r"`([\w/.-]+)`", allowed))
    return rules


def doors(text):
    """Returns for each folder the one header that other folders include."""
    table = re.search(r"\n### Folders with one public header\n(.*?)\n## ", text, re.S).group(1)
    return {folder: folder + header for folder, header in re.findall(r"^\| `([\w/]+/)` \| `([\w.]+)` \|$", table, re.M)}


def is_shut(name, other, rooms):
    """Returns whether a file outside the folder includes a header that is not its public one.  Tests may do so."""
    return any(other.startswith(room) and other != door and not name.startswith((room, "fuzz/", "unittests/")) for room, door in rooms.items())


def cycle(rules):
    """Returns a cycle of folders in which each includes the next; empty if there is none."""
    done = set()

    def search(folder, path):
        if folder in path:
            return path[path.index(folder):] + [folder]
        if folder in done:
            return []
        done.add(folder)
        found = (search(other, path + [folder]) for other in sorted(rules[folder]) if other in rules and other != folder)
        return next((cycle for cycle in found if cycle), [])

    return next((found for folder in sorted(rules) if (found := search(folder, []))), [])


INTERPOSED = {"exit", "quick_exit", "_exit", "_Exit"}  # the C library's, which tools/run/guard.c defines, too


def symbols(source, build):
    """Checks by the symbols of the product's objects that no folders depend on each other."""
    rules = may_include((source / "docs/architecture.md").read_text())
    folders, defined, used = {}, {}, []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        name = os.path.relpath(entry["file"], source)
        folder = max((folder for folder in rules if name.startswith(folder + "/")), key=len, default="")
        path = build / re.search(r" -o (\S+)", entry["command"]).group(1)
        if folder and folder not in ("unittests", "fuzz", "lit-tests", "bench", "examples") and path.exists():
            folders[str(path)] = folder
    for line in subprocess.run(["nm", "-A", "-P", *folders], check=True, capture_output=True, text=True).stdout.splitlines():
        path, symbol, kind = line.split()[:3]
        folder = folders[path.removesuffix(":")]
        if kind == "U":
            used.append((folder, symbol))
        elif kind in "TDBRC":
            defined.setdefault(symbol, set()).add(folder)
    uses = {folder: set() for folder in rules}
    for folder, symbol in used:
        if len(owners := defined.get(symbol, set()) - {folder}) == 1 and symbol not in INTERPOSED and folder not in defined[symbol]:
            uses[folder] |= owners
    errors = [f"folders use each other's symbols: {' -> '.join(circle)}"] if (circle := cycle(uses)) else []
    return errors, f"{len(used)} symbols", len(used) > 500


def includes(source, build):
    names = subprocess.run(["git", "-C", source, "ls-files", "*.c", "*.h", "*.cpp", "*.def"], check=True, capture_output=True, text=True).stdout.split()
    text = (source / "docs/architecture.md").read_text()
    rules, rooms = may_include(text), doors(text)
    errors, count = [f"docs/architecture.md: {door} does not exist" for door in rooms.values() if door not in names], 0
    if circle := cycle(rules):
        errors.append(f"docs/architecture.md allows folders to include each other: {' -> '.join(circle)}")

    def folder_of(name):
        """Returns the innermost folder of the table that contains the file."""
        return max((folder for folder in rules if name.startswith(folder + "/")), key=len, default=None)

    for name in names:
        if not (source / name).is_file():
            continue
        here = folder_of(name)
        if here is None:
            errors.append(f"{name} is in no folder of docs/architecture.md")
            continue
        content = (source / name).read_text()
        if "_WIN32" in content and not name.startswith("windows/") and name != "include/vyre/plugin.h":
            errors.append(f"{name} tests for Windows\nFix: move the code for Windows to windows/")
        for path in re.findall(r'^[ \t]*#[ \t]*include[ \t]+["<]([^">]+)[">]', content, re.M):
            beside = os.path.normpath(os.path.join(os.path.dirname(name), path))
            if path.startswith("vyre/"):
                found = ["include/" + path]
            elif beside in names:
                found = [beside]
            elif path in names:  # from the root
                found = [path]
            else:
                found = [other for other in names if other.endswith("/" + path) and not other.startswith("windows/posix/")]  # files with names of system headers
            if not found:
                continue  # a header of the system, or a generated header
            count += 1
            if all(is_shut(name, other, rooms) for other in found):
                errors.append(f"{name} includes {path} ({found[0]}), which is not the one header of its folder that other folders include")
            allowed = rules[here] | {here}
            if not any(folder_of(other) in allowed or other in {f"include/{file}" for file in allowed} for other in found):
                errors.append(f"{name} includes {path} ({found[0]}), which docs/architecture.md does not allow {here}")
    return errors, f"{count} includes", count > 500


def main(what, source, build):
    errors, done, enough = {"commands": commands, "flags": flags, "host": host, "includes": includes, "passes": passes, "symbols": symbols, "targets": targets}[what](pathlib.Path(source), pathlib.Path(build))
    print("\n".join([*errors, f"{done}, {len(errors)} errors"]))
    return 1 if errors or not enough else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
