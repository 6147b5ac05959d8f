"""Video frames damaged by loss or by reordering.

::

    sent         frame 7: 20 21 22    frame 8: 23 24
    delivered    20 22 23 21 24       21 arrives after 23 of a later frame: too late to be shown

A frame is damaged by loss if one of its packets did not arrive. It is damaged by reordering if all
arrived, but one of them after a packet of a later frame.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gingham.studies._evidence import Evidence


# Columns of packets that are read.
PACKET = ["frame", "position"]


@dataclass(frozen=True)
class Damage:
    """Number of frames of a run, and of damaged ones by cause."""

    frames: int
    by_loss: int
    by_reordering: int


def damage(packets: Iterable[Mapping[str, Any]]) -> Damage:
    """Return the damage of packets with `frame` and `position`, which is 0 for lost packets.

    >>> packets = [(7, 1), (7, 3), (7, 2), (8, 4), (8, 0)]
    >>> damage({"frame": frame, "position": place} for frame, place in packets)
    Damage(frames=2, by_loss=1, by_reordering=0)
    >>> damage({"frame": frame, "position": place} for frame, place in [(7, 1), (7, 4), (8, 3)])
    Damage(frames=2, by_loss=0, by_reordering=1)
    """
    sent: Counter[int] = Counter()
    given = []
    for one in packets:
        sent[one["frame"]] += 1
        if one["position"]:
            given.append((one["position"], one["frame"]))
    came: Counter[int] = Counter()
    late = set()
    latest = 0
    for _, frame in sorted(given):
        came[frame] += 1
        if frame < latest:
            late.add(frame)
        latest = max(latest, frame)
    lossy = {frame for frame, count in sent.items() if came[frame] < count}
    return Damage(len(sent), len(lossy), len(late - lossy))


def damages(evidence: Evidence, **fixed: Any) -> list[Damage]:
    """Return the damage of each replication of a point."""
    return [
        damage(evidence.kept("video", "packets", row["key"]).select(PACKET).to_pylist())
        for row in evidence.runs("video", **fixed)
    ]
