"""The hottest channels of a run: coloured and numbered, with their names in the key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_hex

from gingham.plots import _style as style
from gingham.plots._fabric_key import LINE, MARGIN, TEXT_SIZE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from gingham.plots._network import Network

HOTTEST = 10
# Left end of the list within the key, in points.
LIST_LEFT = 330.0
# Position of the coldest channel on the scale of colours.
COLOUR_MIN = 0.35


@dataclass(frozen=True, slots=True)
class Hot:
    """A channel among the hottest."""

    # Names of the sender and of the receiver.
    ends: tuple[str, str]
    row: int
    text: str
    colour: str


def hottest_of(network: Network, most: int = HOTTEST) -> list[Hot]:
    """Return the channels with the highest utilisation, the highest first, without idle ones."""
    loads = np.nan_to_num(network.utilisation)
    order = [row for row in np.argsort(-loads, kind="stable")[:most].tolist() if loads[row] > 0]
    found = []
    for row in order:
        half_width = float(network.utilisation_half_width[row])
        share = style.percent_with_interval(float(loads[row]), half_width)
        found.append(hot(network, row, share, float(loads[row] / loads[order[0]])))
    return found


def hot(network: Network, row: int, text: str, share: float) -> Hot:
    """Return a channel with its text in the key; its `share` of the hottest sets its colour."""
    source, _, target, _ = network.channels[row]
    colour = to_hex(style.LOAD_COLOURS(COLOUR_MIN + (1 - COLOUR_MIN) * share))
    return Hot((source, target), row, f"{network.channel_name(row)}: {text}", colour)


def most_paths(network: Network, busiest: Sequence[Mapping[str, Any]]) -> list[Hot]:
    """Return the most used channels, from `busiest` in the statistics of routes."""
    rows = {
        f"{source}[{source_port}] -> {target}[{target_port}]": row
        for row, (source, source_port, target, target_port) in enumerate(network.channels)
    }
    known = [(rows[one["channel"]], one["paths"]) for one in busiest if one["channel"] in rows]
    most = max((paths for _, paths in known), default=1)
    return [hot(network, row, f"{paths:,} paths", paths / most) for row, paths in known[:HOTTEST]]


def draw_number(axes: Axes, at: tuple[float, float], number: int, hot: Hot) -> None:
    """Write the number of a hot channel in a circle of its colour."""
    text = axes.text(*at, f"{number}", size=5.0, ha="center", va="center", zorder=8, gid="number")
    text.set(bbox=style.node_box("circle", 0.2) | {"edgecolor": hot.colour})


def draw_hot_key(axes: Axes, hottest: Sequence[Hot], left: float = LIST_LEFT) -> None:
    """List the hottest channels by name."""
    if not hottest:
        return
    top = axes.get_ylim()[1] - MARGIN
    title = f"the {len(hottest)} hottest channels (all others grey)"
    axes.text(left, top, title, size=TEXT_SIZE, va="center", weight="bold")
    for line, hot in enumerate(hottest, start=1):
        level = top - LINE * line
        draw_number(axes, (left + 5, level), line, hot)
        axes.text(left + 16, level, hot.text, size=TEXT_SIZE, va="center")
