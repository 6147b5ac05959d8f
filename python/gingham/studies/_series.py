"""Curves over replications: means with intervals, paired differences, minima.

A series holds the value of each replication at each place on the axis. Runs of one replication
share their random numbers at all places, so the difference between two places is taken by
replication: common variation cancels, and the interval of the difference is narrower than those of
the means.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gingham.results import interval
from gingham.studies._bands import Measurement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


@dataclass(frozen=True)
class Series:
    """Values by place on the axis and by replication."""

    values: Mapping[float, Mapping[int, float]]

    @classmethod
    def of(
        cls,
        rows: Iterable[Mapping[str, Any]],
        x: str,
        y: str | Callable[[Mapping[str, Any]], float | None],
    ) -> Series:
        """Return the series of a column, or of a function of a row, over another column."""
        made: dict[float, dict[int, float]] = defaultdict(dict)
        for row in rows:
            value = row[y] if isinstance(y, str) else y(row)
            if value is not None and not math.isnan(value):
                values, replication = made[row[x]], row["replication"]
                assert replication not in values, f"{x} {row[x]} has rows that differ otherwise"
                values[replication] = value
        return cls({place: made[place] for place in sorted(made)})

    @property
    def places(self) -> list[float]:
        """The places on the axis, in order."""
        return list(self.values)

    def at(self, place: float) -> Measurement:
        """Return the mean at a place."""
        return mean(list(self.values[place].values()))

    def means(self) -> list[Measurement]:
        """Return the means at all places."""
        return [self.at(place) for place in self.places]

    def between(self, low: float, high: float) -> Series:
        """Return the part of the series between two places, both included."""
        return Series({at: self.values[at] for at in self.places if low <= at <= high})

    def difference(self, one: float, other: float) -> Measurement:
        """Return the paired difference of the values at `one` from those at `other`."""
        return paired(self.values[one], self.values[other])

    def differences(self, other: float) -> list[Measurement]:
        """Return the paired differences of the values at each place from those at one."""
        return [self.difference(place, other) for place in self.places]

    def lowest(self) -> float:
        """Return the place of the smallest mean."""
        return min(self.places, key=lambda place: self.at(place).value)

    def highest(self) -> float:
        """Return the place of the largest mean."""
        return max(self.places, key=lambda place: self.at(place).value)

    def minimum(self) -> Measurement:
        """Return the place of the smallest mean, and the range not significantly above it."""
        best = self.lowest()
        level = [place for place in self.places if not surely_above(self, place, best)]
        return Measurement(best, min(level), max(level), f"mean there {self.at(best).value:.4g}")


def surely_above(series: Series, place: float, best: float) -> bool:
    """Return whether the values at a place significantly exceed those at another."""
    if place == best:
        return False
    low = series.difference(place, best).low
    return low is not None and low > 0


def mean(values: Iterable[float]) -> Measurement:
    """Return the mean of independent values with its 95 % interval."""
    found = interval(values)
    return Measurement(found.mean, found.low, found.high)


def paired(one: Mapping[int, float], other: Mapping[int, float]) -> Measurement:
    """Return the mean difference of values of the same replications."""
    return mean([one[key] - other[key] for key in one if key in other])


def ratio(one: Mapping[int, float], other: Mapping[int, float]) -> Measurement:
    """Return the mean ratio of values of the same replications."""
    return mean([one[key] / other[key] for key in one if key in other])


def dip(series: Series, near: float, within: float, reach: float) -> Measurement:
    """Return the depth of a local minimum: the excess of both shoulders over its lowest place.

    The minimum is the lowest place within `near` (1 ± `within`), the shoulders are the highest
    places up to `reach` to the left and to the right of it. Of the two paired differences the
    smaller counts: it is above zero if there is a minimum.
    """
    bottom = series.between(near * (1 - within), near * (1 + within)).lowest()
    left = series.between(bottom - reach, bottom).highest()
    right = series.between(bottom, bottom + reach).highest()
    depths = [series.difference(shoulder, bottom) for shoulder in (left, right)]
    lower = min(depths, key=lambda depth: depth.value if depth.low is None else depth.low)
    note = f"lowest at {bottom:g}, shoulders at {left:g} and {right:g}"
    return Measurement(lower.value, lower.low, lower.high, note)


def crossing(one: Series, other: Series) -> Measurement:
    """Return the place beyond which `one` exceeds `other`, interpolated linearly.

    The interval is from the last place where it is significantly below to the first place where it
    is significantly above.
    """
    gaps = {at: paired(one.values[at], other.values[at]) for at in one.places if at in other.values}
    found = [
        (left, right) for left, right in pairwise(gaps) if gaps[left].value <= 0 < gaps[right].value
    ]
    if not found:
        return Measurement(math.nan, note="the curves do not cross")
    left, right = found[-1]
    share = gaps[left].value / (gaps[left].value - gaps[right].value)
    below = [at for at, gap in gaps.items() if at <= left and (gap.high or 0) < 0]
    above = [at for at, gap in gaps.items() if at >= right and (gap.low or 0) > 0]
    return Measurement(
        left + (right - left) * share, max(below, default=None), min(above, default=None)
    )
