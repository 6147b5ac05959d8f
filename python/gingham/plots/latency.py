"""The latency distribution of each traffic class, as a picture.

One panel a class on a common axis: the histogram, the median and the 99th percentile as
dashed lines, the mean as a solid line in the band of its 95 % confidence interval. The axis
ends a little beyond the largest 99th percentile; what lies further out is counted in words,
lest one straggler flattens the picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from matplotlib.axes import Axes
    from numpy.typing import NDArray
Latencies: TypeAlias = "NDArray[np.float64]"

PANELS_MAX = 8
BINS = 80
# The axis ends at the largest marked latency times this, or at the largest latency.
AXIS_MARGIN = 1.25
BATCHES = 20
# Student's t for a two-sided 95 % interval with 19 degrees of freedom.
T_QUANTILE = 2.093

UNITS = [("s", 1e12), ("ms", 1e9), ("µs", 1e6), ("ns", 1e3), ("ps", 1.0)]
FILL, EDGE, MEAN, QUANTILE = "#bcd0e8", "#3d6a9e", "#b3282d", "#444444"


@dataclass(frozen=True, slots=True)
class Marks:
    """What is marked on a distribution, in picoseconds."""

    mean_ps: float
    # Half the width of the mean's 95 % confidence interval, where one is known.
    half_width_ps: float | None
    p50_ps: float
    p99_ps: float

    @classmethod
    def of(cls, latencies_ps: Latencies) -> Marks:
        """Compute the marks of latencies in the order of their messages.

        The interval is by means of 20 batches, because neighbours are alike; fewer messages
        have none.
        """
        half_width = None
        if len(latencies_ps) >= BATCHES:
            means = [batch.mean() for batch in np.array_split(latencies_ps, BATCHES)]
            half_width = float(T_QUANTILE * np.std(means, ddof=1) / np.sqrt(BATCHES))
        p50, p99 = np.percentile(latencies_ps, [50, 99])
        return cls(float(latencies_ps.mean()), half_width, float(p50), float(p99))


def write(
    handle: BinaryIO,
    table: pa.Table,
    *,
    title: str = "Message latency",
    marks: Mapping[str, Marks] | None = None,
) -> None:
    """Write a PNG of the columns `class` and `latency_ps` of `table`, a row a message.

    `marks` holds what a run measured over all its messages; classes without an entry are
    marked with what the rows of the table say.
    """
    figure = draw(table, title=title, marks=marks or {})
    FigureCanvasAgg(figure)
    figure.savefig(handle, format="png")


def draw(table: pa.Table, *, title: str, marks: Mapping[str, Marks]) -> Figure:
    """Return the picture as a figure."""
    classes = latencies_by_class(table)
    shown = dict(list(classes.items())[:PANELS_MAX])
    rows = max(len(shown), 1)
    figure = Figure(figsize=(8, 1.2 + 2.0 * rows), layout="constrained", dpi=150)
    left_out = len(classes) - len(shown)
    figure.suptitle(title + (f" (first {rows} of {len(classes)} classes)" if left_out else ""))
    axes = figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
    if not shown:
        nothing(axes[0])
        return figure
    marks = {name: marks.get(name) or Marks.of(latencies) for name, latencies in shown.items()}
    end_ps = axis_end_ps(shown, marks)
    unit, unit_ps = unit_for(end_ps)
    bins = np.linspace(0, end_ps / unit_ps, BINS + 1).tolist()
    for axis, (name, latencies) in zip(axes, shown.items(), strict=True):
        panel(axis, name, latencies / unit_ps, bins, unit)
        mark(axis, marks[name], unit, unit_ps)
    axes[-1].set_xlim(0, end_ps / unit_ps)
    axes[-1].set_xlabel(f"latency from creation to delivery ({unit})")
    return figure


def latencies_by_class(table: pa.Table) -> dict[str, Latencies]:
    """Return the latencies of each class, the classes in order of their first message."""
    names = np.asarray(table["class"].to_pylist(), dtype=object)
    latencies = table["latency_ps"].to_numpy().astype(np.float64)
    return {name: latencies[names == name] for name in dict.fromkeys(names)}


def unit_for(largest_ps: float) -> tuple[str, float]:
    """Return the largest unit, and its picoseconds, in which `largest_ps` is at least 2."""
    return next((unit for unit in UNITS if largest_ps >= 2 * unit[1]), UNITS[-1])


def axis_end_ps(classes: Mapping[str, Latencies], marks: Mapping[str, Marks]) -> float:
    """Return where the axis ends: beyond all marks, and not beyond all latencies."""
    largest = max(latencies.max() for latencies in classes.values())
    marked = max(max(one.p99_ps, one.mean_ps + (one.half_width_ps or 0)) for one in marks.values())
    return float(max(min(largest, AXIS_MARGIN * marked), 1.0))


def panel(axis: Axes, name: str, latencies: Latencies, bins: list[float], unit: str) -> None:
    """Draw the histogram of one class; all classes share their bins."""
    axis.hist(latencies, bins=bins, color=FILL, edgecolor=EDGE, linewidth=0.4, histtype="bar")
    count = len(latencies)
    axis.set_title(f"{name}: {count:,} message{'' if count == 1 else 's'}", loc="left", size=10)
    beyond = int((latencies > bins[-1]).sum())
    if beyond:
        longest = f"{beyond:,} beyond, up to {latencies.max():.4g} {unit} \N{RIGHTWARDS ARROW}"
        frame, white = axis.transAxes, "white"
        axis.text(0.995, 0.5, longest, transform=frame, ha="right", size=8, backgroundcolor=white)
    axis.set_ylabel("messages")
    axis.spines[["top", "right"]].set_visible(False)


def mark(axis: Axes, marks: Marks, unit: str, unit_ps: float) -> None:
    """Draw the mean with its interval, the median and the 99th percentile."""
    mean = marks.mean_ps / unit_ps
    label = f"mean {mean:.4g} {unit}"
    if marks.half_width_ps is not None:
        half_width = marks.half_width_ps / unit_ps
        axis.axvspan(mean - half_width, mean + half_width, color=MEAN, alpha=0.25, linewidth=0)
        label = f"mean {mean:.4g} ± {half_width:.2g} {unit} (95 % interval)"
    axis.axvline(mean, color=MEAN, linewidth=1.2, label=label)
    for name, value_ps, style in [("p50", marks.p50_ps, "--"), ("p99", marks.p99_ps, ":")]:
        value = value_ps / unit_ps
        axis.axvline(
            value,
            color=QUANTILE,
            linewidth=1.0,
            linestyle=style,
            label=f"{name} {value:.4g} {unit}",
        )
    above = (1.0, 1.0)
    axis.legend(loc="lower right", bbox_to_anchor=above, frameon=False, fontsize=8, ncols=3)


def nothing(axis: Axes) -> None:
    """Say that there is nothing to draw."""
    axis.set_axis_off()
    axis.text(0.5, 0.5, "no message was counted", ha="center", va="center")
