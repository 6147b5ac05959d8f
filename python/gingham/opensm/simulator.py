"""A fabric simulated by `ibsim`, for management programs of real clusters.

::

    fabric ──► scratch/net.ibsim ──► ibsim ◄── a socket of its own ──► ibsim-run opensm
                                                                   └─► ibsim-run ibnetdiscover

ibsim answers the subnet management packets of every switch and adapter of the fabric; programs
reach it through `ibsim-run`, which preloads a library of the simulator. A program is attached to
the node named by `SIM_HOST`: here by its kind and node GUID as in the file, because descriptions
need not be unique.

ibsim 0.10 invents the GUIDs of adapter ports (node GUID + port), and 4xSDR as the speed of every
cable. LIDs in the file are kept. Lists that the subnet administrator splits over several packets
are silently truncated after the first packet.

All files are in one scratch folder, which is removed after the block, when ibsim has ended.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from gingham.errors import EnvironmentProblem, InputError
from gingham.fabric import Fabric
from gingham.opensm import first_ports
from gingham.opensm.children import Children, Finished, signals_held
from gingham.opensm.parts import largest_part
from gingham.opensm.programs import require, search_path

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Mapping

LOG = "ibsim.log"
NETWORK = "net.ibsim"
READY_TIMEOUT_S = 30.0
POLL_S = 0.02
# One above the highest unicast LID of an InfiniBand subnet: the entries of a full table.
UNICAST_LIDS = 0xC000


class Simulator:
    """A running ibsim with its folder; made by `simulated`."""

    def __init__(
        self, children: Children, player: subprocess.Popen[bytes], moved: Mapping[str, int]
    ) -> None:
        """Store processes, and hosts whose first cable was moved to port 1; use `simulated`."""
        self.children = children
        self._player = player
        self._moved = moved

    @property
    def folder(self) -> Path:
        """The scratch folder."""
        return self.children.folder

    def run(self, *command: str, timeout_s: float) -> Finished:
        """Run a program on the fabric to its end; raise `EnvironmentProblem` if it fails."""
        finished = self.children.run("ibsim-run", *command, timeout_s=timeout_s)
        if finished.code != 0:
            self.require_running()
            raise EnvironmentProblem(
                f"{command[0]}: failed{quoted(finished.err or finished.out)}", code="program-failed"
            )
        return finished

    def start(self, *command: str, out: str) -> subprocess.Popen[bytes]:
        """Start a program on the fabric that runs until the simulator ends."""
        return self.children.start("ibsim-run", *command, out=out)

    def require_running(self) -> None:
        """Raise `EnvironmentProblem` with ibsim's messages if it has ended by itself."""
        if self._player.poll() is not None:
            raise EnvironmentProblem(
                f"ibsim: ended by itself{quoted(self.children.read(LOG))}", code="program-failed"
            )

    def discovered(self, *, timeout_s: float = 60) -> str:
        """Return the output of `ibnetdiscover` on the fabric."""
        said = self.run("ibnetdiscover", timeout_s=timeout_s).out
        return first_ports.discovered(said, self._moved)


@contextlib.contextmanager
def simulated(fabric: Fabric, *, host: str | None = None) -> Iterator[Simulator]:
    """Simulate `fabric` inside the block; programs are attached to `host`, the name of a node.

    By default programs are attached to the first host. Raises `EnvironmentProblem` if ibsim is
    missing or fails, `InputError` if the fabric has no such host.
    """
    require("ibsim", "ibsim-run")
    known = with_guids(fabric)
    moved = first_ports.moved(known)
    with scratch_folder() as folder:
        text, _ = fabric.text("ibsim")
        (folder / NETWORK).write_text(first_ports.played(text, moved))
        environment = {
            **os.environ,
            "PATH": search_path(),
            "IBSIM_SOCKNAME": folder.name,
            "SIM_HOST": seat(known, host),
            "TMPDIR": str(folder),
            # Folder of the state that OpenSM caches between starts.
            "OSM_CACHE_DIR": str(folder),
            "OSM_TMP_DIR": str(folder),
            "LC_ALL": "C",
        }
        with Children(folder, environment) as children:
            player = children.start("ibsim", "-s", "-n", *limits(fabric), NETWORK, out=LOG)
            simulator = Simulator(children, player, moved)
            wait_until_ready(simulator)
            yield simulator


def limits(fabric: Fabric) -> list[str]:
    """Return options that dimension ibsim for the whole fabric, and for tables with every LID."""
    nodes = fabric.devices
    switches = sum(node.kind == "switch" for node in nodes)
    # Port 0 of a switch is not among its counted ports.
    ports = sum(node.ports + 1 for node in nodes)
    counts = {"-N": len(nodes), "-S": switches, "-P": ports, "-L": UNICAST_LIDS}
    return [word for option, count in counts.items() for word in (option, str(count))]


def seat(played: Fabric, host: str | None) -> str:
    """Return the name of a host in the network file, such as `H-0000400000000000`.

    The default is the first host of the connected part with most hosts.
    """
    hosts = [node for node in played.devices if node.kind == "host"]
    part = largest_part(played) if host is None else {host}
    chosen = next((node for node in hosts if node.name in part), None)
    if chosen is None:
        what = "no host with a cable" if host is None else f'no host "{host}"'
        raise InputError(
            f"a subnet manager runs on a host, and the fabric has {what}",
            code="no-data" if host is None else "unknown-node",
            key="host",
        )
    return f"H-{chosen.guid}"


def with_guids(fabric: Fabric) -> Fabric:
    """Return the fabric with GUIDs for all nodes, assigned as in written files."""
    if all(node.guid for node in fabric.devices):
        return fabric
    with scratch_folder() as folder:
        fabric.save(folder / "net.ibnetdiscover")
        return Fabric.load(folder / "net.ibnetdiscover")


def wait_until_ready(simulator: Simulator) -> None:
    """Wait until ibsim listens: a client that connects earlier sleeps for two seconds."""
    listening = f"@{simulator.folder.name}:ctl"
    deadline = time.monotonic() + READY_TIMEOUT_S
    while listening not in Path("/proc/net/unix").read_text():
        simulator.require_running()
        if time.monotonic() > deadline:
            said = quoted(simulator.children.read(LOG))
            raise EnvironmentProblem(
                f"ibsim: not ready after {READY_TIMEOUT_S:.0f} s{said}", code="timeout"
            )
        time.sleep(POLL_S)


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Create a folder that is removed after the block."""
    with contextlib.ExitStack() as stack:
        with signals_held():
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="gingham-", ignore_cleanup_errors=True)
            )
        try:
            yield Path(folder)
        finally:
            with signals_held():
                stack.close()


def quoted(words: str, *, lines_max: int = 6) -> str:
    """Return the last lines of a program's output, indented for a message."""
    lines = [line.rstrip() for line in words.splitlines() if line.strip()]
    return "".join(f"\n  {line}" for line in lines[-lines_max:])
