"""Fabrics on which the real programs are tried, and what they may leave behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gingham import Fabric
from tests.conftest import require_programs, wait_until

DUMPS = Path(__file__).parent.parent.parent.parent / "shared" / "data" / "fabrics"

FABRICS: dict[str, tuple[str, dict[str, Any]]] = {
    "torus": ("torus", {"dimensions": [4, 4]}),
    "ring": ("ring", {"switches": 5}),
    "irregular": ("irregular", {"switches": 12, "seed": 3}),
    "clos": ("folded-clos", {"leaves": 4, "spines": 2, "hosts_per_leaf": 4}),
}


def made(name: str) -> Fabric:
    """One of the fabrics above."""
    kind, parameters = FABRICS[name]
    return Fabric.make(kind, **parameters)


def dumped(name: str) -> Fabric:
    """The dump of a real cluster, where it is at hand."""
    path = DUMPS / f"{name}.ibnetdiscover"
    if not path.exists():
        pytest.skip(f"{path.name} is not at hand; it is looked for in ../shared/data/fabrics")
    return Fabric.load(path)


def require_opensm() -> None:
    """Skip the test, or fail it where that was asked for, without the programs of a cluster."""
    require_programs("opensm", "ibsim", "ibsim-run", "ibnetdiscover", "smpquery")


def processes(scratch: Path) -> dict[int, str]:
    """Process ids and names of what runs with its scratch folder below `scratch`."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
            name = (process / "comm").read_text().strip()
        except OSError:
            continue
        # Our own tests stand in the same folder, but have no simulator.
        if f"OSM_TMP_DIR={scratch}/".encode() in environment:
            found[int(process.name)] = name
    return found


def sockets() -> set[str]:
    """The sockets of simulators of ours, anybody's on this machine."""
    lines = Path("/proc/net/unix").read_text().splitlines()
    return {line.split()[-1].partition(":")[0] for line in lines if "@gingham-" in line}


def nothing_is_left(scratch: Path) -> None:
    """Fail unless processes, sockets and files of runs below `scratch` are gone, or go soon."""
    wait_until(lambda: not processes(scratch), "processes are left")
    assert list(scratch.iterdir()) == []
