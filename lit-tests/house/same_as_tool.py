#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the personality of spirv-opt and spirv-opt itself write the same bytes for each flag that SPIRV-Tools executes, and end alike.
SPIRV-Tools executes the flags of vyre's passes for graphics shaders, too.

The modules are example shaders compiled for several environments, these after spirv-opt, and the assembly of tests.  With VYRE_SHARE=1 each
flag runs on all modules, otherwise every eighth flag on one.

usage: same_as_tool.py SOURCE BUILD SCRATCH
"""
import concurrent.futures
import itertools
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
import docs  # of this folder

VALUES = {"--convert-to-sampled-image": "0:0", "--set-spec-const-default-value": "0:3 1:5", "--scalar-replacement": "20", "--reduce-load-size": "0.5",
          "--loop-fission": "20", "--loop-fusion": "5", "--loop-peeling-threshold": "30", "--loop-unroll-partial": "2", "--max-id-bound": "5000000",
          "--target-env": "vulkan1.1"}
SHADERS = {"color.frag": "#version 450\nlayout(location = 0) in vec4 a; layout(location = 0) out vec4 c; layout(binding = 0) uniform sampler2D s[2];\n"
                         "layout(constant_id = 1) const int n = 2;\nvoid main() { for (int i = 0; i < n; i++) c += texture(s[1], a.xy) * a; if (c.x < 0.0) discard; }\n",
           "place.vert": "#version 450\nlayout(location = 0) in vec3 p[2]; vec3 both() { return p[0] + 0.0 * p[1]; }\nvoid main() { gl_Position = vec4(both(), 1.0); }\n"}


def run(*command):
    return subprocess.run(command, capture_output=True)


def modules(source, scratch, all_of_them):
    """Returns the paths of valid modules: all of them, or those of every fourth source."""
    texts, step = [], 1 if all_of_them else 4
    for name, text in SHADERS.items():
        (scratch / name).write_text(text)
    for path in [*(scratch / name for name in SHADERS), *sorted((source / "examples/shaders").glob("*.comp"))][::step]:
        for env in ("vulkan1.0", "vulkan1.2", "vulkan1.3") if all_of_them else ("vulkan1.1",):
            texts.append(scratch / f"{path.name}-{env}.spv")
            run("glslangValidator", "-V", "-g", "--target-env", env, path, "-o", texts[-1])
    for number, path in enumerate(sorted((source / "lit-tests").rglob("*.spvasm"))[::step]):
        texts.append(scratch / f"assembled-{number}.spv")
        run("spirv-as", path, "-o", texts[-1])
    for path, flag in itertools.product(list(texts), ("-O", "-Os", "--inline-entry-points-exhaustive", "--ssa-rewrite") if all_of_them else ()):
        texts.append(path.parent / (path.stem + flag + ".spv"))
        run("spirv-opt", flag, path, "-o", texts[-1])
    return [path for path in texts if path.exists() and run("spirv-val", "--target-env", "spv1.6", path).returncode == 0]


def compare(number, flag, path, build, scratch):
    """Returns the differences of one run, with outputs that are named after its number."""
    ours, theirs = scratch / f"ours-{number}.spv", scratch / f"theirs-{number}.spv"
    arguments = [f"{flag}={VALUES[flag]}" if flag in VALUES else flag]
    for output in (ours, theirs):
        output.unlink(missing_ok=True)
    wanted = run("spirv-opt", *arguments, path, "-o", theirs)
    done = run(build / "lib/vyre/compat/spirv-opt", *arguments, path, "-o", ours)
    where = f"{arguments[0]} {path.name}"
    # spirv-opt writes a file also if it fails, and returns the code of a signal if it crashes.  vyre refuses an invalid result.
    is_refused = done.returncode == 1 and theirs.exists() and run("spirv-val", "--target-env", "spv1.6", theirs).returncode != 0
    if (wanted.returncode == 0) != (done.returncode == 0) and not is_refused:
        return f"{where}: exit code {done.returncode}, spirv-opt has {wanted.returncode}: {done.stderr.decode()}"
    if done.returncode == 0 and ours.read_bytes() != theirs.read_bytes():
        return f"{where}: other bytes than those of spirv-opt"
    if done.returncode != 0 and ours.exists():
        return f"{where}: an output of a failed run"
    for output in (ours, theirs):
        output.unlink(missing_ok=True)
    return None


def main(source, build, scratch):
    scratch.mkdir(parents=True, exist_ok=True)
    is_all = os.environ.get("VYRE_SHARE") == "1"
    paths = modules(source, scratch, is_all)
    table = docs.rows_of((source / "cli/personality/spirv_opt.def").read_text())
    rows = [row for row in table if row[4] in ("add_tools_pass", "add_size_pass", "add_count_pass", "add_setting")]
    names = [row[0] for row in rows]
    pairs = list(itertools.product(names, paths)) if is_all else [(flag, paths[number % len(paths)]) for number, flag in enumerate(names[::8])]
    graphics = [path for path in paths if path.name.startswith(tuple(SHADERS))]
    replaced = [row[0] for row in table if row[4] == "add_replaced_pass"]
    pairs += itertools.product(replaced if is_all else replaced[:1], graphics)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda job: compare(job[0], *job[1], build, scratch), enumerate(pairs))
    errors = [result for result in results if result]
    print("\n".join([*errors, f"{len(rows)} flags, {len(paths)} modules, {len(pairs)} runs, {len(errors)} errors"]))
    return 1 if errors or len(rows) < 50 or (is_all and len(paths) < 100) else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])))
