"""Circles: rings, and dragonflies with the switches of a group side by side.

::

         s0-0  s0-1              ring:       each switch beside its two neighbours
      s2-1        s1-0           dragonfly:  a gap between groups, global cables across
         s2-0  s1-1

A ring is recognised by its cables, a dragonfly by its names: the first of two numbers is the group,
and each group is fully connected.
"""

from __future__ import annotations

import math
import re

import numpy as np

from gingham.plots._layout._graph import Graph, Placement

RADIUS_MIN, PITCH = 95.0, 34.0
PITCH_SMALL, MANY = 20.0, 60
RADIUS_MAX = 430.0
# Gap between groups, in units of the distance between switches.
GROUP_GAP = 1.0


def place(graph: Graph) -> Placement | None:
    """Return the circle of a ring or a dragonfly, or `None`."""
    groups = ring(graph) or dragonfly(graph)
    if groups is None:
        return None
    gap = GROUP_GAP if len(groups) > 1 else 0.0
    turns = graph.count + gap * len(groups)
    pitch = PITCH if turns <= MANY else PITCH_SMALL
    radius = min(max(RADIUS_MIN, turns * pitch / math.tau), RADIUS_MAX)
    placement = Placement.empty(graph.count, "circle")
    at = 0.0
    for group in groups:
        for node in group:
            # From the top, clockwise.
            angle = math.pi / 2 - math.tau * at / turns
            placement.positions[node] = radius * np.array([math.cos(angle), math.sin(angle)])
            placement.outward[node] = angle
            at += 1
        at += gap
    return placement


def ring(graph: Graph) -> list[list[int]] | None:
    """Return the switches of a ring in their order, as one group."""
    if graph.count < 3 or any(len(near) != 2 for near in graph.neighbours):  # noqa: PLR2004
        return None
    order = [0, min(graph.neighbours[0])]
    while len(order) < graph.count:
        order.append(next(b for b in graph.neighbours[order[-1]] if b != order[-2]))
    return [order]


def dragonfly(graph: Graph) -> list[list[int]] | None:
    """Return the groups of a dragonfly."""
    groups: dict[int, list[int]] = {}
    for node, label in enumerate(graph.labels):
        numbers = re.findall(r"[0-9]+", label)
        if len(numbers) != 2:  # noqa: PLR2004
            return None
        groups.setdefault(int(numbers[0]), []).append(node)
    sizes = {len(group) for group in groups.values()}
    if len(groups) < 3 or len(sizes) != 1 or sizes == {1}:  # noqa: PLR2004
        return None
    joined = (
        b in graph.neighbours[a] for group in groups.values() for a in group for b in group if a < b
    )
    return [groups[number] for number in sorted(groups)] if all(joined) else None
