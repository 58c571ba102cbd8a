# SPDX-License-Identifier: Apache-2.0
# through-text.py BIN SCRATCH FOLDER... -- PIPELINE...: checks that each pipeline has the same result from a program and from its
# printed text, for all programs of the folders that vyre-passmgr reads.  Prints the number of comparisons and the differences for
# each pipeline.
import os
import subprocess
import sys

program, scratch = os.path.join(sys.argv[1], "vyre-passmgr"), sys.argv[2]
folders, pipelines = sys.argv[3 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]


def optimize(paths, pipeline, out):
    """Returns the output texts by path in `out`; refused inputs have none.  One run does all inputs, because a run costs more than most
    programs."""
    includes = {os.path.join(os.path.dirname(path), "include") for path in paths}
    options = [option for folder in sorted(includes) if os.path.isdir(folder) for option in ("-I", folder)]
    command = [program, "-j", "2", "-emit=vir", "-passes=" + pipeline, "-outdir", out, *options]
    done = subprocess.run(command + paths, capture_output=True, timeout=600)
    if done.returncode not in (0, 1):
        sys.exit(f"{pipeline}: exit code {done.returncode}\n{done.stderr.decode()}")
    return {os.path.relpath(os.path.join(root, name), out): open(os.path.join(root, name), "rb").read()
            for root, _, names in os.walk(out) for name in names}


def with_ending(folder, ending):
    return sorted(os.path.join(root, name) for root, _, names in os.walk(folder) for name in names if name.endswith(ending))


for ending in (".vir", ".comp"):
    inputs = [path for folder in folders for path in with_ending(folder, ending)]
    texts = os.path.join(scratch, "text" + ending)
    optimize(inputs, "no-op", texts)
    for number, pipeline in enumerate(pipelines):
        of_program = optimize(inputs, pipeline, f"{scratch}/{number}-program{ending}")
        of_text = optimize(with_ending(texts, ".vir"), pipeline, f"{scratch}/{number}-text{ending}")
        differ = [path for path in of_program if of_text.get(path) != of_program[path]]
        for path in differ:
            print("differs:", path, pipeline)
        print(len(of_program), ending, "compared,", len(differ), "differ:", pipeline)
