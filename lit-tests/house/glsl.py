# SPDX-License-Identifier: Apache-2.0
"""A server of GLSL for the tests of a run: languages/glslang.h."""
import atexit
import os
import shutil
import subprocess
import tempfile
import time

servers = []  # their standard input is open as long as this process runs


def start_server(program):
    """Starts a server that ends with this process, and returns the path of its socket; None if it does not start."""
    folder = tempfile.mkdtemp(prefix="vyre-glsl-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, "socket")
    try:
        servers.append(subprocess.Popen([program, "-listen", path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    except OSError:
        return None
    while not os.path.exists(path):
        if servers[-1].poll() is not None:
            return None
        time.sleep(0.01)
    return path
