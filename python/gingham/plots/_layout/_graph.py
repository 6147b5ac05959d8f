"""Input and output of a layout."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from gingham.plots._tables import Floats, Indices

Shape: TypeAlias = Literal["grid", "circle", "layers", "stress"]
UNREACHED = -1


@dataclass(frozen=True, slots=True)
class Graph:
    """The core of a fabric: its switches, and the number of cables between them."""

    labels: list[str]
    # Number of cables to each neighbour, by node.
    neighbours: list[dict[int, int]]
    # Number of hosts at each node.
    hosts: list[int]
    # Number of marks that represent these hosts in the picture.
    marks: list[int]
    # Width of each node's name, written horizontally, in points.
    name_widths: list[float]

    @classmethod
    def of(
        cls,
        labels: list[str],
        pairs: Iterable[tuple[int, int]],
        hosts: list[int] | None = None,
        marks: list[int] | None = None,
        name_widths: list[float] | None = None,
    ) -> Self:
        """Return the graph of these cables; cables from a node to itself are ignored."""
        neighbours: list[dict[int, int]] = [{} for _ in labels]
        for a, b in pairs:
            if a != b:
                neighbours[a][b] = neighbours[a].get(b, 0) + 1
                neighbours[b][a] = neighbours[b].get(a, 0) + 1
        none = [0] * len(labels)
        widths = name_widths or [0.0] * len(labels)
        return cls(labels, neighbours, hosts or none, marks or hosts or none, widths)

    @property
    def count(self) -> int:
        """Number of nodes."""
        return len(self.labels)

    def pairs(self) -> list[tuple[int, int, int]]:
        """Return the neighbours as pairs, the smaller number first, with the number of cables."""
        return [
            (a, b, n) for a, near in enumerate(self.neighbours) for b, n in near.items() if a < b
        ]

    def distances(self, starts: Iterable[int]) -> Indices:
        """Return each node's distance in cables from the nearest of the starts."""
        distance = np.full(self.count, UNREACHED, dtype=np.int64)
        front = list(dict.fromkeys(starts))
        distance[front] = 0
        while front:
            near = [b for a in front for b in self.neighbours[a] if distance[b] == UNREACHED]
            step = distance[front[0]] + 1
            front = list(dict.fromkeys(near))
            distance[front] = step
        return distance

    def components(self) -> list[list[int]]:
        """Return the connected components, the largest first."""
        seen: set[int] = set()
        parts = []
        for start in range(self.count):
            if start not in seen:
                part = np.flatnonzero(self.distances([start]) != UNREACHED).tolist()
                seen.update(part)
                parts.append(part)
        return sorted(parts, key=len, reverse=True)

    def part(self, nodes: list[int]) -> Graph:
        """Return the graph of these nodes, renumbered in their order."""
        number = {node: index for index, node in enumerate(nodes)}
        near = [
            {number[b]: n for b, n in self.neighbours[node].items() if b in number}
            for node in nodes
        ]
        return Graph(
            [self.labels[node] for node in nodes],
            near,
            [self.hosts[node] for node in nodes],
            [self.marks[node] for node in nodes],
            [self.name_widths[node] for node in nodes],
        )


@dataclass(slots=True)
class Placement:
    """Positions of nodes, in points."""

    shape: Shape
    # Shape (nodes, 2).
    positions: Floats
    # Direction of a node's hosts, in radians; NaN for the widest free angle.
    outward: Floats
    # Width that a node's hosts may use along its layer, in points; 0 if it is not in a layer.
    room: Floats
    # Layer of each node, 0 at the hosts, for shapes with layers.
    layers: Indices
    # Distance of a typical node from its nearest neighbour, in points.
    near: float = math.inf
    # For wrap-around cables of a grid: vector from the first node towards the margin, in points.
    # Contains both directions of a pair.
    around: dict[tuple[int, int], Floats] = field(default_factory=dict)

    @classmethod
    def empty(cls, count: int, shape: Shape) -> Self:
        """Return a placement of nodes at the origin."""
        return cls(
            shape,
            np.zeros((count, 2)),
            np.full(count, np.nan),
            np.zeros(count),
            np.full(count, UNREACHED, dtype=np.int64),
        )

    def take(self, nodes: list[int], part: Placement, shift: Floats) -> None:
        """Copy the positions of some of the nodes, shifted by `shift`."""
        self.positions[nodes] = part.positions + shift
        self.outward[nodes] = part.outward
        self.room[nodes] = part.room
        self.layers[nodes] = part.layers
        for (a, b), way in part.around.items():
            self.around[nodes[a], nodes[b]] = way
