"""Stress for irregular fabrics: far apart in cables is far apart on paper.

The sum over all pairs of (distance on paper - distance in cables)^2 / (distance in cables)^2 is
made small by majorisation (Gansner, Koren and North, "Graph Drawing by Stress Majorization", GD
2004), from the start of classical scaling on a few pivots (Brandes and Pich, "Eigensolver Methods
for Progressive Multidimensional Scaling of Large Data", GD 2006). Of very large graphs the start
is all there is. The longest extent lies across.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gingham.plots._layout._graph import Graph, Placement

if TYPE_CHECKING:
    from gingham.plots._tables import Floats, Indices

PIVOTS = 100
# A matrix of this many rows is still inverted in about a second.
MAJORISED_MAX = 1200
ROUNDS, SETTLED = 300, 1e-4
# Points that a cable wants, and that marks of hosts need; those that a whole picture may take,
# with more for each switch up to many.
CABLE, MARK_ROOM = 76.0, 2.5
EXTENT_MAX, EXTENT_MORE, EXTENT_MANY = 820.0, 0.8, 500
# No two switches stand closer; how often those that do are pushed apart.
CLOSEST, PUSHES, PUSHES_MIN, PUSHED_MAX = 38.0, 80, 8, 4_000_000
# How far a switch stands from the cables of others; for how many switches times cables.
BESIDE, BESIDE_MAX = 16.0, 60_000


def place(graph: Graph) -> Placement:
    """Return a placement of any connected graph."""
    placement = Placement.empty(graph.count, "stress")
    if graph.count > 1:
        positions = scaled(start(graph))
        if graph.count <= MAJORISED_MAX:
            positions = majorised(graph, positions)
        pairs = np.array([(a, b) for a, b, _ in graph.pairs()], dtype=np.int64)
        placement.positions[:] = spread(to_points(graph, upright(positions), pairs), pairs)
    return placement


def start(graph: Graph) -> Floats:
    """Return the two main directions of the distances to pivots, each far from those before."""
    columns = [graph.distances([0])]
    pivots = min(PIVOTS, graph.count)
    nearest = columns[0].copy()
    while len(columns) < pivots:
        columns.append(graph.distances([int(np.argmax(nearest))]))
        nearest = np.minimum(nearest, columns[-1])
    squares = np.array(columns, dtype=np.float64).T ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    _, vectors = np.linalg.eigh(centred.T @ centred)
    main = vectors[:, ::-1][:, :2]
    if main.shape[1] < 2:  # noqa: PLR2004
        main = np.hstack([main, np.zeros_like(main)])
    return np.asarray(centred @ main)


def scaled(positions: Floats) -> Floats:
    """Return the positions at the scale of cables, no two of them the same.

    Switches with the same distances would fall together and never part, so each is moved a
    little along a spiral that fills the plane evenly.
    """
    extent = float(np.abs(positions).max()) or 1.0
    golden = np.pi * (3 - np.sqrt(5)) * np.arange(len(positions))
    spiral = np.column_stack([np.cos(golden), np.sin(golden)])
    spread = np.sqrt(np.arange(len(positions)) / len(positions))[:, None]
    reach = float(np.sqrt(len(positions)))
    return np.asarray(positions / extent * reach + 0.1 * spread * spiral)


def majorised(graph: Graph, positions: Floats) -> Floats:
    """Return the positions when the stress falls no further."""
    count = graph.count
    far = np.array([graph.distances([node]) for node in range(count)], dtype=np.float64)
    np.fill_diagonal(far, 1.0)
    weights = far**-2
    np.fill_diagonal(weights, 0.0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.inv(laplacian + 1 / count) - 1 / count
    before = np.inf
    for _ in range(ROUNDS):
        apart = np.hypot(*(positions[:, None, :] - positions[None, :, :]).transpose(2, 0, 1))
        now = float((weights * (apart - far) ** 2).sum())
        if now >= before * (1 - SETTLED):
            break
        before = now
        pull = -weights * far / np.maximum(apart, 1e-9)
        np.fill_diagonal(pull, 0.0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        positions = inverse @ (pull @ positions)
    return positions


def upright(positions: Floats) -> Floats:
    """Return the positions turned so that the longest extent lies across."""
    centred = positions - positions.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    turned = centred @ axes[:, ::-1]
    # A sign that numbers alone would choose at will.
    for axis in (0, 1):
        extreme = turned[np.argmax(np.abs(turned[:, axis])), axis]
        turned[:, axis] *= -1.0 if extreme < 0 else 1.0
    return np.asarray(turned)


def to_points(graph: Graph, positions: Floats, pairs: Indices) -> Floats:
    """Return the positions in points: cables long enough, the whole not too large."""
    lengths = np.hypot(*(positions[pairs[:, 0]] - positions[pairs[:, 1]]).T)
    wanted = CABLE + MARK_ROOM * max(graph.marks)
    scale = wanted / max(float(np.median(lengths)), 1e-9)
    extent = float(np.ptp(positions, axis=0).max())
    most = EXTENT_MAX + EXTENT_MORE * min(graph.count, EXTENT_MANY)
    return positions * min(scale, most / max(extent, 1e-9))


def spread(points: Floats, pairs: Indices) -> Floats:
    """Return the points, each pushed away from others and from cables that are not its own."""
    if len(points) > MAJORISED_MAX:
        return points
    rounds = max(PUSHES_MIN, min(PUSHES, PUSHED_MAX // len(points) ** 2))
    for _ in range(rounds):
        push = from_points(points)
        if len(points) * len(pairs) <= BESIDE_MAX:
            push = push + from_cables(points, pairs)
        if np.abs(push).max(initial=0.0) < SETTLED:
            break
        points = points + push
    return points


def from_points(points: Floats) -> Floats:
    """Return by how much each point must move so that all are `CLOSEST` apart."""
    apart = points[:, None, :] - points[None, :, :]
    far = np.hypot(*apart.transpose(2, 0, 1))
    np.fill_diagonal(far, np.inf)
    push = np.maximum(CLOSEST / np.maximum(far, 1e-9) - 1, 0.0) / 2
    return np.asarray((push[:, :, None] * apart).sum(axis=1))


def from_cables(points: Floats, pairs: Indices) -> Floats:
    """Return by how much each point must move to stand beside the cables of others."""
    start, way = points[pairs[:, 0]], points[pairs[:, 1]] - points[pairs[:, 0]]
    from_start = points[:, None, :] - start[None, :, :]
    squares = np.maximum((way**2).sum(axis=1), 1e-9)
    along = np.clip((from_start * way).sum(axis=2) / squares, 0.0, 1.0)
    aside = from_start - along[:, :, None] * way
    far = np.hypot(*aside.transpose(2, 0, 1))
    for end in (0, 1):
        far[pairs[:, end], np.arange(len(pairs))] = np.inf
    push = np.maximum(BESIDE / np.maximum(far, 1e-6) - 1, 0.0)
    push[far < 1e-6] = 0.0  # noqa: PLR2004  (on the cable itself, where no side is nearer)
    return np.asarray((np.minimum(push, 1.0)[:, :, None] * aside).sum(axis=1) / 2)
