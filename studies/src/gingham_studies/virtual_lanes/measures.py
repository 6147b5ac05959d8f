"""Measures for the claims of `expected.toml`.

Saturation is the offered load with a mean latency, from creation to delivery, of three times that
of an empty network, interpolated linearly between loads of the sweep. Throughput is the accepted
load at the last load of the sweep, far beyond saturation. Equal replication numbers have equal
messages for all numbers of lanes, so differences and ratios are paired.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gingham import Fabric
from gingham.studies._bands import Measurement
from gingham.studies._series import Series, mean, paired, ratio
from gingham_studies.virtual_lanes import closed_forms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gingham import Routes
    from gingham.studies._evidence import Evidence

CYCLE_NS = closed_forms.CYCLE_PS / 1000
# Latency at saturation, as a multiple of that of an empty network.
TIMES = 3.0
# Names of this multiple and of alternative ones.
READINGS = {"twice": 2.0, "thrice": TIMES, "five times": 5.0}
# A message waits for the next tick, half a cycle on average.
WAIT_CYCLES = 0.5


# Closed forms.


def paths_bound(_evidence: Evidence, shape: str) -> Measurement:
    """Return the load that fills the routes' busiest channel under uniform traffic."""
    return Measurement(bound(shape))


@cache
def routes(shape: str) -> Routes:
    """Return the routes of a sweep's fabric, on a torus with ties split."""
    fabric = Fabric.make(shape, dimensions=[closed_forms.SIDE, closed_forms.SIDE])
    return fabric.route("dimension-order", ties="alternate" if shape == "torus" else "up")


@cache
def bound(shape: str) -> float:
    """Return the bound of the routes on the load of each host."""
    found: float = routes(shape).statistics()["all_to_all"]["load"]
    return found


def cycle_of_one_lane(_evidence: Evidence) -> Measurement:
    """Return the length of the shortest cycle of waits on the torus with one lane."""
    found = routes("torus").cycle
    return Measurement(0.0 if found is None else float(len(found)))


def excess_cycles(evidence: Evidence, row: Mapping[str, Any]) -> list[float]:
    """Return the excess of each message's latency over that of its path without load, in cycles."""
    flits = int(row["flits"])
    found = evidence.kept("empty", "messages", row["key"])
    alone = [closed_forms.zero_load_cycles(n, flits) for n in found["switches"].to_pylist()]
    took = [ps / closed_forms.CYCLE_PS for ps in found["network_latency_ps"].to_pylist()]
    return [one - other for one, other in zip(took, alone, strict=True)]


def least_excess(evidence: Evidence, shape: str, flits: int) -> Measurement:
    """Return the least excess of a message's latency over its path's without load, in cycles."""
    rows = evidence.rows("empty", shape=shape, flits=str(flits))
    found = [min(excess_cycles(evidence, row)) for row in rows]
    return Measurement(min(found), min(found), max(found))


def mean_excess(evidence: Evidence, shape: str, flits: int) -> Measurement:
    """Return the mean excess of latencies over their paths' without load, in cycles."""
    rows = evidence.rows("empty", shape=shape, flits=str(flits))
    by_run = [excess_cycles(evidence, row) for row in rows]
    return mean([math.fsum(one) / len(one) for one in by_run])


# Curves.


def shape_of(sweep: str) -> str:
    """Return the fabric of a sweep.

    >>> shape_of("torus-20"), shape_of("bare-5")
    ('torus', 'mesh')
    """
    return "torus" if sweep.startswith("torus") else "mesh"


def flits_of(sweep: str) -> int:
    """Return the flits of a packet of a sweep."""
    return int(sweep.rpartition("-")[2])


def zero_load(sweep: str) -> float:
    """Return the mean latency of an empty network, from creation to delivery, in cycles."""
    switches = closed_forms.mean_switches(shape_of(sweep))
    cable = int(sweep.startswith("bare"))
    return closed_forms.zero_load_cycles(switches, flits_of(sweep), cable) + WAIT_CYCLES


def latency(evidence: Evidence, sweep: str, lanes: int, depth: int) -> Series:
    """Return the mean latency over the offered load, in cycles."""
    return evidence.series(sweep, "uniform", "load", cycles, lanes=lanes, depth=depth)


def cycles(row: Mapping[str, Any]) -> float | None:
    """Return the mean latency of a row, in cycles."""
    found = row["latency_mean_ns"]
    return None if found is None else float(found) / CYCLE_NS


def accepted(evidence: Evidence, sweep: str, lanes: int, depth: int) -> Series:
    """Return the accepted load over the offered load."""
    return evidence.series(sweep, "uniform", "load", "accepted_load", lanes=lanes, depth=depth)


