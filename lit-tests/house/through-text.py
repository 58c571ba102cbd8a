# SPDX-License-Identifier: Apache-2.0
# through-text.py BIN PIPELINE FOLDER...: a pipeline makes the same of a program and of its printed text, for each program of the
# folders that vyre-passmgr reads.  Prints how many it compared, and what differs.
import concurrent.futures
import os
import subprocess
import sys

bin_folder, pipeline, folders = sys.argv[1], sys.argv[2], sys.argv[3:]


def passmgr(path, passes, text=None):
    """What -emit=vir writes, or None where the program or the pipeline is refused."""
    command = [os.path.join(bin_folder, "vyre-passmgr"), path, "-emit=vir", "-passes=" + passes]
    include = os.path.join(os.path.dirname(path), "include") if path != "-" else None
    if include and os.path.isdir(include):
        command += ["-I", include]
    done = subprocess.run(command, input=text, capture_output=True, timeout=100)
    return done.stdout if done.returncode == 0 else None


def compare(path):
    text = passmgr(path, "no-op")
    if text is None:
        return None
    return passmgr(path, pipeline) == passmgr("-", pipeline, text)


paths = []
for folder in folders:
    for root, _, names in os.walk(folder):
        paths += [os.path.join(root, name) for name in sorted(names) if name.endswith((".vir", ".comp"))]
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    results = list(zip(paths, pool.map(compare, paths)))
for path, same in results:
    if same is False:
        print("differs:", path)
print(sum(same is not None for _, same in results), "compared,", sum(same is False for _, same in results), "differ")
