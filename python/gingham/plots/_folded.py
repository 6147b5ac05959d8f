r"""The picture of a folded fabric: stacks with their numbers, and the hottest cables by name.

::

    core            [    64    ]       number in a box: switches in the stack
                   / / |  | \ \       width of a line: cables between two stacks; their number
    leaf         [8] [8] [8] [8]       is beside it unless it is the usual one
                 (64)(64)(64)(64)      number in a circle: hosts of the stack

Lines are grey, unless cables have several speeds. The hottest channels of a run are drawn beside
them, coloured and numbered, with their names in the key.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection

from gingham.errors import counted
from gingham.plots import _style as style
from gingham.plots._fabric import AROUND, LABEL_CHARACTER, LABEL_SIZE, canvas
from gingham.plots._fabric_key import LEFT, LINE, MARGIN, TEXT_SIZE
from gingham.plots._hottest import Hot, draw_hot_key, draw_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gingham.plots._fold import Folded, Stack
    from gingham.plots._network import Network
    from gingham.plots._tables import Floats

# In points: minimum and maximum width of a pod, and of all pods; left margin for level names.
PITCH_MIN, PITCH_MAX, WIDTH_MIN, WIDTH_MAX, NAMES_LEFT = 17.0, 62.0, 520.0, 1240.0, 62.0
# Distance between levels of a pod, and across the cut; half sizes of a box; drop to the hosts.
LEVEL, LEVEL_ABOVE, HALF_HEIGHT, HALF_WIDTH_MAX, DROP = 96.0, 170.0, 8.0, 34.0, 40.0
# Half width of a box above the cut: as a share of its slot, and maximum.
ABOVE_SHARE, ABOVE_MAX = 0.42, 220.0
# Width of a line for one cable; increment per doubling; distance between lines of a bundle.
LINE_WIDTH, LINE_MORE, BESIDE = 0.6, 0.3, 3.0
RADIUS_MIN, RADIUS_PITCH, LINES_MANY = 170.0, 26.0, 400
NAME_LENGTH = 22
LEVELS_BY_NAME = {1: ["leaf"], 2: ["leaf", "spine"], 3: ["leaf", "spine", "core"]}
# A number of cables is usual if at least this share of the lines between two levels has it.
USUAL_MIN = 0.5


@dataclass(frozen=True, slots=True)
class Places:
    """Positions of the stacks of a folded fabric, in points."""

    centres: Floats
    half_widths: Floats
    # Direction from each stack towards its hosts.
    outward: Floats


@style.styled
def draw(
    network: Network,
    folded: Folded,
    *,
    title: str,
    headline: str,
    speeds: Sequence[str | None] = (),
    hottest: Sequence[Hot] = (),
) -> Figure:
    """Return the picture; `speeds` are those of the cables, `hottest` channels are coloured."""
    places = placed(folded)
    told = list(dict.fromkeys(speed for speed in speeds if speed))
    colours = dict(zip(told, style.CLASS_COLOURS, strict=False)) if len(told) > 1 else {}
    lines = bundles(network, folded, speeds if colours else ())
    notes = [*notes_of(folded, lines), *colours]
    short = network.short_names()
    names = {
        place: name_of(network, folded, stack, short)
        for place, stack in enumerate(folded.stacks)
        if stack.level == 0
    }
    low, high = extent(folded, places, max(map(len, names.values())))
    rows = max(len(notes), len(hottest) + bool(hottest), 2)
    below = 2 * MARGIN + LINE * rows
    figure, axes, key = canvas(high - low, low, below, title, f"{headline} {summary(folded)}")
    draw_bundles(axes, folded, places, lines, colours)
    draw_hosts(axes, folded, places)
    draw_stacks(axes, network, folded, places, names)
    draw_hottest(axes, network, folded, places, hottest)
    draw_notes(key, notes, colours)
    draw_hot_key(key, hottest)
    return figure


def placed(folded: Folded) -> Places:
    """Return the places of all stacks: pods side by side, or groups on a circle."""
    return on_circle(folded) if folded.shape == "groups" else in_levels(folded)


def on_circle(folded: Folded) -> Places:
    """Return groups on a circle, clockwise from the top."""
    count = len(folded.stacks)
    radius = max(RADIUS_MIN, count * RADIUS_PITCH / math.tau)
    angles = math.pi / 2 - math.tau * np.arange(count) / count
    outward = np.column_stack([np.cos(angles), np.sin(angles)])
    return Places(radius * outward, np.full(count, 10.0), outward)


def in_levels(folded: Folded) -> Places:
    """Return pods side by side, with the stacks above them evenly spaced."""
    pods = len(folded.alike)
    width = min(max(WIDTH_MIN, pods * PITCH_MAX), max(WIDTH_MAX, pods * PITCH_MIN))
    pitch = width / pods
    centres = np.zeros((len(folded.stacks), 2))
    halves = np.full(len(folded.stacks), min(0.42 * pitch, HALF_WIDTH_MAX))
    cut = min((one.level for one in folded.stacks if one.pod is None), default=folded.levels)
    above: dict[int, list[int]] = defaultdict(list)
    for place, stack in enumerate(folded.stacks):
        over = max(stack.level - cut + 1, 0)
        gap = LEVEL_ABOVE - LEVEL if over else 0.0
        centres[place, 1] = LEVEL * stack.level + gap
        if stack.pod is None:
            above[stack.level].append(place)
        else:
            centres[place, 0] = (stack.pod + 0.5) * pitch
    for members in above.values():
        room = width / len(members)
        centres[members, 0] = (np.arange(len(members)) + 0.5) * room
        halves[members] = min(max(ABOVE_SHARE * room, 10.0), ABOVE_MAX)
    return Places(centres, halves, np.tile((0.0, -1.0), (len(folded.stacks), 1)))


def extent(folded: Folded, places: Places, name_length: int) -> tuple[Floats, Floats]:
    """Return the lower left and the upper right corner of the drawing."""
    low = (places.centres - np.column_stack([places.half_widths, places.half_widths * 0])).min(0)
    high = (places.centres + np.column_stack([places.half_widths, places.half_widths * 0])).max(0)
    if folded.shape == "groups":
        return low - AROUND - DROP - 14.0, high + AROUND + DROP + 14.0
    below = DROP + 14.0 + LABEL_CHARACTER * name_length
    above = np.array([AROUND + 30.0, HALF_HEIGHT + AROUND])
    return low - np.array([NAMES_LEFT + AROUND, below]), high + above


def bundles(
    network: Network, folded: Folded, speeds: Sequence[str | None]
) -> dict[tuple[int, int, str | None], int]:
    """Return the number of cables between two stacks, the smaller number first, by speed."""
    count: Counter[tuple[int, int, str | None]] = Counter()
    for cable, (a, b) in enumerate(network.ends.tolist()):
        if network.is_switch(a) and network.is_switch(b):
            first, second = sorted((folded.stack_of[a], folded.stack_of[b]))
            if first != second:
                count[first, second, speeds[cable] if speeds else None] += 1
    return count


def way(folded: Folded, places: Places, a: int, b: int) -> Floats:
    """Return the ends of the bundle from stack `a` to stack `b`: shape (2, 2)."""
    ends = np.array([places.centres[a], places.centres[b]])
    if folded.shape == "groups":
        return ends - np.array([places.outward[a], places.outward[b]]) * HALF_HEIGHT
    level = places.centres[:, 0].max() + places.centres[:, 0].min()
    for end, (one, other) in enumerate(((a, b), (b, a))):
        side = np.sign(places.centres[other, 1] - places.centres[one, 1])
        ends[end, 1] += side * HALF_HEIGHT
        if folded.stacks[one].pod is None:
            share = (places.centres[other, 0] - level / 2) / max(level / 2, 1.0)
            ends[end, 0] += 0.92 * share * places.half_widths[one]
    return ends


def draw_bundles(
    axes: Axes,
    folded: Folded,
    places: Places,
    lines: Mapping[tuple[int, int, str | None], int],
    colours: Mapping[str, str],
) -> None:
    """Draw a line for each bundle, with its number of cables if that is unusual."""
    usual = usual_numbers(folded, lines)
    # Many lines merge into a shade; thinner lines leave white between them.
    thin = min(1.0, (LINES_MANY / max(len(lines), 1)) ** 0.5)
    beside = Counter((a, b) for a, b, _ in lines)
    drawn: Counter[tuple[int, int]] = Counter()
    paths, widths, shades = [], [], []
    for (a, b, speed), cables in sorted(lines.items(), key=lambda one: str(one[0])):
        path = way(folded, places, a, b)
        aside = BESIDE * (drawn[a, b] - (beside[a, b] - 1) / 2)
        drawn[a, b] += 1
        paths.append(moved(path, aside))
        widths.append(thin * (LINE_WIDTH + LINE_MORE * math.log2(cables)))
        shades.append(colours.get(speed or "", style.QUIET))
        label_bundle(axes, folded, path, cables, usual.get(kind_of(folded, a, b), cables))
    found = LineCollection(paths, gid="bundles", colors=shades, linewidths=widths, zorder=1)
    axes.add_collection(found, autolim=False)


def kind_of(folded: Folded, a: int, b: int) -> tuple[int, int]:
    """Return the levels that a bundle joins."""
    low, high = sorted((folded.stacks[a].level, folded.stacks[b].level))
    return low, high


def label_bundle(axes: Axes, folded: Folded, path: Floats, cables: int, usual: int) -> None:
    """Write the number of cables beside a line if other lines between its levels have another."""
    if folded.shape == "groups" or cables == usual:
        return
    low = path[int(np.argmin(path[:, 1]))]
    high = path[int(np.argmax(path[:, 1]))]
    place = low + min(16.0 / max(float(np.hypot(*(high - low))), 1.0), 0.5) * (high - low)
    x, y = place.tolist()
    text = axes.text(x, y, f"{cables:,}", size=LABEL_SIZE - 0.5, ha="center", va="center")
    text.set(color="#9c2f00", zorder=4, gid="unusual")
    text.set(bbox={"facecolor": style.NODE_FACE, "alpha": 0.85, "linewidth": 0, "pad": 0.4})


def usual_numbers(
    folded: Folded, lines: Mapping[tuple[int, int, str | None], int]
) -> dict[tuple[int, int], int]:
    """Return the most common number of cables per line between two levels."""
    levels: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    for (a, b, _), cables in lines.items():
        levels[kind_of(folded, a, b)][cables] += 1
    return {
        pair: count.most_common(1)[0][0]
        for pair, count in levels.items()
        if count.most_common(1)[0][1] >= USUAL_MIN * count.total()
    }


def moved(path: Floats, aside: float) -> Floats:
    """Return a straight path shifted sideways."""
    along = path[-1] - path[0]
    length = float(np.hypot(*along)) or 1.0
    return np.asarray(path + aside * np.array([-along[1], along[0]]) / length)


def host_place(folded: Folded, places: Places, stack: int) -> Floats:
    """Return the position of the number of hosts of a stack."""
    at = places.centres[stack]
    if folded.shape == "groups" or folded.stacks[stack].level == 0:
        return np.asarray(at + places.outward[stack] * DROP)
    return np.asarray(at + np.array([places.half_widths[stack] + 13.0, 0.0]))


def draw_hosts(axes: Axes, folded: Folded, places: Places) -> None:
    """Draw hosts as their number."""
    paths = []
    for place, stack in enumerate(folded.stacks):
        if stack.hosts:
            end = host_place(folded, places, place)
            paths.append(np.array([places.centres[place], end]))
            x, y = end.tolist()
            text = axes.text(x, y, f"{stack.hosts:,}", size=LABEL_SIZE, zorder=6)
            text.set(ha="center", va="center", bbox=style.node_box("circle", 0.25), gid="hosts")
    found = LineCollection(paths, gid="host-cables", colors=style.QUIET, linewidths=1.2, zorder=1)
    axes.add_collection(found, autolim=False)


def draw_stacks(
    axes: Axes, network: Network, folded: Folded, places: Places, names: Mapping[int, str]
) -> None:
    """Draw a box per stack with its number of switches, and the names of pods and levels."""
    short = network.short_names()
    for place, stack in enumerate(folded.stacks):
        x, y = places.centres[place]
        half = places.half_widths[place]
        box = axes.bar(x, 2 * HALF_HEIGHT, 2 * half, y - HALF_HEIGHT, zorder=5, gid="stack")
        for one in box:
            one.set(facecolor=style.NODE_FACE, edgecolor=style.NODE_EDGE, linewidth=0.8)
        text = axes.text(x, y, box_text(network, stack, short, half), size=LABEL_SIZE + 0.5)
        text.set(ha="center", va="center_baseline", zorder=6)
        if place in names:
            draw_name(axes, folded, places, place, names[place])
    if folded.shape == "levels":
        left = float((places.centres[:, 0] - places.half_widths).min()) - 10.0
        for level in range(folded.levels):
            y = next(
                float(places.centres[place, 1])
                for place, stack in enumerate(folded.stacks)
                if stack.level == level
            )
            text = axes.text(left, y, level_text(folded, level), size=TEXT_SIZE, ha="right")
            text.set(va="center", color=style.FAINT)


def box_text(network: Network, stack: Stack, short: Mapping[str, str], half: float) -> str:
    """Return the number of switches in a box; for one above the leaves its name, if it fits."""
    if len(stack.nodes) > 1:
        return f"{len(stack.nodes):,}"
    name = short[network.names[stack.nodes[0]]]
    fits = LABEL_CHARACTER * len(name) < 2 * half
    return name if stack.level and fits else ""


def name_of(network: Network, folded: Folded, stack: Stack, short: Mapping[str, str]) -> str:
    """Return the label of a pod: its switch, or the first switch and the number of others."""
    if stack.pod is not None and folded.alike[stack.pod] > 1:
        return f"{folded.alike[stack.pod]:,} pods"
    names = sorted((short[network.names[node]] for node in stack.nodes), key=style.natural)
    if len(names) == 1:
        return style.clipped(names[0], NAME_LENGTH)
    return f"{style.clipped(names[0], NAME_LENGTH - 2)} …"


def draw_name(axes: Axes, folded: Folded, places: Places, place: int, name: str) -> None:
    """Write the name of a pod under its hosts, read upwards, or of a group beyond its hosts."""
    end = host_place(folded, places, place)
    if folded.shape == "groups":
        name = f"g{folded.stacks[place].pod}"
        x, y = (end + 17.0 * places.outward[place]).tolist()
        axes.text(x, y, name, size=LABEL_SIZE, ha="center", va="center", color=style.FAINT)
        return
    text = axes.text(end[0], end[1] - 12.0, name, size=LABEL_SIZE, color=style.INK)
    text.set(ha="center", va="top", rotation=90)


def level_text(folded: Folded, level: int) -> str:
    """Return the name of a level and its number of switches."""
    number = sum(len(one.nodes) for one in folded.stacks if one.level == level)
    return f"{level_name(folded, level)}: {number:,}"


def level_name(folded: Folded, level: int) -> str:
    """Return the name of a level as in `gingham fabric info`."""
    names = LEVELS_BY_NAME.get(folded.levels)
    return names[level] if names else f"level-{folded.levels - 1 - level}"


def draw_hottest(
    axes: Axes, network: Network, folded: Folded, places: Places, hottest: Sequence[Hot]
) -> None:
    """Draw the hottest channels beside their bundles, each from its sender to the middle."""
    beside: Counter[tuple[int, int, bool]] = Counter()
    number = {name: node for node, name in enumerate(network.names)}
    for place, hot in enumerate(hottest, start=1):
        ends = [number[name] for name in hot.ends]
        a, b = (folded.stack_of[node] for node in ends)
        is_trunk = all(network.is_switch(node) for node in ends)
        pair = (min(a, b), max(a, b), is_trunk)
        step = beside[pair]
        beside[pair] += 1
        aside = 2.4 * ((step + 1) // 2) * (-1) ** step
        path = moved(way_of(folded, places, a, b, is_trunk=is_trunk), aside)
        axes.plot(*path.T, color=hot.colour, lw=1.8, zorder=3, gid="hot", solid_capstyle="butt")
        x, y = path[0] + (0.35 + 0.18 * (step % 4)) * (path[1] - path[0])
        draw_number(axes, (float(x), float(y)), place, hot)


def way_of(folded: Folded, places: Places, a: int, b: int, *, is_trunk: bool) -> Floats:
    """Return the line of a channel from stack `a` to stack `b`: its half of the bundle.

    A channel to or from a host has the whole line; one within a stack is a stub at its box.
    """
    if a != b:
        path = way(folded, places, a, b)
        return np.array([path[0], path.mean(axis=0)])
    if is_trunk:
        corner = places.centres[a] + (places.half_widths[a] - 6.0, HALF_HEIGHT)
        return np.array([corner, corner + np.array([0.0, 12.0])])
    start, end = places.centres[a], host_place(folded, places, a)
    along = (end - start) / float(np.hypot(*(end - start)))
    return np.array([start + HALF_HEIGHT * along, end - 7.0 * along])


def notes_of(folded: Folded, lines: Mapping[tuple[int, int, str | None], int]) -> list[str]:
    """Return the legend of the marks of the picture."""
    if folded.shape == "groups":
        return [
            "box: a group, with the number of its switches",
            "circle: number of its hosts",
            "line: cables between two groups, the wider the more",
        ]
    usual = usual_numbers(folded, lines)
    notes = [
        "box: the switches of one level of a pod, with their number",
        "circle: number of hosts",
        "line: cables between two boxes, the wider the more",
    ]
    if usual:
        told = [
            f"{cables:,} between {level_name(folded, low)} and {level_name(folded, high)}"
            for (low, high), cables in sorted(usual.items())
        ]
        notes.append(f"usual number of cables of a line: {told[0]}")
        notes += [f"    {text}" for text in told[1:]]
    if any(
        cables != usual.get(kind_of(folded, a, b), cables) for (a, b, _), cables in lines.items()
    ):
        notes.append("red number: the cables of a line with more or fewer")
    return notes


def draw_notes(axes: Axes, notes: Sequence[str], colours: Mapping[str, str]) -> None:
    """Draw the legend of marks, and of the colours of speeds."""
    top = axes.get_ylim()[1] - MARGIN
    plain = len(notes) - len(colours)
    for line, text in enumerate(notes):
        level = top - LINE * line
        left = LEFT
        if line >= plain:
            colour = colours[text]
            axes.plot((LEFT, LEFT + 22), (level, level), color=colour, lw=2.0)
            left = LEFT + 30
        axes.text(left, level, text, size=TEXT_SIZE, va="center")


def summary(folded: Folded) -> str:
    """Return a text that lists the stacks of the folded fabric."""
    if folded.shape == "groups":
        return f"Folded into {counted(len(folded.stacks), 'group')}."
    if sum(folded.alike) == sum(len(one.nodes) for one in folded.stacks if one.level == 0):
        return (
            "Folded by level."
            if len(folded.alike) < sum(folded.alike)
            else "Folded above the leaves."
        )
    return f"Folded into {counted(sum(folded.alike), 'pod')} and their levels."
