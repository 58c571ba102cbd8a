#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the site of the documents (scripts/site.py) and checks it: each page is well formed and in each navigation, no link or anchor is
dead, and each plot has a dot for each number.  Then checks that documents with errors are reported.

usage: site.py SOURCE BUILD
"""
import collections
import html.parser
import pathlib
import re
import shutil
import subprocess
import sys

EMPTY = {"meta", "link", "br", "hr", "img"}
# Page, the plot's rows in order, series.  Tables may have more numbers than these, not fewer.
PLOTS = [("bench/index.html", 15, 3), ("bench/index.html", 8, 2), ("docs/cuda.html", 7, 2), ("docs/real-shaders.html", 7, 3)]


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.open, self.errors, self.plots = [], [], [], [], []
        self.feed(text)
        self.close()
        self.errors += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        self.links += [attributes[name] for name in ("href", "src") if name in attributes]
        if tag == "svg":
            self.plots.append(collections.Counter(role=attributes.get("role") == "img" and "aria-labelledby" in attributes))
        if "svg" in self.open:
            self.plots[-1][attributes.get("class") if tag in ("circle", "rect", "path") else tag] += 1
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in EMPTY:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.errors.append(f"</{tag}> at line {self.getpos()[0]} closes nothing")


def make(source, *arguments):
    done = subprocess.run([source / "scripts/site.py", *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def read(folder):
    """Returns errors of the pages in the folder, and the plots: [(page, drawing)]."""
    pages = {path: Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    errors = []
    for path, page in pages.items():
        name = path.relative_to(folder)
        errors += [f"{name}: {error}" for error in page.errors]
        errors += [f"{name}: id {id} occurs {n} times" for id, n in collections.Counter(page.ids).items() if n > 1]
        reached = set()
        for link in page.links:
            if re.match(r"(https?|data):", link):
                continue
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            reached.add(target)
            if not target.is_file():
                errors.append(f"{name}: dead link {link}")
            elif anchor and anchor not in pages[target].ids:
                errors.append(f"{name}: dead anchor {link}")
        if path.parent.name != "api":
            errors += [f"{name}: no link to {other.relative_to(folder)}" for other in pages if other not in reached]
    return errors, [(str(path.relative_to(folder)), plot) for path, page in pages.items() for plot in page.plots]


def plots_are_there(found):
    errors = []
    if [page for page, _ in found] != [page for page, _, _ in PLOTS]:
        return [f"plots are in {[page for page, _ in found]}"]
    for (page, rows, series), (_, drawn) in zip(PLOTS, found):
        # A series has one dot more than rows, in the legend.
        dots = [drawn[f"s{i}"] - 1 for i in range(3)]
        if dots != [dots[0] if i < series else -1 for i in range(3)] or dots[0] < rows or drawn["span"] != dots[0]:
            errors.append(f"{page}: a plot has {dots} dots of {series} series in {rows} rows or more")
        if not (drawn["role"] and drawn["title"] == 1 and drawn["desc"] == 1 and drawn["text"] > rows + series + 2):
            errors.append(f"{page}: a plot has no text")
    return errors


LIKE_GITHUB = """
## Twice, `a<b>`

