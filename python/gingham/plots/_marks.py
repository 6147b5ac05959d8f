"""Marks of nodes: a box per switch, with its name inside if it fits.

In layers a switch is a bar, wide enough that its cables leave side by side, as from ports::

        ┌───────────────┐          ┌───────┐
        │    spine0     │          │       │
        └┬──┬──┬──┬──┬──┘          └┬─┬─┬─┬┘   up: in the order of the far ends
         │  │  │  │  │              leaf7      down: above its host
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gingham.plots._strokes import Box

if TYPE_CHECKING:
    from gingham.plots._fringe import Group
    from gingham.plots._layout import Placement
    from gingham.plots._tables import Floats

# In points: a switch without its name inside, a host, a count.
SWITCH, DOT, COUNT = Box(4.5, 4.5), Box(1.8, 1.8), Box(6.5, 6.5)
# Half the width of a character, and margins around a name within a box.
CHARACTER, NAME_MARGIN, NAME_HEIGHT = 1.9, 3.0, 6.0
# Outside of layers, maximum length of a name in a box, and minimum distance of switches.
NAME_MAX, APART_MIN = 7, 24.0
# Half the mark of a switch, as a share of the distance between close neighbours.
SMALL_SHARE = 0.3
# Half a bar's width, as a share of the switch's slot in its layer, and maximum.
BAR_SHARE, BAR_MAX = 0.4, 62.0
COMB_MARGIN = 4.0
# Position of the outermost cable, as a share of half the width of a bar.
OUTERMOST = 0.9
# Minimum space for a name beside its switch.
UPRIGHT_ROOM_MIN, BESIDE_APART_MIN = 7.0, 28.0


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a switch beside its mark."""

    place: tuple[float, float]
    text: str
    # Whether it is written upwards.
    upright: bool
    # Whether it ends at its position rather than beginning there.
    below: bool


def boxes(
    names: list[str], placement: Placement, groups: list[Group], places: Floats
) -> tuple[list[Box], list[str]]:
    """Return the box of each node, and the name in it, empty if it does not fit."""
    if placement.shape == "layers":
        return bars(names, placement, groups, places)
    near = placement.near
    if max(map(len, names)) > NAME_MAX or near < APART_MIN:
        half = min(SWITCH.half_width, SMALL_SHARE * near)
        return [Box(half, half)] * len(names), [""] * len(names)
    return [Box(half_width(name), NAME_HEIGHT) for name in names], names


def half_width(name: str) -> float:
    """Return half the width of a box with a name."""
    return CHARACTER * len(name) + NAME_MARGIN


def bars(
    names: list[str], placement: Placement, groups: list[Group], places: Floats
) -> tuple[list[Box], list[str]]:
    """Return bars as wide as the span of their hosts, with names in all bars of a layer or none."""
    halves = np.minimum(BAR_SHARE * placement.room, BAR_MAX)
    for group, place in zip(groups, places, strict=True):
        if len(group.anchors) == 1:
            reach = abs(place[0] - placement.positions[group.anchors[0], 0]) + COMB_MARGIN
            halves[group.anchors[0]] = max(halves[group.anchors[0]], reach)
    shown = [""] * len(names)
    for layer in set(placement.layers.tolist()):
        members = np.flatnonzero(placement.layers == layer).tolist()
        if all(half_width(names[one]) <= 0.47 * placement.room[one] for one in members):
            for one in members:
                shown[one] = names[one]
                halves[one] = max(halves[one], half_width(names[one]))
    heights = [NAME_HEIGHT if name else SWITCH.half_height for name in shown]
    return [Box(float(half), height) for half, height in zip(halves, heights, strict=True)], shown


def leaving(placement: Placement, boxes: list[Box], pairs: list[tuple[int, int]]) -> Floats:
    """Return the ends of cables between layers at their two bars: shape (cables, 2 ends, 2).

    On each side of a bar they are sorted by their far ends, so that parallel cables stay parallel.
    A cable within a layer leaves from the middle.
    """
    positions, layers = placement.positions, placement.layers
    ends = positions[np.array(pairs, dtype=np.int64).reshape(-1, 2)]
    sides: dict[tuple[int, bool], list[tuple[float, int, int]]] = defaultdict(list)
    for cable, pair in enumerate(pairs):
        for end, (a, b) in enumerate((pair, pair[::-1])):
            if layers[a] != layers[b]:
                sides[a, bool(layers[b] > layers[a])].append((float(positions[b, 0]), cable, end))
    for (node, upwards), cables in sides.items():
        box = boxes[node]
        for place, (_, cable, end) in enumerate(sorted(cables)):
            share = (place + 0.5) / len(cables) * 2 - 1
            aside = share * OUTERMOST * box.half_width
            ends[cable, end] += (aside, box.half_height if upwards else -box.half_height)
    return ends


def labels(
    names: list[str],
    shown: list[str],
    placement: Placement,
    groups: list[Group],
    places: Floats,
) -> list[Label]:
    """Return the names outside of boxes: under the hosts, above the top, or under a switch."""
    missing = [index for index, name in enumerate(shown) if not name]
    if placement.shape == "layers":
        return upright_labels(names, missing, placement, groups, places)
    if not missing or placement.near < BESIDE_APART_MIN:
        return []
    below = placement.positions - (0.0, SWITCH.half_height + 2)
    return [
        Label((float(below[one, 0]), float(below[one, 1])), names[one], upright=False, below=True)
        for one in missing
    ]


def upright_labels(
    names: list[str],
    missing: list[int],
    placement: Placement,
    groups: list[Group],
    places: Floats,
) -> list[Label]:
    """Return the names of the lowest and the highest layer; those between have no space."""
    lowest, highest = placement.positions[:, 1].copy(), placement.positions[:, 1].copy()
    for group, place in zip(groups, places, strict=True):
        for anchor in group.anchors:
            lowest[anchor] = min(lowest[anchor], place[1])
            highest[anchor] = max(highest[anchor], place[1])
    found = []
    for one in missing:
        if not math.isnan(placement.outward[one]) and placement.room[one] >= UPRIGHT_ROOM_MIN:
            below = bool(placement.layers[one] == 0)
            y = lowest[one] - 11 if below else highest[one] + 11
            place = (float(placement.positions[one, 0]), float(y))
            found.append(Label(place, names[one], upright=True, below=below))
    return found
