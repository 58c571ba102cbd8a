#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the queue and the cache on a real redis-server, one case in each run.

usage: queue_test.py CASE PROGRAMS SHADERS PLUGINS FOLDER
"""
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading

from redis_server import Queue, Server, check_finished, kill_hard, make_modules, same_folders, wait_until

CASE = sys.argv[1]
PROGRAMS, SHADERS, PLUGINS, FOLDER = (pathlib.Path(text).resolve() for text in sys.argv[2:6])
PASSMGR = PROGRAMS / "vyre-passmgr"
BAD = "program @bad workgroup(1, 1, 1) {\n  store %y[0u32], 1u32\n}\n"
GOOD = "program @a workgroup(1, 1, 1) {\n  buffer %y : u32[] storage rw set(0) binding(0)\n  store %y[0u32], add(1u32, 2u32)\n}\n"


def expect(text, *parts):
    for part in parts:
        if part not in text:
            sys.exit(f"'{part}' is not in:\n{text}")


def run(*command, code=0, cwd=None):
    done = subprocess.run([PASSMGR, *map(str, command)], capture_output=True, text=True, cwd=cwd)
    if done.returncode != code:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def inputs(count):
    names = make_modules(PROGRAMS, SHADERS, FOLDER / "in", count)
    run("-O", *names, f"-outdir={FOLDER}/expected", cwd=FOLDER / "in")
    return names


def outputs():
    """The same outputs as without a queue, by several workers and in each of their modes."""
    names = inputs(60)
    here = FOLDER / "in"
    with Server(FOLDER / "redis") as server:
        queue = Queue(PROGRAMS, server)
        expect(queue.run("status", code=2), "has no queue 'q'", "Fix: submit jobs")
        expect(queue.work(code=2), "has no queue 'q'")
        for mode in ([], ["-j2"], ["-isolate", "-j2"], ["-batch"], ["-target=cpu", "-phases", "-batch=8"]):
            server.cli("FLUSHALL")
            expect(queue.run("submit", "-O", *names[:30], cwd=here), "30 jobs: 30 new, 0 known")
            expect(queue.run("submit", "-O", *names, cwd=here), "60 jobs: 30 new, 30 known")
            expect(queue.run("collect", f"-outdir={FOLDER}/early", code=1), "60 of 60 jobs are not finished")
            workers = [queue.start_worker(*mode) for _ in range(2)]
            assert [worker.wait() for worker in workers] == [0, 0]
            check_finished(queue, 60)
            shutil.rmtree(FOLDER / "out", ignore_errors=True)
            queue.run("collect", f"-outdir={FOLDER}/out", cwd=here)
            same_folders(FOLDER / "expected", FOLDER / "out")
        # the same jobs with other options: outputs by their options, and one input
        queue.run("submit", "-O1", "-emit=vir", names[0], cwd=here)
        queue.work()
        expect(queue.run("collect", f"-outdir={FOLDER}/mixed", code=2, cwd=here), "several settings")
        queue.run("collect", "-O1", "-emit=vir", "-o", FOLDER / "one.vir", names[0], cwd=here)
        run("-O1", "-emit=vir", names[0], "-o", FOLDER / "one.expected", cwd=here)
        assert (FOLDER / "one.vir").read_text() == (FOLDER / "one.expected").read_text()
        expect(queue.run("collect", "-O3", f"-outdir={FOLDER}/none", code=2), "no job with these options")


def archive():
    """An archive goes in, and comes back with its keys."""
    make = (pathlib.Path(__file__).parents[1] / "Tool/foz.test").read_text().split("#--- archive.py\n")[1].split("\n#--- ")[0]
    (FOLDER / "archive.py").write_text(make)
    (FOLDER / "spv").mkdir()
    for key, name in (("00000000000000aa", "saxpy"), ("00000000000000bb", "blur")):
        run(SHADERS / f"{name}.comp", "-o", FOLDER / f"spv/{key}.spv")
    for key in ("cc", "dd", "ee"):
        shutil.copy(FOLDER / "spv/00000000000000aa.spv", FOLDER / f"spv/00000000000000{key}.spv")
    subprocess.run([sys.executable, "archive.py", "make", "a.foz", "spv"], cwd=FOLDER, check=True)
    run("-O", "a.foz", "-o", "expected.foz", cwd=FOLDER)
    with Server(FOLDER / "redis") as server:
        queue = Queue(PROGRAMS, server)
        queue.run("submit", "-O", "a.foz", cwd=FOLDER)
        queue.work()
        queue.run("collect", "-o", "found.foz", cwd=FOLDER)
        assert (FOLDER / "expected.foz").read_bytes() == (FOLDER / "found.foz").read_bytes()
        expect(queue.run("collect", "-o", "found.foz", "a.foz/00000000000000aa", cwd=FOLDER), "")


def failures():
    """Failed jobs have their messages, and other jobs are not affected."""
    (FOLDER / "bad.vir").write_text(BAD)
    (FOLDER / "good.vir").write_text(GOOD)
    (FOLDER / "has.comp").write_text('#version 450\n#include "x.glsl"\nvoid main() {}\n')
    with Server(FOLDER / "redis") as server:
        queue = Queue(PROGRAMS, server)
        expect(queue.run("submit", "-O", "bad.vir", "good.vir", "nowhere.vir", "has.comp", code=1, cwd=FOLDER), "2 jobs: 2 new",
               "cannot read 'nowhere.vir'", "'has.comp' includes files", "Fix: compile it to SPIR-V first")
        for options, message in ((["-O", "-passes=dce"], "both give the pipeline"), (["-passes=nothing"], "unknown pass 'nothing'"),
                                 (["-O", "-cost-model=x"], "a job cannot have the option '-cost-model"), (["-O", "-outdir=x"], "writes no output"),
                                 (["-O", "-plugin-dir=."], "-plugin-dir does not describe jobs"), (["-nonsense"], "unknown option '-nonsense'")):
            expect(queue.run("submit", *options, "good.vir", code=2, cwd=FOLDER), message, "Fix:")
        expect(queue.run("submit", "-O", "-", code=1), "standard input has no name")
        expect(queue.run("submit", "-O", code=2), "no input")
        queue.work()
        status = queue.status()
        assert (status["done"], status["failed"], len(status["failures"])) == (1, 1, 1), status
        assert status["failures"][0]["name"] == "bad.vir" and "bad.vir:2:9: error" in status["failures"][0]["message"], status
        expect(queue.run("status"), "1  failed", "bad.vir: failed: error: ")
        expect(queue.run("collect", "-outdir=out", code=1, cwd=FOLDER), "the job 'bad.vir' failed:\n", "bad.vir:2:9: error")
        assert sorted(os.listdir(FOLDER / "out")) == ["good.vir"]
        expect(queue.run("collect", code=2), "no place for the outputs")
        expect(queue.run("submit", "-O", "bad.vir", cwd=FOLDER), "0 new")
        expect(queue.run("submit", "-retry", "-O", "bad.vir", "good.vir", cwd=FOLDER), "2 jobs: 1 new")
        assert queue.status()["failed"] == 0
        # a job with an option that a worker refuses
        job = server.cli("HKEYS", "vyre:{q}:all").splitlines()[0]
        settings = server.cli("HGET", "vyre:{q}:all", job).split()[0]
        server.cli("SET", f"vyre:{{q}}:settings:{settings}", "-reproducer=/tmp/x\n-passes=dce\n")
        queue.work()
        expect(queue.run("status", "-format=json"), "a job must not have the option '-reproducer=/tmp/x'")
        # an output that is damaged on the server is made again
        server.cli("FLUSHALL")
        queue.run("submit", "-O", "good.vir", cwd=FOLDER)
        queue.work()
        server.cli("SETRANGE", server.cli("KEYS", "vyre:{q}:output:*"), "100", "x")
        expect(queue.run("collect", "-outdir=out2", code=1, cwd=FOLDER), "is damaged, and was removed")
        expect(queue.run("submit", "-O", "good.vir", cwd=FOLDER), "1 new")
        queue.work()
        queue.run("collect", "-outdir=out2", cwd=FOLDER)
        assert (FOLDER / "out2/good.vir").read_text() == (FOLDER / "out/good.vir").read_text()
        # cancelled jobs do not run, and results stay
        (FOLDER / "more.vir").write_text(GOOD)
        queue.run("submit", "-O", "more.vir", cwd=FOLDER)
        expect(queue.run("cancel"), "1 job cancelled")
        queue.work()
        assert queue.status()["jobs"] == queue.status()["done"] == 1
        expect(queue.run("cancel", "-all"), "and the queue removed")
        assert server.cli("KEYS", "vyre:*") == ""


def twice():
    """A worker that stops for longer than its lease: another worker processes its jobs, too.  Each job is acknowledged once."""
    names = inputs(40)
    with Server(FOLDER / "redis") as server:
        queue = Queue(PROGRAMS, server)
        queue.run("submit", "-O", "-tv=1", *names, cwd=FOLDER / "in")
        stopped = queue.start_worker("-queue-lease=1", start_new_session=True)
        wait_until(lambda: queue.status()["claimed"] > 0, "no job is claimed")
        os.killpg(stopped.pid, signal.SIGSTOP)  # with the process that renews its leases
        queue.work("-queue-lease=1")
        assert queue.status()["done"] == 40
        os.killpg(stopped.pid, signal.SIGCONT)
        assert stopped.wait() == 0
        check_finished(queue, 40)
        queue.run("collect", f"-outdir={FOLDER}/out", cwd=FOLDER / "in")
        same_folders(FOLDER / "expected", FOLDER / "out")


def poison():
    """A job that crashes every worker is set aside after three tries, and workers accept plugins by their checksums only."""
    plugin = PLUGINS / "quits.so"
    sha = hashlib.sha256(plugin.read_bytes()).hexdigest()
    names = inputs(20)
    here = FOLDER / "in"
    (here / "a.vir").write_text(GOOD)
    accept = ["-queue-lease=1", f"-queue-plugin={sha}", f"-cache-dir={FOLDER}/cache"]
    with Server(FOLDER / "redis") as server:
        queue = Queue(PROGRAMS, server)
        queue.run("submit", f"-load={plugin}", "-passes=canon,quits.null", "a.vir", cwd=here)
        queue.work("-queue-lease=1")
        expect(queue.run("status"), "a.vir: failed: error: the job needs the plugin 'quits.so', which the worker does not accept")
        queue.run("submit", "-retry", f"-load={plugin}", "-passes=canon,quits.null", "a.vir", cwd=here)
        queue.run("submit", "-O", *names, cwd=here)
        lost = queue.start_worker(*accept, stderr=subprocess.PIPE)
        assert lost.wait() != 0, "the first worker crashes"
        queue.work(*accept)
        status = queue.status()
        assert (status["done"], status["aside"], status["acknowledged"]) == (20, 1, 22), status
        failure = status["failures"][0]
        assert failure["tries"] == 3 and "in pass 'quits.null'" in failure["message"], status
        queue.run("collect", "-O", f"-outdir={FOLDER}/out", cwd=here)
        same_folders(FOLDER / "expected", FOLDER / "out")
        said = queue.run("collect", f"-load={plugin}", "-passes=canon,quits.null", f"-outdir={FOLDER}/none", f"-reproducers={FOLDER}/reproducers",
                         code=2, cwd=here)
        expect(said, "the job 'a.vir' was set aside", "vyre-queue: reproducer of 'a.vir'")
        reproducer = FOLDER / "reproducers" / os.listdir(FOLDER / "reproducers")[0]
        expect(run("-trust-reproducer", f"-run-reproducer={reproducer}", code=2), "in pass 'quits.null'")
        # with -isolate no worker is lost; a job that takes too long, or too much memory
        for passes, options, message in (("quits.null", ["-isolate"], "signal 11"), ("quits.hang", ["-isolate-seconds=1"], "took longer than 1 s")):
            server.cli("FLUSHALL")
            queue.run("submit", f"-load={plugin}", f"-passes={passes}", "a.vir", cwd=here)
            queue.work(*accept, *options)
            status = queue.status()
            assert status["aside"] == 1 and message in status["failures"][0]["message"], status
        # a plugin that the server changed is refused
        server.cli("FLUSHALL")
        shutil.rmtree(FOLDER / "cache")
        queue.run("submit", f"-load={plugin}", "-passes=canon", "a.vir", cwd=here)
        server.cli("SETRANGE", f"vyre:{{q}}:plugin:{sha}", "5000", "x")
        queue.work(*accept)
        expect(queue.run("status"), "the queue has no plugin with the SHA-256")


def cache():
    """-output-cache on a server, alone and behind a folder."""
    names = inputs(20)
    here = FOLDER / "in"

    def hits(*options):
        shutil.rmtree(FOLDER / "out", ignore_errors=True)
        said = run("-O", *names, f"-outdir={FOLDER}/out", "-time-passes", *options, cwd=here)
        same_folders(FOLDER / "expected", FOLDER / "out")
        found = re.search(r" +(\d+) +\d+ +\(cache\)", said)
        return int(found.group(1)) if found else 0

    with Server(FOLDER / "redis") as server:
        queue = Queue(PROGRAMS, server)
        place = f"-output-cache={server.place}"
        assert hits(place) == 0 and hits(place) == 20 and hits(place, "-j2") == 20 and hits(place, "-isolate") == 20 and hits(place, "-batch") == 20
        assert hits(f"-output-cache={FOLDER}/kept", place) == 20 and hits(f"-output-cache={FOLDER}/kept") == 20, "an entry goes to the first level"
        server.cli("FLUSHALL")
        assert hits(f"-output-cache={FOLDER}/kept", place) == 20
        assert hits(place) == 0, "a hit of the first level is not copied to the second one"
        key = server.cli("KEYS", "vyre:{q}:output:*").splitlines()[0]
        server.cli("SETRANGE", key, "100", "x")
        assert hits(place) == 19 and hits(place) == 20, "a damaged entry is made again"
        # the cache of a queue is that of plain runs
        queue.run("submit", "-O", *names, cwd=here)
        queue.work()
        assert queue.status()["hits"] == 20
        server.cli("CONFIG", "SET", "maxmemory", "1")
        server.cli("DEL", key)
        expect(run("-O", "-Wall", place, *names, f"-outdir={FOLDER}/out", cwd=here), "warning: -output-cache is not used any more", "maxmemory")
        server.kill()
        expect(run("-O", place, names[0], "-o", FOLDER / "x.spv", code=3, cwd=here), "does not answer", "Fix:")


class OldServer(threading.Thread):
    """Answers like Redis 6.0."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]

    def run(self):
        while True:
            connection = self.socket.accept()[0]
            while data := connection.recv(4096):
                text = b"redis_version:6.0.16\r\nmaxmemory_policy:noeviction\r\n"
                connection.sendall(b"+PONG\r\n" if b"PING" in data else b"$%d\r\n%s\r\n" % (len(text), text))


