#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""site.py OUT [SOURCE]

Makes the documents a static site: OUT/index.html is README.md, docs/ir.html docs/ir.md, and so on.  Tables that PLOTS names have a plot below
them.  If OUT/../api/html is there (cmake --build build --target api-reference, with build/site as OUT), it is copied to OUT/api.

README.md's section "Documentation" is the navigation: the bold names of its list items and, of the links of each item, those to documents.
SOURCE is the folder of the documents, by default the one that this script is part of.  Needs Debian's python3 and python3-markdown.
Exit codes: 0 made, 1 documents or output are wrong, 2 usage.
"""
import collections
import html
import math
import os
import pathlib
import re
import shutil
import sys


class Wrong(Exception):
    """An error of the documents, with its place and its fix."""

    def __init__(self, what, fix):
        super().__init__(f"site.py: {what}\nFix: {fix}")


# A plot of the first table under a heading that has all columns.  `names` are the columns that identify a row, and `numbers` is {column: name in the
# plot}.  "lanes > vyre" is the first column `vyre` after the column `lanes`.  Numbers end in `unit`.  With `per`, the count at the begin of that column
# is divided by each number of milliseconds, and the result is in millions per second.  `mark` is the value at which a line is drawn.
Plot = collections.namedtuple("Plot", "page heading title axis names numbers unit per log mark", defaults=("", None, False, None))
PLOTS = [
    Plot("bench/README.md", "Passes: bench-passes", "What a row costs in each pass, as programs grow", "ns a row",
         ["ns a row"], {"10k rows": "10k rows", "100k rows": "100k rows", "1M rows": "1M rows"}, log=True),
    Plot("bench/README.md", "Size of the output", "Operations left, in lanes, beside spirv-opt", "lanes against the original, %",
         ["modules", "peer"], {"lanes > vyre": "vyre", "lanes > peer": "spirv-opt, with like passes or -O"}, unit="%", mark=0),
    Plot("docs/cuda.md", "Measured on an H200", "Rows a second on an NVIDIA H200", "million rows a second",
         ["passes", "rows"], {"device": "kernels alone", "whole": "with what the host does"}, unit="ms", per="rows", log=True),
    Plot("docs/real-shaders.md", "Results after AMD's compiler", "Shaders after default<O2> and AMD's compiler",
         "after / before, geometric mean",
         ["collection"], {"instructions": "instructions", "latency": "latency", "inverse throughput": "inverse throughput"}, mark=1),
]


def cells(line):
    """Returns the cells of a table's line as plain text."""
    found = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    return [html.unescape(cell.replace("\\|", "|").replace("`", "").strip()) for cell in found]


def table_of(plot, lines):
    """Returns the plotted rows as [names, numbers], and the number of the line after the table."""
    fix = f"change PLOTS in scripts/site.py to match {plot.page}"
    columns = [*plot.names, *plot.numbers, *([plot.per] if plot.per else [])]
    heads = [i for i, line in enumerate(lines) if re.fullmatch(r"#+ " + re.escape(plot.heading), line)]
    if len(heads) != 1:
        raise Wrong(f"{plot.page} has {len(heads)} headings '{plot.heading}', under which a table is to be plotted", fix)
    at = heads[0] + 1
    while at < len(lines) and not re.match(r"#+ ", lines[at]):
        if lines[at].startswith("|") and re.match(r"\|[ :|-]+$", lines[at + 1]):
            header, where = cells(lines[at]), {}
            try:
                for name in columns:
                    where[name] = -1
                    for part in name.split(" > "):
                        where[name] = header.index(part, where[name] + 1)
            except ValueError:
                where = None
            first = at = at + 2
            while at < len(lines) and lines[at].startswith("|"):
                at += 1
            if where:
                return [row_of(plot, cells(line), where, fix) for line in lines[first:at]], at
        else:
            at += 1
    raise Wrong(f"{plot.page} has no table under '{plot.heading}' with the columns {', '.join(columns)}", fix)


