"""Changes of channel utilisation between both sides, and their significance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gingham.differences._side import Channel, channel_text, channels_in
from gingham.results import Interval, interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gingham.differences._side import OneRun, Side

UTILISATION = "utilisation"


@dataclass(frozen=True)
class LinkChange:
    """The utilisation of a channel on both sides."""

    channel: str
    a: float
    b: float
    difference: float
    # Of the 95 % interval; `None` if it cannot be estimated.
    half_width: float | None

    @property
    def changed(self) -> bool:
        """Whether the difference is beyond its interval."""
        return self.half_width is not None and abs(self.difference) > self.half_width

    def as_json(self) -> dict[str, Any]:
        """Return the change for programs."""
        return {**vars(self), "changed": self.changed}


def link_changes(a: Side, b: Side, seeds: Sequence[int]) -> list[LinkChange] | None:
    """Return a row per channel, the largest change first; `None` if a side kept no channels."""
    runs = [list(side.runs.items()) for side in (a, b)]
    if len(seeds) > 1:
        runs = [[(seed, side.runs[seed]) for seed in seeds] for side in (a, b)]
    if any(run.links is None for side in runs for _, run in side):
        return None
    first, second = ([used(run) for _, run in side] for side in runs)
    found = []
    for channel in first[0]:
        # A fabric generated from each seed has different channels.
        one, other = ([run[channel] for run in side if channel in run] for side in (first, second))
        if one and other:
            found.append(change(channel, one, other, paired=len(seeds) > 1))
    return sorted(found, key=lambda one: -abs(one.difference))


def used(run: OneRun) -> dict[Channel, Interval]:
    """Return the utilisation of each channel, with its interval within the run."""
    assert run.links is not None, "asked only of runs that kept their channels"
    table = run.links()
    values = table[UTILISATION].to_pylist()
    halves = table[f"{UTILISATION}_half_width"].to_pylist()
    known = [None if half is None or math.isnan(half) else half for half in halves]
    rows = zip(channels_in(table), values, known, strict=True)
    return {channel: Interval(value, half, 1) for channel, value, half in rows}


def change(
    channel: Channel, one: Sequence[Interval], other: Sequence[Interval], *, paired: bool
) -> LinkChange:
    """Return the change of a channel's utilisation over its runs on both sides."""
    name = channel_text(channel)
    if paired and len(one) == len(other) > 1:
        found = interval(b.mean - a.mean for a, b in zip(one, other, strict=True))
        first, second = (interval(run.mean for run in side).mean for side in (one, other))
        return LinkChange(name, first, second, found.mean, found.half_width)
    a, b = (
        side[0] if len(side) == 1 else interval(run.mean for run in side) for side in (one, other)
    )
    half = None
    if a.half_width is not None and b.half_width is not None:
        half = math.hypot(a.half_width, b.half_width)
    return LinkChange(name, a.mean, b.mean, b.mean - a.mean, half)
