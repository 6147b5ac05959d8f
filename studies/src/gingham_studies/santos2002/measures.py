"""Measures for the claims of `expected*.toml`.

Rates are those of the last 400 ms of 500, including headers, as shares of a link of 1 GB/s::

    root = local + remote        inter = remote + victim        ratio = remote / local

A claim names runs as in the paper, `{ policy = "output 8", buffer = 4 }`, and their cell in the
table of interpretations (`cells`). Runs of one replication have equal starts, so differences are
paired.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from gingham.studies._bands import Measurement
from gingham.studies._series import mean, paired, ratio
from gingham_studies.santos2002.cells import LEAD, runs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gingham.studies._evidence import Evidence

LINK_BYTES_PER_S = 1e9
# Share of the root for local hosts under naive: the only calibrated number.
CALIBRATED = 0.90
# Shares of a run from a table of classes.
OF: Mapping[str, Callable[[Mapping[str, float]], float]] = {
    "local": lambda of: of["local"],
    "remote": lambda of: of["remote"],
    "victim": lambda of: of["victim"],
    "root": lambda of: of["local"] + of["remote"],
    "inter": lambda of: of["remote"] + of["victim"],
    "ratio": lambda of: of["remote"] / of["local"],
    "remote of root": lambda of: of["remote"] / (of["local"] + of["remote"]),
    "unfairness": lambda of: abs(1 - of["remote"] / of["local"]),
}


def values(
    evidence: Evidence, of: str, at: Mapping[str, Any], cell: str = LEAD.name
) -> dict[int, float]:
    """Return a number of a run, by replication."""
    sweep, fixed = runs_of(at, cell)
    return values_in(evidence, of, sweep, fixed)


def values_in(
    evidence: Evidence, of: str, sweep: str, fixed: Mapping[str, Any]
) -> dict[int, float]:
    """Return a number of the runs of a sweep with these values on its axes, by replication."""
    shares: dict[int, dict[str, float]] = defaultdict(dict)
    for row in evidence.rows(sweep, None, **fixed):
        share = row["accepted_wire_bytes_per_s"] / LINK_BYTES_PER_S
        shares[row["replication"]][row["class"]] = share
    assert shares, f"{sweep} has runs with {fixed}"
    return {number: OF[of](of_run) for number, of_run in shares.items()}


def share(evidence: Evidence, of: str, at: Mapping[str, Any], cell: str = LEAD.name) -> Measurement:
    """Return the mean of a number over the starts."""
    return mean(values(evidence, of, at, cell).values())


def more(
    evidence: Evidence,
    of: str,
    one: Mapping[str, Any],
    than: Mapping[str, Any],
    cell: str = LEAD.name,
) -> Measurement:
    """Return a number in some runs minus that in others."""
    pair = [values(evidence, of, at, cell) for at in (one, than)]
    difference = paired(*pair)
    note = " and ".join(f"{mean(found.values()).value:.3f}" for found in pair)
    return Measurement(difference.value, difference.low, difference.high, note)


def times(
    evidence: Evidence,
    of: str,
    one: Mapping[str, Any],
    over: Mapping[str, Any],
    cell: str = LEAD.name,
) -> Measurement:
    """Return the ratio of a number in some runs to that in others."""
    return ratio(*(values(evidence, of, at, cell) for at in (one, over)))


def extreme(
    evidence: Evidence,
    of: str,
    policy: str,
    buffers: Sequence[int],
    which: str,
    cell: str = LEAD.name,
) -> Measurement:
    """Return the `least` or the `most` of a number over buffers."""
    means = {at: share(evidence, of, {"policy": policy, "buffer": at}, cell) for at in buffers}
    pick = min if which == "least" else max
    at = pick(means, key=lambda buffer: means[buffer].value)
    return Measurement(means[at].value, means[at].low, means[at].high, f"buffer of {at}")


def range_of(
    evidence: Evidence, of: str, policy: str, buffers: Sequence[int], cell: str = LEAD.name
) -> Measurement:
    """Return the range of the means of a number over buffers."""
    means = [share(evidence, of, {"policy": policy, "buffer": at}, cell).value for at in buffers]
    return Measurement(max(means) - min(means), note=f"{min(means):.3f} to {max(means):.3f}")


def marks(
    evidence: Evidence, trigger: str, at: Mapping[str, Any], cell: str = LEAD.name
) -> dict[int, int]:
    """Return the packets that a trigger marked, over whole runs, by replication."""
    sweep, fixed = runs_of(at, cell)
    found: dict[int, int] = defaultdict(int)
    for row in evidence.rows(sweep, None, **fixed):
        found[row["replication"]] += row[f"packets_marked_{trigger}"]
    return found


def marked_by_input(
    evidence: Evidence, policies: Sequence[str], buffers: Sequence[int], cell: str = LEAD.name
) -> Measurement:
    """Return the number of packets that the input trigger marked in all runs of some policies."""
    places = [{"policy": policy, "buffer": at} for policy in policies for at in buffers]
    counts = [sum(marks(evidence, "input", at, cell).values()) for at in places]
    return Measurement(float(sum(counts)), note=f"{len(counts)} points")


def input_share(evidence: Evidence, at: Mapping[str, Any], cell: str = LEAD.name) -> Measurement:
    """Return the share of the marked packets that the input trigger marked."""
    by_input, by_output = (marks(evidence, of, at, cell) for of in ("input", "output"))
    return mean([by_input[run] / max(1, by_input[run] + by_output[run]) for run in by_input])


def alike(
    evidence: Evidence, traffic: str, at: Mapping[str, Any], cell: str = LEAD.name
) -> Measurement:
    """Return Jain's index of fairness over the flows of a type."""
    sweep, fixed = runs_of(at, cell)
    return mean([row["fairness"] for row in evidence.rows(sweep, traffic, **fixed)])


def rung(evidence: Evidence, switch: str) -> Measurement:
    """Return the rung with naive's local share nearest to .90, as 1 / rate."""
    rungs = {row["rung"] for row in evidence.rows("calibration", "local", switch=switch)}
    fixed = {of: {"switch": switch, "rung": of} for of in rungs}
    found = {
        of: mean(values_in(evidence, "local", "calibration", fixed[of]).values()) for of in rungs
    }
    best = min(found, key=lambda of: abs(found[of].value - CALIBRATED))
    note = ", ".join(f"{of}: {found[of].value:.3f}" for of in sorted(found, key=rate_of))
    return Measurement(rate_of(best), note=note)


def rate_of(rung: str) -> float:
    """Return the denominator of a rung.

    >>> rate_of("1/128")
    128.0
    """
    return float(rung.partition("/")[2])