def row_of(plot, row, where, fix):
    def number(name, form):
        text = row[where[name]] if where[name] < len(row) else ""
        found = re.match(form, text)
        value = float(found.group(1).replace(",", "")) if found else None
        if value is None or (plot.log and value <= 0):
            wanted = f"a number{' of ' + plot.unit if plot.unit else ''}{' above 0' if plot.log else ''}"
            raise Wrong(f"{plot.page}, table under '{plot.heading}', row '{row[0]}': '{text}' in column '{name}' is not {wanted}", fix)
        return value

    numbers = [number(name, r"([+-]?\d[\d,]*(?:\.\d+)?) ?" + re.escape(plot.unit) + "$") for name in plot.numbers]
    if plot.per:
        numbers = [number(plot.per, r"(\d(?:[\d,]*\d)?)") / value / 1000 for value in numbers]
    return [[row[where[name]] for name in plot.names], numbers]


def ticks_of(low, high, log):
    """Returns round numbers over a range.  The first is at most `low`, and the last is at least `high`."""
    if log:
        steps = [m * 10.0 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1) for m in (1, 2, 5)]
        return steps[max(i for i, s in enumerate(steps) if s <= low):1 + min(i for i, s in enumerate(steps) if s >= high)]
    step = 10.0 ** math.floor(math.log10((high - low or 1) / 4))
    step *= next(m for m in (1, 2, 2.5, 5, 10) if (high - low) / (m * step) <= 7)
    return [round(step * i, 10) for i in range(math.floor(low / step), math.ceil(high / step) + 1)]


def shape(kind, x, y):
    """Returns a dot.  The series have different shapes, because colours are not enough for all readers."""
    return (f'<circle class="s0" cx="{x:.1f}" cy="{y}" r="5"/>', f'<rect class="s1" x="{x - 4.5:.1f}" y="{y - 4.5}" width="9" height="9"/>',
            f'<path class="s2" d="M{x:.1f} {y - 6.5}l6.5 6.5l-6.5 6.5l-6.5 -6.5z"/>')[kind]


def figure(plot, rows, number):
    """Returns a figure of dots.  A line of the figure is a row of the table, and a series is a column."""
    series, values = list(plot.numbers.values()), [value for _, numbers in rows for value in numbers]
    ticks = ticks_of(min(values + [plot.mark or values[0]]), max(values + [plot.mark or values[0]]), plot.log)
    scale = math.log10 if plot.log else float
    left = 20 + 7.5 * max(len(name) for names, _ in rows for name in names)
    width, top, step = 760, 44, 22 if len(plot.names) == 1 else 42
    bottom = top + step * len(rows)
    esc = html.escape

    def x_of(value):
        return left + (width - 30 - left) * (scale(value) - scale(ticks[0])) / (scale(ticks[-1]) - scale(ticks[0]))

    out = [f'<figure class="plot" id="plot-{number}" tabindex="0">',
           f'<svg viewBox="0 0 {width} {bottom + 54}" role="img" aria-labelledby="plot-{number}-title plot-{number}-desc">']
    ends = "; ".join("{}: from {:,.4g} ({}) to {:,.4g} ({})".format(name, *(part for end in (min, max) for part in (
        lambda row: (row[1][i], ", ".join(row[0])))(end(rows, key=lambda row: row[1][i])))) for i, name in enumerate(series))
    out += [f'<title id="plot-{number}-title">{esc(plot.title)}</title>',
            f'<desc id="plot-{number}-desc">{esc(f"Dots on an axis of {plot.axis}, {len(rows)} rows. {ends}. The table above has all numbers.")}</desc>']
    at = left
    for i, name in enumerate(series):
        out.append(f'{shape(i, at + 6, 16)}<text x="{at + 18}" y="20">{esc(name)}</text>')
        at += 44 + 7.2 * len(name)
    shown = [tick for tick in ticks if not plot.log or len(ticks) < 9 or round(math.log10(tick), 9).is_integer() or tick in (ticks[0], ticks[-1])]
    for tick in ticks:
        out.append(f'<path class="{"mark" if tick == plot.mark else "grid"}" d="M{x_of(tick):.1f} {top - 8}V{bottom}"/>')
        if tick in shown:
            out.append(f'<text class="tick" x="{x_of(tick):.1f}" y="{bottom + 18}">{tick:,.6g}</text>')
    for i, (names, numbers) in enumerate(rows):
        y = top + step * i + step // 2 - 4
        for j, name in enumerate(names):
            out.append(f'<text class="{"name" if j == 0 else "more"}" x="{left - 14}" y="{y + 4 + (17 * j - 8 * (len(names) - 1))}">{esc(name)}</text>')
        out.append(f'<path class="span" d="M{x_of(min(numbers)):.1f} {y}H{x_of(max(numbers)):.1f}"/>')
        out += [shape(j, x_of(value), y) for j, value in enumerate(numbers)]
    out.append(f'<text class="tick" x="{(left + width - 30) / 2:.0f}" y="{bottom + 42}">{esc(plot.axis)}{" (logarithmic)" if plot.log else ""}</text></svg>')
    return "\n".join([*out, f"<figcaption>{esc(plot.title)}, of the table above.</figcaption></figure>"])


