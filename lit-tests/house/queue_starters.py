#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts workers of a queue by the scripts of examples/scale-out: Slurm on one node, mpirun, or the shell.  Checks that the outputs are those of one
process.

usage: queue_starters.py slurm|mpirun|shell PROGRAMS SOURCE FOLDER MODULES
"""
import getpass
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

from redis_server import Queue, Server, check_finished, free_port, make_modules, same_folders, wait_until

HOW = sys.argv[1]
PROGRAMS, SOURCE, FOLDER = (pathlib.Path(text).resolve() for text in sys.argv[2:5])
MODULES = int(sys.argv[5])
WORKERS = 4
SCRIPTS = SOURCE / "examples/scale-out"
ENVIRONMENT = {**os.environ, "VYRE": str(PROGRAMS / "vyre-passmgr")}
PACKAGES = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "sbatch": "slurm-client", "mpirun": "openmpi-bin"}
CONFIGURATION = """ClusterName=vyre
SlurmctldHost={host}
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SchedulerParameters=sched_interval=1
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=vyre Nodes={host} Default=YES MaxTime=INFINITE OverSubscribe=FORCE:4 State=UP
"""


def find(*names):
    for name in names:
        if not shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin"):
            sys.exit(f"{name} is missing\nFix: install the package {PACKAGES[name]} (scripts/install-packages.sh all)")
    return [shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") for name in names]


def by_mpirun(queue):
    mpirun, = find("mpirun")
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    subprocess.run([mpirun, *root, "--oversubscribe", "-n", str(WORKERS), SCRIPTS / "mpirun.sh", queue.server.place], env=ENVIRONMENT, check=True)


def by_shell(queue):
    subprocess.run([SCRIPTS / "workers.sh", queue.server.place, str(WORKERS), "-queue-lease=5"], env=ENVIRONMENT, check=True)


def by_slurm(queue):
    """Runs munged, slurmctld and slurmd with files of their own, and an array job of four workers."""
    munged, slurmctld, slurmd, sbatch = find("munged", "slurmctld", "slurmd", "sbatch")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="vyre-slurm-"))  # names of sockets are short
    folder.chmod(0o755)
    host, processes = socket.gethostname().split(".")[0], []
    (folder / "slurm.conf").write_text(CONFIGURATION.format(host=host, controller=free_port(), node=free_port(), user=getpass.getuser(), folder=folder,
                                                            cpus=os.cpu_count()))
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o400)
    environment = {**ENVIRONMENT, "SLURM_CONF": str(folder / "slurm.conf")}
    try:
        processes.append(subprocess.Popen([munged, "-F", f"--key-file={folder}/munge.key", f"--socket={folder}/munge.socket", f"--pid-file={folder}/munged.pid",
                                           f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed", "--force"], stderr=subprocess.DEVNULL))
        wait_until((folder / "munge.socket").exists, "munged does not start")
        processes.append(subprocess.Popen([slurmctld, "-D"], env=environment, stderr=subprocess.DEVNULL))
        processes.append(subprocess.Popen([slurmd, "-D", "-N", host], env=environment, stderr=subprocess.DEVNULL))

        def is_idle():
            state = subprocess.run(["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, text=True)
            if any(process.poll() is not None for process in processes):
                sys.exit("\n".join(path.read_text(errors="replace")[-2000:] for path in folder.glob("*.log")))
            return "idle" in state.stdout

        wait_until(is_idle, "Slurm's node does not become idle", 120)
        subprocess.run([sbatch, "--wait", f"--array=0-{WORKERS - 1}", f"--output={folder}/worker-%a.out", SCRIPTS / "slurm.sbatch", queue.server.place],
                       env=environment, check=True, stdout=subprocess.DEVNULL)
        started = len(list(folder.glob("worker-*.out")))
        assert started == WORKERS, f"{started} workers were started"
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    names = make_modules(PROGRAMS, SOURCE / "examples/shaders", FOLDER / "in", MODULES)
    subprocess.run([PROGRAMS / "vyre-passmgr", "-O", *names, f"-outdir={FOLDER}/expected"], cwd=FOLDER / "in", check=True)
    with Server(FOLDER / "redis", name=HOW) as server:
        queue = Queue(PROGRAMS, server)
        queue.run("submit", "-O", *names, cwd=FOLDER / "in")
        {"slurm": by_slurm, "mpirun": by_mpirun, "shell": by_shell}[HOW](queue)
        check_finished(queue, MODULES)
        queue.run("collect", f"-outdir={FOLDER}/out", cwd=FOLDER / "in")
        print(f"{same_folders(FOLDER / 'expected', FOLDER / 'out')} outputs of {WORKERS} workers, started by {HOW}, are those of one process")


main()