def limit_files():
    """Makes writes of redis-server fail at 200 KiB, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200 << 10, resource.RLIM_INFINITY))


def servers():
    """Servers that cannot be used: exit code 3 with a fix, and nothing is lost."""
    names = inputs(60)
    here = FOLDER / "in"
    old = OldServer()
    old.start()
    for port, message in ((1, "does not answer: Connection refused"), (old.port, "has version 6.0.16")):
        place = f"redis://127.0.0.1:{port}/q"
        done = subprocess.run([PROGRAMS / "vyre-queue", "submit", place, "-O", *names], capture_output=True, text=True, cwd=here)
        assert done.returncode == 3, done
        expect(done.stderr + run(f"-queue={place}", code=3), message, "Fix:")
    with Server(FOLDER / "evicts", "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru") as server:
        queue = Queue(PROGRAMS, server)
        expect(queue.run("submit", "-O", *names, code=3, cwd=here) + queue.work(code=3), "its maxmemory-policy is allkeys-lru", "noeviction")
    (FOLDER / "right").write_text("open sesame\n")
    (FOLDER / "wrong").write_text("closed\n")
    with Server(FOLDER / "password", "--requirepass", "open sesame") as server:
        queue = Queue(PROGRAMS, server)
        expect(queue.run("status", code=3), "requires a password", "-redis-password=FILE")
        expect(queue.run("status", f"-redis-password={FOLDER}/wrong", code=3), "refuses the password")
        right = f"-redis-password={FOLDER}/right"
        queue.run("submit", right, "-O", names[0], cwd=here)
        queue.work(right)
        queue.run("collect", right, "-o", FOLDER / "right.spv")
        expect(queue.run("status", f"-redis-password={FOLDER}/nowhere", code=2), "cannot read")
    for kind in ("memory", "disk"):
        options, preexec = (["--maxmemory", "2mb"], None) if kind == "memory" else ([], limit_files)
        with Server(FOLDER / kind, *options, preexec=preexec) as server:
            queue = Queue(PROGRAMS, server)
            message = "maxmemory" if kind == "memory" else "cannot write its file"
            for _ in range(40):  # until the server is full: by inputs, or by outputs
                done = subprocess.run([PROGRAMS / "vyre-queue", "submit", server.place, "-O", *names], capture_output=True, text=True, cwd=here)
                done = done if done.returncode else subprocess.run(queue.worker_command(), capture_output=True, text=True)
                if done.returncode:
                    break
                names = make_modules(PROGRAMS, SHADERS, here, len(names) + 60)
            assert done.returncode == 3, done
            expect(done.stderr, message, "Fix:", "nothing is lost")
            if kind == "memory":
                server.cli("CONFIG", "SET", "maxmemory", "0")
            else:
                resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                wait_until(lambda: "MISCONF" not in server.cli("SET", "probe", "1"), "the server still refuses to write")
            shutil.rmtree(FOLDER / "expected")
            run("-O", *names, f"-outdir={FOLDER}/expected", cwd=here)
            queue.run("submit", "-O", *names, cwd=here)
            queue.work("-queue-lease=1")
            check_finished(queue, len(names))
            queue.run("collect", f"-outdir={FOLDER}/{kind}-out", cwd=here)
            same_folders(FOLDER / "expected", FOLDER / f"{kind}-out")
    # a server that stalls: the worker gives up, and a later one finishes
    with Server(FOLDER / "stalls") as server:
        queue = Queue(PROGRAMS, server)
        queue.run("submit", "-O", *names, cwd=here)
        server.process.send_signal(signal.SIGSTOP)
        expect(queue.work("-redis-wait=1", code=3), "does not answer", "nothing is lost")
        server.process.send_signal(signal.SIGCONT)
        worker = queue.start_worker("-queue-stay", "-queue-lease=1", "-stats=prometheus", f"-stats-file={FOLDER}/worker.prom")
        wait_until(lambda: queue.status()["done"] == len(names), "the jobs are not done")
        wait_until(lambda: (FOLDER / "worker.prom").exists() and f"jobs_done_total {len(names)}\n" in (FOLDER / "worker.prom").read_text(), "no statistics")
        text = (FOLDER / "worker.prom").read_text()
        expect(text, 'vyre_pass_runs_total{pass="dce"}', "# TYPE vyre_queue_jobs_done_total counter", "vyre_queue_busy_seconds_total ")
        server.restart()  # a worker that waits continues
        queue.run("submit", "-O1", names[0], cwd=here)
        wait_until(lambda: queue.status()["done"] == len(names) + 1, "the worker did not continue")
        status = json.loads(queue.run("status", "-format=json"))
        assert status["workers"] == 1, status
        kill_hard(worker)


shutil.rmtree(FOLDER, ignore_errors=True)
FOLDER.mkdir(parents=True)
{"outputs": outputs, "archive": archive, "failures": failures, "twice": twice, "poison": poison, "cache": cache, "servers": servers}[CASE]()
