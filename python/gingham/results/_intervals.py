"""Means over replications, with the 95 % interval of Student.

For `n` independent values with the sample deviation `s`, the mean lies within

::

    half-width = t s / sqrt(n),    t for n - 1 degrees of freedom

of the true mean with a probability of 95 %, if the values are normally distributed, as means of
runs nearly are. (Law, "Simulation Modeling and Analysis", 5th ed., section 4.5; pairs: section
10.2.1.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gingham._native import student_t

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Interval:
    """A mean with the half-width of its 95 % interval; a single value has no interval."""

    mean: float
    half_width: float | None
    count: int

    @property
    def low(self) -> float | None:
        """Lower end of the interval."""
        return None if self.half_width is None else self.mean - self.half_width

    @property
    def high(self) -> float | None:
        """Upper end of the interval."""
        return None if self.half_width is None else self.mean + self.half_width


def interval(values: Iterable[float]) -> Interval:
    """Return the mean of independent values with its 95 % interval.

    >>> latency = interval([9.0, 10.0, 11.0])
    >>> f"{latency.mean:.2f} ± {latency.half_width:.2f}"
    '10.00 ± 2.48'
    """
    given = list(values)
    count = len(given)
    if not count:
        raise ValueError("no values have no mean")
    # Exact sums, which are independent of the order.
    mean = math.fsum(given) / count
    if count == 1:
        return Interval(mean, None, count)
    variance = math.fsum((value - mean) ** 2 for value in given) / (count - 1)
    return Interval(mean, student_t(count - 1) * math.sqrt(variance / count), count)
