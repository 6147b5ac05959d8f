"""Measures for the claims of `expected*.toml`.

Replications are topologies: one replication number means one cluster with equal messages under
every routing. Ratios are therefore taken cluster by cluster, and their intervals are over clusters.
The throughput of a routing is the highest accepted load over all loads. Low load is the least load
of the sweep, a tenth of UD's throughput.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gingham.studies._bands import Measurement
from gingham.studies._series import mean, paired, ratio
from gingham_studies.flich2001.routed import (
    bound_of,
    bound_ratio,
    clusters,
    follows_the_rules,
    in_transit_hosts,
    minimal_share,
    path_cables,
    zero_load_increase,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gingham.studies._evidence import Evidence

__all__ = [
    "bound_of",
    "bound_ratio",
    "in_transit_hosts",
    "minimal_share",
    "path_cables",
    "zero_load_increase",
]
BASE = "UD"
# Routing with the paths chosen by the calibration.
CALIBRATED = "UD_ITB"
# Sweep of 8 switches, whose numbers no choice of minimal paths comes near.
OUT_OF_REACH = "short-8"
# Units of the calibration's distances: share of the factor, and percentage points of latency.
UNIT_OF_FACTOR, UNIT_OF_LATENCY = 0.15, 5.0
# Maximum ratio of adjacent loads of the ladder.
STEP = 1.07
# Maximum relative difference of accepted loads that count as equal.
LEVEL = 0.02


def rows_of(evidence: Evidence, sweep: str, routing: str) -> list[dict[str, Any]]:
    """Return the rows of a routing, of every load and topology."""
    return evidence.rows(sweep, None, routing=routing)


def peaks(evidence: Evidence, sweep: str, routing: str) -> dict[int, float]:
    """Return the highest accepted load of each topology under a routing, over all loads."""
    return {
        number: row["accepted_load"] for number, row in highest(evidence, sweep, routing).items()
    }


def highest(evidence: Evidence, sweep: str, routing: str) -> dict[int, dict[str, Any]]:
    """Return the row with the highest accepted load of each topology under a routing."""
    found: dict[int, dict[str, Any]] = {}
    for row in rows_of(evidence, sweep, routing):
        best = found.setdefault(row["replication"], row)
        if row["accepted_load"] > best["accepted_load"]:
            found[row["replication"]] = row
    return found


def low_load(evidence: Evidence, sweep: str, routing: str) -> dict[int, float]:
    """Return the mean latency of each topology at the least load, in nanoseconds."""
    rows = rows_of(evidence, sweep, routing)
    least = min(row["load"] for row in rows)
    return {row["replication"]: row["latency_mean_ns"] for row in rows if row["load"] == least}


# Tables I to III: factors and increases relative to UD, or to another routing.


def throughput(evidence: Evidence, sweep: str, routing: str, over: str = BASE) -> Measurement:
    """Return the ratio of the throughputs of two routings, topology by topology."""
    one, other = (peaks(evidence, sweep, name) for name in (routing, over))
    found = ratio(one, other)
    return Measurement(found.value, found.low, found.high, f"peaks {shown(one)} and {shown(other)}")


def shown(values: Mapping[int, float]) -> str:
    """Return the mean of loads, for a note."""
    return f"{mean(values.values()).value:.4f}"


def latency(evidence: Evidence, sweep: str, routing: str, over: str = BASE) -> Measurement:
    """Return the increase of latency at low load by a routing over another, in per cent."""
    return mean(increases(evidence, sweep, routing, over).values())


def increases(evidence: Evidence, sweep: str, routing: str, over: str = BASE) -> dict[int, float]:
    """Return the increase of latency at low load by a routing, by topology, in per cent."""
    one, other = (low_load(evidence, sweep, name) for name in (routing, over))
    return {key: 100 * (one[key] / other[key] - 1) for key in one if key in other}


# Relations between two mechanisms.


def part_of_increase(evidence: Evidence, sweep: str, routing: str, of: str) -> Measurement:
    """Return the latency increase of a routing over UD as a part of that of another.

    It is the ratio of the means, because small topologies may have almost no increase.
    """
    return part_of(*(increases(evidence, sweep, name) for name in (routing, of)))


def part_of_gain(evidence: Evidence, sweep: str, routing: str, of: str) -> Measurement:
    """Return the throughput gain of a routing over UD as a part of another's gain.

    It is the ratio of the means, as for latencies.
    """
    return part_of(*(gains(evidence, sweep, name) for name in (routing, of)))


def gains(evidence: Evidence, sweep: str, routing: str) -> dict[int, float]:
    """Return the throughput gain of a routing, as a part of UD's, by topology."""
    one, other = (peaks(evidence, sweep, name) for name in (routing, BASE))
    return {key: one[key] / other[key] - 1 for key in one if key in other}


