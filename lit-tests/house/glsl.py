# SPDX-License-Identifier: Apache-2.0
"""Starts a GLSL server for the tests of a run: languages/glslang.h."""
import atexit
import os
import shutil
import subprocess
import tempfile
import time

START_SECONDS = 300
servers = []  # their standard input is open as long as this process runs


def start_server(program):
    """Starts a server that ends with this process. Returns the path of its socket, or None if no server starts within START_SECONDS."""
    folder = tempfile.mkdtemp(prefix="vyre-glsl-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, "socket")
    try:
        servers.append(subprocess.Popen([program, "-listen", path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    except OSError:
        return None
    deadline = time.monotonic() + START_SECONDS
    while not os.path.exists(path):
        if servers[-1].poll() is not None or time.monotonic() > deadline:
            servers[-1].kill()
            return None
        time.sleep(0.01)
    return path
