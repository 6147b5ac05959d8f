"""A rail-optimised fabric for tests, and its right answers from plain sets.

::

    unit u    nodes n{u}-0 .. n{u}-{nodes-1}; adapter mlx5_r of each on leaf{u}-{r}
    storage   two servers with two adapters, on leaves of their own
    spines    joined to all leaves
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations

from gingham import Fabric


@dataclass(frozen=True)
class RailFabric:
    """Numbers of units, nodes per unit, rails and spines."""

    units: int = 5
    nodes: int = 12
    rails: int = 4
    spines: int = 3
    storage: int = 2
    # Share of the adapter cables that are missing, chosen by the seed.
    missing: float = 0.0
    seed: int = 1

    def fabric(self) -> Fabric:
        """Make the fabric of a list of edges, whose adapters are named as hosts name them."""
        leaves = [f"leaf{unit}-{rail}" for unit in range(self.units) for rail in range(self.rails)]
        leaves += ["storage0", "storage1"] if self.storage else []
        edges = [(leaf, f"spine{spine}") for leaf in leaves for spine in range(self.spines)]
        adapters = self.adapters()
        edges += [(leaf, adapter) for adapter, leaf in adapters.items()]
        return Fabric.from_edges(edges, hosts=adapters)

    def adapters(self) -> dict[str, str]:
        """Return the leaf of each adapter that has a cable."""
        places = {
            f"n{unit}-{node} mlx5_{rail}": f"leaf{unit}-{rail}"
            for unit in range(self.units)
            for node in range(self.nodes)
            for rail in range(self.rails)
        }
        gone = random.Random(self.seed).sample(sorted(places), round(self.missing * len(places)))  # noqa: S311
        for adapter in gone:
            del places[adapter]
        for server in range(self.storage):
            places |= {f"oss{server} mlx5_{port}": f"storage{port}" for port in (0, 1)}
        return places

    def expected_units(self) -> set[frozenset[str]]:
        """Return the nodes of each unit that have at least one cable."""
        units = defaultdict[str, set[str]](set)
        for adapter, leaf in self.adapters().items():
            units[leaf.partition("-")[0][:7]].add(adapter.partition(" ")[0])
        return {frozenset(nodes) for nodes in units.values()}


def pairs_of(sets: object) -> set[tuple[str, str]]:
    """Return the pairs of names within each set."""
    return {pair for names in sets for pair in combinations(sorted(names), 2)}  # type: ignore[attr-defined]


def leaves_of_nodes(fabric: Fabric) -> dict[str, set[str]]:
    """Return the leaves of each node by the first word of its adapters' names or descriptions."""
    devices = {device.name: device for device in fabric.devices}
    leaves = defaultdict[str, set[str]](set)
    for cable in fabric.cables:
        for (one, _), (other, _) in (cable.ends, cable.ends[::-1]):
            device = devices[one]
            if device.kind == "host" and devices[other].kind == "switch":
                leaves[(device.description or one).split()[0]].add(other)
    return dict(leaves)
