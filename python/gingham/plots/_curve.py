"""Latency against accepted load, one line per routing or value of another key.

::

    latency │     ▫    ▫    hollow, at the top: no latency; the shape gives the reason
            │        ┼
            │    ┼   ·      lighter: 99th percentile
            │ ┼  ·          bars: 95 % intervals over replications, both ways
            └──────────── accepted load

Points that have not converged are hollow and keep their position. Curves of other simulators are
dashed, with triangles, each in a separate colour.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D

from gingham.plots import _style as style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]
# The axis is logarithmic if latencies exceed this multiple of the lowest one.
LOG_SPAN = 12.0
# A logarithmic axis begins at this share of the lowest mean, regardless of interval ends.
LOG_BELOW = 0.5
# Conditions of hollow points: the columns that count replications, and the explanation. The worst
# condition is last, and determines the mark of a point.
UNSTEADY = {
    "not_converged": "not converged: runs are too\nshort, or the load too high",
    "censored": "censored: over 1 % of messages not\ndelivered; no latency, at the top",
    "saturated": "saturated: latency grows with the\nrun; no latency, at the top",
    "deadlocked": "deadlocked: no latency, at the top",
}
# Marker and line style of other simulators' curves.
OTHERS_MARK, OTHERS_DASHES = "^", (0, (4, 2))
# Line styles of the first lines, then of those that reuse colours, then of those after them.
DASHES: tuple[Any, ...] = ("solid", (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))
NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
MARKS = {"not_converged": "o", "censored": "v", "saturated": "s", "deadlocked": "D"}
# Height of points without latency, as a share of the axes.
TOP = 0.98
# Opacity of the 99th percentile.
P99_ALPHA = 0.4


@style.styled
def draw(
    curve: pa.Table,
    *,
    title: str,
    note: str = "",
    beside: Mapping[str, Sequence[Row]] | None = None,
) -> Figure:
    """Return the picture of a table of `gingham.loads.curve`, with lines of others `beside` it."""
    lines = rows_by_line(curve)
    own = len(lines)
    lines |= {
        f"{name} (beside)" if name in lines else name: [*rows]
        for name, rows in (beside or {}).items()
    }
    measured = [
        row["latency_mean_ns"] for rows in lines.values() for row in rows if has_latency(row)
    ]
    if not measured:
        figure = style.new_figure(7, 3, title)
        why = "saturated at every load: no latency has a mean"
        no_latency = any(rows for rows in lines.values())
        style.say_nothing_to_draw(
            figure.subplots(), why if no_latency else "no run measured a latency"
        )
        return figure
    measured += [row["latency_p99_ns"] for rows in lines.values() for row in rows if has_p99(row)]
    below = " ".join(filter(None, [headline(curve), f"Changed: {note}" if note else ""]))
    figure = style.new_figure(7.5, 4.8, title, below)
    axes = figure.subplots()
    unit, unit_ps = style.unit_for(max(measured) * style.PS_PER_NS)
    for place, rows in enumerate(lines.values()):
        colour, dashes = looks_of(place, others=place >= own)
        scale = style.PS_PER_NS / unit_ps
        line(axes, rows, colour, scale, others=place >= own, dashes=dashes)
    axes.set_xlabel("accepted load (share of the hosts' links)")
    percentile = any(has_p99(row) for rows in lines.values() for row in rows)
    axes.set_ylabel(f"mean latency{', p99' if percentile else ''} ({unit})")
    axes.set_xlim(left=0)
    if max(measured) > LOG_SPAN * min(measured):
        axes.set_yscale("log")
        axes.autoscale_view()
        # An interval that nearly reaches zero would take most of the axis: it is cut off below.
        least = min(measured) * style.PS_PER_NS / unit_ps
        axes.set_ylim(bottom=max(axes.get_ylim()[0], LOG_BELOW * least))
        style.log_ticks(axes.yaxis)
    else:
        axes.set_ylim(bottom=0)
    legend(axes, lines, own)
    return figure


def looks_of(place: int, *, others: bool) -> tuple[str, Any]:
    """Return colour and line style of a line; the style changes when colours repeat."""
    turn = place // style.CLASSES_MAX
    dashes = OTHERS_DASHES if others else DASHES[turn % len(DASHES)]
    return style.CLASS_COLOURS[place % style.CLASSES_MAX], dashes


def rows_by_line(curve: pa.Table) -> dict[str, list[Row]]:
    """Return the points of each line to draw, in the order of their loads.

    A line is a combination of the columns before `load`; numbers are in ascending order.
    """
    columns = line_columns(curve)
    lines: dict[tuple[Any, ...], list[Row]] = {}
    for row in curve.to_pylist():
        points = lines.setdefault(tuple(row[name] for name in columns), [])
        if has_latency(row) or is_at_top(row):
            points.append(row)
    first = {name: list(dict.fromkeys(key[at] for key in lines)) for at, name in enumerate(columns)}
    ranks = [ranked(first[name]) for name in columns]
    keys = sorted(lines, key=lambda key: [rank[one] for rank, one in zip(ranks, key, strict=True)])
    units = units_of(curve)
    return {line_name(columns, key, units): lines[key] for key in keys}


def units_of(curve: pa.Table) -> dict[str, str]:
    """Return the units of the columns whose metadata has one."""
    known = ((field.name, (field.metadata or {}).get(b"unit")) for field in curve.schema)
    return {name: unit.decode() for name, unit in known if unit}


def line_columns(curve: pa.Table) -> list[str]:
    """Return the columns that distinguish lines."""
    names = curve.column_names
    axes = names[: names.index("replications")]
    return [name for name in axes if name != "load"]


def ranked(values: list[Any]) -> dict[Any, int]:
    """Return the rank of each value: numbers, also within texts, by size; names in given order."""
    numeric = all(str(value)[:1].isdigit() for value in values)
    ordered = sorted(values, key=lambda value: amount(str(value))) if numeric else values
    return {value: place for place, value in enumerate(ordered)}


def amount(text: str) -> tuple[float, list[tuple[int, int | str]]]:
    """Return the sort key of a text that begins with a number: `2 MB` precedes `10 MB`."""
    number = NUMBER.match(text)
    assert number, "the text begins with a digit"
    return float(number[0]), style.natural(text)


def line_name(columns: Sequence[str], key: Sequence[Any], units: Mapping[str, str]) -> str:
    """Return the name of a line: its routing, and other columns with their names and units.

    >>> line_name(["routing", "delay"], ["up-down", 100], {"delay": "ns"})
    'up-down, delay 100 ns'
    """
    told = (
        (name, f"{one} {units[name]}" if name in units else str(one))
        for name, one in zip(columns, key, strict=True)
    )
    return ", ".join(one if name == "routing" else f"{name} {one}" for name, one in told)


def has_latency(row: Row) -> bool:
    """Return whether a point has a mean latency."""
    return row["latency_mean_ns"] is not None


def has_p99(row: Row) -> bool:
    """Return whether a point has a 99th percentile of latency."""
    return has_latency(row) and row.get("latency_p99_ns") is not None


def is_at_top(row: Row) -> bool:
    """Return whether a point has an accepted load, but no latency because of its replications."""
    return not has_latency(row) and row["accepted_load"] is not None and bool(unsteady(row))


def headline(curve: pa.Table) -> str:
    """Return the caption that describes a point."""
    most = max(curve["replications"].to_pylist())
    return (
        f"A point is the mean of {most} replications, with 95 % intervals."
        if most > 1
        else "A point is one run: without replications there is no interval."
    )


def line(
    axes: Axes,
    rows: Sequence[Row],
    colour: str,
    scale: float,
    *,
    others: bool = False,
    dashes: Any = "solid",
) -> None:
    """Draw the points of a line, joined, with their intervals; `others` are other simulators'."""
    known = [row for row in rows if has_latency(row)]
    loads = [row["accepted_load"] for row in known]
    latencies = [row["latency_mean_ns"] * scale for row in known]
    gid = "beside" if others else "curve"
    axes.plot(loads, latencies, color=colour, lw=1.1, ls=dashes, zorder=2, gid=gid)
    line_p99(axes, rows, colour, scale)
    for row in rows:
        if is_at_top(row):
            mark_at_top(axes, row, colour)
    for row, load, latency in zip(known, loads, latencies, strict=True):
        why = unsteady(row)
        steady = not why
        wide = row["accepted_load_half_width"] or 0.0
        half = (row["latency_half_width_ns"] or 0.0) * scale
        usual = OTHERS_MARK if others else "o"
        axes.errorbar(
            load,
            latency,
            # An interval that reaches below zero ends there, also on a logarithmic axis.
            xerr=[[min(wide, load)], [wide]],
            yerr=[[min(half, 0.999 * latency)], [half]],
            capsize=2.5,
            capthick=0.9,
            marker=usual if steady else MARKS[why[-1]],
            ms=4.5,
            color=colour,
            mfc=colour if steady else "white",
            elinewidth=0.9,
            zorder=3,
            gid="steady" if steady else "unsteady",
        )


