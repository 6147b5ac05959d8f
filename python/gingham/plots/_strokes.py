"""The lines of the fabric's picture: each channel is the half of its cable at its sender.

::

        a ━━━━━━━━━━━━━━━─────────────── b
          a -> b: dark     b -> a: light       the colour of a half is that channel's utilisation

A half begins at the edge of its node's mark. Parallel cables are drawn side by side. A wrap-around
cable of a grid becomes two loose halves, each at its sender.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gingham.plots._tables import Floats

# Pitch of parallel cables, in line widths; gap in the middle of a cable, in points.
PARALLEL_PITCH, OPEN_MIDDLE = 1.5, 1.6
ARC_POINTS, ARC_BULGE = 9, 0.2


@dataclass(frozen=True, slots=True)
class Box:
    """The mark of a node: half its width and half its height, in points."""

    half_width: float
    half_height: float

    def rim(self, way: Floats) -> float:
        """Return the distance from the middle to the edge of the box, as a multiple of `way`."""
        across, up = abs(float(way[0])), abs(float(way[1]))
        reaches = [
            half / part
            for half, part in ((self.half_width, across), (self.half_height, up))
            if part > 0
        ]
        return min(reaches, default=0.0)


@dataclass(frozen=True, slots=True)
class Stroke:
    """One half of a cable, from the edge of its sender's mark to the middle."""

    # Shape (points, 2).
    path: Floats
    # Channels, by row of the links table: one, or those represented by a count.
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Wire:
    """A line drawn as one cable: its ends and their boxes, and the channels of both halves."""

    places: tuple[Floats, Floats]
    boxes: tuple[Box, Box]
    rows: tuple[tuple[int, ...], tuple[int, ...]]
    # Wires of one pair of nodes are drawn side by side, unless their ends already differ.
    pair: tuple[int, int] | None
    # Vectors towards the margin from each end, for a wrap-around cable.
    around: tuple[Floats, Floats] | None = None
    # Bend of the line, if a straight one would cross other nodes.
    bulge: Floats | None = None


def strokes(wires: Sequence[Wire], width: float) -> list[Stroke]:
    """Return two strokes per wire, in the order of the wires."""
    offsets = side_by_side(wires, width * PARALLEL_PITCH)
    found: list[Stroke] = []
    for wire, offset in zip(wires, offsets, strict=True):
        found += halves(wire, offset)
    return found


def side_by_side(wires: Sequence[Wire], pitch: float) -> list[float]:
    """Return the sideways offset of each wire, seen from the lower-numbered node of its pair."""
    alike: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, wire in enumerate(wires):
        if wire.pair is not None:
            alike[min(wire.pair), max(wire.pair)].append(index)
    offsets = [0.0] * len(wires)
    for pair, members in alike.items():
        for place, index in enumerate(members):
            sign = 1.0 if wires[index].pair == pair else -1.0
            offsets[index] = sign * pitch * (place - (len(members) - 1) / 2)
    return offsets


def halves(wire: Wire, offset: float) -> Iterable[Stroke]:
    """Return the two strokes of a wire."""
    first, second = wire.places
    if wire.around is not None:
        ways = wire.around
        return [
            Stroke(loose(place, way, box, aside), rows)
            for place, way, box, aside, rows in zip(
                wire.places, ways, wire.boxes, (offset, -offset), wire.rows, strict=True
            )
        ]
    starts = side(first, second - first, wire.boxes[0], offset)
    ends = side(second, first - second, wire.boxes[1], -offset)
    if wire.bulge is not None:
        whole = arc(starts, ends, wire.bulge)
        middle = len(whole) // 2
        return [
            Stroke(whole[: middle + 1], wire.rows[0]),
            Stroke(whole[: middle - 1 : -1], wire.rows[1]),
        ]
    # Halves of the visible part of the line.
    length = float(np.hypot(*(ends - starts))) or 1.0
    way = (ends - starts) * max(0.5 - OPEN_MIDDLE / 2 / length, 0.4)
    return [
        Stroke(np.array([starts, starts + way]), wire.rows[0]),
        Stroke(np.array([ends, ends - way]), wire.rows[1]),
    ]


def side(place: Floats, way: Floats, box: Box, offset: float) -> Floats:
    """Return the point where a cable leaves the edge of a box along `way`, moved sideways."""
    length = float(np.hypot(*way)) or 1.0
    aside = offset * np.array([-way[1], way[0]]) / length
    return np.asarray(place + aside + min(box.rim(way), 0.45) * way)


def loose(place: Floats, way: Floats, box: Box, offset: float) -> Floats:
    """Return a half that ends at the end of `way`."""
    start = side(place, way, box, offset)
    return np.array([start, start + (1 - min(box.rim(way), 0.45)) * way])


def arc(first: Floats, second: Floats, bulge: Floats) -> Floats:
    """Return a flat arc between two points, bent in a direction."""
    along = np.linspace(0.0, 1.0, 2 * ARC_POINTS - 1)[:, None]
    way = second - first
    aside = np.array([-way[1], way[0]])
    aside = aside if aside @ bulge >= 0 else -aside
    return np.asarray(first + along * way + 4 * along * (1 - along) * ARC_BULGE * aside)


def cut(path: Floats, share: float) -> Floats:
    """Return the beginning of a path, up to a share of its length."""
    steps = np.hypot(*np.diff(path, axis=0).T)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    end = share * along[-1]
    kept = path[along < end]
    x, y = (np.interp(end, along, path[:, axis]) for axis in (0, 1))
    return np.vstack([kept, [x, y]])
