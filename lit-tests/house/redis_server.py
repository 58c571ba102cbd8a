# SPDX-License-Identifier: Apache-2.0
"""A redis-server on a free port of 127.0.0.1, and programs of vyre with its queue, for tests."""
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_until(is_true, what, seconds=600):
    """Waits for a condition.  The limit ends a test that hangs."""
    end = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > end:
            sys.exit(f"nothing happened for {seconds} s: {what}")
        time.sleep(0.01)


class Server:
    def __init__(self, folder, *options, name="q", preexec=None):
        for program, package in (("redis-server", "redis-server"), ("redis-cli", "redis-tools")):
            if not shutil.which(program):
                sys.exit(f"{program} is missing\nFix: install the package {package} (scripts/install-packages.sh tests)")
        self.folder, self.options, self.port, self.preexec = pathlib.Path(folder), options, free_port(), preexec
        self.folder.mkdir(parents=True, exist_ok=True)
        self.place = f"redis://127.0.0.1:{self.port}/{name}"
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder, "--save", "",
                                         "--appendonly", "yes", "--logfile", self.folder / "redis.log", *self.options], preexec_fn=self.preexec)
        wait_until(self.answers, "redis-server does not start")

    def answers(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as s:
                s.sendall(b"PING\r\n")
                return s.recv(100)[:5] in (b"+PONG", b"-NOAU")
        except OSError:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()

    def restart(self):
        self.kill()
        self.start()

    def cli(self, *command):
        return subprocess.run(["redis-cli", "-p", str(self.port), *command], capture_output=True, text=True, check=True).stdout.strip()

    def processor_seconds(self):
        """Returns the processor time of the server, and of its processes that rewrite its file."""
        fields = dict(line.split(":", 1) for line in self.cli("INFO", "cpu").splitlines() if ":" in line)
        return sum(float(fields[f"used_cpu_{name}"]) for name in ("sys", "user", "sys_children", "user_children"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


class Queue:
    """The programs of vyre with one queue."""

    def __init__(self, programs, server):
        self.programs, self.server = pathlib.Path(programs), server

    def run(self, *command, code=0, **options):
        """Runs vyre-queue with the place after the command, and returns its output."""
        done = subprocess.run([self.programs / "vyre-queue", command[0], self.server.place, *map(str, command[1:])], capture_output=True, text=True,
                              **options)
        if done.returncode != code:
            sys.exit(f"vyre-queue {' '.join(map(str, command))}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def status(self):
        return json.loads(self.run("status", "-format=json"))

    def worker_command(self, *options):
        return [str(self.programs / "vyre-passmgr"), f"-queue={self.server.place}", *options]

    def start_worker(self, *options, **more):
        return subprocess.Popen(self.worker_command(*options), **more)

    def work(self, *options, code=0):
        done = subprocess.run(self.worker_command(*options), capture_output=True, text=True)
        if done.returncode != code:
            sys.exit(f"worker: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr


def with_text(words, text):
    """Returns a SPIR-V module with an OpModuleProcessed before its annotations, so that modules with different texts differ."""
    code = list(struct.unpack(f"<{len(words) // 4}I", words))
    at = 5
    while code[at] & 0xffff not in (71, 72, 73, 74, 75, 332, 5632):  # OpDecorate and the like
        at += code[at] >> 16
    data = text.encode() + b"\0" * (4 - len(text) % 4)
    operands = struct.unpack(f"<{len(data) // 4}I", data)
    code[at:at] = [(len(operands) + 1) << 16 | 330, *operands]
    return struct.pack(f"<{len(code)}I", *code)


def make_modules(programs, shaders, folder, count):
    """Writes modules that all differ, made of the compute shaders of a folder.  Returns their names in it."""
    folder.mkdir(parents=True, exist_ok=True)
    sources = [path for path in sorted(pathlib.Path(shaders).glob("*.comp")) if path.stem != "sha256"]  # seconds on the interpreter
    subprocess.run([programs / "vyre-passmgr", *sources, f"-outdir={folder}/plain"], check=True)
    plain = [path.read_bytes() for path in sorted((folder / "plain").glob("*.spv"))]
    names = [f"m{i:05}.spv" for i in range(count)]
    for i, name in enumerate(names):
        (folder / name).write_bytes(with_text(plain[i % len(plain)], f"module {i}"))
    return names


def same_folders(expected, found):
    """Ends the test if the files of the folders differ."""
    names = sorted(path.name for path in expected.glob("*.spv"))
    if names != sorted(path.name for path in found.glob("*.spv")):
        sys.exit(f"{found} has other outputs than {expected}")
    for name in names:
        if (expected / name).read_bytes() != (found / name).read_bytes():
            sys.exit(f"{found / name} differs from the output of one process")
    return len(names)


def check_finished(queue, count):
    """Ends the test unless each job is done, and was acknowledged once."""
    status = queue.status()
    if any(status[key] != wanted for key, wanted in (("jobs", count), ("done", count), ("acknowledged", count), ("failed", 0), ("aside", 0),
                                                     ("waiting", 0), ("claimed", 0))):
        sys.exit(f"the queue is not finished: {status}")
    return status


def kill_hard(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


def random_of(seed):
    return random.Random(int(os.environ.get("VYRE_QUEUE_SEED", seed)))