| `a \\| b` | [there](#twice-ab-1) [c](../ir/table/seal.c) |
| --- | --- |

## Twice, `a<b>`
"""
LIKE_GITHUB_HTML = ['<h2 id="twice-ab">', '<h2 id="twice-ab-1">', "<code>a | b</code>", '<a href="#twice-ab-1">there</a> <span class="path">c (ir/table/seal.c)</span>']


def as_github_does(source, folder):
    """Checks names of duplicate headings, and | in a table's code."""
    path = folder / "source/docs/ir.md"
    path.write_text((source / "docs/ir.md").read_text() + LIKE_GITHUB)
    code, output = make(source, folder / "github", folder / "source")
    shutil.copyfile(source / "docs/ir.md", path)
    made = (folder / "github/docs/ir.html").read_text() if code == 0 else ""
    return [f"like GitHub: exit code {code}, and not {part}: {output}" for part in LIKE_GITHUB_HTML if part not in made]


def wrong_documents(source, folder):
    """Checks that each wrong change of a document fails with a message."""
    errors = []
    copy = folder / "source"
    cases = [
        ("bench/README.md", "\n## Passes: bench-passes\n", "\n## Passes\n", "has 0 headings 'Passes: bench-passes'"),
        ("bench/README.md", "| ns a row | 10k rows | 100k rows | 1M rows | in 1000s", "| ns a row | 10k rows | 1M rows | 1M rows | in 1000s", 
         "no table under 'Passes: bench-passes' with the columns ns a row, 10k rows, 100k rows"),
        ("docs/cuda.md", "| 0.52 ms |", "| 0.52 us |", "'0.52 us' in column 'device' is not a number of ms above 0"),
        ("docs/cuda.md", "| 0.52 ms |", "| 0 ms |", "'0 ms' in column 'device' is not a number of ms above 0"),
        ("docs/ir.md", "# ", "# [x](#no-such) ", "docs/ir.md links to docs/ir.md#no-such"),
        ("docs/ir.md", "# ", "# [x](../ir/no-such.c) ", "there is no ir/no-such.c"),
        ("README.md", "[IR](docs/ir.md)", "IR", "README.md does not list docs/ir.md"),
    ]
    for name, old, new, said in cases:
        for document in {name for name, *_ in cases}:
            shutil.copyfile(source / document, copy / document)
        text = (copy / name).read_text()
        (copy / name).write_text(text.replace(old, new, 1))
        code, output = make(source, folder / "wrong", copy)
        if code != 1 or said not in output or "\nFix: " not in output or old not in text:
            errors.append(f"{name} with '{new.strip()}': exit code {code}, and not '{said}': {output}")
    for arguments, wanted in (([], 2), (["a", "b", "c"], 2), (["-x"], 2), ([folder / "site/index.html"], 1), ([folder / "wrong", folder], 1), (["--help"], 0)):
        code, output = make(source, *arguments)
        if code != wanted or (wanted and "\nFix: " not in output):
            errors.append(f"site.py {arguments}: exit code {code}, not {wanted}: {output}")
    return errors


def main(source, build):
    source, folder = pathlib.Path(source).resolve(), pathlib.Path(build).resolve() / "docs-site"
    shutil.rmtree(folder, ignore_errors=True)
    # Links to all sources, copies of the documents, and a page instead of Doxygen's reference.
    (folder / "source/bench").mkdir(parents=True)
    for path in source.iterdir():
        if path.name not in ("docs", "bench", "README.md", "build") and not path.name.startswith("."):
            (folder / "source" / path.name).symlink_to(path)
    for path in (source / "bench").iterdir():
        (folder / "source/bench" / path.name).symlink_to(path)
    for name in ("README.md", "bench/README.md"):
        (folder / "source" / name).unlink(missing_ok=True)
        shutil.copyfile(source / name, folder / "source" / name)
    shutil.copytree(source / "docs", folder / "source/docs")

    code, output = make(source, folder / "site")
    if code != 0:
        print(f"exit code {code}: {output}")
        return 1
    errors, plots = read(folder / "site")
    errors += plots_are_there(plots)
    (folder / "api/html").mkdir(parents=True)
    (folder / "api/html/index.html").write_text("<p>the reference</p>")
    code, output = make(source, folder / "site")
    with_api, _ = read(folder / "site")
    if code != 0 or with_api or not (folder / "site/api/index.html").is_file():
        errors += [f"with an API reference: exit code {code}: {output}", *with_api]
    errors += as_github_does(source, folder)
    errors += wrong_documents(source, folder)
    pages = len(list((folder / "site").rglob("*.html"))) - 1
    if pages != len(list((source / "docs").glob("*.md"))) + 4:
        errors.append(f"{pages} pages")
    print("\n".join([*errors, f"{pages} pages, {len(plots)} plots, {len(errors)} errors"]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