def line_p99(axes: Axes, rows: Sequence[Row], colour: str, scale: float) -> None:
    """Draw the 99th percentile of a routing as a lighter line with markers."""
    known = [row for row in rows if has_p99(row)]
    if known:
        axes.plot(
            [row["accepted_load"] for row in known],
            [row["latency_p99_ns"] * scale for row in known],
            color=colour,
            alpha=P99_ALPHA,
            lw=1.1,
            marker=".",
            ms=4.5,
            zorder=1.5,
            gid="p99",
        )


def mark_at_top(axes: Axes, row: Row, colour: str) -> None:
    """Mark the accepted load of a point without latency at the top of the axes."""
    axes.plot(
        [row["accepted_load"]],
        [TOP],
        transform=axes.get_xaxis_transform(),
        color=colour,
        marker=MARKS[unsteady(row)[-1]],
        ms=4.5,
        mfc="white",
        lw=0,
        zorder=3,
        gid="without-latency",
    )


def unsteady(row: Row) -> list[str]:
    """Return the conditions of a point's replications that are not in a steady state."""
    return [name for name in UNSTEADY if row.get(name)]


def legend(axes: Axes, lines: Mapping[str, Sequence[Row]], own: int) -> None:
    """Explain colours and hollow marks beside the axes; the first lines are our `own`."""
    handles: list[Line2D] = []
    labels: list[str] = []
    several = len(lines) > own
    for place, (name, rows) in enumerate(lines.items()):
        mark = "o" if place < own else OTHERS_MARK
        colour, dashes = looks_of(place, others=place >= own)
        if name or several:
            looks: dict[str, Any] = {"color": colour, "marker": mark, "ms": 4.5, "lw": 1.1}
            handles.append(Line2D([], [], ls=dashes, **looks))
            called = name or "gingham"
            labels.append(called if rows else f"{called}: no run could be made")
    shown = {name for rows in lines.values() for row in rows for name in unsteady(row)[-1:]}
    for name in (one for one in UNSTEADY if one in shown):
        mark = MARKS[name]
        handles.append(Line2D([], [], color=style.FAINT, marker=mark, ms=4.5, mfc="white", lw=0))
        labels.append(UNSTEADY[name])
    if any(has_p99(row) for rows in lines.values() for row in rows):
        lighter: dict[str, Any] = {
            "color": style.FAINT,
            "alpha": P99_ALPHA,
            "marker": ".",
            "lw": 1.1,
        }
        handles.append(Line2D([], [], **lighter))
        labels.append("99th percentile (lighter)")
    if handles:
        axes.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1.02))
