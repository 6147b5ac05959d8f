"""Followed flows and channels over the time of the run.

::

    delivered    ┌────┬──────────────┬───┐   one colour per flow; thin: by step
                 │////│  ══════════  │///│   solid: the mean over a window of steps
    held back    │////│  ▁▁▂▂▂▁▁▁▁▁  │///│   share of the time: by window, rate limit, tokens
    utilisation  │////│  ══════════  │///│   one colour per channel
                 └────┴──────────────┴───┘   shaded: warm-up, and the time after the window

A point is the middle of a step of the tables `flow_series` and `link_series`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gingham.plots import _style as style
from gingham.plots._series import shade
from gingham.plots._tables import numbers, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gingham.plots._tables import Floats, Indices

# Reasons for holding back flows, with their line styles.
HOLDS = {"held_window": "solid", "held_rate_limit": (0, (4, 2)), "held_tokens": (0, (1, 1.5))}
MEGABYTE = 1e6
# A longer label has two lines; its parts, class and ends, are clipped at these lengths.
LABEL_MAX, CLASS_MAX, END_MAX = 30, 24, 20
PANEL_INCHES = 2.4
# Margin of an axis of shares below 0 and above 1, so that lines there are visible.
BEYOND = 0.02


@style.styled
def draw(flows: pa.Table, links: pa.Table, summary: Mapping[str, Any], *, title: str) -> Figure:
    """Return the picture of the tables `flow_series` and `link_series`; either may be empty."""
    tables = [table for table in (flows, links) if table.num_rows > 0]
    if not tables:
        figure = style.new_figure(7, 3, title)
        style.say_nothing_to_draw(figure.subplots(), "no flow or channel was followed")
        return figure
    end_ps = max(float(summary["end_ps"]), *(numbers(one, "to_ps").max() for one in tables))
    unit, unit_ps = style.unit_for(end_ps)
    panels = 2 * (flows.num_rows > 0) + (links.num_rows > 0)
    note = "Thin: by step. Solid: the mean over a window of steps."
    if max(map(followed, tables)) > style.CLASSES_MAX:
        note += f" The first {style.CLASSES_MAX} flows and channels."
    figure = style.new_figure(9.5, 1 + PANEL_INCHES * panels, title, note)
    every = list(figure.subplots(panels, 1, sharex=True, squeeze=False)[:, 0])
    left = list(every)
    if flows.num_rows > 0:
        draw_flows(left.pop(0), left.pop(0), flows, unit_ps)
    if links.num_rows > 0:
        draw_links(left.pop(0), links, unit_ps)
    shade(every, summary, end_ps, unit_ps)
    every[-1].set_xlim(0, end_ps / unit_ps)
    every[-1].set_xlabel(f"simulated time ({unit})")
    return figure


def followed(table: pa.Table) -> int:
    """Return the number of flows or channels that a table follows: each has a first step."""
    return int(np.count_nonzero(numbers(table, "from_ps") == 0))


def draw_flows(delivered: Axes, held: Axes, table: pa.Table, unit_ps: float) -> None:
    """Draw the rates delivered by flows, and the shares of time that they were held back."""
    parts = [words(table, column) for column in ("class", "source", "destination")]
    names = [f"{of}: {start} → {end}" for of, start, end in zip(*parts, strict=True)]
    short = short_ends(parts[1] + parts[2])
    labels = {
        name: label(f"{style.clipped(of, CLASS_MAX)}: {short[start]}", short[end])
        for name, of, start, end in zip(names, *parts, strict=True)
    }
    draw_lines(delivered, table, names, labels, ("accepted_bytes_per_s", MEGABYTE), unit_ps)
    delivered.set_ylabel("delivered (MB/s)")
    delivered.set_ylim(bottom=0)
    # Reasons that never applied are omitted, unless none applied.
    held_by = [hold for hold in HOLDS if np.any(numbers(table, f"{hold}_smoothed") > 0)]
    holds = held_by or list(HOLDS)
    for colour, (name, rows) in zip(style.CLASS_COLOURS, rows_by_name(names), strict=False):
        time = middles(table, unit_ps)[rows]
        for hold in holds:
            share = numbers(table, f"{hold}_smoothed")[rows]
            looks = {"color": colour, "lw": 1.3, "ls": HOLDS[hold], "gid": f"{name} {hold}"}
            style.course(held, time, share, **looks)
    for hold in holds:
        what = hold.removeprefix("held_")
        held.plot([], [], color=style.FAINT, lw=1.3, ls=HOLDS[hold], label=f"by {what}")
    held.set_ylabel("held back")
    as_share(held)


def draw_links(axes: Axes, table: pa.Table, unit_ps: float) -> None:
    """Draw the utilisation of channels."""
    parts = [words(table, column) for column in ("from", "from_port", "to", "to_port")]
    names = [f"{start}[{port}] → {end}[{at}]" for start, port, end, at in zip(*parts, strict=True)]
    short = short_ends(parts[0] + parts[2])
    labels = {
        name: label(f"{short[start]}[{port}]", f"{short[end]}[{at}]")
        for name, start, port, end, at in zip(names, *parts, strict=True)
    }
    draw_lines(axes, table, names, labels, ("utilisation", 1.0), unit_ps)
    axes.set_ylabel("utilisation")
    as_share(axes)


def short_ends(nodes: Sequence[str]) -> dict[str, str]:
    """Return a label for each node: its name, or a distinctive part of long names."""
    every = list(dict.fromkeys(nodes))
    if max(map(len, every)) <= END_MAX:
        return {name: name for name in every}
    return style.short_names(every, END_MAX)


def label(start: str, end: str) -> str:
    """Return both ends in one line if they fit, otherwise in two."""
    whole = f"{start} → {end}"
    return whole if len(whole) <= LABEL_MAX else f"{start}\n→ {end}"


def draw_lines(
    axes: Axes,
    table: pa.Table,
    names: Sequence[str],
    labels: Mapping[str, str],
    column: tuple[str, float],
    unit_ps: float,
) -> None:
    """Draw a scaled column for each name in the rows, with its mean over a window."""
    values, mean = (numbers(table, column[0] + part) / column[1] for part in ("", "_smoothed"))
    for colour, (name, rows) in zip(style.CLASS_COLOURS, rows_by_name(names), strict=False):
        time = middles(table, unit_ps)[rows]
        by_step = {"color": colour, "lw": 0.7, "alpha": 0.5, "gid": f"{name} by step"}
        style.course(axes, time, values[rows], **by_step)
        looks = {"color": colour, "lw": 1.6, "label": labels[name], "gid": name}
        style.course(axes, time, mean[rows], **looks)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02))


def as_share(axes: Axes) -> None:
    """Set an axis to the range from 0 to 1, with a legend beside it."""
    axes.set_ylim(-BEYOND, 1 + BEYOND)
    axes.yaxis.set_major_formatter(style.percent_tick)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02))


def middles(table: pa.Table, unit_ps: float) -> Floats:
    """Return the middle of each step, in a unit of time."""
    return (numbers(table, "from_ps") + numbers(table, "to_ps")) / 2 / unit_ps


def rows_by_name(names: Sequence[str]) -> list[tuple[str, Indices]]:
    """Return each name with its rows, in order of first appearance."""
    every = np.asarray(names, dtype=object)
    return [(name, np.flatnonzero(every == name)) for name in dict.fromkeys(names)]
