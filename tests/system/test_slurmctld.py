"""Slurm's controller starts on the trees that we write, and lists the same nodes.

`slurmctld` of Debian runs in the foreground of a scratch folder: without systemd, without
authentication, and without any node that answers. It reads `topology.conf` before it opens its
port. `scontrol show topology` then lists its switches, which our reader compares with the fabric.
"""

from __future__ import annotations

import getpass
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gingham import Fabric, InputError, slurm
from tests.conftest import require_programs
from tests.rails import RailFabric

START_S = 30
STOP_S = 15

CONF = """\
ClusterName=test
SlurmctldHost=localhost
SlurmUser={user}
AuthType=auth/none
CredType=cred/none
SlurmctldPort={port}
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdSpoolDir={folder}/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
TopologyPlugin=topology/tree
"""


def write_conf(folder: Path, nodes: list[str]) -> Path:
    """Write the configuration of a cluster with these nodes, all at a loopback address."""
    (folder / "state").mkdir()
    (folder / "spool").mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    text = CONF.format(user=getpass.getuser(), port=port, folder=folder)
    text += "".join(f"NodeName={name} NodeAddr=127.0.0.1 State=UNKNOWN\n" for name in nodes)
    text += f"PartitionName=all Nodes={','.join(nodes)} Default=YES\n"
    path = folder / "slurm.conf"
    path.write_text(text)
    return path


@contextmanager
def controller(conf: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the controller, with its messages in `controller.log`, and end it at the end."""
    command = ["slurmctld", "-D", "-c", "-f", str(conf)]
    with (conf.parent / "controller.log").open("wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield process
        finally:
            # Its script daemon is in the same session.
            process.terminate()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def shown_topology(conf: Path, process: subprocess.Popen[bytes]) -> str:
    """Return the topology that the controller reports, as soon as it responds."""
    log = conf.parent / "controller.log"
    environment = {**os.environ, "SLURM_CONF": str(conf), "SLURM_TIME_FORMAT": "standard"}
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        if b"Running as primary controller" in log.read_bytes():
            command = ["scontrol", "show", "topology"]
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=30, check=False
            )
            if done.returncode == 0 and "SwitchName=" in done.stdout:
                return done.stdout
        time.sleep(0.1)
    pytest.fail(f"slurmctld does not answer:\n{log.read_text(errors='replace')[-2000:]}")


def odd_names() -> Fabric:
    """Two leaves with names that Slurm does not read, or not as they are."""
    nodes = ["n[1-2]", "n:3", "all", "7", "-e", "S-0002c90200417670", "n1e5", "x" * 70]
    leaf = "MF0;ufm-sw-01:MQM8700/U1 with a name that is longer than 64 characters"
    edges = [(leaf, name) for name in nodes]
    edges += [("leaf [2]", "m1"), ("leaf [2]", "m2")]
    edges += [(one, f"spine,{spine}") for one in (leaf, "leaf [2]") for spine in (0, 1)]
    return Fabric.from_edges(edges, hosts=[*nodes, "m1", "m2"])


FABRICS: dict[str, Callable[[], Fabric]] = {
    "rails": lambda: RailFabric(units=4, nodes=6, rails=4).fabric(),
    "tree": lambda: Fabric.make("k-ary-n-tree", arity=3, levels=3),
    "single-path-tree": lambda: Fabric.from_edges(
        [("core", "s1"), ("core", "s2"), ("s1", "l1"), ("s1", "l2"), ("core", "login")]
        + [(leaf, f"{leaf}-n{node}") for leaf in ("l1", "l2", "s2") for node in range(3)]
    ),
    "irregular": lambda: Fabric.make("irregular", switches=12, hosts_per_switch=2, seed=3),
    "odd-names": odd_names,
    # A line of 14,000 characters.
    "wide": lambda: Fabric.make("star", hosts=2000),
}


@pytest.mark.parametrize("name", FABRICS)
def test_slurmctld_reads_the_tree_and_lists_its_nodes(name: str, tmp_path: Path) -> None:
    require_programs("slurmctld", "scontrol")
    fabric = FABRICS[name]()
    fabric.save(tmp_path / "topology.conf")
    (written,) = slurm.read(tmp_path / "topology.conf")
    nodes = [node for entry in written.entries for node in entry.nodes]
    conf = write_conf(tmp_path, nodes)
    with controller(conf) as process:
        shown = shown_topology(conf, process)
    log = (tmp_path / "controller.log").read_text(errors="replace")
    assert "Invalid hostnames" not in log
    assert "no switch can reach all nodes" not in log
    (tmp_path / "shown.txt").write_text(shown)
    (read,) = slurm.read(tmp_path / "shown.txt")
    by_switch = {switch: set(names) for switch, names in written.nodes_by_switch.items()}
    assert {switch: set(names) for switch, names in read.nodes_by_switch.items()} == by_switch
    comparison = slurm.compare(fabric, tmp_path / "shown.txt")
    assert comparison.is_right, comparison.findings


def test_slurmctld_refuses_what_the_reader_refuses(tmp_path: Path) -> None:
    """Control for the other tests: an undefined switch ends the controller."""
    require_programs("slurmctld", "scontrol")
    (tmp_path / "topology.conf").write_text("SwitchName=a Nodes=n1\nSwitchName=t Switches=a,b\n")
    with pytest.raises(InputError) as refused:
        slurm.read(tmp_path / "topology.conf")
    assert refused.value.code == "undefined-switch"
    conf = write_conf(tmp_path, ["n1"])
    with controller(conf) as process:
        assert process.wait(START_S) == 1
    assert "has invalid child (b)" in (tmp_path / "controller.log").read_text(errors="replace")
