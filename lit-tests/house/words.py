#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the language of comments, documents, help and messages: patterns that make a sentence hard to read.

usage: words.py SOURCE [FOLDER ...]

Prints FILE:LINE: PATTERN: SENTENCE for each sentence that matches a pattern of PATTERNS, is longer than MOST_WORDS, or stands on a document's line
of more than MOST_COLUMNS characters.  words-allowed.txt beside this program lists at most MOST_EXCEPTIONS sentences that may stay, each with a reason.
"""
import pathlib
import re
import subprocess
import sys

MOST_WORDS = 30
MOST_COLUMNS = 120
MOST_EXCEPTIONS = 20

# A name for the report, and the expression that finds the fault in a sentence.
PATTERNS = [
    ("begins with a relative", r"^(What|Who|Whoever|Whatever|That which|Those which|Those that)\b(?!.*\?$)"),
    ("free relative", r"\b(of|in|by|to|from|for|with|on|than|as|and|or|like|is|are|into|at|that|but|beside|behind) (what|who|whom|whoever)\b"),
    ("free relative", r"\b(that which|those which|that what|whoever)\b"),
    ("0: none", r"(?<!equires)(?<!reserves): (none|nothing)(?=\W*$|[;,.])"),
    ("is no", r"(?<![Tt]here )\b(is|are|was|were) no (?!longer\b|more than\b|less than\b|fewer than\b|later than\b|larger than\b|greater than\b|smaller than\b)"),
    ("a person in a program", r"\b(somebody|nobody|someone|anybody|told|asks|asked|tells)\b"),
    ("for ever", r"\bfor ever\b"),
]


def c_parts(text):
    """Yields (line, text, is_message) for the comments of C, each line without its star, and for string literals of four words and more."""
    token = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"(?:\s*(?:PRI\w+\s*)?"(?:\\.|[^"\\\n])*")*|\'(?:\\.|[^\'\\\n])*\'', re.S)
    for m in token.finditer(text):
        line = text.count("\n", 0, m.start()) + 1
        part = m.group(0)
        if part.startswith("/*"):
            yield line, re.sub(r"\n[ \t]*\*?", "\n", part[2:-2]), False
        elif part.startswith("//"):
            yield line, part[2:], False
        elif part[0] == '"' and part.count(" ") >= 3:
            message = re.sub(r'"\s*(?:PRI\w+\s*)?"', "", part)[1:-1]
            if re.search(r"[a-z]{2,} [a-z]{2,} ", message):
                yield line, re.sub(r"\\n", ". ", message).replace('\\"', '"'), True


def hash_comments(text, mark="#"):
    """Yields (line, text) of neighbouring lines that are comments."""
    lines = text.split("\n")
    start, block = 0, []
    for i, line in enumerate(lines + [""]):
        m = not line.startswith("#!") and re.match(r"\s*" + re.escape(mark) + r"+ ?(.*)", line)
        if m and not re.match(r"\s*" + re.escape(mark) + r" ?(RUN|[A-Z0-9_-]+(-(NEXT|NOT|SAME|DAG|LABEL|COUNT-\d+))?):", line):
            if not block:
                start = i + 1
            block.append(m.group(1))
        elif block:
            yield start, "\n".join(block)
            block = []


def document_parts(text):
    """Yields (line, text) of paragraphs, list items and cells of tables, without code blocks."""
    code, block, start = False, [], 0
    for i, line in enumerate(text.split("\n") + [""]):
        if line.startswith("```"):
            code = not code
            line = ""
        if code or line.startswith("    ") and not block:
            continue
        if line.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", line.strip("|")):
                yield i + 1, cell
            line = ""
        if not line.strip() or re.match(r"\s*([-*#]|\d+\.) ?", line):
            if block:
                yield start, "\n".join(block)
            block = []
        if line.strip():
            if not block:
                start = i + 1
            block.append(line)


def sentences(line, text):
    """Yields (line, sentence) of a part."""
    text = re.sub(r"`[^`\n]*`", lambda m: "`" + re.sub(r"[^\n]", "x", m.group(0)[1:-1]) + "`", text)
    for paragraph in re.finditer(r"(?:[^\n]|\n(?!\s*\n| {2,9}\S))+", text):  # an indented line is an item of a list
        at = paragraph.start()
        for m in re.finditer(r"(?:[^.!?]|[.!?](?=\S))+[.!?]?", paragraph.group(0)):
            words = " ".join(m.group(0).split()).lstrip("-*#> 0123456789.")
            if words:
                lead = len(m.group(0)) - len(m.group(0).lstrip())
                yield line + text.count("\n", 0, at + m.start() + lead), words


def parts_of(path, text):
    name = path.name
    if name.endswith((".c", ".h", ".def", ".cpp", ".inc", ".in")):
        return [(line, part) for line, part, is_message in c_parts(text)]
    if name.endswith(".md"):
        return document_parts(text)
    if name.endswith((".vir", ".rules", ".spvasm")):
        return hash_comments(text, ";" if not name.endswith(".rules") else "#")
    return hash_comments(text)


def check(path, shown):
    text = path.read_text(errors="replace")
    found = []
    if path.name.endswith(".md"):
        found = [(i + 1, "long line", line[:60]) for i, line in enumerate(text.split("\n")) if len(line) > MOST_COLUMNS]
    for line, part in parts_of(path, text):
        for at, sentence in sentences(line, part):
            for name, pattern in PATTERNS:
                if re.search(pattern, sentence):
                    found.append((at, name, sentence))
                    break
            else:
                if len(re.findall(r"[A-Za-z']{2,}", sentence)) > MOST_WORDS:
                    found.append((at, "long sentence", sentence))
    return [(f"{shown}:{line}", name, sentence) for line, name, sentence in found]


def exceptions():
    """Returns the lines of words-allowed.txt, each as (path, begin of the sentence, reason)."""
    lines = (pathlib.Path(__file__).parent / "words-allowed.txt").read_text().splitlines()
    return [tuple(part.strip() for part in line.split("|")) for line in lines if line and not line.startswith("#")]


def without_exceptions(found, is_whole):
    """Returns the found sentences that are not allowed.  An exception that allows nothing is an error if the whole tree was read."""
    allowed = exceptions()
    used, left = set(), []
    for where, name, sentence in found:
        match = [e for e in allowed if e[0] == where.rsplit(":", 1)[0] and sentence.startswith(e[1])]
        used.update(match)
        if not match:
            left.append((where, name, sentence))
    wrong = [e for e in allowed if len(e) != 3 or not e[2]] + allowed[MOST_EXCEPTIONS:] + [e for e in allowed if is_whole and e not in used]
    return left + [("words-allowed.txt", "no reason, not used, or one too many", " | ".join(e)) for e in wrong]


def main():
    arguments = sys.argv[1:]
    source = pathlib.Path(arguments[0])
    listed = subprocess.run(["git", "ls-files", *arguments[1:]], cwd=source, capture_output=True, text=True, check=True).stdout.split("\n")
    ends = (".c", ".h", ".def", ".cpp", ".md", ".vir", ".rules", ".py", ".sh", ".cmake", ".txt", ".test", ".awk")
    found = []
    for name in listed:
        if name.endswith(ends) and not name.startswith(("unittests/abi/1.0/", "bench/results/")):
            found += check(source / name, name)
    found = without_exceptions(found, len(arguments) == 1)
    for where, name, sentence in found:
        print(f"{where}: {name}: {sentence[:160]}")
    print(f"{len(found)} sentences", file=sys.stderr)
    return found != []


if __name__ == "__main__":
    sys.exit(main())
