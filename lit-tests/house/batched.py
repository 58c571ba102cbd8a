# SPDX-License-Identifier: Apache-2.0
# batched.py BIN SPIRV-AS SCRATCH FOLDER... -- PIPELINE...: checks that all inputs of the folders, valid or not, have the same
# outputs, messages and exit code in batches as one by one.  The inputs are texts, GLSL, assembled SPIR-V, and these as VIR0 and
# SPIR-V, in every form.  With VYRE_SHARE=N, every Nth file is an input.  Prints the number of outputs and the differences for each
# pipeline.
import os
import subprocess
import sys

program, assembler, scratch = os.path.join(sys.argv[1], "vyre-passmgr"), sys.argv[2], sys.argv[3]
folders, pipelines = sys.argv[4 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]
FORMS = ("vir", "vir0", "spirv", "glsl", "c")
BATCHES = {"vir": (["-batch"], ["-batch=2"], ["-batch=7", "-j", "2"])}


def files_of(*roots):
    return sorted(os.path.join(root, name) for start in roots for root, _, names in os.walk(start) for name in names)


def run(options, paths, out):
    """Returns the messages, the exit code, and the outputs by path in `out`."""
    done = subprocess.run([program, *options, "-outdir", out, *paths], capture_output=True, timeout=600)
    return done.stderr, done.returncode, {os.path.relpath(path, out): open(path, "rb").read() for path in files_of(out)}


def assemble(paths):
    """Assembles the files and returns the modules; files with one name in two folders become two modules."""
    os.makedirs(os.path.join(scratch, "assembled"))
    for number, path in enumerate(paths):
        out = os.path.join(scratch, "assembled", f"{number}.spv")
        subprocess.run([assembler, path, "-o", out], capture_output=True)
    return files_of(os.path.join(scratch, "assembled"))


sources = [path for path in files_of(*folders) if path.endswith((".vir", ".comp", ".test"))]
sources += assemble([path for path in files_of(*folders) if path.endswith(".spvasm")])
sources = sources[:: int(os.environ.get("VYRE_SHARE", "1"))]
for form in ("vir0", "spirv"):
    run(["-emit=" + form], sources, os.path.join(scratch, "as-" + form))
    sources += files_of(os.path.join(scratch, "as-" + form))

for pipeline in pipelines:
    compared = 0
    for form in FORMS:
        options = ["-emit=" + form, "-passes=" + pipeline]
        alone = run(options, sources, os.path.join(scratch, "alone"))
        for batch in BATCHES.get(form, (["-batch"],)):
            together = run(options + batch, sources, os.path.join(scratch, "together"))
            for what, one, other in zip(("messages", "exit code", "outputs"), alone, together):
                if one != other:
                    print(f"{pipeline}: {' '.join(batch)} -emit={form}: other {what}")
            compared += len(together[2])
            subprocess.run(["rm", "-rf", os.path.join(scratch, "together")])
        subprocess.run(["rm", "-rf", os.path.join(scratch, "alone")])
    print(f"{pipeline}: {compared} outputs")
