"""What came in, what came out, and how long it took, over the time of the run.

::

    load     ┌────┬──────────────┬───┐   dashed: drawn by the sources; solid: delivered
             │////│  ══════════  │///│   band: mean of the window with its 95 % interval
    latency  │////│  ══════════  │///│   shaded: warm-up, and what follows the window
             └────┴──────────────┴───┘

Slices are joined by twos, fours and so on until they are few enough to draw: loads are means over
time, latencies means over messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from gingham.plots import _style as style
from gingham.plots._tables import numbers, numbers_if_any, rows_by_class, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gingham.plots._tables import Floats, Indices

# Points of a line, where few and where many classes share the axes.
POINTS_FEW, POINTS_MANY, FEW = 128, 64, 2
# A latency axis is logarithmic where the largest mean is so many times the smallest.
LOG_SPAN = 12.0
# A part of the run that is a smaller share of it is not to be seen.
SEEN = 0.002
SHADE, DASHES = "#eeeeee", (0, (4, 2))


@dataclass(frozen=True, slots=True)
class Course:
    """What one class did, step by step."""

    from_ps: Floats
    to_ps: Floats
    drawn_load: Floats
    accepted_load: Floats
    latency_ps: Floats


@dataclass(frozen=True, slots=True)
class Window:
    """The part of the run that counts, in a unit of time."""

    start: float
    end: float

    @classmethod
    def of(cls, summary: Mapping[str, Any], unit_ps: float) -> Window:
        """Return the window of a run."""
        return cls(summary["warm_up_ps"] / unit_ps, summary["window_end_ps"] / unit_ps)


@style.styled
def draw(series: pa.Table, classes: pa.Table, summary: Mapping[str, Any], *, title: str) -> Figure:
    """Return the picture of the tables `series` and `classes`.

    The summary tells the instants `warm_up_ps`, `window_end_ps` and `end_ps`.
    """
    rows = rows_by_class(series)
    if not rows:
        figure = style.new_figure(7, 3, title)
        style.say_nothing_to_draw(figure.subplots(), "no slice of time was recorded")
        return figure
    shown = dict(list(rows.items())[: style.CLASSES_MAX])
    points = POINTS_FEW if len(shown) <= FEW else POINTS_MANY
    courses = {name: course(series, found, points) for name, found in shown.items()}
    figure = style.new_figure(9.5, 6, title, headline(courses, len(rows)))
    load, latency = figure.subplots(2, 1, sharex=True)
    end_ps = max(float(summary["end_ps"]), *(one.to_ps[-1] for one in courses.values()))
    time = style.unit_for(end_ps)
    latest = max(float(np.nan_to_num(one.latency_ps).max()) for one in courses.values())
    delay = style.unit_for(latest)
    draw_loads(load, courses, time[1])
    draw_latencies(latency, courses, time[1], delay)
    shade(load, latency, summary, end_ps, time[1])
    draw_means(load, latency, classes, list(courses), Window.of(summary, time[1]), delay[1])
    latency.set_xlim(0, end_ps / time[1])
    latency.set_xlabel(f"simulated time ({time[0]})")
    draw_legend(load, list(courses))
    return figure


def headline(courses: Mapping[str, Course], classes: int) -> str:
    """Return what a point of the lines stands for."""
    first = next(iter(courses.values()))
    unit, unit_ps = style.unit_for(float(first.to_ps[0] - first.from_ps[0]))
    text = f"A point is the mean of {(first.to_ps[0] - first.from_ps[0]) / unit_ps:.3g} {unit}."
    return (
        text
        if len(courses) == classes
        else f"{text} The first {len(courses)} of {classes} classes."
    )


def course(series: pa.Table, rows: Indices, points: int) -> Course:
    """Return the course of the class in these rows, joined into at most so many steps."""
    start, end = numbers(series, "from_ps")[rows], numbers(series, "to_ps")[rows]
    joined = 1
    while len(rows) > joined * points:
        joined *= 2
    firsts = np.arange(0, len(rows), joined)
    lasts = np.minimum(firsts + joined, len(rows)) - 1
    drawn, accepted = numbers(series, "drawn_load")[rows], numbers(series, "accepted_load")[rows]
    latency = numbers(series, "latency_mean_ns")[rows] * style.PS_PER_NS
    return Course(
        start[firsts],
        end[lasts],
        means(drawn, end - start, firsts),
        means(accepted, end - start, firsts),
        means(latency, numbers(series, "messages_created")[rows], firsts),
    )


def means(values: Floats, weights: Floats, firsts: Indices) -> Floats:
    """Return the weighted means of the steps that begin at `firsts`; NaN where nothing is known."""
    known = np.isfinite(values)
    weights = np.where(known, weights, 0.0)
    total = np.add.reduceat(np.where(known, values, 0.0) * weights, firsts)
    weight = np.add.reduceat(weights, firsts)
    return np.asarray(np.where(weight > 0, total / np.maximum(weight, 1e-300), np.nan))


def draw_loads(axes: Axes, courses: Mapping[str, Course], time_ps: float) -> None:
    """Draw the drawn and the accepted load of each class."""
    for colour, one in zip(style.CLASS_COLOURS, courses.values(), strict=False):
        middle = (one.from_ps + one.to_ps) / 2 / time_ps
        axes.plot(middle, one.drawn_load, color=colour, lw=0.9, ls=DASHES, gid="drawn")
        axes.plot(middle, one.accepted_load, color=colour, lw=1.3, gid="accepted")
    axes.set_ylabel("load (share of the hosts' links)")
    axes.set_ylim(bottom=0)


def draw_latencies(
    axes: Axes, courses: Mapping[str, Course], time_ps: float, delay: tuple[str, float]
) -> None:
    """Draw the mean latency of the messages that each class created in a step."""
    unit, unit_ps = delay
    for colour, one in zip(style.CLASS_COLOURS, courses.values(), strict=False):
        middle = (one.from_ps + one.to_ps) / 2 / time_ps
        # Steps without a message leave gaps; a step alone between gaps is still seen.
        axes.plot(middle, one.latency_ps / unit_ps, color=colour, lw=1.3, gid="latency")
    axes.set_ylabel(f"mean latency ({unit}), by creation")
    everything = np.concatenate([one.latency_ps for one in courses.values()])
    known = everything[everything > 0]
    if len(known) and known.max() > LOG_SPAN * known.min():
        axes.set_yscale("log")
        axes.autoscale_view()
        style.log_ticks(axes.yaxis)
    else:
        axes.set_ylim(bottom=0)


def shade(
    load: Axes, latency: Axes, summary: Mapping[str, Any], end_ps: float, time_ps: float
) -> None:
    """Shade what does not count: the warm-up, and what follows the window."""
    window = Window.of(summary, time_ps)
    run_end = end_ps / time_ps
    # The name of a narrow part reaches into the window, not out of the axes.
    for start, end, name, side in (
        (0.0, window.start, "warm-up", "left"),
        (window.end, run_end, "after the window", "right"),
    ):
        if end - start > SEEN * run_end:
            for axes in (load, latency):
                axes.axvspan(start, end, color=SHADE, lw=0, zorder=0, gid=name)
            text = load.text(start if side == "left" else end, 1.02, name, size=8, ha=side)
            text.set(transform=load.get_xaxis_transform(), color=style.FAINT)


def draw_means(
    load: Axes,
    latency: Axes,
    classes: pa.Table,
    shown: Sequence[str],
    window: Window,
    delay_ps: float,
) -> None:
    """Draw the means over the window as bands of their 95 % intervals."""
    rows = {name: row for row, name in enumerate(words(classes, "class"))}
    columns = (
        (load, "accepted_load", "accepted_load_half_width", 1.0),
        (latency, "latency_mean_ns", "latency_half_width_ns", style.PS_PER_NS / delay_ps),
    )
    for axes, mean_column, half_column, scale in columns:
        mean = numbers(classes, mean_column) * scale
        half = numbers_if_any(classes, half_column) * scale
        for colour, name in zip(style.CLASS_COLOURS, shown, strict=False):
            row = rows.get(name)
            if row is not None and np.isfinite(mean[row]) and np.isfinite(half[row]):
                low = mean[row] - half[row]
                box = ((window.start, low), window.end - window.start, 2 * half[row])
                band = Rectangle(*box, facecolor=colour, alpha=0.22, lw=0, zorder=1.5, gid="mean")
                axes.add_artist(band)


def draw_legend(axes: Axes, names: Sequence[str]) -> None:
    """Explain colours and dashes beside the axes."""
    handles: list[Artist] = [
        Line2D([], [], color=colour, lw=2)
        for colour, _ in zip(style.CLASS_COLOURS, names, strict=False)
    ]
    handles += [
        Line2D([], [], color=style.FAINT, lw=0.9, ls=DASHES),
        Line2D([], [], color=style.FAINT, lw=1.3),
        Patch(facecolor=style.FAINT, alpha=0.3),
    ]
    said = [
        "drawn by the sources",
        "accepted, and latency",
        "95 % interval of the\nmean of the window",
    ]
    labels = [*(style.clipped(name, 22) for name in names), *said]
    axes.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1.02))