class Slugs:
    """Makes the anchors that GitHub gives to headings, which the documents' links use."""

    def __init__(self):
        self.seen = collections.Counter()

    def __call__(self, text, separator):
        name = re.sub(r"[^\w\- ]", "", html.unescape(text).strip().lower()).replace(" ", separator)
        self.seen[name] += 1
        return name if self.seen[name] == 1 else f"{name}-{self.seen[name] - 1}"


def out_name(page):
    return re.sub(r"README\.html$", "index.html", page[:-len("md")] + "html")


class Site:
    def __init__(self, out, source, markdown):
        self.out, self.source, self.markdown = out, source, markdown
        names = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "bench/README.md"]
        names += sorted(f"docs/{path.name}" for path in (source / "docs").glob("*.md"))
        try:
            self.text = {name: (source / name).read_text(encoding="utf-8") for name in names}
        except FileNotFoundError as error:
            raise Wrong(f"'{error.filename}' is not there", "SOURCE is a folder of vyre's sources") from error
        self.titles = {name: re.search(r"^# (.*)$", text, re.M).group(1) for name, text in self.text.items()}
        self.groups = self.read_groups()
        self.ids, self.links, self.plots = {}, [], 0
        self.api = (out.parent / "api/html/index.html").is_file()

    def read_groups(self):
        """Returns the list of (heading, pages) in README.md's section "Documentation"."""
        section = re.search(r"^## Documentation\n(.*?)^## ", self.text["README.md"], re.M | re.S)
        groups = [(part.split("**")[0], [name for name in re.findall(r"\]\(([\w./-]+\.md)(?:#[\w-]+)?\)", part) if name in self.text])
                  for part in re.split(r"^- \*\*", section.group(1) if section else "", flags=re.M)[1:]]
        there = {name for _, names in groups for name in names}
        for name in self.text:
            if name not in there and name != "README.md":
                raise Wrong(f"README.md does not list {name}", "link to it in a list item of '## Documentation'")
        return groups

    def link(self, page, target, text):
        """Returns the HTML of a link to a page or a URL.  For a path of the sources, returns text, because the site does not have them."""
        target = html.unescape(target)
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            return f'<a href="{html.escape(target)}">{text}</a>'
        name = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if name in self.text:
            if anchor:
                self.links.append((page, name, anchor))
            url = os.path.relpath(out_name(name), os.path.dirname(page) or ".") if path else ""
            return f'<a href="{html.escape(url + ("#" + anchor if anchor else ""))}">{text}</a>'
        if not (self.source / name).exists():
            raise Wrong(f"{page} links to {target}, and there is no {name}", "link to a file that is there")
        plain = html.unescape(re.sub(r"<[^>]*>", "", text))
        return f'<span class="path">{text}{"" if ("/" + name).endswith("/" + plain) else f" ({html.escape(name)})"}</span>'

    def body(self, page):
        """Returns the page's HTML, and the tokens of its table of contents."""
        lines = re.sub(r"^<!--.*-->\n", "", self.text[page], flags=re.M).split("\n")
        figures = {}
        for plot in (plot for plot in PLOTS if plot.page == page):
            self.plots += 1
            rows, at = table_of(plot, lines)
            figures[f"<p>PLOT-{self.plots}</p>"] = figure(plot, rows, self.plots)
            lines[at:at] = ["", f"PLOT-{self.plots}", ""]
        # GitHub shows \| in a table's code as |.
        text = "\n".join(re.sub(r"`[^`]*`", lambda m: m.group().replace("\\|", "|"), line) if line.startswith("|") else line for line in lines)
        md = self.markdown.Markdown(extensions=["tables", "fenced_code", "sane_lists", "toc"],
                                    extension_configs={"toc": {"slugify": Slugs(), "toc_depth": "2-3"}})
        body = md.convert(text)
        self.ids[page] = set(re.findall(r'<h\d id="([^"]+)"', body))
        body = re.sub(r'<a href="([^"]*)">(.*?)</a>', lambda m: self.link(page, m.group(1), m.group(2)), body, flags=re.S)
        body = body.replace("<table>", '<div class="table" role="region" aria-label="table" tabindex="0"><table>').replace("</table>", "</table></div>")
        body = re.sub(r"<pre>(?=<code[^>]*>(?:[^<]*\n)?[^<\n]{90})", '<pre tabindex="0">', body)
        for placeholder, svg in figures.items():
            body = body.replace(placeholder, svg)
        return body, md.toc_tokens

    def navigation(self, page):
        def item(name, title):
            here = ' aria-current="page"' if name == page else ""
            url = os.path.relpath(out_name(name) if name in self.text else name, os.path.dirname(page) or ".")
            return f'<li><a href="{url}"{here}>{html.escape(title.split(": ")[0])}</a></li>'

        def group(heading, items):
            return f"<h2>{html.escape(heading)}</h2><ul>{''.join(items)}</ul>"

        parts = [group("vyre", [item("README.md", "Overview")])]
        parts += [group(heading, [item(name, self.titles[name]) for name in names]) for heading, names in self.groups if names]
        if self.api:
            parts.append(group("Reference", [item("api/index.html", "Public headers")]))
        return "\n".join(parts)

    def write(self, page):
        body, tokens = self.body(page)

        def contents(tokens):
            items = "".join(f'<li><a href="#{token["id"]}">{token["name"]}</a>{contents(token["children"])}</li>' for token in tokens)
            return f"<ul>{items}</ul>" if items else ""

        up = "../" * page.count("/")
        title = html.escape(self.titles[page] if page == "README.md" else f"{self.titles[page]} - vyre")
        toc = f'<nav class="contents" aria-label="On this page"><h2>On this page</h2>{contents(tokens)}</nav>' if tokens else ""
        path = self.out / out_name(page)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{up}site.css">
