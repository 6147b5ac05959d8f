"""Means over replications, with intervals from batch means within each run.

A run bounds the error of its mean latency by the means of its batches. The mean over a few
replications is more precise than each of them, by the root of their number::

    value = mean of v_i          half-width = sqrt(sum of h_i^2) / n

A saturated run has no such interval. If a run lacks it, the interval is Student's over the
replications alone; a single replication then has none.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gingham.studies._bands import Measurement
from gingham.studies._series import mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

NS_PER_US = 1000.0
# By name of a number: its column, that of its half-width, and the factor to the unit shown.
COLUMNS: Mapping[str, tuple[str, str, float]] = {
    "latency": ("latency_mean_ns", "latency_half_width_ns", 1 / NS_PER_US),
    "posted latency": ("posted_latency_mean_ns", "posted_latency_half_width_ns", 1 / NS_PER_US),
    "posting": ("posting_mean_ns", "posting_half_width_ns", 1 / NS_PER_US),
    "accepted": ("accepted_load", "accepted_load_half_width", 1.0),
    "missed": ("deadlines_missed", "deadlines_missed_half_width", 1.0),
    "missed fixed": ("deadlines_missed_fixed", "deadlines_missed_fixed_half_width", 1.0),
    "lateness": ("deadline_late_mean_ns", "deadline_late_half_width_ns", 1e-6),
    "law": ("deadlines_missed_law", "", 1.0),
    "deviation": ("frame_interval_deviation_ns", "", 1e-6),
}


def known(value: float | None) -> bool:
    """Whether a value of a row is a known number.

    >>> known(None), known(float("nan")), known(0.0)
    (False, False, True)
    """
    return value is not None and not math.isnan(value)


def pooled(rows: Sequence[Mapping[str, Any]], of: str) -> Measurement:
    """Return the mean of a number over runs with its 95 % interval.

    >>> rows = [{"accepted_load": 0.5, "accepted_load_half_width": 0.03},
    ...         {"accepted_load": 0.7, "accepted_load_half_width": 0.04}]
    >>> found = pooled(rows, "accepted")
    >>> round(found.value, 3), round(found.high, 3)
    (0.6, 0.625)
    """
    column, half, scale = COLUMNS[of]
    values = [row[column] * scale for row in rows if known(row[column])]
    if not values:
        return Measurement(math.nan, note="no run tells")
    widths = [row[half] for row in rows if half and known(row[column]) and known(row[half])]
    if len(widths) < len(values):
        return mean(values)
    spread = scale * math.sqrt(math.fsum(width**2 for width in widths)) / len(values)
    return Measurement.around(math.fsum(values) / len(values), spread)


def half_width(one: Measurement) -> float:
    """Return the half-width of an interval; 0 without an interval."""
    return 0.0 if one.high is None else one.high - one.value


def minus(one: Measurement, other: Measurement) -> Measurement:
    """Return a difference of independent numbers, with its interval."""
    spread = math.hypot(half_width(one), half_width(other))
    note = f"{one.value:.4g} and {other.value:.4g}"
    return Measurement.around(one.value - other.value, spread, note)


def over(one: Measurement, other: Measurement) -> Measurement:
    """Return a ratio of independent numbers, with its interval to first order."""
    value = one.value / other.value
    relative = math.hypot(half_width(one) / one.value, half_width(other) / other.value)
    note = f"{one.value:.4g} and {other.value:.4g}"
    return Measurement.around(value, abs(value) * relative, note)


def least(found: Iterable[Measurement]) -> Measurement:
    """Return the measurement with the lowest lower end of its interval."""
    return min(found, key=lambda one: one.value if one.low is None else one.low)
