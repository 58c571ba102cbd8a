#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens the page of vyre-passmgr -html in a headless Chromium, presses its keys, and takes pictures of it, light and dark, to be looked at.

usage: look-page.py BUILD FOLDER        (Debian: chromium; the pictures are FOLDER/light.png and dark.png)
"""
import html
import json
import pathlib
import re
import subprocess
import sys

KEYS = """
<pre id="seen"></pre><script>
const seen = {};
const press = (key, target) => (target || document).dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
const now = () => document.querySelector("main h2").textContent;
const rows = () => document.querySelectorAll("[role=option]").length;
seen.first = now(); seen.rows = rows();
press("j"); seen.next = now(); press("n"); seen.changed = now(); press("p"); press("k"); seen.back = now();
seen.selected = document.querySelectorAll("[aria-selected=true]").length;
press("c"); seen.all = rows(); press("c");
press("r"); seen.raw = document.querySelectorAll("pre .add, pre .del").length; press("r");
seen.joined = document.querySelectorAll("pre .add, pre .del").length;
press("/"); seen.focus = document.activeElement.id;
filter.value = "simplify"; filter.dispatchEvent(new Event("input")); seen.filtered = rows();
filter.value = "no such pass"; filter.dispatchEvent(new Event("input")); seen.nothing = rows();
press("Escape", filter); seen.cleared = rows(); seen.where = document.activeElement.id;
const dark = document.documentElement.classList.contains("dark");
press("t"); seen.turned = document.documentElement.classList.contains("dark") !== dark;
press("End"); seen.end = now(); press("Home"); seen.home = now();
seen.colours = ["op", "name", "type", "number"].filter(kind => document.querySelector("pre ." + kind)).length;
document.getElementById("seen").textContent = JSON.stringify(seen);
</script>"""


def chromium(folder, page, *options):
    command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile", "--window-size=1400,900",
               "--virtual-time-budget=3000", *options, page]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def main(build, folder):
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(exist_ok=True)
    source = pathlib.Path(__file__).resolve().parent.parent
    page = folder / "page.html"
    shaders = [str(source / "examples/shaders" / name) for name in ("blur.comp", "saxpy.comp")]
    subprocess.run([f"{build}/bin/vyre-passmgr", "-O", f"-html={page}", *shaders, f"-outdir={folder}/out"], check=True)
    pressed = folder / "pressed.html"
    pressed.write_text(page.read_text().replace("</body>", KEYS + "</body>"))
    found = re.search(r'<pre id="seen">(.*?)</pre>', chromium(folder, f"file://{pressed}", "--dump-dom"))
    seen = json.loads(html.unescape(found.group(1)))
    wanted = {"first": "run 1: early", "next": "run 3: licm", "changed": "run 5: simplify", "back": "run 1: early", "selected": 1, "focus": "filter",
              "filtered": 2, "nothing": 0, "cleared": seen["rows"], "where": "list", "turned": True, "end": "at the end", "home": "at the start", "colours": 4}
    wrong = {key: (seen.get(key), value) for key, value in wanted.items() if seen.get(key) != value}
    if not seen["all"] > seen["rows"] or not 0 < seen["joined"] < seen["raw"]:
        wrong["counts"] = seen
    for name, end in (("light", ""), ("dark", "#other-theme")):
        chromium(folder, f"file://{page}{end}", f"--screenshot={folder}/{name}.png")
    print(f"{len(wanted)} things seen, wrong: {wrong or 'none'}; pictures: {folder}/light.png, dark.png")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
