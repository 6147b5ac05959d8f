"""Geometry of the fabric's picture: positions of nodes, cables and labels, in points.

::

    Network ──core──► Graph ──place──► Placement ─┐
       └────fringe──► Group ──────────────────────┴──► Scene: strokes, boxes, labels

The scene has no colours; they are added by `_fabric`.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gingham.plots._fringe import Group, grouped, place_groups, tight
from gingham.plots._layout import Graph, Placement, place
from gingham.plots._marks import COUNT, DOT, Label, boxes, half_width, labels, leaving
from gingham.plots._strokes import Box, Stroke, Wire, strokes

if TYPE_CHECKING:
    from gingham.plots._network import Network
    from gingham.plots._tables import Floats

WIDTH_MIN, WIDTH_MAX, WIDTH_MAX_LAYERS, WIDTH_MAX_HOSTS = 0.75, 4.2, 3.2, 2.6
# Line width: as a share of the pitch of cables at a bar, and of the distance of switches elsewhere.
SHARE_OF_PITCH, SHARE_OF_WAY = 0.55, 1 / 15
SELF_LOOP = 16.0
# Maximum distance of the ends of a cable that is bent inwards, as a share of the circle's radius.
BULGE_SHARE = 0.62
# Maximum distance of neighbours, as a multiple of the typical distance.
NEIGHBOURS = 1.3
POINT = Box(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Scene:
    """The contents of the picture."""

    placement: Placement
    # Core nodes by index in the network, in the order of the placement.
    core: list[int]
    boxes: list[Box]
    # Names within the boxes; empty if they do not fit.
    names: list[str]
    labels: list[Label]
    groups: list[Group]
    group_places: Floats
    # Two per cable of the core, then two per cable or count of the fringe; with their widths.
    strokes: list[Stroke]
    line_widths: Floats


def scene(network: Network) -> Scene:
    """Return the scene of a fabric with at least one cable."""
    core = network.core()
    number = {node: index for index, node in enumerate(core)}
    short = network.short_names()
    names = [short[network.names[node]] for node in core]
    groups = grouped(network, number)
    between = [
        cable for cable, (a, b) in enumerate(network.ends.tolist()) if a in number and b in number
    ]
    pairs = [(number[a], number[b]) for a, b in network.ends[between].tolist()]
    placement = place(graph(network, names, pairs, groups))
    places = place_groups(groups, placement, ways_out(placement, pairs))
    marks, shown = boxes(names, placement, groups, places)
    width = line_width(placement, marks, pairs)
    host_width = min(width, WIDTH_MAX_HOSTS)
    drawn = strokes(core_wires(network, between, pairs, placement, marks), width)
    hanging = strokes(fringe_wires(network, groups, places, placement, marks, number), host_width)
    widths = np.array([width] * len(drawn) + [host_width] * len(hanging))
    beside = labels(names, shown, placement, groups, places)
    return Scene(placement, core, marks, shown, beside, groups, places, drawn + hanging, widths)


def graph(
    network: Network, names: list[str], pairs: list[tuple[int, int]], groups: list[Group]
) -> Graph:
    """Return the core as a graph for the layout."""
    hosts, marks = [0] * len(names), [0] * len(names)
    for group in groups:
        for anchor in group.anchors:
            hosts[anchor] += len(group.nodes) if group.kind == "host" else 0
            # A count is as wide as three dots.
            marks[anchor] += 3 if len(group.nodes) > 1 else 1
    full = [network.names[node] for node in network.core()]
    return Graph.of(full, pairs, hosts, marks, [2 * half_width(name) for name in names])


def ways_out(placement: Placement, pairs: list[tuple[int, int]]) -> list[list[float]]:
    """Return the angles of the cables at each core node that lead to other core nodes."""
    ways: list[list[float]] = [[] for _ in placement.positions]
    for a, b in (end for pair in pairs for end in (pair, pair[::-1])):
        way = placement.around.get((a, b), placement.positions[b] - placement.positions[a])
        if a != b:
            ways[a].append(math.atan2(way[1], way[0]))
    return ways


def core_wires(
    network: Network,
    cables: list[int],
    pairs: list[tuple[int, int]],
    placement: Placement,
    marks: list[Box],
) -> list[Wire]:
    """Return the wires of the cables between core nodes."""
    layers = placement.layers
    spread = leaving(placement, marks, pairs) if placement.shape == "layers" else None
    wires = []
    for index, (cable, (a, b)) in enumerate(zip(cables, pairs, strict=True)):
        first, second = ((int(row),) for row in network.rows[cable])
        around = None
        if a == b:
            around = np.array([SELF_LOOP, SELF_LOOP]), np.array([-SELF_LOOP, SELF_LOOP])
        elif (a, b) in placement.around:
            around = placement.around[a, b], placement.around[b, a]
        if spread is not None and layers[a] != layers[b]:
            ends = spread[index, 0], spread[index, 1]
            wires.append(Wire(ends, (POINT, POINT), (first, second), None))
            continue
        ends = placement.positions[a], placement.positions[b]
        beside = bulge(placement, a, b)
        wires.append(Wire(ends, (marks[a], marks[b]), (first, second), (a, b), around, beside))
    return wires


def bulge(placement: Placement, a: int, b: int) -> Floats | None:
    """Return the bend of a cable that would cross other nodes of its layer or group."""
    if placement.shape == "layers" and a != b:
        return np.array([0.0, 1.0])
    ends = placement.positions[[a, b]]
    radius = float(np.hypot(*ends[0]))
    beyond_neighbours = NEIGHBOURS * placement.near < math.dist(*ends) < BULGE_SHARE * radius
    if placement.shape == "circle" and beyond_neighbours:
        return np.asarray(-ends.mean(axis=0))
    return None


def fringe_wires(
    network: Network,
    groups: list[Group],
    places: Floats,
    placement: Placement,
    marks: list[Box],
    number: dict[int, int],
) -> list[Wire]:
    """Return the wires of the fringe: one per cable, or one for all cables of a count."""
    wires = []
    small = tight(placement)
    for group, place_of in zip(groups, places, strict=True):
        counted = len(group.nodes) > 1
        rows: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
        for cable in group.cables:
            a, b = network.ends[cable].tolist()
            near = 0 if a in number else 1
            anchor = number[b if near else a]
            down, up = rows.setdefault((anchor, -1 if counted else cable), ([], []))
            down.append(int(network.rows[cable, near]))
            up.append(int(network.rows[cable, 1 - near]))
        box = COUNT if counted and not small else DOT
        for (anchor, _), (down, up) in rows.items():
            start, mark = hung(placement, marks, anchor, place_of)
            alone = len(rows) == 1 or len(group.anchors) > 1
            pair = None if alone else (anchor, len(marks) + group.nodes[0])
            wires.append(Wire((start, place_of), (mark, box), (tuple(down), tuple(up)), pair))
    return wires


def hung(placement: Placement, marks: list[Box], anchor: int, place: Floats) -> tuple[Floats, Box]:
    """Return the start of a host's cable at its switch: above the host if the switch is a bar."""
    at, box = placement.positions[anchor], marks[anchor]
    aside = float(place[0] - at[0])
    if placement.shape != "layers" or abs(aside) > box.half_width:
        return at, box
    side = math.copysign(box.half_height, place[1] - at[1])
    return np.array([at[0] + aside, at[1] + side]), POINT


def line_width(placement: Placement, marks: list[Box], pairs: list[tuple[int, int]]) -> float:
    """Return a line width that keeps neighbouring cables apart."""
    if placement.shape != "layers":
        return min(max(placement.near * SHARE_OF_WAY, WIDTH_MIN), WIDTH_MAX)
    layers = placement.layers
    ends = [(a, bool(layers[b] > layers[a])) for one in pairs for a, b in (one, one[::-1])]
    count = Counter(ends)
    pitch = min(
        (2 * marks[node].half_width / n for (node, _), n in count.items()), default=WIDTH_MAX
    )
    return min(max(pitch * SHARE_OF_PITCH, WIDTH_MIN), WIDTH_MAX_LAYERS)
