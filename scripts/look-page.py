#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the page of vyre-passmgr -html in a headless Chromium: keys, filter, light and dark, narrow and wide.  Takes screenshots of the page.
The page may print nothing on the console, and may fetch nothing.

usage: look-page.py BUILD FOLDER [CHROMIUM]        (Debian: chromium; the screenshots are FOLDER/*.png)
"""
import base64
import fcntl
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys

SECONDS = 300  # time limit for an answer of Chromium
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-extensions", "--remote-debugging-pipe"]
VIRTUAL_KEYS = {"ArrowDown": 40, "ArrowUp": 38, "Home": 36, "End": 35, "Escape": 27, "Enter": 13, "Tab": 9}


class Browser:
    """A Chromium that is controlled by the DevTools protocol: JSON messages between zero bytes, on its file descriptors 3 and 4."""

    def __init__(self, program, folder):
        to_read, self.to = os.pipe()
        self.of, to_write = os.pipe()
        theirs = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, to_write)]
        os.close(to_read), os.close(to_write)

        def move():
            os.dup2(theirs[0], 3)
            os.dup2(theirs[1], 4)

        shutil.rmtree(folder / "profile", ignore_errors=True)
        self.log = open(folder / "chromium.log", "wb")
        self.process = subprocess.Popen([program, *FLAGS, f"--user-data-dir={folder}/profile", "about:blank"], preexec_fn=move, pass_fds=(3, 4),
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        for end in theirs:
            os.close(end)
        self.rest, self.last, self.session, self.events = b"", 0, None, []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")
        self.ask("Page.setLifecycleEventsEnabled", enabled=True)

    def hear(self):
        while b"\0" not in self.rest:
            if not select.select([self.of], [], [], SECONDS)[0]:
                raise SystemExit(f"chromium says nothing for {SECONDS} s; see {self.log.name}")
            part = os.read(self.of, 1 << 20)
            if not part:
                raise SystemExit(f"chromium ended; see {self.log.name}")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **parameters):
        self.last += 1
        question = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            question["sessionId"] = self.session
        os.write(self.to, json.dumps(question).encode() + b"\0")
        while True:
            answer = self.hear()
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_loaded(self, loader):
        def is_it(event):
            return event.get("method") == "Page.lifecycleEvent" and (event["params"]["loaderId"], event["params"]["name"]) == (loader, "load")
        while not any(map(is_it, self.events)):
            self.events.append(self.hear())

    def see(self, script):
        """Returns the value of a JavaScript expression on the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise SystemExit(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def press(self, *keys):
        for key in keys:
            event = {"key": key, "windowsVirtualKeyCode": VIRTUAL_KEYS.get(key, ord(key[0].upper()))}
            text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
            self.ask("Input.dispatchKeyEvent", type="keyDown", **event, **text)
            self.ask("Input.dispatchKeyEvent", type="keyUp", **event)

    def open(self, page, scheme="light", width=1400, height=900):
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.wait_loaded(self.ask("Page.navigate", url=f"file://{page}")["loaderId"])

    def click(self, element):
        x, y = self.see(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({element}.getBoundingClientRect())")
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot")["data"]))

    def end(self):
        self.session = None
        self.ask("Browser.close")
        self.process.wait(timeout=SECONDS)


HEADING, ROWS, PICKED = "document.querySelector('main h2').textContent", "document.querySelectorAll('[role=option]').length", "document.querySelector('[aria-selected=true]')"
IR, GLSL = "document.querySelector('main .pair div:first-child pre')", "document.querySelector('main .pair div:last-child pre')"
FOCUS = "document.activeElement.id"
wrong = []


def same(what, is_, wanted):
    if is_ != wanted:
        wrong.append(f"{what}: {is_!r}, not {wanted!r}")


def by_keys(b, data):
    """Tests the keys that select runs, and the diff of each run."""
    first = data["inputs"][0]
    changed = [item for item in first["items"] if item["kind"] == "run" and item["changed"]]
    same("the list has the focus", b.see(FOCUS), "list")
    same("what is picked first", b.see(HEADING), f"run {changed[0]['run']}: {changed[0]['pass']}")
    b.press("Home")
    same("Home", b.see(HEADING), "summary")
    table = b.see("[...document.querySelectorAll('main tr')].map(tr => [...tr.children].map(cell => cell.textContent))")
    same("a line for each input, and one for all", [line[0] for line in table[1:]], [given["input"] for given in data["inputs"]] + ["all without an error"])
    ends = [[item["rows"] for item in given["items"] if "rows" in item] for given in data["inputs"] if not given["error"]]
    same("the sums of rows", [int(table[-1][4]), int(table[-1][5])], [sum(rows[0] for rows in ends), sum(rows[-1] for rows in ends)])
    same("an input that failed", [line[5] for line in table[1:]].count("failed"), sum(bool(given["error"]) for given in data["inputs"]))
    b.press("j")
    same("the start", b.see(HEADING), "at the start")
    same("the text at the start", b.see(f"[...{IR}.querySelectorAll('.l')].map(l => l.textContent).join('\\n')"), first["items"][0]["text"].rstrip("\n"))
    same("the GLSL at the start", b.see(f"[...{GLSL}.querySelectorAll('.l')].map(l => l.textContent).join('\\n')"), first["items"][0]["glsl"].removesuffix("\n"))
    for item in changed:
        b.press("n")
        same("n", b.see(HEADING), f"run {item['run']}: {item['pass']}")
        same(f"the diff of run {item['run']}", b.see(f"[...{IR}.querySelectorAll('.l')].map(l => l.textContent).join('\\n')"), item["diff"].rstrip("\n"))
        marked = b.see(f"['add', 'del'].map(kind => {IR}.querySelectorAll('.' + kind).length)")
        lines = item["diff"].split("\n")
        same(f"its lines in colours", marked, [sum(line[:1] == mark for line in lines) for mark in "+-"])
        same("one is selected, told to who cannot see it, and in view",
             b.see("(r => [document.querySelectorAll('[aria-selected=true]').length, list.getAttribute('aria-activedescendant') === r.id, r.getBoundingClientRect().bottom <= innerHeight])"
                   f"({PICKED})"), [1, True, True])
    b.press("Home")
    marked, words = 0, set()
    for _ in changed:
        b.press("n")
        marked += b.see(f"{IR}.querySelectorAll('.renumbered').length")
        words |= set(b.see("['op', 'name', 'type', 'number'].filter(kind => document.querySelector('pre .l .' + kind))"))
    same("words in colours", sorted(words), ["name", "number", "op", "type"])
    same("lines in which only numbers differ are marked, and explained", [marked > 0, b.see("document.querySelectorAll('main .legend').length")], [True, 1])
    b.press("p")
    same("p", b.see(HEADING), f"run {changed[-2]['run']}: {changed[-2]['pass']}")
    for forth, back in (("j", "k"), ("ArrowDown", "ArrowUp")):
        here = b.see(HEADING)
        b.press(forth)
        same(forth, b.see(HEADING) != here, True)
        b.press(back)
        same(back, b.see(HEADING), here)
    rows = b.see(ROWS)
    b.press("c")
    same("c shows all runs", b.see(ROWS), sum(item["kind"] != "remark" for given in data["inputs"] for item in given["items"]) + 1 + sum(bool(given["error"]) for given in data["inputs"]))
    b.press("Home", "n")
    same("n goes over what changed nothing", b.see(HEADING), f"run {changed[0]['run']}: {changed[0]['pass']}")
    b.press("c")
    same("c again", b.see(ROWS), rows)
    b.press("End")
    same("End is the input that failed, and why", b.see("[document.querySelector('main h2').textContent, /nowhere is not defined/.test([...document.querySelectorAll('main .error')].map(p => p.textContent).join())]"), ["it failed", True])


def by_filter(b):
    rows = b.see(ROWS)
    b.press("/")
    same("/", b.see(FOCUS), "filter")
    b.press(*"SIMPLI")
    same("the filter", b.see(f"[{ROWS}, filter.value, [...document.querySelectorAll('.row .p')].every(p => p.textContent.startsWith('simplify')), {HEADING}.includes('simplify')]"),
         [2, "SIMPLI", True, True])
    b.press(*"x")
    same("a filter that nothing has", b.see(f"[{ROWS}, list.textContent]"), [0, "nothing has that"])
    b.press("Escape")
    same("Escape", b.see(f"[{ROWS}, filter.value, {FOCUS}]"), [rows, "", "list"])
    b.press("/", *"saxpy", "Enter", "j")
    same("Enter keeps it, and the list has the keys", b.see(f"[filter.value, {FOCUS}, [...document.querySelectorAll('nav h2')].length]"), ["saxpy", "list", 1])
    b.press("/", "Escape")


def by_mouse(b):
    b.click("[...document.querySelectorAll('.row .p')].find(p => p.textContent === 'dce')")
    same("a click", b.see(HEADING).endswith(": dce"), True)
    b.click("document.getElementById('changed')")
    same("changed only", b.see("changed.checked"), False)
    b.click("document.getElementById('changed')")


def figures(b, data):
    """Tests the figures of -device-stats."""
    b.press("Home", "j")
    for _ in data["inputs"][0]["items"]:
        if b.see(HEADING) != "at the end":
            b.press("j")
    end = data["inputs"][0]["items"][-1]
    table = b.see("[...document.querySelectorAll('main tr')].map(tr => [...tr.children].map(cell => cell.textContent))")
    same("its head", table[0], ["figure", "input", "output", "ratio"])
    same("figures", [line[0] for line in table[1:]], [figure["name"] for figure in end["given"]])
    pairs = {a["name"]: (a["value"], c["value"]) for a, c in zip(end["given"], end["figures"])}
    for name, was, is_, ratio in table[1:]:
        a, c = pairs[name]
        same(name, [float(was), float(is_), ratio], [a, c, "1.000" if a == c else f"{c / a:.3f}" if a else ""])
    length = b.see("column.options.length")
    same("a figure in the place of rows", b.see("[column.parentElement.hidden, column.options[0].textContent]"), [False, "rows"])
    b.see("column.value = column.options[column.options.length - 1].value; column.dispatchEvent(new Event('change'))")
    same("by how much", b.see(f"[...document.querySelectorAll('.row .r')].every(r => r.title === column.value) && {FOCUS} === 'list'") and length > 1, True)
    b.see("column.focus()")
    here = b.see(HEADING)
    b.press("j")
    same("keys of the choice are its own", b.see(HEADING), here)


# JavaScript: lists the pairs of text and background colours whose contrast is below 4.5.
CONTRAST = """(() => {
  const colour = name => { const probe = document.createElement("i"); probe.style.color = `var(--${name})`; document.body.append(probe);
    const [r, g, b] = getComputedStyle(probe).color.match(/\\d+/g).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); probe.remove();
    return .2126 * r + .7152 * g + .0722 * b; };
  const ratio = (a, b) => { const [x, y] = [colour(a), colour(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
  const pairs = [];
  for (const back of ["back", "side", "pick"]) for (const text of ["text", "dim", "warn", "bad"]) pairs.push([text, back]);
  for (const back of ["back", "add", "del"]) for (const text of ["text", "name", "type", "number", "op", "note"]) pairs.push([text, back]);
  return pairs.filter(([text, back]) => ratio(text, back) < 4.5).map(([text, back]) => `${text} on ${back}: ${ratio(text, back).toFixed(2)}`);
})()"""


def schemes(b, page, folder):
    """Tests the light and dark schemes, chosen by the system or by a key, and narrow and wide windows."""
    dark = "[document.documentElement.classList.contains('dark'), getComputedStyle(document.body).backgroundColor]"
    backs = {}
    for scheme in ("light", "dark"):
        b.open(page, scheme)
        backs[scheme] = b.see(dark)
        same(f"{scheme} as the system is", backs[scheme][0], scheme == "dark")
        same(f"texts are read easily, {scheme}", b.see(CONTRAST), [])
        b.picture(folder / f"{scheme}.png")
        b.press("t")
        same("t", b.see(dark)[0], scheme != "dark")
        b.press("t")
        b.open(page, scheme, 400, 800)
        same(f"nothing is beside a narrow window, {scheme}", b.see("document.documentElement.scrollWidth <= 400"), True)
        b.press("n", "n")
        b.picture(folder / f"{scheme}-narrow.png")
    same("two backgrounds", backs["light"][1] != backs["dark"][1], True)
    b.open(page)
    b.click("document.getElementById('theme')")
    same("light / dark", b.see(dark), backs["dark"])


NAME = '<img src=gone onerror=console.log(1)> & "bad".vir'  # of an input; the page must show it as text


def by_all(b):
    """Tests each entry: no missing value is shown, and names of inputs are shown as text."""
    b.press("c", "Home")
    same("names of inputs", b.see("[...document.querySelectorAll('nav h2')].pop().textContent").strip().endswith("/" + NAME), True)
    for _ in range(b.see(ROWS)):
        text = b.see("main.textContent + list.textContent")
        same("what is not there", re.findall("undefined|NaN|null", text), [])
        b.press("j")
    same("the last one", b.see("[document.querySelector('main p').textContent.endsWith(%s), document.querySelector('img')]" % json.dumps(NAME)), [True, None])
    b.press("c")


def make_page(build, folder):
    source = pathlib.Path(__file__).resolve().parent.parent
    bad = folder / NAME
    bad.write_text("program @bad workgroup(1, 1, 1) {\n  store %nowhere[0u32], 1u32\n}\n")
    page = folder / "page.html"
    shaders = [str(source / "examples/shaders" / name) for name in ("particles.comp", "saxpy.comp")]
    made = subprocess.run([f"{build}/bin/vyre-passmgr", "-O", f"-html={page}", "-html-glsl", "-device-stats=cuda", "-device=sim", *shaders, str(bad), f"-outdir={folder}/out"],
                          capture_output=True, text=True)
    if made.returncode != 1:
        raise SystemExit(f"vyre-passmgr: {made.returncode}\n{made.stderr}")
    return page


def main(build, folder, program="chromium"):
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(exist_ok=True, parents=True)
    page = make_page(build, folder)
    data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.S).group(1))
    b = Browser(program, folder)
    try:
        b.open(page)
        by_keys(b, data)
        by_filter(b)
        by_mouse(b)
        by_all(b)
        figures(b, data)
        b.picture(folder / "figures.png")
        schemes(b, page, folder)
        said = [event for event in b.events if event.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")]
        same("the console", [json.dumps(event["params"])[:300] for event in said], [])
        fetched = {event["params"]["request"]["url"] for event in b.events if event.get("method") == "Network.requestWillBeSent"}
        same("what was fetched", fetched, {f"file://{page}"})
        b.end()
    finally:
        b.process.kill()
        b.process.wait()
    print("\n".join(f"wrong: {line}" for line in wrong) or f"nothing is wrong; pictures: {folder}/*.png")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
