r"""The fringe of a picture: grouping and placement of hosts and other ends at switches.

::

    a comb under a leaf        a fan beside a switch       a count for large groups
         [leaf]                      ·  ·
         │ │ │ │                  ·  \ /                        [leaf]
         · · · ·                  ──(s3)──                        │
                                     │                           (18)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gingham.plots._layout import Placement
    from gingham.plots._network import Network
    from gingham.plots._tables import Floats

# Above this number, nodes at the same switches are drawn as one mark with a count.
DRAWN_MAX = 200
# Points: length of a host's cable and of one in a second row; pitch of a comb and of a fan.
DROP, DROP_SECOND = 34.0, 26.0
COMB_PITCH, COUNT_PITCH = 5.0, 17.0
FAN_REACH, FAN_REACH_MAX, FAN_PITCH, FAN_SPAN_MAX = 33.0, 90.0, 8.0, 1.9
# If switches are closer than this, hosts are placed at this share of the distance.
TIGHT, TIGHT_REACH = 43.0, 0.7
# Distance of hosts from a switch without neighbours.
STAR_REACH = 46.0
# Share of the free angle beside a switch used by its hosts.
FAN_SHARE = 0.72


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes of the fringe that are drawn as one mark."""

    kind: str
    nodes: tuple[int, ...]
    # Core nodes cabled to each node, by index in the layout.
    anchors: tuple[int, ...]
    # Cables, by index in the network.
    cables: tuple[int, ...]


def grouped(network: Network, core: dict[int, int]) -> list[Group]:
    """Return the groups of the fringe; `core` maps core nodes to indices in the layout."""
    fringe = network.fringe()
    cables: dict[int, list[int]] = {node: [] for node in fringe}
    anchors: dict[int, list[int]] = {node: [] for node in fringe}
    for cable, (a, b) in enumerate(network.ends.tolist()):
        for node, other in ((a, b), (b, a)):
            if node in cables:
                cables[node].append(cable)
                anchors[node].append(core[other])
    together: dict[tuple[object, ...], list[int]] = {}
    for node in fringe:
        key = (network.kinds[node], *sorted(anchors[node]))
        together.setdefault(key if len(fringe) > DRAWN_MAX else (node,), []).append(node)
    return [
        Group(
            network.kinds[nodes[0]],
            tuple(nodes),
            tuple(dict.fromkeys(sorted(anchors[nodes[0]]))),
            tuple(cable for node in nodes for cable in cables[node]),
        )
        for nodes in together.values()
    ]


def tight(placement: Placement) -> bool:
    """Whether switches are so close that space for hosts is limited."""
    return placement.shape != "layers" and placement.near < TIGHT


def place_groups(groups: list[Group], placement: Placement, ways: list[list[float]]) -> Floats:
    """Return the position of each group; `ways` are the angles of cables at core nodes."""
    places = np.zeros((len(groups), 2))
    by_anchors: dict[tuple[int, ...], list[int]] = {}
    for index, group in enumerate(groups):
        by_anchors.setdefault(group.anchors, []).append(index)
    for anchors, members in by_anchors.items():
        if len(anchors) > 1:
            places[members] = shared(placement, anchors, len(members))
        elif placement.room[anchors[0]] > 0 and not np.isnan(placement.outward[anchors[0]]):
            counted = any(len(groups[member].nodes) > 1 for member in members)
            places[members] = comb(placement, anchors[0], len(members), counted=counted)
        else:
            places[members] = fan(placement, anchors[0], ways[anchors[0]], len(members))
    return places


def comb(placement: Placement, anchor: int, count: int, *, counted: bool) -> Floats:
    """Return positions in a row under or above a switch of a layer."""
    pitch = min(COUNT_PITCH if counted else COMB_PITCH, placement.room[anchor] / count)
    side = math.copysign(1.0, placement.outward[anchor])
    offsets = (np.arange(count) - (count - 1) / 2) * pitch
    drop = np.full(count, side * DROP)
    return np.asarray(placement.positions[anchor] + np.column_stack([offsets, drop]))


def fan(placement: Placement, anchor: int, ways: list[float], count: int) -> Floats:
    """Return positions on an arc beside a switch, in the widest free angle."""
    middle, free = direction(placement.outward[anchor], ways)
    whole = not ways and np.isnan(placement.outward[anchor])
    gaps = max(count - 1, 1)
    if whole:
        span, reach = star_span(count), star_reach(count)
    else:
        span = min(FAN_SHARE * free, FAN_SPAN_MAX, gaps * FAN_PITCH / FAN_REACH * 1.6)
        wanted = gaps * FAN_PITCH / max(span, 1e-9) if count > 1 else 0.0
        reach = min(max(FAN_REACH, wanted), FAN_REACH_MAX)
        reach = min(reach, TIGHT_REACH * placement.near) if tight(placement) else reach
    angles = middle + span * (np.arange(count) / gaps - 0.5 * (count > 1))
    arc = np.column_stack([np.cos(angles), np.sin(angles)])
    return np.asarray(placement.positions[anchor] + reach * arc)


def star_span(count: int) -> float:
    """Return the angle between the first and the last of the hosts around a lone switch."""
    return math.tau * (1 - 1 / count)


def star_reach(count: int) -> float:
    """Return the distance of hosts from a lone switch, in points."""
    wanted = (count - 1) * FAN_PITCH / star_span(count) if count > 1 else 0.0
    return max(STAR_REACH, wanted)


def direction(outward: float, ways: list[float]) -> tuple[float, float]:
    """Return the middle and the width of the free angle: around `outward`, or else the widest."""
    if not ways:
        return (math.pi / 2 if math.isnan(outward) else outward), math.tau
    if not math.isnan(outward):
        nearest = min(abs(math.remainder(way - outward, math.tau)) for way in ways)
        return outward, 2 * nearest
    ordered = sorted(way % math.tau for way in ways)
    gaps = [
        after - way
        for way, after in zip(ordered, [*ordered[1:], ordered[0] + math.tau], strict=True)
    ]
    # Rounded, so that the first of equal gaps is chosen on every machine.
    widest = max(range(len(gaps)), key=lambda index: (round(gaps[index], 6), -index))
    return ordered[widest] + gaps[widest] / 2, gaps[widest]


def shared(placement: Placement, anchors: tuple[int, ...], count: int) -> Floats:
    """Return the positions of nodes cabled to several switches: between and beside these."""
    ends = placement.positions[list(anchors)]
    centre = ends.mean(axis=0)
    if placement.shape == "layers":
        centre[1] = ends[:, 1].min() - DROP - DROP_SECOND
        along = np.array([1.0, 0.0])
    else:
        towards = ends[-1] - ends[0]
        along = towards / (float(np.hypot(*towards)) or 1.0)
        centre = centre + FAN_REACH * np.array([-along[1], along[0]])
    offsets = (np.arange(count) - (count - 1) / 2) * FAN_PITCH
    return np.asarray(centre + offsets[:, None] * along)
