"""Measures for the claims of `expected.toml`: throughput, order, marks of recovery, frames.

Goodput is the delivered payload, in the paper's Mbit/s; a packet is out of order if one
that was sent later was delivered before it (RFC 4737). Traces are compared in `comparisons`.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gingham.studies._bands import Measurement
from gingham.studies._series import Series, mean, paired, ratio
from gingham_studies.adiseshu1996 import closed_forms, films, recoveries
from gingham_studies.adiseshu1996.comparisons import (
    beyond_quanta,
    deficit_differences,
    one_loss_differences,
    queueing_differences,
    sharing_differences,
    trace_differences,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gingham.studies._evidence import Evidence

__all__ = [
    "beyond_quanta",
    "deficit_differences",
    "one_loss_differences",
    "queueing_differences",
    "sharing_differences",
    "trace_differences",
]
# The Ethernet of figure 15, in Mbit/s of packets.
ETHERNET = 6.0
MBIT = 1e6
# Rates of an axis are in bytes a second.
BITS = 8


def goodput(row: Mapping[str, Any]) -> float:
    """Return the goodput of a run, or of its source, in Mbit/s."""
    return float(row["goodput_bits_per_s"]) / MBIT


def percent_out_of_order(row: Mapping[str, Any]) -> float:
    """Return the share of packets of a run that were out of order, in per cent."""
    return 100.0 * float(row["out_of_order_share"])


# Table 1 and section 4.


def disorder(evidence: Evidence, scheme: str, case: str) -> Measurement:
    """Return the share of packets out of order under a scheme, in per cent."""
    rows = evidence.runs("schemes", scheme=scheme, case=case)
    return mean([percent_out_of_order(row) for row in rows])


def share_of_sum(evidence: Evidence, scheme: str, case: str) -> Measurement:
    """Return the goodput of a scheme over the sum of both links."""
    rows = evidence.runs("schemes", scheme=scheme, case=case)
    return mean([goodput(row) * MBIT / row["capacity_bits_per_s"] for row in rows])


def out_of_order(evidence: Evidence, sweep: str, fixed: Mapping[str, Any]) -> Measurement:
    """Return the number of packets out of order in all runs of a point, noting the total."""
    rows = evidence.runs(sweep, **fixed)
    delivered = sum(row["packets_delivered"] for row in rows)
    return Measurement(
        sum(row["packets_out_of_order"] for row in rows), note=f"of {delivered:,} packets"
    )


# Figure 15.


def curve(evidence: Evidence, variant: str) -> Series:
    """Return the goodput of a variant in Mbit/s over the rate of the second link in Mbit/s."""
    if variant == "sum":
        return sum_of_links(evidence)
    return over_rate(evidence.parts("figure-15", "sources", variant=variant))


def over_rate(rows: list[dict[str, Any]]) -> Series:
    """Return the goodput of rows over the rate of their axis, in Mbit/s."""
    shown = [{**row, "mbit": row["rate"] * BITS / MBIT} for row in rows]
    return Series.of(shown, "mbit", goodput)


def sum_of_links(evidence: Evidence) -> Series:
    """Return the sum of the goodputs of both links alone, over the rate of the second."""
    alone = over_rate(evidence.parts("alone", "sources"))
    first = alone.values[ETHERNET]
    return Series(
        {
            rate: {number: value + first[number] for number, value in values.items()}
            for rate, values in alone.values.items()
        }
    )


def least_share(evidence: Evidence, variant: str, up_to: float) -> Measurement:
    """Return the least goodput of a variant over the sum of the links alone, up to a rate."""
    whole, found = sum_of_links(evidence), curve(evidence, variant)
    shares = {
        rate: ratio(found.values[rate], whole.values[rate])
        for rate in found.places
        if rate <= up_to
    }
    worst = min(shares, key=lambda rate: shares[rate].value)
    share = shares[worst]
    return Measurement(share.value, share.low, share.high, f"the least, at {worst:g} Mbit/s")


def advantage(evidence: Evidence, variant: str, over: str) -> Measurement:
    """Return the mean advantage of a variant over another, over all rates, in Mbit/s."""
    one, other = curve(evidence, variant), curve(evidence, over)
    numbers = one.values[one.places[0]]
    differences = {
        number: math.fsum(
            one.values[rate][number] - other.values[rate][number] for rate in one.places
        )
        / len(one.places)
        for number in numbers
    }
    return mean(list(differences.values()))


def largest_advantage(evidence: Evidence, variant: str, over: str) -> Measurement:
    """Return the largest advantage of a variant over another, in Mbit/s."""
    return max(advantages(evidence, variant, over), key=lambda one: one.value)


def least_advantage(evidence: Evidence, variant: str, over: str) -> Measurement:
    """Return the least advantage in Mbit/s; at equal rates, which are omitted, all are alike."""
    return min(advantages(evidence, variant, over, but=ETHERNET), key=lambda one: one.value)


def advantages(
    evidence: Evidence, variant: str, over: str, but: float | None = None
) -> list[Measurement]:
    """Return the advantage of a variant over another in Mbit/s, at each rate except one."""
    one, other = curve(evidence, variant), curve(evidence, over)
    found = []
    for rate in one.places:
        if rate != but:
            better = paired(one.values[rate], other.values[rate])
            words = f"at {rate:g} Mbit/s"
            found.append(Measurement(better.value, better.low, better.high, words))
    return found


def round_robin_over_slowest(
    evidence: Evidence, variant: str, least: float = 0.0, most: float = math.inf
) -> Measurement:
    """Return the goodput of round robin over twice the slower link, on average over some rates."""
    found = curve(evidence, variant).between(least, most)
    numbers = found.values[found.places[0]]
    return mean(
        [
            math.fsum(
                found.values[rate][number] / closed_forms.round_robin([ETHERNET, rate])
                for rate in found.places
            )
            / len(found.places)
            for number in numbers
        ]
    )


def gain_above(evidence: Evidence, variant: str, above: float) -> Measurement:
    """Return the goodput at the highest rate minus that at another, in Mbit/s."""
    found = curve(evidence, variant)
    return found.difference(found.places[-1], above)


def fall_of_sum(evidence: Evidence) -> Measurement:
    """Return the smallest step of the sum of both links alone to the next rate, in Mbit/s."""
    return least_of_steps(sum_of_links(evidence), "from {} to {} Mbit/s")


def least_of_steps(found: Series, words: str) -> Measurement:
    """Return the smallest step from one place to the next, and the two places."""
    steps = []
    for left, right in pairwise(found.places):
        step = found.difference(right, left)
        where = words.format(f"{left:g}", f"{right:g}")
        steps.append(Measurement(step.value, step.low, step.high, where))
    return min(steps, key=lambda step: step.value)


# 1000 and 200 bytes in turn.


def in_turn(evidence: Evidence, scheduler: str, source: str) -> Measurement:
    """Return the goodput in Mbit/s."""
    return mean(list(in_turn_goodputs(evidence, scheduler, source).values()))


def in_turn_goodputs(evidence: Evidence, scheduler: str, source: str) -> dict[int, float]:
    """Return the goodput of each replication; for a Reno flow, that of bytes delivered in order."""
    rows = evidence.parts("in-turn", "sources", scheduler=scheduler, traffic=source)
    return {row["replication"]: goodput(row) for row in rows}


def in_turn_ratio(evidence: Evidence) -> Measurement:
    """Return the goodput of generalised over that of surplus round robin, for the Reno flow."""
    grr, srr = (in_turn_goodputs(evidence, scheduler, "reno") for scheduler in ("GRR", "SRR"))
    return ratio(grr, srr)


# Section 6.3: recovery.


def out_of_order_after_markers(evidence: Evidence) -> Measurement:
    """Return the number of packets out of order sent after the first markers without loss."""
    found = recoveries.of_all(evidence)
    sent = sum(one.sent_after for one in found)
    note = f"of {sent:,} packets in {len(found)} runs"
    return Measurement(sum(one.late_after for one in found), note=note)


def out_of_order_least(evidence: Evidence) -> Measurement:
    """Return the least number of packets out of order in a run."""
    return Measurement(min(row["packets_out_of_order"] for row in evidence.runs("recovery")))


def recovery_over_bound(evidence: Evidence) -> Measurement:
    """Return the longest recovery over the time until a marker arrived on every channel."""
    worst = max(recoveries.of_all(evidence), key=lambda one: one.over_bound)
    note = f"{worst.recovery_ns / 1e6:.1f} of {worst.bound_ns / 1e6:.1f} ms at loss {worst.loss:g}"
    return Measurement(worst.over_bound, note=note)


# Frequency and position of markers.


def shares(evidence: Evidence, sweep: str, x: str, loss: float) -> Series:
    """Return the share of packets out of order in per cent over an axis, for one loss rate."""
    return Series.of(evidence.runs(sweep, loss=loss), x, percent_out_of_order)


def losses(evidence: Evidence, sweep: str) -> list[float]:
    """Return the loss rates of the axis."""
    return sorted({row["loss"] for row in evidence.runs(sweep)})


def least_step(evidence: Evidence, sweep: str, x: str) -> Measurement:
    """Return the smallest step of the share out of order to the next place, over all loss rates."""
    words = "from {{}} to {{}} rounds at loss {:g}"
    least = [
        least_of_steps(shares(evidence, sweep, x, loss), words.format(loss))
        for loss in losses(evidence, sweep)
    ]
    return min(least, key=lambda step: step.value)


def over_edge(evidence: Evidence, sweep: str = "position") -> Measurement:
    """Return the least excess of the share out of order within a round over that at its edge."""
    return min(differences_from_edge(evidence, sweep), key=lambda one: one.value)


def largest_from_edge(evidence: Evidence) -> Measurement:
    """Return the largest absolute difference of the share out of order from that at the edge."""
    return max(differences_from_edge(evidence, "position"), key=lambda one: abs(one.value))


def differences_from_edge(evidence: Evidence, sweep: str) -> list[Measurement]:
    """Return the excess of the share out of order at each other position over that at the edge."""
    found = []
    for loss in losses(evidence, sweep):
        of_loss = shares(evidence, sweep, "position", loss)
        for place in of_loss.places[1:]:
            one = of_loss.difference(place, 1)
            words = f"before channel {place:g} at loss {loss:g}"
            found.append(Measurement(one.value, one.low, one.high, words))
    return found


# Credits and video.


def lost(evidence: Evidence, *, on: bool) -> Measurement:
    """Return the number of lost packets: in all runs with credits, per run on average without."""
    rows = evidence.runs("credits", credits=on)
    counts = [float(row["packets_lost"]) for row in rows]
    delivered = sum(row["packets_delivered"] for row in rows)
    return Measurement(sum(counts), note=f"of {delivered:,}") if on else mean(counts)


def added_by_reordering(evidence: Evidence, trace: str, loss: float) -> Measurement:
    """Return the frames damaged by reordering alone over those damaged by loss, in per cent."""
    found = films.damages(evidence, trace=trace, loss=loss, reception="logical")
    return mean([100 * one.by_reordering / one.by_loss for one in found])
