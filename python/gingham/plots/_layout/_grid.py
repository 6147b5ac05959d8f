"""Grids: tori, meshes and hypercubes whose switches have their coordinates in their names.

::

    two dimensions           three: a diagonal in each cell
      s0-0 ── s0-1                 ·       ·          no line runs through a third switch
       │       │                 ·  ──── ·
      s1-0 ── s1-1

As for routing by coordinates, the names are verified: their numbers must fill a box, and each cable
must join neighbours in one dimension, wrap-around cables included. A wrap-around cable is drawn as
two loose ends at the margins. A closed grid of one dimension is left to the circle.
"""

from __future__ import annotations

import itertools
import math
import re
from typing import TYPE_CHECKING

import numpy as np

from gingham.plots._layout._graph import Graph, Placement

if TYPE_CHECKING:
    from gingham.plots._tables import Floats, Indices

# Points between switches: size of a cell in small and large grids, and limits for the whole.
CELL_MAX, CELL, CELL_MIN, EXTENT_WANTED, EXTENT_MAX = 120.0, 84.0, 20.0, 420.0, 860.0
CELL_MAX_DEEP = 420.0
# Further dimensions lie within a cell, each in its own direction, progressively shorter.
INNER_ANGLES = (0.62, -0.95, 1.25, -1.3)
INNER_SHARE, INNER_SHRINK = 0.62, 0.42
# Desired length of a step within a cell, in points.
INNER_STEP = 44.0
LOOSE_END = 0.46
# Direction of hosts, by number of dimensions: free of cables.
OUTWARD = (math.pi / 2, math.pi / 4, 0.75 * math.pi, math.nan)


def place(graph: Graph) -> Placement | None:
    """Return the layout of a graph that is a grid, or `None`."""
    at = coordinates(graph.labels)
    if at is None or at.shape[1] == 0 or not neighbours_only(graph, at):
        return None
    sizes = at.max(axis=0) + 1
    if is_ring(graph, at):
        return None
    steps = step_vectors(sizes)
    placement = Placement.empty(graph.count, "grid")
    placement.positions[:] = at @ steps
    placement.outward[:] = OUTWARD[min(len(sizes), len(OUTWARD)) - 1]
    for a, b, _ in graph.pairs():
        dimension = int(np.flatnonzero(at[a] != at[b])[0])
        if abs(int(at[a, dimension] - at[b, dimension])) > 1:
            outwards = LOOSE_END * steps[dimension]
            sign = 1.0 if at[a, dimension] > at[b, dimension] else -1.0
            placement.around[a, b] = sign * outwards
            placement.around[b, a] = -sign * outwards
    return placement


def coordinates(labels: list[str]) -> Indices | None:
    """Return the numbers in the names from 0, without flat dimensions, if they fill a box."""
    found = [[int(digits) for digits in re.findall(r"[0-9]+", label)] for label in labels]
    if len({len(one) for one in found}) != 1 or not found[0]:
        return None
    if max(max(one) for one in found) - min(min(one) for one in found) > 10 * len(labels) ** 2 + 10:
        return None
    at = np.array(found, dtype=np.int64)
    at -= at.min(axis=0)
    at = at[:, at.max(axis=0) > 0]
    sizes = at.max(axis=0, initial=0) + 1
    distinct = len({tuple(row) for row in at.tolist()}) == len(labels)
    return at if distinct and math.prod(sizes.tolist()) == len(labels) else None


def neighbours_only(graph: Graph, at: Indices) -> bool:
    """Whether all cables, and enough of them, join neighbours in exactly one dimension."""
    sizes = at.max(axis=0) + 1
    pairs = graph.pairs()
    for a, b, _ in pairs:
        differ = np.flatnonzero(at[a] != at[b])
        if len(differ) != 1:
            return False
        apart = abs(int(at[a, differ[0]] - at[b, differ[0]]))
        if apart not in {1, int(sizes[differ[0]]) - 1}:
            return False
    inner = sum(graph.count // int(size) * (int(size) - 1) for size in sizes)
    return len(pairs) >= inner


def is_ring(graph: Graph, at: Indices) -> bool:
    """Whether the grid is a single closed line."""
    return at.shape[1] == 1 and len(graph.pairs()) == graph.count > 2  # noqa: PLR2004


def step_vectors(sizes: Indices) -> Floats:
    """Return the step vector of each dimension: rows down, columns right, then within cells."""
    inner = inner_steps(sizes)
    across = max(int(sizes[:2].max()) - 1, 1)
    cell = min(max(EXTENT_WANTED / across, CELL), CELL_MAX)
    if len(inner):
        wanted = INNER_STEP / float(np.hypot(*inner.T).min())
        cell = max(cell, min(wanted, CELL_MAX_DEEP))
    cell = max(min(cell, EXTENT_MAX / across), CELL_MIN)
    outer = np.array([[0.0, -1.0], [1.0, 0.0]] if len(sizes) > 1 else [[1.0, 0.0]])
    return cell * np.vstack([outer, inner])


def inner_steps(sizes: Indices) -> Floats:
    """Return the steps of the third and further dimensions, in cells."""
    steps = np.zeros((max(len(sizes) - 2, 0), 2))
    length = INNER_SHARE
    for index, (size, angle) in enumerate(
        zip(sizes[2:], itertools.cycle(INNER_ANGLES), strict=False)
    ):
        steps[index] = length / max(int(size) - 1, 1) * np.array([math.cos(angle), math.sin(angle)])
        length *= INNER_SHRINK
    return steps
