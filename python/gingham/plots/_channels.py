"""Rate of each channel of a stripe over the run, with delay and reordering.

::

    rate     ┌────────────────────┐   areas: arrivals of each channel, stacked
             │▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒│   line: delivered rate; shaded: outside of the window
    delay    │────────────────────│   mean of delivered packets
    waiting  │~~~~~~~~~~~~~~~~~~~~│   packets of each channel that wait at the receiver
             └────────────────────┘
    channel  ┌────┐ ┌─────┐ ┌─────┐   a row each: bytes, rates and times (`_flights`)
             └────┘ └─────┘ └─────┘
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from gingham._texts import number
from gingham.plots import _flights
from gingham.plots import _style as style
from gingham.plots._tables import numbers, words

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gingham.plots._tables import Floats

NS = 1e3
MEGA = 1e6
SHADE = "#eeeeee"
WIDTH_INCHES, OVERVIEW_INCHES, ROW_INCHES = 11.0, 6.5, 1.6


@style.styled
def draw(pipe: pa.Table, series: pa.Table, summary: Mapping[str, Any], *, title: str) -> Figure:
    """Return the picture of the tables `pipe` and `series`."""
    names = list(dict.fromkeys(words(series, "channel")))
    # The last step may be partial and is hardly visible.
    steps = max(pipe.num_rows - 1, 1)
    count = min(len(names), _flights.ROWS_MAX)
    height = OVERVIEW_INCHES + ROW_INCHES * count
    figure = style.new_figure(WIDTH_INCHES, height, title, headline(pipe, summary, len(names)))
    (rates, delays, waiting), rows = panels_of(figure, count)
    unit, unit_ps = style.unit_for(float(numbers(pipe, "to_ns")[steps - 1]) * NS)
    ends = numbers(pipe, "to_ns")[:steps] * NS / unit_ps
    middle = (numbers(pipe, "from_ns") + numbers(pipe, "to_ns"))[:steps] * NS / 2 / unit_ps
    of_channel = {name: rows_of(series, name, steps) for name in names}
    draw_rates(rates, middle, pipe, series, of_channel)
    draw_delays(delays, middle, pipe)
    draw_waiting(waiting, middle, series, of_channel)
    _flights.draw_rows(rows, _flights.Times(middle, ends), series, of_channel)
    shade([rates, delays, waiting, *chain(*rows)], summary, middle, unit_ps)
    for axes in (waiting, *rows[-1]):
        axes.set_xlabel(f"simulated time ({unit})")
    return figure


def panels_of(figure: Figure, channels: int) -> tuple[list[Axes], list[list[Axes]]]:
    """Return the panels of the pipe, one below the other, and a row of three for each channel."""
    heights = [3, 2, 2, *[ROW_INCHES / OVERVIEW_INCHES * 8] * channels]
    grid = figure.add_gridspec(3 + channels, 3, height_ratios=heights)
    pipe = [figure.add_subplot(grid[row, :]) for row in range(3)]
    rows = [
        [figure.add_subplot(grid[3 + row, column]) for column in range(3)]
        for row in range(channels)
    ]
    for axes in (*pipe[:-1], *chain(*rows[:-1])):
        axes.tick_params(labelbottom=False)
    return pipe, rows


def headline(pipe: pa.Table, summary: Mapping[str, Any], channels: int) -> str:
    """Return the goodput and the number of channels in one line."""
    goodput = summary["goodput_bits_per_s"]
    given = (
        "nothing was delivered" if goodput is None else f"{number(goodput / MEGA)} Mbit/s delivered"
    )
    step_ns = float(numbers(pipe, "to_ns")[0] - numbers(pipe, "from_ns")[0])
    unit, unit_ps = style.unit_for(step_ns * NS)
    count = "1 channel" if channels == 1 else f"{channels} channels"
    all_drawn = channels <= _flights.ROWS_MAX
    rows = "" if all_drawn else f" Rows below are the first {_flights.ROWS_MAX} channels."
    return (
        f"{count}, at first {number(summary['capacity_bits_per_s'] / MEGA)} Mbit/s in all: "
        f"{given}, {summary['packets_out_of_order']:,} packets out of order, "
        f"{summary['packets_lost']:,} lost. A step is {number(step_ns * NS / unit_ps, 3)} {unit}; "
        "grey is warm-up and what follows, and peaks of catching up are cut off."
        f"{rows}"
    )


def rows_of(series: pa.Table, name: str, steps: int) -> Any:
    """Return the rows of a channel, step by step."""
    return np.flatnonzero(np.asarray(words(series, "channel"), dtype=object) == name)[:steps]


def colour(place: int) -> str:
    """Return the colour of a channel."""
    return style.CLASS_COLOURS[place % style.CLASSES_MAX]


def draw_rates(
    axes: Axes, middle: Floats, pipe: pa.Table, series: pa.Table, of_channel: Mapping[str, Any]
) -> None:
    """Draw the stacked arrival rates of the channels, and the delivered rate."""
    arrived = numbers(series, "arrived_bits_per_s") / MEGA
    below = np.zeros(len(middle))
    for place, (name, rows) in enumerate(of_channel.items()):
        above = below + arrived[rows]
        label = f"channel {name}"
        axes.fill_between(middle, below, above, color=colour(place), alpha=0.45, lw=0, label=label)
        below = above
    given = numbers(pipe, "delivered_bits_per_s")[: len(middle)] / MEGA
    style.course(axes, middle, given, color=style.INK, lw=1.0, label="delivered")
    # Peaks after the receiver has waited are not sustained rates, and are cut off.
    axes.set_ylim(0, 1.35 * max(float(below.max()), 1e-9))
    axes.set_ylabel("rate (Mbit/s)")
    if len(of_channel) <= style.CLASSES_MAX:
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=5, borderaxespad=0.1)


def draw_delays(axes: Axes, middle: Floats, pipe: pa.Table) -> None:
    """Draw the mean delay, and mark steps with packets out of order."""
    delay_ps = numbers(pipe, "delay_mean_ns")[: len(middle)] * NS
    unit, unit_ps = style.unit_for(float(np.nanmax(delay_ps, initial=0.0)))
    axes.plot(middle, delay_ps / unit_ps, color=style.INK, lw=1.0, marker=".", ms=2)
    late = numbers(pipe, "packets_out_of_order")[: len(middle)] > 0
    if late.any():
        red = style.CLASS_COLOURS[3]
        axes.plot(middle[late], np.zeros(late.sum()), "|", color=red, label="packets out of order")
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.1)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(f"mean delay ({unit})")


def draw_waiting(
    axes: Axes, middle: Floats, series: pa.Table, of_channel: Mapping[str, Any]
) -> None:
    """Draw the number of packets of each channel that wait at the receiver."""
    buffered = numbers(series, "buffer_packets")
    for place, rows in enumerate(of_channel.values()):
        style.course(axes, middle, buffered[rows], color=colour(place), lw=1.0)
    axes.set_ylim(0, max(1.0, 1.05 * float(buffered.max(initial=0.0))))
    axes.set_ylabel("packets waiting\nat the receiver")


def shade(panels: list[Axes], summary: Mapping[str, Any], middle: Floats, unit_ps: float) -> None:
    """Shade the warm-up and the time after the window."""
    keys = ("warm_up_ns", "window_end_ns", "end_ns")
    start, end, over = (summary[key] * NS / unit_ps for key in keys)
    last = max(float(middle[-1]), end)
    if summary["verdict"] == "interrupted":
        # Time that was not simulated is not shown, because it would look like missing arrivals.
        start, end, last = min(start, over), min(end, over), over
    for axes in panels:
        axes.axvspan(0, start, color=SHADE, zorder=0, lw=0)
        axes.axvspan(end, last, color=SHADE, zorder=0, lw=0)
        axes.set_xlim(0, last)
