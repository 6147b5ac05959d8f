"""Measures for the claims of `expected*.toml`.

Latencies are microseconds, lateness milliseconds. A claim selects runs by axis values of a sweep,
`{ control = "A, C", load = 0.8 }`; intervals are those of `pooling`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gingham.studies._bands import Measurement
from gingham_studies.yum2002.pooling import known, least, minus, over, pooled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gingham.studies._evidence import Evidence

# Four settings of the paper's figure 3; the names of three of them are ours.
SETTINGS = (50, 100, 200, 400)
# "Best" has a throughput at load 1.0 within this of the highest, with the fewest credits.
WITHIN = 0.005
# Name of the row with the best of the four settings.
BEST = "best credits"


def value(
    evidence: Evidence, sweep: str, of: str, traffic: str, at: Mapping[str, Any]
) -> Measurement:
    """Return a number of a class in the runs at a point."""
    return pooled(found_rows(evidence, sweep, traffic, at), of)


def found_rows(
    evidence: Evidence, sweep: str, traffic: str, at: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the rows of a class in the runs at a point; at least one must exist."""
    rows = evidence.rows(sweep, traffic, **at)
    assert rows, f"{sweep} has runs at {at}"
    return rows


# Figure 3.


def best_credits(evidence: Evidence) -> int:
    """Return the fewest credits whose throughput at load 1.0 is within .5 % of the highest."""
    accepted = {of: throughput(evidence, f"credits {of}").value for of in SETTINGS}
    return min(of for of in SETTINGS if accepted[of] >= (1 - WITHIN) * max(accepted.values()))


def throughput(evidence: Evidence, control: str) -> Measurement:
    """Return the load accepted at load 1.0."""
    return value(evidence, "figure-3", "accepted", "best", {"control": control, "load": 1.0})


def best_of_four(evidence: Evidence) -> Measurement:
    """Return the credits of the best setting."""
    accepted = [f"{of}: {throughput(evidence, f'credits {of}').value:.4f}" for of in SETTINGS]
    return Measurement(float(best_credits(evidence)), note=", ".join(accepted))


def row_of(evidence: Evidence, control: str) -> str:
    """Return the row of a control; for the best credits, that of their setting."""
    return f"credits {best_credits(evidence)}" if control == BEST else control


def slower(evidence: Evidence, of: str, one: str, than: str, load: float) -> Measurement:
    """Return a latency on the mesh under one control minus that under another."""
    found = [
        value(
            evidence,
            "figure-3",
            of,
            "best",
            {"control": row_of(evidence, control), "load": load},
        )
        for control in (one, than)
    ]
    return minus(*found)


def throughput_ratio(evidence: Evidence, one: str, to: str) -> Measurement:
    """Return the ratio of the load accepted at 1.0 under a control to that under another."""
    return over(*(throughput(evidence, row_of(evidence, control)) for control in (one, to)))


def stays(evidence: Evidence, control: str) -> Measurement:
    """Return the load accepted at 1.0 as a share of the maximum over loads."""
    rows = evidence.rows("figure-3", "best", control=control)
    loads = sorted({row["load"] for row in rows})
    accepted = {
        load: pooled([row for row in rows if row["load"] == load], "accepted") for load in loads
    }
    most = max(accepted, key=lambda load: accepted[load].value)
    ratio = over(accepted[loads[-1]], accepted[most])
    return Measurement(ratio.value, ratio.low, ratio.high, f"most at load {most:g}")


def credits_matter(evidence: Evidence, lane: str) -> Measurement:
    """Return the range of throughputs over all numbers of credits from 15."""
    rows = evidence.rows("lanes", "best", lane=lane)
    accepted = {row["credits"]: row["accepted_load"] for row in rows if row["credits"] >= 15}  # noqa: PLR2004  (lanes)
    note = ", ".join(f"{of}: {accepted[of]:.4f}" for of in sorted(accepted))
    return Measurement(max(accepted.values()) - min(accepted.values()), note=note)


