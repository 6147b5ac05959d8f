"""Stress layout for irregular fabrics: distances on paper follow distances in cables.

The sum over all pairs of (distance on paper - distance in cables)^2 / (distance in cables)^2 is
minimised by majorisation (Gansner, Koren and North, "Graph Drawing by Stress Majorization", GD
2004), starting from classical scaling on a few pivots (Brandes and Pich, "Eigensolver Methods for
Progressive Multidimensional Scaling of Large Data", GD 2006). Very large graphs keep the starting
layout. The longest extent is horizontal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gingham.plots._layout._graph import Graph, Placement

if TYPE_CHECKING:
    from gingham.plots._tables import Floats, Indices

PIVOTS = 100
# Largest number of rows of a matrix that is inverted: about a second.
MAJORISED_MAX = 1200
ROUNDS, SETTLED = 300, 1e-4
# Points per cable, and per mark of a host; maximum extent of the picture, with an increment per
# switch up to a limit.
CABLE, MARK_ROOM = 76.0, 2.5
EXTENT_MAX, EXTENT_MORE, EXTENT_MANY = 820.0, 0.8, 500
# Minimum distance between switches, and numbers of passes that enforce it.
CLOSEST, PUSHES, PUSHES_MIN, PUSHED_MAX = 38.0, 80, 8, 4_000_000
# Minimum distance of a switch from other cables, and limit of switches times cables for it.
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
    """Return coordinates from the distances to pivots, each pivot far from the previous ones."""
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
    """Return the positions scaled to cable lengths, all of them distinct.

    Switches with equal distances would coincide and never separate, so each is shifted slightly
    along a spiral that fills the plane evenly.
    """
    extent = float(np.abs(positions).max()) or 1.0
    golden = np.pi * (3 - np.sqrt(5)) * np.arange(len(positions))
    spiral = np.column_stack([np.cos(golden), np.sin(golden)])
    spread = np.sqrt(np.arange(len(positions)) / len(positions))[:, None]
    reach = float(np.sqrt(len(positions)))
    return np.asarray(positions / extent * reach + 0.1 * spread * spiral)


def majorised(graph: Graph, positions: Floats) -> Floats:
    """Return the positions after the stress has converged."""
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
    """Return the positions rotated to a horizontal longest extent."""
    centred = positions - positions.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    turned = centred @ axes[:, ::-1]
    # Fixes the sign, which is numerically arbitrary.
    for axis in (0, 1):
        extreme = turned[np.argmax(np.abs(turned[:, axis])), axis]
        turned[:, axis] *= -1.0 if extreme < 0 else 1.0
    return np.asarray(turned)


def to_points(graph: Graph, positions: Floats, pairs: Indices) -> Floats:
    """Return the positions in points, with sufficiently long cables and a limited total size."""
    lengths = np.hypot(*(positions[pairs[:, 0]] - positions[pairs[:, 1]]).T)
    wanted = CABLE + MARK_ROOM * max(graph.marks)
    scale = wanted / max(float(np.median(lengths)), 1e-9)
    extent = float(np.ptp(positions, axis=0).max())
    most = EXTENT_MAX + EXTENT_MORE * min(graph.count, EXTENT_MANY)
    return positions * min(scale, most / max(extent, 1e-9))


def spread(points: Floats, pairs: Indices) -> Floats:
    """Return the points, each moved away from others and from cables of others."""
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
    """Return the displacement of each point that makes all at least `CLOSEST` apart."""
    apart = points[:, None, :] - points[None, :, :]
    far = np.hypot(*apart.transpose(2, 0, 1))
    np.fill_diagonal(far, np.inf)
    push = np.maximum(CLOSEST / np.maximum(far, 1e-9) - 1, 0.0) / 2
    return np.asarray((push[:, :, None] * apart).sum(axis=1))


def from_cables(points: Floats, pairs: Indices) -> Floats:
    """Return the displacement of each point that clears the cables of others."""
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
