"""Order after losses have stopped: theorem 5.1, run by run.

::

    losses stop                 first markers sent after that       arrived on all channels
        │ ..... x .... x ...... │ M M M M ......................... │
        ├──────────────────── time that the paper allows ───────────┤
        ├─── last packet out of order ──┤

Packets sent after the first markers must be delivered in order, without exception. The time that
the paper allows is the time to the next marker and a one-way delay, until those markers have
arrived.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gingham.studies._evidence import Evidence

# End of losses in recovery.toml.
STOP_NS = 1_000_000_000
# Columns of events and packets that are read.
EVENT = ["event", "time_ns", "channel", "packet", "round"]
PACKET = ["packet", "position", "delivered_ns"]


@dataclass(frozen=True)
class Recovery:
    """Measured recovery of a run."""

    loss: float
    # Numbers of packets sent after the first markers, and of those out of order among them.
    sent_after: int
    late_after: int
    # Times from the end of losses to the last packet out of order, and to the last first marker.
    recovery_ns: int
    bound_ns: int

    @property
    def over_bound(self) -> float:
        """Recovery time as a fraction of the time allowed by the paper."""
        return self.recovery_ns / self.bound_ns


@cache
def of_all(evidence: Evidence) -> list[Recovery]:
    """Return the recovery of each run."""
    return [of_run(evidence, row) for row in evidence.runs("recovery")]


def of_run(evidence: Evidence, row: Mapping[str, Any]) -> Recovery:
    """Return the recovery of a run, by its packets and markers."""
    events = evidence.kept("recovery", "events", row["key"]).select(EVENT).to_pylist()
    packets = evidence.kept("recovery", "packets", row["key"]).select(PACKET).to_pylist()
    first = first_markers(events)
    begin = max(first.values())
    sent = {one["packet"] for one in events[begin:] if one["event"] == "send"}
    given = sorted(
        (one for one in packets if one["position"]), key=lambda one: int(one["position"])
    )
    late = out_of_order(given)
    after = [one for one in given if one["packet"] in sent]
    last_ns = max((one["delivered_ns"] for one in late), default=STOP_NS)
    return Recovery(
        loss=row["loss"],
        sent_after=len(after),
        late_after=len(out_of_order(after)),
        recovery_ns=max(0, last_ns - STOP_NS),
        bound_ns=max(arrival_ns(events, place) for place in first.values()) - STOP_NS,
    )


def first_markers(events: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the index of the first marker of each channel after the end of losses."""
    found: dict[str, int] = {}
    for place, one in enumerate(events):
        if one["event"] == "marker" and one["time_ns"] >= STOP_NS:
            found.setdefault(one["channel"], place)
    return found


def arrival_ns(events: Sequence[Mapping[str, Any]], place: int) -> int:
    """Return the arrival time of the marker sent at an index: the next one of equal content."""
    sent = events[place]
    return next(
        int(one["time_ns"])
        for one in events[place:]
        if one["event"] == "arrive-marker"
        and (one["channel"], one["round"]) == (sent["channel"], sent["round"])
    )


def out_of_order(given: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the delivered packets that follow a packet sent later.

    >>> [one["packet"] for one in out_of_order([{"packet": n} for n in (1, 3, 2, 4)])]
    [2]
    """
    highest, late = 0, []
    for one in given:
        if one["packet"] < highest:
            late.append(one)
        highest = max(highest, one["packet"])
    return late
