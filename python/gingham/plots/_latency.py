"""The latency distribution of each traffic class, over all messages of the window.

::

    bulk     │ ▄█▄▂▁           mean │ p50 ┊ p99 ⋮     share of the messages per bin
    urgent   │█▂
    slower   │‾‾╲___           share of messages with a higher latency, by class; the percentiles
             └────────────     with their intervals as marks

There is one panel per class on a common axis, which is logarithmic for long tails, and otherwise
ends a little beyond the largest 99th percentile; a text counts the messages beyond, because one
straggler would flatten the picture. Histograms are finer than drawn: a bin takes messages of the
fine bins in proportion to their overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gingham import _texts
from gingham.plots import _style as style
from gingham.plots._tables import numbers, rows_by_class, words

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gingham.plots._tables import Floats, Indices

BINS = 90
# A linear axis ends at the largest marked latency times this, or beyond the largest latency.
AXIS_MARGIN, SLOWEST_MARGIN = 1.25, 1.05
# It begins at zero if the smallest latency is less than this share of its end.
NEAR_ZERO = 0.4
# The axis is logarithmic if the 99.9th percentile exceeds this multiple of the median.
LONG_TAIL, TAIL_SHARE = 6.0, 0.999
MARKED = (50.0, 99.0)
# An interval whose middle differs from its value by more than this share is given by its ends.
LOPSIDED = 0.05
NAME_LENGTH = 20
LEGEND: dict[str, Any] = {"ncols": 3, "handlelength": 1.4, "columnspacing": 1.2, "fontsize": 7.5}
STYLES = {50.0: (0, (5, 2)), 99.0: (0, (1, 1.3))}


@dataclass(frozen=True, slots=True)
class Distribution:
    """The histogram of one class: messages between neighbouring edges, in picoseconds."""

    low_ps: Floats
    high_ps: Floats
    messages: Floats

    @property
    def total(self) -> float:
        """Number of messages."""
        return float(self.messages.sum())

    def below(self, latency_ps: Floats) -> Floats:
        """Return the number of messages up to a latency, spread evenly within fine bins."""
        edges = np.column_stack([self.low_ps, self.high_ps]).ravel()
        counts = np.cumsum(np.column_stack([np.zeros_like(self.messages), self.messages]).ravel())
        return np.asarray(np.interp(latency_ps, edges, counts, left=0.0, right=self.total))

    def quantile(self, share: float) -> float:
        """Return the upper edge of the fine bin that contains this quantile."""
        reached = int(np.searchsorted(np.cumsum(self.messages), share * self.total - 1e-9))
        return float(self.high_ps[min(reached, len(self.high_ps) - 1)])


@dataclass(frozen=True, slots=True)
class Mark:
    """A value with the ends of its 95 % interval, NaN if unknown; in picoseconds."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Class:
    """Data drawn for one class."""

    name: str
    distribution: Distribution
    mean: Mark | None
    percentiles: dict[float, Mark]


@style.styled
def draw(histogram: pa.Table, percentiles: pa.Table, classes: pa.Table, *, title: str) -> Figure:
    """Return the picture of the tables `histogram`, `percentiles` and `classes`."""
    found = measured(histogram, percentiles, classes)
    filled = [one for one in found if one.distribution.total > 0]
    if not filled:
        figure = style.new_figure(7, 3, title)
        style.say_nothing_to_draw(figure.subplots(), "no message was followed to its delivery")
        return figure
    shown = filled[: style.CLASSES_MAX]
    heights = [1.0] * len(shown) + [1.5]
    height = 1.0 + (1.35 if len(shown) > 3 else 1.7) * sum(heights)  # noqa: PLR2004
    figure = style.new_figure(9.5, height, title, headline(found, shown))
    axes = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    low_ps, high_ps, logarithmic = axis_range(shown)
    unit, unit_ps = style.unit_for(high_ps / 5 if logarithmic else high_ps)
    edges = (np.geomspace if logarithmic else np.linspace)(low_ps, high_ps, BINS + 1)
    for axis, one, colour in zip(axes, shown, style.CLASS_COLOURS, strict=False):
        draw_histogram(axis, one, colour, edges / unit_ps, unit, unit_ps)
    draw_tails(axes[-1], shown, unit_ps)
    last = axes[-1]
    last.set(xscale="log" if logarithmic else "linear", xlim=(low_ps / unit_ps, high_ps / unit_ps))
    last.set_xlabel(f"latency from creation to delivery ({unit})")
    if logarithmic:
        style.log_ticks(last.xaxis)
    return figure


