"""Measures for the claims of `expected-*.toml`.

Delay is the paper's (section 2): from the entry of the first flit of a message into the network to
the arrival of the head of its last packet. Throughput is the share of its link that a host uses.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gingham import Fabric
from gingham.studies._bands import Measurement
from gingham.studies._series import Series, crossing, dip, mean, paired, ratio
from gingham_studies.kwan1996 import closed_forms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gingham.studies._evidence import Evidence

DELAY = "head_latency_mean_ns"
# A host carries less than its load if the difference is at least this share of the link; it is
# behind another host if it carries less by at least this share.
SHORT_OF = 0.02
# The load of figure 8.
MEDIUM = 0.2
# One lane with the capacity of the slack buffer of figure 8: 40 flits of two bytes.
ONE_LANE = {"lanes": 1, "depth": 40}


# Figures 2 and 5.


def spread_ratio(evidence: Evidence, sweep: str, one: str, other: str) -> Measurement:
    """Return the ratio of the standard deviations of two classes' delays, run by run."""
    spreads = [
        {row["replication"]: deviation(evidence, sweep, row) for row in evidence.rows(sweep, name)}
        for name in (one, other)
    ]
    return ratio(*spreads)


def deviation(evidence: Evidence, sweep: str, row: Mapping[str, Any]) -> float:
    """Return the standard deviation of the delays of a class in a run."""
    import pyarrow.compute as pc

    return float(pc.stddev(evidence.delays_ns(sweep, row["class"], row["key"])).as_py())


# Figures 3 and 6.


def throughput(evidence: Evidence, sweep: str, traffic: str, load: float) -> Measurement:
    """Return the mean throughput of a host of a class at a load."""
    return evidence.series(sweep, traffic, "load", "accepted_load").at(load)


def share_ratio(
    evidence: Evidence, sweep: str, one: str, other: str, fixed: Mapping[str, Any] | None = None
) -> Measurement:
    """Return the ratio of the throughputs of a host of one class and a host of another."""
    throughputs = [
        {
            row["replication"]: row["accepted_load"]
            for row in evidence.rows(sweep, name, **fixed or {})
        }
        for name in (one, other)
    ]
    return ratio(*throughputs)


def distance_from_closed_form(
    evidence: Evidence, traffic: str, up_to: float = 1.0, gap: float = 0.0
) -> Measurement:
    """Return the largest distance of a host's throughput from the closed form, over all loads.

    The closed form is evaluated at the generated loads of both hosts, which differ slightly from
    their means; `gap` is that of the closed form.
    """
    which = {"long": 0, "short": 1}[traffic]
    generated = [
        {
            (row["load"], row["replication"]): row["generated_load"]
            for row in evidence.rows("figure-3", name)
        }
        for name in ("long", "short")
    ]

    def distance(row: Mapping[str, Any]) -> float:
        loads = [of_class[row["load"], row["replication"]] for of_class in generated]
        return float(row["accepted_load"] - closed_forms.two_hosts(*loads, gap=gap)[which])

    found = evidence.series("figure-3", traffic, "load", distance).between(0, up_to)
    worst = max(found.places, key=lambda load: abs(found.at(load).value))
    at = found.at(worst)
    return Measurement(at.value, at.low, at.high, f"the largest, at load {worst:g}")


def last_carried(evidence: Evidence, sweep: str, traffic: str) -> Measurement:
    """Return the largest load that a host carries within a fiftieth of the link."""
    found = evidence.series(sweep, traffic, "load", "accepted_load")
    carried = [load for load in found.places if found.at(load).value > load - SHORT_OF]
    return Measurement(max(carried))


def carried(row: Mapping[str, Any]) -> float:
    """Return the throughput of a class as if it had generated exactly its load."""
    return float(row["load"] + row["accepted_load"] - row["generated_load"])


def split(evidence: Evidence, sweep: str, one: str, other: str) -> Measurement:
    """Return the least load with one class a fiftieth of a link or more behind another."""
    ahead, behind = (evidence.series(sweep, name, "load", carried) for name in (one, other))
    less = {
        load: {key: value - SHORT_OF for key, value in values.items()}
        for load, values in ahead.values.items()
    }
    return crossing(Series(less), behind)


def peak(evidence: Evidence, sweep: str, traffic: str) -> Measurement:
    """Return the load with the highest throughput of a host of a class."""
    found = evidence.series(sweep, traffic, "load", "accepted_load")
    return Measurement(found.highest(), note=f"{found.at(found.highest()).value:.4g} of the link")


