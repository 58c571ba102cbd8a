#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the shaders of public projects with their own build files: with the tools that the projects name, and with vyre in the tools' place.

Each project is built three times: with the tools of this machine (original), with vyre under the tools' names (vyre), and the same with
VYRE_OPT=O2 (O2).  The projects' files are not changed.  The SPIR-V modules are taken from all files that a build writes, also from
headers in C.  For each build: modules, invalid ones (spirv-val), bytes, instructions, wall and processor time, and the answers of
configure probes.  For compute modules of the O2 build: how many passes changed, and a driver's figures (bench-drivers).  At the end:
the bytes of the original compute modules after `spirv-opt -Os` and after `vyre-passmgr -Os`.

usage: public-builds.py [options] FOLDER [PROJECT...]     FOLDER/PROJECT is a checkout, with submodules; -l lists the projects
"""
import argparse
import array
import contextlib
import dataclasses
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAGIC = 0x07230203
COMPUTE = 5  # the execution model GLCompute
BUILDS = ("original", "vyre", "O2")


@dataclasses.dataclass
class Project:
    address: str  # where its sources are
    commit: str  # one whose shaders the tools of Debian 12 compile
    kind: str
    system: str  # of the build
    tools: tuple  # that vyre replaces
    commands: tuple  # of a shell, in a copy of the checkout; $TOOLS is the folder of the tools, also as $VULKAN_SDK/bin
    probes: str = ""  # a regular expression for lines that answer probes of the configuration


# Targets of ninja that match a pattern: the shaders, without the program that uses them.
def ninja(folder, pattern):
    return (f"ninja -C {folder} -k 0 -j 2 $(ninja -C {folder} -t targets all | sed -nE 's/: CUSTOM_COMMAND.*//p' | "
            f"grep -v '^/' | grep -E '{pattern}')")


PROJECTS = {
    "ggml": Project(
        "github.com/ggml-org/ggml", "d99724f2b141", "ML runtime", "CMake, C++", ("glslc",),
        ("cmake -S . -B b -G Ninja -DGGML_VULKAN=ON -DGGML_CCACHE=OFF -DGGML_BUILD_TESTS=OFF -DGGML_BUILD_EXAMPLES=OFF",
         ninja("b", r"comp\.cpp$|shaders\.hpp$")),
        r"supported by glslc"),
    "uVkCompute": Project(
        "github.com/google/uVkCompute", "d1a01d49f39d", "ML benchmarks", "CMake, Python", ("glslc",),
        ("cmake -S . -B b -G Ninja", ninja("b", r"\.(spv|inc|h)$"))),
    "xenia-canary": Project(
        "github.com/xenia-canary/xenia-canary", "71b8c2357e56", "emulator", "Python", ("glslangValidator", "spirv-opt"),
        ("python3 xenia-build buildshaders --target=spirv",)),
    "Vulkan-ValidationLayers": Project(
        "github.com/KhronosGroup/Vulkan-ValidationLayers", "73c5cbe4d2d9", "layer", "Python", ("glslangValidator",),
        ("python3 scripts/generate_spirv.py --glslang $TOOLS/glslangValidator",)),
    "Vulkan": Project(
        "github.com/SaschaWillems/Vulkan", "9c8e787f96af", "samples", "Python", ("glslangValidator",),
        ("cd shaders/glsl && python3 compileshaders.py",)),
    "vkQuake": Project(
        "github.com/Novum/vkQuake", "46e5e6dd5e47", "engine", "make", ("glslangValidator", "spirv-opt"),
        ("cd Quake && make -n -B vkquake 2>/dev/null | grep -oE '[^ ]+Compiled/[^ ]+\\.spv' | sort -u | xargs make -k -j 2",)),
    "OpenGothic": Project(
        "github.com/Try/OpenGothic", "d9b2b5aa4983", "engine", "CMake", ("glslangValidator",),
        ("mkdir b && ln -s ../shader b/shader && printf 'cmake_minimum_required(VERSION 3.12)\\nproject(s)\\nadd_subdirectory(shader)\\n' > b/CMakeLists.txt",
         "cmake -S b -B b/b -G Ninja", ninja("b/b", r"sprv$"))),
    "vkBasalt": Project(
        "github.com/DadSchoorse/vkBasalt", "4f97f09ffe91", "layer", "Meson", ("glslangValidator",),
        ("meson setup b", ninja("b", r"(frag|vert)\.h$"))),
    "wlroots": Project(
        "github.com/swaywm/wlroots", "0855cdacb2ee", "compositor", "Meson", ("glslangValidator",),
        ("meson setup b -Drenderers=vulkan -Dexamples=false -Dxwayland=disabled", ninja("b", r"(frag|vert)\.h$"))),
    "Vulkan-Tools": Project(
        "github.com/KhronosGroup/Vulkan-Tools", "2e5260d44c66", "samples", "CMake", ("glslangValidator",),
        ("cmake -S . -B b -G Ninja -DBUILD_ICD=OFF -DBUILD_VULKANINFO=OFF", ninja("b", r"(frag|vert)\.inc$"))),
    "littleVulkanEngine": Project(
        "github.com/blurrypiano/littleVulkanEngine", "1af74f2091d1", "engine", "CMake", ("glslangValidator",),
        ("cmake -S . -B b -G Ninja", "ninja -C b Shaders")),
    "VulkanTutorial": Project(
        "github.com/Overv/VulkanTutorial", "cef189c2ef5e", "samples", "CMake", ("glslangValidator",),
        ("cmake -S code -B b -G Ninja", ninja("b", r"\.spv$"))),
    "ref_vk": Project(
        "github.com/yquake2/ref_vk", "dcca9c3383f4", "engine", "shell", ("glslangValidator",),
        ("cd shaders && sh shaders.sh",)),
    "imgui": Project(
        "github.com/ocornut/imgui", "46d39d56febc", "user interface", "shell", ("glslangValidator",),
        ("cd backends/vulkan && bash generate_spv.sh",)),
}


# ---- modules -----------------------------------------------------------------------------------------------------------------


def modules_in_text(text):
    """Yields the modules that a header or source of C contains as words or bytes."""
    for numbers in re.findall(r"(?:(?:0[xX][0-9a-fA-F]+|\d+)[uU]?\s*,\s*){20,}(?:0[xX][0-9a-fA-F]+|\d+)?", text):
        values = [int(number, 0) for number in re.findall(r"0[xX][0-9a-fA-F]+|\d+", numbers)]
        if values[0] == MAGIC:
            yield array.array("I", values).tobytes()
        elif values[:4] == [3, 2, 0x23, 7]:
            yield bytes(values)


def modules_of(folder, since):
    """Returns {file, or file#N: module} of the files that were written, without those that another file contains as well."""
    result, seen = {}, set()
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink() and path.stat().st_mtime >= since]
    for path in sorted(files, key=lambda path: (path.suffix not in (".spv", ".sprv"), path)):
        data = path.read_bytes()
        if data[:4] == MAGIC.to_bytes(4, sys.byteorder):
            found = [data]
        elif path.suffix in (".h", ".hpp", ".c", ".cpp", ".inc", ".u32"):
            found = list(modules_in_text(data.decode(errors="replace")))
        else:
            continue
        for number, module in enumerate(found):
            digest = hashlib.sha256(module).digest()
            if digest not in seen:
                result[f"{path.relative_to(folder)}" + (f"#{number}" if len(found) > 1 else "")] = module
                seen.add(digest)
    return result


