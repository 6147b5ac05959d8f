"""Numbers of classes, channels and sources on both sides.

============================  =================================================================
available runs                interval of a difference
============================  =================================================================
two seeds or more in common   Student's, of the differences of the pairs
one seed in common            from the differences of 30 batches of time, for loads and mean
                              latencies of classes; otherwise as below
none in common                the root of the sum of the squares of both half-widths
============================  =================================================================

In batches of time a mean is a ratio of sums, as in a single run (`docs/concepts/measurement.md`):
with sums `S` over `N`, the residual of a batch is the difference of both runs' residuals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from gingham._native import student_t
from gingham._texts import half_width_of
from gingham.results import Interval, interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from gingham.differences._side import OneRun, Side

# Number of batches into which the common part of both windows is cut, and minimum with data.
BATCHES, BATCHES_MIN = 30, 20
# Numbers without a half-width that are compared nevertheless.
WITHOUT_INTERVAL = ("latency_p99_ns", "delay_p99_ns", "utilisation")
# Class results that can be computed from the table of steps, with the column of their mean.
OVER_TIME = {"accepted_load": "accepted_load", "latency_mean_ns": "latency_mean_ns"}


@dataclass(frozen=True)
class Change:
    """A number on both sides."""

    # Table of the part, such as "classes", name of the part, and column.
    table: str
    part: str
    column: str
    a: float
    b: float
    difference: float
    # Of the 95 % interval; `None` if it cannot be estimated.
    half_width: float | None
    # Pairing: by runs of one seed, by batches of time, or none.
    paired: Literal["seeds", "time"] | None

    @property
    def share(self) -> float | None:
        """The difference as a share of the first value."""
        return self.difference / abs(self.a) if self.a else None

    def as_json(self) -> dict[str, Any]:
        """Return the change for programs."""
        return {**vars(self), "share": self.share}


def number_changes(a: Side, b: Side, seeds: Sequence[int]) -> list[Change]:
    """Return the changes of all numbers that both sides have, class by class."""
    first, second = (next(iter(side.runs.values())) for side in (a, b))
    found = []
    for place, part in first.parts.items():
        other = second.parts.get(place)
        if other is None:
            continue
        for column in columns_of(part):
            change = change_of(place, column, a, b, seeds)
            if change and (change.a or change.b):
                found.append(change)
    return found


def columns_of(part: Mapping[str, Any]) -> Iterator[str]:
    """Yield the columns of a part that hold measured numbers."""
    for column, value in part.items():
        measured = half_width_of(column) in part or column in WITHOUT_INTERVAL
        if measured and isinstance(value, int | float):
            yield column


def change_of(
    place: tuple[str, str], column: str, a: Side, b: Side, seeds: Sequence[int]
) -> Change | None:
    """Return the change of a number of a part; `None` if a side lacks it."""
    sides = [values_of(side, place, column) for side in (a, b)]
    first, second = sides
    common = [seed for seed in seeds if seed in first and seed in second]
    if len(common) > 1:
        found = interval(second[seed].mean - first[seed].mean for seed in common)
        one, other = (interval(side[seed].mean for seed in common).mean for side in sides)
        return Change(*place, column, one, other, found.mean, found.half_width, "seeds")
    if not first or not second:
        return None
    if len(common) == 1 and len(first) == len(second) == 1 and column in OVER_TIME:
        runs = a.runs[common[0]], b.runs[common[0]]
        if over_time := change_over_time(place, column, runs):
            return over_time
    alone, beside = (mean_of(list(side.values())) for side in sides)
    difference = beside.mean - alone.mean
    half_width = together(alone, beside)
    return Change(*place, column, alone.mean, beside.mean, difference, half_width, None)


def values_of(side: Side, place: tuple[str, str], column: str) -> dict[int, Interval]:
    """Return the number in each run of a side that has it, with the interval within the run."""
    found = {}
    for seed, run in side.runs.items():
        part = run.parts.get(place, {})
        if part.get(column) is not None:
            found[seed] = Interval(float(part[column]), part.get(half_width_of(column)), 1)
    return found


def mean_of(values: Sequence[Interval]) -> Interval:
    """Return the mean over runs; a single run keeps its own interval."""
    return values[0] if len(values) == 1 else interval(one.mean for one in values)


def together(one: Interval, other: Interval) -> float | None:
    """Return the half-width of a difference of independent means."""
    if one.half_width is None or other.half_width is None:
        return None
    return math.hypot(one.half_width, other.half_width)


def change_over_time(
    place: tuple[str, str], column: str, runs: tuple[OneRun, OneRun]
) -> Change | None:
    """Return the change of a class's number from batches of time; `None` if these are too few."""
    windows = [run.window_ps for run in runs]
    if place[0] != "classes" or None in windows or any(run.series is None for run in runs):
        return None
    start = max(window[0] for window in windows if window)
    end = min(window[1] for window in windows if window)
    sums = [
        batches(run.series(), place[1], column, start, end)
        for run in runs
        if run.series is not None
    ]
    pairs = [
        (first, second)
        for first, second in zip(*sums, strict=True)
        if first[1] > 0 and second[1] > 0
    ]
    if len(pairs) < BATCHES_MIN:
        return None
    sides = list(zip(*pairs, strict=True))
    a, b = (sum(one[0] for one in side) / sum(one[1] for one in side) for side in sides)
    half_width = of_residuals(
        [residual(second, b, sides[1]) - residual(first, a, sides[0]) for first, second in pairs]
    )
    return Change(*place, column, a, b, b - a, half_width, "time")


def batches(
    series: pa.Table, name: str, column: str, start_ps: int, end_ps: int
) -> list[tuple[float, float]]:
    """Return numerator and denominator of the mean of a class in each batch."""
    found = [(0.0, 0.0)] * BATCHES
    for row in series.to_pylist():
        middle = (row["from_ps"] + row["to_ps"]) / 2
        if row["class"] != name or not start_ps <= middle < end_ps:
            continue
        batch = int((middle - start_ps) * BATCHES / (end_ps - start_ps))
        weight = (
            row["messages_created"]
            if column == "latency_mean_ns"
            else row["to_ps"] - row["from_ps"]
        )
        value = row[column]
        if weight and value is not None and not math.isnan(value):
            total, over = found[batch]
            found[batch] = total + value * weight, over + weight
    return found


def residual(batch: tuple[float, float], mean: float, side: Sequence[tuple[float, float]]) -> float:
    """Return the residual of a batch, as a contribution to the mean."""
    over = sum(one[1] for one in side) / len(side)
    return (batch[0] - mean * batch[1]) / over


def of_residuals(residuals: Sequence[float]) -> float:
    """Return the half-width of the interval from residuals of batches.

    A lag-1 correlation of neighbours widens it.
    """
    count = len(residuals)
    squares = math.fsum(one * one for one in residuals)
    if squares == 0:
        return 0.0
    beside = math.fsum(one * two for one, two in pairwise(residuals))
    correlation = min(max(0.0, beside / squares), 0.99)
    wider = math.sqrt((1 + correlation) / (1 - correlation))
    return student_t(count - 1) * math.sqrt(squares / (count - 1) / count) * wider
