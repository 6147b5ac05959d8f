"""Fabrics for tests with the real programs, and checks for leftovers of these programs."""

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
    """Return one of `FABRICS`."""
    kind, parameters = FABRICS[name]
    return Fabric.make(kind, **parameters)


def dumped(name: str) -> Fabric:
    """Return the fabric of a real cluster's dump; skip the test if the dump is missing."""
    path = DUMPS / f"{name}.ibnetdiscover"
    if not path.exists():
        pytest.skip(f"{path.name} is not at hand; it is looked for in ../shared/data/fabrics")
    return Fabric.load(path)


def require_opensm() -> None:
    """Declare the programs of OpenSM and ibsim; skip or fail the test if one is missing."""
    require_programs("opensm", "ibsim", "ibsim-run", "ibnetdiscover", "smpquery")


def processes(scratch: Path) -> dict[int, str]:
    """Return ids and names of the processes whose scratch folder is below `scratch`."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
            name = (process / "comm").read_text().strip()
        except OSError:
            continue
        # Only processes of a run have this variable, not the tests in the same folder.
        if f"OSM_TMP_DIR={scratch}/".encode() in environment:
            found[int(process.name)] = name
    return found


def sockets() -> set[str]:
    """Return the sockets of our simulators, started by any user of this machine."""
    lines = Path("/proc/net/unix").read_text().splitlines()
    return {line.split()[-1].partition(":")[0] for line in lines if "@gingham-" in line}


def nothing_is_left(scratch: Path) -> None:
    """Wait for the processes of runs below `scratch` to end; fail if files are left."""
    wait_until(lambda: not processes(scratch), "processes are left")
    assert list(scratch.iterdir()) == []
