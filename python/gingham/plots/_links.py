"""Distribution of channel utilisation, and the busiest channels.

::

    utilisation            stopped share; over virtual lanes fill of lane buffers
    │╲  between switches   │╲                all channels, from the busiest on, by their kind:
    │ ╲___ from hosts      │ ╲___            from hosts, between switches, to hosts
    └──────────────        └────────
    s3 port 2 → s7 port 1  ▇▇▇▇▇▇▇├─┤        the busiest by name, with intervals

Channels of aggregation nodes and the like are omitted from the curves, which would only show their
number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from gingham._texts import among_equals, equals_text
from gingham.plots import _style as style
from gingham.plots._network import Network, network

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gingham.plots._tables import Floats, Indices

Kind: TypeAlias = Literal["from hosts", "between switches", "to hosts"]

COLOURS: dict[Kind, str] = {
    "between switches": style.CLASS_COLOURS[0],
    "from hosts": style.CLASS_COLOURS[1],
    "to hosts": style.CLASS_COLOURS[2],
}
NAMED = 10
# With fewer channels than this, each is marked.
MARKED_MAX = 40
BAR = 0.6
# The axis of the bars ends at this multiple of the longest, to leave space for text.
BESIDE_BARS = 1.3
# Upper limit of a share axis: a small margin above 1.
TOP_MAX = 1.02
# Space for a name on the left, in characters.
NAME_LENGTH = 76


@style.styled
def draw(links: pa.Table, nodes: pa.Table, *, title: str) -> Figure:
    """Return the picture of the tables `links` and `nodes`."""
    fabric = network(links, nodes)
    kinds = by_kind(fabric)
    if not kinds:
        figure = style.new_figure(7, 3, title)
        style.say_nothing_to_draw(figure.subplots(), "the fabric has no channels")
        return figure
    busiest = ranked(fabric.utilisation)[:NAMED]
    height = 3.9 + 0.27 * len(busiest)
    figure = style.new_figure(9.5, height, title, headline(fabric, kinds))
    ratios = [3.0, 0.6 + 0.27 * len(busiest)]
    above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=ratios)[:, 0]
    left, right = above.subplots(1, 2, sharex=True)
    curves(left, fabric.utilisation, kinds, fabric.utilisation_half_width)
    if fabric.has_credits():
        curves(right, fabric.fill, kinds, fabric.fill_half_width)
        right.set(ylabel="fill of lane buffers", xlabel="their buffers ranked by fill (fraction)")
    else:
        curves(right, fabric.stopped_share, kinds, fabric.stopped_half_width)
        right.set(ylabel="fraction of time stopped", xlabel="ranked by time stopped (fraction)")
    left.set(ylabel="utilisation", xlabel="channels ranked by utilisation (fraction of their kind)")
    above.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=3)
    name_busiest(below.subplots(), fabric, kinds, busiest)
    return figure


def by_kind(fabric: Network) -> dict[Kind, Indices]:
    """Return the rows of the channels of each kind that occurs."""
    switch = {
        name for name, kind in zip(fabric.names, fabric.kinds, strict=True) if kind == "switch"
    }
    host = {name for name, kind in zip(fabric.names, fabric.kinds, strict=True) if kind == "host"}
    rows: dict[Kind, list[int]] = {kind: [] for kind in COLOURS}
    for row, (source, _, target, _) in enumerate(fabric.channels):
        if source in host:
            rows["from hosts"].append(row)
        elif target in host:
            rows["to hosts"].append(row)
        elif source in switch and target in switch:
            rows["between switches"].append(row)
    return {kind: np.array(found) for kind, found in rows.items() if found}


def headline(fabric: Network, kinds: dict[Kind, Indices]) -> str:
    """Return a caption with the mean of each kind of channel."""
    parts = [
        f"{kind} {style.percent(float(np.nanmean(fabric.utilisation[rows])))} of {len(rows):,}"
        for kind, rows in kinds.items()
    ]
    text = f"Mean utilisation of channels: {'; '.join(parts)}."
    known = np.isfinite(fabric.utilisation_half_width).any()
    return f"{text} Bands and bars: 95 % intervals." if known else text


def ranked(values: Floats) -> Indices:
    """Return the rows by decreasing value; equal rows in given order."""
    return np.argsort(-np.nan_to_num(values), kind="stable")


def curves(axes: Axes, values: Floats, kinds: dict[Kind, Indices], half_widths: Floats) -> None:
    """Draw the values of all channels of each kind, sorted, in the band of their intervals."""
    for kind, rows in kinds.items():
        order = rows[ranked(values[rows])]
        along = (np.arange(len(order)) + 0.5) / len(order)
        marker = "o" if len(order) <= MARKED_MAX else ""
        label = f"{kind} ({len(order):,})"
        axes.plot(along, values[order], color=COLOURS[kind], marker=marker, ms=2.5, label=label)
        if np.isfinite(half_widths[order]).any():
            band = np.nan_to_num(half_widths[order])
            low, high = values[order] - band, values[order] + band
            axes.fill_between(along, low, high, color=COLOURS[kind], alpha=0.2, linewidth=0)
    axes.set_xlim(0, 1)
    ends = np.nan_to_num(values) + np.nan_to_num(half_widths)
    top = max(float(ends[rows].max()) for rows in kinds.values())
    axes.set_ylim(0, min(top * 1.08, TOP_MAX) if top > 0 else 1)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(style.percent_tick)
    axes.grid(axis="y", color=style.GROUND)
    axes.set_axisbelow(True)


def beside_bar(fabric: Network, row: int) -> str:
    """Return the text beside a channel's bar: its stopped share, or the fill of its lanes."""
    if fabric.has_credits():
        fill = fabric.fill[row]
        return f"filled {style.percent(float(fill))}" if np.isfinite(fill) else ""
    return f"stopped {style.percent(float(np.nan_to_num(fabric.stopped_share[row])))}"


