"""Fabrics that we write are read by the programs of a real cluster, and reported back unchanged.

A generated fabric becomes a network file of `ibsim`, which plays the hardware; the real
`ibnetdiscover` explores it through its subnet management packets; our reader reads the dump.
The comparison omits values that ibsim invents: the GUIDs of ports, and 4xSDR for every speed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gingham import Fabric
from gingham.opensm.simulator import simulated
from tests.conftest import require_programs


def content(fabric: Fabric) -> dict[str, Any]:
    """Return the values to compare: GUIDs with kinds and descriptions, cables by port."""
    guids = {node.name: node.guid for node in fabric.devices}
    return {
        "nodes": {node.guid: (node.kind, node.description) for node in fabric.devices},
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
    require_programs("ibsim", "ibsim-run", "ibnetdiscover")
    kind, parameters = FABRICS[name]
    made = Fabric.make(kind, **parameters)
    with simulated(made) as simulator:
        dump = simulator.discovered()
    (tmp_path / "dump.ibnetdiscover").write_text(dump)
    seen = Fabric.load(tmp_path / "dump.ibnetdiscover")
    assert not [str(finding) for finding in seen.findings if finding.severity == "warning"]
    assert content(seen) == content(made)