def against_whole(evidence: Evidence, traffic: str, load: float) -> Measurement:
    """Return the change of the throughput of a host of a class by segmentation, in per cent."""
    cut, whole = (
        evidence.series(sweep, traffic, "load", "accepted_load").values[load]
        for sweep in ("figure-6", "figure-6-whole")
    )
    return percent(cut, whole)


# Figures 7, 8, 11 and 13.


def delays(evidence: Evidence, sweep: str, fixed: Mapping[str, Any] | None = None) -> Series:
    """Return the delay of high-priority messages over the segment size."""
    return evidence.series(sweep, "high", "segment", DELAY, **(fixed or {}))


def best_segment(
    evidence: Evidence, sweep: str, fixed: Mapping[str, Any] | None = None
) -> Measurement:
    """Return the segment size of least delay, with the range of sizes not significantly worse."""
    return delays(evidence, sweep, fixed).minimum()


def excess(
    evidence: Evidence,
    sweep: str,
    segment: float,
    over: float | None = None,
    fixed: Mapping[str, Any] | None = None,
) -> Measurement:
    """Return the excess of delay at a segment size over another size, or the least, in per cent."""
    found = delays(evidence, sweep, fixed)
    low = found.lowest() if over is None else over
    return percent(found.values[segment], found.values[low], f"over {low:g} B")


def steps_up(evidence: Evidence, sweep: str, start: float) -> Measurement:
    """Return the smallest step of the delay from one segment size to the next, from `start` up."""
    found = delays(evidence, sweep).between(start, math.inf)
    steps = {
        (left, right): found.difference(right, left)
        for left, right in zip(found.places, found.places[1:], strict=False)
    }
    least = min(steps, key=lambda pair: steps[pair].value)
    step = steps[least]
    return Measurement(step.value, step.low, step.high, f"from {least[0]:g} to {least[1]:g} B")


def local_minimum(evidence: Evidence, sweep: str, near: float, buffer: int) -> Measurement:
    """Return how deep the local minimum near a segment size is, in nanoseconds.

    Delay falls in stages, one per buffer; shoulders are searched for up to the next stage.
    """
    return dip(delays(evidence, sweep, {"buffer": buffer}), near, 0.2, buffer)


# Figure 8 with virtual lanes.


def lane_delays(evidence: Evidence, fixed: Mapping[str, Any]) -> Series:
    """Return the delay of high-priority messages over the segment size, for a number of lanes."""
    return delays(evidence, "figure-8-lanes", fixed)


def against_slack(evidence: Evidence, segment: float) -> Measurement:
    """Return the delay with one lane as a multiple of that with slack buffers of 80 bytes.

    Equal replication numbers have equal messages.
    """
    lane = lane_delays(evidence, ONE_LANE).values[segment]
    slack = delays(evidence, "figure-8", {"buffer": 80}).values[segment]
    both = [key for key in lane if key in slack]
    return ratio({key: lane[key] for key in both}, {key: slack[key] for key in both})


def lane_minimum(evidence: Evidence, near: float) -> Measurement:
    """Return how deep the local minimum near a segment size is with one lane, in nanoseconds."""
    return dip(lane_delays(evidence, ONE_LANE), near, 0.2, 80)


def lanes_change(
    evidence: Evidence, segment: float, one: Mapping[str, Any], over: Mapping[str, Any]
) -> Measurement:
    """Return the change of delay at a segment size by another number of lanes, in per cent."""
    changed, base = (lane_delays(evidence, lanes).values[segment] for lanes in (one, over))
    return percent(changed, base)


def excess_difference(
    evidence: Evidence, segment: float, one: Mapping[str, Any], other: Mapping[str, Any]
) -> Measurement:
    """Return the excess at a segment size on some lanes minus that on others, in points."""
    return paired(*(excesses(lane_delays(evidence, lanes), segment) for lanes in (one, other)))


def excesses(found: Series, segment: float) -> dict[int, float]:
    """Return the excess of delay at a segment size over the least in per cent, by replication."""
    least = found.values[found.lowest()]
    return {key: 100 * (value / least[key] - 1) for key, value in found.values[segment].items()}


def gain_of_switch_priority(evidence: Evidence, segment: float) -> Measurement:
    """Return the excess of high-priority delay, round robin over switch priority, in per cent."""
    plain = delays(evidence, "figure-8", {"buffer": 80}).values[segment]
    return percent(plain, delays(evidence, "figure-13").values[segment])


