"""Capacity and collapse: the highest accepted load, and the accepted load in overload.

::

    accepted │       capacity
             │      *
             │     * * * * * * * *  highest load tried: the network collapses if this lies below
             │    *                 the capacity by more than both intervals, and by a twentieth
             └──────────────────── offered

Past saturation a network may accept less than it did just below: waiting packets block others, and
sources near their destinations take the share that others lose. (Dally and Towles, "Principles and
Practices of Interconnection Networks", 2004, sections 23.1 and 25.2: throughput is the accepted
traffic of the least served flow.)

*(ours)*: the minimum of a twentieth (`COLLAPSE_MIN`). The capacity is the highest of the means at
several loads, so chance biases it upwards, and if replications vary little their intervals do not
cover that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gingham.results import Interval, interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Smallest loss in a collapse, as a share of the capacity.
COLLAPSE_MIN = 0.05


@dataclass(frozen=True)
class Accepted:
    """Accepted load at an offered load, over all replications of that load."""

    load: float
    accepted_load: Interval
    # Accepted load of the least served sender or flow; None if it is not measured.
    least_served_load: Interval | None = None


@dataclass(frozen=True)
class Capacity:
    """The capacity of a network, and its accepted load at the highest load tried."""

    # The point with the highest mean accepted load; the lowest offered load in a tie.
    capacity: Accepted
    highest: Accepted
    # `highest`, if it is less by `COLLAPSE_MIN` of the capacity and its interval lies below that of
    # the capacity. None otherwise, and for one replication.
    collapse: Accepted | None


def capacity_of(rows: Iterable[Mapping[str, Any]]) -> Capacity | None:
    """Return the capacity from rows with `load`, `accepted_load` and `least_served_load`.

    Returns `None` if no run measured an accepted load.
    """
    by_load: dict[float, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["accepted_load"] is not None:
            by_load.setdefault(row["load"], []).append(row)
    if not by_load:
        return None
    points = [accepted_at(load, of_load) for load, of_load in sorted(by_load.items())]
    capacity = max(points, key=lambda point: (point.accepted_load.mean, -point.load))
    highest = points[-1]
    return Capacity(capacity, highest, highest if collapses(capacity, highest) else None)


def accepted_at(load: float, rows: Iterable[Mapping[str, Any]]) -> Accepted:
    """Return the means over the runs at one load."""
    runs = list(rows)
    least = [row["least_served_load"] for row in runs]
    known = [value for value in least if value is not None]
    return Accepted(
        load,
        interval(row["accepted_load"] for row in runs),
        interval(known) if len(known) == len(runs) else None,
    )


def collapses(capacity: Accepted, highest: Accepted) -> bool:
    """Whether less is accepted at the highest load than the capacity, by a significant amount.

    >>> most, less = (Accepted(1.0, Interval(mean, 0.0001, 3)) for mean in (0.2, 0.1902))
    >>> collapses(most, less), is_below(less, most)
    (False, True)
    """
    least = (1 - COLLAPSE_MIN) * capacity.accepted_load.mean
    return highest.accepted_load.mean < least and is_below(highest, capacity)


def is_below(one: Accepted, other: Accepted) -> bool:
    """Whether the interval of one accepted load lies below that of the other.

    >>> few, many = (Accepted(1.0, Interval(mean, 0.01, 3)) for mean in (0.12, 0.22))
    >>> is_below(few, many), is_below(many, few), is_below(many, many)
    (True, False, False)
    """
    high, low = one.accepted_load.high, other.accepted_load.low
    return high is not None and low is not None and high < low