def little(evidence: Evidence, credits_: int) -> Measurement:
    """Return the ratio of latency from the accepted post to Little's law, credits / throughput."""
    (row,) = evidence.rows("lanes", "best", lane="any", credits=credits_)
    per_us = row["accepted_bytes_per_s"] / row["hosts"] / 640 / 1e6
    return Measurement(row["posted_latency_mean_ns"] / 1000 * per_us / credits_)


# Figures 4 and 5.


def more(
    evidence: Evidence,
    sweep: str,
    of: str,
    traffic: str,
    one: Mapping[str, Any],
    than: Mapping[str, Any],
) -> Measurement:
    """Return a number of a class at one point minus that at another."""
    return minus(*(value(evidence, sweep, of, traffic, at) for at in (one, than)))


def times(
    evidence: Evidence,
    sweep: str,
    of: str,
    traffic: str,
    one: Mapping[str, Any],
    to: Mapping[str, Any],
) -> Measurement:
    """Return the ratio of a number of a class at one point to that at another."""
    return over(*(value(evidence, sweep, of, traffic, at) for at in (one, to)))


def shortfall(evidence: Evidence, sweep: str, traffic: str, at: Mapping[str, Any]) -> Measurement:
    """Return the share of a class's generated load that was not accepted in the window."""
    rows = found_rows(evidence, sweep, traffic, at)
    drawn = math.fsum(row["generated_load"] for row in rows) / len(rows)
    accepted = pooled(rows, "accepted")
    note = f"{accepted.value:.4f} of {drawn:.4f}, {rows[0]['verdict']}"
    if accepted.low is None or accepted.high is None:
        return Measurement(1 - accepted.value / drawn, note=note)
    return Measurement(
        1 - accepted.value / drawn, 1 - accepted.high / drawn, 1 - accepted.low / drawn, note
    )


def longest_run(
    evidence: Evidence, of: str, one: str, to: str, at: Mapping[str, Any]
) -> Measurement:
    """Return the smaller of two ratios of best effort, in runs of two lengths."""
    runs = [
        times(evidence, sweep, of, "best", {"control": one, **at}, {"control": to, **at})
        for sweep in ("shorter", "scaled")
    ]
    found = least(runs)
    both = " and ".join(f"{run.value:.3g}" for run in runs)
    return Measurement(found.value, found.low, found.high, f"{both} in runs of 30 and 60 ms")


def grows(evidence: Evidence, of: str, traffic: str, at: Mapping[str, Any]) -> Measurement:
    """Return the ratio of a latency in a run to that in a run of half the length."""
    long, short = (value(evidence, sweep, of, traffic, at) for sweep in ("scaled", "shorter"))
    return over(long, short)


def over_law(evidence: Evidence, sweep: str, at: Mapping[str, Any]) -> Measurement:
    """Return the share of missed deadlines over the share for independent frames."""
    rows = found_rows(evidence, sweep, "video", at)
    return over(pooled(rows, "missed"), pooled(rows, "law"))


def less_affected(
    evidence: Evidence, sweep: str, traffic: Sequence[str], one: str, to: str, load: float
) -> Measurement:
    """Return the gain of the first class from a control minus that of the second, as factors."""
    factors = [
        times(
            evidence,
            sweep,
            "latency",
            of,
            {"control": to, "load": load},
            {"control": one, "load": load},
        )
        for of in traffic
    ]
    return minus(*factors)


def scaled_ratio(
    evidence: Evidence,
    sweeps: Sequence[str],
    of: str,
    traffic: str,
    at: Mapping[str, Any],
) -> Measurement:
    """Return the ratio of a number with k-fold streams to that without scaling."""
    found = [value(evidence, sweep, of, traffic, at) for sweep in sweeps]
    assert all(known(one.value) for one in found), "both are measured"
    return over(*found)