# The adaptive rule, figure 12 and section 3.3.


def change(
    evidence: Evidence, traffic: str, scheme: str, over: str, load: float = MEDIUM
) -> Measurement:
    """Return the change of the delay of a class by a scheme, against another one, in per cent."""
    one, other = (scheme_delays(evidence, traffic, name, load) for name in (scheme, over))
    return percent(one, other)


def multiple(
    evidence: Evidence, traffic: str, scheme: str, over: str, load: float = MEDIUM
) -> Measurement:
    """Return the delay of a class under a scheme as a multiple of that under another."""
    one, other = (scheme_delays(evidence, traffic, name, load) for name in (scheme, over))
    return ratio(one, other)


def delay_us(evidence: Evidence, traffic: str, scheme: str, load: float = MEDIUM) -> Measurement:
    """Return the delay of a class under a scheme, in microseconds."""
    values = scheme_delays(evidence, traffic, scheme, load).values()
    return mean([value / 1000 for value in values])


def scheme_delays(evidence: Evidence, traffic: str, scheme: str, load: float) -> dict[int, float]:
    """Return the delay of a class under a scheme of segmentation, by replication."""
    rows = evidence.rows("adaptive", traffic, scheme=scheme, load=load)
    return {row["replication"]: row[DELAY] for row in rows}


def crossover(evidence: Evidence, small: str, large: str) -> Measurement:
    """Return the load above which small segments delay high priority more than large ones.

    It is 0, within the least load, if they do so at all loads.
    """
    one, other = (
        evidence.series("figure-12", "high", "load", DELAY, scheme=scheme)
        for scheme in (small, large)
    )
    if all(one.at(load).value > other.at(load).value for load in one.places):
        return Measurement(0.0, 0.0, one.places[0], "at all loads")
    return crossing(one, other)


def worse_at(evidence: Evidence, load: float, scheme: str, than: str) -> Measurement:
    """Return the excess of high-priority delay, a scheme over another, at a load, in per cent."""
    one, other = (
        evidence.series("figure-12", "high", "load", DELAY, scheme=name).values[load]
        for name in (scheme, than)
    )
    return percent(one, other)


def percent(one: Mapping[int, float], other: Mapping[int, float], note: str = "") -> Measurement:
    """Return the excess of values over those of equal replications, in per cent."""
    found = paired(one, other)
    base = mean(list(other.values())).value
    low, high = (None if end is None else 100 * end / base for end in (found.low, found.high))
    return Measurement(100 * found.value / base, low, high, note)


# Figures 9 and 10.


def distance_from_formula(
    evidence: Evidence, which: str, formula: str, up_to: float = math.inf
) -> Measurement:
    """Return the largest deviation of H3's delay from a formula, over segment sizes, in per cent.

    `which` is the mean delay, or the least over all arrival times of a message.
    """
    import pyarrow.compute as pc

    measure = {"mean": pc.mean, "least": pc.min}[which]
    found = {}
    rows = [row for row in evidence.rows("figure-10", "h3") if row["segment"] <= up_to]
    for row in rows:
        delay = measure(evidence.delays_ns("figure-10", "h3", row["key"])).as_py()
        bytes_ = getattr(closed_forms, formula)(80, row["segment"])
        found[row["segment"]] = 100 * (delay / (bytes_ * closed_forms.BYTE_NS) - 1)
    worst = max(found, key=lambda segment: abs(found[segment]))
    return Measurement(found[worst], note=f"the largest, at {worst:g} B")


def best_for_h3(evidence: Evidence) -> Measurement:
    """Return the segment size of the least mean delay of H3."""
    found = evidence.series("figure-10", "h3", "segment", DELAY)
    return Measurement(found.lowest(), note=f"mean there {found.at(found.lowest()).value:.5g} ns")


def most_switches(_evidence: Evidence, size: int) -> Measurement:
    """Return the maximum number of switches on a route of the square torus of a size."""
    fabric = Fabric.make("torus", dimensions=[size, size], hosts_per_switch=4)
    return Measurement(float(fabric.route("up-down").statistics()["max_switches"]))


def share_of_routes(_evidence: Evidence, size: int, least: int) -> Measurement:
    """Return the share of pairs of hosts, in per cent, with routes of at least `least` switches."""
    fabric = Fabric.make("torus", dimensions=[size, size], hosts_per_switch=4)
    pairs = fabric.route("up-down").statistics()["pairs_by_switches"]
    return Measurement(100 * sum(pairs[least:]) / sum(pairs))