def measured(histogram: pa.Table, percentiles: pa.Table, classes: pa.Table) -> list[Class]:
    """Return the data of each class, in the order of their table."""
    bins, marks = rows_by_class(histogram), rows_by_class(percentiles)
    mean = numbers(classes, "latency_mean_ns") * style.PS_PER_NS
    half = numbers(classes, "latency_half_width_ns") * style.PS_PER_NS
    none = np.zeros(0, dtype=np.int64)
    return [
        Class(
            name,
            distribution(histogram, bins.get(name, none)),
            Mark(value, value - h, value + h) if np.isfinite(value) else None,
            marks_of(percentiles, marks.get(name, none)),
        )
        for name, value, h in zip(
            words(classes, "class"), mean.tolist(), half.tolist(), strict=True
        )
    ]


def distribution(histogram: pa.Table, rows: Indices) -> Distribution:
    """Return the histogram in these rows, its bins in order."""
    low = numbers(histogram, "from_ps")[rows]
    order = np.argsort(low, kind="stable")
    high, messages = numbers(histogram, "below_ps")[rows], numbers(histogram, "messages")[rows]
    kept = order[messages[order] > 0]
    return Distribution(low[kept], high[kept], messages[kept])


def marks_of(percentiles: pa.Table, rows: Indices) -> dict[float, Mark]:
    """Return the known percentiles in these rows."""
    asked = numbers(percentiles, "percentile")[rows].tolist()
    columns = [
        (numbers(percentiles, name)[rows] * style.PS_PER_NS).tolist()
        for name in ("latency_ns", "low_ns", "high_ns")
    ]
    marks = {q: Mark(*values) for q, *values in zip(asked, *columns, strict=True)}
    return {q: mark for q, mark in marks.items() if np.isfinite(mark.value)}


def headline(found: list[Class], shown: list[Class]) -> str:
    """Return the meaning of the marks, and the classes that are not shown."""
    text = "Bands and bars are 95 % intervals."
    empty = [one.name for one in found if one.distribution.total == 0]
    if empty:
        names = ", ".join(style.clipped(name, 24) for name in empty[:4])
        text += f" No message of {names}{' and others' if len(empty) > 4 else ''} was followed."  # noqa: PLR2004
    left_out = len(found) - len(empty) - len(shown)
    return f"{text} The first {len(shown)} classes; {left_out} more." if left_out else text


def axis_range(shown: list[Class]) -> tuple[float, float, bool]:
    """Return the ends of the axis, and whether it is logarithmic."""
    slowest = max(float(one.distribution.high_ps[-1]) for one in shown)
    fastest = min(
        float(max(one.distribution.low_ps[0], one.distribution.high_ps[0] / 2)) for one in shown
    )
    median = min(one.distribution.quantile(0.5) for one in shown)
    tail = max(one.distribution.quantile(TAIL_SHARE) for one in shown)
    if tail > LONG_TAIL * median:
        return 0.9 * fastest, 1.1 * slowest, True
    means = [np.nanmax([one.mean.value, one.mean.high]) for one in shown if one.mean]
    marked = max([*(one.distribution.quantile(0.99) for one in shown), *means])
    end = float(max(min(SLOWEST_MARGIN * slowest, AXIS_MARGIN * marked), 1.0))
    if fastest < NEAR_ZERO * end:
        return 0.0, end, False
    return min(fastest - (1 - 1 / SLOWEST_MARGIN) * (end - fastest), 0.9 * fastest), end, False


