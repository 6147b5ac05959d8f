"""Points of a sweep without a latency, because a replication has no mean.

A run that is saturated or deadlocked, or left more than one per cent of its messages undelivered,
only measures the latency of the messages delivered before it ended. That depends on the length of
the run and on the seed. If a single replication lacks a mean, the remaining ones are a biased
selection. The point as a whole then has no latency (`docs/concepts/measurement.md`, "Latencies in
curves").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gingham.results._query import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

# Conditions of runs without a mean latency, by name. The verdict of a run is the worst verdict of
# its classes, which may hide a saturated class. With over one per cent of censored messages the
# 99th percentile is unknown.
SATURATED = "select key from classes where verdict = 'saturated'"
WITHOUT_LATENCY = {
    # Runs that are censored but neither saturated nor deadlocked.
    "censored": (
        "messages_censored > 0.01 * messages_created and verdict <> 'deadlocked' "
        f"and key not in ({SATURATED})"
    ),
    "saturated": f"key in ({SATURATED})",
    "deadlocked": "verdict = 'deadlocked'",
}


def query_without_latency(axes: Sequence[str]) -> str:
    """Return a query for the points, by their axes, that have no latency."""
    chosen = ", ".join(quoted(name) for name in axes)
    condition = " or ".join(f"({one})" for one in WITHOUT_LATENCY.values())
    return f"select distinct {chosen} from runs where {condition}"  # noqa: S608  (names are quoted)
