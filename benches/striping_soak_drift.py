"""Drift of a process's resources: slope with interval, over the process that ran longest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from gingham.studies._namespaces import ENDS

if TYPE_CHECKING:
    from collections.abc import Sequence

# Excluded start: the retransmission buffer fills, 16,384 packets at 500 or more a second.
WARM_S = 60.0
# Memory of the retransmission buffer varies with packet lengths, and its content is replaced in
# this time: samples within a block are correlated, and their median counts.
BLOCK_S = 30.0
BLOCKS_MIN = 3
# Limits per minute. Memory: 2 % of the pool of free buffers (16 MB), which grows to its bound only
# once, after the largest burst; a leak does not stop.
LIMITS = {"memory_kb": 330.0, "descriptors": 0.5}
# Student's t at 97.5 %, by degrees of freedom (Abramowitz and Stegun, table 26.10).
STUDENT = {1: 12.71, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 8: 2.306, 10: 2.228}
STUDENT |= {15: 2.131, 20: 2.086, 30: 2.042, 60: 2.0}


@dataclass
class Drift:
    """Growth of a resource of an end per minute, with its 95 % interval."""

    end: str
    what: str
    seconds: float
    a_minute: float
    half_width: float
    is_up: bool

    def __str__(self) -> str:
        """Return a line of the report."""
        slope = f"{self.a_minute:+.1f} ± {self.half_width:.1f} a minute over {self.seconds:.0f} s"
        verdict = "DRIFTS: " if self.is_up else ""
        return f"{verdict}{self.end}, {self.what}: {slope}"


def drift_of(samples: Sequence[Any], seconds: float) -> list[Drift]:
    """Return the slopes of the resources at both ends, each of the process that ran longest."""
    drifts = []
    for end in ENDS:
        runs: dict[int, list[Any]] = {}
        for sample in samples:
            if end in sample.starts and sample.at <= seconds:
                runs.setdefault(sample.starts[end], []).append(sample)
        if not runs:
            continue
        longest = max(runs.values(), key=lambda run: run[-1].at - run[0].at)
        for what, limit in LIMITS.items():
            values = [(one.at, getattr(one, what)[end]) for one in longest]
            drift = _slope(end, what, values, limit)
            if drift is not None:
                drifts.append(drift)
    return drifts


def _slope(end: str, what: str, values: list[tuple[float, int]], limit: float) -> Drift | None:
    began = values[0][0] + WARM_S
    blocks: dict[int, list[int]] = {}
    for at, value in values:
        if at >= began:
            blocks.setdefault(int((at - began) / BLOCK_S), []).append(value)
    if len(blocks) < BLOCKS_MIN:
        return None
    minutes = np.array(sorted(blocks)) * BLOCK_S / 60
    middles = np.array([median(blocks[block]) for block in sorted(blocks)], dtype=float)
    centred = minutes - minutes.mean()
    spread = float(centred @ centred)
    slope = float(centred @ middles) / spread
    residual = middles - middles.mean() - slope * centred
    freedom = len(blocks) - 2
    error = math.sqrt(float(residual @ residual) / freedom / spread)
    t = next((t for known, t in reversed(STUDENT.items()) if known <= freedom), STUDENT[1])
    half = t * error
    return Drift(end, what, len(blocks) * BLOCK_S, slope, half, slope - half > limit)