def part_of(part: Mapping[int, float], whole: Mapping[int, float]) -> Measurement:
    """Return the ratio of the means of two numbers of each topology."""
    level = mean(whole.values()).value
    share = mean(part.values()).value / level
    # Half-width of a ratio of two means: that of part - share x whole, which has mean zero.
    left = mean([part[key] - share * whole[key] for key in part])
    return Measurement.around(share, None if left.high is None else left.high / level)


def more_latency(evidence: Evidence, sweep: str, routing: str, than: str) -> Measurement:
    """Return the excess of a routing's latency increase over that of another, in points."""
    return paired(*(increases(evidence, sweep, name) for name in (routing, than)))


def latency_multiple(evidence: Evidence, sweep: str, routing: str, over: str) -> Measurement:
    """Return the latency of a routing at low load as a multiple of that of another."""
    return ratio(*(low_load(evidence, sweep, name) for name in (routing, over)))


def latency_at(evidence: Evidence, sweep: str, routing: str, over: str, load: float) -> Measurement:
    """Return the latency of a routing at a load as a multiple of that of another."""
    one, other = (
        {
            row["replication"]: row["latency_mean_ns"]
            for row in rows_of(evidence, sweep, name)
            if row["load"] == load
        }
        for name in (routing, over)
    )
    return ratio(one, other)


def multiple_difference(
    evidence: Evidence, sweep: str, than: str, routing: str, over: str
) -> Measurement:
    """Return the multiple in one sweep minus that in another, cluster by cluster."""
    multiples = []
    for name in (sweep, than):
        one, other = (low_load(evidence, name, key) for key in (routing, over))
        multiples.append({key: one[key] / other[key] for key in one})
    return paired(*multiples)


# The path choice of UD_ITB.


def misfit(evidence: Evidence, routing: str, over: str = BASE) -> float:
    """Return the distance of a routing over another from UD_ITB in table II.

    It is the root mean square of the distances of all numbers, in the units of the calibration.
    """
    measured = {"throughput": throughput, "latency": latency}
    claims = [
        claim
        for claim in evidence.study.claims
        if claim.figure == "table-2"
        and claim.measure in measured
        and claim.options["routing"] == CALIBRATED
        and claim.options["sweep"] != OUT_OF_REACH
    ]
    distances = [
        (found.value - claim.band.at)
        / (UNIT_OF_FACTOR * claim.band.at if claim.measure == "throughput" else UNIT_OF_LATENCY)
        for claim in claims
        for found in [measured[claim.measure](evidence, claim.options["sweep"], routing, over)]
    ]
    return math.sqrt(math.fsum(one**2 for one in distances) / len(distances))


def misfit_over_best(evidence: Evidence, others: list[list[str]]) -> Measurement:
    """Return the distance of UD_ITB over UD from table II, minus that of the nearest other pair."""
    own = misfit(evidence, CALIBRATED)
    found = {" over ".join(pair): misfit(evidence, *pair) for pair in others}
    listed = ", ".join(f"{name} {value:.3f}" for name, value in found.items())
    return Measurement(own - min(found.values()), note=f"{CALIBRATED} {own:.3f}, {listed}")


# Checks of the sweep's measurements.


def peaks_at_an_end(evidence: Evidence, sweep: str) -> Measurement:
    """Return the number of cases whose highest accepted load is at an end of the loads tried.

    An end is the last load, or one whose lower neighbour is more than a step away. It counts only
    if clearly less is accepted elsewhere, because small networks accept equal loads beyond
    saturation.
    """
    names = {row["routing"] for row in evidence.rows(sweep)}
    open_ = []
    for name in sorted(names):
        rows = rows_of(evidence, sweep, name)
        loads = sorted({row["load"] for row in rows})
        for number, best in highest(evidence, sweep, name).items():
            place = loads.index(best["load"])
            at_end = place in {0, len(loads) - 1} or loads[place - 1] * STEP < loads[place]
            others = [row for row in rows if row["replication"] == number and row is not best]
            next_best = max(row["accepted_load"] for row in others)
            if at_end and best["accepted_load"] > (1 + LEVEL) * next_best:
                open_.append(f"{name} on topology {number} at {best['load']:g}")
    return Measurement(float(len(open_)), note=", ".join(open_))


def unusual_clusters(evidence: Evidence, sweep: str) -> Measurement:
    """Return the number of topologies that break a rule of the paper (`follows_the_rules`)."""
    found = [follows_the_rules(cluster) for cluster in clusters(evidence, sweep).values()]
    return Measurement(float(found.count(False)), note=f"of {len(found)}")
