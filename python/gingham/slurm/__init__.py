"""Slurm's topology files: written from fabrics, read, and compared with a fabric.

::

    topology.conf, topology.yaml,      ──read──►  Topology: switch or block -> nodes ─┐
    scontrol show topology                                                            ├─► compare
    Fabric ──cluster──► units: leaves with most of their nodes in common ─────────────┘
       └──save("topology.conf"), topology_yaml──► files

A unit of the fabric is one leaf switch, or one block, of Slurm. `topology_yaml` writes several
topologies, also of several fabrics, into one file of Slurm 25.05.

Sources: Slurm, `topology.conf(5)`, `topology.yaml(5)` of 25.05, `scontrol(1)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from gingham._native import CoreFabric, slurm_yaml
from gingham.slurm.comparison import Comparison, Misplaced, compare
from gingham.slurm.reading import read
from gingham.slurm.topology import Entry, Topology

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gingham.fabric import Fabric

__all__ = ["Comparison", "Entry", "Misplaced", "Topology", "compare", "read", "topology_yaml"]

Form = Literal["tree", "block"]


def topology_yaml(
    topologies: Mapping[str, tuple[Fabric, Form] | Fabric],
) -> tuple[str, list[str]]:
    """Return a `topology.yaml` of named topologies, and a sentence for each omission.

    A topology is a fabric with its form, `"tree"` or `"block"`; a fabric alone is a tree. The first
    is the default of the cluster. Raises `InputError` with the code `no-nodes` for a fabric whose
    adapters name no host, and `bad-topology-name` for a name that Slurm cannot read.
    """
    rows = list[tuple[str, CoreFabric, Form]]()
    for name, given in topologies.items():
        fabric, form = given if isinstance(given, tuple) else (given, "tree")
        rows.append((name, fabric._core, form))  # noqa: SLF001
    return slurm_yaml(rows)