def instructions_of(module):
    """Yields (op, words) of each instruction."""
    words, at = array.array("I", module), 5
    while at < len(words) and words[at] >> 16:
        yield words[at] & 0xFFFF, words[at:at + (words[at] >> 16)]
        at += words[at] >> 16


def is_compute(module):
    return any(op == 15 and words[1] == COMPUTE for op, words in instructions_of(module))


# ---- a build -----------------------------------------------------------------------------------------------------------------


def make_tools(folder, project, build, bin_folder):
    """Fills a folder with the tools of an SDK: links to this machine's, and to vyre-passmgr for those that vyre replaces."""
    tools = folder / "sdk" / "bin"
    tools.mkdir(parents=True)
    for name in ("glslc", "glslangValidator", "spirv-as", "spirv-dis", "spirv-opt", "spirv-remap", "spirv-val"):
        original = shutil.which(name)
        if original is None:
            sys.exit(f"public-builds.py: {name} is missing\nFix: install glslc, glslang-tools and spirv-tools")
        (tools / name).symlink_to(bin_folder / "vyre-passmgr" if build != "original" and name in project.tools else original)
    return tools


def run_build(options, name, project, build):
    """Returns what a build wrote, and its cost."""
    with tempfile.TemporaryDirectory(prefix=f"public-builds-{name}-", dir=options.work) as folder:
        folder = pathlib.Path(folder)
        tools = make_tools(folder, project, build, options.bin)
        shutil.copytree(options.folder / name, folder / "sources", symlinks=True, ignore=shutil.ignore_patterns(".git"))
        for other in re.findall(r"\$PWD/\.\./([\w-]+)", " ".join(project.commands)):
            (folder / other).symlink_to(options.folder / other)
        environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", TOOLS=str(tools), VULKAN_SDK=str(tools.parent), LC_ALL="C")
        environment.pop("VYRE_OPT", None)
        if build == "O2":
            environment["VYRE_OPT"] = "O2"
        since, before, log, codes = time.time(), resource.getrusage(resource.RUSAGE_CHILDREN), "", []
        wall = 0.0
        for number, command in enumerate(project.commands):
            if number == len(project.commands) - 1:  # only the shaders are timed
                before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            done = subprocess.run(command, shell=True, executable="/bin/bash", cwd=folder / "sources", env=environment, check=False, errors="replace",
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=options.seconds)
            log += done.stdout
            codes.append(done.returncode)
        wall, after = time.monotonic() - wall, resource.getrusage(resource.RUSAGE_CHILDREN)
        (options.work / f"{name}.{build}.log").write_text(log)
        probes = [line.replace(str(folder), "") for line in log.splitlines() if project.probes and re.search(project.probes, line)]
        return {"codes": codes, "wall": wall, "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, "probes": probes,
                "modules": modules_of(folder / "sources", since)}


