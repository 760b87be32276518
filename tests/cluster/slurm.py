"""A real Slurm on one machine: several emulated nodes, their GPUs devices that do nothing.

Needs root and Debian's packages munge, slurm-client, slurmctld, slurmd; no systemd, cgroups or database. All
that it starts listens on 127.0.0.1 only, and all its files lie in one temporary folder, but for two links in
/etc/slurm, where the jobs' own clients look. They go when it stops, for a configuration without its
controller makes every start of snakemake wait.
"""

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PACKAGES = ("munge", "slurm-client", "slurmctld", "slurmd")
PROGRAMS = ("munged", "munge", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol")
ETC = Path("/etc/slurm")
LINKS = ("slurm.conf", "gres.conf")
PREFIX = "fathom-slurm-"
# name, processors, GPUs
NODES = {"cpu1": (4, ""), "cpu2": (4, ""), "a100n1": (8, "a100:4"), "a100n2": (8, "a100:4"),
         "h100n1": (8, "h100:8")}  # fmt: skip
PARTITIONS = {"cpu": "cpu[1-2]", "a100": "a100n[1-2]", "h100": "h100n1"}

CONFIGURATION = """\
ClusterName=fathom
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/munge.sock
# the loopback address alone
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/rows_on_disk/%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
MpiDefault=none
SwitchType=switch/none
# no cgroups; linuxproc would lose the inner snakemake of a cancelled job
ProctrackType=proctrack/pgid
TaskPlugin=task/none
# a job over its memory is killed without cgroups, by looking at it every second
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,sched_interval=2,batch_sched_delay=0,sched_min_interval=0
MailProg=/bin/true
# more processors, memory and GPUs than the machine has
SlurmdParameters=config_overrides
GresTypes=gpu
# finished jobs stay visible to squeue
MinJobAge=3600
KillWait=3
InactiveLimit=0
SlurmctldTimeout=15
SlurmdTimeout=20
MessageTimeout=30
ReturnToService=2
CompleteWait=0
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
"""


class Slurm:
    """Five nodes and a controller in one folder."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.host = socket.gethostname().split(".")[0]

    def start(self) -> None:
        """Write the configuration, start all daemons, and wait until all nodes are idle."""
        for name in ("etc", "run", "log", "state", "munge", "gpu"):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o755)
        (self.folder / "run" / "owner.pid").write_text(str(os.getpid()))
        self._write_configuration()
        for name in LINKS:
            (ETC / name).symlink_to(self.folder / "etc" / name)
        self._start_munge()
        self.start_controller()
        for node in NODES:
            self.start_node(node)
        wait_until(lambda: set(self._states()) == {"idle"}, "all nodes are idle", 60)

    def _write_configuration(self) -> None:
        ports = free_ports(1 + len(NODES))
        lines = [CONFIGURATION.format(host=self.host, port=next(ports), folder=self.folder)]
        for name, (processors, gpus) in NODES.items():
            lines.append(
                f"NodeName={name} NodeHostname={self.host} NodeAddr=127.0.0.1 Port={next(ports)}"
                f" CPUs={processors} Boards=1 SocketsPerBoard=1 CoresPerSocket={processors} ThreadsPerCore=1"
                f" RealMemory=64000 {f'Gres=gpu:{gpus}' if gpus else ''} State=UNKNOWN"
            )
        for name, nodes in PARTITIONS.items():
            lines.append(
                f"PartitionName={name} Nodes={nodes} Default={'YES' if name == 'cpu' else 'NO'}"
                " MaxTime=1-00:00:00 DefaultTime=00:10:00 DefMemPerCPU=500 State=UP"
            )
        (self.folder / "etc" / "slurm.conf").write_text("\n".join(lines) + "\n")
        gpus = [self._make_gpus(name, gpus) for name, (_, gpus) in NODES.items() if gpus]
        (self.folder / "etc" / "gres.conf").write_text("\n".join(gpus) + "\n")

    def _make_gpus(self, node: str, gpus: str) -> str:
        """Make devices that stand for a node's GPUs, and return their line; they are copies of /dev/null."""
        model, count = gpus.split(":")
        folder = self.folder / "gpu" / node
        folder.mkdir()
        for place in range(int(count)):
            os.mknod(folder / f"nvidia{place}", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        devices = f"{folder}/nvidia[0-{int(count) - 1}]"
        return f"NodeName={node} Name=gpu Type={model} File={devices} Flags=nvidia_gpu_env"

    def _start_munge(self) -> None:
        key, folder = self.folder / "munge" / "munge.key", self.folder / "munge"
        key.touch(0o600)
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        run(
            *("munged", f"--key-file={key}", f"--socket={folder}/munge.sock"),
            *(f"--seed-file={folder}/munged.seed", f"--pid-file={self.folder}/run/munged.pid"),
            f"--log-file={self.folder}/log/munged.log",
        )

    def start_controller(self) -> None:
        """Start the controller and wait until it answers."""
        run("slurmctld")
        wait_until(lambda: "UP" in ask("scontrol", "ping"), "the controller answers", 60)

    def stop_controller(self) -> None:
        """End the controller as an administrator would; jobs go on."""
        self._end("slurmctld", signal.SIGTERM)

    def start_node(self, node: str) -> None:
        """Start the daemon of a node."""
        (self.folder / "rows_on_disk" / node).mkdir(parents=True, exist_ok=True)
        run("slurmd", "-N", node)

    def kill_node(self, node: str) -> None:
        """Kill a node: its daemon, and at once all that runs on it."""
        self._end(f"slurmd-{node}", signal.SIGKILL)
        self._kill_steps(str(self.folder / "rows_on_disk" / node))

    def _states(self) -> list[str]:
        return ask("sinfo", "--noheader", "--Node", "--format=%T").split()

    def jobs(self) -> list[dict[str, str]]:
        """Return all jobs that Slurm knows, finished ones too."""
        names = {"id": "%i", "name": "%j", "comment": "%k", "partition": "%P", "state": "%T", "node": "%N",
                 "memory": "%m", "limit": "%l", "processors": "%C"}  # fmt: skip
        text = ask("squeue", "--noheader", "--states=all", f"--format={'|'.join(names.values())}")
        return [dict(zip(names, line.split("|"), strict=True)) for line in text.splitlines()]

    def gpus(self) -> dict[str, str]:
        """Return what GPUs jobs asked for, by the jobs' ids."""
        text = ask("scontrol", "show", "job", "--oneliner")
        return dict(re.findall(r"^JobId=(\d+) .* TresPerJob=(\S+)", text, re.MULTILINE))

    def stop(self) -> None:
        """Cancel all jobs, end all daemons, and take the links away; works on what a killed run left, too."""
        try:
            if self._pid("slurmctld") and self._pid("munged"):
                ask("scancel", "--user=root", timeout=10)
                wait_until(lambda: not self._unfinished(), "all jobs ended", 10, required=False)
            self._kill_steps(str(self.folder))
            for name in (*(f"slurmd-{node}" for node in NODES), "slurmctld", "munged"):
                self._end(name, signal.SIGTERM)
        finally:
            for name in LINKS:
                if (ETC / name).is_symlink() and (ETC / name).readlink() == self.folder / "etc" / name:
                    (ETC / name).unlink()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _unfinished(self) -> str:
        return ask("squeue", "--noheader", "--format=%i", timeout=10)

    def _pid(self, name: str) -> int:
        """Return the process of a daemon, 0 if it does not run."""
        try:
            pid = int((self.folder / "run" / f"{name}.pid").read_text())
            program = Path(f"/proc/{pid}/comm").read_text().strip()
        except (OSError, ValueError):
            return 0
        return pid if program == name.split("-", maxsplit=1)[0] else 0

    def _end(self, name: str, how: signal.Signals) -> None:
        """End a daemon and wait until it is gone; kill it if it does not go."""
        pid = self._pid(name)
        if pid:
            os.kill(pid, how)
            if not wait_until(lambda: not self._pid(name), f"{name} ended", 12, required=False):
                os.kill(pid, signal.SIGKILL)
        (self.folder / "run" / f"{name}.pid").unlink(missing_ok=True)

    def _kill_steps(self, place: str) -> None:
        """Kill the steps whose open files lie in `place`, and the jobs below them."""
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "comm").read_text().strip() != "slurmstepd":
                    continue
                files = [str(file.readlink()) for file in (process / "fd").iterdir()]
                files.append(str((process / "cwd").readlink()))
            except OSError:
                continue
            if any(place in file for file in files):
                for pid in [*descendants(int(process.name)), int(process.name)]:
                    kill(pid, signal.SIGKILL)


def find_rule(job: dict[str, str]) -> str:
    """Return the rule of a job, or its group and rule."""
    return job["comment"].removeprefix("rule_").partition("_wildcards_")[0]


def why_not() -> str:
    """Return why no cluster can be started here, or an empty string. Removes what a killed run left."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"Slurm is not installed: no {', '.join(missing)} (Debian: {' '.join(PACKAGES)})"
    if os.geteuid() != 0:
        return "starting Slurm's daemons needs root"
    clean_up()
    taken = [str(ETC / name) for name in LINKS if os.path.lexists(ETC / name)]
    return f"this machine belongs to a cluster, or to another test: {', '.join(taken)} exist" if taken else ""


def clean_up() -> None:
    """Stop a cluster of these tests whose own run was killed."""
    for link in (ETC / name for name in LINKS):
        if link.is_symlink() and link.readlink().parents[1].name.startswith(PREFIX):
            folder = link.readlink().parents[1]
            try:
                os.kill(int((folder / "run" / "owner.pid").read_text()), 0)
            except (OSError, ValueError):
                left = Slurm.__new__(Slurm)
                left.folder = folder
                left.stop()


def free_ports(count: int) -> Iterator[int]:
    """Return ports that nothing listens on."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for place in sockets:
            place.bind(("127.0.0.1", 0))
        return iter([place.getsockname()[1] for place in sockets])
    finally:
        for place in sockets:
            place.close()


def run(*command: str) -> None:
    """Run a command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"


def ask(*command: str, timeout: float = 60) -> str:
    """Return what a command prints, nothing if it fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout).stdout
    except subprocess.TimeoutExpired:
        return ""


def wait_until(done: Callable[[], object], what: str, seconds: float, required: bool = True) -> bool:
    """Wait until something is so; fail, or return False, if it is not in time."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            assert not required, f"not within {seconds} seconds: {what}"
            return False
        time.sleep(0.1)
    return True


def descendants(pid: int) -> list[int]:
    """Return all processes below one, the deepest first."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(word) for word in path.read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [*descendants(child), child]
    return found


def kill(pid: int, how: signal.Signals) -> None:
    """Send a signal to a process that may have ended."""
    try:
        os.kill(pid, how)
    except ProcessLookupError:
        return
