#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills workers of a queue at random moments while they have jobs, and restarts the server.  Checks that the outputs are those of one process, and
that each job was acknowledged once.

usage: queue_losses.py PROGRAMS SHADERS FOLDER MODULES KILLS RESTARTS [WORKERS [STALL]]
       STALL: seconds for which the server does not answer, once
"""
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from redis_server import Queue, Server, check_finished, kill_hard, make_modules, random_of, same_folders, wait_until

LEASE = 1  # seconds
PASSES = ["-O", "-tv=1"]  # with the interpreter, so that a job takes some milliseconds


def claims_of(server):
    """Returns the process ids of the workers that have claimed jobs."""
    text = server.cli("XPENDING", f"vyre:{{{server.place.rsplit('/', 1)[1]}}}:jobs", "workers", "-", "+", "1000")
    return {int(line.split(":")[-2]) for line in text.splitlines() if line.count(":") >= 2}


def run(queue, server, options, kills, restarts, worker_count, stall):
    choose = random_of(46)
    workers = [queue.start_worker(*options) for _ in range(worker_count)]
    killed = restarted = 0
    if stall:
        wait_until(lambda: claims_of(server), "no job is claimed")
        server.process.send_signal(signal.SIGSTOP)
        time.sleep(stall)
        server.process.send_signal(signal.SIGCONT)
    while killed < kills or restarted < restarts:
        time.sleep(choose.uniform(0, 0.03))
        claimed = claims_of(server)
        victims = [worker for worker in workers if worker.pid in claimed]
        if not victims or any(worker.poll() not in (None, 0) for worker in workers):
            if queue.status()["waiting"] == 0 and not victims:
                sys.exit(f"the jobs ended after {killed} kills and {restarted} restarts: more jobs are needed")
            for worker in workers:
                if worker.poll() not in (None, 0):
                    sys.exit(f"a worker ended with exit code {worker.returncode}")
            continue
        if restarted * (kills + restarts) < (killed + restarted) * restarts:
            server.restart()
            restarted += 1
            continue
        victim = choose.choice(victims)
        kill_hard(victim)
        killed += 1
        workers[workers.index(victim)] = queue.start_worker(*options)
    for worker in workers:
        if worker.wait() != 0:
            sys.exit(f"a worker ended with exit code {worker.returncode}")
    return killed, restarted


def main():
    programs, shaders, folder = (pathlib.Path(text).resolve() for text in sys.argv[1:4])
    modules, kills, restarts = map(int, sys.argv[4:7])
    worker_count = int(sys.argv[7]) if len(sys.argv) > 7 else 2
    stall = int(sys.argv[8]) if len(sys.argv) > 8 else 0
    shutil.rmtree(folder, ignore_errors=True)
    names = make_modules(programs, shaders, folder / "in", modules)
    subprocess.run([programs / "vyre-passmgr", *PASSES, *names, f"-outdir={folder}/expected"], cwd=folder / "in", stderr=subprocess.DEVNULL, check=True)
    with Server(folder / "redis", name="losses") as server:
        queue = Queue(programs, server)
        queue.run("submit", *PASSES, *names, cwd=folder / "in")
        killed, restarted = run(queue, server, [f"-queue-lease={LEASE}"], kills, restarts, worker_count, stall)
        check_finished(queue, modules)
        queue.run("collect", f"-outdir={folder}/out", cwd=folder / "in")
        compared = same_folders(folder / "expected", folder / "out")
        again = queue.run("submit", *PASSES, *names, cwd=folder / "in")
        if f"{modules} jobs: 0 new" not in again:
            sys.exit(f"jobs were added twice: {again}")
    print(f"{compared} outputs are those of one process, after {killed} kills of workers and {restarted} restarts of the server")


main()
