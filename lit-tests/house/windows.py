#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds vyre for Windows, installs it, and runs the installed files under Wine.  Over a corpus, outputs and messages are
byte for byte those of this system.  A plugin is compiled and loaded; paths, line ends, exit codes and ends of plugins are as in docs/windows.md.

usage: windows.py SOURCE BUILD CMAKE WINE DLLS
  BUILD: a complete build for this system; WINE: wine64; DLLS: the folder of Wine's .dll files
"""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

SOURCE, BUILD, CMAKE, WINE, DLLS = map(pathlib.Path, sys.argv[1:])
HERE = BUILD / "windows"
PREFIX, WORK = HERE / "prefix", HERE / "work"
NATIVE = BUILD / "bin/vyre-passmgr"
COMPILER, OBJDUMP = "x86_64-w64-mingw32-gcc-posix", "x86_64-w64-mingw32-objdump"
# Settings for Wine: no dialogs, no display, and no files outside the prefix.
ENVIRONMENT = dict(os.environ, WINEPREFIX=str(HERE / "wine"), WINEDEBUG="-all", HOME=str(HERE / "home"), LC_ALL="C.UTF-8")
ENVIRONMENT.pop("DISPLAY", None)
SYSTEM = {"KERNEL32.dll", "msvcrt.dll"}

PLUGIN = r"""
#include "vyre/plugin.h"
#include <stdlib.h>

