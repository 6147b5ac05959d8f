"""What we write is a fabric to the programs of a real cluster, and they report it back.

A generated fabric becomes a network file of `ibsim`, which plays the hardware; the real
`ibnetdiscover` explores it through its subnet management packets; our reader reads the dump.
Left out of the comparison is what ibsim makes up: the GUIDs of ports, and 4xSDR for every speed.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gingham import Fabric
from tests.conftest import SEARCH, require_programs

DEADLINE_S = 60
RETRY_S = 0.2


@contextlib.contextmanager
def simulated(network: Path, fabric: Fabric) -> Iterator[dict[str, str]]:
    """Play `fabric` with ibsim; gives the environment in which programs see it."""
    nodes = fabric.nodes
    switches = sum(node.kind == "switch" for node in nodes)
    # A switch has port 0 beside those that are counted.
    ports = sum(node.ports + 1 for node in nodes)
    limits = ["-N", str(len(nodes)), "-S", str(switches), "-P", str(ports)]
    environment = {
        **os.environ,
        "PATH": SEARCH,
        "IBSIM_SOCKNAME": f"gingham-{os.getpid()}-{network.stem}",
        "TMPDIR": str(network.parent),
    }
    with (network.parent / "ibsim.log").open("wb") as log:
        player = subprocess.Popen(
            ["ibsim", "-s", "-n", *limits, str(network)],
            cwd=network.parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        try:
            yield environment
            assert player.poll() is None, "ibsim ended by itself"
        finally:
            player.kill()
            player.wait(timeout=DEADLINE_S)


def discovered(environment: dict[str, str], host: str) -> str:
    """Return what ibnetdiscover prints from `host`, as soon as the simulator answers."""
    deadline = time.monotonic() + DEADLINE_S
    while True:
        finished = subprocess.run(
            ["ibsim-run", "ibnetdiscover"],
            env={**environment, "SIM_HOST": host},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        if finished.returncode == 0 and finished.stdout:
            return finished.stdout
        assert time.monotonic() < deadline, finished.stderr
        time.sleep(RETRY_S)


def content(fabric: Fabric) -> dict[str, Any]:
    """Return what both must agree on: GUIDs with kinds and descriptions, cables by port."""
    guids = {node.name: node.guid for node in fabric.nodes}
    return {
        "nodes": {node.guid: (node.kind, node.description) for node in fabric.nodes},
        "cables": {
            frozenset((guids[name], port) for name, port in cable.ends) for cable in fabric.cables
        },
    }


FABRICS: dict[str, tuple[str, dict[str, Any]]] = {
    "irregular": ("irregular", {"switches": 12, "seed": 3}),
    "parallel-cables": (
        "folded-clos",
        {"leaves": 4, "spines": 2, "hosts_per_leaf": 5, "cables_per_pair": 3},
    ),
    "two-hosts": ("two-hosts", {}),
}


@pytest.mark.parametrize("name", FABRICS)
def test_ibnetdiscover_sees_what_was_generated(name: str, tmp_path: Path) -> None:
    require_programs("ibsim-utils infiniband-diags", "ibsim", "ibsim-run", "ibnetdiscover")
    kind, parameters = FABRICS[name]
    made = Fabric.make(kind, **parameters)
    network = tmp_path / f"{name}.ibsim"
    made.save(network)
    host = next(node.description for node in made.nodes if node.kind == "host")
    with simulated(network, made) as environment:
        dump = discovered(environment, host)
    (tmp_path / "dump.ibnetdiscover").write_text(dump)
    seen = Fabric.load(tmp_path / "dump.ibnetdiscover")
    assert not [str(finding) for finding in seen.findings if finding.severity == "warning"]
    assert content(seen) == content(made)