def is_valid(options, module):
    path = options.work / "module.spv"
    path.write_bytes(module)
    return subprocess.run(["spirv-val", path], capture_output=True, check=False).returncode == 0


def smallest(options, module):
    """Returns the bytes of a module after `spirv-opt -Os` and after `vyre-passmgr -Os`, or None if one of them fails."""
    path, sizes = options.work / "module.spv", []
    path.write_bytes(module)
    for program in ("spirv-opt", options.bin / "vyre-passmgr"):
        out = options.work / "smallest.spv"
        if subprocess.run([program, "-Os", path, "-o", out], capture_output=True, check=False).returncode != 0:
            return None
        sizes.append(out.stat().st_size)
    return sizes


def drivers():
    """Returns bench/bench-drivers as a module."""
    loader = importlib.machinery.SourceFileLoader("bench_drivers", str(ROOT / "bench" / "bench-drivers"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def driver_sums(options, pairs):
    """Returns the sums of the driver's figures over pairs of modules that the driver compiles: ({figure: sum}, {figure: sum}, pairs)."""
    bench = drivers()
    sums, count = ({}, {}), 0
    environment = dict(os.environ, VK_ICD_FILENAMES=bench.ICD, VK_DRIVER_FILES=bench.ICD, RADV_FORCE_FAMILY=options.family)
    for pair in pairs:
        figures = []
        with contextlib.suppress(bench.Failed):
            for module in pair:
                path = options.work / "module.spv"
                path.write_bytes(module)
                figures.append(bench.driver_figures(options, environment, path)[0])
        if len(figures) == 2:
            count += 1
            for total, of in zip(sums, figures):
                for name, value in of.items():
                    total[name] = total.get(name, 0) + value
    return (*sums, count)


# ---- a project ---------------------------------------------------------------------------------------------------------------


def measure(options, name, project):
    builds = {build: run_build(options, name, project, build) for build in BUILDS}
    row = {"project": name, "kind": project.kind, "system": project.system, "tools": project.tools, "builds": {}}
    for build, result in builds.items():
        modules = result.pop("modules")
        row["builds"][build] = {**result, "modules": len(modules), "bytes": sum(map(len, modules.values())),
                                "instructions": sum(1 for module in modules.values() for _ in instructions_of(module)),
                                "invalid": sorted(file for file, module in modules.items() if not is_valid(options, module))}
        builds[build] = modules
    original, vyre, optimized = (builds[build] for build in BUILDS)
    row["missing"] = sorted(original.keys() - vyre.keys()) + sorted(original.keys() - optimized.keys())
    row["same bytes"] = sum(vyre.get(file) == module for file, module in original.items())
    compute = [file for file, module in original.items() if is_compute(module) and file in optimized]
    row["compute"] = len(compute)
    row["unchanged"] = [file for file in compute if optimized[file] == original[file]]
    sizes = [size for size in (smallest(options, original[file]) for file in compute) if size]
    row["Os"] = {"modules": len(sizes), "spirv-opt": sum(size[0] for size in sizes), "vyre": sum(size[1] for size in sizes)}
    if not options.no_driver:
        row["driver"] = driver_sums(options, [(original[file], optimized[file]) for file in compute if optimized[file] != original[file]])
    return row


def change(row, key):
    before, after = (row["builds"][build][key] for build in ("original", "O2"))
    return f"{100 * (after / max(1, before) - 1):+.1f} %"


def print_builds(rows):
    print("| project | build | tools that vyre replaces | modules | same bytes | invalid: original, O2 | probes |\n"
          "| --- | --- | --- | ---: | ---: | ---: | --- |")
    for row in rows:
        original, vyre, optimized = (row["builds"][build] for build in BUILDS)
        counts = [build["modules"] for build in (original, vyre, optimized)]
        modules = str(counts[0]) if len(set(counts)) == 1 else ", ".join(map(str, counts))
        probes = "" if not original["probes"] else f"{len(original['probes'])} equal" if original["probes"] == vyre["probes"] else "differ"
        print(f"| {row['project']} ({row['kind']}) | {row['system']} | {', '.join(row['tools'])} | {modules} | {row['same bytes']} | "
              f"{len(original['invalid'])}, {len(optimized['invalid'])} | {probes} |")


def print_effects(rows):
    print("\n| project | wall s: original, vyre, O2 | processor s | compute: changed, all | bytes | instructions | driver |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in rows:
        seconds = [", ".join(f"{row['builds'][build][key]:.1f}" for build in BUILDS) for key in ("wall", "cpu")]
        driver = ""
        if row.get("driver") and row["driver"][2]:
            before, after, count = row["driver"]
            driver = f"{100 * (after['Instructions'] / before['Instructions'] - 1):+.1f} % of {count}"
        print(f"| {row['project']} | {seconds[0]} | {seconds[1]} | {row['compute'] - len(row['unchanged'])}, {row['compute']} | "
              f"{change(row, 'bytes')} | {change(row, 'instructions')} | {driver} |")


def print_sums(rows):
    compute, unchanged = sum(row["compute"] for row in rows), sum(len(row["unchanged"]) for row in rows)
    print(f"\nO2 changed {compute - unchanged} of {compute} compute modules.")
    modules, theirs, ours = (sum(row["Os"][key] for row in rows) for key in ("modules", "spirv-opt", "vyre"))
    print(f"-Os: {modules} compute modules, {theirs} bytes by spirv-opt, {ours} bytes by vyre.")


def main():
    parser = argparse.ArgumentParser(prog="public-builds.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("projects", nargs="*", metavar="PROJECT", help="all that are in FOLDER, if none is named")
    parser.add_argument("-l", "--list", action="store_true", help="print the projects, their sources and their tools")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin", help="folder of vyre-passmgr and vyre-run (build/bin)")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()), help="folder for copies, and for the log of each build")
    parser.add_argument("--seconds", type=int, default=3600, help="time limit of a command")
    parser.add_argument("--family", default="navi21", help="AMD's card family for the driver's figures (navi21)")
    parser.add_argument("--no-driver", action="store_true", help="leave out the driver's figures")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all results to FILE")
    options = parser.parse_args()
    if options.list:
        for name, project in PROJECTS.items():
            print(f"{name:24} {project.kind:16} {project.system:18} {', '.join(project.tools):30} {project.address} {project.commit}")
        return 0
    if options.folder is None:
        parser.error("no FOLDER\nFix: name a folder of checkouts, or list the projects with -l")
    names = options.projects or [name for name in PROJECTS if (options.folder / name).is_dir()]
    for name in names:
        if name not in PROJECTS or not (options.folder / name).is_dir():
            parser.error(f"no project '{name}' in {options.folder}\nFix: check out one of those that -l lists, under its name")
    options.folder, options.bin = options.folder.resolve(), options.bin.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows.append(measure(options, name, PROJECTS[name]))
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1))
    print_builds(rows)
    print_effects(rows)
    print_sums(rows)
    failed = [row["project"] for row in rows if row["missing"] or len(row["builds"]["O2"]["invalid"]) > len(row["builds"]["original"]["invalid"])]
    for name in failed:
        print(f"error: {name}: a module is missing or invalid", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
