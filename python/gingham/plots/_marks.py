"""The marks of nodes: a box a switch, with its name in it where there is room.

In layers a switch is a bar, wide enough that its cables leave side by side, as from the ports of
the real thing::

        ┌───────────────┐          ┌───────┐
        │    spine0     │          │       │
        └┬──┬──┬──┬──┬──┘          └┬─┬─┬─┬┘   up: in the order of where they lead
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

# In points: a switch without its name in it, a host, a count.
SWITCH, DOT, COUNT = Box(4.5, 4.5), Box(1.8, 1.8), Box(6.5, 6.5)
# Half the width of a character, and of what stands around a name, within a box.
CHARACTER, NAME_MARGIN, NAME_HEIGHT = 1.9, 3.0, 6.0
# Outside of layers only so short a name, and only so far from others, stands in its box.
NAME_MAX, APART_MIN = 7, 24.0
# Of the way between neighbours, half the mark of a switch where these are close.
SMALL_SHARE = 0.3
# Of the room of a switch in its layer, what half its bar takes, and how much that may be.
BAR_SHARE, BAR_MAX = 0.4, 62.0
COMB_MARGIN = 4.0
# Of half the width of a bar, how far out its outermost cable leaves.
OUTERMOST = 0.9
# A name beside its switch is left out where less room is.
UPRIGHT_ROOM_MIN, BESIDE_APART_MIN = 7.0, 28.0


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a switch beside its mark."""

    place: tuple[float, float]
    text: str
    # Read upwards.
    upright: bool
    # Ends at its place, or else begins there.
    below: bool


def boxes(
    names: list[str], placement: Placement, groups: list[Group], places: Floats
) -> tuple[list[Box], list[str]]:
    """Return the box of each node, and the name in it, empty where there is no room."""
    if placement.shape == "layers":
        return bars(names, placement, groups, places)
    near = placement.near
    if max(map(len, names)) > NAME_MAX or near < APART_MIN:
        half = min(SWITCH.half_width, SMALL_SHARE * near)
        return [Box(half, half)] * len(names), [""] * len(names)
    return [Box(half_width(name), NAME_HEIGHT) for name in names], names


def half_width(name: str) -> float:
    """Return half the width of a box with this name in it."""
    return CHARACTER * len(name) + NAME_MARGIN


def bars(
    names: list[str], placement: Placement, groups: list[Group], places: Floats
) -> tuple[list[Box], list[str]]:
    """Return bars as wide as their hosts hang, with names in all bars of a layer or in none."""
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
    """Return where cables between layers leave their two bars: shape (cables, 2 ends, 2).

    On each side of a bar they are spread in the order of where they lead, so that parallel cables
    stay parallel. A cable within a layer leaves from the middle.
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
    """Return the names that stand beside: under the hosts, above the top, under a switch."""
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
    """Return the names of the lowest and the highest layer; those between have no room."""
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