def saturations(
    evidence: Evidence, sweep: str, lanes: int, depth: int, latency_is: str = "thrice"
) -> dict[int, float]:
    """Return the saturation load by replication, by the definition `latency_is`."""
    limit = READINGS[latency_is] * zero_load(sweep)
    values = latency(evidence, sweep, lanes, depth).values
    loads = list(values)
    numbers = {number for load in loads for number in values[load]}
    curves = {
        number: [(load, values[load][number]) for load in loads if number in values[load]]
        for number in sorted(numbers)
    }
    return {number: reaches(curve, limit) for number, curve in curves.items()}


def reaches(curve: list[tuple[float, float]], limit: float) -> float:
    """Return the first place of a limit on a curve, interpolated linearly; NaN if not reached.

    >>> reaches([(0.1, 50.0), (0.2, 100.0), (0.3, 200.0)], 150.0)
    0.25
    """
    for (left, low), (right, high) in pairwise(curve):
        if low < limit <= high:
            return left + (right - left) * (limit - low) / (high - low)
    return math.nan


def saturation(
    evidence: Evidence, sweep: str, lanes: int, depth: int, latency_is: str = "thrice"
) -> Measurement:
    """Return the saturation load, as a share of the bound of the routes."""
    found = saturations(evidence, sweep, lanes, depth, latency_is)
    most = bound(shape_of(sweep))
    at = mean(list(found.values()))
    share = mean([value / most for value in found.values()])
    return Measurement(share.value, share.low, share.high, f"{at.value:.3f} flits a host and cycle")


def gain(
    evidence: Evidence, sweep: str, one: Mapping[str, int], over: Mapping[str, int]
) -> Measurement:
    """Return the ratio of the saturation load on some lanes to that on others."""
    return ratio(*(saturations(evidence, sweep, of["lanes"], of["depth"]) for of in (one, over)))


def second_gain(evidence: Evidence, sweep: str) -> Measurement:
    """Return the factor of saturation load from 1 to 2 lanes minus that from 2 to 4."""
    one, two, four = (saturations(evidence, sweep, lanes, 8) for lanes in (1, 2, 4))
    first = {key: two[key] / one[key] for key in one}
    return paired(first, {key: four[key] / two[key] for key in one})


def more_than(evidence: Evidence, sweep: str, than: str, lanes: int, depth: int) -> Measurement:
    """Return the saturation load of a sweep minus that of another, in flits per host and cycle."""
    return paired(*(saturations(evidence, name, lanes, depth) for name in (sweep, than)))


def less_of_capacity(
    evidence: Evidence, sweep: str, than: str, lanes: int, depth: int
) -> Measurement:
    """Return the difference of two sweeps' saturation loads, each as a share of its own bound."""
    shares = [
        {
            number: load / bound(shape_of(name))
            for number, load in saturations(evidence, name, lanes, depth).items()
        }
        for name in (sweep, than)
    ]
    return paired(*shares)


def throughput(evidence: Evidence, sweep: str, lanes: int, depth: int) -> Measurement:
    """Return the load accepted far beyond saturation, as a share of the bound of the routes."""
    found = accepted(evidence, sweep, lanes, depth)
    last = found.values[found.places[-1]]
    at = mean(list(last.values()))
    share = mean([value / bound(shape_of(sweep)) for value in last.values()])
    return Measurement(share.value, share.low, share.high, f"{at.value:.3f} flits a host and cycle")


def stays(evidence: Evidence, sweep: str, lanes: int, depth: int) -> Measurement:
    """Return the load accepted far beyond saturation as a share of the maximum over loads."""
    values = accepted(evidence, sweep, lanes, depth).values
    last = values[max(values)]
    most = {number: max(values[load][number] for load in values) for number in last}
    return ratio(last, most)


def most_accepted(evidence: Evidence, sweep: str) -> Measurement:
    """Return the highest accepted load over lanes and loads, as a share of the bound."""
    rows = evidence.rows(sweep)
    best = max(rows, key=lambda row: row["accepted_load"])
    note = f"{best['lanes']} lanes of {best['depth']} flits at load {best['load']:g}"
    return Measurement(best["accepted_load"] / bound(shape_of(sweep)), note=note)


def slower(
    evidence: Evidence, sweep: str, load: float, one: Mapping[str, int], over: Mapping[str, int]
) -> Measurement:
    """Return the latency at a load on some lanes minus that on others, in cycles."""
    return paired(*(latency(evidence, sweep, **lanes).values[load] for lanes in (one, over)))
