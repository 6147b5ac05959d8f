"""Latency and accepted load of a sweep against one of its axes, with a line for each combination.

::

    latency │      ┼        accepted │ ┼  ┼  ┼        bars: 95 % intervals over replications
            │ ┼ ┼                    │                no latency if a run is saturated,
            └────────                └────────        deadlocked or censored
              buffer size              buffer size

The horizontal axis is the numeric axis with the most values, or else the textual one with most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gingham.plots import _style as style
from gingham.plots._curve import (
    LOG_SPAN,
    headline,
    line_name,
    looks_of,
    ranked,
    units_of,
    unsteady,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]
# Minimum ratio between the ends of a logarithmic axis.
LOG_ACROSS = 30.0


@style.styled
def draw(table: pa.Table, axes_of_sweep: Sequence[str], *, title: str) -> Figure:
    """Return the picture of a table of `gingham.loads.curve_table` of a sweep with these axes."""
    rows = table.to_pylist()
    across = axis_across(rows, axes_of_sweep)
    others = [name for name in axes_of_sweep if name != across]
    hollow = " Hollow points have not converged." if any(map(unsteady, rows)) else ""
    figure = style.new_figure(9.0, 4.2, title, f"{headline(table)}{hollow}")
    if not any(row["accepted_load"] is not None for row in rows):
        style.say_nothing_to_draw(figure.subplots(), "no run measured a load")
        return figure
    left, right = figure.subplots(1, 2)
    units = units_of(table)
    lines = lines_of(rows, others, units)
    scale = latency_panel(left, lines, across)
    panel(right, lines, across, ("accepted_load", "accepted_load_half_width"), 1.0)
    right.set_ylabel("accepted load (share of the hosts' links)")
    for axes in (left, right):
        across_axis(axes, rows, across)
        axes.set_xlabel(f"{across} ({units[across]})" if across in units else across)
    if not scale:
        style.say_nothing_to_draw(left, "no run has a latency")
    if others:
        right.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02))
    return figure


def axis_across(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Return the horizontal axis."""
    distinct = {name: {row[name] for row in rows} for name in names}
    numeric = [name for name in names if all(map(is_number, distinct[name]))]
    return max(numeric or names, key=lambda name: len(distinct[name]))


def is_number(value: object) -> bool:
    """Return whether a value of an axis is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def lines_of(
    rows: Sequence[Row], names: Sequence[str], units: Mapping[str, str]
) -> dict[str, list[Row]]:
    """Return the rows of each combination of these axes, numbers in ascending order."""
    ranks = [ranked(list(dict.fromkeys(row[name] for row in rows))) for name in names]
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), []).append(row)
    keys = sorted(found, key=lambda key: [rank[one] for rank, one in zip(ranks, key, strict=True)])
    return {line_name(names, key, units): found[key] for key in keys}


def latency_panel(axes: Axes, lines: dict[str, list[Row]], across: str) -> float:
    """Draw mean latencies; return the nanoseconds of their unit, or 0 without a latency."""
    known = [
        row["latency_mean_ns"]
        for rows in lines.values()
        for row in rows
        if row["latency_mean_ns"] is not None
    ]
    if not known:
        return 0.0
    unit, unit_ps = style.unit_for(max(known) * style.PS_PER_NS)
    scale = unit_ps / style.PS_PER_NS
    panel(axes, lines, across, ("latency_mean_ns", "latency_half_width_ns"), scale)
    axes.set_ylabel(f"mean latency ({unit})")
    if max(known) > LOG_SPAN * min(known):
        axes.set_yscale("log")
        style.log_ticks(axes.yaxis)
    return scale


def panel(
    axes: Axes, lines: dict[str, list[Row]], across: str, columns: tuple[str, str], scale: float
) -> None:
    """Draw a column with its half-widths, one line per combination of the other axes."""
    mean, half_width = columns
    places = places_of([row for rows in lines.values() for row in rows], across)
    # Texts are unordered, so no line joins them.
    is_ordered = all(map(is_number, places))
    for place, (name, rows) in enumerate(lines.items()):
        known = sorted(
            (row for row in rows if row[mean] is not None), key=lambda row: places[row[across]]
        )
        colour, dashes = looks_of(place, others=False)
        dashes = dashes if is_ordered else ""
        at = [places[row[across]] for row in known]
        values = [row[mean] / scale for row in known]
        half = [(row[half_width] or 0.0) / scale for row in known]
        low = [min(one, 0.999 * value) for one, value in zip(half, values, strict=True)]
        looks: dict[str, Any] = {"color": colour, "lw": 1.1, "ms": 4.0, "capsize": 2.5}
        axes.errorbar(at, values, yerr=[low, half], ls=dashes, marker="o", label=name, **looks)
        hollow = [index for index, row in enumerate(known) if unsteady(row)]
        axes.plot(
            [at[index] for index in hollow],
            [values[index] for index in hollow],
            color=colour,
            marker="o",
            ms=4.0,
            mfc="white",
            lw=0,
            zorder=3,
            gid="unsteady",
        )
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", color=style.GROUND)
    axes.set_axisbelow(True)


def places_of(rows: Sequence[Row], across: str) -> dict[Any, float]:
    """Return the position of each value on the axis: a number itself, or the index of a text."""
    values = list(dict.fromkeys(row[across] for row in rows))
    if all(map(is_number, values)):
        return {value: float(value) for value in values}
    return {value: float(place) for value, place in ranked(values).items()}


def across_axis(axes: Axes, rows: Sequence[Row], across: str) -> None:
    """Set up the horizontal axis: logarithmic over a wide range, or labels for texts."""
    places = places_of(rows, across)
    if any(not is_number(value) for value in places):
        names = [style.clipped(str(value), 24) for value in places]
        axes.set_xticks(list(places.values()), names, rotation=30, ha="right", size=8)
    elif min(places.values()) > 0 and max(places.values()) > LOG_ACROSS * min(places.values()):
        axes.set_xscale("log")
        style.log_ticks(axes.xaxis)
