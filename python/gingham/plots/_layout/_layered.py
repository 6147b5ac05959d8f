r"""Layers for folded Clos networks and fat trees: hosts at the bottom, spines at the top.

::

    layer 1        s0      s1        distance 1 from a leaf
                  /  \    /  \
    layer 0      l0   l1 l2   l3     leaves: the switches with hosts
                 ::   :: ::   ::

A spine may have a host or two of its own (a subnet manager). The leaves are therefore the switches
with at least n hosts, for the smallest n that leaves no cable between switches of one layer; a few
such flat cables are tolerated. Within its layer each switch repeatedly moves to the mean position
of its neighbours below, then above (the barycentre method: Sugiyama, Tagawa and Toda, "Methods for
Visual Understanding of Hierarchical System Structures", IEEE Trans. SMC 11(2), 1981). The order
with the fewest crossings is used if it has clearly fewer than the order of names, which helps
readers to find a switch.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gingham.plots._layout._graph import Graph, Placement
from gingham.plots._style import natural

if TYPE_CHECKING:
    from gingham.plots._tables import Floats

# Beyond these limits a fabric is not drawn as a Clos network.
LAYERS_MAX, FLAT_SHARE_MAX = 6, 0.05
SWEEPS = 8
# An order must have fewer crossings than this share of those in the order of names.
CLEARLY_FEWER = 0.9
# With more cabled pairs than this, there are two sweeps, and crossings are not counted.
COUNTED_MAX = 20_000
# Points between switches of a layer, per mark of a host, and between two layers.
PITCH, PITCH_SMALL, MANY = 26.0, 13.0, 40
MARK_PITCH, SLOT_MARGIN = 5.0, 8.0
# Maximum width of a layer that makes space for names.
NAMED_MAX = 840.0
WIDTH_MIN, GAP_MIN, GAP_MAX, GAP_SHARE = 300.0, 105.0, 230.0, 0.28


def place(graph: Graph) -> Placement | None:
    """Return the layout of a graph with layers, or `None`."""
    layers = layers_of(graph)
    if layers is None:
        return None
    orders = ordered(graph, layers)
    placement = Placement.empty(graph.count, "layers")
    placement.layers[:] = layers
    width = max(WIDTH_MIN, *(slots(graph, order).sum() for order in orders))
    height = min(max(GAP_SHARE * width, GAP_MIN), GAP_MAX)
    for layer, order in enumerate(orders):
        room = slots(graph, order) if layer == 0 else np.ones(len(order))
        room = room * (width / room.sum())
        placement.positions[order, 0] = np.cumsum(room) - room / 2
        placement.positions[order, 1] = layer * height
        placement.room[order] = room
    placement.outward[orders[0]] = -math.pi / 2
    placement.outward[orders[-1]] = math.pi / 2
    return placement


def slots(graph: Graph, order: list[int]) -> Floats:
    """Return the width that each switch of a layer needs; for its name, too, if all fit."""
    pitch = PITCH if len(order) <= MANY else PITCH_SMALL
    marks = np.array([MARK_PITCH * graph.marks[node] + SLOT_MARGIN for node in order])
    names = np.array([graph.name_widths[node] + SLOT_MARGIN for node in order])
    needed = np.maximum(marks, pitch)
    named = np.maximum(needed, names)
    return np.asarray(named if named.sum() <= NAMED_MAX else needed)


def layers_of(graph: Graph) -> list[int] | None:
    """Return the layer of each switch, or `None` if the graph has no useful layers."""
    best: tuple[float, list[int]] | None = None
    for least in sorted({hosts for hosts in graph.hosts if hosts}):
        leaves = [node for node in range(graph.count) if graph.hosts[node] >= least]
        layers = graph.distances(leaves).tolist()
        if not 0 < max(layers) < LAYERS_MAX:
            continue
        flat = flat_share(graph, layers)
        if flat <= FLAT_SHARE_MAX and (best is None or flat < best[0]):
            best = flat, layers
    return best[1] if best else None


def flat_share(graph: Graph, layers: list[int]) -> float:
    """Return the share of cables that join switches of one layer."""
    pairs = graph.pairs()
    flat = sum(cables for a, b, cables in pairs if layers[a] == layers[b])
    return flat / max(sum(cables for _, _, cables in pairs), 1)


def ordered(graph: Graph, layers: list[int]) -> list[list[int]]:
    """Return the switches of each layer from left to right."""
    by_name = sorted(range(graph.count), key=lambda node: natural(graph.labels[node]))
    orders = [[node for node in by_name if layers[node] == at] for at in range(max(layers) + 1)]
    pairs = graph.pairs()
    if len(pairs) > COUNTED_MAX:
        up = swept(graph, layers, orders, upwards=True)
        return swept(graph, layers, up, upwards=False)
    best, fewest = orders, CLEARLY_FEWER * crossings(pairs, layers, orders)
    for sweep in range(SWEEPS):
        orders = swept(graph, layers, orders, upwards=sweep % 2 == 0)
        count = crossings(pairs, layers, orders)
        if count < fewest:
            best, fewest = orders, float(count)
    return best


def swept(
    graph: Graph, layers: list[int], orders: list[list[int]], *, upwards: bool
) -> list[list[int]]:
    """Return the orders after a sweep that moves each layer towards the previous one."""
    orders = [list(order) for order in orders]
    step = 1 if upwards else -1
    for layer in range(len(orders))[::step][1:]:
        place = places(orders)

        def centre(node: int, before: int = layer - step, place: dict[int, float] = place) -> float:
            near = [(place[b], n) for b, n in graph.neighbours[node].items() if layers[b] == before]
            cables = sum(n for _, n in near)
            return sum(x * n for x, n in near) / cables if cables else place[node]

        # The sort is stable, so that switches with equal neighbours keep their order.
        orders[layer].sort(key=lambda node: round(centre(node), 9))
    return orders


def places(orders: list[list[int]]) -> dict[int, float]:
    """Return the position of each switch along its layer, from 0 to 1."""
    return {
        node: (index + 0.5) / len(order) for order in orders for index, node in enumerate(order)
    }


def crossings(pairs: list[tuple[int, int, int]], layers: list[int], orders: list[list[int]]) -> int:
    """Return the number of crossing cables between adjacent layers."""
    rank = {node: index for order in orders for index, node in enumerate(order)}
    between: dict[int, list[tuple[int, int, int]]] = {}
    for a, b, cables in pairs:
        low, high = (a, b) if layers[a] < layers[b] else (b, a)
        if layers[high] == layers[low] + 1:
            between.setdefault(layers[low], []).append((rank[low], rank[high], cables))
    return sum(inversions(edges, len(orders[low + 1])) for low, edges in between.items())


def inversions(edges: list[tuple[int, int, int]], places_above: int) -> int:
    """Return the number of crossing edges, weighted by their cables."""
    # Number of cables by place above, of the edges further left below.
    ended = np.zeros(places_above, dtype=np.int64)
    count, last = 0, -1
    waiting: list[tuple[int, int]] = []
    for low, high, cables in sorted(edges):
        if low != last:
            for place, more in waiting:
                ended[place] += more
            waiting, last = [], low
        count += cables * int(ended[high + 1 :].sum())
        waiting.append((high, cables))
    return count
