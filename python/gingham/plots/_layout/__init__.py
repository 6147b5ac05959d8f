"""Layout of the switches of a fabric in its picture.

===========  ==================================================  ===========================
shape        condition                                           file
===========  ==================================================  ===========================
grid         names hold coordinates and the cables agree         `_grid`
layers       levels of distance from the hosts, few cables flat  `_layered`
circle       a ring; a dragonfly, its groups side by side        `_circle`
stress       anything else                                       `_stress`
===========  ==================================================  ===========================

The layouts are written in numpy: well-maintained graph libraries have no layered layout with few
crossings, and their stress layout requires a second large library for a minimisation that takes
twenty lines here. Positions are in points on paper, y upwards; equal graphs have equal positions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gingham.plots._fringe import star_reach
from gingham.plots._layout import _circle, _grid, _layered, _stress
from gingham.plots._layout._graph import Graph, Placement

if TYPE_CHECKING:
    from gingham.plots._tables import Floats

__all__ = ["Graph", "Placement", "place"]

SHAPES = (_grid.place, _layered.place, _circle.place, _stress.place)
# Distance between unconnected parts of a fabric, and maximum length of a row of them.
GAP, ROW_MAX = 60.0, 900.0
# Margin beside a part, in points per mark at the node with the most marks.
MARK_ROOM = 3.0
# Number of nodes whose distances to neighbours are sampled.
SAMPLE = 300


def place(graph: Graph) -> Placement:
    """Return the positions of the nodes of the graph; unconnected parts are placed apart."""
    parts = graph.components()
    if len(parts) == 1:
        placement = place_connected(graph)
    else:
        placement = packed(graph, parts, [place_connected(graph.part(nodes)) for nodes in parts])
    placement.near = typical_way(placement.positions)
    return placement


def place_connected(graph: Graph) -> Placement:
    """Return the placement by the first matching shape."""
    return next(placement for shape in SHAPES if (placement := shape(graph)) is not None)


def typical_way(positions: Floats) -> float:
    """Return the typical distance of a node from its nearest neighbour, from a sample."""
    if len(positions) < 2:  # noqa: PLR2004
        return math.inf
    some = positions[:: max(1, len(positions) // SAMPLE)]
    far = np.hypot(*(some[:, None, :] - positions[None, :, :]).transpose(2, 0, 1))
    far[far == 0] = np.inf
    return float(np.median(far.min(axis=1)))


def packed(graph: Graph, parts: list[list[int]], placements: list[Placement]) -> Placement:
    """Arrange the parts in rows, with about equal width and height overall."""
    whole = Placement.empty(graph.count, placements[0].shape if placements else "stress")
    margins = [margin_of(graph, nodes) for nodes in parts]
    sizes = [
        np.ptp(one.positions, axis=0) + 2 * margin
        for one, margin in zip(placements, margins, strict=True)
    ]
    area = sum(float((size + GAP).prod()) for size in sizes)
    row_end = max([ROW_MAX, math.sqrt(area), *(float(size[0]) for size in sizes)])
    x, y, row_height = 0.0, 0.0, 0.0
    for nodes, one, margin, (width, height) in zip(parts, placements, margins, sizes, strict=True):
        if x > 0 and x + width > row_end:
            x, y, row_height = 0.0, y - row_height - GAP, 0.0
        corner = np.array([x + margin, y - height + margin]) - one.positions.min(axis=0)
        whole.take(nodes, one, corner)
        x, row_height = x + width + GAP, max(row_height, height)
    return whole


def margin_of(graph: Graph, nodes: list[int]) -> float:
    """Return how far the hosts of a part extend beyond its switches, in points."""
    most = max(graph.marks[node] for node in nodes)
    return star_reach(most) if len(nodes) == 1 and most else MARK_ROOM * most