#define PASS(id, ...)                                                                                             \
  static vyre_status run_##id(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)                            \
  {                                                                                                               \
    (void)ctx, (void)module;                                                                                      \
    *out = VYRE_UNCHANGED;                                                                                        \
    __VA_ARGS__;                                                                                                  \
    return VYRE_OK;                                                                                               \
  }                                                                                                               \
  static const vyre_pass id = {.struct_size = sizeof(vyre_pass), .name = "ends." #id, .summary = "ends", .run = run_##id};

static volatile int *volatile nowhere;
static int descend(volatile int depth)
{
  volatile char room[4096];
  room[0] = (char)depth;
  return depth < 0 ? 0 : descend(depth + 1) + room[0];
}
PASS(crash, *nowhere = 1)
PASS(leave, exit(0))
PASS(stop, abort())
PASS(deep, descend(0))
VYRE_PLUGIN("ends", "1.0", &crash, &leave, &stop, &deep)
"""


def must(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=WORK)
    if done.returncode:
        sys.exit(f"exit code {done.returncode}: {' '.join(map(str, command))}\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def build():
    """Builds and installs into PREFIX, and moves the prefix, which must work."""
    must(CMAKE, "-S", SOURCE, "-B", HERE, "-G", "Ninja", f"--toolchain={SOURCE}/cmake/mingw-w64.cmake", f"-DVYRE_NATIVE_BUILD={BUILD}",
         "-DVYRE_TESTS=OFF", "-DCMAKE_BUILD_TYPE=Release")
    must(CMAKE, "--build", HERE, "--parallel", "2")
    must(CMAKE, "--install", HERE, "--prefix", PREFIX)
    moved = HERE / "moved prefix"
    PREFIX.rename(moved)
    return moved


def begin_wine():
    """Creates a Wine prefix that links to Wine's files, without copies and without Wine's slow setup."""
    windows = HERE / "wine/drive_c/windows"
    windows.mkdir(parents=True)
    (HERE / "wine/.update-timestamp").write_text("disable\n")
    (windows / "system32").symlink_to(DLLS)


class Tools:
    def __init__(self, prefix):
        self.program = prefix / "bin/vyre-passmgr.exe"
        self.errors, self.checks = [], 0

    def windows(self, *arguments, stdin=b""):
        return subprocess.run([str(WINE), str(self.program), *arguments], input=stdin, capture_output=True, cwd=WORK, env=ENVIRONMENT)

    def native(self, *arguments, stdin=b""):
        return subprocess.run([str(NATIVE), *arguments], input=stdin, capture_output=True, cwd=WORK)

    def check(self, is_right, what):
        self.checks += 1
        if not is_right:
            self.errors.append(what)

    def expect(self, arguments, code, says=None, stdin=b"", gives=None):
        """Checks the exit code, the messages by a pattern, and standard output."""
        done = self.windows(*arguments, stdin=stdin)
        said = done.stderr.decode(errors="replace").replace("\r\n", "\n")
        told = f"{' '.join(arguments)}: exit code {done.returncode}, said: {said[-500:]}"
        self.check(done.returncode == code, f"{told}\n  not exit code {code}")
        if says is not None:
            self.check(re.search(says, said), f"{told}\n  not '{says}'")
        if gives is not None:
            self.check(done.stdout == gives, f"{told}\n  and other output: {done.stdout[:300]!r}, not {gives[:300]!r}")

    def alike(self, name, arguments, inputs):
        """Compares outputs, messages and exit code on both systems, and returns the number of outputs."""
        results = []
        for run in (self.windows, self.native):
            done = run(*arguments, "-outdir", "out", *inputs)
            out = WORK / "out"
            files = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
            shutil.rmtree(out, ignore_errors=True)
            results.append((files, done.stderr.replace(b"\r\n", b"\n"), done.returncode))
        (files, said, code), (native_files, native_said, native_code) = results
        differing = [path for path in sorted({*files, *native_files}) if files.get(path) != native_files.get(path)]
        self.check(not differing, f"{name}: {len(differing)} of {len(native_files)} outputs differ: {differing[:5]}")
        self.check(said == native_said, f"{name}: other messages:\n{said.decode(errors='replace')[:800]}\nnot\n{native_said.decode(errors='replace')[:800]}")
        self.check(code == native_code, f"{name}: exit code {code}, not {native_code}")
        return len(native_files)


def make_corpus(t):
    """Converts valid inputs of the tests to text, VIR0 and SPIR-V, and returns the files by kind."""
    names = must("git", "-C", SOURCE, "ls-files", "lit-tests/*.vir", "unittests/*.vir", "examples/*.vir", "examples/*.comp", "lit-tests/*.comp",
                 "lit-tests/*.spvasm").split()
    for name in names:
        flat = name.replace("/", "_")
        for kind in ("spirv", "vir0") + (("vir",) if name.endswith(".vir") else ()):
            (WORK / kind).mkdir(exist_ok=True)
            t.native(SOURCE / name, f"-emit={kind}", "-o", f"{kind}/{flat}.{'spv' if kind == 'spirv' else kind}")
    return {kind: sorted(str(path.relative_to(WORK)) for path in (WORK / kind).iterdir()) for kind in ("vir", "vir0", "spirv")}


def make_sums():
    """Returns products and sums to fold: random ones, some that nearly cancel, and some denormal."""
    chance, lines = random.Random(1), []
    for i in range(3000):
        kind, digits, most = (("f64", 53, 400), ("f32", 24, 40))[i % 2]
        a, b = (chance.getrandbits(digits) | 1 << (digits - 1) for _ in range(2))
        p, q = (chance.randint(-most, most) for _ in range(2))
        c, r = chance.getrandbits(digits) | 1, p + q + chance.randint(-8, digits + 8)
        if i % 3 == 0:  # all of the product except its last bits
            c, r = -((a * b) >> digits) or 1, p + q + digits
        lines.append(f"  %v{i} = fma 0x{a:x}.0p{p}{kind}, 0x{b:x}.0p{q}{kind}, {'-' if c < 0 else ''}0x{abs(c):x}.0p{r}{kind}\n  store %{kind}[{i}u32], %v{i}\n")
    (WORK / "vir/sums.vir").write_text(
        "program @sums workgroup(1, 1, 1) {\n"
        + "".join(f"  buffer %{kind} : {kind}[] storage rw set(0) binding({at})\n" for at, kind in enumerate(("f32", "f64"))) + "".join(lines) + "}\n")


def check_corpus(t):
    corpus = make_corpus(t)
    make_sums()
    corpus["vir"].append("vir/sums.vir")
    folded = t.native("vir/sums.vir", "-passes=cf,dce").stdout.decode()
    t.check(folded.count("store") == 3000 and " fma " not in folded, f"sums are not folded: {folded[:300]}")
    least = {"vir": 100, "vir0": 100, "spirv": 100}
    t.check(all(len(corpus[kind]) >= count for kind, count in least.items()), f"a small corpus: { {kind: len(files) for kind, files in corpus.items()} }")
    runs = [("vir", []), ("vir0", []), ("spirv", []), ("vir", ["-passes=default<O2>", "-j4"]), ("vir0", ["-passes=default<O1>"]),
            ("spirv", ["-passes=default<O2>", "-verify-each"]), ("spirv", ["-passes=default<O2>", "-emit=ptx"]), ("vir", ["-emit=ptx"]),
            ("spirv", ["-passes=default<O2>", "-emit=vir", "-batch"]), ("vir", ["-passes=default<O2>", "-phases", "-phase-threads=2"]),
            ("spirv", ["-passes=contract,default<O1>", "-emit=c"]), ("vir", ["-emit=spirv", "-exact-floats"])]
    count = sum(t.alike(f"{' '.join(arguments) or 'nothing'} over {kind}", arguments, corpus[kind]) for kind, arguments in runs)
    return count, corpus


def check_plugins(t, prefix):
    core = sorted(path.stem for path in (BUILD / "lib/vyre/passes").glob("*.so"))
    t.check(core == sorted(path.stem for path in (prefix / "lib/vyre/passes").glob("*.dll")), "not all core passes are installed")
    (WORK / "ends.c").write_text(PLUGIN)
    for name, source in (("acme", SOURCE / "examples/plugins/acme.c"), ("ends", "ends.c")):
        must(COMPILER, "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-I", prefix / "include", source, "-o", f"{name}.dll")
        exported = re.search(r"\[Ordinal/Name Pointer\] Table\n((?:\t.*\n)*)", must(OBJDUMP, "-p", f"{name}.dll")).group(1).split()
        t.check([word for word in exported if re.match(r"[a-zA-Z_]\w+$", word)] == ["vyre_plugin_query_v1"], f"{name}.dll exports {exported}")
    for path in [*prefix.rglob("*.dll"), *prefix.rglob("*.exe"), WORK / "acme.dll"]:
        needs = set(re.findall(r"DLL Name: (\S+)", must(OBJDUMP, "-p", path))) - SYSTEM
        t.check(needs <= ({"libvyre.dll"} if path.suffix == ".exe" else set()), f"{path.name} needs {needs}")
    scale = str(SOURCE / "examples/plugins/scale.vir")
    must("cc", "-O2", "-shared", "-fPIC", "-I", SOURCE / "include", SOURCE / "examples/plugins/acme.c", "-o", "acme.so")
    changed = t.native("-load", "acme.so", "-passes=acme.mul-to-shl", scale).stdout
    t.check(b"shl" in changed, "the plugin does not change this input")
    t.expect(["-load=acme.dll", "-passes=acme.mul-to-shl", scale], 0, gives=changed)
    t.expect(["-load", ".\\acme.dll", "-load=acme.dll", "-passes=acme.mul-to-shl", scale], 0, gives=changed)
    t.expect(["-plugin-dir=.", "-passes=acme.mul-to-shl", scale], 0, gives=changed)
    (WORK / "cut").write_bytes((WORK / "acme.dll").read_bytes()[:20000])
    t.expect(["-load=cut", scale], 2, r"cannot load plugin '.*/cut': the file is truncated")
    t.expect(["-load=nowhere.dll", scale], 2, r"cannot load plugin '[A-Z]:/.*/nowhere\.dll': ")
    t.expect(["-load", str(prefix / "bin/libvyre.dll"), scale], 2, "is not a vyre plugin: it does not export 'vyre_plugin_query_v1'")
    for name, says in (("crash", r"crashed \(access violation\)"), ("leave", "the process was ended by exit"), ("stop", r"signal 22 \(abort\)")):
        t.expect(["-load=ends.dll", f"-passes=dce,ends.{name}", scale, "-o", "ended.vir"], 2, rf"{says} in pass 'ends\.{name}' \(.*ends\.dll\), run 2")
    deep = t.windows("-load=ends.dll", "-passes=ends.deep", scale, "-o", "ended.vir").returncode  # Wine has no stack left for a message
    t.check(deep != 0, "a stack that overflows is exit code 0")
    t.check(not (WORK / "ended.vir").exists() and not list(WORK.glob(".vyre-*")), "a process that a plugin ended left a file")


def check_files(t, corpus):
    """Checks names, line ends and bytes."""
    vir = WORK / next(name for name in corpus["vir"] if name.endswith("scale.vir.vir"))
    spv = (WORK / next(name for name in corpus["spirv"] if b"\n" in (WORK / name).read_bytes() and b"\r" in (WORK / name).read_bytes())).read_bytes()
    text = vir.read_bytes()
    (WORK / "crlf.vir").write_bytes(text.replace(b"\n", b"\r\n"))
    t.expect(["crlf.vir"], 0, gives=t.native(str(vir)).stdout)
    t.expect(["-", "-emit=vir"], 0, stdin=text, gives=text)
    t.expect(["-", "-emit=spirv"], 0, stdin=spv, gives=t.native("-", "-emit=spirv", stdin=spv).stdout)
    whole = "Z:" + str(WORK).replace("/", "\\")
    t.expect([whole + "\\crlf.vir", "-o", whole + "\\a.vir"], 0)
    t.check((WORK / "a.vir").read_bytes() == text, "-o C:\\... wrote something else")
    t.expect([whole + "\\crlf.vir", "-o", "a.vir"], 0)  # over an existing file
    (WORK / "in/one").mkdir(parents=True)
    (WORK / "in/two").mkdir()
    for name in ("in/one/a.vir", "in/two/a.vir", "in/two/sch\u00f6n.vir"):
        (WORK / name).write_bytes(text)
    t.expect([whole + "\\in\\one\\a.vir", "in/two\\a.vir", "-outdir", "mixed"], 0)
    t.check(all((WORK / "mixed" / name).is_file() for name in ("one/a.vir", "two/a.vir")), "-outdir with two kinds of paths")
    t.expect(["in\\*\\[a-b].vir", "-list-inputs"], 0, gives=b"in/one/a.vir\nin/two/a.vir\n")
    t.expect(["in/two/sch\u00f6n.vir", "-o", "g\u00fct.vir"], 0)
    t.check((WORK / "g\u00fct.vir").is_file(), "a name that is not ASCII")
    t.expect(["crlf.vir", "-passes=dce", "-dump-dir=dumps"], 0)
    t.check((WORK / "dumps/crlf.vir.0000-start.vir").is_file(), "-dump-dir")
    t.expect(["crlf.vir", "-output-cache=cache", "-o", "b.vir"], 0)
    kept = [path for path in (WORK / "cache").rglob("*") if path.is_file()]
    t.check(len(kept) == 1, f"-output-cache kept {kept}")
    t.expect(["crlf.vir", "-o", "NUL"], 0)
    t.expect(["crlf.vir", "-html=page.html", "-o", "NUL"], 0)
    t.check((WORK / "page.html").stat().st_size > 10000, "-html")


def check_errors(t):
    t.expect(["nowhere.vir"], 1, r"cannot read 'nowhere\.vir': No such file")
    t.expect(["crlf.vir", "-o", "no/such/a.vir"], 1, r"cannot write 'no/such/a\.vir': No such file")
    t.expect(["in"], 1, "cannot read 'in': Is a directory")
    t.expect(["in/*.none"], 2, "no file matches")
    t.expect(["crlf.vir", "-passes=none"], 2, "unknown pass 'none'")
    t.expect(["crlf.vir", "-target=vulkan"], 2, r"unknown target 'vulkan'\nFix: -target is one of cpu, auto")
    t.expect([str(SOURCE / "examples/plugins/scale.vir"), "-emit=glsl", "-o", "none.glsl"], 2, r"not written on Windows\nFix: write SPIR-V")
    t.expect(["crlf.vir", "-output-cache=redis://h/n"], 2, r"needs a Redis client, which this build of vyre does not have\nFix: leave it out")
    t.expect([str(SOURCE / "examples/shaders/saxpy.comp")], 2, r"not read on Windows\nFix: compile it to SPIR-V")
    absent = {"-isolate": [], "-watch": [], "-bisect=x": [], "-pass-timeout=1": [], "-reproducer=r": [], "-reduce=r": [], "-run-reproducer=r": [], "-trust-reproducer": [],
              "-html-glsl": [], "-spec-file=f": [], "-variants=f": [], "-spirv-tools=--ccp": [], "-spirv-tools-after=--ccp": [], "-spirv-tools-copied=--ccp": [], "-isolate-seconds=1": [], "-isolate-memory=64": [], "-queue=redis://h/n": [], "-queue-stay": [],
              "-queue-lease=1": [], "-queue-plugin=0": [], "-redis-password=f": [], "-redis-wait=1": []}
    shown = t.windows("-help").stdout.decode()
    listed = set(re.findall(r"^  -([\w-]+)", shown, re.M))
    native = set(re.findall(r"^  -([\w-]+)", t.native("-help").stdout.decode(), re.M))
    names = {option.strip("-").split("=")[0] for option in absent}
    t.check(native - listed == names and listed < native, f"-help leaves out {sorted(native ^ listed)}")
    for option in absent:
        t.expect(["crlf.vir", option], 2, rf"option '{option.split('=')[0]}' is not supported on Windows\nFix: leave it out")
    document = (SOURCE / "docs/windows.md").read_text()
    t.check(all(f"`-{name}`" in document for name in names), "docs/windows.md does not list all unsupported options")


def main():
    for folder in (PREFIX, WORK, HERE / "wine", HERE / "home", HERE / "moved prefix"):
        shutil.rmtree(folder, ignore_errors=True)
    for folder in (WORK, HERE / "home"):
        folder.mkdir(parents=True)
    prefix = build()
    begin_wine()
    t = Tools(prefix)
    count, corpus = check_corpus(t)
    check_plugins(t, prefix)
    check_files(t, corpus)
    check_errors(t)
    t.check(count > 1500, f"only {count} outputs were compared")
    print("\n".join([*t.errors, f"{count} outputs compared, {t.checks} checks, {len(t.errors)} errors"]))
    return 1 if t.errors else 0


if __name__ == "__main__":
    sys.exit(main())