def draw_histogram(
    axes: Axes, one: Class, colour: str, edges: Floats, unit: str, unit_ps: float
) -> None:
    """Draw the histogram of one class with its mean, median and 99th percentile."""
    below = one.distribution.below(edges * unit_ps)
    # A logarithmic axis cannot begin at 0, the lower edge of the first fine bin.
    below[0] = 0.0
    share = np.diff(below) / one.distribution.total
    axes.stairs(100 * share, edges, fill=True, color=colour, alpha=0.35, lw=0)
    axes.stairs(100 * share, edges, color=colour, lw=0.8)
    axes.set_ylabel("messages (%)")
    count = round(one.distribution.total)
    name = style.clipped(one.name, NAME_LENGTH)
    axes.set_title(f"{name}: {count:,} message{'' if count == 1 else 's'}", loc="left", size=9)
    axes.set_ylim(bottom=0)
    if one.mean:
        vertical(axes, one.mean, "mean", "-", unit_ps, edges[-1])
    for asked in MARKED:
        if asked in one.percentiles:
            mark, line = one.percentiles[asked], STYLES[asked]
            vertical(axes, mark, f"p{asked:g}", line, unit_ps, edges[-1])
    beyond = one.distribution.total - float(below[-1])
    if round(beyond):
        longest = float(one.distribution.high_ps[-1]) / unit_ps
        text = (
            f"{round(beyond):,} beyond, up to {_texts.number(longest)} {unit} \N{RIGHTWARDS ARROW}"
        )
        axes.text(0.995, 0.5, text, transform=axes.transAxes, ha="right", size=8, gid="beyond")
    if axes.lines:
        axes.legend(loc="lower right", bbox_to_anchor=(1.01, 1.02), borderaxespad=0, **LEGEND)


def vertical(axes: Axes, mark: Mark, name: str, line: Any, unit_ps: float, axis_end: float) -> None:
    """Draw a marked latency as a line in the band of its interval.

    The band of an interval without an upper end continues to the end of the axis.
    """
    value, low, high = (one / unit_ps for one in (mark.value, mark.low, mark.high))
    label = f"{name} {with_interval(value, low, high)}"
    if np.isfinite(low):
        end = high if np.isfinite(high) else axis_end
        axes.axvspan(low, end, color=style.INK, alpha=0.12, lw=0, gid=f"{name} interval")
    axes.axvline(value, color=style.INK, lw=1.1, ls=line, label=label, gid=name)


def with_interval(value: float, low: float, high: float) -> str:
    """Return a value with its interval: the half-width, or both ends if it is asymmetric."""
    if not np.isfinite(low):
        return short(value)
    if not np.isfinite(high):
        return f"{short(value)} ({short(low)} to ?)"
    if abs(high + low - 2 * value) <= LOPSIDED * (high - low):
        return _texts.with_interval(value, (high - low) / 2)
    return f"{short(value)} ({short(low)} to {short(high)})"


def short(value: float) -> str:
    """Return a number with at least three digits."""
    return _texts.number(value, 3)


def draw_tails(axes: Axes, shown: list[Class], unit_ps: float) -> None:
    """Draw for each class the share of messages with a higher latency, with its percentiles."""
    least = min(1 / one.distribution.total for one in shown)
    for one, colour in zip(shown, style.CLASS_COLOURS, strict=False):
        longer = 1 - np.cumsum(one.distribution.messages) / one.distribution.total
        latency = np.concatenate([one.distribution.low_ps[:1], one.distribution.high_ps]) / unit_ps
        share = np.maximum(np.concatenate([[1.0], longer]), least / 2)
        axes.plot(latency, share, color=colour, lw=1.3, gid="tail")
        for asked, mark in one.percentiles.items():
            known = [one for one in (mark.low, mark.value, mark.high) if np.isfinite(one)]
            y = 1 - asked / 100
            ends = np.array([min(known), max(known)]) / unit_ps
            axes.plot(
                ends, [y, y], color=colour, lw=3.2, alpha=0.5, solid_capstyle="butt", gid="interval"
            )
            axes.plot([mark.value / unit_ps], [y], "o", color=colour, ms=3.5, gid="percentile")
    axes.set_yscale("log")
    axes.set_ylim(least / 1.5, 1.3)
    axes.yaxis.set_major_formatter(style.percent_tick)
    axes.set_ylabel("took longer")
    axes.set_title("fraction of the messages that took longer (CCDF)", loc="left")
    axes.grid(color=style.GROUND, which="major")
    axes.set_axisbelow(True)
