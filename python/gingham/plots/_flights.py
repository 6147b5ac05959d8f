"""The sender's state for each channel of a stripe, and its queue, over time.

::

              bytes             rates             times
    1   ┌──────────────┐  ┌──────────────┐  ┌──────────────┐   a row each channel
        │ window       │  │ estimate     │  │ round trip   │   lines: state of the window
        │ in flight    │  │ pacing rate  │  │ least        │   green: its queue
    2   ├──────────────┤  ├──────────────┤  ├──────────────┤
        └──────────────┘  └──────────────┘  └──────────────┘

Quantities that a run does not have, such as windows, are omitted from picture and legend.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gingham.plots import _style as style
from gingham.plots._tables import numbers, numbers_if_any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from matplotlib.axes import Axes

    from gingham.plots._tables import Floats

# Maximum number of rows in a readable picture.
ROWS_MAX = 8
NAME_MAX = 18
# Range used if no times are known: milliseconds.
USUAL_PS = 1e10
NS = 1e3
BITS, MEGA = 8.0, 1e6
BYTES = (("MB", 1e6), ("kB", 1e3), ("B", 1.0))
# A peak is cut off at this multiple of the maximum of the panel's other curves.
ROOM = 1.35
BLUE, ORANGE, GREEN, PURPLE = (style.CLASS_COLOURS[place] for place in (0, 1, 2, 4))
DASHED = (0, (4, 2))
LEGEND = {"borderaxespad": 0.1, "columnspacing": 1.1, "handlelength": 1.5, "handletextpad": 0.5}


@dataclass(frozen=True, slots=True)
class Curve:
    """A column of the series, drawn over time."""

    label: str
    values: Floats
    looks: Mapping[str, Any]
    # Drawn as an area from 0.
    filled: bool = False
    # Whether its peaks are cut off if no other curve is as high.
    cut: bool = False
    # Whether it is a mean over the step rather than a value at its end.
    mean: bool = False

    @property
    def known(self) -> bool:
        """Whether any value is known."""
        return bool(np.isfinite(self.values).any())


@dataclass(frozen=True, slots=True)
class Times:
    """Middles and ends of the steps."""

    middle: Floats
    ends: Floats


@dataclass(frozen=True, slots=True)
class Column:
    """A column of panels: its unit and its curves, over all rows of the series."""

    unit: str
    curves: Sequence[Curve]


def columns(series: pa.Table) -> list[Column]:
    """Return the columns of panels, each with its known curves."""
    found = [of_bytes(series), of_rates(series), of_times(series)]
    return [Column(one.unit, [curve for curve in one.curves if curve.known]) for one in found]


def of_bytes(series: pa.Table) -> Column:
    """Return the column of window, bytes in flight and queue."""
    window = positive(numbers(series, "window_bytes"))
    # Without windows, bytes in flight are unknown.
    flying = np.where(np.isfinite(window), numbers(series, "in_flight_bytes"), np.nan)
    queue = numbers(series, "queue_bytes")
    largest = max(float(np.nanmax(values, initial=0.0)) for values in (window, flying, queue))
    # Without values, the usual unit is used.
    unit, size = next((one for one in BYTES if (largest or 1e4) >= 2 * one[1]), BYTES[-1])
    curves = [
        Curve("queue", queue / size, {"color": GREEN}, filled=True),
        Curve("window", window / size, {"color": BLUE, "lw": 1.2}),
        Curve("in flight", flying / size, {"color": ORANGE, "lw": 0.9}),
    ]
    return Column(unit, curves)


def of_rates(series: pa.Table) -> Column:
    """Return the column of estimated rate, pacing rate and arrival rate."""
    arrived = numbers(series, "arrived_bits_per_s") / MEGA
    pacing = numbers_if_any(series, "pacing_rate_bytes_per_s") * BITS / MEGA
    curves = [
        Curve("arrived", arrived, {"color": BLUE, "lw": 1.2}, mean=True),
        Curve("pacing rate", pacing, {"color": PURPLE, "lw": 0.9}, cut=True),
        Curve(
            "estimated rate",
            numbers(series, "estimated_bits_per_s") / MEGA,
            {"color": style.INK, "lw": 0.9, "ls": DASHED},
        ),
    ]
    return Column("Mbit/s", curves)


def of_times(series: pa.Table) -> Column:
    """Return the column of round-trip time, its minimum, and queueing delay."""
    wait = numbers_if_any(series, "queue_ns") * NS
    trip, least = (numbers_if_any(series, f"round_trip{part}_ns") * NS for part in ("", "_min"))
    largest = max(float(np.nanmax(values, initial=0.0)) for values in (wait, trip, least))
    unit, unit_ps = style.unit_for(largest or USUAL_PS)
    curves = [
        Curve("wait in queue", wait / unit_ps, {"color": GREEN}, filled=True),
        Curve("round trip", trip / unit_ps, {"color": BLUE, "lw": 1.2}),
        Curve("least", least / unit_ps, {"color": style.INK, "lw": 0.9, "ls": DASHED}),
    ]
    return Column(unit, curves)


def positive(values: Floats) -> Floats:
    """Return the values, with NaN in place of 0."""
    return np.where(values > 0, values, np.nan)


def draw_rows(
    rows: Sequence[Sequence[Axes]], times: Times, series: pa.Table, of_channel: Mapping[str, Any]
) -> None:
    """Draw a row of panels for each channel, up to the number of rows."""
    drawn = columns(series)
    shown = list(of_channel.items())[: len(rows)]
    for panels, (name, places) in zip(rows, shown, strict=True):
        for axes, column in zip(panels, drawn, strict=True):
            draw_panel(axes, times, column, places)
            axes.set_ylabel(column.unit)
        short = style.clipped(name, NAME_MAX)
        panels[0].set_ylabel(f"channel {short}\n{drawn[0].unit}")
    for axes in rows[0]:
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, **LEGEND)


def draw_panel(axes: Axes, times: Times, column: Column, places: Any) -> None:
    """Draw the curves of one channel."""
    tops = {True: 0.0, False: 0.0}
    for curve in column.curves:
        values, at = curve.values[places], times.middle if curve.mean else times.ends
        if curve.filled:
            axes.fill_between(at, 0, values, alpha=0.45, lw=0, label=curve.label, **curve.looks)
            if len(at) == 1:
                axes.plot(at, values, "o", ms=style.LONE_MARK, clip_on=False, **curve.looks)
        else:
            style.course(axes, at, values, label=curve.label, clip_on=len(at) > 1, **curve.looks)
        tops[curve.cut] = max(tops[curve.cut], float(np.nanmax(values, initial=0.0)))
    top = 1.08 * max(tops.values())
    if tops[False] > 0:
        top = min(top, ROOM * tops[False])
    axes.set_ylim(0, top or 1.0)