</head>
<body>
<header><a class="skip" href="#content">To the text</a><a class="home" href="{up}index.html">vyre</a><a class="to-pages" href="#pages">All pages</a></header>
<div class="page">
{toc}
<main id="content">
{body}
</main>
<nav class="pages" id="pages" aria-label="All pages">
{self.navigation(page)}
</nav>
</div>
</body>
</html>
""", encoding="utf-8")

    def build(self):
        for page in self.text:
            self.write(page)
        for page, name, anchor in self.links:
            if anchor not in self.ids[name]:
                raise Wrong(f"{page} links to {name}#{anchor}, and no heading there has that name",
                            "write the heading's words in small letters, with - for spaces, without signs")
        shutil.copyfile(pathlib.Path(__file__).resolve().with_suffix(".css"), self.out / "site.css")
        if self.api:
            shutil.copytree(self.out.parent / "api/html", self.out / "api", dirs_exist_ok=True)


def main(arguments):
    if arguments in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 0
    if len(arguments) not in (1, 2) or arguments[0].startswith("-"):
        print("usage: site.py OUT [SOURCE]\nFix: name the folder for the site, as build/site (--help says more)", file=sys.stderr)
        return 2
    out = pathlib.Path(arguments[0]).resolve()
    source = pathlib.Path(arguments[1]).resolve() if len(arguments) > 1 else pathlib.Path(__file__).resolve().parent.parent
    try:
        import markdown  # imported here, so that a missing module has its own message
        site = Site(out, source, markdown)
        site.build()
    except ImportError:
        print("site.py: this Python has no module markdown\nFix: install the package python3-markdown and run the script with /usr/bin/python3", file=sys.stderr)
        return 1
    except Wrong as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"site.py: {error.filename}: {error.strerror}\nFix: name a folder that can be written", file=sys.stderr)
        return 1
    print(f"{len(site.text)} pages, {site.plots} plots{', the API reference' if site.api else ''}: {out}/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