def name_busiest(axes: Axes, fabric: Network, kinds: dict[Kind, Indices], busiest: Indices) -> None:
    """Draw a bar for each of the busiest channels, with its text."""
    kind_of = {int(row): kind for kind, rows in kinds.items() for row in rows}
    places = np.arange(len(busiest), dtype=np.float64)
    colours = [COLOURS[kind_of[row]] if row in kind_of else style.FAINT for row in busiest.tolist()]
    values = np.nan_to_num(fabric.utilisation[busiest])
    axes.barh(places, values, height=BAR, color=colours)
    half_widths = fabric.utilisation_half_width[busiest]
    known = np.isfinite(half_widths)
    if known.any():
        errors = half_widths[known]
        axes.errorbar(
            values[known], places[known], xerr=errors, fmt="none", ecolor=style.INK, capsize=2, lw=1
        )
    for place, row in zip(places, busiest, strict=True):
        text = beside_bar(fabric, int(row))
        said = axes.text(1.0, place, text, size=8, color=style.FAINT, ha="right", va="center")
        said.set_transform(axes.get_yaxis_transform())
    longest = float((values + np.nan_to_num(half_widths)).max())
    axes.set_xlim(0, BESIDE_BARS * longest if longest > 0 else 1)
    axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick <= 1])
    names = [style.clipped(fabric.channel_name(int(row)), NAME_LENGTH) for row in busiest]
    axes.set_yticks(places, names, size=8)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(style.percent_tick)
    all_shares = np.nan_to_num(fabric.utilisation).tolist()
    equals = among_equals(all_shares, fabric.utilisation_half_width.tolist())
    among = f" (the first is {equals_text(equals)})" if equals > 1 and longest > 0 else ""
    axes.set_title(f"utilisation of the busiest channels{among}")
    axes.spines["left"].set_visible(False)
