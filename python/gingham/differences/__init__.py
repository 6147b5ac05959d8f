"""Differences between two runs or two points of sweeps: `gingham.differences.difference`.

::

    runs/first                       ──► Side: runs by seed ─┐
    sweeps/two:routing=up-down       ──► Side: runs by seed ─┴──► Difference: numbers, channels

Runs of one seed share their random numbers and are compared in pairs, which cancels random
variation common to both. Every difference is the second value minus the first, with a 95 %
interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gingham.differences._links import LinkChange, link_changes
from gingham.differences._numbers import Change, number_changes
from gingham.differences._side import Side, require_same_fabric, side_of
from gingham.errors import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

__all__ = ["Change", "Difference", "LinkChange", "Side", "difference"]


@dataclass(frozen=True)
class Difference:
    """Differences of the second of two sides from the first."""

    a: Side
    b: Side
    # Number of pairs of runs with equal seeds; 0 if the sides are independent.
    pairs: int
    # One row per number of a class, or of a channel or source of a stripe.
    numbers: Sequence[Change]
    # One row per channel of the fabric, the largest change first; `None` if a side kept no
    # channels.
    links: Sequence[LinkChange] | None

    @property
    def links_changed(self) -> list[LinkChange]:
        """The channels whose utilisation changed beyond its interval."""
        return [one for one in self.links or () if one.changed]

    def as_json(self) -> dict[str, Any]:
        """Return the differences for programs."""
        links = None if self.links is None else [one.as_json() for one in self.links]
        return {
            "a": self.a.as_json(),
            "b": self.b.as_json(),
            "pairs": self.pairs,
            "numbers": [one.as_json() for one in self.numbers],
            "links_changed": len(self.links_changed),
            "links": links,
        }


def difference(a: str | os.PathLike[str], b: str | os.PathLike[str]) -> Difference:
    """Return the differences of the results of `b` from those of `a`.

    Each is the folder of a run, or a point of a sweep: `sweeps/two:routing=up-down,load=0.1`, or
    one of its runs by the first digits of its key, `sweeps/two:1f3a`. A sweep of one point is named
    by its folder alone. Raises `InputError` if a folder is neither, or if the fabrics differ.
    """
    sides = side_of(a), side_of(b)
    first, second = sides
    if first.kind != second.kind:
        raise InputError(
            f"{second.place}: is a run of a {second.kind}, and {first.place} one of a {first.kind}",
            file=second.place,
            expected=[first.kind],
            code="other-kind",
        )
    require_same_fabric(first, second)
    seeds = [seed for seed in first.runs if seed in second.runs]
    return Difference(
        first,
        second,
        len(seeds),
        number_changes(first, second, seeds),
        link_changes(first, second, seeds),
    )
